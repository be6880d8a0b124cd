/* SPDX-License-Identifier: MIT */
/* Checks every invariant of an address space, for tests and debug builds: of the
 * records themselves, which tables they hold, and that entries match the records.
 * Visits the whole space. */
#include "util/bits.h"
#include "util/checked.h"
#include "util/range_map.h"
#include "util/list.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

/* ---- records ---- */

static bool on_mapping_list(const struct va_piece *piece)
{
    bool unique_over = false;

    LIST_FOR(node, &piece->allocation->mappings) {
        const struct va_piece *other = CONTAINER(node, struct va_piece, mapping);
        bool unique = other->driver_protection & D3DGPU_UNIQUE_DRIVER_PROTECTION;

        if (unique && unique_over)
            return false; /* unique ones come first */
        unique_over |= !unique;
        if (other == piece)
            return true;
    }
    return false;
}

static bool piece_valid(const struct va_range *range, const struct va_piece *piece)
{
    if (piece->range != range || piece->span.pages == 0 || piece->span.first < range->span.first ||
        span_end(&piece->span) > span_end(&range->span))
        return false;
    if (piece->state != ENTRY_PAGES)
        return piece->allocation == NULL;
    if (!piece->allocation)
        return range->kind == RANGE_INTERNAL;
    return range_inside(piece->offset, piece->span.pages, piece->allocation->pages) &&
           on_mapping_list(piece);
}

static bool range_valid(const struct vidmm_space *space, const struct va_range *range)
{
    uint32_t owners = 0;

    if (range->space != space || !span_validate(&range->pieces) ||
        range_at(space, range->span.first) != range)
        return false;
    for (struct span_node *node = span_first(&range->pieces); node;
         node = span_next(&range->pieces, node)) {
        const struct va_piece *piece = CONTAINER(node, struct va_piece, span);

        if (piece->job || !piece_valid(range, piece))
            return false;
        owners += piece->allocation != NULL;
    }
    LIST_FOR(node, &range->jobs) {
        const struct va_job *job = CONTAINER(node, struct va_job, link);

        if (job->range != range ||
            (job->piece && (job->piece->job != job || !piece_valid(range, job->piece))))
            return false;
        owners += job->piece && job->piece->allocation;
    }
    return owners == range->owners;
}

static bool addresses_valid(const struct vidmm_space *space)
{
    uint64_t pages = 0, first, end;

    for (struct range_map_entry entry = {0};
         range_map_from(&space->ranges, entry.first + entry.size, &entry);) {
        const struct va_range *range = entry.owner;

        if (range->span.first != entry.first || range->span.pages != entry.size ||
            !range_valid(space, range))
            return false;
        pages += entry.size;
    }
    first = space->paging ? 1 : space->mmu->geometry.first;
    end = space->paging ? space->mmu->end : space->mmu->geometry.end;
    return space->ranges.free_units + pages == end - first;
}

/* ---- holds ---- */

enum hold_action { HOLD_TAKE, HOLD_DROP };

static void pages_hold(struct vidmm_space *space, uint64_t first, uint64_t pages,
                       enum hold_action action)
{
    if (action == HOLD_TAKE)
        (void)tables_hold(space, first, pages); /* the tables exist, so this cannot fail */
    else
        tables_drop(space, first, pages);
}

static void edges_hold(struct vidmm_space *space, uint64_t first, uint64_t end,
                       enum hold_action action)
{
    if (action == HOLD_TAKE) {
        (void)tables_hold_edge(space, first);
        (void)tables_hold_edge(space, end);
    } else {
        tables_drop_edge(space, first);
        tables_drop_edge(space, end);
    }
}

static void piece_holds(struct vidmm_space *space, const struct va_piece *piece,
                        enum hold_action action)
{
    if (piece->state == ENTRY_PAGES)
        pages_hold(space, piece->span.first, piece->span.pages, action);
    else
        edges_hold(space, piece->span.first, span_end(&piece->span), action);
}

static void all_holds(struct vidmm_space *space, enum hold_action action)
{
    for (struct va_range *range = range_from(space, 0); range; range = range_next(range)) {
        for (struct span_node *at = span_first(&range->pieces); at;
             at = span_next(&range->pieces, at))
            piece_holds(space, CONTAINER(at, struct va_piece, span), action);
        LIST_FOR(link, &range->jobs) {
            const struct va_job *job = CONTAINER(link, struct va_job, link);

            if (job->piece)
                piece_holds(space, job->piece, action);
        }
        if (range->initial == ENTRY_ZERO)
            edges_hold(space, range->span.first, span_end(&range->span), action);
    }
    LIST_FOR(link, &space->holds) {
        const struct table_hold *hold = CONTAINER(link, struct table_hold, link);

        pages_hold(space, hold->first, hold->pages, action);
    }
}

/* True if a table is held only by the tables below it. */
static bool nothing_held(const struct page_table *table)
{
    uint64_t below = 0;

    for (uint32_t i = 0; table->level > 0 && i < table->entries; i++) {
        if (!table->child[i])
            continue;
        below++;
        if (!nothing_held(table->child[i]))
            return false;
    }
    return table->uses == below;
}

static bool holds_valid(struct vidmm_space *space)
{
    bool valid;

    if (!space->root || space->paging)
        return true; /* those of the paging process are held for good */
    all_holds(space, HOLD_DROP);
    valid = nothing_held(space->root);
    all_holds(space, HOLD_TAKE);
    return valid;
}

/* ---- entries ---- */

/* Pages [first, end) whose entries should all be set (not invalid), or none. */
struct set_run {
    uint64_t first, end;
    bool set;
};

/* From the page to where the records change. */
static struct set_run run_from(const struct vidmm_space *space, uint64_t page)
{
    const struct va_range *range = range_from(space, page);
    const struct span_node *node;
    struct entry_source source;

    if (!range)
        return (struct set_run){page, UINT64_MAX, false};
    if (range->span.first > page)
        return (struct set_run){page, range->span.first, false};
    node = span_from(&range->pieces, page);
    if (!node || node->first > page)
        return (struct set_run){page, node ? node->first : span_end(&range->span),
                                range->initial != ENTRY_INVALID};
    piece_source(CONTAINER(node, struct va_piece, span), &source);
    return (struct set_run){page, span_end(node), source.state != ENTRY_INVALID};
}

/* Should the entry of the page be set? `run` is the one that was asked about last. */
static bool page_set(const struct vidmm_space *space, uint64_t page, struct set_run *run)
{
    if (page < run->first || page >= run->end)
        *run = run_from(space, page);
    return run->set;
}

/* Entries without a table below must match the records. */
static bool entries_valid(const struct vidmm_space *space, const struct page_table *table,
                          struct set_run *run)
{
    unsigned shift = space->mmu->geometry.shift[table->level];

    if (!table->ready)
        return true;
    for (uint32_t i = 0; i < table->entries; i++) {
        const struct page_table *child = table->level > 0 ? table->child[i] : NULL;
        uint64_t first = table->first + ((uint64_t)i << shift);

        if (child && child->ready) {
            if (!entries_valid(space, child, run))
                return false;
            continue;
        }
        if (page_set(space, first, run) != bit_test(table->set, i) ||
            page_set(space, first + ((uint64_t)1 << shift) - 1, run) != bit_test(table->set, i))
            return false;
    }
    return true;
}

static bool jobs_pending(const struct vidmm_space *space)
{
    for (struct va_range *range = range_from(space, 0); range; range = range_next(range))
        if (!list_empty(&range->jobs))
            return true;
    return false;
}

bool space_validate(const struct vidmm_space *space)
{
    struct vidmm_space *changing = (struct vidmm_space *)(uintptr_t)
        space; /* it is changed back below */
    struct set_run run = {0};

    if (!range_map_validate(&space->ranges) || !slab_validate(&space->range_slab) ||
        !slab_validate(&space->piece_slab))
        return false;
    if (!addresses_valid(space) || !tables_validate(space) || !holds_valid(changing))
        return false;
    if (!list_empty(&space->freed) || jobs_pending(space) || !space->root || space->paging ||
        space->vidmm->lost)
        return true; /* pending jobs have not written their entries yet, or never will */
    return entries_valid(space, space->root, &run);
}
