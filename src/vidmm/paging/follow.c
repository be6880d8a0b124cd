/* SPDX-License-Identifier: MIT */
/*
 * Waiting for GPU work of clients without blocking the callers. Each device has a fiber that waits,
 * in order of packets, until work of the device is finished, and then runs the callbacks registered
 * for it: an evicted allocation is no longer in use, or a deferred destruction can continue. A
 * callback for earlier packets than those it waits for has it look at the list again. With no
 * callback registered the fiber sleeps. If the device is already idle, follow_device calls back
 * directly.
 */
#include "vidmm/paging/follow.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "util/list.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"

static bool finished(struct vidmm_device *device, uint64_t ticket)
{
    const struct vidmm_scheduler *scheduler = device->process->vidmm->scheduler;

    return ticket == 0 || scheduler->device_done(device, ticket);
}

void follow_device(struct vidmm_device *device, struct vidmm_follow *follow,
                   void (*fn)(struct vidmm_device *, struct vidmm_follow *))
{
    vidmm_assert_locked(device->process->vidmm);
    follow->ticket = device->process->vidmm->scheduler->device_ticket(device);
    follow->fn = fn;
    if (list_empty(&device->follows) && finished(device, follow->ticket)) {
        fn(device, follow);
        return;
    }
    list_push_back(&device->follows, &follow->link);
    sim_waitq_wake(&device->follow_work, 1);
}

static uint64_t ticket_of(const struct list *link)
{
    return CONTAINER(link, struct vidmm_follow, link)->ticket;
}

void follow_after(struct vidmm_device *device, struct vidmm_follow *follow, uint64_t ticket,
                  void (*fn)(struct vidmm_device *, struct vidmm_follow *))
{
    struct list *before = device->follows.prev;

    follow->ticket = ticket;
    follow->fn = fn;
    while (before != &device->follows && ticket_of(before) > ticket)
        before = before->prev;
    list_push_front(before, &follow->link);
    if (device->follows.next == &follow->link && follow->link.next != &device->follows)
        device->process->vidmm->scheduler->device_nudge(device); /* it waits for a later one */
    sim_waitq_wake(&device->follow_work, 1);
}

void follow_cancel(struct vidmm_follow *follow)
{
    list_remove(&follow->link);
}

/* The first callback in the list; waits for one if there is none. NULL: the fiber is to stop. Lock
 * held, dropped while waiting. */
static struct vidmm_follow *next_follow(struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;

    while (list_empty(&device->follows)) {
        if (device->follow_stop)
            return NULL;
        sim_mutex_unlock(&vidmm->lock);
        if (list_empty(&device->follows) && !device->follow_stop)
            sim_waitq_wait(&device->follow_work, SIM_FOREVER);
        sim_mutex_lock(&vidmm->lock);
    }
    return CONTAINER(device->follows.next, struct vidmm_follow, link);
}

static void follower_main(void *arg)
{
    struct vidmm_device *device = arg;
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_follow *follow;

    sim_mutex_lock(&vidmm->lock);
    while ((follow = next_follow(device)) != NULL) {
        uint64_t ticket = follow->ticket;

        if (!finished(device, ticket)) {
            NTSTATUS status;

            sim_mutex_unlock(&vidmm->lock);
            status = vidmm->scheduler->device_wait(device, ticket);
            sim_mutex_lock(&vidmm->lock);
            if (status == STATUS_RETRY)
                continue;
            /* On other failures the work will never run, so it counts as finished, too. */
        }
        while (!list_empty(&device->follows)) {
            follow = CONTAINER(device->follows.next, struct vidmm_follow, link);
            if (follow->ticket > ticket)
                break;
            list_remove(&follow->link);
            follow->fn(device, follow);
        }
    }
    device->follow_ended = true;
    sim_waitq_wake(&device->idle, UINT32_MAX);
    sim_mutex_unlock(&vidmm->lock);
}

NTSTATUS follow_start(struct vidmm_device *device)
{
    list_init(&device->follows);
    sim_waitq_init(&device->follow_work);
    device->follower = sim_thread_create("vidmm-follow", SIM_THREAD_KERNEL, follower_main, device);
    return device->follower ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

void follow_stop(struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;

    device->follow_stop = true;
    sim_waitq_wake(&device->follow_work, 1);
    sim_mutex_unlock(&vidmm->lock);
    while (!device->follow_ended && !sim_current->stopped)
        sim_waitq_wait(&device->idle, SIM_FOREVER);
    sim_mutex_lock(&vidmm->lock);
    sim_thread_release(device->follower);
}
