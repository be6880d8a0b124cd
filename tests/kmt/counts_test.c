/* SPDX-License-Identifier: MIT */
/* Counts and sizes that no client can mean: refused at once, whatever member they are in. */
#include "host/support/refgpu_client.h"

#include <dlfcn.h>
#include <time.h>

static const char *const names[] = {
    "CreateAllocation",
    "CreateAllocation2",
    "DestroyAllocation",
    "DestroyAllocation2",
    "Lock",
    "Unlock",
    "Lock2",
    "MakeResident",
    "Evict",
    "OfferAllocations",
    "ReclaimAllocations",
    "ReclaimAllocations2",
    "SetAllocationPriority",
    "GetAllocationPriority",
    "QueryAllocationResidency",
    "InvalidateCache",
    "OpenResource",
    "OpenResource2",
    "OpenResourceFromNtHandle",
    "QueryResourceInfo",
    "QueryResourceInfoFromNtHandle",
    "ShareObjects",
    "EnumAdapters2",
    "EnumAdapters3",
    "QueryAdapterInfo",
    "QueryStatistics",
    "CreateContext",
    "CreateContextVirtual",
    "Render",
    "SubmitCommand",
    "Escape",
    "CreateKeyedMutex2",
    "OpenKeyedMutex2",
    "AcquireKeyedMutex2",
    "ReleaseKeyedMutex2",
    "CreateSynchronizationObject2",
    "WaitForSynchronizationObject",
    "WaitForSynchronizationObject2",
    "WaitForSynchronizationObjectFromCpu",
    "WaitForSynchronizationObjectFromGpu",
    "SignalSynchronizationObject",
    "SignalSynchronizationObject2",
    "SignalSynchronizationObjectFromCpu",
    "SignalSynchronizationObjectFromGpu",
    "SignalSynchronizationObjectFromGpu2",
    "MapGpuVirtualAddress",
    "ReserveGpuVirtualAddress",
    "UpdateGpuVirtualAddress",
    "FreeGpuVirtualAddress",
};

typedef NTSTATUS (*call_fn)(void *argument);

static call_fn find(const char *name)
{
    char full[96];
    void *address;
    call_fn function;

    snprintf(full, sizeof(full), "D3DKMT%s", name);
    address = dlsym(RTLD_DEFAULT, full);
    memcpy(&function, &address, sizeof(function));
    return function;
}

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Pointers to a page everywhere, a handle first, and one member that is too much. */
static void fill(uint32_t *words, size_t count, const struct gpu *g, unsigned first, size_t slot,
                 void *page)
{
    const D3DKMT_HANDLE handle[] = {g->device, g->adapter, g->render, g->queue};
    uint64_t pointer = (uint64_t)(uintptr_t)page;

    for (size_t i = 0; i < count; i += 2)
        memcpy(words + i, &pointer, sizeof(pointer));
    words[0] = handle[first];
    words[1] = 0;
    words[slot] = UINT32_MAX;
}

/* Seconds that the slowest of the calls took. */
static double slowest(call_fn call, const struct gpu *g, void *page)
{
    uint32_t words[128];
    double most = 0;

    for (unsigned first = 0; first < 4; first++)
        for (size_t slot = 1; slot < 64; slot++) {
            double before = processor_seconds(), took;

            fill(words, 128, g, first, slot, page);
            (void)call(words);
            took = processor_seconds() - before;
            most = took > most ? took : most;
        }
    return most;
}

TEST_WITH(client, a_count_of_four_billion_costs_nothing)
{
    void *page = dxgk_client_allocate(4096);
    struct gpu g;

    TRY(c, page && gpu_begin(&g) == STATUS_SUCCESS);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        call_fn call = find(names[i]);
        double took;

        TRY(c, call);
        took = slowest(call, &g, page);
        if (took >= 0.2)
            printf("D3DKMT%s took %.3f s\n", names[i], took);
        TRY(c, took < 0.2);
    }
    gpu_end(&g);
}

TEST_WITH(client, too_many_allocations_are_refused_with_the_number)
{
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION create;
    struct dxgk_refusal refusal;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    create.hDevice = g.device;
    create.NumAllocations = UINT32_MAX;
    create.pAllocationInfo2 = &info;
    SHOW(c, "KMT-012", D3DKMTCreateAllocation2(&create) == STATUS_INVALID_PARAMETER);
    TRY(c, dxgk_client_last_refusal(&refusal) && strstr(refusal.reason, "4294967295 allocations"));
    create.NumAllocations = 1048577;
    SHOW(c, "KMT-012", D3DKMTCreateAllocation2(&create) == STATUS_INVALID_PARAMETER);
    gpu_end(&g);
}
