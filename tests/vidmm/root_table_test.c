/* SPDX-License-Identifier: MIT */
/* Root page tables: what contexts are told of them, and how they grow and shrink. */
#include "support/gva_rig.h"

#include "sim/irql.h"
#include "sim/machine.h"

#define SPAN   (512ull * 4096)
#define GB     (1ull << 30)
#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE

TEST_WITH(gva, contexts_are_told_their_root)
{
    struct vidmm_context context, physical;

    vidmm_context_init(&context, rig->mm_device, true, false);
    vidmm_context_init(&physical, rig->mm_device, false, false);
    context.driver_handle = (HANDLE)(uintptr_t)0xCC;
    physical.driver_handle = (HANDLE)(uintptr_t)0xDD;
    CHECK(NT_SUCCESS(vidmm_context_attach(&physical)));
    CHECK_RULE("GPUVA-158", rig->set_root_calls == 0);
    CHECK(NT_SUCCESS(vidmm_context_attach(&context)));
    CHECK_RULE("GPUVA-158", rig->set_root_calls == 1);
    CHECK_RULE("GPUVA-160", rig->last_root.hContext == context.driver_handle &&
                                rig->last_root.Address.SegmentOffset ==
                                    table_address(rig->process->space->root).SegmentOffset &&
                                rig->last_root.Address.SegmentId == GVA_VRAM_SEGMENT);
    CHECK_RULE("GPUVA-161", rig->last_root.NumEntries == 512);
    /* What the root says was there before the announcement (GPUVA-149). */
    CHECK_RULE("GPUVA-149",
               gva_op_count(rig, UPDATE) == 1 &&
                   gva_op_at(rig, UPDATE, 0)->args.UpdatePageTable.Flags.InitialUpdate &&
                   gva_op_at(rig, UPDATE, 0)->executed);
    CHECK_RULE("GPUVA-155", rig->root_size_calls == 0);
    CHECK_RULE("GPUVA-154", rig->root_size_calls == 0);
    vidmm_context_detach(&context);
    vidmm_context_finish(&context);
    vidmm_context_detach(&physical);
    vidmm_context_finish(&physical);
}

static void set_root_without_lock(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *args)
{
    (void)args;
    CHECK_RULE("GPUVA-162",
               rig->vidmm->lock.owner != sim_current->thread && sim_irql() == SIM_IRQL_PASSIVE);
}

static void two_levels(struct gva_options *options)
{
    options->mmu.PageTableLevelCount = 2;
    options->mmu.VirtualAddressBitCount = 40;
    options->level[1] = (DXGK_PAGE_TABLE_LEVEL_DESC){
        .PageTableSegmentId = GVA_VRAM_SEGMENT, .PagingProcessPageTableSegmentId = GVA_VRAM_SEGMENT};
}

/* A process with a context and a mapping that a small root covers. */
struct small_root {
    struct vidmm_context context;
    struct gva_object *object;
    uint64_t first;          /* where the object is mapped */
    uint64_t old_root;       /* its offset in the segment */
    uint32_t old_size_calls; /* calls of GetRootPageTableSize until then */
};

static void small_root_begin(struct gva_rig *rig, struct small_root *s)
{
    s->object = gva_object_create(rig, rig->mm_device, 8);
    gva_object_place_at(rig, s->object, GVA_VRAM_SEGMENT, 0x1000);
    vidmm_context_init(&s->context, rig->mm_device, true, false);
    s->context.driver_handle = (HANDLE)(uintptr_t)0xCC;
    CHECK(NT_SUCCESS(vidmm_context_attach(&s->context)));
    CHECK_RULE("GPUVA-154", rig->root_size_calls > 0);
    s->first = gva_map_simple(rig, s->object, 8);
    s->old_root = rig->last_root.Address.SegmentOffset;
    s->old_size_calls = rig->root_size_calls;
}

/* The object is mapped at 2 GB too, which the root must grow for, to a multiple of 1024 entries. */
static void grow_root(struct gva_rig *rig, struct small_root *s)
{
    rig->on_set_root = set_root_without_lock;
    rig->root_round = 1024;
    gva_idle(rig);
    gva_mark(rig);
    CHECK(NT_SUCCESS(gva_map_at(rig, s->object, 2 * GB, 8)));
    gva_idle(rig);
}

static void small_root_end(struct gva_rig *rig, struct small_root *s)
{
    vidmm_context_detach(&s->context);
    vidmm_context_finish(&s->context);
    gva_object_destroy(rig, s->object);
}

TEST_WITH(gva, the_first_table_stays_free, two_levels(options))
{
    struct small_root s;

    small_root_begin(rig, &s);
    CHECK_RULE("GPUVA-057", s.first >= SPAN && gva_look(rig, 0) == GVA_FAULT &&
                                gva_look(rig, SPAN - 4096) == GVA_FAULT);
    small_root_end(rig, &s);
}

TEST_WITH(gva, a_root_grows_with_the_addresses, two_levels(options))
{
    struct small_root s;

    small_root_begin(rig, &s);
    grow_root(rig, &s);
    CHECK_RULE("GPUVA-154", rig->root_size_calls > s.old_size_calls);
    CHECK_RULE("GPUVA-155", rig->last_root.NumEntries % 1024 == 0 &&
                                rig->process->space->root->entries == rig->last_root.NumEntries);
    CHECK_RULE("GPUVA-161", rig->last_root.NumEntries > 2 * GB / SPAN);
    small_root_end(rig, &s);
}

TEST_WITH(gva, a_root_that_grew_is_a_new_table, two_levels(options))
{
    struct small_root s;

    small_root_begin(rig, &s);
    grow_root(rig, &s);
    CHECK_RULE("GPUVA-164",
               rig->set_root_calls == 2 && rig->last_root.Address.SegmentOffset != s.old_root);
    CHECK_RULE("GPUVA-164", gva_op_at(rig, UPDATE, 0)->args.UpdatePageTable.Flags.InitialUpdate &&
                                gva_op_at(rig, UPDATE, 0)->args.UpdatePageTable.PageTableLevel == 1);
    CHECK_RULE("GPUVA-171", gva_op_at(rig, UPDATE, 0)->args.UpdatePageTable.NumPageTableEntries ==
                                rig->last_root.NumEntries);
    CHECK(gva_entry_page(gva_look(rig, s.first)) == 0x1000 &&
          gva_entry_page(gva_look(rig, 2 * GB)) == 0x1000);
    small_root_end(rig, &s);
}

TEST_WITH(gva, contexts_stand_still_while_they_get_a_new_root, two_levels(options))
{
    struct small_root s;

    small_root_begin(rig, &s);
    grow_root(rig, &s);
    CHECK_RULE("GPUVA-158",
               rig->set_root_calls == 2 && rig->last_root.hContext == s.context.driver_handle);
    CHECK_RULE("GPUVA-159", rig->suspends == 1 && rig->resumes == 1);
    small_root_end(rig, &s);
}

TEST_WITH(gva, a_root_of_a_refused_size_leaves_things_as_they_were, two_levels(options))
{
    struct small_root s;

    small_root_begin(rig, &s);
    grow_root(rig, &s);
    rig->root_bytes = 100;
    CHECK(verify_set_severity(rig->base.log, "GPUVA-156", VERIFY_ERROR));
    CHECK_RULE("GPUVA-157", gva_map_at(rig, s.object, 64 * GB, 8) == STATUS_NO_MEMORY);
    CHECK_RULE("GPUVA-156", verify_rule_count(rig->base.log, "GPUVA-156") == 1);
    CHECK(verify_set_severity(rig->base.log, "GPUVA-156", VERIFY_WARNING));
    rig->root_bytes = GVA_NO_ROOT;
    CHECK_RULE("GPUVA-156", gva_map_at(rig, s.object, 64 * GB, 8) == STATUS_NO_MEMORY &&
                                verify_rule_count(rig->base.log, "GPUVA-156") == 2);
    rig->root_bytes = 0;
    rig->root_round = 0;
    rig->root_short = 1;
    CHECK(gva_map_at(rig, s.object, 64 * GB, 8) == STATUS_NO_MEMORY);
    CHECK_RULE("GPUVA-155", verify_rule_count(rig->base.log, "GPUVA-155") == 1);
    rig->root_short = 0;
    CHECK(gva_valid(rig));
    rig->root_bytes = (1u << 20) + 100; /* only expected: rounded up */
    CHECK(NT_SUCCESS(gva_map_at(rig, s.object, 64 * GB, 8)));
    gva_idle(rig);
    CHECK(gva_entry_page(gva_look(rig, 64 * GB)) == 0x1000 &&
          segment_own_bytes(&rig->vidmm->segment[GVA_VRAM_SEGMENT]) > 0);
    small_root_end(rig, &s);
}

struct resize {
    struct vidmm_space *space;
    uint32_t entries;
};

static NTSTATUS resize_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct resize *resize = arg;

    (void)turn;
    (void)vidmm;
    return root_resize(resize->space, resize->entries);
}

TEST_WITH(gva, a_root_can_shrink, two_levels(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 8);
    struct resize resize = {.space = rig->process->space, .entries = 8};
    uint64_t first;

    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    first = gva_map_simple(rig, object, 8);
    args.BaseAddress = 2 * GB;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    gva_idle(rig);
    CHECK(gva_free(rig, 2 * GB, 8) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, resize_job, &resize)));
    CHECK_RULE("GPUVA-165", rig->process->space->root->entries == 8 &&
                                gva_entry_page(gva_look(rig, first)) == 0x1000);
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}
