/* SPDX-License-Identifier: MIT */
/* Allocations: creating, destroying and locking them, in the new calls and the old ones. */
#include "host/support/refgpu_client.h"

static NTSTATUS create(const struct gpu *g, D3DKMT_CREATEALLOCATIONFLAGS flags,
                       D3DKMT_HANDLE resource, UINT count, D3DDDI_ALLOCATIONINFO2 *info,
                       struct refgpu_allocation_data *data, D3DKMT_CREATEALLOCATION *args)
{
    memset(args, 0, sizeof(*args));
    for (UINT i = 0; i < count; i++) {
        memset(&info[i], 0, sizeof(info[i]));
        memset(&data[i], 0, sizeof(data[i]));
        data[i].magic = REFGPU_UMD_MAGIC;
        data[i].bytes = 5000;
        info[i].pPrivateDriverData = &data[i];
        info[i].PrivateDriverDataSize = sizeof(data[i]);
    }
    args->hDevice = g->device;
    args->hResource = resource;
    args->NumAllocations = count;
    args->pAllocationInfo2 = info;
    args->Flags = flags;
    args->hGlobalShare = 0x77;
    return D3DKMTCreateAllocation2(args);
}

TEST_WITH(client, a_request_makes_an_allocation_or_a_resource)
{
    D3DKMT_CREATEALLOCATIONFLAGS none = {0}, flags = {0};
    D3DDDI_ALLOCATIONINFO2 info[1];
    struct refgpu_allocation_data data[1];
    D3DKMT_CREATEALLOCATION args;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-192", create(&g, none, 0, 0, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.CreateResource = 1;
    SHOW(c, "KMT-191", create(&g, flags, 5, 1, info, data, &args) == STATUS_INVALID_HANDLE);
    SHOW(c, "KMT-191", create(&g, none, g.device, 1, info, data, &args) == STATUS_INVALID_HANDLE);
    TRY(c, create(&g, flags, 0, 1, info, data, &args) == STATUS_SUCCESS);
    SHOW(c, "KMT-192",
         create(&g, flags, args.hResource, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, flags_of_allocations_must_fit_together)
{
    D3DKMT_CREATEALLOCATIONFLAGS flags = {0};
    D3DDDI_ALLOCATIONINFO2 info[1];
    struct refgpu_allocation_data data[1];
    D3DKMT_CREATEALLOCATION args;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    flags.CreateShared = 1;
    SHOW(c, "KMT-225", create(&g, flags, 0, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.CreateShared = 0;
    flags.NonSecure = 1;
    SHOW(c, "KMT-214", create(&g, flags, 0, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.NonSecure = 0;
    flags.CrossAdapter = 1;
    SHOW(c, "KMT-210", create(&g, flags, 0, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.CrossAdapter = 0;
    flags.Zeroed = flags.AllowNotZeroed = 1;
    SHOW(c, "KMT-216", create(&g, flags, 0, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.Zeroed = flags.AllowNotZeroed = 0;
    flags.PartialSharedCreation = 1;
    SHOW(c, "KMT-217", create(&g, flags, 0, 1, info, data, &args) == STATUS_NOT_SUPPORTED);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, allocations_come_together)
{
    D3DKMT_CREATEALLOCATIONFLAGS none = {0};
    D3DDDI_ALLOCATIONINFO2 info[3];
    struct refgpu_allocation_data data[3];
    D3DKMT_CREATEALLOCATION args;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    /* the driver's answer comes back in the private data */
    SHOW(c, "KMT-198",
         create(&g, none, 0, 3, info, data, &args) == STATUS_SUCCESS && data[0].bytes == 8192 &&
             data[2].alignment == 4096);
    SHOW(c, "KMT-197",
         info[0].hAllocation && info[1].hAllocation && info[2].hAllocation &&
             info[0].hAllocation != info[1].hAllocation);
    SHOW(c, "KMT-194", args.hGlobalShare == 0);
    SHOW(c, "KMT-205", info[0].GpuVirtualAddress == 0);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* A list without duplicates. */
TEST_WITH(client, allocations_are_destroyed_all_or_none)
{
    D3DKMT_CREATEALLOCATIONFLAGS none = {0};
    D3DDDI_ALLOCATIONINFO2 info[3];
    struct refgpu_allocation_data data[3];
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_DESTROYALLOCATION2 destroy;
    D3DKMT_HANDLE list[3];
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, none, 0, 3, info, data, &args) == STATUS_SUCCESS);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    SHOW(c, "KMT-263", D3DKMTDestroyAllocation2(&destroy) == STATUS_SUCCESS); /* nothing */
    destroy.hDevice = g.adapter;
    SHOW(c, "KMT-263", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.hDevice = g.device;
    destroy.AllocationCount = 1;
    SHOW(c, "KMT-006", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    list[0] = info[0].hAllocation;
    list[1] = info[1].hAllocation;
    list[2] = info[0].hAllocation;
    destroy.phAllocationList = list;
    destroy.AllocationCount = 3;
    SHOW(c, "KMT-263", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    list[2] = 0x1234;
    SHOW(c, "KMT-011", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    list[2] = info[2].hAllocation;
    destroy.Flags.SystemUseOnly = 1;
    SHOW(c, "KMT-262", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.Flags.Value = 0;
    SHOW(c, "KMT-011",
         D3DKMTDestroyAllocation2(&destroy) == STATUS_SUCCESS); /* none was gone before */
    SHOW(c, "KMT-032", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_resource_is_destroyed_as_a_whole)
{
    D3DKMT_CREATEALLOCATIONFLAGS none = {0}, flags = {0};
    D3DDDI_ALLOCATIONINFO2 info[1];
    struct refgpu_allocation_data data[1];
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_DESTROYALLOCATION2 destroy;
    D3DKMT_HANDLE resource;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    flags.CreateResource = 1;
    SHOW(c, "KMT-191",
         create(&g, flags, 0, 1, info, data, &args) == STATUS_SUCCESS && args.hResource != 0);
    resource = args.hResource;
    SHOW(c, "KMT-191", create(&g, none, resource, 1, info, data, &args) == STATUS_SUCCESS);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    destroy.hResource = resource;
    destroy.phAllocationList = &info[0].hAllocation;
    destroy.AllocationCount = 1;
    SHOW(c, "ALLOC-085", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.AllocationCount = 0; /* the list is not looked at */
    SHOW(c, "ALLOC-085", D3DKMTDestroyAllocation2(&destroy) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* One element that the driver refuses: none comes into being. */
TEST_WITH(client, a_refused_element_refuses_all)
{
    D3DKMT_CREATEALLOCATIONFLAGS none = {0};
    D3DDDI_ALLOCATIONINFO2 info[2];
    struct refgpu_allocation_data data[2];
    D3DKMT_CREATEALLOCATION args;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, none, 0, 1, info, data, &args) == STATUS_SUCCESS);
    memset(&args, 0, sizeof(args));
    memset(info, 0, sizeof(info));
    for (unsigned i = 0; i < 2; i++) {
        info[i].pPrivateDriverData = &data[i];
        info[i].PrivateDriverDataSize = sizeof(data[i]);
    }
    memset(data, 0, sizeof(data));
    data[0].magic = REFGPU_UMD_MAGIC;
    data[0].bytes = 4096;
    data[1].magic = 0xBAD;
    args.hDevice = g.device;
    args.NumAllocations = 2;
    args.pAllocationInfo2 = info;
    SHOW(c, "KMT-197", !NT_SUCCESS(D3DKMTCreateAllocation2(&args)) && info[0].hAllocation == 0);
    SHOW(c, "KMT-203",
         (info[0].Flags.Primary = 1, D3DKMTCreateAllocation2(&args)) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* The old form: other elements, the same driver calls. */
TEST_WITH(client, old_calls_still_work)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC, .bytes = 4096};
    D3DDDI_ALLOCATIONINFO info;
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_DESTROYALLOCATION destroy;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    args.hDevice = g.device;
    args.NumAllocations = 1;
    args.pAllocationInfo = &info;
    SHOW(c, "KMT-190", D3DKMTCreateAllocation(&args) == STATUS_SUCCESS && info.hAllocation != 0);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    destroy.phAllocationList = &info.hAllocation;
    destroy.AllocationCount = 1;
    SHOW(c, "KMT-261", D3DKMTDestroyAllocation(&destroy) == STATUS_SUCCESS);
    SHOW(c, "KMT-023", D3DKMTDestroyAllocation(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, locks_nest)
{
    struct gpu g;
    struct memory m;
    void *first;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 8192, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS);
    first = m.cpu;
    SHOW(c, "KMT-215/a", ((uint64_t *)first)[0] == 0 && ((uint64_t *)first)[1023] == 0);
    memset(first, 0x11, 8192);
    SHOW(c, "KMT-271", gpu_lock(&g, &m) == STATUS_SUCCESS && m.cpu == first);
    TRY(c, gpu_unlock(&g, &m) == STATUS_SUCCESS);
    TRY(c, ((uint8_t *)first)[8191] == 0x11);
    TRY(c, gpu_unlock(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_unlock(&g, &m) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS && ((uint8_t *)m.cpu)[4096] == 0x11);
    SHOW(c, "KMT-265", gpu_destroy_memory(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
