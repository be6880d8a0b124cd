/* SPDX-License-Identifier: MIT */
/* The machine and the client that the cases share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

void bench_check(const char *call, NTSTATUS status)
{
    if (!NT_SUCCESS(status))
        bench_die("%s failed with 0x%08x", call, (unsigned)status);
}

void bench_on_machine(void (*fn)(void *argument), void *argument)
{
    bench_on_machine_with(DXGK_IOMMU_OFF, fn, argument);
}

void bench_on_machine_with(enum dxgk_iommu iommu, void (*fn)(void *argument), void *argument)
{
    struct dxgk_machine_config config;

    dxgk_machine_config_init(&config);
    config.iommu = iommu;
    bench_on_machine_as(&config, fn, argument);
}

void bench_on_machine_as(const struct dxgk_machine_config *as, void (*fn)(void *argument),
                         void *argument)
{
    struct dxgk_machine_config config = *as;
    struct dxgk_machine *machine;
    char error[512] = "";

    config.seed = 1 + bench_options.seed_base;
    config.processors = 1;
    machine = dxgk_machine_create(&config, error, sizeof(error));
    if (!machine)
        bench_die("no machine: %s", error);
    if (bench_options.registry && dxgk_machine_load_registry(machine, bench_options.registry, error,
                                                             sizeof(error)) != DXGK_OK)
        bench_die("no registry: %s", error);
    if (dxgk_machine_add_device(machine, bench_options.device, NULL, 0, error, sizeof(error)) !=
            DXGK_OK ||
        dxgk_machine_load_driver(machine, bench_options.driver, error, sizeof(error)) != DXGK_OK)
        bench_die("no adapter: %s", error);
    if (dxgk_machine_run(machine, "bench", fn, argument) != DXGK_OK)
        bench_die("the run did not end well");
    dxgk_machine_shutdown(machine);
    dxgk_machine_destroy(machine);
}

void bench_client_open(struct bench_client *c)
{
    D3DKMT_ADAPTERINFO info[4];
    D3DKMT_ENUMADAPTERS2 adapters = {.NumAdapters = 4, .pAdapters = info};
    D3DKMT_CREATEDEVICE device;
    D3DKMT_CREATEPAGINGQUEUE queue;
    D3DKMT_CREATECONTEXT physical;
    D3DKMT_CREATECONTEXTVIRTUAL virtual;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 sync;

    memset(c, 0, sizeof(*c));
    bench_check("D3DKMTEnumAdapters2", D3DKMTEnumAdapters2(&adapters));
    if (adapters.NumAdapters == 0)
        bench_die("no adapter");
    c->adapter = info[0].hAdapter;
    memset(&device, 0, sizeof(device));
    device.hAdapter = c->adapter;
    bench_check("D3DKMTCreateDevice", D3DKMTCreateDevice(&device));
    c->device = device.hDevice;
    memset(&queue, 0, sizeof(queue));
    queue.hDevice = c->device;
    bench_check("D3DKMTCreatePagingQueue", D3DKMTCreatePagingQueue(&queue));
    c->queue = queue.hPagingQueue;
    c->queue_sync = queue.hSyncObject;
    memset(&physical, 0, sizeof(physical));
    physical.hDevice = c->device;
    physical.NodeOrdinal = REFGPU_NODE_2D;
    physical.EngineAffinity = 1;
    bench_check("D3DKMTCreateContext", D3DKMTCreateContext(&physical));
    c->physical = physical.hContext;
    c->commands = physical.pCommandBuffer;
    c->command_bytes = physical.CommandBufferSize;
    c->list = physical.pAllocationList;
    c->list_count = physical.AllocationListSize;
    memset(&virtual, 0, sizeof(virtual));
    virtual.hDevice = c->device;
    virtual.NodeOrdinal = REFGPU_NODE_COPY;
    virtual.EngineAffinity = 1;
    bench_check("D3DKMTCreateContextVirtual", D3DKMTCreateContextVirtual(&virtual));
    c->virtual = virtual.hContext;
    memset(&sync, 0, sizeof(sync));
    sync.hDevice = c->device;
    sync.Info.Type = D3DDDI_MONITORED_FENCE;
    bench_check("D3DKMTCreateSynchronizationObject2", D3DKMTCreateSynchronizationObject2(&sync));
    c->fence = sync.hSyncObject;
}

void bench_client_close(struct bench_client *c)
{
    D3DKMT_DESTROYDEVICE device = {.hDevice = c->device};
    D3DKMT_CLOSEADAPTER adapter = {.hAdapter = c->adapter};

    bench_check("D3DKMTDestroyDevice", D3DKMTDestroyDevice(&device));
    bench_check("D3DKMTCloseAdapter", D3DKMTCloseAdapter(&adapter));
}

D3DKMT_HANDLE bench_allocate(struct bench_client *c, uint64_t bytes, uint32_t flags,
                             uint32_t segments)
{
    struct refgpu_allocation_data data;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION create;

    memset(&data, 0, sizeof(data));
    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    data.magic = REFGPU_UMD_MAGIC;
    data.flags = flags;
    data.bytes = bytes;
    data.segments = segments;
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    create.hDevice = c->device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    bench_check("D3DKMTCreateAllocation2", D3DKMTCreateAllocation2(&create));
    return info.hAllocation;
}

void bench_free(struct bench_client *c, const D3DKMT_HANDLE *list, UINT count)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = c->device;
    args.phAllocationList = list;
    args.AllocationCount = count;
    bench_check("D3DKMTDestroyAllocation2", D3DKMTDestroyAllocation2(&args));
}

static void wait_for(struct bench_client *c, D3DKMT_HANDLE sync, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;

    memset(&wait, 0, sizeof(wait));
    wait.hDevice = c->device;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &sync;
    wait.FenceValueArray = &value;
    bench_check("D3DKMTWaitForSynchronizationObjectFromCpu",
                D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
}

void bench_make_resident(struct bench_client *c, const D3DKMT_HANDLE *list, UINT count)
{
    D3DDDI_MAKERESIDENT args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = c->queue;
    args.NumAllocations = count;
    args.AllocationList = list;
    bench_check("D3DKMTMakeResident", D3DKMTMakeResident(&args));
    if (args.PagingFenceValue)
        wait_for(c, c->queue_sync, args.PagingFenceValue);
}

void bench_drain(struct bench_client *c, D3DKMT_HANDLE context)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU signal;
    UINT64 value = ++c->fence_value;

    memset(&signal, 0, sizeof(signal));
    signal.hContext = context;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray = &c->fence;
    signal.MonitoredFenceValueArray = &value;
    bench_check("D3DKMTSignalSynchronizationObjectFromGpu",
                D3DKMTSignalSynchronizationObjectFromGpu(&signal));
    wait_for(c, c->fence, value);
}

/* ---- many allocations, and addresses ---- */

const uint64_t bench_live_counts[3] = {1000, 10000, 100000};

D3DKMT_HANDLE *bench_make_live(struct bench_client *c, uint64_t count)
{
    D3DKMT_HANDLE *list = malloc(count * sizeof(*list));

    if (!list)
        bench_die("out of memory");
    for (uint64_t i = 0; i < count; i++)
        list[i] = bench_allocate(c, 4096, REFGPU_ALLOCATION_PHYSICAL,
                                 REFGPU_IN_VRAM | REFGPU_IN_APERTURE);
    return list;
}

void bench_drop_live(struct bench_client *c, D3DKMT_HANDLE *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 1000)
        bench_free(c, list + i, (UINT)(count - i < 1000 ? count - i : 1000));
    free(list);
}

D3DGPU_VIRTUAL_ADDRESS bench_map_pages(struct bench_client *c, D3DKMT_HANDLE allocation,
                                       uint64_t pages, UINT64 *fence)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = c->queue;
    args.hAllocation = allocation;
    args.SizeInPages = pages;
    args.Protection.Write = 1;
    bench_check("D3DKMTMapGpuVirtualAddress", D3DKMTMapGpuVirtualAddress(&args));
    *fence = args.PagingFenceValue;
    return args.VirtualAddress;
}

void bench_wait_queue(struct bench_client *c, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;

    if (!value)
        return;
    memset(&wait, 0, sizeof(wait));
    wait.hDevice = c->device;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &c->queue_sync;
    wait.FenceValueArray = &value;
    bench_check("D3DKMTWaitForSynchronizationObjectFromCpu",
                D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
}

void bench_unmap(struct bench_client *c, D3DGPU_VIRTUAL_ADDRESS va, uint64_t bytes)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = c->adapter;
    args.BaseAddress = va;
    args.Size = bytes;
    bench_check("D3DKMTFreeGpuVirtualAddress", D3DKMTFreeGpuVirtualAddress(&args));
}
