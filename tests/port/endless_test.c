/* SPDX-License-Identifier: MIT */
/* Drivers whose deferred calls and timers never come to an end. */
#include "port/support/probe.h"

#include <initguid.h>

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
        CHECK_RULE("NT-195/a", probe_run(p, probe_ask_driver) == SIM_STOPPED);
        CHECK_RULE("NT-195/a", verify_bugcheck_state(p->log)->code == 0x133 &&
                                   verify_bugcheck_state(p->log)->parameter[0] == 1);
        CHECK_RULE("NT-195/a", probe_said(p, "NT-195",
                                          endless.way == SAME_PROCESSOR ? "one after another"
                                                                        : "again and again"));
        CHECK_RULE("NT-195/b", endless.runs >= 999999 && endless.runs <= 1000001);
        probe_destroy(p);
    }
}

TEST(many_dpcs_in_a_row_are_no_offence)
{
    struct probe *p = probe_started(NULL);

    endless.way = SAME_PROCESSOR;
    endless.most = 999999;
    CHECK(probe_run(p, begin_endless) == SIM_DONE);
    CHECK_RULE("NT-195/b", endless.runs == 999999 && probe_rule(p, "NT-195") == 0);
    endless.most = 0;
    probe_destroy(p);
}

/* ---- one that does not return, though it calls the host ---- */

static VOID NTAPI stay(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
    for (unsigned i = 0; i < endless.most; i++)
        KeStallExecutionProcessor(1000);
}

static void stay_in_dpc(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    KeInitializeDpc(&endless.dpc, stay, NULL);
    KeInsertQueueDpc(&endless.dpc, NULL, NULL);
    probe_sleep(PROBE_SECOND);
}

TEST(a_dpc_of_the_driver_has_a_limit)
{
    for (unsigned ms = 499; ms <= 501; ms += 2) {
        struct probe *p = probe_started(NULL);

        endless.most = ms;
        p->before[PROBE_QueryAdapterInfo] = stay_in_dpc;
        CHECK_RULE("THREAD-067",
                   probe_run(p, probe_ask_driver) == (ms < 500 ? SIM_DONE : SIM_STOPPED));
        CHECK_RULE("THREAD-067", probe_rule(p, "THREAD-067") == (ms > 500));
        if (ms > 500)
            CHECK_RULE("THREAD-067", verify_bugcheck_state(p->log)->code == 0x133 &&
                                         verify_bugcheck_state(p->log)->parameter[0] == 0);
        probe_destroy(p);
    }
}

DEFINE_GUID(display_state, 0x6FE69556, 0x704A, 0x47A0, 0x8F, 0x24, 0xC2, 0x8D, 0x93, 0x6F, 0xDA,
            0x47);

static NTSTATUS NTAPI stay_in_callback(LPCGUID setting, PVOID value, ULONG length, PVOID context)
{
    (void)setting;
    (void)value;
    (void)length;
    (void)context;
    for (unsigned i = 0; i < endless.most; i++)
        KeStallExecutionProcessor(1000000);
    return STATUS_SUCCESS;
}

/* In a thread of the driver, which has no limit of its own. */
static void register_callback(struct probe *p)
{
    PVOID handle = NULL;

    (void)PoRegisterPowerSettingCallback(NULL, &display_state, stay_in_callback, NULL, &handle);
    CHECK(handle && PoUnregisterPowerSettingCallback(handle) == STATUS_SUCCESS);
    (void)p;
}

TEST(a_callback_has_a_limit)
{
    for (unsigned seconds = 59; seconds <= 61; seconds += 2) {
        struct probe *p = probe_started(NULL);

        endless.most = seconds;
        CHECK_RULE("NT-201/e",
                   probe_run(p, register_callback) == (seconds < 60 ? SIM_DONE : SIM_STOPPED));
        CHECK_RULE("NT-201/e", probe_rule(p, "THREAD-037") == (seconds > 60));
        probe_destroy(p);
    }
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
    CHECK_RULE("NT-195/c", verify_bugcheck_state(p->log)->code == 0x133 &&
                               probe_said(p, "NT-195", "DxgkDdiDpcRoutine"));
    CHECK_RULE("NT-195/c", sim_now() < 3 * PROBE_SECOND);
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
        CHECK_RULE("NT-196/d", KeWaitForSingleObject(&endless.timer, Executive, KernelMode, FALSE,
                                                     &soon) == STATUS_TIMEOUT);
        CHECK_RULE("NT-196/d", KeCancelTimer(&endless.timer) == TRUE);
    }
}

TEST(a_timer_past_the_end_of_time_never_expires)
{
    struct probe *p = probe_started(NULL);
    uint64_t before = sim_now();

    CHECK_RULE("NT-196/d", probe_run(p, far_timers) == SIM_DONE);
    CHECK_RULE("NT-196/d", sim_now() - before < PROBE_SECOND);
    probe_destroy(p);
}

/* ---- pool ---- */

#define LEAK 0x6B61654Cu /* "Leak" */

static struct {
    uint64_t bytes, blocks, got;
    bool frees;
} greed;

static void take_pool(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    for (uint64_t i = 0; i < greed.blocks; i++) {
        void *block = ExAllocatePool2(POOL_FLAG_NON_PAGED, greed.bytes, LEAK);

        greed.got += block != NULL;
        if (block && greed.frees)
            ExFreePoolWithTag(block, LEAK);
    }
}

static struct probe *greedy(uint64_t limit, uint64_t bytes, uint64_t blocks, bool frees)
{
    struct probe *p = probe_started(&(struct probe_options){.pool_limit = limit});

    greed.bytes = bytes;
    greed.blocks = blocks;
    greed.frees = frees;
    greed.got = 0;
    p->before[PROBE_QueryAdapterInfo] = take_pool;
    return p;
}

TEST(pool_without_end_stops_the_machine)
{
    struct probe *p = greedy(1u << 20, 4096, UINT64_MAX, false);

    CHECK_RULE("NT-200/a", probe_run(p, probe_ask_driver) == SIM_STOPPED);
    CHECK_RULE("NT-200/a", verify_bugcheck_state(p->log)->code == 0xC4 &&
                               verify_bugcheck_state(p->log)->parameter[0] == 0x62);
    CHECK_RULE("NT-200/a", probe_said(p, "NT-200", "'Leak' 1052672 bytes in 257 block(s) at "));
    CHECK_RULE("NT-200/b", greed.got == 256);
    probe_destroy(p);
}

TEST(pool_that_is_freed_has_no_limit)
{
    struct probe *p = greedy(1u << 20, 65536, 1000, true);

    CHECK_RULE("NT-200/b", probe_run(p, probe_ask_driver) == SIM_DONE && greed.got == 1000);
    probe_destroy(p);
}

/* All of RAM, and it does not stop asking. */
TEST(asking_for_pool_that_is_not_there_comes_to_an_end)
{
    struct probe *p = greedy(0, 1u << 20, UINT64_MAX, false);

    CHECK_RULE("NT-200/c", probe_run(p, probe_ask_driver) == SIM_STOPPED);
    CHECK_RULE("NT-200/c", probe_said(p, "NT-200", "requests for more fail again and again") &&
                               probe_rule(p, "NT-200") == 1);
    CHECK(greed.got > 10 && greed.got < 64);
    probe_destroy(p);
    p = greedy(0, 1u << 20, 500000, false);
    CHECK_RULE("NT-200/d",
               probe_run(p, probe_ask_driver) == SIM_DONE && probe_rule(p, "NT-200") == 0);
    probe_destroy(p);
}

/* ---- timers of the system ---- */

static struct {
    PEX_TIMER timer;
    unsigned runs, ends;
    bool raised; /* its delete callback returns at DISPATCH_LEVEL */
} ex;

static VOID NTAPI set_again(PEX_TIMER timer, PVOID context)
{
    (void)context;
    ex.runs++;
    (void)ExSetTimer(timer, 0, 0, NULL);
}

static void begin_ex_timer(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    ex.timer = ExAllocateTimer(set_again, NULL, 0);
    (void)ExSetTimer(ex.timer, 0, 0, NULL);
    probe_sleep(10 * PROBE_SECOND);
}

TEST(system_timers_without_end_stop_the_machine)
{
    struct probe *p = probe_started(NULL);

    ex.runs = 0;
    p->before[PROBE_QueryAdapterInfo] = begin_ex_timer;
    CHECK_RULE("NT-195/d", probe_run(p, probe_ask_driver) == SIM_STOPPED);
    CHECK_RULE("NT-195/d", verify_bugcheck_state(p->log)->code == 0x133 && ex.runs >= 999999 &&
                               ex.runs <= 1000001);
    CHECK_RULE("NT-195/d", probe_said(p, "NT-195", "again and again"));
    probe_destroy(p);
}

static VOID NTAPI gone(PVOID context)
{
    KIRQL old;

    ex.ends += context == &ex;
    if (ex.raised)
        KeRaiseIrql(DISPATCH_LEVEL, &old);
}

static VOID NTAPI run_once(PEX_TIMER timer, PVOID context)
{
    (void)timer;
    (void)context;
    ex.runs++;
}

static void delete_ex_timer(struct probe *p, struct probe_call *call)
{
    EXT_DELETE_PARAMETERS parameters = {0};

    (void)p;
    (void)call;
    parameters.DeleteCallback = gone;
    parameters.DeleteContext = &ex;
    ex.timer = ExAllocateTimer(run_once, NULL, 0);
    (void)ExDeleteTimer(ex.timer, TRUE, FALSE, &parameters);
    probe_sleep(1000000);
}

/* What is true of every call into the driver is so of this one. */
TEST(delete_callbacks_are_calls_of_the_driver)
{
    for (unsigned raised = 0; raised < 2; raised++) {
        struct probe *p = probe_started(NULL);

        ex.ends = 0;
        ex.raised = raised != 0;
        p->before[PROBE_QueryAdapterInfo] = delete_ex_timer;
        CHECK(probe_run(p, probe_ask_driver) == SIM_DONE);
        CHECK_RULE("NT-087/e", ex.ends == 1);
        CHECK_RULE("THREAD-006/b", probe_rule(p, "THREAD-006") == raised);
        CHECK_RULE("THREAD-006/b",
                   !raised || probe_said(p, "THREAD-006", "a timer delete callback"));
        p->before[PROBE_QueryAdapterInfo] = NULL;
        probe_destroy(p);
    }
}
