/* SPDX-License-Identifier: MIT */
/* Residency, addresses, offers, priorities, the older lock calls. */
#include "host/support/refgpu_client.h"

/* ---- residency ---- */

TEST_WITH(remapped_client, allocations_become_resident_and_are_evicted)
{
    D3DDDI_MAKERESIDENT resident;
    D3DKMT_QUERYALLOCATIONRESIDENCY query;
    D3DKMT_ALLOCATIONRESIDENCYSTATUS where = (D3DKMT_ALLOCATIONRESIDENCYSTATUS)0;
    D3DKMT_EVICT evict;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 65536, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    memset(&resident, 0, sizeof(resident));
    resident.hPagingQueue = g.queue;
    resident.AllocationList = &m.handle;
    SHOW(c, "KMT-279", D3DKMTMakeResident(&resident) == STATUS_INVALID_PARAMETER);
    resident.NumAllocations = 1;
    resident.Flags.MustSucceed = 1;
    SHOW(c, "RES-020", D3DKMTMakeResident(&resident) == STATUS_INVALID_PARAMETER);
    resident.Flags.Value = 0;
    resident.hPagingQueue = g.device;
    SHOW(c, "RES-012", D3DKMTMakeResident(&resident) == STATUS_INVALID_PARAMETER);

    memset(&evict, 0, sizeof(evict));
    evict.hDevice = g.device;
    evict.NumAllocations = 1;
    evict.AllocationList = &m.handle;
    SHOW(c, "RES-025", D3DKMTEvict(&evict) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_make_resident(&g, m.handle) == STATUS_SUCCESS);
    memset(&query, 0, sizeof(query));
    query.hDevice = g.device;
    query.AllocationCount = 1;
    query.phAllocationList = &m.handle;
    query.pResidencyStatus = &where;
    SHOW(c, "RES-074", D3DKMTQueryAllocationResidency(&query) == STATUS_SUCCESS && (int)where == 1);
    query.hResource = 5;
    SHOW(c, "RES-074", D3DKMTQueryAllocationResidency(&query) == STATUS_INVALID_PARAMETER);
    evict.NumBytesToTrim = 99;
    SHOW(c, "KMT-282", D3DKMTEvict(&evict) == STATUS_SUCCESS && evict.NumBytesToTrim == 0);
    SHOW(c, "RES-017", D3DKMTEvict(&evict) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* More than there is: the call fails, says how much, and changes nothing. */
TEST_WITH(remapped_client, too_much_at_once_is_refused)
{
    struct refgpu_adapter_info info;
    D3DKMT_QUERYADAPTERINFO query;
    D3DDDI_MAKERESIDENT resident;
    D3DKMT_HANDLE list[64];
    struct memory m;
    struct gpu g;
    UINT count = 0;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&query, 0, sizeof(query));
    query.hAdapter = g.adapter;
    query.pPrivateDriverData = &info;
    query.PrivateDriverDataSize = sizeof(info);
    TRY(c, D3DKMTQueryAdapterInfo(&query) == STATUS_SUCCESS);
    for (; count < 5; count++) {
        TRY(c, gpu_create_memory(&g, info.vram_bytes / 4, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
        list[count] = m.handle;
    }
    memset(&resident, 0, sizeof(resident));
    resident.hPagingQueue = g.queue;
    resident.NumAllocations = count;
    resident.AllocationList = list;
    resident.PagingFenceValue = 77;
    SHOW(c, "KMT-280", D3DKMTMakeResident(&resident) == STATUS_NO_MEMORY);
    SHOW(c, "RES-016", resident.NumAllocations == 0 && resident.PagingFenceValue == 0);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(remapped_client, paging_queues_have_their_own_fence)
{
    D3DKMT_CREATEPAGINGQUEUE create;
    D3DDDI_DESTROYPAGINGQUEUE destroy;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-063", g.queue && g.queue_fence && g.queue_value);
    SHOW(c, "GPUVA-065", *g.queue_value == 0);
    memset(&create, 0, sizeof(create));
    create.hDevice = g.device;
    create.Priority = (D3DDDI_PAGINGQUEUE_PRIORITY)2;
    SHOW(c, "GPUVA-065", D3DKMTCreatePagingQueue(&create) == STATUS_INVALID_PARAMETER);
    create.Priority = D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL;
    create.PhysicalAdapterIndex = 1;
    SHOW(c, "GPUVA-065",
         D3DKMTCreatePagingQueue(&create) == STATUS_INVALID_PARAMETER && create.hPagingQueue == 0);
    create.PhysicalAdapterIndex = 0;
    SHOW(c, "GPUVA-064",
         D3DKMTCreatePagingQueue(&create) == STATUS_SUCCESS && create.hPagingQueue != g.queue);
    TRY(c, gpu_create_memory(&g, 65536, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&g, m.handle) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-067",
         *g.queue_value > 0 && *(volatile UINT64 *)create.FenceValueCPUVirtualAddress == 0);
    destroy.hPagingQueue = create.hPagingQueue;
    SHOW(c, "GPUVA-071",
         D3DKMTDestroyPagingQueue(&destroy) == STATUS_SUCCESS &&
             gpu_wait_cpu(&g, create.hSyncObject, 0) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- addresses ---- */

TEST_WITH(remapped_client, addresses_are_reserved_mapped_and_freed)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve;
    D3DKMT_FREEGPUVIRTUALADDRESS release;
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&reserve, 0, sizeof(reserve));
    reserve.hAdapter = g.adapter;
    reserve.Size = 1u << 20;
    SHOW(c, "KMT-298",
         D3DKMTReserveGpuVirtualAddress(&reserve) == STATUS_SUCCESS && reserve.VirtualAddress != 0);
    TRY(c, gpu_create_memory(&g, 65536, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&g, m.handle) == STATUS_SUCCESS);
    memset(&map, 0, sizeof(map));
    map.hPagingQueue = g.queue;
    map.BaseAddress = reserve.VirtualAddress;
    map.hAllocation = m.handle;
    map.SizeInPages = 16;
    map.Protection.Write = 1;
    SHOW(c, "KMT-298",
         NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&map)) &&
             map.VirtualAddress == reserve.VirtualAddress);
    map.hPagingQueue = g.adapter;
    SHOW(c, "GPUVA-074", D3DKMTMapGpuVirtualAddress(&map) == STATUS_INVALID_PARAMETER);
    release.hAdapter = g.device;
    release.BaseAddress = reserve.VirtualAddress;
    release.Size = 1u << 20;
    SHOW(c, "GPUVA-074", D3DKMTFreeGpuVirtualAddress(&release) == STATUS_INVALID_PARAMETER);
    release.hAdapter = g.adapter;
    SHOW(c, "KMT-298", D3DKMTFreeGpuVirtualAddress(&release) == STATUS_SUCCESS);
    TRY(c, D3DKMTFreeGpuVirtualAddress(&release) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- offers ---- */

static D3DKMT_OFFERALLOCATIONS offer_of(const struct gpu *g, const struct memory *m)
{
    D3DKMT_OFFERALLOCATIONS offer;

    memset(&offer, 0, sizeof(offer));
    offer.hDevice = g->device;
    offer.HandleList = &m->handle;
    offer.NumAllocations = 1;
    offer.Priority = D3DKMT_OFFER_PRIORITY_LOW;
    return offer;
}

static D3DKMT_RECLAIMALLOCATIONS2 reclaim_of(const struct gpu *g, const struct memory *m,
                                             D3DDDI_RECLAIM_RESULT *result)
{
    D3DKMT_RECLAIMALLOCATIONS2 reclaim;

    memset(&reclaim, 0, sizeof(reclaim));
    reclaim.hPagingQueue = g->queue;
    reclaim.NumAllocations = 1;
    reclaim.HandleList = &m->handle;
    reclaim.pResults = result;
    return reclaim;
}

TEST_WITH(remapped_client, an_offer_names_one_list_and_a_priority)
{
    D3DKMT_OFFERALLOCATIONS offer;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    offer = offer_of(&g, &m);
    offer.HandleList = NULL;
    SHOW(c, "KMT-283",
         D3DKMTOfferAllocations(&offer) == STATUS_INVALID_PARAMETER); /* neither list */
    offer.HandleList = &m.handle;
    offer.pResources = &m.handle;
    SHOW(c, "KMT-283", D3DKMTOfferAllocations(&offer) == STATUS_INVALID_PARAMETER); /* both */
    offer.pResources = NULL;
    offer.Priority = (D3DKMT_OFFER_PRIORITY)0;
    SHOW(c, "RES-062", D3DKMTOfferAllocations(&offer) == STATUS_INVALID_PARAMETER);
    offer.Priority = D3DKMT_OFFER_PRIORITY_LOW;
    offer.NumAllocations = 0;
    SHOW(c, "KMT-279", D3DKMTOfferAllocations(&offer) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(remapped_client, offered_memory_comes_back)
{
    D3DDDI_RECLAIM_RESULT result = (D3DDDI_RECLAIM_RESULT)55;
    D3DKMT_OFFERALLOCATIONS offer;
    D3DKMT_RECLAIMALLOCATIONS2 reclaim;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    offer = offer_of(&g, &m);
    TRY(c, D3DKMTOfferAllocations(&offer) == STATUS_SUCCESS);
    SHOW(c, "RES-065", gpu_lock(&g, &m) == STATUS_INVALID_PARAMETER);
    reclaim = reclaim_of(&g, &m, &result);
    SHOW(c, "KMT-287",
         D3DKMTReclaimAllocations2(&reclaim) ==
             (reclaim.PagingFenceValue ? STATUS_PENDING : STATUS_SUCCESS));
    SHOW(c, "RES-070",
         result == D3DDDI_RECLAIM_RESULT_OK || result == D3DDDI_RECLAIM_RESULT_DISCARDED);
    SHOW(c, "RES-072", gpu_lock(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(remapped_client, a_reclaim_needs_a_paging_queue)
{
    D3DDDI_RECLAIM_RESULT result;
    D3DKMT_OFFERALLOCATIONS offer;
    D3DKMT_RECLAIMALLOCATIONS2 reclaim;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    offer = offer_of(&g, &m);
    TRY(c, D3DKMTOfferAllocations(&offer) == STATUS_SUCCESS);
    reclaim = reclaim_of(&g, &m, &result);
    reclaim.hPagingQueue = g.device;
    reclaim.PagingFenceValue = 123;
    SHOW(c, "KMT-286",
         D3DKMTReclaimAllocations2(&reclaim) == STATUS_INVALID_PARAMETER &&
             reclaim.PagingFenceValue == 123);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(remapped_client, priorities_are_set_and_read)
{
    D3DKMT_SETALLOCATIONPRIORITY set;
    D3DKMT_GETALLOCATIONPRIORITY get;
    UINT value = 0xa0000000u, read = 0;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, 0, 0, &m) == STATUS_SUCCESS);
    memset(&set, 0, sizeof(set));
    memset(&get, 0, sizeof(get));
    set.hDevice = get.hDevice = g.device;
    set.pPriorities = &value;
    get.pPriorities = &read;
    SHOW(c, "ALLOC-142", D3DKMTSetAllocationPriority(&set) == STATUS_INVALID_PARAMETER);
    set.phAllocationList = get.phAllocationList = &m.handle;
    set.AllocationCount = get.AllocationCount = 1;
    SHOW(c, "KMT-277",
         D3DKMTSetAllocationPriority(&set) == STATUS_SUCCESS &&
             D3DKMTGetAllocationPriority(&get) == STATUS_SUCCESS && read == value);
    value = 0;
    SHOW(c, "KMT-278", D3DKMTSetAllocationPriority(&set) == STATUS_INVALID_PARAMETER);
    set.hResource = 3;
    value = 1;
    SHOW(c, "ALLOC-142", D3DKMTSetAllocationPriority(&set) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- the older locks ---- */

TEST_WITH(remapped_client, old_and_new_locks_share_a_count)
{
    D3DKMT_UNLOCK unlock;
    D3DKMT_LOCK lock;
    D3DKMT_HANDLE list[2];
    struct memory m, n;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &n) == STATUS_SUCCESS);
    memset(&lock, 0, sizeof(lock));
    lock.hDevice = g.device;
    lock.hAllocation = m.handle;
    lock.Flags.ReadOnly = lock.Flags.WriteOnly = 1;
    SHOW(c, "ALLOC-118", D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER);
    lock.Flags.Value = 0;
    lock.GpuVirtualAddress = 4096;
    SHOW(c, "KMT-274", D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER);
    lock.GpuVirtualAddress = 0;
    lock.Flags.LockEntire = 1;
    lock.NumPages = 1;
    SHOW(c, "KMT-266", D3DKMTLock(&lock) == STATUS_INVALID_PARAMETER);
    lock.NumPages = 0;
    SHOW(c, "KMT-267", D3DKMTLock(&lock) == STATUS_SUCCESS && lock.pData);
    memset(lock.pData, 0x31, 4096);
    SHOW(c, "KMT-272",
         gpu_lock(&g, &m) == STATUS_SUCCESS && m.cpu == lock.pData &&
             gpu_unlock(&g, &m) == STATUS_SUCCESS);
    list[0] = m.handle;
    list[1] = n.handle; /* not locked */
    memset(&unlock, 0, sizeof(unlock));
    unlock.hDevice = g.device;
    unlock.phAllocations = list;
    unlock.NumAllocations = 2;
    SHOW(c, "KMT-273",
         D3DKMTUnlock(&unlock) == STATUS_INVALID_PARAMETER && ((uint8_t *)lock.pData)[5] == 0x31);
    unlock.NumAllocations = 1;
    SHOW(c, "KMT-273",
         D3DKMTUnlock(&unlock) == STATUS_SUCCESS &&
             D3DKMTUnlock(&unlock) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
