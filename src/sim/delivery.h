/* SPDX-License-Identifier: MIT */
/* Interrupts and deferred calls reach the current processor here. */
#ifndef DXGK_SIM_DELIVERY_H
#define DXGK_SIM_DELIVERY_H

struct sim_core;

/* Deliver to the current processor what its level allows. */
void sim_deliver(struct sim_core *core);

#endif
