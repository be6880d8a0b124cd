/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A GPU virtual address space is a set of ranges (who owns which addresses), and inside each
 *   range a set of pieces (what its pages say). Pages without a piece are in the range's initial
 *   state.
 *
 *        range   |------- reservation, ZERO -------|   |-- Map of A --|
 *        pieces        [A 0..3]   [no access]           [A 8....11]      A 0: page 0 of A
 *        entries  Z  Z  a a a a  Z  .  .  Z  Z  Z        a  a  a  a
 *
 *   The records come first and are always right: they change in the client's call, under the lock.
 *   Entries follow, by operations that only the builder's fiber may append (vidmm_private.h). There
 *   are three ways from one to the other:
 *
 *     at once       nothing to write: the pages are invalid before and after (the allocation is
 *                   not resident). No operation, no job; fence value 0
 *     by a job      the piece waits outside the tree (va_job) until its turn in the paging queue,
 *                   then it is put in place and written. Its tables are held from the start, so
 *                   the job cannot fail. A range that is freed meanwhile takes its waiting pieces
 *                   along: the job then does nothing. If an allocation is destroyed, pieces of it
 *                   that wait become pages in the initial state of their range
 *     by cleaning   a freed range gives its addresses back at once, but stays on the space's
 *                   `freed` list as the note that its entries are to be invalidated. Every writer
 *                   starts with spaces_clean, so that entries of an old range are gone (and the
 *                   TLB flushed) before any entry of a new one is written (GPUVA-121), whatever
 *                   paging queue either comes by
 *
 *   Since all operations of an adapter run in the order they were built, what a job builds is in
 *   force for everything that waits for the job's fence value.
 *
 *   Where things stand
 *
 *     0         span       internal range, if the driver names one             end
 *     | invalid |  lowest fitting place first ...   |####|     ... host's own  |
 *
 *   The first leaf span is never given out (GPUVA-057, GPUVA-058). Free addresses are an extent
 *   tree, ranges a balanced tree, the pieces of a range another (of one node, as a rule, which is
 *   part of the range): every call costs O(log n).
 */
#include "vidmm/address_space.h"

#include <string.h>

#include "util/alloc.h"
#include "util/checked.h"

HANDLE space_process_handle(const struct vidmm_space *space)
{
    return space->process->driver_handle;
}

void space_retain(struct vidmm_space *space)
{
    space->references++;
}

void space_release(struct vidmm_space *space)
{
    if (--space->references > 0)
        return;
    slab_finish(&space->range_slab);
    slab_finish(&space->piece_slab);
    util_free(space);
}

/* ---- life ---- */

/* Bytes and entries of a resizable root that reaches `entries` (GPUVA-155 to GPUVA-157). */
static NTSTATUS root_size(struct vidmm *vidmm, bool paging, uint32_t *entries, uint64_t *bytes)
{
    const DXGK_PAGE_TABLE_LEVEL_DESC *desc = &vidmm->config.level[1];
    UINT segment = paging ? desc->PagingProcessPageTableSegmentId : desc->PageTableSegmentId;
    uint64_t page = segment == 0 ? PAGE_BYTES : vidmm->segment[segment].page_bytes;
    DXGKARG_GETROOTPAGETABLESIZE args = {.NumberOfPte = *entries};

    *bytes = ddi_get_root_page_table_size(vidmm->ddi, &args);
    if (args.NumberOfPte < *entries) {
        VIOLATION("GPUVA-155", "DxgkDdiGetRootPageTableSize returned %u entries for %u",
                  args.NumberOfPte, *entries);
        return STATUS_NO_MEMORY;
    }
    if (*bytes == 0 || *bytes % page != 0 || (segment == 0 && *bytes > PAGE_BYTES)) {
        VIOLATION("GPUVA-156", "DxgkDdiGetRootPageTableSize returned %llu bytes",
                  (unsigned long long)*bytes);
        return STATUS_NO_MEMORY;
    }
    *entries = args.NumberOfPte;
    return STATUS_SUCCESS;
}

static NTSTATUS root_create(struct vidmm_space *space, uint32_t entries, struct page_table **root)
{
    const struct table_geometry *geometry = &space->shared->geometry;
    uint64_t bytes = 0;
    NTSTATUS status;

    if (geometry->resizable_root) {
        status = root_size(space->vidmm, space->paging, &entries, &bytes);
        if (!NT_SUCCESS(status))
            return status;
    }
    return table_create(space, NULL, geometry->levels - 1, 0, entries, bytes, root);
}

/* Entries that a root starts with: what the descriptor says, at least enough for the first
 * addresses that are given out. */
static uint32_t first_entries(const struct vidmm_space *space)
{
    const struct table_geometry *geometry = &space->shared->geometry;
    uint64_t entries;

    if (!geometry->resizable_root)
        return geometry->entries[geometry->levels - 1];
    entries = (uint64_t)1 << space->vidmm->config.level[1].PageTableIndexBitCount;
    if (space->paging && entries < space->shared->end >> geometry->shift[1])
        entries = space->shared->end >> geometry->shift[1];
    if (entries < 2)
        entries = 2;
    return entries < geometry->entries[1] ? (uint32_t)entries : geometry->entries[1];
}

static NTSTATUS root_job(struct vidmm *vidmm, void *arg)
{
    struct vidmm_space *space = arg;

    (void)vidmm;
    return space->root ? STATUS_SUCCESS : root_create(space, first_entries(space), &space->root);
}

NTSTATUS space_create(struct vidmm *vidmm, struct vidmm_process *process, bool paging,
                      struct vidmm_space **out)
{
    struct vidmm_space *space;
    uint64_t low;
    NTSTATUS status;

    *out = NULL;
    space = util_zalloc(1, sizeof(*space));
    if (!space)
        return STATUS_INSUFFICIENT_RESOURCES;
    space->vidmm = vidmm;
    space->shared = vidmm->scratch;
    space->process = process;
    space->paging = paging;
    space->references = 1;
    slab_init(&space->range_slab, sizeof(struct va_range));
    slab_init(&space->piece_slab, sizeof(struct va_piece));
    list_init(&space->freed);
    list_init(&space->unclean);
    list_init(&space->doomed);
    list_init(&space->windows);
    sim_waitq_init(&space->announced);
    extent_tree_init(&space->free);
    low = paging ? 1 : space->shared->geometry.span;
    status = STATUS_INSUFFICIENT_RESOURCES;
    if (extent_give(&space->free, low,
                    (paging ? space->shared->end : space->shared->geometry.end) - low))
        status = root_create(space, first_entries(space), &space->root);
    list_push_back(&space->shared->spaces, &space->link);
    if (status == STATUS_NO_MEMORY && !paging_may_build(vidmm)) {
        sim_mutex_unlock(&vidmm->lock); /* the worker may evict to make room */
        status = paging_run(vidmm, root_job, space);
        sim_mutex_lock(&vidmm->lock);
    }
    if (!NT_SUCCESS(status)) {
        list_remove(&space->link);
        extent_tree_finish(&space->free);
        space_release(space);
        return status;
    }
    *out = space;
    return STATUS_SUCCESS;
}

/* Nothing of the space can be reached by the GPU afterwards (GPUVA-038, GPUVA-153). */
static NTSTATUS shut_job(struct vidmm *vidmm, void *arg)
{
    struct vidmm_space *space = arg;

    spaces_clean(vidmm);
    if (space->root && space->root->ready && !vidmm->lost && !space->closing) {
        if (space->shared->geometry.caps.ExplicitPageTableInvalidation)
            tables_write(space, 0, space->paging ? space->shared->end : space->shared->geometry.end,
                         &(struct entry_source){.state = ENTRY_INVALID});
        table_invalidate_all(space->root, false);
        space->flush_first = space->flush_end = 0;
        (void)tables_settle(space);
        table_flush(space, 0, 0); /* all of it (GPUVA-217) */
    }
    if (space->root)
        table_abandon(space->root);
    space->root = NULL;
    return STATUS_SUCCESS;
}

void space_destroy(struct vidmm_space *space)
{
    struct vidmm *vidmm = space->vidmm;
    struct span_node *node;

    space->closing = space_immediate(space);
    while ((node = span_first(&space->ranges)) != NULL)
        (void)range_free(CONTAINER(node, struct va_range, span));
    if (paging_may_build(vidmm)) {
        (void)shut_job(vidmm, space);
        (void)paging_settle(vidmm);
    } else {
        sim_mutex_unlock(&vidmm->lock);
        (void)paging_run(vidmm, shut_job, space);
        sim_mutex_lock(&vidmm->lock);
    }
    if (space->root)
        table_abandon(space->root); /* the worker did not run the job: the adapter stopped */
    space->root = NULL;
    list_remove(&space->unclean);
    list_remove(&space->link);
    extent_tree_finish(&space->free);
    space_release(space);
}

/* ---- ranges ---- */

static NTSTATUS refusal(const struct vidmm_space *space, NTSTATUS otherwise)
{
    return space->free.out_of_memory ? STATUS_INSUFFICIENT_RESOURCES : otherwise;
}

/* The lowest place in [low, high) outside the internal range (GPUVA-060). */
static bool take_around(struct vidmm_space *space, struct extent_request want, uint64_t *first)
{
    uint64_t from = space->vidmm->config.internal_va_start >> PAGE_BITS;
    uint64_t to = space->vidmm->config.internal_va_end >> PAGE_BITS;
    struct extent_request part = want;

    if (to == 0 || to <= want.low || want.high <= from)
        return extent_take(&space->free, &want, first);
    part.high = from;
    if (part.low < part.high && extent_take(&space->free, &part, first))
        return true;
    part.low = to;
    part.high = want.high;
    return !space->free.out_of_memory && part.low < part.high &&
           extent_take(&space->free, &part, first);
}

/* GPUVA-062. Out of memory is no reason to look for a lesser place. */
static bool take_for_client(struct vidmm_space *space, struct extent_request want, uint64_t *first)
{
    const struct table_geometry *geometry = &space->shared->geometry;
    const uint64_t preferred[] = {geometry->span, 16, 1};
    bool large = geometry->caps.LargePageSupported && want.size >= geometry->span;

    if (want.align)
        return take_around(space, want, first);
    for (unsigned i = large ? 0 : 1; i < 3; i++) {
        want.align = preferred[i];
        if (take_around(space, want, first))
            return true;
        if (space->free.out_of_memory)
            return false;
    }
    return false;
}

static bool take_for_host(struct vidmm_space *space, struct extent_request want, bool whole,
                          uint64_t *first)
{
    const struct vidmm_config *config = &space->vidmm->config;

    if (whole && !space->paging && config->internal_va_end != 0) {
        want.low = config->internal_va_start >> PAGE_BITS;
        want.high = config->internal_va_end >> PAGE_BITS;
    }
    want.from_end = !space->paging && !space->shared->geometry.resizable_root;
    return extent_take(&space->free, &want, first);
}

static NTSTATUS take_addresses(struct vidmm_space *space, const struct va_request *request,
                               uint64_t *first)
{
    uint64_t low = space->paging ? 1 : space->shared->geometry.span;
    uint64_t end = space->paging ? space->shared->end : space->shared->geometry.end, last;
    struct extent_request want = {
        .size = request->pages,
        .align = request->align,
        .low = request->low,
        .high = request->high,
    };

    if (request->base != 0) {
        if (ckd_add(&last, request->base, request->pages) || last > end || request->base < low)
            return STATUS_INVALID_PARAMETER;
        *first = request->base;
        space->free.out_of_memory = false;
        return extent_take_fixed(&space->free, request->base, request->pages)
                   ? STATUS_SUCCESS
                   : refusal(space, STATUS_INVALID_PARAMETER);
    }
    if (want.low < low)
        want.low = low;
    if (want.high == 0 || want.high > end)
        want.high = end;
    if (want.size > end || want.low >= want.high)
        return STATUS_NO_MEMORY;
    space->free.out_of_memory = false;
    if (request->internal
            ? take_for_host(space, want, request->low == 0 && request->high == 0, first)
            : take_for_client(space, want, first))
        return STATUS_SUCCESS;
    return refusal(space, STATUS_NO_MEMORY);
}

NTSTATUS range_create(struct vidmm_space *space, enum range_kind kind,
                      const struct va_request *request, struct va_range **out)
{
    struct va_range *range = slab_take(&space->range_slab);
    uint64_t first;
    NTSTATUS status;

    if (!range)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = take_addresses(space, request, &first);
    if (!NT_SUCCESS(status)) {
        slab_give(&space->range_slab, range);
        return status;
    }
    memset(range, 0, sizeof(*range));
    range->space = space;
    range->kind = kind;
    range->span.first = first;
    range->span.pages = request->pages;
    list_init(&range->jobs);
    list_init(&range->freed);
    span_insert(&space->ranges, &range->span);
    *out = range;
    return STATUS_SUCCESS;
}

static void forget_range(struct va_range *range)
{
    util_free(range->runs);
    slab_give(&range->space->range_slab, range);
}

void range_discard(struct va_range *range)
{
    struct vidmm_space *space = range->space;

    span_remove(&space->ranges, &range->span);
    /* whole, so it cannot fail */
    (void)extent_give(&space->free, range->span.first, range->span.pages);
    forget_range(range);
}

struct va_range *range_at(const struct vidmm_space *space, uint64_t page)
{
    struct span_node *node = span_at(&space->ranges, page);

    return node ? CONTAINER(node, struct va_range, span) : NULL;
}

bool range_free(struct va_range *range)
{
    struct vidmm_space *space = range->space;
    uint64_t first = range->span.first, pages = range->span.pages;
    struct span_node *node;

    while (!list_empty(&range->jobs))
        va_job_cancel(CONTAINER(range->jobs.next, struct va_job, link));
    if (range->body_used && range->kind != RANGE_RESERVATION)
        /* its pages keep it to the end (GPUVA-099) */
        range->driver_protection = range->body.driver_protection;
    while ((node = range->pieces.root) != NULL)
        piece_remove(CONTAINER(node, struct va_piece, span));
    if (range->initial == ENTRY_ZERO) {
        tables_drop_edge(space, first);
        tables_drop_edge(space, first + pages);
    }
    if (!tables_need_write(space, first, pages)) {
        tables_prune(space, first, pages);
        range_discard(range);
        return false;
    }
    span_remove(&space->ranges, &range->span);
    (void)extent_give(&space->free, first, pages);
    list_push_back(&space->freed, &range->freed);
    if (list_empty(&space->unclean))
        list_push_back(&space->shared->unclean, &space->unclean);
    return true;
}

/* ---- cleaning ---- */

static void clean(struct vidmm_space *space)
{
    struct list *node;

    while ((node = list_pop_front(&space->freed)) != NULL) {
        struct va_range *range = CONTAINER(node, struct va_range, freed);
        struct entry_source invalid = {.state = ENTRY_INVALID,
                                       .protection = range->driver_protection};

        if (!space->closing)
            tables_write(space, range->span.first, range->span.pages, &invalid);
        forget_range(range);
    }
    (void)tables_settle(space);
}

void spaces_clean(struct vidmm *vidmm)
{
    struct list *node;

    while (vidmm->scratch && (node = list_pop_front(&vidmm->scratch->unclean)) != NULL)
        clean(CONTAINER(node, struct vidmm_space, unclean));
}

static NTSTATUS clean_job(struct vidmm *vidmm, void *arg)
{
    (void)arg;
    spaces_clean(vidmm);
    return STATUS_SUCCESS;
}

static void clean_done(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct vidmm_space *space = arg;

    (void)vidmm;
    (void)status;
    space->cleaning = false;
    space_release(space);
}

void space_clean_later(struct vidmm_space *space)
{
    struct vidmm *vidmm = space->vidmm;

    if (paging_may_build(vidmm)) {
        spaces_clean(vidmm);
        (void)paging_flush(vidmm, NULL);
        return;
    }
    if (space->cleaning)
        return;
    space_retain(space);
    space->cleaning = true;
    space->clean_job = (struct paging_job){.fn = clean_job, .release = clean_done, .arg = space};
    paging_job_post(&space->shared->chores, &space->clean_job);
}

/* ---- the host's own mappings ---- */

static NTSTATUS keep_runs(struct va_range *range, const struct vidmm_run *runs, uint32_t run_count)
{
    range->runs = util_alloc(run_count * sizeof(*runs));
    if (!range->runs)
        return STATUS_INSUFFICIENT_RESOURCES;
    memcpy(range->runs, runs, run_count * sizeof(*runs));
    range->run_count = run_count;
    return STATUS_SUCCESS;
}

NTSTATUS space_map_internal(struct vidmm_space *space, const struct vidmm_run *runs,
                            uint32_t run_count, uint64_t low, uint64_t high, bool commands,
                            struct gpu_va *va)
{
    struct va_request request = {
        .internal = true, .low = low >> PAGE_BITS, .high = high >> PAGE_BITS};
    struct va_piece values = {.state = ENTRY_PAGES}, *piece;
    struct va_range *range;
    NTSTATUS status;

    for (uint32_t i = 0; i < run_count; i++)
        request.pages += runs[i].pages;
    status = range_create(space, RANGE_INTERNAL, &request, &range);
    if (!NT_SUCCESS(status))
        return status;
    range->coherent = !space->paging;
    values.span = (struct span_node){.first = range->span.first, .pages = range->span.pages};
    values.protection = commands ? 3 : 1; /* Write, Execute: GPUVA-194 */
    status = keep_runs(range, runs, run_count);
    if (NT_SUCCESS(status))
        status = space_cover(space, span_end(&range->span));
    if (NT_SUCCESS(status))
        status = piece_create(range, &values, &piece);
    if (!NT_SUCCESS(status)) {
        range_discard(range);
        return status;
    }
    spaces_clean(space->vidmm);
    piece_apply(piece, NULL);
    piece_write(piece);
    status = tables_settle(space);
    if (NT_SUCCESS(status))
        va->value = range->span.first << PAGE_BITS;
    else
        (void)range_free(range);
    return status;
}

void space_unmap_internal(struct vidmm_space *space, struct gpu_va va, uint64_t pages)
{
    struct va_range *range = range_at(space, va.value >> PAGE_BITS);

    (void)pages;
    if (range && range->kind == RANGE_INTERNAL && range_free(range))
        spaces_clean(space->vidmm);
}

/* ---- growing a root ---- */

bool space_covers(const struct vidmm_space *space, uint64_t end)
{
    const struct table_geometry *geometry = &space->shared->geometry;

    return !geometry->resizable_root ||
           (end + geometry->span - 1) >> geometry->shift[1] <= space->root->entries;
}

/* Entries for a root that reaches `end`: at least twice the old ones, so that growing costs O(1) an
 * entry in the end. */
static uint32_t grown_entries(const struct vidmm_space *space, uint64_t end)
{
    const struct table_geometry *geometry = &space->shared->geometry;
    uint64_t needed = (end + geometry->span - 1) >> geometry->shift[1];
    uint64_t doubled = (uint64_t)space->root->entries * 2;

    if (doubled > needed)
        needed = doubled < geometry->entries[1] ? doubled : geometry->entries[1];
    return (uint32_t)needed;
}

NTSTATUS space_resize_root(struct vidmm_space *space, uint32_t entries)
{
    struct vidmm *vidmm = space->vidmm;
    struct page_table *root, *old;
    bool live = space->root->ready;
    NTSTATUS status;

    if (!space->paging && vidmm->worker && !space->process->suspended &&
        !list_empty(&space->process->contexts)) {
        /* GPUVA-159: nothing of its contexts is on the GPU meanwhile */
        vidmm->suspend = space->process;
        return STATUS_RETRY;
    }
    status = root_create(space, entries, &root);
    if (!NT_SUCCESS(status))
        return status;
    spaces_clean(vidmm);
    old = tables_replace_root(space, root);
    status = tables_settle(space);
    if (live)
        (void)paging_settle(vidmm);
    context_announce_root(space);
    table_abandon(old);
    return status;
}

NTSTATUS space_cover(struct vidmm_space *space, uint64_t end)
{
    return space_covers(space, end) ? STATUS_SUCCESS
                                    : space_resize_root(space, grown_entries(space, end));
}

/* ---- after a loss of content ---- */

NTSTATUS space_rebuild_all(struct vidmm *vidmm)
{
    struct paging_process *shared = vidmm->scratch;
    NTSTATUS status = STATUS_SUCCESS;

    if (!shared)
        return status;
    LIST_FOR(node, &shared->spaces) {
        struct vidmm_space *space = CONTAINER(node, struct vidmm_space, link);
        NTSTATUS settled;

        if (space->paging)
            continue;
        tables_rebuild(space);
        settled = tables_settle(space);
        status = NT_SUCCESS(status) ? settled : status;
    }
    spaces_clean(vidmm);
    context_allocations_restore(vidmm);
    return status;
}
