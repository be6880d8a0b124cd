/* SPDX-License-Identifier: MIT */
#include "vidmm/record/allocation_record.h"
#include "util/alloc.h"
#include "util/list.h"
#include "vidmm/record/vidmm_record.h"

struct vidmm_allocation *allocation_record_new(struct vidmm *vidmm)
{
    struct vidmm_allocation *allocation = util_zalloc(1, sizeof(*allocation));

    if (!allocation)
        return NULL;
    allocation->vidmm = vidmm;
    allocation->number.of_all = ++vidmm->serials.allocations;
    list_init(&allocation->link);
    list_init(&allocation->resource_link);
    list_init(&allocation->opens);
    list_init(&allocation->victim.leave_link);
    list_init(&allocation->victim.demoted_link);
    list_init(&allocation->mappings);
    return allocation;
}

void allocation_record_end(struct vidmm_allocation *allocation)
{
    util_free(allocation->client_data.at);
    allocation->client_data.at = NULL;
    util_free(allocation->client_data.described);
    allocation->client_data.described = NULL;
    allocation->gone = true;
    if (allocation->holds == 0)
        util_free(allocation);
}

void allocation_hold(struct vidmm_allocation *allocation)
{
    allocation->holds++;
}

void allocation_unhold(struct vidmm_allocation *allocation)
{
    if (--allocation->holds == 0 && allocation->gone)
        util_free(allocation);
}

const char *allocation_absence_text(enum allocation_absence absence)
{
    static const char *const names[] = {
        [ABSENCE_NEVER] = "never made resident",
        [ABSENCE_ROOM] = "evicted to make room for others",
        [ABSENCE_OFFERED] = "discarded while it was offered",
        [ABSENCE_EVICTED] = "evicted by D3DKMTEvict",
        [ABSENCE_DEMOTED] = "moved out, its device was over its budget",
        [ABSENCE_MOVED] = "on its way to another place",
        [ABSENCE_POWER] = "moved out for a change of power or of the IOMMU domain",
        [ABSENCE_RESET] = "lost in a reset of the adapter",
    };

    return names[absence];
}
