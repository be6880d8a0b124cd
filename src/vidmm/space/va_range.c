/* SPDX-License-Identifier: MIT */
/* Ranges: allocating the addresses of a space. Overview in address_space.c. */
#include "vidmm/space/va_range.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/extent.h"
#include "util/list.h"
#include "util/range_map.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "verify/refusal.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/va_piece.h"

static NTSTATUS refusal(const struct vidmm_space *space, NTSTATUS otherwise)
{
    if (space->ranges.out_of_memory)
        return STATUS_INSUFFICIENT_RESOURCES;
    return otherwise == STATUS_NO_MEMORY
               ? refuse(otherwise, NULL, "no free range of GPU virtual addresses is large enough")
               : refuse(otherwise, NULL, "the range of GPU virtual addresses is taken");
}

/* Find the lowest free addresses in [low, high) outside the internal range (GPUVA-060). */
static bool take_around(struct va_range *range, struct extent_request want, uint64_t *first)
{
    struct vidmm_space *space = range->space;
    uint64_t from = space->vidmm->config.internal_va_start >> PAGE_BITS;
    uint64_t to = space->vidmm->config.internal_va_end >> PAGE_BITS;
    struct extent_request part = want;

    if (to == 0 || to <= want.low || want.high <= from)
        return range_map_take(&space->ranges, &want, range, first);
    part.high = from;
    if (part.low < part.high && range_map_take(&space->ranges, &part, range, first))
        return true;
    part.low = to;
    part.high = want.high;
    return !space->ranges.out_of_memory && part.low < part.high &&
           range_map_take(&space->ranges, &part, range, first);
}

/* GPUVA-062. If host memory is short, fail rather than try a smaller alignment. */
static bool take_for_client(struct va_range *range, struct extent_request want, uint64_t *first)
{
    const struct vidmm_space *space = range->space;
    const struct table_geometry *geometry = &space->mmu->geometry;
    const uint64_t preferred[] = {geometry->span, 16, 1};
    bool large = geometry->caps.LargePageSupported && want.size >= geometry->span;
    unsigned from = large ? 0 : want.size >= geometry->wide ? 1 : 2;

    if (want.align)
        return take_around(range, want, first);
    for (unsigned i = from; i < 3; i++) {
        want.align = preferred[i];
        if (take_around(range, want, first))
            return true;
        if (space->ranges.out_of_memory)
            return false;
    }
    return false;
}

static bool take_for_host(struct va_range *range, struct extent_request want, bool whole,
                          uint64_t *first)
{
    struct vidmm_space *space = range->space;
    const struct vidmm_config *config = &space->vidmm->config;

    if (whole && !space->paging && config->internal_va_end != 0) {
        want.low = config->internal_va_start >> PAGE_BITS;
        want.high = config->internal_va_end >> PAGE_BITS;
    }
    want.from_end = !space->paging && !space->mmu->geometry.resizable_root;
    return range_map_take(&space->ranges, &want, range, first);
}

static NTSTATUS take_addresses(struct va_range *range, const struct va_request *request,
                               uint64_t *first)
{
    struct vidmm_space *space = range->space;
    uint64_t low = space->paging ? 1 : space->mmu->geometry.first;
    uint64_t end = space->paging ? space->mmu->end : space->mmu->geometry.end, last;
    struct extent_request want = {
        .size = request->pages,
        .align = request->align,
        .low = request->low,
        .high = request->high,
    };

    if (request->base != 0) {
        if (ckd_add(&last, request->base, request->pages) || last > end || request->base < low)
            return refuse(STATUS_INVALID_PARAMETER, "GPUVA-058",
                          "%llu pages from page 0x%llx of GPU virtual addresses, which has pages "
                          "0x%llx to 0x%llx",
                          (unsigned long long)request->pages, (unsigned long long)request->base,
                          (unsigned long long)low, (unsigned long long)end);
        *first = request->base;
        space->ranges.out_of_memory = false;
        return range_map_take_fixed(&space->ranges, request->base, request->pages, range)
                   ? STATUS_SUCCESS
                   : refusal(space, STATUS_INVALID_PARAMETER);
    }
    if (want.low < low)
        want.low = low;
    if (want.high == 0 || want.high > end)
        want.high = end;
    if (want.size > end || want.low >= want.high)
        return refuse(STATUS_NO_MEMORY, NULL,
                      "%llu pages of GPU virtual addresses between pages 0x%llx and 0x%llx",
                      (unsigned long long)want.size, (unsigned long long)want.low,
                      (unsigned long long)want.high);
    space->ranges.out_of_memory = false;
    if (request->internal
            ? take_for_host(range, want, request->low == 0 && request->high == 0, first)
            : take_for_client(range, want, first))
        return STATUS_SUCCESS;
    return refusal(space, STATUS_NO_MEMORY);
}

NTSTATUS range_create(struct vidmm_space *space, enum range_kind kind,
                      const struct va_request *request, struct va_range **out)
{
    struct va_range *range = slab_take(&space->range_slab);
    uint64_t first;
    NTSTATUS status;

    vidmm_assert_locked(space->vidmm);
    if (!range)
        return STATUS_INSUFFICIENT_RESOURCES;
    memset(range, 0, sizeof(*range));
    range->space = space;
    status = take_addresses(range, request, &first);
    if (!NT_SUCCESS(status)) {
        slab_give(&space->range_slab, range);
        return status;
    }
    range->kind = kind;
    range->span.first = first;
    range->span.pages = request->pages;
    list_init(&range->jobs);
    list_init(&range->freed);
    *out = range;
    return STATUS_SUCCESS;
}

void range_forget(struct va_range *range)
{
    struct span_node *node;

    while ((node = range->pieces.root) != NULL) {
        span_remove(&range->pieces, node);
        piece_give(range, CONTAINER(node, struct va_piece, span));
    }
    util_free(range->runs);
    slab_give(&range->space->range_slab, range);
}

void range_discard(struct va_range *range)
{
    struct vidmm_space *space = range->space;

    (void)range_map_give(&space->ranges, range->span.first);
    range_forget(range);
}

void range_job_waits(struct va_range *range, struct va_job *job)
{
    job->range = range;
    job->space = range->space;
    job->order = ++range->space->jobs;
    list_push_back(&range->jobs, &job->link);
}

struct va_range *range_at(const struct vidmm_space *space, uint64_t page)
{
    return range_map_at(&space->ranges, page);
}

struct va_range *range_from(const struct vidmm_space *space, uint64_t page)
{
    struct range_map_entry entry;

    return range_map_from(&space->ranges, page, &entry) ? entry.owner : NULL;
}

struct va_range *range_next(const struct va_range *range)
{
    return range_from(range->space, span_end(&range->span));
}

struct va_range *range_below(struct vidmm_space *space, uint64_t page)
{
    struct range_map_entry gap;

    if (!range_map_free_from(&space->ranges, page, &gap) || page < gap.first || gap.first == 0)
        return NULL;
    return range_at(space, gap.first - 1);
}

bool range_free(struct va_range *range)
{
    return range_free_because(range, MAPPING_FREED);
}

bool range_free_because(struct va_range *range, enum mapping_end end)
{
    struct vidmm_space *space = range->space;
    uint64_t first = range->span.first, pages = range->span.pages;
    struct span_node *node;

    vidmm_assert_locked(range->space->vidmm);
    while (!list_empty(&range->jobs))
        va_job_cancel(CONTAINER(range->jobs.next, struct va_job, link));
    for (node = span_first(&range->pieces); node; node = span_next(&range->pieces, node)) {
        struct va_piece *piece = CONTAINER(node, struct va_piece, span);

        va_history_note(piece, node->first, node->pages, end);
        piece_end(piece);
    }
    if (range->initial == ENTRY_ZERO) {
        tables_drop_edge(space, first);
        tables_drop_edge(space, first + pages);
    }
    if (!tables_need_write(space, first, pages)) {
        tables_prune(space, first, pages);
        range_discard(range);
        return false;
    }
    (void)range_map_give(&space->ranges, first);
    list_push_back(&space->freed, &range->freed);
    if (list_empty(&space->unclean))
        list_push_back(&space->mmu->unclean, &space->unclean);
    return true;
}
