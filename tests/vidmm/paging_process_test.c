/* SPDX-License-Identifier: MIT */
/* The paging process, and what is left of page tables after a process and after a reset. */
#include "bus/memory.h"
#include "nt/ps/process.h"
#include "sim/machine.h"
#include "support/gva_rig.h"

#include <string.h>

#define GB     (1ull << 30)
#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE
#define FLUSH  DXGK_OPERATION_FLUSH_TLB

static struct vidmm_space *paging_space(const struct gva_rig *rig)
{
    return rig->vidmm->paging_process->space;
}

static uint64_t paging_look(struct gva_rig *rig, uint64_t va)
{
    DXGKARG_SETROOTPAGETABLE root = gva_root(paging_space(rig));
    uint64_t entry;

    return gva_walk(rig, &root, va, &entry) ? entry : GVA_FAULT;
}

/* ---- start ---- */

TEST_WITH(gva_bare, the_paging_process_is_a_system_process)
{
    CHECK(NT_SUCCESS(gva_start(rig)));
    CHECK_RULE("GPUVA-032", rig->create_process_calls == 1 && rig->process_flags[0].SystemProcess &&
                                rig->process_flags[0].Value == 1);
    gva_stop(rig);
    CHECK(rig->destroy_process_calls == 1);
}

TEST_WITH(gva_bare, paging_tables_are_written_at_once)
{
    uint32_t updates;

    CHECK(NT_SUCCESS(gva_start(rig)));
    updates = gva_op_count(rig, UPDATE);
    CHECK(updates > 0);
    for (uint32_t i = 0; i < updates; i++) {
        const struct gva_op *op = gva_op_at(rig, UPDATE, i);

        CHECK_RULE("GPUVA-223", op->immediate && op->args.UpdatePageTable.UpdateMode ==
                                                     DXGK_PAGETABLEUPDATE_CPU_VIRTUAL);
        CHECK_RULE("GPUVA-182",
                   op->args.UpdatePageTable.UpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL);
        CHECK_RULE("GPUVA-186", op->args.pDmaBuffer == NULL);
        CHECK_RULE("GPUVA-180",
                   op->args.UpdatePageTable.hProcess == rig->vidmm->paging_process->driver_handle);
    }
    gva_stop(rig);
}

TEST_WITH(gva_bare, the_paging_space_has_its_buffers_and_then_the_scratch_area)
{
    CHECK(NT_SUCCESS(gva_start(rig)));
    CHECK_RULE("GPUVA-225", paging_look(rig, 0) == GVA_FAULT);
    CHECK_RULE("GPUVA-225", rig->buffer[0].va.value >= 4096 &&
                                rig->buffer[0].va.value < rig->vidmm->mmu->scratch.first << 12);
    CHECK(gva_entry_page(paging_look(rig, rig->buffer[0].va.value)) == rig->buffer_logical[0].value);
    CHECK_RULE("GPUVA-227", rig->vidmm->mmu->end == GB >> 12);
    CHECK_RULE("GPUVA-226", paging_look(rig, rig->vidmm->mmu->scratch.first << 12) == GVA_FAULT &&
                                paging_look(rig, GB - 4096) == GVA_FAULT);
    CHECK(space_validate(paging_space(rig)));
    gva_stop(rig);
}

static void other_segment(struct gva_options *options)
{
    for (unsigned level = 0; level < 4; level++)
        options->level[level].PagingProcessPageTableSegmentId = 0;
}

TEST_WITH(gva, paging_tables_have_a_segment_of_their_own, other_segment(options))
{
    CHECK_RULE("GPUVA-018",
               table_address(paging_space(rig)->root).SegmentId == 0 &&
                   table_address(rig->process->space->root).SegmentId == GVA_VRAM_SEGMENT);
}

static void expect_refusal(struct gva_rig *rig)
{
    CHECK(gva_start(rig) == STATUS_DEVICE_CONFIGURATION_ERROR);
    CHECK(gva_op_count(rig, -1) == 0);
    vidmm_destroy(rig->vidmm);
}

/* The n-th allocation of the start fails: nothing is left, and the next start works. */
TEST_WITH(gva_bare, every_failure_at_start_leaves_nothing)
{
    struct util_heap *heap = &sim_current->heap;
    uint64_t frames = 0, blocks = 0;
    NTSTATUS status = STATUS_NO_MEMORY;

    for (uint64_t n = 1; !NT_SUCCESS(status); n += n < 60 ? 1 : 37) {
        rig->fail_start = n;
        status = gva_start(rig);
        CHECK(NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
        if (NT_SUCCESS(status))
            break;
        vidmm_destroy(rig->vidmm);
        CHECK(rig->create_process_calls == rig->destroy_process_calls);
        if (n > 2) {
            CHECK(ram_free_pages(rig->base.ram) == frames && heap->live_blocks <= blocks + 4);
        }
        frames = ram_free_pages(rig->base.ram);
        blocks = heap->live_blocks;
        CHECK(n < 100000);
    }
    gva_stop(rig);
}

#define REFUSED(rule, ...)                                     \
    do {                                                       \
        struct gva_options options;                            \
                                                               \
        gva_options_default(&options);                         \
        __VA_ARGS__;                                           \
        refused_rule = rule;                                   \
        gva_run_bare(&options, expect_refusal_by);             \
        check_rule_record(rule, __FILE__, __LINE__, __func__); \
    } while (0)

static const char *refused_rule;

static void expect_refusal_by(struct gva_rig *rig)
{
    expect_refusal(rig);
    if (verify_rule_count(rig->base.log, refused_rule) == 0)
        fail_msg("%s was not reported", refused_rule);
}

static void expect_warning(struct gva_rig *rig)
{
    CHECK(NT_SUCCESS(gva_start(rig)));
    if (verify_rule_count(rig->base.log, refused_rule) == 0)
        fail_msg("%s was not reported", refused_rule);
    gva_stop(rig);
}

static void expect_refusal_if_error(struct gva_rig *rig)
{
    CHECK(verify_set_severity(rig->base.log, refused_rule, VERIFY_ERROR));
    expect_refusal_by(rig);
}

/* A finding that is only expected: a warning, or a refusal if the rule is set to error. */
#define EXPECTED(rule, ...)                                    \
    do {                                                       \
        struct gva_options options;                            \
                                                               \
        gva_options_default(&options);                         \
        __VA_ARGS__;                                           \
        refused_rule = rule;                                   \
        gva_run_bare(&options, expect_warning);                \
        gva_run_bare(&options, expect_refusal_if_error);       \
        check_rule_record(rule, __FILE__, __LINE__, __func__); \
    } while (0)

TEST(an_impossible_number_of_levels_or_bits_fails_the_start)
{
    REFUSED("GPUVA-010", options.mmu.PageTableLevelCount = 1);
    REFUSED("GPUVA-010", options.mmu.PageTableLevelCount = 7);
    REFUSED("GPUVA-013", options.mmu.VirtualAddressBitCount = 50);
    REFUSED("GPUVA-013", options.mmu.VirtualAddressBitCount = 64);
    REFUSED("GPUVA-014", options.level[0].PageTableIndexBitCount = 0);
}

TEST(an_impossible_size_of_tables_fails_the_start)
{
    REFUSED("GPUVA-015", options.level[1].PageTableSizeInBytes = 6000);
    REFUSED("GPUVA-015", options.level[0].PageTableSizeInBytes = 0);
    EXPECTED("GPUVA-017", options.level[2].PageTableSegmentId = 0,
             options.level[2].PageTableSizeInBytes = 8192);
    EXPECTED("GPUVA-020", options.level[2].PageTableAlignmentInBytes = 3000);
}

TEST(an_impossible_segment_of_tables_fails_the_start)
{
    REFUSED("GPUVA-019", options.level[2].PageTableSegmentId = GVA_APERTURE_SEGMENT);
    REFUSED("GPUVA-019", options.level[2].PagingProcessPageTableSegmentId = 3);
}

TEST(an_impossible_way_to_update_tables_fails_the_start)
{
    REFUSED("GPUVA-022", options.mmu.PageTableUpdateMode = (DXGK_PAGETABLEUPDATEMODE)77);
    EXPECTED("GPUVA-023", options.mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL);
}

/* ---- scratch area ---- */

struct scratch {
    struct vidmm_run run;
    struct gpu_va va[2];
    bool release;
    NTSTATUS status;
};

static NTSTATUS scratch_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct scratch *scratch = arg;

    (void)turn;
    for (int i = 0; i < 2; i++)
        scratch->status = scratch_map(vidmm, &scratch->run, 1, false, &scratch->va[i]);
    if (scratch->release) {
        for (int i = 0; i < 2; i++)
            scratch_release(vidmm, scratch->va[i], scratch->run.pages);
    }
    return STATUS_SUCCESS;
}

TEST_WITH(gva, scratch_addresses_live_for_an_operation)
{
    struct scratch scratch = {.run = {.segment = GVA_VRAM_SEGMENT, .first = 0x1234, .pages = 3},
                              .release = true};
    struct scratch again = scratch;

    CHECK(NT_SUCCESS(paging_run(rig->vidmm, scratch_job, &scratch)));
    CHECK_RULE("GPUVA-230", scratch.va[0].value != scratch.va[1].value &&
                                scratch.va[1].value - scratch.va[0].value >= 3 * 4096);
    CHECK_RULE("GPUVA-226", paging_look(rig, scratch.va[0].value) == GVA_FAULT);
    CHECK_RULE("GPUVA-176", gva_op_at(rig, UPDATE, 0)->args.UpdatePageTable.hAllocation == NULL);
    CHECK_RULE("GPUVA-230", gva_op_position(rig, FLUSH, 0) == 1); /* map, flush, map, flush, ... */
    CHECK_RULE("GPUVA-190",
               gva_op_position(rig, UPDATE, 0) == 0 && gva_op_position(rig, FLUSH, 0) == 1);
    CHECK_RULE("GPUVA-217", gva_op_at(rig, FLUSH, 0)->args.FlushTlb.hProcess ==
                                rig->vidmm->paging_process->driver_handle);
    gva_mark(rig);
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, scratch_job, &again)));
    CHECK_RULE("GPUVA-226",
               gva_op_count(rig, UPDATE) == 4); /* written anew, and invalidated again */
    CHECK(space_validate(paging_space(rig)));
}

TEST_WITH(gva, two_largest_windows_fit_and_more_wait_for_the_gpu)
{
    struct scratch scratch = {.run = {.segment = GVA_VRAM_SEGMENT, .first = 0, .pages = 1},
                              .release = true};

    scratch.run.pages = scratch_limit(rig->vidmm);
    rig->delay = 1000;
    for (int i = 0; i < 2; i++) {
        CHECK(NT_SUCCESS(paging_run(rig->vidmm, scratch_job, &scratch)));
        CHECK_RULE("GPUVA-230", NT_SUCCESS(scratch.status));
    }
    CHECK(space_validate(paging_space(rig)));
}

TEST_WITH(gva, root_of_the_paging_process_stays)
{
    struct scratch scratch = {.run = {.segment = GVA_VRAM_SEGMENT, .first = 0x1234, .pages = 3},
                              .release = true};
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);

    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    gva_map_simple(rig, object, 8);
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, scratch_job, &scratch)));
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update =
            &gva_op_at(rig, UPDATE, i)->args.UpdatePageTable;

        if (update->hProcess == rig->vidmm->paging_process->driver_handle)
            CHECK_RULE("GPUVA-225", update->PageTableLevel == 0);
        CHECK_RULE("GPUVA-187", gva_op_at(rig, UPDATE, i)->args.pDmaBuffer != NULL);
    }
    gva_object_destroy(rig, object);
}

static void gpu_virtual(struct gva_options *options)
{
    options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_VIRTUAL;
}

TEST_WITH(gva, tables_are_mapped_before_they_are_edited_by_address, gpu_virtual(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    uint64_t va;

    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    va = gva_map_simple(rig, object, 8);
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update =
            &gva_op_at(rig, UPDATE, i)->args.UpdatePageTable;

        CHECK_RULE("GPUVA-182", update->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_VIRTUAL);
        if (update->hProcess == rig->process->driver_handle)
            CHECK_RULE("GPUVA-184",
                       update->PageTableAddress.GpuVirtual >= rig->vidmm->mmu->scratch.first << 12);
    }
    /* The rig's GPU wrote through these addresses: the right tables changed. */
    CHECK_RULE("GPUVA-184", gva_entry_page(gva_look(rig, va)) == 0x1000);
    CHECK_RULE("GPUVA-025", gva_op_at(rig, UPDATE, 0)->args.UpdatePageTable.hProcess ==
                                rig->vidmm->paging_process->driver_handle);
    gva_object_destroy(rig, object);
}

static void cpu_virtual(struct gva_options *options)
{
    options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    for (unsigned level = 0; level < 4; level++)
        options->level[level].PageTableSegmentId = 0;
}

/* Map, fill, take away, as content.c does. */
static NTSTATUS fill_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct scratch *scratch = arg;
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_VIRTUAL_FILL};

    (void)turn;
    scratch->status = scratch_map(vidmm, &scratch->run, 1, false, &scratch->va[0]);
    op.FillVirtual.DestinationVirtualAddress = scratch->va[0].value;
    op.FillVirtual.FillSizeInBytes = scratch->run.pages << 12;
    CHECK(NT_SUCCESS(paging_build(vidmm, &op, NULL)));
    scratch_release(vidmm, scratch->va[0], scratch->run.pages);
    return STATUS_SUCCESS;
}

static void check_fill(struct gva_rig *rig, bool cpu)
{
    struct scratch scratch = {.run = {.segment = GVA_VRAM_SEGMENT, .first = 0x1234, .pages = 3}};
    uint64_t filled;
    uint32_t updates;

    gva_mark(rig);
    rig->delay = 1000;
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, fill_job, &scratch)));
    gva_idle(rig);
    updates = gva_op_count(rig, UPDATE);
    filled = gva_op_at(rig, DXGK_OPERATION_VIRTUAL_FILL, 0)->ticket_hint;
    CHECK(updates >= 2 &&
          gva_op_position(rig, UPDATE, 0) < gva_op_position(rig, DXGK_OPERATION_VIRTUAL_FILL, 0));
    /* Where the CPU writes the tables, the buffer with the fill has been submitted before. */
    CHECK_RULE("GPUVA-230", gva_op_at(rig, UPDATE, updates - 1)->ticket_hint == filled + cpu &&
                                !gva_op_at(rig, UPDATE, updates - 1)->entries[0].Valid);
}

TEST_WITH(gva, mappings_are_taken_away_in_the_stream)
{
    check_fill(rig, false);
}

TEST_WITH(gva, mappings_that_the_cpu_takes_away_are_no_longer_used, cpu_virtual(options))
{
    check_fill(rig, true);
}

TEST_WITH(gva, cpu_updates_get_an_address_and_a_buffer, cpu_virtual(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    struct phys_addr physical;
    uint64_t va, submitted = rig->submitted;

    rig->write_nothing = true;
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    va = gva_map_simple(rig, object, 8);
    gva_idle(rig);
    CHECK(gva_op_count(rig, UPDATE) > 0 && rig->submitted > submitted);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++) {
        const struct gva_op *op = gva_op_at(rig, UPDATE, i);

        CHECK_RULE("GPUVA-183",
                   ram_physical(rig->base.ram, op->args.UpdatePageTable.PageTableAddress.CpuVirtual,
                                &physical) &&
                       physical.value % 4096 == 0);
        CHECK_RULE("GPUVA-187", op->args.pDmaBuffer != NULL);
    }
    CHECK_RULE("GPUVA-183", gva_entry_page(gva_look(rig, va)) == 0x1000);
    rig->write_nothing = false;
    gva_object_destroy(rig, object);
}

/* ---- processes ---- */

TEST_WITH(gva, a_process_leaves_no_tables)
{
    struct nt_process *nt = nt_process_create("other");
    uint64_t before = segment_own_bytes(&rig->vidmm->segment[GVA_VRAM_SEGMENT]);
    struct vidmm_process *process;
    struct vidmm_device *device;
    struct vidmm_paging_queue *queue;
    struct gva_object *object;
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    HANDLE handle;

    CHECK(nt);
    CHECK(NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    CHECK_RULE("GPUVA-032", rig->process_flags[rig->create_process_calls - 1].Value == 0);
    CHECK_RULE("GPUVA-031",
               process->driver_handle == (HANDLE)(uintptr_t)(0x1000 + rig->create_process_calls));
    CHECK(NT_SUCCESS(vidmm_device_create(process, NULL, nt, &device)));
    CHECK(NT_SUCCESS(
        vidmm_paging_queue_create(device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL, NULL, NULL, &queue)));
    object = gva_object_create(rig, device, 8);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    args = gva_map_args(object, 8);
    CHECK(NT_SUCCESS(vidmm_map_gpu_va(queue, &args)));
    gva_idle(rig);
    CHECK_RULE("GPUVA-031",
               gva_op_at(rig, UPDATE, 0)->args.UpdatePageTable.hProcess == process->driver_handle);
    handle = process->driver_handle;
    gva_object_destroy(rig, object);
    vidmm_device_destroy(device);
    gva_mark(rig);
    vidmm_process_close(process);
    CHECK_RULE("GPUVA-038", segment_own_bytes(&rig->vidmm->segment[GVA_VRAM_SEGMENT]) == before &&
                                rig->destroy_process_calls == 1);
    CHECK_RULE(
        "GPUVA-217",
        gva_op_at(rig, FLUSH, gva_op_count(rig, FLUSH) - 1)->args.FlushTlb.StartVirtualAddress == 0 &&
            gva_op_at(rig, FLUSH, gva_op_count(rig, FLUSH) - 1)->args.FlushTlb.EndVirtualAddress ==
                0 &&
            gva_op_at(rig, FLUSH, gva_op_count(rig, FLUSH) - 1)->args.FlushTlb.hProcess == handle);
    nt_process_destroy(nt);
}

/* ---- reset ---- */

TEST_WITH(gva, everything_is_written_anew_after_a_reset)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 600);
    struct vidmm_context context;
    uint64_t zero = 3 * GB, huge = 1ull << 40, va;
    uint32_t calls, cursor = 0;
    uint64_t key;
    void *value;

    vidmm_context_init(&context, rig->mm_device, true, false);
    context.driver_handle = (HANDLE)(uintptr_t)0xCC;
    CHECK(NT_SUCCESS(vidmm_context_attach(&context)));
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    va = gva_map_simple(rig, object, 600);
    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &zero)));
    CHECK(NT_SUCCESS(gva_reserve(rig, 1ull << 28, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &huge)));
    gva_idle(rig);
    calls = rig->set_root_calls;
    /* VRAM is lost: garbage everywhere, and no table counts as initialised. */
    vidmm_reset_cleanup(rig->vidmm);
    memset(bus_device_memory(rig->base.device, 0), 0xEE, rig->options.vram_bytes);
    while (hash_next(&rig->tables, &cursor, &key, &value))
        ((struct gva_table *)value)->initialised = false;
    gva_mark(rig);
    CHECK(NT_SUCCESS(vidmm_reset_restore(rig->vidmm)));
    CHECK_RULE("GPUVA-224", gva_op_at(rig, UPDATE, 0)->immediate &&
                                gva_op_at(rig, UPDATE, 0)->args.UpdatePageTable.hProcess ==
                                    rig->vidmm->paging_process->driver_handle);
    CHECK_RULE("GPUVA-163", rig->set_root_calls == calls + 1);
    CHECK_RULE("GPUVA-259", gva_entry_page(gva_look(rig, va)) == 0x1000 &&
                                gva_entry_page(gva_look(rig, va + 599 * 4096)) == 0x1000 + 599 &&
                                gva_look(rig, va + 600 * 4096) == GVA_FAULT &&
                                (gva_look(rig, zero) & GVA_ZERO) &&
                                (gva_look(rig, huge + GB) & GVA_ZERO));
    CHECK(gva_entry_page(paging_look(rig, rig->buffer[0].va.value)) == rig->buffer_logical[0].value);
    CHECK(gva_valid(rig));
    vidmm_context_detach(&context);
    vidmm_context_finish(&context);
    gva_object_destroy(rig, object);
}
