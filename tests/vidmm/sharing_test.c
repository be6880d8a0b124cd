/* SPDX-License-Identifier: MIT */
/* Shared resources, and what drivers acquire. */
#include "nt/base/kprocess.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#include "sim/machine.h"

#define OK(call) CHECK(NT_SUCCESS(call))

struct shared {
    struct vidmm_resource *resource; /* with a reference */
    D3DKMT_HANDLE handle;            /* of the creator */
    D3DKMT_HANDLE allocation[3];
    struct mm_private data[3];
};

static void make_shared(struct mm_client *c, struct shared *s, UINT flags, bool read_only)
{
    D3DDDI_ALLOCATIONINFO2 info[3] = {{0}};
    struct vidmm_create_item item[3];
    struct vidmm_create_request request = {.count = 3, .item = item};
    UINT resource_data = 5;

    for (UINT i = 0; i < 3; i++) {
        s->data[i] = mm_private_default(flags & 1 ? MM_SET_APERTURE : MM_SET_BOTH, /* ALLOC-147 */
                                        PAGE_BYTES * (uint64_t)(i + 1));
        s->data[i].flags = flags;
        s->data[i].edit = true;
        item[i] = (struct vidmm_create_item){
            .private_data = &s->data[i], .private_bytes = sizeof(s->data[i]), .info = &info[i]};
    }
    request.resource_private = &resource_data;
    request.resource_private_bytes = sizeof(resource_data);
    request.flags.CreateResource = request.flags.CreateShared = 1;
    request.flags.ReadOnly = read_only;
    OK(vidmm_allocation_create(c->device, &request, &s->handle));
    for (UINT i = 0; i < 3; i++)
        s->allocation[i] = info[i].hAllocation;
    s->resource = vidmm_resource_get(c->device, s->handle);
    CHECK(s->resource);
}

static D3DKMT_HANDLE open_shared(struct mm_client *c, struct shared *s, struct vidmm_open_item *item)
{
    D3DKMT_HANDLE handle;

    OK(vidmm_resource_open(c->device, s->resource, false, item, 3, &handle));
    return handle;
}

static NTSTATUS close_resource(struct mm_client *c, D3DKMT_HANDLE handle)
{
    return vidmm_allocation_destroy(c->device, handle, NULL, 0,
                                    (D3DDDICB_DESTROYALLOCATION2FLAGS){0});
}

TEST_WITH(mm, an_open_finds_what_was_created)
{
    struct mm_client *a = &rig->client[0];
    struct mm_client *b = &rig->client[1];
    struct vidmm_open_item item[3];
    struct vidmm_resource_info info;
    struct shared s;
    D3DKMT_HANDLE theirs;

    OK(mm_client_open(rig, 1, 1));
    make_shared(a, &s, 0, false);
    vidmm_resource_query(s.resource, &info);
    CHECK_RULE("ALLOC-081", info.allocations == 3 && info.resource_private_bytes == sizeof(UINT) &&
                                info.private_bytes == 3 * align_up(sizeof(struct mm_private), 8));
    CHECK_RULE("ALLOC-081", vidmm_resource_open(b->device, s.resource, false, item, 2, &theirs) ==
                                STATUS_INVALID_PARAMETER);
    mm_mark(rig);
    theirs = open_shared(b, &s, item);
    CHECK_RULE("ALLOC-080",
               mm_event_count(rig, MM_OPEN) == 1 && mm_event_at(rig, MM_OPEN, 0)->count == 3 &&
                   mm_event_at(rig, MM_OPEN, 0)->flags == 0 && mm_event_count(rig, MM_CREATE) == 0);
    CHECK_RULE("ALLOC-073", mm_event_at(rig, MM_OPEN, 0)->device == b->device->driver_handle &&
                                memcmp(item[2].private_data, &s.data[2], sizeof(s.data[2])) == 0);
    CHECK_RULE("ALLOC-076", ((const struct mm_private *)item[1].private_data)->mark ==
                                0xED17); /* as edited at creation */
    CHECK_RULE("KMT-231", mm_allocation(b, item[1].allocation) == mm_allocation(a, s.allocation[1]));
    vidmm_resource_put(s.resource);
}

TEST_WITH(mm, residency_is_per_device_and_the_place_is_one)
{
    struct mm_client *a = &rig->client[0];
    struct mm_client *b = &rig->client[1];
    struct vidmm_open_item item[3];
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    make_shared(a, &s, 0, false);
    (void)open_shared(b, &s, item);
    OK(mm_resident(a, s.allocation[0]));
    OK(mm_resident(b, item[0].allocation));
    CHECK_RULE("RES-045", a->process->usage[0] == PAGE_BYTES && b->process->usage[0] == PAGE_BYTES);
    OK(mm_evict(a, s.allocation[0], 0));
    mm_idle(rig);
    CHECK_RULE("RES-023", mm_allocation(b, item[0].allocation)->resident &&
                              mm_allocation(b, item[0].allocation)->device_references == 1);
    vidmm_resource_put(s.resource);
}

TEST_WITH(mm, an_offer_is_in_force_if_all_devices_made_it)
{
    struct mm_client *a = &rig->client[0];
    struct mm_client *b = &rig->client[1];
    struct vidmm_open_item item[3];
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    make_shared(a, &s, 0, false);
    (void)open_shared(b, &s, item);
    CHECK_RULE("KMT-285",
               NT_SUCCESS(vidmm_offer(a->device, NULL, &s.allocation[2], 1,
                                      D3DKMT_OFFER_PRIORITY_LOW, (D3DKMT_OFFER_FLAGS){0})) &&
                   !mm_allocation(a, s.allocation[2])->offer.in_force);
    OK(vidmm_offer(b->device, NULL, &item[2].allocation, 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){0}));
    CHECK_RULE("KMT-285", mm_allocation(a, s.allocation[2])->offer.in_force);
    vidmm_resource_put(s.resource);
}

/* Who opens it later has not offered it, and who closes it is not asked any more. */
TEST_WITH(mm, an_offer_follows_who_has_it_open)
{
    struct mm_client *a = &rig->client[0];
    struct mm_client *b = &rig->client[1];
    struct vidmm_open_item item[3];
    const struct vidmm_allocation *allocation;
    struct shared s;
    D3DKMT_HANDLE theirs;

    OK(mm_client_open(rig, 1, 1));
    make_shared(a, &s, 0, false);
    allocation = mm_allocation(a, s.allocation[2]);
    OK(vidmm_offer(a->device, NULL, &s.allocation[2], 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){0}));
    CHECK_RULE("KMT-285", allocation->offer.in_force);
    theirs = open_shared(b, &s, item);
    CHECK_RULE("KMT-285", !allocation->offer.in_force);
    OK(vidmm_offer(b->device, NULL, &item[2].allocation, 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){0}));
    CHECK_RULE("KMT-285", allocation->offer.in_force);
    OK(close_resource(b, theirs));
    mm_idle(rig);
    CHECK_RULE("KMT-285", allocation->offer.in_force);
    theirs = open_shared(b, &s, item);
    CHECK_RULE("KMT-285", !allocation->offer.in_force);
    OK(close_resource(b, theirs));
    mm_idle(rig);
    CHECK_RULE("KMT-285", allocation->offer.in_force && allocation->offer.count == 1);
    CHECK(vidmm_validate(rig->vidmm));
    vidmm_resource_put(s.resource);
}

/* With the offer in force it was listed, and did not come; once it is not, the device waits for it. */
TEST_WITH(mm, an_open_ends_what_an_offer_allowed)
{
    struct mm_client *a = &rig->client[0];
    struct vidmm_open_item item[3];
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    make_shared(a, &s, 0, false);
    OK(vidmm_offer(a->device, NULL, &s.allocation[2], 1, D3DKMT_OFFER_PRIORITY_LOW,
                   (D3DKMT_OFFER_FLAGS){0}));
    OK(mm_resident(a, s.allocation[2]));
    CHECK(mm_allocation(a, s.allocation[2])->offer.in_force && mm_waited_for(a->device) == 0 &&
          !mm_allocation(a, s.allocation[2])->runs);
    (void)open_shared(&rig->client[1], &s, item);
    CHECK_RULE("KMT-285", mm_waited_for(a->device) == 1 && vidmm_validate(rig->vidmm));
    mm_submit(a);
    CHECK(!mm_dispatch(a));
    mm_idle(rig);
    CHECK_RULE("KMT-285", mm_allocation(a, s.allocation[2])->ready && mm_waited_for(a->device) == 0);
    vidmm_resource_put(s.resource);
}

TEST_WITH(mm, only_the_creator_locks)
{
    struct mm_client *a = &rig->client[0];
    struct mm_client *b = &rig->client[1];
    struct vidmm_open_item item[3];
    struct shared s;
    void *address;

    OK(mm_client_open(rig, 1, 1));
    make_shared(a, &s, 1, false);
    (void)open_shared(b, &s, item);
    CHECK_RULE("ALLOC-119",
               vidmm_lock2(b->device, item[1].allocation, &address) == STATUS_INVALID_PARAMETER);
    OK(vidmm_lock2(a->device, s.allocation[1], &address));
    OK(vidmm_unlock2(a->device, s.allocation[1]));
    CHECK(vidmm_validate(rig->vidmm));
    vidmm_resource_put(s.resource);
}

TEST_WITH(mm, shared_resources_outlive_their_creator)
{
    struct mm_client *a = &rig->client[0];
    struct mm_client *b = &rig->client[1];
    struct vidmm_open_item item[3];
    struct shared s;
    D3DKMT_HANDLE theirs;

    OK(mm_client_open(rig, 1, 1));
    make_shared(a, &s, 0, false);
    theirs = open_shared(b, &s, item);
    vidmm_resource_put(s.resource);
    mm_mark(rig);
    mm_client_close(rig, 0);
    CHECK_RULE("ALLOC-013",
               mm_event_count(rig, MM_CLOSE) == 1 && mm_event_count(rig, MM_DESTROY) == 0);
    CHECK_RULE("ALLOC-093", mm_event_count(rig, MM_DESTROY) == 0 && vidmm_validate(rig->vidmm));
    OK(mm_resident(b, item[1].allocation));
    OK(close_resource(b, theirs));
    mm_idle(rig);
    CHECK_RULE("ALLOC-093", mm_event_count(rig, MM_CLOSE) == 2 &&
                                mm_event_count(rig, MM_DESTROY) == 1 &&
                                mm_event_at(rig, MM_DESTROY, 0)->count == 3 &&
                                mm_event_at(rig, MM_DESTROY, 0)->flags == 1);
    CHECK(list_empty(&rig->vidmm->allocations));
}

TEST_WITH(mm, references_keep_a_resource)
{
    struct mm_client *a = &rig->client[0];
    struct mm_client *b = &rig->client[1];
    struct vidmm_open_item item[3];
    struct shared s;
    D3DKMT_HANDLE theirs;

    make_shared(a, &s, 0, false);
    OK(mm_resident(a, s.allocation[1]));
    mm_write_content(rig, mm_allocation(a, s.allocation[1]), 3);
    OK(close_resource(a, s.handle));
    mm_idle(rig);
    CHECK_RULE("KMT-476", mm_event_count(rig, MM_CLOSE) == 1 &&
                              mm_event_count(rig, MM_DESTROY) == 0); /* a handle keeps it */
    OK(mm_client_open(rig, 1, 1));
    theirs = open_shared(b, &s, item);
    CHECK_RULE("KMT-476", mm_check_content(rig, mm_allocation(b, item[1].allocation), 3));
    OK(close_resource(b, theirs));
    mm_idle(rig);
    CHECK(mm_event_count(rig, MM_DESTROY) == 0);
    vidmm_resource_put(s.resource);
    mm_idle(rig);
    CHECK_RULE("KMT-476", mm_event_count(rig, MM_DESTROY) == 1 &&
                              mm_event_at(rig, MM_DESTROY, 0)->count == 3 &&
                              mm_event_at(rig, MM_DESTROY, 0)->flags == 1);
    CHECK(list_empty(&rig->vidmm->allocations) && vidmm_validate(rig->vidmm));

    CHECK(!vidmm_resource_get(a->device, s.handle));
}

TEST_WITH(mm, read_only_opens)
{
    struct mm_client *a = &rig->client[0];
    struct mm_client *b = &rig->client[1];
    struct vidmm_open_item item[3];
    struct shared s;
    D3DKMT_HANDLE theirs;

    OK(mm_client_open(rig, 1, 1));
    make_shared(a, &s, 0, true);
    CHECK_RULE("KMT-211", mm_event_at(rig, MM_OPEN, 0)->flags == 3 &&
                              vidmm_open_read_only(mm_open(a, s.allocation[0])));
    vidmm_resource_put(s.resource);
    make_shared(a, &s, 0, false);
    CHECK(!vidmm_open_read_only(mm_open(a, s.allocation[0])));
    mm_mark(rig);
    OK(vidmm_resource_open(b->device, s.resource, true, item, 3, &theirs));
    CHECK_RULE("ALLOC-078", mm_event_at(rig, MM_OPEN, 0)->flags == 2 &&
                                vidmm_open_read_only(mm_open(b, item[0].allocation)));
    vidmm_resource_put(s.resource);
}

static void scribble(struct mm_rig *rig, const DXGKARG_OPENALLOCATION *args)
{
    (void)rig;
    if (!args->Flags.Create)
        ((struct mm_private *)args->pOpenAllocation[1].pPrivateDriverData)->mark = 1;
}

TEST_WITH(mm, plain_opens_do_not_write)
{
    struct mm_client *a = &rig->client[0];
    struct vidmm_open_item item[3];
    struct shared s;

    OK(mm_client_open(rig, 1, 0));
    make_shared(a, &s, 0, false);
    rig->on_open = scribble;
    for (UINT i = 0; i < 3; i++) /* nothing more is edited by itself */
        ((struct mm_private *)mm_allocation(a, s.allocation[i])->client_data.at)->edit = false;
    open_shared(&rig->client[1], &s, item);
    CHECK_RULE("ALLOC-077", mm_violations(rig, "ALLOC-077") == 1);
    CHECK_RULE("ALLOC-077", ((const struct mm_private *)item[1].private_data)->mark == 0xED17);
    vidmm_resource_put(s.resource);
}

TEST_WITH(mm, failed_opens_leave_nothing)
{
    struct mm_client *b = &rig->client[1];
    struct util_heap *heap = &rig->base.sim->heap;
    struct vidmm_open_item item[3];
    struct shared s;
    D3DKMT_HANDLE handle;
    NTSTATUS status = STATUS_NO_MEMORY;
    uint32_t live;

    OK(mm_client_open(rig, 1, 1));
    make_shared(&rig->client[0], &s, 0, false);
    live = b->process->nt->handles.live;
    rig->open_status = STATUS_UNSUCCESSFUL;
    CHECK(vidmm_resource_open(b->device, s.resource, false, item, 3, &handle) ==
          STATUS_UNSUCCESSFUL);
    rig->open_status = STATUS_SUCCESS;
    rig->null_open_handle = true;
    CHECK_RULE("ALLOC-075", vidmm_resource_open(b->device, s.resource, false, item, 3, &handle) ==
                                STATUS_INVALID_PARAMETER);
    rig->null_open_handle = false;
    CHECK(b->process->nt->handles.live == live && vidmm_validate(rig->vidmm));
    for (uint64_t nth = 1; status == STATUS_NO_MEMORY; nth++) {
        CHECK(nth < 50 && b->process->nt->handles.live == live);
        heap->fail_at = heap->requests + nth;
        status = vidmm_resource_open(b->device, s.resource, false, item, 3, &handle);
        heap->fail_at = 0;
        CHECK(vidmm_validate(rig->vidmm));
    }
    OK(status);
    vidmm_resource_put(s.resource);
}

/* ---- references of drivers ---- */

static void *acquire(struct mm_rig *rig, D3DKMT_HANDLE handle, HANDLE *release)
{
    const DXGKARGCB_GETHANDLEDATA args = {.hObject = handle, .Type = DXGK_HANDLE_ALLOCATION};

    return vidmm_cb_acquire_handle_data(&rig->ddi, &args, release);
}

static void release_it(struct mm_rig *rig, HANDLE handle)
{
    const DXGKARGCB_RELEASEHANDLEDATA args = {.ReleaseHandle = handle,
                                              .Type = DXGK_HANDLE_ALLOCATION};

    vidmm_cb_release_handle_data(&rig->ddi, &args);
}

TEST_WITH(mm, acquired_allocations_are_not_destroyed)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_create_ok(c, mm_private_default(MM_SET_VRAM, 4096));
    HANDLE first;
    HANDLE second;
    HANDLE bad = c;

    CHECK_RULE("ALLOC-100", acquire(rig, h, &first) == mm_allocation(c, h)->driver_handle && first);
    CHECK_RULE("ALLOC-100", acquire(rig, h + 12345, &bad) == NULL && bad == NULL);
    CHECK(acquire(rig, h, &second));
    OK(mm_resident(c, h));
    OK(mm_destroy(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("ALLOC-099", mm_event_count(rig, MM_DESTROY) == 0);
    release_it(rig, first);
    mm_idle(rig);
    CHECK_RULE("ALLOC-101", mm_event_count(rig, MM_DESTROY) == 0); /* one of two */
    release_it(rig, first);
    CHECK_RULE("ALLOC-102", mm_violations(rig, "ALLOC-102") == 1);
    release_it(rig, second);
    mm_idle(rig);
    CHECK_RULE("ALLOC-101", mm_event_count(rig, MM_DESTROY) == 1);
    CHECK_RULE("ALLOC-099", mm_event_count(rig, MM_DESTROY) == 1);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, forgotten_references_are_reported)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_create_ok(c, mm_private_default(MM_SET_VRAM, 4096));
    HANDLE release;

    CHECK(acquire(rig, h, &release));
    mm_client_close(rig, 0); /* waits a while, then goes on */
    CHECK_RULE("ALLOC-103",
               mm_violations(rig, "ALLOC-103") == 1 && mm_event_count(rig, MM_DESTROY) == 1);
}

TEST_WITH(mm, references_to_other_devices_outlast_the_end_of_one)
{
    struct mm_client *other = &rig->client[1];
    D3DKMT_HANDLE forgotten, kept;
    HANDLE release[2];

    OK(mm_client_open(rig, 1, 0));
    forgotten = mm_create_ok(&rig->client[0], mm_private_default(MM_SET_VRAM, 4096));
    kept = mm_create_ok(other, mm_private_default(MM_SET_VRAM, 4096));
    CHECK(acquire(rig, forgotten, &release[0]) && acquire(rig, kept, &release[1]));
    mm_client_close(rig, 0);
    CHECK_RULE("ALLOC-103", mm_violations(rig, "ALLOC-103") == 1);
    OK(mm_destroy(other, kept, 0));
    mm_idle(rig);
    CHECK_RULE("ALLOC-099", mm_event_count(rig, MM_DESTROY) == 1); /* the other one is held */
    release_it(rig, release[1]);
    mm_idle(rig);
    CHECK_RULE("ALLOC-101", mm_event_count(rig, MM_DESTROY) == 2);
    CHECK(mm_violations(rig, "ALLOC-102") == 0 && vidmm_validate(rig->vidmm));
}
