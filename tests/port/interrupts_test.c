/* SPDX-License-Identifier: MIT */
/* Service routine, deferred call, and the callbacks that go with them. */
#include "port/support/interrupts.h"
#include "sim/point.h"

/* ---- levels, messages, locks ---- */

static uint8_t level_in_thread;
static unsigned inside[3], most[3], together;

static void enter_isr(struct probe *p, struct probe_call *call)
{
    ULONG message = (ULONG)call->arg[1];
    unsigned running = 0;

    (void)p;
    if (++inside[message] > most[message])
        most[message] = inside[message];
    for (int i = 0; i < 300; i++) /* let the other processors go on */
        sim_point();
    for (unsigned i = 0; i < 3; i++)
        running += inside[i] != 0;
    if (running > together)
        together = running;
    inside[message]--;
}

static void storm_body(struct probe *p)
{
    for (unsigned i = 0; i < 200; i++) {
        probe_device_cause(0, PROBE_CAUSE_TEST, 0);
        probe_device_raise(0, 1);
        probe_device_raise(0, 2);
        KeStallExecutionProcessor(3);
        probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    }
    probe_sleep(1000000);
    level_in_thread = KeGetCurrentIrql();
    (void)p;
}

TEST(levels_messages_and_locks)
{
    const struct probe_options options = {.device = three_messages, .processors = 4};
    struct probe *p = start_with(&options, NULL);
    bool seen[3] = {false, false, false};

    p->before[PROBE_InterruptRoutine] = enter_isr;
    CHECK(probe_run(p, storm_body) == SIM_DONE);
    for (size_t i = 0; i < probe_count(p, PROBE_InterruptRoutine); i++) {
        const struct probe_call *call = probe_nth(p, PROBE_InterruptRoutine, i);

        seen[(ULONG)call->arg[1]] = true;
        CHECK_RULE("THREAD-044/b", call->irql > DISPATCH_LEVEL && call->irql < PROFILE_LEVEL);
        CHECK_RULE("THREAD-001/c", call->irql == 5);
        CHECK_RULE("SUBMIT-049", call->irql == 5 &&
                                     call->arg[0] == (uint64_t)(uintptr_t)A->context &&
                                     call->arg[1] < 3);
    }
    for (size_t i = 0; i < probe_count(p, PROBE_DpcRoutine); i++)
        CHECK_RULE("THREAD-044/a", probe_nth(p, PROBE_DpcRoutine, i)->irql == DISPATCH_LEVEL);
    CHECK_RULE("THREAD-001/a", level_in_thread == 0);
    CHECK_RULE("THREAD-001/b", probe_nth(p, PROBE_DpcRoutine, 0)->irql == 2);
    CHECK_RULE("THREAD-055", seen[0] && seen[1] && seen[2]);
    CHECK_RULE("SUBMIT-049", seen[0] && seen[1] && seen[2]);
    CHECK_RULE("THREAD-058", most[0] == 1 && most[1] == 1 && most[2] == 1);
    CHECK_RULE("THREAD-059", together > 1);
    CHECK_RULE("SUBMIT-053", most[0] == 1 && most[1] == 1 && most[2] == 1 && together > 1);
    probe_destroy(p);
}

/* ---- the deferred call ---- */

static BOOLEAN queued[4];
static unsigned dpc_inside, dpc_most, requeue;

static void queue_twice(struct probe *p, struct probe_call *call)
{
    (void)call;
    queued[0] = DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    queued[1] = DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    DXGK.DxgkCbLogEtwEvent(NULL, 1, 256, NULL);
}

static void queue_in_dpc(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (++dpc_inside > dpc_most)
        dpc_most = dpc_inside;
    if (requeue) {
        requeue--;
        queued[2] = DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    }
    for (int i = 0; i < 300; i++)
        sim_point();
    dpc_inside--;
}

TEST(one_dpc_at_a_time)
{
    const struct probe_options options = {.processors = 4};
    struct probe *p = start_with(&options, NULL);

    p->before[PROBE_InterruptRoutine] = queue_twice;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("THREAD-064", queued[0] && !queued[1] && probe_count(p, PROBE_DpcRoutine) == 1);
    CHECK_RULE("SUBMIT-061", queued[0] && !queued[1] && probe_count(p, PROBE_DpcRoutine) == 1);
    CHECK_RULE("THREAD-053",
               probe_rule(p, "THREAD-060") == 0 && probe_rule(p, "LIFE-105") == 0 && queued[0]);
    p->before[PROBE_InterruptRoutine] = NULL;
    probe_forget(p);
    requeue = 1;
    p->before[PROBE_DpcRoutine] = queue_in_dpc;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("THREAD-065", queued[2] && probe_count(p, PROBE_DpcRoutine) == 2 && dpc_most == 1);
    CHECK_RULE("SUBMIT-062", queued[2] && probe_count(p, PROBE_DpcRoutine) == 2 &&
                                 probe_nth(p, PROBE_DpcRoutine, 1)->order >=
                                     probe_nth(p, PROBE_DpcRoutine, 0)->left);
    requeue = 20; /* queued on other processors, too, while one runs */
    CHECK(probe_run(p, storm_body) == SIM_DONE);
    CHECK_RULE("THREAD-066", dpc_most == 1 && probe_count(p, PROBE_DpcRoutine) > 20);
    for (size_t i = 0; i < probe_count(p, PROBE_DpcRoutine); i++)
        CHECK_RULE("SUBMIT-063", probe_nth(p, PROBE_DpcRoutine, i)->irql == DISPATCH_LEVEL &&
                                     probe_nth(p, PROBE_DpcRoutine, i)->arg[0] ==
                                         (uint64_t)(uintptr_t)A->context &&
                                     dpc_most == 1);
    probe_destroy(p);
}

static void passive_queue_body(struct probe *p)
{
    CHECK_RULE("THREAD-064", DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle)); /* at PASSIVE_LEVEL, too */
    CHECK_RULE("SUBMIT-061", probe_count(p, PROBE_DpcRoutine) == 1);
    CHECK_RULE("THREAD-003/a", probe_count(p, PROBE_DpcRoutine) == 1);
}

static void masked_body(struct probe *p)
{
    KIRQL before;
    size_t calls;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    for (int i = 0; i < 1000; i++)
        sim_point();
    CHECK_RULE("THREAD-003/a", probe_count(p, PROBE_DpcRoutine) == 0); /* queued on this processor */
    KeLowerIrql(before);
    CHECK_RULE("THREAD-003/a", probe_count(p, PROBE_DpcRoutine) == 1);
    calls = probe_count(p, PROBE_InterruptRoutine);
    KeRaiseIrql(5, &before);
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    for (int i = 0; i < 1000; i++)
        sim_point();
    CHECK_RULE("THREAD-003/b", probe_count(p, PROBE_InterruptRoutine) == calls);
    KeLowerIrql(before);
    CHECK_RULE("THREAD-003/b", probe_count(p, PROBE_InterruptRoutine) == calls + 1);
}

TEST(levels_mask)
{
    const struct probe_options single = {.processors = 1};

    probe_end(start_with(&single, NULL), passive_queue_body);
    probe_end(start_with(&single, NULL), masked_body);
}

/* ---- notify ---- */

static void notify_and_forget(struct probe *p, struct probe_call *call)
{
    (void)READ_REGISTER_ULONG(A->registers + PROBE_REG_STATUS / 4);
    notify(p);
    call->answered = true;
    call->result = TRUE;
}

static void notify_and_queue(struct probe *p, struct probe_call *call)
{
    notify_and_forget(p, call);
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
}

TEST(an_isr_that_notifies_queues_a_dpc)
{
    struct probe *p = start_with(NULL, NULL);

    p->before[PROBE_InterruptRoutine] = notify_and_queue;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("THREAD-061", probe_rule(p, "THREAD-061") == 0);
    CHECK_RULE("SUBMIT-060", probe_rule(p, "THREAD-061") == 0);
    p->before[PROBE_InterruptRoutine] = notify_and_forget;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("THREAD-061", probe_rule(p, "THREAD-061") == 1);
    CHECK_RULE("SUBMIT-060", probe_rule(p, "THREAD-061") == 1 && probe_rule(p, "THREAD-062") == 0);
    probe_destroy(p);
}

static void notify_vsync(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)READ_REGISTER_ULONG(A->registers + PROBE_REG_STATUS / 4);
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    DXGK.DxgkCbNotifyInterrupt(DXGK.DeviceHandle, &data);
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

static void report_a_source(struct probe *p, struct probe_call *call)
{
    (void)p;
    *(PULONG)(uintptr_t)call->arg[3] = 1;
}

static void with_a_display(struct probe *p)
{
    CHECK(verify_set_severity(p->log, "LIFE-069", VERIFY_WARNING));
    p->after[PROBE_StartDevice] = report_a_source;
}

/* Nobody waits for it, but only who drives a display may report it. */
TEST(a_vertical_sync_comes_from_a_display)
{
    const struct probe_options dark = {.port.no_displays = true};
    struct probe *p = start_with(&dark, with_a_display);

    p->before[PROBE_InterruptRoutine] = notify_vsync;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("SUBMIT-072",
               probe_count(p, PROBE_InterruptRoutine) == 1 && probe_rule(p, "SUBMIT-072") == 0);
    probe_destroy(p);

    p = start_with(NULL, NULL);
    p->before[PROBE_InterruptRoutine] = notify_vsync;
    CHECK(probe_run(p, cause_body) != SIM_DONE);
    CHECK_RULE("SUBMIT-072", probe_rule(p, "SUBMIT-072") == 1);
    probe_destroy(p);
}

static void skip_call(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
}

TEST(a_dpc_processes_what_was_notified)
{
    struct vidsch_statistics before, between, after;
    struct probe *p = start_with(NULL, NULL);
    struct vidsch *vidsch = port_adapter_vidsch(p->adapter[0]);

    vidsch_statistics(vidsch, &before);
    p->before[PROBE_InterruptRoutine] = notify_and_queue;
    p->before[PROBE_DpcRoutine] = skip_call;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    vidsch_statistics(vidsch, &between);
    CHECK_RULE("THREAD-063", probe_rule(p, "THREAD-063") == 1 &&
                                 between.interrupts_notified == before.interrupts_notified + 1 &&
                                 between.dpcs_notified == before.dpcs_notified);
    p->before[PROBE_DpcRoutine] = NULL;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    vidsch_statistics(vidsch, &after);
    CHECK_RULE("THREAD-063", probe_rule(p, "THREAD-063") == 1 &&
                                 after.dpcs_notified == before.dpcs_notified + 1 &&
                                 after.interrupts_notified == before.interrupts_notified + 2);
    probe_destroy(p);
}

static void notify_in_dpc(struct probe *p, struct probe_call *call)
{
    (void)call;
    notify(p);
}

static void notify_dpc_body(struct probe *p)
{
    DXGK.DxgkCbNotifyDpc(DXGK.DeviceHandle);
    CHECK_RULE("THREAD-051", probe_rule(p, "THREAD-051") == 1);
}

static void notify_with_own_handle(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    data.MonitoredFenceSignaled.NodeOrdinal = 1;
    (void)READ_REGISTER_ULONG(A->registers + PROBE_REG_STATUS / 4);
    DXGK.DxgkCbNotifyInterrupt(A->context, &data);
    DXGK.DxgkCbNotifyInterrupt(NULL, &data);
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

TEST(notify_takes_the_hosts_handle)
{
    struct vidsch_statistics statistics;
    struct probe *p = start_with(NULL, NULL);

    p->before[PROBE_InterruptRoutine] = notify_with_own_handle;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    vidsch_statistics(port_adapter_vidsch(p->adapter[0]), &statistics);
    CHECK_RULE("SUBMIT-056", probe_rule(p, "LIFE-063") == 2 && statistics.interrupts_notified == 0 &&
                                 probe_said(p, "LIFE-063", "MiniportDeviceContext"));
    p->before[PROBE_InterruptRoutine] = notify_and_queue;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    vidsch_statistics(port_adapter_vidsch(p->adapter[0]), &statistics);
    CHECK_RULE("SUBMIT-056", probe_rule(p, "LIFE-063") == 2 && statistics.interrupts_notified == 1);
    probe_destroy(p);
}

TEST(notify_has_its_place)
{
    const struct probe_options options = {.device = three_messages};
    struct vidsch_statistics statistics;
    struct probe *p = start_with(NULL, NULL);

    p->before[PROBE_DpcRoutine] = notify_in_dpc;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("THREAD-051",
               probe_rule(p, "THREAD-051") == 1 && probe_said(p, "THREAD-051", "DISPATCH_LEVEL"));
    vidsch_statistics(port_adapter_vidsch(p->adapter[0]), &statistics);
    CHECK_RULE("SUBMIT-054",
               probe_rule(p, "THREAD-051") == 1 && statistics.interrupts_notified == 0);
    probe_destroy(p);

    probe_end(start_with(NULL, NULL), notify_dpc_body);

    p = start_with(&options, NULL);
    p->before[PROBE_InterruptRoutine] = notify_and_queue;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("CAPS-024", probe_rule(p, "CAPS-024") == 0);
    CHECK_RULE("SUBMIT-055", probe_rule(p, "CAPS-024") == 0);
    probe_device_cause(0, PROBE_CAUSE_TEST, 1); /* the cap says 0 */
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("CAPS-024", probe_rule(p, "CAPS-024") == 1 && probe_said(p, "CAPS-024", "message 1"));
    CHECK_RULE("THREAD-052", probe_rule(p, "CAPS-024") == 1);
    CHECK_RULE("SUBMIT-055", probe_rule(p, "CAPS-024") == 1);
    probe_destroy(p);
}

/* ---- storms and durations ---- */

static void never_mine(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = FALSE;
}

static void raise_times(unsigned times, uint32_t message)
{
    for (unsigned i = 0; i < times; i++) {
        probe_device_raise(0, message);
        KeStallExecutionProcessor(20);
    }
}

static void raise_999(struct probe *p)
{
    (void)p;
    raise_times(999, 1);
}

static void raise_once(struct probe *p)
{
    (void)p;
    raise_times(1, 1);
}

static void raise_another(struct probe *p)
{
    (void)p;
    raise_times(5, 2);
}

static void claim(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = TRUE;
}

TEST(storms_are_masked)
{
    const struct probe_options options = {.device = three_messages};
    struct probe *p = start_with(&options, NULL);

    p->before[PROBE_InterruptRoutine] = never_mine;
    CHECK(probe_run(p, raise_999) == SIM_DONE);
    p->before[PROBE_InterruptRoutine] = claim; /* counting begins anew */
    CHECK(probe_run(p, raise_once) == SIM_DONE);
    p->before[PROBE_InterruptRoutine] = never_mine;
    CHECK(probe_run(p, raise_999) == SIM_DONE);
    CHECK_RULE("THREAD-057/a",
               probe_rule(p, "THREAD-057") == 0 && probe_count(p, PROBE_InterruptRoutine) == 1999);
    CHECK_RULE("SUBMIT-051", probe_rule(p, "THREAD-057") == 0);
    CHECK(probe_run(p, raise_once) == SIM_DONE);
    CHECK_RULE("THREAD-057/a",
               probe_rule(p, "THREAD-057") == 1 && probe_said(p, "THREAD-057", "message 1"));
    CHECK_RULE("SUBMIT-051", probe_rule(p, "THREAD-057") == 1);
    CHECK(probe_run(p, raise_once) == SIM_DONE);
    CHECK_RULE("THREAD-057/b", probe_count(p, PROBE_InterruptRoutine) == 2000);
    CHECK_RULE("SUBMIT-051", probe_count(p, PROBE_InterruptRoutine) == 2000);
    CHECK(probe_run(p, raise_another) == SIM_DONE);
    CHECK_RULE("THREAD-057/b", probe_count(p, PROBE_InterruptRoutine) == 2005);
    CHECK(probe_run(p, probe_restart) == SIM_DONE);
    probe_forget(p);
    CHECK(probe_run(p, raise_once) == SIM_DONE);
    CHECK_RULE("THREAD-057/c", probe_count(p, PROBE_InterruptRoutine) == 1);
    probe_destroy(p);
}

/* Nothing stays asserted: what the driver does not dismiss is not raised again. */
TEST(a_message_is_one_call)
{
    struct probe *p = start_with(NULL, NULL);

    p->before[PROBE_InterruptRoutine] = claim;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("THREAD-056/a", probe_count(p, PROBE_InterruptRoutine) == 1);
    p->before[PROBE_InterruptRoutine] = never_mine;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("THREAD-056/b", probe_count(p, PROBE_InterruptRoutine) == 2 &&
                                   probe_count(p, PROBE_DpcRoutine) == 0);
    probe_destroy(p);
}

static void take_long(struct probe *p, struct probe_call *call)
{
    (void)p;
    KeStallExecutionProcessor(call->ddi == PROBE_InterruptRoutine ? 30 : 49);
    if (call->ddi == PROBE_DpcRoutine)
        for (int i = 0; i < 2; i++)
            KeStallExecutionProcessor(49);
}

TEST(durations_are_measured_on_request)
{
    for (unsigned measure = 0; measure < 2; measure++) {
        const struct probe_options options = {.port = {.measure_interrupts = measure != 0}};
        struct probe *p = start_with(&options, NULL);

        CHECK(probe_run(p, cause_body) == SIM_DONE && probe_rule(p, "THREAD-067") == 0);
        p->before[PROBE_InterruptRoutine] = p->before[PROBE_DpcRoutine] = take_long;
        CHECK(probe_run(p, cause_body) == SIM_DONE);
        CHECK_RULE("THREAD-067", probe_rule(p, "THREAD-067") == (measure ? 2 : 0));
        if (measure)
            CHECK_RULE("THREAD-067", probe_record(p, "THREAD-067")->severity == VERIFY_WARNING);
        probe_destroy(p);
    }
}
