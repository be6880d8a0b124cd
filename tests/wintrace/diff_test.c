/* SPDX-License-Identifier: MIT */
/* Longest common subsequences, against the obvious slow way to find their length. */
#include "support/check_rule.h"
#include "support/test.h"
#include "util/alloc.h"
#include "util/rng.h"
#include "wintrace/diff.h"

#include <string.h>

#define MOST 40u

static size_t slow_length(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    size_t length[MOST + 1][MOST + 1] = {{0}};

    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t without = length[i - 1][j] > length[i][j - 1] ? length[i - 1][j]
                                                                 : length[i][j - 1];

            length[i][j] = a[i - 1] == b[j - 1] ? length[i - 1][j - 1] + 1 : without;
        }
    return length[n][m];
}

/* The pairs that were found; each is one, and they increase. */
static size_t checked_pairs(const uint64_t *a, size_t n, const uint64_t *b, size_t m,
                            const size_t *match)
{
    size_t next = 0, pairs = 0;

    for (size_t i = 0; i < n; i++) {
        if (match[i] == DIFF_NONE)
            continue;
        CHECK(match[i] >= next && match[i] < m && a[i] == b[match[i]]);
        next = match[i] + 1;
        pairs++;
    }
    return pairs;
}

TEST(as_many_agree_as_can)
{
    struct rng rng = {7};

    for (unsigned run = 0; run < 20000; run++) {
        uint64_t a[MOST], b[MOST];
        size_t n = rng_below(&rng, MOST + 1), m = rng_below(&rng, MOST + 1), match[MOST + 1];
        uint32_t kinds = 1 + rng_below(&rng, 6);

        for (size_t i = 0; i < n; i++)
            a[i] = rng_below(&rng, kinds);
        for (size_t i = 0; i < m; i++)
            b[i] = rng_below(&rng, kinds);
        CHECK(diff_run(a, n, b, m, match));
        CHECK(checked_pairs(a, n, b, m, match) == slow_length(a, n, b, m));
    }
}

/* With more differences than are looked for, begin and end still agree. */
TEST(too_many_differences_are_one)
{
    static uint64_t a[3000], b[3000];
    static size_t match[3000];

    for (size_t i = 0; i < 3000; i++) {
        a[i] = i;
        b[i] = i < 10 || i >= 2990 ? i : 10000 + i;
    }
    CHECK(diff_run(a, 3000, b, 3000, match));
    CHECK(checked_pairs(a, 3000, b, 3000, match) == 20 && match[9] == 9 && match[10] == DIFF_NONE &&
          match[2990] == 2990);
    for (size_t i = 0; i < 3000; i++)
        b[i] = i < DIFF_MOST ? i + 1 : i; /* one is missing, one is twice */
    CHECK(diff_run(a, 3000, b, 3000, match));
    CHECK(checked_pairs(a, 3000, b, 3000, match) == 2999);
}

TEST(want_of_memory_is_told_of_differences)
{
    static const uint64_t a[] = {1, 2, 3, 4, 5}, b[] = {9, 3, 2, 4, 8};
    struct util_heap heap = {0};
    size_t match[5];
    bool done = false;

    util_heap_current = &heap;
    while (!done) {
        heap.requests = 0;
        heap.fail_at = heap.failures + 1;
        done = diff_run(a, 5, b, 5, match);
        CHECK(heap.live_blocks == 0);
    }
    util_heap_current = NULL;
    CHECK(heap.failures > 3);
}
