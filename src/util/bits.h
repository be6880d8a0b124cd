/* SPDX-License-Identifier: MIT */
/* Bitmaps of fixed size: one bit per entry of a page table, per slot of a page. */
#ifndef DXGK_UTIL_BITS_H
#define DXGK_UTIL_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool bit_test(const uint64_t *bits, uint32_t index)
{
    return (bits[index / 64] >> (index % 64) & 1) != 0;
}

/* Whether any bit of [from, from + count) is set, or all are; and setting or clearing them. */
bool bits_any(const uint64_t *bits, uint32_t from, uint32_t count);
bool bits_all(const uint64_t *bits, uint32_t from, uint32_t count);
void bits_put(uint64_t *bits, uint32_t from, uint32_t count, bool value);
/* Shrink [*from, *from + *count) to its first and last set bit; false: none is set. */
bool bits_trim(const uint64_t *bits, uint32_t *from, uint32_t *count);

#endif
