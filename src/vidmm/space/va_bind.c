/* SPDX-License-Identifier: MIT */
#include "vidmm/space/va_bind.h"
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "util/address.h"
#include "util/checked.h"
#include "util/handle.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/space/va_range.h"

struct vidmm_allocation *va_find_allocation(const struct vidmm_process *process,
                                            D3DKMT_HANDLE handle)
{
    struct vidmm_open *open = handle_lookup(process->handles, handle, DDI_CLIENT_ALLOCATION);

    if (!open || open->device->process != process || open->allocation->destroyed)
        return NULL;
    return open->allocation;
}

bool va_has_unique_protection(const struct vidmm_allocation *allocation)
{
    const struct list *first = allocation->mappings.next;

    return first != &allocation->mappings &&
           CONTAINER(first, const struct va_piece, mapping)->driver_protection &
               D3DGPU_UNIQUE_DRIVER_PROTECTION;
}

bool va_protection_conflict(const struct vidmm_allocation *allocation, uint64_t offset,
                            uint64_t pages, uint64_t protection)
{
    LIST_FOR(node, &allocation->mappings) {
        const struct va_piece *piece = CONTAINER(node, struct va_piece, mapping);

        if (!(piece->driver_protection & D3DGPU_UNIQUE_DRIVER_PROTECTION))
            return false; /* unique ones come first in the list */
        if (piece->driver_protection != protection && piece->range->kind != RANGE_POOL &&
            ranges_overlap(piece->offset, piece->span.pages, offset, pages))
            return true;
    }
    return false;
}
