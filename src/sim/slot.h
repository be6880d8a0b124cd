/* SPDX-License-Identifier: MIT */
/*
 * Where the rooms above keep their state of a machine, without this room knowing their names: a
 * room owns one static key for each thing it keeps, claims it before main, and finds its state in
 * the machine by it.
 *
 *     struct sim_slot bus_slot;           // in one source of the room; extern in a header if
 *                                         others look it up
 *     SIM_SLOT_CLAIM(bus_slot)
 *     ...
 *     sim_slot_set(&bus_slot, bus);       // when the room's state is made
 *     struct bus *bus = sim_slot_get(&bus_slot);
 *
 * Keys are the same for all machines of the process; what is stored is each machine's own, and NULL
 * at first.
 */
#ifndef DXGK_SIM_SLOT_H
#define DXGK_SIM_SLOT_H

#include "sim/machine.h"

/* A place that all machines have, by its number in sim_machine.slot. */
struct sim_slot {
    unsigned index;
};

/* Give the key a place of its own; ends the process if there is none left, which the first start of
 * a program shows. */
void sim_slot_claim(struct sim_slot *slot);

#define SIM_SLOT_CLAIM(name)                                    \
    __attribute__((constructor)) static void claim_##name(void) \
    {                                                           \
        sim_slot_claim(&(name));                                \
    }

/* What the room that owns the key keeps in the current machine. NULL: nothing yet, or no machine is
 * entered. */
static inline void *sim_slot_get(const struct sim_slot *slot)
{
    return sim_current ? sim_current->slot[slot->index] : NULL;
}

/* There must be a machine. */
void sim_slot_set(const struct sim_slot *slot, void *state);

#endif
