/* SPDX-License-Identifier: MIT */
/*
 * The device model tells of each use of a translation that differs from the tables. That is right
 * until the flush after the change has completed; after it the driver has flushed too little, or
 * nothing (GPUVA-263). Called from inside the model, at any level, so without the lock: the records
 * are whole wherever threads are switched.
 */
#include "vidmm/check/translation_check.h"
#include "bus/mmu.h"
#include "ddi/routine.h"
#include "dxgkhost/page_tables.h"
#include "util/address.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/check/table_finding.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/address_text.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/table_asked.h"

static struct vidmm_space *space_of_root(const struct vidmm *vidmm, uint64_t root)
{
    if (!vidmm->mmu || !vidmm->mmu->watch.on || vidmm->mmu->watch.lost)
        return NULL;
    LIST_FOR(node, &vidmm->mmu->spaces) {
        struct vidmm_space *space = CONTAINER(node, struct vidmm_space, link);

        if (space->root && !space->root->absent && table_address(space->root).SegmentOffset == root)
            return space;
    }
    return NULL;
}

/* The entry that ends the translation of the page, by the host's record; NULL: none is known. */
static struct asked_entry *last_entry(const struct vidmm_space *space, uint64_t page)
{
    const struct page_table *table = space->root;

    while (table && table->ready && table->asked) {
        uint32_t index = table_index(table, space->mmu->geometry.shift[table->level], page);
        const struct page_table *below, *used;

        if (table->level == 0) {
            used = table_in_use(table, page);
            index = table_index(used, table_shift(&space->mmu->geometry, used), page);
            return used->asked && index < used->entries ? &used->asked->entry[index] : NULL;
        }

        if (index >= table->entries)
            return NULL;
        below = table->level > 0 ? table->child[index] : NULL;
        if (!below || !below->ready)
            return &table->asked->entry[index];
        table = below;
    }
    return NULL;
}

static void stale(void *context, const struct dxgk_stale_translation *use)
{
    struct vidmm *vidmm = context;
    const uint64_t page = use->address >> PAGE_BITS;
    struct vidmm_space *space = space_of_root(vidmm, use->root);
    struct asked_entry *entry = space ? last_entry(space, page) : NULL;
    const struct table_call *flush;
    struct vidmm_address_text text = {.owner = ""};

    if (!entry || !entry->by || entry->stale_told || !asked_done(vidmm, entry->by))
        return;
    flush = asked_flush_after(space, page, entry->by->number);
    if (!flush || !asked_done(vidmm, flush))
        return;
    entry->stale_told = true;
    vidmm_address_text(space->process, use->address, &text);
    ddi_blame(vidmm->ddi, "DxgkDdiBuildPagingBuffer");
    VIOLATION("GPUVA-263",
              "a translation that was taken away is still used: %s, address 0x%llx, by engine %u, "
              "fence %u: the TLB keeps 0x%llx, the table has 0x%llx since %s; %s has completed "
              "without effect on it%s%s",
              table_process_say(space).text, (unsigned long long)use->address, use->engine,
              use->command, (unsigned long long)use->kept, (unsigned long long)use->now,
              table_call_say(entry->by, false).text, table_call_say(flush, true).text,
              text.owner[0] ? "; " : "", text.owner);
}

void translation_check_begin(struct vidmm *vidmm)
{
    if (vidmm->config.table_reader && vidmm->config.device)
        bus_device_on_stale(vidmm->config.device, stale, vidmm);
}

void translation_check_end(struct vidmm *vidmm)
{
    if (vidmm->config.table_reader && vidmm->config.device)
        bus_device_on_stale(vidmm->config.device, NULL, NULL);
}
