/* SPDX-License-Identifier: MIT */
/*
 * The walk follows the host's record of the tables, not the bytes that the driver wrote: where both
 * differ, the driver or the device is wrong. Each level is one clause: its number, the index in
 * brackets, and the entry.
 */
#include "vidmm/space/address_text.h"
#include "sim/machine.h"
#include "util/bits.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/va_history.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

#include <stdarg.h>
#include <stdio.h>

struct line {
    char *text;
    size_t bytes, used;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line->text + line->used, line->bytes - line->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->used += (size_t)length;
    if (line->used >= line->bytes)
        line->used = line->bytes - 1;
}

/* ---- who has the address ---- */

static const struct va_piece *piece_at(const struct va_range *range, uint64_t page)
{
    const struct span_node *node = range ? span_at(&range->pieces, page) : NULL;

    return node ? CONTAINER(node, struct va_piece, span) : NULL;
}

/* A mapping that waits in its paging queue; NULL: none. */
static const struct va_piece *awaited_at(const struct va_range *range, uint64_t page)
{
    LIST_FOR(link, &range->jobs) {
        const struct va_piece *piece = CONTAINER(link, struct va_job, link)->piece;

        if (piece && page - piece->span.first < piece->span.pages)
            return piece;
    }
    return NULL;
}

/* By what is the same in every run: no handle of the driver's, which is a pointer. */
static void add_allocation(struct line *line, D3DKMT_HANDLE handle, uint64_t number, uint64_t bytes,
                           uint64_t first, uint64_t pages)
{
    const uint64_t from = first << PAGE_BITS, end = (first + pages) << PAGE_BITS;

    if (number)
        add(line, "allocation 0x%x (number %llu, ", handle, (unsigned long long)number);
    else
        add(line, "an allocation of the driver (");
    add(line, "0x%llx bytes) at 0x%llx to 0x%llx", (unsigned long long)bytes,
        (unsigned long long)from, (unsigned long long)end - 1);
}

static void add_piece(struct line *line, const struct va_piece *piece)
{
    const D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection = {.Value = piece->protection};
    const struct vidmm_allocation *allocation = piece->allocation;

    if (piece->state != ENTRY_PAGES) {
        add(line, "the range is mapped as %s",
            piece->state == ENTRY_ZERO ? "Zero" : "without access");
        return;
    }
    if (!allocation) {
        add(line, "memory of the host is mapped there");
        return;
    }
    add_allocation(line, va_history_handle(piece->range->space, allocation),
                   allocation->number.of_client, allocation->bytes, piece->span.first,
                   piece->span.pages);
    if (allocation->resident)
        add(line, " is mapped there, resident in segment %u%s", allocation->segment,
            protection.Write ? "" : ", without Write");
    else
        add(line, " is mapped there, but not resident: %s%s",
            allocation_absence_text(allocation->absence),
            allocation->device_references ? "" : "; on no residency list");
}

static void add_past(struct line *line, const struct va_past *past)
{
    add(line, "last there was ");
    add_allocation(line, past->handle, past->number, past->bytes, past->first, past->pages);
    add(line, ", until %s %.3f ms before", va_history_end_text(past->end),
        (double)(sim_now() - past->time) / 1e6);
}

static void add_owner(struct line *line, const struct vidmm_space *space, uint64_t page)
{
    const struct va_range *range = range_at(space, page);
    const struct va_piece *piece = piece_at(range, page);
    const struct va_piece *awaited = range ? awaited_at(range, page) : NULL;
    const struct va_past *past;

    if (piece)
        add_piece(line, piece);
    if (awaited)
        add(line, "%sa mapping waits in its paging queue", line->used ? "; " : "");
    if (piece && piece->allocation)
        return;
    if (range && !piece)
        add(line, "%sthe range is reserved, and nothing is mapped there", line->used ? "; " : "");
    past = va_history_find(&space->history, page);
    if (line->used && past)
        add(line, "; ");
    if (past)
        add_past(line, past);
    else if (!range && space->history.count > VA_HISTORY)
        add(line, "nothing is mapped there, nor was by any of the last %u mappings that ended",
            VA_HISTORY);
    else if (!range)
        add(line, "nothing was ever mapped there");
}

/* ---- the walk ---- */

static void add_place(struct line *line, UINT segment, uint64_t offset)
{
    if (segment == 0)
        add(line, "system memory 0x%llx", (unsigned long long)offset);
    else
        add(line, "segment %u offset 0x%llx", segment, (unsigned long long)offset);
}

/* What a valid entry points to that maps pages. */
static void add_page(struct line *line, const struct va_piece *piece, uint64_t page)
{
    struct entry_source source;
    uint64_t offset;

    piece_source(piece, &source);
    offset = page - source.origin;
    if (source.logical) {
        add_place(line, 0, source.logical[offset].value << PAGE_BITS);
        return;
    }
    for (uint32_t i = 0; i < source.run_count; offset -= source.runs[i++].pages) {
        const struct vidmm_run *run = &source.runs[i];

        if (offset >= run->pages)
            continue;
        add_place(line, run->segment, (run->first + offset) << PAGE_BITS);
        return;
    }
}

/* An entry that is not invalid and has no table below. */
static void add_leaf(struct line *line, const struct page_table *table, uint32_t index,
                     uint64_t page)
{
    const struct va_range *range = range_at(table->space, page);
    const struct va_piece *piece = piece_at(range, page);

    if (!range || (piece && piece->state == ENTRY_PAGES && piece->allocation &&
                   !piece->allocation->resident)) {
        add(line, "valid, about to be invalidated");
    } else if (piece && piece->state == ENTRY_PAGES) {
        add(line, table->level > 0 && bit_test(table->large, index) ? "large page, " : "page, ");
        add_page(line, piece, page);
    } else {
        add(line, "Zero");
    }
}

static void add_walk(struct line *line, const struct vidmm_space *space, uint64_t page)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    const struct page_table *table = space->root;

    if (!table || page >= geometry->end) {
        add(line, table ? "the address is outside the address space" : "there is no root table");
        return;
    }
    add(line, "root table at ");
    for (;;) {
        const D3DGPU_PHYSICAL_ADDRESS at = table_address(table);
        uint32_t index = table_index(table, geometry->shift[table->level], page);
        const struct page_table *below;

        add_place(line, at.SegmentId, at.SegmentOffset);
        add(line, "; level %u [%u] ", table->level, index);
        if (index >= table->entries) {
            add(line, "beyond its %u entries", table->entries);
            return;
        }
        below = table->level > 0 ? table->child[index] : NULL;
        if (!bit_test(table->set, index)) {
            add(line, "invalid");
            return;
        }
        if (!below || bit_test(table->large, index)) {
            add_leaf(line, table, index, page);
            return;
        }
        add(line, "table at ");
        table = below;
    }
}

void vidmm_address_text(const struct vidmm_process *process, uint64_t address,
                        struct vidmm_address_text *text)
{
    const struct vidmm_space *space = process->space;
    struct line owner = {text->owner, sizeof(text->owner), 0};
    struct line walk = {text->walk, sizeof(text->walk), 0};

    text->owner[0] = text->walk[0] = '\0';
    if (!space)
        return;
    add_owner(&owner, space, address >> PAGE_BITS);
    add_walk(&walk, space, address >> PAGE_BITS);
}
