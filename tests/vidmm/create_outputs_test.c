/* SPDX-License-Identifier: MIT */
/* What comes of a creation: priorities, first content, and what is undone when it fails late. */
#include "nt/base/kprocess.h"
#include "sim/mutex.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "support/mm_segments.h"
#include "verify/refusal.h"

#define OK(call) CHECK(NT_SUCCESS(call))

/* ---- priorities ---- */

TEST_WITH(mm, a_client_may_override_the_priority)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;

    mm_request_init(&r, 3);
    for (unsigned i = 0; i < 3; i++) {
        r.data[i].priority = 0x50000000 + i;
        r.info[i].Priority = 0xA0000000 + i;
    }
    r.info[1].Flags.OverridePriority = 1;
    OK(mm_request_make(&r, c));
    CHECK_RULE("KMT-204", mm_allocation(c, r.info[0].hAllocation)->priority == 0x50000000);
    CHECK_RULE("KMT-204", mm_allocation(c, r.info[1].hAllocation)->priority == 0xA0000001);
    CHECK_RULE("KMT-204", mm_allocation(c, r.info[2].hAllocation)->priority == 0x50000002);
}

/* ---- first content ---- */

TEST_WITH(mm, content_that_need_not_be_zero_is_a_pattern)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;
    const struct vidmm_allocation *a;
    void *address;

    mm_request_init(&r, 2);
    r.data[0] = mm_private_default(MM_SET_VRAM, 3 * PAGE_BYTES);
    r.data[1] = mm_private_default(MM_SET_APERTURE, 3 * PAGE_BYTES);
    r.request.flags.AllowNotZeroed = 1;
    OK(mm_request_make(&r, c));
    for (unsigned i = 0; i < 2; i++) {
        OK(mm_resident(c, r.info[i].hAllocation));
        a = mm_allocation(c, r.info[i].hAllocation);
        for (unsigned page = 0; page < 3; page++)
            for (unsigned at = 0; at < PAGE_BYTES; at += PAGE_BYTES - 4)
                CHECK_RULE("KMT-216",
                           *(uint32_t *)(void *)(mm_page(rig, a, page) + at) == 0xC5C5C5C5);
    }
    CHECK_RULE("KMT-216",
               mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) == 1 &&
                   mm_op_at(rig, DXGK_OPERATION_VIRTUAL_FILL, 0)->args.FillVirtual.FillPattern ==
                       0xC5C5C5C5);
    mm_request_init(&r, 1);
    r.request.flags.AllowNotZeroed = 1;
    OK(mm_request_make(&r, c));
    OK(vidmm_lock2(c->device, r.info[0].hAllocation, &address));
    CHECK_RULE("KMT-216", *(uint32_t *)address == 0xC5C5C5C5);
    OK(vidmm_unlock2(c->device, r.info[0].hAllocation));
}

TEST_WITH(mm, pages_have_the_cache_type_of_their_allocation)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE cached = mm_make(c, MM_SET_APERTURE, 2, 5),
                  other = mm_make(c, MM_SET_APERTURE, 2, 1);

    OK(mm_resident(c, cached));
    OK(mm_resident(c, other));
    for (unsigned i = 0; i < 2; i++) {
        CHECK_RULE("ALLOC-048", ram_page_cache(rig->base.ram,
                                               mm_allocation(c, cached)->backing[i]) == RAM_CACHED);
        CHECK_RULE("ALLOC-048", ram_page_cache(rig->base.ram, mm_allocation(c, other)->backing[i]) ==
                                    RAM_WRITE_COMBINED);
    }
}

/* ---- late failures ---- */

TEST_WITH(mm, a_driver_that_fails_to_undo_is_reported)
{
    struct mm_client *c = &rig->client[0];
    uint32_t handles = c->process->nt->handles.live;
    struct mm_request r;

    rig->close_status = rig->destroy_status = STATUS_UNSUCCESSFUL;
    rig->null_open_handle = true;
    mm_request_init(&r, 3);
    CHECK_RULE("ALLOC-075", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-084", mm_violations(rig, "ALLOC-084") == 2);
    CHECK(mm_event_at(rig, MM_CLOSE, 0)->count == 2 && mm_event_at(rig, MM_DESTROY, 0)->count == 3);
    CHECK(mm_event_at(rig, MM_CLOSE, 0)->handle[0] == mm_event_at(rig, MM_OPEN, 0)->handle[0]);
    CHECK(mm_event_at(rig, MM_CLOSE, 0)->handle[1] == mm_event_at(rig, MM_OPEN, 0)->handle[1]);
    CHECK(mm_event_at(rig, MM_DESTROY, 0)->handle[2] == mm_event_at(rig, MM_CREATE, 0)->handle[2]);
    rig->close_status = rig->destroy_status = STATUS_SUCCESS;
    mm_mark(rig);
    mm_request_init(&r, 1); /* nothing was opened: nothing is closed */
    CHECK(mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("ALLOC-075",
               mm_event_count(rig, MM_CLOSE) == 0 && mm_event_count(rig, MM_DESTROY) == 1);
    CHECK(mm_violations(rig, "ALLOC-084") == 2);
    rig->null_open_handle = false;
    CHECK(c->process->nt->handles.live == handles && list_empty(&rig->vidmm->allocations));
}

/* An empty resource whose first allocation fails is the driver's to forget (ALLOC-012), one that it knows is not. */
TEST_WITH(mm, a_resource_is_destroyed_with_what_made_it)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r;
    D3DKMT_HANDLE resource;

    mm_request_init(&r, 0);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, c));
    resource = r.resource;
    rig->next_resource = (HANDLE)(uintptr_t)0xAD;
    for (unsigned i = 0; i < 3; i++) {
        mm_request_init(&r, 1);
        r.request.resource = resource;
        rig->open_status = i == 1 ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL;
        CHECK(mm_request_make(&r, c) == rig->open_status);
    }
    rig->open_status = STATUS_SUCCESS;
    CHECK(mm_event_count(rig, MM_DESTROY) == 2);
    CHECK_RULE("ALLOC-012", mm_event_at(rig, MM_DESTROY, 0)->flags == 1 &&
                                mm_event_at(rig, MM_DESTROY, 0)->resource == (HANDLE)0xAD);
    CHECK_RULE("ALLOC-012", mm_event_at(rig, MM_DESTROY, 1)->flags == 0 &&
                                mm_event_at(rig, MM_DESTROY, 1)->resource == NULL);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, resources_of_others_do_not_grow)
{
    struct mm_client *c = &rig->client[0];
    struct mm_request r, s;

    OK(mm_client_open(rig, 1, 0));
    mm_request_init(&r, 1);
    r.request.flags.CreateResource = 1;
    OK(mm_request_make(&r, &rig->client[1]));
    mm_request_init(&s, 1);
    s.request.resource = r.resource;
    mm_mark(rig);
    CHECK_RULE("KMT-191", mm_request_make(&s, c) == STATUS_INVALID_HANDLE);
    s.request.resource = r.info[0].hAllocation;
    CHECK_RULE("KMT-191", mm_request_make(&s, &rig->client[1]) == STATUS_INVALID_HANDLE);
    rig->vidmm->lost = true;
    s.request.resource = 0;
    CHECK(mm_request_make(&s, c) == STATUS_DEVICE_REMOVED);
    rig->vidmm->lost = false;
    CHECK(mm_event_count(rig, MM_CREATE) == 0);
}

/* Client memory that ends before the allocation does: no page of it stays locked. */
TEST_WITH(mm, client_memory_has_to_be_there)
{
    struct mm_client *c = &rig->client[0];
    const struct ram_request want = {.pages = 2, .owner = RAM_CLIENT, .cache = RAM_CACHED};
    struct page_number frames[2];
    struct mm_request r;
    uint8_t *memory;

    CHECK(ram_take_pages(rig->base.ram, &want, frames));
    memory = ram_view_reserve(rig->base.ram, 3);
    CHECK(memory && ram_view_point(rig->base.ram, memory, 0, frames, 2, true));
    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_BOTH, 3 * PAGE_BYTES);
    r.data[0].flags = 0x11;
    r.item[0].system_memory = memory;
    CHECK_RULE("ALLOC-020", mm_request_make(&r, c) == STATUS_INVALID_PARAMETER);
    CHECK(ram_page_locks(rig->base.ram, frames[0]) == 0 &&
          ram_page_locks(rig->base.ram, frames[1]) == 0 && mm_event_count(rig, MM_DESTROY) == 1);
    r.data[0].size = 2 * PAGE_BYTES;
    CHECK_RULE("ALLOC-020", mm_request_make(&r, c) == STATUS_SUCCESS);
    OK(mm_destroy(c, r.info[0].hAllocation, 2));
    ram_view_release(rig->base.ram, memory, 3);
    ram_give_pages(rig->base.ram, frames, 2);
}

/* Over existing memory the other system memory flags are dropped. */
TEST_WITH(mm, memory_that_was_given_goes_before_other_kinds)
{
    static const struct {
        UINT flags, kept;
    } cases[] = {
        {0x1 | 0x2 | 0x10, 0x1 | 0x10}, {0x10 | 0x20, 0x10}, {0x1 | 0x2 | 0x30, 0x1 | 0x10}};
    struct mm_client *c = &rig->client[0];
    const struct ram_request want = {.pages = 2, .owner = RAM_CLIENT, .cache = RAM_CACHED};
    struct page_number first;
    struct mm_request r;
    struct mm_private p = mm_private_default(MM_SET_BOTH, PAGE_BYTES);
    NTSTATUS status;
    D3DKMT_HANDLE h;

    CHECK(verify_set_severity(rig->base.log, "ALLOC-050", VERIFY_WARNING));
    CHECK(ram_take_contiguous(rig->base.ram, &want, &first));
    for (unsigned i = 0; i < 3; i++) {
        mm_request_init(&r, 1);
        r.data[0] = mm_private_default(MM_SET_BOTH, 2 * PAGE_BYTES);
        r.data[0].flags = cases[i].flags;
        r.item[0].system_memory = ram_direct(rig->base.ram, page_phys(first));
        OK(mm_request_make(&r, c));
        CHECK_RULE("ALLOC-050",
                   mm_allocation(c, r.info[0].hAllocation)->flags.Value == cases[i].kept);
        CHECK(mm_violations(rig, "ALLOC-050") == i + 1);
        OK(mm_destroy(c, r.info[0].hAllocation, 2));
    }
    p.flags = 0x1 | 0x2 | 0x20;
    h = mm_create(c, p, &status);
    CHECK_RULE("ALLOC-050", h && mm_allocation(c, h)->flags.Value == (0x1 | 0x20));
    p.flags = 0x1 | 0x20;
    CHECK_RULE("ALLOC-050", mm_create(c, p, &status) && mm_violations(rig, "ALLOC-050") == 4);
    mm_client_close(rig, 0);
    ram_give_contiguous(rig->base.ram, first, 2);
}

/* ---- the host's own ---- */

TEST_WITH(mm, allocations_of_the_host_have_whole_large_pages, *options = mm_plain_options(),
          options->segment[0].Flags.Use64KBPages = 1)
{
    struct allocation_request request = {.driver_handle = (HANDLE)(uintptr_t)0x77,
                                         .bytes = 65537,
                                         .alignment = 100,
                                         .supported_set = MM_SET_VRAM,
                                         .preferred = {1, 0, 0, 0, 0},
                                         .eviction_set = 2,
                                         .priority = 5};
    struct vidmm_allocation *a = NULL, *b = NULL;

    request.flags.CpuVisible = request.flags.AccessedPhysically = 1;
    sim_mutex_lock(&rig->vidmm->lock);
    OK(allocation_create_internal(rig->vidmm, &request, &a));
    CHECK(a->internal && a->pages == 32 && a->bytes == 65537 && a->alignment == PAGE_BYTES);
    CHECK(a->driver_handle == request.driver_handle && a->segments.supported == MM_SET_VRAM &&
          a->segments.preferred[0] == 1 && a->segments.eviction == 2 && a->priority == 5);
    CHECK(a->accessed_physically && a->cpu_visible && a->fill_pattern == 0xC5C5C5C5);
    request.supported_set = MM_SET_APERTURE; /* small pages there */
    request.alignment = 65536;
    request.flags.CpuVisible = 0;
    OK(allocation_create_internal(rig->vidmm, &request, &b));
    CHECK(b->pages == 17 && b->alignment == 65536 && !b->cpu_visible);
    allocation_free(a);
    allocation_free(b);
    b = NULL;
    request.supported_set = MM_SET_VRAM;
    request.bytes = 16 * MM_MB + 1;
    CHECK(allocation_create_internal(rig->vidmm, &request, &b) == STATUS_NO_MEMORY && !b);
    request.bytes = 16 * MM_MB;
    OK(allocation_create_internal(rig->vidmm, &request, &b));
    allocation_free(b);
    CHECK(list_empty(&rig->vidmm->allocations));
    sim_mutex_unlock(&rig->vidmm->lock);
}

/* A closer reason for a lack of memory is kept. */
TEST_WITH(mm, the_reason_for_a_lack_of_memory)
{
    struct refusal call;

    (void)rig;
    refusal_begin(&call);
    CHECK(vidmm_status(STATUS_INSUFFICIENT_RESOURCES) == STATUS_NO_MEMORY);
    CHECK(call.status == STATUS_NO_MEMORY && strstr(call.text, "memory of the host"));
    CHECK(vidmm_status(STATUS_INVALID_PARAMETER) == STATUS_INVALID_PARAMETER);
    refusal_drop(&call);
    refusal_begin(&call);
    refuse(STATUS_INSUFFICIENT_RESOURCES, NULL, "a closer one");
    CHECK(vidmm_host_is_full() == STATUS_NO_MEMORY && strcmp(call.text, "a closer one") == 0);
    refusal_drop(&call);
    refusal_begin(&call);
    refuse(STATUS_INVALID_PARAMETER, NULL, "another one");
    CHECK(vidmm_host_is_full() == STATUS_NO_MEMORY && strcmp(call.text, "another one") != 0);
    refusal_drop(&call);
    CHECK(vidmm_host_is_full() == STATUS_NO_MEMORY); /* outside of a call */
}

/* Each request of memory fails in turn: nothing is left, in the host or in the driver. */
TEST_WITH(mm, a_creation_without_memory_leaves_nothing)
{
    struct mm_client *c = &rig->client[0];
    struct util_heap *heap = &rig->base.sim->heap;
    uint32_t handles = c->process->nt->handles.live;
    unsigned nth, refused = 0;
    struct mm_request r;

    mm_request_init(&r, 3);
    OK(mm_request_make(&r, c)); /* the table of handles has grown */
    for (unsigned i = 0; i < 3; i++)
        OK(mm_destroy(c, r.info[i].hAllocation, 2));
    for (nth = 1;; nth++) {
        uint64_t failures = heap->failures, blocks = heap->live_blocks;
        NTSTATUS status;

        CHECK(nth < 100);
        mm_request_init(&r, 3);
        r.request.flags.CreateResource = 1;
        r.request.resource_private = &r.resource_data;
        r.request.resource_private_bytes = sizeof(r.resource_data);
        mm_mark(rig);
        heap->fail_at = heap->requests + nth;
        status = mm_request_make(&r, c);
        heap->fail_at = 0;
        if (heap->failures == failures) {
            CHECK(status == STATUS_SUCCESS);
            break;
        }
        refused += status == STATUS_NO_MEMORY;
        if (status == STATUS_SUCCESS)
            OK(mm_destroy_resource(c, r.resource, 2));
        CHECK(status == STATUS_SUCCESS || status == STATUS_NO_MEMORY);
        CHECK(heap->live_blocks == blocks && c->process->nt->handles.live == handles);
        CHECK(mm_event_count(rig, MM_CREATE) == mm_event_count(rig, MM_DESTROY) &&
              mm_event_count(rig, MM_OPEN) == mm_event_count(rig, MM_CLOSE));
        CHECK(list_empty(&rig->vidmm->allocations) && vidmm_validate(rig->vidmm));
    }
    CHECK_RULE("KMT-013", refused > 15 && mm_resident(c, r.info[2].hAllocation) == STATUS_PENDING);
}
