/* SPDX-License-Identifier: MIT */
/* The sleeping lock with which the host guards its own state. */
#ifndef DXGK_SIM_MUTEX_H
#define DXGK_SIM_MUTEX_H

#include <stdbool.h>

#include "sim/wait.h"

/* Sleeping lock of the host, not of a driver. FIFO, not recursive. PASSIVE or APC. */
struct sim_mutex {
    struct sim_thread *owner;
    struct sim_waitq queue;
};

void sim_mutex_init(struct sim_mutex *mutex);
void sim_mutex_lock(struct sim_mutex *mutex);
bool sim_mutex_try(struct sim_mutex *mutex);
void sim_mutex_unlock(struct sim_mutex *mutex);

#endif
