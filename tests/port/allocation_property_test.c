/* SPDX-License-Identifier: MIT */
/* Changing where an allocation may be while it lives: what the driver is asked, and what becomes of the allocation. */
#include "port/support/client.h"
#include "sim/machine.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MB                 (1u << 20)
#define PHYSICAL           1u /* PropertyMaskValue */
#define SET                2u
#define PREFERRED          4u

static struct probe_gpu gpu;

static struct driver {
    UINT set, preferred, capture; /* of what is created */
    HANDLE handle;                /* of the latest */
    unsigned asked;
    DXGKARG_VALIDATEUPDATEALLOCPROPERTY question;
    NTSTATUS answer;
    unsigned operations, operations_when_asked, out, mapped;
} driver;

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

/* ---- the driver ---- */

static void describe(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = driver.set;
        info->PreferredSegment.Value = driver.preferred;
        info->Flags.Capture = driver.capture & 1;
        driver.handle = info->hAllocation;
    }
}

static void validate(struct probe *p, struct probe_call *call)
{
    (void)p;
    driver.asked++;
    driver.question = *(const DXGKARG_VALIDATEUPDATEALLOCPROPERTY *)(uintptr_t)call->arg[1];
    driver.operations_when_asked = driver.operations;
    call->answered = true;
    call->result = (uint32_t)driver.answer;
}

static void note(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    driver.operations++;
    driver.out += op->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER &&
                  op->TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM;
    driver.mapped += op->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2;
}

static struct probe *create(void)
{
    struct probe *p = probe_create(NULL);

    memset(&driver, 0, sizeof(driver));
    driver.set = 3;
    probe_set_entry(p, PROBE_ValidateUpdateAllocationProperty, true);
    p->after[PROBE_CreateAllocation] = describe;
    p->before[PROBE_ValidateUpdateAllocationProperty] = validate;
    p->before[PROBE_BuildPagingBuffer] = note;
    return p;
}

/* ---- the client ---- */

static D3DKMT_HANDLE make(UINT set, UINT preferred, uint64_t bytes)
{
    D3DKMT_HANDLE allocation;

    driver.set = set;
    driver.preferred = preferred;
    CHECK(IS(probe_gpu_allocate(&gpu, bytes, &allocation), STATUS_SUCCESS));
    return allocation;
}

static D3DDDI_UPDATEALLOCPROPERTY args;

static NTSTATUS update(D3DKMT_HANDLE allocation, UINT mask, UINT set, UINT preferred, UINT flags)
{
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.hAllocation = allocation;
    args.SupportedSegmentSet = set;
    args.PreferredSegment.Value = preferred;
    args.Flags.Value = flags;
    args.PropertyMaskValue = mask;
    args.PagingFenceValue = 77;
    return D3DKMTUpdateAllocationProperty(&args);
}

static void wait_fence(UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;

    memset(&wait, 0, sizeof(wait));
    wait.hDevice = gpu.device;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &gpu.queue_fence;
    wait.FenceValueArray = &value;
    CHECK(IS(D3DKMTWaitForSynchronizationObjectFromCpu(&wait), STATUS_SUCCESS));
}

static bool is_in(D3DKMT_HANDLE allocation, D3DKMT_ALLOCATIONRESIDENCYSTATUS wanted)
{
    D3DKMT_ALLOCATIONRESIDENCYSTATUS found = 0;
    D3DKMT_QUERYALLOCATIONRESIDENCY query;

    memset(&query, 0, sizeof(query));
    query.hDevice = gpu.device;
    query.phAllocationList = &allocation;
    query.AllocationCount = 1;
    query.pResidencyStatus = &found;
    CHECK(IS(D3DKMTQueryAllocationResidency(&query), STATUS_SUCCESS));
    return found == wanted;
}

#define IN_MEMORY(allocation) \
    is_in(allocation, D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY)
#define IN_SYSTEM(allocation) \
    is_in(allocation, D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINSHAREDMEMORY)

/* ---- the set ---- */

static void set_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    allocation = make(3, 1, MB);
    CHECK(IN_MEMORY(allocation) && driver.out == 0);
    CHECK_RULE("ALLOC-110", IS(update(allocation, SET, 2, 0, 0), STATUS_PENDING) &&
                                args.PagingFenceValue != 0 && args.PagingFenceValue != 77);
    wait_fence(args.PagingFenceValue);
    CHECK_RULE("ALLOC-110", IN_SYSTEM(allocation) && driver.out == 1);
    CHECK_RULE("ALLOC-108", driver.asked == 1 && driver.question.hAllocation == driver.handle &&
                                driver.question.SupportedSegmentSet == 2 &&
                                driver.question.PropertyMaskValue == SET &&
                                driver.question.SetSupportedSegmentSet);
    /* the same once more: nothing to do, but the driver is asked */
    driver.operations = 0;
    CHECK_RULE("ALLOC-108", IS(update(allocation, SET, 2, 0, 0), STATUS_SUCCESS) &&
                                driver.asked == 2 && driver.operations == 0);
    CHECK_RULE("ALLOC-110", args.PagingFenceValue == 0);
    /* a set that has its place, too: holds at once */
    CHECK_RULE("ALLOC-110",
               IS(update(allocation, SET, 3, 0, 0), STATUS_SUCCESS) && driver.operations == 0);
    CHECK_RULE("ALLOC-110", IS(update(allocation, SET, 1, 0, 0), STATUS_PENDING));
    wait_fence(args.PagingFenceValue);
    CHECK_RULE("ALLOC-110", IN_MEMORY(allocation) && driver.operations > 0);
    CHECK_RULE("ALLOC-108", driver.operations_when_asked == 0);
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS) &&
          IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_set_without_its_segment_moves_it)
{
    run(create(), set_body);
}

/* ---- which members count ---- */

static void selection_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    allocation = make(3, 1, MB);
    driver.operations = 0;
    /* bad values of members that are not selected */
    CHECK_RULE("ALLOC-108", IS(update(allocation, PREFERRED, 0, 2, 1), STATUS_SUCCESS) &&
                                driver.operations == 0 && IN_MEMORY(allocation));
    CHECK_RULE("ALLOC-108", driver.question.PropertyMaskValue == PREFERRED &&
                                driver.question.SetPreferredSegment &&
                                driver.question.PreferredSegment.SegmentId0 == 2);
    /* its set is what it was: both can be preferred still, and only they */
    CHECK_RULE("ALLOC-108", IS(update(allocation, PREFERRED, 0, 1, 0), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-108", IS(update(allocation, 0, 2, 9, 1), STATUS_SUCCESS) &&
                                driver.asked == 3 && driver.operations == 0);
    /* mapped in the aperture only if accessed physically */
    CHECK_RULE("ALLOC-108", IS(update(allocation, SET, 2, 31, 1), STATUS_PENDING));
    wait_fence(args.PagingFenceValue);
    CHECK_RULE("ALLOC-108", IN_SYSTEM(allocation) && driver.mapped == 0);
    CHECK_RULE("ALLOC-109", IS(update(allocation, PHYSICAL, 0, 31, 1), STATUS_PENDING) &&
                                driver.question.SetAccessedPhysically &&
                                driver.question.PropertyMaskValue == 1);
    wait_fence(args.PagingFenceValue);
    CHECK_RULE("ALLOC-109", IN_SYSTEM(allocation) && driver.mapped == 1);
    CHECK_RULE("ALLOC-108", IS(update(allocation, PHYSICAL, 0, 31, 1), STATUS_SUCCESS));
    /* bits of the pages that are none */
    driver.asked = 0;
    for (UINT mask = 8; mask; mask <<= 1)
        CHECK_RULE("ALLOC-109", IS(update(allocation, mask, 1, 1, 0), STATUS_INVALID_PARAMETER) &&
                                    strcmp(probe_refused_rule, "KMT-290") == 0);
    for (UINT flag = 4; flag; flag <<= 1)
        CHECK_RULE("KMT-290",
                   IS(update(allocation, PHYSICAL, 0, 0, flag), STATUS_INVALID_PARAMETER));
    CHECK_RULE("ALLOC-109", driver.asked == 0);
    /* 2 is the set, and 4 the preference: the other way round each would be refused */
    CHECK_RULE("ALLOC-109", IS(update(allocation, 2, 3, 31, 0), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-109", IS(update(allocation, 4, 0, 1, 0), STATUS_SUCCESS) && driver.asked == 2);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(only_selected_members_count)
{
    run(create(), selection_body);
}

/* What is preferred decides at the next placement. */
static void preferred_body(struct probe *p)
{
    D3DKMT_HANDLE allocation = 0;
    D3DKMT_EVICT evict;
    D3DDDI_MAKERESIDENT resident;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    allocation = make(3, 1, MB);
    CHECK(IS(update(allocation, PREFERRED, 0, 2, 0), STATUS_SUCCESS));
    memset(&evict, 0, sizeof(evict));
    evict.hDevice = gpu.device;
    evict.NumAllocations = 1;
    evict.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTEvict(&evict)));
    probe_sleep(PROBE_SECOND);
    /* while it is nowhere, any set holds at once */
    CHECK_RULE("ALLOC-110", IS(update(allocation, SET, 2, 0, 0), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-110", IS(update(allocation, SET, 3, 0, 0), STATUS_SUCCESS));
    memset(&resident, 0, sizeof(resident));
    resident.hPagingQueue = gpu.queue;
    resident.NumAllocations = 1;
    resident.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTMakeResident(&resident)));
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("ALLOC-108", IN_SYSTEM(allocation));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_preference_decides_at_the_next_placement)
{
    run(create(), preferred_body);
}

/* ---- what fails ---- */

static void refused_body(struct probe *p)
{
    D3DKMT_HANDLE allocation, others;
    struct probe_gpu second;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    allocation = make(3, 1, MB);
    CHECK_RULE("ALLOC-110", IS(update(allocation, SET, 0, 0, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("ALLOC-110", IS(update(allocation, SET, 8, 0, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("ALLOC-110", IS(update(allocation, SET, 1 | 8, 0, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("ALLOC-110", IS(update(allocation, PREFERRED, 0, 4, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("ALLOC-110",
               IS(update(allocation, SET | PREFERRED, 2, 1, 0), STATUS_INVALID_PARAMETER) &&
                   strstr(probe_refused_text, "names segment 1, the supported set is 0x2"));
    CHECK_RULE("ALLOC-110", IS(update(0, SET, 2, 0, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("ALLOC-110", driver.asked == 0 && IN_MEMORY(allocation));
    CHECK(IS(probe_gpu_begin(&second), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&second, MB, &others), STATUS_SUCCESS));
    CHECK_RULE("KMT-290", IS(update(others, SET, 2, 0, 0), STATUS_INVALID_PARAMETER) &&
                              strcmp(probe_refused_rule, "KMT-290") == 0 && driver.asked == 0);
    CHECK(IS(probe_gpu_end(&second), STATUS_SUCCESS));
    driver.answer = STATUS_ACCESS_DENIED;
    CHECK_RULE("ALLOC-111", IS(update(allocation, SET, 2, 0, 0), STATUS_ACCESS_DENIED) &&
                                driver.asked == 1 && IN_MEMORY(allocation));
    driver.answer = STATUS_GRAPHICS_INVALID_ALLOCATION_USAGE;
    CHECK_RULE("ALLOC-111", IS(update(allocation, SET, 2, 0, 0), driver.answer));
    driver.answer = STATUS_SUCCESS;
    /* the set is what it was: segment 1 may be preferred */
    CHECK_RULE("ALLOC-111", IS(update(allocation, PREFERRED, 0, 1, 0), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(bad_updates_change_nothing)
{
    run(create(), refused_body);
}

static void full_body(struct probe *p)
{
    D3DKMT_HANDLE in_system, large;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    (void)make(1, 1, 13 * MB);
    in_system = make(2, 2, 4 * MB);
    CHECK(IN_SYSTEM(in_system));
    CHECK_RULE("ALLOC-110", IS(update(in_system, SET, 1, 0, 0), STATUS_NO_MEMORY) &&
                                args.PagingFenceValue == 77 && IN_SYSTEM(in_system));
    /* nothing has changed: it may be in system memory */
    CHECK_RULE("ALLOC-110", IS(update(in_system, PREFERRED, 0, 2, 0), STATUS_SUCCESS));
    large = make(2, 2, 17 * MB); /* more than there is at all */
    CHECK_RULE("ALLOC-110", IS(update(large, SET, 1, 0, 0), STATUS_NO_MEMORY) && IN_SYSTEM(large));
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS) &&
          IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_full_segment_is_refused)
{
    run(create(), full_body);
}

static void without_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    allocation = make(3, 1, MB);
    CHECK_RULE("ALLOC-111", IS(update(allocation, SET, 2, 0, 0), STATUS_NOT_SUPPORTED) &&
                                strcmp(probe_refused_rule, "ALLOC-111") == 0 &&
                                probe_count(p, PROBE_ValidateUpdateAllocationProperty) == 0 &&
                                IN_MEMORY(allocation));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_driver_without_the_entry_changes_nothing)
{
    struct probe *p = create();

    probe_set_entry(p, PROBE_ValidateUpdateAllocationProperty, false);
    run(p, without_body);
}

/* ---- pinned ---- */

static void pinned_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    driver.capture = 1;
    allocation = make(3, 1, MB);
    CHECK_RULE("ALLOC-054",
               IS(update(allocation, SET, 2, 0, 0), STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION) &&
                   strcmp(probe_refused_rule, "ALLOC-054") == 0);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("ALLOC-054", driver.out == 0 && IN_MEMORY(allocation));
    /* the set is what it was, and what moves nothing may change */
    CHECK_RULE("ALLOC-054", IS(update(allocation, SET | PREFERRED, 3, 1, 0), STATUS_SUCCESS) &&
                                IS(update(allocation, SET, 1, 0, 0), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(what_is_pinned_stays_in_its_set)
{
    run(create(), pinned_body);
}

/* ---- the budget ---- */

static UINT64 usage(D3DKMT_MEMORY_SEGMENT_GROUP group)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info = {.hAdapter = gpu.adapter, .MemorySegmentGroup = group};

    CHECK(NT_SUCCESS(D3DKMTQueryVideoMemoryInfo(&info)));
    return info.CurrentUsage;
}

/* MiB of memory of the adapter and of the system. */
static bool uses(UINT64 local, UINT64 other)
{
    return usage(D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL) == local * MB &&
           usage(D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL) == other * MB;
}

static void make_resident(const struct probe_gpu *g, D3DKMT_HANDLE allocation)
{
    D3DDDI_MAKERESIDENT resident;

    memset(&resident, 0, sizeof(resident));
    resident.hPagingQueue = g->queue;
    resident.NumAllocations = 1;
    resident.AllocationList = &allocation;
    resident.Flags.CantTrimFurther = 1;
    CHECK(NT_SUCCESS(D3DKMTMakeResident(&resident)));
    probe_sleep(PROBE_SECOND / 10);
}

/* On no list. `global`: in a resource that other devices may open; or NULL. */
static D3DKMT_HANDLE make_unlisted(D3DKMT_HANDLE device, UINT set, uint64_t bytes,
                                   D3DKMT_HANDLE *global)
{
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION create;

    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    driver.set = set;
    driver.preferred = 1;
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    create.hDevice = device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    create.Flags.CreateResource = create.Flags.CreateShared = global != NULL;
    CHECK(IS(D3DKMTCreateAllocation2(&create), STATUS_SUCCESS));
    if (global)
        *global = create.hGlobalShare;
    return info.hAllocation;
}

static D3DKMT_HANDLE open_shared(D3DKMT_HANDLE device, D3DKMT_HANDLE global)
{
    D3DDDI_OPENALLOCATIONINFO info;
    D3DKMT_OPENRESOURCE open;
    uint8_t total[64];

    memset(&open, 0, sizeof(open));
    memset(&info, 0, sizeof(info));
    open.hDevice = device;
    open.hGlobalShare = global;
    open.NumAllocations = 1;
    open.pOpenAllocationInfo = &info;
    open.pTotalPrivateDriverDataBuffer = total;
    open.TotalPrivateDriverDataBufferSize = sizeof(uint64_t);
    CHECK(IS(D3DKMTOpenResource(&open), STATUS_SUCCESS));
    return info.hAllocation;
}

/* Once, whatever devices of the process list it, and wherever it goes. */
static void two_devices_body(struct probe *p)
{
    D3DKMT_HANDLE mine, theirs, global;
    struct probe_gpu second;
    D3DKMT_EVICT evict;

    CHECK(verify_set_severity(p->log, "ALLOC-147", VERIFY_NOTE)); /* it is CpuVisible */
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS) && IS(probe_gpu_begin(&second), STATUS_SUCCESS));
    mine = make_unlisted(gpu.device, 3, MB, &global);
    theirs = open_shared(second.device, global);
    make_resident(&gpu, mine);
    make_resident(&second, theirs);
    CHECK_RULE("RES-045", uses(1, 0));
    CHECK(IS(update(mine, SET, 2, 0, 0), STATUS_PENDING));
    CHECK_RULE("RES-045", uses(0, 1));
    wait_fence(args.PagingFenceValue);
    CHECK_RULE("RES-045", uses(0, 1) && IN_SYSTEM(mine));
    CHECK(IS(probe_gpu_end(&second), STATUS_SUCCESS));
    CHECK_RULE("RES-045", uses(0, 1));
    CHECK(IS(update(mine, SET, 1, 0, 0), STATUS_PENDING));
    CHECK_RULE("RES-045", uses(1, 0));
    wait_fence(args.PagingFenceValue);
    memset(&evict, 0, sizeof(evict));
    evict.hDevice = gpu.device;
    evict.NumAllocations = 1;
    evict.AllocationList = &mine;
    CHECK(NT_SUCCESS(D3DKMTEvict(&evict)));
    CHECK_RULE("RES-045", uses(0, 0));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(what_two_devices_list_is_counted_once_wherever_it_goes)
{
    run(create(), two_devices_body);
}

/* What is listed and was evicted for others has a place to come back to. */
static void evicted_body(struct probe *p)
{
    D3DKMT_HANDLE allocation, other;
    struct probe_gpu second;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS) && IS(probe_gpu_begin(&second), STATUS_SUCCESS));
    allocation = make(1, 1, 8 * MB);
    other = make_unlisted(second.device, 1, 12 * MB, NULL);
    make_resident(&second, other);
    CHECK(driver.out == 1 && !IN_MEMORY(allocation));
    CHECK(usage(D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL) == 20 * MB);
    CHECK_RULE("RES-045", IS(update(allocation, SET, 2, 0, 0), STATUS_SUCCESS) &&
                              usage(D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL) == 12 * MB &&
                              usage(D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL) == 8 * MB);
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS) &&
          IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK_RULE("RES-045",
               IN_SYSTEM(allocation) && usage(D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL) == 8 * MB);
    CHECK(IS(probe_gpu_end(&second), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(what_was_evicted_is_charged_where_it_may_return)
{
    run(create(), evicted_body);
}

/* Each request of memory of the call fails in turn. */
static void undone_body(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;
    NTSTATUS status = STATUS_NO_MEMORY;
    D3DKMT_HANDLE allocation;
    unsigned failed = 0;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    allocation = make(3, 1, MB);
    while (!NT_SUCCESS(status)) {
        CHECK(uses(1, 0) && IN_MEMORY(allocation) && failed < 32);
        heap->fail_at = heap->requests + ++failed;
        status = update(allocation, SET, 2, 0, 0);
        heap->fail_at = 0;
        CHECK_RULE("ALLOC-110", IS(status, STATUS_NO_MEMORY) || IS(status, STATUS_PENDING));
    }
    CHECK_RULE("ALLOC-110", failed > 2 && uses(0, 1));
    wait_fence(args.PagingFenceValue);
    CHECK(IN_SYSTEM(allocation));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(an_update_that_fails_charges_nothing)
{
    run(create(), undone_body);
}

/* ---- the GPU still has it ---- */

static void busy_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;
    UINT64 fence;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    allocation = make(3, 1, MB);
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("ALLOC-110", IS(update(allocation, SET, 2, 0, 0), STATUS_PENDING));
    fence = args.PagingFenceValue;
    probe_sleep(10000000);
    CHECK_RULE("ALLOC-110", driver.out == 0 && IN_MEMORY(allocation));
    probe_device_packet_ns = 1000;
    wait_fence(fence);
    CHECK_RULE("ALLOC-110", driver.out == 1 && IN_SYSTEM(allocation));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(the_move_waits_for_the_gpu)
{
    run(create(), busy_body);
}

/* What work on its way may still use is in the way, though it was evicted. */
static void used_body(struct probe *p)
{
    D3DKMT_HANDLE used, in_system;
    D3DKMT_EVICT evict = {.NumAllocations = 1, .AllocationList = &used};

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    used = make(1, 1, 10 * MB);
    in_system = make(2, 2, 4 * MB);
    probe_device_packet_ns = PROBE_SECOND / 50;
    for (unsigned i = 0; i < 10; i++)
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    evict.hDevice = gpu.device;
    CHECK(IS(D3DKMTEvict(&evict), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-110", IS(update(in_system, SET, 1, 0, 0), STATUS_NO_MEMORY) &&
                                IN_SYSTEM(in_system) &&
                                strstr(probe_refused_text, "queued work") != NULL);
    probe_device_packet_ns = 1000;
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("ALLOC-110", IS(update(in_system, SET, 1, 0, 0), STATUS_PENDING));
    wait_fence(args.PagingFenceValue);
    CHECK_RULE("ALLOC-110", IN_MEMORY(in_system));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_segment_that_queued_work_fills_is_refused)
{
    run(create(), used_body);
}

/* ---- a move that fails ---- */

static bool in_error(void)
{
    D3DKMT_GETDEVICESTATE state;

    memset(&state, 0, sizeof(state));
    state.hDevice = gpu.device;
    state.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    CHECK(IS(D3DKMTGetDeviceState(&state), STATUS_SUCCESS));
    return state.ExecutionState != D3DKMT_DEVICEEXECUTION_ACTIVE;
}

/* Each request of memory fails in turn, after the call has returned: the allocation has moved, or the device is in error. */
static void failing_body(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;
    unsigned errors = 0, moves = 0;

    for (uint64_t nth = 1; nth <= 16; nth++) {
        D3DKMT_HANDLE allocation;

        CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
        allocation = make(3, 1, MB);
        probe_device_packet_ns = PROBE_SECOND / 10;
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
        probe_sleep(1000000);
        CHECK(IS(update(allocation, SET, 2, 0, 0), STATUS_PENDING));
        heap->fail_at = heap->requests + nth;
        probe_device_packet_ns = 1000;
        probe_sleep(PROBE_SECOND);
        heap->fail_at = 0;
        if (in_error()) {
            errors++;
        } else {
            CHECK_RULE("ALLOC-110", IN_SYSTEM(allocation));
            moves++;
        }
        CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    }
    CHECK_RULE("ALLOC-110", errors > 0 && moves > 0);
}

TEST(a_move_that_fails_later_is_an_error_of_the_device)
{
    run(create(), failing_body);
}

/* ---- the cache ---- */

static NTSTATUS invalidate(D3DKMT_HANDLE device, D3DKMT_HANDLE allocation, UINT64 offset,
                           UINT64 length)
{
    const D3DKMT_INVALIDATECACHE invalid = {device, allocation, offset, length};

    return D3DKMTInvalidateCache(&invalid);
}

static void cache_body(struct probe *p)
{
    struct probe_gpu second;
    D3DKMT_HANDLE h;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    h = make(3, 1, 5000);
    probe_forget(p);
    CHECK_RULE("ALLOC-139", IS(invalidate(gpu.device, h, 0, 5000), STATUS_SUCCESS) &&
                                IS(invalidate(gpu.device, h, 5000, 0), STATUS_SUCCESS) &&
                                IS(invalidate(gpu.device, h, 4999, 1), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-139", IS(invalidate(gpu.device, h, 0, 5001), STATUS_INVALID_PARAMETER) &&
                                IS(invalidate(gpu.device, h, 5000, 1), STATUS_INVALID_PARAMETER) &&
                                IS(invalidate(gpu.device, h, 5001, 0), STATUS_INVALID_PARAMETER) &&
                                IS(invalidate(gpu.device, h, ~0ull, 2), STATUS_INVALID_PARAMETER));
    CHECK_RULE("ALLOC-139", strcmp(probe_refused_rule, "ALLOC-139") == 0 && p->calls == 0);
    CHECK(IS(invalidate(gpu.device, 0, 0, 1), STATUS_INVALID_PARAMETER));
    CHECK(IS(invalidate(0, h, 0, 1), STATUS_INVALID_PARAMETER));
    CHECK(IS(probe_gpu_begin(&second), STATUS_SUCCESS));
    CHECK(IS(invalidate(second.device, h, 0, 1), STATUS_INVALID_PARAMETER));
    CHECK(IS(probe_gpu_end(&second), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_cache_is_invalidated_within_the_allocation)
{
    run(create(), cache_body);
}
