/* SPDX-License-Identifier: MIT */
/* Records of processes that several threads open and close, addresses that drivers reserve while they are made, and tables of impossible places. */
#include "nt/ps/process.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "support/gva_gate.h"
#include "support/gva_rig.h"

#define SPAN (512ull * 4096)
#define GB   (1ull << 30)

/* ---- opening and closing ---- */

static struct nt_process *shared_nt;

struct opener {
    struct gva_rig *rig;
    struct vidmm_process *process;
    NTSTATUS status;
    bool done;
};

static void open_main(void *arg)
{
    struct opener *opener = arg;

    opener->status = vidmm_process_open(opener->rig->vidmm, shared_nt, &opener->process);
    opener->done = true;
}

static void dawdle(struct gva_rig *rig, HANDLE process)
{
    (void)process;
    rig->on_create_process = NULL;
    sim_stall(5000000);
}

TEST_WITH(gva, a_process_is_made_once_for_all_its_threads)
{
    struct opener opener[2] = {{.rig = rig}, {.rig = rig}};
    const uint32_t made = rig->create_process_calls, gone = rig->destroy_process_calls;
    struct vidmm_process *again;

    shared_nt = nt_process_create("other");
    CHECK(shared_nt);
    rig->on_create_process = dawdle;
    for (int i = 0; i < 2; i++)
        sim_thread_release(sim_thread_create("opener", SIM_THREAD_KERNEL, open_main, &opener[i]));
    sim_stall(1000000);
    CHECK(!opener[0].done && !opener[1].done);
    /* another process is not in the way */
    CHECK_RULE("THREAD-022", NT_SUCCESS(vidmm_process_open(rig->vidmm, rig->nt_process, &again)));
    CHECK(again == rig->process);
    vidmm_process_close(again);
    CHECK(!opener[0].done && !opener[1].done);
    sim_stall(10000000);
    CHECK(opener[0].done && opener[1].done && opener[0].process == opener[1].process);
    CHECK(NT_SUCCESS(opener[0].status) && NT_SUCCESS(opener[1].status));
    CHECK_RULE("GPUVA-031", rig->create_process_calls == made + 1);
    CHECK(opener[0].process->references == 2 && vidmm_process_nt(opener[0].process) == shared_nt);
    vidmm_process_close(opener[0].process);
    CHECK(rig->destroy_process_calls == gone);
    vidmm_process_close(opener[0].process);
    CHECK_RULE("GPUVA-038", rig->destroy_process_calls == gone + 1);
    nt_process_destroy(shared_nt);
}

/* ---- reserved by drivers ---- */

static NTSTATUS reserve(struct gva_rig *rig, HANDLE process, uint64_t base, uint64_t bytes,
                        UINT alignment)
{
    DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE args = {.hDxgkProcess = process,
                                                    .SizeInBytes = bytes,
                                                    .Alignment = alignment,
                                                    .BaseAddress = base,
                                                    .StartVirtualAddress = 0x77};
    NTSTATUS status = vidmm_cb_reserve_gpu_va(&rig->ddi, &args);

    if (!NT_SUCCESS(status))
        CHECK(args.StartVirtualAddress == 0x77);
    else if (base)
        CHECK(args.StartVirtualAddress == base);
    return status;
}

static void at_the_edges(struct gva_rig *rig, HANDLE process)
{
    const uint64_t end = 1ull << 48;

    rig->on_create_process = NULL;
    CHECK_RULE("GPUVA-051", reserve(rig, process, SPAN, SPAN, 0) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-051",
               reserve(rig, process, end - SPAN, 2 * SPAN, 0) == STATUS_INVALID_PARAMETER &&
                   verify_rule_count(rig->base.log, "GPUVA-051") == 1);
    CHECK_RULE("GPUVA-051", reserve(rig, process, end - SPAN, SPAN, 0) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-050",
               reserve(rig, process, 6 * SPAN, SPAN, 4 * (UINT)SPAN) == STATUS_INVALID_PARAMETER &&
                   verify_rule_count(rig->base.log, "GPUVA-050") == 1);
    CHECK_RULE("GPUVA-050", reserve(rig, process, 8 * SPAN, SPAN, 4 * (UINT)SPAN) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-051",
               reserve(rig, process, 7 * SPAN, 2 * SPAN, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-051", reserve(rig, process, 7 * SPAN, SPAN, 0) == STATUS_SUCCESS);
    CHECK(verify_rule_count(rig->base.log, "GPUVA-051") == 2);
}

static void without_memory(struct gva_rig *rig, HANDLE process)
{
    NTSTATUS status = STATUS_NO_MEMORY;
    uint64_t failures = 0;

    rig->on_create_process = NULL;
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        sim_current->heap.fail_at = sim_current->heap.requests + n;
        status = reserve(rig, process, 0, 3 * SPAN, 0);
        sim_current->heap.fail_at = 0;
        failures += !NT_SUCCESS(status);
        CHECK(NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
        CHECK_RULE("GPUVA-051", verify_rule_count(rig->base.log, "GPUVA-051") == failures);
        CHECK(n < 20);
    }
}

static void open_with(struct gva_rig *rig, void (*inside)(struct gva_rig *rig, HANDLE process))
{
    struct nt_process *nt = nt_process_create("other");
    struct vidmm_process *process = NULL;

    rig->on_create_process = inside;
    CHECK(nt && NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    CHECK(rig->on_create_process == NULL);
    CHECK(!process->space || space_validate(process->space));
    vidmm_process_close(process);
    nt_process_destroy(nt);
}

TEST_WITH(gva, drivers_reserve_up_to_both_ends)
{
    open_with(rig, at_the_edges);
}

TEST_WITH(gva, a_reservation_without_memory_leaves_nothing)
{
    open_with(rig, without_memory);
}

static void without_a_space(struct gva_rig *rig, HANDLE process)
{
    rig->on_create_process = NULL;
    CHECK_RULE("GPUVA-045", reserve(rig, process, 0, SPAN, 0) == STATUS_NOT_SUPPORTED &&
                                verify_rule_count(rig->base.log, "GPUVA-045") == 1);
}

TEST_WITH(gva, without_gpu_mmu_there_is_nothing_to_reserve, options->no_gpu_mmu = true)
{
    open_with(rig, without_a_space);
}

static void in_the_paging_process(struct gva_rig *rig, HANDLE process)
{
    rig->on_create_process = NULL;
    CHECK_RULE("GPUVA-051",
               reserve(rig, process, GB - SPAN, 2 * SPAN, 0) == STATUS_INVALID_PARAMETER &&
                   verify_rule_count(rig->base.log, "GPUVA-051") == 1);
    CHECK_RULE("GPUVA-047", reserve(rig, process, 300 * SPAN, 2 * SPAN, 0) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-047", reserve(rig, process, 400 * SPAN, SPAN, 0) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-047", reserve(rig, process, GB - SPAN, SPAN, 0) == STATUS_SUCCESS);
}

static const struct page_table *leaf(const struct vidmm_space *space, uint64_t span)
{
    return space->root->child[0]->child[0]->child[span];
}

/* Where the driver has reserved addresses of the paging process are neither tables nor windows; everywhere else there are. */
TEST_WITH(gva_bare, the_paging_process_has_tables_around_reservations)
{
    const struct vidmm_space *space;
    const struct extent_tree *free;

    rig->on_create_process = in_the_paging_process;
    CHECK(NT_SUCCESS(gva_start(rig)));
    space = rig->vidmm->paging_process->space;
    free = &rig->vidmm->mmu->scratch.free;
    CHECK(rig->vidmm->mmu->end == GB >> 12);
    for (uint64_t span = 0; span < 512; span++) {
        bool kept = span == 300 || span == 301 || span == 400 || span == 511;
        const struct page_table *table = leaf(space, span);

        CHECK_RULE("GPUVA-047", kept == !table && (!table || table->ready));
        if (kept)
            CHECK_RULE("GPUVA-047", !extent_is_free(free, span * 512, 1) &&
                                        !extent_is_free(free, span * 512 + 511, 1));
        else if (span > 299)
            CHECK(extent_is_free(free, span * 512, 1) && extent_is_free(free, span * 512 + 511, 1));
    }
    CHECK(space_validate(space));
    gva_stop(rig);
}

/* ---- impossible descriptions ---- */

static const char *expected_rule;
static NTSTATUS expected_status;

static void start(struct gva_rig *rig)
{
    NTSTATUS status = gva_start(rig);

    CHECK(status == expected_status);
    CHECK(!expected_rule || verify_rule_count(rig->base.log, expected_rule) > 0);
    if (NT_SUCCESS(status)) {
        CHECK(verify_count(rig->base.log, VERIFY_WARNING) == 0);
        gva_stop(rig);
        return;
    }
    CHECK(gva_op_count(rig, -1) == 0 && rig->create_process_calls == 0);
    vidmm_destroy(rig->vidmm);
}

#define STARTS(rule, status, ...)                                  \
    do {                                                           \
        struct gva_options options;                                \
                                                                   \
        gva_options_default(&options);                             \
        __VA_ARGS__;                                               \
        expected_rule = rule;                                      \
        expected_status = status;                                  \
        gva_run_bare(&options, start);                             \
        if (expected_rule)                                         \
            check_rule_record(rule, __FILE__, __LINE__, __func__); \
    } while (0)

#define REFUSED STATUS_DEVICE_CONFIGURATION_ERROR

static void two_levels(struct gva_options *options, UINT bits)
{
    options->mmu.PageTableLevelCount = 2;
    options->mmu.VirtualAddressBitCount = bits;
    options->level[1].PageTableIndexBitCount = 0;
    options->level[1].PageTableSizeInBytes = 0;
}

TEST(what_the_levels_translate_is_enough)
{
    STARTS("GPUVA-014", REFUSED, options.level[3].PageTableIndexBitCount = 31);
    STARTS("GPUVA-014", REFUSED, options.level[1].PageTableIndexBitCount = 0);
    STARTS("GPUVA-015", REFUSED, options.level[1].PageTableSizeInBytes = 0);
    STARTS("GPUVA-013", REFUSED, options.level[3].PageTableIndexBitCount = 8);
    STARTS("GPUVA-013", REFUSED, two_levels(&options, 21));
    STARTS("GPUVA-014", REFUSED, two_levels(&options, 40),
           options.level[0].PageTableIndexBitCount = 0);
}

TEST(descriptions_at_the_limits_are_good)
{
    STARTS((const char *)NULL, STATUS_SUCCESS, options.level[3].PageTableIndexBitCount = 10);
    STARTS((const char *)NULL, STATUS_SUCCESS, options.mmu.VirtualAddressBitCount = 47);
    STARTS((const char *)NULL, STATUS_SUCCESS, two_levels(&options, 40));
    STARTS((const char *)NULL, STATUS_SUCCESS, options.level[2].PageTableAlignmentInBytes = 8192);
    STARTS((const char *)NULL, STATUS_SUCCESS, options.level[2].PagingProcessPageTableSegmentId = 0);
}

static void by_cpu(struct gva_options *options, UINT segment)
{
    options->hidden_vram = true;
    options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    for (unsigned level = 0; level < 4; level++) {
        options->level[level].PageTableSegmentId = 0;
        options->level[level].PagingProcessPageTableSegmentId = 0;
    }
    options->level[0].PageTableSegmentId = segment;
}

TEST(the_cpu_reaches_the_tables_it_writes)
{
    STARTS((const char *)NULL, STATUS_SUCCESS, by_cpu(&options, 0));
    STARTS("GPUVA-024", REFUSED, by_cpu(&options, GVA_VRAM_SEGMENT));
    STARTS("GPUVA-223", REFUSED, options.hidden_vram = true);
    STARTS((const char *)NULL, STATUS_SUCCESS, by_cpu(&options, GVA_VRAM_SEGMENT),
           options.hidden_vram = false);
}

/* Leaf tables that leave no address of the paging process for anything else. */
TEST(tables_that_fill_the_paging_process_fail_the_start)
{
    STARTS((const char *)NULL, REFUSED, options.level[0].PageTableSizeInBytes = 2u << 20);
}

/* ---- the memory of tables ---- */

static void in_system_memory(struct gva_options *options, bool cached)
{
    options->mmu.CachedPageTables = cached;
    for (unsigned level = 0; level < 4; level++)
        options->level[level].PageTableSegmentId = 0;
}

static void cached_new(struct gva_options *options)
{
    in_system_memory(options, true);
    options->version = DXGKDDI_INTERFACE_VERSION_WDDM3_1;
}

static enum ram_cache cache_of_root(const struct gva_rig *rig)
{
    const struct page_table *root = rig->process->space->root;

    CHECK(root->place.run.segment == 0 && root->place.pages == 1);
    CHECK(iommu_page_mapped(rig->base.domain, (struct logical_page){root->place.run.first}));
    return ram_page_cache(rig->base.ram, root->place.frame);
}

TEST_WITH(gva, tables_of_system_memory_are_write_combined, in_system_memory(options, false))
{
    CHECK(cache_of_root(rig) == RAM_WRITE_COMBINED);
}

/* The cap is one of WDDM 3.1. */
TEST_ALSO(gva, tables_of_system_memory_are_write_combined, old_cap, in_system_memory(options, true))

TEST_WITH(gva, tables_of_system_memory_are_cached_if_the_driver_says_so, cached_new(options))
{
    CHECK(cache_of_root(rig) == RAM_CACHED);
}

/* ---- paging buffers ---- */

struct mapped {
    struct logical_page logical[5];
    struct gpu_va va;
    NTSTATUS status;
};

static NTSTATUS map_buffer_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct mapped *mapped = arg;

    (void)turn;
    sim_mutex_unlock(&vidmm->lock);
    mapped->status = vidmm_map_paging_buffer(vidmm, mapped->logical, 5, &mapped->va);
    sim_mutex_lock(&vidmm->lock);
    return STATUS_SUCCESS;
}

TEST_WITH(gva, a_paging_buffer_may_be_scattered)
{
    struct mapped mapped = {.logical = {{0x500}, {0x501}, {0x300}, {0x302}, {0x303}}};
    DXGKARG_SETROOTPAGETABLE root = gva_root(rig->vidmm->paging_process->space);
    uint64_t entry;

    CHECK(NT_SUCCESS(paging_run(rig->vidmm, map_buffer_job, &mapped)));
    CHECK(NT_SUCCESS(mapped.status));
    for (uint64_t i = 0; i < 5; i++) {
        CHECK(gva_walk(rig, &root, mapped.va.value + i * 4096, &entry));
        CHECK(gva_entry_page(entry) == mapped.logical[i].value && gva_entry_segment(entry) == 0);
        CHECK_RULE("GPUVA-194", !(entry & (GVA_READ_ONLY | GVA_NO_EXECUTE)));
        CHECK_RULE("GPUVA-195", !(entry & GVA_COHERENT));
    }
    CHECK(!gva_walk(rig, &root, mapped.va.value + 5 * 4096, &entry) ||
          gva_entry_page(entry) != 0x304);
}

TEST_WITH(gva, without_gpu_mmu_a_paging_buffer_has_no_address, options->no_gpu_mmu = true)
{
    const struct logical_page logical = {0x500};
    struct gpu_va va = {0x77};

    CHECK(vidmm_map_paging_buffer(rig->vidmm, &logical, 1, &va) == STATUS_NOT_SUPPORTED);
    CHECK(va.value == 0x77);
}
