/* SPDX-License-Identifier: MIT */
/* A fiber that was switched to only to report its stack does so on its way out of the switch;
 * stack.c has the theory. */
#ifndef DXGK_SIM_ANSWER_H
#define DXGK_SIM_ANSWER_H

struct sim_core;

/* Called after each switch back to a fiber. */
void sim_answer(struct sim_core *core);

#endif
