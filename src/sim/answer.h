/* SPDX-License-Identifier: MIT */
/* A fiber that is asked for its stack answers on its way out of a switch; stack.c has the
 * theory. */
#ifndef DXGK_SIM_ANSWER_H
#define DXGK_SIM_ANSWER_H

struct sim_core;

/* After each switch back to a fiber. */
void sim_answer(struct sim_core *core);

#endif
