/* SPDX-License-Identifier: MIT */
/*
 * The scratch area of the paging process in an address space of 16 MiB: what fits, and how tables are edited when no
 * address is left for them.
 */
#include "bus/memory.h"
#include "support/gva_context.h"
#include "support/gva_rig.h"
#include "support/gva_updates.h"
#include "vidmm/space/scratch.h"

#define SPAN   512ull
#define MIB    (1ull << 20)
#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE

/* 4096 pages: eight leaf tables. */
static void small_space(struct gva_options *options)
{
    options->mmu.PageTableLevelCount = 3;
    options->mmu.VirtualAddressBitCount = 24;
    options->level[1].PageTableIndexBitCount = 2;
    options->level[2].PageTableIndexBitCount = 1;
}

static void small_gpu_virtual(struct gva_options *options)
{
    small_space(options);
    options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_VIRTUAL;
}

struct hold {
    struct gpu_va va[3];
    uint64_t pages[3];
    NTSTATUS status[3], more;
    bool release;
};

static NTSTATUS hold_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct hold *hold = arg;
    struct vidmm_run run = {.segment = GVA_VRAM_SEGMENT, .first = 0x100};
    struct gpu_va va;

    (void)turn;
    if (hold->release) {
        for (int i = 0; i < 3; i++)
            scratch_release(vidmm, hold->va[i], hold->pages[i]);
        return STATUS_SUCCESS;
    }
    hold->pages[0] = hold->pages[1] = scratch_limit(vidmm);
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            hold->pages[2] = extent_largest(&vidmm->mmu->scratch.free);
        run.pages = hold->pages[i];
        hold->status[i] = scratch_map(vidmm, &run, 1, false, &hold->va[i]);
    }
    run.pages = 1;
    hold->more = scratch_map(vidmm, &run, 1, false, &va);
    return STATUS_SUCCESS;
}

/* Take all of it. */
static void fill(struct gva_rig *rig, struct hold *hold)
{
    *hold = (struct hold){.release = false};
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, hold_job, hold)));
    for (int i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(hold->status[i]));
    CHECK(hold->more == STATUS_NO_MEMORY);
}

static void empty(struct gva_rig *rig, struct hold *hold)
{
    hold->release = true;
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, hold_job, hold)));
    gva_idle(rig);
}

TEST_WITH(gva, the_layout_of_a_small_space, small_gpu_virtual(options))
{
    const struct gpu_mmu *mmu = rig->vidmm->mmu;
    const struct vidmm_space *space = rig->vidmm->paging_process->space;
    struct gpu_va va = {.value = mmu->scratch.first << 12};

    CHECK(mmu->end == 4096 && mmu->scratch.tables_first == 1 && mmu->scratch.tables_pages == 8);
    /* a quarter is for paging buffers, up to the next whole table */
    CHECK(mmu->scratch.first == 3 * SPAN);
    CHECK(mmu->scratch.reserve.first == 3 * SPAN && mmu->scratch.reserve.pages == 1);
    CHECK(scratch_limit(rig->vidmm) == (4096 - 3 * SPAN - 1) / 2);
    CHECK(mmu->scratch.free.free_units == 4096 - 3 * SPAN - 1);
    CHECK(extent_is_free(&mmu->scratch.free, 4095, 1));
    /* the leaf tables of the area are mapped one after the other */
    for (uint64_t i = 0; i < 5; i++) {
        const struct page_table *leaf = space->root->child[(3 + i) / 4]->child[(3 + i) % 4];
        DXGKARG_SETROOTPAGETABLE root = gva_root(space);
        uint64_t entry = 0;

        va.value = (mmu->scratch.first + i * SPAN) << 12;
        CHECK(scratch_table(rig->vidmm, va).value == (1 + i) << 12);
        va.value += (SPAN - 1) << 12;
        CHECK(scratch_table(rig->vidmm, va).value == (1 + i) << 12);
        CHECK(gva_walk(rig, &root, (1 + i) << 12, &entry));
        CHECK(gva_entry_page(entry) == leaf->place.run.first);
        CHECK(gva_entry_segment(entry) == GVA_VRAM_SEGMENT);
        CHECK_RULE("GPUVA-194", (entry & (GVA_NO_EXECUTE | GVA_READ_ONLY)) == GVA_NO_EXECUTE);
    }
}

TEST_WITH(gva, without_need_the_leaf_tables_have_no_address, small_space(options))
{
    const struct gpu_mmu *mmu = rig->vidmm->mmu;
    struct gpu_va va = {.value = mmu->scratch.first << 12};

    CHECK(scratch_table(rig->vidmm, va).value == 0);
    CHECK(range_from(rig->vidmm->paging_process->space, 1)->span.first >= 9);
}

static void transfers_with_tables(struct gva_options *options)
{
    small_space(options);
    options->mmu.LegacyBehaviors.SourcePageTableVaInTransfer = 1;
}

TEST_WITH(gva, transfers_that_name_source_tables_need_their_addresses,
          transfers_with_tables(options))
{
    const struct gpu_mmu *mmu = rig->vidmm->mmu;
    struct gpu_va va = {.value = (mmu->scratch.first + SPAN) << 12};

    CHECK(scratch_table(rig->vidmm, va).value == 2 << 12);
    CHECK(range_at(rig->vidmm->paging_process->space, 1) != NULL);
}

TEST_WITH(gva, the_area_is_used_up_and_given_back, small_space(options))
{
    const struct gpu_mmu *mmu = rig->vidmm->mmu;
    struct hold hold;

    fill(rig, &hold);
    CHECK(mmu->scratch.free.free_units == 0 && mmu->scratch.windows.count == 3);
    empty(rig, &hold);
    CHECK(mmu->scratch.free.free_units == 4096 - 3 * SPAN - 1 && mmu->scratch.windows.count == 0);
    fill(rig, &hold);
    empty(rig, &hold);
    CHECK(gva_valid(rig) && space_validate(rig->vidmm->paging_process->space));
}

/* Entries of the paging process that map something, since the mark. */
static uint32_t windows_of(const struct gva_rig *rig, HANDLE allocation, bool read_only)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++) {
        const struct gva_op *op = gva_op_at(rig, UPDATE, i);

        if (op->args.UpdatePageTable.hProcess != rig->vidmm->paging_process->driver_handle ||
            !op->entries[0].Valid)
            continue;
        CHECK(op->args.UpdatePageTable.hAllocation == allocation);
        CHECK_RULE("GPUVA-193", op->entries[0].ReadOnly == read_only);
        CHECK_RULE("GPUVA-194", op->entries[0].NoExecute);
        count++;
    }
    return count;
}

TEST_WITH(gva, tables_are_written_through_their_windows, small_gpu_virtual(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, 6 * SPAN * 4096, 0, 8)));
    gva_idle(rig);
    CHECK(windows_of(rig, NULL, false) >= 3);
    gva_object_destroy(rig, object);
}

/* The reserve is one address, which the tables to edit have in turn. */
TEST_WITH(gva, tables_are_edited_through_the_reserve, small_gpu_virtual(options))
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);
    const struct gpu_mmu *mmu = rig->vidmm->mmu;
    const uint64_t reserve = mmu->scratch.reserve.first << 12;
    uint32_t through = 0;
    struct hold hold;

    fill(rig, &hold);
    gva_mark(rig);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 6 * SPAN * 4096 - 8 * 4096, 0, 16)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 2 * SPAN * 4096, 16, 8)));
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = gva_update_at(rig, i);

        if (update->hProcess != rig->process->driver_handle)
            continue;
        CHECK_RULE("GPUVA-184", update->PageTableAddress.GpuVirtual == reserve);
        through++;
    }
    CHECK(through >= 8 && mmu->scratch.reserve_user == NULL);
    CHECK(gva_entry_page(gva_look(rig, 6 * SPAN * 4096 - 8 * 4096)) == 0x1000);
    CHECK(gva_entry_page(gva_look(rig, 6 * SPAN * 4096)) == 0x1008);
    CHECK(gva_entry_page(gva_look(rig, 6 * SPAN * 4096 + 7 * 4096)) == 0x100F);
    CHECK(gva_entry_page(gva_look(rig, 2 * SPAN * 4096 + 7 * 4096)) == 0x1017);
    CHECK(rig->faults == 0);
    gva_idle(rig);
    CHECK(!mmu->scratch.reserve_busy && mmu->scratch.free.free_units == 0);
    empty(rig, &hold);
    gva_mark(rig);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 7 * SPAN * 4096, 24, 8)));
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        if (gva_update_at(rig, i)->hProcess == rig->process->driver_handle)
            CHECK(gva_update_at(rig, i)->PageTableAddress.GpuVirtual != reserve);
    CHECK(gva_entry_page(gva_look(rig, 7 * SPAN * 4096)) == 0x1018 && gva_valid(rig));
    gva_object_destroy(rig, object);
}

/* ---- context allocations that do not fit into it ---- */

static HANDLE make_big(struct gva_rig *rig, struct gva_context *client, uint64_t pages, bool map)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    gva_context_open(rig, client, true);
    args = gva_context_request(client);
    args.Size = (UINT)(pages * 4096);
    args.ContextAllocationFlags.MapGpuVirtualAddress = map;
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    return args.hAllocation;
}

static NTSTATUS update(struct gva_rig *rig, HANDLE handle)
{
    const DXGKARGCB_UPDATECONTEXTALLOCATION args = {.hAllocation = handle};

    return vidmm_cb_update_context_allocation(&rig->ddi, &args);
}

TEST_WITH(gva, an_update_fits_into_the_area_or_fails, small_space(options))
{
    const uint64_t limit = scratch_limit(rig->vidmm);
    struct gva_context fits = {0}, big = {0};
    HANDLE good = make_big(rig, &fits, limit, false), bad = make_big(rig, &big, limit + 1, false);

    gva_mark(rig);
    CHECK_RULE("CTXA-058", update(rig, good) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-056", windows_of(rig, GVA_CONTEXT_DRIVER_NAME, false) >= 1);
    CHECK_RULE("CTXA-058", verify_rule_count(rig->base.log, "CTXA-058") == 0);
    CHECK_RULE("CTXA-058", update(rig, bad) == STATUS_NO_MEMORY &&
                               verify_rule_count(rig->base.log, "CTXA-058") == 1);
    CHECK(!gva_context_allocation(rig, bad)->resident);
    CHECK(gva_context_destroy(rig, good) == STATUS_SUCCESS);
    CHECK(gva_context_destroy(rig, bad) == STATUS_SUCCESS);
    gva_context_close(rig, &fits);
    gva_context_close(rig, &big);
}

TEST_WITH(gva, an_initialisation_by_address_fits_into_the_area_or_fails, small_space(options))
{
    const uint64_t limit = scratch_limit(rig->vidmm);
    struct gva_context fits = {0}, big = {0};
    HANDLE good = make_big(rig, &fits, limit, true), bad = make_big(rig, &big, limit + 1, true);

    gva_context_attach(&fits);
    CHECK(gva_op_count(rig, DXGK_OPERATION_INIT_CONTEXT_RESOURCE) == 1);
    big.context.driver_handle = (HANDLE)(uintptr_t)0xCD;
    CHECK_RULE("CTXA-058", vidmm_context_attach(&big.context) == STATUS_NO_MEMORY);
    CHECK(gva_op_count(rig, DXGK_OPERATION_INIT_CONTEXT_RESOURCE) == 1);
    CHECK(!context_allocations_ready(&big.context) && context_allocations_ready(&fits.context));
    CHECK(gva_context_destroy(rig, good) == STATUS_SUCCESS);
    CHECK(gva_context_destroy(rig, bad) == STATUS_SUCCESS);
    gva_context_close(rig, &fits);
    gva_context_close(rig, &big);
}
