/* SPDX-License-Identifier: MIT */
/* Events: something that happens at a virtual time. Timers, work of devices and limits of waits are
 * made of them. */
#ifndef DXGK_SIM_EVENT_H
#define DXGK_SIM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* One-shot event at a virtual time. The callback runs on whatever stack is current, at any level;
 * it must not block. */
struct sim_event {
    uint64_t due;
    uint64_t order;
    uint32_t slot; /* index in the heap + 1; 0: not pending */
    bool reserved; /* private: the limit of a thread's wait, whose place in the heap is reserved */
    void (*fire)(struct sim_event *event);
};

/* (Re)arm for absolute time `due`. False when out of memory. */
bool sim_event_arm(struct sim_event *event, uint64_t due);
void sim_event_cancel(struct sim_event *event);
static inline bool sim_event_pending(const struct sim_event *event)
{
    return event->slot != 0;
}

#endif
