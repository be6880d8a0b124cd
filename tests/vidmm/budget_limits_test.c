/* SPDX-License-Identifier: MIT */
/* Budgets and reservations at their limits, and in both groups of segments. */
#include "sim/mutex.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "support/mm_segments.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define LOCAL     D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL
#define NON_LOCAL D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL

static D3DKMT_QUERYVIDEOMEMORYINFO query(struct mm_client *c, int group)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info = {.MemorySegmentGroup = (D3DKMT_MEMORY_SEGMENT_GROUP)group};

    OK(vidmm_query_video_memory(c->rig->vidmm, c->process, &info));
    return info;
}

static NTSTATUS resident_trim(struct mm_client *c, const D3DKMT_HANDLE *list, UINT count,
                              uint64_t *trim)
{
    uint64_t fence;
    NTSTATUS status = vidmm_make_resident(c->queue, list, count, (D3DDDI_MAKERESIDENT_FLAGS){0},
                                          &fence, trim);

    if (status == STATUS_PENDING)
        mm_wait_fence(c, fence);
    return status;
}

static uint64_t over(struct mm_client *c)
{
    D3DKMT_HANDLE none = 0;
    uint64_t trim = 77;

    OK(vidmm_evict(c->device, &none, 0, (D3DDDI_EVICT_FLAGS){0}, &trim));
    return trim;
}

/* ---- reservations ---- */

TEST_WITH(mm, half_of_a_group_can_be_reserved)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_QUERYVIDEOMEMORYINFO info = {.MemorySegmentGroup = LOCAL};

    OK(mm_client_open(rig, 1, 1));
    CHECK(query(c, 0).AvailableForReservation == 8 * MM_MB);
    CHECK_RULE("RES-044",
               vidmm_set_reservation(c->process, LOCAL, 8 * MM_MB + 1) == STATUS_INVALID_PARAMETER);
    CHECK(query(c, 0).CurrentReservation == 0);
    OK(vidmm_set_reservation(c->process, LOCAL, 6 * MM_MB));
    CHECK_RULE("RES-044", query(d, 0).AvailableForReservation == 2 * MM_MB);
    CHECK(query(c, 0).AvailableForReservation == 8 * MM_MB); /* its own does not count against it */
    CHECK(query(d, 0).Budget == 10 * MM_MB && query(c, 0).Budget == 16 * MM_MB);
    CHECK_RULE("RES-044",
               vidmm_set_reservation(d->process, LOCAL, 2 * MM_MB + 1) == STATUS_INVALID_PARAMETER);
    OK(vidmm_set_reservation(d->process, LOCAL, 2 * MM_MB));
    CHECK_RULE("RES-044", query(c, 0).AvailableForReservation == 6 * MM_MB);
    OK(vidmm_set_reservation(c->process, LOCAL, 8 * MM_MB - 2 * MM_MB));
    /* for nobody in particular */
    OK(vidmm_query_video_memory(rig->vidmm, NULL, &info));
    CHECK(info.Budget == 16 * MM_MB && info.CurrentUsage == 0 && info.CurrentReservation == 0 &&
          info.AvailableForReservation == 0);
    CHECK(vidmm_set_reservation(c->process, (D3DKMT_MEMORY_SEGMENT_GROUP)2, 0) ==
          STATUS_INVALID_PARAMETER);
    CHECK(query(c, 0).CurrentReservation == 6 * MM_MB &&
          query(d, 0).CurrentReservation == 2 * MM_MB);
}

/* Memory that page tables took since: less is left than is reserved. */
TEST_WITH(mm, what_is_pinned_is_not_available)
{
    struct mm_client *c = &rig->client[0];
    struct vidmm_run run;

    OK(mm_client_open(rig, 1, 1));
    OK(vidmm_set_reservation(rig->client[1].process, LOCAL, 8 * MM_MB));
    sim_mutex_lock(&rig->vidmm->lock);
    OK(segment_take_pinned(rig->vidmm, MM_VRAM, 4 * 256, 0, &run));
    sim_mutex_unlock(&rig->vidmm->lock);
    CHECK_RULE("RES-044", query(c, 0).AvailableForReservation == 0);
    CHECK(query(c, 0).Budget == 4 * MM_MB && budget_capacity(rig->vidmm, MM_VRAM) == 12 * 256);
    CHECK(query(&rig->client[1], 0).Budget == 12 * MM_MB);
    sim_mutex_lock(&rig->vidmm->lock);
    CHECK(segment_take_pinned(rig->vidmm, MM_VRAM, 12 * 256 + 1, 0, &run) == STATUS_NO_MEMORY);
    segment_give_pinned(rig->vidmm, &run);
    sim_mutex_unlock(&rig->vidmm->lock);
    CHECK(query(c, 0).Budget == 8 * MM_MB);
}

/* A group without memory for applications has nothing to give, and limits nobody. */
TEST_WITH(mm, a_group_without_segments_is_empty)
{
    struct mm_client *c = &rig->client[0];
    uint64_t trim;
    D3DKMT_HANDLE h = mm_create_ok(c, mm_private_default(MM_SET_APERTURE, MM_MB));

    CHECK(query(c, 1).Budget == 0 && query(c, 1).AvailableForReservation == 0);
    CHECK(vidmm_set_reservation(c->process, NON_LOCAL, 1) == STATUS_INVALID_PARAMETER);
    CHECK(resident_trim(c, &h, 1, &trim) == STATUS_PENDING);
    CHECK(query(c, 1).CurrentUsage == MM_MB && over(c) == 0);
}

/* ---- at the limit ---- */

TEST_WITH(mm, the_whole_budget_may_be_used)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE last = mm_make(c, MM_SET_VRAM, 1, 1), all = mm_vram(c, 8), h[2];
    uint64_t trim = 7;

    OK(mm_client_open(rig, 1, 1));
    OK(vidmm_set_reservation(rig->client[1].process, LOCAL, 8 * MM_MB));
    CHECK(query(c, 0).Budget == 8 * MM_MB);
    CHECK_RULE("RES-015", resident_trim(c, &all, 1, &trim) == STATUS_PENDING && trim == 0);
    CHECK_RULE("RES-015",
               resident_trim(c, &last, 1, &trim) == STATUS_NO_MEMORY && trim == PAGE_BYTES);
    CHECK(over(c) == 0);
    /* elements that are listed already need nothing more */
    h[0] = last;
    h[1] = all;
    CHECK_RULE("RES-015", resident_trim(c, h, 2, &trim) == STATUS_NO_MEMORY && trim == PAGE_BYTES);
    h[0] = all;
    h[1] = last;
    CHECK(resident_trim(c, h, 2, &trim) == STATUS_NO_MEMORY && trim == PAGE_BYTES);
    CHECK(mm_open(c, all)->residency_count == 1);
    CHECK(mm_make_resident(c, &last, 1, 1, &trim) == STATUS_PENDING); /* CantTrimFurther */
    mm_idle(rig);
    CHECK(over(c) == PAGE_BYTES);
}

/* Two processes that use more than there is; one that uses nothing has no share. */
TEST_WITH(mm, idle_processes_have_no_share)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE h;

    for (unsigned i = 1; i < 4; i++)
        OK(mm_client_open(rig, i, i));
    OK(mm_resident(c, mm_vram(c, 10)));
    h = mm_vram(d, 10);
    OK(mm_make_resident(d, &h, 1, 1, &(uint64_t){0}));
    CHECK_RULE("RES-042", query(c, 0).Budget == 8 * MM_MB && query(d, 0).Budget == 8 * MM_MB);
    CHECK_RULE("RES-042", query(&rig->client[2], 0).Budget == 16 * MM_MB / 3); /* if it asks */
    CHECK(over(c) == 2 * MM_MB);
    OK(vidmm_set_reservation(rig->client[3].process, LOCAL, 6 * MM_MB));
    CHECK_RULE("RES-042", query(c, 0).Budget == 5 * MM_MB);
    CHECK(query(&rig->client[3], 0).Budget == 6 * MM_MB);
    mm_idle(rig);
}

/* The list does not fit, although the budget would do: aligned allocations leave gaps. */
TEST_WITH(mm, gaps_count_for_the_list)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, PAGE_BYTES);
    D3DKMT_HANDLE h[5], list[3];
    uint64_t trim;

    p.alignment = 4 * MM_MB;
    for (unsigned i = 0; i < 5; i++)
        h[i] = mm_create_ok(c, p);
    for (unsigned i = 0; i < 4; i++)
        CHECK(resident_trim(c, &h[i], 1, &trim) == STATUS_PENDING && trim == 0);
    CHECK(c->device->charged[MM_VRAM] == 16 * 256 && query(c, 0).CurrentUsage == 4 * PAGE_BYTES);
    CHECK_RULE("RES-015",
               resident_trim(c, &h[4], 1, &trim) == STATUS_NO_MEMORY && trim == PAGE_BYTES);
    list[0] = h[4];
    list[1] = h[0];
    list[2] = mm_make(c, MM_SET_VRAM, 3, 1);
    CHECK_RULE("RES-015",
               resident_trim(c, list, 3, &trim) == STATUS_NO_MEMORY && trim == 4 * PAGE_BYTES);
    CHECK(vidmm_validate(rig->vidmm));
}

/* ---- both groups ---- */

TEST_WITH(mm, what_is_above_is_added_up_over_the_groups, *options = mm_plain_options(),
          options->segment[0].Flags.ApplicationTarget = 1,
          options->segment[1].Flags.ApplicationTarget = 1, options->segment[1].Size = 16 * MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[2];
    uint64_t trim;

    OK(mm_client_open(rig, 1, 1));
    CHECK(query(c, 0).Budget == 16 * MM_MB && query(c, 1).Budget == 16 * MM_MB);
    CHECK(query(c, 1).AvailableForReservation == 8 * MM_MB);
    list[0] = mm_make(c, MM_SET_VRAM, 10 * 256, 0);
    list[1] = mm_make(c, MM_SET_APERTURE, 12 * 256, 0);
    CHECK(resident_trim(c, list, 2, &trim) == STATUS_PENDING);
    CHECK(query(c, 0).CurrentUsage == 10 * MM_MB && query(c, 1).CurrentUsage == 12 * MM_MB);
    CHECK(over(c) == 0);
    OK(vidmm_set_reservation(rig->client[1].process, LOCAL, 8 * MM_MB));
    CHECK(over(c) == 2 * MM_MB);
    OK(vidmm_set_reservation(rig->client[1].process, NON_LOCAL, 7 * MM_MB));
    CHECK_RULE("RES-024", over(c) == 5 * MM_MB);
    list[0] = mm_make(c, MM_SET_VRAM, 256, 0);
    list[1] = mm_make(c, MM_SET_APERTURE, 512, 0);
    CHECK_RULE("RES-015", resident_trim(c, list, 2, &trim) == STATUS_NO_MEMORY && trim == 8 * MM_MB);
    CHECK_RULE("RES-015",
               resident_trim(c, list + 1, 1, &trim) == STATUS_NO_MEMORY && trim == 7 * MM_MB);
    CHECK(query(c, 0).CurrentUsage == 10 * MM_MB && query(c, 1).CurrentUsage == 12 * MM_MB);
    CHECK(vidmm_validate(rig->vidmm));
}

/* The system memory that allocations may take without an aperture is limited, too. */
TEST_WITH(mm, system_memory_has_a_limit, options->ram_bytes = 160 * (uint64_t)MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE all, one = mm_create_ok(c, mm_private_default(MM_SET_APERTURE, PAGE_BYTES));
    uint64_t trim;

    CHECK(budget_capacity(rig->vidmm, 0) == 80 * 256);
    all = mm_create_ok(c, mm_private_default(MM_SET_APERTURE, 80 * (uint64_t)MM_MB));
    CHECK(resident_trim(c, &all, 1, &trim) == STATUS_PENDING);
    CHECK(resident_trim(c, &one, 1, &trim) == STATUS_NO_MEMORY && trim == PAGE_BYTES);
}
