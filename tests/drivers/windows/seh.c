/* SPDX-License-Identifier: MIT */
/*
 * Structured exceptions as a driver uses them, one scenario after the other; seh_*.c have them. The test calls DriverEntry with a
 * struct seh_report in the place of the registry path.
 */
#include "seh_kit.h"

#if defined(_MSC_VER)
int _fltused = 1; /* what Microsoft's compiler asks of libraries wherever floating point is used */
#endif

struct seh_report *report;

NOINLINE void note(unsigned event)
{
    if (report->count < SEH_EVENTS)
        report->event[report->count++] = event;
}

NOINLINE int seen(struct pointers *pointers, int answer)
{
    const struct record *record = pointers->record;

    report->code = record->code;
    report->flags = record->flags;
    report->parameters = record->parameters;
    report->parameter[0] = record->parameter[0];
    report->parameter[1] = record->parameter[1];
    report->address = (u64)record->address;
    return answer;
}

void expect_at(const void *function)
{
    report->place = (u64)function;
    report->bytes = 96;
}

NOINLINE unsigned read_at(volatile unsigned *address)
{
    return *address;
}

NOINLINE void raise_status(int status)
{
    RtlRaiseStatus(status);
}

NOINLINE void fault_now(void)
{
    note(read_at(hidden(0x18)));
}

NOINLINE void nothing(void)
{
    __asm__ volatile("");
}

int DriverEntry(void *driver, void *path);
int DriverEntry(void *driver, void *path)
{
    (void)driver;
    report = path;
    if (!play_simple(report->scenario) && !play_filters(report->scenario) &&
        !play_finally(report->scenario) && !play_frames(report->scenario) &&
        !play_unhandled(report->scenario))
        note(90);
    return 0;
}
