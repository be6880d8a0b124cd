/* SPDX-License-Identifier: MIT */
/* What progress fences of hardware queues may hold: ids of commands that were given to the driver, rising, not while the context is
 * suspended; and that they are announced. */
#include "port/support/hardware.h"

#define MS 1000000ull

static struct hardware_client client;

static void run(void (*body)(struct probe *p))
{
    struct probe *p = hardware_create(NULL);
    struct probe_client *process;

    hardware.held = true;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

static void begin(UINT64 commands)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    for (UINT64 id = 1; id <= commands; id++)
        CHECK(NT_SUCCESS(hardware_submit(&client, id)));
    probe_sleep(MS);
    CHECK(hardware.submissions == commands);
}

static void end(void)
{
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

static void write_fence(UINT64 value)
{
    *(volatile UINT64 *)hardware.submission[0].args.HwQueueProgressFenceCpuVa = value;
}

static void announce(void)
{
    hardware.extra.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    hardware.extra.MonitoredFenceSignaled.NodeOrdinal = HARDWARE_NODE;
    hardware_notify();
    probe_sleep(MS);
}

static void wrong_ids(struct probe *p)
{
    begin(3);
    write_fence(2);
    announce();
    CHECK_RULE("SUBMIT-117/e", probe_rule(p, "SUBMIT-117") == 0);
    write_fence(1);
    announce();
    CHECK_RULE("SUBMIT-117/e", probe_rule(p, "SUBMIT-117") == 1 &&
                                   probe_said(p, "SUBMIT-117", "went back from 2 to 1"));
    write_fence(3);
    announce();
    CHECK_RULE("SUBMIT-117/e", probe_rule(p, "SUBMIT-117") == 1);
    write_fence(4);
    announce();
    announce(); /* it is told once */
    CHECK_RULE("SUBMIT-117/e",
               probe_rule(p, "SUBMIT-117") == 2 &&
                   probe_said(p, "SUBMIT-117",
                              "holds 4, but the last command given to the driver has the id 3"));
    end();
}

TEST(a_fence_holds_ids_of_commands_in_their_order)
{
    run(wrong_ids);
}

static enum { SILENT, AT_ONCE, LATE, WITHOUT_DPC } announced;

static void skip_call(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
}

static void finish_in_silence(struct probe *p)
{
    begin(1);
    write_fence(1);
    if (announced == WITHOUT_DPC)
        p->before[PROBE_DpcRoutine] = skip_call;
    if (announced == AT_ONCE || announced == WITHOUT_DPC)
        announce();
    CHECK(NT_SUCCESS(hardware_wait(&client, 1)));
    hardware.ended = hardware.submissions;
    probe_sleep(2 * PROBE_SECOND + 100 * MS); /* after the host's look at what is overdue */
    CHECK_RULE("SUBMIT-117/e", probe_rule(p, "SUBMIT-117") == 0); /* it may be on its way */
    if (announced == LATE)
        announce();
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("SUBMIT-117/e",
               probe_rule(p, "SUBMIT-117") == (announced == SILENT) &&
                   probe_said(p, "SUBMIT-117",
                              "has not notified DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED") ==
                       (announced == SILENT));
    p->before[PROBE_DpcRoutine] = NULL;
    end();
}

TEST(progress_is_announced)
{
    for (unsigned i = 0; i < 4; i++) {
        announced = i;
        run(finish_in_silence);
    }
}

static bool too_late;

/* The command takes long, so that its context is suspended, and resumed at once. */
static void finish_at_last(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (probe_count(p, PROBE_SuspendContext) == 1 && hardware.submission[0].args.hHwQueue)
        write_fence(1);
}

static void go_on(struct probe *p)
{
    if (too_late) { /* the acknowledgement has been processed */
        p->after[PROBE_DpcRoutine] = finish_at_last;
    } else {
        p->after[PROBE_SuspendContext] = finish_at_last;
        hardware.suspend = SUSPEND_AT_ONCE;
    }
    begin(2);
    while (probe_count(p, PROBE_ResumeContext) == 0)
        probe_sleep(PROBE_SECOND / 10);
    p->after[PROBE_DpcRoutine] = p->after[PROBE_SuspendContext] = NULL;
    CHECK_RULE("PREEMPT-044",
               probe_rule(p, "PREEMPT-044") == too_late &&
                   probe_said(p, "PREEMPT-044",
                              "rose from 0 to 1 although its context is suspended") == too_late);
    hardware_finish(2);
    CHECK(NT_SUCCESS(hardware_wait(&client, 2)));
    CHECK_RULE("PREEMPT-044", probe_rule(p, "PREEMPT-044") == too_late);
    end();
}

TEST(a_suspended_context_makes_no_progress)
{
    for (unsigned i = 0; i < 2; i++) {
        too_late = i != 0;
        run(go_on);
    }
}
