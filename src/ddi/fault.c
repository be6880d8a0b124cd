/* SPDX-License-Identifier: MIT */
/*
 * The diagnosis of a driver's fault, in the host as the fault has left it: the stack and anything
 * else may be overwritten. First the driver's own handlers are asked; from then on it is a report,
 * in which a further fault is the host's (sim_fault_report): then what is known is told once more,
 * with nothing looked up.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ddi/ddi.h"
#include "ddi/entry.h"
#include "ddi/fault.h"
#include "ddi/fenced.h"
#include "ddi/loan.h"
#include "ddi/state.h"
#include "nt/base/caller.h"
#include "nt/ke/call_guard.h"
#include "nt/ke/deadlock.h"
#include "nt/ke/level.h"
#include "nt/ke/try.h"
#include "nt/mm/paged.h"
#include "nt/mm/pool_special.h"
#include "nt/mm/retired_view.h"
#include "nt/mm/user_range.h"
#include "sim/dpc.h"
#include "sim/fault.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/stop.h"
#include "sim/thread.h"
#include "util/address.h"
#include "util/debugger.h"
#include "x64/exceptions/exception.h"
#include "x64/unwind/stack_text.h"

#define DPC_WATCHDOG_VIOLATION           0x133u
#define THREAD_STUCK_IN_DEVICE_DRIVER    0xEAu
#define KMODE_EXCEPTION_NOT_HANDLED      0x1Eu
#define DRIVER_OVERRAN_STACK_BUFFER      0xF7u
#define PAGE_FAULT_IN_FREED_SPECIAL_POOL 0xCCu

/* ---- words ---- */

static const char *kind_text(enum sim_fault_kind kind)
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
    case SIM_FAULT_ALIGNMENT:
        return "made an access that is not aligned to";
    default: /* SIM_FAULT_BREAKPOINT; of what is overdue, only the reason is told */
        return "hit a breakpoint near";
    }
}

static bool is_access(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_READ || kind == SIM_FAULT_WRITE || kind == SIM_FAULT_EXECUTE;
}

static bool is_overdue(enum sim_fault_kind kind)
{
    return kind == SIM_FAULT_HANG || kind == SIM_FAULT_SLEEP || kind == SIM_FAULT_OVERDUE ||
           kind == SIM_FAULT_LABOUR;
}

static bool is_canonical(uintptr_t address)
{
    return address + ((uintptr_t)1 << 47) < (uintptr_t)1 << 48;
}

/* "wrote to address 0x18", and what is special about that address. */
static void say_what(const struct sim_fault *fault, char *text, size_t bytes)
{
    uintptr_t low = fault->stack_low, high = fault->stack_high;
    const char *more = "";

    if (fault->kind == SIM_FAULT_STACK && (fault->sp < low - PAGE_BYTES || fault->sp > high)) {
        snprintf(text, bytes,
                 "ran with the stack pointer 0x%" PRIxPTR ", which is outside of its stack%s",
                 fault->sp, is_canonical(fault->sp) ? "" : " (not canonical)");
        return;
    }
    if (is_access(fault->kind) && high && fault->address - high < PAGE_BYTES)
        more = ", above the upper end of its stack";
    else if (is_access(fault->kind) && !is_canonical(fault->address))
        more = ", which is not canonical";
    snprintf(text, bytes, "%s address 0x%" PRIxPTR "%s", kind_text(fault->kind), fault->address,
             more);
}

/* ---- places ---- */

/* The routine that the driver had called, and the place of the call. False: not found. */
static bool name_call(const struct sim_fault *fault, char *routine, size_t routine_bytes,
                      char *caller, size_t caller_bytes)
{
    const struct ddi_state *state = ddi_state();
    const struct ddi_frame *callback = ddi_current_frame();
    struct x64_host_call call = {0, 0};
    bool found = x64_find_host_call(fault, state->hooks.symbolize, &call);
    Dl_info info;

    if (callback && callback->caller && (!found || call.caller == callback->caller)) {
        snprintf(routine, routine_bytes, "%s", callback->name);
        return ddi_symbolize(callback->caller, caller, caller_bytes);
    }
    if (!found)
        return false;
    (void)ddi_symbolize(call.caller, caller, caller_bytes);
    if (state->hooks.import_name &&
        state->hooks.import_name(call.caller, call.routine, routine, routine_bytes))
        return true;
    if (call.routine && dladdr((void *)call.routine, &info) && info.dli_sname &&
        (uintptr_t)info.dli_saddr == call.routine)
        snprintf(routine, routine_bytes, "%s", info.dli_sname);
    else
        snprintf(routine, routine_bytes, "a routine of the host");
    return true;
}

/* The place of an instruction: in the driver, or in a host routine that the driver called. */
static void name_place(const struct sim_fault *fault, char *place, size_t bytes)
{
    char caller[64] = "", routine[64] = "";
    Dl_info info;

    if (ddi_symbolize(fault->pc, place, bytes))
        return;
    if (name_call(fault, routine, sizeof(routine), caller, sizeof(caller)))
        snprintf(place, bytes, "%s called by %s", routine, caller);
    else if (dladdr((void *)fault->pc, &info) && info.dli_sname)
        snprintf(place, bytes, "host routine %s", info.dli_sname);
    else
        snprintf(place, bytes, "code that is not the driver's");
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

/* ---- reports ---- */

/* A fault on its way to the report. */
struct diagnosis {
    const struct sim_fault *fault;
    const struct ddi_frame *ddi;
    const char *name; /* of the DDI */
    const struct ddi_loan *loan;
    struct ddi_fence_hit fence; /* an access past what is lent; no `what`: none */
    uint32_t pool;              /* bug check of an access to the special pool; 0: none */
    bool paged;                 /* an access to paged pool at a raised level */
    uint32_t code;              /* bug check */
    uint64_t parameter[4];
};

static void report_overdue(const struct diagnosis *d, const char *place)
{
    const char *why = d->fault->kind == SIM_FAULT_HANG    ? "it loops without calling the host"
                      : d->fault->kind == SIM_FAULT_SLEEP ? "it sleeps in the host's kernel"
                      : d->fault->kind == SIM_FAULT_LABOUR
                          ? "it calls the host again and again, beyond its limit of processor time"
                          : "not within its limit of virtual time";
    bool routine = sim_in_dpc() || sim_in_interrupt() ||
                   (d->ddi && d->ddi->entry != DDI_NONE &&
                    ddi_entry_info(d->ddi->entry)->flags & DDI_ROUTINE);

    /* Parameter 1: a single DPC or ISR took too long, or the total time at raised level. */
    if (sim_irql() >= SIM_IRQL_DISPATCH)
        verify_fatal("THREAD-067", DPC_WATCHDOG_VIOLATION, routine ? 0 : 1, sim_irql(), 0, 0,
                     "%s did not return (%s) in %s", d->name, why, place);
    else {
        nt_deadlock_describe();
        verify_fatal("THREAD-037", THREAD_STUCK_IN_DEVICE_DRIVER, 0, 0, 0, 0,
                     "%s did not return (%s) in %s", d->name, why, place);
    }
}

static void report_fence(const struct diagnosis *d, const char *place, const char *does)
{
    const struct ddi_fence_hit *hit = &d->fence;
    const ptrdiff_t bytes = (ptrdiff_t)hit->bytes;

    if (hit->late)
        VIOLATION("LIFE-191", "%s in %s %s %s of %zu bytes at offset %td, which is no longer lent",
                  place, d->name, does, hit->what, hit->bytes, hit->offset);
    else if (hit->offset < 0)
        VIOLATION("LIFE-191", "%s in %s %s memory %td bytes before the start of %s of %zu bytes",
                  place, d->name, does, -hit->offset, hit->what, hit->bytes);
    else
        VIOLATION("LIFE-191", "%s in %s %s %s of %zu bytes at offset %td, %td past its end", place,
                  d->name, does, hit->what, hit->bytes, hit->offset, hit->offset - bytes);
}

static void report_fault(const struct diagnosis *d, const char *place)
{
    const struct sim_fault *fault = d->fault;
    const char *does = kind_text(fault->kind), *rule;
    char what[192];

    if (d->fence.what)
        report_fence(d, place, does);
    else if (d->loan)
        VIOLATION(d->loan->rule, "%s in %s %s %s%s", place, d->name, does, d->loan->name,
                  d->loan->when);
    else if (d->paged)
        verify_fatal("THREAD-005", DRIVER_IRQL_NOT_LESS_OR_EQUAL, fault->address, sim_irql(),
                     fault->kind == SIM_FAULT_WRITE, fault->pc, "%s in %s %s paged pool at %s",
                     place, d->name, does, nt_irql_name(sim_irql()));
    else if (d->pool) /* special pool: say more than that the address is inaccessible */
        verify_fatal("NT-025", d->pool, fault->address, fault->kind == SIM_FAULT_WRITE, 0, 0,
                     "%s in %s %s pool %s", place, d->name, does,
                     d->pool == PAGE_FAULT_IN_FREED_SPECIAL_POOL ? "that was freed"
                                                                 : "behind the end of a block");
    rule = is_access(fault->kind) ? view_at(fault->address, what, sizeof(what)) : NULL;
    if (rule)
        verify_fatal(rule, d->code, d->parameter[0], d->parameter[1], d->parameter[2],
                     d->parameter[3], "%s in %s %s %s", place, d->name, does, what);
    say_what(fault, what, sizeof(what));
    verify_fatal("NT-002", d->code, d->parameter[0], d->parameter[1], d->parameter[2],
                 d->parameter[3], "%s in %s %s", place, d->name, what);
}

/* The host has faulted over a stack that the driver had overwritten: that is the cause. */
static void report_overwritten(const struct diagnosis *d, const char *place)
{
    char ignored[160], what[192];

    if (ddi_symbolize(d->fault->pc, ignored, sizeof(ignored)))
        return;
    for (const struct ddi_frame *frame = ddi_current_frame(); frame; frame = frame->outer) {
        if (!frame->guard || !nt_call_guard_is_broken(frame->guard))
            continue;
        say_what(d->fault, what, sizeof(what));
        verify_fatal("THREAD-075", DRIVER_OVERRAN_STACK_BUFFER, 0, 0, 0, 0,
                     "%s overwrote the stack of its caller, over which %s %s", frame->name, place,
                     what);
    }
}

static void report(const void *arg)
{
    const struct diagnosis *d = arg;
    char *place = ddi_state()->fault_place;

    name_place(d->fault, place, sizeof(ddi_state()->fault_place));
    report_overwritten(d, place);
    if (is_overdue(d->fault->kind))
        report_overdue(d, place);
    else
        report_fault(d, place);
    sim_stop();
}

/* The report of `fault` has faulted: say what does not need to be looked up. */
static void report_again(const struct sim_fault *fault)
{
    struct ddi_state *state = ddi_state();
    const struct ddi_frame *ddi = ddi_current_ddi();
    char what[192];

    state->again = true;
    say_what(fault, what, sizeof(what));
    verify_fatal("NT-002", KMODE_EXCEPTION_NOT_HANDLED, (uint32_t)STATUS_ACCESS_VIOLATION,
                 fault->pc, fault->kind == SIM_FAULT_WRITE, fault->address,
                 "%s (at 0x%" PRIxPTR ") in %s %s; the report of this faulted itself, at 0x%" PRIxPTR
                 ", address 0x%" PRIxPTR,
                 state->fault_place[0] ? state->fault_place : "code", fault->pc,
                 ddi ? ddi->name : "driver code", what, fault->again_pc, fault->again_address);
    sim_stop();
}

/* ---- faults ---- */

/* Offer a fault that is an exception to the guarded block of an ELF driver, or to the handlers of
 * an image. Returns if none takes it. Handlers run meanwhile, and errors in them are their own. */
static void offer_fault(const struct sim_fault *fault)
{
    EXCEPTION_RECORD exception;

    ddi_state()->fault = NULL;
    sim_fault_reported();
    if (x64_exception_of_fault(fault, &exception))
        nt_try_raise(&exception);
    x64_fault(fault);
    sim_fault_report(fault);
    ddi_state()->fault = fault;
}

/* A client touched memory that is not its own: its thread ends, as in a process that does not
 * handle the exception. */
static _Noreturn void end_client(const struct sim_fault *fault)
{
    char what[192] = "", place[160];
    const char *rule = view_at(fault->address, what, sizeof(what));

    name_place(fault, place, sizeof(place));
    ddi_state()->fault = NULL;
    if (rule)
        VIOLATION(rule, "%s of a client, which ends for it, %s %s", place, kind_text(fault->kind),
                  what);
    sim_fault_reported();
    sim_thread_exit();
}

/* Memory on loan that still is has a fence, too. */
static void find_fence(struct diagnosis *d)
{
    const uintptr_t address = d->fault->address;
    const struct ddi_loan *loan = d->loan;

    if (ddi_fence_at(address, &d->fence) || !loan || loan->revoked ||
        address - (uintptr_t)loan->pages < loan->whole - loan->fence)
        return;
    d->fence = (struct ddi_fence_hit){.what = loan->name,
                                      .bytes = loan->bytes,
                                      .offset = (ptrdiff_t)(address - (uintptr_t)loan->address)};
}

void ddi_on_fault(const struct sim_fault *fault)
{
    const struct ddi_frame *ddi = ddi_current_ddi();
    struct diagnosis d = {.fault = fault, .ddi = ddi, .name = ddi ? ddi->name : "driver code"};

    if (fault->again_pc)
        report_again(fault);
    sim_fault_report(fault);
    ddi_state()->fault = fault;
    ddi_state()->fault_place[0] = '\0';
    if (!sim_current->inside)
        end_client(fault);
    if (!is_overdue(fault->kind)) {
        d.loan = ddi_loan_at(fault->address);
        if (is_access(fault->kind))
            find_fence(&d);
        d.pool = is_access(fault->kind) ? nt_pool_fault((const void *)fault->address) : 0;
        d.paged = is_access(fault->kind) && sim_irql() >= SIM_IRQL_DISPATCH &&
                  nt_paged_fault((const void *)fault->address);
        d.code = x64_fault_bugcheck(fault, d.parameter);
        /* what is lent is host memory, so the driver's handlers are not called */
        if (!d.loan && !d.fence.what && !d.pool && !d.paged && d.code == KMODE_EXCEPTION_NOT_HANDLED)
            offer_fault(fault);
    }
    dxgk_debug_fault(fault->registers ? fault->registers->general : NULL, fault->pc);
    sim_fault_with_room(report, &d);
}
