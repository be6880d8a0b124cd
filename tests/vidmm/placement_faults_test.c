/* SPDX-License-Identifier: MIT */
/* Moves that fail halfway: content is where it was, and the next try succeeds. */
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define PAGES 5u

struct kind {
    UINT set, flags;
    bool locked;
    bool onward; /* what follows the request fails, too */
};

/* An allocation with content, resident or not. */
static D3DKMT_HANDLE prepare(struct mm_client *c, const struct kind *kind, bool in)
{
    D3DKMT_HANDLE h = mm_make(c, kind->set, PAGES, kind->flags);
    void *address;

    OK(mm_resident(c, h));
    if (kind->locked)
        OK(vidmm_lock2(c->device, h, &address));
    mm_write_content(c->rig, mm_allocation(c, h), 7);
    mm_open(c, h)->allocation->written = true;
    if (!in)
        OK(mm_evict(c, h, 0));
    mm_idle(c->rig);
    CHECK(in ? mm_allocation(c, h)->ready : mm_is_out(c, h));
    return h;
}

/* A lock shows the content where it is. */
static bool shows(struct mm_rig *rig, const struct vidmm_allocation *a)
{
    if (a->view.unmapped)
        return false;
    for (uint64_t i = 0; a->view.address && i < a->pages; i++)
        if (memcmp((const uint8_t *)a->view.address + i * PAGE_BYTES, mm_page(rig, a, i),
                   PAGE_BYTES) != 0)
            return false;
    return true;
}

/* The n-th request fails while it leaves or comes in. False: none was left to fail. */
static bool one_fault(struct mm_rig *rig, const struct kind *kind, bool in, uint64_t nth)
{
    struct mm_client *c = &rig->client[0];
    struct util_heap *heap = &rig->base.sim->heap;
    D3DKMT_HANDLE h = prepare(c, kind, in);
    const struct vidmm_allocation *a = mm_allocation(c, h);
    uint64_t failures = heap->failures;
    NTSTATUS status;
    bool failed;

    heap->fail_at = heap->requests + nth;
    heap->fail_onward = kind->onward;
    status = in ? mm_evict(c, h, 0) : mm_resident(c, h);
    mm_idle(rig);
    heap->fail_at = 0;
    heap->fail_onward = false;
    failed = heap->failures != failures;
    CHECK(vidmm_validate(rig->vidmm) && mm_check_content(rig, a, 7));
    CHECK(NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
    CHECK(kind->onward || shows(rig, a));
    if (c->error) {
        CHECK(failed && !in);
        mm_client_close(rig, 0);
        OK(mm_client_open(rig, 0, 0));
        return true;
    }
    if (in || !NT_SUCCESS(status))
        OK(mm_resident(c, h));
    CHECK(a->ready && mm_check_content(rig, a, 7) && (kind->onward || shows(rig, a)));
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK(mm_is_out(c, h) && mm_check_content(rig, a, 7) && vidmm_validate(rig->vidmm));
    CHECK(shows(rig, a));
    OK(mm_destroy(c, h, 2));
    return failed;
}

static void every_fault(struct mm_rig *rig, struct kind kind)
{
    for (unsigned in = 0; in < 2; in++) {
        uint64_t nth = 1;

        while (one_fault(rig, &kind, in, nth))
            CHECK(++nth < 100);
        CHECK(nth > 1);
    }
    CHECK(rig->faults == 0);
}

TEST_WITH(mm, memory_segments_survive_every_fault)
{
    every_fault(rig, (struct kind){.set = MM_SET_VRAM, .flags = 1});
    every_fault(rig, (struct kind){.set = MM_SET_VRAM, .flags = 1, .locked = true});
    every_fault(rig, (struct kind){.set = MM_SET_VRAM, .flags = 1, .locked = true, .onward = true});
    every_fault(rig, (struct kind){.set = MM_SET_VRAM, .flags = 0x18001}); /* with notifications */
    every_fault(rig, (struct kind){.set = MM_SET_VRAM, .flags = 3});       /* PermanentSysMem */
}
TEST_ALSO(mm, memory_segments_survive_every_fault, isolated, options->iommu = IOMMU_ISOLATION)
TEST_ALSO(mm, memory_segments_survive_every_fault, by_addresses, mm_options_physical(options))

TEST_WITH(mm, apertures_survive_every_fault)
{
    every_fault(rig, (struct kind){.set = MM_SET_APERTURE, .flags = 0x8001});
    every_fault(rig, (struct kind){.set = MM_SET_APERTURE, .flags = 0xA001}); /* CPU visible map */
    every_fault(rig, (struct kind){.set = MM_SET_APERTURE, .flags = 0x8001, .locked = true});
    every_fault(rig, (struct kind){.set = MM_SET_APERTURE, .flags = 1}); /* mapped by tables alone */
}
TEST_ALSO(mm, apertures_survive_every_fault, isolated, options->iommu = IOMMU_ISOLATION)

TEST_WITH(mm, mdl_maps_survive_every_fault, options->old_map = true)
{
    every_fault(rig, (struct kind){.set = MM_SET_APERTURE, .flags = 0x8001});
}

/* ---- the scheduler has no buffer for the operations ---- */

/* An eviction that began is parked at its place, and comes back from there without a copy. */
TEST_WITH(mm, what_cannot_leave_is_parked)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, PAGES, 0x18001);
    struct vidmm_allocation *a = mm_allocation(c, h);
    uint64_t place;

    OK(mm_resident(c, h));
    mm_write_content(rig, a, 7);
    mm_idle(rig);
    place = a->runs[0].first;
    mm_mark(rig);
    rig->get_status = STATUS_INSUFFICIENT_RESOURCES;
    OK(mm_evict(c, h, 0));
    sim_stall(1000000);
    rig->get_status = STATUS_SUCCESS;
    CHECK(a->runs && a->runs[0].first == place && !a->resident && !a->ready);
    CHECK(a->content == CONTENT_SEGMENT && a->segment == MM_VRAM && mm_check_content(rig, a, 7));
    CHECK(!a->backing && mm_op_count(rig, -1) == 0 && !rig->vidmm->lost);
    CHECK(vidmm_validate(rig->vidmm));
    OK(mm_resident(c, h));
    CHECK(a->ready && a->runs[0].first == place && mm_check_content(rig, a, 7));
    CHECK(mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 0);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK(mm_is_out(c, h) && !a->runs && mm_check_content(rig, a, 7));
}

struct locker {
    struct mm_client *client;
    D3DKMT_HANDLE handle;
    void *address;
};

static void lock_it(void *arg)
{
    struct locker *l = arg;

    OK(vidmm_lock2(l->client->device, l->handle, &l->address));
}

/* It was parked while its fill was on the GPU, which a lock has to wait for. */
TEST_WITH(mm, what_is_parked_may_still_be_filled)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, PAGES, 0x18001);
    struct locker l = {.client = c, .handle = h};

    rig->hold = true;
    CHECK(mm_make_resident(c, &h, 1, 0, &(uint64_t){0}) == STATUS_PENDING);
    sim_stall(1000000);
    rig->get_status = STATUS_INSUFFICIENT_RESOURCES;
    OK(mm_evict(c, h, 0));
    sim_stall(1000000);
    rig->get_status = STATUS_SUCCESS;
    CHECK(mm_allocation(c, h)->runs && !mm_allocation(c, h)->resident &&
          !mm_allocation(c, h)->arrival.pending);
    sim_thread_release(sim_thread_create("locker", SIM_THREAD_CLIENT, lock_it, &l));
    sim_stall(1000000);
    CHECK_RULE("ALLOC-125", !l.address);
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK(l.address);
    memset(l.address, 0x61, PAGE_BYTES);
    CHECK(mm_page(rig, mm_allocation(c, h), 0)[1] == 0x61);
    OK(vidmm_unlock2(c->device, h));
}

/* Parked where it may not be any more, it moves on. */
TEST_WITH(mm, what_is_parked_in_the_wrong_place_moves_on)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, PAGES, 5); /* Cached: not shown in video memory */
    struct vidmm_allocation *a = mm_allocation(c, h);
    void *address;

    OK(mm_resident(c, h));
    CHECK(a->segment == MM_VRAM);
    mm_write_content(rig, a, 7);
    OK(mm_evict(c, h, 1));
    sim_mutex_lock(&rig->vidmm->lock);
    a->resident = a->ready = false; /* as after an eviction that failed halfway */
    a->view.lock_count = 1;
    sim_mutex_unlock(&rig->vidmm->lock);
    OK(mm_resident(c, h));
    CHECK(a->ready && a->segment == 0 && mm_check_content(rig, a, 7));
    a->view.lock_count = 0;
    OK(vidmm_lock2(c->device, h, &address));
    CHECK(memcmp(address, mm_page(rig, a, 0), PAGE_BYTES) == 0);
    OK(vidmm_unlock2(c->device, h));
}

TEST_WITH(mm, what_cannot_come_stays_out)
{
    struct mm_client *c = &rig->client[0];
    static const struct kind kinds[] = {{.set = MM_SET_VRAM, .flags = 0x18001},
                                        {.set = MM_SET_VRAM, .flags = 1, .locked = true},
                                        {.set = MM_SET_APERTURE, .flags = 0x8001},
                                        {.set = MM_SET_APERTURE, .flags = 0xA001}};
    uint64_t fence;

    for (unsigned i = 0; i < 4; i++) {
        D3DKMT_HANDLE h = prepare(c, &kinds[i], false);
        struct vidmm_allocation *a = mm_allocation(c, h);
        uint64_t vram = rig->vidmm->segment[MM_VRAM].mapped_bytes,
                 aperture = rig->vidmm->segment[MM_APERTURE].mapped_bytes,
                 mapped = rig->vidmm->aperture_mapped;

        rig->get_status = STATUS_INSUFFICIENT_RESOURCES;
        CHECK(mm_make_resident(c, &h, 1, 0, &fence) == STATUS_PENDING);
        sim_stall(1000000);
        rig->get_status = STATUS_SUCCESS;
        mm_idle(rig);
        CHECK_RULE("RES-040", c->error == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY &&
                                  c->fence == fence && !rig->vidmm->lost);
        CHECK(!a->runs && !a->resident && a->segment == 0 && a->content == CONTENT_SYSTEM);
        CHECK(mm_check_content(rig, a, 7) && !a->logical && !a->aperture.view);
        CHECK(rig->vidmm->segment[MM_VRAM].mapped_bytes == vram &&
              rig->vidmm->segment[MM_APERTURE].mapped_bytes == aperture &&
              rig->vidmm->aperture_mapped == mapped);
        if (kinds[i].locked)
            CHECK(memcmp((const uint8_t *)a->view.address + PAGE_BYTES, mm_page(rig, a, 1),
                         PAGE_BYTES) == 0);
        CHECK(vidmm_validate(rig->vidmm));
        mm_client_close(rig, 0);
        OK(mm_client_open(rig, 0, 0));
    }
}

/* ---- a reset ---- */

/* The view shows video memory no more, the lock is the client's to give back. */
TEST_WITH(mm, a_reset_leaves_locks_to_the_client)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE vram = mm_make(c, MM_SET_VRAM, PAGES, 1);
    D3DKMT_HANDLE system = mm_make(c, MM_SET_APERTURE, PAGES, 0xA001);
    D3DKMT_HANDLE permanent = mm_make(c, MM_SET_VRAM, PAGES, 3);
    void *address[3], *again;
    uint8_t byte;

    OK(mm_resident(c, vram));
    OK(mm_resident(c, system));
    OK(mm_resident(c, permanent));
    OK(vidmm_lock2(c->device, vram, &address[0]));
    OK(vidmm_lock2(c->device, system, &address[1]));
    OK(vidmm_lock2(c->device, permanent, &address[2]));
    memset(address[1], 0x41, PAGE_BYTES);
    vidmm_device_set_lost(c->device);
    vidmm_reset_cleanup(rig->vidmm);
    CHECK(sim_copy_checked(&byte, address[0], 1) && byte == 0);
    CHECK(sim_copy_checked(&byte, address[1], 1) && byte == 0x41);
    CHECK(sim_copy_checked(&byte, address[2], 1));
    CHECK(!mm_allocation(c, system)->aperture.view && !mm_allocation(c, system)->logical);
    CHECK(mm_allocation(c, vram)->view.lock_count == 1 && mm_allocation(c, vram)->view.lost &&
          mm_allocation(c, vram)->view.address == address[0]);
    OK(vidmm_reset_restore(rig->vidmm));
    CHECK(vidmm_validate(rig->vidmm));
    memset(address[0], 0x42, PAGE_BYTES); /* goes nowhere */
    c->device->lost = false;              /* as if by a device that opens it anew */
    OK(vidmm_lock2(c->device, vram, &again));
    CHECK(again == address[0] && !mm_allocation(c, vram)->view.lost &&
          sim_copy_checked(&byte, again, 1) && byte != 0x42);
    OK(vidmm_unlock2(c->device, vram));
    OK(vidmm_unlock2(c->device, vram));
    OK(vidmm_unlock2(c->device, system));
    OK(vidmm_unlock2(c->device, permanent));
    CHECK(mm_allocation(c, vram)->view.lock_count == 0 &&
          vidmm_unlock2(c->device, vram) == STATUS_INVALID_PARAMETER);
    CHECK(vidmm_validate(rig->vidmm));
}

/* What had a clean copy in system memory keeps its content. */
TEST_WITH(mm, a_clean_copy_outlives_a_reset)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h[2] = {mm_make(c, MM_SET_VRAM, PAGES, 3), mm_make(c, MM_SET_VRAM, PAGES, 3)};

    for (unsigned i = 0; i < 2; i++) {
        OK(mm_resident(c, h[i]));
        mm_write_content(rig, mm_allocation(c, h[i]), 5);
        OK(mm_evict(c, h[i], 0));
        mm_idle(rig);
        OK(mm_resident(c, h[i]));
    }
    mm_allocation(c, h[0])->written = false; /* nothing has run since */
    vidmm_device_set_lost(c->device);
    vidmm_reset_cleanup(rig->vidmm);
    CHECK_RULE("RES-085", mm_allocation(c, h[0])->content == CONTENT_SYSTEM &&
                              mm_check_content(rig, mm_allocation(c, h[0]), 5));
    CHECK_RULE("RES-085", mm_allocation(c, h[1])->content == CONTENT_NONE);
    OK(vidmm_reset_restore(rig->vidmm));
}
