/* SPDX-License-Identifier: MIT */
/* D3DKMTUpdateGpuVirtualAddress on a started adapter, in each way that page tables are written: what becomes of the pages. */
#include "port/support/update_client.h"

#define POOL (256 * KB)
#define B    (U->base)

/* ---- operations ---- */

TEST_WITH(update, later_operations_see_earlier_ones)
{
    update_operation op[3];

    (void)p;
    update_begin(POOL);
    CHECK(update_all(B, 512, UPDATE_ZERO));
    op[0] = update_map(B, 2 * PAGE, PAGE);
    op[1] = update_unmap(B, 2 * PAGE, true);
    update_do(op, 2);
    CHECK_RULE("GPUVA-122", update_all(B, 3, UPDATE_ZERO));
    op[0] = update_unmap(B, 2 * PAGE, true);
    op[1] = update_map(B, 2 * PAGE, PAGE);
    update_do(op, 2);
    CHECK_RULE("GPUVA-122", update_all(B, 2, 1) && update_shows(B + 2 * PAGE) == UPDATE_ZERO);
    op[0] = update_map(B + 64 * KB, 4 * PAGE, 0);
    op[1] = update_map(B + 64 * KB + 2 * PAGE, 4 * PAGE, 32 * PAGE);
    op[2] = update_unmap(B + 64 * KB + PAGE, PAGE, false);
    update_do(op, 3);
    CHECK_RULE("GPUVA-122", update_shows(B + 64 * KB) == 0 &&
                                update_shows(B + 64 * KB + PAGE) == UPDATE_INVALID &&
                                update_all(B + 64 * KB + 2 * PAGE, 4, 32) &&
                                update_shows(B + 64 * KB + 6 * PAGE) == UPDATE_ZERO);
    update_end();
}

TEST_WITH(update, a_window_is_repeated_over_its_range)
{
    update_operation op = update_map(0, 0, 0);

    (void)p;
    update_begin(POOL);
    op = update_map(B, 256 * KB, 2 * PAGE);
    op.Map.AllocationSizeInBytes = 64 * KB;
    update_do(&op, 1);
    for (unsigned i = 0; i < 4; i++)
        CHECK_RULE("GPUVA-127", update_all(B + i * 64 * KB, 16, 2));
    CHECK_RULE("GPUVA-127", update_shows(B + 256 * KB) == UPDATE_ZERO);
    op = update_map(B + MB, 32 * KB, 3 * PAGE); /* 0: all of SizeInBytes */
    update_do(&op, 1);
    CHECK_RULE("GPUVA-127", update_all(B + MB, 8, 3) && update_shows(B + MB + 32 * KB) == -1);
    op.Map.AllocationSizeInBytes = 32 * KB; /* the same, said in full */
    op.Map.BaseAddress = B + MB + 64 * KB;
    update_do(&op, 1);
    CHECK_RULE("GPUVA-127", update_all(B + MB + 64 * KB, 8, 3));
    update_end();
}

TEST_WITH(update, an_unmap_says_zero_or_no_access)
{
    update_operation op[3];

    (void)p;
    update_begin(POOL);
    op[0] = update_map(B, 4 * PAGE, 0);
    op[1] = update_unmap(B + PAGE, PAGE, true);
    op[2] = update_unmap(B + 2 * PAGE, PAGE, false);
    update_do(op, 3);
    CHECK_RULE("GPUVA-131", update_shows(B) == 0 && update_shows(B + PAGE) == UPDATE_ZERO);
    CHECK_RULE("GPUVA-131",
               update_shows(B + 2 * PAGE) == UPDATE_INVALID && update_shows(B + 3 * PAGE) == 3);
    /* what has no access now is mapped again; so is what never had, elsewhere */
    op[0] = update_map(B + 2 * PAGE, PAGE, 9 * PAGE);
    update_do(op, 1);
    CHECK_RULE("GPUVA-125", update_shows(B + 2 * PAGE) == 9);
    op[0] = update_map(update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0),
                       2 * PAGE, 5 * PAGE);
    update_do(op, 1);
    CHECK_RULE("GPUVA-125", update_all(op[0].Map.BaseAddress, 2, 5) &&
                                update_shows(op[0].Map.BaseAddress + 2 * PAGE) == UPDATE_INVALID);
    update_end();
}

TEST_WITH(update, a_copy_reads_its_source_first)
{
    const uint64_t other = 512 * KB;
    update_operation op[3];

    (void)p;
    update_begin(POOL);
    op[0] = update_map(B, 4 * PAGE, 8 * PAGE);
    op[1] = update_unmap(B + 2 * PAGE, PAGE, false);
    update_do(op, 2);
    op[0] = update_copy(B + PAGE, B, 4 * PAGE); /* upwards, over itself */
    update_do(op, 1);
    CHECK_RULE("GPUVA-133", update_all(B, 1, 8) && update_all(B + PAGE, 2, 8));
    CHECK_RULE("GPUVA-133",
               update_shows(B + 3 * PAGE) == UPDATE_INVALID && update_shows(B + 4 * PAGE) == 11);
    op[0] = update_copy(B, B + PAGE, 4 * PAGE); /* and down again */
    update_do(op, 1);
    CHECK_RULE("GPUVA-133", update_all(B, 2, 8) && update_shows(B + 2 * PAGE) == UPDATE_INVALID &&
                                update_shows(B + 3 * PAGE) == 11 &&
                                update_shows(B + 4 * PAGE) == 11);
    /* the state of that moment, and of Zero pages beside */
    op[0] = update_map(B, PAGE, 20 * PAGE);
    op[1] = update_copy(B + other, B, 6 * PAGE);
    op[2] = update_map(B, PAGE, 21 * PAGE);
    update_do(op, 3);
    CHECK_RULE("GPUVA-133", update_shows(B + other) == 20 && update_shows(B) == 21 &&
                                update_shows(B + other + PAGE) == 9 &&
                                update_shows(B + other + 5 * PAGE) == UPDATE_ZERO);
    /* out of the middle of a mapping, into the middle of one */
    op[0] = update_map(B + 256 * KB, 8 * PAGE, 0);
    op[1] = update_map(B + other, 8 * PAGE, 40 * PAGE);
    op[2] = update_copy(B + other + PAGE, B + 256 * KB + 3 * PAGE, 2 * PAGE);
    update_do(op, 3);
    CHECK_RULE("GPUVA-133", update_shows(B + other) == 40 && update_all(B + other + PAGE, 2, 3) &&
                                update_all(B + other + 3 * PAGE, 5, 43));
    op[0] = update_map(B, PAGE, 21 * PAGE);
    update_do(op, 1);
    /* from another reservation */
    op[0] = update_copy(update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0), B,
                        4 * PAGE);
    update_do(op, 1);
    CHECK_RULE("GPUVA-124", update_shows(op[0].Copy.DestAddress) == 21 &&
                                update_shows(op[0].Copy.DestAddress + 3 * PAGE) == 11);
    update_end();
}

/* ---- protections ---- */

/* Flags of entries say whether they may be written and executed, if the driver knows both. */
static void protections_body(struct probe *p)
{
    update_operation op[4];
    DXGK_PTE entry;

    (void)p;
    update_begin(POOL);
    op[0] = update_map(B, PAGE, 0);
    op[1] = update_protect(B + PAGE, PAGE, 0, false, 0);
    op[2] = update_protect(B + 2 * PAGE, PAGE, 0, true, 0);
    op[2].MapProtect.Protection.Execute = 1;
    op[3] = update_copy(B + 3 * PAGE, B + PAGE, PAGE);
    update_do(op, 4);
    entry = va_shadow_walk(U->context, B);
    CHECK_RULE("GPUVA-129", entry.Valid && !entry.ReadOnly && entry.NoExecute);
    entry = va_shadow_walk(U->context, B + PAGE);
    CHECK_RULE("GPUVA-130", entry.Valid && entry.ReadOnly && entry.NoExecute);
    CHECK_RULE("GPUVA-146", entry.PageAddress == va_shadow_walk(U->context, B).PageAddress);
    entry = va_shadow_walk(U->context, B + 2 * PAGE);
    CHECK_RULE("GPUVA-130", entry.Valid && !entry.ReadOnly && !entry.NoExecute);
    entry = va_shadow_walk(U->context, B + 3 * PAGE);
    CHECK_RULE("GPUVA-133", entry.Valid && entry.ReadOnly && entry.NoExecute);
    update_end();
}

TEST(mappings_have_the_protection_of_their_operation)
{
    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = update_create(update_modes[i]);

        p->mmu.NoExecuteMemorySupported = 1;
        update_finish(p, protections_body);
    }
}

/* ---- the fence ---- */

TEST_WITH(update, a_batch_waits_for_its_fence_and_signals_the_next_value)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, PAGE, 7 * PAGE);
    CHECK(IS(update_signal(U->fence, 41), STATUS_SUCCESS));
    CHECK(IS(update_queue(&op, 1, 42), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("GPUVA-123", *U->value == 41 && update_shows(B) == UPDATE_ZERO);
    CHECK(IS(update_signal(U->fence, 42), STATUS_SUCCESS));
    update_await(43);
    CHECK_RULE("GPUVA-123", *U->value == 43 && update_shows(B) == 7);
    update_end();
}

TEST_WITH(update, without_the_wait_the_signal_is_sent_all_the_same)
{
    D3DKMT_UPDATEGPUVIRTUALADDRESS args;
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, PAGE, 7 * PAGE);
    args = update_request(&op, 1);
    args.FenceValue = 100;
    args.Flags.DoNotWait = 1;
    CHECK(IS(D3DKMTUpdateGpuVirtualAddress(&args), STATUS_SUCCESS));
    update_await(101);
    CHECK_RULE("GPUVA-123", *U->value == 101 && update_shows(B) == 7);
    update_end();
}

/* Batches that wait in one context are carried out in the order of their calls. */
TEST_WITH(update, batches_of_a_context_are_carried_out_in_order)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, PAGE, 1 * PAGE);
    CHECK(IS(update_queue(&op, 1, 1), STATUS_SUCCESS));
    op = update_map(B, PAGE, 2 * PAGE);
    CHECK(IS(update_queue(&op, 1, 2), STATUS_SUCCESS));
    op = update_copy(B + PAGE, B, PAGE);
    CHECK(IS(update_queue(&op, 1, 3), STATUS_SUCCESS));
    CHECK(update_all(B, 2, UPDATE_ZERO));
    CHECK(IS(update_signal(U->fence, 1), STATUS_SUCCESS)); /* the signal of each starts the next */
    update_await(4);
    CHECK_RULE("GPUVA-122", update_shows(B) == 2 && update_shows(B + PAGE) == 2);
    update_end();
}

/* ---- what ends meanwhile ---- */

static NTSTATUS free_range(uint64_t va, uint64_t bytes)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = U->gpu.adapter;
    args.BaseAddress = va;
    args.Size = bytes;
    return D3DKMTFreeGpuVirtualAddress(&args);
}

TEST_WITH(update, what_waits_for_a_freed_reservation_does_nothing)
{
    update_operation op[2];

    (void)p;
    update_begin(POOL);
    op[0] = update_map(B, 4 * PAGE, 0);
    op[1] = update_copy(B + 64 * KB, B, 4 * PAGE);
    CHECK(IS(update_queue(op, 2, 5), STATUS_SUCCESS));
    CHECK(IS(free_range(B, 2 * MB), STATUS_SUCCESS));
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(6);
    CHECK_RULE("GPUVA-120", update_all(B, 20, UPDATE_INVALID));
    update_end();
}

static NTSTATUS destroy_allocation(D3DKMT_HANDLE allocation)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.phAllocationList = &allocation;
    args.AllocationCount = 1;
    args.Flags.AssumeNotInUse = 1;
    return D3DKMTDestroyAllocation2(&args);
}

TEST_WITH(update, what_waits_to_map_a_destroyed_pool_leaves_zero)
{
    update_operation op[2];

    (void)p;
    update_begin(POOL);
    op[0] = update_map(B, 4 * PAGE, 0);
    op[1] = update_copy(B + 64 * KB, B, 4 * PAGE);
    CHECK(IS(update_queue(op, 2, 5), STATUS_SUCCESS));
    CHECK(IS(destroy_allocation(U->pool), STATUS_SUCCESS));
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(6);
    CHECK_RULE("GPUVA-098",
               update_all(B, 4, UPDATE_ZERO) && update_all(B + 64 * KB, 4, UPDATE_ZERO));
    update_end();
}

/* The client goes while updates wait for a fence that nobody signals. */
TEST_WITH(update, a_lost_device_drops_what_waits)
{
    D3DKMT_MARKDEVICEASERROR lose;
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, 4 * PAGE, 0);
    CHECK(IS(update_queue(&op, 1, 5), STATUS_SUCCESS));
    CHECK(IS(update_queue(&op, 1, 7), STATUS_SUCCESS));
    memset(&lose, 0, sizeof(lose));
    lose.hDevice = U->gpu.device;
    lose.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC;
    CHECK(IS(D3DKMTMarkDeviceAsError(&lose), STATUS_SUCCESS));
    CHECK(update_all(B, 4, UPDATE_ZERO));
    CHECK(!NT_SUCCESS(update_queue(&op, 1, 9)));
    update_end();
}
