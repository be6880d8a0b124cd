/* SPDX-License-Identifier: MIT */
/* Who comes back to a better segment when there is room again, and what leaves in the background. */
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define ROW 18u

static D3DKMT_HANDLE demoted(struct mm_client *c, uint64_t pages, UINT flags)
{
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, pages, flags);

    OK(mm_resident(c, h));
    CHECK(mm_allocation(c, h)->ready && mm_allocation(c, h)->segment != MM_VRAM);
    mm_write_content(c->rig, mm_allocation(c, h), 6);
    return h;
}

/* A list that is full by its charges, and what is behind it. Returns what fills it. */
static D3DKMT_HANDLE fill(struct mm_client *c, uint64_t pages)
{
    D3DKMT_HANDLE hog = mm_make(c, MM_SET_VRAM, pages, 1);

    OK(mm_resident(c, hog));
    return hog;
}

TEST_WITH(mm, the_oldest_comes_back_first, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE hog = fill(c, 200), first, second, third;

    first = demoted(c, 100, 1);
    second = demoted(c, 100, 1);
    third = demoted(c, 100, 1);
    OK(mm_destroy(c, hog, 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", mm_in_vram(c, first) && mm_in_vram(c, second) && !mm_in_vram(c, third));
    CHECK(c->device->charged[MM_VRAM] == 200 && c->device->charged[0] == 100);
    CHECK(mm_check_content(rig, mm_allocation(c, first), 6) && c->device->missing == 0);
    OK(mm_evict(c, first, 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", mm_in_vram(c, third) && mm_is_out(c, first));
    CHECK(vidmm_validate(rig->vidmm));
}

/* In a contiguous place, with its alignment to spare. */
TEST_WITH(mm, a_contiguous_one_needs_a_hole, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE block[4], h;
    struct mm_private p = mm_private_default(MM_SET_BOTH, 64 * (uint64_t)PAGE_BYTES);

    for (unsigned i = 0; i < 4; i++) {
        block[i] = mm_make(c, MM_SET_VRAM, 63, 0x8001);
        OK(mm_resident(c, block[i]));
    }
    p.flags = 0x8001;
    h = mm_create_ok(c, p);
    OK(mm_resident(c, h));
    CHECK(mm_allocation(c, h)->segment == MM_APERTURE);
    mm_write_content(rig, mm_allocation(c, h), 6);
    OK(mm_destroy(c, block[0], 0));
    mm_idle(rig);
    CHECK(mm_allocation(c, h)->segment == MM_APERTURE); /* 63 pages, and 4 at the end */
    OK(mm_destroy(c, block[2], 0));
    mm_idle(rig);
    CHECK(mm_allocation(c, h)->segment == MM_APERTURE); /* enough, but in pieces */
    OK(mm_destroy(c, block[1], 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", mm_in_vram(c, h) && mm_allocation(c, h)->run_count == 1 &&
                              mm_check_content(rig, mm_allocation(c, h), 6));
    CHECK(vidmm_validate(rig->vidmm));
}

/* Runs of an aligned allocation are aligned, too: there is enough, and nowhere. It stays, and nobody tries on and on. */
TEST_WITH(mm, an_aligned_one_needs_aligned_room, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_BOTH, 128 * (uint64_t)PAGE_BYTES);
    D3DKMT_HANDLE block[4], h;
    uint64_t evictions;
    void *address;

    for (unsigned i = 0; i < 4; i++) {
        block[i] = mm_make(c, MM_SET_VRAM, 63, 0x8001);
        OK(mm_resident(c, block[i]));
        OK(vidmm_lock2(c->device, block[i], &address)); /* none is moved */
    }
    p.flags = 1;
    p.alignment = 128 * PAGE_BYTES;
    h = mm_create_ok(c, p);
    OK(mm_resident(c, h));
    CHECK(!mm_in_vram(c, h));
    evictions = rig->vidmm->statistics.evictions;
    OK(mm_destroy(c, block[1], 0));
    OK(mm_destroy(c, block[2], 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", !mm_in_vram(c, h) && mm_allocation(c, h)->ready &&
                              rig->vidmm->statistics.evictions <= evictions + 2);
    OK(mm_destroy(c, block[0], 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", mm_in_vram(c, h));
    CHECK(vidmm_validate(rig->vidmm));
}

/* The list of another device that has it, too, has no room for it. */
TEST_WITH(mm, every_list_has_to_have_room, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct vidmm_open_item item;
    struct vidmm_resource *resource;
    struct mm_request r;
    D3DKMT_HANDLE mine, opened, hog, theirs;

    OK(mm_client_open(rig, 1, 1));
    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_BOTH, 100 * (uint64_t)PAGE_BYTES);
    r.data[0].flags = 0;
    r.request.flags.CreateResource = r.request.flags.CreateShared = 1;
    OK(mm_request_make(&r, c));
    mine = r.info[0].hAllocation;
    resource = vidmm_resource_get(c->device, r.resource);
    OK(vidmm_resource_open(d->device, resource, false, &item, 1, &opened));
    vidmm_resource_put(resource);
    hog = fill(c, 100);
    theirs = fill(d, 157); /* with the 100 pages it would be one page too much */
    OK(mm_resident(d, item.allocation));
    OK(mm_resident(c, mine));
    CHECK(mm_allocation(c, mine)->segment == 0);
    OK(mm_destroy(c, hog, 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", mm_allocation(c, mine)->segment == 0 && mm_allocation(c, mine)->ready);
    OK(mm_destroy(d, theirs, 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", mm_in_vram(c, mine));
    CHECK(c->device->charged[MM_VRAM] == 100 && d->device->charged[MM_VRAM] == 100 &&
          d->device->charged[0] == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

/* Sixteen are looked at in one go: one behind sixteen that cannot move waits, one behind fifteen does not. */
static void behind_locked(struct mm_rig *rig, unsigned locked, bool comes)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE hog = fill(c, 250), h[ROW];
    void *address;

    for (unsigned i = 0; i <= locked; i++)
        h[i] = demoted(c, 10, 1);
    for (unsigned i = 0; i < locked; i++)
        OK(vidmm_lock2(c->device, h[i], &address));
    OK(mm_destroy(c, hog, 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", mm_in_vram(c, h[locked]) == comes);
    for (unsigned i = 0; i < locked; i++) {
        CHECK(!mm_in_vram(c, h[i]));
        OK(vidmm_unlock2(c->device, h[i]));
    }
}

TEST_WITH(mm, one_behind_fifteen_comes_back, options->vram_bytes = MM_MB)
{
    behind_locked(rig, 15, true);
}

TEST_WITH(mm, one_behind_sixteen_waits, options->vram_bytes = MM_MB)
{
    behind_locked(rig, 16, false);
}

/* What runs is not moved; it is when it is idle and there is news. */
TEST_WITH(mm, a_running_device_keeps_its_places, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE hog, h, little;

    OK(mm_client_open(rig, 1, 1));
    hog = fill(c, 200);
    h = demoted(c, 100, 1);
    little = fill(d, 1);
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(mm_destroy(c, hog, 1));
    mm_idle(rig);
    CHECK_RULE("RES-055", !mm_in_vram(c, h) && rig->suspends == 0);
    mm_finish(c);
    OK(mm_destroy(d, little, 0)); /* there is more room */
    mm_idle(rig);
    CHECK_RULE("RES-055", mm_in_vram(c, h));
}

/* Off the list, it is no candidate any more. */
TEST_WITH(mm, what_nobody_lists_does_not_come_back, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE hog = fill(c, 200), h = demoted(c, 100, 1);

    OK(mm_evict(c, h, 1));
    OK(mm_destroy(c, hog, 0));
    mm_idle(rig);
    CHECK_RULE("RES-055", !mm_in_vram(c, h) && mm_allocation(c, h)->ready);
}

/* ---- departures ---- */

/* Something else keeps it in place when its turn comes. */
TEST_WITH(mm, what_is_pinned_meanwhile_does_not_leave)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 1), other = mm_vram(c, 1);

    OK(mm_resident(c, h));
    OK(mm_resident(c, other));
    rig->vidmm->reset = true; /* the worker rests */
    OK(mm_evict(c, h, 0));
    OK(mm_evict(c, other, 0));
    mm_allocation(c, h)->pins++;
    CHECK(!list_empty(&rig->vidmm->departures));
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_idle(rig);
    CHECK_RULE("RES-027", mm_in_vram(c, h) && mm_is_out(c, other));
    CHECK(list_empty(&rig->vidmm->departures) && !mm_allocation(c, h)->victim.leave);
    CHECK(mm_allocation(c, other)->absence == ABSENCE_EVICTED);
    mm_allocation(c, h)->pins--;
}

/* Its turn to leave is over with a list that it is put on again. */
TEST_WITH(mm, a_departure_is_taken_back)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 1);

    OK(mm_resident(c, h));
    rig->vidmm->reset = true;
    OK(mm_evict(c, h, 0));
    OK(mm_resident(c, h));
    CHECK(list_empty(&rig->vidmm->departures) && !mm_allocation(c, h)->victim.leave);
    OK(mm_evict(c, h, 0));
    OK(mm_destroy(c, h, 1));
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_idle(rig);
    CHECK(list_empty(&rig->vidmm->departures) && list_empty(&rig->vidmm->allocations));
    CHECK(vidmm_validate(rig->vidmm));
}

/* ---- the host's own, which no device has open ---- */

static struct vidmm_allocation *own;

static NTSTATUS bring_in(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)arg;
    own->pins++;
    return placement_bring_in(turn, vidmm, own);
}

static NTSTATUS take_away(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)vidmm;
    (void)turn;
    (void)arg;
    allocation_destroy_internal(own);
    return STATUS_SUCCESS;
}

TEST_WITH(mm, an_aperture_map_without_an_owner)
{
    struct allocation_request request = {.driver_handle = (HANDLE)(uintptr_t)0x77,
                                         .bytes = 3 * PAGE_BYTES,
                                         .supported_set = MM_SET_APERTURE,
                                         .priority = 5};
    const struct mm_op *op;

    request.flags.AccessedPhysically = request.flags.CpuVisible = request.flags.Cached = 1;
    sim_mutex_lock(&rig->vidmm->lock);
    OK(allocation_create_internal(rig->vidmm, &request, &own));
    sim_mutex_unlock(&rig->vidmm->lock);
    OK(paging_run(rig->vidmm, bring_in, NULL));
    op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0);
    CHECK_RULE("PAGE-045", op && !op->args.MapApertureSegment2.hDevice &&
                               op->args.MapApertureSegment2.hAllocation == request.driver_handle);
    CHECK_RULE("PAGE-046", op->args.MapApertureSegment2.Flags.CacheCoherent == 1);
    CHECK(*(uint32_t *)(void *)mm_gpu_memory(rig, MM_APERTURE, own->aperture.first << PAGE_BITS) ==
          0xC5C5C5C5);
    OK(paging_run(rig->vidmm, take_away, NULL));
    op = mm_op_at(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT, 0);
    CHECK(op && !op->args.UnmapApertureSegment.hDevice);
    mm_idle(rig);
    CHECK(list_empty(&rig->vidmm->allocations) && vidmm_validate(rig->vidmm));
}

/* What is larger than a segment evicts nobody there. */
TEST_WITH(mm, what_is_larger_than_a_segment_goes_past_it, options->vram_bytes = MM_MB)
{
    struct allocation_request request = {.driver_handle = (HANDLE)(uintptr_t)0x77,
                                         .bytes = MM_MB + 1,
                                         .supported_set = MM_SET_BOTH,
                                         .preferred = {MM_VRAM, 0, 0, 0, 0},
                                         .priority = UINT32_MAX};
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, 1);

    OK(mm_resident(c, h));
    OK(mm_evict(c, h, 1));
    sim_mutex_lock(&rig->vidmm->lock);
    OK(allocation_create_internal(rig->vidmm, &request, &own));
    sim_mutex_unlock(&rig->vidmm->lock);
    OK(paging_run(rig->vidmm, bring_in, NULL));
    CHECK_RULE("RES-051", own->resident && own->segment == 0 && mm_in_vram(c, h));
    OK(paging_run(rig->vidmm, take_away, NULL));
    mm_idle(rig);
}

/* Without a coherent aperture a cached allocation is mapped as any other. */
TEST_WITH(mm, a_map_is_coherent_where_the_segment_is, options->segment[0].Flags.CpuVisible = 1,
          options->segment[0].BaseAddress.QuadPart = MM_BASE, options->segment[0].Size = 16 * MM_MB,
          options->segment[1].Flags.Aperture = 1, options->segment[1].Size = 16 * MM_MB,
          options->segment_count = 2)
{
    struct mm_client *c = &rig->client[0];

    OK(mm_resident(c, mm_make(c, MM_SET_APERTURE, 2, 0x8005)));
    CHECK_RULE("PAGE-046", mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0)
                                   ->args.MapApertureSegment2.Flags.Value == 0);
}

/* ---- handles while they are being made ---- */

static unsigned looked;

static void use_early(struct mm_rig *rig, const DXGKARG_OPENALLOCATION *args)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = args->pOpenAllocation[0].hAllocation,
                  resource = vidmm_cb_get_handle_parent(&rig->ddi, h);
    const DXGKARGCB_GETHANDLEDATA get = {.hObject = resource, .Type = DXGK_HANDLE_RESOURCE};
    const DXGKARGCB_ENUMHANDLECHILDREN children = {.hObject = resource};
    HANDLE release = c;
    struct mm_request r;
    UINT priority = 5;

    if (looked++)
        return;
    CHECK(h && resource);
    CHECK_RULE("KMT-026", mm_make_resident(c, &h, 1, 0, &(uint64_t){0}) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-026", mm_destroy(c, h, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-026", mm_destroy_resource(c, resource, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-026", vidmm_set_priority(c->device, resource, NULL, 0, &priority) ==
                              STATUS_INVALID_PARAMETER);
    CHECK(!vidmm_resource_get(c->device, resource) &&
          !vidmm_resource_context(c->process->nt, resource));
    CHECK_RULE("ALLOC-100", !vidmm_cb_acquire_handle_data(&rig->ddi, &get, &release) && !release);
    CHECK(vidmm_cb_enum_handle_children(&rig->ddi, &children) == 0);
    mm_request_init(&r, 1);
    r.request.resource = resource;
    CHECK_RULE("KMT-191", mm_request_make(&r, c) == STATUS_INVALID_HANDLE);
}

TEST_WITH(mm, handles_work_when_they_are_returned)
{
    struct mm_request r;

    mm_request_init(&r, 2);
    r.data[0].flags = r.data[1].flags = 0;
    r.request.flags.CreateResource = r.request.flags.CreateShared = 1;
    rig->next_resource = (HANDLE)(uintptr_t)0xAE;
    rig->on_open = use_early;
    looked = 0;
    OK(mm_request_make(&r, &rig->client[0]));
    CHECK(looked == 1);
    OK(mm_resident(&rig->client[0], r.info[0].hAllocation));
    CHECK(vidmm_validate(rig->vidmm));
}
