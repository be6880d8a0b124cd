/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   Ranges and pieces say what an entry should contain in the end; here is what the driver has
 *   been told, which is what it answers for. An entry keeps two states: what was asked for last, by
 *   which call, and what the call before had asked for, so that an entry that was left as it was
 *   can be told from one that was written wrongly.
 *
 *     asked_update   entry.before = entry.now; entry.now = what the call says; the table is on the
 *                    list of changed ones, until a look at it finds all its calls completed
 *     completed      the first update after a look defers one to the completion of what has been
 *                    built (paging_defer), and a look that leaves tables on the list defers the
 *                    next
 *
 *   Calls are shared by their entries and go with the last of them, so memory follows the entries
 *   of tables: 56 bytes for each, and a time of O(entries written). What is short of memory is not
 *   checked, and counted.
 */
#include "vidmm/space/table_asked.h"
#include "sim/machine.h"
#include "util/address.h"
#include "util/alloc.h"
#include "vidmm/paging/paging.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_op.h"

#include <string.h>

void table_watch_init(struct table_watch *watch, const struct table_reader *reader)
{
    *watch = (struct table_watch){.on = reader != NULL, .reader = reader};
    list_init(&watch->changed);
}

/* ---- tables ---- */

void asked_begin(struct page_table *table)
{
    struct table_watch *watch = &table->space->mmu->watch;

    if (!watch->on)
        return;
    table->asked = util_zalloc(1,
                               sizeof(*table->asked) + table->entries * sizeof(struct asked_entry));
    if (!table->asked) {
        watch->unkept += table->entries;
        return;
    }
    table->asked->table = table;
    list_init(&table->asked->changed);
}

static void let_go(struct table_call *call)
{
    if (call && --call->users == 0)
        util_free(call);
}

void asked_end(struct page_table *table)
{
    struct table_asked *asked = table->asked;

    if (!asked)
        return;
    for (uint32_t i = 0; i < table->entries; i++) {
        let_go(asked->entry[i].by);
        let_go(asked->entry[i].by_before);
    }
    list_remove(&asked->changed);
    table->asked = NULL;
    util_free(asked);
}

/* ---- calls ---- */

static struct table_call call_now(uint64_t number)
{
    return (struct table_call){.number = number, .time = sim_now(), .building = true};
}

/* When it will have been carried out: with what has been built so far; or now, by the CPU
 * (GPUVA-183). */
static void built(const struct vidmm_space *space, struct table_call *call, bool by_cpu)
{
    call->building = false;
    call->ticket = by_cpu ? 0 : paging_ticket_now(space->vidmm);
    call->discarded = !by_cpu && space->vidmm->reset;
}

bool asked_done(const struct vidmm *vidmm, const struct table_call *call)
{
    return !call->building && !call->discarded && paging_ticket_done(vidmm, call->ticket);
}

static void completed(struct vidmm *vidmm, struct paging_deferred *deferred);

static void look_later(struct vidmm *vidmm)
{
    struct table_watch *watch = &vidmm->mmu->watch;

    if (watch->queued || list_empty(&watch->changed))
        return;
    watch->queued = true;
    watch->completed.fn = completed;
    paging_defer(vidmm, &watch->completed);
}

static void completed(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    struct table_watch *watch = CONTAINER(deferred, struct table_watch, completed);

    watch->queued = false;
    watch->reader->look(vidmm);
    if (!paging_ticket_done(vidmm, paging_ticket_now(vidmm)))
        look_later(vidmm);
}

struct table_call *asked_update(const struct table_change *change, uint64_t number)
{
    struct page_table *table = change->table;
    struct vidmm_space *space = table->space;
    struct table_asked *asked = table->asked;
    unsigned shift = table_shift(&space->mmu->geometry, table);
    struct table_call *call;

    if (!asked || change->count == 0)
        return NULL;
    call = util_alloc(sizeof(*call));
    if (!call) {
        space->mmu->watch.unkept += change->count;
        asked_end(table);
        return NULL;
    }
    *call = call_now(number);
    call->level = table->level;
    call->start = change->start;
    call->count = change->count;
    call->repeat = change->repeat;
    call->initial = change->initial;
    call->address = (table->first + ((uint64_t)change->start << shift)) << PAGE_BITS;
    call->bytes = (uint64_t)change->count << shift << PAGE_BITS;
    call->users = change->count;
    for (uint32_t i = 0; i < change->count; i++) {
        struct asked_entry *entry = &asked->entry[change->start + i];

        let_go(entry->by_before);
        entry->by_before = entry->by;
        entry->before = entry->now;
        entry->by = call;
        entry->now = change->entries[change->repeat ? 0 : i];
        entry->told = entry->stale_told = false;
    }
    if (list_empty(&asked->changed))
        list_push_back(&space->mmu->watch.changed, &asked->changed);
    return call;
}

void asked_built(const struct vidmm_space *space, struct table_call *call)
{
    if (!call)
        return;
    built(space, call,
          space_immediate(space) ||
              space->mmu->geometry.caps.PageTableUpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL);
    look_later(space->vidmm);
}

void asked_copied(struct page_table *leaf, uint32_t start, uint32_t count)
{
    struct table_asked *asked = leaf->asked;
    struct table_call *call;

    if (!asked || count == 0)
        return;
    call = util_alloc(sizeof(*call));
    if (!call) {
        leaf->space->mmu->watch.unkept += count;
        asked_end(leaf);
        return;
    }
    *call = call_now(leaf->space->vidmm->statistics.build_calls + 1);
    call->building = false;
    call->discarded = true;
    call->users = count;
    for (uint32_t i = 0; i < count; i++) {
        struct asked_entry *entry = &asked->entry[start + i];

        let_go(entry->by_before);
        entry->by_before = entry->by;
        entry->before = entry->now;
        entry->by = call;
        entry->told = entry->stale_told = false;
    }
}

/* ---- flushes ---- */

void asked_flush(struct vidmm_space *space, uint64_t first, uint64_t count, uint64_t number)
{
    struct flushes_asked *flushes = space->flushes;
    struct table_call *call;

    if (!flushes)
        return;
    call = &flushes->last[flushes->count++ % FLUSHES_KEPT];
    *call = call_now(number);
    built(space, call, false);
    call->address = first << PAGE_BITS;
    call->bytes = (count ? count : space->mmu->geometry.end) << PAGE_BITS;
}

const struct table_call *asked_flush_after(const struct vidmm_space *space, uint64_t page,
                                           uint64_t number)
{
    const struct flushes_asked *flushes = space->flushes;
    const struct table_call *found = NULL;

    for (uint64_t n = 0; flushes && n < FLUSHES_KEPT && n < flushes->count; n++) {
        const struct table_call *call = &flushes->last[(flushes->count - 1 - n) % FLUSHES_KEPT];

        if (call->number <= number)
            break;
        if ((page << PAGE_BITS) - call->address < call->bytes)
            found = call;
    }
    return found;
}
