/* SPDX-License-Identifier: MIT */
/* A client thread in a stopped machine does not go on where it was: it is thrown to its mark. */
#ifndef DXGK_SIM_THROW_H
#define DXGK_SIM_THROW_H

struct sim_core;

/* For a thread that may find itself in a stopped machine: a client goes to its outermost mark, and
 * does not return. */
void sim_check_stopped(struct sim_core *core);

#endif
