/* SPDX-License-Identifier: MIT */
/* New sizes that a client requests with one Render, for the next one. */
#ifndef DXGK_VIDSCH_RENDER_RESIZE_H
#define DXGK_VIDSCH_RENDER_RESIZE_H

#include "vidsch/vidsch.h"

/* PATCH-057. A block for which there is no memory keeps its size; without memory for a DMA buffer
 * of the new sizes, everything stays as it was. */
void vidsch_render_resize(struct vidsch_context *context, const D3DKMT_RENDER *args);

#endif
