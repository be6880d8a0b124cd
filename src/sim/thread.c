/* SPDX-License-Identifier: MIT */
/* Threads: fibers with a state, from their creation to the release of their records. */
#include "sim/thread.h"

#include <stdio.h>

#include "sim/core.h"
#include "sim/event_queue.h"
#include "sim/order.h"
#include "sim/schedule.h"
#include "util/alloc.h"

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
    if (!fiber_init(&thread->fiber,
                    kind == SIM_THREAD_CLIENT ? core->client_stack_bytes : core->stack_bytes)) {
        core->reserved--;
        util_free(thread);
        return NULL;
    }
    thread->head.records = thread->fiber.first_record;
    thread->kind = kind;
    thread->id = ++core->next_thread_id;
    thread->references = 2; /* one for the creator, one for the thread itself while it lives */
    thread->entry = entry;
    thread->arg = arg;
    thread->deadline = SIM_FOREVER;
    thread->timeout.reserved = true;
    sim_order_forget(thread);
    if (sim_current->races)
        thread->task = race_task_create(sim_current->races, name);
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

void sim_reap(struct sim_core *core)
{
    LIST_FOR_SAFE(node, next, &core->ended) {
        struct sim_thread *thread = CONTAINER(node, struct sim_thread, link);

        if (thread == core->public.thread || thread->abandoned)
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
    race_task_end(sim_current->races, thread->task);
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

struct sim_thread_head *sim_idle_head(unsigned processor)
{
    return &core_of(sim_current)->processor[processor].head;
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
