/* SPDX-License-Identifier: MIT */
/* The virtual time limit of a call into a driver, and the mark that tells watchdogs and fault
 * handlers that a driver is running. */
#ifndef DXGK_SIM_INSIDE_H
#define DXGK_SIM_INSIDE_H

#include <stdint.h>

#include "sim/machine.h"

/* Called around each call into a driver: marks that a driver runs on this stack. `limit` is the
 * virtual time that the call may take (SIM_FOREVER: no limit). Returns the deadline to restore. */
static inline uint64_t sim_inside_enter(uint64_t limit)
{
    struct sim_machine *m = sim_current;
    uint64_t outer = m->deadline;
    uint64_t mine = limit == SIM_FOREVER ? SIM_FOREVER : m->now + limit;

    m->inside++;
    m->deadline = mine < outer ? mine : outer;
    return outer;
}

static inline void sim_inside_leave(uint64_t outer)
{
    sim_current->inside--;
    sim_current->deadline = outer;
}

#endif
