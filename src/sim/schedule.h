/* SPDX-License-Identifier: MIT */
/* The ready queue, and how the host thread switches between threads and processors. */
#ifndef DXGK_SIM_SCHEDULE_H
#define DXGK_SIM_SCHEDULE_H

#include <stdbool.h>

struct sim_core;
struct sim_thread;

void sim_make_ready(struct sim_core *core, struct sim_thread *thread);
/* Takes one of the first threads of the queue, chosen by the seed; NULL: no thread is ready. */
struct sim_thread *sim_take_ready(struct sim_core *core);
/* Leave the current thread (blocked, ready again or ended), and continue with another one. */
void sim_leave_thread(struct sim_core *core, bool ending);
void sim_switch_processor(struct sim_core *core, unsigned to);
bool sim_processor_has_work(const struct sim_core *core, unsigned index);

#endif
