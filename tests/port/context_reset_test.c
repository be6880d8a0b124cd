/* SPDX-License-Identifier: MIT */
/*
 * Threads inside the driver that use context allocations while the paging engine hangs, and the
 * worker is in the middle of a job, which it does not leave before the reset. The reset finds
 * nobody inside the driver all the same.
 */
#include "port/support/context_client.h"

static unsigned resets;
static HANDLE other;

static void end_the_hang(struct probe *p, struct probe_call *call)
{
    PULONG registers = p->state[0].registers;

    (void)call;
    resets++;
    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    probe_device_packet_ns = 1000;
}

static void hang(void)
{
    probe_device_packet_ns = 100 * PROBE_SECOND;
}

static struct probe *rig(void)
{
    struct probe *p = context_rig_create(NULL);

    p->before[PROBE_ResetFromTimeout] = end_the_hang;
    resets = 0;
    return p;
}

/* Nothing that a driver may do then waits. */
static void everything_returns(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION request = context_request(p);

    CHECK_RULE("CTXA-061", context_update(p, other) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("CTXA-061", context_map_at(p, other, 128 * MB) == 0);
    CHECK_RULE("CTXA-061",
               context_create(p, &request) == STATUS_UNSUCCESSFUL && !request.hAllocation);
    CHECK_RULE("CTXA-061", context_destroy(p, other) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-063", context_destroy(p, other) == STATUS_INVALID_PARAMETER);
    CHECK(resets == 0 && probe_rule(p, "CTXA-063") == 1);
}

static void make_two(struct probe *p)
{
    context_item = context_make(p);
    other = context_make(p);
    context_update_item(p);
}

/* After the reset; all that went wrong is one use of a dead handle. */
static void all_is_well(struct probe *p)
{
    probe_sleep(PROBE_SECOND);

    CHECK_RULE("CTXA-061", resets == 1 && probe_rule(p, "TDR-011") == 0);
    CHECK_RULE("CTXA-066", probe_rule(p, "CTXA-066") == 0);
    context_rig_inside(0, context_update_item);
}

/* ---- the job is a mapping, and waits for what it built ---- */

static void map_that_hangs(struct probe *p)
{
    hang();
    CHECK_RULE("CTXA-061", context_map_at(p, context_item, 64 * MB) == 0 &&
                               probe_said(p, "CTXA-044", "the adapter is reset"));
    everything_returns(p);
}

static void map_body(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, make_two);
    context_rig_inside(0, map_that_hangs);
    all_is_well(p);
    context_rig_inside(0, context_map_item_again); /* nothing is left of the mapping that failed */
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(a_reset_ends_the_wait_of_a_mapping)
{
    struct probe *p = rig();

    p->mmu.PageTableUpdateRequireAddressSpaceIdle = 1;
    context_rig_run(p, map_body);
}

/* ---- the job is an update, and waits for a paging buffer ---- */

#define PASSES 8u

static unsigned passes;
static bool spread, wrong_data;

static void build_in_many_passes(struct probe *p, struct probe_call *call)
{
    DXGKARG_BUILDPAGINGBUFFER *args = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const uint32_t *data;

    (void)p;
    if (!spread || args->Operation != DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION)
        return;
    data = args->UpdateContextAllocation.pDriverPrivateData;
    wrong_data |= data[0] != 1 || data[1] != 2 || data[2] != 3 || data[3] != 4;
    passes++;
    memset(args->pDmaBuffer, 0, args->DmaSize);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->DmaSize;
    call->answered = true;
    call->result = ++args->MultipassOffset < PASSES
                       ? (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER
                       : STATUS_SUCCESS;
}

static void update_that_hangs(struct probe *p)
{
    hang();
    spread = true;
    CHECK_RULE("CTXA-061", context_update(p, context_item) == STATUS_UNSUCCESSFUL);
    CHECK(passes > 0 && passes < PASSES);
    everything_returns(p);
}

static void update_body(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, make_two);
    context_rig_inside(0, update_that_hangs);
    all_is_well(p);
    CHECK_RULE("CTXA-061", passes >= PASSES && !wrong_data); /* it had its data to the end */
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(a_reset_ends_the_wait_of_an_update_in_the_middle)
{
    struct probe *p = rig();

    passes = 0;
    spread = wrong_data = false;
    p->before[PROBE_BuildPagingBuffer] = build_in_many_passes;
    context_rig_run(p, update_body);
}

/* The same of one that the driver destroys, since its update failed. */
static void update_and_destroy(struct probe *p)
{
    hang();
    spread = true;
    CHECK_RULE("CTXA-061", context_update(p, context_item) == STATUS_UNSUCCESSFUL &&
                               context_destroy(p, context_item) == STATUS_SUCCESS);
    CHECK(passes > 0 && passes < PASSES);
}

static void destroyed_body(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, make_two);
    context_rig_inside(0, update_and_destroy);
    context_item = other;
    all_is_well(p);
    CHECK(!wrong_data);
    context_rig_inside(0, context_map_item_again);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(what_was_updated_may_be_destroyed_before_the_reset)
{
    struct probe *p = rig();

    passes = 0;
    spread = wrong_data = false;
    p->before[PROBE_BuildPagingBuffer] = build_in_many_passes;
    context_rig_run(p, destroyed_body);
}
