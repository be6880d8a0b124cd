/* SPDX-License-Identifier: MIT */
/* Destructions that wait, that are held up, and that have no memory to work with. */
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define MANY 20u

/* A shared resource of `count` allocations, with a reference. */
struct shared {
    struct vidmm_resource *resource;
    D3DKMT_HANDLE handle, allocation[MANY];
};

static void make_shared(struct mm_client *c, struct shared *s, UINT count)
{
    struct mm_private data[MANY];
    D3DDDI_ALLOCATIONINFO2 info[MANY];
    struct vidmm_create_item item[MANY];
    struct vidmm_create_request request = {.count = count, .item = item};

    memset(info, 0, sizeof(info));
    for (UINT i = 0; i < count; i++) {
        data[i] = mm_private_default(MM_SET_VRAM, PAGE_BYTES * (uint64_t)(i + 1));
        data[i].flags = 0;
        item[i] = (struct vidmm_create_item){
            .private_data = &data[i], .private_bytes = sizeof(data[i]), .info = &info[i]};
    }
    request.flags.CreateResource = request.flags.CreateShared = 1;
    OK(vidmm_allocation_create(c->device, &request, &s->handle));
    for (UINT i = 0; i < count; i++)
        s->allocation[i] = info[i].hAllocation;
    s->resource = vidmm_resource_get(c->device, s->handle);
    CHECK(s->resource);
}

/* ---- who waits ---- */

struct waiter {
    struct mm_client *client;
    D3DKMT_HANDLE handle;
    NTSTATUS status;
    bool done;
};

static void destroy_and_wait(void *arg)
{
    struct waiter *w = arg;

    w->status = mm_destroy(w->client, w->handle, 2); /* SynchronousDestroy */
    w->done = true;
}

TEST_WITH(mm, a_synchronous_destruction_waits_for_the_gpu)
{
    struct mm_client *c = &rig->client[0];
    struct waiter w = {.client = c, .handle = mm_vram(c, 1)};

    OK(mm_resident(c, w.handle));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    sim_thread_release(sim_thread_create("waiter", SIM_THREAD_CLIENT, destroy_and_wait, &w));
    sim_stall(1000000);
    CHECK_RULE("ALLOC-090", !w.done && mm_event_count(rig, MM_DESTROY) == 0);
    CHECK(c->device->destructions == 1);
    mm_finish(c);
    mm_idle(rig);
    CHECK_RULE("ALLOC-090",
               w.done && w.status == STATUS_SUCCESS && mm_event_count(rig, MM_DESTROY) == 1);
    CHECK(c->device->destructions == 0 && list_empty(&rig->vidmm->allocations));
}

/* Work that was queued with the handle finds it until the GPU is done. */
TEST_WITH(mm, queued_work_finds_what_is_destroyed)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 1);
    struct vidmm_open *open = mm_open(c, h);

    OK(mm_resident(c, h));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(mm_destroy(c, h, 0));
    CHECK_RULE("ALLOC-088", vidmm_open_find_queued(c->device, h) == open && open->last_use == 1);
    CHECK_RULE("ALLOC-088", vidmm_open_on_residency_list(open));
    CHECK(!vidmm_open_find_queued(c->device, h + 1));
    mm_finish(c);
    mm_idle(rig);
    CHECK(!vidmm_open_find_queued(c->device, h));
    h = mm_vram(c, 1);
    mm_submit(c);
    OK(mm_destroy(c, h, 1)); /* AssumeNotInUse */
    CHECK_RULE("ALLOC-089", !vidmm_open_find_queued(c->device, h));
    mm_finish(c);
}

/* Its pages are the target of a copy that is still on the GPU: it is not freed before. */
TEST_WITH(mm, what_is_still_copied_is_not_freed)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_vram(c, 1);
    uint64_t free_pages;

    OK(mm_resident(c, h));
    mm_idle(rig);
    rig->hold = true;
    OK(mm_evict(c, h, 0));
    sim_stall(1000000);
    CHECK(!mm_allocation(c, h)->runs && mm_allocation(c, h)->backing);
    free_pages = ram_free_pages(rig->base.ram);
    OK(mm_destroy(c, h, 1));
    sim_stall(1000000);
    CHECK_RULE("ALLOC-092",
               mm_event_count(rig, MM_CLOSE) == 0 && ram_free_pages(rig->base.ram) == free_pages);
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK_RULE("ALLOC-092", mm_event_count(rig, MM_DESTROY) == 1 &&
                                ram_free_pages(rig->base.ram) == free_pages + 256);
}

/* ---- resources that somebody still refers to ---- */

/* An allocation that was closed while a reference kept it goes with the resource. */
TEST_WITH(mm, leftovers_go_with_their_resource)
{
    struct mm_client *c = &rig->client[0];
    struct vidmm_statistics now;
    struct shared s;

    make_shared(c, &s, 3);
    OK(mm_resident(c, s.allocation[0]));
    OK(mm_destroy(c, s.allocation[0], 0));
    mm_idle(rig);
    CHECK_RULE("KMT-476",
               mm_event_count(rig, MM_CLOSE) == 1 && mm_event_count(rig, MM_DESTROY) == 0);
    vidmm_resource_put(s.resource);
    mm_idle(rig);
    CHECK_RULE("KMT-476", mm_event_count(rig, MM_DESTROY) == 0); /* a device has it open */
    OK(mm_destroy_resource(c, s.handle, 0));
    mm_idle(rig);
    CHECK_RULE("ALLOC-093",
               mm_event_count(rig, MM_CLOSE) == 2 && mm_event_at(rig, MM_CLOSE, 1)->count == 2);
    CHECK_RULE("ALLOC-086", mm_event_count(rig, MM_DESTROY) == 2 &&
                                mm_event_at(rig, MM_DESTROY, 0)->count == 2 &&
                                mm_event_at(rig, MM_DESTROY, 0)->flags == 0);
    CHECK_RULE("ALLOC-086", mm_event_at(rig, MM_DESTROY, 1)->count == 1 &&
                                mm_event_at(rig, MM_DESTROY, 1)->flags == 1);
    vidmm_statistics(rig->vidmm, &now);
    CHECK(now.allocations_live == 0 && list_empty(&rig->vidmm->allocations));
    CHECK(vidmm_validate(rig->vidmm));
}

/* More allocations than one call destroys. */
TEST_WITH(mm, a_large_resource_goes_in_several_calls)
{
    struct mm_client *c = &rig->client[0];
    struct vidmm_statistics now;
    struct shared s;

    make_shared(c, &s, MANY);
    OK(mm_resident(c, s.allocation[MANY - 1]));
    OK(mm_destroy_resource(c, s.handle, 0));
    mm_idle(rig);
    CHECK(mm_event_count(rig, MM_CLOSE) == 1 && mm_event_at(rig, MM_CLOSE, 0)->count == MANY);
    rig->destroy_status = STATUS_UNSUCCESSFUL;
    vidmm_resource_put(s.resource);
    rig->destroy_status = STATUS_SUCCESS;
    CHECK(mm_event_count(rig, MM_DESTROY) == 2);
    CHECK(mm_event_at(rig, MM_DESTROY, 0)->count == 16 &&
          mm_event_at(rig, MM_DESTROY, 0)->flags == 0);
    CHECK(mm_event_at(rig, MM_DESTROY, 1)->count == 4 &&
          mm_event_at(rig, MM_DESTROY, 1)->flags == 1);
    CHECK_RULE("ALLOC-084", mm_violations(rig, "ALLOC-084") == 2);
    vidmm_statistics(rig->vidmm, &now);
    CHECK(now.allocations_live == 0 && list_empty(&rig->vidmm->allocations));
    CHECK(vidmm_validate(rig->vidmm));
}

static void ended(void *context)
{
    ++*(unsigned *)context;
}

TEST_WITH(mm, the_end_of_a_resource_is_told)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    unsigned ends = 0;
    struct shared s;
    struct mm_request r;

    OK(mm_client_open(rig, 1, 0));
    make_shared(c, &s, 1);
    vidmm_resource_on_end(s.resource, ended, &ends);
    CHECK(vidmm_resource_context(c->process->nt, s.handle) == &ends);
    CHECK(!vidmm_resource_context(c->process->nt, s.handle + 1));
    CHECK(!vidmm_resource_get(d->device, s.handle)); /* of the other device */
    mm_request_init(&r, 1);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c));
    CHECK(!vidmm_resource_get(c->device, r.resource)); /* not shared */
    CHECK(!vidmm_resource_context(c->process->nt, r.resource));
    vidmm_resource_reference(s.resource);
    vidmm_resource_put(s.resource);
    OK(mm_destroy_resource(c, s.handle, 0));
    mm_idle(rig);
    CHECK(ends == 0 && vidmm_resource_held(s.resource));
    CHECK(!vidmm_resource_context(c->process->nt, s.handle));
    vidmm_resource_put(s.resource);
    CHECK(ends == 1 && mm_event_count(rig, MM_DESTROY) == 1);
}

/* Held as long as a device did not begin to destroy it. */
TEST_WITH(mm, a_resource_that_is_being_destroyed_is_not_held)
{
    struct mm_client *c = &rig->client[0];
    struct vidmm_resource *resource;
    struct shared s;

    make_shared(c, &s, 1);
    OK(mm_resident(c, s.allocation[0]));
    resource = s.resource;
    vidmm_resource_put(resource);
    CHECK(vidmm_resource_held(resource));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(mm_destroy_resource(c, s.handle, 0));
    CHECK(!vidmm_resource_held(resource));
    mm_finish(c);
    mm_idle(rig);
    CHECK(list_empty(&rig->vidmm->allocations));
}

/* ---- what drivers hold ---- */

static void *acquire(struct mm_rig *rig, D3DKMT_HANDLE handle, DXGK_HANDLE_TYPE type, UINT flags,
                     HANDLE *release)
{
    const DXGKARGCB_GETHANDLEDATA args = {
        .hObject = handle, .Type = type, .Flags = {.Value = flags}};

    return vidmm_cb_acquire_handle_data(&rig->ddi, &args, release);
}

static void release_it(struct mm_rig *rig, HANDLE handle, DXGK_HANDLE_TYPE type)
{
    const DXGKARGCB_RELEASEHANDLEDATA args = {.ReleaseHandle = handle, .Type = type};

    vidmm_cb_release_handle_data(&rig->ddi, &args);
}

TEST_WITH(mm, an_acquired_resource_is_not_destroyed)
{
    struct mm_client *c = &rig->client[0];
    HANDLE first, second = c;
    struct mm_request r, empty;

    mm_request_init(&r, 2);
    r.request.flags.CreateResource = 1;
    rig->next_resource = (HANDLE)(uintptr_t)0xAB;
    OK(mm_request_make(&r, c));
    mm_request_init(&empty, 0);
    empty.request.flags.CreateResource = 1;
    OK(mm_request_make(&empty, c));
    CHECK_RULE("ALLOC-100", acquire(rig, r.resource, DXGK_HANDLE_RESOURCE, 0, &first) ==
                                    (HANDLE)(uintptr_t)0xAB &&
                                first);
    CHECK_RULE("ALLOC-100", !acquire(rig, r.resource, DXGK_HANDLE_RESOURCE, 1, &second) && !second);
    second = c;
    CHECK_RULE("ALLOC-100",
               !acquire(rig, empty.resource, DXGK_HANDLE_RESOURCE, 0, &second) && !second);
    CHECK_RULE("ALLOC-096", acquire(rig, r.info[1].hAllocation, DXGK_HANDLE_ALLOCATION, 1,
                                    &second) == mm_open(c, r.info[1].hAllocation)->driver_handle);
    OK(mm_destroy_resource(c, r.resource, 0));
    mm_idle(rig);
    CHECK_RULE("ALLOC-099", mm_event_count(rig, MM_CLOSE) == 0);
    release_it(rig, first, DXGK_HANDLE_ALLOCATION);
    CHECK_RULE("ALLOC-102", mm_violations(rig, "ALLOC-102") == 1); /* it is of a resource */
    release_it(rig, first, DXGK_HANDLE_RESOURCE);
    mm_idle(rig);
    CHECK_RULE("ALLOC-101", mm_event_count(rig, MM_DESTROY) == 0); /* there is the other one */
    release_it(rig, second, DXGK_HANDLE_ALLOCATION);
    mm_idle(rig);
    CHECK_RULE("ALLOC-101",
               mm_event_count(rig, MM_DESTROY) == 1 && mm_event_at(rig, MM_DESTROY, 0)->count == 2);
    CHECK(mm_violations(rig, "ALLOC-102") == 1);
}

TEST_WITH(mm, acquiring_without_memory_gives_nothing)
{
    static HANDLE release[5000];
    struct util_heap *heap = &rig->base.sim->heap;
    D3DKMT_HANDLE h = mm_vram(&rig->client[0], 1);
    const struct vidmm_allocation *a = mm_allocation(&rig->client[0], h);
    unsigned count = 0;

    for (bool good = true; good; count += good) { /* until the table of handles has to grow */
        CHECK(count < 5000);
        release[count] = rig;
        heap->fail_at = heap->requests + 1;
        good = acquire(rig, h, DXGK_HANDLE_ALLOCATION, 0, &release[count]) != NULL;
        heap->fail_at = 0;
    }
    CHECK_RULE("ALLOC-100", !release[count] && a->claims.acquired == count);
    for (unsigned i = 0; i < count; i++)
        release_it(rig, release[i], DXGK_HANDLE_ALLOCATION);
    CHECK(a->claims.acquired == 0 && mm_violations(rig, "ALLOC-102") == 0);
}

/* Only the references that hold up the end of the device are ended, not those to what goes on. */
TEST_WITH(mm, references_to_what_goes_on_stay)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    HANDLE forgotten, open_elsewhere, referred;
    struct vidmm_open_item item;
    struct shared s, t;
    struct mm_request r;
    D3DKMT_HANDLE opened;

    OK(mm_client_open(rig, 1, 0));
    make_shared(c, &s, 1);
    OK(vidmm_resource_open(d->device, s.resource, false, &item, 1, &opened));
    vidmm_resource_put(s.resource);
    make_shared(c, &t, 1);
    mm_request_init(&r, 1);
    r.request.flags.CreateResource = 1;
    rig->next_resource = (HANDLE)(uintptr_t)0xAC;
    OK(mm_request_make(&r, c));
    CHECK(acquire(rig, s.allocation[0], DXGK_HANDLE_ALLOCATION, 0, &open_elsewhere));
    CHECK(acquire(rig, t.allocation[0], DXGK_HANDLE_ALLOCATION, 0, &referred));
    CHECK(acquire(rig, r.resource, DXGK_HANDLE_RESOURCE, 0, &forgotten));
    mm_client_close(rig, 0);
    CHECK_RULE("ALLOC-103", mm_violations(rig, "ALLOC-103") == 1);
    CHECK(mm_event_count(rig, MM_DESTROY) == 1); /* the resource with the forgotten reference */
    release_it(rig, open_elsewhere, DXGK_HANDLE_ALLOCATION);
    release_it(rig, referred, DXGK_HANDLE_ALLOCATION);
    CHECK_RULE("ALLOC-102", mm_violations(rig, "ALLOC-102") == 0);
    release_it(rig, forgotten, DXGK_HANDLE_RESOURCE);
    CHECK_RULE("ALLOC-102", mm_violations(rig, "ALLOC-102") == 1);
    vidmm_resource_put(t.resource);
    CHECK(mm_event_count(rig, MM_DESTROY) == 2 && vidmm_validate(rig->vidmm));
}

/* ---- no memory ---- */

/* A device can always be destroyed: then one allocation at a time, with what was put aside for it. */
TEST_WITH(mm, a_device_ends_without_memory)
{
    struct util_heap *heap = &rig->base.sim->heap;
    struct mm_client *c;
    struct mm_request r;
    uint32_t closed = 0, destroyed = 0;

    OK(mm_client_open(rig, 1, 1));
    c = &rig->client[1];
    mm_request_init(&r, 0);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c)); /* an empty one */
    mm_request_init(&r, 3);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c));
    OK(mm_resident(c, mm_vram(c, 1)));
    OK(mm_resident(c, r.info[2].hAllocation));
    mm_mark(rig);
    heap->fail_at = heap->requests + 1;
    heap->fail_onward = true;
    mm_client_close(rig, 1);
    heap->fail_at = 0;
    heap->fail_onward = false;
    for (uint32_t i = 0; i < mm_event_count(rig, MM_CLOSE); i++)
        closed += mm_event_at(rig, MM_CLOSE, i)->count;
    for (uint32_t i = 0; i < mm_event_count(rig, MM_DESTROY); i++)
        destroyed += mm_event_at(rig, MM_DESTROY, i)->count;
    CHECK_RULE("ALLOC-094", closed == 4 && destroyed == 4);
    CHECK(mm_event_count(rig, MM_CLOSE) == 4);
    CHECK_RULE("ALLOC-094",
               list_empty(&rig->vidmm->allocations) && rig->vidmm->budget.usage[0] == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

/* A destruction that finds no memory changes nothing. */
TEST_WITH(mm, a_destruction_without_memory_is_refused)
{
    struct util_heap *heap = &rig->base.sim->heap;
    struct mm_client *c = &rig->client[0];
    struct mm_request r;

    mm_request_init(&r, 2);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c));
    for (unsigned nth = 1; nth < 3; nth++) {
        heap->fail_at = heap->requests + nth;
        CHECK(mm_destroy_resource(c, r.resource, 0) == STATUS_NO_MEMORY);
        heap->fail_at = heap->requests + nth;
        CHECK(mm_destroy(c, r.info[0].hAllocation, 0) == STATUS_NO_MEMORY);
        heap->fail_at = 0;
        CHECK(c->device->destructions == 0 && mm_open(c, r.info[0].hAllocation)->mark == 0);
        OK(mm_resident(c, r.info[1].hAllocation));
    }
    OK(mm_destroy_resource(c, r.resource, 0));
    mm_idle(rig);
    CHECK(list_empty(&rig->vidmm->allocations));
}
