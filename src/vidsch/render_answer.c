/* SPDX-License-Identifier: MIT */
/* What DxgkDdiRender returned, checked and recorded in the DMA buffer. */
#include "vidsch/render_answer.h"
#include "util/checked.h"
#include "verify/refusal.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/vidsch_bugcheck.h"

NTSTATUS vidsch_render_answer_take(struct dma_buffer *buffer, const DXGKARG_RENDER *render)
{
    uint32_t bytes = 0;

    if (!advance_of(buffer->data, render->pDmaBuffer, buffer->capacity, &buffer->used)) {
        verify_fatal("PATCH-065", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_DMA_BUFFER_OVERFLOW,
                     buffer->capacity, 0, 0,
                     "DxgkDdiRender returned a pDmaBuffer outside the %u bytes given",
                     buffer->capacity);
        return STATUS_INVALID_PARAMETER;
    }
    if (!advance_of(buffer->private_data, render->pDmaBufferPrivateData, buffer->private_bytes,
                    &buffer->private_used)) {
        verify_fatal("PATCH-070", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_PRIVATE_DATA_OVERFLOW,
                     buffer->private_bytes, 0, 0,
                     "DxgkDdiRender returned private data outside the %u bytes given",
                     buffer->private_bytes);
        return STATUS_INVALID_PARAMETER;
    }
    if (buffer->private_used == 0) /* PATCH-069 */
        buffer->private_used = buffer->private_bytes;
    if (!vidsch_dma_buffer_check(buffer, "DxgkDdiRender", true))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "DxgkDdiRender wrote beyond the DMA buffer or its private data");
    if (buffer->patch_capacity == 0) {
        buffer->patch_count = 0;
        return STATUS_SUCCESS;
    }
    if (!advance_of(buffer->patches, render->pPatchLocationListOut,
                    buffer->patch_capacity * (uint32_t)sizeof(*buffer->patches), &bytes) ||
        bytes % sizeof(*buffer->patches) != 0) {
        VIOLATION("PATCH-085",
                  "DxgkDdiRender returned a pPatchLocationListOut that is no element of the list");
        return STATUS_INVALID_PARAMETER;
    }
    buffer->patch_count = bytes / (uint32_t)sizeof(*buffer->patches);
    return STATUS_SUCCESS;
}

/* PATCH-082 */
void vidsch_render_answer_unbind(struct dma_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->allocation_count; i++)
        if (!buffer->allocations[i].hDeviceSpecificAllocation)
            buffer->references_map[i] = (struct dma_reference){
                .write = buffer->references_map[i].write};
}

/* From WDDM 2.0 on the list serves patching only: slots and split offsets are ignored
 * (PATCH-130). */
NTSTATUS vidsch_render_answer_check(const struct dma_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->patch_count; i++) {
        const D3DDDI_PATCHLOCATIONLIST *patch = &buffer->patches[i];
        const struct dma_reference *reference;
        bool null;

        if (patch->AllocationIndex >= buffer->allocation_count) {
            VIOLATION("PATCH-102", "patch location %u refers to allocation %u of %u (0x10E/0x8)", i,
                      patch->AllocationIndex, buffer->allocation_count);
            return STATUS_INVALID_PARAMETER;
        }
        reference = &buffer->references_map[patch->AllocationIndex];
        null = !reference->device_specific;
        if (patch->Reserved)
            VIOLATION("PATCH-105", "patch location %u has reserved bits: 0x%08x", i, patch->Value);
        if (null && patch->AllocationOffset)
            VIOLATION("PATCH-108", "patch location %u has offset 0x%x into no allocation", i,
                      patch->AllocationOffset);
        if (!null && patch->AllocationOffset > reference->bytes)
            VIOLATION("PATCH-108",
                      "patch location %u has offset 0x%x into an allocation of 0x%llx bytes", i,
                      patch->AllocationOffset, (unsigned long long)reference->bytes);
        if (!null && patch->PatchOffset >= buffer->used) {
            VIOLATION("PATCH-110", "patch location %u is at 0x%x, behind the 0x%x bytes produced",
                      i, patch->PatchOffset, buffer->used);
            return STATUS_INVALID_PARAMETER;
        }
    }
    return STATUS_SUCCESS;
}
