/* SPDX-License-Identifier: MIT */
/* What clients ring for, and those who wait for the GPU: memory that moves, sleep, and calls of level two. */
#include "port/running/acpi.h"
#include "port/support/doorbells.h"

#include "nt/base/current.h"
#include "port/support/paged.h"
#include "sim/machine.h"
#include "sim/thread.h"

#include <string.h>

#define MIB                PAGED_MIB
#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct bell_client client;
static struct probe_gpu other;

/* ---- the driver ---- */

static bool suspended;
static struct {
    uint64_t first; /* order of the first call */
    unsigned count, while_running;
} moves;
static unsigned resumed_after; /* moves at the latest DxgkDdiResumeContext */

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    (void)p;
    if (args->Operation != DXGK_OPERATION_VIRTUAL_TRANSFER &&
        args->Operation != DXGK_OPERATION_TRANSFER)
        return;
    if (!moves.count++)
        moves.first = call->order;
    moves.while_running += !suspended;
}

static void note_suspension(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    suspended = true;
}

static void note_resumption(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    suspended = false;
    resumed_after = moves.count;
}

static void choose_segment(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 1;
        info->PreferredSegment.Value = 0;
    }
}

static struct probe *created(void)
{
    struct probe *p = doorbells_create(NULL);

    p->caps.SupportPerEngineTDR = TRUE;
    memset(&moves, 0, sizeof(moves));
    suspended = false;
    resumed_after = 0;
    p->segment[0].Flags.ApplicationTarget = 1;
    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    p->after[PROBE_SuspendContext] = note_suspension;
    p->before[PROBE_ResumeContext] = note_resumption;
    p->after[PROBE_CreateAllocation] = choose_segment;
    return p;
}

/* ---- the client ---- */

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}

static void begin(void)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)) &&
          NT_SUCCESS(bell_connect(&client)));
}

static void settle(void)
{
    probe_sleep(PROBE_SECOND / 10);
}

static D3DKMT_HANDLE resident(const struct probe_gpu *g, uint64_t bytes)
{
    D3DKMT_HANDLE allocation;
    uint64_t fence = 0;
    NTSTATUS status;

    CHECK(NT_SUCCESS(paged_create(g, bytes, &allocation)));
    status = paged_make_resident(g, allocation, &fence);
    CHECK(NT_SUCCESS(status) && (status != STATUS_PENDING || NT_SUCCESS(paged_wait(g, fence))));
    return allocation;
}

static uint64_t order(struct probe *p, enum probe_ddi ddi, unsigned nth)
{
    return probe_nth(p, ddi, nth)->order;
}

/* ---- sleep ---- */

static NTSTATUS to_sleep(const struct probe *p)
{
    return port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
}

static void sleep_body(struct probe *p)
{
    begin();
    *client.queued = 1; /* and the GPU is at it */
    CHECK_RULE("KMT-186",
               NT_SUCCESS(to_sleep(p)) && probe_count(p, PROBE_SuspendContext) == 1 &&
                   probe_count(p, PROBE_DisconnectDoorbell) == 1 &&
                   order(p, PROBE_SuspendContext, 0) < order(p, PROBE_DisconnectDoorbell, 0) &&
                   order(p, PROBE_DisconnectDoorbell, 0) < moves.first);
    CHECK_RULE("SUBMIT-125/e", moves.count && !moves.while_running);
    CHECK(probe_count(p, PROBE_ResumeContext) == 0);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    settle();
    CHECK_RULE("PREEMPT-044", probe_count(p, PROBE_ResumeContext) == 1 && !moves.while_running);
    bell_progress(p, &client, 1);
    probe_sleep(1000000);
    CHECK(NT_SUCCESS(to_sleep(p)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    settle();
    CHECK_RULE("PREEMPT-044", probe_count(p, PROBE_SuspendContext) == 2 &&
                                  probe_count(p, PROBE_ResumeContext) == 1);
    CHECK_RULE("KMT-185", NT_SUCCESS(bell_connect(&client)) && *client.status == 0);
    settle();
    CHECK_RULE("SUBMIT-125/e", probe_count(p, PROBE_ResumeContext) == 2 && !moves.while_running);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(contexts_are_suspended_before_the_adapter_sleeps)
{
    run(created(), sleep_body);
}

/* ---- pressure ---- */

static void take_much(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&other)));
    (void)resident(&other, 10 * MIB);
}

static void give_back(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_end(&other)));
}

static void ring_body(struct probe *p)
{
    (void)p;
    begin();
    (void)resident(&client.hw.gpu, 8 * MIB);
}

static void rung_body(struct probe *p)
{
    (void)p;
    settle();
    CHECK_RULE("SUBMIT-125/e", resumed_after == moves.count && moves.count > 1);
    CHECK(*client.status == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

static void reset_body(struct probe *p)
{
    hardware.extra.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE;
    hardware.extra.EngineStateChange.NodeOrdinal = HARDWARE_NODE;
    hardware.extra.EngineStateChange.NewState = DXGK_ENGINE_STATE_HUNG;
    hardware_notify();
    CHECK(probe_count(p, PROBE_ResetHwEngine) == 1);
}

/* A reset of the engine, for which it is not to blame, does not let it run. */
static void contest(bool reset)
{
    struct probe *p = created();
    struct probe_client *a, *b;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    a = probe_client_run(p, ring_body);
    memset(&moves, 0, sizeof(moves));
    b = probe_client_run(p, take_much);
    CHECK_RULE("SUBMIT-125/e", probe_count(p, PROBE_SuspendContext) == 1 && moves.count &&
                                   order(p, PROBE_SuspendContext, 0) < moves.first);
    CHECK_RULE("RES-010", suspended && probe_count(p, PROBE_ResumeContext) == 0);
    if (reset)
        CHECK(probe_run(p, reset_body) == SIM_DONE);
    probe_client_go_on(p, b, give_back);
    probe_client_go_on(p, a, rung_body);
    CHECK(!moves.while_running && !suspended);
    probe_client_end(p, b);
    probe_client_end(p, a);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(memory_of_who_may_ring_moves_while_its_context_is_suspended)
{
    contest(false);
    contest(true);
}

/* ---- the client's own calls ---- */

static void give_up_body(struct probe *p)
{
    D3DKMT_HANDLE evicted, destroyed;
    D3DKMT_DESTROYALLOCATION2 destroy = {.phAllocationList = &destroyed, .AllocationCount = 1};

    begin();
    evicted = resident(&client.hw.gpu, MIB);
    destroyed = resident(&client.hw.gpu, MIB);
    destroy.hDevice = client.hw.gpu.device;
    *client.queued = 5;
    bell_progress(p, &client, 4);
    CHECK(NT_SUCCESS(paged_evict(&client.hw.gpu, evicted)));
    *client.queued = 6;
    CHECK(NT_SUCCESS(D3DKMTDestroyAllocation2(&destroy)));
    settle();
    CHECK_RULE("SUBMIT-125/f", paged_residency(&client.hw.gpu, evicted) ==
                                       D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY &&
                                   probe_count(p, PROBE_DestroyAllocation) == 0);
    *client.queued = 7;
    bell_progress(p, &client, 5);
    settle();
    CHECK_RULE("SUBMIT-125/f", probe_count(p, PROBE_DestroyAllocation) == 0);
    bell_progress(p, &client, 6); /* what was queued later is not waited for */
    settle();
    CHECK_RULE("SUBMIT-125/f", probe_count(p, PROBE_DestroyAllocation) == 1);
    bell_progress(p, &client, 7);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(what_the_client_gives_up_waits_for_what_it_has_queued)
{
    run(created(), give_up_body);
}

static void finish_later(struct probe *p)
{
    probe_sleep(PROBE_SECOND);
    *client.queued = 6;
    bell_progress(p, &client, 4);
    probe_sleep(PROBE_SECOND);
    bell_progress(p, &client, 5);
    probe_sleep(PROBE_SECOND);
    bell_progress(p, &client, 6);
}

static void idle_body(struct probe *p)
{
    begin();
    *client.queued = 5;
    sim_thread_release(probe_thread(p, nt_process_current(), "gpu", finish_later));
    CHECK_RULE("KMT-136/b",
               NT_SUCCESS(probe_gpu_wait_idle(&client.hw.gpu)) && *client.hw.value == 5);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(an_idle_device_has_nothing_queued)
{
    run(created(), idle_body);
}

/* ---- level two ---- */

static uint64_t resumes_inside;
static bool suspended_inside;

static void look_inside(struct probe *p, struct probe_call *call)
{
    (void)call;
    settle();
    suspended_inside = suspended;
    resumes_inside = probe_count(p, PROBE_ResumeContext);
}

static void mains_body(struct probe *p)
{
    begin();
    p->before[PROBE_NotifyAcpiEvent] = look_inside;
    CHECK(NT_SUCCESS(port_adapter_notify_mains(p->adapter[0], true)));
    CHECK_RULE("THREAD-026", suspended_inside && resumes_inside == 0);
    CHECK_RULE("SUBMIT-123/c", *client.status == 0 && probe_count(p, PROBE_DisconnectDoorbell) == 0);
    settle();
    CHECK_RULE("SUBMIT-125/e", !suspended && probe_count(p, PROBE_ResumeContext) == 1);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(nothing_that_is_rung_for_runs_during_calls_of_level_two)
{
    run(created(), mains_body);
}

/* A driver that cannot suspend contexts: what was queued ends, and nothing can be rung for. */
static void drain(struct probe *p)
{
    probe_sleep(PROBE_SECOND);
    bell_progress(p, &client, 2);
}

static void drained_body(struct probe *p)
{
    begin();
    *client.queued = 2;
    sim_thread_release(probe_thread(p, nt_process_current(), "gpu", drain));
    CHECK(NT_SUCCESS(to_sleep(p)));
    CHECK_RULE("SUBMIT-125/g", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
                                   *client.hw.value == 2 && *client.hw.value == *client.queued);
    CHECK_RULE("KMT-185", NT_SUCCESS(bell_connect(&client)) && *client.status == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(what_cannot_be_suspended_ends)
{
    struct probe *p = created();

    probe_set_entry(p, PROBE_SuspendContext, false);
    run(p, drained_body);
}
