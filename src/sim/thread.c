/* SPDX-License-Identifier: MIT */
/* Threads: fibers with a state, the ready queue, blocking, wait queues and the host's sleeping lock. */
#include <stdio.h>
#include <string.h>

#include "sim/sim_private.h"

#define READY_CHOICE 4u /* the seed picks among this many threads at the head of the ready queue */

static void thread_main(void *arg)
{
    struct sim_thread *thread = arg;

    thread->started = true;
    thread->entry(thread->arg);
    sim_thread_exit();
}

struct sim_thread *sim_thread_create(const char *name, enum sim_thread_kind kind, sim_entry entry,
                                     void *arg)
{
    struct sim_core *core = core_of(sim_current);
    struct sim_thread *thread = util_zalloc(1, sizeof(*thread));

    if (!thread)
        return NULL;
    sim_reap(core);
    if (!sim_event_reserve(core, 1)) {
        util_free(thread);
        return NULL;
    }
    if (!fiber_init(&thread->fiber, core->stack_bytes)) {
        core->reserved--;
        util_free(thread);
        return NULL;
    }
    thread->kind = kind;
    thread->id = ++core->next_thread_id;
    thread->references = 2; /* the creator's and its own while it lives */
    thread->entry = entry;
    thread->arg = arg;
    thread->deadline = SIM_FOREVER;
    thread->timeout.fire = sim_thread_fire_timeout;
    snprintf(thread->name, sizeof(thread->name), "%s", name);
    list_init(&thread->wait);
    list_init(&thread->link);
    list_push_back(&core->threads, &thread->all);
    fiber_prepare(&thread->fiber, thread_main, thread);
    if (kind == SIM_THREAD_CLIENT)
        core->clients++;
    sim_make_ready(core, thread);
    return thread;
}

static void drop(struct sim_thread *thread)
{
    if (--thread->references == 0)
        util_free(thread);
}

/* Free the stacks of threads that ended; not on such a stack. */
void sim_reap(struct sim_core *core)
{
    LIST_FOR_SAFE(node, next, &core->ended) {
        struct sim_thread *thread = CONTAINER(node, struct sim_thread, link);

        if (thread == core->public.thread)
            continue;
        list_remove(&thread->link);
        list_remove(&thread->all);
        fiber_finish(&thread->fiber);
        core->reserved--;
        drop(thread);
    }
}

_Noreturn void sim_thread_exit(void)
{
    struct sim_core *core = core_of(sim_current);
    struct sim_thread *thread = sim_current->thread;

    if (thread->on_exit)
        thread->on_exit(thread->on_exit_arg);
    thread->state = THREAD_ENDED;
    sim_event_cancel(&thread->timeout);
    if (thread->kind == SIM_THREAD_CLIENT)
        core->clients--;
    list_push_back(&core->ended, &thread->link);
    sim_leave_thread(core, true);
    __builtin_unreachable();
}

void sim_thread_retain(struct sim_thread *thread)
{
    thread->references++;
}

void sim_thread_release(struct sim_thread *thread)
{
    if (thread)
        drop(thread);
}

bool sim_thread_ended(const struct sim_thread *thread)
{
    return thread->state == THREAD_ENDED;
}

uint32_t sim_thread_id(const struct sim_thread *thread)
{
    return thread->id;
}

const char *sim_thread_name(const struct sim_thread *thread)
{
    return thread->name;
}

enum sim_thread_kind sim_thread_kind(const struct sim_thread *thread)
{
    return thread->kind;
}

void **sim_thread_local(struct sim_thread *thread)
{
    return &thread->local;
}

void **sim_thread_process(struct sim_thread *thread)
{
    return &thread->process;
}

struct sim_thread *sim_thread_after(const struct sim_thread *thread)
{
    struct sim_core *core = core_of(sim_current);
    struct list *node = thread ? thread->all.next : core->threads.next;

    return node == &core->threads ? NULL : CONTAINER(node, struct sim_thread, all);
}

bool sim_thread_blocked(const struct sim_thread *thread)
{
    return thread->state == THREAD_BLOCKED;
}

void sim_thread_on_exit(struct sim_thread *thread, void (*fn)(void *arg), void *arg)
{
    thread->on_exit = fn;
    thread->on_exit_arg = arg;
}

void sim_stack_bounds(uintptr_t *low, uintptr_t *high)
{
    struct sim_core *core = core_of(sim_current);
    const struct fiber *fiber = sim_current->thread ? &sim_current->thread->fiber
                                                    : &current_processor(core)->idle;

    *low = (uintptr_t)fiber->stack;
    *high = *low + fiber->stack_bytes;
}

/* ---- ready queue ---- */

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

/* A thread that finds itself in a stopped machine: a client goes to its outermost mark. */
void sim_check_stopped(struct sim_core *core)
{
    struct sim_machine *m = &core->public;
    struct sim_mark *mark;

    if (!m->stopped || !m->thread || !m->thread->mark)
        return;
    mark = m->thread->mark;
    while (mark->outer)
        mark = mark->outer;
    m->thread->mark = NULL;
    m->irql = mark->irql;
    m->inside = 0;
    m->deadline = SIM_FOREVER;
    m->frame = NULL;
#if SIM_ASAN
    extern void __asan_handle_no_return(void);
    __asan_handle_no_return();
#endif
    __builtin_longjmp(mark->jump, 1);
}

void sim_leave_thread(struct sim_core *core, bool ending)
{
    struct sim_machine *m = &core->public;
    struct processor *p = current_processor(core);
    struct sim_thread *self = m->thread;
    struct sim_thread *next = ending ? NULL : sim_take_ready(core);

    self->irql = m->irql;
    self->inside = m->inside;
    self->deadline = m->deadline;
    self->frame = m->frame;
    if (next == self) {
        self->state = THREAD_RUNNING;
        return;
    }
    p->thread = next;
    m->thread = next;
    if (next) {
        next->state = THREAD_RUNNING;
        m->irql = next->irql;
        m->inside = next->inside;
        m->deadline = next->deadline;
        m->frame = next->frame;
        m->points++;
        sim_switched(core);
        sim_refuel(core); /* a thread that starts does not do it by itself */
        fiber_switch(&self->fiber, &next->fiber, false);
    } else {
        m->irql = SIM_IRQL_PASSIVE;
        m->inside = 0;
        m->deadline = SIM_FOREVER;
        m->frame = NULL;
        sim_switched(core);
        fiber_switch(&self->fiber, &p->idle, ending);
    }
    sim_answer(core);
    /* Running again, perhaps on another processor: who resumed us has set machine state. */
    sim_refuel(core);
    sim_check_stopped(core);
}

bool sim_processor_has_work(const struct sim_core *core, unsigned index)
{
    const struct processor *p = &core->processor[index];

    return p->thread || !list_empty(&p->interrupts) || !list_empty(&p->dpcs) ||
           p->interrupt_depth || p->dpc_depth || core->ready_count;
}

/* Let another processor go on with what it was doing; returns when someone lets this one go on. */
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
    m->processor = (uint16_t)to;
    m->irql = target->irql;
    m->thread = target->thread;
    m->inside = target->inside;
    m->deadline = target->deadline;
    m->frame = target->frame;
    m->points++;
    sim_switched(core);
    fiber_switch(mine, target->thread ? &target->thread->fiber : &target->idle, false);
    sim_answer(core);
}

/* ---- blocking ---- */

void sim_thread_fire_timeout(struct sim_event *event)
{
    struct sim_thread *thread = CONTAINER(event, struct sim_thread, timeout);

    if (sim_unblock(thread, 0))
        thread->timed_out = true;
}

#define WAIT_GRACE 120000000000u

/* A call into a driver has a limit of virtual time. While the driver waits the limit is not looked at, so that the wait ends some
 * time after it; whoever waits for the call to end has had time to say so. That this moment will come is nothing that could
 * end a deadlock: such events are counted apart. */
static bool arm_guard(struct sim_core *core, struct sim_thread *self, uint64_t deadline)
{
    const struct sim_machine *m = &core->public;

    if (!m->inside || m->stopped || !core->on_fault || m->deadline > SIM_FOREVER - WAIT_GRACE ||
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

    sim_check_stopped(core);
    self->state = THREAD_BLOCKED;
    self->timed_out = false;
    if (!arm_guard(core, self, deadline) && deadline != SIM_FOREVER)
        sim_event_arm(&self->timeout, deadline);
    sim_leave_thread(core, false);
    if (self->timed_out) {
        if (deadline > sim_current->now) /* it was the guard */
            sim_raise_overdue(core);
        return SIM_TIMED_OUT;
    }
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

void sim_mutex_init(struct sim_mutex *mutex)
{
    mutex->owner = NULL;
    sim_waitq_init(&mutex->queue);
}

/* Owner while the embedding program itself, between runs, holds a lock. */
static struct sim_thread *const host_owner = (struct sim_thread *)1;

static struct sim_thread *self_or_host(void)
{
    return sim_current->thread ? sim_current->thread : host_owner;
}

bool sim_mutex_try(struct sim_mutex *mutex)
{
    if (mutex->owner)
        return false;
    mutex->owner = self_or_host();
    return true;
}

void sim_mutex_lock(struct sim_mutex *mutex)
{
    /* Ownership is handed over at unlock, so that the order is that of arrival. */
    if (!sim_mutex_try(mutex))
        sim_waitq_wait(&mutex->queue, SIM_FOREVER);
}

void sim_mutex_unlock(struct sim_mutex *mutex)
{
    struct list *node = list_pop_front(&mutex->queue.waiters);

    if (!node) {
        mutex->owner = NULL;
        return;
    }
    mutex->owner = CONTAINER(node, struct sim_thread, wait);
    if (!sim_unblock(mutex->owner, 0))
        mutex->owner = NULL; /* a thread that never runs again, in a stopped machine */
}
