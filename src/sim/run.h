/* SPDX-License-Identifier: MIT */
/* What a processor does while it has no thread, and the return to the caller of sim_run. */
#ifndef DXGK_SIM_RUN_H
#define DXGK_SIM_RUN_H

#include "sim/sim.h"

struct sim_core;

/* The entry of an idle fiber: serve interrupts, pick a thread, let other processors run, advance
 * the time. */
_Noreturn void sim_idle_loop(void *core);
/* Switch from a fiber back to sim_run. Returns when sim_run is called again and resumes here. */
void sim_to_host(struct sim_core *core, enum sim_outcome outcome);

#endif
