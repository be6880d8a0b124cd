/* SPDX-License-Identifier: MIT */
/* Bytes that are copied because the device does not reach them, or takes one run alone; and the last
 * address that it reaches. */
#include "support/dma_rig.h"

/* Pages above what a narrow adapter reaches, not in order. */
static PMDL high_pages(ULONG pages)
{
    PMDL mdl = MmAllocatePagesForMdl(physical(HALF), physical(-1ull), physical(0),
                                     pages * PAGE_SIZE);

    exchange_ends(mdl);
    return mdl;
}

static void fill(PMDL mdl, ULONG offset, ULONG bytes, uint8_t first)
{
    for (ULONG i = 0; i < bytes; i++)
        *byte_of(mdl, offset + i) = (uint8_t)(first + i * 7);
}

static bool is_filled(PMDL mdl, ULONG offset, ULONG bytes, uint8_t first)
{
    for (ULONG i = 0; i < bytes; i++) {
        if (*byte_of(mdl, offset + i) != (uint8_t)(first + i * 7))
            return false;
    }
    return true;
}

/* The list as the device reads it. */
static bool device_sees(const SCATTER_GATHER_LIST *of, uint8_t first)
{
    ULONG at = 0;

    for (ULONG i = 0; i < of->NumberOfElements; i++) {
        PHYSICAL_ADDRESS address = of->Elements[i].Address;
        uint8_t seen;

        for (ULONG j = 0; j < of->Elements[i].Length; j++, at++, address.QuadPart++) {
            if (!device_reads(address, &seen, 1) || seen != (uint8_t)(first + at * 7))
                return false;
        }
    }
    return true;
}

static void device_fills(const SCATTER_GATHER_LIST *of, ULONG bytes, uint8_t first)
{
    ULONG at = 0;

    for (ULONG i = 0; i < of->NumberOfElements; i++) {
        PHYSICAL_ADDRESS address = of->Elements[i].Address;

        for (ULONG j = 0; j < of->Elements[i].Length && at < bytes; j++, at++, address.QuadPart++) {
            uint8_t value = (uint8_t)(first + at * 7);

            CHECK(device_writes(address, &value, 1));
        }
    }
}

static void move_both_ways(PMDL mdl, ULONG offset, ULONG bytes)
{
    const uint64_t free_before = ram_free_pages(h.ram);

    memset(byte_of(mdl, 0), 0x11, PAGE_SIZE);
    fill(mdl, offset, bytes, 3);
    CHECK_RULE("NT-190/k", get_list(mdl, offset, bytes, TRUE) == STATUS_SUCCESS &&
                               bytes_of(list) == bytes && device_sees(list, 3));
    put_list(TRUE);
    CHECK_RULE("NT-190/k", is_filled(mdl, offset, bytes, 3));
    CHECK_RULE("NT-190/k", get_list(mdl, offset, bytes, FALSE) == STATUS_SUCCESS);
    device_fills(list, bytes - 5, 90);
    put_list(FALSE);
    CHECK_RULE("NT-190/k", is_filled(mdl, offset, bytes - 5, 90));
    /* What it did not write is as it was. */
    CHECK_RULE("NT-190/k", is_filled(mdl, offset + bytes - 5, 5, (uint8_t)(3 + (bytes - 5) * 7)));
    if (offset)
        CHECK(*byte_of(mdl, offset - 1) == 0x11);
    CHECK(ram_free_pages(h.ram) == free_before && faults == 0);
}

static void check_copies(void)
{
    PMDL mdl = high_pages(3);

    get_narrow();
    move_both_ways(mdl, PAGE_SIZE - 9, 21);
    move_both_ways(mdl, 100, 2 * PAGE_SIZE);
    move_both_ways(mdl, 0, 3 * PAGE_SIZE);
    put();
    CHECK(errors() == 0);
    exchange_ends(mdl);
    free_pages(mdl);
}

TEST(bytes_of_several_pages_are_copied_in_order)
{
    in_each_mode(check_copies, true);
}

static void check_one_run(void)
{
    DEVICE_DESCRIPTION description = description_of(3);
    PMDL mdl = scattered(4);

    description.ScatterGather = FALSE;
    get(description);
    move_both_ways(mdl, 17, 3 * PAGE_SIZE);
    CHECK_RULE("NT-190/l", get_list(mdl, 17, 3 * PAGE_SIZE, TRUE) == STATUS_SUCCESS &&
                               list->NumberOfElements == 1 &&
                               list->Elements[0].Length == 3 * PAGE_SIZE);
    put_list(TRUE);
    /* Within one page there is one run anyway. */
    CHECK_RULE("NT-190/l", get_list(mdl, 17, 64, TRUE) == STATUS_SUCCESS &&
                               list->NumberOfElements == 1 && list->Elements[0].Length == 64);
    if (mode != IOMMU_REMAP)
        CHECK(list->Elements[0].Address.QuadPart ==
              (LONGLONG)MmGetMdlPfnArray(mdl)[0] * PAGE_SIZE + 17);
    put_list(TRUE);
    put();
    CHECK(errors() == 0);
    free_scattered(mdl);
}

TEST(one_run_has_the_bytes_in_order)
{
    in_each_mode(check_one_run, true);
}

/* ---- the last address ---- */

static void check_reach(void)
{
    PMDL last = MmAllocatePagesForMdl(physical(HALF - PAGE_SIZE), physical(HALF - 1), physical(0),
                                      PAGE_SIZE);
    PMDL high = high_pages(1);
    PHYSICAL_ADDRESS low, end, logical;
    PVOID memory;

    CHECK(last && MmGetMdlPfnArray(last)[0] == HALF / PAGE_SIZE - 1);
    get_narrow();
    if (mode != IOMMU_REMAP) {
        CHECK(get_list(last, 0, PAGE_SIZE, TRUE) == STATUS_SUCCESS &&
              list->Elements[0].Address.QuadPart == (LONGLONG)(HALF - PAGE_SIZE));
        put_list(TRUE);
        CHECK(get_list(high, 0, PAGE_SIZE, TRUE) == STATUS_SUCCESS &&
              list->Elements[0].Address.QuadPart < (LONGLONG)HALF);
        put_list(TRUE);
    }
    put();
    free_pages(last);
    exchange_ends(high);
    free_pages(high);

    /* Bounds are inclusive. */
    get(description_of(3));
    low = physical(HALF - PAGE_SIZE);
    end = physical(HALF - 1);
    if (mode != IOMMU_REMAP) {
        memory = ops->AllocateCommonBufferWithBounds(adapter, &low, &end, PAGE_SIZE, 0, NULL, 0,
                                                     &logical);
        CHECK_RULE("NT-188/d", memory && logical.QuadPart == low.QuadPart);
        CHECK_RULE("NT-188/d", !ops->AllocateCommonBufferWithBounds(adapter, &low, &end, PAGE_SIZE,
                                                                    0, NULL, 0, &logical));
        ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
        end.QuadPart--;
        CHECK_RULE("NT-188/d", !ops->AllocateCommonBufferWithBounds(adapter, &low, &end, PAGE_SIZE,
                                                                    0, NULL, 0, &logical));
        end.QuadPart++;
        CHECK_RULE("NT-188/d", !ops->AllocateCommonBufferWithBounds(
                                   adapter, &low, &end, PAGE_SIZE + 1, 0, NULL, 0, &logical));
    }
    put();
    CHECK(errors() == 0);
}

TEST(the_last_address_is_reached)
{
    in_each_mode(check_reach, true);
}

/* ---- runs of a channel ---- */

static PVOID base;

static IO_ALLOCATION_ACTION NTAPI take(PDEVICE_OBJECT object, PIRP irp, PVOID given, PVOID context)
{
    (void)object;
    (void)irp;
    (void)context;
    base = given;
    return KeepObject;
}

static ULONG map(PMDL mdl, ULONG offset, ULONG length, PHYSICAL_ADDRESS *logical)
{
    *logical = ops->MapTransfer(adapter, mdl, base, (PUCHAR)MmGetMdlVirtualAddress(mdl) + offset,
                                &length, TRUE);
    return length;
}

static void check_runs(void)
{
    PMDL mdl = MmAllocatePagesForMdl(physical(0), physical(HALF - 1), physical(0), 2 * PAGE_SIZE);
    PMDL high = high_pages(2);
    PVOID memory = MmAllocateContiguousMemory(2 * PAGE_SIZE, physical(HALF - 1));
    PFN_NUMBER *pfn = MmGetMdlPfnArray(mdl), *far = MmGetMdlPfnArray(high),
               own[2] = {pfn[0], pfn[1]}, run = (PFN_NUMBER)MmGetPhysicalAddress(memory).QuadPart;
    PHYSICAL_ADDRESS logical;
    KIRQL old;

    get_narrow();
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ops->AllocateAdapterChannel(adapter, &pdo, 8, take, NULL);
    if (mode != IOMMU_REMAP) {
        /* Two pages that touch; then one within reach and one that is not. */
        pfn[0] = run / PAGE_SIZE;
        pfn[1] = run / PAGE_SIZE + 1;
        CHECK_RULE("NT-191/a", map(mdl, 4, 2 * PAGE_SIZE - 4, &logical) == 2 * PAGE_SIZE - 4 &&
                                   logical.QuadPart == (LONGLONG)run + 4);
        pfn[1] = far[1];
        CHECK_RULE("NT-191/a", map(mdl, 4, 2 * PAGE_SIZE - 4, &logical) == PAGE_SIZE - 4 &&
                                   logical.QuadPart == (LONGLONG)pfn[0] * PAGE_SIZE + 4);
        CHECK_RULE("NT-191/a", map(mdl, PAGE_SIZE, PAGE_SIZE, &logical) == PAGE_SIZE &&
                                   logical.QuadPart < (LONGLONG)HALF);
        /* The first is not: all of it is copied. */
        pfn[1] = pfn[0];
        pfn[0] = far[0];
        CHECK_RULE("NT-191/a", map(mdl, 4, 2 * PAGE_SIZE - 4, &logical) == 2 * PAGE_SIZE - 4 &&
                                   logical.QuadPart < (LONGLONG)HALF);
        memcpy(pfn, own, sizeof(own));
    }
    ops->FlushAdapterBuffers(adapter, mdl, base, MmGetMdlVirtualAddress(mdl), 2 * PAGE_SIZE, TRUE);
    forget_reports();
    ops->FreeAdapterChannel(adapter);
    KeLowerIrql(old);
    put();
    CHECK(errors() == 0);
    MmFreeContiguousMemory(memory);
    free_pages(mdl);
    exchange_ends(high);
    free_pages(high);
}

TEST(a_run_ends_where_the_reach_does)
{
    in_each_mode(check_runs, true);
}
