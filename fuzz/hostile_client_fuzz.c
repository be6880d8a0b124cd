/* SPDX-License-Identifier: MIT */
/*
 * A client that submits whatever it likes to a driver that does everything right: lists, offsets, slots and split points of any
 * kind, sizes and private data, contexts and objects that are another's, gone or none, in two processes at once; it also writes
 * to its lists while D3DKMTRender reads them.
 *
 * Whatever it does, no rule is broken that the driver would answer for, what the scheduler and the memory manager keep holds
 * together, the driver is only called with what lies inside of the buffers and lists it is given, and at the end everything
 * comes back.
 */
#include "submission_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- any handle, mostly one that fits ---- */

static D3DKMT_HANDLE odd_handle(const struct rig_client *c)
{
    switch (rig_below(6)) {
    case 0:
        return 0;
    case 1:
        return (D3DKMT_HANDLE)rig_number(4);
    case 2:
        return c->device[rig_below(RIG_DEVICES)];
    case 3:
        return c->context[rig_below(RIG_CONTEXTS)].handle;
    case 4:
        return c->fence[rig_below(RIG_FENCES)].handle;
    default:
        return rig.client[rig_below(RIG_CLIENTS)].allocation[rig_below(RIG_ALLOCATIONS)].handle;
    }
}

static bool is_odd(void)
{
    return rig_below(8) == 7;
}

/* The first that there is from any place on. */
static D3DKMT_HANDLE some_allocation(const struct rig_client *c)
{
    const unsigned first = rig_below(RIG_ALLOCATIONS);

    for (unsigned i = 0; i < RIG_ALLOCATIONS; i++)
        if (c->allocation[(first + i) % RIG_ALLOCATIONS].handle && rig_below(8) != 7)
            return c->allocation[(first + i) % RIG_ALLOCATIONS].handle;
    return odd_handle(c);
}

static struct rig_context *live_context(struct rig_client *c, bool virtual)
{
    const unsigned first = rig_below(RIG_CONTEXTS);

    for (unsigned i = 0; i < RIG_CONTEXTS; i++) {
        struct rig_context *k = &c->context[(first + i) % RIG_CONTEXTS];

        if (k->handle && k->virtual == virtual)
            return k;
    }
    return NULL;
}

static D3DKMT_HANDLE some_context(const struct rig_client *c)
{
    const unsigned first = rig_below(RIG_CONTEXTS);

    for (unsigned i = 0; i < RIG_CONTEXTS; i++)
        if (c->context[(first + i) % RIG_CONTEXTS].handle && rig_below(8) != 7)
            return c->context[(first + i) % RIG_CONTEXTS].handle;
    return odd_handle(c);
}

static D3DKMT_HANDLE some_fence(const struct rig_client *c)
{
    const unsigned first = rig_below(RIG_FENCES);

    for (unsigned i = 0; i < RIG_FENCES; i++)
        if (c->fence[(first + i) % RIG_FENCES].handle && rig_below(8) != 7)
            return c->fence[(first + i) % RIG_FENCES].handle;
    return odd_handle(c);
}

/* Small ones, those around a limit, or any. */
static UINT some_count(UINT limit)
{
    switch (rig_below(4)) {
    case 0:
        return limit + (UINT)(rig_below(3)) - 1;
    case 1:
        return (UINT)rig_number(4);
    default:
        return rig_below(10);
    }
}

static UINT some_offset(UINT limit)
{
    return rig_below(8) ? (UINT)rig_number(1) * 4 : some_count(limit);
}

/* ---- Render ---- */

static struct rig_context *rendering; /* on the thread that is inside of Render */

static void fill_patch(D3DDDI_PATCHLOCATIONLIST *l)
{
    l->AllocationIndex = is_odd() ? (UINT)rig_number(4) : rig_below(RIG_ALLOCATIONS + 1);
    l->Value = is_odd() ? (UINT)rig_number(4) : rig_below(rig.max_slot + 2);
    l->DriverId = (UINT)rig_number(1);
    l->AllocationOffset = is_odd() ? (UINT)rig_number(4) : (UINT)rig_number(1) * 16;
    l->PatchOffset = some_offset(rig.buffer_bytes);
    l->SplitOffset = is_odd() ? (UINT)rig_number(4) : l->PatchOffset & ~(UINT)rig_number(1);
}

static void fill_lists(const struct rig_client *c, const struct rig_context *k)
{
    const UINT allocations = rig_below(RIG_ALLOCATIONS + 1), patches = rig_below(8);

    for (UINT i = 0; i < allocations && i < k->allocation_count; i++) {
        k->allocations[i].hAllocation = some_allocation(c);
        k->allocations[i].Value = is_odd() ? (UINT)rig_number(4) : rig_below(2);
    }
    for (UINT i = 0; i < patches && i < k->patch_count; i++)
        fill_patch(&k->patches[i]);
    for (UINT i = 0; i < 16 && i + 8 <= k->command_bytes; i += 8) {
        const uint64_t word = rig_number(2);

        memcpy((uint8_t *)k->commands + i, &word, sizeof(word));
    }
}

/* Another thread of the client, meanwhile. */
static void scribble(void)
{
    const struct rig_context *k = rendering;

    if (!k || !k->handle || rig_below(8))
        return;
    if (k->patch_count)
        fill_patch(&k->patches[rig_below(k->patch_count)]);
    if (k->allocation_count)
        k->allocations[rig_below(k->allocation_count)].hAllocation = (D3DKMT_HANDLE)rig_number(4);
}

static void render(struct rig_client *c)
{
    struct rig_context *k = live_context(c, false);
    uint8_t private_data[64] = {1};
    D3DKMT_RENDER args;
    NTSTATUS status;

    if (!k || !k->commands)
        return;
    fill_lists(c, k);
    memset(&args, 0, sizeof(args));
    args.hContext = is_odd() ? odd_handle(c) : k->handle;
    args.CommandLength = is_odd() ? some_count(k->command_bytes) : 64 + rig_below(4) * 64;
    args.CommandOffset = is_odd() ? some_count(k->command_bytes) : 0;
    args.AllocationCount = is_odd() ? some_count(k->allocation_count) : RIG_ALLOCATIONS;
    args.PatchLocationCount = is_odd() ? some_count(k->patch_count) : rig_below(8);
    if (is_odd()) {
        memset(&args.Flags, 0, sizeof(args.Flags));
        args.Flags.ResizeCommandBuffer = rig_below(2) & 1u;
        args.Flags.ResizeAllocationList = rig_below(2) & 1u;
        args.Flags.ResizePatchLocationList = rig_below(2) & 1u;
        args.Flags.NullRendering = rig_below(2) & 1u;
        args.Flags.Reserved = rig_below(16) == 0 ? 1 : 0;
        args.NewCommandBufferSize = some_count(0x10000);
        args.NewAllocationListSize = some_count(256);
        args.NewPatchLocationListSize = some_count(256);
    }
    if (is_odd()) {
        args.BroadcastContextCount = some_count(64);
        for (unsigned i = 0; i < 64 && i < args.BroadcastContextCount; i++)
            args.BroadcastContext[i] = i < 3 ? some_context(c) : 0;
    }
    if (is_odd()) {
        args.pPrivateDriverData = rig_below(4) ? private_data : NULL;
        args.PrivateDriverDataSize = rig_below(sizeof(private_data) + 1);
    }
    rendering = k;
    status = D3DKMTRender(&args);
    rendering = NULL;
    rig_trace("render: context 0x%x, status 0x%x", args.hContext, (unsigned)status);
    for (unsigned i = 0; NT_SUCCESS(status) && i < RIG_CONTEXTS; i++)
        if (c->context[i].handle == args.hContext)
            rig_take_buffers(&c->context[i], &args);
}

/* ---- SubmitCommand ---- */

static void submit(struct rig_client *c)
{
    static uint8_t private_data[0x2000];
    D3DKMT_HANDLE history[4];
    const struct rig_context *k = live_context(c, true);
    D3DKMT_SUBMITCOMMAND args;
    NTSTATUS status;

    if (!k)
        return;
    memset(&args, 0, sizeof(args));
    args.Commands = is_odd() ? rig_number(8) : 0x10000ull * (1 + rig_below(4));
    args.CommandLength = is_odd() ? some_count(0x1000) : 64;
    args.BroadcastContextCount = is_odd() ? some_count(64) : 1;
    for (unsigned i = 0; i < 64 && i < args.BroadcastContextCount; i++)
        args.BroadcastContext[i] = i == 0 && !is_odd() ? k->handle : i < 3 ? some_context(c) : 0;
    if (is_odd())
        *(UINT *)(void *)&args.Flags = (UINT)rig_number(4);
    if (is_odd()) {
        args.pPrivateDriverData = is_odd() ? NULL : private_data;
        args.PrivateDriverDataSize = some_count(rig.private_bytes);
    }
    if (is_odd()) {
        args.NumPrimaries = some_count(16);
        args.WrittenPrimaries[0] = some_allocation(c);
    }
    if (is_odd()) {
        args.NumHistoryBuffers = some_count(2);
        args.HistoryBufferArray = rig_below(4) ? history : NULL;
        for (unsigned i = 0; i < 4; i++)
            history[i] = some_allocation(c);
        if (args.NumHistoryBuffers > 4 && args.HistoryBufferArray)
            args.NumHistoryBuffers = 4;
    }
    status = D3DKMTSubmitCommand(&args);
    rig_trace("submit: context 0x%x, status 0x%x", args.BroadcastContext[0], (unsigned)status);
}

/* ---- synchronization ---- */

static void signal_gpu(struct rig_client *c)
{
    D3DKMT_HANDLE objects[4] = {some_fence(c), some_fence(c), some_fence(c), some_fence(c)};
    UINT64 values[4] = {rig_number(1), rig_number(1), 0, rig_number(8)};
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU args = {.hContext = some_context(c),
                                                            .ObjectCount = is_odd() ? rig_below(5)
                                                                                    : 1,
                                                            .ObjectHandleArray = objects,
                                                            .MonitoredFenceValueArray = values};

    (void)D3DKMTSignalSynchronizationObjectFromGpu(&args);
}

static void wait_gpu(struct rig_client *c)
{
    D3DKMT_HANDLE objects[4] = {some_fence(c), some_fence(c), some_fence(c), some_fence(c)};
    UINT64 values[4] = {rig_number(1), rig_number(1), 0, rig_number(8)};
    const D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU args = {.hContext = some_context(c),
                                                             .ObjectCount = is_odd() ? rig_below(5)
                                                                                     : 1,
                                                             .ObjectHandleArray = objects,
                                                             .MonitoredFenceValueArray = values};

    (void)D3DKMTWaitForSynchronizationObjectFromGpu(&args);
}

static void signal_cpu(struct rig_client *c)
{
    D3DKMT_HANDLE object = some_fence(c);
    UINT64 value = rig_below(4) ? rig_number(1) : rig_number(8);
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU args = {
        .hDevice = is_odd() ? odd_handle(c) : c->device[rig_below(RIG_DEVICES)],
        .ObjectCount = 1,
        .ObjectHandleArray = &object,
        .FenceValueArray = &value};

    (void)D3DKMTSignalSynchronizationObjectFromCpu(&args);
}

static void signal_old(struct rig_client *c)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 args;

    memset(&args, 0, sizeof(args));
    args.hContext = some_context(c);
    args.ObjectCount = is_odd() ? some_count(32) : 1;
    args.ObjectHandleArray[0] = some_fence(c);
    args.Flags.Value = is_odd() ? (UINT)rig_number(4) & ~2u : 0;
    args.BroadcastContextCount = is_odd() ? some_count(64) : 0;
    args.BroadcastContext[0] = some_context(c);
    args.Fence.FenceValue = rig_number(1);
    (void)D3DKMTSignalSynchronizationObject2(&args);
}

static void wait_old(struct rig_client *c)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 args;

    memset(&args, 0, sizeof(args));
    args.hContext = some_context(c);
    args.ObjectCount = is_odd() ? some_count(32) : 1;
    args.ObjectHandleArray[0] = some_fence(c);
    args.Fence.FenceValue = rig_number(1);
    (void)D3DKMTWaitForSynchronizationObject2(&args);
}

/* ---- objects ---- */

static void make(struct rig_client *c)
{
    const unsigned device = rig_below(RIG_DEVICES);

    if (!rig_open(c, device))
        return;
    switch (rig_below(4)) {
    case 0:
        rig_create_fence(c, device);
        break;
    case 1:
        rig_create_allocation(c, device, is_odd() ? 1 + rig_number(3) : 0x1000ull << rig_below(10));
        break;
    default:
        rig_create_context(c, device, rig_below(2) && !rig.old,
                           is_odd() ? (UINT)rig_number(4) : rig_below(2));
    }
}

static void unmake(struct rig_client *c)
{
    const unsigned which = rig_byte();
    struct rig_context *k = &c->context[which % RIG_CONTEXTS];

    switch (rig_below(8)) {
    case 0:
        rig_close(c, which % RIG_DEVICES);
        break;
    case 1:
    case 2: {
        const D3DKMT_DESTROYALLOCATION2 args = {
            .hDevice = c->device[c->allocation[which % RIG_ALLOCATIONS].device],
            .phAllocationList = &c->allocation[which % RIG_ALLOCATIONS].handle,
            .AllocationCount = 1};

        if (NT_SUCCESS(D3DKMTDestroyAllocation2(&args)))
            c->allocation[which % RIG_ALLOCATIONS].handle = 0;
        break;
    }
    case 3: {
        const D3DKMT_DESTROYSYNCHRONIZATIONOBJECT args = {c->fence[which % RIG_FENCES].handle};

        if (NT_SUCCESS(D3DKMTDestroySynchronizationObject(&args)))
            c->fence[which % RIG_FENCES].handle = 0;
        break;
    }
    case 4:
        if (k->handle)
            rig_destroy_context(c, k);
        break;
    default:
        break;
    }
}

static void set_priority(struct rig_client *c)
{
    const D3DKMT_SETCONTEXTSCHEDULINGPRIORITY args = {
        some_context(c), is_odd() ? (INT)rig_number(4) : (INT)rig_below(15) - 7};

    (void)D3DKMTSetContextSchedulingPriority(&args);
}

static void mark_error(struct rig_client *c)
{
    D3DKMT_MARKDEVICEASERROR args = {
        .hDevice = c->device[rig_below(RIG_DEVICES)],
        .Reason = (D3DKMT_DEVICE_ERROR_REASON)(is_odd() ? rig_number(4) : rig_below(3))};

    if (rig_below(4) == 0)
        (void)D3DKMTMarkDeviceAsError(&args);
}

static void resident(struct rig_client *c)
{
    D3DKMT_HANDLE list[3] = {some_allocation(c), some_allocation(c), some_allocation(c)};
    D3DKMT_EVICT evict = {.hDevice = c->device[rig_below(RIG_DEVICES)],
                          .NumAllocations = 1 + rig_below(3),
                          .AllocationList = list};

    (void)D3DKMTEvict(&evict);
}

static void pass(struct rig_client *c)
{
    (void)c;
    probe_sleep(100ull << rig_below(16));
}

static void operate(struct rig_client *c)
{
    static void (*const what[])(struct rig_client * c) = {
        render,     render,       render,     render,     render,   submit, submit, submit,
        signal_gpu, wait_gpu,     signal_cpu, signal_old, wait_old, make,   make,   make,
        unmake,     set_priority, mark_error, resident,   pass,     pass};

    what[rig_byte() % (sizeof(what) / sizeof(what[0]))](c);
}

/* ---- the driver's side ---- */

static void check_patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];

    (void)p;
    MUST(args->DmaBufferSubmissionStartOffset <= args->DmaBufferSubmissionEndOffset &&
         args->DmaBufferSubmissionEndOffset <= args->DmaBufferSize);
    MUST(args->PatchLocationListSubmissionStart <= args->PatchLocationListSize &&
         args->PatchLocationListSubmissionLength <=
             args->PatchLocationListSize - args->PatchLocationListSubmissionStart);
    for (UINT i = 0; i < args->PatchLocationListSubmissionLength && !args->Flags.Paging; i++) {
        const D3DDDI_PATCHLOCATIONLIST *l =
            &args->pPatchLocationList[args->PatchLocationListSubmissionStart + i];

        MUST(l->AllocationIndex < args->AllocationListSize && l->PatchOffset < args->DmaBufferSize);
    }
}

static void check_render(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RENDER *args = (const DXGKARG_RENDER *)(uintptr_t)call->arg[1];
    volatile uint8_t sum = 0;

    (void)p;
    MUST(args->AllocationListSize <= 0x10000 && args->DmaSize >= rig.buffer_bytes);
    for (UINT i = 0; i < args->CommandLength; i++)
        sum = (uint8_t)(sum + ((const volatile uint8_t *)args->pCommand)[i]);
    scribble();
}

static void (*rig_render)(struct probe *p, struct probe_call *call),
    (*rig_patch)(struct probe *p, struct probe_call *call);

static void before_render(struct probe *p, struct probe_call *call)
{
    check_render(p, call);
    rig_render(p, call);
}

static void before_patch(struct probe *p, struct probe_call *call)
{
    check_patch(p, call);
    rig_patch(p, call);
}

static void prepare(struct probe *p)
{
    rig_render = p->before[PROBE_Render];
    rig_patch = p->before[PROBE_Patch];
    p->before[PROBE_Render] = before_render;
    p->before[PROBE_Patch] = before_patch;
}

/* Some clients close what they have, others end as they are. */
static void leave(struct rig_client *c)
{
    for (unsigned i = 0; i < RIG_DEVICES && !rig_stopped(); i++)
        if (rig.operations & 1)
            rig_close(c, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rig_begin(data, size, prepare);
    rig_run(operate, leave);
    MUST(!rig_stopped());
    MUST(probe_reports(rig.p, VERIFY_ERROR) == 0);
    rig_finish();
    return 0;
}
