/* SPDX-License-Identifier: MIT */
/* Timeouts: how they are found, engine resets, adapter resets, and what is left of devices and
 * fences. */
#include "support/fixture.h"

#include <string.h>

static const DXGKARG_SUBMITCOMMANDVIRTUAL *sent(const struct fixture *f, uint32_t index)
{
    const struct call *call = call_at(f, CALL_SUBMIT_VIRTUAL, index);

    CHECK(call != NULL);
    return &call->submit_virtual.args;
}

/* Node 1 hangs with packets 1 (guilty) and 2 (innocent); each device has one more in its queue.
 * Preemption is not answered. */
struct scene {
    struct vidsch_device *guilty, *innocent;
    struct vidsch_context *a, *b;
    struct vidsch_sync *fence_a, *fence_b;
};

static struct scene make_scene(struct fixture *f)
{
    struct scene s = {.guilty = make_device(f), .innocent = make_device(f)};

    s.a = make_context(s.guilty, 1);
    s.b = make_context(s.innocent, 1);
    s.fence_a = make_fence(s.guilty, 0);
    s.fence_b = make_fence(s.innocent, 0);
    f->driver.engine[1].hang = true;
    f->driver.engine[1].ignores_preemption = true;
    submit(s.a, 0xA1, 16);
    pass(100000);
    submit(s.b, 0xB1, 16);
    pass(100000);
    vidsch_context_set_priority(s.b, -1); /* not a reason to preempt */
    submit(s.a, 0xA2, 16);
    signal_gpu(s.a, s.fence_a, 1);
    submit(s.b, 0xB2, 16);
    signal_gpu(s.b, s.fence_b, 1);
    pass(100000);
    return s;
}

static void end_scene(struct fixture *f, struct scene *s)
{
    f->driver.engine[1].ignores_preemption = false;
    driver_run(f, 1);
    idle(s->guilty);
    idle(s->innocent);
    vidsch_device_destroy(s->guilty);
    vidsch_device_destroy(s->innocent);
}

/* Position of the first call of a kind in the log. */
static uint32_t when(const struct fixture *f, enum call_kind kind)
{
    const struct call *call = call_at(f, kind, 0);

    CHECK(call != NULL);
    return (uint32_t)(call - f->driver.calls);
}

/* ---- engine reset ---- */

static void an_engine_reset_in_full(struct fixture *f)
{
    struct scene s = make_scene(f);
    const struct call *preempt, *reset;

    pass(5 * SECOND);
    preempt = call_at(f, CALL_PREEMPT, 0);
    reset = call_at(f, CALL_RESET_ENGINE, 0);
    CHECK_RULE("TDR-003", calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK_RULE("TDR-010", reset->time - preempt->time >= 2 * SECOND &&
                              reset->time - preempt->time < 2 * SECOND + 100 * MS);
    CHECK_RULE("PREEMPT-041", reset->time - preempt->time >= 2 * SECOND);
    CHECK_RULE("TDR-005", when(f, CALL_QUERY_FENCE) < when(f, CALL_PREEMPT));
    CHECK_RULE("SUBMIT-090", calls_of(f, CALL_QUERY_FENCE) == 1 &&
                                 call_at(f, CALL_QUERY_FENCE, 0)->irql == SIM_IRQL_PASSIVE);
    CHECK_RULE("TDR-020", when(f, CALL_PREEMPT) < when(f, CALL_COLLECT) &&
                              when(f, CALL_COLLECT) < when(f, CALL_QUERY_GROUP) &&
                              when(f, CALL_QUERY_GROUP) < when(f, CALL_QUERY_ENGINE) &&
                              when(f, CALL_QUERY_ENGINE) < when(f, CALL_RESET_ENGINE));
    CHECK_RULE("TDR-066", calls_of(f, CALL_COLLECT) == 1 &&
                              call_at(f, CALL_COLLECT, 0)->collect.reason == 0x141);
    CHECK_RULE("TDR-069", call_at(f, CALL_COLLECT, 0)->collect.bytes == 65536 &&
                              call_at(f, CALL_COLLECT, 0)->collect.is_zero);
    CHECK_RULE("TDR-068", violations(f, "LIFE-141") == 0);
    CHECK_RULE("TDR-067", call_at(f, CALL_COLLECT, 0)->irql == SIM_IRQL_PASSIVE);
    CHECK_RULE("TDR-025", call_at(f, CALL_QUERY_GROUP, 0)->irql == SIM_IRQL_PASSIVE &&
                              call_at(f, CALL_QUERY_GROUP, 0)->group.NodeOrdinal == 1);
    CHECK_RULE("TDR-027", call_at(f, CALL_QUERY_GROUP, 0)->group.DependentNodeOrdinalMask == 2);
    CHECK_RULE("TDR-030", calls_of(f, CALL_QUERY_ENGINE) == 1);
    CHECK_RULE("TDR-031", reset->irql == SIM_IRQL_PASSIVE && reset->reset_engine.NodeOrdinal == 1);
    CHECK_RULE("TDR-033", vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_HUNG &&
                              f->vidsch->node[1].last_completed >= 1);
    CHECK_RULE("TDR-056", submit(s.a, 0, 0) == STATUS_DEVICE_REMOVED);
    CHECK_RULE("TDR-059", vidsch_sync_value(s.fence_a) == UINT64_MAX);
    CHECK_RULE("KMT-394", vidsch_sync_value(s.fence_a) == UINT64_MAX &&
                              signal_cpu(s.fence_a, 5) != STATUS_SUCCESS);
    CHECK(wait_cpu(s.fence_b, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-036", calls_of(f, CALL_SUBMIT_VIRTUAL) == 4 &&
                              sent(f, 2)->DmaBufferVirtualAddress == 0xB1 &&
                              sent(f, 2)->SubmissionFenceId == 4 && sent(f, 2)->Flags.Resubmission &&
                              sent(f, 3)->DmaBufferVirtualAddress == 0xB2);
    CHECK_RULE("TDR-081", sent(f, 3)->DmaBufferVirtualAddress == 0xB2);
    CHECK_RULE("TDR-040", violations(f, "TDR-040") == 1 &&
                              f->vidsch->statistics.engine_resets == 1 &&
                              f->vidsch->recovery.reset_count == 0);
    CHECK_RULE("TDR-072", !verify_bugcheck_state(f->log)->happened);
    CHECK_RULE("TDR-035", f->vidsch->node[1].last_completed == 5);
    end_scene(f, &s);
    CHECK_RULE("TDR-057",
               calls_of(f, CALL_DESTROY_DEVICE) == 2 && calls_of(f, CALL_DESTROY_CONTEXT) == 2);
}

static NTSTATUS report_completion(struct fixture *f, DXGKARG_QUERYCURRENTFENCE *args)
{
    struct fake_engine *engine = &f->driver.engine[args->NodeOrdinal];

    if (engine->count == 0)
        return STATUS_SUCCESS;
    args->CurrentFence = engine->completed = engine->queue[--engine->count];
    engine->count = 0;
    driver_complete(f, args->NodeOrdinal, args->CurrentFence); /* the interrupt that was lost */
    return STATUS_SUCCESS;
}

static void a_lost_interrupt_is_found(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    f->driver.on_query_fence = report_completion;
    submit(context, 1, 16);
    pass(5 * SECOND);
    CHECK_RULE("SUBMIT-090", calls_of(f, CALL_QUERY_FENCE) == 1 && calls_of(f, CALL_PREEMPT) == 0 &&
                                 device->pending == 0);
    CHECK_RULE("TDR-005", calls_of(f, CALL_PREEMPT) == 0);
    vidsch_device_destroy(device);
}

static void without_query_current_fence(struct fixture *f)
{
    struct scene s = make_scene(f);

    pass(5 * SECOND);
    CHECK_RULE("SUBMIT-092", calls_of(f, CALL_QUERY_FENCE) == 0 && calls_of(f, CALL_PREEMPT) == 1 &&
                                 calls_of(f, CALL_RESET_ENGINE) == 1);
    end_scene(f, &s);
}

static void progress_restarts_the_watch(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].run_ns = 1500 * MS; /* each is quick enough, all together are not */
    for (int i = 0; i < 6; i++)
        submit(context, 1, 16);
    idle(device);
    CHECK_RULE("TDR-004", calls_of(f, CALL_PREEMPT) == 0 && sim_now() > 8 * SECOND);
    vidsch_device_destroy(device);
}

static void exempt_devices_are_not_watched(struct fixture *f)
{
    D3DKMT_CREATEDEVICEFLAGS flags = {.DisableGpuTimeout = 1};
    struct vidsch_device *exempt, *other = make_device(f);
    struct vidsch_context *context, *high = make_context(other, 1);

    CHECK(vidsch_device_create(f->vidsch, &f->client, &flags, &exempt) == STATUS_SUCCESS);
    context = make_context(exempt, 1);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    submit(context, 1, 16);
    submit(context, 2, 16);
    pass(20 * SECOND);
    CHECK_RULE("TDR-006", calls_of(f, CALL_PREEMPT) == 0 && calls_of(f, CALL_RESET_ENGINE) == 0);
    vidsch_context_set_priority(high, 5);
    submit(high, 3, 16);
    pass(20 * SECOND);
    CHECK_RULE("TDR-007", calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_RESET_ENGINE) == 0);
    f->driver.engine[1].ignores_preemption = false;
    f->driver.engine[1].count = 0;
    {
        DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

        data.DmaPreempted.PreemptionFenceId = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
        data.DmaPreempted.NodeOrdinal = 1;
        driver_notify_now(f, &data);
    }
    driver_run(f, 1);
    idle(exempt);
    idle(other);
    vidsch_device_destroy(exempt);
    vidsch_device_destroy(other);
}

static void levels_zero_and_debug_one_do_nothing(struct fixture *f)
{
    struct scene s = make_scene(f);

    pass(30 * SECOND);
    CHECK_RULE(f->options.tdr.level ? "TDR-013" : "TDR-008",
               calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 0);
    end_scene(f, &s);
}

static void unknown_levels_are_the_default(struct fixture *f)
{
    struct scene s = make_scene(f);

    pass(5 * SECOND);
    CHECK_RULE("TDR-009", calls_of(f, CALL_RESET_ENGINE) == 1);
    end_scene(f, &s);
}

static void the_delay_is_a_setting(struct fixture *f)
{
    struct scene s = make_scene(f);

    pass(15 * SECOND);
    CHECK_RULE("TDR-010",
               call_at(f, CALL_RESET_ENGINE, 0)->time - call_at(f, CALL_PREEMPT, 0)->time >=
                   5 * SECOND);
    CHECK_RULE("TDR-015", call_at(f, CALL_PREEMPT, 0)->time >= 5 * SECOND);
    end_scene(f, &s);
}

static void nothing_left_calls_the_reset_off(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);

    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-021", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_COLLECT) == 0);
    submit(make_context(device, 1), 1, 16);
    idle(device);
    vidsch_device_destroy(device);
}

static void a_forced_engine_reset(struct fixture *f)
{
    struct scene s = make_scene(f);
    uint64_t before = sim_now();

    CHECK_RULE("TDR-079", vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS &&
                              calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK_RULE("KMT-444", sim_now() - before < SECOND &&
                              vidsch_force_engine_reset(f->vidsch, 2) == STATUS_INVALID_PARAMETER);
    end_scene(f, &s);
}

static void interrupts_during_the_reset_are_dropped(struct fixture *f)
{
    struct scene s = make_scene(f);
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
    end_scene(f, &s);
}

static void a_late_answer_is_dropped(struct fixture *f)
{
    struct scene s = make_scene(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

    pass(5 * SECOND);
    data.DmaPreempted.PreemptionFenceId = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
    data.DmaPreempted.LastCompletedFenceId = 1;
    data.DmaPreempted.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    pass(MS);
    CHECK_RULE("TDR-044", verify_count(f->log, VERIFY_ERROR) == 0 &&
                              sent(f, 2)->SubmissionFenceId > data.DmaPreempted.PreemptionFenceId);
    end_scene(f, &s);
}

static void packets_below_the_aborted_one_are_complete(struct fixture *f)
{
    struct scene s = make_scene(f);

    f->driver.aborted = 2; /* it stopped in the second one */
    pass(5 * SECOND);
    CHECK_RULE("TDR-034", vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                              vidsch_device_state(s.innocent) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK(wait_cpu(s.fence_a, 1) == STATUS_SUCCESS && vidsch_sync_value(s.fence_a) == 1);
    end_scene(f, &s);
}

static void nothing_aborted_means_all_again(struct fixture *f)
{
    struct scene s = make_scene(f);

    f->driver.aborted = 0;
    pass(5 * SECOND);
    CHECK_RULE("TDR-034", vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                              vidsch_device_state(s.innocent) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                              sent(f, 2)->DmaBufferVirtualAddress != 0);
    end_scene(f, &s);
    CHECK_RULE("TDR-036", calls_of(f, CALL_SUBMIT_VIRTUAL) == 6);
}

static void a_finished_packet_that_nobody_saw_counts_as_aborted(struct fixture *f)
{
    struct scene s = make_scene(f);

    f->driver.engine[1].count = 0; /* the GPU finished both, without telling */
    f->driver.engine[1].completed = 2;
    pass(5 * SECOND);
    CHECK_RULE("TDR-037", vidsch_device_state(s.innocent) == D3DKMT_DEVICEEXECUTION_HUNG &&
                              vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    end_scene(f, &s);
}

static void other_nodes_go_on(struct fixture *f)
{
    struct scene s = make_scene(f);
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
    end_scene(f, &s);
}

static void dependent_nodes_are_preempted_or_reset(struct fixture *f)
{
    struct scene s = make_scene(f);
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
    end_scene(f, &s);
}

static void nonsense_in_the_group(struct fixture *f)
{
    struct scene s = make_scene(f);

    f->driver.group_mask = 0xFF02;
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-027", violations(f, "TDR-027") == 1 && calls_of(f, CALL_RESET_ENGINE) == 1);
    end_scene(f, &s);
}

static void an_unknown_group_resets_the_adapter(struct fixture *f)
{
    struct scene s = make_scene(f);

    f->driver.status[CALL_QUERY_GROUP] = STATUS_UNSUCCESSFUL;
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-027", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 1);
    end_scene(f, &s);
}

static void a_failed_engine_reset_resets_the_adapter(struct fixture *f)
{
    struct scene s = make_scene(f);

    f->driver.status[CALL_RESET_ENGINE] = f->driver.status[CALL_QUERY_ENGINE] = STATUS_UNSUCCESSFUL;
    pass(5 * SECOND);
    CHECK_RULE("TDR-039", calls_of(f, CALL_RESET_ENGINE) == 1 && calls_of(f, CALL_RESET) == 1 &&
                              violations(f, "TDR-039") == 1);
    CHECK_RULE("GPUVA-256", calls_of(f, CALL_RESET) == 1 && calls_of(f, CALL_RESTART) == 1);
    CHECK_RULE("TDR-030",
               calls_of(f, CALL_QUERY_ENGINE) == 1 && calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK_RULE("TDR-040", f->vidsch->recovery.reset_count == 1 &&
                              call_at(f, CALL_COLLECT, 1)->collect.reason == 0x117);
    end_scene(f, &s);
}

static void an_aborted_paging_packet_resets_the_adapter(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    uint64_t ticket;

    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    ticket = page(f, 64);
    pass(5 * SECOND);
    CHECK_RULE("TDR-038", calls_of(f, CALL_RESET_ENGINE) == 1 && calls_of(f, CALL_RESET) == 1);
    CHECK_RULE("TDR-058",
               vidsch_device_state(f->vidsch->system_device) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                   calls_of(f, CALL_CREATE_DEVICE) == 2);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    f->driver.engine[1].ignores_preemption = false;
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 64)) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

static void a_process_with_too_many_timeouts_is_blocked(struct fixture *f)
{
    struct vidsch_device *device = NULL, *other = make_device_of(f, &f->other_client);

    for (int i = 1; i <= 5; i++) { /* TdrLimitCount 5: four are allowed */
        struct vidsch_device *victim = make_device(f);
        struct vidsch_context *context = make_context(victim, 1);

        CHECK_RULE("TDR-041", submit(context, 1, 16) == STATUS_SUCCESS);
        f->driver.engine[1].hang = true;
        pass(MS);
        if (f->driver.engine[1].count == 0) { /* was quicker */
            submit(context, 1, 16);
            pass(MS);
        }
        if (i == 5)
            device = make_device(f);
        CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
        vidsch_device_destroy(victim);
    }
    CHECK_RULE("TDR-041", violations(f, "TDR-041") == 1 &&
                              vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK_RULE("TDR-042", vidsch_device_check(device, true) == STATUS_DEVICE_REMOVED);
    vidsch_device_destroy(device);
    CHECK_RULE("TDR-042",
               vidsch_device_create(f->vidsch, &f->client, NULL, &device) == STATUS_ACCESS_DENIED);
    CHECK_RULE("TDR-041", vidsch_device_state(other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    vidsch_device_destroy(other);
}

/* ---- adapter reset ---- */

static void submit_soon(void *arg)
{
    struct scene *s = arg;

    pass(2500 * MS);
    s->fence_b = (struct vidsch_sync *)(intptr_t)submit(s->b, 0xBB, 16);
}

static void an_adapter_reset_in_full(struct fixture *f)
{
    struct scene s = make_scene(f);
    struct vidsch_device *fresh;
    struct vidsch_context *context;

    f->mm.cleanup_pages = f->mm.restore_pages = true;
    pass(5 * SECOND);
    CHECK_RULE("TDR-016", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 1);
    CHECK_RULE("TDR-066", call_at(f, CALL_COLLECT, 0)->collect.reason == 0x117 &&
                              when(f, CALL_COLLECT) < when(f, CALL_RESET));
    CHECK_RULE("TDR-046", call_at(f, CALL_RESET, 0)->irql == SIM_IRQL_PASSIVE &&
                              call_at(f, CALL_RESET, 0)->handle == f->ddi.context);
    CHECK_RULE("TDR-053", call_at(f, CALL_RESTART, 0)->irql == SIM_IRQL_PASSIVE &&
                              when(f, CALL_RESET) < when(f, CALL_RESTART));
    CHECK_RULE("TDR-050", f->mm.cleanups == 1 && f->mm.restores == 1);
    CHECK_RULE("TDR-051", calls_of(f, CALL_SUBMIT_VIRTUAL) == 3 && sent(f, 2)->Flags.Paging &&
                              when(f, CALL_RESTART) <
                                  (uint32_t)(call_at(f, CALL_SUBMIT_VIRTUAL, 2) - f->driver.calls));
    CHECK_RULE("TDR-054", vidsch_device_check(s.guilty, false) == STATUS_DEVICE_REMOVED &&
                              vidsch_device_check(s.innocent, true) == STATUS_DEVICE_REMOVED);
    CHECK_RULE("TDR-055", vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_HUNG &&
                              vidsch_device_state(s.innocent) == D3DKMT_DEVICEEXECUTION_RESET);
    CHECK_RULE("TDR-059", vidsch_sync_value(s.fence_a) == UINT64_MAX &&
                              vidsch_sync_value(s.fence_b) == UINT64_MAX);
    CHECK_RULE("THREAD-031",
               !sent(f, 0)->Flags.Paging && !sent(f, 1)->Flags.Paging && f->mm.cleanups == 1);
    CHECK_RULE("TDR-049",
               sent(f, 2)->SubmissionFenceId == 4); /* 1, 2, and the preemption request before it */
    CHECK(f->vidsch->statistics.adapter_resets == 1 && f->vidsch->node[1].count == 0 &&
          vidsch_validate(f->vidsch));
    CHECK(vidsch_device_create(f->vidsch, &f->client, NULL, &fresh) == STATUS_SUCCESS);
    context = make_context(fresh, 1);
    f->driver.engine[1].ignores_preemption = false;
    CHECK_RULE("TDR-054", submit(context, 0xF0, 16) == STATUS_SUCCESS);
    idle(fresh);
    CHECK_RULE("TDR-053", sent(f, 3)->DmaBufferVirtualAddress == 0xF0);
    vidsch_device_destroy(fresh);
    end_scene(f, &s);
    CHECK_RULE("TDR-057", calls_of(f, CALL_DESTROY_DEVICE) == 3);
}

static void submissions_wait_for_the_reset(struct fixture *f)
{
    struct scene s = make_scene(f);
    struct sim_thread *thread;

    f->vidsch->recovery.resetting = true; /* as in the middle of one */
    thread = spawn(f, submit_soon, &s);
    pass(4 * SECOND);
    CHECK_RULE("TDR-081", !sim_thread_ended(thread) && s.b->work == 2);
    f->vidsch->recovery.resetting = false;
    vidsch_change_announce(f->vidsch);
    join(thread);
    end_scene(f, &s);
}

static void a_fence_may_keep_its_value(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = D3DDDI_MONITORED_FENCE,
                                              .Flags.NoSignalMaxValueOnTdr = 1};
    struct vidsch_sync *kept, *reader;

    CHECK(vidsch_sync_create(device, &info, &kept) == STATUS_SUCCESS);
    info.Flags.Value = 0;
    info.Flags.NoSignal = 1;
    CHECK(vidsch_sync_create(device, &info, &reader) == STATUS_SUCCESS);
    CHECK_RULE("TDR-079", vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS &&
                              calls_of(f, CALL_RESET) == 1);
    pass(MS);
    CHECK_RULE("TDR-059", vidsch_sync_value(kept) == 0);
    CHECK_RULE("KMT-395", vidsch_sync_value(reader) == 0);
    CHECK(vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_RESET);
    vidsch_device_destroy(device);
}

static void ids_of_preempted_packets_count_as_completed(struct fixture *f)
{
    struct scene s = make_scene(f);
    const struct vidsch_node *node = &f->vidsch->node[1];

    f->driver.engine[1].ignores_preemption = false;
    s.guilty->mm->missing = s.innocent->mm->missing = true; /* they stay in their queues */
    page(f, 64);
    pass(MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && node->count == 1);
    driver_run(f, 1);
    pass(MS);
    vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 64));
    CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    CHECK_RULE("TDR-049", node->last_completed == node->last_submitted &&
                              node->reported == node->last_submitted && node->count == 0);
    end_scene(f, &s);
}

static void debug_information_is_optional(struct fixture *f)
{
    struct scene s = make_scene(f);

    f->driver.status[CALL_COLLECT] = STATUS_NO_MEMORY;
    f->driver.writes_reserved = true;
    CHECK_RULE("TDR-069", vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS &&
                              calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK_RULE("TDR-068", violations(f, "LIFE-141") == 1);
    end_scene(f, &s);
}

static void render_for_long(void *arg)
{
    struct fixture *f = arg;
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 0);

    f->driver.block_ns = 3 * SECOND;
    render(context, 16);
    f->driver.block_ns = 0;
    f->driver.engine[0].run_ns = sim_now(); /* when it left the driver */
    vidsch_device_wait_idle(device);
    vidsch_device_destroy(device);
}

static void the_reset_waits_for_threads_in_the_driver(struct fixture *f)
{
    struct sim_thread *thread = spawn(f, render_for_long, f);

    pass(MS);
    CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    join(thread);
    CHECK_RULE("THREAD-035", call_at(f, CALL_RESET, 0)->time >= 3 * SECOND);
    CHECK_RULE("TDR-045", call_at(f, CALL_RESET, 0)->time >= 3 * SECOND &&
                              call_at(f, CALL_RESET, 0)->time <= f->driver.engine[0].run_ns + MS);
}

static void several_resets_are_survived(struct fixture *f)
{
    for (int i = 0; i < 5; i++) {
        struct vidsch_device *device = make_device(f);
        struct vidsch_context *context = make_context(device, 1);

        f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
        submit(context, 1, 16);
        pass(5 * SECOND);
        CHECK_RULE("TDR-012", calls_of(f, CALL_RESET) == (uint32_t)i + 1);
        vidsch_device_destroy(device);
    }
}

static void six_resets(struct fixture *f)
{
    several_resets_are_survived(f);
    submit(make_context(make_device(f), 1), 1, 16);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    pass(10 * SECOND);
}

static void six_slow_resets(struct fixture *f)
{
    struct vidsch_device *device;

    several_resets_are_survived(f);
    pass(60 * SECOND);
    device = make_device(f);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    submit(make_context(device, 1), 1, 16);
    pass(10 * SECOND);
    CHECK_RULE("TDR-012", calls_of(f, CALL_RESET) == 6);
    vidsch_device_destroy(device);
}

static void forced_resets_are_not_limited(struct fixture *f)
{
    for (int i = 0; i < 8; i++)
        CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_RESET) == 8);
}

static void debug_mode_three_lifts_the_limit(struct fixture *f)
{
    for (int i = 0; i < 8; i++) {
        struct vidsch_device *device = make_device(f);

        f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
        submit(make_context(device, 1), 1, 16);
        pass(5 * SECOND);
        vidsch_device_destroy(device);
    }
    CHECK_RULE("TDR-013", calls_of(f, CALL_RESET) == 8);
}

/* ---- fatal ---- */

static void hang(struct fixture *f)
{
    make_scene(f);
    pass(20 * SECOND);
}

static void hang_in_render(void *arg)
{
    struct fixture *f = arg;
    struct vidsch_context *context = make_context(make_device(f), 0);

    f->driver.block_ns = 60 * SECOND;
    render(context, 16);
}

static void somebody_stays_in_the_driver(struct fixture *f)
{
    struct scene s = make_scene(f);

    (void)s;
    sim_thread_release(spawn(f, hang_in_render, f));
    pass(20 * SECOND);
}

#define SET(name, member, value)        \
    static void name(struct fixture *f) \
    {                                   \
        f->driver.member = value;       \
    }
SET(set_aborted_future, aborted, 9)
SET(set_group_without_itself, group_mask, 1)
SET(set_reset_fails, status[CALL_RESET], STATUS_UNSUCCESSFUL)
SET(set_restart_fails, status[CALL_RESTART], STATUS_UNSUCCESSFUL)

static void what_cannot_be_recovered_is_fatal(void **state)
{
    (void)state;
    FATAL((&(struct fixture_options){.prepare = set_aborted_future}), hang, "TDR-032", 0x119, 0xA);
    FATAL((&(struct fixture_options){.prepare = set_group_without_itself}), hang, "TDR-026", 0x119,
          0x8);
    FATAL((&(struct fixture_options){.no_engine_reset = true, .prepare = set_reset_fails}), hang,
          "TDR-047", 0x116, 0xC0000001);
    FATAL((&(struct fixture_options){.no_engine_reset = true, .prepare = set_restart_fails}), hang,
          "TDR-053", 0x116, 0xC0000001);
    FATAL((&(struct fixture_options){.tdr = {.level = 1, .enable_preemption = true}}), hang,
          "TDR-008", 0x116, 0);
    FATAL((&(struct fixture_options){.no_engine_reset = true}), six_resets, "TDR-012", 0x116, 6);
    FATAL((&(struct fixture_options){.no_engine_reset = true}), somebody_stays_in_the_driver,
          "TDR-011", 0x116, 0);
    FATAL_AS("THREAD-035", (&(struct fixture_options){.no_engine_reset = true}),
             somebody_stays_in_the_driver, "TDR-011", 0x116, 0);
}

#define TDR(...) .tdr = {.enable_preemption = true, __VA_ARGS__}

TEST(an_engine_reset_in_full, 0)
TEST(a_lost_interrupt_is_found, 0)
TEST(without_query_current_fence, .no_query_fence = true)
TEST(progress_restarts_the_watch, 0)
TEST(exempt_devices_are_not_watched, 0)
TEST(unknown_levels_are_the_default, TDR(.level = 2))
TEST(the_delay_is_a_setting, TDR(.level = 3, .delay = 5))
TEST(nothing_left_calls_the_reset_off, 0)
TEST(a_forced_engine_reset, 0)
TEST(interrupts_during_the_reset_are_dropped, 0)
TEST(a_late_answer_is_dropped, 0)
TEST(packets_below_the_aborted_one_are_complete, 0)
TEST(nothing_aborted_means_all_again, 0)
TEST(a_finished_packet_that_nobody_saw_counts_as_aborted, 0)
TEST(other_nodes_go_on, .nodes = 3, .virtual_mask = 6)
TEST(dependent_nodes_are_preempted_or_reset, .nodes = 4, .virtual_mask = 0xE)
TEST(nonsense_in_the_group, 0)
TEST(an_unknown_group_resets_the_adapter, 0)
TEST(a_failed_engine_reset_resets_the_adapter, 0)
TEST(an_aborted_paging_packet_resets_the_adapter, 0)
TEST(a_process_with_too_many_timeouts_is_blocked, 0)
TEST(an_adapter_reset_in_full, .no_engine_reset = true)
TEST(submissions_wait_for_the_reset, 0)
TEST(a_fence_may_keep_its_value, 0)
TEST(ids_of_preempted_packets_count_as_completed, 0)
TEST(debug_information_is_optional, 0)
TEST(the_reset_waits_for_threads_in_the_driver, 0)
TEST(several_resets_are_survived, .no_engine_reset = true)
TEST(six_slow_resets, .no_engine_reset = true)
TEST(forced_resets_are_not_limited, 0)
TEST(debug_mode_three_lifts_the_limit, .no_engine_reset = true, TDR(.level = 3, .debug_mode = 3))

static void test_levels_zero_and_debug_one_do_nothing(void **state)
{
    (void)state;
    fixture_check(&(struct fixture_options){TDR(.level = 0, .delay = 2)},
                  levels_zero_and_debug_one_do_nothing);
    fixture_check(&(struct fixture_options){TDR(.level = 3, .debug_mode = 1)},
                  levels_zero_and_debug_one_do_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_engine_reset_in_full),
        cmocka_unit_test(test_a_lost_interrupt_is_found),
        cmocka_unit_test(test_without_query_current_fence),
        cmocka_unit_test(test_progress_restarts_the_watch),
        cmocka_unit_test(test_exempt_devices_are_not_watched),
        cmocka_unit_test(test_unknown_levels_are_the_default),
        cmocka_unit_test(test_the_delay_is_a_setting),
        cmocka_unit_test(test_levels_zero_and_debug_one_do_nothing),
        cmocka_unit_test(test_nothing_left_calls_the_reset_off),
        cmocka_unit_test(test_a_forced_engine_reset),
        cmocka_unit_test(test_interrupts_during_the_reset_are_dropped),
        cmocka_unit_test(test_a_late_answer_is_dropped),
        cmocka_unit_test(test_packets_below_the_aborted_one_are_complete),
        cmocka_unit_test(test_nothing_aborted_means_all_again),
        cmocka_unit_test(test_a_finished_packet_that_nobody_saw_counts_as_aborted),
        cmocka_unit_test(test_other_nodes_go_on),
        cmocka_unit_test(test_dependent_nodes_are_preempted_or_reset),
        cmocka_unit_test(test_nonsense_in_the_group),
        cmocka_unit_test(test_an_unknown_group_resets_the_adapter),
        cmocka_unit_test(test_a_failed_engine_reset_resets_the_adapter),
        cmocka_unit_test(test_an_aborted_paging_packet_resets_the_adapter),
        cmocka_unit_test(test_a_process_with_too_many_timeouts_is_blocked),
        cmocka_unit_test(test_an_adapter_reset_in_full),
        cmocka_unit_test(test_submissions_wait_for_the_reset),
        cmocka_unit_test(test_a_fence_may_keep_its_value),
        cmocka_unit_test(test_ids_of_preempted_packets_count_as_completed),
        cmocka_unit_test(test_debug_information_is_optional),
        cmocka_unit_test(test_the_reset_waits_for_threads_in_the_driver),
        cmocka_unit_test(test_several_resets_are_survived),
        cmocka_unit_test(test_six_slow_resets),
        cmocka_unit_test(test_forced_resets_are_not_limited),
        cmocka_unit_test(test_debug_mode_three_lifts_the_limit),
        cmocka_unit_test(what_cannot_be_recovered_is_fatal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
