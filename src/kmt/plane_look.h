/* SPDX-License-Identifier: MIT */
/* Looks of planes as clients describe them, in each form. */
#ifndef DXGK_KMT_PLANE_LOOK_H
#define DXGK_KMT_PLANE_LOOK_H

#include "screens/planes.h"

void kmt_plane_look_1(struct plane_setting *to, const D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES *from);
void kmt_plane_look_2(struct plane_setting *to, const D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES2 *from);
void kmt_plane_look_3(struct plane_setting *to, const D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES3 *from);
/* The rectangles of a look, which are in the client's memory. More than the host hands on: none,
 * which is the whole plane. */
NTSTATUS kmt_plane_rectangles(struct plane_setting *to, UINT count, const RECT *from);

#endif
