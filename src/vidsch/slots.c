/* SPDX-License-Identifier: MIT */
/*
 * The patch-location list of a WDDM 1.x driver, read as bindings. Each element says that from byte
 * SplitOffset on the allocation is bound to slot SlotId, or, without an allocation, that the slot
 * is empty:
 *
 *   SplitOffset     0     0     64    64            the list is in order of SplitOffset
 *   SlotId          1     2     1     2
 *   allocation      A     B     C     -             a cut at 64 needs A and B before, C behind
 *
 * A binding lasts until the next element of the same slot, so one index per element
 * (`next_in_slot`) tells in O(1) whether it is still in force at a split point. The indexes are
 * computed once, from the end of the list to its start, with the last element seen of each slot in
 * a hash map.
 */
#include "vidsch/slots.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/scheduler.h"

static const struct dma_reference *reference_of(const struct dma_buffer *buffer, uint32_t element)
{
    return &buffer->references_map[buffer->patches[element].AllocationIndex];
}

/* PATCH-104, PATCH-112 to PATCH-115. All of this can be handled, and is not known to be refused: it
 * is only reported. */
static void judge(const struct dma_buffer *buffer, uint32_t i, UINT last_slot)
{
    const D3DDDI_PATCHLOCATIONLIST *patch = &buffer->patches[i];

    if (buffer->present) /* PRES-109 */
        return;
    if (patch->SlotId > last_slot)
        WARNING("PATCH-104", "patch location %u is in slot %u, and MaxAllocationListSlotId is %u",
                i, patch->SlotId, last_slot);
    if (patch->SplitOffset > buffer->used)
        VIOLATION("PATCH-112",
                  "patch location %u may be split at 0x%x, behind the 0x%x bytes produced", i,
                  patch->SplitOffset, buffer->used);
    if (i > 0 && patch->SplitOffset < patch[-1].SplitOffset)
        VIOLATION("PATCH-114", "SplitOffset decreases from 0x%x to 0x%x at patch location %u",
                  patch[-1].SplitOffset, patch->SplitOffset, i);
    if (reference_of(buffer, i)->device_specific && patch->SplitOffset > patch->PatchOffset)
        VIOLATION("PATCH-115",
                  "patch location %u is at 0x%x, before its SplitOffset 0x%x: it may run while the "
                  "allocation is not there",
                  i, patch->PatchOffset, patch->SplitOffset);
}

/* Where the buffer may be cut before the element: SplitOffset, but not less than that of the
 * previous element, nor behind the end (PATCH-112, PATCH-114). */
static uint32_t split_of(const struct dma_buffer *buffer, uint32_t i)
{
    uint32_t split = buffer->present ? 0 : buffer->patches[i].SplitOffset;

    if (split > buffer->used)
        split = buffer->used;
    return i > 0 && split < buffer->needs[i - 1].split ? buffer->needs[i - 1].split : split;
}

static NTSTATUS link_slots(struct dma_buffer *buffer)
{
    struct hash_map last;
    bool good = true;

    hash_init(&last);
    for (uint32_t i = buffer->patch_count; i-- > 0 && good;) {
        D3DDDI_PATCHLOCATIONLIST *patch = &buffer->patches[i];
        const D3DDDI_PATCHLOCATIONLIST *next = hash_get(&last, patch->SlotId + 1u);

        buffer->next_in_slot[i] = next ? (uint32_t)(next - buffer->patches) : buffer->patch_count;
        good = hash_put(&last, patch->SlotId + 1u, patch);
    }
    hash_finish(&last);
    return good ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

/* PATCH-118 */
static void report_double_bindings(const struct dma_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->patch_count; i++) {
        uint32_t next = buffer->next_in_slot[i];
        HANDLE one = reference_of(buffer, i)->device_specific, other;

        if (next == buffer->patch_count || buffer->needs[next].split != buffer->needs[i].split)
            continue;
        other = reference_of(buffer, next)->device_specific;
        if (one && other && one != other)
            NOTE("PATCH-118",
                 "patch locations %u and %u bind different allocations to slot %u at 0x%x", i, next,
                 buffer->patches[i].SlotId, buffer->patches[i].SplitOffset);
    }
}

NTSTATUS vidsch_slots_take(struct dma_buffer *buffer)
{
    const struct vidsch *vidsch = buffer->owner->device->vidsch;
    NTSTATUS status;

    for (uint32_t i = 0; i < buffer->patch_count; i++) {
        judge(buffer, i, vidsch->config.max_allocation_list_slot);
        buffer->needs[i] = (struct vidmm_need){.allocation = reference_of(buffer, i)->handle,
                                               .split = split_of(buffer, i),
                                               .write = reference_of(buffer, i)->write};
    }
    status = link_slots(buffer);
    if (NT_SUCCESS(status))
        report_double_bindings(buffer);
    return status;
}

bool vidsch_slot_stays_bound(const struct dma_buffer *buffer, uint32_t element, uint32_t split)
{
    uint32_t next = buffer->next_in_slot[element];

    return buffer->needs[element].allocation &&
           (next == buffer->patch_count || buffer->needs[next].split > split);
}
