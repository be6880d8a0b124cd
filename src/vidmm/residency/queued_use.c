/* SPDX-License-Identifier: MIT */
#include "vidmm/residency/queued_use.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/residency/departure.h"
#include "vidmm/residency/victim.h"

void queued_use_begin(struct vidmm_allocation *allocation)
{
    allocation_hold(allocation);
    allocation->users++;
    victim_update(allocation);
}

void queued_use_end(struct vidmm_allocation *allocation)
{
    allocation->users--;
    if (!allocation->gone && !allocation->destroyed) {
        if (allocation->users == 0 && allocation->victim.leave &&
            allocation->device_references == 0 && allocation->runs)
            departure_add(allocation);
        victim_update(allocation);
        paging_poke(allocation->vidmm);
    }
    allocation_unhold(allocation);
}
