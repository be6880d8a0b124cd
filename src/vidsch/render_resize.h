/* SPDX-License-Identifier: MIT */
/* The sizes that a client asks for with one Render, for the next. */
#ifndef DXGK_VIDSCH_RENDER_RESIZE_H
#define DXGK_VIDSCH_RENDER_RESIZE_H

#include "vidsch/vidsch.h"

/* PATCH-057. Without memory, for a block or for a DMA buffer that fits it, things stay as they
 * were. */
void vidsch_render_resize(struct vidsch_context *context, const D3DKMT_RENDER *args);

#endif
