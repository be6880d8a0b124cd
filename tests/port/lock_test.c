/* SPDX-License-Identifier: MIT */
/* D3DKMTLock of a WDDM 1.x client: which GPU work it waits for; and what is left of it for one of 2.x. */
#include "port/support/portions.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define PACKET             (PROBE_SECOND / 10)
#define BYTES              (5u * 4096 + 1)

static struct portions_gpu gpu;

enum { WRITTEN, READ, UNUSED };

static UINT set = 3, swizzled; /* of the next allocation */

static void visible(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedReadSegmentSet =
            args->pAllocationInfo[i].SupportedWriteSegmentSet = set;
        args->pAllocationInfo[i].PreferredSegment.Value = set & 1 ? 1 : 2;
        args->pAllocationInfo[i].Flags.Value = 0;
        args->pAllocationInfo[i].Flags.Swizzled = swizzled & 1;
        args->pAllocationInfo[i].Flags.CpuVisible = 1;
    }
}

static void prepare(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = visible;
}

/* ---- the client ---- */

static D3DKMT_LOCK args;

static NTSTATUS lock(unsigned index, UINT flags)
{
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = gpu.allocation[index];
    args.Flags.Value = flags;
    status = D3DKMTLock(&args);
    if (NT_SUCCESS(status)) {
        const D3DKMT_UNLOCK unlock = {gpu.device, 1, &gpu.allocation[index]};

        CHECK(args.pData && IS(D3DKMTUnlock(&unlock), STATUS_SUCCESS));
    }
    return status;
}

/* How long the call took. */
static uint64_t took(unsigned index, UINT flags, NTSTATUS wanted)
{
    const uint64_t before = sim_now();

    CHECK(IS(lock(index, flags), wanted));
    return sim_now() - before;
}

static void render(void)
{
    memset(gpu.context.pAllocationList, 0, sizeof(*gpu.context.pAllocationList));
    for (unsigned i = 0; i < 2; i++) {
        gpu.context.pAllocationList[i + 1].Value = 0;
        gpu.context.pAllocationList[i + 1].hAllocation = gpu.allocation[i];
        gpu.context.pAllocationList[i + 1].WriteOperation = i == WRITTEN;
        portions_element(&gpu, i, i, i + 1, 0);
    }
    gpu.context.pAllocationList[3].hAllocation = gpu.context.pAllocationList[4].hAllocation = 0;
    CHECK(IS(portions_render(&gpu, 64, 2), STATUS_SUCCESS));
}

static UINT flags_of(D3DDDICB_LOCKFLAGS flags)
{
    return flags.Value;
}

#define FLAGS(...) flags_of((D3DDDICB_LOCKFLAGS){__VA_ARGS__})

static bool at_once(uint64_t ns)
{
    return ns < PACKET / 10;
}

static bool after_packet(uint64_t ns)
{
    return ns > PACKET / 2 && ns < 2 * PACKET;
}

static void begin(void)
{
    portions_open(&gpu);
    for (unsigned i = 0; i < 3; i++)
        portions_allocate(&gpu, i, BYTES);
    render(); /* they are there from now on */
    portions_finish(&gpu);
    probe_device_packet_ns = PACKET;
}

static void finish(void)
{
    portions_finish(&gpu);
    probe_device_packet_ns = 1000;
    portions_close(&gpu);
}

static void run(void (*body)(struct probe *p))
{
    struct probe *p;

    portions_prepare = prepare;
    p = portions_begin(false, false);
    portions_end(p, probe_client_run(p, body));
}

/* ---- waiting ---- */

static void wait_body(struct probe *p)
{
    (void)p;
    begin();
    render();
    CHECK_RULE("ALLOC-116", at_once(took(UNUSED, 0, STATUS_SUCCESS)));
    CHECK_RULE("ALLOC-116",
               at_once(took(WRITTEN, FLAGS(.DonotWait = 1), STATUS_GRAPHICS_ALLOCATION_BUSY)) &&
                   strcmp(probe_refused_rule, "ALLOC-116") == 0);
    CHECK_RULE("ALLOC-116",
               at_once(took(READ, FLAGS(.DonotWait = 1), STATUS_GRAPHICS_ALLOCATION_BUSY)));
    CHECK_RULE("ALLOC-116", after_packet(took(READ, 0, STATUS_SUCCESS)));
    CHECK_RULE("ALLOC-116", at_once(took(WRITTEN, 0, STATUS_SUCCESS)) &&
                                at_once(took(READ, FLAGS(.DonotWait = 1), STATUS_SUCCESS)));
    render();
    CHECK_RULE("ALLOC-116", after_packet(took(WRITTEN, FLAGS(.LockEntire = 1), STATUS_SUCCESS)));
    /* readers alone */
    render();
    CHECK_RULE("ALLOC-116",
               at_once(took(READ, FLAGS(.IgnoreReadSync = 1), STATUS_SUCCESS)) &&
                   at_once(took(READ, FLAGS(.IgnoreReadSync = 1, .DonotWait = 1), STATUS_SUCCESS)));
    CHECK_RULE("ALLOC-116", at_once(took(WRITTEN, FLAGS(.IgnoreReadSync = 1, .DonotWait = 1),
                                         STATUS_GRAPHICS_ALLOCATION_BUSY)));
    CHECK_RULE("ALLOC-116", after_packet(took(WRITTEN, FLAGS(.IgnoreReadSync = 1), STATUS_SUCCESS)));
    finish();
}

TEST(a_lock_waits_for_what_uses_the_allocation)
{
    run(wait_body);
}

static void ignore_body(struct probe *p)
{
    (void)p;
    begin();
    render();
    CHECK_RULE("ALLOC-117",
               at_once(took(WRITTEN, FLAGS(.IgnoreSync = 1, .DonotWait = 1), STATUS_SUCCESS)));
    CHECK_RULE("ALLOC-117", after_packet(took(WRITTEN, FLAGS(.IgnoreSync = 1), STATUS_SUCCESS)));
    render();
    CHECK_RULE("ALLOC-117",
               after_packet(took(READ, FLAGS(.IgnoreSync = 1, .LockEntire = 1), STATUS_SUCCESS)));
    finish();
}

TEST(sync_is_ignored_only_by_those_who_do_not_wait)
{
    run(ignore_body);
}

/* Only what was queued before: a later packet without the allocation is not waited for. */
static void later_body(struct probe *p)
{
    uint64_t ns;

    (void)p;
    begin();
    render();
    for (unsigned i = 0; i < 4; i++) { /* of others */
        gpu.context.pAllocationList[1].hAllocation = gpu.allocation[UNUSED];
        gpu.context.pAllocationList[2].hAllocation = 0;
        portions_element(&gpu, 0, 0, 1, 0);
        CHECK(IS(portions_render(&gpu, 64, 1), STATUS_SUCCESS));
    }
    ns = took(WRITTEN, 0, STATUS_SUCCESS);
    CHECK_RULE("ALLOC-116", after_packet(ns));
    CHECK_RULE("ALLOC-116",
               IS(lock(UNUSED, FLAGS(.DonotWait = 1)), STATUS_GRAPHICS_ALLOCATION_BUSY));
    finish();
}

TEST(later_work_is_not_waited_for)
{
    run(later_body);
}

/* ---- pages ---- */

static void pages_body(struct probe *p)
{
    static const UINT pages[] = {2, 3}, last[] = {5, 0}, beyond[] = {0, 6};
    uint8_t *start;

    (void)p;
    begin();
    CHECK(IS(lock(UNUSED, FLAGS(.LockEntire = 1)), STATUS_SUCCESS));
    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = gpu.allocation[UNUSED];
    CHECK(IS(D3DKMTLock(&args), STATUS_SUCCESS)); /* neither: all of it */
    start = args.pData;
    args.NumPages = 2;
    args.pPages = pages;
    CHECK_RULE("ALLOC-116",
               IS(D3DKMTLock(&args), STATUS_SUCCESS) && (uint8_t *)args.pData == start + 2 * 4096);
    args.pPages = last;
    CHECK_RULE("KMT-267",
               IS(D3DKMTLock(&args), STATUS_SUCCESS) && (uint8_t *)args.pData == start + 5 * 4096);
    args.pPages = beyond;
    CHECK_RULE("KMT-267", IS(D3DKMTLock(&args), STATUS_INVALID_PARAMETER) &&
                              strcmp(probe_refused_rule, "KMT-267") == 0);
    args.Flags.LockEntire = 1;
    args.pPages = pages;
    CHECK_RULE("ALLOC-116", IS(D3DKMTLock(&args), STATUS_INVALID_PARAMETER));
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(D3DKMTUnlock(&(D3DKMT_UNLOCK){gpu.device, 1, &gpu.allocation[UNUSED]}),
                 STATUS_SUCCESS));
    finish();
}

TEST(a_list_of_pages_says_where_the_address_is)
{
    run(pages_body);
}

/* ---- flags and allocations ---- */

static void combinations_body(struct probe *p)
{
    static const struct {
        UINT set, swizzled;
        bool may_ignore, may_acquire;
    } kind[] = {{3, 0, true, true}, {1, 0, false, true}, {2, 0, true, false}, {3, 1, false, true}};

    (void)p;
    portions_open(&gpu);
    for (unsigned i = 0; i < 4; i++) {
        set = kind[i].set;
        swizzled = kind[i].swizzled;
        portions_allocate(&gpu, i, BYTES);
        CHECK_RULE("ALLOC-118", NT_SUCCESS(lock(i, FLAGS(.IgnoreSync = 1))) == kind[i].may_ignore);
        CHECK_RULE("ALLOC-118",
                   NT_SUCCESS(lock(i, FLAGS(.IgnoreReadSync = 1))) == kind[i].may_ignore);
        CHECK_RULE("ALLOC-118",
                   NT_SUCCESS(lock(i, FLAGS(.AcquireAperture = 1))) == kind[i].may_acquire);
        CHECK_RULE("ALLOC-118", IS(lock(i, FLAGS(.DonotWait = 1)), STATUS_SUCCESS));
    }
    set = 3;
    swizzled = 0;
    portions_close(&gpu);
}

TEST(flags_fit_the_allocation)
{
    run(combinations_body);
}

/* ---- WDDM 2.x ---- */

static unsigned ranges;

static void count_range(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    ranges++;
}

static void modern_body(struct probe *p)
{
    struct probe_gpu g;
    D3DKMT_HANDLE allocation;
    D3DKMT_LOCK2 lock2;
    void *address = NULL;

    CHECK(IS(probe_gpu_begin(&g), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&g, 65536, &allocation), STATUS_SUCCESS));
    probe_device_packet_ns = PACKET;
    CHECK(IS(probe_gpu_submit(&g), STATUS_SUCCESS));
    probe_sleep(1000000);
    for (unsigned i = 0; i < 5; i++) {
        static const D3DDDICB_LOCKFLAGS flags[] = {{.Discard = 1},
                                                   {.Discard = 1, .NoExistingReference = 1},
                                                   {.AcquireAperture = 1},
                                                   {.AcquireAperture = 1, .UseAlternateVA = 1},
                                                   {.DonotWait = 1}};
        const uint64_t before = sim_now();

        memset(&args, 0, sizeof(args));
        args.hDevice = g.device;
        args.hAllocation = allocation;
        args.PrivateDriverData = 7;
        args.Flags = flags[i];
        CHECK_RULE("ALLOC-123", IS(D3DKMTLock(&args), STATUS_SUCCESS) &&
                                    args.hAllocation == allocation &&
                                    (!address || args.pData == address));
        CHECK_RULE("ALLOC-124", at_once(sim_now() - before));
        address = args.pData;
    }
    for (unsigned bit = 0; bit < 32; bit++) {
        memset(&lock2, 0, sizeof(lock2));
        lock2.hDevice = g.device;
        lock2.hAllocation = allocation;
        lock2.Flags.Value = 1u << bit;
        CHECK_RULE("ALLOC-123", IS(D3DKMTLock2(&lock2), STATUS_INVALID_PARAMETER));
    }
    CHECK_RULE("ALLOC-123", probe_count(p, PROBE_CreateAllocation) == 1);
    probe_device_packet_ns = 1000;
    CHECK(IS(probe_gpu_wait_idle(&g), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&g), STATUS_SUCCESS));
}

TEST(a_client_of_2x_gets_the_one_there_is)
{
    struct probe *p = probe_create(NULL);

    ranges = 0;
    p->caps.NumberOfSwizzlingRanges = 4;
    probe_set_entry(p, PROBE_AcquireSwizzlingRange, true);
    probe_set_entry(p, PROBE_ReleaseSwizzlingRange, true);
    p->before[PROBE_AcquireSwizzlingRange] = p->before[PROBE_ReleaseSwizzlingRange] = count_range;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    portions_end(p, probe_client_run(p, modern_body));
    CHECK_RULE("ALLOC-134", ranges == 0);
}
