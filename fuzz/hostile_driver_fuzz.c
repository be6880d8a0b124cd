/* SPDX-License-Identifier: MIT */
/*
 * A driver that answers whatever it likes about submissions, under clients that do nothing wrong: what DxgkDdiRender makes of
 * commands, lists and private data; what DxgkDdiPatch writes; which packets it submits, or loses; interrupts of any type for any
 * packet, node and time; preemption, resets and their answers; the sizes of contexts. One word of what a call hands out may
 * have any value, and any status may be returned.
 *
 * Whatever it does, the run ends in bounded virtual and processor time: with a bug check, or with what the scheduler and the
 * memory manager keep intact, all memory returned and every client's call answered.
 */
#include "submission_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- what is wrong ---- */

/* One call in so many goes wrong, as the input says. */
static bool goes_wrong(void)
{
    return rig.at < rig.end && rig_byte() >= 208;
}

static NTSTATUS any_status(void)
{
    static const NTSTATUS known[] = {
        STATUS_SUCCESS,         STATUS_PENDING,
        STATUS_TIMEOUT,         STATUS_INVALID_PARAMETER,
        STATUS_NO_MEMORY,       STATUS_INSUFFICIENT_RESOURCES,
        STATUS_NOT_IMPLEMENTED, STATUS_NOT_SUPPORTED,
        STATUS_INVALID_HANDLE,  STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER};
    const unsigned which = rig_byte();

    return which < 240 ? known[which % (sizeof(known) / sizeof(known[0]))] : (NTSTATUS)rig_number(4);
}

/* A number near what is there, or any. */
static uint64_t changed(uint64_t value, unsigned bytes)
{
    switch (rig_below(4)) {
    case 0:
        return value + 1 + rig_below(8);
    case 1:
        return value - 1 - rig_below(8);
    case 2:
        return rig_byte();
    default:
        return rig_number(bytes);
    }
}

/* One word of what a call hands out. */
static void spoil(void *structure, size_t bytes)
{
    const unsigned width = rig_below(2) ? 8 : 4;
    const size_t at = (size_t)rig_byte() * 4 % bytes / width * width;
    uint64_t value = 0;

    if (at + width > bytes)
        return;
    memcpy(&value, (uint8_t *)structure + at, width);
    value = changed(value, width);
    memcpy((uint8_t *)structure + at, &value, width);
    rig_trace("    word at %zu becomes 0x%llx", at, (unsigned long long)value);
}

static void answer(struct probe_call *call)
{
    call->answered = true;
    call->result = (uint64_t)(uint32_t)any_status();
    rig_trace("  %s answers 0x%x", call->name, (unsigned)call->result);
}

/* ---- entries ---- */

static void render_wrong(DXGKARG_RENDER *args, struct probe_call *call)
{
    const uint8_t how = (uint8_t)rig_byte();

    if (how & 1) /* commands and lists of its own */
        (void)rig_driver_render(args);
    for (unsigned i = 0; how & 2 && i < 4 && i < args->PatchLocationListOutSize; i++) {
        spoil(args->pPatchLocationListOut, sizeof(D3DDDI_PATCHLOCATIONLIST));
        args->pPatchLocationListOut++;
    }
    if (how & 4 && args->AllocationListSize)
        spoil(&args->pAllocationList[rig_below(args->AllocationListSize)],
              sizeof(DXGK_ALLOCATIONLIST));
    if (how & 8 && args->DmaBufferPrivateDataSize)
        args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData +
                                      (intptr_t)changed(0, 4) % 64;
    if (how & 16)
        args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + (INT)changed(0, 4);
    if (how & 32)
        args->pPatchLocationListOut =
            (D3DDDI_PATCHLOCATIONLIST *)((uintptr_t)args->pPatchLocationListOut +
                                         (uintptr_t)(INT)changed(0, 4));
    if (how & 64)
        spoil(args, sizeof(*args));
    call->answered = true;
    call->result = how & 128 ? (uint64_t)(uint32_t)any_status() : STATUS_SUCCESS;
}

static void render(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    if (goes_wrong()) {
        rig_trace("  Render goes wrong");
        render_wrong(args, call);
        return;
    }
    call->answered = true;
    call->result = (uint64_t)(uint32_t)rig_driver_render(args);
}

static void patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];
    const bool wrong = goes_wrong();

    (void)p;
    if (!args->Flags.Paging && !(wrong && rig_below(2)))
        rig_driver_patch(args);
    for (unsigned i = 0; wrong && i < 3; i++)
        ((uint8_t *)args->pDmaBuffer)[rig_number(2) % args->DmaBufferSize] ^= (uint8_t)(1 +
                                                                                        rig_byte());
    if (wrong && rig_below(8) == 0)
        answer(call);
}

/* The packet is lost, or another one is submitted. */
static void submit(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = &p->state[0];
    const bool virtual = call->ddi == PROBE_SubmitCommandVirtual;
    const DXGKARG_SUBMITCOMMAND *one = (const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];
    const DXGKARG_SUBMITCOMMANDVIRTUAL *two = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                  call->arg[1];
    const UINT fence = virtual ? two->SubmissionFenceId : one->SubmissionFenceId;
    const UINT node = virtual ? two->NodeOrdinal : one->NodeOrdinal;

    if (!goes_wrong())
        return;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    rig_trace("  fence %u of node %u goes wrong", fence, node);
    switch (rig_below(4)) {
    case 0: /* lost */
        break;
    case 1:
        if (a->registers && node < PROBE_WORKING_NODES)
            WRITE_REGISTER_ULONG(a->registers + PROBE_REG_SUBMIT(node) / 4,
                                 (ULONG)changed(fence, 4));
        break;
    case 2:
        probe_device_packet_ns = 1ull << rig_below(36); /* 68 s */
        call->answered = false;
        break;
    default:
        answer(call);
    }
}

static void say_anything(struct probe *p, unsigned node)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;
    UINT *words = (UINT *)(void *)&data.Reserved;

    memset(&data, 0, sizeof(data));
    data.InterruptType = (DXGK_INTERRUPT_TYPE)(rig_below(8) ? 1 + rig_below(4) : rig_below(24));
    for (unsigned i = 0; i < 4; i++)
        words[i] = rig_below(2) ? (UINT)rig_number(1)
                                : (UINT)changed(p->state[0].submitted[node], 4);
    if (data.InterruptType == DXGK_INTERRUPT_DMA_COMPLETED && rig_below(4)) {
        data.DmaCompleted.NodeOrdinal = node;
        data.DmaCompleted.EngineOrdinal = 0;
    }
    if (data.InterruptType == DXGK_INTERRUPT_DMA_PREEMPTED && rig_below(4)) {
        data.DmaPreempted.PreemptionFenceId = rig_below(4) ? p->state[0].preempting[node]
                                                           : (UINT)rig_number(4);
        data.DmaPreempted.NodeOrdinal = node;
        data.DmaPreempted.EngineOrdinal = 0;
    }
    if (data.InterruptType == DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED)
        data.NativeFenceSignaled.pSignaledNativeFenceArray = NULL;
    rig_trace("  interrupt %d: %u, %u, %u, %u", (int)data.InterruptType, words[0], words[1],
              words[2], words[3]);
    dxgk->DxgkCbNotifyInterrupt(dxgk->DeviceHandle, &data);
}

static void interrupt(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = &p->state[0];
    ULONG causes;

    if (!a->started || !a->registers || !goes_wrong())
        return;
    causes = READ_REGISTER_ULONG(a->registers + PROBE_REG_STATUS / 4);
    say_anything(p, rig_below(2));
    if (rig_below(2))
        (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    call->answered = true;
    call->result = rig_below(4) ? TRUE : causes == 0;
}

static void dpc(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (goes_wrong())
        call->answered = true; /* nobody tells the host */
}

static void preempt(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (!goes_wrong())
        return;
    if (rig_below(2)) {
        call->answered = true; /* and it is never answered */
        call->result = STATUS_SUCCESS;
    } else {
        answer(call);
    }
}

/* Sizes of the structures that calls hand back. */
static size_t size_of(enum probe_ddi ddi)
{
    switch (ddi) {
    case PROBE_ResetEngine:
        return sizeof(DXGKARG_RESETENGINE);
    case PROBE_QueryCurrentFence:
        return sizeof(DXGKARG_QUERYCURRENTFENCE);
    case PROBE_QueryEngineStatus:
        return sizeof(DXGKARG_QUERYENGINESTATUS);
    case PROBE_QueryDependentEngineGroup:
        return sizeof(DXGKARG_QUERYDEPENDENTENGINEGROUP);
    case PROBE_CreateDevice:
        return sizeof(DXGKARG_CREATEDEVICE);
    case PROBE_CreateContext:
        return sizeof(DXGKARG_CREATECONTEXT);
    case PROBE_BuildPagingBuffer:
        return sizeof(DXGKARG_BUILDPAGINGBUFFER);
    default:
        return 0;
    }
}

static void after(struct probe *p, struct probe_call *call)
{
    const size_t bytes = size_of(call->ddi);

    (void)p;
    if (call->ddi == PROBE_CreateContext) {
        DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

        if (args->Flags.SystemContext)
            return;
        args->ContextInfo.DmaBufferPrivateDataSize = rig.private_bytes;
    }
    if (!goes_wrong())
        return;
    rig_trace("  %s goes wrong", call->name);
    if (bytes && rig_below(4))
        spoil((void *)(uintptr_t)call->arg[1], bytes);
    else
        call->result = (uint64_t)(uint32_t)any_status();
    if (call->ddi == PROBE_CreateContext) /* gigabytes are allocated as asked */
        ((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->ContextInfo.DmaBufferPrivateDataSize &=
            0xFFFFFF;
}

/* ---- the clients ---- */

static void render_some(struct rig_client *c)
{
    struct rig_context *k = &c->context[rig_below(RIG_CONTEXTS)];
    const unsigned allocations = rig_below(RIG_ALLOCATIONS);
    D3DKMT_RENDER args;

    if (!k->handle || k->virtual || !k->commands || k->command_bytes < 256 ||
        k->allocation_count < RIG_ALLOCATIONS + 1 || k->patch_count < RIG_ALLOCATIONS + 1)
        return;
    memset(&args, 0, sizeof(args));
    args.hContext = k->handle;
    args.CommandLength = 64 * (1 + rig_below(4));
    args.AllocationCount = 1;
    k->allocations[0] = (D3DDDI_ALLOCATIONLIST){0};
    memset(k->commands, 0x5A, 256);
    for (unsigned i = 0; i < allocations; i++) {
        if (!c->allocation[i].handle || c->allocation[i].device != k->device ||
            8 * args.PatchLocationCount + 8 > args.CommandLength)
            continue;
        k->allocations[args.AllocationCount] = (D3DDDI_ALLOCATIONLIST){
            .hAllocation = c->allocation[i].handle};
        k->patches[args.PatchLocationCount] = (D3DDDI_PATCHLOCATIONLIST){
            .AllocationIndex = args.AllocationCount++, .PatchOffset = 8 * args.PatchLocationCount};
        args.PatchLocationCount++;
    }
    if (NT_SUCCESS(D3DKMTRender(&args)))
        rig_take_buffers(k, &args);
}

static void submit_some(struct rig_client *c)
{
    const struct rig_context *k = &c->context[rig_below(RIG_CONTEXTS)];
    D3DKMT_SUBMITCOMMAND args;

    if (!k->handle || !k->virtual)
        return;
    memset(&args, 0, sizeof(args));
    args.Commands = 0x10000;
    args.CommandLength = 64;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = k->handle;
    (void)D3DKMTSubmitCommand(&args);
}

static void signal_some(struct rig_client *c)
{
    const struct rig_context *k = &c->context[rig_below(RIG_CONTEXTS)];
    const UINT64 value = 1 + rig_byte();
    D3DKMT_HANDLE object = c->fence[rig_below(RIG_FENCES)].handle;
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU args = {.hContext = k->handle,
                                                            .ObjectCount = 1,
                                                            .ObjectHandleArray = &object,
                                                            .MonitoredFenceValueArray = &value};

    if (k->handle && object && !rig.old)
        (void)D3DKMTSignalSynchronizationObjectFromGpu(&args);
}

static void idle_some(struct rig_client *c)
{
    const D3DKMT_WAITFORIDLE wait = {.hDevice = c->device[rig_below(RIG_DEVICES)]};

    if (wait.hDevice)
        (void)D3DKMTWaitForIdle(&wait);
}

/* A client begins anew with a device that it lost. */
static void replace_lost(struct rig_client *c)
{
    const unsigned device = rig_below(RIG_DEVICES);
    D3DKMT_GETDEVICESTATE state;

    memset(&state, 0, sizeof(state));
    state.hDevice = c->device[device];
    state.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    if (state.hDevice && NT_SUCCESS(D3DKMTGetDeviceState(&state)) &&
        state.ExecutionState != D3DKMT_DEVICEEXECUTION_ACTIVE)
        rig_close(c, device);
    if (!rig_open(c, device))
        return;
    switch (rig_below(3)) {
    case 0:
        rig_create_fence(c, device);
        break;
    case 1:
        rig_create_allocation(c, device, 0x1000ull << rig_below(10));
        break;
    default:
        rig_create_context(c, device, !rig.old && rig_below(2), rig_below(2));
    }
}

static void prefer(struct rig_client *c)
{
    const D3DKMT_SETCONTEXTSCHEDULINGPRIORITY args = {c->context[rig_below(RIG_CONTEXTS)].handle,
                                                      (INT)rig_below(15) - 7};

    if (args.hContext)
        (void)D3DKMTSetContextSchedulingPriority(&args);
}

static void destroy_some(struct rig_client *c)
{
    struct rig_context *k = &c->context[rig_below(RIG_CONTEXTS)];
    const unsigned i = rig_below(RIG_ALLOCATIONS);
    const D3DKMT_DESTROYALLOCATION2 args = {.hDevice = c->device[c->allocation[i].device],
                                            .phAllocationList = &c->allocation[i].handle,
                                            .AllocationCount = 1};

    if (k->handle && rig_below(4) == 0)
        rig_destroy_context(c, k);
    else if (c->allocation[i].handle && NT_SUCCESS(D3DKMTDestroyAllocation2(&args)))
        c->allocation[i].handle = 0;
}

/* An interrupt that nobody expects. */
static void raise(struct rig_client *c)
{
    (void)c;
    probe_device_cause(0, 1u << rig_below(2), 0);
    probe_sleep(1000);
}

static void pass(struct rig_client *c)
{
    (void)c;
    probe_sleep(100ull << rig_below(16));
}

static void operate(struct rig_client *c)
{
    static void (*const what[])(struct rig_client * c) = {
        render_some, render_some,  render_some,  submit_some,  submit_some, submit_some,
        signal_some, replace_lost, replace_lost, replace_lost, prefer,      destroy_some,
        raise,       idle_some,    pass,         pass};

    what[rig_byte() % (sizeof(what) / sizeof(what[0]))](c);
}

static void leave(struct rig_client *c)
{
    for (unsigned i = 0; i < RIG_DEVICES && !rig_stopped(); i++)
        rig_close(c, i);
}

static void prepare(struct probe *p)
{
    static const enum probe_ddi any[] = {PROBE_ResetEngine,        PROBE_QueryCurrentFence,
                                         PROBE_QueryEngineStatus,  PROBE_QueryDependentEngineGroup,
                                         PROBE_CreateDevice,       PROBE_DestroyDevice,
                                         PROBE_CreateContext,      PROBE_DestroyContext,
                                         PROBE_BuildPagingBuffer,  PROBE_ResetFromTimeout,
                                         PROBE_RestartFromTimeout, PROBE_CancelCommand};

    p->before[PROBE_Render] = render;
    p->before[PROBE_Patch] = patch;
    p->before[PROBE_SubmitCommand] = p->before[PROBE_SubmitCommandVirtual] = submit;
    p->before[PROBE_InterruptRoutine] = interrupt;
    p->before[PROBE_DpcRoutine] = dpc;
    p->before[PROBE_PreemptCommand] = preempt;
    for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++)
        p->after[any[i]] = after;
}

static void forget_hooks(struct probe *p)
{
    for (unsigned i = 0; i < PROBE_DDI_COUNT; i++)
        p->before[i] = p->after[i] = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    probe_device_packet_ns = 1000;
    rig_begin(data, size, NULL);
    prepare(rig.p);
    rig_run(operate, leave);
    forget_hooks(rig.p);
    rig_finish();
    probe_device_packet_ns = 1000;
    return 0;
}
