/* SPDX-License-Identifier: MIT */
/* The smaller and the larger of two numbers, each evaluated once. */
#ifndef DXGK_UTIL_MIN_MAX_H
#define DXGK_UTIL_MIN_MAX_H

#include <stdint.h>

static inline uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
