/* SPDX-License-Identifier: MIT */
/* The end of the simulated life, as after a bug check. sim.h says what goes on after it. */
#ifndef DXGK_SIM_STOP_H
#define DXGK_SIM_STOP_H

/* Stop the simulated life for good (what a bug check does, after its record was made). Does not
 * return when called on a fiber: a client is thrown to its mark, a kernel thread never runs
 * again. */
void sim_stop(void);

#endif
