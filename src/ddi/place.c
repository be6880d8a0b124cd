/* SPDX-License-Identifier: MIT */
/* The place of a violation, the diagnosis of a driver fault, and the last DDI before a simulated
 * bug check. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

#include "ddi/ddi.h"
#include "ddi/entry.h"
#include "ddi/loan.h"
#include "ddi/state.h"
#include "nt/base/caller.h"
#include "nt/ke/bugcheck.h"
#include "nt/ke/deadlock.h"
#include "nt/ke/level.h"
#include "nt/ke/try.h"
#include "nt/mm/paged.h"
#include "nt/mm/pool_special.h"
#include "nt/mm/retired_view.h"
#include "nt/mm/user_range.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/slot.h"
#include "sim/stack.h"
#include "sim/stop.h"
#include "sim/thread.h"
#include "x64/exceptions/exception.h"
#include "x64/unwind/stack_text.h"

#define DPC_WATCHDOG_VIOLATION           0x133u
#define THREAD_STUCK_IN_DEVICE_DRIVER    0xEAu
#define KMODE_EXCEPTION_NOT_HANDLED      0x1Eu
#define PAGE_FAULT_IN_FREED_SPECIAL_POOL 0xCCu

/* ---- places ---- */

bool ddi_symbolize(uintptr_t pc, char *text, size_t bytes)
{
    struct ddi_state *state = ddi_state();

    return state && state->hooks.symbolize && state->hooks.symbolize(pc, text, bytes);
}

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

/* The stack of the fault that is being reported, else the current one. */
static bool describe_stack(char *text, size_t bytes)
{
    const struct ddi_state *state = ddi_state();

    return state && x64_describe_stack(state->fault, state->hooks.symbolize, text, bytes);
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

/* LIFE-002, TDR-066: DxgkDdiCollectDbgInfo is the last DDI, or DxgkDdiResetDevice if that was
 * requested; then the machine stops. */
static void bugcheck(const struct verify_bugcheck *bug)
{
    struct ddi_state *state = ddi_state();

    if (!state)
        return;
    if (!state->in_bugcheck) {
        struct ddi_adapter *adapter = ddi_current_adapter();

        state->in_bugcheck = true;
        sim_current->deadline = SIM_FOREVER; /* the driver may be overdue already */
        if (adapter && adapter->context && ddi_has(adapter, DxgkDdiCollectDbgInfo) &&
            !sim_current->stopped)
            (void)ddi_debug_report(adapter, bug->code, NULL);
        if (adapter && adapter->context && !sim_current->stopped)
            reset_device(adapter);
        if (state->hooks.bugcheck)
            state->hooks.bugcheck(bug);
        if (!sim_current->stopped)
            /* NT-166; KeBugCheckEx may have run some callbacks already, which do not run again */
            nt_bugcheck_callbacks_run();
    }
    sim_stop();
}

/* ---- faults of drivers ---- */

static const char *fault_text(enum sim_fault_kind kind)
{
    switch (kind) {
    case SIM_FAULT_READ:
        return "read from";
    case SIM_FAULT_WRITE:
        return "wrote to";
    case SIM_FAULT_EXECUTE:
        return "jumped to";
    case SIM_FAULT_STACK:
        return "overflowed its stack at";
    case SIM_FAULT_INSTRUCTION:
        return "executed an illegal instruction near";
    case SIM_FAULT_PRIVILEGED:
        return "executed a privileged instruction near";
    case SIM_FAULT_ARITHMETIC:
        return "made an arithmetic fault near";
    case SIM_FAULT_BREAKPOINT:
        return "hit a breakpoint near";
    default:
        return "faulted at";
    }
}

/* The place of an instruction, in the driver or in a host routine that the driver called. */
static void name_place(uintptr_t pc, char *place, size_t bytes)
{
    const struct ddi_frame *callback = ddi_current_frame();
    char caller[64] = "";
    Dl_info info;

    if (ddi_symbolize(pc, place, bytes))
        return;
    if (!callback || !callback->caller || !ddi_symbolize(callback->caller, caller, sizeof(caller)))
        nt_caller_place(caller, sizeof(caller));
    if (dladdr((void *)pc, &info) && info.dli_sname)
        snprintf(place, bytes, "host routine %.40s%s%.40s", info.dli_sname,
                 caller[0] ? " for " : "", caller);
    else
        snprintf(place, bytes, "host code%s%s", caller[0] ? " for " : "", caller);
}

static void on_overdue(const struct sim_fault *fault, const struct ddi_frame *ddi, const char *name,
                       const char *place)
{
    const char *why = fault->kind == SIM_FAULT_HANG    ? "it loops without calling the host"
                      : fault->kind == SIM_FAULT_SLEEP ? "it sleeps in the host's kernel"
                                                       : "not within its limit of virtual time";
    bool routine = ddi && ddi_entry_info(ddi->entry)->flags & DDI_ROUTINE;

    /* Parameter 1: a single DPC or ISR took too long, or the total time at raised level. */
    if (sim_irql() >= SIM_IRQL_DISPATCH)
        verify_fatal("THREAD-067", DPC_WATCHDOG_VIOLATION, routine ? 0 : 1, sim_irql(), 0, 0,
                     "%s did not return (%s) in %s", name, why, place);
    else {
        nt_deadlock_describe();
        verify_fatal("THREAD-037", THREAD_STUCK_IN_DEVICE_DRIVER, 0, 0, 0, 0,
                     "%s did not return (%s) in %s", name, why, place);
    }
}

static bool is_access(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_READ || kind == SIM_FAULT_WRITE || kind == SIM_FAULT_EXECUTE;
}

/* Offer a fault that is an exception to the guarded block of an ELF driver, or to the handlers of
 * an image. Returns if none takes it. Handlers run meanwhile, and errors in them are their own. */
static void offer_fault(const struct sim_fault *fault)
{
    EXCEPTION_RECORD exception;

    ddi_state()->fault = NULL;
    if (x64_exception_of_fault(fault, &exception))
        nt_try_raise(&exception);
    x64_fault(fault);
    ddi_state()->fault = fault;
}

/* The rule that an access to a view breaks, and a description of the view: of another process, or
 * unmapped already. NULL: not a view. */
static const char *view_at(uintptr_t address, char *what, size_t bytes)
{
    const void *at = (const void *)address;

    if (nt_user_range_denies(at))
        return nt_user_range_describe(at, what, bytes);
    return nt_retired_view_at(at, what, bytes) ? "PHYS-194" : NULL;
}

/* A client touched memory that is not its own: its thread ends, as in a process that does not
 * handle the exception. */
static _Noreturn void end_client(const struct sim_fault *fault, const char *place)
{
    char what[192] = "";
    const char *rule = view_at(fault->address, what, sizeof(what));

    ddi_state()->fault = NULL;
    if (rule)
        VIOLATION(rule, "%s of a client, which ends for it, %s %s", place, fault_text(fault->kind),
                  what);
    sim_thread_exit();
}

static void on_fault(const struct sim_fault *fault)
{
    const struct ddi_frame *ddi = ddi_current_ddi();
    const char *name = ddi ? ddi->name : "driver code";
    const struct ddi_loan *loan = ddi_loan_at(fault->address);
    uint32_t pool = is_access(fault->kind) ? nt_pool_fault((const void *)fault->address) : 0;
    const char *rule;
    char place[128] = "", what[192];

    ddi_state()->fault = fault;
    name_place(fault->pc, place, sizeof(place));
    if (!sim_current->inside)
        end_client(fault, place);
    if (fault->kind == SIM_FAULT_HANG || fault->kind == SIM_FAULT_SLEEP ||
        fault->kind == SIM_FAULT_OVERDUE) {
        on_overdue(fault, ddi, name, place);
    } else {
        uint64_t parameter[4];
        uint32_t code = x64_fault_bugcheck(fault, parameter);

        if (loan) /* host memory, so the driver's handlers are not called */
            VIOLATION(loan->rule, "%s in %s %s %s", place, name, fault_text(fault->kind),
                      loan->what);
        else if (is_access(fault->kind) && sim_irql() >= SIM_IRQL_DISPATCH &&
                 nt_paged_fault((const void *)fault->address))
            verify_fatal("THREAD-005", DRIVER_IRQL_NOT_LESS_OR_EQUAL, fault->address, sim_irql(),
                         fault->kind == SIM_FAULT_WRITE, fault->pc, "%s in %s %s paged pool at %s",
                         place, name, fault_text(fault->kind), nt_irql_name(sim_irql()));
        else if (pool) /* special pool: say more than that the address is inaccessible */
            verify_fatal("NT-025", pool, fault->address, fault->kind == SIM_FAULT_WRITE, 0, 0,
                         "%s in %s %s pool %s", place, name, fault_text(fault->kind),
                         pool == PAGE_FAULT_IN_FREED_SPECIAL_POOL ? "that was freed"
                                                                  : "behind the end of a block");
        else if (code == KMODE_EXCEPTION_NOT_HANDLED)
            offer_fault(fault);
        rule = is_access(fault->kind) ? view_at(fault->address, what, sizeof(what)) : NULL;
        if (rule)
            verify_fatal(rule, code, parameter[0], parameter[1], parameter[2], parameter[3],
                         "%s in %s %s %s", place, name, fault_text(fault->kind), what);
        verify_fatal("NT-002", code, parameter[0], parameter[1], parameter[2], parameter[3],
                     "%s in %s %s address 0x%" PRIxPTR, place, name, fault_text(fault->kind),
                     fault->address);
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
        if (!frame || (uintptr_t)frame < low || (uintptr_t)frame >= sp)
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
        sim_slot_set(&ddi_slot, state);
    }
    state->hooks = *hooks;
    state->in_bugcheck = false;
    if (!x64_on_unwind(on_unwind)) {
        ddi_uninstall();
        return false;
    }
    sim_on_fault(on_fault);
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
    (void)x64_on_unwind(NULL);
    hash_finish(&state->tracks);
    util_free(state);
    sim_slot_set(&ddi_slot, NULL);
}
