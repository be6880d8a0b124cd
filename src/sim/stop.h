/* SPDX-License-Identifier: MIT */
/* Stopping the simulated kernel, as after a bug check. See sim.h for what continues after it. */
#ifndef DXGK_SIM_STOP_H
#define DXGK_SIM_STOP_H

/* Stop the simulated kernel for good (as a bug check does once its record is made). Does not return
 * when called on a fiber: a client jumps to its recovery mark, a kernel thread never runs again. */
void sim_stop(void);

#endif
