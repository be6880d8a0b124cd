/* SPDX-License-Identifier: MIT */
/* Resets of the whole adapter, and what is left of devices, memory and fences. */
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "vidsch/support/hang.h"

TEST_WITH(fixture, the_adapter_is_reset_and_restarted, .no_engine_reset = true)
{
    struct hang s = hang_make(f);

    f->mm.cleanup_pages = true;
    f->mm.restore_pages = 1;
    pass(5 * SECOND);
    CHECK_RULE("TDR-016", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 1);
    CHECK_RULE("TDR-066", call_at(f, CALL_COLLECT, 0)->collect.reason == 0x117 &&
                              hang_when(f, CALL_COLLECT) < hang_when(f, CALL_RESET));
    CHECK_RULE("TDR-046", call_at(f, CALL_RESET, 0)->irql == SIM_IRQL_PASSIVE &&
                              call_at(f, CALL_RESET, 0)->handle == f->ddi.context);
    CHECK_RULE("TDR-053", call_at(f, CALL_RESTART, 0)->irql == SIM_IRQL_PASSIVE &&
                              hang_when(f, CALL_RESET) < hang_when(f, CALL_RESTART));
    CHECK(f->vidsch->statistics.adapter_resets == 1 && f->vidsch->node[1].count == 0 &&
          vidsch_validate(f->vidsch));
    f->driver.engine[1].ignores_preemption = false;
    hang_end(f, &s);
}

TEST_WITH(fixture, memory_is_cleaned_up_and_restored, .no_engine_reset = true)
{
    struct hang s = hang_make(f);

    f->mm.cleanup_pages = true;
    f->mm.restore_pages = 1;
    pass(5 * SECOND);
    CHECK_RULE("TDR-050", f->mm.cleanups == 1 && f->mm.restores == 1);
    CHECK_RULE("TDR-051", calls_of(f, CALL_SUBMIT_VIRTUAL) == 3 &&
                              sent_virtual(f, 2)->Flags.Paging &&
                              hang_when(f, CALL_RESTART) <
                                  (uint32_t)(call_at(f, CALL_SUBMIT_VIRTUAL, 2) - f->driver.calls));
    CHECK_RULE("THREAD-031", !sent_virtual(f, 0)->Flags.Paging &&
                                 !sent_virtual(f, 1)->Flags.Paging && f->mm.cleanups == 1);
    CHECK_RULE("TDR-049", sent_virtual(f, 2)->SubmissionFenceId == 3);
    hang_end(f, &s);
}

TEST_WITH(fixture, all_devices_are_lost, .no_engine_reset = true)
{
    struct hang s = hang_make(f);
    struct vidsch_device *fresh;
    struct vidsch_context *context;

    pass(5 * SECOND);
    CHECK_RULE("TDR-054", vidsch_device_check(s.guilty, false) == STATUS_DEVICE_REMOVED &&
                              vidsch_device_check(s.innocent, true) == STATUS_DEVICE_REMOVED);
    CHECK_RULE("TDR-055", vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_HUNG &&
                              vidsch_device_state(s.innocent) == D3DKMT_DEVICEEXECUTION_RESET);
    CHECK_RULE("TDR-059", vidsch_sync_value(s.fence_a) == UINT64_MAX &&
                              vidsch_sync_value(s.fence_b) == UINT64_MAX);
    CHECK(vidsch_device_create(f->vidsch, &f->client, NULL, &fresh) == STATUS_SUCCESS);
    context = make_context(fresh, 1);
    f->driver.engine[1].ignores_preemption = false;
    CHECK_RULE("TDR-054", submit(context, 0xF0, 16) == STATUS_SUCCESS);
    idle(fresh);
    CHECK_RULE("TDR-053", sent_virtual(f, 2)->DmaBufferVirtualAddress == 0xF0);
    vidsch_device_destroy(fresh);
    hang_end(f, &s);
    CHECK_RULE("TDR-057", calls_of(f, CALL_DESTROY_DEVICE) == 3);
}

/* Node 1 has packets 1 and 2, which the driver reports now; paging comes, too. */
static void disturb(struct fixture *f)
{
    const struct vidsch_node *node = &f->vidsch->node[1];
    uint32_t sent = calls_of(f, CALL_SUBMIT_VIRTUAL);

    driver_complete(f, 1, 1);
    page(f, 64);
    pass(MS);
    CHECK_RULE("TDR-022", node->reported == 0 && node->last_completed == 0 && node->count == 2);
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == sent && calls_of(f, CALL_PREEMPT) == 1);
}

TEST_WITH(fixture, nothing_counts_while_the_adapter_is_reset, .no_engine_reset = true)
{
    struct hang s = hang_make(f);

    f->driver.on_reset = disturb;
    pass(5 * SECOND);
    CHECK(calls_of(f, CALL_RESET) == 1 && calls_of(f, CALL_RESTART) == 1 &&
          calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    CHECK(vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_HUNG);
    hang_end(f, &s);
}

static void submit_soon(void *arg)
{
    struct hang *s = arg;

    pass(2500 * MS);
    s->fence_b = (struct vidsch_sync *)(intptr_t)submit(s->b, 0xBB, 16);
}

TEST_WITH(fixture, submissions_wait_for_the_reset)
{
    struct hang s = hang_make(f);
    struct sim_thread *thread;

    f->vidsch->recovery.resetting = true; /* as in the middle of one */
    thread = spawn(f, submit_soon, &s);
    pass(4 * SECOND);
    CHECK_RULE("TDR-081", !sim_thread_ended(thread) && s.b->work == 2);
    f->vidsch->recovery.resetting = false;
    vidsch_change_announce(&f->vidsch->change);
    join(thread);
    hang_end(f, &s);
}

TEST_WITH(fixture, a_fence_may_keep_its_value)
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

TEST_WITH(fixture, ids_of_preempted_packets_count_as_completed)
{
    struct hang s = hang_make(f);
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
    hang_end(f, &s);
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

TEST_WITH(fixture, the_reset_waits_for_threads_in_the_driver)
{
    struct sim_thread *thread = spawn(f, render_for_long, f);

    pass(MS);
    CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    join(thread);
    CHECK_RULE("THREAD-035", call_at(f, CALL_RESET, 0)->time >= 3 * SECOND);
    CHECK_RULE("TDR-045", call_at(f, CALL_RESET, 0)->time >= 3 * SECOND &&
                              call_at(f, CALL_RESET, 0)->time <= f->driver.engine[0].run_ns + MS);
}
