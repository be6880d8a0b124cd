/* SPDX-License-Identifier: MIT */
/*
 * Entering and leaving the driver, and the frames that record what is in progress on a stack.
 *
 *   enter: who may be inside (exclusion.c) -> frame -> image -> level -> watchdog
 *   leave: watchdog -> checks of restored state (THREAD-006 to THREAD-008) -> image -> frame
 *          -> level -> who may be inside
 */
#include "ddi/door.h"
#include "ddi/told.h"
#include "ddi/ddi.h"
#include "ddi/entry.h"
#include "ddi/exclusion.h"
#include "ddi/state.h"
#include "nt/base/image.h"
#include "nt/base/current.h"
#include "nt/ke/driver_call.h"
#include "nt/mm/race_guard.h"
#include "nt/ps/attach.h"
#include "sim/dpc.h"
#include "sim/inside.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/stack.h"
#include "verify/refusal.h"
#include "x64/traps/preempt.h"

#include <string.h>

static bool can_wait(void)
{
    return sim_current->thread && sim_irql() < SIM_IRQL_DISPATCH;
}

static uint64_t limit_at(const struct ddi_adapter *adapter, uint8_t irql, uint64_t limit)
{
    uint64_t raised = adapter->raised_limit ? adapter->raised_limit : NT_RAISED_LIMIT_NS;

    return irql >= SIM_IRQL_DISPATCH && raised < limit ? raised : limit;
}

/* LIFE-156: whether the call wakes a sleeping adapter. Client requests do, except queries, which
 * need no power, and escapes, whose sender has woken the adapter already (LIFE-139). The host's own
 * threads do not call at this level while it sleeps. */
static bool wakes(const struct ddi_record *call)
{
    return call->frame.adapter->asleep && call->level == LEVEL_ZERO && can_wait() &&
           !(ddi_entry_info(call->frame.entry)->flags & DDI_LETS_SLEEP);
}

/* ---- frames ---- */

/* Frames that an exception or a throw has left are not looked for: who is outermost begins again at
 * the bottom. */
struct ddi_frame *ddi_frame_push(size_t bytes, const char *name)
{
    struct ddi_frame *outer = ddi_current_frame();
    struct ddi_frame *frame = outer ? (struct ddi_frame *)((char *)outer + outer->bytes)
                                    : sim_stack_records();

    /* each by itself: compilers clear the whole with an instruction that takes as long as a call */
    frame->name = name;
    frame->outer = outer;
    frame->place = (uintptr_t)__builtin_frame_address(0);
    frame->bytes = (uint32_t)bytes;
    frame->guard = NULL;
    frame->adapter = NULL;
    frame->entry = DDI_NONE;
    frame->caller = 0;
    frame->process = NULL;
    frame->counted = false;
    frame->alone = false;
    frame->track = 0;
    frame->on_return = NULL;
    sim_current->frame = (struct sim_frame *)frame; /* as sim_set_frame, without reading the name */
    sim_current->call = name;
    return frame;
}

/* ---- entering ---- */

/* THREAD-077 */
static bool compares_control(const struct ddi_adapter *adapter)
{
    return adapter->calls < 1024 || adapter->calls % 16 == 0;
}

/* Set the members that entering does not set: clearing the whole record for each call would take
 * longer. */
static struct ddi_record *prepare(struct ddi_call *handle, struct ddi_adapter *adapter,
                                  enum ddi_entry entry, enum ddi_level level, ULONG child)
{
    struct ddi_frame *frame = ddi_frame_push(sizeof(struct ddi_record), ddi_entry_info(entry)->name);
    struct ddi_record *call = CONTAINER(frame, struct ddi_record, frame);

    handle->record = call;
    handle->checked = 0;
    nt_call_guard(&handle->guard, compares_control(adapter));
    frame->guard = &handle->guard;
    frame->adapter = adapter;
    frame->entry = entry;
    call->level = level;
    call->child = child;
    call->class_lock = NULL;
    call->args = NULL;
    return call;
}

static NTSTATUS removed(const struct ddi_adapter *adapter)
{
    return refuse(STATUS_DEVICE_REMOVED, NULL, "%s",
                  adapter->gone ? "the adapter is gone" : "the machine was stopped");
}

bool ddi_driver_failed(const struct ddi_adapter *adapter, NTSTATUS status)
{
    return !NT_SUCCESS(status) && !adapter->gone && !sim_current->stopped;
}

/* True: the adapter fell asleep while this call waited, and the call is outside again. */
static bool must_wake_again(struct ddi_record *call, bool was_awake)
{
    if (!was_awake || !wakes(call))
        return false;
    ddi_unlock(call);
    call->class_lock = NULL;
    call->frame.process = NULL;
    call->frame.counted = call->frame.alone = false;
    return true;
}

/* Wait until the call may enter. */
static NTSTATUS admit(struct ddi_record *call)
{
    const struct sim_machine *m = sim_current;
    struct ddi_adapter *adapter = call->frame.adapter;
    NTSTATUS status;
    bool was_awake;

    if (m->stopped || adapter->gone)
        return removed(adapter);
    list_init(&call->link);
    do {
        if (wakes(call))
            adapter->wake(adapter);
        if (call->level == LEVEL_NONE || !can_wait())
            return STATUS_SUCCESS;
        was_awake = !adapter->asleep;
        status = ddi_lock(call);
        if (!NT_SUCCESS(status))
            return status;
        if (m->stopped || adapter->gone) { /* while this call waited */
            ddi_unlock(call);
            return removed(adapter);
        }
    } while (must_wake_again(call, was_awake));
    return STATUS_SUCCESS;
}

/* THREAD-010: paging and scheduling are the host's own work, also on a client's thread. */
static void take_process(struct ddi_record *call)
{
    call->process = call->level == LEVEL_SCHEDULER && nt_process_current() != nt_process_system()
                        ? nt_process_switch(nt_process_system())
                        : NULL;
}

static void give_process_back(struct ddi_record *call)
{
    if (call->process)
        (void)nt_process_switch(call->process);
}

/* Calls of threads come after what the host knows, and what they have done is known to it. Service
 * routines and DPCs are in order only with what queued them, and by locks. */
static bool on_thread(void)
{
    return !sim_in_interrupt() && !sim_in_dpc();
}

static void enter_in_order(struct race *races, struct ddi_record *call)
{
    call->place = race_place(races);
    nt_race_guard_wake();
    if (on_thread())
        sim_order_ask_host_of_all();
}

static void leave_in_order(struct race *races, const struct ddi_record *call)
{
    race_set_place(races, call->place);
    if (on_thread())
        sim_order_tell_host();
}

/* prepare() has made the record. */
static NTSTATUS enter(struct ddi_record *call, uint8_t irql)
{
    struct sim_machine *m = sim_current;
    struct ddi_adapter *adapter = call->frame.adapter;
    NTSTATUS status;

    take_process(call);
    status = admit(call);
    if (!NT_SUCCESS(status)) {
        give_process_back(call);
        ddi_frame_end(&call->frame);
        return status;
    }
    call->refusal = refusal_current;
    call->frame.track = ddi_track(call->level);
    call->image = nt_image_enter(adapter->image);
    call->irql_before = m->irql;
    if (irql > m->irql)
        sim_raise_irql(irql);
    if (m->stress)
        x64_preempt_wake();
    if (m->races)
        enter_in_order(m->races, call);
    nt_call_state(&call->state);
    adapter->calls++;
    trace_begin(call->frame.track, call->frame.name, NULL, 0);
    if (trace_current && call->args)
        ddi_told_arguments(call->frame.entry, call->args);
    if (adapter->called)
        ddi_called_add(adapter->called, call->frame.name);
    call->deadline = sim_inside_enter(
        limit_at(adapter, m->irql, ddi_entry_info(call->frame.entry)->limit));
    sim_point();
    return STATUS_SUCCESS;
}

NTSTATUS ddi_enter(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry)
{
    const struct ddi_entry_info *info = ddi_entry_info(entry);

    return ddi_enter_at(call, adapter, entry, info->level, info->irql);
}

NTSTATUS ddi_enter_at(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                      enum ddi_level level, uint8_t irql)
{
    return enter(prepare(call, adapter, entry, level, 0), irql);
}

NTSTATUS ddi_enter_with_at(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                           enum ddi_level level, uint8_t irql, const void *args)
{
    struct ddi_record *record = prepare(call, adapter, entry, level, 0);

    record->args = args;
    return enter(record, irql);
}

NTSTATUS ddi_enter_with(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                        const void *args)
{
    const struct ddi_entry_info *info = ddi_entry_info(entry);

    return ddi_enter_with_at(call, adapter, entry, info->level, info->irql, args);
}

NTSTATUS ddi_enter_child(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                         ULONG child)
{
    return enter(prepare(call, adapter, entry, LEVEL_CHILD, child), ddi_entry_info(entry)->irql);
}

void ddi_check_return(struct ddi_call *handle)
{
    const struct ddi_frame *innermost = ddi_current_ddi();

    nt_call_returned(&handle->guard, (const void *)handle->record == innermost,
                     innermost ? innermost->name : "a DDI");
}

static void note_left(const struct ddi_frame *frame)
{
    struct ddi_state *state = ddi_state();

    if (!state)
        return;
    state->left = frame->adapter;
    state->left_entry = frame->name;
    state->left_by = sim_current->thread;
    state->left_at = sim_now();
}

void ddi_leave(struct ddi_call *handle)
{
    struct sim_machine *m = sim_current;
    struct ddi_record *call;

    if (handle->checked != DDI_CHECKED)
        ddi_returned(handle);
    call = handle->record;
    if (m->races)
        leave_in_order(m->races, call);
    sim_inside_leave(call->deadline);
    trace_end(call->frame.track, call->frame.name);
    nt_call_check(&call->state, call->frame.name);
    if (call->frame.on_return)
        call->frame.on_return(&call->frame);
    nt_image_enter(call->image);
    give_process_back(call);
    refusal_current = call->refusal;
    if (m->irql > call->irql_before)
        sim_lower_irql(call->irql_before); /* others may run, and use what follows the record */
    if (call->frame.counted || call->frame.alone)
        ddi_unlock(call);
    note_left(&call->frame);
    ddi_frame_end(&call->frame);
}

NTSTATUS ddi_leave_with(struct ddi_call *call, NTSTATUS status)
{
    const struct ddi_frame *frame = ddi_current_ddi();
    const char *name = frame ? frame->name : "DDI";

    if (frame && frame->adapter && !NT_SUCCESS(status)) {
        frame->adapter->failed_entry = frame->name;
        frame->adapter->failed_detail = NULL;
        frame->adapter->failed_status = status;
    }
    ddi_leave(call);
    if (!NT_SUCCESS(status))
        (void)refuse(status, NULL, "the driver's %s returned it", name);
    return status;
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

struct ddi_frame *ddi_current_ddi(void)
{
    struct ddi_frame *frame = ddi_current_frame();

    while (frame && frame->caller)
        frame = frame->outer;
    return frame;
}

bool ddi_inside(enum ddi_entry entry)
{
    for (struct ddi_frame *frame = ddi_current_frame(); frame; frame = frame->outer)
        if (frame->entry == entry)
            return true;
    return false;
}

struct ddi_frame *ddi_callback_enter(struct ddi_adapter *adapter, const char *name, uintptr_t caller)
{
    struct ddi_frame *frame;

    nt_call_entered(name);
    frame = ddi_frame_push(sizeof(*frame), name);
    frame->adapter = adapter;
    frame->caller = caller;
    frame->track = frame->outer ? frame->outer->track : ddi_track(LEVEL_ZERO);
    trace_begin(frame->track, name, NULL, 0);
    if (sim_current->races && !sim_in_interrupt())
        sim_order_tell_host_midway();
    sim_point();
    return frame;
}

void ddi_callback_leave(struct ddi_frame *frame)
{
    if (sim_current->races && on_thread())
        sim_order_ask_host();
    trace_end(frame->track, frame->name);
    ddi_frame_end(frame);
}
