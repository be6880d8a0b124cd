/* SPDX-License-Identifier: MIT */
/* The schedulers of the machine, one for each adapter. */
#include "vidsch/scheduler.h"
#include "ddi/ddi.h"
#include "sim/slot.h"
#include "util/assert.h"

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

    util_assert(previous); /* the list has `vidsch` */
    if (previous == vidsch) {
        sim_slot_set(&vidsch_slot, vidsch->next);
        return;
    }
    while (previous->next != vidsch)
        previous = previous->next;
    previous->next = vidsch->next;
}

static struct ddi_room vidsch_room;
DDI_ROOM_CLAIM(vidsch_room)

struct vidsch *vidsch_of_adapter(const struct ddi_adapter *adapter)
{
    return ddi_room(adapter, &vidsch_room);
}

void vidsch_set_of_adapter(struct ddi_adapter *adapter, struct vidsch *vidsch)
{
    ddi_set_room(adapter, &vidsch_room, vidsch);
}
