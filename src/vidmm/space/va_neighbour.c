/* SPDX-License-Identifier: MIT */
/* What already occupies requested addresses: for reports about requests that were refused. */
#include <stdio.h>

#include "vidmm/space/va_neighbour.h"
#include "util/address.h"
#include "util/checked.h"
#include "util/list.h"
#include "util/span_tree.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/va_range.h"

static const struct vidmm_allocation *mapped_at(const struct va_range *range, uint64_t page)
{
    const struct span_node *node = span_at(&range->pieces, page);

    if (node)
        return CONTAINER(node, struct va_piece, span)->allocation;
    LIST_FOR(link, &range->jobs) { /* pieces whose job has not run yet */
        const struct va_piece *piece = CONTAINER(link, struct va_job, link)->piece;

        if (piece && range_inside(page - piece->span.first, 1, piece->span.pages))
            return piece->allocation;
    }
    return NULL;
}

bool va_neighbour_at(const struct vidmm_space *space, uint64_t first, uint64_t pages,
                     struct va_neighbour *out)
{
    const struct va_range *range = range_from(space, first);
    const struct vidmm_allocation *allocation;

    if (!range || range->span.first >= first + pages)
        return false;
    allocation = mapped_at(range, range->span.first > first ? range->span.first : first);
    *out = (struct va_neighbour){.kind = range->kind,
                                 .first = range->span.first,
                                 .pages = range->span.pages,
                                 .bytes = allocation ? allocation->bytes : 0};
    return true;
}

static const char *kind_name(enum range_kind kind)
{
    switch (kind) {
    case RANGE_MAP:
        return "a mapping of the client";
    case RANGE_RESERVATION:
        return "a reservation of the client";
    case RANGE_DRIVER:
        return "a reservation of the driver";
    case RANGE_CONTEXT:
        return "a mapping of a context allocation";
    case RANGE_POOL:
    case RANGE_INTERNAL:
        return "a mapping of the host's own";
    }
    return "a range";
}

struct va_neighbour_text va_neighbour_describe(const struct va_neighbour *neighbour)
{
    unsigned long long first = neighbour->first << PAGE_BITS;
    unsigned long long bytes = neighbour->pages << PAGE_BITS;
    struct va_neighbour_text out;
    int length = snprintf(out.text, sizeof(out.text), "%s, 0x%llx to 0x%llx",
                          kind_name(neighbour->kind), first, first + bytes - 1);

    if (neighbour->bytes && length > 0 && (size_t)length < sizeof(out.text))
        (void)snprintf(out.text + length, sizeof(out.text) - (size_t)length,
                       " (there, an allocation of %llu bytes)",
                       (unsigned long long)neighbour->bytes);
    return out;
}
