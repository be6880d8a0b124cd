/* SPDX-License-Identifier: MIT */
#include "sim/order.h"

#include "sim/core.h"

void sim_order_restart(void)
{
    struct sim_thread *thread = sim_current->thread;

    if (sim_current->races && thread && thread->task)
        thread->task = race_task_restart(sim_current->races, thread->task);
}
