/* SPDX-License-Identifier: MIT */
/* Lock2 and Unlock2: what the CPU sees, where, and that it goes on seeing it. */
#include "bus/memory.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

static uint8_t *lock(struct mm_client *c, D3DKMT_HANDLE h)
{
    void *address = NULL;

    OK(vidmm_lock2(c->device, h, &address));
    CHECK(address && (uintptr_t)address % PAGE_BYTES == 0);
    return address;
}

static NTSTATUS try_lock(struct mm_client *c, D3DKMT_HANDLE h)
{
    void *address;

    return vidmm_lock2(c->device, h, &address);
}

/* Does the view show, page by page, the bytes where the content is? */
static bool shows(struct mm_rig *rig, const uint8_t *view, const struct vidmm_allocation *a)
{
    for (uint64_t page = 0; page < a->pages; page++)
        if (memcmp(view + (page << PAGE_BITS), mm_page(rig, a, page), PAGE_BYTES) != 0)
            return false;
    return true;
}

/* ---- where it may be ---- */

TEST_WITH(mm, vram_is_shown_through_the_bar)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 3, 1);
    struct vidmm_allocation *a = mm_allocation(c, h);
    uint8_t *bar = bus_device_memory(rig->base.device, 0);
    uint8_t *view;

    OK(mm_resident(c, mm_make(c, MM_SET_VRAM, 5, 1)));
    OK(mm_resident(c, h));
    mm_mark(rig);
    view = lock(c, h);
    CHECK_RULE("ALLOC-126", a->segment == MM_VRAM && mm_op_count(rig, -1) == 0);
    CHECK_RULE("ALLOC-125", mm_op_count(rig, -1) == 0);
    view[2 * PAGE_BYTES + 7] = 0x77;
    CHECK_RULE("SEG-026", bar[(a->runs[0].first << PAGE_BITS) + 2 * PAGE_BYTES + 7] == 0x77);
    CHECK_RULE("KMT-270", shows(rig, view, a));
    CHECK_RULE("ALLOC-129", lock(c, h) == view && a->view.lock_count == 2);
    CHECK_RULE("KMT-271", lock(c, h) == view);
    OK(vidmm_unlock2(c->device, h));
    OK(vidmm_unlock2(c->device, h));
    CHECK(a->view.address == view);
    OK(vidmm_unlock2(c->device, h));
    CHECK_RULE("ALLOC-060", a->view.address == NULL); /* no view but while it is locked */
    CHECK_RULE("ALLOC-129", vidmm_unlock2(c->device, h) == STATUS_INVALID_PARAMETER);
    CHECK(try_lock(c, 0xBAD) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(mm, scattered_vram_is_one_view)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE small[64];
    D3DKMT_HANDLE h;
    uint8_t *view;

    for (unsigned i = 0; i < 64; i++) {
        small[i] = mm_make(c, MM_SET_VRAM, 64, 0x8001);
        OK(mm_resident(c, small[i]));
    }
    for (unsigned i = 1; i < 64; i += 2)
        OK(mm_destroy(c, small[i], 2));
    h = mm_make(c, MM_SET_VRAM, 150, 1);
    OK(mm_resident(c, h));
    CHECK(mm_allocation(c, h)->run_count == 3);
    view = lock(c, h);
    for (uint64_t i = 0; i < 150 * PAGE_BYTES; i += 512)
        view[i] = (uint8_t)(i >> 9);
    CHECK_RULE("ALLOC-126", shows(rig, view, mm_allocation(c, h)));
    OK(vidmm_unlock2(c->device, h));
}

TEST_WITH(mm, system_memory_is_shown_as_it_is)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE fresh = mm_make(c, MM_SET_BOTH, 4, 1);
    D3DKMT_HANDLE bare = mm_make(c, MM_SET_APERTURE, 4, 1);
    D3DKMT_HANDLE mapped = mm_make(c, MM_SET_APERTURE, 4, 0x8001);
    uint8_t *view = lock(c, fresh);

    for (unsigned i = 0; i < 4 * PAGE_BYTES; i++)
        CHECK_RULE("RES-060", view[i] == 0);
    view[5] = 9;
    CHECK_RULE("ALLOC-126", mm_page(rig, mm_allocation(c, fresh), 0)[5] == 9 &&
                                !mm_allocation(c, fresh)->resident);
    OK(mm_resident(c, bare));
    OK(mm_resident(c, mapped));
    mm_mark(rig);
    view = lock(c, bare);
    view[PAGE_BYTES] = 3;
    CHECK_RULE("ALLOC-126", shows(rig, view, mm_allocation(c, bare)));
    view = lock(c, mapped);
    view[PAGE_BYTES] = 4;
    CHECK_RULE("SEG-044",
               *mm_gpu_memory(rig, MM_APERTURE,
                              (mm_allocation(c, mapped)->aperture.first + 1) << PAGE_BITS) == 4);
    CHECK(mm_op_count(rig, -1) == 0);
}

/* ---- a segment that the CPU cannot see ---- */

TEST_WITH(mm, hidden_vram_is_left_for_a_lock, options->segment[0].Size = 16 * MM_MB,
          options->segment[0].BaseAddress.QuadPart = MM_BASE, options->segment[1].Flags.Aperture = 1,
          options->segment[1].Size = 16 * MM_MB, options->segment_count = 2)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 3, 1);
    D3DKMT_HANDLE only = mm_make(c, MM_SET_VRAM, 3, 0);
    uint64_t fence;
    uint8_t *view;

    OK(mm_resident(c, h));
    CHECK(mm_allocation(c, h)->segment == MM_VRAM);
    mm_write_content(rig, mm_allocation(c, h), 3);
    view = lock(c, h);
    CHECK_RULE("ALLOC-126",
               mm_allocation(c, h)->ready && mm_allocation(c, h)->segment == 0); /* moved */
    CHECK_RULE("ALLOC-126", mm_check_content(rig, mm_allocation(c, h), 3) &&
                                shows(rig, view, mm_allocation(c, h)));
    OK(vidmm_unlock2(c->device, h));

    /* not CPU-visible, no aperture in its set */
    view = lock(c, only);
    CHECK_RULE("ALLOC-128", view && !mm_allocation(c, only)->resident);
    view[1] = 0x42;
    CHECK(mm_make_resident(c, &only, 1, 0, &fence) == STATUS_PENDING);
    sim_stall(50000000);
    CHECK_RULE("ALLOC-128", c->fence < fence && !mm_allocation(c, only)->resident && c->error == 0);
    OK(vidmm_unlock2(c->device, only));
    mm_wait_fence(c, fence);
    CHECK_RULE("ALLOC-128",
               mm_allocation(c, only)->ready && mm_page(rig, mm_allocation(c, only), 0)[1] == 0x42);
    CHECK_RULE("ALLOC-128", try_lock(c, only) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(mm, cached_is_never_shown_in_vram)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 3, 5);

    OK(mm_resident(c, h));
    CHECK(mm_allocation(c, h)->segment == MM_VRAM);
    mm_mark(rig);
    lock(c, h);
    CHECK_RULE("ALLOC-127", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 1 &&
                                mm_allocation(c, h)->segment != MM_VRAM);
    OK(vidmm_unlock2(c->device, h));
}

/* ---- moving underneath ---- */

static uint8_t *storing;

static NTSTATUS store_while_building(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)rig;
    /* The client goes on storing while the transfer is on its way. */
    if (storing && args->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER)
        storing[PAGE_BYTES + 3]++;
    return STATUS_PENDING;
}

TEST_WITH(mm, address_stays_while_content_moves)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 4, 1);
    struct vidmm_allocation *a = mm_allocation(c, h);
    uint8_t *view = lock(c, h);
    uint8_t expected;

    for (unsigned i = 0; i < 4 * PAGE_BYTES; i++)
        view[i] = (uint8_t)(i * 7);
    storing = view;
    rig->on_build = store_while_building;
    for (unsigned round = 0; round < 3; round++) {
        expected = view[PAGE_BYTES + 3];
        OK(mm_resident(c, h));
        CHECK(a->segment == MM_VRAM);
        CHECK_RULE("ALLOC-120", a->view.address == view && shows(rig, view, a));
        CHECK_RULE("ALLOC-120", view[PAGE_BYTES + 3] == (uint8_t)(expected + 1) && view[9] == 63);
        mm_page(rig, a, 2)[5] = (uint8_t)(round + 100); /* the GPU writes */
        expected = view[PAGE_BYTES + 3];
        OK(mm_evict(c, h, 0));
        mm_idle(rig);
        CHECK_RULE("ALLOC-120", !a->resident && a->view.address == view && shows(rig, view, a));
        CHECK_RULE("ALLOC-120", view[PAGE_BYTES + 3] == (uint8_t)(expected + 1) &&
                                    view[2 * PAGE_BYTES + 5] == round + 100);
    }
    storing = NULL;
    OK(vidmm_unlock2(c->device, h));
    CHECK(vidmm_validate(rig->vidmm));
}

static void arriving_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, 1);
    uint64_t fence;
    uint8_t *view;

    CHECK(mm_make_resident(c, &h, 1, 0, &fence) == STATUS_PENDING);
    view = lock(c, h); /* the fill may still be on its way */
    view[0] = 0x99;
    mm_wait_fence(c, fence);
    CHECK_RULE("RES-060", view[0] == 0x99 && shows(rig, view, mm_allocation(c, h)));
}

TEST(lock_does_not_race_with_the_fill)
{
    struct mm_options o;

    for (uint64_t seed = 1; seed < 10; seed++) {
        mm_options_default(&o);
        o.seed = seed;
        mm_run(&o, arriving_body);
    }
}

TEST_WITH(mm, permanent_system_copy_is_what_is_locked)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, 3);
    struct vidmm_allocation *a = mm_allocation(c, h);
    uint8_t *view;

    OK(mm_resident(c, h));
    CHECK(a->segment == MM_VRAM && a->backing);
    view = lock(c, h);
    view[10] = 0x31;
    CHECK_RULE("ALLOC-047",
               *((uint8_t *)ram_direct(rig->base.ram, page_phys(a->backing[0])) + 10) == 0x31);
    OK(vidmm_unlock2(c->device, h));
    mm_idle(rig);
    mm_submit(c);
    if (!mm_dispatch(c))
        mm_idle(rig);
    CHECK(mm_dispatch(c));
    CHECK_RULE("ALLOC-047",
               a->segment == MM_VRAM && mm_page(rig, a, 0)[10] == 0x31); /* pushed by a page-in */
}

/* ---- who may ---- */

TEST_WITH(mm, locks_have_limits)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 1, 1);
    D3DKMT_HANDLE theirs;

    OK(mm_client_open(rig, 1, 0));
    theirs = mm_make(&rig->client[1], MM_SET_BOTH, 1, 1);
    CHECK_RULE("KMT-027",
               try_lock(c, theirs) == STATUS_INVALID_PARAMETER); /* another device of the process */
    lock(c, h);
    mm_allocation(c, h)->view.lock_count = 65535u;
    CHECK_RULE("KMT-269", try_lock(c, h) == STATUS_GRAPHICS_TOO_MANY_REFERENCES);
    mm_allocation(c, h)->view.lock_count = 1;
    vidmm_device_set_lost(c->device);
    CHECK_RULE("GPUVA-073", try_lock(c, h) == STATUS_DEVICE_REMOVED &&
                                vidmm_unlock2(c->device, h) == STATUS_SUCCESS);

    mm_allocation(&rig->client[1], theirs)->creator = rig->nt_process[1];
    CHECK_RULE("ALLOC-119", try_lock(&rig->client[1], theirs) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(mm, destroying_ends_locks)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 1, 1);
    volatile uint8_t *view = lock(c, h);
    uint8_t byte;

    lock(c, h);
    view[0] = 1;
    mm_submit(c); /* the GPU keeps the memory for now */
    OK(mm_destroy(c, h, 0));
    CHECK_RULE("KMT-265", !sim_copy_checked(&byte, (const void *)(uintptr_t)view,
                                            1)); /* inaccessible at once */
    mm_finish(c);
}

TEST_WITH(mm, lock_does_not_wait_for_clients_work)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 1, 1);
    uint64_t before;

    OK(mm_resident(c, h));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    before = sim_now();
    lock(c, h);
    CHECK_RULE("ALLOC-125",
               sim_now() - before < 1000000 && c->completed == 0); /* the packet is still running */
    CHECK_RULE("ALLOC-124", c->completed == 0);
    mm_finish(c);
}

/* Every internal request of a lock, and of a move under a lock, fails in turn. */
TEST_WITH(mm, locking_survives_every_fault)
{
    struct util_heap *heap = &rig->base.sim->heap;

    for (uint64_t nth = 1; nth < 60; nth++) {
        struct mm_client *c = &rig->client[0];
        D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 3, 1);
        uint64_t failures = heap->failures;
        void *address = NULL;
        NTSTATUS status;

        heap->fail_at = heap->requests + nth;
        status = vidmm_lock2(c->device, h, &address);
        if (NT_SUCCESS(status)) {
            memset(address, (int)nth, 3 * PAGE_BYTES);
            (void)mm_resident(c, h);
            mm_idle(rig);
        }
        heap->fail_at = 0;
        CHECK(vidmm_validate(rig->vidmm));
        CHECK(NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
        CHECK(mm_open(c, h)->lock_count == NT_SUCCESS(status) &&
              mm_allocation(c, h)->view.lock_count == NT_SUCCESS(status));
        if (NT_SUCCESS(status))
            CHECK(mm_page(rig, mm_allocation(c, h), 2)[9] == (uint8_t)nth);
        if (heap->failures == failures)
            return;
        if (c->error) {
            mm_client_close(rig, 0);
            OK(mm_client_open(rig, 0, 0));
        } else {
            OK(mm_destroy(c, h, 2));
        }
    }
}
