/* SPDX-License-Identifier: MIT */
/* Whose turn it is among equals, and what counts as equal. */
#include "sim/machine.h"
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

static D3DKMT_HANDLE resident(struct mm_client *c, uint64_t mb, UINT priority)
{
    D3DKMT_HANDLE h = mm_with_priority(c, MM_SET_VRAM, mb, priority);

    OK(mm_resident(c, h));
    return h;
}

/* Whatever the budget says. */
static D3DKMT_HANDLE squeeze_in(struct mm_client *c, uint64_t mb)
{
    D3DKMT_HANDLE h = mm_vram(c, mb);
    uint64_t fence;

    CHECK(mm_make_resident(c, &h, 1, 1, &fence) == STATUS_PENDING);
    mm_wait_fence(c, fence);
    CHECK(mm_in_vram(c, h));
    return h;
}

static void run_once(struct mm_client *c)
{
    mm_submit(c);
    CHECK(mm_dispatch(c));
    mm_finish(c);
}

/* ---- idle devices ---- */

TEST_WITH(mm, the_device_that_ran_last_keeps_its_memory)
{
    struct mm_client *a = &rig->client[0], *b = &rig->client[1], *c = &rig->client[2];
    D3DKMT_HANDLE of_a, of_b;

    OK(mm_client_open(rig, 1, 1));
    OK(mm_client_open(rig, 2, 2));
    of_a = resident(a, 6, D3DDDI_ALLOCATIONPRIORITY_NORMAL);
    of_b = resident(b, 6, D3DDDI_ALLOCATIONPRIORITY_NORMAL);
    run_once(b);
    run_once(a);
    CHECK(a->device->used_at > b->device->used_at);
    squeeze_in(c, 6);
    CHECK_RULE("RES-053", mm_in_vram(a, of_a) && mm_is_out(b, of_b));
    mm_submit(b); /* its turn: it gets the memory of the one that has not run at all */
    CHECK(!mm_dispatch(b));
    mm_idle(rig);
    CHECK_RULE("RES-053", mm_dispatch(b) && mm_in_vram(b, of_b) && mm_in_vram(a, of_a));
    mm_finish(b);
}

TEST_WITH(mm, the_lower_priority_goes_before_the_older_device)
{
    struct mm_client *a = &rig->client[0], *b = &rig->client[1], *c = &rig->client[2];
    D3DKMT_HANDLE of_a, of_b, more_of_b;

    OK(mm_client_open(rig, 1, 1));
    OK(mm_client_open(rig, 2, 2));
    of_a = resident(a, 6, 5);
    of_b = resident(b, 3, 6);
    more_of_b = resident(b, 3, 4);
    run_once(a);
    run_once(b);
    squeeze_in(c, 6);
    CHECK_RULE("RES-053", mm_in_vram(a, of_a) && mm_in_vram(b, of_b) && mm_is_out(b, more_of_b));
    squeeze_in(c, 4);
    CHECK_RULE("RES-053", mm_is_out(a, of_a) && mm_in_vram(b, of_b));
}

/* Of one device, what it has listed longest. */
TEST_WITH(mm, the_oldest_of_a_list_goes_first)
{
    struct mm_client *a = &rig->client[0], *c = &rig->client[1];
    D3DKMT_HANDLE h[3];

    for (unsigned i = 0; i < 3; i++)
        h[i] = resident(a, 4, 5);
    OK(mm_evict(a, h[0], 1)); /* listed again, it is the newest */
    OK(mm_resident(a, h[0]));
    OK(mm_client_open(rig, 1, 1));
    squeeze_in(c, 8);
    CHECK_RULE("RES-053", mm_is_out(a, h[1]) && mm_in_vram(a, h[0]) && mm_in_vram(a, h[2]));
    squeeze_in(c, 4);
    CHECK_RULE("RES-053", mm_is_out(a, h[2]) && mm_in_vram(a, h[0]));
}

/* ---- running devices ---- */

/* The one that ran longest ago is stopped, unless it has been promised to run. */
static void stopped(struct mm_rig *rig, bool granted)
{
    struct mm_client *a = &rig->client[0], *b = &rig->client[1], *c = &rig->client[2];
    D3DKMT_HANDLE of_a, of_b;

    OK(mm_client_open(rig, 1, 1));
    OK(mm_client_open(rig, 2, 2));
    of_a = resident(a, 6, 5);
    of_b = resident(b, 6, 5);
    mm_submit(a);
    mm_submit(b);
    CHECK(mm_dispatch(a) && mm_dispatch(b));
    if (granted)
        a->device->granted_until = sim_now() + 1000000000;
    squeeze_in(c, 6);
    CHECK_RULE("RES-050", rig->suspends == 1 && rig->resumes == 1);
    CHECK_RULE("RES-050", mm_is_out(a, of_a) == !granted && mm_is_out(b, of_b) == granted);
    CHECK(a->completed == !granted && b->completed == granted);
    mm_finish(a);
    mm_finish(b);
}

TEST_WITH(mm, the_device_that_ran_longest_ago_is_stopped)
{
    stopped(rig, false);
}

TEST_WITH(mm, a_device_that_is_to_run_is_not_stopped)
{
    stopped(rig, true);
}

/* ---- lists of a segment ---- */

TEST_WITH(mm, what_is_locked_goes_after_the_rest)
{
    struct mm_client *a = &rig->client[0], *c = &rig->client[1];
    D3DKMT_HANDLE locked = resident(a, 4, 1), offered = resident(a, 4, 0xF0000000),
                  high = resident(a, 4, 0xE0000000);
    void *address;

    mm_write_content(rig, mm_allocation(a, locked), 3);
    OK(mm_evict(a, locked, 1));
    OK(mm_evict(a, high, 1));
    OK(vidmm_lock2(a->device, locked, &address));
    OK(vidmm_offer(a->device, NULL, &offered, 1, D3DKMT_OFFER_PRIORITY_HIGH,
                   (D3DKMT_OFFER_FLAGS){0}));
    OK(mm_client_open(rig, 1, 1));
    squeeze_in(c, 8);
    CHECK_RULE("RES-053", mm_is_out(a, offered) && mm_in_vram(a, high) && mm_in_vram(a, locked));
    squeeze_in(c, 4);
    CHECK_RULE("RES-053", mm_is_out(a, high) && mm_in_vram(a, locked));
    squeeze_in(c, 4);
    CHECK_RULE("RES-053",
               mm_is_out(a, locked) && mm_check_content(rig, mm_allocation(a, locked), 3));
    CHECK(memcmp(address, mm_page(rig, mm_allocation(a, locked), 0), PAGE_BYTES) == 0);
    OK(vidmm_unlock2(a->device, locked));
}

/* When it was last listed counts, not what was done with it since. */
TEST_WITH(mm, a_lock_does_not_make_it_younger)
{
    struct mm_client *a = &rig->client[0], *c = &rig->client[1];
    D3DKMT_HANDLE old = resident(a, 6, 5), young = resident(a, 6, 5);
    void *address;

    OK(mm_evict(a, old, 1));
    OK(mm_evict(a, young, 1));
    OK(vidmm_lock2(a->device, old, &address));
    OK(vidmm_unlock2(a->device, old));
    OK(mm_client_open(rig, 1, 1));
    squeeze_in(c, 6);
    CHECK_RULE("RES-053", mm_is_out(a, old) && mm_in_vram(a, young));
}

TEST_WITH(mm, a_priority_does_not_make_an_offer_younger)
{
    struct mm_client *a = &rig->client[0], *c = &rig->client[1];
    D3DKMT_HANDLE h[2] = {resident(a, 6, 5), resident(a, 6, 5)};
    const UINT same = 5;

    for (unsigned i = 0; i < 2; i++)
        OK(vidmm_offer(a->device, NULL, &h[i], 1, D3DKMT_OFFER_PRIORITY_LOW,
                       (D3DKMT_OFFER_FLAGS){0}));
    OK(vidmm_set_priority(a->device, 0, &h[0], 1, &same));
    OK(mm_client_open(rig, 1, 1));
    squeeze_in(c, 6);
    CHECK_RULE("RES-066", mm_is_out(a, h[0]) && mm_in_vram(a, h[1]));
}

/* The offer that came first, where their priorities are the same. */
TEST_WITH(mm, the_first_offer_goes_first)
{
    struct mm_client *a = &rig->client[0], *c = &rig->client[1];
    D3DKMT_HANDLE h[3] = {resident(a, 4, 5), resident(a, 4, 5), resident(a, 4, 5)};
    static const unsigned order[] = {1, 2, 0};

    for (unsigned i = 0; i < 3; i++)
        OK(vidmm_offer(a->device, NULL, &h[order[i]], 1, D3DKMT_OFFER_PRIORITY_LOW,
                       (D3DKMT_OFFER_FLAGS){0}));
    OK(mm_client_open(rig, 1, 1));
    squeeze_in(c, 4);
    for (unsigned i = 0; i < 3; i++) {
        squeeze_in(c, 4);
        CHECK_RULE("RES-066", mm_is_out(a, h[order[i]]));
        CHECK(i == 2 || mm_in_vram(a, h[order[i + 1]]));
        CHECK(mm_allocation(a, h[order[i]])->absence == ABSENCE_OFFERED);
    }
}

/* ---- what was written ---- */

/* On a list again it may be written to, whatever an Evict before said of it. */
TEST_WITH(mm, a_hint_is_good_until_it_is_listed_again)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, 3); /* the system copy stays */
    struct vidmm_allocation *a = mm_allocation(c, h);

    OK(mm_resident(c, h));
    mm_write_content(rig, a, 1);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    OK(mm_resident(c, h));
    OK(mm_evict(c, h, 3)); /* only if necessary, not written to */
    CHECK(!a->written && a->system_copy);
    OK(mm_resident(c, h));
    mm_write_content(rig, a, 2); /* by the GPU */
    mm_mark(rig);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("RES-029", mm_is_out(c, h) && mm_check_content(rig, a, 2));
    CHECK(mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 1);
}

/* Discarded in an aperture, it comes back as new. */
TEST_WITH(mm, an_offer_is_discarded_in_an_aperture, options->aperture_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 150, 0x8001), other;
    struct vidmm_allocation *a = mm_allocation(c, h);
    uint64_t free_pages = ram_free_pages(rig->base.ram), fence;
    D3DDDI_RECLAIM_RESULT result;

    OK(mm_resident(c, h));
    mm_write_content(rig, a, 3);
    OK(vidmm_offer(c->device, NULL, &h, 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){.AllowDecommit = 1}));
    OK(mm_client_open(rig, 1, 1));
    other = mm_make(d, MM_SET_APERTURE, 150, 0x8001);
    OK(mm_resident(d, other));
    mm_idle(rig);
    CHECK_RULE("RES-066",
               !a->runs && !a->backing && a->content == CONTENT_NONE && a->offer.discarded);
    OK(mm_destroy(d, other, 2));
    CHECK(ram_free_pages(rig->base.ram) >= free_pages - 2);
    CHECK(vidmm_reclaim(c->queue, NULL, &h, 1, &result, &fence) == STATUS_PENDING);
    mm_wait_fence(c, fence);
    CHECK_RULE("RES-068", result == D3DDDI_RECLAIM_RESULT_DISCARDED && a->ready);
    CHECK_RULE("RES-060", mm_page(rig, a, 149)[5] == 0 && mm_page(rig, a, 0)[0] == 0);
    CHECK(vidmm_validate(rig->vidmm));
}
