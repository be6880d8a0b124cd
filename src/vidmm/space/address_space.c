/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A GPU virtual address space is a set of ranges (each reserves addresses for one owner). Inside
 *   each range is a set of pieces (each says what consecutive pages map). Pages without a piece are
 *   in the range's initial state.
 *
 *        range   |------- reservation, ZERO -------|   |-- Map of A --|
 *        pieces        [A 0..3]   [no access]           [A 8....11]      A 0: page 0 of A
 *        entries  Z  Z  a a a a  Z  .  .  Z  Z  Z        a  a  a  a
 *
 *   Ranges and pieces are the truth. They change during the client's call, under the lock. The
 *   page-table entries are derived from them by paging operations, which only the builder's fiber
 *   may build (paging.h). This happens in one of three ways:
 *
 *     at once       No operation is needed: the pages are invalid before and after (the allocation
 *                   is not resident). No job; fence value 0
 *     by a job      The piece waits outside the tree (va_job) until its job runs in the paging
 *                   queue; the job inserts it and writes its entries. The tables it needs are held
 *                   from the start, so the job cannot fail. If the range is freed meanwhile, its
 *                   waiting pieces are freed, too, and the job does nothing. If an allocation is
 *                   destroyed, the waiting pieces that map it change to the initial state of their
 *                   range
 *     by cleaning   A freed range gives its addresses back at once, but its record stays on the
 *                   space's `freed` list until its entries are invalidated. Every function that
 *                   writes entries starts with spaces_clean. So the entries of an old range are
 *                   gone (and the TLB is flushed) before any entry of a new range is written
 *                   (GPUVA-121), whatever paging queues the two requests use
 *
 *   All operations of an adapter run in the order in which they were built. So code that waits for
 *   the fence value of a job sees the entries that the job wrote.
 *
 *   Layout of a space
 *
 *     0         first      internal range, if the driver names one             end
 *     | invalid |  lowest fitting place first ...   |####|     ... host's own  |
 *
 *   The first 64 KB, or with two levels the first leaf span, are never allocated (GPUVA-057,
 *   GPUVA-058). Ranges and the free addresses between them are in one map (util/range_map.h), and
 *   the pieces of a range in a balanced tree. A range usually has one piece, which is part of its
 *   record. Every call costs O(log n).
 */
#include "vidmm/space/address_space.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "util/range_map.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/process_record.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_op.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/root_table.h"
#include "vidmm/space/table_asked.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

#include <string.h>

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
    util_free(space->flushes);
    util_free(space);
}

/* ---- life ---- */

static NTSTATUS root_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_space *space = arg;

    (void)turn;
    (void)vidmm;
    return space->root ? STATUS_SUCCESS : root_create(space);
}

NTSTATUS space_create(struct vidmm *vidmm, struct vidmm_process *process, bool paging,
                      struct vidmm_space **out)
{
    struct vidmm_space *space;
    NTSTATUS status;

    *out = NULL;
    space = util_zalloc(1, sizeof(*space));
    if (!space)
        return STATUS_INSUFFICIENT_RESOURCES;
    space->vidmm = vidmm;
    space->mmu = vidmm->mmu;
    space->process = process;
    space->records = &va_piece_records;
    space->paging = paging;
    space->references = 1;
    if (space->mmu->watch.on)
        space->flushes = util_zalloc(1, sizeof(*space->flushes));
    slab_init(&space->range_slab, sizeof(struct va_range));
    slab_init(&space->piece_slab, sizeof(struct va_piece));
    list_init(&space->freed);
    list_init(&space->unclean);
    list_init(&space->doomed);
    list_init(&space->holds);
    list_init(&space->windows);
    for (unsigned level = 0; level < DXGK_MAX_PAGE_TABLE_LEVEL_COUNT; level++)
        list_init(&space->tables.placed[level]);
    list_init(&space->tables.returned.link);
    sim_waitq_init(&space->announced);
    status = STATUS_INSUFFICIENT_RESOURCES;
    if (range_map_init(&space->ranges, paging ? 1 : space->mmu->geometry.first,
                       paging ? space->mmu->end : space->mmu->geometry.end))
        status = root_create(space);
    list_push_back(&space->mmu->spaces, &space->link);
    if (status == STATUS_NO_MEMORY && !paging_may_build(vidmm)) {
        sim_mutex_unlock(&vidmm->lock); /* the worker may evict to make room */
        status = paging_run(vidmm, root_job, space);
        sim_mutex_lock(&vidmm->lock);
    }
    if (!NT_SUCCESS(status)) {
        list_remove(&space->link);
        range_map_finish(&space->ranges);
        space_release(space);
        return status;
    }
    *out = space;
    return STATUS_SUCCESS;
}

/* Ensure that the GPU can reach nothing of the space afterwards (GPUVA-038, GPUVA-153). */
static void shut(struct vidmm *vidmm, struct vidmm_space *space)
{
    spaces_clean(vidmm);
    if (space->root && space->root->ready && !space->root->absent && !vidmm->lost &&
        !space->closing) {
        if (space->mmu->geometry.caps.ExplicitPageTableInvalidation)
            tables_write(space, 0, space->paging ? space->mmu->end : space->mmu->geometry.end,
                         &(struct entry_source){.state = ENTRY_INVALID});
        table_invalidate_all(space->root, false);
        space->flush_first = space->flush_end = 0;
        (void)tables_settle(space);
        table_flush(space, 0, 0); /* the whole space (GPUVA-217) */
    }
    if (space->root)
        table_abandon(space->root);
    space->root = NULL;
}

static NTSTATUS shut_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    shut(vidmm, arg);
    return STATUS_SUCCESS;
}

void space_destroy(struct vidmm_space *space)
{
    struct vidmm *vidmm = space->vidmm;
    struct va_range *range;

    space->closing = space_immediate(space);
    while ((range = range_from(space, 0)) != NULL)
        (void)range_free(range);
    if (paging_may_build(vidmm)) {
        shut(vidmm, space);
        (void)paging_settle(vidmm);
    } else {
        sim_mutex_unlock(&vidmm->lock);
        (void)paging_run(vidmm, shut_job, space);
        sim_mutex_lock(&vidmm->lock);
    }
    if (space->root)
        table_abandon(space->root); /* the adapter stopped, so the worker did not run the job */
    space->root = NULL;
    list_remove(&space->unclean);
    list_remove(&space->tables.returned.link);
    list_remove(&space->link);
    range_map_finish(&space->ranges);
    space_release(space);
}

/* ---- cleaning ---- */

static void clean(struct vidmm_space *space)
{
    struct list *node;

    while ((node = list_pop_front(&space->freed)) != NULL) {
        struct va_range *range = CONTAINER(node, struct va_range, freed);

        if (!space->closing)
            range_wipe(range);
        range_forget(range);
    }
    (void)tables_settle(space);
}

void spaces_clean(struct vidmm *vidmm)
{
    struct list *node;

    paging_assert_builder(vidmm);
    while (vidmm->mmu && (node = list_pop_front(&vidmm->mmu->unclean)) != NULL)
        clean(CONTAINER(node, struct vidmm_space, unclean));
}

static NTSTATUS clean_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
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
    paging_job_post(&space->mmu->chores, &space->clean_job);
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

NTSTATUS space_map_whole(struct va_range *range, struct va_piece *values)
{
    struct vidmm_space *space = range->space;
    struct va_piece *piece;
    NTSTATUS status;

    values->span = (struct span_node){.first = range->span.first, .pages = range->span.pages};
    status = root_cover(space, span_end(&range->span));
    if (NT_SUCCESS(status))
        status = piece_create(range, values, &piece);
    if (!NT_SUCCESS(status)) {
        range_discard(range);
        return status;
    }
    spaces_clean(space->vidmm);
    piece_apply(piece, NULL);
    piece_write(piece);
    return STATUS_SUCCESS;
}

static NTSTATUS map_internal(struct vidmm_space *space, struct va_request request,
                             const struct vidmm_run *runs, uint32_t run_count, bool commands,
                             struct gpu_va *va)
{
    struct va_piece values = {.state = ENTRY_PAGES};
    struct va_range *range;
    NTSTATUS status;

    for (uint32_t i = 0; i < run_count; i++)
        request.pages += runs[i].pages;
    status = range_create(space, RANGE_INTERNAL, &request, &range);
    if (!NT_SUCCESS(status))
        return status;
    range->coherent = !space->paging;
    values.protection = commands ? 3 : 1; /* Write, Execute: GPUVA-194 */
    status = keep_runs(range, runs, run_count);
    if (!NT_SUCCESS(status)) {
        range_discard(range);
        return status;
    }
    status = space_map_whole(range, &values);
    if (!NT_SUCCESS(status))
        return status;
    status = tables_settle(space);
    if (NT_SUCCESS(status))
        va->value = range->span.first << PAGE_BITS;
    else
        (void)range_free(range);
    return status;
}

NTSTATUS space_map_internal(struct vidmm_space *space, const struct vidmm_run *runs,
                            uint32_t run_count, uint64_t low, uint64_t high, bool commands,
                            struct gpu_va *va)
{
    const struct va_request request = {
        .internal = true, .low = low >> PAGE_BITS, .high = high >> PAGE_BITS};

    return map_internal(space, request, runs, run_count, commands, va);
}

NTSTATUS space_map_internal_at(struct vidmm_space *space, const struct vidmm_run *runs,
                               uint32_t run_count, uint64_t align, bool commands, struct gpu_va *va)
{
    const struct va_request request = {.internal = true, .align = align >> PAGE_BITS};

    return map_internal(space, request, runs, run_count, commands, va);
}

void space_unmap_internal(struct vidmm_space *space, struct gpu_va va)
{
    if (range_free(range_at(space, va.value >> PAGE_BITS)))
        spaces_clean(space->vidmm);
}

/* ---- after a loss of content ---- */

NTSTATUS space_rebuild_all(struct vidmm *vidmm)
{
    struct gpu_mmu *mmu = vidmm->mmu;
    NTSTATUS status = STATUS_SUCCESS;

    if (!mmu)
        return status;
    LIST_FOR(node, &mmu->spaces) {
        struct vidmm_space *space = CONTAINER(node, struct vidmm_space, link);
        NTSTATUS settled;

        if (space->paging)
            continue;
        tables_rebuild(space);
        settled = tables_settle(space);
        status = NT_SUCCESS(status) ? settled : status;
    }
    mmu->watch.lost = false;
    spaces_clean(vidmm);
    return status;
}
