/* SPDX-License-Identifier: MIT */
/* What probe.c tells about itself; the test's side of it is the same, whichever compiler made the image. */
#ifndef DXGK_TESTS_PROBE_H
#define DXGK_TESTS_PROBE_H

#include <stdint.h>

struct probe_report {
    uint32_t size;       /* set by the caller */
    uint32_t initialize; /* set by the caller: run code of the section INIT */
    uint32_t initialized;
    uint32_t calls;
    uint64_t own_function,
        own_table; /* the address of a static function, and the same out of a relocated table */
    uint64_t own_constant, own_variable, own_code;
    uint64_t own_initializer; /* address of code of the section INIT; 0: built without one */
    uint64_t highest_user_address;
    uint64_t import;  /* address that DbgPrint was bound to */
    uint64_t cookie;  /* 0: built without one */
    uint64_t delayed; /* the answer of a delay-loaded routine; 0: built without one */
    uint32_t build, processors;
    uint64_t system_process;
    uint32_t debugger_enabled, debugger_absent;
    uint32_t compared;    /* memcmp through the import table */
    uint32_t large_frame; /* of a function whose frame takes several pages */
};

#endif
