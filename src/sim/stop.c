/* SPDX-License-Identifier: MIT */
/* Stopping: what is in progress on the processors ends, kernel threads never run again, and clients
 * jump to their recovery marks. */
#include "sim/stop.h"

#include "sim/core.h"
#include "sim/dpc.h"
#include "sim/fault.h"
#include "sim/event_queue.h"
#include "sim/run.h"
#include "sim/schedule.h"
#include "sim/throw.h"
#include "sim/wait.h"
#include "util/list.h"
#include "verify/refusal.h"

static void drop_processor(struct sim_core *core, unsigned index)
{
    struct processor *p = &core->processor[index];
    struct processor *current = current_processor(core);

    while (list_pop_front(&p->interrupts))
        ;
    for (struct list *node = list_pop_front(&p->dpcs); node; node = list_pop_front(&p->dpcs))
        CONTAINER(node, struct sim_dpc, link)->queued = false;
    p->interrupt_depth = 0;
    p->dpc_depth = 0;
    p->irql = SIM_IRQL_PASSIVE;
    p->inside = 0;
    p->deadline = SIM_FOREVER;
    p->frame = NULL;
    p->refusal = NULL;
    if (p == current)
        return;
    if (p->thread && p->thread->kind == SIM_THREAD_KERNEL) {
        p->thread->state = THREAD_BLOCKED; /* for ever */
        p->thread = NULL;
    }
    /* An idle stack may contain an unfinished service routine: start it over. */
    fiber_prepare(&p->idle, sim_idle_loop, core);
    p->idle_running = false;
}

void sim_freeze(void)
{
    struct sim_core *core = core_of(sim_current);

    if (core->report.frozen || !core->on_fiber)
        return;
    core->report.frozen = (uint16_t)(sim_current->processor + 1);
}

bool sim_is_freezing(void)
{
    return core_of(sim_current)->report.frozen == sim_current->processor + 1;
}

void sim_stop(void)
{
    struct sim_machine *m = sim_current;
    struct sim_core *core = core_of(m);
    struct sim_thread *self = m->thread;

    if (!m->stopped) {
        m->stopped = true;
        for (unsigned i = 0; i < m->processors; i++)
            drop_processor(core, i);
        sim_events_stop(core);
        LIST_FOR(node, &core->threads) {
            struct sim_thread *thread = CONTAINER(node, struct sim_thread, all);

            if (thread->kind == SIM_THREAD_KERNEL && thread->state == THREAD_READY) {
                list_remove(&thread->link);
                core->ready_count--;
                thread->state = THREAD_BLOCKED;
            } else if (thread->kind == SIM_THREAD_CLIENT && thread->state == THREAD_BLOCKED &&
                       thread->mark) {
                sim_unblock(thread, 0);
            }
        }
    }
    core->report.frozen = 0;
    sim_fault_reported();
    if (!core->on_fiber)
        return;
    core->public.callout = NULL;
    m->irql = SIM_IRQL_PASSIVE;
    m->inside = 0;
    m->deadline = SIM_FOREVER;
    sim_set_frame(m, NULL);
    refusal_current = NULL;
    if (self && self->kind == SIM_THREAD_CLIENT) {
        sim_check_stopped(core); /* jumps to the recovery mark; returns if there is none */
        return;
    }
    if (self) {
        self->state = THREAD_BLOCKED;
        sim_leave_thread(core, false);
        __builtin_unreachable();
    }
#if SIM_ASAN
    extern void __asan_handle_no_return(void);
    __asan_handle_no_return();
#endif
    __builtin_longjmp(current_processor(core)->idle_jump, 1);
}
