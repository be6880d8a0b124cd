/* SPDX-License-Identifier: MIT */
/* What the driver is told of allocations, and what the host does with what it leaves in their descriptions. */
#include "port/support/client.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MANY               3u

static struct probe_gpu gpu;

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void destroy_resource(D3DKMT_HANDLE resource)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hResource = resource;
    CHECK(IS(D3DKMTDestroyAllocation2(&args), STATUS_SUCCESS));
}

/* ---- two calls, one meaning ---- */

/* A copy of what DxgkDdiCreateAllocation got. */
struct request {
    UINT count, resource_bytes, flags;
    bool has_resource;
    uint8_t resource_data[16];
    UINT bytes[MANY];
    uint64_t data[MANY][2];
    unsigned opened, open_flags;
};

static struct request seen[2], *now;

static void note_create(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    now->count = args->NumAllocations;
    now->flags = args->Flags.Value;
    now->has_resource = args->hResource != NULL;
    now->resource_bytes = args->PrivateDriverDataSize;
    CHECK(args->PrivateDriverDataSize <= sizeof(now->resource_data));
    if (args->PrivateDriverDataSize)
        memcpy(now->resource_data, args->pPrivateDriverData, args->PrivateDriverDataSize);
    for (UINT i = 0; i < args->NumAllocations && i < MANY; i++) {
        now->bytes[i] = args->pAllocationInfo[i].PrivateDriverDataSize;
        memcpy(now->data[i], args->pAllocationInfo[i].pPrivateDriverData, now->bytes[i]);
    }
}

static void note_open(struct probe *p, struct probe_call *call)
{
    const DXGKARG_OPENALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    now->opened += args->NumAllocations;
    now->open_flags = args->Flags.Value;
}

/* The driver changes private data, which comes back to the client. */
static void change_data(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++)
        ((uint64_t *)args->pAllocationInfo[i].pPrivateDriverData)[1] = 0xC0DE + i;
}

static void create_both_ways(struct probe *p)
{
    static const uint8_t resource_data[5] = {1, 2, 3, 4, 5};

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    p->before[PROBE_CreateAllocation] = note_create;
    p->after[PROBE_CreateAllocation] = change_data;
    p->before[PROBE_OpenAllocation] = note_open;
    for (unsigned newer = 0; newer < 2; newer++) {
        uint64_t data[MANY][2] = {{4096, 7}, {8192, 8}, {65536, 9}};
        D3DDDI_ALLOCATIONINFO old[MANY];
        D3DDDI_ALLOCATIONINFO2 info[MANY];
        D3DKMT_CREATEALLOCATION args;

        now = &seen[newer];
        memset(now, 0, sizeof(*now));
        memset(old, 0, sizeof(old));
        memset(info, 0, sizeof(info));
        memset(&args, 0, sizeof(args));
        for (unsigned i = 0; i < MANY; i++) {
            old[i].pPrivateDriverData = info[i].pPrivateDriverData = data[i];
            old[i].PrivateDriverDataSize = info[i].PrivateDriverDataSize = sizeof(data[i]);
        }
        args.hDevice = gpu.device;
        args.Flags.CreateResource = 1;
        args.pPrivateDriverData = (void *)(uintptr_t)resource_data;
        args.PrivateDriverDataSize = sizeof(resource_data);
        args.NumAllocations = MANY;
        if (newer)
            args.pAllocationInfo2 = info;
        else
            args.pAllocationInfo = old;
        CHECK_RULE("ALLOC-002",
                   IS(newer ? D3DKMTCreateAllocation2(&args) : D3DKMTCreateAllocation(&args),
                      STATUS_SUCCESS) &&
                       args.hResource);
        for (unsigned i = 0; i < MANY; i++)
            CHECK_RULE("ALLOC-002", (newer ? info[i].hAllocation : old[i].hAllocation) &&
                                        data[i][1] == 0xC0DE + i);
        destroy_resource(args.hResource);
    }
    CHECK_RULE("ALLOC-002", seen[0].count == MANY && seen[0].resource_bytes == 5 &&
                                seen[0].opened == MANY && seen[0].data[2][0] == 65536);
    CHECK_RULE("ALLOC-002", memcmp(&seen[0], &seen[1], sizeof(seen[0])) == 0);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(both_creation_calls_mean_the_same)
{
    run(probe_create(NULL), create_both_ways);
}

/* ---- what the driver leaves alone ---- */

static unsigned looked;

static bool outputs_are_zero(const DXGK_ALLOCATIONINFO *info)
{
    DXGK_ALLOCATIONINFO outputs = *info;
    const DXGK_ALLOCATIONINFO zero = {.pPrivateDriverData = NULL};

    outputs.pPrivateDriverData = NULL; /* these two go in */
    outputs.PrivateDriverDataSize = 0;
    return outputs.Alignment == 0 && outputs.Size == 0 && outputs.PitchAlignedSize == 0 &&
           outputs.HintedBank.Value == zero.HintedBank.Value &&
           outputs.PreferredSegment.Value == 0 && outputs.SupportedReadSegmentSet == 0 &&
           outputs.SupportedWriteSegmentSet == 0 && outputs.EvictionSegmentSet == 0 &&
           outputs.PhysicalAdapterIndex == 0 && !outputs.hAllocation &&
           outputs.FlagsWddm2.Value == 0 && !outputs.pAllocationUsageHint &&
           outputs.AllocationPriority == 0 && outputs.Flags2.Value == 0;
}

/* Looks, then says as little as it can, and fills all else of the second one in for the next call. */
static void answer_little(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];
    static uintptr_t handle = 0x900000;

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        CHECK_RULE("ALLOC-005", outputs_are_zero(info));
        looked++;
        info->Size = 4096;
        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 1;
        info->hAllocation = (HANDLE)(handle += 16);
        if (i % 2) {
            info->Alignment = 65536;
            info->PitchAlignedSize = 8192;
            info->PreferredSegment.SegmentId0 = 1;
            info->FlagsWddm2.CpuVisible = 1;
            info->AllocationPriority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
        }
    }
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static NTSTATUS lock(D3DKMT_HANDLE allocation)
{
    D3DKMT_LOCK2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = allocation;
    return D3DKMTLock2(&args);
}

static NTSTATUS make_resident(D3DKMT_HANDLE *list, UINT count)
{
    D3DDDI_MAKERESIDENT args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.NumAllocations = count;
    args.AllocationList = list;
    status = D3DKMTMakeResident(&args);
    probe_sleep(PROBE_SECOND);
    return status == STATUS_PENDING ? STATUS_SUCCESS : status;
}

static void create_little(struct probe *p)
{
    uint64_t data[4] = {1, 2, 3, 4};

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    p->before[PROBE_CreateAllocation] = answer_little;
    looked = 0;
    for (unsigned round = 0; round < 3; round++) {
        D3DDDI_ALLOCATIONINFO2 info[4];
        D3DKMT_CREATEALLOCATION args;
        D3DKMT_HANDLE list[4];

        memset(info, 0, sizeof(info));
        memset(&args, 0, sizeof(args));
        args.hDevice = gpu.device;
        args.Flags.CreateResource = 1;
        args.NumAllocations = 4;
        args.pAllocationInfo2 = info;
        for (unsigned i = 0; i < 4; i++) {
            info[i].pPrivateDriverData = &data[i];
            info[i].PrivateDriverDataSize = sizeof(data[i]);
        }
        CHECK(IS(D3DKMTCreateAllocation2(&args), STATUS_SUCCESS));
        for (unsigned i = 0; i < 4; i++)
            list[i] = info[i].hAllocation;
        CHECK(IS(make_resident(list, 4), STATUS_SUCCESS));
        CHECK_RULE("ALLOC-005", IS(lock(list[0]), STATUS_INVALID_PARAMETER) &&
                                    strcmp(probe_refused_rule, "ALLOC-128") == 0 &&
                                    IS(lock(list[1]), STATUS_SUCCESS));
        CHECK_RULE("ALLOC-005", probe_rule(p, "ALLOC-071") == 2 * (round + 1));
        destroy_resource(args.hResource);
    }
    CHECK(looked == 12);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(what_the_driver_leaves_alone_is_zero)
{
    run(probe_create(NULL), create_little);
}

/* ---- what the host leaves alone ---- */

static void *nowhere;
static unsigned opens, hinted;

static void give_hint(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++)
        args->pAllocationInfo[i].pAllocationUsageHint = nowhere, hinted++;
}

static void look_at_open(struct probe *p, struct probe_call *call)
{
    DXGKARG_OPENALLOCATION *args = (void *)(uintptr_t)call->arg[1];

    (void)p;
    CHECK_RULE("ALLOC-079", args->SubresourceIndex == 0);
    args->SubresourceOffset = ~(SIZE_T)0; /* answers for a GDI device */
    args->Pitch = ~0u;
    opens++;
}

static void share_and_open(D3DKMT_HANDLE global)
{
    struct probe_gpu second;
    D3DKMT_QUERYRESOURCEINFO query;
    D3DKMT_OPENRESOURCE open;
    D3DDDI_OPENALLOCATIONINFO info;
    uint8_t total[64];

    CHECK(IS(probe_gpu_begin(&second), STATUS_SUCCESS));
    memset(&query, 0, sizeof(query));
    query.hDevice = second.device;
    query.hGlobalShare = global;
    CHECK(IS(D3DKMTQueryResourceInfo(&query), STATUS_SUCCESS) && query.NumAllocations == 1);
    memset(&open, 0, sizeof(open));
    memset(&info, 0, sizeof(info));
    open.hDevice = second.device;
    open.hGlobalShare = global;
    open.NumAllocations = 1;
    open.pOpenAllocationInfo = &info;
    open.pTotalPrivateDriverDataBuffer = total;
    open.TotalPrivateDriverDataBufferSize = query.TotalPrivateDriverDataSize;
    CHECK(IS(D3DKMTOpenResource(&open), STATUS_SUCCESS) && info.hAllocation);
    CHECK(IS(probe_gpu_end(&second), STATUS_SUCCESS));
}

static void whole_life(struct probe *p)
{
    uint64_t data = 65536;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_EVICT evict;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    args.Flags.CreateResource = args.Flags.CreateShared = 1;
    CHECK(verify_set_severity(p->log, "ALLOC-147", VERIFY_NOTE));
    opens = 0;
    CHECK(IS(D3DKMTCreateAllocation2(&args), STATUS_SUCCESS) && args.hGlobalShare);
    share_and_open(args.hGlobalShare);
    CHECK(IS(make_resident(&info.hAllocation, 1), STATUS_SUCCESS));
    CHECK(IS(lock(info.hAllocation), STATUS_SUCCESS));
    CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){gpu.device, info.hAllocation}), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS) &&
          IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    memset(&evict, 0, sizeof(evict));
    evict.hDevice = gpu.device;
    evict.NumAllocations = 1;
    evict.AllocationList = &info.hAllocation;
    CHECK(NT_SUCCESS(D3DKMTEvict(&evict)));
    probe_sleep(PROBE_SECOND);
    destroy_resource(args.hResource);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-079", opens == 2);
    if (hinted)
        CHECK_RULE("ALLOC-072", hinted == 1 && !verify_bugcheck_state(p->log)->happened);
    CHECK_RULE("ALLOC-106", probe_count(p, PROBE_DescribeAllocation) == 0);
    CHECK_RULE("ALLOC-107", probe_count(p, PROBE_DescribeAllocation) == 0);
}

TEST(usage_hints_are_not_read)
{
    struct probe *p = probe_create(NULL);

    nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nowhere != MAP_FAILED);
    hinted = 0;
    p->after[PROBE_CreateAllocation] = give_hint;
    p->after[PROBE_OpenAllocation] = look_at_open;
    run(p, whole_life);
    CHECK(munmap(nowhere, 4096) == 0);
}

/* A compute-only adapter and a strict host, which makes calls only to probe, neither. */
TEST(nobody_asks_for_a_description)
{
    const struct probe_options options = {.strict = true};
    struct probe *p = probe_create(NULL);

    hinted = 0;
    probe_make_compute_only(p);
    p->after[PROBE_OpenAllocation] = look_at_open;
    run(p, whole_life);
    p = probe_create(&options);
    p->after[PROBE_OpenAllocation] = look_at_open;
    run(p, whole_life);
}

/* ---- who gets a handle of a shared resource ---- */

static NTSTATUS make_shared(bool secure, D3DKMT_CREATEALLOCATION *args)
{
    static uint64_t data = 4096;
    static D3DDDI_ALLOCATIONINFO2 info;

    memset(&info, 0, sizeof(info));
    memset(args, 0, sizeof(*args));
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    args->hDevice = gpu.device;
    args->NumAllocations = 1;
    args->pAllocationInfo2 = &info;
    args->Flags.CreateResource = args->Flags.CreateShared = 1;
    args->Flags.NtSecuritySharing = secure;
    args->hGlobalShare = 0x5A5A;
    return D3DKMTCreateAllocation2(args);
}

static NTSTATUS open_nt(HANDLE nt)
{
    D3DKMT_OPENRESOURCEFROMNTHANDLE open;
    D3DDDI_OPENALLOCATIONINFO2 info;
    uint8_t total[64];

    memset(&open, 0, sizeof(open));
    memset(&info, 0, sizeof(info));
    open.hDevice = gpu.device;
    open.hNtHandle = nt;
    open.NumAllocations = 1;
    open.pOpenAllocationInfo2 = &info;
    open.pTotalPrivateDriverDataBuffer = total;
    open.TotalPrivateDriverDataBufferSize = 8;
    return D3DKMTOpenResourceFromNtHandle(&open);
}

static void share_both(struct probe *p)
{
    D3DKMT_CREATEALLOCATION secure, plain;
    OBJECT_ATTRIBUTES attributes;
    D3DKMT_QUERYRESOURCEINFO query;
    HANDLE nt = NULL;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(verify_set_severity(p->log, "ALLOC-147", VERIFY_NOTE));
    InitializeObjectAttributes(&attributes, NULL, 0, NULL, NULL);
    CHECK_RULE("ALLOC-082", IS(make_shared(true, &secure), STATUS_SUCCESS) && secure.hResource &&
                                secure.hGlobalShare == 0);
    CHECK_RULE("ALLOC-082", IS(make_shared(false, &plain), STATUS_SUCCESS) && plain.hGlobalShare &&
                                plain.hGlobalShare != 0x5A5A);
    CHECK_RULE("ALLOC-082",
               IS(D3DKMTShareObjects(1, &secure.hResource, &attributes, GENERIC_ALL, &nt),
                  STATUS_SUCCESS) &&
                   nt && IS(open_nt(nt), STATUS_SUCCESS));
    CHECK(IS(ZwClose(nt), STATUS_SUCCESS));
    nt = NULL;
    CHECK_RULE("ALLOC-082",
               IS(D3DKMTShareObjects(1, &plain.hResource, &attributes, GENERIC_ALL, &nt),
                  STATUS_INVALID_PARAMETER) &&
                   !nt);
    /* no global handle leads to it, not even its own handle or the next one's */
    memset(&query, 0, sizeof(query));
    query.hDevice = gpu.device;
    query.hGlobalShare = secure.hResource;
    CHECK_RULE("ALLOC-082", !NT_SUCCESS(D3DKMTQueryResourceInfo(&query)));
    query.hGlobalShare = plain.hGlobalShare;
    CHECK_RULE("ALLOC-082", IS(D3DKMTQueryResourceInfo(&query), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_secure_resource_has_no_global_handle)
{
    run(probe_create(NULL), share_both);
}

/* ---- a device in the mode of old ones ---- */

static D3DKMT_HANDLE own_device;

static NTSTATUS allocate(uint64_t bytes, D3DKMT_HANDLE *allocation)
{
    D3DKMT_CREATEALLOCATION args;
    D3DDDI_ALLOCATIONINFO2 info;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    args.hDevice = own_device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&args);
    *allocation = info.hAllocation;
    return status;
}

static void legacy_body(struct probe *p)
{
    const uint64_t all = 32u << 20; /* 16 MiB of memory, and 16 of aperture */

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    for (unsigned legacy = 0; legacy < 2; legacy++) {
        D3DKMT_CREATEDEVICE device;
        D3DKMT_DESTROYALLOCATION2 destroy;
        D3DKMT_HANDLE first, second, third;

        memset(&device, 0, sizeof(device));
        device.hAdapter = gpu.adapter;
        device.Flags.LegacyMode = legacy & 1;
        CHECK(IS(D3DKMTCreateDevice(&device), STATUS_SUCCESS));
        own_device = device.hDevice;
        CHECK_RULE("ALLOC-143", IS(allocate(all / 2, &first), STATUS_SUCCESS));
        CHECK_RULE("ALLOC-143", IS(allocate(all / 2 + 4096, &second),
                                   legacy ? STATUS_GRAPHICS_NO_VIDEO_MEMORY : STATUS_SUCCESS));
        if (!legacy)
            continue;
        CHECK_RULE("ALLOC-143", strcmp(probe_refused_rule, "ALLOC-143") == 0);
        CHECK_RULE("ALLOC-143", IS(allocate(all / 2, &second), STATUS_SUCCESS));
        CHECK_RULE("ALLOC-143", IS(allocate(1, &third), STATUS_GRAPHICS_NO_VIDEO_MEMORY));
        memset(&destroy, 0, sizeof(destroy));
        destroy.hDevice = own_device;
        destroy.AllocationCount = 1;
        destroy.phAllocationList = &first;
        CHECK(IS(D3DKMTDestroyAllocation2(&destroy), STATUS_SUCCESS));
        probe_sleep(PROBE_SECOND);
        CHECK_RULE("ALLOC-143", IS(allocate(all / 2, &third), STATUS_SUCCESS));
    }
    CHECK_RULE("ALLOC-143",
               probe_count(p, PROBE_CreateAllocation) == probe_count(p, PROBE_OpenAllocation) + 2);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_legacy_device_owns_no_more_than_the_segments_hold)
{
    const struct probe_options options = {.ram_bytes = 256u << 20};

    run(probe_create(&options), legacy_body);
}
