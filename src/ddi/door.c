/* SPDX-License-Identifier: MIT */
/*
 * Entering and leaving the driver, and the frames that record what is in progress on a stack.
 *
 *   enter: who may be inside (exclusion.c) -> frame -> image -> level -> watchdog
 *   leave: watchdog -> checks of restored state (THREAD-006 to THREAD-008) -> image -> frame
 *          -> level -> who may be inside
 */
#include "ddi/door.h"
#include "ddi/ddi.h"
#include "ddi/entry.h"
#include "ddi/exclusion.h"
#include "ddi/state.h"
#include "nt/base/image.h"
#include "nt/ke/driver_call.h"
#include "sim/inside.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "verify/refusal.h"

#include <string.h>

#define RAISED_LIMIT 500000000u /* THREAD-067 */

static bool can_wait(void)
{
    return sim_current->thread && sim_irql() < SIM_IRQL_DISPATCH;
}

static uint64_t limit_at(const struct ddi_adapter *adapter, uint8_t irql, uint64_t limit)
{
    uint64_t raised = adapter->raised_limit ? adapter->raised_limit : RAISED_LIMIT;

    return irql >= SIM_IRQL_DISPATCH && raised < limit ? raised : limit;
}

/* LIFE-156: whether the call wakes a sleeping adapter. Client requests do, except queries, which
 * need no power, and escapes, whose sender has woken the adapter already (LIFE-139). The host's own
 * threads do not call at this level while it sleeps. */
static bool wakes(const struct ddi_call *call)
{
    return call->frame.adapter->asleep && call->level == LEVEL_ZERO && can_wait() &&
           !(ddi_entry_info(call->frame.entry)->flags & DDI_LETS_SLEEP);
}

/* Set the members that entering does not set: clearing the whole record for each call would take
 * longer. */
static void prepare(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                    enum ddi_level level, ULONG child)
{
    call->frame = (struct ddi_frame){
        .adapter = adapter, .entry = entry, .name = ddi_entry_info(entry)->name};
    call->level = level;
    call->child = child;
    call->class_lock = NULL;
}

static NTSTATUS removed(const struct ddi_adapter *adapter)
{
    return refuse(STATUS_DEVICE_REMOVED, NULL, "%s",
                  adapter->gone ? "the adapter is gone" : "the machine was stopped");
}

/* prepare() was called on `call`. */
static NTSTATUS enter(struct ddi_call *call, uint8_t irql)
{
    struct sim_machine *m = sim_current;
    struct ddi_adapter *adapter = call->frame.adapter;

    if (m->stopped || adapter->gone)
        return removed(adapter);
    list_init(&call->link);
    if (wakes(call))
        adapter->wake(adapter);
    if (call->level != LEVEL_NONE && can_wait()) {
        NTSTATUS status = ddi_lock(call);

        if (!NT_SUCCESS(status))
            return status;
        if (m->stopped || adapter->gone) { /* while this call waited */
            ddi_unlock(call);
            return removed(adapter);
        }
    }
    call->frame.outer = ddi_current_frame();
    call->refusal = refusal_current;
    call->frame.track = ddi_track(call->level);
    ddi_frame_begin(&call->frame);
    call->image = nt_image_enter(adapter->image);
    call->irql_before = m->irql;
    if (irql > m->irql)
        sim_raise_irql(irql);
    nt_call_state(&call->state);
    adapter->calls++;
    trace_begin(call->frame.track, call->frame.name, NULL, 0);
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
    prepare(call, adapter, entry, level, 0);
    return enter(call, irql);
}

NTSTATUS ddi_enter_child(struct ddi_call *call, struct ddi_adapter *adapter, enum ddi_entry entry,
                         ULONG child)
{
    prepare(call, adapter, entry, LEVEL_CHILD, child);
    return enter(call, ddi_entry_info(entry)->irql);
}

void ddi_leave(struct ddi_call *call)
{
    struct sim_machine *m = sim_current;

    sim_inside_leave(call->deadline);
    trace_end(call->frame.track, call->frame.name);
    nt_call_check(&call->state, call->frame.name);
    if (call->frame.on_return)
        call->frame.on_return(&call->frame);
    nt_image_enter(call->image);
    ddi_frame_end(&call->frame);
    refusal_current = call->refusal;
    if (m->irql > call->irql_before)
        sim_lower_irql(call->irql_before);
    if (call->frame.counted || call->frame.alone)
        ddi_unlock(call);
}

NTSTATUS ddi_leave_with(struct ddi_call *call, NTSTATUS status)
{
    struct ddi_adapter *adapter = call->frame.adapter;

    if (!NT_SUCCESS(status)) {
        adapter->failed_entry = call->frame.name;
        adapter->failed_detail = NULL;
        adapter->failed_status = status;
    }
    ddi_leave(call);
    if (!NT_SUCCESS(status))
        (void)refuse(status, NULL, "the driver's %s returned it", call->frame.name);
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

void ddi_callback_enter(struct ddi_frame *frame, struct ddi_adapter *adapter, const char *name,
                        uintptr_t caller)
{
    memset(frame, 0, sizeof(*frame));
    frame->outer = ddi_current_frame();
    frame->adapter = adapter;
    frame->name = name;
    frame->caller = caller;
    frame->track = frame->outer ? frame->outer->track : ddi_track(LEVEL_ZERO);
    ddi_frame_begin(frame);
    trace_begin(frame->track, name, NULL, 0);
    sim_point();
}

void ddi_callback_leave(struct ddi_frame *frame)
{
    trace_end(frame->track, frame->name);
    ddi_frame_end(frame);
}
