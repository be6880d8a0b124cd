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
#include "util/text_line.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/table_asked.h"
#include "vidmm/space/va_history.h"
#include "vidmm/space/va_neighbour.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

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
static void add_allocation(struct text_line *line, D3DKMT_HANDLE handle, uint64_t number,
                           uint64_t bytes, uint64_t first, uint64_t pages)
{
    const uint64_t from = first << PAGE_BITS, end = (first + pages) << PAGE_BITS;

    if (number)
        text_line_add(line, "allocation 0x%x (number %llu, ", handle, (unsigned long long)number);
    else
        text_line_add(line, "an allocation of the driver (");
    text_line_add(line, "0x%llx bytes) at 0x%llx to 0x%llx", (unsigned long long)bytes,
                  (unsigned long long)from, (unsigned long long)end - 1);
}

static void add_piece(struct text_line *line, const struct va_piece *piece)
{
    const D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection = {.Value = piece->protection};
    const struct vidmm_allocation *allocation = piece->allocation;

    if (piece->state != ENTRY_PAGES) {
        text_line_add(line, "the range is mapped as %s",
                      piece->state == ENTRY_ZERO ? "Zero" : "without access");
        return;
    }
    if (!allocation) {
        text_line_add(line, "memory of the host is mapped there");
        return;
    }
    add_allocation(line, va_history_handle(piece->range->space, allocation),
                   allocation->number.of_client, allocation->bytes, piece->span.first,
                   piece->span.pages);
    if (allocation->resident)
        text_line_add(line, " is mapped there, resident in segment %u%s", allocation->segment,
                      protection.Write ? "" : ", without Write");
    else
        text_line_add(line, " is mapped there, but not resident: %s%s",
                      allocation_absence_text(allocation->absence),
                      allocation->device_references ? "" : "; on no residency list");
}

static void add_past(struct text_line *line, const struct va_past *past)
{
    text_line_add(line, "last there was ");
    add_allocation(line, past->handle, past->number, past->bytes, past->first, past->pages);
    text_line_add(line, ", until %s %.3f ms before", va_history_end_text(past->end),
                  (double)(sim_now() - past->time) / 1e6);
    if (past->call)
        text_line_add(line, " (%s)", past->call);
}

/* What stands next to a free address, on both sides. */
static void add_nearby(struct text_line *line, struct vidmm_space *space, uint64_t page)
{
    const struct va_range *below = range_below(space, page), *above = range_from(space, page);
    struct va_neighbour beside;

    if (below && va_neighbour_at(space, span_end(&below->span) - 1, 1, &beside))
        text_line_add(line, "; below it is %s", va_neighbour_describe(&beside).text);
    if (above && va_neighbour_at(space, above->span.first, 1, &beside))
        text_line_add(line, "; above it is %s", va_neighbour_describe(&beside).text);
}

static void add_owner(struct text_line *line, struct vidmm_space *space, uint64_t page)
{
    const struct va_range *range = range_at(space, page);
    const struct va_piece *piece = piece_at(range, page);
    const struct va_piece *awaited = range ? awaited_at(range, page) : NULL;
    const struct va_past *past;

    if (piece)
        add_piece(line, piece);
    if (awaited)
        text_line_add(line, "%sa mapping waits in its paging queue", line->used ? "; " : "");
    if (piece && piece->allocation)
        return;
    if (range && !piece)
        text_line_add(line, "%sthe range is reserved, and nothing is mapped there",
                      line->used ? "; " : "");
    past = va_history_find(&space->history, page);
    if (line->used && past)
        text_line_add(line, "; ");
    if (past)
        add_past(line, past);
    else if (!range && space->history.count > VA_HISTORY)
        text_line_add(line,
                      "nothing is mapped there, nor was by any of the last %u mappings that ended",
                      VA_HISTORY);
    else if (!range)
        text_line_add(line, "nothing was ever mapped there");
    if (!range)
        add_nearby(line, space, page);
}

/* ---- the walk ---- */

static void add_place(struct text_line *line, UINT segment, uint64_t offset)
{
    if (segment == 0)
        text_line_add(line, "system memory 0x%llx", (unsigned long long)offset);
    else
        text_line_add(line, "segment %u offset 0x%llx", segment, (unsigned long long)offset);
}

/* What a valid entry points to that maps pages. */
static void add_page(struct text_line *line, const struct va_piece *piece, uint64_t page)
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
static void add_leaf(struct text_line *line, const struct page_table *table, uint32_t index,
                     uint64_t page)
{
    const struct va_range *range = range_at(table->space, page);
    const struct va_piece *piece = piece_at(range, page);

    if (!range || (piece && piece->state == ENTRY_PAGES && piece->allocation &&
                   !piece->allocation->resident)) {
        text_line_add(line, "valid, about to be invalidated");
    } else if (piece && piece->state == ENTRY_PAGES) {
        text_line_add(line, table->level > 0 && bit_test(table->large, index) ? "large page, "
                                                                              : "page, ");
        add_page(line, piece, page);
    } else {
        text_line_add(line, "Zero");
    }
}

static void add_walk(struct text_line *line, const struct vidmm_space *space, uint64_t page)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    const struct table_reader *reader = space->mmu->watch.reader;
    const struct page_table *table = space->root;
    char memory[64] = "";

    if (!table || page >= geometry->end) {
        text_line_add(line, table ? "the address is outside the address space"
                                  : "there is no root table");
        return;
    }
    text_line_add(line, "root table at ");
    for (;;) {
        const D3DGPU_PHYSICAL_ADDRESS at = table_address(table);
        uint32_t index = table_index(table, geometry->shift[table->level], page);
        const struct page_table *below;

        if (table->absent)
            text_line_add(line, "no place (evicted)");
        else
            add_place(line, at.SegmentId, at.SegmentOffset);
        text_line_add(line, "; level %u [%u] ", table->level, index);
        if (index >= table->entries) {
            text_line_add(line, "beyond its %u entries", table->entries);
            return;
        }
        below = table->level > 0 ? table->child[index] : NULL;
        if (reader)
            reader->describe(table, index, memory, sizeof(memory));
        if (!bit_test(table->set, index)) {
            text_line_add(line, "invalid%s", memory);
            return;
        }
        if (!below || bit_test(table->large, index)) {
            add_leaf(line, table, index, page);
            text_line_add(line, "%s", memory);
            return;
        }
        text_line_add(line, "table%s at ", memory);
        table = below;
    }
}

void vidmm_address_text(const struct vidmm_process *process, uint64_t address,
                        struct vidmm_address_text *text)
{
    struct vidmm_space *space = process->space;
    struct text_line owner = text_line_begin(text->owner, sizeof(text->owner));
    struct text_line walk = text_line_begin(text->walk, sizeof(text->walk));

    if (!space)
        return;
    add_owner(&owner, space, address >> PAGE_BITS);
    add_walk(&walk, space, address >> PAGE_BITS);
}
