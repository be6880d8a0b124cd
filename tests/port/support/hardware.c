/* SPDX-License-Identifier: MIT */
#include "port/support/hardware.h"

#include <string.h>

struct hardware_state hardware;
static uint64_t last_handle;

static HANDLE next_handle(void)
{
    return (HANDLE)(uintptr_t)(last_handle += 16);
}

/* ---- the driver ---- */

static void note_context(HANDLE host, HANDLE driver)
{
    if (hardware.contexts == HARDWARE_MOST)
        fail_msg("too many contexts");
    hardware.context[hardware.contexts++] = (struct hardware_context){.host = host,
                                                                      .driver = driver};
}

static void keep_private(const void *data, UINT bytes)
{
    memset(hardware.create_private, 0, sizeof(hardware.create_private));
    if (bytes)
        memcpy(hardware.create_private, data, bytes < 16 ? bytes : 16);
}

static void make_memory(struct probe *p, HANDLE context)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = p->state[0].dxgk.DeviceHandle;
    args.hDevice = hardware.device;
    args.hContext = context;
    args.Size = 4096;
    args.SupportedSegmentSet = 1;
    CHECK(NT_SUCCESS(p->state[0].dxgk.DxgkCbCreateContextAllocation(&args)));
}

static void note_process(struct probe *p, struct probe_call *call)
{
    (void)p;
    hardware.process = ((const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1])->hDxgkProcess;
}

static void note_device(struct probe *p, struct probe_call *call)
{
    (void)p;
    hardware.device = ((const DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1])->hDevice;
}

static void create_context(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEHWCONTEXT *args = (DXGKARG_CREATEHWCONTEXT *)(uintptr_t)call->arg[1];

    hardware.create_context = *args;
    keep_private(args->pPrivateDriverData, args->PrivateDriverDataSize);
    if (hardware.memory)
        make_memory(p, args->hHwContext);
    note_context(args->hHwContext, next_handle());
    args->hHwContext = hardware.context[hardware.contexts - 1].driver;
}

/* Of DxgkDdiCreateContext: the host's handle is gone when the default answer is given. */
static HANDLE before_host;

static void before_context(struct probe *p, struct probe_call *call)
{
    (void)p;
    before_host = ((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->hContext;
}

static void after_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    hardware.flags = args->Flags;
    hardware.plain += args->NodeOrdinal == HARDWARE_NODE;
    note_context(before_host, args->hContext);
}

static void destroy_context(struct probe *p, struct probe_call *call)
{
    (void)p;
    for (unsigned i = 0; i < hardware.contexts; i++)
        if (hardware.context[i].driver == (HANDLE)(uintptr_t)call->arg[0])
            hardware.context[i].destroyed = true;
}

static void create_queue(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEHWQUEUE *args = (DXGKARG_CREATEHWQUEUE *)(uintptr_t)call->arg[1];

    (void)p;
    hardware.create_queue = *args;
    keep_private(args->pPrivateDriverData, args->PrivateDriverDataSize);
    hardware.queue_host = args->hHwQueue;
    args->hHwQueue = hardware.queue_driver = next_handle();
}

static void submit(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDTOHWQUEUE *args = (const DXGKARG_SUBMITCOMMANDTOHWQUEUE *)(uintptr_t)
                                                     call->arg[1];
    struct hardware_submission *s = &hardware.submission[hardware.submissions];

    if (hardware.submissions == HARDWARE_MOST)
        fail_msg("too many submissions");
    *s = (struct hardware_submission){.args = *args, .irql = call->irql};
    if (args->DmaBufferPrivateDataSize)
        memcpy(s->private_data, args->pDmaBufferPrivateData,
               args->DmaBufferPrivateDataSize < 16 ? args->DmaBufferPrivateDataSize : 16);
    hardware.submissions++;
    if (!hardware.held)
        WRITE_REGISTER_ULONG(p->state[0].registers + PROBE_REG_SUBMIT(HARDWARE_ENGINE) / 4,
                             hardware.submissions);
}

static void raise(void)
{
    probe_device_cause(0, 1u << HARDWARE_ENGINE, 0);
}

static void suspend(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUSPENDCONTEXT *args = (const DXGKARG_SUSPENDCONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    hardware.suspend_fence = args->contextSuspendFence;
    for (unsigned i = 0; i < hardware.contexts; i++)
        if (hardware.context[i].driver == args->hContext && !hardware.context[i].destroyed &&
            hardware.suspend == SUSPEND_ACKNOWLEDGED)
            hardware.context[i].acknowledge = args->contextSuspendFence;
    call->answered = true;
    call->result = hardware.suspend == SUSPEND_AT_ONCE ? STATUS_SUCCESS : STATUS_PENDING;
    if (hardware.suspend == SUSPEND_ACKNOWLEDGED)
        raise();
}

static void reset_engine(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_INVALIDATEHWCONTEXT args = {.hAdapter = p->state[0].dxgk.DeviceHandle};

    (void)call;
    if (hardware.invalidate < 0)
        return;
    args.hHwContext = hardware.context[hardware.invalidate].host;
    args.Flags.CollateralDamage = hardware.collateral;
    CHECK(NT_SUCCESS(p->state[0].dxgk.DxgkCbInvalidateHwContext(&args)));
}

static void write_fences(void)
{
    while (hardware.ended < hardware.submissions) {
        struct hardware_submission *s = &hardware.submission[hardware.ended];

        if (!s->ended)
            return;
        *(volatile UINT64 *)s->args.HwQueueProgressFenceCpuVa = s->args.HwQueueProgressFenceId;
        hardware.ended++;
    }
}

static void acknowledge(struct probe_adapter *a, HANDLE context, uint64_t fence)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {0};

    data.InterruptType = DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED;
    data.SuspendContextCompleted.hContext = context;
    data.SuspendContextCompleted.ContextSuspendFence = fence;
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
}

/* In the interrupt routine. */
static void report(struct probe *p, unsigned engine)
{
    struct probe_adapter *a = &p->state[0];
    const ULONG completed = READ_REGISTER_ULONG(a->registers + PROBE_REG_COMPLETED(engine) / 4);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {0};
    const unsigned before = hardware.ended;

    for (unsigned i = 0; i < completed && i < hardware.submissions; i++)
        hardware.submission[i].ended = true;
    write_fences();
    if (hardware.ended != before) {
        data.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
        data.MonitoredFenceSignaled.NodeOrdinal = HARDWARE_NODE;
        a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    }
    for (unsigned i = 0; i < hardware.contexts; i++)
        if (hardware.context[i].acknowledge) {
            acknowledge(a, hardware.context[i].host, hardware.context[i].acknowledge);
            hardware.context[i].acknowledge = 0;
        }
    if (hardware.suspend_context)
        acknowledge(a, hardware.suspend_context, hardware.suspend_fence);
    hardware.suspend_context = NULL;
    if (hardware.extra.InterruptType) {
        a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &hardware.extra);
        memset(&hardware.extra, 0, sizeof(hardware.extra));
    }
}

static void ask_for_scheduling(struct probe *p, struct probe_call *call)
{
    NTSTATUS status;

    (void)call;
    CHECK(probe_feature_enabled(p, DXGK_FEATURE_HWSCH, &status) && NT_SUCCESS(status));
}

struct probe *hardware_create(const struct probe_options *options)
{
    static const enum probe_ddi entries[] = {
        PROBE_CreateHwContext,        PROBE_DestroyHwContext,
        PROBE_CreateHwQueue,          PROBE_DestroyHwQueue,
        PROBE_SubmitCommandToHwQueue, PROBE_SetupPriorityBands,
        PROBE_ResetHwEngine,          PROBE_SetContextSchedulingProperties,
        PROBE_SuspendContext,         PROBE_ResumeContext,
        PROBE_ResumeHwEngine};
    struct probe_options own = options ? *options : (struct probe_options){0};
    struct probe *p;

    memset(&hardware, 0, sizeof(hardware));
    hardware.invalidate = -1;
    last_handle = 0x900000;
    own.port.features |= 1u << DXGK_FEATURE_HWSCH;
    p = probe_create(&own);
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        probe_set_entry(p, entries[i], true);
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = HARDWARE_PAGING_NODE + 1;
    p->physical.NumExecutionNodes = HARDWARE_PAGING_NODE + 1;
    p->node[HARDWARE_PAGING_NODE] = p->node[HARDWARE_NODE];
    p->node[HARDWARE_NODE].Flags.ContextSchedulingSupported = 1;
    p->physical.PagingNodeIndex = HARDWARE_PAGING_NODE;
    p->after[PROBE_StartDevice] = ask_for_scheduling;
    p->after[PROBE_CreateHwContext] = create_context;
    p->before[PROBE_CreateProcess] = note_process;
    p->before[PROBE_CreateDevice] = note_device;
    p->before[PROBE_CreateContext] = before_context;
    p->after[PROBE_CreateContext] = after_context;
    p->after[PROBE_DestroyHwContext] = destroy_context;
    p->after[PROBE_DestroyContext] = destroy_context;
    p->after[PROBE_CreateHwQueue] = create_queue;
    p->after[PROBE_SubmitCommandToHwQueue] = submit;
    p->before[PROBE_SuspendContext] = suspend;
    p->after[PROBE_ResetHwEngine] = reset_engine;
    p->reported_by_test = 1u << HARDWARE_ENGINE;
    p->report = report;
    return p;
}

void hardware_finish(unsigned count)
{
    for (unsigned i = hardware.ended; i < hardware.submissions && count > 0; i++, count--)
        hardware.submission[i].ended = true;
    raise();
    probe_sleep(1000000);
}

void hardware_acknowledge(HANDLE context, uint64_t fence)
{
    hardware.suspend_context = context;
    hardware.suspend_fence = fence;
    raise();
    probe_sleep(1000000);
}

void hardware_notify(void)
{
    raise();
    probe_sleep(1000000);
}

unsigned hardware_in_flight(void)
{
    return hardware.submissions - hardware.ended;
}

/* ---- clients ---- */

NTSTATUS hardware_queue(struct hardware_client *c, D3DKMT_HANDLE context,
                        D3DDDI_CREATEHWQUEUEFLAGS flags)
{
    static const char data[] = "queue";
    D3DKMT_CREATEHWQUEUE args = {.hHwContext = context,
                                 .Flags = flags,
                                 .PrivateDriverDataSize = sizeof(data),
                                 .pPrivateDriverData = (void *)(uintptr_t)data};
    NTSTATUS status = D3DKMTCreateHwQueue(&args);

    c->queue = args.hHwQueue;
    c->fence = args.hHwQueueProgressFence;
    c->value = args.HwQueueProgressFenceCPUVirtualAddress;
    c->va = args.HwQueueProgressFenceGPUVirtualAddress;
    return status;
}

NTSTATUS hardware_begin(struct hardware_client *c)
{
    static const char data[] = "context";
    D3DKMT_CREATEHWCONTEXT args = {.NodeOrdinal = HARDWARE_NODE,
                                   .PrivateDriverDataSize = sizeof(data),
                                   .pPrivateDriverData = (void *)(uintptr_t)data};
    NTSTATUS status;

    memset(c, 0, sizeof(*c));
    status = probe_gpu_begin(&c->gpu);
    if (!NT_SUCCESS(status))
        return status;
    args.hDevice = c->gpu.device;
    status = D3DKMTCreateHwContext(&args);
    c->context = args.hHwContext;
    return NT_SUCCESS(status) ? hardware_queue(c, c->context, (D3DDDI_CREATEHWQUEUEFLAGS){0})
                              : status;
}

NTSTATUS hardware_submit(const struct hardware_client *c, UINT64 id)
{
    static const char data[] = "command";
    D3DKMT_SUBMITCOMMANDTOHWQUEUE args = {.hHwQueue = c->queue,
                                          .HwQueueProgressFenceId = id,
                                          .CommandBuffer = 0x10000,
                                          .CommandLength = 64,
                                          .PrivateDriverDataSize = sizeof(data),
                                          .pPrivateDriverData = (void *)(uintptr_t)data};

    return D3DKMTSubmitCommandToHwQueue(&args);
}

NTSTATUS hardware_wait(const struct hardware_client *c, UINT64 id)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait = {.hDevice = c->gpu.device,
                                                       .ObjectCount = 1,
                                                       .ObjectHandleArray = &c->fence,
                                                       .FenceValueArray = &id};

    return D3DKMTWaitForSynchronizationObjectFromCpu(&wait);
}

D3DKMT_DEVICEEXECUTION_STATE hardware_device_state(const struct hardware_client *c)
{
    D3DKMT_GETDEVICESTATE state = {.hDevice = c->gpu.device,
                                   .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    CHECK(NT_SUCCESS(D3DKMTGetDeviceState(&state)));
    return state.ExecutionState;
}
