/* SPDX-License-Identifier: MIT */
/*
 * Tests of D3DKMTUpdateGpuVirtualAddress on a started adapter: a client with a reservation, a pool of memory and a fence, and
 * what its tables show (va_shadow.h).
 *
 *     update_run(mode, body);             body on the client's thread of a new adapter whose tables are so written
 *     update_begin(bytes); ... update_end();
 */
#ifndef DXGK_TESTS_PORT_UPDATE_CLIENT_H
#define DXGK_TESTS_PORT_UPDATE_CLIENT_H

#include "port/support/client.h"
#include "port/support/va_shadow.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MB                 (1ull << 20)
#define KB                 1024ull
#define PAGE               4096ull
#define U                  (&update_rig)

typedef D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION update_operation;

static struct {
    struct probe_gpu gpu;
    DXGK_PAGETABLEUPDATEMODE mode;
    D3DKMT_HANDLE pool, fence;
    const volatile uint64_t *value; /* of the fence */
    uint64_t pool_va, base;         /* where the pool is mapped as a whole; the reservation */
    struct va_shadow_context *context;
} update_rig;

static inline uint64_t update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE type, uint64_t bytes,
                                      uint64_t protection)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = U->gpu.adapter;
    args.Size = bytes;
    args.ReservationType = type;
    args.DriverProtection = protection;
    CHECK(NT_SUCCESS(D3DKMTReserveGpuVirtualAddress(&args)));
    return args.VirtualAddress;
}

static inline uint64_t update_map_whole(D3DKMT_HANDLE allocation, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.hAllocation = allocation;
    args.SizeInPages = pages;
    args.Protection.Write = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    return args.VirtualAddress;
}

static inline D3DKMT_HANDLE update_pool(uint64_t bytes)
{
    D3DKMT_HANDLE pool;

    CHECK(IS(probe_gpu_allocate(&U->gpu, bytes, &pool), STATUS_SUCCESS));
    return pool;
}

static inline D3DKMT_HANDLE update_fence(uint64_t initial, const volatile uint64_t **value)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.Info.Type = D3DDDI_MONITORED_FENCE;
    args.Info.MonitoredFence.InitialFenceValue = initial;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&args)));
    *value = args.Info.MonitoredFence.FenceValueCPUVirtualAddress;
    return args.hSyncObject;
}

static inline NTSTATUS update_signal(D3DKMT_HANDLE fence, uint64_t value)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU args;
    UINT64 values[] = {value};

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.ObjectCount = 1;
    args.ObjectHandleArray = &fence;
    args.FenceValueArray = values;
    return D3DKMTSignalSynchronizationObjectFromCpu(&args);
}

/* The pool has `bytes` bytes; the reservation 2 MB of Zero pages at 64 KB from the start of a leaf table of 2 MB or wherever. */
static inline void update_begin(uint64_t bytes)
{
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    U->context = &va_shadow.context[va_shadow.contexts - 1];
    U->pool = update_pool(bytes);
    U->pool_va = update_map_whole(U->pool, bytes / PAGE);
    U->fence = update_fence(0, &U->value);
    U->base = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, 2 * MB, 0);
}

static inline void update_end(void)
{
    CHECK(IS(probe_gpu_end(&U->gpu), STATUS_SUCCESS));
}

/* ---- operations ---- */

static inline update_operation update_map(uint64_t va, uint64_t bytes, uint64_t offset)
{
    update_operation operation;

    memset(&operation, 0, sizeof(operation));
    operation.OperationType = D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP;
    operation.Map.BaseAddress = va;
    operation.Map.SizeInBytes = bytes;
    operation.Map.hAllocation = U->pool;
    operation.Map.AllocationOffsetInBytes = offset;
    return operation;
}

static inline update_operation update_protect(uint64_t va, uint64_t bytes, uint64_t offset,
                                              bool write, uint64_t driver)
{
    update_operation operation = update_map(va, bytes, offset);

    operation.OperationType = D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT;
    operation.MapProtect.Protection.Write = write;
    operation.MapProtect.DriverProtection = driver;
    return operation;
}

static inline update_operation update_unmap(uint64_t va, uint64_t bytes, bool zero)
{
    update_operation operation;

    memset(&operation, 0, sizeof(operation));
    operation.OperationType = D3DDDI_UPDATEGPUVIRTUALADDRESS_UNMAP;
    operation.Unmap.BaseAddress = va;
    operation.Unmap.SizeInBytes = bytes;
    operation.Unmap.Protection.Zero = zero;
    operation.Unmap.Protection.NoAccess = !zero;
    return operation;
}

static inline update_operation update_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    update_operation operation;

    memset(&operation, 0, sizeof(operation));
    operation.OperationType = D3DDDI_UPDATEGPUVIRTUALADDRESS_COPY;
    operation.Copy.SourceAddress = from;
    operation.Copy.DestAddress = to;
    operation.Copy.SizeInBytes = bytes;
    return operation;
}

static inline D3DKMT_UPDATEGPUVIRTUALADDRESS update_request(update_operation *operations, UINT count)
{
    D3DKMT_UPDATEGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.hContext = U->gpu.context;
    args.hFenceObject = U->fence;
    args.NumOperations = count;
    args.Operations = operations;
    args.FenceValue = *U->value;
    return args;
}

static inline NTSTATUS update_queue(update_operation *operations, UINT count, uint64_t fence)
{
    D3DKMT_UPDATEGPUVIRTUALADDRESS args = update_request(operations, count);

    args.FenceValue = fence;
    return D3DKMTUpdateGpuVirtualAddress(&args);
}

static inline void update_await(uint64_t value)
{
    for (unsigned i = 0; i < 10000 && *U->value < value; i++)
        probe_sleep(10000);
    CHECK(*U->value >= value);
}

/* Queued at the present value of the fence, and done when this returns. */
static inline void update_do(update_operation *operations, UINT count)
{
    const uint64_t now = *U->value;

    CHECK(IS(update_queue(operations, count, now), STATUS_SUCCESS));
    update_await(now + 1);
}

/* ---- what the tables show ---- */

#define UPDATE_ZERO    (-1)
#define UPDATE_INVALID (-2)
#define UPDATE_OTHER   (-3)

/* Which page of the pool an address shows, or one of the above. */
static inline int update_shows(uint64_t va)
{
    const DXGK_PTE entry = va_shadow_walk(U->context, va);

    if (entry.Zero)
        return entry.Valid ? UPDATE_ZERO : UPDATE_OTHER;
    if (!entry.Valid)
        return UPDATE_INVALID;
    for (int i = 0; i < 1024; i++) {
        const DXGK_PTE page = va_shadow_walk(U->context, U->pool_va + (unsigned)i * PAGE);

        if (!page.Valid || page.Zero)
            break;
        if (page.Segment == entry.Segment && page.PageAddress == entry.PageAddress)
            return i;
    }
    return UPDATE_OTHER;
}

/* Do `count` pages from an address on show pages of the pool from `first` on, or one state? */
static inline bool update_all(uint64_t va, unsigned count, int first)
{
    for (unsigned i = 0; i < count; i++)
        if (update_shows(va + (uint64_t)i * PAGE) != (first < 0 ? first : first + (int)i))
            return false;
    return true;
}

/* ---- the run ---- */

static const DXGK_PAGETABLEUPDATEMODE update_modes[] = {DXGK_PAGETABLEUPDATE_CPU_VIRTUAL,
                                                        DXGK_PAGETABLEUPDATE_GPU_VIRTUAL,
                                                        DXGK_PAGETABLEUPDATE_GPU_PHYSICAL};

static inline struct probe *update_create(DXGK_PAGETABLEUPDATEMODE mode)
{
    struct probe *p = probe_create(NULL);

    memset(U, 0, sizeof(*U));
    U->mode = mode;
    p->mmu.PageTableUpdateMode = mode;
    va_shadow_begin(p);
    return p;
}

static inline void update_finish(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static inline void update_run(DXGK_PAGETABLEUPDATEMODE mode, void (*body)(struct probe *p))
{
    update_finish(update_create(mode), body);
}

static inline void update_run_all(void (*body)(struct probe *p))
{
    for (unsigned i = 0; i < 3; i++)
        update_run(update_modes[i], body);
}

#define RIG_ARGUMENT_update  struct probe *p
#define RIG_RUN_update(body) update_run_all(body)

#endif
