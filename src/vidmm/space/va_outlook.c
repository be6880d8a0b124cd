/* SPDX-License-Identifier: MIT */
/* Changes are kept by page, each over those before it. What no change covers is as the pieces say
 * that are inserted. */
#include "vidmm/space/va_outlook.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

struct change {
    struct span_node span;
    struct list unique;                  /* outlook->unique, or in none */
    struct vidmm_allocation *allocation; /* NULL: none is mapped */
    uint64_t offset, protection;
};

struct look {
    struct list link; /* outlook->looked_at */
    struct va_range *range;
    const struct list *next; /* of its jobs */
};

static bool is_unique(uint64_t protection)
{
    return protection & D3DGPU_UNIQUE_DRIVER_PROTECTION;
}

void va_outlook_begin(struct va_outlook *outlook, struct vidmm_space *space)
{
    *outlook = (struct va_outlook){.space = space};
    list_init(&outlook->unique);
    list_init(&outlook->looked_at);
}

static void forget(struct va_outlook *outlook, struct change *change)
{
    span_remove(&outlook->changes, &change->span);
    list_remove(&change->unique);
    util_free(change);
}

void va_outlook_end(struct va_outlook *outlook)
{
    struct span_node *node;
    struct list *link;

    while ((node = outlook->changes.root) != NULL)
        forget(outlook, CONTAINER(node, struct change, span));
    while ((link = list_pop_front(&outlook->looked_at)) != NULL)
        util_free(CONTAINER(link, struct look, link));
}

/* ---- changes ---- */

static struct change *change_new(const struct change *values)
{
    struct change *change = util_alloc(sizeof(*change));

    if (!change)
        return NULL;
    *change = *values;
    list_init(&change->unique);
    return change;
}

static void insert(struct va_outlook *outlook, struct change *change)
{
    span_insert(&outlook->changes, &change->span);
    if (change->allocation && is_unique(change->protection))
        list_push_back(&outlook->unique, &change->unique);
}

/* Keep what is above `edge`. */
static void cut_below(struct change *change, uint64_t edge)
{
    const uint64_t lost = edge - change->span.first;

    change->span.first = edge;
    change->span.pages -= lost;
    change->offset += lost;
}

static NTSTATUS clear(struct va_outlook *outlook, uint64_t first, uint64_t end)
{
    struct span_node *node;

    while ((node = span_from(&outlook->changes, first)) != NULL && node->first < end) {
        struct change *change = CONTAINER(node, struct change, span);
        const bool below = node->first<first, above = span_end(node)> end;
        struct change *upper = NULL;

        if (!below && !above) {
            forget(outlook, change);
            continue;
        }
        if (below && above) {
            upper = change_new(change);
            if (!upper)
                return STATUS_INSUFFICIENT_RESOURCES;
            cut_below(upper, end);
        }
        if (below)
            node->pages = first - node->first;
        else
            cut_below(change, end);
        if (upper)
            insert(outlook, upper);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS add(struct va_outlook *outlook, const struct change *values)
{
    struct change *change = change_new(values);
    NTSTATUS status = change ? clear(outlook, values->span.first, span_end(&values->span))
                             : STATUS_INSUFFICIENT_RESOURCES;

    if (NT_SUCCESS(status))
        insert(outlook, change);
    else
        util_free(change);
    return status;
}

static struct change change_of(const struct va_piece *values)
{
    return (struct change){.span = {.first = values->span.first, .pages = values->span.pages},
                           .allocation = values->state == ENTRY_PAGES ? values->allocation : NULL,
                           .offset = values->offset,
                           .protection = values->driver_protection};
}

NTSTATUS va_outlook_map(struct va_outlook *outlook, const struct va_piece *values)
{
    const struct change change = change_of(values);

    return add(outlook, &change);
}

/* ---- copies ---- */

struct copying {
    struct va_outlook *outlook;
    uint64_t to, from; /* first pages */
    struct list made;  /* struct change.unique: read, and not inserted yet */
    NTSTATUS status;
};

/* Pages [first, end) of the source map what `change` does. */
static void read_change(struct copying *copying, struct change change, uint64_t first, uint64_t end)
{
    struct change *made;

    cut_below(&change, first);
    change.span.pages = end - first;
    change.span.first = copying->to + (first - copying->from);
    made = change_new(&change);
    if (made)
        list_push_back(&copying->made, &made->unique);
    else
        copying->status = STATUS_INSUFFICIENT_RESOURCES;
}

static void read_piece(void *arg, struct va_range *range, struct va_piece *piece, uint64_t first,
                       uint64_t end)
{
    struct copying *copying = arg;

    (void)range;
    read_change(copying, piece ? change_of(piece) : (struct change){.span = {.first = first}},
                first, end);
}

static void read_source(struct copying *copying, struct va_range *source, uint64_t end)
{
    const struct span_tree *changes = &copying->outlook->changes;

    for (uint64_t page = copying->from; page < end;) {
        const struct span_node *node = span_from(changes, page);
        uint64_t stop = !node || node->first >= end ? end
                        : node->first > page        ? node->first
                                                    : span_end(node);

        if (stop > end)
            stop = end;
        if (node && node->first <= page)
            read_change(copying, *CONTAINER(node, const struct change, span), page, stop);
        else
            range_each_stretch(source, page, stop, read_piece, copying);
        page = stop;
    }
}

NTSTATUS va_outlook_copy(struct va_outlook *outlook, uint64_t first, uint64_t pages,
                         struct va_range *source, uint64_t from)
{
    struct copying copying = {
        .outlook = outlook, .to = first, .from = from, .status = STATUS_SUCCESS};
    struct list *link;

    list_init(&copying.made);
    read_source(&copying, source, from + pages);
    while ((link = list_pop_front(&copying.made)) != NULL) {
        struct change *made = CONTAINER(link, struct change, unique);

        if (NT_SUCCESS(copying.status))
            copying.status = add(outlook, made);
        util_free(made);
    }
    return copying.status;
}

/* ---- what is queued ---- */

static bool is_looked_at(const struct va_outlook *outlook, const struct va_range *range)
{
    LIST_FOR(link, &outlook->looked_at)
        if (CONTAINER(link, const struct look, link)->range == range)
            return true;
    return false;
}

static NTSTATUS look_at(struct va_outlook *outlook, struct va_range *range)
{
    NTSTATUS status = STATUS_SUCCESS;
    struct look *look;

    if (!range || list_empty(&range->jobs) || is_looked_at(outlook, range))
        return status;
    look = util_alloc(sizeof(*look));
    if (!look)
        return STATUS_INSUFFICIENT_RESOURCES;
    look->range = range;
    look->next = range->jobs.next;
    list_push_back(&outlook->looked_at, &look->link);
    return status;
}

NTSTATUS va_outlook_look_at(struct va_outlook *outlook, const struct vidmm_allocation *allocation)
{
    NTSTATUS status = STATUS_SUCCESS;

    LIST_FOR(link, &allocation->mappings) {
        const struct va_piece *piece = CONTAINER(link, const struct va_piece, mapping);

        if (!is_unique(piece->driver_protection) || !NT_SUCCESS(status))
            break; /* unique ones come first in the list */
        if (piece->range->space == outlook->space)
            status = look_at(outlook, piece->range);
    }
    return status;
}

/* And at where queued copies take it; what is new comes at the end of the list. What copies read
 * needs no look: a range where nothing maps the allocation with a unique protection, and to which
 * no copy takes it, has nothing to add. */
static NTSTATUS look_further(struct va_outlook *outlook)
{
    NTSTATUS status = STATUS_SUCCESS;

    LIST_FOR(link, &outlook->looked_at)
        LIST_FOR(waiting, &CONTAINER(link, struct look, link)->range->jobs) {
            const struct va_copying *copying = CONTAINER(waiting, const struct va_job, link)->copying;

            if (copying && NT_SUCCESS(status))
                status = look_at(outlook, copying->to->range);
        }
    return status;
}

/* The job that comes first among those that are left; NULL: none is. */
static const struct va_job *next_job(struct va_outlook *outlook)
{
    const struct va_job *first = NULL;
    struct look *its = NULL;

    LIST_FOR(link, &outlook->looked_at) {
        struct look *look = CONTAINER(link, struct look, link);
        const struct va_job *job = CONTAINER(look->next, const struct va_job, link);

        if (look->next == &look->range->jobs || (first && first->order < job->order))
            continue;
        first = job;
        its = look;
    }
    if (its)
        its->next = its->next->next;
    return first;
}

NTSTATUS va_outlook_start(struct va_outlook *outlook)
{
    NTSTATUS status = look_further(outlook);
    const struct va_job *job;

    while (NT_SUCCESS(status) && (job = next_job(outlook)) != NULL) {
        const struct va_copying *copying = job->copying;

        if (job->piece)
            status = va_outlook_map(outlook, job->piece);
        else if (copying && copying->to == job && copying->from->range)
            status = va_outlook_copy(outlook, copying->first, copying->pages, copying->from->range,
                                     copying->source);
    }
    return status;
}

/* ---- conflicts ---- */

static bool is_covered(const struct va_outlook *outlook, uint64_t first, uint64_t end)
{
    while (first < end) {
        const struct span_node *node = span_at(&outlook->changes, first);

        if (!node)
            return false;
        first = span_end(node);
    }
    return true;
}

/* A mapping that is inserted, or is one of another space, where nothing is looked at. */
static bool piece_stands(const struct va_outlook *outlook, const struct va_piece *piece,
                         uint64_t offset, uint64_t pages)
{
    const uint64_t low = piece->offset > offset ? piece->offset : offset,
                   high = piece->offset + piece->span.pages < offset + pages
                              ? piece->offset + piece->span.pages
                              : offset + pages,
                   first = piece->span.first + (low - piece->offset);

    if (piece->range->space != outlook->space)
        return true;
    return !piece->job && !is_covered(outlook, first, first + (high - low));
}

bool va_outlook_conflict(const struct va_outlook *outlook, const struct vidmm_allocation *allocation,
                         uint64_t offset, uint64_t pages, uint64_t protection)
{
    LIST_FOR(link, &allocation->mappings) {
        const struct va_piece *piece = CONTAINER(link, const struct va_piece, mapping);

        if (!is_unique(piece->driver_protection))
            break;
        if (piece->driver_protection != protection && piece->range->kind != RANGE_POOL &&
            ranges_overlap(piece->offset, piece->span.pages, offset, pages) &&
            piece_stands(outlook, piece, offset, pages))
            return true;
    }
    LIST_FOR(link, &outlook->unique) {
        const struct change *change = CONTAINER(link, const struct change, unique);

        if (change->allocation == allocation && change->protection != protection &&
            ranges_overlap(change->offset, change->span.pages, offset, pages))
            return true;
    }
    return false;
}
