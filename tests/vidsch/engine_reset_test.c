/* SPDX-License-Identifier: MIT */
/* Resets of one engine: the calls of the driver, what is left of devices and fences, and what makes
 * them resets of the adapter. */
#include "sim/irql.h"
#include "sim/machine.h"
#include "vidsch/support/hang.h"

TEST_WITH(fixture, a_silent_node_is_preempted_then_reset)
{
    struct hang s = hang_make(f);
    const struct call *preempt, *reset;

    pass(5 * SECOND);
    preempt = call_at(f, CALL_PREEMPT, 0);
    reset = call_at(f, CALL_RESET_ENGINE, 0);
    CHECK_RULE("TDR-003", calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK_RULE("TDR-010", reset->time - preempt->time >= 2 * SECOND &&
                              reset->time - preempt->time < 2 * SECOND + 100 * MS);
    CHECK_RULE("PREEMPT-041/a", reset->time - preempt->time >= 2 * SECOND);
    CHECK_RULE("TDR-005", hang_when(f, CALL_QUERY_FENCE) < hang_when(f, CALL_PREEMPT));
    CHECK_RULE("SUBMIT-090", calls_of(f, CALL_QUERY_FENCE) == 1 &&
                                 call_at(f, CALL_QUERY_FENCE, 0)->irql == SIM_IRQL_PASSIVE);
    hang_end(f, &s);
}

TEST_WITH(fixture, the_driver_is_asked_in_order)
{
    struct hang s = hang_make(f);
    const struct call *group, *reset;

    pass(5 * SECOND);
    group = call_at(f, CALL_QUERY_GROUP, 0);
    reset = call_at(f, CALL_RESET_ENGINE, 0);
    CHECK_RULE("TDR-020", hang_when(f, CALL_PREEMPT) < hang_when(f, CALL_COLLECT) &&
                              hang_when(f, CALL_COLLECT) < hang_when(f, CALL_QUERY_GROUP) &&
                              hang_when(f, CALL_QUERY_GROUP) < hang_when(f, CALL_QUERY_ENGINE) &&
                              hang_when(f, CALL_QUERY_ENGINE) < hang_when(f, CALL_RESET_ENGINE));
    CHECK_RULE("TDR-025", group->irql == SIM_IRQL_PASSIVE && group->group.NodeOrdinal == 1);
    CHECK_RULE("TDR-027", group->group.DependentNodeOrdinalMask == 2);
    CHECK_RULE("TDR-030", calls_of(f, CALL_QUERY_ENGINE) == 1);
    CHECK_RULE("TDR-031", reset->irql == SIM_IRQL_PASSIVE && reset->reset_engine.NodeOrdinal == 1);
    hang_end(f, &s);
}

TEST_WITH(fixture, debug_information_is_collected)
{
    struct hang s = hang_make(f);
    const struct call *collect;

    pass(5 * SECOND);
    collect = call_at(f, CALL_COLLECT, 0);
    CHECK_RULE("TDR-066", calls_of(f, CALL_COLLECT) == 1 && collect->collect.reason == 0x141);
    CHECK_RULE("TDR-069", collect->collect.bytes == 65536 && collect->collect.is_zero);
    CHECK_RULE("TDR-068", violations(f, "LIFE-141") == 0);
    CHECK_RULE("TDR-067", collect->irql == SIM_IRQL_PASSIVE);
    hang_end(f, &s);
}

TEST_WITH(fixture, the_guilty_device_is_lost)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK_RULE("TDR-033", vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_HUNG &&
                              f->vidsch->node[1].last_completed >= 1);
    CHECK_RULE("TDR-056", submit(s.a, 0, 0) == STATUS_DEVICE_REMOVED);
    CHECK_RULE("TDR-059", vidsch_sync_value(s.fence_a) == UINT64_MAX);
    CHECK_RULE("KMT-394", vidsch_sync_value(s.fence_a) == UINT64_MAX &&
                              signal_cpu(s.fence_a, 5) != STATUS_SUCCESS);
    hang_end(f, &s);
    CHECK_RULE("TDR-057",
               calls_of(f, CALL_DESTROY_DEVICE) == 2 && calls_of(f, CALL_DESTROY_CONTEXT) == 2);
}

TEST_WITH(fixture, the_innocent_device_goes_on)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK(wait_cpu(s.fence_b, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-036", calls_of(f, CALL_SUBMIT_VIRTUAL) == 4 &&
                              sent_virtual(f, 2)->DmaBufferVirtualAddress == 0xB1 &&
                              sent_virtual(f, 2)->SubmissionFenceId == 3 &&
                              sent_virtual(f, 2)->Flags.Resubmission &&
                              sent_virtual(f, 3)->DmaBufferVirtualAddress == 0xB2);
    CHECK_RULE("TDR-081", sent_virtual(f, 3)->DmaBufferVirtualAddress == 0xB2);
    CHECK_RULE("TDR-040", violations(f, "TDR-040") == 1 &&
                              f->vidsch->statistics.engine_resets == 1 &&
                              f->vidsch->recovery.reset_count == 0);
    CHECK_RULE("TDR-072", !verify_bugcheck_state(f->log)->happened);
    CHECK_RULE("TDR-035", f->vidsch->node[1].last_completed == 4);
    hang_end(f, &s);
}

TEST_WITH(fixture, nothing_left_calls_the_reset_off)
{
    struct vidsch_device *device = make_device(f);

    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-021/a", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_COLLECT) == 0);
    submit(make_context(device, 1), 1, 16);
    idle(device);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_forced_engine_reset)
{
    struct hang s = hang_make(f);
    uint64_t before = sim_now();

    CHECK_RULE("TDR-079", vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS &&
                              calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK_RULE("KMT-444", sim_now() - before < SECOND &&
                              vidsch_force_engine_reset(f->vidsch, 2) == STATUS_INVALID_PARAMETER);
    hang_end(f, &s);
}

TEST_WITH(fixture, interrupts_during_the_reset_are_dropped)
{
    struct hang s = hang_make(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};

    f->vidsch->node[1].ignoring = true; /* as between snapshot and reset */
    data.DmaCompleted.SubmissionFenceId = 77;
    data.DmaCompleted.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    pass(MS);
    f->vidsch->node[1].ignoring = false;
    CHECK_RULE("TDR-022",
               f->vidsch->node[1].last_completed == 0 && verify_count(f->log, VERIFY_ERROR) == 0);
    s.innocent->mm->missing = true; /* so that nothing is submitted after the reset */
    pass(5 * SECOND);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 1 && f->vidsch->node[1].after_reset);
    driver_notify_now(f, &data);
    pass(MS);
    CHECK_RULE("TDR-024", violations(f, "TDR-024") == 1);
    s.innocent->mm->missing = false;
    vidsch_for_vidmm.device_resident(s.innocent->mm);
    hang_end(f, &s);
}

TEST_WITH(fixture, a_late_answer_is_dropped)
{
    struct hang s = hang_make(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

    pass(5 * SECOND);
    data.DmaPreempted.PreemptionFenceId = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
    data.DmaPreempted.LastCompletedFenceId = 1;
    data.DmaPreempted.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    pass(MS);
    CHECK_RULE("TDR-044",
               verify_count(f->log, VERIFY_ERROR) == 0 &&
                   sent_virtual(f, 2)->SubmissionFenceId > data.DmaPreempted.PreemptionFenceId);
    hang_end(f, &s);
}

TEST_WITH(fixture, packets_below_the_aborted_one_are_complete)
{
    struct hang s = hang_make(f);

    f->driver.aborted = 2; /* it stopped in the second one */
    pass(5 * SECOND);
    CHECK_RULE("TDR-034", vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                              vidsch_device_state(s.innocent) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK(wait_cpu(s.fence_a, 1) == STATUS_SUCCESS && vidsch_sync_value(s.fence_a) == 1);
    hang_end(f, &s);
}

TEST_WITH(fixture, nothing_aborted_means_all_again)
{
    struct hang s = hang_make(f);

    f->driver.aborted = 0;
    pass(5 * SECOND);
    CHECK_RULE("TDR-034", vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                              vidsch_device_state(s.innocent) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                              sent_virtual(f, 2)->DmaBufferVirtualAddress != 0);
    hang_end(f, &s);
    CHECK_RULE("TDR-036", calls_of(f, CALL_SUBMIT_VIRTUAL) == 6);
}

TEST_WITH(fixture, a_finished_packet_that_nobody_saw_counts_as_aborted)
{
    struct hang s = hang_make(f);

    f->driver.engine[1].count = 0; /* the GPU finished both, without telling */
    f->driver.engine[1].completed = 2;
    pass(5 * SECOND);
    CHECK_RULE("TDR-037", vidsch_device_state(s.innocent) == D3DKMT_DEVICEEXECUTION_HUNG &&
                              vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    hang_end(f, &s);
}

TEST_WITH(fixture, other_nodes_go_on, .nodes = 3, .virtual_mask = 6)
{
    struct hang s = hang_make(f);
    struct vidsch_context *elsewhere = make_context(s.innocent, 2);
    uint32_t before;

    f->driver.engine[2].run_ns = 400 * MS;
    for (int i = 0; i < 20; i++)
        submit(elsewhere, 0xC0, 16);
    pass(3 * SECOND);
    before = f->vidsch->node[2].last_completed;
    pass(3 * SECOND);
    CHECK_RULE("TDR-043", calls_of(f, CALL_RESET_ENGINE) == 1 && calls_of(f, CALL_PREEMPT) == 1 &&
                              f->vidsch->node[2].last_completed > before + 5);
    hang_end(f, &s);
}

TEST_WITH(fixture, dependent_nodes_are_preempted_or_reset, .nodes = 4, .virtual_mask = 0xE)
{
    struct hang s = hang_make(f);
    struct vidsch_context *polite = make_context(s.innocent, 2), *rude = make_context(s.innocent, 3);

    f->driver.group_mask = 0xE;
    f->driver.engine[2].hang = f->driver.engine[3].hang = f->driver.engine[3].ignores_preemption =
        true;
    submit(polite, 0xC0, 16);
    submit(rude, 0xD0, 16);
    pass(MS);
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-028", calls_of(f, CALL_PREEMPT) == 2 &&
                              call_at(f, CALL_PREEMPT, 0)->preempt.NodeOrdinal == 2 &&
                              call_at(f, CALL_PREEMPT, 1)->preempt.NodeOrdinal == 3);
    CHECK_RULE("TDR-028", calls_of(f, CALL_RESET_ENGINE) == 2 &&
                              call_at(f, CALL_RESET_ENGINE, 0)->reset_engine.NodeOrdinal == 1 &&
                              call_at(f, CALL_RESET_ENGINE, 1)->reset_engine.NodeOrdinal == 3);
    CHECK_RULE("TDR-028",
               call_at(f, CALL_RESET_ENGINE, 0)->time - call_at(f, CALL_PREEMPT, 1)->time >=
                   500 * MS);
    CHECK(vidsch_validate(f->vidsch));
    f->driver.engine[3].ignores_preemption = false;
    driver_run(f, 2);
    hang_end(f, &s);
}

TEST_WITH(fixture, nonsense_in_the_group)
{
    struct hang s = hang_make(f);

    f->driver.group_mask = 0xFF02;
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-027", violations(f, "TDR-027") == 1 && calls_of(f, CALL_RESET_ENGINE) == 1);
    hang_end(f, &s);
}

TEST_WITH(fixture, an_unknown_group_resets_the_adapter)
{
    struct hang s = hang_make(f);

    f->driver.status[CALL_QUERY_GROUP] = STATUS_UNSUCCESSFUL;
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-027", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 1);
    CHECK_RULE("TDR-083",
               f->losses == 1 && strstr(f->loss[0], "; cause: a client asked for it; no engine "
                                                    "reset: DxgkDdiQueryDependentEngineGroup "
                                                    "returned STATUS_UNSUCCESSFUL for node 1; "));
    f->driver.status[CALL_QUERY_GROUP] = STATUS_SUCCESS;
    CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    CHECK_RULE("TDR-083", f->losses == 2 && !strstr(f->loss[1], "no engine reset")); /* forgotten */
    hang_end(f, &s);
}

TEST_WITH(fixture, a_failed_engine_reset_resets_the_adapter)
{
    struct hang s = hang_make(f);

    f->driver.status[CALL_RESET_ENGINE] = f->driver.status[CALL_QUERY_ENGINE] = STATUS_UNSUCCESSFUL;
    pass(5 * SECOND);
    CHECK_RULE("TDR-039", calls_of(f, CALL_RESET_ENGINE) == 1 && calls_of(f, CALL_RESET) == 1 &&
                              violations(f, "TDR-039") == 1);
    CHECK_RULE("TDR-083", strstr(f->loss[0], "adapter reset (0x117): node 1, ") &&
                              strstr(f->loss[0], "; cause: no progress in TdrDelay (2 s); no "
                                                 "engine reset: DxgkDdiResetEngine returned "
                                                 "STATUS_UNSUCCESSFUL for node 1; "));
    CHECK_RULE("GPUVA-256", calls_of(f, CALL_RESET) == 1 && calls_of(f, CALL_RESTART) == 1);
    CHECK_RULE("TDR-030",
               calls_of(f, CALL_QUERY_ENGINE) == 1 && calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK_RULE("TDR-040", f->vidsch->recovery.reset_count == 1 &&
                              call_at(f, CALL_COLLECT, 1)->collect.reason == 0x117);
    hang_end(f, &s);
}

TEST_WITH(fixture, an_aborted_paging_packet_resets_the_adapter)
{
    struct vidsch_device *device = make_device(f);
    uint64_t ticket;

    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    ticket = page(f, 64);
    pass(5 * SECOND);
    CHECK_RULE("TDR-038", calls_of(f, CALL_RESET_ENGINE) == 1 && calls_of(f, CALL_RESET) == 1);
    CHECK_RULE("TDR-083", f->losses == 2 && strstr(f->loss[1], "; no engine reset: that of node 1 "
                                                               "aborted paging; "));
    CHECK_RULE("TDR-058",
               vidsch_device_state(f->vidsch->system_device) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                   calls_of(f, CALL_CREATE_DEVICE) == 3);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    f->driver.engine[1].ignores_preemption = false;
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 64)) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, debug_information_is_optional)
{
    struct hang s = hang_make(f);

    f->driver.status[CALL_COLLECT] = STATUS_NO_MEMORY;
    f->driver.writes_reserved = true;
    CHECK_RULE("TDR-069", vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS &&
                              calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK_RULE("TDR-068", violations(f, "LIFE-141") == 1);
    hang_end(f, &s);
}

/* ---- a call that stays in the driver ---- */

static uint64_t stays_ns;

static NTSTATUS stay(struct fixture *f, const DXGKARG_PATCH *args)
{
    (void)args;
    f->driver.on_patch = NULL;
    pass(stays_ns);
    return STATUS_SUCCESS;
}

/* The worker is in Patch for node 0 when that is to be reset: TdrDdiDelay is 5 s. */
static void reset_while_in_patch(struct fixture *f, uint64_t ns)
{
    struct vidsch_device *device = make_device(f);

    stays_ns = ns;
    f->driver.on_patch = stay;
    CHECK(render(make_context(device, 0), 16) == STATUS_SUCCESS);
    pass(MS);
    (void)vidsch_force_engine_reset(f->vidsch, 0);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_call_that_returns_in_time_is_waited_for)
{
    reset_while_in_patch(f, 5 * SECOND);
    CHECK_RULE("TDR-083", calls_of(f, CALL_RESET) == 0);
}

TEST_WITH(fixture, a_call_that_stays_longer_resets_the_adapter)
{
    reset_while_in_patch(f, 7 * SECOND);
    CHECK_RULE("TDR-083",
               calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 1 &&
                   f->losses == 1 &&
                   strstr(f->loss[0], "; no engine reset: a call of the driver for node 0 did not "
                                      "return in TdrDdiDelay (5 s); "));
}
