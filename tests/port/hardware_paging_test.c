/* SPDX-License-Identifier: MIT */
/* Paging on a hardware-scheduled node: a hardware queue of the system context, its progress fence, and its recovery. */
#include "port/running/power.h"
#include "port/support/hardware.h"
#include "port/support/paged.h"
#include "vidsch/vidsch.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MIB                PAGED_MIB

static struct probe_gpu gpu;

/* ---- the driver ---- */

static struct {
    DXGK_CREATECONTEXTFLAGS flags; /* of the system context, which is the first */
    HANDLE context, queue;         /* the driver's */
    HANDLE parent;                 /* of the queue */
    DXGKARG_CREATEHWQUEUE create;
    DXGKARG_SIGNALMONITOREDFENCE signal; /* the latest */
    HANDLE signal_context;
    uint8_t signal_irql;
    unsigned signals, operations;
    uint64_t value, last_id; /* of the latest signal of either kind, of the latest submission */
    bool rising;             /* both go up by 1 each time */
    bool early;              /* a submission came before the signal of its id was built */
    uint64_t abandoned;      /* ids that a reset ended */
    bool stale;              /* one of them was submitted afterwards */
    unsigned fills, split;   /* fill operations; the next one takes so many buffers */
    unsigned in_rest;        /* signals in a buffer in which an operation found no room */
    bool full;
} seen;

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (seen.context)
        return;
    seen.flags = args->Flags;
    seen.context = args->hContext;
}

static void note_queue(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEHWQUEUE *args = (DXGKARG_CREATEHWQUEUE *)(uintptr_t)call->arg[1];

    (void)p;
    if (seen.queue)
        return;
    hardware.queue_host = args->hHwQueue;
    seen.parent = (HANDLE)(uintptr_t)call->arg[0];
    seen.create = *args;
    seen.queue = args->hHwQueue = (HANDLE)(uintptr_t)0x700000;
}

static void signalled(uint64_t value)
{
    seen.rising &= value == seen.value + 1;
    seen.value = value;
    seen.in_rest += seen.full;
    seen.full = false;
}

static void by_entry(struct probe *p, struct probe_call *call)
{
    DXGKARG_SIGNALMONITOREDFENCE *args = (DXGKARG_SIGNALMONITOREDFENCE *)(uintptr_t)call->arg[1];

    (void)p;
    seen.signal = *args;
    seen.signal_context = (HANDLE)(uintptr_t)call->arg[0];
    seen.signal_irql = call->irql;
    seen.signals++;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    if (args->DmaSize < 64) {
        call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        return;
    }
    signalled(args->MonitoredFenceValue);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + 64;
}

static void build(struct probe *p, struct probe_call *call)
{
    DXGKARG_BUILDPAGINGBUFFER *args = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Operation == DXGK_OPERATION_SIGNAL_MONITORED_FENCE) {
        seen.operations++;
        signalled(args->SignalMonitoredFence.MonitoredFenceValue);
    }
    if (args->Operation != DXGK_OPERATION_VIRTUAL_FILL)
        return;
    seen.fills++;
    if (!seen.split)
        return;
    seen.split--;
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->DmaSize; /* all that is offered */
    args->MultipassOffset++;
    seen.full = true;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDTOHWQUEUE *args = (const DXGKARG_SUBMITCOMMANDTOHWQUEUE *)(uintptr_t)
                                                     call->arg[1];

    (void)p;
    if (args->hHwQueue != seen.queue)
        return;
    seen.stale |= args->HwQueueProgressFenceId <= seen.abandoned;
    seen.rising &= args->HwQueueProgressFenceId == seen.last_id + 1;
    seen.early |= args->HwQueueProgressFenceId > seen.value;
    seen.last_id = args->HwQueueProgressFenceId;
}

static struct probe *create(bool entry, bool by_ring)
{
    struct probe *p = hardware_create(NULL);

    memset(&seen, 0, sizeof(seen));
    seen.rising = true;
    p->caps.SupportPerEngineTDR = TRUE;
    p->physical.PagingNodeIndex = HARDWARE_NODE;
    p->node[HARDWARE_NODE].Flags.RingBufferFenceRelease = by_ring;
    probe_set_entry(p, PROBE_SignalMonitoredFence, entry);
    p->before[PROBE_SignalMonitoredFence] = by_entry;
    p->before[PROBE_BuildPagingBuffer] = build;
    p->after[PROBE_CreateContext] = note_context;
    p->after[PROBE_CreateHwQueue] = note_queue;
    p->before[PROBE_SubmitCommandToHwQueue] = note_submission;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- submissions ---- */

static const DXGKARG_SUBMITCOMMANDTOHWQUEUE *latest(void)
{
    return &hardware.submission[hardware.submissions - 1].args;
}

static void work(void)
{
    D3DKMT_HANDLE allocation;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 3 * MIB, &allocation)));
}

static void queue_body(struct probe *p)
{
    const DXGK_SUBMITCOMMANDFLAGS paging_alone = {.Paging = 1};
    uint64_t since;

    CHECK_RULE("PAGE-021", seen.flags.SystemContext && seen.flags.HwQueueSupported);
    CHECK_RULE("PAGE-021", probe_count(p, PROBE_CreateHwQueue) == 1 &&
                               seen.parent == seen.context && seen.create.Flags.Value == 0 &&
                               seen.create.HwQueueProgressFenceCPUVirtualAddress &&
                               seen.create.HwQueueProgressFenceGPUVirtualAddress);
    since = sim_now();
    work();
    CHECK_RULE("SUBMIT-117/d", sim_now() - since < PROBE_SECOND); /* no watch was needed */
    CHECK_RULE("PAGE-021", hardware.submissions > 0 && seen.rising &&
                               probe_count(p, PROBE_SubmitCommandVirtual) == 0 &&
                               seen.last_id == hardware.submissions);
    CHECK_RULE("PAGE-021", latest()->hHwQueue == seen.queue && latest()->Flags.Paging &&
                               latest()->Flags.Value == paging_alone.Value);
    CHECK_RULE("THREAD-041",
               hardware.submission[0].irql + hardware.submission[1].irql == DISPATCH_LEVEL);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void signal_body(struct probe *p)
{
    (void)p;
    work();
    CHECK_RULE("SUBMIT-117/a", seen.signals == hardware.submissions && seen.rising && !seen.early &&
                                   seen.value == seen.last_id && seen.operations == 0);
    CHECK_RULE("SUBMIT-117/a",
               seen.signal.hHwQueue == seen.queue && seen.signal_context == seen.context &&
                   seen.signal_irql == PASSIVE_LEVEL &&
                   seen.signal.KernelSubmissionType == DXGK_KERNEL_SUBMISSION_BUILD_PAGING_BUFFER &&
                   seen.signal.MonitoredFenceGpuVa == latest()->HwQueueProgressFenceGpuVa &&
                   seen.signal.MonitoredFenceCpuVa == latest()->HwQueueProgressFenceCpuVa);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void operation_body(struct probe *p)
{
    (void)p;
    work();
    CHECK_RULE("SUBMIT-117/a", seen.signals == 0 && seen.operations == hardware.submissions &&
                                   seen.rising && !seen.early && seen.value == seen.last_id);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void ring_body(struct probe *p)
{
    (void)p;
    work();
    CHECK_RULE("SUBMIT-117/b", seen.signals == 0 && seen.operations == 0 && seen.rising &&
                                   seen.last_id == hardware.submissions && seen.last_id > 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(paging_goes_to_a_hardware_queue)
{
    run(create(true, false), queue_body);
    run(create(true, false), signal_body);
    run(create(false, false), operation_body);
    run(create(true, true), ring_body);
}

/* An operation that goes on in the next buffer, and the next: each buffer has room for the signal, else the host would wait for
 * buffers that nobody signals. */
static void split_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    work();
    seen.split = 9;
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 3 * MIB, &allocation)));
    CHECK_RULE("SUBMIT-117/c", seen.split == 0 && seen.in_rest == 9 && seen.rising && !seen.early &&
                                   seen.value == seen.last_id);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_full_paging_buffer_has_room_for_the_signal)
{
    run(create(true, false), split_body);
}

/* ---- completion ---- */

static uint64_t ended_of(const struct probe *p)
{
    struct vidsch_statistics statistics;

    vidsch_statistics(port_adapter_vidsch(p->adapter[0]), &statistics);
    return statistics.fences_signaled;
}

static void held_body(struct probe *p)
{
    D3DKMT_CREATEALLOCATION create = {.NumAllocations = 1};
    uint64_t bytes = MIB;
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &bytes,
                                   .PrivateDriverDataSize = sizeof(bytes)};
    D3DDDI_MAKERESIDENT resident = {.NumAllocations = 1, .AllocationList = &info.hAllocation};
    uint64_t ended;

    work();
    create.hDevice = gpu.device;
    create.pAllocationInfo2 = &info;
    CHECK(NT_SUCCESS(D3DKMTCreateAllocation2(&create)));
    resident.hPagingQueue = gpu.queue;
    probe_sleep(PROBE_SECOND / 10);
    hardware.held = true;
    ended = ended_of(p);
    CHECK(IS(D3DKMTMakeResident(&resident), STATUS_PENDING));
    probe_sleep(PROBE_SECOND / 10);
    CHECK(hardware_in_flight() > 0);
    /* The fence alone is not looked at. */
    *(volatile UINT64 *)latest()->HwQueueProgressFenceCpuVa = latest()->HwQueueProgressFenceId;
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("SUBMIT-117/d", ended_of(p) == ended);
    hardware.held = false;
    hardware_finish(hardware_in_flight());
    CHECK_RULE("SUBMIT-117/d", NT_SUCCESS(paged_wait(&gpu, resident.PagingFenceValue)) &&
                                   ended_of(p) > ended && probe_count(p, PROBE_SuspendContext) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_paging_buffer_ends_when_its_fence_is_notified)
{
    run(create(true, false), held_body);
}

/* ---- private data ---- */

static const void *kept;
static char kept_then[8];
static struct hardware_client client;

static void keep(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDTOHWQUEUE *args = (const DXGKARG_SUBMITCOMMANDTOHWQUEUE *)(uintptr_t)
                                                     call->arg[1];

    (void)p;
    kept = args->pDmaBufferPrivateData;
    memcpy(kept_then, kept, sizeof(kept_then));
}

static void private_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-116", memcmp(kept_then, "command", 8) == 0 && hardware_in_flight() == 1 &&
                                 memcmp(kept, "command", 8) != 0);
    hardware_finish(1);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(private_data_is_gone_when_the_submission_returns)
{
    struct probe *p = hardware_create(NULL);

    hardware.held = true;
    p->before[PROBE_SubmitCommandToHwQueue] = keep;
    run(p, private_body);
}

/* ---- it hangs, it faults, it is refused ---- */

static void hold_next(void)
{
    probe_sleep(PROBE_SECOND / 10);
    hardware.held = true;
}

static void lost_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)probe_gpu_allocate(&gpu, MIB, &allocation);
    CHECK(probe_count(p, PROBE_ResetFromTimeout) == 1);
}

static void let_go(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    hardware.held = false;
    hardware.ended = hardware.submissions; /* what was in flight is gone */
    seen.abandoned = seen.value;
}

static uint64_t hardware_seen; /* the last id before */

static void hang_body(struct probe *p)
{
    work();
    hold_next();
    hardware.suspend = SUSPEND_IGNORED;
    hardware_seen = seen.last_id;
    seen.split = 3; /* some wait behind the first */
    p->before[PROBE_ResetFromTimeout] = let_go;
    lost_body(p);
    CHECK_RULE("TDR-038", probe_count(p, PROBE_ResetHwEngine) == 1 && !p->sim->stopped);
    (void)probe_gpu_end(&gpu);
    work(); /* as after any reset */
    CHECK_RULE("TDR-038", !p->sim->stopped && seen.abandoned > hardware_seen + 1 && !seen.stale &&
                              seen.last_id > seen.abandoned);
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    hold_next();
    p->after[PROBE_ResetHwEngine] = NULL; /* which hits nothing now */
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    while (probe_count(p, PROBE_ResumeHwEngine) == 0)
        probe_sleep(PROBE_SECOND);
    CHECK_RULE("TDR-038", probe_count(p, PROBE_ResetFromTimeout) == 1);
    hardware.held = false;
    hardware_finish(hardware_in_flight());
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static HANDLE system_host;

static void before_context(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (!system_host)
        system_host = ((const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->hContext;
}

static void invalidate(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_INVALIDATEHWCONTEXT args = {.hAdapter = p->state[0].dxgk.DeviceHandle,
                                          .hHwContext = system_host};

    (void)call;
    CHECK(NT_SUCCESS(p->state[0].dxgk.DxgkCbInvalidateHwContext(&args)));
}

TEST(paging_that_hangs_costs_the_adapter)
{
    struct probe *p = create(true, false);

    system_host = NULL;
    p->before[PROBE_CreateContext] = before_context;
    p->after[PROBE_ResetHwEngine] = invalidate;
    p->node[HARDWARE_NODE].Flags.MaxInFlightHwQueueBuffers = 1;
    run(p, hang_body);
}

static void fault_body(struct probe *p)
{
    work();
    hold_next();
    hardware.extra.InterruptType = DXGK_INTERRUPT_HWQUEUE_PAGE_FAULTED;
    hardware.extra.HwQueuePageFaulted.FaultedFenceId = seen.last_id + 1;
    hardware.extra.HwQueuePageFaulted.FaultedHwQueue = hardware.queue_host;
    hardware.extra.HwQueuePageFaulted.NodeOrdinal = HARDWARE_NODE;
    p->before[PROBE_ResetFromTimeout] = let_go;
    lost_body(p);
    CHECK_RULE("GPUVA-257", probe_count(p, PROBE_ResetHwEngine) == 0 && !p->sim->stopped);
    (void)probe_gpu_end(&gpu);
}

static probe_hook *submit;

/* As soon as it was submitted. */
static void fault_now(struct probe *p, struct probe_call *call)
{
    submit(p, call);
    if (hardware.extra.InterruptType)
        probe_device_cause(0, 1u << HARDWARE_ENGINE, 0);
}

TEST(paging_that_faults_costs_the_adapter)
{
    struct probe *p = create(true, false);

    submit = p->after[PROBE_SubmitCommandToHwQueue];
    p->after[PROBE_SubmitCommandToHwQueue] = fault_now;
    run(p, fault_body);
}

static void refused_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    work();
    p->before[PROBE_SubmitCommandToHwQueue] = probe_fail_call;
    (void)probe_gpu_allocate(&gpu, MIB, &allocation);
}

TEST(paging_that_is_refused_is_a_bug_check)
{
    struct probe *p = create(true, false);
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, refused_body);
    CHECK_RULE("SUBMIT-037", p->sim->stopped && verify_bugcheck_state(p->log)->code == 0x119 &&
                                 verify_bugcheck_state(p->log)->parameter[0] == 2 &&
                                 probe_said(p, "SUBMIT-037", "DxgkDdiSubmitCommandToHwQueue"));
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- beside clients of the same node ---- */

static void let_client_go(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    hardware.held = false;
    for (unsigned i = hardware.ended; i < hardware.submissions; i++)
        hardware.submission[i].ended = true;
    probe_device_cause(0, 1u << HARDWARE_ENGINE, 0);
}

/* A command of the client hangs, and paging behind it with the engine. The client alone is lost. */
static void beside_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    work();
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    hold_next();
    hardware.suspend = SUSPEND_IGNORED;
    hardware.invalidate = (int)hardware.contexts - 1;
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    p->before[PROBE_ResumeHwEngine] = let_client_go;
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, MIB, &allocation)));
    CHECK_RULE("TDR-075", probe_count(p, PROBE_ResetHwEngine) == 1 &&
                              probe_count(p, PROBE_ResetFromTimeout) == 0 &&
                              hardware_device_state(&client) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)) && NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(paging_goes_on_after_the_reset_that_a_client_caused)
{
    run(create(true, true), beside_body);
}

/* As before, but the driver says that the reset has hit paging, too. */
static void damage(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_INVALIDATEHWCONTEXT args = {.hAdapter = p->state[0].dxgk.DeviceHandle,
                                          .hHwContext = system_host,
                                          .Flags.CollateralDamage = 1};

    (void)call;
    CHECK(NT_SUCCESS(p->state[0].dxgk.DxgkCbInvalidateHwContext(&args)));
    args.hHwContext = hardware.context[hardware.contexts - 1].host;
    args.Flags.CollateralDamage = 0;
    CHECK(NT_SUCCESS(p->state[0].dxgk.DxgkCbInvalidateHwContext(&args)));
}

static void collateral_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    work();
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    hold_next();
    hardware.suspend = SUSPEND_IGNORED;
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    p->before[PROBE_ResetFromTimeout] = let_go;
    (void)probe_gpu_allocate(&gpu, MIB, &allocation);
    CHECK_RULE("TDR-038", probe_count(p, PROBE_ResetHwEngine) == 1 &&
                              probe_count(p, PROBE_ResetFromTimeout) == 1 &&
                              probe_count(p, PROBE_ResumeHwEngine) == 0 && !p->sim->stopped &&
                              hardware_device_state(&client) == D3DKMT_DEVICEEXECUTION_HUNG);
    (void)probe_gpu_end(&client.gpu);
    (void)probe_gpu_end(&gpu);
    work();
    CHECK_RULE("TDR-038", !p->sim->stopped && !seen.stale && seen.last_id > seen.abandoned);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(paging_that_a_reset_damages_costs_the_adapter)
{
    struct probe *p = create(true, false);

    system_host = NULL;
    p->before[PROBE_CreateContext] = before_context;
    p->after[PROBE_ResetHwEngine] = damage;
    run(p, collateral_body);
}

/* ---- the end of the adapter ---- */

static void sleep_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;
    uint64_t before;

    work();
    before = seen.last_id;
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    CHECK_RULE("PAGE-021", seen.last_id > before && seen.rising && !seen.early &&
                               probe_count(p, PROBE_SubmitCommandVirtual) == 0);
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, MIB, &allocation)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(memory_is_moved_out_and_back_through_the_queue)
{
    run(create(true, false), sleep_body);
}

static void restart_body(struct probe *p)
{
    probe_remove(p, 0);
    CHECK_RULE("LIFE-168/a",
               probe_count(p, PROBE_DestroyHwQueue) == 1 &&
                   (HANDLE)(uintptr_t)probe_nth(p, PROBE_DestroyHwQueue, 0)->arg[0] == seen.queue &&
                   probe_nth(p, PROBE_DestroyHwQueue, 0)->order <
                       probe_nth(p, PROBE_DestroyContext, 0)->order);
}

TEST(the_queue_of_paging_ends_before_its_context)
{
    struct probe *p = create(true, false);

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, restart_body) == SIM_DONE);
    probe_destroy(p);
}

/* The driver makes no queue: the adapter does not start. */
TEST(without_its_queue_the_adapter_does_not_start)
{
    struct probe *p = create(true, false);

    p->after[PROBE_CreateHwQueue] = NULL;
    p->before[PROBE_CreateHwQueue] = probe_fail_call;
    CHECK_RULE("PAGE-021", IS(probe_start(p), STATUS_UNSUCCESSFUL));
    probe_destroy(p);
}
