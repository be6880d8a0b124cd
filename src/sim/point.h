/* SPDX-License-Identifier: MIT */
/*
 * Points: the places in host code where virtual time passes, and interrupts, events and other
 * threads may run. Every kernel service, callback, register access and DDI boundary has one.
 */
#ifndef DXGK_SIM_POINT_H
#define DXGK_SIM_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine.h"

#define SIM_POINT_NS 20u

void sim_point_slow(struct sim_machine *machine);

/* Virtual time passes here, and others may run. Cheap: one add, one decrement, one branch. */
static inline void sim_point(void)
{
    struct sim_machine *m = sim_current;

    m->now += SIM_POINT_NS;
    if (--m->fuel == 0)
        sim_point_slow(m);
}

/* A point that exists only in a machine under stress: entry and exit of functions in instrumented
 * driver code. */
static inline void sim_stress_point(void)
{
    if (sim_current && sim_current->stress && sim_current->inside)
        sim_point();
}

/* The same before an access to memory in driver code that was not compiled for it: now and then the
 * processor is held up there, as by a slow access, so that others come far. */
void sim_stress_access(void);
/* The same between the read and the write of one instruction, which an interrupt or another thread
 * of this processor cannot come between: only other processors run. */
void sim_stress_between(void);

/* Let virtual time pass while the caller keeps its processor busy (others run meanwhile). */
void sim_stall(uint64_t ns);
/* The caller spins until another processor does something: let the others run now. */
void sim_spin(void);
/* End the current slice at the next point, so that something that was raised is seen soon. */
static inline void sim_expedite(void)
{
    sim_current->fuel = 1;
}

#endif
