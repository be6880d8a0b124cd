/* SPDX-License-Identifier: MIT */
/*
 * Calls of a client while the memory of the host runs out: each is made with its first request for
 * memory failing, then its second, and so on until none fails. What it answers and what it leaves
 * behind is looked at each time (KMT-013).
 */
#include "host/support/refgpu_client.h"

#include "sim/machine.h"

struct scene {
    struct gpu gpu;
    struct memory memory;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence; /* which a call has as an operand */
    D3DKMT_HANDLE keyed_global, sync_global;
    HANDLE shared;      /* a monitored fence */
    D3DKMT_HANDLE made; /* by the call */
    HANDLE made_nt;
    struct gpu other; /* what the call makes goes in here */
    struct memory piece;
    bool quarantine; /* freed pages are kept for a while */
    char said[128];
};

struct attempt {
    const char *name;
    NTSTATUS (*call)(struct scene *s);
    NTSTATUS (*undo)(struct scene *s); /* NULL: nothing is made */
};

/* ---- adapters, devices, queues, contexts ---- */

static NTSTATUS open_adapter(struct scene *s)
{
    D3DKMT_OPENADAPTERFROMLUID open;
    D3DKMT_ENUMADAPTERS all;
    NTSTATUS status;

    memset(&all, 0, sizeof(all));
    memset(&open, 0, sizeof(open));
    status = D3DKMTEnumAdapters(&all);
    if (!NT_SUCCESS(status))
        return status;
    s->other.adapter = all.Adapters[0].hAdapter;
    open.AdapterLuid = all.Adapters[0].AdapterLuid;
    status = D3DKMTOpenAdapterFromLuid(&open);
    s->made = open.hAdapter;
    if (!NT_SUCCESS(status))
        (void)gpu_close_adapter(&s->other);
    return status;
}

static NTSTATUS close_both(struct scene *s)
{
    D3DKMT_CLOSEADAPTER close = {s->made};
    NTSTATUS status = D3DKMTCloseAdapter(&close);

    return NT_SUCCESS(status) ? gpu_close_adapter(&s->other) : status;
}

static NTSTATUS create_device(struct scene *s)
{
    s->other.adapter = s->gpu.adapter;
    return gpu_create_device(&s->other);
}

static NTSTATUS destroy_device(struct scene *s)
{
    return gpu_destroy_device(&s->other);
}

static NTSTATUS create_queue(struct scene *s)
{
    s->other.device = s->gpu.device;
    return gpu_create_queue(&s->other);
}

static NTSTATUS destroy_queue(struct scene *s)
{
    D3DDDI_DESTROYPAGINGQUEUE destroy = {s->other.queue};

    return D3DKMTDestroyPagingQueue(&destroy);
}

static NTSTATUS create_virtual_context(struct scene *s)
{
    s->other.device = s->gpu.device;
    return gpu_create_copy_context(&s->other);
}

static NTSTATUS destroy_virtual_context(struct scene *s)
{
    return gpu_destroy_context(s->other.copy);
}

static NTSTATUS create_physical_context(struct scene *s)
{
    s->other.device = s->gpu.device;
    return gpu_create_render_context(&s->other);
}

static NTSTATUS destroy_physical_context(struct scene *s)
{
    return gpu_destroy_context(s->other.render);
}

/* ---- memory ---- */

static NTSTATUS create_memory(struct scene *s)
{
    return gpu_create_memory(&s->gpu, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_VRAM,
                             &s->piece);
}

static NTSTATUS destroy_memory(struct scene *s)
{
    return gpu_destroy_memory(&s->gpu, &s->piece);
}

static NTSTATUS reserve(struct scene *s)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = s->gpu.queue;
    args.Size = 1u << 20;
    args.ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS;
    status = D3DKMTReserveGpuVirtualAddress(&args);
    s->piece.va = args.VirtualAddress;
    return status;
}

static NTSTATUS free_reserved(struct scene *s)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args = {s->gpu.adapter, s->piece.va, 1u << 20};

    return D3DKMTFreeGpuVirtualAddress(&args);
}

static NTSTATUS lock(struct scene *s)
{
    return gpu_lock(&s->gpu, &s->memory);
}

static NTSTATUS unlock(struct scene *s)
{
    return gpu_unlock(&s->gpu, &s->memory);
}

static NTSTATUS offer(struct scene *s)
{
    D3DKMT_OFFERALLOCATIONS args;

    memset(&args, 0, sizeof(args));
    args.hDevice = s->gpu.device;
    args.HandleList = &s->memory.handle;
    args.NumAllocations = 1;
    args.Priority = D3DKMT_OFFER_PRIORITY_LOW;
    return D3DKMTOfferAllocations(&args);
}

static NTSTATUS reclaim(struct scene *s)
{
    D3DKMT_RECLAIMALLOCATIONS2 args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = s->gpu.queue;
    args.HandleList = &s->memory.handle;
    args.NumAllocations = 1;
    status = D3DKMTReclaimAllocations2(&args);
    return status == STATUS_PENDING
               ? gpu_wait_cpu(&s->gpu, s->gpu.queue_fence, args.PagingFenceValue)
               : status;
}

static NTSTATUS query_residency(struct scene *s)
{
    D3DKMT_ALLOCATIONRESIDENCYSTATUS where;
    D3DKMT_QUERYALLOCATIONRESIDENCY args;

    memset(&args, 0, sizeof(args));
    args.hDevice = s->gpu.device;
    args.AllocationCount = 1;
    args.phAllocationList = &s->memory.handle;
    args.pResidencyStatus = &where;
    return D3DKMTQueryAllocationResidency(&args);
}

static NTSTATUS set_priority(struct scene *s)
{
    const UINT priority = D3DDDI_ALLOCATIONPRIORITY_HIGH;
    D3DKMT_SETALLOCATIONPRIORITY args;

    memset(&args, 0, sizeof(args));
    args.hDevice = s->gpu.device;
    args.phAllocationList = &s->memory.handle;
    args.AllocationCount = 1;
    args.pPriorities = &priority;
    return D3DKMTSetAllocationPriority(&args);
}

/* ---- synchronization objects ---- */

static NTSTATUS destroy_sync(D3DKMT_HANDLE sync)
{
    return D3DKMTDestroySynchronizationObject(&(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){sync});
}

static NTSTATUS destroy_made(struct scene *s)
{
    return destroy_sync(s->made);
}

static NTSTATUS create_fence(struct scene *s)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    NTSTATUS status = gpu_create_fence(&s->gpu, &create);

    s->made = create.hSyncObject;
    return status;
}

static NTSTATUS create_shared(struct scene *s)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    NTSTATUS status;

    memset(&create, 0, sizeof(create));
    create.hDevice = s->gpu.device;
    create.Info.Type = D3DDDI_FENCE;
    create.Info.Flags.Shared = 1;
    status = D3DKMTCreateSynchronizationObject2(&create);
    s->made = create.hSyncObject;
    s->sync_global = create.Info.SharedHandle;
    return status;
}

static NTSTATUS open_shared(struct scene *s)
{
    D3DKMT_OPENSYNCHRONIZATIONOBJECT open;
    NTSTATUS status;

    memset(&open, 0, sizeof(open));
    open.hSharedHandle = s->sync_global;
    status = D3DKMTOpenSynchronizationObject(&open);
    s->made = open.hSyncObject;
    return status;
}

static NTSTATUS signal_from_cpu(struct scene *s)
{
    const UINT64 value = 1;
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU args = {
        .hDevice = s->gpu.device,
        .ObjectCount = 1,
        .ObjectHandleArray = &s->fence.hSyncObject,
        .FenceValueArray = &value};

    return D3DKMTSignalSynchronizationObjectFromCpu(&args);
}

static NTSTATUS wait_from_cpu(struct scene *s)
{
    return gpu_wait_cpu(&s->gpu, s->fence.hSyncObject, 1);
}

static NTSTATUS signal_from_gpu(struct scene *s)
{
    return gpu_signal(s->gpu.copy, s->fence.hSyncObject, 2);
}

static NTSTATUS signal_from_gpu2(struct scene *s)
{
    const UINT64 value = 3;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 args;

    memset(&args, 0, sizeof(args));
    args.ObjectCount = 1;
    args.ObjectHandleArray = &s->fence.hSyncObject;
    args.BroadcastContextCount = 1;
    args.BroadcastContextArray = &s->gpu.copy;
    args.MonitoredFenceValueArray = &value;
    return D3DKMTSignalSynchronizationObjectFromGpu2(&args);
}

static NTSTATUS wait_from_gpu(struct scene *s)
{
    return gpu_wait(s->gpu.copy, s->fence.hSyncObject, 1);
}

/* ---- keyed mutexes ---- */

static NTSTATUS create_keyed(struct scene *s)
{
    static const char data[16] = "of the run-time";
    D3DKMT_CREATEKEYEDMUTEX2 args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.pPrivateRuntimeData = (void *)(uintptr_t)data;
    args.PrivateRuntimeDataSize = sizeof(data);
    status = D3DKMTCreateKeyedMutex2(&args);
    s->made = args.hKeyedMutex;
    s->keyed_global = args.hSharedHandle;
    return status;
}

static NTSTATUS open_keyed(struct scene *s)
{
    char data[16];
    D3DKMT_OPENKEYEDMUTEX2 args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hSharedHandle = s->keyed_global;
    args.pPrivateRuntimeData = data;
    args.PrivateRuntimeDataSize = sizeof(data);
    status = D3DKMTOpenKeyedMutex2(&args);
    s->made = args.hKeyedMutex;
    return status;
}

static NTSTATUS destroy_keyed(struct scene *s)
{
    return D3DKMTDestroyKeyedMutex(&(D3DKMT_DESTROYKEYEDMUTEX){s->made});
}

/* ---- NT handles ---- */

static NTSTATUS share(struct scene *s)
{
    return D3DKMTShareObjects(1, &s->fence.hSyncObject, NULL, GENERIC_ALL, &s->made_nt);
}

static NTSTATUS close_nt(struct scene *s)
{
    return ZwClose(s->made_nt);
}

static NTSTATUS open_nt(struct scene *s)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hNtHandle = s->shared;
    args.hDevice = s->gpu.device;
    status = D3DKMTOpenSyncObjectFromNtHandle2(&args);
    s->made = args.hSyncObject;
    return status;
}

/* ---- questions and work ---- */

static NTSTATUS query_private(struct scene *s)
{
    struct refgpu_adapter_info info;
    D3DKMT_QUERYADAPTERINFO args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = s->gpu.adapter;
    args.pPrivateDriverData = &info;
    args.PrivateDriverDataSize = sizeof(info);
    return D3DKMTQueryAdapterInfo(&args);
}

static NTSTATUS submit(struct scene *s)
{
    return gpu_submit(s->gpu.copy, s->memory.va, 0);
}

static NTSTATUS wait_idle(struct scene *s)
{
    return gpu_wait_idle(&s->gpu);
}

static const struct attempt attempts[] = {
    {"OpenAdapterFromLuid", open_adapter, close_both},
    {"CreateDevice", create_device, destroy_device},
    {"CreatePagingQueue", create_queue, destroy_queue},
    {"CreateContextVirtual", create_virtual_context, destroy_virtual_context},
    {"CreateContext", create_physical_context, destroy_physical_context},
    {"CreateAllocation2", create_memory, destroy_memory},
    {"ReserveGpuVirtualAddress", reserve, free_reserved},
    {"Lock2", lock, unlock},
    {"OfferAllocations", offer, reclaim},
    {"QueryAllocationResidency", query_residency, NULL},
    {"SetAllocationPriority", set_priority, NULL},
    {"CreateSynchronizationObject2", create_fence, destroy_made},
    {"OpenSynchronizationObject", open_shared, destroy_made},
    {"CreateSynchronizationObject2, shared", create_shared, destroy_made},
    {"SignalSynchronizationObjectFromCpu", signal_from_cpu, NULL},
    {"WaitForSynchronizationObjectFromCpu", wait_from_cpu, NULL},
    {"SignalSynchronizationObjectFromGpu", signal_from_gpu, wait_idle},
    {"SignalSynchronizationObjectFromGpu2", signal_from_gpu2, wait_idle},
    {"WaitForSynchronizationObjectFromGpu", wait_from_gpu, wait_idle},
    {"OpenKeyedMutex2", open_keyed, destroy_keyed},
    {"CreateKeyedMutex2", create_keyed, destroy_keyed},
    {"ShareObjects", share, close_nt},
    {"OpenSyncObjectFromNtHandle2", open_nt, destroy_made},
    {"QueryAdapterInfo", query_private, NULL},
    {"SubmitCommand", submit, wait_idle},
};

static NTSTATUS make_scene(struct scene *s)
{
    NTSTATUS status = gpu_begin(&s->gpu);

    if (NT_SUCCESS(status))
        status = gpu_memory(&s->gpu, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_VRAM,
                            &s->memory);
    if (NT_SUCCESS(status))
        status = gpu_unlock(&s->gpu, &s->memory);
    if (NT_SUCCESS(status)) {
        memset(&s->fence, 0, sizeof(s->fence));
        s->fence.hDevice = s->gpu.device;
        s->fence.Info.Type = D3DDDI_MONITORED_FENCE;
        s->fence.Info.Flags.Shared = s->fence.Info.Flags.NtSecuritySharing = 1;
        status = D3DKMTCreateSynchronizationObject2(&s->fence);
    }
    if (NT_SUCCESS(status))
        status = D3DKMTShareObjects(1, &s->fence.hSyncObject, NULL, GENERIC_ALL, &s->shared);
    if (NT_SUCCESS(status))
        status = create_shared(s); /* the global handles that are opened stay */
    return NT_SUCCESS(status) ? create_keyed(s) : status;
}

/* How many requests failed; -1: a call did not say that there is no memory, or could not be undone. */
static int each_request_in_turn(struct scene *s, const struct attempt *a)
{
    struct util_heap *heap = &sim_current->heap;
    uint64_t failures;
    int failed = 0;
    NTSTATUS status;

    do {
        failures = heap->failures;
        heap->fail_at = heap->requests + (uint64_t)failed + 1;
        status = a->call(s);
        heap->fail_at = 0;
        failed++;
        if (NT_SUCCESS(status) && a->undo)
            status = a->undo(s);
        else if (status == STATUS_NO_MEMORY && heap->failures != failures)
            status = STATUS_SUCCESS;
        if (!NT_SUCCESS(status)) {
            snprintf(s->said, sizeof(s->said), "%s, request %d: status 0x%08x", a->name, failed,
                     (unsigned)status);
            return -1;
        }
    } while (heap->failures != failures && failed < 1000);
    return failed - 1;
}

/* Tables of the host grow now and then; what leaks does so each time. */
static bool leaves_nothing(struct scene *s, const struct attempt *a)
{
    const struct util_heap *heap = &sim_current->heap;
    uint64_t blocks;
    int failed;

    for (unsigned time = 0; time < 5; time++) {
        blocks = heap->live_blocks;
        failed = each_request_in_turn(s, a);
        if (failed < 0)
            return false;
        if (heap->live_blocks == blocks || s->quarantine) {
            if (getenv("DXGK_NOISY"))
                printf("    %s: %d requests\n", a->name, failed);
            return true;
        }
    }
    snprintf(s->said, sizeof(s->said), "%s: blocks are left each time", a->name);
    return false;
}

static void call_each(struct client *c, bool quarantine)
{
    static struct scene s;

    memset(&s, 0, sizeof(s));
    s.quarantine = quarantine;
    TRY(c, make_scene(&s) == STATUS_SUCCESS);
    for (unsigned i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        if (!leaves_nothing(&s, &attempts[i]))
            client_failed(c, s.said, __LINE__);
        SHOW(c, "KMT-013", !c->failed && attempts[i].call(&s) == STATUS_SUCCESS);
        if (attempts[i].undo)
            SHOW(c, "KMT-013", attempts[i].undo(&s) == STATUS_SUCCESS);
    }
}

TEST_WITH(client, each_call_says_that_there_is_no_memory)
{
    call_each(c, false);
}

static void call_each_fenced(struct client *c)
{
    call_each(c, true);
}

/* What is lent to the driver lies between guard pages. */
TEST(each_call_says_so_with_guard_pages)
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    config.special_pool = true;
    machine_create(&m, &config);
    machine_add_refgpu(&m);
    machine_run(&m, call_each_fenced);
    machine_end(&m);
}
