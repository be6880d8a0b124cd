/* SPDX-License-Identifier: MIT */
/* What a user-mode driver of the reference GPU does, in small steps, for client programs of tests. */
#ifndef DXGK_TESTS_HOST_REFGPU_CLIENT_H
#define DXGK_TESTS_HOST_REFGPU_CLIENT_H

#include "host/support/machine.h"

#include "../drivers/refgpu/refgpu_umd.h"

/* An adapter, a device, a paging queue, and a context on each engine. */
struct gpu {
    D3DKMT_HANDLE adapter, device, queue, queue_fence;
    volatile const UINT64 *queue_value;
    D3DKMT_HANDLE copy;         /* virtual context on node 1 */
    D3DKMT_HANDLE render;       /* physical context on node 0 */
    D3DKMT_CREATECONTEXT lists; /* its buffer and lists, replaced at each render */
};

struct memory {
    D3DKMT_HANDLE handle;
    UINT64 bytes;
    D3DGPU_VIRTUAL_ADDRESS va;
    void *cpu;
};

static inline NTSTATUS gpu_open_adapter(struct gpu *g)
{
    D3DKMT_ENUMADAPTERS enumeration;
    NTSTATUS status;

    memset(&enumeration, 0, sizeof(enumeration));
    status = D3DKMTEnumAdapters(&enumeration);
    if (NT_SUCCESS(status) && enumeration.NumAdapters == 0)
        return STATUS_NOT_FOUND;
    g->adapter = enumeration.Adapters[0].hAdapter;
    return status;
}

static inline NTSTATUS gpu_close_adapter(struct gpu *g)
{
    D3DKMT_CLOSEADAPTER close = {g->adapter};

    return D3DKMTCloseAdapter(&close);
}

static inline NTSTATUS gpu_create_device(struct gpu *g)
{
    D3DKMT_CREATEDEVICE create;
    NTSTATUS status;

    memset(&create, 0, sizeof(create));
    create.hAdapter = g->adapter;
    status = D3DKMTCreateDevice(&create);
    g->device = create.hDevice;
    return status;
}

static inline NTSTATUS gpu_create_queue(struct gpu *g)
{
    D3DKMT_CREATEPAGINGQUEUE create;
    NTSTATUS status;

    memset(&create, 0, sizeof(create));
    create.hDevice = g->device;
    status = D3DKMTCreatePagingQueue(&create);
    g->queue = create.hPagingQueue;
    g->queue_fence = create.hSyncObject;
    g->queue_value = create.FenceValueCPUVirtualAddress;
    return status;
}

static inline NTSTATUS gpu_create_copy_context(struct gpu *g)
{
    D3DKMT_CREATECONTEXTVIRTUAL create;
    NTSTATUS status;

    memset(&create, 0, sizeof(create));
    create.hDevice = g->device;
    create.NodeOrdinal = REFGPU_NODE_COPY;
    status = D3DKMTCreateContextVirtual(&create);
    g->copy = create.hContext;
    return status;
}

static inline NTSTATUS gpu_create_render_context(struct gpu *g)
{
    NTSTATUS status;

    memset(&g->lists, 0, sizeof(g->lists));
    g->lists.hDevice = g->device;
    g->lists.NodeOrdinal = REFGPU_NODE_2D;
    status = D3DKMTCreateContext(&g->lists);
    g->render = g->lists.hContext;
    return status;
}

static inline NTSTATUS gpu_begin(struct gpu *g)
{
    NTSTATUS status;

    memset(g, 0, sizeof(*g));
    status = gpu_open_adapter(g);
    if (NT_SUCCESS(status))
        status = gpu_create_device(g);
    if (NT_SUCCESS(status))
        status = gpu_create_queue(g);
    if (NT_SUCCESS(status))
        status = gpu_create_copy_context(g);
    return NT_SUCCESS(status) ? gpu_create_render_context(g) : status;
}

static inline NTSTATUS gpu_destroy_context(D3DKMT_HANDLE context)
{
    D3DKMT_DESTROYCONTEXT destroy = {context};

    return D3DKMTDestroyContext(&destroy);
}

static inline NTSTATUS gpu_destroy_device(struct gpu *g)
{
    D3DKMT_DESTROYDEVICE destroy = {g->device};

    return D3DKMTDestroyDevice(&destroy);
}

static inline NTSTATUS gpu_end(struct gpu *g)
{
    NTSTATUS status = gpu_destroy_device(g);

    return NT_SUCCESS(status) ? gpu_close_adapter(g) : status;
}

/* ---- fences ---- */

static inline NTSTATUS gpu_wait_cpu(const struct gpu *g, D3DKMT_HANDLE fence, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;

    memset(&wait, 0, sizeof(wait));
    wait.hDevice = g->device;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &fence;
    wait.FenceValueArray = &value;
    return D3DKMTWaitForSynchronizationObjectFromCpu(&wait);
}

static inline NTSTATUS gpu_create_fence(const struct gpu *g,
                                        D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *create)
{
    memset(create, 0, sizeof(*create));
    create->hDevice = g->device;
    create->Info.Type = D3DDDI_MONITORED_FENCE;
    return D3DKMTCreateSynchronizationObject2(create);
}

static inline NTSTATUS gpu_signal(D3DKMT_HANDLE context, D3DKMT_HANDLE fence, UINT64 value)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU signal;

    memset(&signal, 0, sizeof(signal));
    signal.hContext = context;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray = &fence;
    signal.MonitoredFenceValueArray = &value;
    return D3DKMTSignalSynchronizationObjectFromGpu(&signal);
}

static inline NTSTATUS gpu_wait(D3DKMT_HANDLE context, D3DKMT_HANDLE fence, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait;

    memset(&wait, 0, sizeof(wait));
    wait.hContext = context;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &fence;
    wait.MonitoredFenceValueArray = &value;
    return D3DKMTWaitForSynchronizationObjectFromGpu(&wait);
}

/* ---- memory ---- */

static inline NTSTATUS gpu_create_memory(const struct gpu *g, UINT64 bytes, UINT flags,
                                         UINT segments, struct memory *m)
{
    struct refgpu_allocation_data data;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION create;
    NTSTATUS status;

    memset(m, 0, sizeof(*m));
    memset(&data, 0, sizeof(data));
    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    data.magic = REFGPU_UMD_MAGIC;
    data.flags = flags;
    data.bytes = bytes;
    data.segments = segments;
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    create.hDevice = g->device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&create);
    m->handle = info.hAllocation;
    m->bytes = data.bytes;
    return status;
}

static inline NTSTATUS gpu_make_resident(const struct gpu *g, D3DKMT_HANDLE allocation)
{
    D3DDDI_MAKERESIDENT resident;
    NTSTATUS status;

    memset(&resident, 0, sizeof(resident));
    resident.hPagingQueue = g->queue;
    resident.NumAllocations = 1;
    resident.AllocationList = &allocation;
    status = D3DKMTMakeResident(&resident);
    return status == STATUS_PENDING ? gpu_wait_cpu(g, g->queue_fence, resident.PagingFenceValue)
                                    : status;
}

static inline NTSTATUS gpu_map(const struct gpu *g, struct memory *m)
{
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    NTSTATUS status;

    memset(&map, 0, sizeof(map));
    map.hPagingQueue = g->queue;
    map.hAllocation = m->handle;
    map.SizeInPages = m->bytes / 4096;
    map.Protection.Write = 1;
    status = D3DKMTMapGpuVirtualAddress(&map);
    m->va = map.VirtualAddress;
    return status == STATUS_PENDING ? gpu_wait_cpu(g, g->queue_fence, map.PagingFenceValue) : status;
}

static inline NTSTATUS gpu_lock(const struct gpu *g, struct memory *m)
{
    D3DKMT_LOCK2 lock;
    NTSTATUS status;

    memset(&lock, 0, sizeof(lock));
    lock.hDevice = g->device;
    lock.hAllocation = m->handle;
    status = D3DKMTLock2(&lock);
    m->cpu = lock.pData;
    return status;
}

static inline NTSTATUS gpu_unlock(const struct gpu *g, struct memory *m)
{
    D3DKMT_UNLOCK2 unlock = {g->device, m->handle};

    m->cpu = NULL;
    return D3DKMTUnlock2(&unlock);
}

/* Memory that both sides reach: created, resident, mapped, locked. */
static inline NTSTATUS gpu_memory(const struct gpu *g, UINT64 bytes, UINT flags, UINT segments,
                                  struct memory *m)
{
    NTSTATUS status = gpu_create_memory(g, bytes, flags, segments, m);

    if (NT_SUCCESS(status))
        status = gpu_make_resident(g, m->handle);
    if (NT_SUCCESS(status))
        status = gpu_map(g, m);
    if (NT_SUCCESS(status) && flags & REFGPU_ALLOCATION_CPU_VISIBLE)
        status = gpu_lock(g, m);
    return status;
}

static inline NTSTATUS gpu_destroy_memory(const struct gpu *g, const struct memory *m)
{
    D3DKMT_DESTROYALLOCATION2 destroy;

    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g->device;
    destroy.phAllocationList = &m->handle;
    destroy.AllocationCount = 1;
    return D3DKMTDestroyAllocation2(&destroy);
}

/* ---- submissions ---- */

static inline NTSTATUS gpu_submit(D3DKMT_HANDLE context, D3DGPU_VIRTUAL_ADDRESS commands, UINT bytes)
{
    D3DKMT_SUBMITCOMMAND submit;

    memset(&submit, 0, sizeof(submit));
    submit.Commands = commands;
    submit.CommandLength = bytes;
    submit.BroadcastContextCount = 1;
    submit.BroadcastContext[0] = context;
    return D3DKMTSubmitCommand(&submit);
}

static inline NTSTATUS gpu_render(struct gpu *g, UINT bytes, UINT allocations)
{
    D3DKMT_RENDER render;
    NTSTATUS status;

    memset(&render, 0, sizeof(render));
    render.hContext = g->render;
    render.CommandLength = bytes;
    render.AllocationCount = allocations;
    status = D3DKMTRender(&render);
    if (NT_SUCCESS(status)) {
        g->lists.pCommandBuffer = render.pNewCommandBuffer;
        g->lists.CommandBufferSize = render.NewCommandBufferSize;
        g->lists.pAllocationList = render.pNewAllocationList;
        g->lists.AllocationListSize = render.NewAllocationListSize;
        g->lists.pPatchLocationList = render.pNewPatchLocationList;
        g->lists.PatchLocationListSize = render.NewPatchLocationListSize;
    }
    return status;
}

static inline NTSTATUS gpu_wait_idle(const struct gpu *g)
{
    D3DKMT_WAITFORIDLE wait = {g->device};

    return D3DKMTWaitForIdle(&wait);
}

#endif
