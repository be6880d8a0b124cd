/* SPDX-License-Identifier: MIT */
/* Scatter/gather lists, for a device whose IOMMU is in each of its modes. */
#include "support/dma_rig.h"

static void check_lists(void)
{
    PMDL mdl;
    uint8_t seen[2] = {0};
    PHYSICAL_ADDRESS last;

    get(description_of(2));
    mdl = scattered(4);
    called = 0;
    CHECK_RULE("NT-190/a", get_list(mdl, 100, 3 * PAGE_SIZE, TRUE) == STATUS_SUCCESS && called == 1);
    CHECK_RULE("NT-190/a", level == DISPATCH_LEVEL && bytes_of(list) == 3 * PAGE_SIZE);
    CHECK_RULE("NT-190/a", list->NumberOfElements >= (mode == IOMMU_REMAP ? 1 : 2) &&
                               list->NumberOfElements <= 4);
    CHECK_RULE("NT-190/a", mode != IOMMU_REMAP || list->NumberOfElements == 1);
    CHECK_RULE("NT-190/a", list->Elements[0].Address.QuadPart % PAGE_SIZE == 100);
    *byte_of(mdl, 100) = 0x11;
    *byte_of(mdl, 100 + 3 * PAGE_SIZE - 1) = 0x22;
    last = list->Elements[list->NumberOfElements - 1].Address;
    last.QuadPart += list->Elements[list->NumberOfElements - 1].Length - 1;
    CHECK_RULE("NT-190/b", device_reads(list->Elements[0].Address, &seen[0], 1) && seen[0] == 0x11);
    CHECK_RULE("NT-190/b", device_reads(last, &seen[1], 1) && seen[1] == 0x22 && faults == 0);
    put_list(TRUE);
    device_reads(last, seen, 1);
    CHECK_RULE("NT-190/b",
               faults == (mode != IOMMU_OFF) && errors() == 0); /* pages of an MDL pass */

    CHECK_RULE("NT-190/a", get_list(mdl, 0, 16, TRUE) == STATUS_SUCCESS);
    put_list(FALSE);
    CHECK_RULE("NT-190/c", broken("NT-190")); /* the other direction */
    forget_reports();
    put_list(TRUE);
    CHECK_RULE("NT-190/c", broken("NT-190")); /* gone */
    forget_reports();
    ops->GetScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16, keep_list,
                              &called, TRUE);
    CHECK_RULE("NT-190/d", level == DISPATCH_LEVEL && errors() == 0 && broken("NT-190"));
    ops->PutScatterGatherList(adapter, list, TRUE);
    CHECK_RULE("NT-190/a", get_list(mdl, 0, 16, TRUE) == STATUS_SUCCESS);
    ops->PutDmaAdapter(adapter);
    CHECK_RULE("NT-187/e", broken("NT-187"));
    forget_reports();
    free_scattered(mdl);
    CHECK_RULE("NT-190/c", nt_image_leak_check(h.image) == 2 && broken("NT-190"));
    forget_reports();
}

TEST(lists_have_the_runs_that_the_device_sees)
{
    in_each_mode(check_lists, true);
}

static void check_refused_lists(void)
{
    PMDL mdl, chain;
    PVOID buffer = ExAllocatePoolWithTag(NonPagedPool, 4 * PAGE_SIZE, TAG);

    get(description_of(2));
    mdl = scattered(4);
    called = 0;
    CHECK_RULE("NT-190/e", get_list(mdl, 0, 4 * PAGE_SIZE + 1, TRUE) == STATUS_BUFFER_TOO_SMALL);
    CHECK_RULE("NT-190/e", broken("NT-190"));
    forget_reports();
    CHECK_RULE("NT-190/e", get_list(mdl, 4 * PAGE_SIZE, 1, TRUE) == STATUS_BUFFER_TOO_SMALL);
    CHECK_RULE("NT-190/f", get_list(mdl, 0, 0, TRUE) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-190/e", get_list(mdl, 0, 4 * PAGE_SIZE, TRUE) == STATUS_SUCCESS && called == 1);
    put_list(TRUE);
    forget_reports();
    chain = IoAllocateMdl(buffer, 4 * PAGE_SIZE, FALSE, FALSE, NULL);
    CHECK_RULE("NT-190/f", get_list(chain, 0, 16, TRUE) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-190/f", broken("NT-190") && called == 1); /* not locked */
    forget_reports();
    MmProbeAndLockPages(chain, KernelMode, IoModifyAccess);
    mdl->Next = chain;
    CHECK_RULE("NT-190/g", get_list(mdl, 4 * PAGE_SIZE - 8, 16, TRUE) == STATUS_SUCCESS &&
                               bytes_of(list) == 16);
    put_list(TRUE);
    CHECK_RULE("NT-190/g", get_list(mdl, 8 * PAGE_SIZE - 8, 16, TRUE) == STATUS_BUFFER_TOO_SMALL);
    forget_reports();
    mdl->Next = NULL;
    MmUnlockPages(chain);
    IoFreeMdl(chain);
    ExFreePool(buffer);
    free_scattered(mdl);
    mdl = scattered(18);
    CHECK_RULE("NT-190/h", get_list(mdl, 0, 18 * PAGE_SIZE, TRUE) == STATUS_INSUFFICIENT_RESOURCES);
    CHECK_RULE("NT-190/h",
               get_list(mdl, 0, 17 * PAGE_SIZE, TRUE) == STATUS_SUCCESS && errors() == 0);
    put_list(TRUE);
    CHECK_RULE("NT-190/f",
               ops->GetScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16, NULL,
                                         NULL, TRUE) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-190/f", broken("NT-190"));
    forget_reports();
    free_scattered(mdl);
    put();
    CHECK(errors() == 0);
}

TEST(lists_of_what_is_not_there_are_refused)
{
    in_each_mode(check_refused_lists, true);
}

/* A buffer of the driver's own for the list, of the size that it is told. */
static void check_own_buffer(void)
{
    uint8_t buffer[512];
    ULONG bytes = 0, count = 0;
    PMDL mdl;
    KIRQL old;

    get(description_of(2));
    mdl = scattered(4);
    called = 0;
    CHECK_RULE("NT-190/i",
               ops->CalculateScatterGatherList(adapter, mdl, MmGetMdlVirtualAddress(mdl),
                                               4 * PAGE_SIZE, &bytes, &count) == STATUS_SUCCESS);
    CHECK_RULE("NT-190/i", count == 4 && bytes == 16 + 4 * 24);
    CHECK_RULE("NT-190/i", ops->CalculateScatterGatherList(adapter, NULL, (PVOID)100, PAGE_SIZE,
                                                           &bytes, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-190/i", bytes == 16 + 2 * 24);
    CHECK_RULE("NT-190/i",
               ops->CalculateScatterGatherList(adapter, NULL, NULL, 18 * PAGE_SIZE, &bytes, NULL) ==
                   STATUS_INSUFFICIENT_RESOURCES);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-190/j", ops->BuildScatterGatherList(
                               adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16, keep_list,
                               &called, TRUE, buffer, 16 + 24 - 1) == STATUS_BUFFER_TOO_SMALL);
    CHECK_RULE("NT-190/j", called == 0);
    CHECK_RULE("NT-190/j", ops->BuildScatterGatherList(
                               adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16, keep_list,
                               &called, TRUE, buffer, 16 + 24) == STATUS_SUCCESS);
    CHECK_RULE("NT-190/j", called == 1 && (PVOID)list == (PVOID)buffer && bytes_of(list) == 16);
    CHECK_RULE("NT-190/j", errors() == 0);
    CHECK_RULE("NT-190/j",
               ops->BuildScatterGatherList(adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16,
                                           keep_list, &called, TRUE, buffer, sizeof(buffer)) ==
                   STATUS_INVALID_PARAMETER); /* in use */
    CHECK_RULE("NT-190/j", broken("NT-190"));
    CHECK_RULE("NT-190/j", ops->BuildScatterGatherList(
                               adapter, &pdo, mdl, MmGetMdlVirtualAddress(mdl), 16, keep_list,
                               &called, TRUE, NULL, 0) == STATUS_INVALID_PARAMETER);
    KeLowerIrql(old);
    forget_reports();
    put_list(TRUE);
    free_scattered(mdl);
    put();
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST(a_list_may_lie_in_the_buffer_of_the_driver)
{
    in_each_mode(check_own_buffer, true);
}

/* Frames above the reach of the device are copied through others. */
static void check_out_of_reach(void)
{
    uint8_t seen[PAGE_SIZE];
    uint64_t free_before;
    PMDL mdl;

    mdl = MmAllocatePagesForMdl(physical(HALF), physical(-1ull), physical(0), 2 * PAGE_SIZE);
    get_narrow();
    free_before = ram_free_pages(h.ram);
    *byte_of(mdl, 10) = 0x33;
    CHECK_RULE("NT-190/k", get_list(mdl, 10, PAGE_SIZE, TRUE) == STATUS_SUCCESS && list);
    CHECK_RULE("NT-190/k", list->NumberOfElements == 1 &&
                               list->Elements[0].Address.QuadPart + PAGE_SIZE <= (LONGLONG)HALF);
    CHECK_RULE("NT-190/k", device_reads(list->Elements[0].Address, seen, 1) && seen[0] == 0x33);
    *byte_of(mdl, 10) = 0x44;
    device_writes(list->Elements[0].Address, "x", 1);
    put_list(TRUE);
    CHECK_RULE("NT-190/k", mode == IOMMU_REMAP || *byte_of(mdl, 10) == 0x44);
    CHECK_RULE("NT-190/k", get_list(mdl, 0, 2 * PAGE_SIZE, FALSE) == STATUS_SUCCESS);
    *byte_of(mdl, 0) = 0x55;
    memset(seen, 0x66, sizeof(seen));
    device_writes(list->Elements[0].Address, seen, PAGE_SIZE);
    put_list(FALSE);
    CHECK_RULE("NT-190/k", *byte_of(mdl, 0) == 0x66 && *byte_of(mdl, PAGE_SIZE - 1) == 0x66);
    CHECK_RULE("NT-190/k", ram_free_pages(h.ram) == free_before && faults == 0);
    free_pages(mdl);
    put();
    CHECK(errors() == 0);
}

TEST(pages_out_of_reach_are_copied)
{
    in_each_mode(check_out_of_reach, true);
}

static void check_no_gather(void)
{
    DEVICE_DESCRIPTION d = description_of(2);
    PMDL mdl;

    d.ScatterGather = FALSE;
    get(d);
    mdl = scattered(4);
    CHECK_RULE("NT-190/l", get_list(mdl, 0, 4 * PAGE_SIZE, TRUE) == STATUS_SUCCESS &&
                               list->NumberOfElements == 1 && bytes_of(list) == 4 * PAGE_SIZE);
    put_list(TRUE);
    free_scattered(mdl);
    put();
    CHECK(errors() == 0);
}

TEST(a_device_without_scatter_gather_gets_one_run)
{
    in_each_mode(check_no_gather, true);
}
