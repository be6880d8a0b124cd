/* SPDX-License-Identifier: MIT */
/*
 * Slots, in which upper rooms keep their state of a machine without this room knowing them: a room
 * owns one static key for each thing that it keeps, claims the key before main, and finds its state
 * in the machine through it.
 *
 *     struct sim_slot bus_slot;           // in one source of the room; extern in a header if
 *                                         others look it up
 *     SIM_SLOT_CLAIM(bus_slot)
 *     ...
 *     sim_slot_set(&bus_slot, bus);       // when the room's state is made
 *     struct bus *bus = sim_slot_get(&bus_slot);
 *
 * Keys are the same for all machines of the process; the stored pointers are per machine, and NULL
 * at first.
 */
#ifndef DXGK_SIM_SLOT_H
#define DXGK_SIM_SLOT_H

#include "sim/machine.h"

/* A key: the index in sim_machine.slot, the same in all machines. */
struct sim_slot {
    unsigned index;
};

/* Give the key a slot. Ends the process if there is none left, so the first start of a program
 * shows it. */
void sim_slot_claim(struct sim_slot *slot);

#define SIM_SLOT_CLAIM(name)                                    \
    __attribute__((constructor)) static void claim_##name(void) \
    {                                                           \
        sim_slot_claim(&(name));                                \
    }

/* What the owner of the key keeps in the current machine. NULL: nothing yet, or no machine is
 * entered. */
static inline void *sim_slot_get(const struct sim_slot *slot)
{
    return sim_current ? sim_current->slot[slot->index] : NULL;
}

/* A machine must be entered. */
void sim_slot_set(const struct sim_slot *slot, void *state);

#endif
