/* SPDX-License-Identifier: MIT */
/* Waiting: a thread blocks until another one makes it ready or its time-out expires; and queues of
 * such threads. */
#ifndef DXGK_SIM_WAIT_H
#define DXGK_SIM_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

struct sim_thread;

enum sim_wake { SIM_WOKEN, SIM_TIMED_OUT };

/* Block the current thread until sim_unblock, or until virtual time `deadline` (absolute ns;
 * SIM_FOREVER: none). *result gets the value passed to sim_unblock. The level must be below
 * SIM_IRQL_DISPATCH, and there must be a current thread. If the machine is stopped meanwhile, a
 * client thread with a recovery mark jumps there instead of returning. */
enum sim_wake sim_block(uint64_t deadline, intptr_t *result);
/* Make a blocked thread ready; false if it was not blocked (or already woken). Any level. */
bool sim_unblock(struct sim_thread *thread, intptr_t result);

/* FIFO queue of blocked threads. */
struct sim_waitq {
    struct list waiters;
};

void sim_waitq_init(struct sim_waitq *queue);
enum sim_wake sim_waitq_wait(struct sim_waitq *queue, uint64_t deadline);
unsigned sim_waitq_wake(struct sim_waitq *queue, unsigned count); /* returns how many were woken */

#endif
