/* SPDX-License-Identifier: MIT */
/* Offers, priorities and queries by resource, and what else they take and refuse. */
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define ABSENT    D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT
#define IN_SHARED D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINSHAREDMEMORY
#define IN_GPU    D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY

/* A resource of three allocations in video memory, of so many MiB each. */
struct three {
    D3DKMT_HANDLE resource, allocation[3];
};

static struct three make_three(struct mm_client *c, uint64_t mb)
{
    struct three t;
    struct mm_request r;

    mm_request_init(&r, 3);
    for (unsigned i = 0; i < 3; i++)
        r.data[i] = mm_private_default(MM_SET_VRAM, mb * MM_MB);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c));
    t.resource = r.resource;
    for (unsigned i = 0; i < 3; i++)
        t.allocation[i] = r.info[i].hAllocation;
    return t;
}

static D3DKMT_HANDLE make_empty(struct mm_client *c)
{
    struct mm_request r;

    mm_request_init(&r, 0);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c));
    return r.resource;
}

static NTSTATUS offer(struct mm_client *c, const D3DKMT_HANDLE *resources, UINT count, UINT flags)
{
    return vidmm_offer(c->device, resources, NULL, count, D3DKMT_OFFER_PRIORITY_NORMAL,
                       (D3DKMT_OFFER_FLAGS){.Value = flags});
}

static unsigned in_force(struct mm_client *c, const struct three *t)
{
    unsigned count = 0;

    for (unsigned i = 0; i < 3; i++)
        count += mm_allocation(c, t->allocation[i])->offer.in_force;
    return count;
}

/* ---- offers ---- */

TEST_WITH(mm, a_resource_is_offered_with_all_it_has)
{
    struct mm_client *c = &rig->client[0];
    struct three t = make_three(c, 1), u = make_three(c, 1), other;
    D3DKMT_HANDLE both[2] = {t.resource, u.resource};
    void *address;

    OK(mm_client_open(rig, 1, 0));
    other = make_three(&rig->client[1], 1);
    CHECK_RULE("KMT-026", offer(c, &other.resource, 1, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-026", offer(c, &t.allocation[0], 1, 0) == STATUS_INVALID_PARAMETER);
    both[1] = 0x999;
    CHECK_RULE("KMT-026", offer(c, both, 2, 0) == STATUS_INVALID_PARAMETER);
    CHECK(in_force(c, &t) == 0 && in_force(&rig->client[1], &other) == 0);
    both[1] = u.resource;
    OK(vidmm_lock2(c->device, u.allocation[2], &address));
    CHECK_RULE("RES-073", offer(c, both, 2, 0) == STATUS_INVALID_PARAMETER);
    CHECK(in_force(c, &t) == 0 && in_force(c, &u) == 0);
    OK(vidmm_unlock2(c->device, u.allocation[2]));
    CHECK_RULE("KMT-283", offer(c, both, 2, 2) == STATUS_SUCCESS);
    CHECK_RULE("KMT-283", in_force(c, &t) == 3 && in_force(c, &u) == 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct vidmm_allocation *a = mm_allocation(c, t.allocation[i]);

        CHECK(a->offer.priority == D3DKMT_OFFER_PRIORITY_NORMAL && a->offer.decommit &&
              a->offer.count == 1 && mm_open(c, t.allocation[i])->offered);
    }
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, malformed_offers_are_refused)
{
    struct mm_client *c = &rig->client[0];
    struct three t = make_three(c, 1);
    D3DDDI_RECLAIM_RESULT result = (D3DDDI_RECLAIM_RESULT)7;
    uint64_t fence = 7;

    CHECK(offer(c, &t.resource, 1, 4) == STATUS_INVALID_PARAMETER); /* reserved */
    CHECK(offer(c, &t.resource, 1, 0x80000000) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-279", offer(c, &t.resource, 0, 0) == STATUS_INVALID_PARAMETER);
    CHECK(in_force(c, &t) == 0);
    CHECK_RULE("KMT-279",
               vidmm_reclaim(c->queue, NULL, NULL, 1, &result, &fence) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-279", vidmm_reclaim(c->queue, &t.resource, t.allocation, 1, &result, &fence) ==
                              STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-279", vidmm_reclaim(c->queue, &t.resource, NULL, 0, &result, &fence) ==
                              STATUS_INVALID_PARAMETER);
    CHECK(vidmm_reclaim(c->queue, &t.allocation[0], NULL, 1, &result, &fence) ==
          STATUS_INVALID_PARAMETER);
    CHECK(vidmm_reclaim(c->queue, NULL, &t.resource, 1, &result, &fence) ==
          STATUS_INVALID_PARAMETER);
    CHECK((int)result == 7 && fence == 0);
    for (int priority = D3DKMT_OFFER_PRIORITY_LOW; priority <= D3DKMT_OFFER_PRIORITY_AUTO;
         priority++)
        CHECK(vidmm_offer(c->device, NULL, t.allocation, 1, (D3DKMT_OFFER_PRIORITY)priority,
                          (D3DKMT_OFFER_FLAGS){0}) == STATUS_SUCCESS &&
              mm_allocation(c, t.allocation[0])->offer.priority == (UINT)priority);
}

TEST_WITH(mm, a_pinned_allocation_is_not_offered)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 1, 0x201); /* Capture */

    OK(vidmm_offer(c->device, NULL, &h, 1, D3DKMT_OFFER_PRIORITY_LOW, (D3DKMT_OFFER_FLAGS){0}));
    OK(vidmm_reclaim(c->queue, NULL, &h, 1, NULL, &(uint64_t){0}));
    OK(mm_resident(c, h));
    CHECK_RULE("RES-073", vidmm_offer(c->device, NULL, &h, 1, D3DKMT_OFFER_PRIORITY_LOW,
                                      (D3DKMT_OFFER_FLAGS){0}) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(mm, an_immediate_offer_does_not_wait)
{
    struct mm_client *c = &rig->client[0];
    struct three t = make_three(c, 1);

    OK(mm_resident(c, t.allocation[0]));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(offer(c, &t.resource, 1, 0));
    CHECK_RULE("RES-063", in_force(c, &t) == 0);
    OK(vidmm_reclaim(c->queue, NULL, &t.allocation[1], 1, NULL, &(uint64_t){0}));
    OK(vidmm_offer(c->device, NULL, &t.allocation[1], 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){.OfferImmediately = 1}));
    CHECK_RULE("KMT-284", mm_allocation(c, t.allocation[1])->offer.in_force && in_force(c, &t) == 1);
    mm_finish(c);
    mm_idle(rig);
    CHECK_RULE("RES-063", in_force(c, &t) == 3 && vidmm_validate(rig->vidmm));
}

/* What is destroyed is offered no more, and an offer that waits is forgotten with it. */
TEST_WITH(mm, an_offer_ends_with_its_allocation)
{
    struct mm_client *c = &rig->client[0];
    struct three t = make_three(c, 1);

    OK(mm_resident(c, t.allocation[0]));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(offer(c, &t.resource, 1, 0));
    OK(mm_destroy(c, t.allocation[0], 0));
    CHECK(vidmm_validate(rig->vidmm));
    mm_finish(c);
    mm_idle(rig);
    CHECK(mm_allocation(c, t.allocation[1])->offer.in_force && vidmm_validate(rig->vidmm));
    OK(mm_destroy_resource(c, t.resource, 0));
    mm_idle(rig);
    CHECK(list_empty(&rig->vidmm->allocations) && vidmm_validate(rig->vidmm));
}

/* ---- reclaiming ---- */

TEST_WITH(mm, a_resource_has_the_worst_result_of_its_members)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct three t = make_three(c, 4), u = make_three(c, 1);
    D3DKMT_HANDLE resources[3] = {u.resource, t.resource, make_empty(c)};
    D3DDDI_RECLAIM_RESULT result[4];
    uint64_t fence;

    for (unsigned i = 0; i < 3; i++)
        OK(mm_resident(c, t.allocation[i]));
    OK(mm_client_open(rig, 1, 1));
    OK(offer(c, resources, 2, 0));
    OK(mm_resident(d, mm_vram(d, 6))); /* takes the place of one of the big ones */
    CHECK(mm_allocation(c, t.allocation[0])->offer.discarded +
              mm_allocation(c, t.allocation[1])->offer.discarded +
              mm_allocation(c, t.allocation[2])->offer.discarded ==
          1);
    memset(result, 0x55, sizeof(result));
    CHECK_RULE("RES-069",
               vidmm_reclaim(c->queue, resources, NULL, 3, result, &fence) == STATUS_PENDING);
    CHECK_RULE("KMT-287", fence != 0);
    CHECK_RULE("RES-070", result[0] == D3DDDI_RECLAIM_RESULT_OK &&
                              result[1] == D3DDDI_RECLAIM_RESULT_DISCARDED &&
                              result[2] == D3DDDI_RECLAIM_RESULT_OK);
    CHECK((UINT)result[3] == 0x55555555);
    CHECK(in_force(c, &t) == 0 && in_force(c, &u) == 0 && mm_waited_for(c->device) == 1);
    mm_wait_fence(c, fence);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("RES-069", mm_in_vram(c, t.allocation[i]) &&
                                  !mm_allocation(c, t.allocation[i])->offer.discarded &&
                                  mm_allocation(c, t.allocation[i])->offer.count == 0);
    CHECK(mm_is_out(c, u.allocation[0])); /* nobody lists it */
    CHECK(vidmm_reclaim(c->queue, resources, NULL, 3, NULL, &fence) == STATUS_SUCCESS && fence == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

/* Without memory for the answer nothing is reclaimed; without memory to bring it in it is, and comes before
 * the next submission. */
TEST_WITH(mm, reclaiming_survives_every_fault)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct util_heap *heap = &rig->base.sim->heap;
    struct three t = make_three(c, 4);
    D3DDDI_RECLAIM_RESULT result = (D3DDDI_RECLAIM_RESULT)7;
    uint64_t fence;

    for (unsigned i = 0; i < 3; i++)
        OK(mm_resident(c, t.allocation[i]));
    OK(mm_client_open(rig, 1, 1));
    OK(offer(c, &t.resource, 1, 0));
    OK(mm_resident(d, mm_vram(d, 6)));
    heap->fail_at = heap->requests + 1;
    CHECK(vidmm_reclaim(c->queue, &t.resource, NULL, 1, &result, &fence) == STATUS_NO_MEMORY);
    CHECK((int)result == 7 && fence == 0 && in_force(c, &t) == 3);
    heap->fail_at = heap->requests + 2;
    CHECK(vidmm_reclaim(c->queue, &t.resource, NULL, 1, &result, &fence) == STATUS_SUCCESS);
    heap->fail_at = 0;
    CHECK(result == D3DDDI_RECLAIM_RESULT_DISCARDED && fence == 0 && in_force(c, &t) == 0);
    CHECK(mm_waited_for(c->device) == 1);
    mm_submit(c);
    CHECK(!mm_dispatch(c));
    mm_idle(rig);
    CHECK(mm_dispatch(c) && vidmm_validate(rig->vidmm));
    for (unsigned i = 0; i < 3; i++)
        CHECK(mm_in_vram(c, t.allocation[i]));
}

/* ---- priorities ---- */

TEST_WITH(mm, a_resource_has_the_priority_of_its_first_member)
{
    struct mm_client *c = &rig->client[0];
    struct three t = make_three(c, 1), other;
    const D3DKMT_HANDLE empty = make_empty(c);
    UINT priority[3] = {0x12345678, 1, 2}, zero = 0;

    OK(mm_client_open(rig, 1, 0));
    other = make_three(&rig->client[1], 1);
    CHECK_RULE("ALLOC-142",
               vidmm_set_priority(c->device, t.resource, NULL, 0, priority) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("ALLOC-142", mm_allocation(c, t.allocation[i])->priority == 0x12345678);
    OK(vidmm_set_priority(c->device, 0, t.allocation + 1, 2, priority + 1));
    CHECK(mm_allocation(c, t.allocation[0])->priority == 0x12345678 &&
          mm_allocation(c, t.allocation[1])->priority == 1 &&
          mm_allocation(c, t.allocation[2])->priority == 2);
    OK(vidmm_get_priority(c->device, t.resource, NULL, 0, priority));
    CHECK_RULE("KMT-278", priority[0] == 0x12345678 && priority[1] == 1 && priority[2] == 2);
    OK(vidmm_get_priority(c->device, empty, NULL, 0, priority));
    CHECK_RULE("KMT-278", priority[0] == 0);
    OK(vidmm_set_priority(c->device, empty, NULL, 0, &priority[1]));
    CHECK_RULE("KMT-278", vidmm_set_priority(c->device, t.resource, NULL, 0, &zero) ==
                              STATUS_INVALID_PARAMETER);
    priority[0] = 9;
    CHECK_RULE("KMT-026", vidmm_set_priority(c->device, other.resource, NULL, 0, priority) ==
                              STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-026", vidmm_get_priority(c->device, other.resource, NULL, 0, priority) ==
                              STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-142", vidmm_set_priority(c->device, t.resource, t.allocation, 3, priority) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-142", vidmm_set_priority(c->device, t.resource, NULL, 1, priority) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-142", vidmm_get_priority(c->device, t.resource, NULL, 2, priority) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-142", vidmm_get_priority(c->device, 0, t.allocation, 0, priority) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-026", vidmm_get_priority(c->device, 0, other.allocation, 1, priority) ==
                              STATUS_INVALID_PARAMETER);
    CHECK(priority[0] == 9 && mm_allocation(c, t.allocation[0])->priority == 0x12345678);
}

/* A new priority counts for who is evicted next. */
TEST_WITH(mm, a_new_priority_counts_at_once)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE h[2] = {mm_vram(c, 6), mm_vram(c, 6)};
    const UINT priority = D3DDDI_ALLOCATIONPRIORITY_LOW;

    OK(mm_resident(c, h[0]));
    OK(mm_resident(c, h[1]));
    OK(vidmm_set_priority(c->device, 0, &h[1], 1, &priority));
    OK(mm_client_open(rig, 1, 1));
    OK(mm_resident(d, mm_vram(d, 6)));
    CHECK_RULE("RES-053", mm_in_vram(c, h[0]) && mm_is_out(c, h[1]));
}

/* ---- residency ---- */

TEST_WITH(mm, a_resource_is_where_its_last_member_is)
{
    struct mm_client *c = &rig->client[0];
    struct three t;
    struct mm_request r;
    D3DKMT_ALLOCATIONRESIDENCYSTATUS state[3] = {0};
    D3DKMT_HANDLE empty = make_empty(c), mapped = mm_make(c, MM_SET_APERTURE, 1, 0x8001);

    mm_request_init(&r, 3);
    r.data[0] = r.data[1] = mm_private_default(MM_SET_VRAM, MM_MB);
    r.data[2] = mm_private_default(MM_SET_APERTURE, MM_MB);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c));
    t.resource = r.resource;
    for (unsigned i = 0; i < 3; i++)
        t.allocation[i] = r.info[i].hAllocation;
    OK(vidmm_query_residency(c->device, t.resource, NULL, 0, state));
    CHECK_RULE("RES-074", state[0] == ABSENT && (int)state[1] == 0);
    OK(mm_resident(c, t.allocation[0]));
    OK(mm_resident(c, t.allocation[2]));
    OK(vidmm_query_residency(c->device, t.resource, NULL, 0, state));
    CHECK_RULE("RES-074", state[0] == ABSENT);
    OK(mm_resident(c, t.allocation[1]));
    OK(vidmm_query_residency(c->device, t.resource, NULL, 0, state));
    CHECK_RULE("RES-074", state[0] == IN_SHARED);
    OK(mm_destroy(c, t.allocation[2], 2));
    OK(vidmm_query_residency(c->device, t.resource, NULL, 0, state));
    CHECK_RULE("RES-074", state[0] == IN_GPU);
    OK(vidmm_query_residency(c->device, empty, NULL, 0, state));
    CHECK_RULE("RES-074", state[0] == ABSENT);
    OK(mm_resident(c, mapped));
    OK(vidmm_query_residency(c->device, 0, &mapped, 1, state));
    CHECK_RULE("RES-074", state[0] == IN_SHARED);
    state[0] = IN_GPU;
    CHECK_RULE("RES-074", vidmm_query_residency(c->device, t.resource, NULL, 1, state) ==
                              STATUS_INVALID_PARAMETER);
    CHECK_RULE("RES-074",
               vidmm_query_residency(c->device, 0, &mapped, 0, state) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-026",
               vidmm_query_residency(c->device, 0x999, NULL, 0, state) == STATUS_INVALID_PARAMETER);
    CHECK(state[0] == IN_GPU);
}
