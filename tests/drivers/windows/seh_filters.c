/* SPDX-License-Identifier: MIT */
/* Filters that do not take an exception, or fail themselves. */
#include "seh_kit.h"

IMPORT void RtlRaiseException(struct record *record);

static NOINLINE void raise_with_parameters(void)
{
    struct record record = {.code = (unsigned)STATUS_OF_OURS, .parameters = 2};

    record.parameter[0] = 11;
    record.parameter[1] = 22;
    RtlRaiseException(&record);
    note(5);
}

static NOINLINE void continued(void)
{
    __try {
        raise_with_parameters();
        note(6);
    } __except (SEEN(CONTINUE)) {
        note(99);
    }
}

static NOINLINE int repair(struct pointers *pointers)
{
    note(2);
    seen(pointers, 0);
    pointers->context->general[1] = (u64)report->memory;
    return CONTINUE;
}

static NOINLINE u64 read_through_rcx(u64 address)
{
    u64 value;

    __asm__ volatile("movq (%%rcx), %0" : "=a"(value) : "c"(address));
    return value;
}

static NOINLINE void repaired(void)
{
    __try {
        note(1);
        report->value = read_through_rcx(0x40);
        note(3);
    } __except (repair((struct pointers *)_exception_info())) {
        note(99);
    }
}

static NOINLINE void not_continuable(void)
{
    __try {
        __try {
            raise_status(STATUS_OF_OURS);
        } __except (note(1),
                    _exception_code() == (unsigned long)STATUS_OF_OURS ? CONTINUE : DISMISS) {
            note(99);
        }
    } __except (note(2), SEEN(TAKE)) {
        note(3);
    }
}

static NOINLINE void dismissed_inside(void)
{
    __try {
        raise_status(STATUS_OF_OURS);
    } __except (note(1), DISMISS) {
        note(99);
    }
    note(98);
}

static NOINLINE void dismissed(void)
{
    __try {
        dismissed_inside();
    } __except (note(2), SEEN(TAKE)) {
        note(3);
    }
}
/* ---- exceptions in filters and handlers ---- */

static NOINLINE int careful_filter(void)
{
    note(2);
    __try {
        fault_now();
        note(99);
    } __except (note(3), _exception_code() == 0xC0000005 ? TAKE : DISMISS) {
        note(4);
    }
    return TAKE;
}

static NOINLINE void nested_in_filter(void)
{
    __try {
        note(1);
        raise_status(STATUS_OF_OURS);
    } __except (careful_filter() && SEEN(TAKE)) {
        note(5);
    }
}

static NOINLINE int faulty_filter(unsigned code)
{
    note(code == 0xC0000005 ? 3 : 2);
    if (code == 0xC0000005)
        return DISMISS; /* its own exception comes by here, too */
    fault_now();
    return TAKE;
}

static NOINLINE void escapes_inside(void)
{
    __try {
        __try {
            raise_status(STATUS_OF_OURS);
            BEHIND_CALL();
        } __finally {
            note(5);
        }
    } __except (faulty_filter(_exception_code())) {
        note(99);
    }
}

static NOINLINE void escapes_filter(void)
{
    __try {
        note(1);
        escapes_inside();
    } __except (note(4), SEEN(TAKE)) {
        note(6);
    }
}
static NOINLINE void raised_in_handler(void)
{
    __try {
        __try {
            raise_status(STATUS_OF_OURS);
        } __except (note(1), TAKE) {
            note(2);
            raise_status(ANOTHER_STATUS);
        }
    } __except (note(3), SEEN(TAKE)) {
        note(4);
    }
}

int play_filters(unsigned scenario)
{
    switch (scenario) {
    case SEH_EXCEPTION_CONTINUED:
        continued();
        return 1;
    case SEH_REPAIRED:
        repaired();
        return 1;
    case SEH_NOT_CONTINUABLE:
        not_continuable();
        return 1;
    case SEH_DISMISSED:
        dismissed();
        return 1;
    case SEH_NESTED_IN_FILTER:
        nested_in_filter();
        return 1;
    case SEH_ESCAPES_FILTER:
        escapes_filter();
        return 1;
    case SEH_RAISED_IN_HANDLER:
        raised_in_handler();
        return 1;
    default:
        return 0;
    }
}
