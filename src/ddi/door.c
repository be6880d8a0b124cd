/* SPDX-License-Identifier: MIT */
/*
 * Entering and leaving the driver: who may be inside with whom, at which level, and what is checked on the way out.
 *
 * Levels zero and one count as `inside`; levels two and three wait until nobody is inside and hold everybody else off.
 * Calls that come from below a call already in the driver (a callback that leads to another DDI on the same stack), and
 * calls of the host's own threads, never wait for somebody who merely waits to be alone: that would be a deadlock, since the
 * call inside may depend on them.
 */
#include <string.h>

#include "ddi/ddi_private.h"
#include "sim/sim.h"

NTSTATUS ddi_adapter_init(struct ddi_adapter *adapter, const DRIVER_INITIALIZATION_DATA *table, struct nt_image *image,
                          const char *driver_name)
{
    memset(adapter, 0, sizeof(*adapter));
    adapter->locks = util_zalloc(1, sizeof(*adapter->locks));
    if (!adapter->locks)
        return STATUS_NO_MEMORY;
    for (unsigned i = 0; i < DDI_CLASSES; i++)
        sim_mutex_init(&adapter->locks->class_lock[i]);
    sim_waitq_init(&adapter->locks->waiting);
    adapter->table = *table;
    adapter->image = image;
    strncpy(adapter->driver_name, driver_name, sizeof(adapter->driver_name) - 1);
    handle_table_init(&adapter->handles);
    return STATUS_SUCCESS;
}

void ddi_adapter_finish(struct ddi_adapter *adapter)
{
    handle_table_finish(&adapter->handles);
    util_free(adapter->locks);
    adapter->locks = NULL;
}

/* ---- who is inside ---- */

static void wait_turn(struct ddi_locks *locks)
{
    sim_waitq_wait(&locks->waiting, SIM_FOREVER);
}

static void wake_all(struct ddi_locks *locks)
{
    sim_waitq_wake(&locks->waiting, UINT32_MAX);
}

static void join(struct ddi_locks *locks, bool nested)
{
    while (!nested && locks->alone && locks->alone != sim_current->thread)
        wait_turn(locks);
    locks->inside++;
}

static void part(struct ddi_locks *locks)
{
    if (--locks->inside == 0)
        wake_all(locks);
}

static bool become_alone(struct ddi_locks *locks, uint64_t limit, uint32_t own)
{
    uint64_t deadline = limit == SIM_FOREVER ? SIM_FOREVER : sim_now() + limit;

    if (locks->alone == sim_current->thread && locks->alone) {
        locks->alone_depth++;
        return true;
    }
    while (locks->alone || locks->inside > own) {
        if (sim_waitq_wait(&locks->waiting, deadline) == SIM_TIMED_OUT)
            return false;
    }
    locks->alone = sim_current->thread;
    locks->alone_depth = 1;
    return true;
}

static void end_alone(struct ddi_locks *locks)
{
    if (--locks->alone_depth == 0) {
        locks->alone = NULL;
        wake_all(locks);
    }
}

NTSTATUS ddi_exclude_others(struct ddi_adapter *adapter, uint64_t limit)
{
    return become_alone(adapter->locks, limit, 0) ? STATUS_SUCCESS : STATUS_TIMEOUT;
}

void ddi_admit_others(struct ddi_adapter *adapter)
{
    end_alone(adapter->locks);
}

/* Calls into the driver that this very stack is inside of, and that count in locks->inside. */
static uint32_t own_calls(const struct ddi_adapter *adapter)
{
    uint32_t own = 0;

    for (struct ddi_frame *frame = ddi_current_frame(); frame; frame = frame->outer)
        own += frame->adapter == adapter && !frame->caller;
    return own;
}

/* ---- the door ---- */

static bool can_wait(void)
{
    return sim_current->thread && sim_irql() < SIM_IRQL_DISPATCH;
}

/* THREAD-016: no two threads of one user process inside through levels zero and one. */
static void enter_process(struct ddi_frame *frame)
{
    struct nt_process *process = nt_process_current();

    frame->process = NULL;
    if (process == nt_process_system() || process->driver_entry.owner == sim_current->thread)
        return;
    sim_mutex_lock(&process->driver_entry);
    frame->process = process;
}

NTSTATUS ddi_enter(struct ddi_call *call, struct ddi_adapter *adapter, const char *name, enum ddi_level level,
                   uint8_t irql, uint64_t limit)
{
    struct sim_machine *m = sim_current;
    struct ddi_locks *locks = adapter->locks;

    if (m->stopped)
        return STATUS_DEVICE_REMOVED;
    call->level = level;
    call->irql = irql;
    call->locked = false;
    call->nested = m->frame != NULL;
    call->frame.process = NULL;
    if (level != LEVEL_NONE && can_wait()) {
        if (level == LEVEL_ALONE) {
            /* THREAD-037: with a limit, instead of hanging for ever. */
            if (!become_alone(locks, 60000000000u, own_calls(adapter))) {
                VIOLATION("THREAD-037", "%s waited 60 s for %u call(s) to leave the driver", name, locks->inside);
                return STATUS_TIMEOUT;
            }
        } else {
            enter_process(&call->frame);
            if (level != LEVEL_ZERO) {
                struct sim_mutex *mutex = &locks->class_lock[level - LEVEL_SCHEDULER];

                if (mutex->owner != m->thread) {
                    sim_mutex_lock(mutex);
                    call->locked = true;
                }
            }
            join(locks, call->nested || sim_thread_kind(m->thread) == SIM_THREAD_KERNEL);
        }
    }
    call->frame.outer = m->frame;
    call->frame.adapter = adapter;
    call->frame.name = name;
    call->frame.caller = 0;
    m->frame = &call->frame;
    call->image = nt_image_enter(adapter->image);
    call->irql_before = m->irql;
    if (irql > m->irql)
        sim_raise_irql(irql);
    adapter->calls++;
    trace_begin(TRACE_PROCESSOR(m->processor), name, NULL, 0);
    call->deadline = sim_inside_enter(limit);
    sim_point();
    return STATUS_SUCCESS;
}

void ddi_leave(struct ddi_call *call)
{
    struct sim_machine *m = sim_current;
    struct ddi_locks *locks = call->frame.adapter->locks;

    sim_inside_leave(call->deadline);
    trace_end(TRACE_PROCESSOR(m->processor), call->frame.name);
    if (m->irql != call->irql && call->level != LEVEL_NONE) {
        VIOLATION("THREAD-006", "%s was called at %s and returned at %s", call->frame.name, nt_irql_name(call->irql),
                  nt_irql_name(m->irql));
    }
    if (m->irql < call->irql_before)
        sim_raise_irql(call->irql_before);
    nt_image_enter(call->image);
    m->frame = call->frame.outer;
    if (m->irql > call->irql_before)
        sim_lower_irql(call->irql_before);
    if (call->level == LEVEL_NONE || !can_wait())
        return;
    if (call->level == LEVEL_ALONE) {
        end_alone(locks);
        return;
    }
    part(locks);
    if (call->locked)
        sim_mutex_unlock(&locks->class_lock[call->level - LEVEL_SCHEDULER]);
    if (call->frame.process)
        sim_mutex_unlock(&call->frame.process->driver_entry);
}

/* ---- what is in progress ---- */

const char *ddi_current_name(void)
{
    struct ddi_frame *frame = sim_current ? ddi_current_frame() : NULL;

    return frame ? frame->name : NULL;
}

struct ddi_adapter *ddi_current_adapter(void)
{
    struct ddi_frame *frame = ddi_current_frame();

    return frame ? frame->adapter : NULL;
}

bool ddi_inside(const char *name)
{
    for (struct ddi_frame *frame = ddi_current_frame(); frame; frame = frame->outer)
        if (strcmp(frame->name, name) == 0)
            return true;
    return false;
}

void ddi_callback_enter(struct ddi_frame *frame, struct ddi_adapter *adapter, const char *name, uintptr_t caller)
{
    frame->outer = sim_current->frame;
    frame->adapter = adapter;
    frame->name = name;
    frame->caller = caller;
    frame->process = NULL;
    sim_current->frame = frame;
    trace_begin(TRACE_PROCESSOR(sim_current->processor), name, NULL, 0);
    sim_point();
}

void ddi_callback_leave(struct ddi_frame *frame)
{
    trace_end(TRACE_PROCESSOR(sim_current->processor), frame->name);
    sim_current->frame = frame->outer;
}
