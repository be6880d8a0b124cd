/* SPDX-License-Identifier: MIT */
/* The limit of virtual time of a call into a driver, and the mark by which watchdogs and faults
 * know that one runs. */
#ifndef DXGK_SIM_INSIDE_H
#define DXGK_SIM_INSIDE_H

#include <stdint.h>

#include "sim/machine.h"

/* Around each call into a driver: tells the watchdogs that a driver runs on this stack. `limit` is
 * the virtual time the call may take (SIM_FOREVER: any). Returns the deadline to restore. */
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
