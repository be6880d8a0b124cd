/* SPDX-License-Identifier: MIT */
/* The host's sleeping lock: first come, first served. */
#include "sim/mutex.h"

#include "sim/machine.h"
#include "sim/thread_record.h"

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
