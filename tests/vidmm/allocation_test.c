/* SPDX-License-Identifier: MIT */
/* Creating allocations, and the handles they get. */
#include "nt/base/kprocess.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#include "sim/irql.h"
#include "sim/machine.h"

/* ---- create ---- */

static const struct mm_private *seen_by_open;
static UINT seen_resource_data;

static void look_at_open(struct mm_rig *rig, const DXGKARG_OPENALLOCATION *args)
{
    (void)rig;
    seen_by_open = args->pOpenAllocation[0].pPrivateDriverData;
    seen_resource_data = args->PrivateDriverSize ? *(const UINT *)args->pPrivateDriverData : 0;
    CHECK(args->SubresourceIndex == 0);
}

/* A resource with three allocations, with private data for the driver. */
static void make_three(struct mm_rig *rig, struct mm_request *r)
{
    mm_request_init(r, 3);
    r->resource_data = 77;
    r->request.flags.CreateResource = 1;
    r->request.resource_private = &r->resource_data;
    r->request.resource_private_bytes = sizeof(r->resource_data);
    r->data[1].edit = true;
    rig->on_open = look_at_open;
    rig->next_resource = (HANDLE)(uintptr_t)0xAB;
    CHECK(mm_request_make(r, &rig->client[0]) == STATUS_SUCCESS);
    CHECK(r->info[0].hAllocation && r->info[1].hAllocation && r->info[2].hAllocation && r->resource);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, one_call_creates_all_and_one_opens_them)
{
    const struct mm_event *create, *open;
    struct mm_request r;

    make_three(rig, &r);
    create = mm_event_at(rig, MM_CREATE, 0);
    open = mm_event_at(rig, MM_OPEN, 0);
    CHECK_RULE("ALLOC-003", mm_event_count(rig, MM_CREATE) == 1 && create->count == 3);
    CHECK_RULE("ALLOC-001", create->irql == SIM_IRQL_PASSIVE && open->irql == SIM_IRQL_PASSIVE);
    CHECK_RULE("ALLOC-011",
               mm_event_count(rig, MM_OPEN) == 1 && open->flags == 1 && open->count == 3 &&
                   mm_event_position(rig, MM_CREATE, 0) < mm_event_position(rig, MM_OPEN, 0));
}

TEST_WITH(mm, the_driver_is_told_of_a_resource)
{
    const struct mm_event *create;
    struct mm_request r;

    make_three(rig, &r);
    create = mm_event_at(rig, MM_CREATE, 0);
    CHECK_RULE("ALLOC-006", create->flags == 1);
    CHECK_RULE("ALLOC-007", create->resource == NULL);
}

TEST_WITH(mm, a_lone_allocation_has_no_resource_and_no_address)
{
    struct mm_request r;

    mm_request_init(&r, 1);
    CHECK(mm_request_make(&r, &rig->client[0]) == STATUS_SUCCESS);
    CHECK_RULE("ALLOC-006", mm_event_at(rig, MM_CREATE, 0)->flags == 0 && r.resource == 0);
    CHECK_RULE("KMT-205", r.info[0].GpuVirtualAddress == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, private_data_goes_to_the_driver_and_back)
{
    struct mm_request r;

    make_three(rig, &r);
    CHECK_RULE("ALLOC-073",
               mm_event_at(rig, MM_OPEN, 0)->device == rig->client[0].device->driver_handle &&
                   seen_resource_data == 77);
    CHECK_RULE("ALLOC-004", seen_by_open != &r.data[0]); /* a copy */
    CHECK_RULE("ALLOC-076", r.data[1].mark == 0xED17 && r.data[0].mark == 0);
}

TEST_WITH(mm, the_handles_of_the_driver_are_kept)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;

    make_three(rig, &r);
    CHECK_RULE("ALLOC-008", mm_allocation(c, r.info[1].hAllocation)->driver_handle ==
                                mm_event_at(rig, MM_CREATE, 0)->handle[1]);
    CHECK_RULE("ALLOC-074", mm_open(c, r.info[2].hAllocation)->driver_handle ==
                                mm_event_at(rig, MM_OPEN, 0)->handle[2]);
}

TEST_WITH(mm, resource_handles)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;
    D3DKMT_HANDLE resource;
    UINT data = 1;

    /* empty: the driver hears nothing of it, not even of its end */
    mm_request_init(&r, 0);
    r.request.flags.CreateResource = 1;
    CHECK_RULE("ALLOC-016", mm_request_make(&r, c) == STATUS_SUCCESS && r.resource);
    CHECK_RULE("ALLOC-017", mm_destroy_resource(c, r.resource, 0) == STATUS_SUCCESS &&
                                mm_event_count(rig, MM_CREATE) == 0 &&
                                mm_event_count(rig, MM_DESTROY) == 0);

    mm_request_init(&r, 0);
    r.request.flags.CreateResource = 1;
    CHECK(mm_request_make(&r, c) == STATUS_SUCCESS);
    resource = r.resource;
    for (UINT i = 0; i < 3; i++) {
        mm_request_init(&r, 1);
        r.request.resource = resource;
        r.request.resource_private = &data;
        r.request.resource_private_bytes = sizeof(data);
        rig->next_resource = (HANDLE)(uintptr_t)(0xA0 + i);
        rig->on_open = look_at_open;
        data++;
        CHECK_RULE("ALLOC-014", mm_request_make(&r, c) == STATUS_SUCCESS && r.resource == resource);
        CHECK_RULE("ALLOC-007", mm_event_at(rig, MM_CREATE, i)->resource ==
                                    (HANDLE)(uintptr_t)(i ? 0x9F + i : 0));
        CHECK_RULE("ALLOC-015", seen_resource_data == data);
    }
    CHECK_RULE("ALLOC-015",
               *(UINT *)mm_open(c, r.info[0].hAllocation)->resource_open->resource->private_data ==
                   4);

    mm_request_init(&r, 1);
    r.request.flags.CreateResource = r.request.flags.CreateShared = 1;
    r.data[0].flags = 0;
    CHECK(mm_request_make(&r, c) == STATUS_SUCCESS);
    resource = r.resource;
    mm_request_init(&r, 1);
    r.request.resource = resource;
    mm_mark(rig);
    CHECK_RULE("ALLOC-014", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER &&
                                mm_event_count(rig, MM_CREATE) == 0);
}

TEST_WITH(mm, bad_requests)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;

    mm_request_init(&r, 1);
    r.request.flags.CreateShared = 1;
    CHECK_RULE("ALLOC-018", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER &&
                                mm_event_count(rig, MM_CREATE) == 0);
    mm_request_init(&r, 1);
    r.request.flags.CreateResource = r.request.flags.NtSecuritySharing = 1;
    CHECK_RULE("ALLOC-018", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER &&
                                mm_event_count(rig, MM_CREATE) == 0);
    mm_request_init(&r, 1);
    r.request.flags.CreateResource = 1;
    r.request.resource = 0x1234;
    CHECK_RULE("KMT-192", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    mm_request_init(&r, 0);
    CHECK_RULE("KMT-192", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    mm_request_init(&r, 1);
    r.request.resource = 0x1234;
    CHECK_RULE("KMT-191", mm_request_make(&r, c) == STATUS_INVALID_HANDLE &&
                              mm_event_count(rig, MM_CREATE) == 0);
}

TEST_WITH(mm, driver_failures_leave_nothing)
{
    struct mm_client *c = &rig->client[0];
    uint32_t handles = c->process->nt->handles.live;
    struct mm_request r;

    mm_request_init(&r, 2);
    rig->create_status = STATUS_GRAPHICS_DRIVER_MISMATCH;
    CHECK_RULE("ALLOC-009", mm_request_make(&r, c) == STATUS_GRAPHICS_DRIVER_MISMATCH);
    CHECK_RULE("ALLOC-009",
               mm_event_count(rig, MM_OPEN) == 0 && mm_event_count(rig, MM_DESTROY) == 0);
    rig->create_status = STATUS_SUCCESS;

    mm_request_init(&r, 2);
    r.request.flags.CreateResource = 1;
    rig->open_status = STATUS_NO_MEMORY;
    rig->next_resource = (HANDLE)(uintptr_t)0xAA;
    CHECK_RULE("ALLOC-012",
               mm_request_make(&r, c) == STATUS_NO_MEMORY && mm_event_count(rig, MM_CLOSE) == 0);
    CHECK_RULE("ALLOC-012",
               mm_event_count(rig, MM_DESTROY) == 1 && mm_event_at(rig, MM_DESTROY, 0)->count == 2 &&
                   mm_event_at(rig, MM_DESTROY, 0)->flags == 1 &&
                   mm_event_at(rig, MM_DESTROY, 0)->resource == (HANDLE)(uintptr_t)0xAA);
    CHECK_RULE("KMT-197", c->process->nt->handles.live == handles); /* none exists */
    rig->open_status = STATUS_SUCCESS;

    mm_mark(rig);
    mm_request_init(&r, 2);
    rig->null_open_handle = true;
    CHECK_RULE("ALLOC-075", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER &&
                                mm_violations(rig, "ALLOC-075") == 1);
    CHECK_RULE("ALLOC-075", mm_event_at(rig, MM_CLOSE, 0)->count == 1 &&
                                mm_event_at(rig, MM_DESTROY, 0)->count == 2 &&
                                mm_event_at(rig, MM_DESTROY, 0)->flags == 0);
    rig->null_open_handle = false;
    CHECK(c->process->nt->handles.live == handles);
    CHECK(list_empty(&rig->vidmm->allocations) && vidmm_validate(rig->vidmm));
}

/* ---- handle callbacks ---- */

static void *resolved_in_open;

static void resolve_in_open(struct mm_rig *rig, const DXGKARG_OPENALLOCATION *args)
{
    const DXGKARGCB_GETHANDLEDATA get = {.hObject = args->pOpenAllocation[0].hAllocation,
                                         .Type = DXGK_HANDLE_ALLOCATION};

    resolved_in_open = vidmm_cb_get_handle_data(&rig->ddi, &get);
}

static void *data_of(struct mm_rig *rig, D3DKMT_HANDLE handle, DXGK_HANDLE_TYPE type, UINT flags)
{
    const DXGKARGCB_GETHANDLEDATA get = {.hObject = handle, .Type = type, .Flags = {.Value = flags}};

    return vidmm_cb_get_handle_data(&rig->ddi, &get);
}

TEST_WITH(mm, handles_resolve)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;
    D3DKMT_HANDLE alone;
    D3DKMT_HANDLE first;

    mm_request_init(&r, 2);
    r.request.flags.CreateResource = 1;
    rig->next_resource = (HANDLE)(uintptr_t)0xAA;
    rig->on_open = resolve_in_open;
    CHECK(mm_request_make(&r, c) == STATUS_SUCCESS);
    first = r.info[0].hAllocation;
    CHECK_RULE("ALLOC-097", resolved_in_open == mm_event_at(rig, MM_CREATE, 0)->handle[0]);
    CHECK_RULE("ALLOC-095", data_of(rig, first, DXGK_HANDLE_ALLOCATION, 0) ==
                                mm_event_at(rig, MM_CREATE, 0)->handle[0]);
    CHECK_RULE("ALLOC-096", data_of(rig, first, DXGK_HANDLE_ALLOCATION, 1) ==
                                mm_event_at(rig, MM_OPEN, 0)->handle[0]);
    CHECK_RULE("ALLOC-096", data_of(rig, r.resource, DXGK_HANDLE_RESOURCE, 1) == NULL);
    CHECK_RULE("ALLOC-095",
               data_of(rig, r.resource, DXGK_HANDLE_RESOURCE, 0) == (HANDLE)(uintptr_t)0xAA);
    CHECK_RULE("ALLOC-095", data_of(rig, first, DXGK_HANDLE_RESOURCE, 0) == NULL);
    CHECK_RULE("ALLOC-095", data_of(rig, 0x12345, DXGK_HANDLE_ALLOCATION, 0) == NULL);
    CHECK_RULE("ALLOC-104", vidmm_cb_get_handle_parent(&rig->ddi, first) == r.resource);
    alone = mm_create_ok(c, mm_private_default(MM_SET_BOTH, 4096));
    CHECK_RULE("ALLOC-104", vidmm_cb_get_handle_parent(&rig->ddi, alone) == 0);
    CHECK_RULE("ALLOC-104", vidmm_cb_get_handle_parent(&rig->ddi, 0x777) == 0);
    for (UINT i = 0; i < 3; i++) {
        const DXGKARGCB_ENUMHANDLECHILDREN args = {.hObject = r.resource, .Index = i};

        CHECK_RULE("ALLOC-105", vidmm_cb_enum_handle_children(&rig->ddi, &args) ==
                                    (i < 2 ? r.info[i].hAllocation : 0));
    }
    CHECK(mm_destroy(c, alone, 0) == STATUS_SUCCESS);
    CHECK_RULE("ALLOC-095", data_of(rig, alone, DXGK_HANDLE_ALLOCATION, 0) == NULL);

    /* a handle of another process means nothing here */
    CHECK(NT_SUCCESS(mm_client_open(rig, 1, 1)));
    rig->on_open = NULL;
    for (UINT i = 0; i < 3; i++)
        alone = mm_create_ok(&rig->client[1], mm_private_default(MM_SET_BOTH, 4096));
    CHECK_RULE("ALLOC-098", data_of(rig, alone, DXGK_HANDLE_ALLOCATION, 0) !=
                                mm_allocation(&rig->client[1], alone)->driver_handle);
}

/* ---- client memory ---- */

TEST_WITH(mm, existing_memory_stays_the_clients)
{
    struct mm_client *c = &rig->client[0];
    const struct ram_request want = {
        .pages = 3, .owner = RAM_CLIENT, .cache = RAM_CACHED, .zero = true};
    struct page_number frames[3];
    struct mm_request r;
    uint8_t *memory;
    struct vidmm_allocation *a;

    CHECK(ram_take_pages(rig->base.ram, &want, frames));
    memory = ram_view_reserve(rig->base.ram, 3);
    CHECK(memory && ram_view_point(rig->base.ram, memory, 0, frames, 3, true));
    memset(memory, 0x5A, 3 * PAGE_BYTES);

    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_BOTH, 3 * PAGE_BYTES);
    r.item[0].system_memory = memory;
    CHECK_RULE("KMT-201", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER &&
                              mm_violations(rig, "KMT-201") == 1);
    mm_request_init(&r, 1);
    r.data[0].flags = 0x10;
    CHECK_RULE("KMT-201", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER &&
                              mm_violations(rig, "KMT-201") == 2);
    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_BOTH, 2 * PAGE_BYTES);
    r.data[0].flags = 0x10;
    r.item[0].system_memory = memory + 8;
    CHECK_RULE("ALLOC-020", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    r.item[0].system_memory = memory;
    r.data[0].size = PAGE_BYTES + 1;
    CHECK_RULE("ALLOC-020", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);

    /* an existing heap: the driver need not say so, and must stay inside */
    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_BOTH, 3 * PAGE_BYTES);
    r.item[0].system_memory = memory;
    r.request.heap_bytes = 2 * PAGE_BYTES;
    CHECK_RULE("ALLOC-146", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER &&
                                mm_violations(rig, "ALLOC-146") == 1 &&
                                ram_page_locks(rig->base.ram, frames[0]) == 0);
    r.request.heap_bytes = 3 * PAGE_BYTES;
    CHECK_RULE("ALLOC-146", mm_request_make(&r, c) == STATUS_SUCCESS &&
                                mm_violations(rig, "ALLOC-146") == 1 &&
                                ram_page_locks(rig->base.ram, frames[2]) == 1);
    CHECK(mm_destroy(c, r.info[0].hAllocation, 2) == STATUS_SUCCESS);

    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_VRAM, 3 * PAGE_BYTES);
    r.data[0].flags = 0x10;
    r.item[0].system_memory = memory;
    CHECK_RULE("KMT-200", mm_request_make(&r, c) == STATUS_SUCCESS);
    CHECK_RULE("ALLOC-020", ram_page_locks(rig->base.ram, frames[0]) == 1 &&
                                ram_page_locks(rig->base.ram, frames[2]) == 1);
    CHECK(NT_SUCCESS(mm_resident(c, r.info[0].hAllocation)));
    a = mm_allocation(c, r.info[0].hAllocation);
    CHECK(a->segment == 1 && mm_page(rig, a, 2)[5] == 0x5A);
    mm_write_content(rig, a, 9); /* by the GPU */
    CHECK(mm_evict(c, r.info[0].hAllocation, 0) == STATUS_SUCCESS);
    mm_idle(rig);
    CHECK_RULE("ALLOC-050",
               !a->resident && mm_check_content(rig, a, 9) && memory[1] == mm_page(rig, a, 0)[1]);
    CHECK(mm_destroy(c, r.info[0].hAllocation, 2) == STATUS_SUCCESS);
    CHECK(ram_page_locks(rig->base.ram, frames[0]) == 0);
    ram_view_release(rig->base.ram, memory, 3);
    ram_give_pages(rig->base.ram, frames, 3);
}

/* ---- lost devices, faults, numbers ---- */

TEST_WITH(mm, lost_device_creates_nothing)
{
    struct mm_client *c = &rig->client[0];
    NTSTATUS status;

    vidmm_device_set_lost(c->device);
    mm_create(c, mm_private_default(MM_SET_BOTH, 4096), &status);
    CHECK_RULE("ALLOC-032", status == STATUS_DEVICE_REMOVED && mm_event_count(rig, MM_CREATE) == 0);
}

/* Every internal allocation of a create fails in turn; nothing may be left each time. */
TEST_WITH(mm, create_survives_every_fault)
{
    struct mm_client *c = &rig->client[0];
    struct util_heap *heap = &rig->base.sim->heap;
    uint32_t handles = c->process->nt->handles.live;
    NTSTATUS status = STATUS_NO_MEMORY;

    for (uint64_t nth = 1; status == STATUS_NO_MEMORY; nth++) {
        struct mm_request r;
        uint64_t blocks;

        CHECK(nth < 100);
        mm_request_init(&r, 3);
        r.resource_data = 3;
        r.request.flags.CreateResource = 1;
        r.request.resource_private = &r.resource_data;
        r.request.resource_private_bytes = sizeof(r.resource_data);
        blocks = heap->live_blocks;
        heap->fail_at = heap->requests + nth;
        status = mm_request_make(&r, c);
        heap->fail_at = 0;
        if (status == STATUS_NO_MEMORY) {
            CHECK(heap->live_blocks <= blocks + 1); /* a handle table may have grown */
            CHECK(c->process->nt->handles.live == handles && list_empty(&rig->vidmm->allocations));
            CHECK(mm_event_count(rig, MM_CREATE) == mm_event_count(rig, MM_DESTROY));
            CHECK(mm_event_count(rig, MM_OPEN) == mm_event_count(rig, MM_CLOSE));
        }
        CHECK(vidmm_validate(rig->vidmm));
    }
    CHECK_RULE("KMT-013", status == STATUS_SUCCESS);
}

TEST_WITH(mm, statistics_count)
{
    struct mm_client *c = &rig->client[0];
    struct vidmm_statistics before;
    struct vidmm_statistics after;
    static D3DKMT_HANDLE list[2000];

    vidmm_statistics(rig->vidmm, &before);
    for (unsigned i = 0; i < 2000; i++)
        list[i] = mm_create_ok(c, mm_private_default(MM_SET_BOTH, 4096));
    vidmm_statistics(rig->vidmm, &after);
    CHECK(after.allocations_live == before.allocations_live + 2000 &&
          after.allocations_created == before.allocations_created + 2000);
    CHECK(mm_destroy_list(c, list, 2000, 0) == STATUS_SUCCESS);
    mm_idle(rig);
    vidmm_statistics(rig->vidmm, &after);
    CHECK(after.allocations_live == 0);
}
