/* SPDX-License-Identifier: MIT */
/* What DxgkDdiRender and DxgkDdiPresent returned, checked before it is used. */
#ifndef DXGK_VIDSCH_RENDER_ANSWER_H
#define DXGK_VIDSCH_RENDER_ANSWER_H

#include "vidsch/vidsch.h"

struct dma_buffer;

/* Where the driver has left the pointers of its arguments. */
struct render_answer {
    const char *ddi; /* which was called */
    const void *dma, *private_data;
    const D3DDDI_PATCHLOCATIONLIST *patches;
};
/* Check and record how much of the buffer, its private data and its patch-location list the driver
 * used. */
NTSTATUS vidsch_render_answer_take(struct dma_buffer *buffer, const struct render_answer *answer);
/* An element of the allocation list that the driver set to NULL becomes a reference to nothing; any
 * other change is ignored (PATCH-082). */
void vidsch_render_answer_unbind(struct dma_buffer *buffer);
/* Check the patch locations by the rules for all drivers. */
NTSTATUS vidsch_render_answer_check(struct dma_buffer *buffer);

#endif
