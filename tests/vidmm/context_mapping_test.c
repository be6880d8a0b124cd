/* SPDX-License-Identifier: MIT */
/* GPU virtual addresses of context allocations: where a driver may map them, and what is mapped. */
#include "support/gva_context.h"

#include "sim/machine.h"

#define GB (1ull << 30)

/* An allocation of two pages, mapped before its context was attached. */
struct mapped {
    struct gva_context client;
    HANDLE handle;
    D3DGPU_VIRTUAL_ADDRESS va;
    uint64_t first; /* page of the segment */
};

static void map_first(struct gva_rig *rig, struct mapped *m)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    *m = (struct mapped){0};
    gva_context_open(rig, &m->client, true);
    args = gva_context_request(&m->client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    m->handle = args.hAllocation;
    m->va = gva_context_map(rig, m->handle, 0, 0, 2, 1);
    CHECK_RULE("CTXA-044", m->va != 0);
    gva_context_attach(&m->client);
    m->first = gva_context_allocation(rig, m->handle)->runs[0].first;
}

static void unmap_last(struct gva_rig *rig, struct mapped *m)
{
    CHECK(gva_context_destroy(rig, m->handle) == STATUS_SUCCESS);
    CHECK(gva_valid(rig));
    gva_context_close(rig, &m->client);
}

TEST_WITH(gva, mappings_stand_in_the_clients_space)
{
    D3DGPU_VIRTUAL_ADDRESS after;
    struct mapped m;

    map_first(rig, &m);
    CHECK_RULE("CTXA-051", gva_entry_page(gva_look(rig, m.va)) == m.first &&
                               gva_entry_page(gva_look(rig, m.va + 4096)) == m.first + 1);
    after = gva_context_map(rig, m.handle, 2 * GB, 1, 1, 0);
    CHECK_RULE("CTXA-046", after == 2 * GB);
    CHECK_RULE("CTXA-051", gva_entry_page(gva_look(rig, after)) == m.first + 1 &&
                               (gva_look(rig, after) & GVA_READ_ONLY));
    CHECK_RULE("CTXA-052", after != m.va);
    unmap_last(rig, &m);
}

TEST_WITH(gva, updates_for_a_mapping_have_the_drivers_name_and_protection)
{
    const struct gva_op *op = NULL;
    struct mapped m;

    map_first(rig, &m);
    for (uint32_t i = 0; i < gva_op_count(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE); i++) {
        op = gva_op_at(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE, i);
        if (op->args.UpdatePageTable.PageTableLevel == 0 && op->entries[0].Valid &&
            op->args.UpdatePageTable.hProcess == rig->process->driver_handle)
            break;
    }
    CHECK(op != NULL);
    CHECK_RULE("GPUVA-177", op->args.UpdatePageTable.hAllocation == GVA_CONTEXT_DRIVER_NAME);
    CHECK_RULE("CTXA-049",
               op->args.UpdatePageTable.DriverProtection == 0x77 && !op->entries[0].ReadOnly);
    unmap_last(rig, &m);
}

TEST_WITH(gva, impossible_mappings_are_refused)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    uint64_t reserved = GB;
    struct mapped m;

    map_first(rig, &m);
    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &reserved)));
    CHECK_RULE("CTXA-046", gva_context_map(rig, m.handle, GB + 4096, 0, 1, 0) == 0);
    CHECK_RULE("CTXA-048", gva_context_map(rig, m.handle, 0, 1, 2, 0) == 0);
    CHECK_RULE("CTXA-050", gva_context_map(rig, m.handle, 0, 0, 0, 0) == 0 &&
                               gva_context_map(rig, m.handle, 0, 0, 1, 4) == 0 &&
                               gva_context_map(rig, m.handle, 0, 0, 1, 16) == 0 &&
                               gva_context_map(rig, m.handle, 77, 0, 1, 0) == 0);
    CHECK_RULE("CTXA-050", verify_rule_count(rig->base.log, "CTXA-050") >= 4);
    CHECK_RULE("CTXA-045",
               gva_context_map(rig, (HANDLE)(uintptr_t)object->handle, 0, 0, 1, 0) == 0 &&
                   verify_rule_count(rig->base.log, "CTXA-045") == 1);
    unmap_last(rig, &m);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_client_does_not_touch_the_mapping_of_a_context_allocation)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS map = gva_map_args(object, 1);
    struct mapped m;

    map_first(rig, &m);
    map.BaseAddress = m.va;
    CHECK_RULE("CTXA-053", gva_map(rig, &map) == STATUS_INVALID_PARAMETER &&
                               gva_free(rig, m.va, 2) == STATUS_INVALID_PARAMETER &&
                               gva_entry_page(gva_look(rig, m.va)) == m.first);
    unmap_last(rig, &m);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, mappings_end_with_their_allocation)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS map = gva_map_args(object, 1);
    D3DGPU_VIRTUAL_ADDRESS after;
    struct mapped m;

    map_first(rig, &m);
    after = gva_context_map(rig, m.handle, 2 * GB, 1, 1, 0);
    CHECK(after == 2 * GB && gva_look(rig, m.va) != GVA_FAULT && gva_look(rig, after) != GVA_FAULT);
    unmap_last(rig, &m);
    CHECK_RULE("CTXA-052", gva_look(rig, m.va) == GVA_FAULT && gva_look(rig, after) == GVA_FAULT);
    map.BaseAddress = 2 * GB;
    CHECK_RULE("CTXA-052", NT_SUCCESS(gva_map(rig, &map)));
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, windows_of_mappings)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_MAPCONTEXTALLOCATION map = {
        .MinimumAddress = GB, .MaximumAddress = GB + 8192, .SizeInPages = 2};

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    map.hAllocation = args.hAllocation;
    CHECK_RULE("CTXA-047", vidmm_cb_map_context_allocation(&rig->ddi, &map) == GB);
    CHECK_RULE("CTXA-047", vidmm_cb_map_context_allocation(&rig->ddi, &map) == 0);
    map.MaximumAddress = GB + 4096;
    CHECK_RULE("CTXA-047", vidmm_cb_map_context_allocation(&rig->ddi, &map) == 0);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

/* A map, and the update that first makes the allocation resident, with each request for memory failing once. */
TEST_WITH(gva, failed_maps_and_updates_say_so_and_leave_nothing)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {0};
    struct util_heap *heap = &sim_current->heap;
    D3DGPU_VIRTUAL_ADDRESS va = 0;
    NTSTATUS status = STATUS_NO_MEMORY;
    uint64_t failures = 0;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    for (uint64_t n = 1; !va; n++) {
        heap->fail_at = heap->requests + n;
        va = gva_context_map(rig, args.hAllocation, 8 * GB, 0, 2, 1);
        heap->fail_at = 0;
        failures += va == 0;
        CHECK_RULE("CTXA-044", verify_rule_count(rig->base.log, "CTXA-044") == failures && n < 100);
        CHECK(gva_valid(rig));
    }
    CHECK_RULE("CTXA-044", va == 8 * GB && failures > 0);
    failures = 0;
    update.hAllocation = args.hAllocation;
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        heap->fail_at = heap->requests + n;
        status = vidmm_cb_update_context_allocation(&rig->ddi, &update);
        heap->fail_at = 0;
        failures += !NT_SUCCESS(status);
        CHECK_RULE("CTXA-058", NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
        CHECK_RULE("CTXA-058", verify_rule_count(rig->base.log, "CTXA-058") == failures && n < 200);
        gva_idle(rig);
    }
    CHECK(verify_count(rig->base.log, VERIFY_WARNING) == 0 && gva_valid(rig));
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-052", gva_look(rig, va) == GVA_FAULT && gva_valid(rig));
    gva_context_close(rig, &client);
}

TEST_WITH(gva, a_unique_driver_protection_binds_context_allocations)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_MAPCONTEXTALLOCATION map = {.SizeInPages = 1,
                                          .DriverProtection = D3DGPU_UNIQUE_DRIVER_PROTECTION | 5};

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    map.hAllocation = args.hAllocation;
    CHECK_RULE("CTXA-049", vidmm_cb_map_context_allocation(&rig->ddi, &map) != 0 &&
                               vidmm_cb_map_context_allocation(&rig->ddi, &map) != 0);
    map.DriverProtection = 5;
    CHECK_RULE("CTXA-049", vidmm_cb_map_context_allocation(&rig->ddi, &map) == 0 &&
                               verify_rule_count(rig->base.log, "CTXA-049") == 1);
    map.OffsetInPages = 1; /* another page */
    CHECK_RULE("CTXA-049", vidmm_cb_map_context_allocation(&rig->ddi, &map) != 0);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}
