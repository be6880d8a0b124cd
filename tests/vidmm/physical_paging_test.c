/* SPDX-License-Identifier: MIT */
/* Content operations of adapters without GPU virtual addresses: TRANSFER, FILL, DISCARD_CONTENT. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#include "sim/machine.h"
#include "sim/point.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define PHYSICAL 0x8000u /* AccessedPhysically */

TEST_WITH(mm, a_fill_says_what_it_fills, mm_options_physical(options))
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE first = mm_make(c, MM_SET_VRAM, 3, PHYSICAL);
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, PHYSICAL);
    const struct vidmm_allocation *a;
    const struct mm_op *op;

    OK(mm_resident(c, first));
    mm_mark(rig);
    OK(mm_resident(c, h));
    a = mm_allocation(c, h);
    op = mm_op_at(rig, DXGK_OPERATION_FILL, 0);
    CHECK_RULE("PAGE-040", op && op->args.Fill.hAllocation == a->driver_handle &&
                               op->args.Fill.FillSize == 4 * PAGE_BYTES &&
                               op->args.Fill.Destination.SegmentId == MM_VRAM);
    CHECK_RULE("SEG-024", a->runs[0].first == 3 &&
                              op->args.Fill.Destination.SegmentAddress.QuadPart == MM_BASE + 0x3000);
    CHECK_RULE("PAGE-041",
               op->args.Fill.FillPattern == 0 && *(uint32_t *)(void *)mm_page(rig, a, 3) == 0);
}

/* Four pages with content have left video memory, where they stood at `address`. */
static D3DKMT_HANDLE evict_four(struct mm_rig *rig, int64_t *address)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, PHYSICAL);
    const struct vidmm_allocation *a = mm_allocation(c, h);

    OK(mm_resident(c, h));
    *address = MM_BASE + (int64_t)(a->runs[0].first << PAGE_BITS);
    mm_write_content(rig, a, 5);
    mm_mark(rig);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    return h;
}

TEST_WITH(mm, a_transfer_says_where_content_goes, mm_options_physical(options))
{
    int64_t address;
    D3DKMT_HANDLE h = evict_four(rig, &address);
    const struct vidmm_allocation *a = mm_allocation(&rig->client[0], h);
    const struct mm_op *op = mm_op_at(rig, DXGK_OPERATION_TRANSFER, 0);

    CHECK_RULE("PAGE-028", op->args.Transfer.Source.SegmentId == MM_VRAM &&
                               op->args.Transfer.Destination.SegmentId == 0);
    CHECK_RULE("PAGE-029", op->args.Transfer.Source.SegmentAddress.QuadPart == address &&
                               op->pages[2] == a->backing[2].value);
    CHECK_RULE("PAGE-035", op->args.Transfer.hAllocation == a->driver_handle);
}

TEST_WITH(mm, a_transfer_moves_the_whole_allocation, mm_options_physical(options))
{
    int64_t address;
    D3DKMT_HANDLE h = evict_four(rig, &address);
    const struct vidmm_allocation *a = mm_allocation(&rig->client[0], h);
    const struct mm_op *op = mm_op_at(rig, DXGK_OPERATION_TRANSFER, 0);

    CHECK_RULE("PAGE-030",
               op->args.Transfer.TransferOffset == 0 && op->args.Transfer.MdlOffset == 0);
    CHECK_RULE("PAGE-032",
               op->args.Transfer.Flags.TransferStart && op->args.Transfer.Flags.TransferEnd);
    CHECK_RULE("PAGE-034",
               op->args.Transfer.TransferSize == 4 * PAGE_BYTES && mm_check_content(rig, a, 5));
    CHECK_RULE("PAGE-036", !op->args.Transfer.Flags.Swizzle && !op->args.Transfer.Flags.Unswizzle);
}

TEST_WITH(mm, a_transfer_brings_content_back, mm_options_physical(options))
{
    int64_t address;
    D3DKMT_HANDLE h = evict_four(rig, &address);
    const struct mm_op *op;

    mm_mark(rig);
    OK(mm_resident(&rig->client[0], h));
    op = mm_op_at(rig, DXGK_OPERATION_TRANSFER, 0);
    CHECK_RULE("PAGE-028", op->args.Transfer.Source.SegmentId == 0 &&
                               op->args.Transfer.Destination.SegmentId == MM_VRAM);
    CHECK(mm_check_content(rig, mm_allocation(&rig->client[0], h), 5));
    CHECK_RULE("PAGE-027", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) +
                                   mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) ==
                               0);
}

TEST_WITH(mm, a_clean_copy_is_only_announced, mm_options_physical(options))
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE permanent = mm_make(c, MM_SET_VRAM, 4, PHYSICAL | 3);
    const struct mm_op *op;
    int64_t address;

    OK(mm_resident(c, permanent));
    address = MM_BASE + (int64_t)(mm_allocation(c, permanent)->runs[0].first << PAGE_BITS);
    mm_mark(rig);
    OK(mm_evict(c, permanent, 2));
    mm_idle(rig);
    op = mm_op_at(rig, DXGK_OPERATION_DISCARD_CONTENT, 0);
    CHECK_RULE("PAGE-042", mm_op_count(rig, DXGK_OPERATION_DISCARD_CONTENT) == 1 &&
                               mm_op_count(rig, DXGK_OPERATION_TRANSFER) == 0);
    CHECK_RULE("PAGE-042", op->args.DiscardContent.SegmentId == MM_VRAM &&
                               op->args.DiscardContent.SegmentAddress.QuadPart == address);
    CHECK_RULE("ALLOC-047", mm_op_count(rig, DXGK_OPERATION_DISCARD_CONTENT) == 1);
    CHECK_RULE("PAGE-056", mm_op_count(rig, DXGK_OPERATION_SPECIAL_LOCK_TRANSFER) == 0);
}

static uint32_t interleaved;
static HANDLE in_transfer;

static NTSTATUS watch_interleaving(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)rig;
    if (args->Operation != DXGK_OPERATION_TRANSFER)
        return STATUS_PENDING;
    interleaved += in_transfer && in_transfer != args->Transfer.hAllocation;
    if (args->MultipassOffset < 3) {
        args->MultipassOffset++;
        in_transfer = args->Transfer.hAllocation;
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    }
    in_transfer = NULL;
    return STATUS_PENDING;
}

TEST_WITH(mm, transfers_do_not_interleave, mm_options_physical(options))
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h[3];

    for (unsigned i = 0; i < 3; i++) {
        h[i] = mm_make(c, MM_SET_VRAM, 8, PHYSICAL);
        OK(mm_resident(c, h[i]));
    }
    rig->on_build = watch_interleaving;
    interleaved = 0;
    in_transfer = NULL;
    for (unsigned i = 0; i < 3; i++)
        OK(mm_evict(c, h[i], 0));
    mm_idle(rig);
    CHECK_RULE("PAGE-033", interleaved == 0 && mm_op_count(rig, DXGK_OPERATION_TRANSFER) == 3);
    rig->on_build = NULL;
}

TEST_WITH(mm, mdl_lives_until_the_fence, mm_options_physical(options))
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, PHYSICAL);
    const MDL *mdl;
    uint64_t live;

    OK(mm_resident(c, h));
    mm_mark(rig);
    mm_idle(rig);
    rig->hold = true;
    OK(mm_evict(c, h, 0));
    sim_stall(1000000);
    live = rig->base.sim->heap.live_blocks;
    mdl = mm_op_at(rig, DXGK_OPERATION_TRANSFER, 0)->args.Transfer.Destination.pMdl;
    CHECK_RULE("PAGE-038",
               ((const uint64_t *)(const void *)(mdl + 1))[3] ==
                       mm_allocation(c, h)->backing[3].value &&
                   ram_page_iommu_maps(rig->base.ram, mm_allocation(c, h)->backing[3]) == 1);
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK_RULE("PAGE-038", rig->base.sim->heap.live_blocks < live); /* and goes then */
}
