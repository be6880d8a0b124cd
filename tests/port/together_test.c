/* SPDX-License-Identifier: MIT */
/*
 * Which calls are inside the driver together while clients are at work, and its adapters sleep and wake: two processes with two
 * threads each, and a driver in which every call takes a while.
 */
#include "port/running/acpi.h"
#include "nt/base/current.h"
#include "port/support/client.h"
#include "sim/irql.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define HARDWARE_ACCESS    1u
#define ROUNDS             8

static struct probe_client *client[2];

enum class {
    ZERO,
    EVENT,     /* at any time */
    SCHEDULER, /* THREAD-019, THREAD-020 */
    VIDMM,     /* THREAD-021 */
    ROOT,      /* THREAD-021 */
    TWO,       /* THREAD-027 */
    THREE,     /* THREAD-030 */
    CLASSES,
};

static enum class class_of(const struct probe_call *call) {
    switch (call->ddi){
        case PROBE_InterruptRoutine : case PROBE_DpcRoutine : case PROBE_CollectDbgInfo : case
        PROBE_ResetDevice : case PROBE_SetPowerComponentFState : case
        PROBE_PowerRuntimeControlRequest : return EVENT;
        case PROBE_BuildPagingBuffer : case PROBE_Patch : case PROBE_SubmitCommand : case
        PROBE_SubmitCommandVirtual : case PROBE_PreemptCommand : case PROBE_CancelCommand : case
        PROBE_QueryDependentEngineGroup : case PROBE_QueryEngineStatus : case
        PROBE_ResetEngine : return SCHEDULER;
        case PROBE_GetRootPageTableSize : return VIDMM;
        case PROBE_SetRootPageTable : return ROOT;
        case PROBE_Escape : /* marked: HardwareAccess */
                return call->marked
            ? TWO
            : ZERO;
        case PROBE_NotifyAcpiEvent : case PROBE_QueryInterface : case
        PROBE_DispatchIoRequest : return TWO;
        case PROBE_SetPowerState : case PROBE_ResetFromTimeout : case
        PROBE_RestartFromTimeout : return THREE;
        default : return ZERO;
    }
}

/* ---- a slow driver ---- */

static bool engines_idle(const struct probe *p)
{
    for (unsigned node = 0; node < 2; node++)
        if (p->state[0].reported[node] != p->state[0].submitted[node])
            return false;
    return true;
}

static void linger(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (sim_irql() >= SIM_IRQL_DISPATCH)
        sim_stall(2000);
    else
        probe_sleep(3000 + 700 * (call->order % 8));
}

static void linger_long(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    probe_sleep(100000);
}

static unsigned busy_in_level_two;

static void come_alone(struct probe *p, struct probe_call *call)
{
    busy_in_level_two += !engines_idle(p);
    linger(p, call);
    busy_in_level_two += !engines_idle(p);
}

static void serve_escape(struct probe *p, struct probe_call *call)
{
    const DXGKARG_ESCAPE *args = (const DXGKARG_ESCAPE *)(uintptr_t)call->arg[1];

    call->marked = args->Flags.HardwareAccess;
    if (call->marked)
        come_alone(p, call);
    else
        linger(p, call);
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

/* A thread of the driver's own, which is never in the way. */
static unsigned turns;

static void NTAPI take_turns(PVOID context)
{
    LARGE_INTEGER moment = {.QuadPart = -10};

    for (turns = 0; !*(volatile bool *)context; turns++)
        (void)KeDelayExecutionThread(KernelMode, FALSE, &moment);
    (void)PsTerminateSystemThread(STATUS_SUCCESS);
}

static bool thread_may_end;

static void start_thread(struct probe *p, struct probe_call *call)
{
    HANDLE thread;

    (void)p;
    (void)call;
    thread_may_end = false;
    CHECK(NT_SUCCESS(PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, take_turns,
                                          &thread_may_end)));
    CHECK(NT_SUCCESS(ZwClose(thread)));
}

static void end_thread(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    thread_may_end = true;
}

static struct probe *slow_driver(unsigned adapters)
{
    const struct probe_options options = {.processors = 4, .adapters = adapters};
    struct probe *p = probe_create(&options);

    probe_set_entry(p, PROBE_Escape, true);
    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    p->before[PROBE_StartDevice] = start_thread;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    for (int ddi = 0; ddi < PROBE_DDI_COUNT; ddi++)
        if (ddi != PROBE_InterruptRoutine && ddi != PROBE_DpcRoutine)
            p->before[ddi] = linger;
    p->before[PROBE_Escape] = serve_escape;
    p->before[PROBE_NotifyAcpiEvent] = come_alone;
    p->before[PROBE_CreateProcess] = p->before[PROBE_SetPowerState] = linger_long;
    p->before[PROBE_StopDevice] = end_thread;
    probe_forget(p);
    return p;
}

/* ---- clients at work ---- */

static NTSTATUS escape(D3DKMT_HANDLE adapter, UINT flags)
{
    D3DKMT_ESCAPE args;
    uint32_t data = 0;

    memset(&args, 0, sizeof(args));
    args.hAdapter = adapter;
    args.Flags.Value = flags;
    args.pPrivateDriverData = &data;
    args.PrivateDriverDataSize = sizeof(data);
    return D3DKMTEscape(&args);
}

/* What the driver answers itself. */
static NTSTATUS query(D3DKMT_HANDLE adapter)
{
    D3DKMT_QUERYADAPTERINFO args;
    uint32_t data = 0;

    memset(&args, 0, sizeof(args));
    args.hAdapter = adapter;
    args.Type = KMTQAITYPE_UMDRIVERPRIVATE;
    args.pPrivateDriverData = &data;
    args.PrivateDriverDataSize = sizeof(data);
    return D3DKMTQueryAdapterInfo(&args);
}

static unsigned working;

static void work(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < ROUNDS; i++) {
        D3DKMT_HANDLE allocation;
        struct probe_gpu gpu;

        CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
        CHECK(IS(probe_gpu_allocate(&gpu, 0x10000, &allocation), STATUS_SUCCESS));
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
        CHECK(NT_SUCCESS(escape(gpu.adapter, 0)));
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
        for (unsigned n = 0; n < 8; n++)
            (void)query(gpu.adapter);
        CHECK(NT_SUCCESS(escape(gpu.adapter, HARDWARE_ACCESS)));
        CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
        CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    }
    working--;
}

/* ---- who met whom ---- */

static struct {
    unsigned met[CLASSES][CLASSES];
    unsigned calls[CLASSES];
    unsigned same_process;  /* of calls for one process, through levels zero and one */
    unsigned create_beside; /* CreateAllocation of a client beside the host's own work */
    unsigned beside_root;   /* BuildPagingBuffer beside SetRootPageTable */
    unsigned processes;     /* CreateProcess beside CreateProcess */
    unsigned strange;       /* calls in the wrong process */
} log_of;

static bool is_exempt(const struct probe_call *call)
{
    return call->process == nt_process_system();
}

/* What a client asks for is done in its process, what the host does for itself in the system's. */
static bool in_its_process(const struct probe_call *call)
{
    if (call->ddi == PROBE_Escape || call->ddi == PROBE_CreateAllocation ||
        call->ddi == PROBE_CreateContext)
        return call->process == client[0]->nt || call->process == client[1]->nt;
    return class_of(call) != SCHEDULER || is_exempt(call);
}

static void note_pair(const struct probe_call *a, const struct probe_call *b)
{
    enum class one = class_of(a), two = class_of(b);

    if (b->ddi == PROBE_QueryAdapterInfo && one == THREE)
        return; /* THREAD-032 */
    log_of.met[one][two]++;
    if (one == EVENT || two == EVENT)
        return;
    if (a->process == b->process && !is_exempt(a))
        log_of.same_process++;
    if ((a->ddi == PROBE_CreateAllocation && is_exempt(b) && two == SCHEDULER) ||
        (b->ddi == PROBE_CreateAllocation && is_exempt(a) && one == SCHEDULER))
        log_of.create_beside++;
    if ((one == ROOT && b->ddi == PROBE_BuildPagingBuffer) ||
        (two == ROOT && a->ddi == PROBE_BuildPagingBuffer))
        log_of.beside_root++;
    if (a->ddi == PROBE_CreateProcess && b->ddi == PROBE_CreateProcess)
        log_of.processes++;
}

/* Of one adapter: calls inside of others on the same thread are the driver's own doing. */
static void read_log(const struct probe *p)
{
    memset(&log_of, 0, sizeof(log_of));
    for (size_t i = 0; i < p->calls; i++) {
        log_of.calls[class_of(p->call[i])]++;
        log_of.strange += !in_its_process(p->call[i]);
        for (size_t j = i + 1; j < p->calls && p->call[j]->order < p->call[i]->left; j++)
            if (p->call[i]->thread != p->call[j]->thread)
                note_pair(p->call[i], p->call[j]);
    }
}

/* Pairs in which one is of the class, and the other is any but an event. */
static unsigned meetings_of(enum class class)
{
    unsigned sum = 0;

    for (int other = 0; other < CLASSES; other++)
        if (other != EVENT)
            sum += log_of.met[class][other] + log_of.met[other][class];
    return sum;
}

/* ---- everything at once ---- */

static void sleep_and_wake(struct probe *p)
{
    while (working) {
        CHECK(IS(port_adapter_notify_mains(p->adapter[0], false), STATUS_SUCCESS));
        CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep),
                 STATUS_SUCCESS));
        CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone),
                 STATUS_SUCCESS));
        probe_sleep(50000);
    }
}

static void all_at_work(struct probe *p)
{
    struct sim_thread *thread[2];

    working = 4;
    for (unsigned i = 0; i < 2; i++) {
        client[i] = probe_client_start(p, work);
        thread[i] = probe_thread(p, client[i]->nt, "second", work);
    }
    probe_sleep(300000); /* else a call that is alone goes first */
    sleep_and_wake(p);
    for (unsigned i = 0; i < 2; i++)
        sim_thread_release(thread[i]);
}

static void finish(struct probe *p)
{
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(clients_at_work_meet_as_the_levels_allow)
{
    struct probe *p = slow_driver(1);

    CHECK(probe_run(p, all_at_work) == SIM_DONE);
    read_log(p);
    for (unsigned i = 0; i < 2; i++)
        probe_client_end(p, client[i]);
    CHECK(log_of.calls[TWO] > 20 && log_of.calls[THREE] > 4 && log_of.calls[SCHEDULER] > 50 &&
          log_of.calls[ROOT] > 4);
    CHECK_RULE("THREAD-010", log_of.strange == 0);
    CHECK_RULE("THREAD-011", turns > 1000); /* of a thread that is always there */
    CHECK_RULE("THREAD-012", meetings_of(TWO) == 0 && meetings_of(THREE) == 0);
    CHECK_RULE("THREAD-013/a", log_of.met[ZERO][ZERO] > 0);
    CHECK_RULE("THREAD-013/b", log_of.met[ZERO][SCHEDULER] + log_of.met[SCHEDULER][ZERO] > 0);
    CHECK_RULE("THREAD-016", log_of.same_process == 0);
    CHECK_RULE("THREAD-017/a", log_of.met[ZERO][EVENT] + log_of.met[EVENT][ZERO] > 0);
    CHECK_RULE("THREAD-017/b", log_of.create_beside > 0);
    CHECK_RULE("THREAD-018/a", log_of.met[SCHEDULER][SCHEDULER] == 0);
    CHECK_RULE("THREAD-018/b", log_of.met[SCHEDULER][ROOT] + log_of.met[ROOT][SCHEDULER] > 0);
    CHECK_RULE("THREAD-021/a", log_of.met[ROOT][ROOT] == 0);
    CHECK_RULE("THREAD-021/b", log_of.beside_root > 0);
    CHECK_RULE("THREAD-022", log_of.processes > 0);
    CHECK_RULE("SUBMIT-153", busy_in_level_two == 0 && meetings_of(TWO) == 0);
    CHECK_RULE("SUBMIT-154", meetings_of(THREE) == 0);
    CHECK_RULE("THREAD-027", busy_in_level_two == 0 && probe_count(p, PROBE_NotifyAcpiEvent) > 1);
    finish(p);
}

/* ---- two adapters ---- */

static void change_second(struct probe *p)
{
    CHECK(
        IS(port_adapter_set_power(p->adapter[1], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
}

static void change_both(struct probe *p)
{
    struct sim_thread *second = probe_thread(p, nt_process_system(), "second", change_second);

    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    probe_sleep(1000000);
    sim_thread_release(second);
}

TEST(calls_about_two_adapters_meet)
{
    struct probe *p = slow_driver(2);
    const struct probe_call *first, *second;

    CHECK(probe_run(p, change_both) == SIM_DONE);
    first = probe_nth(p, PROBE_SetPowerState, 0);
    second = probe_nth(p, PROBE_SetPowerState, 1);
    CHECK_RULE("THREAD-025", first->arg[0] != second->arg[0] && second->order < first->left);
    finish(p);
}

/* ---- resets ---- */

static size_t at_request, at_reset, interrupts;

static void look_around(struct probe *p, struct probe_call *call)
{
    at_reset = call->order;
    interrupts = probe_count(p, PROBE_InterruptRoutine);
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(500000);
    interrupts = probe_count(p, PROBE_InterruptRoutine) - interrupts;
}

static void keep_working(struct probe *p)
{
    D3DKMT_HANDLE allocation;
    struct probe_gpu gpu;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, 0x10000, &allocation), STATUS_SUCCESS));
    working = 1;
    while (working)
        if (!NT_SUCCESS(escape(gpu.adapter, 0)))
            probe_sleep(1000);
    (void)p;
    (void)probe_gpu_end(&gpu);
}

static void reset_while_working(struct probe *p)
{
    client[0] = probe_client_start(p, keep_working);
    while (!working)
        probe_sleep(100000);
    at_request = p->calls;
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    probe_sleep(1000000);
    working = 0;
    while (!client[0]->done)
        probe_sleep(1000);
}

TEST(a_reset_is_alone_but_for_interrupts)
{
    struct probe *p = slow_driver(1);
    bool paged = false;

    working = 0;
    p->before[PROBE_ResetFromTimeout] = look_around;
    CHECK(probe_run(p, reset_while_working) == SIM_DONE);
    CHECK(probe_count(p, PROBE_ResetFromTimeout) == 1 && probe_count(p, PROBE_Escape) > 20);
    client[1] = client[0];
    read_log(p);
    CHECK_RULE("THREAD-033/a", meetings_of(THREE) == 0);
    CHECK_RULE("THREAD-033/b", interrupts == 1 && log_of.met[THREE][EVENT] > 0);
    for (size_t i = at_request; i < p->calls && p->call[i]->order < at_reset; i++)
        paged = paged || p->call[i]->ddi == PROBE_BuildPagingBuffer;
    CHECK_RULE("THREAD-031", !paged);
    CHECK_RULE("SUBMIT-154", meetings_of(THREE) == 0 && interrupts == 1 && !paged);
    CHECK_RULE("SUBMIT-053", interrupts == 1);
    probe_client_end(p, client[0]);
    finish(p);
}

static KEVENT never;

static void stay_inside(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    (void)KeWaitForSingleObject(&never, Executive, KernelMode, FALSE, NULL);
}

static void create_for_ever(struct probe *p)
{
    struct probe_gpu gpu;

    (void)p;
    (void)probe_gpu_begin(&gpu);
}

static uint64_t began;

static void reset_in_vain(struct probe *p)
{
    client[0] = probe_client_start(p, create_for_ever);
    probe_sleep(1000000);
    began = sim_now();
    (void)vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true);
}

TEST(a_reset_waits_for_threads_in_the_driver_so_long)
{
    struct probe *p = slow_driver(1);
    const struct verify_bugcheck *bugcheck = verify_bugcheck_state(p->log);

    KeInitializeEvent(&never, NotificationEvent, FALSE);
    p->before[PROBE_CreateDevice] = stay_inside;
    CHECK(probe_run(p, reset_in_vain) == SIM_STOPPED);
    CHECK_RULE("THREAD-035", bugcheck->happened && bugcheck->code == VIDEO_TDR_FAILURE &&
                                 probe_count(p, PROBE_ResetFromTimeout) == 0 &&
                                 sim_now() - began >= 5 * PROBE_SECOND &&
                                 sim_now() - began < 6 * PROBE_SECOND);
    probe_client_end(p, client[0]);
    finish(p);
}
