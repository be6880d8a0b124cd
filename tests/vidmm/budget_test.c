/* SPDX-License-Identifier: MIT */
/* Budgets, offers, priorities and residency queries. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

/* ---- budgets ---- */

static D3DKMT_QUERYVIDEOMEMORYINFO query(struct mm_client *c, int group)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info = {.MemorySegmentGroup = (D3DKMT_MEMORY_SEGMENT_GROUP)group};

    OK(vidmm_query_video_memory(c->rig->vidmm, c->process, &info));
    return info;
}

TEST_WITH(mm, a_query_names_a_segment_group_of_the_adapter)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_QUERYVIDEOMEMORYINFO info = {.MemorySegmentGroup = (D3DKMT_MEMORY_SEGMENT_GROUP)2};

    CHECK_RULE("RES-043",
               vidmm_query_video_memory(rig->vidmm, c->process, &info) == STATUS_INVALID_PARAMETER);
    info.MemorySegmentGroup = D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
    info.PhysicalAdapterIndex = 1;
    CHECK_RULE("RES-043",
               vidmm_query_video_memory(rig->vidmm, c->process, &info) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(mm, usage_is_what_is_resident)
{
    struct mm_client *c = &rig->client[0];
    uint64_t before = query(c, 0).CurrentUsage;

    OK(mm_resident(c, mm_vram(c, 8)));
    CHECK_RULE("RES-043", query(c, 0).CurrentUsage == before + 8 * MM_MB);
    CHECK_RULE("RES-045", query(c, 0).CurrentUsage == before + 8 * MM_MB);
}

/* Two devices of a process list it, charged to different groups: it is counted once, and goes with the last. */
TEST_WITH(mm, usage_is_counted_where_it_is_still_listed, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct vidmm_open_item item;
    struct vidmm_resource *resource;
    struct mm_request r;
    D3DKMT_HANDLE opened, hog;

    OK(mm_client_open(rig, 1, 0));
    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_BOTH, 100 * (uint64_t)PAGE_BYTES);
    r.data[0].flags = 0;
    r.request.flags.CreateResource = r.request.flags.CreateShared = 1;
    OK(mm_request_make(&r, c));
    resource = vidmm_resource_get(c->device, r.resource);
    OK(vidmm_resource_open(d->device, resource, false, &item, 1, &opened));
    vidmm_resource_put(resource);
    hog = mm_make(d, MM_SET_VRAM, 200, 1);
    OK(mm_resident(d, hog));
    OK(mm_resident(d, item.allocation));
    OK(mm_destroy(d, hog, 0));
    OK(mm_resident(c, r.info[0].hAllocation));
    CHECK(vidmm_validate(rig->vidmm));
    OK(mm_evict(d, item.allocation, 0));
    mm_idle(rig);
    CHECK_RULE("RES-045", c->process->usage[0] + c->process->usage[1] == 100 * PAGE_BYTES &&
                              vidmm_validate(rig->vidmm));
    OK(mm_evict(c, r.info[0].hAllocation, 0));
    mm_idle(rig);
    CHECK_RULE("RES-045", c->process->usage[0] == 0 && c->process->usage[1] == 0 &&
                              vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, a_reservation_is_limited)
{
    struct mm_client *c = &rig->client[0];

    CHECK_RULE("RES-044", vidmm_set_reservation(c->process, D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL,
                                                query(c, 0).AvailableForReservation + 1) ==
                              STATUS_INVALID_PARAMETER);
    OK(vidmm_set_reservation(c->process, D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL, 4 * MM_MB));
    CHECK_RULE("RES-044", query(c, 0).CurrentReservation == 4 * MM_MB);
    OK(vidmm_set_reservation(c->process, D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL, 0));
}

/* Two clients want 12 and 8 MB, of 16 that there are. Returns 8 MB of the first. */
static D3DKMT_HANDLE want_too_much(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE h = mm_vram(c, 8);

    OK(mm_resident(c, h));
    OK(mm_client_open(rig, 1, 1));
    OK(mm_resident(c, mm_vram(c, 4)));
    OK(mm_resident(d, mm_vram(d, 8)));
    return h;
}

TEST_WITH(mm, budgets_are_shared_out)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];

    CHECK_RULE("RES-041", query(c, 0).Budget == 16 * MM_MB);
    want_too_much(rig);
    CHECK_RULE("RES-041", query(c, 0).Budget == 8 * MM_MB);
    CHECK_RULE("RES-042", query(c, 0).Budget == 8 * MM_MB && query(d, 0).Budget == 8 * MM_MB);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, a_client_above_its_budget_is_told_what_to_trim)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = want_too_much(rig);
    uint64_t trim;

    CHECK_RULE("RES-024",
               vidmm_evict(c->device, &h, 0, (D3DDDI_EVICT_FLAGS){0}, &trim) == STATUS_SUCCESS &&
                   trim == 4 * MM_MB);
    CHECK_RULE("RES-015", vidmm_make_resident(c->queue, (D3DKMT_HANDLE[]){mm_vram(c, 1)}, 1,
                                              (D3DDDI_MAKERESIDENT_FLAGS){0}, &(uint64_t){0},
                                              &trim) == STATUS_NO_MEMORY &&
                              trim == 5 * MM_MB);
    CHECK_RULE("RES-019", mm_make_resident(c, (D3DKMT_HANDLE[]){mm_vram(c, 1)}, 1, 1,
                                           &(uint64_t){0}) == STATUS_PENDING);
    mm_idle(rig);
    CHECK_RULE("RES-019", c->error == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, reservations_leave_less_to_others)
{
    const D3DKMT_MEMORY_SEGMENT_GROUP local = D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
    struct mm_client *c = &rig->client[0];

    for (unsigned i = 1; i < 5; i++)
        OK(mm_client_open(rig, i, i));
    /* 4 MB are more than a fifth of 16, and 3.5 MB more than a quarter of what is left then. */
    OK(vidmm_set_reservation(rig->client[1].process, local, 4 * MM_MB));
    OK(vidmm_set_reservation(rig->client[2].process, local, 3 * MM_MB + MM_MB / 2));
    OK(mm_resident(c, mm_vram(c, 8)));
    OK(mm_resident(&rig->client[3], mm_vram(&rig->client[3], 8)));
    OK(mm_make_resident(&rig->client[4], (D3DKMT_HANDLE[]){mm_vram(&rig->client[4], 4)}, 1, 1,
                        &(uint64_t){0}));
    CHECK_RULE("RES-042", query(c, 0).Budget == (8 * MM_MB + MM_MB / 2) / 3);
    CHECK_RULE("RES-042", query(&rig->client[1], 0).Budget == 4 * MM_MB);
    CHECK(query(&rig->client[2], 0).Budget == 3 * MM_MB + MM_MB / 2);
    mm_idle(rig);
}

/* ---- offers ---- */

static NTSTATUS offer(struct mm_client *c, D3DKMT_HANDLE h, int priority, UINT flags)
{
    return vidmm_offer(c->device, NULL, &h, 1, (D3DKMT_OFFER_PRIORITY)priority,
                       (D3DKMT_OFFER_FLAGS){.Value = flags});
}

static NTSTATUS reclaim(struct mm_client *c, D3DKMT_HANDLE h, D3DDDI_RECLAIM_RESULT *result)
{
    uint64_t fence;
    NTSTATUS status = vidmm_reclaim(c->queue, NULL, &h, 1, result, &fence);

    CHECK((status == STATUS_PENDING) == (fence != 0));
    if (status == STATUS_PENDING)
        mm_wait_fence(c, fence);
    return status;
}

TEST_WITH(mm, offered_content_may_go)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 10);
    D3DKMT_HANDLE other = mm_vram(c, 10);
    D3DDDI_RECLAIM_RESULT result;
    void *address;

    CHECK_RULE("RES-062", offer(c, h, 0, 0) == STATUS_INVALID_PARAMETER &&
                              offer(c, h, 5, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("RES-062", vidmm_offer(c->device, &h, &h, 1, D3DKMT_OFFER_PRIORITY_LOW,
                                      (D3DKMT_OFFER_FLAGS){0}) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("RES-062", vidmm_offer(c->device, NULL, NULL, 1, D3DKMT_OFFER_PRIORITY_LOW,
                                      (D3DKMT_OFFER_FLAGS){0}) == STATUS_INVALID_PARAMETER);
    OK(mm_resident(c, h));
    mm_write_content(rig, mm_allocation(c, h), 7);

    /* no pressure: content intact */
    OK(offer(c, h, 1, 0));
    CHECK_RULE("RES-065", vidmm_lock2(c->device, h, &address) == STATUS_INVALID_PARAMETER);
    OK(reclaim(c, h, &result));
    CHECK_RULE("RES-068",
               result == D3DDDI_RECLAIM_RESULT_OK && mm_check_content(rig, mm_allocation(c, h), 7));
    CHECK_RULE("RES-065", vidmm_lock2(c->device, h, &address) == STATUS_SUCCESS);
    CHECK_RULE("RES-073", offer(c, h, 1, 0) == STATUS_INVALID_PARAMETER); /* locked */
    OK(vidmm_unlock2(c->device, h));
    CHECK_RULE("RES-073", reclaim(c, h, &result) == STATUS_SUCCESS &&
                              result == D3DDDI_RECLAIM_RESULT_OK); /* not offered */

    /* the offer waits for work submitted before */
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(offer(c, h, 1, 0));
    CHECK_RULE("RES-063", !mm_allocation(c, h)->offer.in_force);
    mm_finish(c);
    mm_idle(rig);
    CHECK_RULE("RES-063", mm_allocation(c, h)->offer.in_force);
    CHECK_RULE("RES-073", NT_SUCCESS(offer(c, h, 3, 0)) && mm_allocation(c, h)->offer.priority == 3);

    /* pressure: dropped, not copied; the device that lists it does not wait for it */
    mm_mark(rig);
    CHECK(mm_make_resident(c, &other, 1, 1, &(uint64_t){0}) ==
          STATUS_NO_MEMORY); /* its own list would not fit */
    OK(mm_client_open(rig, 1, 1));
    OK(mm_resident(&rig->client[1], mm_vram(&rig->client[1], 10)));
    CHECK_RULE("RES-066", mm_is_out(c, h) && mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 0);
    CHECK_RULE("RES-066", mm_allocation(c, h)->backing == NULL);
    CHECK(mm_waited_for(c->device) == 0 && vidmm_validate(rig->vidmm));
    CHECK_RULE("RES-069", reclaim(c, h, &result) == STATUS_PENDING && mm_in_vram(c, h) &&
                              mm_allocation(c, h)->ready);
    CHECK_RULE("RES-068", result == D3DDDI_RECLAIM_RESULT_DISCARDED);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, reclaimed_can_be_locked_at_once)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_both(c, 10);
    D3DDDI_RECLAIM_RESULT result;
    void *address;
    uint64_t fence;

    OK(mm_resident(c, h));
    OK(offer(c, h, 1, 0));
    OK(mm_client_open(rig, 1, 1));
    OK(mm_resident(&rig->client[1], mm_vram(&rig->client[1], 10)));
    CHECK(vidmm_reclaim(c->queue, NULL, &h, 1, &result, &fence) == STATUS_PENDING);
    CHECK_RULE("RES-072",
               vidmm_lock2(c->device, h, &address) == STATUS_SUCCESS); /* without the fence */
    memset(address, 1, PAGE_BYTES);
    OK(vidmm_unlock2(c->device, h));
}

/* ---- residency queries ---- */

TEST_WITH(mm, queries_and_priorities)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[3] = {
        mm_vram(c, 1), mm_create_ok(c, mm_private_default(MM_SET_APERTURE, 4096)), mm_vram(c, 1)};
    D3DKMT_ALLOCATIONRESIDENCYSTATUS states[3];
    UINT priority[3] = {0xA0000000, 0x28000000, 5};

    OK(mm_resident(c, list[0]));
    OK(mm_resident(c, list[1]));
    OK(vidmm_query_residency(c->device, 0, list, 3, states));
    CHECK_RULE("RES-074", states[0] == 1 && states[1] == 2 && states[2] == 3);
    CHECK_RULE("RES-074",
               vidmm_query_residency(c->device, 5, list, 3, states) == STATUS_INVALID_PARAMETER);
    OK(vidmm_set_priority(c->device, 0, list, 3, priority));
    memset(priority, 0, sizeof(priority));
    OK(vidmm_get_priority(c->device, 0, list, 3, priority));
    CHECK_RULE("ALLOC-142",
               priority[0] == 0xA0000000 && priority[1] == 0x28000000 && priority[2] == 5);
    CHECK_RULE("ALLOC-142",
               vidmm_set_priority(c->device, 7, list, 3, priority) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-142",
               vidmm_set_priority(c->device, 0, NULL, 0, priority) == STATUS_INVALID_PARAMETER);
    priority[1] = 0;
    CHECK_RULE("KMT-278",
               vidmm_set_priority(c->device, 0, list, 3, priority) == STATUS_INVALID_PARAMETER);
    OK(vidmm_get_priority(c->device, 0, (D3DKMT_HANDLE[]){mm_with_priority(c, 1, 1, 0)}, 1,
                          priority));
    CHECK_RULE("ALLOC-070", priority[0] == D3DDDI_ALLOCATIONPRIORITY_NORMAL);
}
