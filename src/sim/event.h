/* SPDX-License-Identifier: MIT */
/* Events: callbacks at a virtual time. Timers, device work and time-outs of waits use them. */
#ifndef DXGK_SIM_EVENT_H
#define DXGK_SIM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One-shot event at a virtual time. The callback runs on whatever stack is current, at any level;
 * it must not block. */
struct sim_event {
    uint64_t due;
    uint32_t slot; /* index in the heap + 1; 0: not pending */
    /* private: the time-out of a thread's wait, for which the heap has a reserved place */
    bool reserved;
    void (*fire)(struct sim_event *event);
    /* whose it is, for reports: "timer 3 of device model refgpu"; NULL: the host's */
    void (*describe)(const struct sim_event *event, char *text, size_t bytes);
};

/* (Re)arm for absolute time `due`; one at or after the end of time (SIM_END) is never, and is not
 * armed. False when out of memory. */
bool sim_event_arm(struct sim_event *event, uint64_t due);
void sim_event_cancel(struct sim_event *event);
static inline bool sim_event_pending(const struct sim_event *event)
{
    return event->slot != 0;
}

#endif
