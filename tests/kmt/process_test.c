/* SPDX-License-Identifier: MIT */
/* What is a process's own on an adapter: memory that another one asks about, addresses without a device, residency, timeouts of keyed
 * mutexes. */
#include "support/recorded.h"

#include <ntifs.h>

static bool because(const char *rule, const char *part)
{
    struct dxgk_refusal refusal;
    bool so = dxgk_client_last_refusal(&refusal) && strcmp(refusal.rule, rule) == 0 &&
              strstr(refusal.reason, part);

    if (!so)
        printf("    \"%s\" (%s)\n", refusal.reason, refusal.rule);
    return so;
}

/* ---- another process ---- */

struct neighbour {
    void *process;
    NTSTATUS status;
    volatile bool ready, leave, left;
};

/* Has a reservation of 3 MiB, and memory in use. */
static void live_beside(void *argument)
{
    struct neighbour *n = argument;
    D3DKMT_CHANGEVIDEOMEMORYRESERVATION change = {.Reservation = 3 << 20};
    struct memory m = {0};
    struct gpu g;

    n->process = IoGetCurrentProcess();
    n->status = gpu_begin(&g);
    change.hAdapter = g.adapter;
    if (NT_SUCCESS(n->status))
        n->status = D3DKMTChangeVideoMemoryReservation(&change);
    if (NT_SUCCESS(n->status))
        n->status = gpu_create_memory(&g, 2 << 20, 0, REFGPU_IN_VRAM, &m);
    if (NT_SUCCESS(n->status))
        n->status = gpu_make_resident(&g, m.handle);
    n->ready = true;
    for (unsigned i = 0; i < 100000 && !n->leave; i++)
        dxgk_client_sleep(10000);
    if (NT_SUCCESS(n->status))
        n->status = gpu_end(&g);
    n->left = true;
}

static NTSTATUS usage_of(const struct gpu *g, HANDLE process, D3DKMT_QUERYVIDEOMEMORYINFO *info)
{
    memset(info, 0, sizeof(*info));
    info->hProcess = process;
    info->hAdapter = g->adapter;
    return D3DKMTQueryVideoMemoryInfo(info);
}

TEST_WITH(client, the_memory_of_another_process_can_be_asked_for)
{
    struct neighbour n = {.status = STATUS_UNSUCCESSFUL};
    D3DKMT_CHANGEVIDEOMEMORYRESERVATION change = {.Reservation = 1 << 20};
    D3DKMT_QUERYVIDEOMEMORYINFO own, others;
    HANDLE process;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, dxgk_client_process("neighbour", live_beside, &n));
    while (!n.ready)
        dxgk_client_sleep(10000);
    TRY(c, n.status == STATUS_SUCCESS);
    TRY(c, ObOpenObjectByPointer(n.process, 0, NULL, 0x600, *PsProcessType, UserMode, &process) ==
               STATUS_SUCCESS);
    TRY(c, usage_of(&g, NULL, &own) == STATUS_SUCCESS);
    SHOW(c, "KMT-291",
         usage_of(&g, process, &others) == STATUS_SUCCESS && others.CurrentReservation == 3 << 20 &&
             others.CurrentUsage >= 2 << 20 && own.CurrentReservation == 0 &&
             own.CurrentUsage < 2 << 20);
    change.hProcess = process;
    change.hAdapter = g.adapter;
    TRY(c, D3DKMTChangeVideoMemoryReservation(&change) == STATUS_ACCESS_DENIED &&
               because("", "a reservation for another process"));
    n.leave = true;
    while (!n.left)
        dxgk_client_sleep(10000);
    TRY(c, n.status == STATUS_SUCCESS);
    TRY(c, ZwClose(process) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- addresses without a device ---- */

TEST_WITH(client, addresses_can_be_reserved_without_a_device)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve = {.Size = 65536};
    D3DKMT_FREEGPUVIRTUALADDRESS release = {.Size = 65536};
    struct gpu g;

    memset(&g, 0, sizeof(g));
    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    reserve.hAdapter = release.hAdapter = g.adapter;
    SHOW(c, "GPUVA-118",
         D3DKMTFreeGpuVirtualAddress(&release) == STATUS_INVALID_PARAMETER &&
             because("GPUVA-118", "nothing was ever mapped or reserved in this process"));
    reserve.Size = 0; /* what fails leaves nothing behind */
    TRY(c, D3DKMTReserveGpuVirtualAddress(&reserve) == STATUS_INVALID_PARAMETER);
    TRY(c, D3DKMTFreeGpuVirtualAddress(&release) == STATUS_INVALID_PARAMETER &&
               because("GPUVA-118", "nothing was ever mapped or reserved in this process"));
    reserve.Size = 65536;
    TRY(c, D3DKMTReserveGpuVirtualAddress(&reserve) == STATUS_SUCCESS && reserve.VirtualAddress);
    release.BaseAddress = reserve.VirtualAddress;
    release.Size = 32768;
    SHOW(c, "GPUVA-118", D3DKMTFreeGpuVirtualAddress(&release) == STATUS_INVALID_PARAMETER);
    release.Size = 65536;
    SHOW(c, "GPUVA-118", D3DKMTFreeGpuVirtualAddress(&release) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-118", D3DKMTFreeGpuVirtualAddress(&release) == STATUS_INVALID_PARAMETER);
    reserve.hAdapter = release.hAdapter = 0x7777;
    TRY(c, D3DKMTReserveGpuVirtualAddress(&reserve) == STATUS_INVALID_PARAMETER);
    TRY(c, D3DKMTFreeGpuVirtualAddress(&release) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

/* ---- residency ---- */

TEST_WITH(client, flags_of_residency_are_checked)
{
    D3DDDI_MAKERESIDENT resident = {.NumAllocations = 1};
    D3DKMT_EVICT evict = {.NumAllocations = 1};
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 65536, 0, REFGPU_IN_VRAM, &m) == STATUS_SUCCESS);
    resident.hPagingQueue = g.queue;
    resident.AllocationList = evict.AllocationList = &m.handle;
    evict.hDevice = g.device;
    resident.Flags.MustSucceed = 1;
    SHOW(c, "RES-020", D3DKMTMakeResident(&resident) == STATUS_INVALID_PARAMETER);
    TRY(c, because("KMT-279", "MustSucceed with CantTrimFurther"));
    resident.Flags.CantTrimFurther = 1;
    TRY(c, NT_SUCCESS(D3DKMTMakeResident(&resident)));
    resident.Flags.MustSucceed = 0;
    resident.NumAllocations = 1;
    TRY(c, NT_SUCCESS(D3DKMTMakeResident(&resident)));
    resident.Flags.Value = 1u << 31;
    TRY(c, D3DKMTMakeResident(&resident) == STATUS_INVALID_PARAMETER);
    resident.Flags.Value = 0;
    resident.NumAllocations = 0;
    SHOW(c, "KMT-279", D3DKMTMakeResident(&resident) == STATUS_INVALID_PARAMETER);
    resident.NumAllocations = 1;
    resident.AllocationList = (void *)(uintptr_t)0x1000;
    SHOW(c, "KMT-007", D3DKMTMakeResident(&resident) == STATUS_INVALID_PARAMETER);
    evict.Flags.Value = 1u << 31;
    TRY(c, D3DKMTEvict(&evict) == STATUS_INVALID_PARAMETER);
    evict.Flags.Value = 0;
    evict.hDevice = g.queue;
    TRY(c, D3DKMTEvict(&evict) == STATUS_INVALID_PARAMETER);
    evict.hDevice = g.device;
    TRY(c, D3DKMTEvict(&evict) == STATUS_SUCCESS && D3DKMTEvict(&evict) == STATUS_SUCCESS &&
               D3DKMTEvict(&evict) == STATUS_INVALID_PARAMETER); /* made resident twice */
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, an_offer_has_a_priority_of_four)
{
    static D3DDDI_RECLAIM_RESULT results[1];
    static const D3DDDI_RECLAIM_RESULT constant[1024];
    D3DKMT_OFFERALLOCATIONS offer = {.NumAllocations = 1};
    D3DKMT_RECLAIMALLOCATIONS2 reclaim = {.NumAllocations = 1};
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 65536, 0, 0, &m) == STATUS_SUCCESS);
    offer.hDevice = g.device;
    offer.HandleList = reclaim.HandleList = &m.handle;
    reclaim.hPagingQueue = g.queue;
    for (int priority = 0; priority <= 5; priority++) {
        offer.Priority = (D3DKMT_OFFER_PRIORITY)priority;
        if (priority == 0 || priority == 5) {
            SHOW(c, "RES-062",
                 D3DKMTOfferAllocations(&offer) == STATUS_INVALID_PARAMETER &&
                     because("", "offer priority "));
            continue;
        }
        SHOW(c, "KMT-283", D3DKMTOfferAllocations(&offer) == STATUS_SUCCESS);
        reclaim.pResults = (void *)(uintptr_t)constant;
        SHOW(c, "KMT-007", D3DKMTReclaimAllocations2(&reclaim) == STATUS_INVALID_PARAMETER);
        reclaim.pResults = priority % 2 ? results : NULL;
        reclaim.PagingFenceValue = 123;
        TRY(c, D3DKMTReclaimAllocations2(&reclaim) == STATUS_SUCCESS);
        SHOW(c, "KMT-287", reclaim.PagingFenceValue == 0); /* nothing is to be waited for */
    }
    offer.Priority = D3DKMT_OFFER_PRIORITY_LOW;
    offer.Flags.Reserved = 1;
    TRY(c, D3DKMTOfferAllocations(&offer) == STATUS_INVALID_PARAMETER);
    offer.Flags.Reserved = 0;
    offer.hDevice = g.queue;
    TRY(c, D3DKMTOfferAllocations(&offer) == STATUS_INVALID_PARAMETER);
    offer.HandleList = (void *)(uintptr_t)0x1000;
    SHOW(c, "KMT-007", D3DKMTOfferAllocations(&offer) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- reasons of an error ---- */

TEST_WITH(client, a_device_is_marked_for_a_known_reason)
{
    D3DKMT_MARKDEVICEASERROR mark = {0};
    D3DKMT_GETDEVICESTATE state = {.StateType = D3DKMT_DEVICESTATE_EXECUTION};
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    mark.hDevice = state.hDevice = g.device;
    for (int reason = -1; reason < 5; reason++) {
        if (reason == D3DKMT_DEVICE_ERROR_REASON_GENERIC ||
            reason == D3DKMT_DEVICE_ERROR_REASON_DRIVER_ERROR)
            continue;
        mark.Reason = (D3DKMT_DEVICE_ERROR_REASON)reason;
        SHOW(c, "KMT-135",
             D3DKMTMarkDeviceAsError(&mark) == STATUS_INVALID_PARAMETER &&
                 because("", "is unknown"));
    }
    TRY(c, D3DKMTGetDeviceState(&state) == STATUS_SUCCESS &&
               state.ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE);
    mark.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC;
    mark.hDevice = g.queue;
    TRY(c, D3DKMTMarkDeviceAsError(&mark) == STATUS_INVALID_PARAMETER);
    state.hDevice = g.queue;
    TRY(c, D3DKMTGetDeviceState(&state) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- timeouts of keyed mutexes ---- */

static NTSTATUS acquire(D3DKMT_HANDLE mutex, UINT64 key, LONGLONG timeout, uint64_t *took)
{
    LARGE_INTEGER at = {.QuadPart = timeout};
    D3DKMT_ACQUIREKEYEDMUTEX args = {.hKeyedMutex = mutex, .Key = key, .pTimeout = &at};
    uint64_t before = dxgk_client_time();
    NTSTATUS status = D3DKMTAcquireKeyedMutex(&args);

    *took = dxgk_client_time() - before;
    return status;
}

TEST_WITH(client, a_key_is_waited_for_until_a_time)
{
    D3DKMT_CREATEKEYEDMUTEX mutex = {.InitialValue = 5};
    LARGE_INTEGER now;
    uint64_t took;

    TRY(c, D3DKMTCreateKeyedMutex(&mutex) == STATUS_SUCCESS);
    TRY(c, acquire(mutex.hKeyedMutex, 6, 0, &took) == STATUS_TIMEOUT && took < 1000000);
    SHOW(c, "KMT-408",
         acquire(mutex.hKeyedMutex, 6, -20000, &took) == STATUS_TIMEOUT && took >= 2000000 &&
             took < 3000000);
    KeQuerySystemTime(&now);
    SHOW(c, "KMT-408",
         acquire(mutex.hKeyedMutex, 6, now.QuadPart + 30000, &took) == STATUS_TIMEOUT &&
             took >= 2900000 && took < 4000000);
    SHOW(c, "KMT-408",
         acquire(mutex.hKeyedMutex, 6, now.QuadPart - 10000, &took) == STATUS_TIMEOUT &&
             took < 1000000);
    TRY(c, acquire(mutex.hKeyedMutex, 6, 1, &took) == STATUS_TIMEOUT && took < 1000000);
    TRY(c, acquire(mutex.hKeyedMutex, 5, 0, &took) == STATUS_SUCCESS);
    TRY(c,
        D3DKMTDestroyKeyedMutex(&(D3DKMT_DESTROYKEYEDMUTEX){mutex.hKeyedMutex}) == STATUS_SUCCESS);
}
