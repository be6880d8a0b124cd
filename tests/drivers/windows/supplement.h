/* SPDX-License-Identifier: MIT */
/* What supplement.c tells: each member is what the test expects, or it names what went wrong. */
#ifndef DXGK_TESTS_SUPPLEMENT_H
#define DXGK_TESTS_SUPPLEMENT_H

#include <stdint.h>

struct supplement_report {
    int32_t thread,
        wrong_type;     /* statuses of two references to a thread, by its type and by another one */
    uint32_t read_kept; /* 1: registers are as they were after they were read */
    uint32_t read[3];   /* what was read: 11, 22, 33 */
    uint32_t written[3];   /* what registers hold after 44, 55, 66 were written */
    uint32_t pool;         /* 1: a block of pool that is zero */
    uint32_t shared_level; /* IRQL under a shared spin lock */
    uint64_t time;
};

#endif
