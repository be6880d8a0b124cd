/* SPDX-License-Identifier: MIT */
/*
 * Which calls may be inside the driver of one adapter at the same time (THREAD-012 to THREAD-037).
 *
 *   level 0, 1   any number, counted in `inside`; one thread per user process; one thread per class
 *                of level 1
 *   level 2, 3   no other thread: the thread is `alone`, and `inside` counts only calls in progress
 *                on its own stack
 *
 * Locks are taken in one order: the process, then the right to be inside, then the class. So the
 * holder of a class lock is already inside and waits for no other lock; and a thread that is alone
 * finds every class free.
 *
 * A thread that waits to be alone (a seeker) holds back user threads that arrive later, so that it
 * is not starved. It does not hold back threads of the system process: a call inside may be waiting
 * for them (CreateContext for paging), and the seeker waits for that call. Nested calls of a thread
 * that is already inside enter for the same reason.
 */
#include "ddi/exclusion.h"
#include "ddi/ddi.h"
#include "ddi/door.h"
#include "ddi/entry.h"
#include "ddi/handle.h"
#include "ddi/state.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"

#include <stdio.h>
#include <string.h>

#define ALONE_LIMIT 60000000000u /* THREAD-037 */

struct seeker {
    struct list link;
    struct sim_thread *thread;
    uint32_t own; /* how many calls inside are on its own stack */
};

NTSTATUS ddi_adapter_init(struct ddi_adapter *adapter, const DRIVER_INITIALIZATION_DATA *table,
                          struct nt_image *image, const char *driver_name)
{
    memset(adapter, 0, sizeof(*adapter));
    adapter->locks = util_zalloc(1, sizeof(*adapter->locks));
    if (!adapter->locks)
        return STATUS_NO_MEMORY;
    for (unsigned i = 0; i < DDI_CLASSES; i++)
        sim_mutex_init(&adapter->locks->class_lock[i]);
    list_init(&adapter->locks->calls);
    list_init(&adapter->locks->seekers);
    sim_waitq_init(&adapter->locks->waiting);
    adapter->table = *table;
    adapter->image = image;
    snprintf(adapter->driver_name, sizeof(adapter->driver_name), "%s", driver_name);
    ddi_handles_init(&adapter->handles);
    return STATUS_SUCCESS;
}

void ddi_adapter_finish(struct ddi_adapter *adapter)
{
    struct ddi_state *state = sim_current ? ddi_state() : NULL;

    if (state && state->left == adapter)
        state->left = NULL;
    ddi_handles_finish(&adapter->handles);
    util_free(adapter->locks);
    adapter->locks = NULL;
}

/* ---- alone ---- */

/* Number of calls of this adapter in progress on the current stack that count in locks->inside. */
static uint32_t own_calls(const struct ddi_adapter *adapter)
{
    uint32_t own = 0;

    for (const struct ddi_frame *frame = ddi_current_frame(); frame; frame = frame->outer)
        own += frame->adapter == adapter && frame->counted;
    return own;
}

static bool is_alone(const struct ddi_locks *locks)
{
    return locks->alone && locks->alone == sim_current->thread;
}

bool ddi_is_alone(const struct ddi_adapter *adapter)
{
    return is_alone(adapter->locks);
}

/* Make the first seeker the one that is alone, if its turn has come. */
static void consider_seekers(struct ddi_locks *locks)
{
    struct seeker *first;

    if (locks->alone || list_empty(&locks->seekers))
        return;
    first = CONTAINER(locks->seekers.next, struct seeker, link);
    if (locks->inside > first->own)
        return;
    list_remove(&first->link);
    locks->alone = first->thread;
    locks->alone_depth = 1;
    sim_unblock(first->thread, 0);
}

static bool become_alone(struct ddi_adapter *adapter, uint64_t limit)
{
    struct ddi_locks *locks = adapter->locks;
    struct seeker seeker = {.thread = sim_current->thread, .own = own_calls(adapter)};

    if (is_alone(locks)) {
        locks->alone_depth++;
        return true;
    }
    if (!locks->alone && list_empty(&locks->seekers) && locks->inside <= seeker.own) {
        locks->alone = seeker.thread;
        locks->alone_depth = 1;
        return true;
    }
    list_push_back(&locks->seekers, &seeker.link);
    sim_block(limit == SIM_FOREVER ? SIM_FOREVER : sim_now() + limit, NULL);
    if (is_alone(locks)) /* whoever made this thread alone has removed its seeker from the list */
        return true;
    list_remove(&seeker.link);
    sim_waitq_wake(&locks->waiting, UINT32_MAX); /* wake the threads that the seeker held back */
    return false;
}

static void end_alone(struct ddi_locks *locks)
{
    if (--locks->alone_depth > 0)
        return;
    locks->alone = NULL;
    consider_seekers(locks);
    sim_waitq_wake(&locks->waiting, UINT32_MAX);
}

NTSTATUS ddi_exclude_others(struct ddi_adapter *adapter, uint64_t limit)
{
    return become_alone(adapter, limit) ? STATUS_SUCCESS : STATUS_IO_TIMEOUT;
}

void ddi_admit_others(struct ddi_adapter *adapter)
{
    end_alone(adapter->locks);
}

/* ---- inside ---- */

/* Whether the thread that is alone is inside a DDI during which this level may run. */
static bool admitted(const struct ddi_locks *locks, enum ddi_level level)
{
    LIST_FOR(node, &locks->calls) {
        enum ddi_entry entry = CONTAINER(node, struct ddi_record, link)->frame.entry;
        unsigned flags = ddi_entry_info(entry)->flags;

        if ((level == LEVEL_QUERY && flags & DDI_BESIDE_QUERY) ||
            (level == LEVEL_POWER && flags & DDI_BESIDE_POWER))
            return true;
    }
    return false;
}

static bool must_wait(const struct ddi_adapter *adapter, enum ddi_level level)
{
    const struct ddi_locks *locks = adapter->locks;

    if (locks->alone)
        return !is_alone(locks) && !admitted(locks, level);
    return !list_empty(&locks->seekers) && nt_process_current() != nt_process_system() &&
           own_calls(adapter) == 0;
}

static void join(struct ddi_adapter *adapter, enum ddi_level level)
{
    while (must_wait(adapter, level) && !sim_current->stopped)
        sim_waitq_wait(&adapter->locks->waiting, SIM_FOREVER);
    adapter->locks->inside++;
}

/* Whether another thread is in a call about the same child. */
static bool child_is_busy(const struct ddi_record *call)
{
    LIST_FOR(node, &call->frame.adapter->locks->calls) {
        const struct ddi_record *other = CONTAINER(node, struct ddi_record, link);

        if (other->level == LEVEL_CHILD && other->child == call->child)
            return true;
    }
    return false;
}

/* THREAD-016: no two threads of one user process are inside at levels 0 and 1. A thread that is
 * alone in the driver needs no lock for that. */
static void lock_process(struct ddi_frame *frame, const struct ddi_locks *locks)
{
    struct nt_process *process = nt_process_current();

    if (process == nt_process_system() || process->driver_entry.owner == sim_current->thread ||
        is_alone(locks))
        return;
    sim_mutex_lock(&process->driver_entry);
    frame->process = process;
}

void ddi_report_inside(const struct ddi_adapter *adapter, const char *name)
{
    char list[128] = "";
    size_t length = 0;

    LIST_FOR(node, &adapter->locks->calls) {
        const struct ddi_record *call = CONTAINER(node, struct ddi_record, link);

        if (length < sizeof(list))
            length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
                                       length ? ", " : "", call->frame.name);
    }
    if (length || adapter->locks->alone)
        VIOLATION("THREAD-037", "%s waited 60 s for the driver to be left by %s", name,
                  length ? list : "an exclusion of the host");
    else
        VIOLATION("THREAD-037", "%s waited 60 s for the GPU to finish its work", name);
}

NTSTATUS ddi_lock(struct ddi_record *call)
{
    struct ddi_adapter *adapter = call->frame.adapter;
    struct ddi_locks *locks = adapter->locks;

    if (call->level == LEVEL_ALONE) {
        if (!become_alone(adapter, ALONE_LIMIT)) {
            if (sim_current->stopped)
                return STATUS_DEVICE_REMOVED;
            ddi_report_inside(adapter, call->frame.name);
            return STATUS_IO_TIMEOUT;
        }
        call->frame.alone = true;
    } else {
        if (call->level != LEVEL_POWER) /* THREAD-017 */
            lock_process(&call->frame, locks);
        join(adapter, call->level);
        call->frame.counted = true;
        while (call->level == LEVEL_CHILD && child_is_busy(call) && !sim_current->stopped)
            sim_waitq_wait(&locks->waiting, SIM_FOREVER);
        if (call->level >= LEVEL_SCHEDULER && call->level <= LEVEL_POINTER) {
            struct sim_mutex *mutex = &locks->class_lock[call->level - LEVEL_SCHEDULER];

            if (mutex->owner != sim_current->thread) {
                sim_mutex_lock(mutex);
                call->class_lock = mutex;
            }
        }
    }
    list_push_back(&locks->calls, &call->link);
    return STATUS_SUCCESS;
}

void ddi_unlock(struct ddi_record *call)
{
    struct ddi_locks *locks = call->frame.adapter->locks;

    list_remove(&call->link);
    if (call->level == LEVEL_CHILD)
        sim_waitq_wake(&locks->waiting, UINT32_MAX);
    if (call->class_lock)
        sim_mutex_unlock(call->class_lock);
    if (call->frame.alone)
        end_alone(locks);
    if (call->frame.counted) {
        locks->inside--;
        consider_seekers(locks);
    }
    if (call->frame.process)
        sim_mutex_unlock(&call->frame.process->driver_entry);
}
