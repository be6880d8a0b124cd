/* SPDX-License-Identifier: MIT */
/* Content operations of adapters with GPU virtual addresses: VIRTUAL_TRANSFER and VIRTUAL_FILL. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define PHYSICAL 0x8000u /* AccessedPhysically */

TEST_WITH(mm, a_virtual_fill_clears_the_whole_allocation)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 5, 0);
    const struct mm_op *op;

    OK(mm_resident(c, h));
    op = mm_op_at(rig, DXGK_OPERATION_VIRTUAL_FILL, 0);
    CHECK_RULE("PAGE-061", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) == 1 &&
                               op->args.FillVirtual.AllocationOffsetInBytes == 0 &&
                               op->args.FillVirtual.FillSizeInBytes == 5 * PAGE_BYTES &&
                               op->args.FillVirtual.FillPattern == 0);
    CHECK_RULE("GPUVA-237", op->args.FillVirtual.hAllocation == mm_allocation(c, h)->driver_handle);
}

/* Five pages with content have been evicted. */
static D3DKMT_HANDLE evict_five(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 5, 0);

    OK(mm_resident(c, h));
    mm_write_content(rig, mm_allocation(c, h), 1);
    mm_mark(rig);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK(mm_check_content(rig, mm_allocation(c, h), 1));
    return h;
}

TEST_WITH(mm, a_virtual_transfer_says_the_direction)
{
    const struct mm_op *op;

    evict_five(rig);
    op = mm_op_at(rig, DXGK_OPERATION_VIRTUAL_TRANSFER, 0);
    CHECK_RULE("PAGE-058",
               op->args.TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM);
    CHECK_RULE("GPUVA-234",
               op->args.TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM);
    CHECK_RULE("PAGE-059", op->args.TransferVirtual.Flags.Flags == 0);
    CHECK_RULE("PAGE-060", op->args.TransferVirtual.SourcePageTable == 0 &&
                               op->args.TransferVirtual.DestinationPageTable == 0);
}

TEST_WITH(mm, a_virtual_transfer_brings_content_back)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = evict_five(rig);
    const struct mm_op *op;

    mm_mark(rig);
    OK(mm_resident(c, h));
    op = mm_op_at(rig, DXGK_OPERATION_VIRTUAL_TRANSFER, 0);
    CHECK_RULE("PAGE-058",
               op->args.TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL);
    CHECK_RULE("PAGE-057", mm_check_content(rig, mm_allocation(c, h), 1) && rig->faults == 0);
    CHECK_RULE("PAGE-027", mm_op_count(rig, DXGK_OPERATION_TRANSFER) +
                                   mm_op_count(rig, DXGK_OPERATION_FILL) +
                                   mm_op_count(rig, DXGK_OPERATION_DISCARD_CONTENT) ==
                               0);
}

TEST_WITH(mm, big_ones_go_in_chunks)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h;
    const struct vidmm_allocation *a;
    uint64_t next = 0;

    rig->vidmm->mmu->scratch.limit = 7; /* pages */
    h = mm_make(c, MM_SET_VRAM, 30, 0x18000);
    OK(mm_resident(c, h));
    a = mm_allocation(c, h);
    CHECK_RULE("PAGE-062", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) == 5);
    for (uint32_t i = 0; i < 5; i++) {
        const struct mm_op *op = mm_op_at(rig, DXGK_OPERATION_VIRTUAL_FILL, i);

        CHECK_RULE("PAGE-061", op->args.FillVirtual.AllocationOffsetInBytes == next);
        next += op->args.FillVirtual.FillSizeInBytes;
    }
    CHECK_RULE("PAGE-061", next == 30 * PAGE_BYTES);
    CHECK_RULE("PAGE-072", mm_op_count(rig, DXGK_OPERATION_NOTIFY_RESIDENCY) == 1 &&
                               mm_op_position(rig, DXGK_OPERATION_NOTIFY_RESIDENCY, 0) >
                                   mm_op_position(rig, DXGK_OPERATION_VIRTUAL_FILL, 4));
    CHECK_RULE("PAGE-072",
               mm_op_at(rig, DXGK_OPERATION_NOTIFY_RESIDENCY, 0)->args.NotifyResidency.Resident ==
                       1 &&
                   mm_op_at(rig, DXGK_OPERATION_NOTIFY_RESIDENCY, 0)
                           ->args.NotifyResidency.PhysicalAddress.SegmentId == 1 &&
                   mm_op_at(rig, DXGK_OPERATION_NOTIFY_RESIDENCY, 0)
                           ->args.NotifyResidency.PhysicalAddress.SegmentOffset ==
                       a->runs[0].first << PAGE_BITS);
    CHECK_RULE("GPUVA-239", mm_op_count(rig, DXGK_OPERATION_NOTIFY_RESIDENCY) == 1);
    mm_write_content(rig, a, 3);
    mm_mark(rig);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("PAGE-062", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 5);
    CHECK_RULE("PAGE-057", mm_op_at(rig, DXGK_OPERATION_VIRTUAL_TRANSFER, 1)
                                   ->args.TransferVirtual.AllocationOffsetInBytes == 7 * PAGE_BYTES);
    CHECK_RULE(
        "PAGE-072",
        mm_op_count(rig, DXGK_OPERATION_NOTIFY_RESIDENCY) == 1 &&
            mm_op_at(rig, DXGK_OPERATION_NOTIFY_RESIDENCY, 0)->args.NotifyResidency.Resident == 0 &&
            mm_op_position(rig, DXGK_OPERATION_NOTIFY_RESIDENCY, 0) <
                mm_op_position(rig, DXGK_OPERATION_VIRTUAL_TRANSFER, 0));
    CHECK_RULE("GPUVA-240", mm_op_at(rig, DXGK_OPERATION_NOTIFY_RESIDENCY, 0)
                                    ->args.NotifyResidency.PhysicalAddress.SegmentId == 0);
    CHECK_RULE("PAGE-034", mm_check_content(rig, a, 3));
    CHECK(rig->faults == 0);
}

TEST_WITH(mm, scattered_pages_in_one_operation)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE small[64];
    D3DKMT_HANDLE h;

    for (unsigned i = 0; i < 64; i++) {
        small[i] = mm_make(c, MM_SET_VRAM, 64, PHYSICAL);
        OK(mm_resident(c, small[i]));
    }
    for (unsigned i = 0; i < 64; i += 2)
        OK(mm_destroy(c, small[i], 2));
    h = mm_make(c, MM_SET_VRAM, 300, 0);
    mm_mark(rig);
    OK(mm_resident(c, h));
    CHECK(mm_allocation(c, h)->run_count == 5);
    CHECK_RULE("PAGE-063", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) == 1);
    mm_write_content(rig, mm_allocation(c, h), 2);
    mm_mark(rig);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("PAGE-063", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 1 &&
                               mm_check_content(rig, mm_allocation(c, h), 2));
}

/* Each chunk begins in the run where the one before it ended. */
TEST_WITH(mm, scattered_pages_in_chunks)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE small[64];
    D3DKMT_HANDLE h;

    for (unsigned i = 0; i < 64; i++) {
        small[i] = mm_make(c, MM_SET_VRAM, 64, PHYSICAL);
        OK(mm_resident(c, small[i]));
    }
    for (unsigned i = 0; i < 64; i += 2)
        OK(mm_destroy(c, small[i], 2));
    rig->vidmm->mmu->scratch.limit = 50; /* pages */
    h = mm_make(c, MM_SET_VRAM, 300, 0);
    mm_mark(rig);
    OK(mm_resident(c, h));
    CHECK(mm_allocation(c, h)->run_count == 5);
    CHECK_RULE("PAGE-062", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) == 6);
    for (unsigned round = 0; round < 2; round++) {
        mm_write_content(rig, mm_allocation(c, h), (uint8_t)(5 + round));
        mm_mark(rig);
        OK(mm_evict(c, h, 0));
        mm_idle(rig);
        CHECK_RULE("PAGE-062", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 6);
        CHECK_RULE("PAGE-057", mm_check_content(rig, mm_allocation(c, h), (uint8_t)(5 + round)));
        OK(mm_resident(c, h));
        CHECK_RULE("PAGE-057", mm_check_content(rig, mm_allocation(c, h), (uint8_t)(5 + round)));
    }
    CHECK(rig->faults == 0);
}

TEST_WITH(mm, without_memory_segment, options->segment[0].Flags.Aperture = 1,
          options->segment[0].Size = 16 * MM_MB, options->segment_count = 1)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(1, 8192);
    D3DKMT_HANDLE h = mm_create_ok(c, p);

    OK(mm_resident(c, h));
    mm_write_content(rig, mm_allocation(c, h), 2);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    OK(mm_resident(c, h));
    CHECK_RULE("PAGE-065", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) +
                                   mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) ==
                               0);
    CHECK_RULE("SEG-063",
               mm_allocation(c, h)->segment == 0 && mm_allocation(c, h)->runs[0].segment == 0);
}
