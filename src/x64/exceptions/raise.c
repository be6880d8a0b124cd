/* SPDX-License-Identifier: MIT */
/* Exceptions raised by software, and the bug check of unhandled ones. */
#include <inttypes.h>
#include <stdio.h>

#include "nt/base/status_name.h"
#include "sim/point.h"
#include "sim/stop.h"
#include "verify/verify.h"
#include "x64/exceptions/exception.h"
#include "x64/unwind/context.h"

#define KMODE_EXCEPTION_NOT_HANDLED 0x1Eu

_Noreturn void x64_unhandled(const EXCEPTION_RECORD *record)
{
    const char *name = nt_status_name(record->ExceptionCode);
    uint64_t first = record->NumberParameters > 0 ? record->ExceptionInformation[0] : 0;
    uint64_t second = record->NumberParameters > 1 ? record->ExceptionInformation[1] : 0;
    const EXCEPTION_RECORD *cause = record->ExceptionRecord;
    char after[48] = "";

    if (cause)
        snprintf(after, sizeof(after), ", while handling %#x", (unsigned)cause->ExceptionCode);
    verify_fatal("NT-002", KMODE_EXCEPTION_NOT_HANDLED, (uint32_t)record->ExceptionCode,
                 (uintptr_t)record->ExceptionAddress, first, second,
                 "exception %#x%s%s%s was not handled%s", (unsigned)record->ExceptionCode,
                 name ? " (" : "", name ? name : "", name ? ")" : "", after);
    sim_stop();
    for (;;)
        sim_spin();
}

void x64_raise_from_host(EXCEPTION_RECORD *record, const CONTEXT *from)
{
    struct x64_walk walk = {.steps = 0};
    CONTEXT context;

    x64_walk_begin(&walk, from, false);
    if (x64_walk_look(&walk, 0) != X64_FRAME)
        return;
    context = walk.context;
    record->ExceptionAddress = (PVOID)(uintptr_t)context.Rip;
    x64_dispatch(record, &context, false);
}

_Noreturn void x64_raise_or_stop(EXCEPTION_RECORD *record, const CONTEXT *from)
{
    x64_raise_from_host(record, from);
    x64_unhandled(record);
}

void x64_raise_in_caller(void *context, NTSTATUS status)
{
    EXCEPTION_RECORD record = {.ExceptionCode = status, .ExceptionFlags = X64_NONCONTINUABLE};
    CONTEXT here;

    (void)context;
    x64_capture(&here);
    x64_raise_from_host(&record, &here);
}
