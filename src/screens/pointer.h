/* SPDX-License-Identifier: MIT */
/* The mouse pointer of an adapter: shown by its hardware, or drawn into the frames (PRES-226 to
 * PRES-242). */
#ifndef DXGK_SCREENS_POINTER_H
#define DXGK_SCREENS_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include <ntddk.h>
#include <dispmprt.h>

struct pointer_shape;
struct screen;
struct screens;

/* Both at PASSIVE_LEVEL. NULL: no pointer is shown. False: `why` says what is wrong with the
 * shape. */
bool screens_set_pointer(struct screens *screens, const struct pointer_shape *shape, char *why,
                         size_t why_bytes);

struct screens_cursor {
    UINT source;
    LONG x, y; /* of the hot spot; brought inside the source */
    bool visible;
    bool by_program; /* not by a device (PRES-234) */
};
void screens_move_pointer(struct screens *screens, const struct screens_cursor *cursor);

/* ---- for the files of this room ---- */

/* Before a commit that changes or removes the path of the source (PRES-231). */
void pointer_leave(struct screens *screens, struct screen *s);
/* After it, before the first frame (PRES-242). */
void pointer_return(struct screens *screens, struct screen *s);
/* The software pointer is in the image while a frame is on its way. At most DISPATCH_LEVEL. */
void pointer_merge(struct screens *screens, struct screen *s);
void pointer_unmerge(struct screen *s);

#endif
