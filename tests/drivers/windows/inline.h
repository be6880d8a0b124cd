/* SPDX-License-Identifier: MIT */
/* What inline.c is given, and tells; the same for both sides. */
#ifndef DXGK_TESTS_INLINE_H
#define DXGK_TESTS_INLINE_H

#include <stdint.h>

struct inline_report {
    volatile uint8_t *registers; /* of the device; set by the caller */
    uint32_t reads;              /* of CR8 in a loop, to be made */
    uint32_t moved_right;        /* what string instructions carried to the device came back */
    uint64_t level[3];           /* of CR8: at first, raised, lowered again */
    uint64_t level_asked[3];     /* the same by KeGetCurrentIrql, which is inline in some headers */
    uint64_t sum;                /* of the levels that the loop read */
    uint64_t thread, number, self;
    uint64_t ticks, ticks_asked;
    uint64_t interrupt_time, interrupt_time_asked;
    uint32_t version;
    uint32_t byte, word, dword; /* what came back of the device, width by width */
    uint64_t qword;
    uint32_t port;
    uint64_t msr;
};

#endif
