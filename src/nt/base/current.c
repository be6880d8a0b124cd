/* SPDX-License-Identifier: MIT */
/* The current thread and process. */
#include "nt/base/current.h"
#include "nt/base/state.h"
#include "sim/machine.h"
#include "sim/switch.h"
#include "sim/thread.h"
#include "util/list.h"

static bool init(struct nt *nt)
{
    list_init(&nt->threads->all);
    return true;
}

const struct nt_component nt_current_component = {
    .slot = offsetof(struct nt, threads),
    .bytes = sizeof(struct nt_threads),
    .init = init,
};

static struct _KTHREAD *idle(void)
{
    return nt_state()->threads->idle[sim_current->processor];
}

struct _KTHREAD *nt_thread_found(struct sim_thread *sim)
{
    struct _KTHREAD *thread;

    if (!sim)
        return idle();
    thread = nt_state()->threads->adopt(sim);
    if (sim == sim_current->thread)
        sim_notify_switch();
    return thread ? thread : idle();
}

void *nt_kthread(void)
{
    struct sim_thread *sim = sim_current->thread;
    struct _KTHREAD *thread = sim ? *sim_thread_local(sim) : NULL;

    return thread ? thread : idle();
}

void *nt_idle_kthread(unsigned processor)
{
    return nt_state()->threads->idle[processor];
}

struct nt_process *nt_process_system(void)
{
    return nt_state()->system;
}

struct nt_process *nt_process_current(void)
{
    struct nt_process *process = sim_current->head->process;

    return process ? process : nt_process_system();
}
