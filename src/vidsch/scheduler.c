/* SPDX-License-Identifier: MIT */
/* The schedulers of the machine, one for each adapter. */
#include "vidsch/scheduler.h"

#include "sim/slot.h"

static struct sim_slot vidsch_slot;
SIM_SLOT_CLAIM(vidsch_slot)

struct vidsch *vidsch_first(void)
{
    return sim_slot_get(&vidsch_slot);
}

void vidsch_enlist(struct vidsch *vidsch)
{
    vidsch->next = vidsch_first();
    sim_slot_set(&vidsch_slot, vidsch);
}

void vidsch_delist(struct vidsch *vidsch)
{
    struct vidsch *previous = vidsch_first();

    if (previous == vidsch) {
        sim_slot_set(&vidsch_slot, vidsch->next);
        return;
    }
    while (previous->next != vidsch)
        previous = previous->next;
    previous->next = vidsch->next;
}
