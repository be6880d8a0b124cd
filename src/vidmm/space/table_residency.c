/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   The tables of an address space lie in their segment as allocations do: while no context of the
 *   space executes they may be evicted, or moved, for what needs the room (GPUVA-166). Their
 *   content is not saved. The ranges and pieces of the space say what belongs into them, and the
 *   bits of the table's record, which stays, which entries are not invalid (page_table.c).
 *
 *     there    evict: the entry above becomes invalid; the driver hears of      tables_evict
 *              it by an update of all entries with NotifyEviction; the TLB
 *              is flushed; then the memory is given up
 *     absent   whatever changes is recorded as before, and no operation is      table_change
 *              built: an update of an absent table costs nothing, and cannot
 *              fail for want of memory
 *     back     before a context of the space executes: memory, all entries      tables_return
 *              invalid (InitialUpdate), the entries that are not, the link
 *              above. Lower tables come first, and find their upper one there
 *              or are linked when it comes; the root is announced at the end
 *
 *   A table that is in the way of a hole is moved, that is, it leaves one place and comes back at
 *   another at once. A root, whose announcement would drop the lock, is evicted instead.
 *
 *   A space with an absent table is `away`; so it is until what brought the last one back has
 *   completed. The scheduler asks before each submission (vidmm_device_prepare).
 *
 *   Which space is chosen is the business of eviction (residency/eviction.c). A space is never
 *   asked to give up tables for a need of its own.
 */
#include "vidmm/space/table_residency.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/list.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_op.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/root_table.h"

/* Tables that leave with one flush. */
#define MOST_AT_ONCE 64u

/* ---- out ---- */

/* Is it in the middle of a change, or about to end? */
static bool is_busy(const struct vidmm_space *space)
{
    return !space->root || space->closing || space->announcing > 0 || space->suspended ||
           !list_empty(&space->holds) || !list_empty(&space->windows) ||
           space->flush_first < space->flush_end || space_immediate(space);
}

bool tables_evictable(const struct vidmm_space *space, UINT segment)
{
    return !space->tables.stay && space->tables.here[segment] > 0 && !is_busy(space);
}

/* CTXA-033: the hardware may keep the state of a context whose work has ended, and save it later
 * through the tables. */
static bool leave_contexts(const struct vidmm_space *space)
{
    const struct vidmm *vidmm = space->vidmm;

    if (space->tables.away)
        return true;
    LIST_FOR(node, &vidmm->devices) {
        struct vidmm_device *device = CONTAINER(node, struct vidmm_device, link);

        if (device->process == space->process && !device->lost &&
            !NT_SUCCESS(vidmm->scheduler->context_leave(device, NULL)))
            return false;
    }
    return true;
}

/* The next one to leave the segment: the lowest, and among these the oldest. */
static struct page_table *next_in(const struct vidmm_space *space, UINT segment, unsigned *level,
                                  struct list *from)
{
    for (; *level < space->mmu->geometry.levels; ++*level, from = NULL) {
        const struct list *list = &space->tables.placed[*level];

        for (struct list *node = from ? from : list->next; node != list; node = node->next) {
            struct page_table *table = CONTAINER(node, struct page_table, placed);

            if (table->place.run.segment == segment)
                return table;
        }
    }
    return NULL;
}

static void left(struct page_table *table)
{
    struct vidmm_space *space = table->space;

    space->vidmm->statistics.table_evictions++;
    trace_instant(space->vidmm->track, "evict page table", "bytes",
                  table->place.run.pages << PAGE_BITS, "level", table->level);
    space->tables.root_moved |= table == space->root;
    table_leave(table);
    space->tables.away = true;
}

/* One flush for some of them. */
static uint64_t evict_some(struct vidmm_space *space, UINT segment, uint64_t pages)
{
    struct page_table *leaving[MOST_AT_ONCE];
    unsigned count = 0, level = 0;
    uint64_t freed = 0;

    for (struct page_table *table = next_in(space, segment, &level, NULL);
         table && freed < pages && count < MOST_AT_ONCE;
         table = next_in(space, segment, &level, table->placed.next)) {
        tables_forsake(table);
        leaving[count++] = table;
        freed += table->place.run.pages + (table->twin ? table->twin->place.run.pages : 0);
    }
    (void)tables_settle(space);
    for (unsigned i = 0; i < count; i++)
        left(leaving[i]);
    return freed;
}

uint64_t tables_evict(struct vidmm_space *space, UINT segment, uint64_t pages)
{
    uint64_t freed = 0;

    paging_assert_builder(space->vidmm);
    if (!leave_contexts(space))
        return 0;
    spaces_clean(space->vidmm);
    while (freed < pages) {
        const uint64_t some = evict_some(space, segment, pages - freed);

        if (some == 0)
            break;
        freed += some;
    }
    return freed;
}

bool tables_move(struct page_table *table, uint64_t hole, uint64_t pages)
{
    struct vidmm_space *space = table->space;

    paging_assert_builder(space->vidmm);
    if (!leave_contexts(space))
        return false;
    tables_forsake(table);
    (void)tables_settle(space);
    if (!table->parent || table->twin) {
        left(table);
        return true;
    }
    table_leave(table);
    space->tables.away = true; /* until what is written now has been */
    if (!NT_SUCCESS(table_enter_beside(table, hole, pages)))
        return true;
    trace_instant(space->vidmm->track, "move page table", "level", table->level, NULL, 0);
    tables_write_again(table);
    (void)tables_settle(space);
    return true;
}

/* ---- back ---- */

static NTSTATUS come_back(struct page_table *table)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (uint32_t i = 0; table->level > 0 && i < table->entries && NT_SUCCESS(status); i++)
        if (table->child[i])
            status = come_back(table->child[i]);
    if (!NT_SUCCESS(status) || !table->absent)
        return status;
    status = table_enter(table);
    if (NT_SUCCESS(status))
        tables_write_again(table);
    return status;
}

NTSTATUS tables_return(struct vidmm_space *space)
{
    NTSTATUS status = STATUS_SUCCESS, settled;

    paging_assert_builder(space->vidmm);
    spaces_clean(space->vidmm);
    if (space->root && space->tables.absent)
        status = come_back(space->root);
    settled = tables_settle(space);
    status = NT_SUCCESS(status) ? settled : status;
    if (NT_SUCCESS(status) && space->root && space->tables.root_moved) {
        space->tables.root_moved = false;
        status = paging_settle(space->vidmm);
        root_announce(space);
    }
    return status;
}

static NTSTATUS return_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)vidmm;
    (void)turn;
    return tables_return(arg);
}

static void stay(struct page_table *table)
{
    for (uint32_t i = 0; table->level > 0 && i < table->entries; i++)
        if (table->child[i])
            stay(table->child[i]);
    table_stay(table);
}

NTSTATUS tables_stay(struct vidmm_space *space)
{
    struct vidmm *vidmm = space->vidmm;

    while (space->tables.absent) {
        NTSTATUS status;

        sim_mutex_unlock(&vidmm->lock);
        status = paging_run(vidmm, return_job, space);
        sim_mutex_lock(&vidmm->lock);
        if (!NT_SUCCESS(status))
            return status;
    }
    space->tables.stay = true;
    if (space->root)
        stay(space->root);
    return STATUS_SUCCESS;
}
