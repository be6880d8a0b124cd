/* SPDX-License-Identifier: MIT */
/* Stopping the simulated kernel, as after a bug check. See sim.h for what continues after it. */
#ifndef DXGK_SIM_STOP_H
#define DXGK_SIM_STOP_H

#include <stdbool.h>

/* Stop the simulated kernel for good (as a bug check does once its record is made). Does not return
 * when called on a fiber: a client jumps to its recovery mark, a kernel thread never runs again. */
void sim_stop(void);
/* From here to the stop, which must follow, only what runs now goes on: no other thread or
 * processor, no interrupt, no deferred call; events happen, since devices go on. Others get a turn
 * only while the current processor spins for them, and a wait ends in the stop. */
void sim_freeze(void);
/* Whether the current processor has done so: what runs here must not end before the stop. */
bool sim_is_freezing(void);

#endif
