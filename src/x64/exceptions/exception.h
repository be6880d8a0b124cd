/* SPDX-License-Identifier: MIT */
/*
 * Structured exceptions of drivers in x64 images: from a fault or a raise to the handler that takes
 * it, and unwinding to that handler.
 *
 * Theory of operation
 *
 *   An exception is an EXCEPTION_RECORD and the CONTEXT where it happened. Dispatching walks the
 *   driver's frames outwards (walk.h) and asks the language handler of each; for C that is
 *   __C_specific_handler, which runs the filters of the scopes around the program counter. A filter
 *   decides: continue where it happened, search further, or accept the exception. If it accepts,
 *   the frames are unwound: they are walked a second time, termination handlers run, and control
 *   goes to the handler with the registers of its frame. Nothing is allocated: all state is on the
 *   stack, below the frames it describes, so exceptions nest.
 *
 *   Exceptions in a filter are dispatched like others; the walk skips the dispatcher of the first
 *   exception and continues where that exception happened. An exception in a termination handler
 *   replaces the unwinding that called it: the search, and the unwinding that follows, continue in
 *   the frame of that handler, after the scope that it ended.
 *
 *   The search ends at a frame of the host (walk.h). The caller of the dispatcher then makes the
 *   bug check.
 *
 * IRQL: any, as on Windows. What a driver's handler must restore itself on Windows (IRQL, locks),
 * it must restore here, too. The host's records of host routines that are unwound (their entry in
 * reports and traces) are removed through x64_on_unwind.
 */
#ifndef DXGK_X64_EXCEPTION_H
#define DXGK_X64_EXCEPTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "sim/fault.h"
#include "x64/unwind/walk.h"

/* Status codes of exceptions and of errors in handling them, which other rooms do not need. */
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

/* What a language handler gets about its frame; this is the public layout. */
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

/* Find a handler for an exception at `context` (`interrupted`: the instruction at Rip was not
 * executed; else Rip follows a call). Returns only if there is none; the flags of the record may
 * then have changed. If a handler itself caused an exception that is not handled, `record` becomes
 * that one, with the first one as its ExceptionRecord. */
void x64_dispatch(EXCEPTION_RECORD *record, CONTEXT *context, bool interrupted);

/* Unwind to the frame `target` (0: all frames) and continue at `ip` with `value` in RAX. `from`:
 * the registers to begin with. Makes the bug check if that frame does not exist. */
_Noreturn void x64_unwind_to(uint64_t target, uint64_t ip, EXCEPTION_RECORD *record, uint64_t value,
                             const CONTEXT *from);

/* Dispatch an exception that the host raises for the driver that called it; `from` are registers in
 * the host. The record gets the address in the driver. Returns like x64_dispatch, and at once if
 * the caller is no driver in an x64 image. */
void x64_raise_from_host(EXCEPTION_RECORD *record, const CONTEXT *from);
/* The same; makes the bug check if it is not handled (NT-002). */
_Noreturn void x64_raise_or_stop(EXCEPTION_RECORD *record, const CONTEXT *from);
/* NT-002: the bug check of an unhandled exception. */
_Noreturn void x64_unhandled(const EXCEPTION_RECORD *record);

/* The exception that Windows would raise for a fault. False: Windows raises none (stack overflow,
 * hang). */
bool x64_exception_of_fault(const struct sim_fault *fault, EXCEPTION_RECORD *record);
/* The bug check of a fault that is not handled, with its parameters: 0x1E if it is an exception.
 * Some faults never become exceptions: an access at DISPATCH_LEVEL or above that needs a page
 * (0xD1), and one to kernel memory that is not mapped (0x50), read-only (0xBE) or not executable
 * (0xFC). */
uint32_t x64_fault_bugcheck(const struct sim_fault *fault, uint64_t parameter[4]);
/* Dispatch a fault of a driver, or of a copy routine that it called. Returns if it is no exception,
 * or is not handled. */
void x64_fault(const struct sim_fault *fault);

/* `fn` is called when frames below `sp` are unwound, just before control goes to the handler. NULL:
 * no function. False: out of memory. */
bool x64_on_unwind(void (*fn)(uintptr_t sp));

/* For nt_config.raise: an exception that a kernel service raises in its caller. Returns if it is
 * not handled. */
void x64_raise_in_caller(void *context, NTSTATUS status);
/* For nt_config.find: a routine of this room by the name that a driver imports; NULL: none. */
void *x64_routine_find(const char *name);

EXCEPTION_DISPOSITION NTAPI x64_c_specific_handler(EXCEPTION_RECORD *record, ULONG64 establisher,
                                                   CONTEXT *context,
                                                   struct x64_dispatcher_context *dispatcher);

#endif
