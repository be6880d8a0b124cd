/* SPDX-License-Identifier: MIT */
/* What a processor does that has no thread, and the way back to the program that called sim_run. */
#ifndef DXGK_SIM_RUN_H
#define DXGK_SIM_RUN_H

#include "sim/sim.h"

struct sim_core;

/* Serve interrupts, take a thread, let others run, let time jump. The entry of an idle fiber. */
_Noreturn void sim_idle_loop(void *core);
/* From a fiber back to sim_run. Returns when sim_run is called again and resumes here. */
void sim_to_host(struct sim_core *core, enum sim_outcome outcome);

#endif
