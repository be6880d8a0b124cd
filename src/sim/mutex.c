/* SPDX-License-Identifier: MIT */
/* The host's sleeping lock, granted in order of arrival. */
#include "sim/mutex.h"

#include "sim/machine.h"
#include "sim/order.h"
#include "sim/thread_record.h"

void sim_mutex_init(struct sim_mutex *mutex)
{
    mutex->owner = NULL;
    sim_waitq_init(&mutex->queue);
}

/* The owner while the embedding program itself holds the lock between runs. */
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
    sim_order_acquire(mutex);
    return true;
}

void sim_mutex_lock(struct sim_mutex *mutex)
{
    /* The unlocking thread hands over ownership, so that the order is that of arrival. */
    if (!sim_mutex_try(mutex))
        sim_waitq_wait(&mutex->queue, SIM_FOREVER);
}

void sim_mutex_unlock(struct sim_mutex *mutex)
{
    struct list *node = list_pop_front(&mutex->queue.waiters);

    sim_order_release(mutex);
    if (!node) {
        mutex->owner = NULL;
        return;
    }
    mutex->owner = CONTAINER(node, struct sim_thread, wait);
    if (!sim_unblock(mutex->owner, 0))
        mutex->owner = NULL; /* the owner never runs again, since the machine is stopped */
}
