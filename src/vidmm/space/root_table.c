/* SPDX-License-Identifier: MIT */
/*
 * The root page table of a space. A resizable root begins small and grows: the tables below the old
 * root are moved to a larger one, which is announced to every context of the process
 * (DxgkDdiSetRootPageTable).
 *
 * Announcements are made without the lock, since the driver may update a context allocation from
 * inside the call (GPUVA-162). A space counts the threads that are announcing, and a context leaves
 * the process only when there are none (root_wait_announced).
 */
#include "vidmm/space/root_table.h"
#include "ddi/ddi.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/address.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"

/* ---- creating ---- */

/* Ask the driver for the size of a resizable root with at least *entries entries
 * (GPUVA-155 to GPUVA-157). */
static NTSTATUS root_size(struct vidmm *vidmm, bool paging, uint32_t *entries, uint64_t *bytes)
{
    const DXGK_PAGE_TABLE_LEVEL_DESC *desc = &vidmm->config.level[1];
    UINT segment = paging ? desc->PagingProcessPageTableSegmentId : desc->PageTableSegmentId;
    uint64_t page = segment == 0 ? PAGE_BYTES : vidmm->segment[segment].page_bytes;
    DXGKARG_GETROOTPAGETABLESIZE args = {.NumberOfPte = *entries};

    *bytes = ddi_get_root_page_table_size(vidmm->ddi, &args);
    if (args.NumberOfPte < *entries) {
        verify_refusal("GPUVA-155", "DxgkDdiGetRootPageTableSize returned %u entries for %u",
                       args.NumberOfPte, *entries);
        return STATUS_NO_MEMORY;
    }
    if (*bytes == 0) {
        verify_refusal("GPUVA-156", "DxgkDdiGetRootPageTableSize returned 0 bytes for %u entries",
                       args.NumberOfPte);
        return STATUS_NO_MEMORY;
    }
    if ((*bytes % page != 0 || (segment == 0 && *bytes > PAGE_BYTES)) &&
        verify_expected("GPUVA-156", "DxgkDdiGetRootPageTableSize returned %llu bytes for %s",
                        (unsigned long long)*bytes,
                        segment == 0 ? "a table in system memory" : "a table in a segment"))
        return STATUS_NO_MEMORY;
    *bytes = align_up(*bytes, page);
    *entries = args.NumberOfPte;
    return STATUS_SUCCESS;
}

static NTSTATUS root_of(struct vidmm_space *space, uint32_t entries, struct page_table **root)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    uint64_t bytes = 0;
    NTSTATUS status;

    if (geometry->resizable_root) {
        status = root_size(space->vidmm, space->paging, &entries, &bytes);
        if (!NT_SUCCESS(status))
            return status;
    }
    return table_create(space, NULL, geometry->levels - 1, 0, entries, bytes, root);
}

/* The initial number of entries: as in the descriptor, but enough for the first addresses
 * that are allocated. */
static uint32_t first_entries(const struct vidmm_space *space)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    uint64_t entries;

    if (!geometry->resizable_root)
        return geometry->entries[geometry->levels - 1];
    entries = (uint64_t)1 << space->vidmm->config.level[1].PageTableIndexBitCount;
    if (space->paging && entries < space->mmu->end >> geometry->shift[1])
        entries = space->mmu->end >> geometry->shift[1];
    if (entries < 2)
        entries = 2;
    return entries < geometry->entries[1] ? (uint32_t)entries : geometry->entries[1];
}

NTSTATUS root_create(struct vidmm_space *space)
{
    return root_of(space, first_entries(space), &space->root);
}

/* ---- announcing ---- */

struct vidmm_space *space_of_context(const struct vidmm_context *context)
{
    const struct vidmm_process *process = context->device->process;

    if (!context->virtual_addressing)
        return NULL;
    return context->privileged ? process->privileged : process->space;
}

/* Lock held; dropped meanwhile. */
static void set_root(const struct vidmm_space *space, const struct vidmm_context *context)
{
    struct vidmm *vidmm = space->vidmm;
    const DXGKARG_SETROOTPAGETABLE args = {.hContext = context->driver_handle,
                                           .Address = table_address(space->root),
                                           .NumEntries = space->root->entries};

    sim_mutex_unlock(&vidmm->lock);
    ddi_set_root_page_table(vidmm->ddi, &args);
    sim_mutex_lock(&vidmm->lock);
}

static void announcement_over(struct vidmm_space *space)
{
    if (--space->announcing == 0)
        sim_waitq_wake(&space->announced, UINT32_MAX);
}

void root_announce_to(struct vidmm_space *space, const struct vidmm_context *context)
{
    if (space->root->absent)
        return; /* it is announced to all when it is back */
    space->announcing++;
    set_root(space, context);
    announcement_over(space);
}

void root_announce(struct vidmm_space *space)
{
    if (!space->root || space->root->absent) /* one that begins or ends has none */
        return;
    space->announcing++;
    /* No context leaves meanwhile; a new one gets the root when it is attached. */
    LIST_FOR(node, &space->process->contexts) {
        const struct vidmm_context *context = CONTAINER(node, struct vidmm_context, link);

        if (space_of_context(context) == space && context->driver_handle)
            set_root(space, context);
    }
    announcement_over(space);
}

void root_announce_all(struct vidmm *vidmm)
{
    struct gpu_mmu *mmu = vidmm->mmu;

    if (!mmu)
        return;
    LIST_FOR(node, &mmu->spaces)
        root_announce(CONTAINER(node, struct vidmm_space, link));
}

void root_wait_announced(struct vidmm_space *space)
{
    struct vidmm *vidmm = space->vidmm;

    while (space->announcing > 0) {
        sim_mutex_unlock(&vidmm->lock);
        if (space->announcing > 0)
            sim_waitq_wait(&space->announced, SIM_FOREVER);
        sim_mutex_lock(&vidmm->lock);
    }
}

/* ---- growing a root ---- */

bool root_covers(const struct vidmm_space *space, uint64_t end)
{
    const struct table_geometry *geometry = &space->mmu->geometry;

    return !geometry->resizable_root ||
           (end + geometry->span - 1) >> geometry->shift[1] <= space->root->entries;
}

/* Entries for a root that reaches `end`: at least twice as many as now, so that growing costs O(1)
 * per entry (amortized). */
static uint32_t grown_entries(const struct vidmm_space *space, uint64_t end)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    uint64_t needed = (end + geometry->span - 1) >> geometry->shift[1];
    uint64_t doubled = (uint64_t)space->root->entries * 2;

    if (doubled > needed)
        needed = doubled < geometry->entries[1] ? doubled : geometry->entries[1];
    return (uint32_t)needed;
}

NTSTATUS root_resize(struct vidmm_space *space, uint32_t entries)
{
    struct vidmm *vidmm = space->vidmm;
    struct page_table *root, *old;
    bool live = space->root->ready;
    struct paging_turn own = paging_turn_begin(NULL);
    NTSTATUS status;

    paging_assert_builder(space->vidmm);
    if (!space->paging && vidmm->worker && !space->process->suspended &&
        !list_empty(&space->process->contexts)) {
        /* GPUVA-159: no work of its contexts may be on the GPU meanwhile */
        paging_turn_of_caller(vidmm, &own)->suspend = space->process;
        return STATUS_RETRY;
    }
    status = root_of(space, entries, &root);
    if (!NT_SUCCESS(status))
        return status;
    spaces_clean(vidmm);
    old = tables_replace_root(space, root);
    status = tables_settle(space);
    if (live)
        (void)paging_settle(vidmm);
    root_announce(space);
    table_abandon(old);
    return status;
}

NTSTATUS root_cover(struct vidmm_space *space, uint64_t end)
{
    return root_covers(space, end) ? STATUS_SUCCESS : root_resize(space, grown_entries(space, end));
}
