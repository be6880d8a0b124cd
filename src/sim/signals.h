/* SPDX-License-Identifier: MIT */
/* The signal handlers and the host-time watchdog, for a machine while the host thread has entered
 * it. */
#ifndef DXGK_SIM_SIGNALS_H
#define DXGK_SIM_SIGNALS_H

#include <stdbool.h>

struct sim_core;

bool sim_signals_setup(struct sim_core *core);
void sim_signals_teardown(struct sim_core *core);
void sim_signals_enter(struct sim_core *core);
void sim_signals_leave(struct sim_core *core);
/* In a child of fork: its host thread has no watchdog yet. */
void sim_signals_forked(struct sim_core *core);

#endif
