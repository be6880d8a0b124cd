/* SPDX-License-Identifier: MIT */
/*
 * Making one large hole out of many small ones (RES-057). Pages that are free, or belong to
 * allocations that may be moved now, form areas of consecutive pages. Among all positions of the
 * hole in them, the one is chosen for which the fewest pages must move. An allocation there is
 * moved elsewhere in the segment if the paging node can copy within it (MovePagingSupported);
 * otherwise to system memory, from where it is brought in again, into other holes: before its
 * device runs, or, for WDDM 1.x, whose lists say nothing of what is needed later, when the worker
 * has time (promotion.c). Page tables of spaces none of whose contexts executes are moved, too, or
 * built anew when they are needed (space/table_residency.c).
 *
 * In one run of a job, allocations of the requester's own list are moved only once: a second hole
 * might need the memory for which the first one was made, and so on. If that is not enough,
 * repack.c continues.
 *
 * This examines everything in one segment. It happens only when enough pages are free, but no hole
 * is large enough.
 */
#include <stdlib.h>

#include "vidmm/residency/compact.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/extent.h"
#include "util/list.h"
#include "util/order.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/residency/demotion.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/relocate.h"
#include "vidmm/residency/table_victim.h"
#include "vidmm/residency/victim.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/table_residency.h"

/* Consecutive pages that are free (no owner), or become free if the owner is moved: an allocation,
 * or a page table. */
struct span {
    uint64_t first, pages;
    struct vidmm_allocation *owner;
    struct page_table *table;
};

struct survey {
    struct vidmm_segment *segment;
    struct span *spans;
    size_t count, capacity;
};

static bool add_span(struct survey *survey, struct span span)
{
    if (survey->count == survey->capacity) {
        size_t capacity = survey->capacity ? survey->capacity * 2 : 64;
        struct span *grown = util_realloc(survey->spans, capacity * sizeof(*grown));

        if (!grown)
            return false;
        survey->spans = grown;
        survey->capacity = capacity;
    }
    survey->spans[survey->count++] = span;
    return true;
}

static bool add(struct survey *survey, uint64_t first, uint64_t pages,
                struct vidmm_allocation *owner)
{
    return add_span(survey, (struct span){.first = first, .pages = pages, .owner = owner});
}

static bool add_table(struct survey *survey, struct page_table *table)
{
    return add_span(survey, (struct span){.first = table->place.run.first,
                                          .pages = table->place.run.pages,
                                          .table = table}) &&
           (!table->twin || add_span(survey, (struct span){.first = table->twin->place.run.first,
                                                           .pages = table->twin->place.run.pages,
                                                           .table = table}));
}

static bool add_tables(struct survey *survey, struct vidmm_space *space)
{
    for (unsigned level = 0; level < space->mmu->geometry.levels; level++)
        LIST_FOR(node, &space->tables.placed[level]) {
            struct page_table *table = CONTAINER(node, struct page_table, placed);

            if (table->place.run.segment == survey->segment->id && !add_table(survey, table))
                return false;
        }
    return true;
}

static bool add_spaces(const struct paging_turn *turn, struct survey *survey, struct vidmm *vidmm,
                       const struct room_request *room)
{
    if (!vidmm->mmu || survey->segment->table_bytes == 0)
        return true;
    spaces_clean(vidmm); /* no table ends from here on */
    table_victims_mark(vidmm);
    LIST_FOR(node, &vidmm->mmu->spaces) {
        struct vidmm_space *space = CONTAINER(node, struct vidmm_space, link);

        if (space->tables.idle && table_victim_for(turn, room, space) && !add_tables(survey, space))
            return false;
    }
    return true;
}

static bool add_allocation(struct survey *survey, struct vidmm_allocation *allocation)
{
    if (segment_is_aperture(survey->segment))
        return add(survey, allocation->aperture.first, allocation->pages, allocation);
    for (uint32_t i = 0; i < allocation->run_count; i++)
        if (!add(survey, allocation->runs[i].first, allocation->runs[i].pages, allocation))
            return false;
    return true;
}

static bool add_victims(struct paging_turn *turn, struct survey *survey)
{
    for (struct order_node *node = order_first(&survey->segment->victims); node;
         node = order_next(node)) {
        struct vidmm_allocation *allocation = CONTAINER(node, struct vidmm_allocation, victim.node);

        if (victim_movable(turn, allocation, turn->compact_own) &&
            !add_allocation(survey, allocation))
            return false;
    }
    return true;
}

/* If several devices list an allocation, only the one that opened it first adds it. */
static bool is_first_lister(const struct vidmm_open *open)
{
    LIST_FOR(node, &open->allocation->opens) {
        const struct vidmm_open *other = CONTAINER(node, struct vidmm_open, link);

        if (other->ordered)
            return other == open;
    }
    return false;
}

static bool add_listed(struct paging_turn *turn, struct survey *survey,
                       const struct vidmm_device *device)
{
    for (struct order_node *node = order_first(&device->listed[survey->segment->id]); node;
         node = order_next(node)) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, order);

        if (is_first_lister(open) && victim_movable(turn, open->allocation, turn->compact_own) &&
            !add_allocation(survey, open->allocation))
            return false;
    }
    return true;
}

static bool add_free(struct survey *survey)
{
    uint64_t from = 0;
    uint64_t start;
    uint64_t pages;

    while (extent_next(&survey->segment->free, from, &start, &pages)) {
        if (!add(survey, start, pages, NULL))
            return false;
        from = start + pages;
    }
    return true;
}

static bool look_around(struct paging_turn *turn, struct survey *survey, struct vidmm *vidmm,
                        const struct room_request *room)
{
    if (!add_spaces(turn, survey, vidmm, room) || !add_free(survey) || !add_victims(turn, survey))
        return false;
    LIST_FOR(link, &vidmm->devices)
        if (!add_listed(turn, survey, CONTAINER(link, struct vidmm_device, link)))
            return false;
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

/* How many pages must move for a hole of `pages` that begins in span `at`. False: no such
 * hole can begin there. */
static bool cost_of(const struct survey *survey, size_t at, uint64_t pages, uint64_t align,
                    uint64_t *start, uint64_t *cost)
{
    uint64_t end;

    *start = align_up(survey->spans[at].first, align);
    *cost = 0;
    end = *start + pages;
    if (*start >= survey->spans[at].first + survey->spans[at].pages)
        return false;
    for (size_t i = at; i < survey->count; i++) {
        const struct span *span = &survey->spans[i];

        if (i > at && span->first != span[-1].first + span[-1].pages)
            return false; /* pages that cannot be moved are in between */
        if (span->owner || span->table)
            *cost += span->pages;
        if (span->first + span->pages >= end)
            return true;
    }
    return false;
}

static bool choose(const struct survey *survey, const struct room_request *room, uint64_t *hole)
{
    uint64_t align = (room->align_bytes > survey->segment->page_bytes
                          ? room->align_bytes
                          : survey->segment->page_bytes) >>
                     PAGE_BITS;
    uint64_t best = UINT64_MAX;

    for (size_t i = 0; i < survey->count; i++) {
        uint64_t start;
        uint64_t cost;

        if (cost_of(survey, i, room->pages, align, &start, &cost) && cost < best) {
            best = cost;
            *hole = start;
        }
    }
    return best != UINT64_MAX && best != 0; /* 0: a hole exists already, so it would not help */
}

/* To system memory, and in again. */
static NTSTATUS move_out(struct paging_turn *turn, struct vidmm *vidmm,
                         struct vidmm_allocation *allocation, struct vidmm_segment *segment)
{
    NTSTATUS status;

    allocation->absence = ABSENCE_MOVED;
    status = placement_move_out(turn, vidmm, allocation, !allocation->offer.in_force);
    if (NT_SUCCESS(status) && vidmm->config.wddm_version < DXGKDDI_INTERFACE_VERSION_WDDM2_0 &&
        !segment_is_aperture(segment) && !allocation->offer.in_force)
        demotion_displaced(allocation, segment);
    return status;
}

/* Is the table, or its twin, still where it was? */
static bool is_there(const struct span *span)
{
    const struct page_table *table = span->table;

    return table->place.run.first == span->first ||
           (table->twin && table->twin->place.run.first == span->first);
}

static NTSTATUS move_away(struct paging_turn *turn, struct vidmm *vidmm,
                          const struct survey *survey, uint64_t hole, uint64_t pages)
{
    NTSTATUS status = STATUS_SUCCESS;

    turn->compact_own = false;
    for (size_t i = 0; i < survey->count && NT_SUCCESS(status); i++) {
        const struct span *span = &survey->spans[i];

        if (span->table && !span->table->absent &&
            ranges_overlap(span->first, span->pages, hole, pages) && is_there(span))
            (void)tables_move(span->table, hole, pages);
        if (!span->owner || !ranges_overlap(span->first, span->pages, hole, pages) ||
            span->owner->segment != survey->segment->id || !span->owner->runs)
            continue; /* it was moved already */
        if (vidmm->config.move_paging && !segment_is_aperture(survey->segment)) {
            status = relocate_in_segment(turn, span->owner, hole, pages);
            if (status != STATUS_NO_MEMORY)
                continue;
        }
        status = move_out(turn, vidmm, span->owner, survey->segment);
    }
    return status;
}

NTSTATUS compact_make_hole(struct paging_turn *turn, struct vidmm *vidmm,
                           const struct room_request *room)
{
    struct survey survey = {.segment = room->segment};
    NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;
    uint64_t hole = 0;

    if (look_around(turn, &survey, vidmm, room)) {
        if (survey.count > 0)
            qsort(survey.spans, survey.count, sizeof(*survey.spans), by_address);
        vidmm->chronicle.room_for = room->newcomer ? room->newcomer->number.of_all : 0;
        status = choose(&survey, room, &hole) ? move_away(turn, vidmm, &survey, hole, room->pages)
                                              : STATUS_NO_MEMORY;
        vidmm->chronicle.room_for = 0;
    }
    util_free(survey.spans);
    return status;
}
