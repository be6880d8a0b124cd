/* SPDX-License-Identifier: MIT */
#include "vidsch/change.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "vidsch/scheduler.h"

bool vidsch_change_wait(struct vidsch *vidsch, uint64_t deadline)
{
    enum sim_wake why;

    sim_assert_passive();
    vidsch->change.waiters++;
    why = sim_waitq_wait(&vidsch->change.waiting, deadline);
    vidsch->change.waiters--;
    return why != SIM_TIMED_OUT;
}
