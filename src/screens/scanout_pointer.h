/* SPDX-License-Identifier: MIT */
/* The mouse pointer of a full driver: by its hardware, else in pictures alone (PRES-227). */
#ifndef DXGK_SCREENS_SCANOUT_POINTER_H
#define DXGK_SCREENS_SCANOUT_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "screens/pointer.h"

struct picture;
struct pointer_shape;
struct scanout;
struct scanouts;

/* As screens_set_pointer and screens_move_pointer. */
bool scanouts_set_pointer(struct scanouts *scanouts, const struct pointer_shape *shape, char *why,
                          size_t why_bytes);
void scanouts_move_pointer(struct scanouts *scanouts, const struct screens_cursor *cursor);
/* Into a picture of what the source shows, if its hardware does not. */
void scanouts_draw_pointer(struct scanouts *scanouts, UINT source, const struct picture *picture);

/* ---- for the files of this room ---- */

/* As modes_viewer.hold_pointer and let_pointer_go. */
bool scanout_pointer_hold(struct scanouts *scanouts, bool wait);
void scanout_pointer_let_go(struct scanouts *scanouts);
/* Before a commit that changes or removes the path of the source (PRES-231). */
void scanout_pointer_leave(struct scanout *s);
/* After it, when the source is visible (PRES-242). */
void scanout_pointer_return(struct scanout *s);

#endif
