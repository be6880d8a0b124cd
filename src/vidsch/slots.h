/* SPDX-License-Identifier: MIT */
/* The patch-location list of a WDDM 1.x driver as slots, bindings and split points; see slots.c. */
#ifndef DXGK_VIDSCH_SLOTS_H
#define DXGK_VIDSCH_SLOTS_H

#include "vidsch/vidsch.h"

struct dma_buffer;

/* Check the list that the driver produced, and take it in. What is odd is reported, and served all
 * the same. STATUS_NO_MEMORY. */
NTSTATUS vidsch_slots_take(struct dma_buffer *buffer);
/* The element, whose SplitOffset is less than `split`, binds an allocation, and its slot is not
 * bound anew there. O(1). */
bool vidsch_slot_stays_bound(const struct dma_buffer *buffer, uint32_t element, uint32_t split);

#endif
