/* SPDX-License-Identifier: MIT */
/* What seh.c is asked to do, and what it tells. No headers, so that images for any target may include it. */
#ifndef DXGK_TESTS_SEH_H
#define DXGK_TESTS_SEH_H

enum seh_scenario {
    SEH_READ,
    SEH_WRITE,
    SEH_EXECUTE,
    SEH_NOT_CANONICAL,
    SEH_DIVIDE,
    SEH_DIVIDE_BYTE,
    SEH_OVERFLOW,
    SEH_ILLEGAL,
    SEH_BREAKPOINT,
    SEH_FLOAT,
    SEH_STATUS,
    SEH_EX_STATUS,
    SEH_ACCESS_VIOLATION,
    SEH_MISALIGNMENT,
    SEH_EXCEPTION_CONTINUED,
    SEH_REPAIRED,
    SEH_NOT_CONTINUABLE,
    SEH_DISMISSED,
    SEH_FINALLY_ORDER,
    SEH_FINALLY_NORMAL,
    SEH_LEAVE,
    SEH_RETURN,
    SEH_GOTO,
    SEH_NESTED_IN_FILTER,
    SEH_ESCAPES_FILTER,
    SEH_COLLIDED,
    SEH_COLLIDED_SAME_FUNCTION,
    SEH_RAISED_IN_HANDLER,
    SEH_REGISTERS,
    SEH_DEEP,
    SEH_DYNAMIC_FRAME,
    SEH_MANY,
    SEH_COPY_FROM,
    SEH_COPY_TO,
    SEH_PROBE_READ,
    SEH_PROBE_MISALIGNED,
    SEH_PROBE_WRITE,
    SEH_BACK_TRACE,
    SEH_VIRTUAL_UNWIND,
    SEH_UNHANDLED_READ,
    SEH_UNHANDLED_STATUS,
    SEH_UNHANDLED_IN_FINALLY,
    SEH_FILTER_FAULTS_FOR_EVER,
    SEH_KERNEL_ADDRESS,
    SEH_RAISED_LEVEL,
    SEH_THROUGH_HOST,
    SEH_FAST_FAIL,
};

#define SEH_EVENTS 32

struct seh_report {
    unsigned scenario;
    unsigned count;             /* events */
    unsigned event[SEH_EVENTS]; /* numbers in the order in which they were passed */
    unsigned code;              /* of the exception that the filter saw last */
    unsigned flags;
    unsigned parameters;
    unsigned long long parameter[2];
    unsigned long long address; /* of the exception */
    unsigned long long place;   /* where the scenario expects it to be */
    unsigned long long bytes;   /* of code around `place` */
    unsigned long long value;
    void *memory;    /* given by the test: memory to read and write */
    void *read_only; /* and a page that cannot be written */
};

#endif
