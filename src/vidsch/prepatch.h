/* SPDX-License-Identifier: MIT */
/*
 * The test of pre-patched buffers (PATCH-141): where DxgkDdiRender was told the address of an
 * allocation, it writes it into the DMA buffer (PATCH-142). If all that a packet's locations name
 * is still there, DxgkDdiPatch is called with none of them, and the buffer runs as it is.
 */
#ifndef DXGK_VIDSCH_PREPATCH_H
#define DXGK_VIDSCH_PREPATCH_H

#include "vidsch/dma_buffer.h"

/* What DxgkDdiRender is told of an allocation. */
static inline void vidsch_prepatch_note(struct dma_reference *reference,
                                        const DXGK_ALLOCATIONLIST *element)
{
    reference->rendered = (uint64_t)element->PhysicalAddress.QuadPart;
    reference->rendered_segment = element->SegmentId;
}

/* The test is on, and the locations of this packet need not be patched. */
bool vidsch_prepatched(const struct packet *packet);

#endif
