/* SPDX-License-Identifier: MIT */
/* Interrupts: lines and messages that a device raises, whose service routine (ISR) then runs on a
 * processor. */
#ifndef DXGK_SIM_INTERRUPT_H
#define DXGK_SIM_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/event.h"
#include "util/list.h"

/* An interrupt line or message. */
struct sim_interrupt {
    struct list link; /* in the list of a processor on which it is pending */
    bool (*service)(void *context,
                    uint32_t message); /* runs at `irql` under the lock; true: claimed */
    void *context;
    uint32_t message;
    uint8_t irql;
    bool connected;
    bool pending;
    uint16_t lock_owner; /* processor + 1 of the holder of the interrupt lock; 0: free */
    uint64_t delivered;  /* how often it was delivered */
    const char *owner;   /* the device model; kept by sim_interrupt_connect. NULL: the host */
    struct {             /* private: deliveries since a time, or the last submission */
        uint64_t since, submissions;
        uint32_t count, claimed;
    } storm;
    struct sim_event latency; /* private: from raise to pending */
};

void sim_interrupt_connect(struct sim_interrupt *interrupt, bool (*service)(void *, uint32_t),
                           void *context, uint32_t message, uint8_t irql);
/* After this returns, the service routine is not running and will not run again. PASSIVE. */
void sim_interrupt_disconnect(struct sim_interrupt *interrupt);
/* Edge-triggered: becomes pending on a processor and after a latency that the seed chooses. A
 * second raise while it is pending merges with the first. Any level, any stack. */
void sim_interrupt_raise(struct sim_interrupt *interrupt);
/* Becomes pending on that processor without latency: for interprocessor interrupts. */
void sim_interrupt_send(struct sim_interrupt *interrupt, unsigned processor);
/* Run fn at the interrupt's level and under its lock, which excludes the service routine. The
 * caller's level must not be above the interrupt's. */
bool sim_interrupt_synchronize(struct sim_interrupt *interrupt, bool (*fn)(void *arg), void *arg);
bool sim_in_interrupt(void); /* a service routine is running on the current processor */

#endif
