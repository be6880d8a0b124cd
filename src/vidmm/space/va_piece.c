/* SPDX-License-Identifier: MIT */
/* Pieces: what the pages of a range map, and writing that to page-table entries. Overview
 * in address_space.c. */
#include "vidmm/space/va_piece.h"
#include "ram/ram.h"
#include "util/list.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/wide_pages.h"

static void hold_existing_edge(struct vidmm_space *space, uint64_t edge)
{
    /* A piece that begins or ends there already holds all tables that the edge needs. So no table
     * is created, and this cannot fail. */
    (void)tables_hold_edge(space, edge);
}

static NTSTATUS hold(const struct va_piece *piece)
{
    struct vidmm_space *space = piece->range->space;
    NTSTATUS status;

    if (piece->state == ENTRY_PAGES)
        return tables_hold(space, piece->span.first, piece->span.pages);
    status = tables_hold_edge(space, piece->span.first);
    if (!NT_SUCCESS(status))
        return status;
    status = tables_hold_edge(space, span_end(&piece->span));
    if (!NT_SUCCESS(status)) {
        tables_drop_edge(space, piece->span.first);
        tables_prune(space, piece->span.first, 1);
    }
    return status;
}

static void drop(const struct va_piece *piece)
{
    struct vidmm_space *space = piece->range->space;

    if (piece->state == ENTRY_PAGES) {
        tables_drop(space, piece->span.first, piece->span.pages);
        return;
    }
    tables_drop_edge(space, piece->span.first);
    tables_drop_edge(space, span_end(&piece->span));
}

/* Add it to the allocation's list, with unique driver protections first, so that a search for these
 * visits no others. */
static void register_mapping(struct va_piece *piece)
{
    list_init(&piece->mapping);
    if (!piece->allocation)
        return;
    if (piece->driver_protection & D3DGPU_UNIQUE_DRIVER_PROTECTION)
        list_push_front(&piece->allocation->mappings, &piece->mapping);
    else
        list_push_back(&piece->allocation->mappings, &piece->mapping);
    piece->range->owners++;
}

static void unregister_mapping(struct va_piece *piece)
{
    list_remove(&piece->mapping);
    if (piece->allocation)
        piece->range->owners--;
}

static struct va_piece *piece_take(struct va_range *range)
{
    if (range->body_used)
        return slab_take(&range->space->piece_slab);
    range->body_used = true;
    return &range->body;
}

void piece_give(struct va_range *range, struct va_piece *piece)
{
    if (piece == &range->body)
        range->body_used = false;
    else
        slab_give(&range->space->piece_slab, piece);
}

NTSTATUS piece_create(struct va_range *range, const struct va_piece *values, struct va_piece **out)
{
    struct va_piece *piece = piece_take(range);
    NTSTATUS status;

    if (!piece)
        return STATUS_INSUFFICIENT_RESOURCES;
    *piece = *values;
    piece->range = range;
    piece->job = NULL;
    status = hold(piece);
    if (!NT_SUCCESS(status)) {
        piece_give(range, piece);
        return status;
    }
    register_mapping(piece);
    *out = piece;
    return STATUS_SUCCESS;
}

void piece_discard(struct va_piece *piece)
{
    struct va_range *range = piece->range;

    unregister_mapping(piece);
    drop(piece);
    tables_prune(range->space, piece->span.first, piece->span.pages);
    piece_give(range, piece);
}

void va_job_cancel(struct va_job *job)
{
    list_remove(&job->link);
    job->range = NULL;
    if (job->piece)
        piece_discard(job->piece);
    job->piece = NULL;
}

void piece_end(struct va_piece *piece)
{
    unregister_mapping(piece);
    drop(piece);
    piece->allocation = NULL;
}

void piece_remove(struct va_piece *piece)
{
    struct va_range *range = piece->range;

    span_remove(&range->pieces, &piece->span);
    piece_end(piece);
    piece_give(range, piece);
}

/* ---- cutting ---- */

/* Keep only the pages of `old` below `edge`. */
static void cut_above(struct va_piece *old, uint64_t edge)
{
    struct vidmm_space *space = old->range->space;
    uint64_t end = span_end(&old->span);

    va_history_note(old, edge, end - edge, MAPPING_REPLACED);
    if (old->state == ENTRY_PAGES) {
        tables_drop(space, edge, end - edge);
    } else {
        hold_existing_edge(space, edge);
        tables_drop_edge(space, end);
    }
    old->span.pages = edge - old->span.first;
}

/* Keep only the pages of `old` from `edge` on. */
static void cut_below(struct va_piece *old, uint64_t edge)
{
    struct vidmm_space *space = old->range->space;
    uint64_t lost = edge - old->span.first;

    va_history_note(old, old->span.first, lost, MAPPING_REPLACED);
    if (old->state == ENTRY_PAGES) {
        tables_drop(space, old->span.first, lost);
    } else {
        hold_existing_edge(space, edge);
        tables_drop_edge(space, old->span.first);
    }
    old->span.first = edge;
    old->span.pages -= lost;
    old->offset += lost;
}

/* Remove [first, end) from the middle of `old`; the part above it becomes `upper`. */
static void cut_middle(struct va_piece *old, uint64_t first, uint64_t end, struct va_piece *upper)
{
    struct vidmm_space *space = old->range->space;

    va_history_note(old, first, end - first, MAPPING_REPLACED);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one at most is cut in two. */
    *upper = *old;
    upper->span.first = end;
    upper->span.pages = span_end(&old->span) - end;
    upper->offset = old->offset + (end - old->span.first);
    register_mapping(upper);
    old->span.pages = first - old->span.first;
    if (old->state == ENTRY_PAGES) {
        tables_drop(space, first, end - first);
    } else {
        hold_existing_edge(space, first);
        hold_existing_edge(space, end);
    }
    span_insert(&old->range->pieces, &upper->span);
}

void piece_apply(struct va_piece *piece, struct va_piece **spare)
{
    struct span_tree *pieces = &piece->range->pieces;
    uint64_t first = piece->span.first, end = span_end(&piece->span);
    struct span_node *node;

    piece->job = NULL;
    while ((node = span_from(pieces, first)) != NULL && node->first < end) {
        struct va_piece *old = CONTAINER(node, struct va_piece, span);

        if (node->first >= first && span_end(node) <= end) {
            va_history_note(old, node->first, node->pages, MAPPING_REPLACED);
            piece_remove(old);
        } else if (node->first >= first) {
            cut_below(old, end);
        } else if (span_end(node) <= end) {
            cut_above(old, first);
        } else {
            cut_middle(old, first, end, *spare);
            *spare = NULL;
        }
    }
    span_insert(pieces, &piece->span);
    if (piece->state != ENTRY_PAGES)
        return;
    chronicle_space(piece->range->space->vidmm,
                    &(struct chronicle_event){
                        .kind = CHRONICLE_MAPPED,
                        .allocation = piece->allocation ? piece->allocation->number.of_all : 0,
                        .process = chronicle_process(piece->range->space->process),
                        .first = first,
                        .pages = end - first,
                        .offset = piece->offset,
                        .protection = piece->protection});
}

/* ---- entries ---- */

static void source_of_allocation(const struct va_piece *piece, struct entry_source *source)
{
    const struct vidmm_allocation *allocation = piece->allocation;
    const struct vidmm *vidmm = allocation->vidmm;
    bool system = allocation->segment == 0 ||
                  segment_is_aperture(&vidmm->segment[allocation->segment]);

    if (!allocation->resident) {
        source->state = ENTRY_INVALID; /* GPUVA-092 */
        return;
    }
    source->allocation = allocation;
    source->large = vidmm->mmu->geometry.caps.LargePageSupported &&
                    !allocation->flags.DisableLargePageMapping && piece->range->kind != RANGE_POOL;
    /* what a companion context copies are entries of 4 KB; its own space has no others */
    source->wide = piece->range->kind != RANGE_RESERVATION ||
                   !piece->range->space->process->privileged;
    source->runs = allocation->runs;
    source->run_count = allocation->run_count;
    if (system && allocation->logical) {
        source->logical = allocation->logical;
        source->coherent = ram_page_cache(vidmm->config.ram, allocation->backing[0]) == RAM_CACHED;
    }
}

void piece_source(const struct va_piece *piece, struct entry_source *source)
{
    const D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection = {.Value = piece->protection};

    *source = (struct entry_source){.state = piece->state,
                                    .protection = piece->driver_protection,
                                    .origin = piece->span.first - piece->offset};
    if (piece->state != ENTRY_PAGES)
        return;
    source->read_only = !protection.Write;
    source->no_execute = !protection.Execute;
    if (piece->allocation) {
        source_of_allocation(piece, source);
        return;
    }
    source->runs = piece->range->runs;
    source->run_count = piece->range->run_count;
    source->coherent = piece->range->coherent;
}

void piece_write(struct va_piece *piece)
{
    struct entry_source source;

    piece_source(piece, &source);
    tables_write(piece->range->space, piece->span.first, piece->span.pages, &source);
}

void range_write_initial(struct va_range *range, uint64_t first, uint64_t pages)
{
    struct entry_source source = {.state = range->initial, .protection = range->driver_protection};

    tables_write(range->space, first, pages, &source);
}

bool piece_needs_write(const struct va_piece *piece)
{
    struct entry_source source;

    piece_source(piece, &source);
    if (source.state != ENTRY_INVALID)
        return true;
    return tables_need_write(piece->range->space, piece->span.first, piece->span.pages);
}

void piece_become_initial(struct va_piece *piece)
{
    struct va_range *range = piece->range;

    unregister_mapping(piece);
    hold_existing_edge(range->space, piece->span.first);
    hold_existing_edge(range->space, span_end(&piece->span));
    tables_drop(range->space, piece->span.first, piece->span.pages);
    piece->allocation = NULL;
    piece->state = range->initial;
    piece->driver_protection = range->driver_protection;
}

/* ---- callbacks: writing entries from the records ---- */

void range_each_stretch(struct va_range *range, uint64_t first, uint64_t end, range_stretch_fn fn,
                        void *arg)
{
    if (first < range->span.first)
        first = range->span.first;
    if (end > span_end(&range->span))
        end = span_end(&range->span);
    while (first < end) {
        struct span_node *node = span_from(&range->pieces, first);
        uint64_t stop = !node || node->first >= end ? end
                        : node->first > first       ? node->first
                                                    : span_end(node);

        if (stop > end)
            stop = end;
        fn(arg, range, node && node->first <= first ? CONTAINER(node, struct va_piece, span) : NULL,
           first, stop);
        first = stop;
    }
}

static void each_stretch_of_space(struct vidmm_space *space, uint64_t first, uint64_t end,
                                  range_stretch_fn fn, void *arg)
{
    struct va_range *range = range_from(space, first);

    for (; range && range->span.first < end; range = range_next(range))
        range_each_stretch(range, first, end, fn, arg);
}

static void source_of_stretch(const struct va_range *range, const struct va_piece *piece,
                              struct entry_source *source)
{
    if (piece)
        piece_source(piece, source);
    else
        *source = (struct entry_source){.state = range->initial,
                                        .protection = range->driver_protection};
}

static void refill_stretch(void *arg, struct va_range *range, struct va_piece *piece,
                           uint64_t first, uint64_t end)
{
    struct entry_source source;

    source_of_stretch(range, piece, &source);
    if (source.state != ENTRY_INVALID)
        tables_write_leaf(arg, first, end - first, &source);
}

static void refill(struct vidmm_space *space, struct page_table *leaf)
{
    each_stretch_of_space(space, leaf->first, leaf->first + leaf->entries, refill_stretch, leaf);
}

struct wide_search {
    uint32_t mapped;
    bool small;
};

static void search_stretch(void *arg, struct va_range *range, struct va_piece *piece,
                           uint64_t first, uint64_t end)
{
    struct wide_search *search = arg;
    struct entry_source source;

    source_of_stretch(range, piece, &source);
    if (source.state == ENTRY_INVALID)
        return;
    search->mapped++;
    search->small |= !tables_are_wide(range->space, first, end - first, &source);
}

static bool wide_only(struct page_table *leaf)
{
    struct wide_search search = {0, false};

    each_stretch_of_space(leaf->space, leaf->first, leaf->first + leaf->entries, search_stretch,
                          &search);
    return search.mapped && !search.small;
}

static void refill_part(struct page_table *leaf, uint64_t first, uint64_t count)
{
    each_stretch_of_space(leaf->space, first, first + count, refill_stretch, leaf);
}

static void rewrite_stretch(void *arg, struct va_range *range, struct va_piece *piece,
                            uint64_t first, uint64_t end)
{
    struct entry_source source;

    source_of_stretch(range, piece, &source);
    if (source.state == ENTRY_PAGES)
        tables_write(arg, first, end - first, &source);
}

static void rewrite(struct vidmm_space *space, uint64_t first, uint64_t count)
{
    each_stretch_of_space(space, first, first + count, rewrite_stretch, space);
}

static void write_stretch(void *arg, struct va_range *range, struct va_piece *piece, uint64_t first,
                          uint64_t end)
{
    struct entry_source source;

    source_of_stretch(range, piece, &source);
    tables_write(arg, first, end - first, &source);
}

void range_write_stretch(struct va_range *range, struct va_piece *piece, uint64_t first,
                         uint64_t end)
{
    write_stretch(range->space, range, piece, first, end);
}

struct comparison {
    const struct va_piece *values;
    uint64_t same; /* pages */
};

static void compare_stretch(void *arg, struct va_range *range, struct va_piece *piece,
                            uint64_t first, uint64_t end)
{
    struct comparison *comparison = arg;
    const struct va_piece *values = comparison->values;

    (void)range;
    if (piece && piece->state == values->state && piece->allocation == values->allocation &&
        piece->offset - piece->span.first == values->offset - values->span.first &&
        piece->protection == values->protection &&
        piece->driver_protection == values->driver_protection)
        comparison->same += end - first;
}

bool space_maps(struct vidmm_space *space, const struct va_piece *values)
{
    struct comparison comparison = {.values = values};

    each_stretch_of_space(space, values->span.first, span_end(&values->span), compare_stretch,
                          &comparison);
    return comparison.same == values->span.pages;
}

struct wiping {
    struct vidmm_space *space;
    uint64_t first, end; /* not written yet; all have the same protection */
    uint64_t protection;
};

static void wipe_now(const struct wiping *wiping)
{
    struct entry_source invalid = {.state = ENTRY_INVALID, .protection = wiping->protection};

    tables_write(wiping->space, wiping->first, wiping->end - wiping->first, &invalid);
}

static void wipe_stretch(void *arg, struct va_range *range, struct va_piece *piece, uint64_t first,
                         uint64_t end)
{
    struct wiping *wiping = arg;
    const uint64_t protection = piece ? piece->driver_protection : range->driver_protection;

    if (protection != wiping->protection) {
        wipe_now(wiping);
        wiping->first = first;
        wiping->protection = protection;
    }
    wiping->end = end;
}

void range_wipe(struct va_range *range)
{
    const uint64_t first = range->span.first, end = span_end(&range->span);
    struct wiping wiping = {
        .space = range->space, .first = first, .end = first, .protection = range->driver_protection};

    range_each_stretch(range, first, end, wipe_stretch, &wiping);
    wipe_now(&wiping);
}

void space_write_again(struct vidmm_space *space, uint64_t first, uint64_t pages)
{
    struct entry_source invalid = {.state = ENTRY_INVALID};
    const uint64_t end = first + pages;

    for (uint64_t page = first; page < end;) {
        struct va_range *range = range_from(space, page);
        uint64_t stop = range && range->span.first < end ? range->span.first : end;

        if (page < stop) {
            tables_write(space, page, stop - page, &invalid);
            page = stop;
        }
        if (page == end)
            break;
        stop = span_end(&range->span) < end ? span_end(&range->span) : end;
        range_each_stretch(range, page, stop, write_stretch, space);
        page = stop;
    }
}

const struct space_records va_piece_records = {
    .refill = refill, .refill_part = refill_part, .wide_only = wide_only, .rewrite = rewrite};
