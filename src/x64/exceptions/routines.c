/* SPDX-License-Identifier: MIT */
/* The routines for unwinding and exceptions that a driver of an x64 image imports, with their
 * documented names and behavior. */
#include <stdlib.h>
#include <string.h>

#include "sim/fault.h"
#include "sim/stack.h"
#include "util/array.h"
#include "verify/verify.h"
#include "x64/exceptions/exception.h"
#include "x64/unwind/context.h"

/* ---- raising ---- */

static void NTAPI rtl_raise_exception(EXCEPTION_RECORD *given)
{
    EXCEPTION_RECORD record;
    CONTEXT here;

    if (!sim_copy_checked(&record, given, sizeof(record)))
        record = (EXCEPTION_RECORD){.ExceptionCode = STATUS_ACCESS_VIOLATION};
    if (record.NumberParameters > EXCEPTION_MAXIMUM_PARAMETERS)
        record.NumberParameters = EXCEPTION_MAXIMUM_PARAMETERS;
    record.ExceptionFlags &= X64_NONCONTINUABLE;
    x64_capture(&here);
    x64_raise_or_stop(&record, &here);
}

static void NTAPI rtl_raise_status(NTSTATUS status)
{
    EXCEPTION_RECORD record = {.ExceptionCode = status, .ExceptionFlags = X64_NONCONTINUABLE};
    CONTEXT here;

    x64_capture(&here);
    x64_raise_or_stop(&record, &here);
}

/* ---- unwinding ---- */

/* The record that handlers get during unwinding if the caller passed none. */
static EXCEPTION_RECORD *record_for(EXCEPTION_RECORD *given, EXCEPTION_RECORD *own)
{
    if (given)
        return given;
    *own = (EXCEPTION_RECORD){.ExceptionCode = STATUS_UNWIND};
    return own;
}

/* C++ would continue in a routine of its own; kernel drivers have no C++ exceptions. */
static void refuse_consolidation(const EXCEPTION_RECORD *record)
{
    if (record->ExceptionCode == STATUS_UNWIND_CONSOLIDATE)
        x64_unhandled(record);
}

static void NTAPI rtl_unwind_ex(ULONG64 target, ULONG64 ip, EXCEPTION_RECORD *record, ULONG64 value,
                                CONTEXT *scratch, PVOID history)
{
    EXCEPTION_RECORD own;
    CONTEXT here;

    (void)scratch;
    (void)history;
    x64_capture(&here);
    record = record_for(record, &own);
    refuse_consolidation(record);
    x64_unwind_to(target, ip, record, value, &here);
}

static void NTAPI rtl_unwind(ULONG64 target, ULONG64 ip, EXCEPTION_RECORD *record, ULONG64 value)
{
    rtl_unwind_ex(target, ip, record, value, NULL, NULL);
}

/* A jump out of guarded code: the termination handlers in between run. */
static void NTAPI local_unwind(ULONG64 target, ULONG64 ip)
{
    rtl_unwind_ex(target, ip, NULL, 0, NULL, NULL);
}

static void NTAPI rtl_restore_context(CONTEXT *context, EXCEPTION_RECORD *record)
{
    (void)record;
    x64_context_resume(context);
}

/* ---- questions ---- */

static const struct x64_function *NTAPI rtl_lookup_function_entry(ULONG64 pc, ULONG64 *base,
                                                                  PVOID history)
{
    const struct x64_function_table *table = x64_function_table_find((uintptr_t)pc);
    const struct x64_function *entry = table ? x64_function_find(table, (uintptr_t)pc) : NULL;
    struct x64_function copy;
    uint32_t offset = 0;

    (void)history;
    *base = table ? table->base : 0;
    if (!entry || !(entry->unwind & 1))
        return entry;
    copy = *entry;
    return x64_function_resolve(table, &copy, &offset)
               ? (const struct x64_function *)(table->base + offset)
               : NULL;
}

static ULONG64 NTAPI rtl_virtual_unwind(ULONG type, ULONG64 base, ULONG64 pc,
                                        const struct x64_function *entry, CONTEXT *context,
                                        PVOID *data, ULONG64 *establisher,
                                        struct x64_saved_at *saved_at)
{
    const struct x64_function_table *table = x64_function_table_find((uintptr_t)base);
    struct x64_stack stack;
    struct x64_function copy;
    struct x64_unwound_frame frame;

    if (!table || table->base != base || !sim_copy_checked(&copy, entry, sizeof(copy)))
        return 0;
    sim_stack_bounds(&stack.low, &stack.high);
    if (x64_unwind(table, &copy, pc, type, &stack, context, saved_at, &frame) != X64_UNWOUND) {
        context->Rip = 0; /* marks the end of the stack, for callers that loop */
        return 0;
    }
    *establisher = frame.establisher;
    if (frame.handler && data)
        *data = (PVOID)(uintptr_t)frame.handler_data;
    return frame.handler;
}

static PVOID NTAPI rtl_pc_to_file_header(PVOID pc, PVOID *base)
{
    const struct x64_function_table *table = x64_function_table_find((uintptr_t)pc);

    *base = table ? (PVOID)table->base : NULL;
    return *base;
}

/* Return addresses in the driver's frames, innermost first; the hash is their sum. */
static USHORT NTAPI rtl_capture_stack_back_trace(ULONG skip, ULONG count, PVOID *trace, ULONG *hash)
{
    struct x64_walk walk = {.steps = 0};
    CONTEXT here;
    ULONG seen = 0, sum = 0;
    USHORT taken = 0;

    x64_capture(&here);
    x64_walk_begin(&walk, &here, false);
    while (taken < count && taken < UINT16_MAX && x64_walk_look(&walk, 0) == X64_FRAME) {
        if (seen++ >= skip) {
            trace[taken++] = (PVOID)(uintptr_t)walk.context.Rip;
            sum += (ULONG)walk.context.Rip;
        }
        x64_walk_next(&walk);
    }
    if (hash)
        *hash = sum;
    return taken;
}

/* ---- by name ---- */

struct routine {
    const char *name;
    const void *address;
};

#define CODE(function) ((const void *)(uintptr_t)(function))

static const struct routine routines[] = {
    {"RtlCaptureContext", CODE(x64_capture_ms)},
    {"RtlCaptureStackBackTrace", CODE(rtl_capture_stack_back_trace)},
    {"RtlLookupFunctionEntry", CODE(rtl_lookup_function_entry)},
    {"RtlPcToFileHeader", CODE(rtl_pc_to_file_header)},
    {"RtlRaiseException", CODE(rtl_raise_exception)},
    {"RtlRaiseStatus", CODE(rtl_raise_status)},
    {"RtlRestoreContext", CODE(rtl_restore_context)},
    {"RtlUnwind", CODE(rtl_unwind)},
    {"RtlUnwindEx", CODE(rtl_unwind_ex)},
    {"RtlVirtualUnwind", CODE(rtl_virtual_unwind)},
    {"__C_specific_handler", CODE(x64_c_specific_handler)},
    {"_local_unwind", CODE(local_unwind)},
};

static int compare(const void *name, const void *element)
{
    return strcmp(name, ((const struct routine *)element)->name);
}

void *x64_routine_find(const char *name)
{
    const struct routine *routine = bsearch(name, routines, ARRAY_COUNT(routines),
                                            sizeof(routines[0]), compare);

    return routine ? (void *)(uintptr_t)routine->address : NULL;
}
