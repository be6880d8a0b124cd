/* SPDX-License-Identifier: MIT */
#include "util/bits.h"

/* The next word of a walk from *at to end, and the mask of its bits that the walk covers. */
static bool next_word(uint32_t *at, uint32_t end, uint32_t *word, uint64_t *mask)
{
    uint32_t shift = *at % 64, count = 64 - shift;

    if (*at >= end)
        return false;
    if (count > end - *at)
        count = end - *at;
    *word = *at / 64;
    *mask = (count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1) << shift;
    *at += count;
    return true;
}

bool bits_any(const uint64_t *bits, uint32_t from, uint32_t count)
{
    uint64_t mask;
    uint32_t word;

    for (uint32_t at = from; next_word(&at, from + count, &word, &mask);)
        if (bits[word] & mask)
            return true;
    return false;
}

bool bits_all(const uint64_t *bits, uint32_t from, uint32_t count)
{
    uint64_t mask;
    uint32_t word;

    for (uint32_t at = from; next_word(&at, from + count, &word, &mask);)
        if (~bits[word] & mask)
            return false;
    return true;
}

void bits_put(uint64_t *bits, uint32_t from, uint32_t count, bool value)
{
    uint64_t mask;
    uint32_t word;

    for (uint32_t at = from; next_word(&at, from + count, &word, &mask);)
        bits[word] = value ? bits[word] | mask : bits[word] & ~mask;
}

bool bits_trim(const uint64_t *bits, uint32_t *from, uint32_t *count)
{
    uint32_t low = UINT32_MAX, high = 0, word;
    uint64_t mask;

    for (uint32_t at = *from; next_word(&at, *from + *count, &word, &mask);) {
        uint64_t hit = bits[word] & mask;

        if (hit == 0)
            continue;
        if (low == UINT32_MAX)
            low = word * 64 + (uint32_t)__builtin_ctzll(hit);
        high = word * 64 + 63 - (uint32_t)__builtin_clzll(hit);
    }
    if (low == UINT32_MAX)
        return false;
    *from = low;
    *count = high - low + 1;
    return true;
}
