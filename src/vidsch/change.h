/* SPDX-License-Identifier: MIT */
/*
 * "Something changed": one wait queue for all threads that wait for a state of the adapter that has
 * no wait queue of its own, such as a node that becomes empty, a worker that leaves the driver, or
 * a reset that ends. Every such change is announced here, and each waiter checks its condition
 * again.
 */
#ifndef DXGK_VIDSCH_CHANGE_H
#define DXGK_VIDSCH_CHANGE_H

#include "sim/sim_assert.h"
#include "sim/wait.h"

struct vidsch;

struct vidsch_change {
    struct sim_waitq waiting;
    uint32_t waiters; /* makes announcing free while there are none */
};

/* Any level up to DISPATCH_LEVEL. */
static inline void vidsch_change_announce(struct vidsch_change *change)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (change->waiters)
        sim_waitq_wake(&change->waiting, UINT32_MAX);
}
/* Block until the next announcement (yields). False: the deadline came first. */
bool vidsch_change_wait(struct vidsch *vidsch, uint64_t deadline);

#endif
