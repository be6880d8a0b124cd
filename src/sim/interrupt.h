/* SPDX-License-Identifier: MIT */
/* Interrupts: lines and messages that a device raises, and that run a service routine on a
 * processor. */
#ifndef DXGK_SIM_INTERRUPT_H
#define DXGK_SIM_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/event.h"
#include "util/list.h"

/* An interrupt line or message. */
struct sim_interrupt {
    struct list link; /* pending on a processor */
    bool (*service)(void *context,
                    uint32_t message); /* runs at `irql` under the lock; true: claimed */
    void *context;
    uint32_t message;
    uint8_t irql;
    bool connected;
    bool pending;
    uint16_t lock_owner;      /* processor + 1 that holds the interrupt lock; 0: free */
    uint64_t delivered;       /* count */
    struct sim_event latency; /* private: from raise to pending */
};

void sim_interrupt_connect(struct sim_interrupt *interrupt, bool (*service)(void *, uint32_t),
                           void *context, uint32_t message, uint8_t irql);
/* After return the service routine is not running and will not run. PASSIVE. */
void sim_interrupt_disconnect(struct sim_interrupt *interrupt);
/* Edge: becomes pending on a processor chosen by the seed after a latency chosen by the seed. A
 * second raise while pending merges with the first. Any level, any stack. */
void sim_interrupt_raise(struct sim_interrupt *interrupt);
/* At once, on that processor: what processors send each other. */
void sim_interrupt_send(struct sim_interrupt *interrupt, unsigned processor);
/* Run fn at the interrupt's level under its lock, excluding the service routine. Level <= the
 * interrupt's. */
bool sim_interrupt_synchronize(struct sim_interrupt *interrupt, bool (*fn)(void *arg), void *arg);
bool sim_in_interrupt(void); /* a service routine is running on the current processor */

#endif
