/* SPDX-License-Identifier: MIT */
/* Blocking with a time-out, and queues of waiting threads. */
#include "sim/wait.h"

#include "sim/core.h"
#include "sim/order.h"
#include "sim/report.h"
#include "sim/schedule.h"
#include "sim/stop.h"
#include "sim/throw.h"

static void fire_timeout(struct sim_event *event)
{
    struct sim_thread *thread = CONTAINER(event, struct sim_thread, timeout);

    if (sim_unblock(thread, 0))
        thread->timed_out = true;
}

#define WAIT_GRACE 120000000000u

/* A call into a driver has a limit of virtual time. While the driver waits, the limit is not
 * checked until a grace period has passed, so that whoever waits for the call to end can report it
 * first. Such an event cannot end a deadlock, so these events are counted apart. */
static bool arm_guard(struct sim_core *core, struct sim_thread *self, uint64_t deadline)
{
    const struct sim_machine *m = &core->public;

    if (!m->inside || m->stopped || !core->on_fault || m->deadline >= SIM_END - WAIT_GRACE ||
        m->deadline + WAIT_GRACE >= deadline)
        return false;
    self->guarded = sim_event_arm(&self->timeout, m->deadline + WAIT_GRACE);
    core->guards += self->guarded;
    return self->guarded;
}

static void drop_guard(struct sim_core *core, struct sim_thread *thread)
{
    core->guards -= thread->guarded;
    thread->guarded = false;
}

enum sim_wake sim_block(uint64_t deadline, intptr_t *result)
{
    struct sim_core *core = core_of(sim_current);
    struct sim_thread *self = sim_current->thread;

    if (sim_is_freezing())
        sim_stop(); /* nobody is left who could end the wait */
    sim_check_stopped(core);
    self->state = THREAD_BLOCKED;
    self->timed_out = false;
    self->timeout.fire = fire_timeout;
    if (!arm_guard(core, self, deadline) && deadline != SIM_FOREVER)
        sim_event_arm(&self->timeout, deadline);
    sim_leave_thread(core, false);
    if (self->timed_out) {
        if (deadline > sim_current->now) /* the guard event woke it */
            sim_raise_overdue(core);
        return SIM_TIMED_OUT;
    }
    sim_order_acquire(self);
    if (result)
        *result = self->result;
    return SIM_WOKEN;
}

bool sim_unblock(struct sim_thread *thread, intptr_t result)
{
    struct sim_core *core = core_of(sim_current);

    if (thread->state != THREAD_BLOCKED ||
        (sim_current->stopped && thread->kind == SIM_THREAD_KERNEL))
        return false;
    sim_event_cancel(&thread->timeout);
    drop_guard(core, thread);
    thread->result = result;
    sim_order_release(thread);
    list_remove(&thread->wait);
    sim_make_ready(core, thread);
    return true;
}

void sim_waitq_init(struct sim_waitq *queue)
{
    list_init(&queue->waiters);
}

enum sim_wake sim_waitq_wait(struct sim_waitq *queue, uint64_t deadline)
{
    list_push_back(&queue->waiters, &sim_current->thread->wait);
    return sim_block(deadline, NULL);
}

unsigned sim_waitq_wake(struct sim_waitq *queue, unsigned count)
{
    unsigned woken = 0;

    while (woken < count && !list_empty(&queue->waiters)) {
        struct sim_thread *thread = CONTAINER(queue->waiters.next, struct sim_thread, wait);

        list_remove(&thread->wait);
        woken += sim_unblock(thread, 0);
    }
    return woken;
}
