/* SPDX-License-Identifier: MIT */
#include "vidmm/space/privileged_space.h"
#include "util/address.h"
#include "util/list.h"
#include "util/span_tree.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/table_residency.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

#define TABLE_ALIGN 65536u

NTSTATUS privileged_space_create(struct vidmm_process *process)
{
    struct vidmm *vidmm = process->vidmm;
    struct vidmm_space *space;
    NTSTATUS status;

    if (process->privileged ||
        vidmm->mmu->geometry.caps.PageTableUpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        return STATUS_SUCCESS;
    status = space_create(vidmm, process, false, &space);
    if (!NT_SUCCESS(status))
        return status;
    space->privileged = true;
    status = tables_stay(space);
    if (!NT_SUCCESS(status)) {
        space_destroy(space);
        return status;
    }
    if (process->privileged)
        space_destroy(space); /* another thread was faster */
    else
        process->privileged = space;
    return STATUS_SUCCESS;
}

/* ---- pools ---- */

static const struct va_piece *find_pool(const struct vidmm_space *space, const struct va_piece *like)
{
    LIST_FOR(node, &like->allocation->mappings) {
        const struct va_piece *piece = CONTAINER(node, struct va_piece, mapping);

        if (piece->range->space == space && piece->protection == like->protection &&
            piece->driver_protection == like->driver_protection)
            return piece;
    }
    return NULL;
}

NTSTATUS privileged_space_pool(struct vidmm_space *space, const struct va_piece *like,
                               uint64_t *first)
{
    const struct va_piece *known = find_pool(space, like);
    const struct va_request request = {.internal = true, .pages = like->allocation->pages};
    struct va_piece values = {.state = ENTRY_PAGES,
                              .allocation = like->allocation,
                              .protection = like->protection,
                              .driver_protection = like->driver_protection};
    struct va_range *range;
    NTSTATUS status;

    if (known) {
        *first = known->span.first;
        return STATUS_SUCCESS;
    }
    status = range_create(space, RANGE_POOL, &request, &range);
    if (!NT_SUCCESS(status))
        return status;
    range->owned = true;
    status = space_map_whole(range, &values);
    if (!NT_SUCCESS(status))
        return status;
    *first = range->span.first;
    return STATUS_SUCCESS;
}

/* ---- tables and commands ---- */

NTSTATUS privileged_space_map_table(struct vidmm_space *space, const struct page_table *table,
                                    struct gpu_va *va)
{
    return space_map_internal_at(space, &table->place.run, 1, TABLE_ALIGN, false, va);
}

NTSTATUS privileged_space_map_commands(struct vidmm_space *space, const struct vidmm_run *run,
                                       struct gpu_va *va)
{
    return space_map_internal_at(space, run, 1, 0, true, va);
}
