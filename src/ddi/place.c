/* SPDX-License-Identifier: MIT */
/* The place of a violation, and the last DDI before a simulated bug check. */
#include <stdio.h>

#include "ddi/arena.h"
#include "ddi/ddi.h"
#include "ddi/entry.h"
#include "ddi/fault.h"
#include "ddi/fenced.h"
#include "ddi/lent.h"
#include "ddi/loan.h"
#include "ddi/routine.h"
#include "ddi/state.h"
#include "nt/ke/bugcheck.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/slot.h"
#include "sim/stack.h"
#include "sim/stop.h"
#include "sim/thread.h"
#include "x64/exceptions/exception.h"
#include "x64/unwind/stack_text.h"

#define LAST_CALLS_NS 10000000000u /* that the last calls of a bug check may take */

/* ---- places ---- */

static void describe(struct verify_record *record)
{
    struct sim_machine *m = sim_current;
    const struct ddi_frame *frame = m ? ddi_current_frame() : NULL;
    const struct ddi_frame *ddi;

    if (!m)
        return;
    record->time = m->now;
    record->irql = m->irql;
    snprintf(record->thread, sizeof(record->thread), "%s",
             m->thread ? sim_thread_name(m->thread) : "idle");
    ddi = ddi_current_ddi();
    if (frame && frame->caller) {
        char caller[64] = "";

        ddi_symbolize(frame->caller, caller, sizeof(caller));
        snprintf(record->where, sizeof(record->where), "%s called by %s%s%s", frame->name,
                 caller[0] ? caller : "the driver", ddi ? " in " : "", ddi ? ddi->name : "");
    } else if (frame) {
        snprintf(record->where, sizeof(record->where), "%s", frame->name);
    }
}

/* No code of the driver is on the stack, but the host looks at what a call has left: the entry that
 * is being left, or was, if no time has passed since. */
static bool describe_entry(const struct ddi_state *state, char *text, size_t bytes)
{
    const struct ddi_frame *frame = ddi_current_ddi();
    const struct ddi_adapter *adapter = frame ? frame->adapter : NULL;
    const char *entry = frame ? frame->name : NULL;
    uintptr_t routine;

    if (!frame && state->left && state->left_by == sim_current->thread &&
        state->left_at == sim_now()) {
        adapter = state->left;
        entry = state->left_entry;
    }
    routine = adapter && entry ? ddi_routine(adapter, entry) : 0;
    return routine && state->hooks.frame && state->hooks.frame(routine, false, text, bytes);
}

/* The stack of the fault that is being reported, else the current one. */
static bool describe_stack(char *text, size_t bytes)
{
    const struct ddi_state *state = ddi_state();

    return state && !state->again &&
           (x64_describe_stack(state->fault, state->hooks.frame, text, bytes) ||
            (!state->fault && describe_entry(state, text, bytes)));
}

/* ---- bug check ---- */

/* LIFE-143: the bug check screen is drawn while nothing else can run. */
static void reset_device(struct ddi_adapter *adapter)
{
    if (!adapter->reset_at_bugcheck || !ddi_has(adapter, DxgkDdiResetDevice))
        return;
    if (sim_irql() < SIM_IRQL_HIGH)
        sim_raise_irql(SIM_IRQL_HIGH);
    ddi_reset_device(adapter);
}

void ddi_set_screen(struct ddi_adapter *adapter,
                    bool (*draw)(struct ddi_adapter *adapter,
                                 const struct verify_bugcheck *bugcheck))
{
    struct ddi_state *state = ddi_state();

    if (!state)
        return;
    state->screen = draw ? adapter : NULL;
    state->draw = draw;
}

/* PRES-051: what stops the machine once more is a wait, memory that is not there at this level, or
 * a mistake of another kind. */
static void note_screen(struct ddi_state *state)
{
    if (state->screen_told)
        return;
    state->screen_told = true;
    if (ddi_inside(DDI_DxgkDdiSystemDisplayEnable) || ddi_inside(DDI_DxgkDdiSystemDisplayWrite))
        VIOLATION("PRES-051",
                  "%s is to draw with the processor alone, and neither waits nor takes memory nor "
                  "starts DMA; the report before says what it did",
                  ddi_inside(DDI_DxgkDdiSystemDisplayEnable) ? "DxgkDdiSystemDisplayEnable"
                                                             : "DxgkDdiSystemDisplayWrite");
}

/* PRES-044 */
static bool draw_screen(const struct ddi_state *state, const struct verify_bugcheck *bug)
{
    if (sim_irql() < SIM_IRQL_HIGH)
        sim_raise_irql(SIM_IRQL_HIGH);
    return state->draw(state->screen, bug);
}

/* THREAD-078: nothing else runs meanwhile.
 * LIFE-002, TDR-066: DxgkDdiCollectDbgInfo is the last DDI, or those of the screen or
 * DxgkDdiResetDevice if that was requested; then the machine stops. */
static void bugcheck(const struct verify_bugcheck *bug)
{
    struct ddi_state *state = ddi_state();

    if (!state)
        return;
    sim_freeze();
    if (state->in_bugcheck)
        note_screen(state);
    if (state->again) {
        if (state->hooks.bugcheck && !state->in_bugcheck)
            state->hooks.bugcheck(bug);
    } else if (!state->in_bugcheck) {
        struct ddi_adapter *adapter = ddi_current_adapter();

        if (!adapter && state->left_by == sim_current->thread && state->left_at == sim_now())
            adapter = state->left;
        state->in_bugcheck = true;
        sim_fault_reported();
        /* anew: the driver may be overdue already */
        sim_current->deadline = sim_now() + LAST_CALLS_NS;
        if (adapter && adapter->context && ddi_has(adapter, DxgkDdiCollectDbgInfo) &&
            !sim_current->stopped)
            (void)ddi_debug_report(adapter, bug->code, NULL);
        if (state->screen && state->screen->context && !state->screen->gone &&
            !sim_current->stopped) {
            if (!draw_screen(state, bug) && !sim_current->stopped)
                reset_device(state->screen);
        } else if (adapter && adapter->context && !sim_current->stopped) {
            reset_device(adapter);
        }
        if (state->hooks.bugcheck)
            state->hooks.bugcheck(bug);
        if (!sim_current->stopped)
            /* NT-166; KeBugCheckEx may have run some callbacks already, which do not run again */
            nt_bugcheck_callbacks_run();
    }
    sim_stop();
}

/* Removes the frames of host callbacks that an exception has left: they are no longer in
 * progress. */
static void on_unwind(uintptr_t sp)
{
    for (;;) {
        struct ddi_frame *frame = ddi_current_frame();
        uintptr_t low, high;

        sim_stack_bounds(&low, &high);
        if (!frame || frame->place < low || frame->place >= sp)
            return;
        ddi_callback_leave(frame);
    }
}

bool ddi_install(const struct ddi_hooks *hooks)
{
    static const struct verify_place place = {
        .describe = describe, .stack = describe_stack, .bugcheck = bugcheck};
    struct ddi_state *state = ddi_state();

    if (!state) {
        state = util_zalloc(1, sizeof(*state));
        if (!state)
            return false;
        hash_init(&state->tracks);
        list_init(&state->loans);
        list_init(&state->arenas);
        list_init(&state->fenced);
        list_init(&state->fences);
        sim_slot_set(&ddi_slot, state);
    }
    state->hooks = *hooks;
    state->in_bugcheck = false;
    if (!x64_on_unwind(on_unwind)) {
        ddi_uninstall();
        return false;
    }
    sim_on_fault(ddi_on_fault);
    if (verify_current)
        verify_set_place(verify_current, &place);
    return true;
}

void ddi_uninstall(void)
{
    struct ddi_state *state = ddi_state();

    if (!state)
        return;
    while (!list_empty(&state->loans))
        ddi_loan_finish(CONTAINER(state->loans.next, struct ddi_loan, link));
    ddi_lent_finish(state);
    ddi_arena_finish(state);
    ddi_fenced_finish(state);
    (void)x64_on_unwind(NULL);
    hash_finish(&state->tracks);
    util_free(state);
    sim_slot_set(&ddi_slot, NULL);
}
