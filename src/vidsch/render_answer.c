/* SPDX-License-Identifier: MIT */
/* What DxgkDdiRender or DxgkDdiPresent returned, checked and recorded in the DMA buffer. */
#include "vidsch/render_answer.h"
#include "util/checked.h"
#include "util/min_max.h"
#include "verify/refusal.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/vidsch_bugcheck.h"

NTSTATUS vidsch_render_answer_take(struct dma_buffer *buffer, const struct render_answer *answer)
{
    uint32_t bytes = 0;

    if (!advance_of(buffer->data, answer->dma, buffer->capacity, &buffer->used)) {
        verify_fatal("PATCH-065", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_DMA_BUFFER_OVERFLOW,
                     buffer->capacity, 0, 0, "%s returned a pDmaBuffer outside the %u bytes given",
                     answer->ddi, buffer->capacity);
        return STATUS_INVALID_PARAMETER;
    }
    if (!advance_of(buffer->private_data, answer->private_data, buffer->private_bytes,
                    &buffer->private_used)) {
        verify_fatal("PATCH-070", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_PRIVATE_DATA_OVERFLOW,
                     buffer->private_bytes, 0, 0,
                     "%s returned private data outside the %u bytes given", answer->ddi,
                     buffer->private_bytes);
        return STATUS_INVALID_PARAMETER;
    }
    if (buffer->private_used == 0) /* PATCH-069 */
        buffer->private_used = buffer->private_bytes;
    if (!vidsch_dma_buffer_check(buffer, answer->ddi, true))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "%s wrote beyond the DMA buffer or its private data", answer->ddi);
    if (buffer->patch_capacity == 0) {
        buffer->patch_count = 0;
        return STATUS_SUCCESS;
    }
    if (!advance_of(buffer->patches, answer->patches,
                    buffer->patch_capacity * (uint32_t)sizeof(*buffer->patches), &bytes) ||
        bytes % sizeof(*buffer->patches) != 0) {
        VIOLATION("PATCH-085", "%s returned a pPatchLocationListOut that is no element of the list",
                  answer->ddi);
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

/* Say what is wrong with a patch location; false: it cannot be used. */
static bool judge(const struct dma_buffer *buffer, uint32_t i)
{
    const D3DDDI_PATCHLOCATIONLIST *patch = &buffer->patches[i];
    const struct dma_reference *reference;
    bool null;

    if (patch->AllocationIndex >= buffer->allocation_count) {
        VIOLATION("PATCH-102", "patch location %u refers to allocation %u of %u (0x10E/0x8)", i,
                  patch->AllocationIndex, buffer->allocation_count);
        return false;
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
        VIOLATION("PATCH-110", "patch location %u is at 0x%x, behind the 0x%x bytes produced", i,
                  patch->PatchOffset, buffer->used);
        return false;
    }
    return true;
}

/* The largest AllocationOffset into each element: 4 bytes each, since this is what a pass over the
 * locations touches at random. Returns the least. */
static uint32_t note_reach(struct dma_buffer *buffer)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < buffer->allocation_count; i++) {
        const struct dma_reference *reference = &buffer->references_map[i];

        buffer->reach[i] = reference->device_specific
                               ? (uint32_t)min_of(reference->bytes, UINT32_MAX)
                               : 0;
        least = buffer->reach[i] < least ? buffer->reach[i] : least;
    }
    return least;
}

/* Four locations at a time, as 24 numbers each of which has a limit. A number below 2^31 is above a
 * limit below 2^31 if their difference has bit 31, so this takes a load, a subtraction and two ors
 * for eight numbers. */
#define WORDS 6u /* of a location */
typedef uint32_t eight __attribute__((vector_size(32), aligned(4), may_alias));

_Static_assert(sizeof(D3DDDI_PATCHLOCATIONLIST) == WORDS * sizeof(uint32_t), "members without gaps");

__attribute__((target_clones("avx2", "default"))) static uint32_t beyond_limits(
    const D3DDDI_PATCHLOCATIONLIST *list, uint32_t fours, const uint32_t *limit)
{
    const eight *at = (const eight *)(const void *)list,
                *limits = (const eight *)(const void *)limit;
    eight a = {0}, b = {0}, c = {0};

    for (uint32_t i = 0; i < fours; i++, at += 3) {
        a |= at[0] | (limits[0] - at[0]);
        b |= at[1] | (limits[1] - at[1]);
        c |= at[2] | (limits[2] - at[2]);
    }
    /* Which number each lane is: DriverId and SplitOffset have no limit. */
    a &= (eight){1, 1, 0, 1, 1, 0, 1, 1} << 31;
    b &= (eight){0, 1, 1, 0, 1, 1, 0, 1} << 31;
    c &= (eight){1, 0, 1, 1, 0, 1, 1, 0} << 31;
    a |= b | c;
    return a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7];
}

/* Whether all of the first locations, in fours, are within what is right for every element. */
static bool within_all(const struct dma_buffer *buffer, uint32_t least, uint32_t fours)
{
    uint32_t limit[4 * WORDS];

    if (buffer->allocation_count == 0 || buffer->used == 0 || buffer->used > INT32_MAX)
        return fours == 0;
    for (uint32_t i = 0; i < 4 * WORDS; i += WORDS) {
        limit[i] = buffer->allocation_count - 1;
        limit[i + 1] = 0xFFFFFF; /* the slot; no reserved bit */
        limit[i + 3] = (uint32_t)min_of(least, INT32_MAX);
        limit[i + 4] = buffer->used - 1;
        limit[i + 2] = limit[i + 5] = 0;
    }
    return beyond_limits(buffer->patches, fours, limit) == 0;
}

/* Whether nothing is to be said of the locations from `from` on: no branch depends on what is
 * there. A location of no allocation behind the end is right, too, but counts as a doubt. */
static bool nothing_to_say(const struct dma_buffer *buffer, uint32_t from)
{
    const uint32_t count = buffer->allocation_count;
    uint32_t doubts = 0;

    for (uint32_t i = from; i < buffer->patch_count; i++) {
        const D3DDDI_PATCHLOCATIONLIST *patch = &buffer->patches[i];
        const bool outside = patch->AllocationIndex >= count;
        const uint32_t element = outside ? 0 : patch->AllocationIndex;

        doubts |= (uint32_t)outside | (uint32_t)patch->Reserved |
                  (uint32_t)(patch->AllocationOffset > buffer->reach[element]) |
                  (uint32_t)(patch->PatchOffset >= buffer->used);
    }
    return !doubts;
}

/* From WDDM 2.0 on the list serves patching only: slots and split offsets are ignored
 * (PATCH-130). */
NTSTATUS vidsch_render_answer_check(struct dma_buffer *buffer)
{
    const uint32_t fours = buffer->patch_count / 4, least = note_reach(buffer);

    if (nothing_to_say(buffer, within_all(buffer, least, fours) ? 4 * fours : 0))
        return STATUS_SUCCESS;
    for (uint32_t i = 0; i < buffer->patch_count; i++)
        if (!judge(buffer, i))
            return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}
