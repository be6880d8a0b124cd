/* SPDX-License-Identifier: MIT */
#include "vidsch/prepatch.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/packet.h"
#include "vidsch/scheduler.h"

/* `index` was checked when DxgkDdiRender returned, but the driver may write to its list. */
static bool is_there_still(const struct dma_buffer *buffer, UINT index)
{
    const struct dma_reference *reference;
    const DXGK_ALLOCATIONLIST *element;

    if (index >= buffer->allocation_count)
        return false;
    reference = &buffer->references_map[index];
    element = &buffer->allocations[index];
    return reference->rendered_segment && reference->rendered_segment == element->SegmentId &&
           reference->rendered == (uint64_t)element->PhysicalAddress.QuadPart;
}

bool vidsch_prepatched(const struct packet *packet)
{
    const struct dma_buffer *buffer = packet->buffer;

    /* Once a part of it was patched, the buffer has other addresses than DxgkDdiRender wrote. */
    if (!packet->context->device->vidsch->config.test_prepatching || buffer->patched)
        return false;
    for (uint32_t i = 0; i < packet->patch_count; i++)
        if (!is_there_still(buffer, buffer->patches[packet->first_patch + i].AllocationIndex))
            return false;
    return true;
}
