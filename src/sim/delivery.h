/* SPDX-License-Identifier: MIT */
/* Interrupts and deferred calls reach the current processor here. */
#ifndef DXGK_SIM_DELIVERY_H
#define DXGK_SIM_DELIVERY_H

struct sim_core;

/* Serve what the current level lets through on the current processor. */
void sim_deliver(struct sim_core *core);

#endif
