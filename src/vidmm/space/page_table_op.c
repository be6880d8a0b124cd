/* SPDX-License-Identifier: MIT */
/*
 * The operations that write page tables, UPDATE_PAGE_TABLE and FLUSH_TLB, in the three update
 * modes.
 *
 * With GPU_VIRTUAL the table is mapped in the paging process while it is written, until
 * tables_settle. The leaf tables of the scratch area, which make these mappings possible, are
 * always mapped (paging_process.c).
 */
#include <string.h>

#include "vidmm/space/page_table_op.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/bits.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/paging/paging.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/segment/host_aperture.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/flush_effect.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/table_asked.h"

static void note(struct vidmm_space *space, NTSTATUS status)
{
    if (NT_SUCCESS(space->status))
        space->status = status;
}

void table_suspend(struct vidmm_space *space)
{
    struct vidmm *vidmm = space->vidmm;

    if (space->paging || space->suspended || list_empty(&space->process->contexts))
        return;
    space->suspended = NT_SUCCESS(vidmm->scheduler->process_suspend(space->process));
}

static void resume(struct vidmm_space *space)
{
    if (!space->suspended)
        return;
    note(space, paging_settle(space->vidmm));
    space->vidmm->scheduler->process_resume(space->process);
    space->suspended = false;
}

static void build(struct vidmm_space *space, DXGKARG_BUILDPAGINGBUFFER *op,
                  const struct vidmm_allocation *allocation)
{
    const struct paging_subject subject = {.allocation = allocation, .process = space->process};

    if (space_immediate(space) && !NT_SUCCESS(space->status))
        return; /* the start has failed: one report of it is enough */
    if (space->mmu->geometry.caps.PageTableUpdateRequireAddressSpaceIdle) /* CAPS-089 */
        table_suspend(space);
    space->operations++;
    note(space, space_immediate(space) ? paging_build_immediate(space->vidmm, op, &subject)
                                       : paging_build(space->vidmm, op, &subject));
}

/* Host address of a table for CPU_VIRTUAL updates (GPUVA-183); through a CPU host aperture only
 * until the update is built. NULL: the driver refused that. */
static void *table_for_update(const struct page_table *table, struct host_mapping *window)
{
    struct vidmm *vidmm = table->space->vidmm;
    const struct vidmm_run *run = &table->place.run;
    const struct host_view view = {.runs = run, .run_count = 1, .pages = run->pages, .table = true};

    if (run->segment == 0 || segment_cpu_visible(&vidmm->segment[run->segment]))
        return table_cpu(table);
    return NT_SUCCESS(host_aperture_map(vidmm, &view, window)) ? host_aperture_cpu(vidmm, window)
                                                               : NULL;
}

/* Entries would stay as they were, and the GPU would go on using memory that others get. */
static void give_up(const struct page_table *table)
{
    struct vidmm_space *space = table->space;

    note(space, STATUS_NO_MEMORY);
    if (space->vidmm->lost)
        return;
    verify_refusal("GPUVA-183",
                   "a page table of level %u at segment %u offset 0x%llx cannot be written: its "
                   "segment's CPU host aperture does not show it; the adapter is lost",
                   table->level, table->place.run.segment,
                   (unsigned long long)table_address(table).SegmentOffset);
    space->vidmm->lost = true;
}

/* The table's address in the paging process, for GPU_VIRTUAL updates (GPUVA-184). */
static struct gpu_va table_window(struct page_table *table)
{
    struct vidmm_space *space = table->space;

    if (space->paging && table->level == 0 && table->first >= space->mmu->scratch.first)
        return space->mmu->windows->of_leaf(space->vidmm,
                                            (struct gpu_va){table->first << PAGE_BITS});
    if (table->window.value == 0) {
        table->window = table->space->mmu->windows->map(table);
        if (table->window.value == 0)
            note(space, STATUS_INSUFFICIENT_RESOURCES);
        else
            list_push_back(&space->windows, &table->link);
    }
    return table->window;
}

void table_open(struct page_table *table)
{
    if (!table->absent && !space_immediate(table->space) &&
        table->space->mmu->geometry.caps.PageTableUpdateMode == DXGK_PAGETABLEUPDATE_GPU_VIRTUAL)
        table_window(table);
}

/* The driver gets memory that is guarded: that of several entries is; a single one, which may be on
 * the stack, is copied. */
static DXGK_PTE *lend_entries(struct gpu_mmu *mmu, const struct table_change *change)
{
    if (change->entries == mmu->entries) {
        ddi_guarded_end(&mmu->entry_memory, change->count * sizeof(DXGK_PTE));
        return mmu->entries;
    }
    memcpy(mmu->one_memory.data, change->entries, sizeof(DXGK_PTE));
    return (DXGK_PTE *)(void *)mmu->one_memory.data;
}

/* The driver may use the array only during the call (GPUVA-172), so overwrite it. */
static void take_entries(struct gpu_mmu *mmu, const struct table_change *change)
{
    ddi_guarded_check(change->entries == mmu->entries ? &mmu->entry_memory : &mmu->one_memory,
                      "DxgkDdiBuildPagingBuffer");
    ddi_guarded_check(&mmu->none_memory, "DxgkDdiBuildPagingBuffer");
    if (change->entries == mmu->entries)
        memset(mmu->entries, 0xA5, change->count * sizeof(DXGK_PTE));
    else
        memset(mmu->one_memory.data, 0xA5, sizeof(DXGK_PTE));
}

/* What was built before may still be copying out of memory that the CPU is about to write. */
static void wait_for_memory(const struct page_table *table)
{
    struct vidmm *vidmm = table->space->vidmm;
    const UINT segment = table->place.run.segment;

    if (segment != 0 && !vidmm->reset && !vidmm->lost &&
        !paging_ticket_done(vidmm, vidmm->segment[segment].given))
        note(table->space, paging_settle(vidmm));
}

void table_change(const struct table_change *change)
{
    struct page_table *table = change->table;
    struct vidmm_space *space = table->space;
    const struct table_geometry *geometry = &space->mmu->geometry;
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_UPDATE_PAGE_TABLE};
    DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op.UpdatePageTable;
    struct host_mapping window = {.window = NULL};
    struct table_call *call;

    if (table->absent) {
        (void)lend_entries(space->mmu, change); /* they may have been written to the array */
        take_entries(space->mmu, change);
        return;
    }
    update->PageTableLevel = table->level;
    update->UpdateMode = space_immediate(space) ? DXGK_PAGETABLEUPDATE_CPU_VIRTUAL
                                                : geometry->caps.PageTableUpdateMode;
    switch (update->UpdateMode) {
    case DXGK_PAGETABLEUPDATE_CPU_VIRTUAL:
        if (!table->place.written && !space_immediate(space))
            wait_for_memory(table);
        update->PageTableAddress.CpuVirtual = table_for_update(table, &window);
        if (!update->PageTableAddress.CpuVirtual) {
            give_up(table);
            return;
        }
        break;
    case DXGK_PAGETABLEUPDATE_GPU_VIRTUAL:
        update->PageTableAddress.GpuVirtual = table_window(table).value;
        break;
    default:
        update->PageTableAddress.GpuPhysical = table_address(table);
        break;
    }
    update->pPageTableEntries = lend_entries(space->mmu, change);
    if (table->level == 1 && geometry->caps.DualPteSupported)
        update->pPageTableEntries64KB = space->mmu->none; /* GPUVA-209 */
    update->StartIndex = change->start;
    update->NumPageTableEntries = change->count;
    update->Flags.Repeat = change->repeat;
    update->Flags.InitialUpdate = change->initial;
    update->Flags.NotifyEviction = change->evict;
    update->hAllocation = change->allocation ? change->allocation->driver_handle : NULL;
    update->AllocationOffsetInBytes = change->allocation ? change->offset : 0;
    update->DriverProtection = table->level == 0 ? change->protection : 0;
    update->hProcess = space->process->driver_handle;
    update->Flags.Use64KBPages = table->is_twin;
    update->FirstPteVirtualAddress =
        (table->first +
         ((uint64_t)change->start << (table->is_twin ? TWIN_SHIFT : geometry->shift[table->level])))
        << PAGE_BITS;
    call = asked_update(change, space->vidmm->statistics.build_calls + 1);
    build(space, &op, change->allocation);
    asked_built(space, call);
    table->place.written = true;
    host_aperture_unmap(space->vidmm, &window);
    take_entries(space->mmu, change);
}

void table_invalidate_all(struct page_table *table, bool initial)
{
    const DXGK_PTE invalid = {.Flags = 0};

    table_change(&(struct table_change){.table = table,
                                        .count = table->entries,
                                        .entries = &invalid,
                                        .repeat = true,
                                        .initial = initial});
}

void table_note_flush(struct vidmm_space *space, uint64_t first, uint64_t count, bool was_valid)
{
    if (!was_valid && space->mmu->geometry.caps.InvalidTlbEntriesNotCached)
        return; /* CAPS-090 */
    if (space->flush_first >= space->flush_end) {
        space->flush_first = first;
        space->flush_end = first + count;
        return;
    }
    if (first < space->flush_first)
        space->flush_first = first;
    if (first + count > space->flush_end)
        space->flush_end = first + count;
}

void table_flush(struct vidmm_space *space, uint64_t first, uint64_t count)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_FLUSH_TLB};
    const struct flush_effect before = flush_effect_before(space);
    const uint64_t number = space->vidmm->statistics.build_calls + 1;

    op.FlushTlb.RootPageTableAddress = table_address(space->root);
    op.FlushTlb.hProcess = space->process->driver_handle;
    op.FlushTlb.StartVirtualAddress = first << PAGE_BITS;
    op.FlushTlb.EndVirtualAddress = (first + count) << PAGE_BITS;
    build(space, &op, NULL);
    flush_effect_check(space, &before, number, first, count);
    asked_flush(space, first, count, number);
}

static void close_windows(struct vidmm_space *space)
{
    struct list *link;

    while ((link = list_pop_front(&space->windows)) != NULL) {
        struct page_table *table = CONTAINER(link, struct page_table, link);

        space->mmu->windows->release(space->vidmm, table->window, table->place.run.pages);
        table->window.value = 0;
    }
}

NTSTATUS tables_settle(struct vidmm_space *space)
{
    NTSTATUS status;
    struct list *link;

    /* CAPS-089; the links above are overwritten already. */
    if (space->mmu->geometry.caps.ExplicitPageTableInvalidation) {
        LIST_FOR(node, &space->doomed) {
            struct page_table *table = CONTAINER(node, struct page_table, deferred.link);

            if (!table->wide && bits_any(table->set, 0, table->entries))
                table_invalidate_all(table, false);
            if (table->twin && bits_any(table->twin->set, 0, table->twin->entries))
                table_invalidate_all(table->twin, false);
        }
    }
    /* while the root is away nothing of the space is in a TLB */
    if (space->flush_first < space->flush_end && !space_immediate(space) && !space->root->absent)
        table_flush(space, space->flush_first, space->flush_end - space->flush_first);
    space->flush_first = space->flush_end = 0;
    close_windows(space);
    while ((link = list_pop_front(&space->doomed)) != NULL)
        table_abandon(CONTAINER(link, struct page_table, deferred.link));
    resume(space);
    status = space->status;
    space->status = STATUS_SUCCESS;
    trace_counter("page table entries written", space->vidmm->statistics.page_table_updates);
    return status;
}
