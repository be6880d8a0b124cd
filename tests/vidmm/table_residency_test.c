/* SPDX-License-Identifier: MIT */
/* Page tables that leave their segment and come back, beside a model of what is mapped: any tables, whatever changes meanwhile. */
#include "support/gva_rig.h"
#include "support/gva_updates.h"
#include "vidmm/space/table_residency.h"

#define GB     (1ull << 30)
#define MB     (1ull << 20)
#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE
#define SLOTS  24u
#define PAGES  520u /* of the object: a large page and some */
#define PLACE  0x1000u
#define ZERO   (PAGES + 1)

static uint64_t slot_va(unsigned slot)
{
    return 4 * GB + (slot % 3) * GB + (slot / 3) * 4 * MB + (slot & 1 ? 2 * MB : 0);
}

struct act {
    struct vidmm_space *space;
    uint64_t pages; /* to evict */
    uint64_t freed;
};

static NTSTATUS evict_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct act *act = arg;

    (void)vidmm;
    (void)turn;
    if (tables_evictable(act->space, GVA_VRAM_SEGMENT))
        act->freed = tables_evict(act->space, GVA_VRAM_SEGMENT, act->pages);
    return STATUS_SUCCESS;
}

static NTSTATUS return_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)vidmm;
    (void)turn;
    return tables_return(((struct act *)arg)->space);
}

static uint64_t evict(struct gva_rig *rig, uint64_t pages)
{
    struct act act = {.space = rig->process->space, .pages = pages};

    CHECK(NT_SUCCESS(paging_run(rig->vidmm, evict_job, &act)));
    return act.freed;
}

static void bring_back(struct gva_rig *rig)
{
    struct act act = {.space = rig->process->space};

    CHECK(NT_SUCCESS(paging_run(rig->vidmm, return_job, &act)));
    CHECK(act.space->tables.absent == 0);
}

/* What is mapped at each slot: 0 nothing, else the page of the object + 1, or ZERO; and how much. */
struct model {
    uint32_t page[SLOTS];
    uint64_t pages[SLOTS];
};

static void check(struct gva_rig *rig, const struct model *model)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        const uint64_t last = model->pages[i] ? (model->pages[i] - 1) * GVA_PAGE : 0;
        const uint64_t entry = gva_look(rig, slot_va(i)), end = gva_look(rig, slot_va(i) + last);

        if (model->page[i] == 0) {
            CHECK_RULE("GPUVA-168", entry == GVA_FAULT);
        } else if (model->page[i] == ZERO) {
            CHECK_RULE("GPUVA-168", entry != GVA_FAULT && (entry & GVA_ZERO) && (end & GVA_ZERO));
        } else {
            const uint64_t first = PLACE + model->page[i] - 1;

            CHECK_RULE("GPUVA-168", entry != GVA_FAULT && gva_entry_page(entry) == first);
            CHECK_RULE("GPUVA-168",
                       end != GVA_FAULT && gva_entry_page(end) == first + model->pages[i] - 1);
        }
    }
}

static void change(struct gva_rig *rig, struct gva_object *object, struct model *model)
{
    const unsigned slot = (unsigned)sim_random(SLOTS);
    const uint64_t va = slot_va(slot);
    uint64_t pages = sim_random(4) == 0 ? 512 : 1 + sim_random(8);

    if (model->page[slot]) {
        CHECK(gva_free(rig, va, model->pages[slot]) == STATUS_SUCCESS);
        model->page[slot] = 0;
        model->pages[slot] = 0;
        return;
    }
    if (sim_random(4) == 0) {
        uint64_t base = va;

        pages = 16 * (1 + sim_random(32));
        CHECK(NT_SUCCESS(gva_reserve(rig, pages, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &base)));
        CHECK(base == va);
        model->page[slot] = ZERO;
        model->pages[slot] = pages;
        return;
    }
    model->page[slot] = pages == 512 ? 1 : 1 + (uint32_t)sim_random((uint32_t)(PAGES - pages));
    model->pages[slot] = pages;
    CHECK(NT_SUCCESS(gva_map_part(rig, object, va, model->page[slot] - 1, pages)));
}

static void at_random(struct gva_rig *rig)
{
    struct gva_object *object = gva_object_resident(rig, PAGES, PLACE);
    struct model model = {{0}, {0}};
    uint64_t freed = 0;

    for (unsigned round = 0; round < 60; round++) {
        for (unsigned i = 0; i < 6; i++)
            change(rig, object, &model);
        gva_idle(rig);
        freed += evict(rig, 1 + sim_random(8));
        CHECK(gva_valid(rig));
        for (unsigned i = 0; i < 4; i++)
            change(rig, object, &model);
        gva_idle(rig);
        if (round % 3 == 0)
            freed += evict(rig, UINT64_MAX);
        CHECK(gva_valid(rig));
        bring_back(rig);
        CHECK(gva_valid(rig));
        check(rig, &model);
    }
    CHECK_RULE("GPUVA-168", freed > 200);
    gva_object_destroy(rig, object);
}

static void two_levels(struct gva_options *options)
{
    options->mmu.PageTableLevelCount = 2;
    options->mmu.VirtualAddressBitCount = 40;
    options->level[1] = (DXGK_PAGE_TABLE_LEVEL_DESC){
        .PageTableSegmentId = GVA_VRAM_SEGMENT, .PagingProcessPageTableSegmentId = GVA_VRAM_SEGMENT};
}

TEST_WITH(gva, any_tables_leave_and_come_back)
{
    rig->sticky = true;
    at_random(rig);
}
TEST_ALSO(gva, any_tables_leave_and_come_back, by_cpu,
          options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
TEST_ALSO(gva, any_tables_leave_and_come_back, by_virtual_addresses,
          options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_VIRTUAL)
TEST_ALSO(gva, any_tables_leave_and_come_back, large_pages, options->mmu.LargePageSupported = 1)
TEST_ALSO(gva, any_tables_leave_and_come_back, two_levels, two_levels(options))
TEST_ALSO(gva, any_tables_leave_and_come_back, explicit,
          options->mmu.ExplicitPageTableInvalidation = 1)
TEST_ALSO(gva, any_tables_leave_and_come_back, idle,
          options->mmu.PageTableUpdateRequireAddressSpaceIdle = 1)
TEST_ALSO(gva, any_tables_leave_and_come_back, checked, options->check_tables = true)

/* ---- memory that is used again ---- */

static bool begun_early; /* by the CPU, before the GPU has done what was built for the last owner */
static unsigned begun;

static void note_beginning(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    if (args->Operation != UPDATE || !args->UpdatePageTable.Flags.InitialUpdate)
        return;
    begun++;
    for (uint32_t i = rig->op_from; i < rig->op_count; i++)
        begun_early |= rig->ops[i].args.Operation == DXGK_OPERATION_FLUSH_TLB &&
                       !rig->ops[i].executed;
}

static NTSTATUS swap_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)evict_job(vidmm, turn, arg);
    return return_job(vidmm, turn, arg);
}

TEST_WITH(gva, the_cpu_writes_to_no_memory_that_is_still_in_use,
          options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
{
    struct gva_object *object = gva_object_resident(rig, PAGES, PLACE);
    struct model model = {{0}, {0}};
    struct act act = {.space = rig->process->space, .pages = 2};

    for (unsigned i = 0; i < 12; i++)
        change(rig, object, &model);
    gva_idle(rig);
    gva_mark(rig);
    rig->delay = 1000000;
    rig->on_build = note_beginning;
    for (unsigned round = 0; round < 4; round++) {
        CHECK(NT_SUCCESS(paging_run(rig->vidmm, swap_job, &act)) && act.freed >= 2);
        gva_idle(rig);
    }
    rig->on_build = NULL;
    CHECK_RULE("GPUVA-153", begun >= 8 && !begun_early);
    check(rig, &model);
    gva_object_destroy(rig, object);
}

/* ---- content that is lost meanwhile ---- */

static NTSTATUS rebuild_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    (void)arg;
    return space_rebuild_all(vidmm);
}

TEST_WITH(gva, what_is_away_is_rebuilt_when_it_returns)
{
    struct gva_object *object = gva_object_resident(rig, PAGES, PLACE);
    struct model model = {{0}, {0}};

    for (unsigned slot = 0; slot < 3; slot++) { /* in the order in which they leave */
        model.page[slot] = 1 + slot;
        model.pages[slot] = 4;
        CHECK(NT_SUCCESS(gva_map_part(rig, object, slot_va(slot), slot, 4)));
    }
    gva_idle(rig);
    CHECK(evict(rig, 2) == 2);
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, rebuild_job, NULL)));
    CHECK_RULE("GPUVA-168", gva_look(rig, slot_va(0)) == GVA_FAULT &&
                                gva_look(rig, slot_va(1)) == GVA_FAULT &&
                                gva_entry_page(gva_look(rig, slot_va(2))) == PLACE + 2);
    bring_back(rig);
    check(rig, &model);
    gva_object_destroy(rig, object);
}
