/* SPDX-License-Identifier: MIT */
/* Keys are numbered in the order in which they are claimed. */
#include "sim/slot.h"

#include <stdlib.h>

void sim_slot_claim(struct sim_slot *slot)
{
    static unsigned next; /* no lock: constructors run on one thread */

    if (next == SIM_SLOTS)
        abort();
    slot->index = next++;
}

void sim_slot_set(const struct sim_slot *slot, void *state)
{
    sim_current->slot[slot->index] = state;
}
