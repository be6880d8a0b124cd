/* SPDX-License-Identifier: MIT */
/* The pointer that an adapter's hardware shows: what its driver is told (PRES-232 to PRES-241). */
#ifndef DXGK_SCREENS_POINTER_HARDWARE_H
#define DXGK_SCREENS_POINTER_HARDWARE_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct ddi_adapter;
struct pointer_shape;

struct pointer_hardware {
    struct ddi_adapter *ddi;
    DXGK_POINTERFLAGS caps;
    UINT width, height; /* the largest shape */
};

/* What the driver was told last of the pointer on a source. */
struct pointer_told {
    bool known, visible, shaped;
    LONG x, y; /* of the left upper corner */
};

struct pointer_place {
    UINT source;
    LONG x, y; /* of the left upper corner; without meaning if it is not visible */
    bool visible, by_program;
    bool dark; /* the source has no path (PRES-230) */
};

/* Is there any? */
bool pointer_hardware_exists(const struct pointer_hardware *hardware);
/* Both at PASSIVE_LEVEL, in the pointer class. Equal places in a row are left out. */
void pointer_tell_place(const struct pointer_hardware *hardware, struct pointer_told *told,
                        const struct pointer_place *place);
/* The shape, unless it was told already. False: the driver failed. */
bool pointer_tell_shape(const struct pointer_hardware *hardware, struct pointer_told *told,
                        UINT source, const struct pointer_shape *shape);

#endif
