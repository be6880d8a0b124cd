/* SPDX-License-Identifier: MIT */
/* All pieces of the target are made before the first of them is inserted, from a source that is
 * still as it was. */
#include "vidmm/space/va_range_copy.h"
#include "util/alloc.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

struct copies {
    struct va_range *target;
    uint32_t count, made;
    struct {
        struct va_piece *piece, *spare;
    } copy[];
};

/* Pages of the source that are in one state, from `page` on: what they are, and where they end. */
static uint64_t stretch_at(const struct va_range *source, uint64_t page, uint64_t end,
                           struct va_piece *values)
{
    struct va_range *range = (struct va_range *)(uintptr_t)source;
    const struct span_node *node = span_from(&range->pieces, page);
    const struct va_piece *piece = node ? CONTAINER(node, const struct va_piece, span) : NULL;
    uint64_t stop = end;

    if (node && node->first <= page) {
        *values = *piece;
        values->offset += page - node->first;
        stop = span_end(node);
    } else {
        *values = (struct va_piece){.state = source->initial,
                                    .driver_protection = source->driver_protection};
        if (node)
            stop = node->first;
    }
    return stop < end ? stop : end;
}

static struct copies *copies_new(struct va_range *target, const struct va_range *source,
                                 uint64_t from, uint64_t end)
{
    struct va_piece values;
    struct copies *copies;
    uint32_t count = 0;

    for (uint64_t page = from; page < end; count++)
        page = stretch_at(source, page, end, &values);
    copies = util_zalloc(1, sizeof(*copies) + count * sizeof(copies->copy[0]));
    if (copies) {
        copies->target = target;
        copies->count = count;
    }
    return copies;
}

static NTSTATUS make_one(struct copies *copies, const struct va_piece *values)
{
    struct slab *slab = &copies->target->space->piece_slab;
    struct va_piece *spare = slab_take(slab);
    NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;

    if (!spare)
        return status;
    status = piece_create(copies->target, values, &copies->copy[copies->made].piece);
    if (NT_SUCCESS(status))
        copies->copy[copies->made++].spare = spare;
    else
        slab_give(slab, spare);
    return status;
}

static NTSTATUS make_all(struct copies *copies, uint64_t first, const struct va_range *source,
                         uint64_t from, uint64_t end)
{
    NTSTATUS status = STATUS_SUCCESS;
    struct va_piece values;

    for (uint64_t page = from; page < end && NT_SUCCESS(status);) {
        const uint64_t stop = stretch_at(source, page, end, &values);

        values.span = (struct span_node){.first = first + (page - from), .pages = stop - page};
        status = make_one(copies, &values);
        page = stop;
    }
    return status;
}

static void insert_all(struct copies *copies)
{
    for (uint32_t i = 0; i < copies->made; i++)
        piece_apply(copies->copy[i].piece, &copies->copy[i].spare);
}

NTSTATUS range_copy(struct va_range *target, uint64_t first, const struct va_range *source,
                    uint64_t from, uint64_t pages)
{
    struct slab *slab = &target->space->piece_slab;
    struct copies *copies = copies_new(target, source, from, from + pages);
    NTSTATUS status;

    if (!copies)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = make_all(copies, first, source, from, from + pages);
    if (NT_SUCCESS(status))
        insert_all(copies);
    for (uint32_t i = 0; i < copies->made; i++) {
        if (!NT_SUCCESS(status))
            piece_discard(copies->copy[i].piece);
        if (copies->copy[i].spare)
            slab_give(slab, copies->copy[i].spare);
    }
    util_free(copies);
    return status;
}
