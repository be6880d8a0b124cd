/* SPDX-License-Identifier: MIT */
/* The two lists that Patch gets: are they those of Render, and do the places in them show the allocations? */
#include "seeds.h"

/* ---- D3DDDI_PATCHLOCATIONLIST ---- */

static void check_location(struct seeds_adapter *adapter, ULONG i,
                           const D3DDDI_PATCHLOCATIONLIST *wanted,
                           const D3DDDI_PATCHLOCATIONLIST *found)
{
    seeds_check(adapter, SEEDS_LOCATION_INDEX, found->AllocationIndex == wanted->AllocationIndex,
                "location %d: AllocationIndex %d, Render wrote %d", i, found->AllocationIndex,
                wanted->AllocationIndex, 0);
    seeds_check(adapter, SEEDS_LOCATION_SLOT, found->Value == wanted->Value,
                "location %d: slot 0x%x, Render wrote 0x%x", i, found->Value, wanted->Value, 0);
    seeds_check(adapter, SEEDS_LOCATION_DRIVER_ID, found->DriverId == wanted->DriverId,
                "location %d: DriverId 0x%x, Render wrote 0x%x", i, found->DriverId,
                wanted->DriverId, 0);
    seeds_check(adapter, SEEDS_LOCATION_ALLOCATION_OFFSET,
                found->AllocationOffset == wanted->AllocationOffset,
                "location %d: AllocationOffset 0x%x, Render wrote 0x%x", i, found->AllocationOffset,
                wanted->AllocationOffset, 0);
    seeds_check(adapter, SEEDS_LOCATION_PATCH_OFFSET, found->PatchOffset == wanted->PatchOffset,
                "location %d: PatchOffset 0x%x, Render wrote 0x%x", i, found->PatchOffset,
                wanted->PatchOffset, 0);
    seeds_check(adapter, SEEDS_LOCATION_SPLIT_OFFSET, found->SplitOffset == wanted->SplitOffset,
                "location %d: SplitOffset 0x%x, Render wrote 0x%x", i, found->SplitOffset,
                wanted->SplitOffset, 0);
}

/* Those for this portion, and only those. */
static void check_range(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                        const DXGKARG_PATCH *args)
{
    const ULONG first = args->PatchLocationListSubmissionStart;
    const ULONG end = first + args->PatchLocationListSubmissionLength;

    for (ULONG i = first; i < end; i++)
        seeds_check(adapter, SEEDS_PATCH_ELEMENT_RANGE,
                    buffer->location[i].SplitOffset >= args->DmaBufferSubmissionStartOffset &&
                        buffer->location[i].SplitOffset < args->DmaBufferSubmissionEndOffset,
                    "location %d is for split offset 0x%x, the portion is 0x%x to 0x%x", i,
                    buffer->location[i].SplitOffset, args->DmaBufferSubmissionStartOffset,
                    args->DmaBufferSubmissionEndOffset);
}

/* ---- DXGK_ALLOCATIONLIST ---- */

static BOOLEAN inside(const struct seeds_adapter *adapter, UINT segment, ULONGLONG address,
                      ULONG bytes)
{
    const ULONGLONG base = segment == SEEDS_SEGMENT_VRAM ? SEEDS_VRAM : SEEDS_APERTURE;
    const ULONGLONG size = segment == SEEDS_SEGMENT_VRAM
                               ? adapter->vram_bytes
                               : (ULONGLONG)SEEDS_APERTURE_PAGES << PAGE_SHIFT;

    return address >= base && address - base <= size && bytes <= size - (address - base) &&
           address % PAGE_SIZE == 0;
}

/* An allocation that the portion uses: where the list says, the device finds its tag. */
static void check_place(struct seeds_adapter *adapter, ULONG i, const DXGK_ALLOCATIONLIST *before,
                        const DXGK_ALLOCATIONLIST *element)
{
    const struct seeds_allocation *allocation = (const struct seeds_allocation *)
                                                    before->hDeviceSpecificAllocation;
    const ULONGLONG address = (ULONGLONG)element->PhysicalAddress.QuadPart;
    ULONGLONG seen = 0;

    seeds_check(adapter, SEEDS_ELEMENT_SEGMENT,
                element->SegmentId && allocation->data.segments >> (element->SegmentId - 1) & 1,
                "element %d is in segment %d, allowed are 0x%x", i, element->SegmentId,
                allocation->data.segments, 0);
    seeds_check(adapter, SEEDS_ELEMENT_INSIDE,
                inside(adapter, element->SegmentId, address, allocation->data.bytes),
                "element %d: 0x%x bytes at 0x%x of segment %d", i, allocation->data.bytes, address,
                element->SegmentId);
    if (!allocation->data.tag)
        return;
    if (before->SegmentId != element->SegmentId ||
        before->PhysicalAddress.QuadPart != element->PhysicalAddress.QuadPart)
        InterlockedIncrement(&adapter->moved);
    seeds_peek(adapter, SEEDS_PEEK_READ, 0, address, &seen);
    seeds_check(adapter, SEEDS_ELEMENT_THERE, seen == allocation->data.tag,
                "element %d: the device finds 0x%x at 0x%x, the client wrote 0x%x", i, seen,
                address, allocation->data.tag);
    if (adapter->moved)
        seeds_check(adapter, SEEDS_ELEMENT_MOVED, seen == allocation->data.tag,
                    "element %d, now at 0x%x, at Render at 0x%x; %d such so far", i, address,
                    (ULONGLONG)before->PhysicalAddress.QuadPart, (ULONG)adapter->moved);
}

static BOOLEAN is_used(const struct seeds_buffer *buffer, const DXGKARG_PATCH *args, ULONG index)
{
    const ULONG first = args->PatchLocationListSubmissionStart;

    for (ULONG i = first; i < first + args->PatchLocationListSubmissionLength; i++)
        if (buffer->location[i].AllocationIndex == index)
            return TRUE;
    return FALSE;
}

static void check_element(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                          const DXGKARG_PATCH *args, ULONG i)
{
    const DXGK_ALLOCATIONLIST *before = &buffer->allocation[i];
    const DXGK_ALLOCATIONLIST *element = &args->pAllocationList[i];

    seeds_check(adapter, SEEDS_PATCH_LIST_HANDLES,
                element->hDeviceSpecificAllocation == before->hDeviceSpecificAllocation,
                "element %d: handle 0x%x, Render saw 0x%x", i,
                (ULONG_PTR)element->hDeviceSpecificAllocation,
                (ULONG_PTR)before->hDeviceSpecificAllocation, 0);
    seeds_check(adapter, SEEDS_ELEMENT_WRITE, element->WriteOperation == before->WriteOperation,
                "element %d: WriteOperation %d, Render saw %d", i, element->WriteOperation,
                before->WriteOperation, 0);
    seeds_check(adapter, SEEDS_ELEMENT_RESERVED, element->Reserved == 0,
                "element %d: reserved bits 0x%x", i, element->Reserved, 0, 0);
    if (!before->hDeviceSpecificAllocation)
        seeds_check(adapter, SEEDS_ELEMENT_NULL,
                    element->SegmentId == 0 && element->PhysicalAddress.QuadPart == 0,
                    "element %d: segment %d, address 0x%x", i, element->SegmentId,
                    (ULONGLONG)element->PhysicalAddress.QuadPart, 0);
    else if (is_used(buffer, args, i))
        check_place(adapter, i, before, element);
}

/* ---- both ---- */

void seeds_check_lists(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                       const DXGKARG_PATCH *args)
{
    const ULONG first = args->PatchLocationListSubmissionStart;
    const ULONG length = args->PatchLocationListSubmissionLength;

    if (!seeds_check(adapter, SEEDS_PATCH_LIST_SIZE,
                     args->pAllocationList && args->AllocationListSize == buffer->allocations,
                     "AllocationListSize is %d, at Render it was %d", args->AllocationListSize,
                     buffer->allocations, 0, 0))
        return;
    if (!seeds_check(adapter, SEEDS_PATCH_PATCHES_SIZE,
                     args->pPatchLocationList && args->PatchLocationListSize == buffer->locations,
                     "PatchLocationListSize is %d, Render made %d", args->PatchLocationListSize,
                     buffer->locations, 0, 0))
        return;
    if (!seeds_check(adapter, SEEDS_PATCH_LENGTH,
                     first <= buffer->locations && length <= buffer->locations - first,
                     "elements %d to %d of %d", first, first + length, buffer->locations, 0))
        return;
    for (ULONG i = 0; i < buffer->locations; i++)
        check_location(adapter, i, &buffer->location[i], &args->pPatchLocationList[i]);
    check_range(adapter, buffer, args);
    for (ULONG i = 0; i < buffer->allocations; i++)
        check_element(adapter, buffer, args, i);
}
