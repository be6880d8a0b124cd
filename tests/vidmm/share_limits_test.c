/* SPDX-License-Identifier: MIT */
/* Opening shared resources: what is refused, what is undone, what is told. */
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

/* A shared resource of `count` allocations and some data of its own, with a reference. */
struct shared {
    struct mm_request request;
    struct vidmm_resource *resource;
};

static void make_shared(struct mm_client *c, struct shared *s, UINT count)
{
    mm_request_init(&s->request, count);
    for (UINT i = 0; i < count; i++)
        s->request.data[i].flags = 0;
    s->request.resource_data = 0x1234;
    s->request.request.resource_private = &s->request.resource_data;
    s->request.request.resource_private_bytes = sizeof(s->request.resource_data);
    s->request.request.flags.CreateResource = s->request.request.flags.CreateShared = 1;
    OK(mm_request_make(&s->request, c));
    s->resource = vidmm_resource_get(c->device, s->request.resource);
    CHECK(s->resource);
}

static NTSTATUS open_it(struct mm_client *c, struct shared *s, UINT count,
                        struct vidmm_open_item *item, D3DKMT_HANDLE *handle)
{
    return vidmm_resource_open(c->device, s->resource, false, item, count, handle);
}

TEST_WITH(mm, an_empty_resource_is_opened_without_the_driver)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct vidmm_resource_info info;
    D3DKMT_HANDLE handle = 0;
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    make_shared(c, &s, 0);
    vidmm_resource_query(s.resource, &info);
    CHECK(info.allocations == 0 && info.private_bytes == 0 && !info.read_only);
    CHECK(info.resource_private_bytes == sizeof(UINT) &&
          *(const UINT *)info.resource_private == 0x1234);
    mm_mark(rig);
    CHECK(open_it(d, &s, 1, NULL, &handle) == STATUS_INVALID_PARAMETER && handle == 0);
    OK(open_it(d, &s, 0, NULL, &handle));
    CHECK(handle && mm_event_count(rig, MM_OPEN) == 0);
    OK(mm_destroy_resource(d, handle, 0));
    OK(mm_destroy_resource(c, s.request.resource, 0));
    vidmm_resource_put(s.resource);
    CHECK(mm_event_count(rig, MM_CLOSE) == 0 && mm_event_count(rig, MM_DESTROY) == 0);
}

static UINT seen_data, seen_bytes[4];

static void look(struct mm_rig *rig, const DXGKARG_OPENALLOCATION *args)
{
    (void)rig;
    seen_data = args->PrivateDriverSize == sizeof(UINT) ? *(const UINT *)args->pPrivateDriverData
                                                        : 0;
    for (UINT i = 0; i < args->NumAllocations; i++)
        seen_bytes[i] = args->pOpenAllocation[i].PrivateDriverDataSize;
    CHECK(args->pOpenAllocation[0].pPrivateDriverData && args->pOpenAllocation[0].hAllocation);
}

TEST_WITH(mm, an_open_tells_the_driver_what_is_opened)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct vidmm_open_item item[3];
    D3DKMT_HANDLE handle;
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    make_shared(c, &s, 3);
    rig->on_open = look;
    OK(open_it(d, &s, 3, item, &handle));
    CHECK_RULE("ALLOC-073", seen_data == 0x1234);
    for (UINT i = 0; i < 3; i++) {
        const struct vidmm_allocation *a = mm_allocation(c, s.request.info[i].hAllocation);

        CHECK_RULE("ALLOC-073", seen_bytes[i] == sizeof(struct mm_private));
        CHECK_RULE("KMT-231", mm_allocation(d, item[i].allocation) == a);
        CHECK(item[i].private_bytes == a->client_data.size &&
              item[i].private_data == a->client_data.at);
        CHECK(mm_open(d, item[i].allocation)->driver_handle ==
              mm_event_at(rig, MM_OPEN, 1)->handle[i]);
    }
    vidmm_resource_put(s.resource);
}

TEST_WITH(mm, lost_devices_open_nothing)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct vidmm_open_item item[2];
    D3DKMT_HANDLE handle = 0;
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    make_shared(c, &s, 2);
    mm_mark(rig);
    rig->vidmm->lost = true;
    CHECK(open_it(d, &s, 2, item, &handle) == STATUS_DEVICE_REMOVED);
    rig->vidmm->lost = false;
    vidmm_device_set_lost(d->device);
    CHECK(open_it(d, &s, 2, item, &handle) == STATUS_DEVICE_REMOVED && handle == 0);
    CHECK(mm_event_count(rig, MM_OPEN) == 0);
    CHECK_RULE("ALLOC-081", open_it(c, &s, 3, item, &handle) == STATUS_INVALID_PARAMETER);
    vidmm_resource_put(s.resource);
}

/* The last handle is missing: what was opened is closed one by one, and that fails, too. */
TEST_WITH(mm, a_close_that_fails_is_reported)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct vidmm_open_item item[3];
    D3DKMT_HANDLE handle = 0;
    uint32_t live;
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    make_shared(c, &s, 3);
    live = d->process->nt->handles.live;
    mm_mark(rig);
    rig->null_open_handle = true;
    rig->close_status = STATUS_UNSUCCESSFUL;
    CHECK_RULE("ALLOC-075", open_it(d, &s, 3, item, &handle) == STATUS_INVALID_PARAMETER);
    rig->null_open_handle = false;
    rig->close_status = STATUS_SUCCESS;
    CHECK_RULE("ALLOC-084",
               mm_violations(rig, "ALLOC-084") == 2 && mm_event_count(rig, MM_CLOSE) == 2);
    for (uint32_t i = 0; i < 2; i++)
        CHECK(mm_event_at(rig, MM_CLOSE, i)->count == 1 &&
              mm_event_at(rig, MM_CLOSE, i)->device == d->device->driver_handle &&
              mm_event_at(rig, MM_CLOSE, i)->handle[0] == mm_event_at(rig, MM_OPEN, 0)->handle[i]);
    CHECK(handle == 0 && d->process->nt->handles.live == live && list_empty(&d->device->opens));
    OK(open_it(d, &s, 3, item, &handle));
    vidmm_resource_put(s.resource);
    CHECK(vidmm_validate(rig->vidmm));
}

/* What was created for reading alone is opened for that. */
TEST_WITH(mm, read_only_is_for_all)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct vidmm_resource_info info;
    struct vidmm_open_item item[1];
    struct shared s;
    D3DKMT_HANDLE handle;

    OK(mm_client_open(rig, 1, 1));
    mm_request_init(&s.request, 1);
    s.request.data[0].flags = 0;
    s.request.request.flags.CreateResource = s.request.request.flags.CreateShared =
        s.request.request.flags.ReadOnly = 1;
    OK(mm_request_make(&s.request, c));
    s.resource = vidmm_resource_get(c->device, s.request.resource);
    vidmm_resource_query(s.resource, &info);
    CHECK(info.read_only);
    mm_mark(rig);
    OK(open_it(d, &s, 1, item, &handle));
    CHECK_RULE("ALLOC-078", mm_event_at(rig, MM_OPEN, 0)->flags == 2 &&
                                vidmm_open_read_only(mm_open(d, item[0].allocation)));
    vidmm_resource_put(s.resource);
}

/* ---- the adapter that asks ---- */

/* A handle is of one adapter, and says nothing to the driver of another. */
TEST_WITH(mm, handles_are_of_one_adapter)
{
    struct mm_client *c = &rig->client[0];
    static const DRIVER_INITIALIZATION_DATA table = {.Version = DXGKDDI_INTERFACE_VERSION_WDDM2_9};
    DXGKARGCB_GETHANDLEDATA get = {.Type = DXGK_HANDLE_ALLOCATION};
    DXGKARGCB_ENUMHANDLECHILDREN children = {0};
    struct ddi_adapter another;
    struct mm_request r;
    HANDLE release;

    memset(&another, 0, sizeof(another));
    OK(ddi_adapter_init(&another, &table, NULL, "another"));
    mm_request_init(&r, 1);
    r.request.flags.CreateResource = 1;
    rig->next_resource = (HANDLE)(uintptr_t)0xAF;
    OK(mm_request_make(&r, c));
    get.hObject = r.info[0].hAllocation;
    children.hObject = r.resource;
    CHECK_RULE("ALLOC-095", vidmm_cb_get_handle_data(&rig->ddi, &get) &&
                                !vidmm_cb_get_handle_data(&another, &get));
    CHECK(!vidmm_cb_acquire_handle_data(&another, &get, &release) && !release);
    CHECK_RULE("ALLOC-104", vidmm_cb_get_handle_parent(&rig->ddi, get.hObject) == r.resource &&
                                vidmm_cb_get_handle_parent(&another, get.hObject) == 0);
    CHECK_RULE("ALLOC-105", vidmm_cb_enum_handle_children(&rig->ddi, &children) == get.hObject &&
                                vidmm_cb_enum_handle_children(&another, &children) == 0);
    get.Type = DXGK_HANDLE_RESOURCE;
    get.hObject = r.resource;
    CHECK_RULE("ALLOC-095", vidmm_cb_get_handle_data(&rig->ddi, &get) &&
                                !vidmm_cb_get_handle_data(&another, &get));
    get.Type = (DXGK_HANDLE_TYPE)7;
    CHECK(!vidmm_cb_get_handle_data(&rig->ddi, &get));
    ddi_adapter_finish(&another);
}

/* ---- the owner leaves ---- */

/* The creator's last open decides, not its first one. */
TEST_WITH(mm, the_creator_may_lock_until_its_last_open_ends)
{
    struct mm_client *c = &rig->client[0], *other = &rig->client[1], *d = &rig->client[2];
    struct vidmm_open_item mine, theirs;
    const struct vidmm_allocation *a;
    D3DKMT_HANDLE h, second, third;
    struct shared s;
    void *address;

    OK(mm_client_open(rig, 1, 0));
    OK(mm_client_open(rig, 2, 1));
    make_shared(c, &s, 1);
    OK(open_it(other, &s, 1, &mine, &second));
    OK(open_it(d, &s, 1, &theirs, &third));
    vidmm_resource_put(s.resource);
    h = mine.allocation;
    a = mm_allocation(other, h);
    OK(mm_resident(d, theirs.allocation));
    OK(mm_destroy_resource(c, s.request.resource, 0));
    mm_idle(rig);
    CHECK_RULE("KMT-476", a->creator == c->process->nt);
    OK(mm_destroy_resource(other, second, 0));
    mm_idle(rig);
    CHECK_RULE("KMT-476", !a->creator);
    CHECK_RULE("ALLOC-119",
               vidmm_lock2(d->device, theirs.allocation, &address) == STATUS_INVALID_PARAMETER);
    CHECK(mm_allocation(d, theirs.allocation)->resident && vidmm_validate(rig->vidmm));
}

/* ---- lists of what is to be destroyed ---- */

TEST_WITH(mm, malformed_lists_destroy_nothing)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE list[3] = {mm_vram(c, 1), mm_vram(c, 1), 0}, theirs;

    OK(mm_client_open(rig, 1, 0));
    theirs = mm_vram(d, 1);
    CHECK(mm_destroy_list(c, list, 0, 0) == STATUS_INVALID_PARAMETER);
    CHECK(mm_destroy_list(c, list, 3, 0) == STATUS_INVALID_PARAMETER);
    list[2] = theirs;
    CHECK_RULE("KMT-027", mm_destroy_list(c, list, 3, 0) == STATUS_INVALID_PARAMETER);
    list[2] = list[0];
    CHECK_RULE("KMT-263", mm_destroy_list(c, list, 3, 0) == STATUS_INVALID_PARAMETER);
    CHECK(mm_destroy_list(c, list, 2, 8) == STATUS_INVALID_PARAMETER);
    CHECK(mm_destroy_resource(c, list[0], 0) == STATUS_INVALID_PARAMETER);
    CHECK(mm_destroy_resource(c, 0x999, 0) == STATUS_INVALID_PARAMETER);
    CHECK(mm_open(c, list[0])->mark == 0 && mm_open(c, list[1])->mark == 0 &&
          mm_event_count(rig, MM_CLOSE) == 0);
    OK(mm_destroy_list(c, list, 2, 0));
    mm_idle(rig);
    CHECK(mm_event_count(rig, MM_CLOSE) == 1 && mm_event_at(rig, MM_CLOSE, 0)->count == 2 &&
          mm_event_count(rig, MM_DESTROY) == 1 && mm_event_at(rig, MM_DESTROY, 0)->count == 2);
}

/* Another device of the same process has it open: its pages stay where they are. */
TEST_WITH(mm, what_another_device_has_open_stays_in_place)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct vidmm_open_item item;
    D3DKMT_HANDLE handle;
    uint64_t place;
    struct shared s;

    OK(mm_client_open(rig, 1, 0));
    make_shared(c, &s, 1);
    OK(open_it(d, &s, 1, &item, &handle));
    vidmm_resource_put(s.resource);
    OK(mm_resident(c, s.request.info[0].hAllocation));
    OK(mm_resident(d, item.allocation));
    mm_write_content(rig, mm_allocation(d, item.allocation), 3);
    place = mm_allocation(d, item.allocation)->runs[0].first;
    mm_mark(rig);
    OK(mm_destroy_resource(c, s.request.resource, 0));
    mm_idle(rig);
    CHECK(mm_event_count(rig, MM_CLOSE) == 1 && mm_event_count(rig, MM_DESTROY) == 0);
    CHECK(mm_in_vram(d, item.allocation) &&
          mm_allocation(d, item.allocation)->runs[0].first == place &&
          mm_check_content(rig, mm_allocation(d, item.allocation), 3));
    CHECK(mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 0);
    CHECK(d->process->usage[0] == PAGE_BYTES && vidmm_validate(rig->vidmm));
}
