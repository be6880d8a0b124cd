/* SPDX-License-Identifier: MIT */
/* Drivers whose deferred calls and timers never come to an end. */
#include "port/support/probe.h"

#include "sim/machine.h"
#include "sim/point.h"

enum way { SAME_PROCESSOR, NEXT_PROCESSOR, TIMER };

static struct {
    enum way way;
    unsigned runs, most;
    KDPC dpc;
    KTIMER timer;
} endless;

static VOID NTAPI again(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    const LARGE_INTEGER now = {.QuadPart = 0};

    (void)context;
    (void)a;
    (void)b;
    if (++endless.runs == endless.most)
        return;
    if (endless.way == NEXT_PROCESSOR)
        KeSetTargetProcessorDpc(dpc, (CCHAR)(KeGetCurrentProcessorNumber() ^ 1u));
    if (endless.way == TIMER)
        KeSetTimer(&endless.timer, now, dpc);
    else
        KeInsertQueueDpc(dpc, NULL, NULL);
}

static void begin_endless(struct probe *p)
{
    const LARGE_INTEGER now = {.QuadPart = 0};

    (void)p;
    endless.runs = 0;
    KeInitializeDpc(&endless.dpc, again, NULL);
    KeInitializeTimer(&endless.timer);
    if (endless.way == TIMER)
        KeSetTimer(&endless.timer, now, &endless.dpc);
    else
        KeInsertQueueDpc(&endless.dpc, NULL, NULL);
    probe_sleep(10 * PROBE_SECOND);
}

static void as_the_driver(struct probe *p, struct probe_call *call)
{
    (void)call;
    begin_endless(p);
}

TEST(dpcs_without_end_stop_the_machine)
{
    for (enum way way = SAME_PROCESSOR; way <= TIMER; way++) {
        struct probe *p = probe_started(NULL);

        endless.way = way;
        endless.most = 0;
        p->before[PROBE_QueryAdapterInfo] = as_the_driver;
        CHECK_RULE("NT-195", probe_run(p, probe_ask_driver) == SIM_STOPPED);
        CHECK_RULE("NT-195", verify_bugcheck_state(p->log)->code == 0x133 &&
                                 verify_bugcheck_state(p->log)->parameter[0] == 1);
        CHECK_RULE("NT-195", probe_said(p, "NT-195",
                                        endless.way == SAME_PROCESSOR ? "one after another"
                                                                      : "again and again"));
        CHECK_RULE("NT-195", endless.runs >= 999999 && endless.runs <= 1000001);
        probe_destroy(p);
    }
}

TEST(many_dpcs_in_a_row_are_no_offence)
{
    struct probe *p = probe_started(NULL);

    endless.way = SAME_PROCESSOR;
    endless.most = 999999;
    CHECK(probe_run(p, begin_endless) == SIM_DONE);
    CHECK_RULE("NT-195", endless.runs == 999999 && probe_rule(p, "NT-195") == 0);
    endless.most = 0;
    probe_destroy(p);
}

/* Each is short, and asks for the next one. */
static void dpc_again(struct probe *p, struct probe_call *call)
{
    const struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);

    KeStallExecutionProcessor(49);
    a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
}

static void cause_one(struct probe *p)
{
    (void)p;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(10 * PROBE_SECOND);
}

TEST(the_dpc_of_the_adapter_cannot_queue_itself_for_ever)
{
    struct probe *p = probe_started(NULL);

    p->after[PROBE_DpcRoutine] = dpc_again;
    CHECK(probe_run(p, cause_one) == SIM_STOPPED);
    CHECK_RULE("NT-195", verify_bugcheck_state(p->log)->code == 0x133 &&
                             probe_said(p, "NT-195", "DxgkDdiDpcRoutine"));
    CHECK_RULE("NT-195", sim_now() < 3 * PROBE_SECOND);
    probe_destroy(p);
}

/* ---- the end of time ---- */

static void far_timers(struct probe *p)
{
    static const LONGLONG far[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, -922337203685477580};
    LARGE_INTEGER due, soon = {.QuadPart = -10};

    (void)p;
    KeInitializeTimer(&endless.timer);
    for (unsigned i = 0; i < 4; i++) {
        due.QuadPart = far[i];
        KeSetTimerEx(&endless.timer, due, INT32_MAX, NULL);
        CHECK_RULE("NT-196", KeWaitForSingleObject(&endless.timer, Executive, KernelMode, FALSE,
                                                   &soon) == STATUS_TIMEOUT);
        CHECK_RULE("NT-196", KeCancelTimer(&endless.timer) == TRUE);
    }
}

TEST(a_timer_past_the_end_of_time_never_expires)
{
    struct probe *p = probe_started(NULL);
    uint64_t before = sim_now();

    CHECK_RULE("NT-196", probe_run(p, far_timers) == SIM_DONE);
    CHECK_RULE("NT-196", sim_now() - before < PROBE_SECOND);
    probe_destroy(p);
}
