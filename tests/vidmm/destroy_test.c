/* SPDX-License-Identifier: MIT */
/* Closing and destroying allocations. */
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

TEST_WITH(mm, a_list_with_a_bad_element_destroys_nothing)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;
    struct mm_request alone;
    D3DKMT_HANDLE mixed[2];
    D3DKMT_HANDLE list[3];

    mm_request_init(&r, 3);
    r.request.flags.CreateResource = 1;
    CHECK(mm_request_make(&r, c) == STATUS_SUCCESS);
    mm_request_init(&alone, 1);
    CHECK(mm_request_make(&alone, c) == STATUS_SUCCESS);
    for (UINT i = 0; i < 3; i++)
        list[i] = r.info[i].hAllocation;
    mm_mark(rig);
    mixed[0] = list[0];
    mixed[1] = alone.info[0].hAllocation;
    CHECK_RULE("ALLOC-085", mm_destroy_list(c, mixed, 2, 0) == STATUS_INVALID_PARAMETER);
    mixed[1] = 0xBAD;
    CHECK_RULE("ALLOC-085", mm_destroy_list(c, mixed, 2, 0) == STATUS_INVALID_PARAMETER);
    mixed[1] = mixed[0];
    CHECK_RULE("KMT-263", mm_destroy_list(c, mixed, 2, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-263", vidmm_allocation_destroy(c->device, 0, NULL, 0,
                                                   (D3DDDICB_DESTROYALLOCATION2FLAGS){0}) ==
                              STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-085", vidmm_allocation_destroy(c->device, r.resource, list, 1,
                                                     (D3DDDICB_DESTROYALLOCATION2FLAGS){0}) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-091", mm_destroy_list(c, list, 1, 4) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-262", mm_destroy_list(c, list, 1, 0x80000000) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-085", mm_event_count(rig, MM_CLOSE) == 0 &&
                                NT_SUCCESS(mm_resident(c, list[0]))); /* still usable */
}

TEST_WITH(mm, a_resource_is_destroyed_after_its_last_allocation)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;
    D3DKMT_HANDLE list[3];
    const struct mm_event *e;
    HANDLE first;

    mm_request_init(&r, 3);
    r.request.flags.CreateResource = 1;
    rig->next_resource = (HANDLE)(uintptr_t)0xAA;
    CHECK(mm_request_make(&r, c) == STATUS_SUCCESS);
    for (UINT i = 0; i < 3; i++)
        list[i] = r.info[i].hAllocation;
    first = mm_allocation(c, list[0])->driver_handle;
    mm_mark(rig);
    CHECK(mm_destroy_list(c, list, 1, 0) == STATUS_SUCCESS);
    mm_idle(rig);
    e = mm_event_at(rig, MM_DESTROY, 0);
    CHECK_RULE("ALLOC-086", e->count == 1 && e->flags == 0 && e->handle[0] == first);
    CHECK(mm_destroy_list(c, list + 1, 2, 0) == STATUS_SUCCESS);
    mm_idle(rig);
    CHECK_RULE("ALLOC-087", mm_destroy_resource(c, r.resource, 0) == STATUS_SUCCESS);
    e = mm_event_at(rig, MM_DESTROY, 2);
    CHECK_RULE("ALLOC-087",
               e->count == 0 && e->flags == 1 && e->resource == (HANDLE)(uintptr_t)0xAA);
}

TEST_WITH(mm, destroy_closes_and_destroys)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;

    mm_request_init(&r, 3);
    r.request.flags.CreateResource = 1;
    CHECK(mm_request_make(&r, c) == STATUS_SUCCESS);
    mm_mark(rig);
    rig->close_status = STATUS_UNSUCCESSFUL;
    CHECK(mm_destroy_resource(c, r.resource, 0) == STATUS_SUCCESS);
    mm_idle(rig);
    CHECK_RULE("ALLOC-083",
               mm_event_count(rig, MM_CLOSE) == 1 && mm_event_at(rig, MM_CLOSE, 0)->count == 3 &&
                   mm_event_position(rig, MM_CLOSE, 0) < mm_event_position(rig, MM_DESTROY, 0));
    CHECK_RULE("ALLOC-086", mm_event_at(rig, MM_DESTROY, 0)->count == 3 &&
                                mm_event_at(rig, MM_DESTROY, 0)->flags == 1);
    CHECK_RULE("ALLOC-084",
               mm_violations(rig, "ALLOC-084") == 1 && mm_event_count(rig, MM_DESTROY) == 1);
    rig->close_status = STATUS_SUCCESS;
    CHECK_RULE("KMT-026", mm_destroy_resource(c, r.resource, 0) == STATUS_INVALID_PARAMETER);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, destruction_waits_for_the_gpu)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_create_ok(c, mm_private_default(MM_SET_VRAM, 4096));
    D3DKMT_HANDLE other;
    uint64_t fence;
    uint64_t page;

    CHECK(NT_SUCCESS(mm_resident(c, h)));
    page = mm_allocation(c, h)->runs[0].first;
    mm_submit(c);
    CHECK(mm_dispatch(c));
    CHECK(mm_destroy(c, h, 0) == STATUS_SUCCESS);
    mm_idle(rig);
    CHECK_RULE("ALLOC-089",
               mm_event_count(rig, MM_CLOSE) == 0 && mm_event_count(rig, MM_DESTROY) == 0);
    CHECK_RULE("ALLOC-091", mm_make_resident(c, &h, 1, 0, &fence) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-265", rig->client[0].device->missing == 0 &&
                              list_empty(&rig->client[0].device->residency));
    other = mm_create_ok(c, mm_private_default(MM_SET_VRAM, 4096));
    CHECK(NT_SUCCESS(mm_resident(c, other)));
    CHECK_RULE("ALLOC-088", mm_allocation(c, other)->runs[0].first != page);
    mm_finish(c);
    mm_idle(rig);
    CHECK_RULE("ALLOC-089",
               mm_event_count(rig, MM_CLOSE) == 1 && mm_event_count(rig, MM_DESTROY) == 1);

    mm_mark(rig);
    mm_submit(c);
    CHECK(mm_destroy(c, other, 1) == STATUS_SUCCESS); /* AssumeNotInUse */
    mm_idle(rig);
    CHECK_RULE("ALLOC-089", mm_event_count(rig, MM_DESTROY) == 1);
    mm_finish(c);

    other = mm_create_ok(c, mm_private_default(MM_SET_VRAM, MM_MB));
    CHECK(NT_SUCCESS(mm_resident(c, other)));
    CHECK_RULE("ALLOC-090", mm_destroy(c, other, 2) == STATUS_SUCCESS &&
                                rig->vidmm->segment[1].mapped_bytes ==
                                    segment_own_bytes(&rig->vidmm->segment[1]));
}

TEST_WITH(mm, destruction_is_in_order)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_APERTURE, 8192);
    uint64_t free_pages = ram_free_pages(rig->base.ram);
    D3DKMT_HANDLE h;

    p.flags |= 0x8000;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    rig->hold = true;
    CHECK(mm_destroy(c, h, 0) == STATUS_SUCCESS);
    sim_stall(1000000);
    CHECK_RULE("ALLOC-092", mm_op_count(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) == 1 &&
                                mm_event_count(rig, MM_CLOSE) == 0);
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK_RULE("ALLOC-092",
               mm_event_position(rig, MM_CLOSE, 0) < mm_event_position(rig, MM_DESTROY, 0));
    CHECK_RULE("ALLOC-092", ram_free_pages(rig->base.ram) == free_pages);
}

TEST_WITH(mm, device_end_closes_everything)
{
    struct mm_client *c;
    struct mm_request r;

    CHECK(NT_SUCCESS(mm_client_open(rig, 1, 1)));
    c = &rig->client[1];
    mm_request_init(&r, 3);
    r.request.flags.CreateResource = 1;
    CHECK(mm_request_make(&r, c) == STATUS_SUCCESS);
    for (int i = 0; i < 4; i++)
        CHECK(NT_SUCCESS(mm_resident(c, mm_create_ok(c, mm_private_default(MM_SET_BOTH, 4096)))));
    CHECK(NT_SUCCESS(mm_resident(c, r.info[1].hAllocation)));
    mm_mark(rig);
    mm_client_close(rig, 1);
    CHECK_RULE("ALLOC-094", list_empty(&rig->vidmm->allocations) &&
                                mm_event_count(rig, MM_CLOSE) == 5 &&
                                mm_event_count(rig, MM_DESTROY) == 5);
    CHECK_RULE("ALLOC-145", mm_event_at(rig, MM_CLOSE, 0)->count == 3 &&
                                mm_event_at(rig, MM_DESTROY, 0)->count == 3 &&
                                mm_event_at(rig, MM_DESTROY, 0)->flags == 1);
    for (uint32_t i = 1; i < 5; i++) /* those that belong to no resource */
        CHECK_RULE("ALLOC-145", mm_event_at(rig, MM_CLOSE, i)->count == 1 &&
                                    mm_event_at(rig, MM_DESTROY, i)->count == 1 &&
                                    mm_event_at(rig, MM_DESTROY, i)->flags == 0 &&
                                    mm_event_at(rig, MM_DESTROY, i)->handle[0] !=
                                        mm_event_at(rig, MM_DESTROY, i % 4 + 1)->handle[0]);
    CHECK_RULE("RES-030", rig->vidmm->budget.usage[0] == 0 && vidmm_validate(rig->vidmm));
}
