/* SPDX-License-Identifier: MIT */
/* Locks that wait, that several threads take at once, and that end before they are there. */
#include "bus/device.h"
#include "bus/memory.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "support/mm_segments.h"

#define OK(call) CHECK(NT_SUCCESS(call))

/* A thread of the client that locks an allocation. */
struct locker {
    struct mm_client *client;
    D3DKMT_HANDLE handle;
    NTSTATUS status;
    void *address;
    bool done;
};

static void lock_it(void *arg)
{
    struct locker *l = arg;

    l->status = vidmm_lock2(l->client->device, l->handle, &l->address);
    l->done = true;
}

static void begin(struct locker *l, struct mm_client *c, D3DKMT_HANDLE handle)
{
    *l = (struct locker){.client = c, .handle = handle};
    sim_thread_release(sim_thread_create("locker", SIM_THREAD_CLIENT, lock_it, l));
    sim_stall(1000000);
}

/* In video memory, but the fill is still on the GPU. */
static D3DKMT_HANDLE arriving(struct mm_client *c)
{
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, 1);

    c->rig->hold = true;
    CHECK(mm_make_resident(c, &h, 1, 0, &(uint64_t){0}) == STATUS_PENDING);
    sim_stall(1000000);
    CHECK(mm_allocation(c, h)->arrival.pending);
    return h;
}

static void let_go(struct mm_rig *rig)
{
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
}

TEST_WITH(mm, two_threads_lock_it_at_once)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = arriving(c);
    struct vidmm_allocation *a = mm_allocation(c, h);
    struct locker first, second;

    begin(&first, c, h);
    CHECK_RULE("ALLOC-125", !first.done && a->view.locking && a->view.lock_count == 1);
    begin(&second, c, h);
    CHECK(!second.done && a->view.lock_count == 2 && mm_open(c, h)->lock_count == 2);
    let_go(rig);
    CHECK(first.done && second.done && first.status == STATUS_SUCCESS &&
          second.status == STATUS_SUCCESS);
    CHECK_RULE("ALLOC-129", first.address && first.address == second.address);
    CHECK(a->view.lock_count == 2 && !a->view.locking && a->view.address == first.address);
    OK(vidmm_unlock2(c->device, h));
    CHECK(a->view.address == first.address);
    OK(vidmm_unlock2(c->device, h));
    CHECK(!a->view.address && a->holds == 0 && vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, what_is_destroyed_meanwhile_is_not_locked)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = arriving(c);
    uint64_t live;
    struct locker l;

    begin(&l, c, h);
    OK(mm_destroy(c, h, 1));
    CHECK(!l.done);
    live = rig->base.sim->heap.live_blocks;
    let_go(rig);
    CHECK(l.done && l.status == STATUS_INVALID_PARAMETER && !l.address);
    CHECK(list_empty(&rig->vidmm->allocations) && rig->base.sim->heap.live_blocks < live);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, what_is_unlocked_meanwhile_is_not_locked)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = arriving(c);
    struct locker l;

    begin(&l, c, h);
    OK(vidmm_unlock2(c->device, h));
    let_go(rig);
    CHECK(l.done && l.status == STATUS_INVALID_PARAMETER && !l.address);
    CHECK(mm_open(c, h)->lock_count == 0 && mm_allocation(c, h)->view.lock_count == 0);
    CHECK(!mm_allocation(c, h)->view.address && mm_allocation(c, h)->holds == 0);
    begin(&l, c, h);
    CHECK(l.done && l.status == STATUS_SUCCESS);
    OK(vidmm_unlock2(c->device, h));
}

/* A job that waits keeps the record of what is destroyed, and nothing else of it. */
TEST_WITH(mm, a_record_outlives_its_allocation_for_a_job)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 4, 1);
    struct vidmm_allocation *a = mm_allocation(c, h);
    uint64_t fence, live;

    rig->vidmm->reset = true; /* jobs wait */
    CHECK(mm_make_resident(c, &h, 1, 0, &fence) == STATUS_PENDING);
    CHECK(a->holds == 1);
    OK(mm_destroy(c, h, 1));
    CHECK(mm_event_count(rig, MM_DESTROY) == 1 && list_empty(&rig->vidmm->allocations));
    CHECK(a->gone && a->holds == 1 && !a->client_data.at);
    live = rig->base.sim->heap.live_blocks;
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_wait_fence(c, fence);
    CHECK(rig->base.sim->heap.live_blocks < live && c->error == 0);
}

/* ---- who may ---- */

TEST_WITH(mm, a_lost_adapter_locks_nothing)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 1, 1);
    void *address = NULL;

    OK(vidmm_lock2(c->device, h, &address));
    rig->vidmm->lost = true;
    CHECK(vidmm_lock2(c->device, h, &address) == STATUS_DEVICE_REMOVED);
    CHECK(mm_open(c, h)->lock_count == 1);
    CHECK(vidmm_unlock2(c->device, h) == STATUS_SUCCESS && mm_open(c, h)->lock_count == 0);
    rig->vidmm->lost = false;
}

/* The CPU sees none of its segments, and there is no aperture that it could go to. */
TEST_WITH(mm, without_an_aperture_it_stays_hidden, *options = mm_plain_options(),
          options->segment_count = 1, options->compute_only = true)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 3, 0);
    void *address;

    OK(vidmm_lock2(c->device, h, &address)); /* it is not in there yet */
    OK(vidmm_unlock2(c->device, h));
    OK(mm_resident(c, h));
    CHECK_RULE("ALLOC-128", vidmm_lock2(c->device, h, &address) == STATUS_INVALID_PARAMETER);
    CHECK(mm_allocation(c, h)->view.lock_count == 0);
}

/* The most locks that an allocation has, and one more. */
TEST_WITH(mm, the_last_lock_is_granted)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 1, 1);
    void *address;

    OK(vidmm_lock2(c->device, h, &address));
    mm_allocation(c, h)->view.lock_count = mm_open(c, h)->lock_count = 65534;
    CHECK_RULE("KMT-269", vidmm_lock2(c->device, h, &address) == STATUS_SUCCESS);
    CHECK_RULE("KMT-269",
               vidmm_lock2(c->device, h, &address) == STATUS_GRAPHICS_TOO_MANY_REFERENCES);
    CHECK(mm_allocation(c, h)->view.lock_count == 65535 && mm_open(c, h)->lock_count == 65535);
    mm_allocation(c, h)->view.lock_count = mm_open(c, h)->lock_count = 1;
    OK(vidmm_unlock2(c->device, h));
}

/* ---- moving for a lock ---- */

#define HIDDEN *options = mm_plain_options(), options->segment[1].Size = 16 * MM_MB

/* Nobody lists it any more: it is moved out for the lock, and stays out. */
TEST_WITH(mm, what_nobody_lists_is_only_moved_out, HIDDEN)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 3, 1);
    struct vidmm_allocation *a = mm_allocation(c, h);
    void *address;

    OK(mm_resident(c, h));
    OK(mm_evict(c, h, 1));
    mm_idle(rig);
    CHECK(a->segment == MM_VRAM);
    mm_write_content(rig, a, 5);
    OK(vidmm_lock2(c->device, h, &address));
    CHECK_RULE("ALLOC-126", !a->resident && !a->runs && mm_check_content(rig, a, 5));
    CHECK(memcmp(address, mm_page(rig, a, 0), PAGE_BYTES) == 0 && a->absence == ABSENCE_MOVED);
    OK(vidmm_unlock2(c->device, h));
    CHECK(vidmm_validate(rig->vidmm));
}

/* The device that lists it is stopped for that, and goes on. */
TEST_WITH(mm, a_running_device_is_stopped_for_a_move, HIDDEN)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 3, 1);
    struct vidmm_allocation *a = mm_allocation(c, h);
    void *address;

    OK(mm_resident(c, h));
    mm_write_content(rig, a, 5);
    mm_submit(c);
    CHECK(mm_dispatch(c));
    mm_submit(c); /* one more that waits */
    OK(vidmm_lock2(c->device, h, &address));
    CHECK_RULE("ALLOC-126", a->ready && a->segment == 0 && mm_check_content(rig, a, 5));
    CHECK(rig->suspends == 1 && rig->resumes == 1 && c->completed == 1 && !c->suspended);
    CHECK(mm_dispatch(c));
    mm_finish(c);
    OK(vidmm_unlock2(c->device, h));
}

/* Work that was queued before an Evict may still use it: the lock waits for that. */
TEST_WITH(mm, a_lock_that_moves_waits_for_earlier_work, HIDDEN)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 3, 1);
    struct vidmm_allocation *a = mm_allocation(c, h);
    struct locker l;

    OK(mm_resident(c, h));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(mm_evict(c, h, 1));
    begin(&l, c, h);
    CHECK(!l.done && a->segment == MM_VRAM && a->users == 1);
    mm_finish(c);
    mm_idle(rig);
    CHECK(l.done && l.status == STATUS_SUCCESS && !a->runs && a->users == 0);
    OK(vidmm_unlock2(c->device, h));
    CHECK(rig->suspends == 0);
}

/* ---- system copies that stay ---- */

TEST_WITH(mm, a_copy_is_pushed_when_the_device_is_idle)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, 3);
    struct vidmm_allocation *a = mm_allocation(c, h);
    void *address;

    OK(mm_resident(c, h));
    OK(vidmm_lock2(c->device, h, &address));
    memset(address, 0x31, 2 * PAGE_BYTES);
    OK(vidmm_lock2(c->device, h, &address));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    mm_mark(rig);
    OK(vidmm_unlock2(c->device, h)); /* not the last one */
    mm_idle(rig);
    CHECK_RULE("ALLOC-047", mm_op_count(rig, -1) == 0 && mm_page(rig, a, 0)[5] == 0);
    OK(vidmm_unlock2(c->device, h));
    CHECK(a->holds == 1);
    mm_idle(rig);
    CHECK_RULE("ALLOC-047", a->ready && a->segment == MM_VRAM && mm_page(rig, a, 1)[5] == 0x31);
    CHECK(mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 1); /* in, and nothing out */
    CHECK(rig->suspends == 1 && a->holds == 0 && a->absence == ABSENCE_MOVED);
    mm_finish(c);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, a_copy_that_nobody_lists_is_not_brought_in)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, 3);
    struct vidmm_allocation *a = mm_allocation(c, h);
    void *address;

    OK(mm_resident(c, h));
    OK(mm_evict(c, h, 1));
    CHECK(a->segment == MM_VRAM);
    OK(vidmm_lock2(c->device, h, &address));
    memset(address, 0x32, 2 * PAGE_BYTES);
    mm_mark(rig);
    OK(vidmm_unlock2(c->device, h));
    mm_idle(rig);
    CHECK_RULE("ALLOC-047", !a->runs && a->content == CONTENT_SYSTEM &&
                                mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 0);
    OK(mm_resident(c, h));
    CHECK_RULE("ALLOC-047", mm_page(rig, a, 1)[7] == 0x32);
}

/* Without memory to have it pushed, the lock stays. */
TEST_WITH(mm, an_unlock_that_fails_leaves_the_lock)
{
    struct mm_client *c = &rig->client[0];
    struct util_heap *heap = &rig->base.sim->heap;
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 2, 3);
    void *address;

    OK(mm_resident(c, h));
    OK(vidmm_lock2(c->device, h, &address));
    heap->fail_at = heap->requests + 1;
    CHECK(vidmm_unlock2(c->device, h) == STATUS_NO_MEMORY);
    heap->fail_at = 0;
    CHECK(mm_open(c, h)->lock_count == 1 && mm_allocation(c, h)->view.address == address &&
          mm_allocation(c, h)->holds == 0);
    memset(address, 0x33, PAGE_BYTES);
    OK(vidmm_unlock2(c->device, h));
    mm_idle(rig);
    CHECK(mm_page(rig, mm_allocation(c, h), 0)[9] == 0x33);
    CHECK(vidmm_unlock2(c->device, h) == STATUS_INVALID_PARAMETER);
}

/* ---- stores while it moves ---- */

static uint8_t *storing;
static uint64_t stored_at;

static NTSTATUS store_while_building(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)rig;
    if (storing && args->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER)
        storing[stored_at]++;
    return STATUS_PENDING;
}

/* A store to a page of each run comes along, to memory that is scattered and from there. */
TEST_WITH(mm, stores_follow_to_each_run, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 100, 1), block[3];
    struct vidmm_allocation *a = mm_allocation(c, h);
    void *address;
    uint8_t *view;

    for (unsigned i = 0; i < 3; i++) {
        block[i] = mm_make(c, MM_SET_VRAM, 60, 0x8001);
        OK(mm_resident(c, block[i]));
    }
    OK(mm_destroy(c, block[1], 2));
    OK(vidmm_lock2(c->device, h, &address));
    view = address;
    for (unsigned i = 0; i < 100 * PAGE_BYTES; i++)
        view[i] = (uint8_t)(i / PAGE_BYTES + i);
    storing = view;
    rig->on_build = store_while_building;
    for (unsigned page = 0; page < 100; page += 99) {
        uint8_t before = view[stored_at = page * (uint64_t)PAGE_BYTES + 17];

        OK(mm_resident(c, h));
        CHECK(a->run_count == 2 && a->view.address == view && !a->view.fingerprints);
        CHECK_RULE("ALLOC-120", view[stored_at] == (uint8_t)(before + 1));
        for (unsigned i = 0; i < 100; i++)
            CHECK_RULE("ALLOC-120",
                       memcmp(view + i * PAGE_BYTES, mm_page(rig, a, i), PAGE_BYTES) == 0);
        before = view[stored_at];
        OK(mm_evict(c, h, 0));
        mm_idle(rig);
        CHECK_RULE("ALLOC-120", !a->runs && view[stored_at] == (uint8_t)(before + 1));
        for (unsigned i = 0; i < 100; i++)
            CHECK(memcmp(view + i * PAGE_BYTES, mm_page(rig, a, i), PAGE_BYTES) == 0);
    }
    storing = NULL;
    OK(vidmm_unlock2(c->device, h));
    CHECK(vidmm_validate(rig->vidmm));
}

/* ---- a segment in the driver's own memory ---- */

TEST_WITH(mm_bare, memory_of_the_driver_is_shown)
{
    const struct ram_request request = {
        .pages = 256, .owner = RAM_CONTIGUOUS, .cache = RAM_CACHED, .zero = true};
    struct mm_options *o = &rig->options;
    struct mm_client *c = &rig->client[0];
    struct page_number first;
    D3DKMT_HANDLE h, other;
    uint8_t *memory, *view;
    void *address;

    CHECK(ram_take_contiguous(rig->base.ram, &request, &first));
    memory = ram_direct(rig->base.ram, page_phys(first));
    o->segment[0] = mm_segment_memory(MM_BASE, MM_MB);
    o->segment[0].Flags.CpuVisible = 1;
    o->segment[0].CpuTranslatedAddress.QuadPart =
        (LONGLONG)(page_phys(first).value - bus_device_bar(rig->base.device, 0).value);
    o->segment[1] = mm_segment_aperture(16 * MM_MB);
    o->segment_count = 2;
    CHECK(NT_SUCCESS(mm_start(rig)) && rig->vidmm->segment[1].in_ram);
    CHECK(segment_cpu(rig->vidmm, 1, (struct segment_addr){0x1234}) == memory + 0x1234);
    OK(mm_client_open(rig, 0, 0));
    other = mm_make(c, MM_SET_VRAM, 3, 1);
    h = mm_make(c, MM_SET_VRAM, 4, 1);
    OK(mm_resident(c, other));
    OK(mm_resident(c, h));
    CHECK(mm_allocation(c, h)->runs[0].first == 3);
    memory[3 * PAGE_BYTES + 5] = 0x51;
    OK(vidmm_lock2(c->device, h, &address));
    view = address;
    CHECK_RULE("SEG-026", view[5] == 0x51);
    view[3 * PAGE_BYTES + 6] = 0x52;
    CHECK_RULE("SEG-026", memory[6 * PAGE_BYTES + 6] == 0x52);
    OK(vidmm_unlock2(c->device, h));
    mm_client_close(rig, 0);
    mm_idle(rig);
    mm_stop(rig);
    ram_give_contiguous(rig->base.ram, first, 256);
}
