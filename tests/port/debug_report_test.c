/* SPDX-License-Identifier: MIT */
/* What the driver is asked for before a reset and before the machine stops, and the screen of a bug check. */
#include "nt/base/current.h"
#include "port/support/client.h"
#include "sim/sim.h"

#include <ntddk.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])

#define MANUALLY_INITIATED_CRASH 0xE2u

/* ---- what was asked ---- */

static struct report {
    UINT reason;
    SIZE_T bytes;
    bool has_extension;
} reports[4];
static unsigned report_count;

static void note_report(struct probe *p, struct probe_call *call)
{
    const DXGKARG_COLLECTDBGINFO *args = (const DXGKARG_COLLECTDBGINFO *)(uintptr_t)call->arg[1];

    (void)p;
    CHECK(report_count < 4);
    reports[report_count++] = (struct report){args->Reason, args->BufferSize,
                                              args->pExtension != NULL};
}

static struct probe *create(const struct probe_options *options)
{
    struct probe *p = probe_create(options);

    report_count = 0;
    p->before[PROBE_CollectDbgInfo] = note_report;
    return p;
}

/* On a client thread: an engine at work is reset, which costs the device. */
static void reset_engine(struct probe *p)
{
    struct probe_gpu gpu;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(1000000);
    CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static struct probe_client *start_client(struct probe *p, void (*body)(struct probe *p))
{
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_device_packet_ns = 100000000;
    return probe_client_run(p, body);
}

static void finish(struct probe *p, struct probe_client *client)
{
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void reset_adapter(struct probe *p)
{
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
}

/* The driver's own bug check, in a call about its adapter. */
static void crash(struct probe *p, struct probe_call *call)
{
    KIRQL before;

    (void)call;
    if (p->user)
        KeRaiseIrql(DISPATCH_LEVEL, &before);
    KeBugCheckEx(MANUALLY_INITIATED_CRASH, 1, 2, 3, 4);
}

/* ---- what else would run ---- */

/* What runs in a moment if the machine goes on, and what of it has run. */
static struct {
    KDPC dpc, timer_dpc;
    KTIMER timer;
    PIO_WORKITEM work;
    unsigned dpcs, works, turns; /* turns: of another thread */
    size_t interrupts;
} pending, seen[2]; /* seen: at the bug check, and in the last DDI */

static void NTAPI count_dpc(PKDPC dpc, PVOID context, PVOID first, PVOID second)
{
    (void)dpc, (void)context, (void)first, (void)second;
    pending.dpcs++;
}

static void NTAPI count_work(PDEVICE_OBJECT device, PVOID context)
{
    (void)device, (void)context;
    pending.works++;
}

static void NTAPI take_turns(PVOID context)
{
    LARGE_INTEGER moment = {.QuadPart = -100};

    (void)context;
    for (;;) {
        pending.turns++;
        (void)KeDelayExecutionThread(KernelMode, FALSE, &moment);
    }
}

static void start_thread(struct probe *p, struct probe_call *call)
{
    HANDLE thread;

    (void)p;
    (void)call;
    CHECK(NT_SUCCESS(
        PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, take_turns, NULL)));
}

static void see(struct probe *p, unsigned when)
{
    pending.interrupts = probe_count(p, PROBE_InterruptRoutine);
    seen[when] = pending;
}

static void crash_with_much_pending(struct probe *p, struct probe_call *call)
{
    const LARGE_INTEGER at_once = {.QuadPart = -1};
    KIRQL before;

    (void)call;
    KeInitializeDpc(&pending.dpc, count_dpc, NULL);
    KeInitializeDpc(&pending.timer_dpc, count_dpc, NULL);
    KeInitializeTimer(&pending.timer);
    pending.work = IoAllocateWorkItem(A->pdo);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    KeSetTimer(&pending.timer, at_once, &pending.timer_dpc);
    KeInsertQueueDpc(&pending.dpc, NULL, NULL);
    IoQueueWorkItem(pending.work, count_work, DelayedWorkQueue, NULL);
    KeRaiseIrql(HIGH_LEVEL, &before);
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    see(p, 0);
    KeBugCheckEx(MANUALLY_INITIATED_CRASH, 1, 2, 3, 4);
}

static void see_in_the_last_call(struct probe *p, struct probe_call *call)
{
    (void)call;
    see(p, 1);
}

static void crash_beside_another(struct probe *p)
{
    probe_sleep(1000000);
    probe_ask_driver(p);
}

TEST(nothing_else_runs_once_a_bug_check_has_begun)
{
    struct probe *p = probe_create(NULL);

    memset(&pending, 0, sizeof(pending));
    p->before[PROBE_StartDevice] = start_thread;
    p->before[PROBE_CollectDbgInfo] = see_in_the_last_call;
    CHECK(NT_SUCCESS(probe_start(p)));
    p->before[PROBE_QueryAdapterInfo] = crash_with_much_pending;
    CHECK(probe_run(p, crash_beside_another) == SIM_STOPPED && pending.turns > 10);
    CHECK_RULE("THREAD-078", probe_count(p, PROBE_CollectDbgInfo) == 1 &&
                                 seen[1].turns == seen[0].turns && seen[1].dpcs == 0 &&
                                 seen[1].works == 0 && seen[1].interrupts == seen[0].interrupts);
    see(p, 1);
    CHECK_RULE("LIFE-002/c", seen[1].turns == seen[0].turns && seen[1].dpcs == 0 &&
                                 seen[1].works == 0 && seen[1].interrupts == seen[0].interrupts);
    probe_destroy(p);
}

/* ---- the client whose call it was ---- */

static NTSTATUS after_crash;

static void crash_attached(struct probe *p, struct probe_call *call)
{
    static KAPC_STATE state;

    (void)p;
    (void)call;
    KeStackAttachProcess((PRKPROCESS)(void *)nt_process_system(), &state);
    KeBugCheckEx(MANUALLY_INITIATED_CRASH, 1, 2, 3, 4);
}

static void call_after_crash(struct probe *p)
{
    struct probe_gpu gpu;

    p->before[PROBE_CreateDevice] = crash_attached;
    CHECK((NTSTATUS)probe_gpu_begin(&gpu) == STATUS_DEVICE_REMOVED);
    after_crash = probe_gpu_submit(&gpu);
}

TEST(a_client_learns_of_a_crash_in_another_process)
{
    struct probe *p = create(NULL);

    finish(p, start_client(p, call_after_crash));
    CHECK_RULE("LIFE-002/b", after_crash == STATUS_DEVICE_REMOVED);
    CHECK_RULE("TDR-001", after_crash == STATUS_DEVICE_REMOVED);
}

/* ---- reasons ---- */

static void resets_body(struct probe *p)
{
    const struct probe_call *collect;

    probe_forget(p);
    reset_engine(p);
    collect = probe_nth(p, PROBE_CollectDbgInfo, 0);
    CHECK_RULE("LIFE-142/a", reports[0].reason == 0x141 && collect->irql == PASSIVE_LEVEL &&
                                 collect->order < probe_nth(p, PROBE_ResetEngine, 0)->order);
    reset_adapter(p);
    collect = probe_nth(p, PROBE_CollectDbgInfo, 1);
    CHECK_RULE("LIFE-142/b", reports[1].reason == 0x117 && collect->irql == PASSIVE_LEVEL &&
                                 collect->order < probe_nth(p, PROBE_ResetFromTimeout, 0)->order);
    CHECK_RULE("LIFE-142/b", report_count == 2);
    CHECK_RULE("THREAD-045/a", probe_nth(p, PROBE_CollectDbgInfo, 0)->irql == PASSIVE_LEVEL &&
                                   probe_nth(p, PROBE_CollectDbgInfo, 1)->irql == PASSIVE_LEVEL);
    CHECK_RULE("LIFE-143/c", probe_count(p, PROBE_ResetDevice) == 0);
    CHECK_RULE("TDR-082", probe_count(p, PROBE_ResetDevice) == 0);
    CHECK_RULE("LIFE-141/b", reports[0].bytes > 0 && reports[0].has_extension &&
                                 reports[1].bytes > 0 && reports[1].has_extension &&
                                 probe_rule(p, "LIFE-141") == 0);
}

TEST(before_a_reset)
{
    const struct probe_options options = {.port = {.reset_device = true}};
    struct probe *p = create(&options);

    finish(p, start_client(p, resets_body));
}

TEST(before_a_bug_check)
{
    for (unsigned raised = 0; raised < 2; raised++) {
        struct probe *p = create(NULL);

        CHECK(NT_SUCCESS(probe_start(p)));
        probe_forget(p);
        p->user = raised ? p : NULL;
        p->before[PROBE_QueryAdapterInfo] = crash;
        CHECK(probe_run(p, probe_ask_driver) == SIM_STOPPED);
        CHECK_RULE("LIFE-142/c", report_count == 1 &&
                                     reports[0].reason == MANUALLY_INITIATED_CRASH &&
                                     p->call[p->calls - 1]->ddi == PROBE_CollectDbgInfo);
        CHECK_RULE("LIFE-143/c", probe_count(p, PROBE_ResetDevice) == 0); /* nobody asked for it */
        CHECK_RULE("TDR-082", probe_count(p, PROBE_ResetDevice) == 0);
        CHECK_RULE("TDR-001", verify_bugcheck_state(p->log)->code == MANUALLY_INITIATED_CRASH &&
                                  verify_bugcheck_state(p->log)->parameter[0] == 1 &&
                                  p->call[p->calls - 1]->ddi == PROBE_CollectDbgInfo);
        probe_destroy(p);
    }
}

/* ---- what it does with the buffer ---- */

static void write_beyond(struct probe *p, struct probe_call *call)
{
    const DXGKARG_COLLECTDBGINFO *args = (const DXGKARG_COLLECTDBGINFO *)(uintptr_t)call->arg[1];

    (void)p;
    memset(args->pBuffer, 0x11, args->BufferSize + 4);
}

static void write_all(struct probe *p, struct probe_call *call)
{
    const DXGKARG_COLLECTDBGINFO *args = (const DXGKARG_COLLECTDBGINFO *)(uintptr_t)call->arg[1];

    (void)p;
    memset(args->pBuffer, 0x11, args->BufferSize);
    args->pExtension->BucketingKey = 5;
}

static void write_reserved(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((const DXGKARG_COLLECTDBGINFO *)(uintptr_t)call->arg[1])->pExtension->Reserved7 = 1;
}

static void answer_oddly(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint32_t)STATUS_INVALID_PARAMETER;
}

static void answer_no_memory(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint32_t)STATUS_NO_MEMORY;
}

static probe_hook *hook;

static void report_body(struct probe *p)
{
    p->before[PROBE_CollectDbgInfo] = hook;
    reset_engine(p);
}

TEST(the_buffer_is_guarded)
{
    static const struct {
        probe_hook *hook;
        const char *text; /* NULL: as it may be */
    } cases[] = {
        {write_all, NULL},
        {answer_no_memory, NULL},
        {write_beyond, "past the buffer of DXGKARG_COLLECTDBGINFO of 65536 bytes: 4 bytes"},
        {write_reserved, "reserved members"},
        {answer_oddly, "returned STATUS_INVALID_PARAMETER"},
    };
    struct probe *p;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct probe_client *client;

        p = create(NULL);
        hook = cases[i].hook;
        client = start_client(p, report_body);
        CHECK_RULE("LIFE-141/b", cases[i].text ? probe_said(p, "LIFE-141", cases[i].text)
                                               : probe_rule(p, "LIFE-141") == 0);
        finish(p, client);
    }
    p = create(NULL);
    CHECK(NT_SUCCESS(probe_start(p)));
    p->before[PROBE_QueryAdapterInfo] = crash;
    p->before[PROBE_CollectDbgInfo] = write_beyond;
    CHECK(probe_run(p, probe_ask_driver) == SIM_STOPPED);
    CHECK_RULE("LIFE-141/a", probe_said(p, "LIFE-141", "past the buffer"));
    probe_destroy(p);
}

/* ---- the screen of a bug check ---- */

TEST(the_device_is_reset_for_the_screen)
{
    const struct probe_options options = {.port = {.reset_device = true}};
    struct probe *p = create(&options);
    const struct probe_call *reset;

    CHECK(NT_SUCCESS(probe_start(p)));
    p->before[PROBE_QueryAdapterInfo] = crash;
    CHECK(probe_run(p, probe_ask_driver) == SIM_STOPPED);
    reset = probe_nth(p, PROBE_ResetDevice, 0);
    CHECK_RULE("LIFE-143/a", probe_count(p, PROBE_ResetDevice) == 1 &&
                                 reset->irql > DISPATCH_LEVEL &&
                                 reset->order > probe_nth(p, PROBE_CollectDbgInfo, 0)->order &&
                                 reset->arg[0] == (uint64_t)(uintptr_t)A->context);
    CHECK_RULE("THREAD-045/b", reset->irql > DISPATCH_LEVEL);
    probe_destroy(p);
}
