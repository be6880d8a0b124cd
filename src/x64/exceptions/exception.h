/* SPDX-License-Identifier: MIT */
/*
 * Structured exceptions of drivers in x64 images: from a fault or a raise to the handler that takes
 * it, and unwinding to it.
 *
 * Theory of operation
 *
 *   An exception is an EXCEPTION_RECORD and the CONTEXT where it happened. Dispatching walks the
 *   driver's frames outwards (walk.h) and asks the language handler of each; for C that is
 *   __C_specific_handler, which runs the filters of the scopes around the program counter. A filter
 *   says: continue where it happened, look further, or take it. Whoever takes it unwinds: the
 *   frames are walked a second time, termination handlers run, and control goes to the handler with
 *   the registers of its frame. Nothing is allocated: all state lies on the stack, below what it is
 *   about, so that exceptions nest as stacks do.
 *
 *   Exceptions in a filter are dispatched like others; the walk passes the dispatcher of the first
 *   exception, then goes on from where that one happened. Exceptions in a termination handler
 *   replace the unwinding it ran for: the search, and the unwinding it leads to, go on in the frame
 *   of that handler, behind the scope that it ended.
 *
 *   The search ends at the host (walk.h). Who asked for the dispatch then makes the bug check.
 *
 * Levels: any, as on Windows. What a driver's handler must undo itself (levels, locks), it must
 * undo here, too. What the host keeps about host routines that are given up on the way (their entry
 * in reports and traces) is undone through x64_on_unwind.
 */
#ifndef DXGK_X64_EXCEPTION_H
#define DXGK_X64_EXCEPTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "sim/fault.h"
#include "x64/unwind/walk.h"

/* Codes of exceptions, and of what goes wrong with them, that are no business of other rooms. */
#ifndef STATUS_FLOAT_DENORMAL_OPERAND
#define STATUS_FLOAT_DENORMAL_OPERAND ((NTSTATUS)0xC000008D)
#define STATUS_FLOAT_DIVIDE_BY_ZERO   ((NTSTATUS)0xC000008E)
#define STATUS_FLOAT_INEXACT_RESULT   ((NTSTATUS)0xC000008F)
#define STATUS_FLOAT_OVERFLOW         ((NTSTATUS)0xC0000091)
#define STATUS_FLOAT_STACK_CHECK      ((NTSTATUS)0xC0000092)
#define STATUS_FLOAT_UNDERFLOW        ((NTSTATUS)0xC0000093)
#define STATUS_FLOAT_MULTIPLE_FAULTS  ((NTSTATUS)0xC00002B4)
#define STATUS_FLOAT_MULTIPLE_TRAPS   ((NTSTATUS)0xC00002B5)
#endif
#ifndef STATUS_UNWIND
#define STATUS_UNWIND ((NTSTATUS)0xC0000027)
#endif
#ifndef STATUS_BAD_STACK
#define STATUS_BAD_STACK ((NTSTATUS)0xC0000028)
#endif
#ifndef STATUS_INVALID_UNWIND_TARGET
#define STATUS_INVALID_UNWIND_TARGET ((NTSTATUS)0xC0000029)
#endif
#ifndef STATUS_UNWIND_CONSOLIDATE
#define STATUS_UNWIND_CONSOLIDATE ((NTSTATUS)0x80000029)
#endif

enum x64_exception_flag {
    X64_NONCONTINUABLE = 0x01,
    X64_UNWINDING = 0x02,
    X64_EXIT_UNWIND = 0x04,
    X64_STACK_INVALID = 0x08,
    X64_NESTED_CALL = 0x10,
    X64_TARGET_UNWIND = 0x20,
    X64_COLLIDED_UNWIND = 0x40,
    X64_SOFTWARE_ORIGINATE = 0x80,
    X64_ANY_UNWIND = X64_UNWINDING | X64_EXIT_UNWIND | X64_TARGET_UNWIND | X64_COLLIDED_UNWIND,
};

/* What a language handler is told about its frame; the layout is the public one. */
struct x64_dispatcher_context {
    ULONG64 ControlPc;
    ULONG64 ImageBase;
    const struct x64_function *FunctionEntry;
    ULONG64 EstablisherFrame;
    ULONG64 TargetIp;
    PCONTEXT ContextRecord;
    ULONG64 LanguageHandler;
    ULONG64 HandlerData;
    PVOID HistoryTable;
    ULONG ScopeIndex;
    ULONG Fill0;
};

/* Find a handler for an exception that happened at `context` (`interrupted`: Rip was not executed;
 * else it is behind a call). Returns only if there is none; flags of the record may have been set,
 * and if a handler itself did something that is an exception that nobody takes, `record` is that
 * one, with the first one as its ExceptionRecord. */
void x64_dispatch(EXCEPTION_RECORD *record, CONTEXT *context, bool interrupted);

/* Unwind to the frame `target` (0: all) and continue at `ip` with `value` in RAX. `from`: where to
 * begin. Makes the bug check if the frame is not there. */
_Noreturn void x64_unwind_to(uint64_t target, uint64_t ip, EXCEPTION_RECORD *record, uint64_t value,
                             const CONTEXT *from);

/* Dispatch an exception raised in the host for the driver that called it; `from` are registers in
 * the host. The record's address is made that in the driver. Returns as x64_dispatch does, and at
 * once if no driver in an x64 image called. */
void x64_raise_from_host(EXCEPTION_RECORD *record, const CONTEXT *from);
/* The same, then the bug check (NT-002). */
_Noreturn void x64_raise_or_stop(EXCEPTION_RECORD *record, const CONTEXT *from);
/* NT-002: nobody took it. */
_Noreturn void x64_unhandled(const EXCEPTION_RECORD *record);

/* What Windows would raise for a fault. False: a fault that is none there (a stack that overflows,
 * a hang). */
bool x64_exception_of_fault(const struct sim_fault *fault, EXCEPTION_RECORD *record);
/* The bug check that a fault is if nobody takes it, with its parameters: 0x1E for what is an
 * exception. Others never become one: an access at DISPATCH_LEVEL or above that would need a page
 * (0xD1), and to kernel memory that is not there (0x50), not to be written (0xBE) or not to be
 * executed (0xFC). */
uint32_t x64_fault_bugcheck(const struct sim_fault *fault, uint64_t parameter[4]);
/* Dispatch a fault of a driver, or of a copying routine that it called. Returns if it is no
 * exception, or nobody takes it. */
void x64_fault(const struct sim_fault *fault);

/* `fn` is told when frames below `sp` are given up by unwinding, last thing before control goes to
 * the handler. NULL: nobody is. False: out of memory. */
bool x64_on_unwind(void (*fn)(uintptr_t sp));

/* For nt_config.raise: an exception that a kernel service raises in its caller. Returns if nobody
 * takes it. */
void x64_raise_in_caller(void *context, NTSTATUS status);
/* For nt_config.find: a routine of this room by the name that a driver imports; NULL: none. */
void *x64_routine_find(const char *name);

EXCEPTION_DISPOSITION NTAPI x64_c_specific_handler(EXCEPTION_RECORD *record, ULONG64 establisher,
                                                   CONTEXT *context,
                                                   struct x64_dispatcher_context *dispatcher);

#endif
