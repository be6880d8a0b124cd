/* SPDX-License-Identifier: MIT */
#include "modes/palette.h"

#include "ddi/entries_display.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "verify/verify.h"

bool modes_has_palettes(const struct modes *modes)
{
    return ddi_has(modes->ddi, DxgkDdiSetPalette);
}

D3DKMDT_PALETTEDATA modes_color(UINT n)
{
    return (D3DKMDT_PALETTEDATA){.Red = (BYTE)((n >> 5 & 7) * 255 / 7),
                                 .Green = (BYTE)((n >> 2 & 7) * 255 / 7),
                                 .Blue = (BYTE)((n & 3) * 255 / 3)};
}

void modes_load_palette(const struct modes *modes, UINT source)
{
    const union mode *mode = mode_set_pinned(*vidpn_source_set(modes->active, source));
    D3DKMDT_PALETTEDATA color[MODES_COLORS];
    const DXGKARG_SETPALETTE args = {
        .VidPnSourceId = source, .NumEntries = MODES_COLORS, .pLookupTable = color};
    NTSTATUS status;

    if (!mode || mode->source.Format.Graphics.PixelFormat != D3DDDIFMT_P8 ||
        !modes_has_palettes(modes))
        return;
    for (UINT i = 0; i < MODES_COLORS; i++)
        color[i] = modes_color(i);
    status = ddi_set_palette(modes->ddi, &args);
    if (!NT_SUCCESS(status) && !modes->ddi->gone)
        WARNING("PRES-244", "DxgkDdiSetPalette returned %s for source %u",
                nt_status_text(status).text, source);
}
