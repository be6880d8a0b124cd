/* SPDX-License-Identifier: MIT */
/* Whose memory is taken, and that no content is lost over it. */
#include "sim/machine.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

TEST_WITH(mm, victims_in_order)
{
    struct mm_client *c = &rig->client[0];
    struct mm_client *d;
    D3DKMT_HANDLE offered_high = mm_vram(c, 2);
    D3DKMT_HANDLE offered_low = mm_vram(c, 2);
    D3DKMT_HANDLE unlisted_low = mm_with_priority(c, MM_SET_VRAM, 2, 0x28000000);
    D3DKMT_HANDLE unlisted_old = mm_vram(c, 2);
    D3DKMT_HANDLE unlisted_new = mm_vram(c, 2);
    D3DKMT_HANDLE listed = mm_vram(c, 2);
    D3DKMT_HANDLE news[6];
    uint64_t fence;
    const D3DKMT_HANDLE expected[6] = {offered_low,  offered_high, unlisted_low,
                                       unlisted_old, unlisted_new, listed};

    for (unsigned i = 0; i < 6; i++)
        OK(mm_resident(c, expected[i]));
    OK(mm_evict(c, unlisted_old, 1));
    OK(mm_evict(c, unlisted_new, 1));
    OK(mm_evict(c, unlisted_low, 1));
    OK(vidmm_offer(c->device, NULL, &offered_high, 1, D3DKMT_OFFER_PRIORITY_HIGH,
                   (D3DKMT_OFFER_FLAGS){0}));
    OK(vidmm_offer(c->device, NULL, &offered_low, 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){0}));
    OK(mm_client_open(rig, 1, 1));
    d = &rig->client[1];
    OK(mm_resident(d, mm_vram(d, 4)));
    for (unsigned i = 0; i < 6; i++) {
        news[i] = mm_vram(d, 2);
        CHECK(mm_make_resident(d, &news[i], 1, 1, &fence) ==
              STATUS_PENDING); /* whatever the budget says */
        mm_wait_fence(d, fence);
        for (unsigned k = 0; k < 6; k++)
            CHECK_RULE("RES-053", mm_is_out(c, expected[k]) == (k <= i));
    }
    CHECK(vidmm_validate(rig->vidmm));
}

/* By the priority of the offer, and there by that of the allocation; AUTO is LOW, NORMAL or HIGH as the allocation's is. */
TEST_WITH(mm, offers_are_taken_in_their_order)
{
    static const struct {
        UINT priority;
        D3DKMT_OFFER_PRIORITY offer;
        unsigned place;
    } offered[] = {
        {D3DDDI_ALLOCATIONPRIORITY_HIGH, D3DKMT_OFFER_PRIORITY_AUTO, 6},
        {D3DDDI_ALLOCATIONPRIORITY_NORMAL, D3DKMT_OFFER_PRIORITY_HIGH, 5},
        {D3DDDI_ALLOCATIONPRIORITY_NORMAL, D3DKMT_OFFER_PRIORITY_AUTO, 3},
        {D3DDDI_ALLOCATIONPRIORITY_HIGH, D3DKMT_OFFER_PRIORITY_NORMAL, 4},
        {D3DDDI_ALLOCATIONPRIORITY_LOW, D3DKMT_OFFER_PRIORITY_NORMAL, 2},
        {D3DDDI_ALLOCATIONPRIORITY_LOW, D3DKMT_OFFER_PRIORITY_AUTO, 1},
        {D3DDDI_ALLOCATIONPRIORITY_MINIMUM, D3DKMT_OFFER_PRIORITY_LOW, 0},
    };
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h[7], news;
    struct mm_client *d;
    uint64_t fence;

    for (unsigned i = 0; i < 7; i++) {
        h[i] = mm_with_priority(c, MM_SET_VRAM, 2, offered[i].priority);
        OK(mm_resident(c, h[i]));
    }
    for (unsigned i = 0; i < 7; i++)
        OK(vidmm_offer(c->device, NULL, &h[i], 1, offered[i].offer, (D3DKMT_OFFER_FLAGS){0}));
    OK(mm_client_open(rig, 1, 1));
    d = &rig->client[1];
    OK(mm_resident(d, mm_vram(d, 2)));
    mm_mark(rig);
    for (unsigned step = 0; step < 7; step++) {
        news = mm_vram(d, 2);
        CHECK(mm_make_resident(d, &news, 1, 1, &fence) == STATUS_PENDING);
        mm_wait_fence(d, fence);
        for (unsigned i = 0; i < 7; i++)
            CHECK_RULE("RES-066", mm_is_out(c, h[i]) == (offered[i].place <= step));
    }
    CHECK_RULE("RES-066", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, priority_decides_who_gets_the_better_place)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE low = mm_with_priority(c, MM_SET_BOTH, 12, 0x50000000);
    D3DKMT_HANDLE high;
    D3DKMT_HANDLE lowest;

    OK(mm_resident(c, low));
    mm_write_content(rig, mm_allocation(c, low), 4);
    CHECK(mm_in_vram(c, low));
    lowest = mm_with_priority(c, MM_SET_BOTH, 12, 0x28000000);
    OK(mm_resident(c, lowest));
    CHECK_RULE("RES-054", mm_in_vram(c, low) && mm_allocation(c, lowest)->ready &&
                              mm_allocation(c, lowest)->segment == 0);
    CHECK_RULE("RES-051", mm_allocation(c, lowest)->segment ==
                              0); /* its first choice is full of better content */
    high = mm_with_priority(c, MM_SET_BOTH, 12, 0xA0000000);
    OK(mm_resident(c, high));
    mm_idle(rig);
    CHECK_RULE("RES-054", mm_in_vram(c, high) && !mm_in_vram(c, low));
    CHECK_RULE("TDR-083", mm_allocation(c, low)->absence == ABSENCE_DEMOTED);
    mm_submit(c);
    if (!mm_dispatch(c))
        mm_idle(rig);
    CHECK(mm_dispatch(c) && mm_allocation(c, low)->ready &&
          mm_check_content(rig, mm_allocation(c, low), 4));
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, demoted_come_back)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE hog = mm_vram(c, 14);
    D3DKMT_HANDLE demoted = mm_both(c, 4);

    OK(mm_resident(c, hog));
    OK(mm_resident(c, demoted));
    CHECK_RULE("RES-055", mm_allocation(c, demoted)->ready && !mm_in_vram(c, demoted));
    mm_write_content(rig, mm_allocation(c, demoted), 6);
    OK(mm_destroy(c, hog, 0));
    mm_idle(rig);
    CHECK_RULE("RES-055",
               mm_in_vram(c, demoted) && mm_check_content(rig, mm_allocation(c, demoted), 6));
    CHECK_RULE("TDR-083", mm_allocation(c, demoted)->absence == ABSENCE_MOVED);
    CHECK(mm_waited_for(c->device) == 0 && vidmm_validate(rig->vidmm));
}

static D3DKMT_HANDLE contiguous(struct mm_client *c, uint64_t pages)
{
    struct mm_private p = mm_private_default(MM_SET_VRAM, pages * PAGE_BYTES);

    p.flags |= 0x8000;
    return mm_create_ok(c, p);
}

TEST_WITH(mm, holes_are_made_by_moving)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE small[16];
    D3DKMT_HANDLE scattered;
    D3DKMT_HANDLE big;
    uint64_t evictions;
    unsigned moved = 0;

    for (unsigned i = 0; i < 16; i++) {
        small[i] = contiguous(c, 256);
        OK(mm_resident(c, small[i]));
        mm_write_content(rig, mm_allocation(c, small[i]), (uint8_t)i);
    }
    for (unsigned i = 0; i < 16; i += 2) {
        OK(mm_evict(c, small[i], 0));
    }
    mm_idle(rig);
    scattered = mm_create_ok(c, mm_private_default(MM_SET_VRAM, 600 * PAGE_BYTES));
    mm_mark(rig);
    OK(mm_resident(c, scattered));
    CHECK_RULE("RES-056", mm_allocation(c, scattered)->run_count == 3 &&
                              mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 0);
    OK(mm_evict(c, scattered, 0));
    mm_idle(rig);
    big = contiguous(c, 1024);
    evictions = rig->vidmm->statistics.evictions;
    mm_mark(rig);
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("RES-056", mm_allocation(c, big)->run_count == 1 &&
                              mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) > 0);
    for (uint32_t i = 0; i < mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER); i++) {
        DXGK_MEMORY_TRANSFER_DIRECTION direction = mm_op_at(rig, DXGK_OPERATION_VIRTUAL_TRANSFER, i)
                                                       ->args.TransferVirtual.TransferDirection;

        CHECK_RULE("SEG-088",
                   (direction == DXGK_MEMORY_TRANSFER_LOCAL_TO_LOCAL) == rig->options.move_paging);
    }
    CHECK_RULE("ALLOC-058", mm_allocation(c, big)->run_count == 1);
    for (unsigned i = 1; i < 16; i += 2) /* moved, perhaps, but none is gone */
        moved += mm_allocation(c, small[i])->absence == ABSENCE_MOVED;
    CHECK_RULE("TDR-083", moved > 0);
    for (unsigned i = 1; i < 16; i += 2)
        CHECK_RULE("RES-057", mm_in_vram(c, small[i]) &&
                                  mm_check_content(rig, mm_allocation(c, small[i]), (uint8_t)i));
    CHECK(rig->vidmm->statistics.evictions - evictions <= 2); /* the cheapest hole */
    CHECK(vidmm_validate(rig->vidmm));
}
TEST_ALSO(mm, holes_are_made_by_moving, moving, options->move_paging = true)

TEST_WITH(mm, capture_is_pinned)
{
    struct mm_client *c = &rig->client[0];
    struct mm_client *d;
    struct mm_private p = mm_private_default(MM_SET_VRAM, 10 * MM_MB);
    D3DKMT_HANDLE h;
    D3DKMT_HANDLE other;
    uint64_t place;

    p.flags |= 0x200; /* Capture */
    h = mm_create_ok(c, p);
    OK(mm_resident(c, h));
    place = mm_allocation(c, h)->runs[0].first;
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("ALLOC-054", mm_in_vram(c, h));
    OK(mm_client_open(rig, 1, 1));
    d = &rig->client[1];
    other = mm_vram(d, 10);
    CHECK(mm_make_resident(d, &other, 1, 0, &(uint64_t){0}) == STATUS_PENDING);
    mm_idle(rig);
    CHECK_RULE("ALLOC-054", mm_in_vram(c, h) && mm_allocation(c, h)->runs[0].first == place);
    CHECK_RULE("RES-040", d->fence == 1 && d->error == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK_RULE("RES-058", c->error == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

/* ---- faults ---- */

/* Every internal request of MakeResident, eviction and page-in fails in turn, in the call and in
 * the worker. */
TEST_WITH(mm, paging_survives_every_fault)
{
    struct mm_client *c = &rig->client[0];
    struct util_heap *heap = &rig->base.sim->heap;

    for (uint64_t nth = 1; nth < 60; nth++) {
        struct mm_client *d = &rig->client[1];
        D3DKMT_HANDLE mine = mm_both(c, 10);
        D3DKMT_HANDLE theirs;
        NTSTATUS status;
        uint64_t failures;

        OK(mm_client_open(rig, 1, 1));
        theirs = mm_vram(d, 10);
        OK(mm_resident(d, theirs));
        mm_write_content(rig, mm_allocation(d, theirs), (uint8_t)nth);
        failures = heap->failures;
        heap->fail_at = heap->requests + nth;
        status = mm_resident(c, mine);
        mm_idle(rig);
        heap->fail_at = 0;
        CHECK(vidmm_validate(rig->vidmm));
        CHECK(NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
        CHECK(mm_check_content(rig, mm_allocation(d, theirs), (uint8_t)nth));
        CHECK(d->error == 0);
        if (heap->failures == failures) {
            CHECK(status == STATUS_PENDING && mm_in_vram(c, mine) && nth > 5);
            return;
        }
        if (c->error) { /* it failed after STATUS_PENDING */
            CHECK_RULE("RES-040",
                       c->error == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY && c->fence >= 1);
            mm_client_close(rig, 0);
            OK(mm_client_open(rig, 0, 0));
        } else {
            OK(mm_destroy(c, mine, 2));
        }
        mm_client_close(rig, 1);
        mm_idle(rig);
        CHECK(vidmm_validate(rig->vidmm));
    }
}
