/* SPDX-License-Identifier: MIT */
/* Paging operations about page tables on a started adapter: what the driver is asked to write, and in which order with the content. */
#include "port/record/adapter_record.h"
#include "port/support/paged.h"
#include "sim/fault.h"

#include <string.h>

#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE
#define FLUSH  DXGK_OPERATION_FLUSH_TLB
#define BASE   (1024 * PAGED_MIB)
#define LEAF   (2 * PAGED_MIB) /* what a table of level 0 covers */

static struct probe *created(void)
{
    struct probe *p = probe_create(NULL);

    paged_watch(p);
    probe_clients_begin(p);
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}

static const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update_of(const struct paged_op *op)
{
    CHECK(op && op->args.Operation == UPDATE);
    return &op->args.UpdatePageTable;
}

/* ---- the paging process's own tables ---- */

static bool unreachable; /* some table could not be written to its end */
static UINT64 *first_word;

static void write_at_once(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];
    const UINT64 word = 0x7AB1E;
    uint8_t *table;

    (void)p;
    if (args->pDmaBuffer || args->Operation != UPDATE)
        return;
    table = args->UpdatePageTable.PageTableAddress.CpuVirtual;
    unreachable |= !sim_copy_checked(table, &word, sizeof(word)) ||
                   !sim_copy_checked(table + 4096 - sizeof(word), &word, sizeof(word));
    first_word = (UINT64 *)(void *)table;
}

/* Operations without a buffer from `from` on, each as it must be; a bit for each 2 MiB that level 0 covers in `covered`. */
static unsigned at_once(unsigned from, uint64_t *covered)
{
    unsigned count = 0;

    *covered = 0;
    for (unsigned i = from; i < paged.count; i++) {
        const DXGKARG_BUILDPAGINGBUFFER *args = &paged.op[i].args;
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &args->UpdatePageTable;

        if (args->pDmaBuffer)
            continue;
        count++;
        CHECK_RULE("PAGE-066", args->Operation == UPDATE &&
                                   u->UpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL &&
                                   u->hProcess == paged.system_process && args->DmaSize == 0);
        if (u->PageTableLevel == 0 && u->FirstPteVirtualAddress < 64 * LEAF)
            *covered |= 1ull << (u->FirstPteVirtualAddress / LEAF);
    }
    return count;
}

/* No packet came between two moments. */
static bool nothing_submitted(const struct probe *p, uint64_t from, uint64_t before)
{
    for (size_t i = 0; i < p->calls; i++)
        if (p->call[i]->order >= from && p->call[i]->order < before &&
            (p->call[i]->ddi == PROBE_SubmitCommandVirtual ||
             p->call[i]->ddi == PROBE_SubmitCommand))
            return false;
    return true;
}

static uint64_t order_of_last_at_once(void)
{
    uint64_t order = 0;

    for (unsigned i = 0; i < paged.count; i++)
        if (!paged.op[i].args.pDmaBuffer)
            order = paged.op[i].order;
    return order;
}

static void sleep_and_wake(struct probe *p)
{
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
}

static void reset(struct probe *p)
{
    CHECK(vidsch_force_reset(p->adapter[0]->managers.vidsch, true) == STATUS_SUCCESS);
}

static struct probe_gpu gpu;
static D3DKMT_HANDLE first, second;

static void use(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 16 * PAGED_PAGE, &first)));
    CHECK(paged_map(&gpu, first, BASE, 0, 16) == BASE);
}

static void own_tables(DXGK_PAGETABLEUPDATEMODE mode, void (*event)(struct probe *p),
                       enum probe_ddi ddi)
{
    struct probe *p = created();
    struct probe_client *client;
    uint64_t covered, again;
    unsigned count, mark;

    p->mmu.PageTableUpdateMode = mode;
    p->after[PROBE_BuildPagingBuffer] = write_at_once;
    unreachable = false;
    CHECK(NT_SUCCESS(probe_start(p)));
    count = at_once(0, &covered);
    CHECK_RULE("PAGE-066", count > 512 && covered == UINT64_MAX && !unreachable &&
                               *first_word == 0x7AB1E &&
                               nothing_submitted(p, 0, order_of_last_at_once()));
    mark = paged.count;
    client = probe_client_run(p, use);
    CHECK_RULE("PAGE-066", paged.count > mark && at_once(mark, &covered) == 0);
    mark = paged.count;
    CHECK(probe_run(p, event) == SIM_DONE);
    CHECK_RULE("PAGE-066",
               at_once(mark, &again) == count && again == UINT64_MAX && !unreachable &&
                   nothing_submitted(p, probe_nth(p, ddi, probe_count(p, ddi) - 1)->order,
                                     order_of_last_at_once()));
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(own_tables_are_written_before_anything_is_submitted)
{
    own_tables(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, sleep_and_wake, PROBE_SetPowerState);
    own_tables(DXGK_PAGETABLEUPDATE_GPU_VIRTUAL, reset, PROBE_RestartFromTimeout);
}

static void refuse_at_once(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    (void)p;
    if (args->pDmaBuffer)
        return;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
}

TEST(own_tables_are_not_written_in_pieces)
{
    struct probe *p = probe_create(NULL);

    p->before[PROBE_BuildPagingBuffer] = refuse_at_once;
    CHECK_RULE("PAGE-066", !NT_SUCCESS(probe_start(p)) && probe_rule(p, "GPUVA-186") == 1 &&
                               probe_count(p, PROBE_BuildPagingBuffer) == 1);
    probe_destroy(p);
}

/* ---- all others ---- */

static unsigned found; /* operations of level 0 about the latest mapping */
static DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE leaf[8];
static DXGK_PTE leaf_entry[8];

/* Those of the client in the addresses [base, end), of level 0, without those that begin a table. */
static void collect(unsigned from, uint64_t base, uint64_t end)
{
    found = 0;
    for (unsigned i = from; i < paged.count; i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &paged.op[i].args.UpdatePageTable;

        if (paged.op[i].args.Operation != UPDATE || u->hProcess != paged.process ||
            u->PageTableLevel != 0 || u->Flags.InitialUpdate || u->FirstPteVirtualAddress < base ||
            u->FirstPteVirtualAddress >= end || found == 8)
            continue;
        leaf_entry[found] = paged.op[i].entry;
        leaf[found++] = *u;
    }
}

static void write_tables(struct probe *p)
{
    const DXGK_PAGETABLEUPDATEMODE mode = p->mmu.PageTableUpdateMode;
    HANDLE driver;
    unsigned mark;

    use(p);
    driver = paged.allocation;
    collect(0, BASE, BASE + LEAF);
    CHECK_RULE("PAGE-067",
               found == 1 && leaf[0].StartIndex == 0 && leaf[0].NumPageTableEntries == 16);
    /* some pages: a table, entries in it, the offset of their pages */
    mark = paged.count;
    CHECK(paged_map(&gpu, first, BASE + 0x100000, 4, 4) == BASE + 0x100000);
    collect(mark, BASE, BASE + LEAF);
    CHECK_RULE("PAGE-067", found == 1 && leaf[0].StartIndex == 256 &&
                               leaf[0].NumPageTableEntries == 4 && leaf[0].hAllocation == driver &&
                               leaf[0].AllocationOffsetInBytes == 0x4000 &&
                               leaf[0].FirstPteVirtualAddress == BASE + 0x100000 &&
                               leaf[0].hProcess == paged.process && leaf[0].UpdateMode == mode &&
                               leaf_entry[0].Valid);
    /* over the end of a table: one operation for each */
    mark = paged.count;
    CHECK(paged_map(&gpu, first, BASE + LEAF - 8 * PAGED_PAGE, 0, 16) ==
          BASE + LEAF - 8 * PAGED_PAGE);
    collect(mark, BASE, BASE + 2 * LEAF);
    CHECK_RULE("PAGE-067", found == 2 && leaf[0].StartIndex == 504 && leaf[1].StartIndex == 0 &&
                               leaf[0].NumPageTableEntries == 8 &&
                               leaf[1].NumPageTableEntries == 8 &&
                               leaf[0].AllocationOffsetInBytes == 0 &&
                               leaf[1].AllocationOffsetInBytes == 0x8000 &&
                               leaf[1].FirstPteVirtualAddress == BASE + LEAF);
    if (mode == DXGK_PAGETABLEUPDATE_GPU_PHYSICAL) /* of the table, not of the entry */
        CHECK_RULE("PAGE-067", leaf[0].PageTableAddress.GpuPhysical.SegmentId == 1 &&
                                   leaf[0].PageTableAddress.GpuPhysical.SegmentOffset % 4096 == 0 &&
                                   leaf[0].PageTableAddress.GpuPhysical.SegmentOffset !=
                                       leaf[1].PageTableAddress.GpuPhysical.SegmentOffset);
    /* nothing is mapped: no allocation */
    mark = paged.count;
    CHECK(NT_SUCCESS(paged_unmap(&gpu, BASE + 0x100000, 4 * PAGED_PAGE)));
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    probe_sleep(PROBE_SECOND / 100);
    collect(mark, BASE, BASE + LEAF);
    CHECK_RULE("PAGE-067", found == 1 && leaf[0].hAllocation == NULL && leaf[0].StartIndex == 256 &&
                               leaf[0].NumPageTableEntries == 4 &&
                               leaf[0].AllocationOffsetInBytes == 0 && !leaf_entry[0].Valid);
    /* levels above name tables, never the allocation */
    for (unsigned i = 0; i < paged.count; i++)
        if (paged.op[i].args.Operation == UPDATE &&
            paged.op[i].args.UpdatePageTable.PageTableLevel != 0)
            CHECK_RULE("PAGE-067", update_of(&paged.op[i])->hAllocation == NULL &&
                                       update_of(&paged.op[i])->DriverProtection == 0);
}

TEST(updates_say_which_entries_of_which_table)
{
    static const DXGK_PAGETABLEUPDATEMODE modes[] = {DXGK_PAGETABLEUPDATE_CPU_VIRTUAL,
                                                     DXGK_PAGETABLEUPDATE_GPU_VIRTUAL,
                                                     DXGK_PAGETABLEUPDATE_GPU_PHYSICAL};

    for (size_t i = 0; i < 3; i++) {
        struct probe *p = created();

        p->mmu.PageTableUpdateMode = modes[i];
        run(p, write_tables);
    }
}

/* ---- flags ---- */

static bool seen_table(const struct paged_op *before, const D3DGPU_PHYSICAL_ADDRESS *table)
{
    for (const struct paged_op *op = paged.op; op < before; op++)
        if (op->args.Operation == UPDATE && op->args.pDmaBuffer &&
            op->args.UpdatePageTable.hProcess == paged.process &&
            op->args.UpdatePageTable.PageTableAddress.GpuPhysical.SegmentOffset ==
                table->SegmentOffset)
            return true;
    return false;
}

static void look_at_flags(struct probe *p)
{
    unsigned tables = 0, later = 0;

    write_tables(p);
    for (unsigned i = 0; i < paged.count; i++) {
        const struct paged_op *op = &paged.op[i];
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &op->args.UpdatePageTable;

        if (op->args.Operation != UPDATE)
            continue;
        CHECK_RULE("PAGE-068/a", !u->Flags.Repeat || !op->entry.Valid || op->entry.Zero);
        CHECK_RULE("PAGE-068/d", !u->Flags.NativeFence && !u->Flags.Reserved);
        if (u->hProcess != paged.process)
            continue;
        if (seen_table(op, &u->PageTableAddress.GpuPhysical)) {
            later++;
            CHECK_RULE("PAGE-068/a", !u->Flags.InitialUpdate);
        } else {
            tables++;
            CHECK_RULE("PAGE-068/a", u->Flags.InitialUpdate && u->Flags.Repeat && !op->entry.Valid &&
                                         u->StartIndex == 0 && u->NumPageTableEntries == 512);
        }
    }
    CHECK_RULE("PAGE-068/a", tables >= 5 && later >= 6); /* of four levels, and a second leaf */
}

TEST(new_tables_begin_invalid)
{
    run(created(), look_at_flags);
}

/* ---- with the content ---- */

#define BIG (9 * PAGED_MIB)

static bool is_invalidation(const struct paged_op *op)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &op->args.UpdatePageTable;

    return op->args.Operation == UPDATE && u->hProcess == paged.process && u->PageTableLevel == 0 &&
           u->FirstPteVirtualAddress == BASE + BIG - BIG % LEAF && !op->entry.Valid;
}

static bool is_client_flush(const struct paged_op *op)
{
    return op->args.Operation == FLUSH && op->args.FlushTlb.hProcess == paged.process &&
           op->args.FlushTlb.StartVirtualAddress <= BASE &&
           op->args.FlushTlb.EndVirtualAddress >= BASE + BIG;
}

static bool is_page_out(const struct paged_op *op)
{
    return op->args.Operation == DXGK_OPERATION_VIRTUAL_TRANSFER &&
           op->args.TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM;
}

static bool is_page_in(const struct paged_op *op)
{
    return op->args.Operation == DXGK_OPERATION_VIRTUAL_TRANSFER &&
           op->args.TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL;
}

static bool is_fill(const struct paged_op *op)
{
    return op->args.Operation == DXGK_OPERATION_VIRTUAL_FILL;
}

static bool is_validation(const struct paged_op *op)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &op->args.UpdatePageTable;

    return op->args.Operation == UPDATE && u->hProcess == paged.process && u->PageTableLevel == 0 &&
           u->FirstPteVirtualAddress >= BASE && u->FirstPteVirtualAddress < BASE + BIG &&
           op->entry.Valid;
}

static void trade_places(struct probe *p)
{
    HANDLE driver;
    unsigned mark, invalid, flushed, out, fill, in, valid;
    uint64_t fence;

    (void)p;
    paged.segments = 1;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, BIG, &first)));
    driver = paged.allocation;
    CHECK(paged_map(&gpu, first, BASE, 0, BIG / PAGED_PAGE) == BASE);
    CHECK(NT_SUCCESS(paged_create(&gpu, BIG, &second)));
    mark = paged.count;
    CHECK(NT_SUCCESS(paged_evict(&gpu, first)));
    CHECK(paged_make_resident(&gpu, second, &fence) == STATUS_PENDING);
    CHECK(NT_SUCCESS(paged_wait(&gpu, fence)));
    invalid = paged_where(is_invalidation, mark);
    flushed = paged_where(is_client_flush, invalid);
    out = paged_where(is_page_out, mark);
    fill = paged_where(is_fill, mark);
    CHECK_RULE("PAGE-069", invalid < flushed && flushed < out && out < fill && fill < paged.count);
    CHECK_RULE("PAGE-069", paged_where(is_validation, mark) == paged.count);
    CHECK(paged.op[out].args.TransferVirtual.hAllocation == driver);
    /* and back: what its addresses show is there before they show it */
    mark = paged.count;
    CHECK(NT_SUCCESS(paged_evict(&gpu, second)));
    CHECK(paged_make_resident(&gpu, first, &fence) == STATUS_PENDING);
    CHECK(NT_SUCCESS(paged_wait(&gpu, fence)));
    in = paged_where(is_page_in, mark);
    valid = paged_where(is_validation, mark);
    CHECK_RULE("PAGE-069", in < valid && valid < paged.count &&
                               paged_where(is_client_flush, valid) < paged.count);
    CHECK_RULE("PAGE-069", paged.op[valid].entry.Segment == 1);
}

TEST(addresses_follow_the_content)
{
    struct probe *p = created();

    p->mmu.LeafPageTableSizeFor64KPagesInBytes = 0;
    run(p, trade_places);
}

/* ---- flushes ---- */

static D3DGPU_PHYSICAL_ADDRESS root;
static bool cached_invalid;

static void note_root(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETROOTPAGETABLE *args = (const DXGKARG_SETROOTPAGETABLE *)(uintptr_t)call->arg[1];

    (void)p;
    root = args->Address; /* the client's comes last */
}

static unsigned flushes(unsigned from, uint64_t base, uint64_t bytes)
{
    unsigned count = 0;

    for (unsigned i = from; i < paged.count; i++) {
        const DXGK_BUILDPAGINGBUFFER_FLUSHTLB *f = &paged.op[i].args.FlushTlb;

        if (paged.op[i].args.Operation != FLUSH || f->hProcess != paged.process)
            continue;
        count++;
        CHECK_RULE("PAGE-070", f->RootPageTableAddress.SegmentId == root.SegmentId &&
                                   f->RootPageTableAddress.SegmentOffset == root.SegmentOffset);
        CHECK_RULE("PAGE-070", f->StartVirtualAddress <= base &&
                                   f->EndVirtualAddress >= base + bytes &&
                                   f->EndVirtualAddress - f->StartVirtualAddress <= LEAF);
    }
    return count;
}

static void map_and_unmap(struct probe *p)
{
    unsigned mark;

    use(p); /* the tables are there */
    mark = paged.count;
    CHECK(paged_map(&gpu, first, BASE + 0x80000, 0, 4) == BASE + 0x80000);
    CHECK_RULE("PAGE-070", flushes(mark, BASE + 0x80000, 0x4000) == cached_invalid);
    mark = paged.count;
    CHECK(NT_SUCCESS(paged_unmap(&gpu, BASE + 0x80000, 0x4000)));
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("PAGE-070", flushes(mark, BASE + 0x80000, 0x4000) == 1);
}

TEST(only_what_may_be_cached_is_flushed)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = created();

        cached_invalid = i != 0;
        p->mmu.InvalidTlbEntriesNotCached = !cached_invalid;
        p->before[PROBE_SetRootPageTable] = note_root;
        run(p, map_and_unmap);
    }
}
