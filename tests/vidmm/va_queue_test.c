/* SPDX-License-Identifier: MIT */
/* Requests for addresses at their limits, and those that wait in a paging queue while others come. */
#include "sim/mutex.h"
#include "sim/point.h"
#include "support/gva_context.h"
#include "support/gva_gate.h"
#include "support/gva_rig.h"
#include "support/gva_updates.h"

#define SPAN (512ull * 4096)
#define GB   (1ull << 30)
#define TOP  (1ull << 48)

/* ---- what a refusal leaves ---- */

static NTSTATUS refused_map(struct gva_rig *rig, D3DDDI_MAPGPUVIRTUALADDRESS *args)
{
    NTSTATUS status;

    args->VirtualAddress = 0x77;
    args->PagingFenceValue = 0x78;
    status = gva_map(rig, args);
    CHECK(NT_SUCCESS(status) || (args->VirtualAddress == 0x77 && args->PagingFenceValue == 0x78));
    return status;
}

TEST_WITH(gva, a_refused_map_touches_nothing)
{
    struct gva_object *object = gva_object_resident(rig, 16, 0x1000);
    const D3DDDI_MAPGPUVIRTUALADDRESS good = gva_map_args(object, 16);
    D3DDDI_MAPGPUVIRTUALADDRESS args = good;

    args.SizeInPages = 0;
    CHECK_RULE("GPUVA-084", refused_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args = good;
    args.MinimumAddress = 1;
    CHECK_RULE("GPUVA-080", refused_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args = good;
    args.MinimumAddress = TOP;
    CHECK_RULE("GPUVA-081", refused_map(rig, &args) == STATUS_NO_MEMORY);
    args = good;
    args.MinimumAddress = UINT64_MAX - 4095;
    CHECK_RULE("GPUVA-081", refused_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args = good;
    args.MinimumAddress = GB;
    args.MaximumAddress = GB + 15 * 4096;
    CHECK_RULE("GPUVA-081", refused_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args.MaximumAddress += 4096;
    CHECK_RULE("GPUVA-081", refused_map(rig, &args) == STATUS_PENDING && args.VirtualAddress == GB);
    CHECK_RULE("GPUVA-081", refused_map(rig, &args) == STATUS_NO_MEMORY);
    args = good;
    args.BaseAddress = GB + 8 * 4096;
    CHECK_RULE("GPUVA-079", refused_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args = good;
    object->allocation.destroyed = true;
    CHECK_RULE("GPUVA-082", refused_map(rig, &args) == STATUS_INVALID_PARAMETER);
    object->allocation.destroyed = false;
    gva_idle(rig);
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_refused_reservation_touches_nothing)
{
    static const struct {
        uint64_t base, low, high, size;
        int type;
        NTSTATUS status;
    } cases[] = {
        {0, 0, 0, 0, 0, STATUS_INVALID_PARAMETER},
        {0, 0, 0, 4096, 0, STATUS_INVALID_PARAMETER},
        {0, 0, 0, 65536 + 4096, 0, STATUS_INVALID_PARAMETER},
        {0, 0, 0, 65536, 3, STATUS_INVALID_PARAMETER},
        {0, 0, 0, 65536, -1, STATUS_INVALID_PARAMETER},
        {GB + 4096, 0, 0, 65536, 0, STATUS_INVALID_PARAMETER},
        {TOP - 65536, 0, 0, 2 * 65536, 0, STATUS_INVALID_PARAMETER},
        {TOP, 0, 0, 65536, 0, STATUS_INVALID_PARAMETER},
        {0, GB + 4096, 0, 65536, 0, STATUS_INVALID_PARAMETER},
        {0, GB, GB + 65536 + 4096, 65536, 0, STATUS_INVALID_PARAMETER},
        {0, GB, GB + 65536, 2 * 65536, 0, STATUS_INVALID_PARAMETER},
        {0, 0, 0, TOP, 0, STATUS_NO_MEMORY},
        {TOP - 65536, 0, 0, 65536, 0, STATUS_SUCCESS},
        {0, GB, GB + 65536, 65536, 2, STATUS_SUCCESS},
        {0, GB, GB + 65536, 65536, 0, STATUS_NO_MEMORY},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        D3DDDI_RESERVEGPUVIRTUALADDRESS args = {.BaseAddress = cases[i].base,
                                                .MinimumAddress = cases[i].low,
                                                .MaximumAddress = cases[i].high,
                                                .Size = cases[i].size};

        args.ReservationType = (D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE)cases[i].type;
        args.VirtualAddress = 0x77;
        args.PagingFenceValue = 0x78;
        CHECK(vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == cases[i].status);
        if (!NT_SUCCESS(cases[i].status))
            CHECK(args.VirtualAddress == 0x77 && args.PagingFenceValue == 0x78);
        else
            CHECK(args.VirtualAddress == (cases[i].base ? cases[i].base : cases[i].low) &&
                  args.PagingFenceValue == 0);
    }
}

/* ---- the range of the host ---- */

static void narrow(struct gva_options *options)
{
    options->internal_start = GB;
    options->internal_end = GB + 4 * 65536;
}

static NTSTATUS map_window(struct gva_rig *rig, const struct gva_object *object, uint64_t low,
                           uint64_t high, uint64_t pages, uint64_t *va)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, pages);
    NTSTATUS status;

    args.MinimumAddress = low;
    args.MaximumAddress = high;
    status = gva_map(rig, &args);
    *va = args.VirtualAddress;
    return status;
}

TEST_WITH(gva, windows_go_around_the_range_of_the_host, narrow(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 64);
    const uint64_t low = GB - 65536, high = GB + 5 * 65536;
    uint64_t va;

    CHECK_RULE("GPUVA-060", map_window(rig, object, GB, GB + 65536, 1, &va) == STATUS_NO_MEMORY);
    CHECK_RULE("GPUVA-060", NT_SUCCESS(map_window(rig, object, low, high, 16, &va)) && va == low);
    CHECK_RULE("GPUVA-060",
               NT_SUCCESS(map_window(rig, object, low, high, 15, &va)) && va == GB + 4 * 65536);
    CHECK_RULE("GPUVA-060",
               NT_SUCCESS(map_window(rig, object, low, high, 1, &va)) && va == high - 4096);
    CHECK_RULE("GPUVA-060", map_window(rig, object, low, high, 1, &va) == STATUS_NO_MEMORY);
    CHECK(NT_SUCCESS(map_window(rig, object, low - 65536, GB, 16, &va)) && va == low - 65536);
    CHECK(NT_SUCCESS(map_window(rig, object, GB + 4 * 65536, GB + 7 * 65536, 17, &va)) &&
          va == high);
    CHECK(NT_SUCCESS(map_window(rig, object, GB + 65536, 0, 1, &va)) && va == high + 17 * 4096);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, the_host_takes_the_last_addresses)
{
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    CHECK(slot.va.value == TOP - 4096);
    vidmm_fence_slot_destroy(rig->process, &slot);
}

TEST_WITH(gva, the_host_takes_the_last_of_its_range, narrow(options))
{
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    CHECK_RULE("GPUVA-059", slot.va.value == GB + 4 * 65536 - 4096);
    vidmm_fence_slot_destroy(rig->process, &slot);
}

static void two_levels(struct gva_options *options)
{
    options->mmu.PageTableLevelCount = 2;
    options->mmu.VirtualAddressBitCount = 40;
    options->level[1].PageTableIndexBitCount = 0;
    options->level[1].PageTableSizeInBytes = 0;
}

TEST_WITH(gva, a_root_that_grows_is_kept_small_by_the_host, two_levels(options))
{
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    CHECK(slot.va.value == SPAN);
    vidmm_fence_slot_destroy(rig->process, &slot);
}

/* A context allocation is mapped beyond the root, which only the worker may make larger. */
TEST_WITH(gva, a_mapping_of_a_context_allocation_may_make_the_root_grow, two_levels(options))
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    uint32_t entries = rig->process->space->root->entries;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-044", gva_context_map(rig, args.hAllocation, 4 * GB, 0, 2, 1) == 4 * GB);
    CHECK(rig->process->space->root->entries > 4 * GB / SPAN && entries <= 4 * GB / SPAN);
    gva_context_attach(&client);
    CHECK_RULE("CTXA-051", gva_entry_page(gva_look(rig, 4 * GB + 4096)) ==
                               gva_context_allocation(rig, args.hAllocation)->runs[0].first + 1);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-052", gva_look(rig, 4 * GB) == GVA_FAULT);
    gva_context_close(rig, &client);
}

/* ---- waiting ---- */

static NTSTATUS map_nothing(struct gva_rig *rig, uint64_t base, uint64_t pages, bool zero)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(NULL, pages);

    args.BaseAddress = base;
    args.Protection.Zero = zero;
    args.Protection.NoAccess = !zero;
    return gva_map(rig, &args);
}

TEST_WITH(gva, what_waits_for_a_range_keeps_its_order)
{
    struct gva_object *object = gva_object_resident(rig, 16, 0x1000);
    uint64_t base = GB;
    struct gva_gate gate;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    gva_gate_close(rig, &gate);
    sim_stall(1000000);
    CHECK(gva_map_part(rig, object, GB, 0, 8) == STATUS_PENDING);
    /* nothing is mapped there yet, but will be */
    CHECK_RULE("GPUVA-091", map_nothing(rig, GB + 2 * 4096, 2, false) == STATUS_PENDING);
    CHECK(gva_map_part(rig, object, GB + 7 * 4096, 0, 2) == STATUS_PENDING);
    CHECK(rig->progress == 0);
    gva_gate_open(rig, &gate);
    CHECK_RULE("GPUVA-091", gva_entry_page(gva_look(rig, GB + 4096)) == 0x1001 &&
                                gva_look(rig, GB + 2 * 4096) == GVA_FAULT &&
                                gva_look(rig, GB + 3 * 4096) == GVA_FAULT &&
                                gva_entry_page(gva_look(rig, GB + 4 * 4096)) == 0x1004);
    CHECK_RULE("GPUVA-091", gva_entry_page(gva_look(rig, GB + 6 * 4096)) == 0x1006 &&
                                gva_entry_page(gva_look(rig, GB + 7 * 4096)) == 0x1000 &&
                                gva_entry_page(gva_look(rig, GB + 8 * 4096)) == 0x1001 &&
                                gva_look(rig, GB + 9 * 4096) == GVA_FAULT);
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, what_waits_goes_with_its_range)
{
    struct gva_object *object = gva_object_resident(rig, 16, 0x1000);
    uint64_t first = 4 * GB, base = GB, tables, free;
    struct gva_gate gate;

    gva_idle(rig);
    CHECK(NT_SUCCESS(
        gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT, &first))); /* GPUVA-042 */
    tables = rig->vidmm->mmu->tables;
    free = rig->process->space->ranges.free_units;
    gva_gate_close(rig, &gate);
    sim_stall(1000000);
    CHECK(NT_SUCCESS(gva_reserve(rig, 1024, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    CHECK(gva_map_part(rig, object, GB, 0, 8) == STATUS_PENDING);
    CHECK(gva_map_part(rig, object, GB + SPAN - 4096, 0, 2) == STATUS_PENDING);
    CHECK(map_nothing(rig, GB + 4096, 2, true) == STATUS_PENDING);
    CHECK(gva_map_part(rig, object, 2 * GB, 0, 8) == STATUS_PENDING);
    CHECK(rig->vidmm->mmu->tables > tables);
    CHECK_RULE("GPUVA-120", gva_free(rig, GB, 1024) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-120", gva_free(rig, 2 * GB, 8) == STATUS_SUCCESS);
    CHECK(rig->vidmm->mmu->tables == tables && rig->process->space->ranges.free_units == free);
    CHECK(list_empty(&object->allocation.mappings));
    gva_gate_open(rig, &gate);
    sim_stall(1000000);
    CHECK(rig->progress == rig->queue->assigned && gva_look(rig, GB) == GVA_FAULT);
    CHECK(rig->vidmm->mmu->tables == tables && gva_valid(rig));
    gva_object_destroy(rig, object);
}

/* The worker is held, and when it goes on the allocation is the first to go. */
struct departure {
    struct gva_object *object;
    struct vidmm_space *closed; /* only closed, there; NULL: destroyed */
    struct gva_gate gate;
};

static NTSTATUS depart_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct departure *departure = arg;

    (void)turn;
    sim_mutex_unlock(&vidmm->lock);
    while (!departure->gate.open)
        sim_waitq_wait(&departure->gate.changed, SIM_FOREVER);
    sim_mutex_lock(&vidmm->lock);
    if (departure->closed)
        space_allocation_closed(departure->closed, &departure->object->allocation);
    else
        space_allocation_destroyed(vidmm, &departure->object->allocation);
    return STATUS_SUCCESS;
}

static void check_departure(struct gva_rig *rig, bool closed)
{
    struct departure departure = {.object = gva_object_resident(rig, 16, 0x1000)};
    uint64_t first = 4 * GB, base = GB, tables;

    CHECK(NT_SUCCESS(
        gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT, &first))); /* GPUVA-042 */
    tables = rig->vidmm->mmu->tables;
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve = {
        .BaseAddress = base,
        .Size = 65536,
        .ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO,
        .DriverProtection = 0x55};
    D3DDDI_MAPGPUVIRTUALADDRESS map = gva_map_args(departure.object, 4);
    uint32_t written = 0;

    departure.closed = closed ? rig->process->space : NULL;
    CHECK(NT_SUCCESS(vidmm_reserve_gpu_va(rig->process, rig->queue, &reserve)));
    gva_idle(rig);
    sim_waitq_init(&departure.gate.changed);
    sim_mutex_lock(&rig->vidmm->lock);
    CHECK(NT_SUCCESS(paging_post(&rig->vidmm->chores, depart_job, NULL, &departure)));
    sim_mutex_unlock(&rig->vidmm->lock);
    sim_stall(1000000);
    map.BaseAddress = GB + 4096;
    map.DriverProtection = 0x66;
    CHECK(gva_map(rig, &map) == STATUS_PENDING);
    gva_mark(rig);
    CHECK(map_nothing(rig, GB + 2 * 4096, 1, false) == STATUS_PENDING);
    CHECK(gva_map_part(rig, departure.object, 2 * GB, 0, 8) == STATUS_PENDING);
    CHECK(!list_empty(&departure.object->allocation.mappings));
    gva_gate_open(rig, &departure.gate);
    CHECK(list_empty(&departure.object->allocation.mappings));
    for (uint32_t i = 0; i < gva_op_count(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE); i++)
        if (gva_update_at(rig, i)->PageTableLevel == 0 &&
            gva_update_at(rig, i)->FirstPteVirtualAddress == GB + 4096) {
            CHECK_RULE("GPUVA-099", gva_update_at(rig, i)->DriverProtection == 0x55);
            written++;
        }
    CHECK(written == 1);
    CHECK_RULE("GPUVA-098", (gva_look(rig, GB + 4096) & GVA_ZERO) &&
                                (gva_look(rig, GB + 4 * 4096) & GVA_ZERO) &&
                                (gva_look(rig, GB) & GVA_ZERO));
    CHECK(gva_look(rig, GB + 2 * 4096) == GVA_FAULT && gva_look(rig, 2 * GB) == GVA_FAULT);
    CHECK(gva_free(rig, 2 * GB, 8) == STATUS_INVALID_PARAMETER);
    CHECK(rig->progress == rig->queue->assigned && gva_valid(rig));
    CHECK(gva_free(rig, GB, 16) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK(rig->vidmm->mmu->tables == tables);
    gva_object_destroy(rig, departure.object);
}

TEST_WITH(gva, what_waits_for_a_destroyed_allocation_becomes_as_reserved)
{
    check_departure(rig, false);
}

TEST_WITH(gva, what_waits_for_a_closed_allocation_becomes_as_reserved)
{
    check_departure(rig, true);
}

/* Of a space that no work has used yet, tables go without an operation. */
TEST_WITH(gva, tables_that_were_never_used_go_with_their_allocation)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 16);
    uint64_t base = GB, tables;

    CHECK(NT_SUCCESS(gva_reserve(rig, 1024, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    gva_idle(rig);
    tables = rig->vidmm->mmu->tables;
    CHECK(gva_map_part(rig, object, GB, 0, 8) == STATUS_SUCCESS);
    CHECK(gva_map_part(rig, object, GB + SPAN - 4096, 0, 2) == STATUS_SUCCESS);
    CHECK(rig->vidmm->mmu->tables == tables + 4 && !rig->process->space->root->ready);
    gva_object_destroy(rig, object);
    CHECK(rig->vidmm->mmu->tables == tables && !rig->process->space->root->ready);
    CHECK(gva_op_count(rig, -1) == 0 && gva_valid(rig));
}

/* A table is needed as long as anything may be mapped in it, valid or not. */
TEST_WITH(gva, the_last_mapping_takes_its_table_along)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct gva_object *absent = gva_object_create(rig, rig->mm_device, 8);
    uint64_t tables, all;

    CHECK(NT_SUCCESS(gva_map_part(rig, object, 3 * GB, 0, 8)));
    gva_idle(rig);
    tables = rig->vidmm->mmu->tables;
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    CHECK(NT_SUCCESS(gva_map_part(rig, absent, GB + 8 * 4096, 0, 8)));
    gva_idle(rig);
    all = rig->vidmm->mmu->tables;
    CHECK(all > tables && gva_free(rig, GB, 8) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK(rig->vidmm->mmu->tables == all && gva_look(rig, GB) == GVA_FAULT);
    CHECK(gva_free(rig, GB + 8 * 4096, 8) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK(rig->vidmm->mmu->tables == tables && gva_valid(rig));
    gva_object_destroy(rig, absent);
    gva_object_destroy(rig, object);
}
