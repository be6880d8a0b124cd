/* SPDX-License-Identifier: MIT */
/* One exception of each kind, of the processor and of software, taken at once. */
#include "seh_kit.h"

IMPORT __attribute__((noreturn)) void ExRaiseStatus(int status);
IMPORT __attribute__((noreturn)) void ExRaiseAccessViolation(void);
IMPORT __attribute__((noreturn)) void ExRaiseDatatypeMisalignment(void);
IMPORT void ProbeForRead(const volatile void *address, u64 length, unsigned alignment);
IMPORT void ProbeForWrite(volatile void *address, u64 length, unsigned alignment);
IMPORT void *memcpy(void *to, const void *from, u64 bytes);

/* ---- what goes wrong ---- */

static NOINLINE void write_at(volatile unsigned *address)
{
    *address = 1;
}

static NOINLINE void call_at(void (*volatile function)(void))
{
    function();
    note(99);
}

static NOINLINE int divide(volatile int *a, volatile int *b)
{
    return *a / *b;
}

static NOINLINE unsigned divide_byte(volatile unsigned char *b)
{
    unsigned result = 1000;

    __asm__ volatile("divb %1" : "+a"(result) : "m"(*b) : "cc");
    return result;
}

static NOINLINE void illegal(void)
{
    __asm__ volatile("ud2");
}

static NOINLINE void breakpoint(void)
{
    __asm__ volatile("int3");
    note(50);
}

static NOINLINE void divide_float(void)
{
    unsigned mxcsr = 0x1F80 & ~0x200u, old; /* division by zero unmasked */
    double one = 1, zero = 0;

    __asm__ volatile("stmxcsr %0" : "=m"(old));
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
    __asm__ volatile("divsd %1, %0" : "+x"(one) : "x"(zero));
    __asm__ volatile("ldmxcsr %0" : : "m"(old));
}

/* ---- taken ---- */

static NOINLINE void simple(unsigned scenario)
{
    volatile int a = 7, zero = 0, lowest = -0x7FFFFFFF - 1, minus = -1;
    volatile unsigned char byte = scenario == SEH_DIVIDE_BYTE ? 0 : 1;

    __try {
        note(1);
        switch (scenario) {
        case SEH_READ:
            expect_at((void *)read_at);
            read_at(hidden(0x1234));
            break;
        case SEH_WRITE:
            expect_at((void *)write_at);
            write_at(hidden(0x2344));
            break;
        case SEH_EXECUTE:
            call_at((void (*)(void))0x20);
            break;
        case SEH_NOT_CANONICAL:
            read_at(hidden(0x1234567812345678));
            break;
        case SEH_DIVIDE:
            expect_at((void *)divide);
            divide(&a, &zero);
            break;
        case SEH_DIVIDE_BYTE:
            divide_byte(&byte);
            break;
        case SEH_OVERFLOW:
            divide(&lowest, &minus);
            break;
        case SEH_ILLEGAL:
            expect_at((void *)illegal);
            illegal();
            break;
        case SEH_BREAKPOINT:
            expect_at((void *)breakpoint);
            breakpoint();
            break;
        case SEH_FLOAT:
            divide_float();
            break;
        case SEH_STATUS:
            expect_at((void *)raise_status);
            raise_status(STATUS_OF_OURS);
            break;
        case SEH_EX_STATUS:
            ExRaiseStatus(STATUS_OF_OURS);
            break;
        case SEH_ACCESS_VIOLATION:
            ExRaiseAccessViolation();
            break;
        case SEH_MISALIGNMENT:
            ExRaiseDatatypeMisalignment();
            break;
        case SEH_COPY_FROM:
            memcpy(report->memory, (void *)0x3000, 64);
            break;
        case SEH_COPY_TO:
            memcpy(report->read_only, report->memory, 64);
            break;
        case SEH_PROBE_READ:
            ProbeForRead((void *)0xFFFFF80000001000, 64, 1);
            break;
        case SEH_PROBE_MISALIGNED:
            ProbeForRead((void *)0x1001, 64, 4);
            break;
        case SEH_PROBE_WRITE:
            ProbeForWrite(report->read_only, 64, 1);
            break;
        }
        note(2);
    } __except (SEEN(TAKE)) {
        note(3);
        report->value = (unsigned)_exception_code();
    }
    note(4);
}

int play_simple(unsigned scenario)
{
    switch (scenario) {
    case SEH_READ:
    case SEH_WRITE:
    case SEH_EXECUTE:
    case SEH_NOT_CANONICAL:
    case SEH_DIVIDE:
    case SEH_DIVIDE_BYTE:
    case SEH_OVERFLOW:
    case SEH_ILLEGAL:
    case SEH_BREAKPOINT:
    case SEH_FLOAT:
    case SEH_STATUS:
    case SEH_EX_STATUS:
    case SEH_ACCESS_VIOLATION:
    case SEH_MISALIGNMENT:
    case SEH_COPY_FROM:
    case SEH_COPY_TO:
    case SEH_PROBE_READ:
    case SEH_PROBE_MISALIGNED:
    case SEH_PROBE_WRITE:
        simple(scenario);
        return 1;
    default:
        return 0;
    }
}
