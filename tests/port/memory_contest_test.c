/* SPDX-License-Identifier: MIT */
/* Several clients want more memory than there is on a started adapter: budgets, who has to go, and where the others are. */
#include "port/support/paged.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, s) ((NTSTATUS)(status) == (s))
#define MIB           PAGED_MIB
#define MEMORY        D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY
#define SHARED        D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINSHAREDMEMORY
#define NOWHERE       D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT
#define OUT_OF_IT     DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM
#define INTO_IT       DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL

static struct probe_gpu one, two;
static D3DKMT_HANDLE first, second, third;
static HANDLE first_driver;

static struct probe *created(void)
{
    struct probe *p = probe_create(NULL);

    paged_watch(p);
    paged.segments = 1;
    p->segment[0].Flags.ApplicationTarget = 1;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static void finish(struct probe *p, struct probe_client *a, struct probe_client *b)
{
    if (b)
        probe_client_end(p, b);
    probe_client_end(p, a);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}

static void settle(void)
{
    probe_sleep(PROBE_SECOND / 10);
}

static NTSTATUS make_resident(const struct probe_gpu *g, D3DKMT_HANDLE allocation)
{
    uint64_t fence;
    NTSTATUS status = paged_make_resident(g, allocation, &fence);

    return status == STATUS_PENDING ? paged_wait(g, fence) : status;
}

static D3DKMT_HANDLE allocate(const struct probe_gpu *g, uint64_t bytes)
{
    D3DKMT_HANDLE allocation;

    CHECK(NT_SUCCESS(paged_create(g, bytes, &allocation)));
    return allocation;
}

static void set_priority(const struct probe_gpu *g, D3DKMT_HANDLE allocation, UINT priority)
{
    D3DKMT_SETALLOCATIONPRIORITY args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.phAllocationList = &allocation;
    args.AllocationCount = 1;
    args.pPriorities = &priority;
    CHECK(NT_SUCCESS(D3DKMTSetAllocationPriority(&args)));
}

/* ---- budgets ---- */

static D3DKMT_QUERYVIDEOMEMORYINFO info(const struct probe_gpu *g)
{
    D3DKMT_QUERYVIDEOMEMORYINFO args = {.hAdapter = g->adapter};

    CHECK(NT_SUCCESS(D3DKMTQueryVideoMemoryInfo(&args)));
    return args;
}

static UINT64 group, budget;

static void use_eight(struct probe *p)
{
    D3DDDI_MAKERESIDENT args;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&one)));
    group = info(&one).Budget;
    CHECK_RULE("RES-041", group > 13 * MIB && group < 14 * MIB);
    first = allocate(&one, 8 * MIB);
    CHECK(NT_SUCCESS(make_resident(&one, first)));
    CHECK_RULE("RES-041", info(&one).Budget == group);
    CHECK_RULE("RES-045", info(&one).CurrentUsage == 8 * MIB);
    /* too much for the budget: how much, and nothing has changed */
    second = allocate(&one, 7 * MIB);
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = one.queue;
    args.NumAllocations = 1;
    args.AllocationList = &second;
    CHECK_RULE("RES-015", IS(D3DKMTMakeResident(&args), STATUS_NO_MEMORY) &&
                              args.NumBytesToTrim == 15 * MIB - group &&
                              info(&one).CurrentUsage == 8 * MIB);
    CHECK_RULE("RES-013", IS(paged_make_resident(&one, first, &(uint64_t){1}), STATUS_SUCCESS));
}

static void use_six(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&two)));
    third = allocate(&two, 6 * MIB);
    CHECK(NT_SUCCESS(make_resident(&two, third)));
    budget = info(&two).Budget;
    CHECK_RULE("RES-042",
               budget > 13 * MIB / 2 && budget < 7 * MIB && info(&two).CurrentUsage == 6 * MIB);
}

static void share_and_give(struct probe *p)
{
    D3DKMT_EVICT evict;

    (void)p;
    CHECK_RULE("RES-041", info(&one).Budget == budget && budget < group);
    CHECK_RULE("RES-042", info(&one).Budget == budget); /* equal shares */
    memset(&evict, 0, sizeof(evict));
    evict.hDevice = one.device;
    evict.NumAllocations = 1;
    evict.AllocationList = &first;
    CHECK(IS(D3DKMTEvict(&evict), STATUS_SUCCESS)); /* it was listed twice */
    CHECK_RULE("RES-024", evict.NumBytesToTrim == 8 * MIB - budget);
    CHECK(IS(D3DKMTEvict(&evict), STATUS_SUCCESS));
    CHECK_RULE("RES-024", evict.NumBytesToTrim == 0);
    CHECK_RULE("RES-041", info(&one).Budget > 13 * MIB && info(&one).CurrentUsage == 0);
}

TEST(budgets_shrink_while_all_want_more_than_there_is)
{
    struct probe *p = created();
    struct probe_client *a = probe_client_run(p, use_eight), *b = probe_client_run(p, use_six);

    probe_client_go_on(p, a, share_and_give);
    finish(p, a, b);
}

/* ---- what goes, and when ---- */

static void evict_both_ways(struct probe *p)
{
    D3DKMT_EVICT evict;
    HANDLE kept;
    unsigned mark;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&one)));
    first = allocate(&one, MIB);
    first_driver = paged.allocation;
    second = allocate(&one, MIB);
    kept = paged.allocation;
    CHECK(NT_SUCCESS(make_resident(&one, first)) && NT_SUCCESS(make_resident(&one, first)) &&
          NT_SUCCESS(make_resident(&one, second)));
    mark = paged.count;
    CHECK(NT_SUCCESS(paged_evict(&one, first)));
    settle();
    CHECK_RULE("RES-022", paged_moves(first_driver, OUT_OF_IT, mark) == 0 &&
                              paged_residency(&one, first) == MEMORY);
    /* only after what was submitted before */
    probe_device_packet_ns = PROBE_SECOND / 5;
    CHECK(NT_SUCCESS(probe_gpu_submit(&one)));
    probe_sleep(PROBE_SECOND / 100);
    CHECK(NT_SUCCESS(paged_evict(&one, first)));
    settle();
    CHECK_RULE("RES-026", paged_moves(first_driver, OUT_OF_IT, mark) == 0);
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&one)));
    settle();
    CHECK_RULE("RES-026", paged_moves(first_driver, OUT_OF_IT, mark) == 1);
    CHECK_RULE("RES-027", paged_residency(&one, first) == NOWHERE);
    memset(&evict, 0, sizeof(evict));
    evict.hDevice = one.device;
    evict.NumAllocations = 1;
    evict.AllocationList = &second;
    evict.Flags.EvictOnlyIfNecessary = 1;
    CHECK(IS(D3DKMTEvict(&evict), STATUS_SUCCESS));
    settle();
    CHECK_RULE("RES-027",
               paged_moves(kept, OUT_OF_IT, mark) == 0 && paged_residency(&one, second) == MEMORY);
    third = allocate(&one, 13 * MIB);
    CHECK(NT_SUCCESS(make_resident(&one, third)));
    CHECK_RULE("RES-027", paged_moves(kept, OUT_OF_IT, mark) == 1);
}

TEST(an_eviction_waits_for_work_and_may_wait_for_need)
{
    struct probe *p = created();

    finish(p, probe_client_run(p, evict_both_ways), NULL);
}

/* What is queued uses the one, and the other has no room beside it. */
static void make_way_while_work_waits(struct probe *p)
{
    uint64_t fence;
    unsigned mark;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&one)));
    first = allocate(&one, 8 * MIB);
    first_driver = paged.allocation;
    second = allocate(&one, 8 * MIB);
    CHECK(NT_SUCCESS(make_resident(&one, first)));
    probe_device_packet_ns = PROBE_SECOND / 50;
    for (unsigned i = 0; i < 20; i++)
        CHECK(NT_SUCCESS(probe_gpu_submit(&one)));
    mark = paged.count;
    CHECK(NT_SUCCESS(paged_evict(&one, first)));
    CHECK(IS(paged_make_resident(&one, second, &fence), STATUS_PENDING));
    probe_sleep(PROBE_SECOND / 5);
    CHECK_RULE("RES-026", paged_moves(first_driver, OUT_OF_IT, mark) == 0);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("RES-026", paged_moves(first_driver, OUT_OF_IT, mark) == 1);
    CHECK(paged_residency(&one, second) == MEMORY);
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(paged_wait(&one, fence)));
}

TEST(what_is_listed_later_does_not_hold_up_what_was_queued_before)
{
    struct probe *p = created();

    finish(p, probe_client_run(p, make_way_while_work_waits), NULL);
}

/* ---- places ---- */

static D3DKMT_HANDLE hog;

static void fill_memory(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&one)));
    hog = allocate(&one, 13 * MIB);
    CHECK(NT_SUCCESS(make_resident(&one, hog)));
}

static void take_second_choice(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&two)));
    paged.segments = 3;
    paged.preferred = 1;
    first = allocate(&two, 4 * MIB);
    first_driver = paged.allocation;
    set_priority(&two, first, D3DDDI_ALLOCATIONPRIORITY_LOW);
    CHECK(NT_SUCCESS(make_resident(&two, first)));
    CHECK_RULE("RES-051", paged_residency(&two, first) == SHARED);
    CHECK_RULE("RES-054", paged_residency(&two, first) == SHARED);
}

static void hog_stays(struct probe *p)
{
    (void)p;
    CHECK_RULE("RES-054", paged_residency(&one, hog) == MEMORY);
    CHECK(NT_SUCCESS(paged_evict(&one, hog)));
    settle();
}

static void is_promoted(struct probe *p)
{
    (void)p;
    settle();
    CHECK_RULE("RES-055", paged_residency(&two, first) == MEMORY &&
                              paged_moves(first_driver, INTO_IT, 0) == 1 &&
                              paged_moves(first_driver, OUT_OF_IT, 0) == 0);
}

TEST(a_second_choice_is_left_when_there_is_room)
{
    struct probe *p = created();
    struct probe_client *a = probe_client_run(p, fill_memory),
                        *b = probe_client_run(p, take_second_choice);

    probe_client_go_on(p, a, hog_stays);
    probe_client_go_on(p, b, is_promoted);
    finish(p, a, b);
}

static void push_out(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&two)));
    paged.segments = 3;
    paged.preferred = 1;
    first = allocate(&two, 4 * MIB);
    set_priority(&two, first, D3DDDI_ALLOCATIONPRIORITY_MAXIMUM);
    CHECK(NT_SUCCESS(make_resident(&two, first)));
    CHECK_RULE("RES-054", paged_residency(&two, first) == MEMORY);
}

static void was_pushed(struct probe *p)
{
    unsigned mark = paged.count;

    (void)p;
    CHECK_RULE("RES-054", paged_residency(&one, hog) == NOWHERE);
    /* it comes back before its contexts run */
    CHECK(NT_SUCCESS(probe_gpu_submit(&one)) && NT_SUCCESS(probe_gpu_wait_idle(&one)));
    CHECK_RULE("RES-010", paged_residency(&one, hog) == MEMORY &&
                              paged_count(DXGK_OPERATION_VIRTUAL_TRANSFER, mark) >= 1);
}

TEST(a_higher_priority_takes_the_place)
{
    struct probe *p = created();
    struct probe_client *a = probe_client_run(p, fill_memory), *b = probe_client_run(p, push_out);

    probe_client_go_on(p, a, was_pushed);
    finish(p, a, b);
}

/* ---- offers ---- */

static NTSTATUS offer(D3DKMT_HANDLE allocation, D3DKMT_OFFER_PRIORITY priority)
{
    D3DKMT_OFFERALLOCATIONS args;

    memset(&args, 0, sizeof(args));
    args.hDevice = one.device;
    args.HandleList = &allocation;
    args.NumAllocations = 1;
    args.Priority = priority;
    return D3DKMTOfferAllocations(&args);
}

static D3DDDI_RECLAIM_RESULT reclaim(D3DKMT_HANDLE allocation, uint64_t *fence)
{
    D3DKMT_RECLAIMALLOCATIONS2 args;
    D3DDDI_RECLAIM_RESULT result = (D3DDDI_RECLAIM_RESULT)7;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = one.queue;
    args.HandleList = &allocation;
    args.NumAllocations = 1;
    args.pResults = &result;
    CHECK(NT_SUCCESS(D3DKMTReclaimAllocations2(&args)));
    *fence = args.PagingFenceValue;
    return result;
}

static void offer_repeatedly(struct probe *p)
{
    uint64_t fence;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&one)));
    first = allocate(&one, 4 * MIB);
    CHECK(NT_SUCCESS(make_resident(&one, first)));
    CHECK_RULE("RES-073", reclaim(first, &fence) == D3DDDI_RECLAIM_RESULT_OK && fence == 0);
    CHECK(paged_lock(&one, first) != NULL);
    CHECK_RULE("RES-073", IS(offer(first, D3DKMT_OFFER_PRIORITY_LOW), STATUS_INVALID_PARAMETER));
    CHECK(NT_SUCCESS(paged_unlock(&one, first)));
    CHECK(IS(offer(first, D3DKMT_OFFER_PRIORITY_LOW), STATUS_SUCCESS));
    CHECK_RULE("RES-073", IS(offer(first, D3DKMT_OFFER_PRIORITY_HIGH), STATUS_SUCCESS));
}

static D3DKMT_HANDLE newcomers[3];

/* One more of 3 MiB each time, for which one of the three has to go. */
static void press(struct probe *p)
{
    static unsigned n;

    (void)p;
    if (!two.device)
        CHECK(NT_SUCCESS(probe_gpu_begin(&two)));
    newcomers[n % 3] = allocate(&two, 3 * MIB);
    CHECK(NT_SUCCESS(make_resident(&two, newcomers[n % 3])));
    n++;
}

static unsigned gone; /* a bit for each of the three */

static void look(struct probe *p)
{
    (void)p;
    gone = (paged_residency(&one, first) == NOWHERE ? 1u : 0) |
           (paged_residency(&one, second) == NOWHERE ? 2u : 0) |
           (paged_residency(&one, third) == NOWHERE ? 4u : 0);
}

static void offer_resident(struct probe *p)
{
    unsigned mark;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&one)));
    first = allocate(&one, 4 * MIB);
    second = allocate(&one, 4 * MIB);
    third = allocate(&one, 4 * MIB);
    CHECK(NT_SUCCESS(make_resident(&one, first)) && NT_SUCCESS(make_resident(&one, second)) &&
          NT_SUCCESS(make_resident(&one, third)));
    /* of a long job: it is in force when that has ended */
    probe_device_packet_ns = PROBE_SECOND;
    CHECK(NT_SUCCESS(probe_gpu_submit(&one)));
    probe_sleep(PROBE_SECOND / 100);
    mark = paged.count;
    CHECK(IS(offer(first, D3DKMT_OFFER_PRIORITY_HIGH), STATUS_SUCCESS));
    CHECK(IS(offer(second, D3DKMT_OFFER_PRIORITY_LOW), STATUS_SUCCESS));
    CHECK(IS(offer(third, D3DKMT_OFFER_PRIORITY_NORMAL), STATUS_SUCCESS));
    CHECK_RULE("RES-063", paged_lock(&one, first) != NULL); /* not offered yet */
    CHECK(NT_SUCCESS(paged_unlock(&one, first)));
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&one)));
    settle();
    CHECK_RULE("RES-063", paged_lock(&one, first) == NULL && paged.count == mark);
}

static void reclaim_all(struct probe *p)
{
    uint64_t fence;

    (void)p;
    CHECK_RULE("RES-066", reclaim(second, &fence) == D3DDDI_RECLAIM_RESULT_DISCARDED);
    CHECK_RULE("RES-069", fence != 0 && NT_SUCCESS(paged_wait(&one, fence)) &&
                              paged_residency(&one, second) == MEMORY);
    CHECK(NT_SUCCESS(probe_gpu_submit(&one)) && NT_SUCCESS(probe_gpu_wait_idle(&one)));
}

TEST(offers_go_by_their_priority_and_without_a_copy)
{
    struct probe *p = created();
    struct probe_client *a, *b;
    unsigned mark;

    memset(&two, 0, sizeof(two));
    a = probe_client_run(p, offer_resident);
    mark = paged.count;
    b = probe_client_run(p, press); /* 12 of almost 16: this one takes LOW's place */
    probe_client_go_on(p, a, look);
    CHECK_RULE("RES-066", gone == 2);
    probe_client_go_on(p, b, press);
    probe_client_go_on(p, a, look);
    CHECK_RULE("RES-066", gone == 6);
    for (unsigned i = mark; i < paged.count; i++)
        CHECK_RULE("RES-066", paged.op[i].args.Operation != DXGK_OPERATION_VIRTUAL_TRANSFER);
    probe_client_go_on(p, a, reclaim_all);
    finish(p, a, b);
}

TEST(an_offer_may_be_repeated_but_nothing_locked_is_offered)
{
    struct probe *p = created();

    finish(p, probe_client_run(p, offer_repeatedly), NULL);
}

/* ---- queues ---- */

#define QUEUED 3u

static D3DKMT_CREATEPAGINGQUEUE make_queue(D3DDDI_PAGINGQUEUE_PRIORITY priority)
{
    D3DKMT_CREATEPAGINGQUEUE queue;

    memset(&queue, 0, sizeof(queue));
    queue.hDevice = one.device;
    queue.Priority = priority;
    CHECK(NT_SUCCESS(D3DKMTCreatePagingQueue(&queue)));
    return queue;
}

static uint64_t queue_one(D3DKMT_HANDLE queue)
{
    struct probe_gpu g = one;
    uint64_t fence;

    g.queue = queue;
    CHECK(IS(paged_make_resident(&g, allocate(&one, 65536), &fence), STATUS_PENDING));
    return fence;
}

static UINT64 value_of(const D3DKMT_CREATEPAGINGQUEUE *queue)
{
    return *(volatile UINT64 *)queue->FenceValueCPUVirtualAddress;
}

static void use_queues(struct probe *p)
{
    D3DKMT_CREATEPAGINGQUEUE normal, above;
    uint64_t n[QUEUED], high;
    struct probe_gpu g;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&one)));
    normal = make_queue(D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL);
    above = make_queue(D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL);
    CHECK_RULE("RES-036",
               normal.hPagingQueue != above.hPagingQueue &&
                   normal.hSyncObject != above.hSyncObject && normal.FenceValueCPUVirtualAddress &&
                   normal.FenceValueCPUVirtualAddress != above.FenceValueCPUVirtualAddress);
    probe_device_packet_ns = PROBE_SECOND / 10;
    for (unsigned i = 0; i < QUEUED; i++)
        n[i] = queue_one(normal.hPagingQueue);
    high = queue_one(above.hPagingQueue);
    CHECK_RULE("RES-037", n[0] > 0 && n[0] < n[1] && n[1] < n[QUEUED - 1]);
    g = one;
    g.queue_fence = above.hSyncObject;
    CHECK(NT_SUCCESS(paged_wait(&g, high)));
    CHECK_RULE("RES-036", value_of(&above) == high);
    g.queue_fence = normal.hSyncObject;
    for (unsigned i = 0; i < QUEUED; i++) {
        CHECK(NT_SUCCESS(paged_wait(&g, n[i])));
        CHECK_RULE("RES-037", value_of(&normal) >= n[i]);
    }
    CHECK_RULE("RES-037", value_of(&normal) == n[QUEUED - 1]);
}

TEST(queues_have_values_of_their_own)
{
    struct probe *p = created();

    finish(p, probe_client_run(p, use_queues), NULL);
}
