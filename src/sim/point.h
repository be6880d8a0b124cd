/* SPDX-License-Identifier: MIT */
/*
 * Points: the places of host code where time passes and the outside world may intervene. Every
 * kernel service, callback, register access and DDI boundary has one.
 */
#ifndef DXGK_SIM_POINT_H
#define DXGK_SIM_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine.h"

#define SIM_POINT_NS 20u

void sim_point_slow(struct sim_machine *machine);

/* A place where the outside world may intervene. Cheap: one add, one decrement, one branch. */
static inline void sim_point(void)
{
    struct sim_machine *m = sim_current;

    m->now += SIM_POINT_NS;
    if (--m->fuel == 0)
        sim_point_slow(m);
}

/* A place that counts only in a machine under stress: a function's entry or exit in instrumented
 * code of a driver. */
static inline void sim_stress_point(void)
{
    if (sim_current && sim_current->stress && sim_current->inside)
        sim_point();
}

/* Let virtual time pass for the caller, as a busy processor (others run meanwhile). */
void sim_stall(uint64_t ns);
/* The caller spins on something another processor must do: let the others run now. */
void sim_spin(void);
/* End the current slice at the next point (something was raised that should be seen soon). */
static inline void sim_expedite(void)
{
    sim_current->fuel = 1;
}

#endif
