/* SPDX-License-Identifier: MIT */
/*
 * Every internal allocation of a whole run fails in turn: the first, the second, ... until the run needs no more. Whatever
 * failed, nothing crashes, nothing leaks, no rule is broken by it, and a run that says it succeeded has the right bytes.
 */
#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "dxgkhost/dxgkhost.h"
#include "refgpu_umd.h"

#define BYTES   65536u
#define PATTERN 0xA5C3F00Du

struct scene {
    bool finished; /* every call succeeded */
    bool right;    /* the bytes are as they should be */
    NTSTATUS status;
    const char *call;
};

struct client {
    struct scene *scene;
    D3DKMT_HANDLE adapter, device, queue, queue_sync, physical, virtual, fence, memory, back;
    UINT64 value;
    void *commands;
    UINT command_bytes;
    D3DDDI_ALLOCATIONLIST *list;
};

#define TRY(name, ...)                             \
    do {                                           \
        NTSTATUS try_status = (name)(__VA_ARGS__); \
        if (!NT_SUCCESS(try_status)) {             \
            c->scene->status = try_status;         \
            c->scene->call = #name;                \
            return false;                          \
        }                                          \
    } while (0)

static bool open_device(struct client *c)
{
    D3DKMT_ADAPTERINFO info[2];
    D3DKMT_ENUMADAPTERS2 adapters = {.NumAdapters = 2, .pAdapters = info};
    D3DKMT_CREATEDEVICE device = {0};
    D3DKMT_CREATEPAGINGQUEUE queue = {0};
    D3DKMT_CREATECONTEXT physical = {0};
    D3DKMT_CREATECONTEXTVIRTUAL virtual = {0};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 sync;

    TRY(D3DKMTEnumAdapters2, &adapters);
    if (adapters.NumAdapters != 1)
        return false;
    device.hAdapter = c->adapter = info[0].hAdapter;
    TRY(D3DKMTCreateDevice, &device);
    c->device = queue.hDevice = physical.hDevice = virtual.hDevice = device.hDevice;
    TRY(D3DKMTCreatePagingQueue, &queue);
    c->queue = queue.hPagingQueue;
    c->queue_sync = queue.hSyncObject;
    physical.NodeOrdinal = REFGPU_NODE_2D;
    physical.EngineAffinity = 1;
    TRY(D3DKMTCreateContext, &physical);
    c->physical = physical.hContext;
    c->commands = physical.pCommandBuffer;
    c->command_bytes = physical.CommandBufferSize;
    c->list = physical.pAllocationList;
    virtual.NodeOrdinal = REFGPU_NODE_COPY;
    virtual.EngineAffinity = 1;
    TRY(D3DKMTCreateContextVirtual, &virtual);
    c->virtual = virtual.hContext;
    memset(&sync, 0, sizeof(sync));
    sync.hDevice = c->device;
    sync.Info.Type = D3DDDI_MONITORED_FENCE;
    TRY(D3DKMTCreateSynchronizationObject2, &sync);
    c->fence = sync.hSyncObject;
    return true;
}

static bool allocate(struct client *c, uint32_t flags, uint32_t segments, D3DKMT_HANDLE *handle)
{
    struct refgpu_allocation_data data = {
        .magic = REFGPU_UMD_MAGIC, .flags = flags, .bytes = BYTES, .segments = segments};
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION create;

    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    create.hDevice = c->device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    TRY(D3DKMTCreateAllocation2, &create);
    *handle = info.hAllocation;
    return true;
}

static bool wait_for(struct client *c, D3DKMT_HANDLE sync, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;

    if (!value)
        return true;
    memset(&wait, 0, sizeof(wait));
    wait.hDevice = c->device;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &sync;
    wait.FenceValueArray = &value;
    TRY(D3DKMTWaitForSynchronizationObjectFromCpu, &wait);
    return true;
}

static bool resident(struct client *c, const D3DKMT_HANDLE *list, UINT count)
{
    D3DDDI_MAKERESIDENT args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = c->queue;
    args.NumAllocations = count;
    args.AllocationList = list;
    TRY(D3DKMTMakeResident, &args);
    return wait_for(c, c->queue_sync, args.PagingFenceValue);
}

static bool map(struct client *c, D3DKMT_HANDLE allocation, D3DGPU_VIRTUAL_ADDRESS *va)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = c->queue;
    args.hAllocation = allocation;
    args.SizeInPages = BYTES / 4096;
    args.Protection.Write = 1;
    TRY(D3DKMTMapGpuVirtualAddress, &args);
    *va = args.VirtualAddress;
    return wait_for(c, c->queue_sync, args.PagingFenceValue);
}

static bool drain(struct client *c, D3DKMT_HANDLE context)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU signal;
    UINT64 value = ++c->value;

    memset(&signal, 0, sizeof(signal));
    signal.hContext = context;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray = &c->fence;
    signal.MonitoredFenceValueArray = &value;
    TRY(D3DKMTSignalSynchronizationObjectFromGpu, &signal);
    return wait_for(c, c->fence, value);
}

static bool render_fill(struct client *c)
{
    struct refgpu_builder b;
    D3DKMT_RENDER render;

    refgpu_builder_init(&b, c->commands, c->command_bytes);
    refgpu_fill(&b, REFGPU_REF(0, 0), BYTES, PATTERN);
    c->list[0].hAllocation = c->memory;
    c->list[0].Value = 1;
    memset(&render, 0, sizeof(render));
    render.hContext = c->physical;
    render.CommandLength = refgpu_builder_bytes(&b);
    render.AllocationCount = 1;
    TRY(D3DKMTRender, &render);
    return drain(c, c->physical);
}

static bool lock(struct client *c, D3DKMT_HANDLE allocation, void **bytes)
{
    D3DKMT_LOCK2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = c->device;
    args.hAllocation = allocation;
    TRY(D3DKMTLock2, &args);
    *bytes = args.pData;
    return true;
}

static bool copy_back(struct client *c)
{
    D3DGPU_VIRTUAL_ADDRESS from, to;
    struct refgpu_builder b;
    D3DKMT_SUBMITCOMMAND submit;
    void *bytes;

    if (!map(c, c->memory, &from) || !map(c, c->back, &to) || !lock(c, c->back, &bytes))
        return false;
    refgpu_builder_init(&b, bytes, 4096);
    refgpu_copy(&b, to + 4096, from, BYTES - 4096);
    memset(&submit, 0, sizeof(submit));
    submit.Commands = to;
    submit.CommandLength = refgpu_builder_bytes(&b);
    submit.BroadcastContextCount = 1;
    submit.BroadcastContext[0] = c->virtual;
    TRY(D3DKMTSubmitCommand, &submit);
    if (!drain(c, c->virtual))
        return false;
    c->scene->right = true;
    for (uint32_t i = 1024; i < BYTES / 4; i++)
        c->scene->right &= ((const uint32_t *)bytes)[i] == PATTERN;
    return true;
}

/* Page the memory out and in again. */
static bool evict(struct client *c)
{
    D3DKMT_EVICT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = c->device;
    args.NumAllocations = 1;
    args.AllocationList = &c->memory;
    TRY(D3DKMTEvict, &args);
    return resident(c, &c->memory, 1);
}

static bool play(struct client *c)
{
    D3DKMT_HANDLE both[2];

    if (!open_device(c) ||
        !allocate(c, REFGPU_ALLOCATION_PHYSICAL, REFGPU_IN_VRAM | REFGPU_IN_APERTURE, &c->memory) ||
        !allocate(c, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &c->back))
        return false;
    both[0] = c->memory;
    both[1] = c->back;
    return resident(c, both, 2) && render_fill(c) && evict(c) && copy_back(c);
}

static void client_main(void *argument)
{
    struct client c = {.scene = argument};

    c.scene->finished = play(&c);
    if (c.device) {
        D3DKMT_DESTROYDEVICE device = {.hDevice = c.device};

        D3DKMTDestroyDevice(&device);
    }
    if (c.adapter) {
        D3DKMT_CLOSEADAPTER adapter = {.hAdapter = c.adapter};

        D3DKMTCloseAdapter(&adapter);
    }
}

struct outcome {
    bool completed;     /* nothing failed on the way */
    uint64_t requested; /* allocations the run asked for */
};

static struct outcome run(uint64_t fail, enum dxgk_iommu iommu)
{
    const char *const build = getenv("DXGK_BUILD");
    const char *options[] = {"vram=8388608"};
    struct dxgk_statistics statistics = {.size = sizeof(statistics)};
    struct outcome outcome = {false, 0};
    struct dxgk_machine_config config;
    struct scene scene = {0};
    struct dxgk_machine *machine;
    char driver[512], device[512], error[512] = "";
    enum dxgk_result result;

    snprintf(driver, sizeof(driver), "%s/drivers/refgpu.so", build ? build : ".");
    snprintf(device, sizeof(device), "%s/devices/refgpu.so", build ? build : ".");
    dxgk_machine_config_init(&config);
    config.iommu = iommu;
    config.processors = 2;
    config.fail_allocation = fail;
    config.time_limit_ns = 60000000000u;
    machine = dxgk_machine_create(&config, error, sizeof(error));
    assert_non_null(machine);
    result = dxgk_machine_add_device(machine, device, options, 1, error, sizeof(error));
    if (result == DXGK_OK)
        result = dxgk_machine_load_driver(machine, driver, error, sizeof(error));
    if (result == DXGK_OK)
        result = dxgk_machine_run(machine, "client", client_main, &scene);
    else if (!error[0])
        fail_msg("allocation %llu: refused without a word", (unsigned long long)fail);
    if (result == DXGK_DEADLOCK || result == DXGK_TIME_UP || result == DXGK_DRIVER_STOPPED)
        fail_msg("allocation %llu: result %d", (unsigned long long)fail, (int)result);
    dxgk_machine_shutdown(machine);
    dxgk_machine_statistics(machine, &statistics);
    for (size_t i = 0; i < dxgk_machine_violations(machine); i++) {
        struct dxgk_violation v;

        if (dxgk_machine_violation(machine, i, &v) && strcmp(v.severity, "error") == 0)
            fail_msg("allocation %llu: %s %s", (unsigned long long)fail, v.rule, v.seen);
    }
    if (statistics.leaks)
        fail_msg("allocation %llu: %llu leaks", (unsigned long long)fail,
                 (unsigned long long)statistics.leaks);
    if (scene.finished && !scene.right)
        fail_msg("allocation %llu: the run succeeded with wrong bytes", (unsigned long long)fail);
    outcome.completed = result == DXGK_OK && scene.finished;
    outcome.requested = statistics.allocations_requested;
    dxgk_machine_destroy(machine);
    return outcome;
}

static void each_allocation_fails(enum dxgk_iommu iommu)
{
    struct outcome whole = run(0, iommu);
    uint64_t stride = 1, failed = 0;

    CHECK(whole.completed);
    /* All of them with DXGK_EVERY set; else about 150 spread over the run, another set in each mode. */
    if (!getenv("DXGK_EVERY"))
        stride = whole.requested / 150 + 1;
    for (uint64_t n = 1 + (uint64_t)iommu % stride; n <= whole.requested + 1; n += stride)
        failed += !run(n, iommu).completed;
    CHECK(failed > 0);
}

TEST(without_iommu)
{
    each_allocation_fails(DXGK_IOMMU_OFF);
}

TEST(isolated)
{
    each_allocation_fails(DXGK_IOMMU_ISOLATION);
}

TEST(remapped)
{
    each_allocation_fails(DXGK_IOMMU_REMAP);
}
