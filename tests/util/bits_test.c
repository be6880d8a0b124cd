/* SPDX-License-Identifier: MIT */
/* Bitmaps of fixed size against an array. */
#include "support/check_rule.h"

#include <string.h>

#include "util/bits.h"
#include "util/rng.h"

TEST(bitmaps_like_an_array)
{
    enum { BITS = 300 };
    struct rng rng = {.state = 7};
    uint64_t bits[(BITS + 63) / 64] = {0};
    bool model[BITS] = {false};

    for (int step = 0; step < 20000; step++) {
        uint32_t from = rng_below(&rng, BITS), count = 1 + rng_below(&rng, BITS - from);
        uint32_t low = UINT32_MAX, high = 0, first = from, length = count;
        bool any = false, all = true;

        if (rng_below(&rng, 2) == 0) {
            bool value = rng_below(&rng, 2) != 0;

            count = 1 + count % 70 < BITS - from ? 1 + count % 70 : BITS - from;
            bits_put(bits, from, count, value);
            memset(&model[from], value, count);
            continue;
        }
        for (uint32_t i = from; i < from + count; i++) {
            any |= model[i];
            all &= model[i];
            if (model[i]) {
                low = low < i ? low : i;
                high = i;
            }
        }
        CHECK(bits_any(bits, from, count) == any && bits_all(bits, from, count) == all);
        CHECK(bit_test(bits, from) == model[from]);
        CHECK(bits_trim(bits, &first, &length) == any);
        CHECK(any ? first == low && length == high - low + 1 : first == from && length == count);
    }
}
