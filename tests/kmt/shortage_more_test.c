/* SPDX-License-Identifier: MIT */
/* Further calls while the memory of the host runs out (shortage_test.c has the others): those with lists, events and names, and each
 * call that gives out a handle when the table of handles has to grow for it. */
#include "host/support/refgpu_client.h"

#include <ntifs.h>

#include "sim/machine.h"

struct scene {
    struct gpu gpu, other;
    struct memory memory[3]; /* the last one is offered */
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_HANDLE made, global;
    HANDLE event, nt, made_nt;
    D3DKMT_CREATEKEYEDMUTEX2 mutex;
};

struct attempt {
    const char *name;
    NTSTATUS (*call)(struct scene *s);
    NTSTATUS (*undo)(struct scene *s); /* NULL: nothing is made */
};

static WCHAR name[] = L"\\BaseNamedObjects\\Short";

static OBJECT_ATTRIBUTES *attributes(void)
{
    static UNICODE_STRING string;
    static OBJECT_ATTRIBUTES named;

    RtlInitUnicodeString(&string, name);
    InitializeObjectAttributes(&named, &string, 0, NULL, NULL);
    return &named;
}

/* ---- lists ---- */

static NTSTATUS lock_both(struct scene *s)
{
    NTSTATUS status = gpu_lock(&s->gpu, &s->memory[0]);

    if (!NT_SUCCESS(status))
        return status;
    status = gpu_lock(&s->gpu, &s->memory[1]);
    if (!NT_SUCCESS(status))
        (void)gpu_unlock(&s->gpu, &s->memory[0]);
    return status;
}

static NTSTATUS unlock_list(struct scene *s)
{
    D3DKMT_HANDLE list[2] = {s->memory[0].handle, s->memory[1].handle};

    return D3DKMTUnlock(&(D3DKMT_UNLOCK){s->gpu.device, 2, list});
}

/* Both locks stay if the call fails. */
static NTSTATUS lock_and_unlock(struct scene *s)
{
    struct util_heap *heap = &sim_current->heap;
    uint64_t fail_at = heap->fail_at, before = heap->requests;
    NTSTATUS status;

    heap->fail_at = 0;
    status = lock_both(s);
    if (!NT_SUCCESS(status))
        return STATUS_UNSUCCESSFUL;
    heap->fail_at = fail_at - before + heap->requests;
    status = unlock_list(s);
    heap->fail_at = 0;
    return NT_SUCCESS(status) || NT_SUCCESS(unlock_list(s)) ? status : STATUS_UNSUCCESSFUL;
}

static NTSTATUS get_priorities(struct scene *s)
{
    D3DKMT_HANDLE list[2] = {s->memory[0].handle, s->memory[1].handle};
    UINT values[2];
    D3DKMT_GETALLOCATIONPRIORITY args = {
        .AllocationCount = 2, .phAllocationList = list, .pPriorities = values};

    args.hDevice = s->gpu.device;
    return D3DKMTGetAllocationPriority(&args);
}

static NTSTATUS offer(struct scene *s)
{
    D3DKMT_OFFERALLOCATIONS args = {.NumAllocations = 1, .Priority = D3DKMT_OFFER_PRIORITY_LOW};

    args.hDevice = s->gpu.device;
    args.HandleList = &s->memory[2].handle;
    return D3DKMTOfferAllocations(&args);
}

static NTSTATUS reclaim_with_results(struct scene *s)
{
    D3DDDI_RECLAIM_RESULT result;
    D3DKMT_RECLAIMALLOCATIONS2 args = {.NumAllocations = 1, .pResults = &result};

    args.hPagingQueue = s->gpu.queue;
    args.HandleList = &s->memory[2].handle;
    return D3DKMTReclaimAllocations2(&args);
}

/* ---- events ---- */

static NTSTATUS enqueue_event(struct scene *s)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 args = {.BroadcastContextCount = 1};

    args.hContext = s->gpu.copy;
    args.BroadcastContext[0] = s->gpu.render;
    args.Flags.EnqueueCpuEvent = 1;
    args.CpuEventHandle = s->event;
    return D3DKMTSignalSynchronizationObject2(&args);
}

static NTSTATUS wait_idle(struct scene *s)
{
    LARGE_INTEGER now = {.QuadPart = 0};
    NTSTATUS status = gpu_wait_idle(&s->gpu);

    return NT_SUCCESS(status) ? ZwWaitForSingleObject(s->event, FALSE, &now) : status;
}

static NTSTATUS wait_async(struct scene *s)
{
    UINT64 value = 0;

    return D3DKMTWaitForSynchronizationObjectFromCpu(
        &(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU){.hDevice = s->gpu.device,
                                                      .ObjectCount = 1,
                                                      .ObjectHandleArray = &s->fence.hSyncObject,
                                                      .FenceValueArray = &value,
                                                      .hAsyncEvent = s->event});
}

static NTSTATUS create_notification(struct scene *s)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args = {.Info = {.Type = D3DDDI_CPU_NOTIFICATION}};
    NTSTATUS status;

    args.hDevice = s->gpu.device;
    args.Info.CPUNotification.Event = s->event;
    status = D3DKMTCreateSynchronizationObject2(&args);
    s->made = args.hSyncObject;
    return status;
}

static NTSTATUS destroy_made(struct scene *s)
{
    return D3DKMTDestroySynchronizationObject(&(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){s->made});
}

/* ---- sharing ---- */

static NTSTATUS open_resource(struct scene *s)
{
    uint8_t total[256];
    D3DDDI_OPENALLOCATIONINFO2 info = {0};
    D3DKMT_OPENRESOURCE args = {.NumAllocations = 1, .pOpenAllocationInfo2 = &info};
    NTSTATUS status;

    args.hDevice = s->gpu.device;
    args.hGlobalShare = s->global;
    args.pTotalPrivateDriverDataBuffer = total;
    args.TotalPrivateDriverDataBufferSize = sizeof(struct refgpu_allocation_data);
    status = D3DKMTOpenResource2(&args);
    s->made = args.hResource;
    return status;
}

static NTSTATUS close_resource(struct scene *s)
{
    D3DKMT_DESTROYALLOCATION2 args = {.hResource = s->made};

    args.hDevice = s->gpu.device;
    return D3DKMTDestroyAllocation2(&args);
}

static NTSTATUS open_name(struct scene *s)
{
    D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME args = {.dwDesiredAccess = GENERIC_ALL,
                                                  .pObjAttrib = attributes()};
    NTSTATUS status = D3DKMTOpenSyncObjectNtHandleFromName(&args);

    s->made_nt = args.hNtHandle;
    return status;
}

static NTSTATUS close_nt(struct scene *s)
{
    return ZwClose(s->made_nt);
}

static NTSTATUS cycle_mutex(struct scene *s)
{
    static const char data[16] = "changed";
    LARGE_INTEGER now = {.QuadPart = 0};
    D3DKMT_ACQUIREKEYEDMUTEX2 acquire = {.hKeyedMutex = s->mutex.hKeyedMutex, .pTimeout = &now};
    D3DKMT_RELEASEKEYEDMUTEX2 release = {.hKeyedMutex = s->mutex.hKeyedMutex,
                                         .pPrivateRuntimeData = (void *)(uintptr_t)data,
                                         .PrivateRuntimeDataSize = sizeof(data)};
    NTSTATUS status = D3DKMTAcquireKeyedMutex2(&acquire), released;

    if (!NT_SUCCESS(status))
        return status;
    released = D3DKMTReleaseKeyedMutex2(&release);
    return released == STATUS_NO_MEMORY && D3DKMTReleaseKeyedMutex2(&release) != STATUS_SUCCESS
               ? STATUS_UNSUCCESSFUL
               : released;
}

/* ---- questions and work ---- */

static NTSTATUS ask_driver(struct scene *s)
{
    struct refgpu_escape_counters counters = {
        .header = {.magic = REFGPU_UMD_MAGIC, .code = REFGPU_ESCAPE_COUNTERS}};

    return D3DKMTEscape(&(D3DKMT_ESCAPE){.hAdapter = s->gpu.adapter,
                                         .pPrivateDriverData = &counters,
                                         .PrivateDriverDataSize = sizeof(counters)});
}

static NTSTATUS enumerate(struct scene *s)
{
    D3DKMT_ADAPTERINFO list[2];
    D3DKMT_ENUMADAPTERS2 args = {2, list};
    NTSTATUS status = D3DKMTEnumAdapters2(&args);

    s->made = list[0].hAdapter;
    return status;
}

static NTSTATUS close_adapter(struct scene *s)
{
    return D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){s->made});
}

static const struct attempt attempts[] = {
    {"Unlock", lock_and_unlock, NULL},
    {"GetAllocationPriority", get_priorities, NULL},
    {"ReclaimAllocations2", reclaim_with_results, offer},
    {"SignalSynchronizationObject2", enqueue_event, wait_idle},
    {"WaitForSynchronizationObjectFromCpu", wait_async, wait_idle},
    {"CreateSynchronizationObject2", create_notification, destroy_made},
    {"OpenResource2", open_resource, close_resource},
    {"OpenSyncObjectNtHandleFromName", open_name, close_nt},
    {"ReleaseKeyedMutex2", cycle_mutex, NULL},
    {"Escape", ask_driver, NULL},
    {"EnumAdapters2", enumerate, close_adapter},
};

static NTSTATUS make_shared_resource(struct scene *s)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC, .bytes = 4096};
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data,
                                   .PrivateDriverDataSize = sizeof(data)};
    D3DKMT_CREATEALLOCATION args = {.NumAllocations = 1, .pAllocationInfo2 = &info};
    NTSTATUS status;

    args.hDevice = s->gpu.device;
    args.Flags.CreateResource = args.Flags.CreateShared = 1;
    status = D3DKMTCreateAllocation2(&args);
    s->global = args.hGlobalShare;
    return status;
}

static NTSTATUS make_scene(struct scene *s)
{
    NTSTATUS status = gpu_begin(&s->gpu);

    for (unsigned i = 0; i < 3 && NT_SUCCESS(status); i++)
        status = gpu_create_memory(&s->gpu, 65536, REFGPU_ALLOCATION_CPU_VISIBLE,
                                   REFGPU_IN_APERTURE, &s->memory[i]);
    s->fence.hDevice = s->gpu.device;
    s->fence.Info.Type = D3DDDI_MONITORED_FENCE;
    s->fence.Info.Flags.Shared = s->fence.Info.Flags.NtSecuritySharing = 1;
    if (NT_SUCCESS(status))
        status = D3DKMTCreateSynchronizationObject2(&s->fence);
    if (NT_SUCCESS(status))
        status = D3DKMTShareObjects(1, &s->fence.hSyncObject, attributes(), GENERIC_ALL, &s->nt);
    if (NT_SUCCESS(status))
        status = D3DKMTCreateKeyedMutex2(&s->mutex);
    if (NT_SUCCESS(status))
        status = ZwCreateEvent(&s->event, EVENT_ALL_ACCESS, NULL, SynchronizationEvent, FALSE);
    if (NT_SUCCESS(status))
        status = make_shared_resource(s);
    return NT_SUCCESS(status) ? offer(s) : status;
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
            printf("    %s, request %d: status 0x%08x\n", a->name, failed, (unsigned)status);
            return -1;
        }
    } while (heap->failures != failures && failed < 1000);
    return failed - 1;
}

TEST_WITH(client, lists_events_and_names_need_memory)
{
    static struct scene s;
    uint64_t blocks;

    memset(&s, 0, sizeof(s));
    TRY(c, make_scene(&s) == STATUS_SUCCESS);
    for (unsigned i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        bool kept = false;

        for (unsigned time = 0; time < 5 && !kept; time++) { /* tables grow now and then */
            blocks = sim_current->heap.live_blocks;
            SHOW(c, "KMT-013", each_request_in_turn(&s, &attempts[i]) >= 0);
            kept = sim_current->heap.live_blocks == blocks;
        }
        if (!kept)
            printf("    %s leaves blocks each time\n", attempts[i].name);
        TRY(c, kept);
    }
    TRY(c, ZwClose(s.nt) == STATUS_SUCCESS && ZwClose(s.event) == STATUS_SUCCESS);
}

/* ---- tables of handles that have to grow ---- */

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
    return D3DKMTDestroyPagingQueue(&(D3DDDI_DESTROYPAGINGQUEUE){s->other.queue});
}

static NTSTATUS create_context(struct scene *s)
{
    s->other.device = s->gpu.device;
    return gpu_create_copy_context(&s->other);
}

static NTSTATUS destroy_context(struct scene *s)
{
    return gpu_destroy_context(s->other.copy);
}

static NTSTATUS create_fence(struct scene *s)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    NTSTATUS status = gpu_create_fence(&s->gpu, &args);

    s->made = args.hSyncObject;
    return status;
}

static NTSTATUS create_keyed(struct scene *s)
{
    D3DKMT_CREATEKEYEDMUTEX2 args = {.InitialValue = 0};
    NTSTATUS status = D3DKMTCreateKeyedMutex2(&args);

    s->made = args.hKeyedMutex;
    return status;
}

static NTSTATUS destroy_keyed(struct scene *s)
{
    return D3DKMTDestroyKeyedMutex(&(D3DKMT_DESTROYKEYEDMUTEX){s->made});
}

static const struct attempt handles[] = {
    {"CreateDevice", create_device, destroy_device},
    {"CreatePagingQueue", create_queue, destroy_queue},
    {"CreateContextVirtual", create_context, destroy_context},
    {"CreateSynchronizationObject2", create_fence, destroy_made},
    {"CreateKeyedMutex2", create_keyed, destroy_keyed},
    {"EnumAdapters2", enumerate, close_adapter},
    {"OpenResource2", open_resource, close_resource},
};

/* 512 places, of which 256 stay free. `exact`: nothing else grows meanwhile. */
static void fill_table(struct client *c, const struct attempt *a, bool exact)
{
    static struct scene s;
    int least = 1000, most = 0;

    memset(&s, 0, sizeof(s));
    TRY(c, make_scene(&s) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 230; i++)
        TRY(c, create_keyed(&s) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 30; i++) {
        uint64_t blocks = sim_current->heap.live_blocks;
        int failed = each_request_in_turn(&s, a);

        SHOW(c, "KMT-013",
             failed >= 0 && (i == 0 || !exact || sim_current->heap.live_blocks == blocks));
        least = failed < least ? failed : least;
        most = failed > most ? failed : most;
        TRY(c, create_keyed(&s) == STATUS_SUCCESS);
    }
    TRY(c, most > least);
    TRY(c, ZwClose(s.nt) == STATUS_SUCCESS && ZwClose(s.event) == STATUS_SUCCESS);
}

#define FILL(name, index, exact)                   \
    TEST_WITH(client, name)                        \
    {                                              \
        fill_table(c, &handles[(index)], (exact)); \
    }
FILL(a_device_has_no_place, 0, false)
FILL(a_paging_queue_has_no_place, 1, true)
FILL(a_context_has_no_place, 2, false)
FILL(a_fence_has_no_place, 3, true)
FILL(a_keyed_mutex_has_no_place, 4, true)
FILL(an_adapter_has_no_place, 5, true)
FILL(a_resource_has_no_place, 6, false)
