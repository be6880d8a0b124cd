/* SPDX-License-Identifier: MIT */
/* What nobody takes: the bug checks. */
#include "seh_kit.h"

IMPORT unsigned char KfRaiseIrql(unsigned char level);
IMPORT void KeLowerIrql(unsigned char level);
IMPORT int RtlQueryRegistryValues(unsigned relative_to, const unsigned short *path, void *table,
                                  void *context, void *environment);

static NOINLINE void fails_in_finally(void)
{
    __try {
        raise_status(STATUS_OF_OURS);
    } __finally {
        note(2);
        fault_now();
    }
}

static NOINLINE void unhandled_in_finally(void)
{
    __try {
        fails_in_finally();
    } __except (note(1), _exception_code() == (unsigned long)STATUS_OF_OURS ? TAKE : DISMISS) {
        note(99);
    }
}

static NOINLINE int always_faults(void)
{
    fault_now();
    return TAKE;
}

static NOINLINE void filter_faults_for_ever(void)
{
    __try {
        fault_now();
    } __except (always_faults()) {
        note(99);
    }
}

static NOINLINE void kernel_address(void)
{
    __try {
        read_at(hidden(0xFFFFF88000001000));
    } __except (TAKE) {
        note(99);
    }
}

static NOINLINE void raised_level(void)
{
    unsigned char before = KfRaiseIrql(2);

    __try {
        fault_now();
    } __except (TAKE) {
        note(99);
    }
    KeLowerIrql(before);
}

/* As the kernel's header has it. */
struct query {
    int (*routine)(unsigned short *name, unsigned type, void *data, unsigned bytes, void *context,
                   void *entry);
    unsigned flags;
    const unsigned short *name;
    void *entry;
    unsigned default_type;
    const void *default_data;
    unsigned default_bytes;
};

static int queried(unsigned short *name, unsigned type, void *data, unsigned bytes, void *context,
                   void *entry)
{
    (void)name;
    (void)type;
    (void)data;
    (void)bytes;
    (void)context;
    (void)entry;
    note(1);
    fault_now();
    return 0;
}

static NOINLINE void through_host(void)
{
    static const unsigned number = 5;
    const struct query table[2] = {{.routine = queried,
                                    .name = (const unsigned short *)L"absent",
                                    .default_type = 4,
                                    .default_data = &number,
                                    .default_bytes = 4}};

    __try {
        RtlQueryRegistryValues(0, (const unsigned short *)L"\\Registry\\Machine\\Seh",
                               (void *)table, 0, 0);
        note(98);
    } __except (TAKE) {
        note(99);
    }
}

static NOINLINE void fast_fail(void)
{
    __try {
        __asm__ volatile("int $0x29" : : "c"(2));
    } __except (TAKE) {
        note(99);
    }
}
int play_unhandled(unsigned scenario)
{
    switch (scenario) {
    case SEH_UNHANDLED_READ:
        fault_now();
        return 1;
    case SEH_UNHANDLED_STATUS:
        raise_status(STATUS_OF_OURS);
        return 1;
    case SEH_UNHANDLED_IN_FINALLY:
        unhandled_in_finally();
        return 1;
    case SEH_FILTER_FAULTS_FOR_EVER:
        filter_faults_for_ever();
        return 1;
    case SEH_KERNEL_ADDRESS:
        kernel_address();
        return 1;
    case SEH_RAISED_LEVEL:
        raised_level();
        return 1;
    case SEH_THROUGH_HOST:
        through_host();
        return 1;
    case SEH_FAST_FAIL:
        fast_fail();
        return 1;
    default:
        return 0;
    }
}
