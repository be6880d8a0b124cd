/* SPDX-License-Identifier: MIT */
/* Locks of allocations with the flag Capture, which stay where they were placed first. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MB                 (1u << 20)

static struct probe_gpu gpu;

static struct driver {
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags;
    unsigned in, out, notified;
} driver;

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[0];

    (void)p;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 3;
    info->PreferredSegment.Value = 1;
    info->FlagsWddm2.Value |= driver.flags.Value;
}

static void note(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    driver.notified += op->Operation == DXGK_OPERATION_NOTIFY_RESIDENCY;
    if (op->Operation != DXGK_OPERATION_VIRTUAL_TRANSFER)
        return;
    driver.in += op->TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL;
    driver.out += op->TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM;
}

static void run(DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags, void (*body)(struct probe *p))
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    memset(&driver, 0, sizeof(driver));
    driver.flags = flags;
    driver.flags.Capture = driver.flags.CpuVisible = 1;
    driver.flags.ExplicitResidencyNotification = driver.flags.AccessedPhysically = 1;
    p->after[PROBE_CreateAllocation] = describe;
    p->before[PROBE_BuildPagingBuffer] = note;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static D3DKMT_LOCK2 lock;

static NTSTATUS lock_it(D3DKMT_HANDLE allocation)
{
    memset(&lock, 0, sizeof(lock));
    lock.hDevice = gpu.device;
    lock.hAllocation = allocation;
    return D3DKMTLock2(&lock);
}

static bool in_memory(D3DKMT_HANDLE allocation)
{
    D3DKMT_ALLOCATIONRESIDENCYSTATUS found = 0;
    D3DKMT_QUERYALLOCATIONRESIDENCY query;

    memset(&query, 0, sizeof(query));
    query.hDevice = gpu.device;
    query.phAllocationList = &allocation;
    query.AllocationCount = 1;
    query.pResidencyStatus = &found;
    CHECK(IS(D3DKMTQueryAllocationResidency(&query), STATUS_SUCCESS));
    return found == D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY;
}

/* No cached mapping of a memory segment can be made. */
static void cached_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, MB, &allocation), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-054", IS(lock_it(allocation), STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION) &&
                                strcmp(probe_refused_rule, "ALLOC-054") == 0 && driver.out == 0 &&
                                in_memory(allocation));
    CHECK_RULE("PRES-075", probe_rule(p, "PRES-075") == 0); /* it is no primary */
    CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){gpu.device, allocation}), STATUS_INVALID_PARAMETER));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(what_is_pinned_is_not_moved_out_for_a_lock)
{
    run((DXGK_ALLOCATIONINFOFLAGS_WDDM2_0){.Cached = 1}, cached_body);
}

/* What the CPU has written to its pages goes to the memory where the allocation is. */
static void permanent_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, MB, &allocation), STATUS_SUCCESS));
    driver.in = driver.out = driver.notified = 0;
    CHECK(IS(lock_it(allocation), STATUS_SUCCESS));
    *(uint8_t *)lock.pData = 1;
    CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){gpu.device, allocation}), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("ALLOC-054",
               driver.in == 1 && driver.out == 0 && driver.notified == 0 && in_memory(allocation));
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS) &&
          IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(what_is_pinned_gets_the_writes_of_the_cpu_where_it_is)
{
    run((DXGK_ALLOCATIONINFOFLAGS_WDDM2_0){.PermanentSysMem = 1}, permanent_body);
}
