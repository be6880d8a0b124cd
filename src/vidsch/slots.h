/* SPDX-License-Identifier: MIT */
/* The patch-location list of a WDDM 1.x driver as slots, bindings and split points; see slots.c. */
#ifndef DXGK_VIDSCH_SLOTS_H
#define DXGK_VIDSCH_SLOTS_H

#include "vidsch/vidsch.h"

struct dma_buffer;

/* Check the list that the driver produced, and compute buffer->needs and next_in_slot from it.
 * Mistakes are reported, but the list is still used. STATUS_NO_MEMORY. */
NTSTATUS vidsch_slots_take(struct dma_buffer *buffer);
/* Is the allocation that the element binds still bound to its slot at `split`, which is greater
 * than the SplitOffset of the element? O(1). */
bool vidsch_slot_stays_bound(const struct dma_buffer *buffer, uint32_t element, uint32_t split);

#endif
