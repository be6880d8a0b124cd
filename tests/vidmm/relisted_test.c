/* SPDX-License-Identifier: MIT */
/* Evict and MakeResident in turn, while work of the GPU is on its way. */
#include "sim/machine.h"
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

/* Submits a packet, and puts it on the hardware. Returns its ticket. */
static uint64_t submit(struct mm_client *c)
{
    mm_submit(c);
    CHECK(mm_dispatch(c));
    return c->queued;
}

/* The hardware is done with the packets up to this one. */
static void finish(struct mm_client *c, uint64_t ticket)
{
    c->completed = ticket;
    sim_waitq_wake(&c->changed, UINT32_MAX);
    mm_idle(c->rig);
}

TEST_WITH(mm, the_last_evict_is_the_one_that_counts)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 2);
    uint64_t first, second;

    OK(mm_resident(c, h));
    mm_write_content(rig, mm_allocation(c, h), 3);
    first = submit(c);
    OK(mm_evict(c, h, 0));
    CHECK(mm_open(c, h)->last_use == first && mm_allocation(c, h)->users == 1);
    OK(mm_resident(c, h));
    second = submit(c);
    OK(mm_evict(c, h, 0));
    CHECK(mm_open(c, h)->last_use == second && mm_allocation(c, h)->users == 1);
    finish(c, first);
    CHECK_RULE("RES-026", mm_in_vram(c, h) && mm_allocation(c, h)->users == 1);
    finish(c, second);
    CHECK_RULE("RES-026", mm_is_out(c, h) && mm_allocation(c, h)->users == 0);
    CHECK(mm_check_content(rig, mm_allocation(c, h), 3) && vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, a_list_again_keeps_it_there)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 2);
    uint64_t first;

    OK(mm_resident(c, h));
    first = submit(c);
    OK(mm_evict(c, h, 0));
    OK(mm_resident(c, h));
    finish(c, first);
    CHECK_RULE("RES-027", mm_in_vram(c, h) && mm_allocation(c, h)->users == 0);
    /* the flag of the last request decides, not that of the first */
    first = submit(c);
    OK(mm_evict(c, h, 0));
    OK(mm_resident(c, h));
    OK(mm_evict(c, h, 1));
    finish(c, first);
    CHECK_RULE("RES-027", mm_in_vram(c, h) && mm_open(c, h)->residency_count == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

/* The GPU may still use it: it is no victim until then, and who needs its memory waits. */
TEST_WITH(mm, what_the_gpu_still_uses_is_no_victim)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE h = mm_vram(c, 10), other;
    uint64_t fence, first;

    OK(mm_resident(c, h));
    first = submit(c);
    OK(mm_evict(c, h, 1));
    CHECK(rig->vidmm->segment[MM_VRAM].leaving == 1);
    OK(mm_client_open(rig, 1, 1));
    other = mm_vram(d, 10);
    CHECK(mm_make_resident(d, &other, 1, 0, &fence) == STATUS_PENDING);
    mm_idle(rig);
    CHECK_RULE("RES-026", mm_in_vram(c, h) && d->fence < fence && d->error == 0);
    finish(c, first);
    mm_wait_fence(d, fence);
    CHECK_RULE("RES-026", mm_is_out(c, h) && mm_in_vram(d, other));
    CHECK(rig->vidmm->segment[MM_VRAM].leaving == 0 && vidmm_validate(rig->vidmm));
    CHECK(mm_allocation(c, h)->absence == ABSENCE_ROOM);
}

/* What is destroyed while its MakeResident waits is left out of it, and the rest is brought in. */
TEST_WITH(mm, what_is_destroyed_is_not_brought_in)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[2] = {mm_vram(c, 1), mm_vram(c, 1)};
    uint64_t fence;

    rig->vidmm->reset = true; /* jobs wait */
    CHECK(mm_make_resident(c, list, 2, 0, &fence) == STATUS_PENDING);
    OK(mm_destroy(c, list[0], 1));
    mm_mark(rig);
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_wait_fence(c, fence);
    CHECK(mm_in_vram(c, list[1]) && c->error == 0);
    CHECK(mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) == 1);
    CHECK(vidmm_validate(rig->vidmm));
}

/* The same of what was evicted or offered meanwhile. */
TEST_WITH(mm, what_is_wanted_no_more_is_not_brought_in)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[3] = {mm_vram(c, 1), mm_vram(c, 1), mm_vram(c, 1)};
    uint64_t fence;

    rig->vidmm->reset = true;
    CHECK(mm_make_resident(c, list, 3, 0, &fence) == STATUS_PENDING);
    OK(mm_evict(c, list[0], 0));
    OK(vidmm_offer(c->device, NULL, &list[1], 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){0}));
    CHECK(mm_waited_for(c->device) == 1);
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_wait_fence(c, fence);
    CHECK(mm_is_out(c, list[0]) && mm_is_out(c, list[1]) && mm_in_vram(c, list[2]));
    CHECK(mm_waited_for(c->device) == 0 && c->error == 0 && vidmm_validate(rig->vidmm));
}

/* ---- what was queued before ---- */

static bool may_run(struct mm_client *c, uint64_t ticket)
{
    return vidmm_device_prepare(c->device, NULL, ticket);
}

/* Jobs wait until this. */
static void let_paging_go_on(struct mm_rig *rig)
{
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_idle(rig);
}

TEST_WITH(mm, what_was_queued_before_does_not_wait_for_what_is_listed)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE first = mm_vram(c, 1), second = mm_vram(c, 1), third = mm_vram(c, 1);
    uint64_t fence, before;

    OK(mm_resident(c, first));
    mm_submit(c);
    before = c->queued;
    rig->vidmm->reset = true;
    CHECK(mm_make_resident(c, &second, 1, 0, &fence) == STATUS_PENDING);
    CHECK_RULE("RES-010", may_run(c, before) && !may_run(c, before + 1));
    mm_submit(c);
    CHECK(mm_make_resident(c, &third, 1, 0, &fence) == STATUS_PENDING);
    CHECK_RULE("RES-010", may_run(c, before) && !may_run(c, before + 1));
    let_paging_go_on(rig);
    CHECK_RULE("RES-010", may_run(c, before + 1) && may_run(c, before + 2));
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, what_was_queued_before_does_not_wait_for_what_is_reclaimed)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 10), other;
    D3DDDI_RECLAIM_RESULT result;
    uint64_t fence, before;

    OK(vidmm_offer(c->device, NULL, &h, 1, D3DKMT_OFFER_PRIORITY_LOW, (D3DKMT_OFFER_FLAGS){0}));
    OK(mm_resident(c, h));
    mm_submit(c);
    before = c->queued;
    rig->vidmm->reset = true;
    CHECK(vidmm_reclaim(c->queue, NULL, &h, 1, &result, &fence) == STATUS_PENDING);
    CHECK_RULE("RES-010", may_run(c, before) && !may_run(c, before + 1));
    let_paging_go_on(rig);
    CHECK_RULE("RES-010", may_run(c, before + 1));
    /* what was there, and is not any more, is waited for by everything */
    c->hardware = c->completed = c->queued;
    OK(mm_client_open(rig, 1, 1));
    other = mm_vram(&rig->client[1], 10);
    OK(mm_resident(&rig->client[1], other));
    CHECK(mm_is_out(c, h));
    rig->vidmm->reset = true;
    CHECK_RULE("RES-010", !may_run(c, 1));
    let_paging_go_on(rig);
    CHECK_RULE("RES-010", may_run(c, 1) && vidmm_validate(rig->vidmm));
}

/* ---- what is refused ---- */

TEST_WITH(mm, reserved_bits_of_evict_are_refused)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 1);

    OK(mm_resident(c, h));
    CHECK(mm_evict(c, h, 4) == STATUS_INVALID_PARAMETER);
    CHECK(mm_evict(c, 0x999, 0) == STATUS_INVALID_PARAMETER);
    CHECK(mm_open(c, h)->residency_count == 1);
    OK(mm_evict(c, h, 3));
    mm_idle(rig);
    CHECK(mm_open(c, h)->residency_count == 0 && mm_in_vram(c, h));
}

/* A list whose last element is bad evicts nothing, and may be given again. */
TEST_WITH(mm, a_bad_element_leaves_the_others_listed)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[3] = {mm_vram(c, 1), mm_vram(c, 1), 0x999};
    uint64_t trim = 77;

    OK(mm_resident(c, list[0]));
    OK(mm_resident(c, list[1]));
    CHECK(vidmm_evict(c->device, list, 3, (D3DDDI_EVICT_FLAGS){0}, &trim) ==
              STATUS_INVALID_PARAMETER &&
          trim == 77);
    CHECK(mm_open(c, list[0])->residency_count == 1 && mm_open(c, list[0])->mark == 0);
    CHECK(mm_open(c, list[1])->residency_count == 1 && mm_open(c, list[1])->mark == 0);
    CHECK(vidmm_evict(c->device, list, 2, (D3DDDI_EVICT_FLAGS){0}, &trim) == STATUS_SUCCESS &&
          trim == 0);
    mm_idle(rig);
    CHECK(mm_is_out(c, list[0]) && mm_is_out(c, list[1]));
}

TEST_WITH(mm, a_lost_adapter_brings_in_nothing)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 1);
    uint64_t fence;

    rig->vidmm->lost = true;
    CHECK_RULE("GPUVA-073", mm_make_resident(c, &h, 1, 0, &fence) == STATUS_DEVICE_REMOVED);
    rig->vidmm->lost = false;
    CHECK(fence == 0 && mm_open(c, h)->residency_count == 0 && !mm_open(c, h)->charged);
}

/* What cannot be brought in because the adapter is lost is no lack of memory. */
TEST_WITH(mm, a_lost_adapter_is_no_lack_of_memory)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE h = mm_vram(c, 10);

    OK(mm_resident(c, h));
    OK(mm_client_open(rig, 1, 1));
    OK(mm_resident(d, mm_vram(d, 10)));
    CHECK(mm_waited_for(c->device) == 1);
    mm_idle(rig);
    rig->vidmm->lost = true;
    mm_submit(c);
    CHECK(!mm_dispatch(c));
    sim_stall(1000000);
    rig->vidmm->lost = false;
    CHECK(mm_is_out(c, h) && c->error == 0 && c->resident_calls == 0);
    CHECK(!mm_dispatch(c));
    mm_idle(rig);
    CHECK(mm_dispatch(c) && mm_in_vram(c, h));
    mm_finish(c);
}

/* Each request of MakeResident fails in turn: nothing is listed, and nothing charged. */
TEST_WITH(mm, a_request_that_fails_lists_nothing)
{
    struct mm_client *c = &rig->client[0];
    struct util_heap *heap = &rig->base.sim->heap;
    D3DKMT_HANDLE list[2] = {mm_vram(c, 1), mm_vram(c, 1)};
    NTSTATUS status = STATUS_NO_MEMORY;
    uint64_t fence, trim;

    OK(mm_resident(c, list[1]));
    for (unsigned nth = 1; nth < 3; nth++) {
        heap->fail_at = heap->requests + nth;
        status = vidmm_make_resident(c->queue, list, 2, (D3DDDI_MAKERESIDENT_FLAGS){0}, &fence,
                                     &trim);
        heap->fail_at = 0;
        CHECK(status == STATUS_NO_MEMORY && fence == 0 && trim == 0);
        CHECK(mm_open(c, list[0])->residency_count == 0 && !mm_open(c, list[0])->charged &&
              list_empty(&mm_open(c, list[0])->residency_link));
        CHECK(mm_open(c, list[1])->residency_count == 1 && mm_waited_for(c->device) == 0);
        CHECK(c->device->charged[MM_VRAM] == 256 && mm_allocation(c, list[0])->users == 0);
    }
    CHECK(mm_make_resident(c, list, 2, 0, &fence) == STATUS_PENDING);
    mm_wait_fence(c, fence);
    CHECK(mm_in_vram(c, list[0]) && mm_open(c, list[1])->residency_count == 2);
    CHECK(vidmm_validate(rig->vidmm));
}

/* A list that is complete again has a while to run something. */
TEST_WITH(mm, a_complete_list_is_promised_to_run)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE h = mm_vram(c, 10);
    uint64_t used;

    OK(mm_resident(c, h));
    OK(mm_client_open(rig, 1, 1));
    OK(mm_resident(d, mm_vram(d, 10)));
    CHECK(c->device->granted_until == 0);
    mm_submit(c);
    CHECK(!mm_dispatch(c) && c->device->held);
    mm_idle(rig);
    CHECK_RULE("RES-050", c->device->granted_until > sim_now() &&
                              c->device->granted_until <= sim_now() + 50000000);
    CHECK(!c->device->held && c->resident_calls == 1);
    used = c->device->used_at;
    CHECK(mm_dispatch(c));
    CHECK_RULE("RES-050", c->device->granted_until == 0 && c->device->used_at > used);
    mm_finish(c);
}

/* ---- where an allocation is ---- */

TEST_WITH(mm, a_place_is_told_as_it_is)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE before = mm_vram(c, 1), h = mm_vram(c, 1);
    D3DKMT_HANDLE bare = mm_make(c, MM_SET_APERTURE, 2, 1);
    D3DKMT_HANDLE mapped = mm_make(c, MM_SET_APERTURE, 2, 0x8001);
    struct vidmm_place place;

    CHECK(!vidmm_open_place(mm_open(c, h), &place));
    CHECK(!place.resident && place.segment == 0 && place.physical == 0 &&
          place.device_specific == mm_open(c, h)->driver_handle);
    OK(mm_resident(c, before));
    OK(mm_resident(c, h));
    OK(mm_resident(c, bare));
    OK(mm_resident(c, mapped));
    CHECK(vidmm_open_place(mm_open(c, h), &place));
    CHECK(place.resident && place.segment == MM_VRAM && place.physical == MM_BASE + MM_MB);
    CHECK(vidmm_open_place(mm_open(c, bare), &place));
    CHECK(place.resident && place.segment == 0 && place.physical == 0);
    CHECK(vidmm_open_place(mm_open(c, mapped), &place));
    CHECK(place.resident && place.segment == MM_APERTURE &&
          place.physical ==
              MM_APERTURE_BASE + (mm_allocation(c, mapped)->aperture.first << PAGE_BITS));
    CHECK(place.device_specific == mm_open(c, mapped)->driver_handle);
    CHECK(vidmm_open_accessed_physically(mm_open(c, mapped)) &&
          !vidmm_open_accessed_physically(mm_open(c, bare)));
    CHECK(vidmm_open_bytes(mm_open(c, bare)) == 2 * PAGE_BYTES);
    CHECK(vidmm_open_device(mm_open(c, h)) == c->device);
    CHECK(vidmm_open_on_residency_list(mm_open(c, h)));
    OK(mm_evict(c, h, 1));
    CHECK(!vidmm_open_on_residency_list(mm_open(c, h)));
}

/* Scattered memory has no one address. */
TEST_WITH(mm, a_scattered_place_has_no_address, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h[3], scattered = mm_make(c, MM_SET_VRAM, 100, 1);
    struct vidmm_place place;

    for (unsigned i = 0; i < 3; i++) {
        h[i] = mm_make(c, MM_SET_VRAM, 60, 0x8001);
        OK(mm_resident(c, h[i]));
    }
    OK(mm_destroy(c, h[1], 2));
    OK(mm_resident(c, scattered));
    CHECK(mm_allocation(c, scattered)->run_count == 2);
    CHECK(vidmm_open_place(mm_open(c, scattered), &place));
    CHECK(place.resident && place.segment == MM_VRAM && place.physical == 0);
}
