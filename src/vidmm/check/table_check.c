/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   The host's record of each table says where it is and what each entry was asked to be
 *   (table_asked.h); the format says how to read what the driver wrote there (table_format.h). So
 *   the walk follows the host's tables, not the driver's pointers: a pointer that leads elsewhere
 *   is one wrong entry, and what lies below it is checked nevertheless.
 *
 *   An entry whose last update has not completed may be old or new, and is passed over. One that
 *   differs is
 *
 *     left       it has what the call before had asked for: the update was not carried out
 *                (GPUVA-260); if it comes later, that is told, too
 *     unasked    it is valid, and nobody has asked for that (GPUVA-261)
 *     wrong      a part of it differs: the rule of that part
 *
 *   and is told once for each call that asked for it; entries that follow each other and are wrong
 *   in the same way make one report.
 *
 *   Cost: a look at the changed tables is O(entries of these tables) for each completed submission;
 *   a check of all is O(entries of all tables).
 */
#include "vidmm/check/table_check.h"
#include "bus/mmu.h"
#include "dxgkhost/page_tables.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/list.h"
#include "vidmm/check/table_entry.h"
#include "vidmm/check/table_finding.h"
#include "vidmm/check/table_format.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/table_asked.h"

/* Are the tables in memory what the driver has written? */
static bool readable(const struct vidmm *vidmm)
{
    return vidmm->mmu && vidmm->mmu->watch.on && !vidmm->mmu->watch.lost && !vidmm->lost;
}

/* asked_done for entry after entry: those in a row mostly have one call. */
struct last_call {
    const struct table_call *call;
    bool done;
};

static bool is_done(const struct vidmm *vidmm, const struct table_call *call, struct last_call *last)
{
    if (call != last->call)
        *last = (struct last_call){call, asked_done(vidmm, call)};
    return call && last->done;
}

enum judged { JUDGED_RIGHT, JUDGED_PENDING, JUDGED_TOLD, JUDGED_NEW };

/* Look at one entry; JUDGED_NEW: *finding says what is wrong with it. */
static enum judged judge(const struct dxgk_table_format *format, const struct page_table *table,
                         const uint8_t *memory, uint32_t index, struct last_call *last,
                         struct table_finding *finding)
{
    struct asked_entry *entry = &table->asked->entry[index];
    const uint8_t *bytes = memory + (size_t)index * format->entry_bytes;
    struct table_entry asked, found, before;
    enum entry_part part;

    if (!is_done(table->space->vidmm, entry->by, last))
        return JUDGED_PENDING;
    if (!entry->now.Valid && !entry->told && !(table_entry_bits(format, bytes) & format->valid))
        return JUDGED_RIGHT; /* most entries */
    asked = table_entry_asked(&entry->now, table->level);
    found = table_entry_read(format, bytes, table->level);
    part = table_entry_differ(format, &asked, &found, table->level);
    if (part == ENTRY_SAME) {
        if (!entry->told)
            return JUDGED_RIGHT;
        entry->told = false;
        *finding = (struct table_finding){.kind = FINDING_LATE};
    } else if (entry->told) {
        return JUDGED_TOLD;
    } else {
        entry->told = true;
        before = table_entry_asked(&entry->before, table->level);
        *finding = (struct table_finding){.kind = FINDING_WRONG, .part = part};
        if (entry->by_before &&
            table_entry_differ(format, &before, &found, table->level) == ENTRY_SAME)
            finding->kind = FINDING_LEFT;
        else if (!asked.valid)
            finding->kind = FINDING_UNASKED;
    }
    finding->format = format;
    finding->table = table;
    finding->index = index;
    finding->count = 1;
    finding->asked = asked;
    finding->found = found;
    finding->bits = table_entry_bits(format, bytes);
    finding->by = entry->by;
    finding->by_before = entry->by_before;
    return JUDGED_NEW;
}

/* How many of `count` entries are in the table's memory. All are, except of a root of which the
 * driver says what it holds: other tables are as long as their entries in this format. */
static uint32_t in_memory(const struct dxgk_table_format *format, const struct page_table *table,
                          uint32_t from, uint32_t count)
{
    const uint64_t room = table_entry_room(format, table);

    if (table->entries > room && !table->asked->short_told) {
        table->asked->short_told = true;
        table_finding_short(format, table);
    }
    if (from >= room)
        return 0;
    return count < room - from ? count : (uint32_t)(room - from);
}

static void check_entries(const struct dxgk_table_format *format, const struct page_table *table,
                          uint32_t from, uint32_t count, struct table_check *check)
{
    const uint8_t *memory = table_cpu(table);
    struct table_finding run = {.count = 0};
    struct last_call last = {NULL, false};

    check->tables++;
    if (!memory || !table->asked) {
        check->hidden++;
        return;
    }
    count = in_memory(format, table, from, count);
    for (uint32_t i = from; i < from + count; i++) {
        struct table_finding finding;
        enum judged judged = judge(format, table, memory, i, &last, &finding);

        check->pending += judged == JUDGED_PENDING;
        check->entries += judged != JUDGED_PENDING;
        check->wrong += judged == JUDGED_TOLD ||
                        (judged == JUDGED_NEW && finding.kind != FINDING_LATE);
        if (judged != JUDGED_NEW)
            continue;
        if (run.count && table_finding_continues(&run, &finding)) {
            run.count++;
            continue;
        }
        if (run.count)
            table_finding_report(&run);
        run = finding;
    }
    if (run.count)
        table_finding_report(&run);
}

/* ---- all tables ---- */

static void check_table(const struct dxgk_table_format *format, const struct page_table *table,
                        struct table_check *check)
{
    if (!table->ready)
        return;
    if (!table->wide && !table->absent) /* else no entry points to it, but to its twin */
        check_entries(format, table, 0, table->entries, check);
    if (table->twin && !table->absent && (table->wide || table->space->mmu->geometry.dual))
        check_entries(format, table->twin, 0, table->twin->entries, check);
    for (uint32_t i = 0; table->level > 0 && i < table->entries; i++)
        if (table->child[i])
            check_table(format, table->child[i], check);
}

bool vidmm_check_tables(struct vidmm *vidmm, struct table_check *check)
{
    const struct dxgk_table_format *format;
    bool checked;

    *check = (struct table_check){.tables = 0};
    sim_mutex_lock(&vidmm->lock);
    format = table_format_of(vidmm);
    checked = format && readable(vidmm);
    if (checked) {
        LIST_FOR(node, &vidmm->mmu->spaces) {
            const struct vidmm_space *space = CONTAINER(node, struct vidmm_space, link);

            if (space->root)
                check_table(format, space->root, check);
        }
    }
    sim_mutex_unlock(&vidmm->lock);
    return checked;
}

/* ---- changed tables ---- */

/* May a later look find more? What is wrong may come right late; calls that a reset has thrown away
 * never complete. */
static bool awaits(const struct page_table *table)
{
    struct last_call last = {NULL, false};

    for (uint32_t i = 0; i < table->entries; i++) {
        const struct table_call *call = table->asked->entry[i].by;

        if (table->asked->entry[i].told)
            return true;
        if (call && !call->discarded && !is_done(table->space->vidmm, call, &last))
            return true;
    }
    return false;
}

static void look(struct vidmm *vidmm)
{
    const struct dxgk_table_format *format = table_format_of(vidmm);
    struct table_check check = {.tables = 0};

    if (!readable(vidmm))
        format = NULL;
    LIST_FOR_SAFE(node, following, &vidmm->mmu->watch.changed) {
        struct table_asked *asked = CONTAINER(node, struct table_asked, changed);

        if (format && asked->table->ready)
            check_entries(format, asked->table, 0, asked->table->entries, &check);
        if (!awaits(asked->table))
            list_remove(&asked->changed);
    }
}

/* ---- one address ---- */

static void compare_walk(struct vidmm_space *space, uint64_t address)
{
    struct vidmm *vidmm = space->vidmm;
    const struct page_table *table = space->root;
    const struct asked_entry *entry = NULL;
    const uint64_t page = address >> PAGE_BITS;
    struct dxgk_walk walk;
    struct table_entry asked = {.valid = false};

    while (table && table->ready && table->asked) {
        unsigned shift = space->mmu->geometry.shift[table->level];
        uint32_t index = table_index(table, shift, page);

        if (table->level == 0 && table_in_use(table, page) != table)
            return; /* entries of 64 KB are not compared with walks */

        if (index >= table->entries)
            return;
        entry = &table->asked->entry[index];
        if (!entry->by || !asked_done(vidmm, entry->by))
            return;
        asked = table_entry_asked(&entry->now, table->level);
        asked.offset += (page & (((uint64_t)1 << shift) - 1)) << PAGE_BITS;
        if (table->level == 0 || !asked.valid || asked.zero || asked.large)
            break;
        table = table->child[index];
    }
    if (!entry || space->root->absent ||
        !bus_device_walk(vidmm->config.device, table_address(space->root).SegmentOffset, address,
                         &walk))
        return;
    table_finding_walk(space, address, entry->by, &asked, &walk);
}

void vidmm_check_address(const struct vidmm_process *process, uint64_t address)
{
    struct vidmm_space *space = process->space;
    struct vidmm *vidmm = process->vidmm;
    const struct dxgk_table_format *format;
    const struct page_table *table;
    struct table_check check = {.tables = 0};

    if (!space || !space->root || address >> PAGE_BITS >= space->mmu->geometry.end ||
        !readable(vidmm))
        return;
    format = table_format_of(vidmm);
    if (!format) {
        if (vidmm->config.device)
            compare_walk(space, address);
        return;
    }
    for (table = space->root; table && table->ready && !table->absent;) {
        unsigned shift = space->mmu->geometry.shift[table->level];
        uint32_t index = table_index(table, shift, address >> PAGE_BITS);

        if (index >= table->entries)
            return;
        if (table->level == 0 && table_in_use(table, address >> PAGE_BITS) != table)
            check_entries(format, table->twin, index >> TWIN_SHIFT, 1, &check);
        else
            check_entries(format, table, index, 1, &check);
        table = table->level > 0 ? table->child[index] : NULL;
    }
}

/* ---- for texts ---- */

static void describe(const struct page_table *table, uint32_t index, char *text, size_t bytes)
{
    const struct dxgk_table_format *format = table_format_of(table->space->vidmm);
    const uint8_t *entry = format ? table_entry_at(format, table, index) : NULL;

    text[0] = '\0';
    if (entry && table->asked)
        table_finding_entry(format, table, index, entry, text, bytes);
}

const struct table_reader table_check_reader = {.look = look, .describe = describe};
