/* SPDX-License-Identifier: MIT */
/*
 * Integer arithmetic on values that an untrusted side chose. The three operations have the shape of
 * C23's <stdckdint.h>: the result, wrapped to its type, goes to *result, and the return value is
 * true if it does NOT fit.
 *
 *     if (ckd_mul(&bytes, count, entry_bytes) || ckd_add(&bytes, bytes, sizeof(header)))
 *         return STATUS_INVALID_PARAMETER;
 */
#ifndef DXGK_UTIL_CHECKED_H
#define DXGK_UTIL_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ckd_add
#define ckd_add(result, a, b) __builtin_add_overflow((a), (b), (result))
#define ckd_sub(result, a, b) __builtin_sub_overflow((a), (b), (result))
#define ckd_mul(result, a, b) __builtin_mul_overflow((a), (b), (result))
#endif

/* [offset, offset + size) lies inside [0, limit); sizes of 0 are allowed up to the very end. */
static inline bool range_inside(uint64_t offset, uint64_t size, uint64_t limit)
{
    return offset <= limit && size <= limit - offset;
}

/* Two ranges share at least one unit. Neither may wrap. */
static inline bool ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a_size != 0 && b_size != 0 && a < b + b_size && b < a + a_size;
}

/* Round up to a multiple of `align`, a power of two. Like ckd_add, returns true if the result does
 * not fit. */
static inline bool ckd_align_up(uint64_t *result, uint64_t value, uint64_t align)
{
    if (__builtin_add_overflow(value, align - 1, result))
        return true;
    *result &= ~(align - 1);
    return false;
}

/* The smallest power of two that is at least `value`, which is in 1 .. 2^63. */
static inline uint64_t power_of_two_at_least(uint64_t value)
{
    return value <= 1 ? 1 : (uint64_t)1 << (64 - __builtin_clzll(value - 1));
}

/* How many bytes `now` is behind `start`. False: it is outside [start, start + room]. */
static inline bool advance_of(const void *start, const void *now, uint32_t room, uint32_t *bytes)
{
    uintptr_t from = (uintptr_t)start, to = (uintptr_t)now;

    if (to < from || to - from > room)
        return false;
    *bytes = (uint32_t)(to - from);
    return true;
}

#endif
