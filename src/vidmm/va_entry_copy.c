/* SPDX-License-Identifier: MIT */
/*
 * The leaf tables copied from and to are mapped in the privileged space meanwhile, and held, so
 * that they stay where they are whatever becomes of the ranges; nor do the allocations move.
 *
 *   paging node      tables made ready; mappings of pools, tables and commands; TLB flushes
 *   (settled)
 *   companion        COPY_PAGE_TABLE_ENTRIES, FLUSH_TLB of the pages that changed; in as many
 *                    submissions as the driver needs
 */
#include "vidmm/va_entry_copy.h"
#include "util/alloc.h"
#include "util/bits.h"
#include "util/span_tree.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/context_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/residency/queued_use.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/privileged_space.h"
#include "vidmm/space/table_asked.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"
#include "vidmm/space/wide_pages.h"

#include <string.h>

struct stretch {
    struct table_hold hold;
    struct list link;       /* copy->stretches */
    struct va_piece values; /* what its pages map, from hold.first on */
};

struct window {
    struct list link; /* copy->windows */
    const struct page_table *table;
    struct gpu_va va;
};

void entry_copy_begin(struct entry_copy *copy, struct vidmm_space *space,
                      struct vidmm_context *companion)
{
    *copy = (struct entry_copy){.space = space, .companion = companion};
    list_init(&copy->stretches);
    list_init(&copy->windows);
}

static struct vidmm_space *privileged(const struct entry_copy *copy)
{
    return copy->space->process->privileged;
}

/* ---- adding ---- */

static NTSTATUS window_on(struct entry_copy *copy, const struct page_table *table,
                          D3DGPU_VIRTUAL_ADDRESS *va)
{
    struct window *window;
    NTSTATUS status;

    LIST_FOR(node, &copy->windows) {
        window = CONTAINER(node, struct window, link);
        if (window->table == table) {
            *va = window->va.value;
            return STATUS_SUCCESS;
        }
    }
    window = util_zalloc(1, sizeof(*window));
    if (!window)
        return STATUS_INSUFFICIENT_RESOURCES;
    window->table = table;
    status = privileged_space_map_table(privileged(copy), table, &window->va);
    if (!NT_SUCCESS(status)) {
        util_free(window);
        return status;
    }
    list_push_back(&copy->windows, &window->link);
    *va = window->va.value;
    return status;
}

static bool make_room(struct entry_copy *copy)
{
    const UINT room = copy->ranges.room ? 2 * copy->ranges.room : 16;
    DXGK_BUILDPAGINGBUFFER_COPY_RANGE *range;

    if (copy->ranges.count < copy->ranges.room)
        return true;
    range = util_alloc(room * sizeof(*range));
    if (!range)
        return false;
    if (copy->ranges.count)
        memcpy(range, copy->ranges.range, copy->ranges.count * sizeof(*range));
    util_free(copy->ranges.range);
    copy->ranges.range = range;
    copy->ranges.room = room;
    return true;
}

/* From one leaf table to one other. */
static NTSTATUS add_range(struct entry_copy *copy, uint64_t from, uint64_t to, uint64_t pages)
{
    const struct page_table *source = tables_leaf(privileged(copy), from),
                            *target = tables_leaf(copy->space, to);
    DXGK_BUILDPAGINGBUFFER_COPY_RANGE range = {.NumPageTableEntries = (UINT)pages,
                                               .SrcStartPteIndex = (UINT)(from - source->first),
                                               .DstStartPteIndex = (UINT)(to - target->first)};
    NTSTATUS status = window_on(copy, source, &range.SrcPageTableAddress);

    if (NT_SUCCESS(status))
        status = window_on(copy, target, &range.DstPageTableAddress);
    if (NT_SUCCESS(status) && !make_room(copy))
        status = STATUS_INSUFFICIENT_RESOURCES;
    if (NT_SUCCESS(status))
        copy->ranges.range[copy->ranges.count++] = range;
    return status;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static NTSTATUS add_ranges(struct entry_copy *copy, uint64_t from, uint64_t to, uint64_t pages)
{
    const uint64_t span = copy->space->mmu->geometry.span;
    const UINT before = copy->ranges.count;
    NTSTATUS status = STATUS_SUCCESS;

    while (pages > 0 && NT_SUCCESS(status)) {
        uint64_t some = sooner(sooner(span - from % span, span - to % span), pages);

        status = add_range(copy, from, to, some);
        from += some;
        to += some;
        pages -= some;
    }
    if (!NT_SUCCESS(status))
        copy->ranges.count = before;
    return status;
}

/* The entries are not invalid any more. */
static void note_entries(struct entry_copy *copy, uint64_t first, uint64_t end)
{
    while (first < end) {
        struct page_table *leaf = tables_leaf(copy->space, first);
        const uint64_t stop = sooner(end, leaf->first + leaf->entries);
        const uint32_t start = (uint32_t)(first - leaf->first), count = (uint32_t)(stop - first);

        if (bits_any(leaf->set, start, count) ||
            !copy->space->mmu->geometry.caps.InvalidTlbEntriesNotCached) {
            if (copy->flush_end == 0 || first < copy->flush_first)
                copy->flush_first = first;
            if (stop > copy->flush_end)
                copy->flush_end = stop;
        }
        bits_put(leaf->set, start, count, true);
        asked_copied(leaf, start, count);
        first = stop;
    }
}

static NTSTATUS hold(struct entry_copy *copy, const struct va_piece *piece, uint64_t first,
                     uint64_t pages)
{
    struct stretch *stretch = util_zalloc(1, sizeof(*stretch));
    NTSTATUS status;

    if (!stretch)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = tables_hold(copy->space, first, pages);
    if (!NT_SUCCESS(status)) {
        util_free(stretch);
        return status;
    }
    stretch->hold.first = first;
    stretch->hold.pages = pages;
    stretch->values = (struct va_piece){.span = {.first = first, .pages = pages},
                                        .state = ENTRY_PAGES,
                                        .allocation = piece->allocation,
                                        .offset = piece->offset + (first - piece->span.first),
                                        .protection = piece->protection,
                                        .driver_protection = piece->driver_protection};
    list_push_back(&copy->space->holds, &stretch->hold.link);
    list_push_back(&copy->stretches, &stretch->link);
    copied_use_begin(piece->allocation);
    return STATUS_SUCCESS;
}

NTSTATUS entry_copy_add(struct entry_copy *copy, const struct va_piece *piece, uint64_t first,
                        uint64_t end)
{
    uint64_t pool;
    NTSTATUS status = privileged_space_pool(privileged(copy), piece, &pool);

    if (NT_SUCCESS(status))
        status = hold(copy, piece, first, end - first);
    if (!NT_SUCCESS(status))
        return status;
    tables_ready(copy->space, first, end - first);
    tables_make_small(copy->space, first, end - first);
    status = add_ranges(copy, pool + piece->offset + (first - piece->span.first), first,
                        end - first);
    if (NT_SUCCESS(status))
        note_entries(copy, first, end);
    return status;
}

/* ---- on the companion ---- */

static void ended(void *context)
{
    struct entry_copy *copy = context;

    copy->busy = false;
    paging_poke(copy->space->vidmm);
}

static NTSTATUS prepare(struct entry_copy *copy, const struct vidmm_paging_buffer *buffer)
{
    const struct vidmm_run run = {.first = buffer->logical.value >> PAGE_BITS,
                                  .pages = align_up(buffer->capacity, PAGE_BYTES) >> PAGE_BITS};
    const size_t bytes = copy->ranges.count * sizeof(copy->ranges.range[0]);
    NTSTATUS status;

    if (!copy->lent.data && !ddi_guarded_init(&copy->lent, bytes, "pRanges of a copy of entries"))
        return STATUS_INSUFFICIENT_RESOURCES;
    memcpy(copy->lent.data, copy->ranges.range, bytes);
    status = privileged_space_map_commands(privileged(copy), &run, &copy->commands);
    if (!NT_SUCCESS(status))
        return status;
    (void)tables_settle(privileged(copy));
    (void)tables_settle(copy->space);
    copy->prepared = true;
    return paging_settle(copy->space->vidmm);
}

static NTSTATUS build_copy(struct entry_copy *copy, struct vidmm_paging_buffer *buffer)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES,
                                    .MultipassOffset = copy->multipass};
    const struct paging_subject subject = {.process = copy->space->process};
    NTSTATUS status;

    op.CopyPageTableEntries.NumRanges = copy->ranges.count;
    op.CopyPageTableEntries.pRanges = (DXGK_BUILDPAGINGBUFFER_COPY_RANGE *)(void *)copy->lent.data;
    status = paging_build_beside(copy->space->vidmm, buffer, copy->companion->driver_handle, &op,
                                 &subject);
    ddi_guarded_check(&copy->lent, "DxgkDdiBuildPagingBuffer");
    copy->multipass = op.MultipassOffset;
    copy->copied = status == STATUS_SUCCESS;
    return status;
}

static NTSTATUS build_flush(struct entry_copy *copy, struct vidmm_paging_buffer *buffer)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_FLUSH_TLB};
    const struct paging_subject subject = {.process = copy->space->process};
    NTSTATUS status = STATUS_SUCCESS;

    op.FlushTlb.RootPageTableAddress = table_address(copy->space->root);
    op.FlushTlb.hProcess = copy->space->process->driver_handle;
    op.FlushTlb.StartVirtualAddress = copy->flush_first << PAGE_BITS;
    op.FlushTlb.EndVirtualAddress = copy->flush_end << PAGE_BITS;
    if (copy->flush_end)
        status = paging_build_beside(copy->space->vidmm, buffer, copy->companion->driver_handle,
                                     &op, &subject);
    copy->flushed = status == STATUS_SUCCESS;
    return status;
}

NTSTATUS entry_copy_run(struct entry_copy *copy)
{
    struct vidmm *vidmm;
    struct vidmm_paging_buffer *buffer;
    NTSTATUS status = STATUS_SUCCESS;

    if (!copy->space || copy->ranges.count == 0)
        return status;
    vidmm = copy->space->vidmm;
    if (copy->busy)
        return STATUS_RETRY;
    if (copy->flushed || vidmm->lost || copy->companion->device->lost)
        return status;
    buffer = vidmm->scheduler->companion_buffer(copy->companion);
    if (!copy->prepared)
        status = prepare(copy, buffer);
    buffer->va = copy->commands;
    if (NT_SUCCESS(status) && !copy->copied)
        status = build_copy(copy, buffer);
    if (NT_SUCCESS(status) && copy->copied)
        status = build_flush(copy, buffer);
    if (!NT_SUCCESS(status) && status != STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER)
        return status;
    if (buffer->used == buffer->start && buffer->private_used == buffer->private_start)
        return STATUS_SUCCESS; /* it had nothing to write */
    copy->busy = true;
    vidmm->scheduler->companion_submit(copy->companion, ended, copy);
    return STATUS_RETRY;
}

/* ---- the end ---- */

/* Has the GPU made the entries of the stretch what they were to be, and do the records say so? */
static bool is_right(const struct entry_copy *copy, const struct stretch *stretch)
{
    return copy->flushed && !copy->companion->device->lost &&
           stretch->values.allocation->resident && space_maps(copy->space, &stretch->values);
}

static void mend(struct entry_copy *copy, const struct stretch *stretch)
{
    /* whatever was written to them since, the copy may have come later */
    note_entries(copy, stretch->hold.first, stretch->hold.first + stretch->hold.pages);
    space_write_again(copy->space, stretch->hold.first, stretch->hold.pages);
}

/* Is there a table that nothing holds, with entries of these pages? */
static bool is_unheld(const struct vidmm_space *space, uint64_t first, uint64_t pages)
{
    const struct page_table *leaf;

    for (uint64_t page = first; page < first + pages; page = leaf->first + leaf->entries) {
        leaf = tables_leaf(space, page);
        if (leaf->uses == 0)
            return true;
    }
    return false;
}

static void let_go(struct entry_copy *copy, struct stretch *stretch)
{
    const uint64_t first = stretch->hold.first, pages = stretch->hold.pages;
    const bool right = is_right(copy, stretch);

    if (!right)
        mend(copy, stretch);
    list_remove(&stretch->hold.link);
    tables_drop(copy->space, first, pages);
    if (is_unheld(copy->space, first, pages))
        space_write_again(copy->space, first, pages); /* only the copy held them */
}

static void forget(struct entry_copy *copy)
{
    util_free(copy->ranges.range);
    if (copy->lent.data)
        ddi_guarded_finish(&copy->lent);
    copy->space = NULL;
}

void entry_copy_end(struct entry_copy *copy)
{
    struct list *node;

    if (!copy->space)
        return;
    while ((node = list_pop_front(&copy->windows)) != NULL) {
        struct window *window = CONTAINER(node, struct window, link);

        space_unmap_internal(privileged(copy), window->va);
        util_free(window);
    }
    if (copy->commands.value)
        space_unmap_internal(privileged(copy), copy->commands);
    LIST_FOR(link, &copy->stretches)
        let_go(copy, CONTAINER(link, struct stretch, link));
    (void)tables_settle(privileged(copy));
    (void)tables_settle(copy->space);
    while ((node = list_pop_front(&copy->stretches)) != NULL) {
        struct stretch *stretch = CONTAINER(node, struct stretch, link);

        copied_use_end(stretch->values.allocation);
        util_free(stretch);
    }
    forget(copy);
}

void entry_copy_abandon(struct entry_copy *copy)
{
    struct list *node;

    if (!copy->space)
        return;
    while ((node = list_pop_front(&copy->windows)) != NULL)
        util_free(CONTAINER(node, struct window, link));
    while ((node = list_pop_front(&copy->stretches)) != NULL) {
        struct stretch *stretch = CONTAINER(node, struct stretch, link);

        list_remove(&stretch->hold.link);
        if (copy->space->root)
            tables_drop(copy->space, stretch->hold.first, stretch->hold.pages);
        copied_use_end(stretch->values.allocation);
        util_free(stretch);
    }
    forget(copy);
}

bool entry_copy_changes(const struct vidmm_space *space, uint64_t first, uint64_t end)
{
    LIST_FOR(link, &space->holds) {
        const struct table_hold *hold = CONTAINER(link, const struct table_hold, link);

        if (hold->first < end && first < hold->first + hold->pages)
            return true;
    }
    return false;
}
