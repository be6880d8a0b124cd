/* SPDX-License-Identifier: MIT */
/* Updating the mappings of an allocation that moves or is destroyed. Overview in
 * address_space.c. */
#include "vidmm/space/va_mapping.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

NTSTATUS space_allocation_placed(struct vidmm *vidmm, struct vidmm_allocation *allocation)
{
    struct vidmm_space *space = NULL;
    NTSTATUS status = STATUS_SUCCESS;

    if (!vidmm->mmu)
        return STATUS_SUCCESS;
    spaces_clean(vidmm);
    LIST_FOR(node, &allocation->mappings) {
        struct va_piece *piece = CONTAINER(node, struct va_piece, mapping);

        if (piece->job)
            continue;
        if (space && space != piece->range->space) {
            NTSTATUS settled = tables_settle(space);

            status = NT_SUCCESS(status) ? settled : status;
        }
        space = piece->range->space;
        piece_write(piece);
    }
    if (space) {
        NTSTATUS settled = tables_settle(space);

        status = NT_SUCCESS(status) ? settled : status;
    }
    return status;
}

/* Remove a mapping because its allocation is destroyed or closed (GPUVA-097, GPUVA-098). A range
 * that is freed here has no other mapping of an allocation, so none of those is lost. */
static void mapping_gone(struct va_piece *piece, enum mapping_end end)
{
    struct va_range *range = piece->range;
    uint64_t first = piece->span.first, pages = piece->span.pages;

    if (range->owned && range->owners == 1) {
        range_free_because(range, end);
        return;
    }
    if (piece->job) {
        piece_become_initial(piece);
        return;
    }
    va_history_note(piece, first, pages, end);
    piece_remove(piece);
    range_write_initial(range, first, pages);
    (void)tables_settle(range->space);
}

void space_allocation_destroyed(struct vidmm *vidmm, struct vidmm_allocation *allocation)
{
    if (!vidmm->mmu)
        return;
    spaces_clean(vidmm);
    while (!list_empty(&allocation->mappings))
        mapping_gone(CONTAINER(allocation->mappings.next, struct va_piece, mapping),
                     MAPPING_DESTROYED);
    spaces_clean(vidmm);
}

void space_allocation_closed(struct vidmm_space *space, struct vidmm_allocation *allocation)
{
    spaces_clean(space->vidmm);
    LIST_FOR_SAFE(node, following, &allocation->mappings) {
        struct va_piece *piece = CONTAINER(node, struct va_piece, mapping);

        if (piece->range->space->process == space->process)
            mapping_gone(piece, MAPPING_CLOSED);
    }
    spaces_clean(space->vidmm);
}

uint64_t space_driver_protection(const struct vidmm_allocation *allocation, uint64_t page,
                                 uint64_t *pages)
{
    uint64_t end = allocation->pages;

    LIST_FOR(node, &allocation->mappings) {
        const struct va_piece *piece = CONTAINER(node, struct va_piece, mapping);

        if (!(piece->driver_protection & D3DGPU_UNIQUE_DRIVER_PROTECTION))
            break;
        if (piece->range->kind == RANGE_POOL)
            continue;
        if (piece->offset <= page && page < piece->offset + piece->span.pages) {
            *pages = piece->offset + piece->span.pages - page;
            return piece->driver_protection;
        }
        if (piece->offset > page && piece->offset < end)
            end = piece->offset;
    }
    *pages = end - page;
    return 0;
}
