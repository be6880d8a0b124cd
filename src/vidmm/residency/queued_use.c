/* SPDX-License-Identifier: MIT */
#include "vidmm/residency/queued_use.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/residency/departure.h"
#include "vidmm/residency/victim.h"

static void ended(struct vidmm_allocation *allocation)
{
    if (!allocation->gone && !allocation->destroyed) {
        departure_consider(allocation);
        victim_update(allocation);
    }
    paging_poke(allocation->vidmm);
    allocation_unhold(allocation);
}

void queued_use_begin(struct vidmm_allocation *allocation)
{
    allocation_hold(allocation);
    allocation->claims.queued++;
    victim_update(allocation);
}

void queued_use_end(struct vidmm_allocation *allocation)
{
    allocation->claims.queued--;
    ended(allocation);
}

void copied_use_begin(struct vidmm_allocation *allocation)
{
    allocation_hold(allocation);
    allocation->claims.copied++;
    allocation->users++;
    victim_update(allocation);
}

void copied_use_end(struct vidmm_allocation *allocation)
{
    allocation->claims.copied--;
    allocation->users--;
    ended(allocation);
}
