/* SPDX-License-Identifier: MIT */
/* In a stopped machine a client thread does not continue where it was: it jumps to its recovery
 * mark. */
#ifndef DXGK_SIM_THROW_H
#define DXGK_SIM_THROW_H

struct sim_core;

/* Called by a thread that may be in a stopped machine: a client jumps to its outermost mark, and
 * this does not return. */
void sim_check_stopped(struct sim_core *core);

#endif
