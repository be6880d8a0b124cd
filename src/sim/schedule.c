/* SPDX-License-Identifier: MIT */
/* The ready queue, and the switches between threads and processors. */
#include "sim/schedule.h"

#include "sim/answer.h"
#include "sim/core.h"
#include "sim/slice.h"
#include "sim/throw.h"
#include "util/rng.h"
#include "verify/refusal.h"

#define READY_CHOICE 4u /* the seed picks among this many threads at the head of the ready queue */

void sim_make_ready(struct sim_core *core, struct sim_thread *thread)
{
    thread->state = THREAD_READY;
    list_push_back(&core->ready, &thread->link);
    core->ready_count++;
}

struct sim_thread *sim_take_ready(struct sim_core *core)
{
    struct list *node = core->ready.next;

    if (core->ready_count == 0)
        return NULL;
    if (core->ready_count > 1) {
        uint32_t choice = core->ready_count < READY_CHOICE ? core->ready_count : READY_CHOICE;

        for (uint32_t skip = rng_below(&core->public.rng, choice); skip; skip--)
            node = node->next;
    }
    list_remove(node);
    core->ready_count--;
    return CONTAINER(node, struct sim_thread, link);
}

void sim_leave_thread(struct sim_core *core, bool ending)
{
    struct sim_machine *m = &core->public;
    struct processor *p = current_processor(core);
    struct sim_thread *self = m->thread;
    struct sim_thread *next = ending || core->report.frozen ? NULL : sim_take_ready(core);

    self->irql = m->irql;
    self->inside = m->inside;
    self->deadline = m->deadline;
    self->frame = m->frame;
    self->refusal = refusal_current;
    if (next == self) {
        self->state = THREAD_RUNNING;
        return;
    }
    p->thread = next;
    sim_set_thread(core, next);
    if (next) {
        next->state = THREAD_RUNNING;
        m->irql = next->irql;
        m->inside = next->inside;
        m->deadline = next->deadline;
        sim_set_frame(m, next->frame);
        refusal_current = next->refusal;
        m->points++;
        sim_switched(core);
        sim_refuel(core); /* a new thread does not refuel by itself */
        fiber_switch(&self->fiber, &next->fiber, false);
    } else {
        m->irql = SIM_IRQL_PASSIVE;
        m->inside = 0;
        m->deadline = SIM_FOREVER;
        sim_set_frame(m, NULL);
        refusal_current = NULL;
        sim_switched(core);
        fiber_switch(&self->fiber, &p->idle, ending);
    }
    sim_answer(core);
    /* This thread runs again, perhaps on another processor; whoever resumed it has set the machine
     * state. */
    sim_refuel(core);
    sim_check_stopped(core);
}

bool sim_processor_has_work(const struct sim_core *core, unsigned index)
{
    const struct processor *p = &core->processor[index];

    return p->thread || !list_empty(&p->interrupts) || !list_empty(&p->dpcs) ||
           p->interrupt_depth || p->dpc_depth || core->ready_count;
}

/* Let another processor continue; returns when some processor switches back to this one. */
void sim_switch_processor(struct sim_core *core, unsigned to)
{
    struct sim_machine *m = &core->public;
    struct processor *from = current_processor(core);
    struct processor *target = &core->processor[to];
    struct fiber *mine = from->thread ? &from->thread->fiber : &from->idle;

    from->irql = m->irql;
    from->inside = m->inside;
    from->deadline = m->deadline;
    from->frame = m->frame;
    from->refusal = refusal_current;
    if (m->races)
        from->task = race_switch(m->races, NULL);
    m->processor = (uint16_t)to;
    m->irql = target->irql;
    sim_set_thread(core, target->thread);
    if (m->races)
        (void)race_switch(m->races, target->task);
    m->inside = target->inside;
    m->deadline = target->deadline;
    sim_set_frame(m, target->frame);
    refusal_current = target->refusal;
    m->points++;
    sim_switched(core);
    fiber_switch(mine, target->thread ? &target->thread->fiber : &target->idle, false);
    sim_answer(core);
}
