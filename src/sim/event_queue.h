/* SPDX-License-Identifier: MIT */
/* The pending events of a machine, by time. */
#ifndef DXGK_SIM_EVENT_QUEUE_H
#define DXGK_SIM_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_core;

/* Ensure room for this many events beyond those armed: one for each thread, so that a wait with a
 * time-out cannot fail. */
bool sim_event_reserve(struct sim_core *core, uint32_t more);
void sim_fire_due(struct sim_core *core);
/* Time of the next event; SIM_FOREVER: there is none. */
uint64_t sim_next_due(const struct sim_core *core);
/* After a stop, only clients have time-outs: cancel the other events. */
void sim_events_stop(struct sim_core *core);

#endif
