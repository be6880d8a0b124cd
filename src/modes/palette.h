/* SPDX-License-Identifier: MIT */
/* The palette of a source whose pixels are numbers of colors (PRES-243, PRES-244). */
#ifndef DXGK_MODES_PALETTE_H
#define DXGK_MODES_PALETTE_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;

#define MODES_COLORS 256u

/* Can the driver load one? Else no such mode is chosen. */
bool modes_has_palettes(const struct modes *modes);
/* After a commit: load all of it, if the source has such a mode. */
void modes_load_palette(const struct modes *modes, UINT source);
/* Color number n of the palette that the host loads: three bits of red, three of green, two of
 * blue. */
D3DKMDT_PALETTEDATA modes_color(UINT n);

#endif
