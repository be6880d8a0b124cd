/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: locks with Discard get further instances of an allocation (ALLOC-121, ALLOC-043). */
#include "port/support/portions.h"
#include "sim/sim.h"
#include "util/alloc.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define PACKET             (PROBE_SECOND / 10)
#define BYTES              (5u * 4096)

static struct portions_gpu gpu;
static UINT limit; /* of the next allocations: MaximumRenamingListLength */
static UINT set;
static UINT flags; /* and their other flags beside CpuVisible */

static HANDLE filled[16]; /* hAllocation of each operation that brings something in */
static uint64_t filled_bytes[16];
static unsigned fills;

static void visible(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedReadSegmentSet =
            args->pAllocationInfo[i].SupportedWriteSegmentSet = set;
        args->pAllocationInfo[i].PreferredSegment.Value = set & 1 ? 1 : 2;
        args->pAllocationInfo[i].Flags.Value = flags;
        args->pAllocationInfo[i].Flags.CpuVisible = 1;
        args->pAllocationInfo[i].MaximumRenamingListLength = limit;
    }
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (fills == 16)
        return;
    if (op->Operation == DXGK_OPERATION_TRANSFER && op->Transfer.Destination.SegmentId == 1) {
        filled_bytes[fills] = op->Transfer.TransferSize;
        filled[fills++] = op->Transfer.hAllocation;
    }
}

static void prepare(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = visible;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
}

static void prepare_out_of_order(struct probe *p)
{
    prepare(p);
    p->caps.MemoryManagementCaps.OutOfOrderLock = 1;
}

static void run_with(void (*prepared)(struct probe *p), void (*body)(struct probe *p))
{
    struct probe *p;

    limit = flags = fills = 0;
    set = 3;
    portions_prepare = prepared;
    p = portions_begin(false, false);
    portions_end(p, probe_client_run(p, body));
    probe_device_packet_ns = 1000;
}

/* ---- the client ---- */

static void *data; /* of the latest lock */

static NTSTATUS lock(D3DKMT_HANDLE *allocation, D3DDDICB_LOCKFLAGS f)
{
    D3DKMT_LOCK args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = *allocation;
    args.Flags = f;
    status = D3DKMTLock(&args);
    util_heap_current->fail_at = 0;
    if (!NT_SUCCESS(status)) {
        CHECK(args.hAllocation == *allocation);
        return status;
    }
    *allocation = args.hAllocation;
    data = args.pData;
    memset(data, 0x11, BYTES);
    CHECK(data && IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, allocation}), STATUS_SUCCESS));
    return status;
}

#define LOCK(allocation, ...) lock(allocation, (D3DDDICB_LOCKFLAGS){__VA_ARGS__})

/* Of one or two allocations, in this order in the list; `first` and `second` are patched, in that order. */
static NTSTATUS use(D3DKMT_HANDLE first, D3DKMT_HANDLE second, UINT one, UINT two)
{
    for (unsigned i = 0; i < PORTIONS_MANY + 1; i++)
        gpu.context.pAllocationList[i] = (D3DDDI_ALLOCATIONLIST){0};
    gpu.context.pAllocationList[1].hAllocation = first;
    gpu.context.pAllocationList[2].hAllocation = second;
    portions_element(&gpu, 0, 0, one, 0);
    portions_element(&gpu, 1, 1, two, 0);
    return portions_render(&gpu, 64, second ? 2 : 1);
}

static NTSTATUS submit(D3DKMT_HANDLE allocation)
{
    return use(allocation, 0, 1, 0);
}

static bool refused(NTSTATUS status, NTSTATUS wanted, const char *rule)
{
    return status == wanted && strcmp(probe_refused_rule, rule) == 0;
}

static bool at_once(uint64_t since)
{
    return sim_now() - since < PACKET / 10;
}

/* And after a fill, which takes as long. */
static bool after_packet(uint64_t since)
{
    return sim_now() - since > PACKET / 2 && sim_now() - since < 5 * PACKET / 2;
}

static D3DKMT_HANDLE begin(void)
{
    portions_open(&gpu);
    portions_allocate(&gpu, 0, BYTES);
    probe_device_packet_ns = PACKET;
    return gpu.allocation[0];
}

static void finish(void)
{
    portions_finish(&gpu);
    probe_device_packet_ns = 1000;
    portions_close(&gpu);
}

/* ---- further instances ---- */

static void another_body(struct probe *p)
{
    static const UINT last = BYTES / 4096 - 1;
    const D3DKMT_HANDLE old = begin();
    D3DKMT_HANDLE now = old;
    D3DKMT_LOCK args;
    uint64_t start;
    uint8_t *before;

    CHECK(IS(LOCK(&now, .LockEntire = 1), STATUS_SUCCESS) && now == old);
    before = data;
    CHECK(IS(submit(old), STATUS_SUCCESS));
    probe_sleep(1000000);
    probe_forget(p);
    start = sim_now();
    CHECK_RULE("ALLOC-121/a", IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now != old && now);
    CHECK_RULE("ALLOC-121/a", at_once(start));
    CHECK_RULE("ALLOC-121/a", probe_count(p, PROBE_CreateAllocation) == 0 &&
                                  probe_count(p, PROBE_OpenAllocation) == 0);
    /* of the same size */
    CHECK_RULE("ALLOC-121/b",
               (uint8_t *)data + BYTES <= before || before + BYTES <= (uint8_t *)data);
    args = (D3DKMT_LOCK){.hDevice = gpu.device, .hAllocation = now, .NumPages = 1, .pPages = &last};
    CHECK_RULE("ALLOC-121/b", IS(D3DKMTLock(&args), STATUS_SUCCESS));
    CHECK(IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, &now}), STATUS_SUCCESS));
    CHECK(IS(submit(now), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK(portions.patch_count == 2);
    CHECK_RULE("ALLOC-121/b",
               portions.patched[0].list[1].hDeviceSpecificAllocation ==
                       portions.patched[1].list[1].hDeviceSpecificAllocation &&
                   portions.patched[0].list[1].SegmentId == portions.patched[1].list[1].SegmentId);
    CHECK_RULE("PATCH-077", PORTIONS_THERE(portions.patched[1].list[1]) &&
                                (portions_address(0, 1) + BYTES <= portions_address(1, 1) ||
                                 portions_address(1, 1) + BYTES <= portions_address(0, 1)));
    CHECK_RULE("ALLOC-121/b", fills >= 2 && filled[0] && filled[0] == filled[1] &&
                                  filled_bytes[0] == BYTES && filled_bytes[1] == BYTES);
    finish();
}

TEST(a_lock_with_discard_gets_another_instance)
{
    run_with(prepare, another_body);
}

/* Nobody but the client knows what is in a command buffer that was not submitted yet. */
static void idle_body(struct probe *p)
{
    const D3DKMT_HANDLE old = begin();
    D3DKMT_HANDLE now = old;

    (void)p;
    CHECK_RULE("ALLOC-121/a", IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now != old);
    CHECK_RULE("ALLOC-121/a", IS(LOCK(&now, .Discard = 1, .DonotWait = 1), STATUS_SUCCESS) &&
                                  now != old && now != gpu.allocation[1]);
    finish();
}

TEST(an_idle_instance_may_be_in_a_command_buffer)
{
    run_with(prepare, idle_body);
}

static void reuse_body(struct probe *p)
{
    const D3DKMT_HANDLE first = begin();
    D3DKMT_HANDLE now = first, second, third;

    (void)p;
    CHECK(IS(submit(first), STATUS_SUCCESS));
    CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now != first);
    second = now;
    CHECK(IS(submit(second), STATUS_SUCCESS)); /* retires the first, which is still busy */
    CHECK_RULE("ALLOC-121/a",
               IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now != first && now != second);
    third = now;
    portions_finish(&gpu);
    /* the first is retired and idle; the second is idle, and may be in a command buffer */
    CHECK_RULE("ALLOC-121/c", IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now == first);
    CHECK_RULE("ALLOC-121/c", IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now != first &&
                                  now != second && now != third);
    /* it is the newest again */
    now = first;
    CHECK(IS(submit(second), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-122/a", IS(submit(first), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-122/a",
               refused(submit(third), STATUS_GRAPHICS_ALLOCATION_INVALID, "ALLOC-122"));
    finish();
}

TEST(retired_instances_are_reused)
{
    run_with(prepare, reuse_body);
}

static void oldest_body(struct probe *p)
{
    D3DKMT_HANDLE seen[4], now;

    (void)p;
    seen[0] = now = begin();
    for (unsigned i = 1; i < 4; i++) {
        CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS));
        seen[i] = now;
    }
    CHECK(IS(submit(seen[3]), STATUS_SUCCESS));
    portions_finish(&gpu);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("ALLOC-121/c", IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now == seen[i]);
    CHECK(IS(submit(now), STATUS_SUCCESS)); /* the last of them is the newest */
    portions_finish(&gpu);
    CHECK_RULE("ALLOC-121/c", IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now == seen[3]);
    CHECK_RULE("ALLOC-121/c", IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now == seen[0]);
    finish();
}

TEST(the_oldest_is_reused_first)
{
    run_with(prepare, oldest_body);
}

/* ---- how many ---- */

static void limit_body(struct probe *p)
{
    static const UINT limits[] = {1, 2, 3, 7};

    (void)p;
    portions_open(&gpu);
    for (unsigned i = 0; i < 4; i++) {
        D3DKMT_HANDLE now, seen[8];
        UINT count = 0;

        limit = limits[i];
        portions_allocate(&gpu, 0, BYTES);
        now = gpu.allocation[0];
        seen[count++] = now;
        while (count < 8 && NT_SUCCESS(LOCK(&now, .Discard = 1))) {
            for (UINT k = 0; k < count; k++)
                CHECK_RULE("ALLOC-043", seen[k] != now);
            seen[count++] = now;
        }
        CHECK_RULE("ALLOC-043", count == limits[i]);
        CHECK_RULE("ALLOC-121/d",
                   refused(LOCK(&now, .Discard = 1), STATUS_GRAPHICS_ALLOCATION_BUSY, "ALLOC-121"));
    }
    limit = 0;
    portions_allocate(&gpu, 0, BYTES);
    for (unsigned i = 0; i < 20; i++) {
        D3DKMT_HANDLE now = gpu.allocation[0];

        CHECK_RULE("ALLOC-043",
                   IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now != gpu.allocation[0]);
        gpu.allocation[0] = now;
    }
    portions_close(&gpu);
}

TEST(the_driver_limits_the_instances)
{
    run_with(prepare, limit_body);
}

static void exhausted_body(struct probe *p)
{
    D3DKMT_HANDLE first, second, now;
    uint64_t start;

    (void)p;
    limit = 2;
    first = now = begin();
    CHECK(IS(submit(first), STATUS_SUCCESS));
    CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now != first);
    second = now;
    start = sim_now();
    CHECK_RULE("ALLOC-148/b",
               refused(LOCK(&now, .Discard = 1), STATUS_GRAPHICS_ALLOCATION_BUSY, "ALLOC-121") &&
                   at_once(start));
    /* without anything of it in a command buffer, the idle one will do, the current one included */
    CHECK_RULE("ALLOC-121/e",
               IS(LOCK(&now, .Discard = 1, .NoExistingReference = 1), STATUS_SUCCESS) &&
                   now == second && at_once(start));
    CHECK(IS(submit(second), STATUS_SUCCESS));
    /* now both are busy: the older one is retired, and is done first */
    CHECK_RULE("ALLOC-121/c", IS(LOCK(&now, .Discard = 1, .DonotWait = 1), STATUS_SUCCESS) &&
                                  now == first && after_packet(start));
    portions_finish(&gpu);
    CHECK(IS(submit(first), STATUS_SUCCESS));
    start = sim_now();
    CHECK_RULE("ALLOC-121/c",
               IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now == second && at_once(start));
    finish();
}

TEST(where_there_is_no_further_instance_the_client_submits_first)
{
    run_with(prepare, exhausted_body);
}

static void alone_body(struct probe *p)
{
    D3DKMT_HANDLE only, now;
    uint64_t start;

    (void)p;
    limit = 1;
    only = now = begin();
    CHECK(IS(submit(only), STATUS_SUCCESS));
    start = sim_now();
    CHECK_RULE("ALLOC-118", IS(LOCK(&now, .Discard = 1, .NoExistingReference = 1, .DonotWait = 1,
                                    .IgnoreSync = 1),
                               STATUS_SUCCESS) &&
                                now == only && after_packet(start));
    start = sim_now();
    CHECK_RULE("ALLOC-121/e",
               IS(LOCK(&now, .Discard = 1, .NoExistingReference = 1), STATUS_SUCCESS) &&
                   now == only && at_once(start));
    finish();
}

TEST(an_allocation_with_one_instance_is_waited_for)
{
    run_with(prepare, alone_body);
}

/* What the CPU still sees is nobody's to overwrite. */
static void locked_body(struct probe *p)
{
    D3DKMT_LOCK held;
    D3DKMT_HANDLE first, now;

    (void)p;
    limit = 2;
    first = now = begin();
    memset(&held, 0, sizeof(held));
    held.hDevice = gpu.device;
    held.hAllocation = first;
    CHECK(IS(D3DKMTLock(&held), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-121/e",
               IS(LOCK(&now, .Discard = 1, .NoExistingReference = 1), STATUS_SUCCESS) &&
                   now != first);
    held.hAllocation = now;
    CHECK(IS(D3DKMTLock(&held), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-121/e", refused(LOCK(&now, .Discard = 1, .NoExistingReference = 1),
                                      STATUS_GRAPHICS_ALLOCATION_BUSY, "ALLOC-121"));
    CHECK(IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, &first}), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-121/e",
               IS(LOCK(&now, .Discard = 1, .NoExistingReference = 1), STATUS_SUCCESS) &&
                   now == first);
    finish();
}

TEST(locked_instances_are_not_reused)
{
    run_with(prepare, locked_body);
}

/* Each allocation of the host fails in turn. */
static void memory_body(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;
    D3DKMT_HANDLE now = begin();
    unsigned failed = 0;

    for (uint64_t n = 1, failures = 0;; n++) {
        const D3DKMT_HANDLE before = now;
        NTSTATUS status;

        heap->fail_at = heap->requests + n;
        status = LOCK(&now, .Discard = 1);
        if (heap->failures == failures)
            break;
        failures = heap->failures;
        failed += !NT_SUCCESS(status);
        CHECK_RULE("ALLOC-121/d", NT_SUCCESS(status) ? now != before : now == before);
        CHECK_RULE("ALLOC-121/d", IS(LOCK(&now, .DonotWait = 1), STATUS_SUCCESS));
    }
    CHECK(failed >= 3);
    finish();
}

TEST(without_memory_the_client_keeps_its_instance)
{
    run_with(prepare, memory_body);
}

/* ---- submissions ---- */

static void order_body(struct probe *p)
{
    const D3DKMT_HANDLE first = begin();
    D3DKMT_HANDLE now = first, second, third;

    CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS));
    second = now;
    CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS));
    third = now;
    probe_forget(p);
    /* both in one list: what counts is the order of the patch locations */
    CHECK_RULE("ALLOC-122/b",
               refused(use(first, second, 2, 1), STATUS_GRAPHICS_ALLOCATION_INVALID, "ALLOC-122"));
    portions_finish(&gpu);
    CHECK_RULE("ALLOC-122/b", probe_count(p, PROBE_SubmitCommand) == 0);
    CHECK_RULE("ALLOC-122/b", IS(use(second, first, 2, 1), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-122/a", IS(use(second, gpu.allocation[1], 1, 2), STATUS_SUCCESS));
    probe_forget(p);
    CHECK_RULE("ALLOC-122/a",
               refused(submit(first), STATUS_GRAPHICS_ALLOCATION_INVALID, "ALLOC-122"));
    CHECK_RULE("KMT-310", probe_count(p, PROBE_Render) == 0);
    CHECK_RULE("ALLOC-122/a", IS(submit(third), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-122/a",
               refused(submit(second), STATUS_GRAPHICS_ALLOCATION_INVALID, "ALLOC-122"));
    CHECK_RULE("ALLOC-122/a", IS(submit(gpu.allocation[1]), STATUS_SUCCESS)); /* another one */
    CHECK_RULE("ALLOC-122/a", IS(submit(third), STATUS_SUCCESS));
    finish();
}

TEST(submissions_use_instances_in_order)
{
    run_with(prepare, order_body);
}

/* ---- locks of older instances ---- */

static void latest_body(struct probe *p)
{
    const D3DKMT_HANDLE first = begin();
    D3DKMT_HANDLE now = first, old = first;

    (void)p;
    CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS));
    CHECK_RULE("CAPS-057",
               refused(LOCK(&old, .DonotWait = 1), STATUS_INVALID_PARAMETER, "CAPS-057"));
    CHECK_RULE("SEG-077", refused(LOCK(&old, .Discard = 1), STATUS_INVALID_PARAMETER, "CAPS-057"));
    CHECK_RULE("SEG-077", IS(LOCK(&now, .DonotWait = 1), STATUS_SUCCESS));
    finish();
}

TEST(only_the_newest_instance_is_locked)
{
    run_with(prepare, latest_body);
}

static void older_body(struct probe *p)
{
    const D3DKMT_HANDLE first = begin();
    D3DKMT_HANDLE now = first, old = first, next;

    (void)p;
    CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS));
    CHECK_RULE("CAPS-057", IS(LOCK(&old, .DonotWait = 1), STATUS_SUCCESS) && old == first);
    next = old;
    CHECK_RULE("SEG-077",
               IS(LOCK(&next, .Discard = 1), STATUS_SUCCESS) && next != first && next != now);
    CHECK(IS(submit(first), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("SEG-077", IS(LOCK(&old, .DonotWait = 1), STATUS_SUCCESS));
    CHECK(IS(submit(now), STATUS_SUCCESS));
    portions_finish(&gpu);
    CHECK_RULE("ALLOC-119",
               refused(LOCK(&old, .DonotWait = 1), STATUS_INVALID_PARAMETER, "ALLOC-119"));
    CHECK_RULE("ALLOC-119",
               refused(LOCK(&old, .Discard = 1), STATUS_INVALID_PARAMETER, "ALLOC-119"));
    CHECK_RULE("ALLOC-119", IS(LOCK(&now, .DonotWait = 1), STATUS_SUCCESS));
    finish();
}

TEST(older_instances_are_locked_with_a_cap)
{
    run_with(prepare_out_of_order, older_body);
}

/* ---- the end ---- */

static bool is_gone(D3DKMT_HANDLE allocation)
{
    return IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, &allocation}),
              STATUS_INVALID_PARAMETER) &&
           IS(submit(allocation), STATUS_INVALID_HANDLE);
}

static NTSTATUS destroy(const D3DKMT_HANDLE *list, UINT count)
{
    return D3DKMTDestroyAllocation(&(D3DKMT_DESTROYALLOCATION){gpu.device, 0, list, count});
}

static UINT closed, destroyed; /* handles that the driver got */

static void note_close(struct probe *p, struct probe_call *call)
{
    (void)p;
    closed += ((const DXGKARG_CLOSEALLOCATION *)(uintptr_t)call->arg[1])->NumAllocations;
}

static void note_destroy(struct probe *p, struct probe_call *call)
{
    (void)p;
    destroyed += ((const DXGKARG_DESTROYALLOCATION *)(uintptr_t)call->arg[1])->NumAllocations;
}

static void prepare_end(struct probe *p)
{
    prepare(p);
    p->before[PROBE_CloseAllocation] = note_close;
    p->before[PROBE_DestroyAllocation] = note_destroy;
    closed = destroyed = 0;
}

static void end_body(struct probe *p)
{
    D3DKMT_HANDLE list[2], now, other;

    (void)p;
    list[0] = now = begin();
    portions_allocate(&gpu, 1, BYTES);
    other = gpu.allocation[1];
    CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS));
    list[1] = now;
    CHECK(IS(submit(list[0]), STATUS_SUCCESS));
    CHECK(IS(submit(list[1]), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-148/a", IS(destroy(&list[1], 1), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-148/a", is_gone(list[0]) && is_gone(list[1]) && !is_gone(other));
    CHECK_RULE("ALLOC-148/a", closed == 0 && destroyed == 0); /* the GPU still uses them */
    portions_finish(&gpu);
    probe_sleep(PACKET);
    CHECK_RULE("ALLOC-148/a", closed == 1 && destroyed == 1);
    /* several of one allocation in a list */
    portions_allocate(&gpu, 0, BYTES);
    list[0] = list[1] = gpu.allocation[0];
    CHECK(IS(LOCK(&list[1], .Discard = 1), STATUS_SUCCESS) && list[0] != list[1]);
    CHECK_RULE("ALLOC-148/a", IS(destroy(list, 2), STATUS_SUCCESS));
    portions_finish(&gpu);
    probe_sleep(PACKET);
    CHECK_RULE("ALLOC-148/a", closed == 2 && destroyed == 2 && is_gone(list[0]) && is_gone(list[1]));
    /* a device ends with several */
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(LOCK(&other, .Discard = 1), STATUS_SUCCESS) && IS(submit(other), STATUS_SUCCESS));
    finish();
    CHECK_RULE("ALLOC-148/a", closed == 3 && destroyed == 3);
}

TEST(an_allocation_ends_with_all_its_instances)
{
    run_with(prepare_end, end_body);
}

/* ---- what is not renamed ---- */

static void shared_body(struct probe *p)
{
    D3DDDI_ALLOCATIONINFO info;
    D3DKMT_CREATEALLOCATION create;
    D3DKMT_HANDLE now;
    uint64_t start, bytes = BYTES;

    (void)p;
    begin();
    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    create.hDevice = gpu.device;
    create.NumAllocations = 1;
    create.pAllocationInfo = &info;
    create.Flags.CreateResource = create.Flags.CreateShared = 1;
    CHECK(IS(D3DKMTCreateAllocation(&create), STATUS_SUCCESS));
    now = info.hAllocation;
    CHECK(IS(submit(now), STATUS_SUCCESS));
    start = sim_now();
    CHECK_RULE("ALLOC-149/a", IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) &&
                                  now == info.hAllocation && after_packet(start));
    CHECK(IS(submit(now), STATUS_SUCCESS));
    CHECK_RULE("ALLOC-149/a", refused(LOCK(&now, .Discard = 1, .DonotWait = 1),
                                      STATUS_GRAPHICS_ALLOCATION_BUSY, "ALLOC-116"));
    flags = (DXGK_ALLOCATIONINFOFLAGS){.Capture = 1}.Value;
    portions_allocate(&gpu, 1, BYTES);
    now = gpu.allocation[1];
    CHECK_RULE("ALLOC-149/b",
               IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now == gpu.allocation[1]);
    flags = 0;
    portions_allocate(&gpu, 2, BYTES);
    now = gpu.allocation[2];
    CHECK(IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now != gpu.allocation[2]);
    finish();
}

TEST(shared_and_pinned_allocations_are_not_renamed)
{
    run_with(prepare, shared_body);
}

static void borrowed_body(struct probe *p)
{
    static const uint64_t bytes = BYTES;
    D3DKMT_LOCK held = {0};
    D3DKMT_HANDLE now = begin();
    D3DDDI_ALLOCATIONINFO info = {.pPrivateDriverData = (void *)(uintptr_t)&bytes,
                                  .PrivateDriverDataSize = sizeof(bytes)};
    D3DKMT_CREATEALLOCATION create = {
        .hDevice = gpu.device, .NumAllocations = 1, .pAllocationInfo = &info};

    (void)p;
    held.hDevice = gpu.device;
    held.hAllocation = now;
    CHECK(IS(D3DKMTLock(&held), STATUS_SUCCESS)); /* memory of the client */
    info.pSystemMem = held.pData;
    flags = (DXGK_ALLOCATIONINFOFLAGS){.ExistingSysMem = 1}.Value;
    set = 2;
    CHECK(IS(D3DKMTCreateAllocation(&create), STATUS_SUCCESS));
    now = info.hAllocation;
    CHECK_RULE("ALLOC-149/c",
               IS(LOCK(&now, .Discard = 1), STATUS_SUCCESS) && now == info.hAllocation);
    finish();
}

TEST(memory_of_the_client_is_not_renamed)
{
    run_with(prepare, borrowed_body);
}
