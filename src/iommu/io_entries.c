/* SPDX-License-Identifier: MIT */
/*
 * Each body is written once, in vectors of four entries, and compiled for each instruction set that
 * is worth it: where the baseline uses two vectors of two, AVX2 uses one of four.
 */
#include "iommu/io_entries.h"
#include "util/address.h"

#include <stddef.h>
#include <string.h>

/* Only aligned like a single entry. */
typedef uint64_t four __attribute__((vector_size(32), aligned(8), may_alias));

#define BODY static inline __attribute__((always_inline))

BODY void fill_run(uint64_t *entries, uint64_t count, uint64_t value, uint64_t step)
{
    const four first = {value, value + step, value + 2 * step, value + 3 * step};
    const four next = {4 * step, 4 * step, 4 * step, 4 * step};
    four a = first, b = a + next, c = b + next, d = c + next;
    const four far = 4 * next;
    uint64_t i = 0;

    for (; i + 16 <= count; i += 16) {
        *(four *)(entries + i) = a;
        *(four *)(entries + i + 4) = b;
        *(four *)(entries + i + 8) = c;
        *(four *)(entries + i + 12) = d;
        a += far;
        b += far;
        c += far;
        d += far;
    }
    for (; i < count; i++)
        entries[i] = value + i * step;
}

BODY void fill_list(uint64_t *entries, const struct page_number *frames, uint64_t count,
                    unsigned shift, uint64_t flags)
{
    const four all = {flags, flags, flags, flags};
    uint64_t i = 0;

    _Static_assert(sizeof(*frames) == sizeof(*entries), "they are copied side by side");
    for (; i + 16 <= count; i += 16)
        for (unsigned part = 0; part < 16; part += 4)
            *(four *)(entries + i + part) = *(const four *)(frames + i + part) << shift | all;
    for (; i < count; i++)
        entries[i] = frames[i].value << shift | flags;
}

BODY uint64_t differ(const uint64_t *entries, uint64_t count, uint64_t pattern)
{
    const four all = {pattern, pattern, pattern, pattern};
    four a = {0}, b = {0};
    uint64_t i = 0, any = 0;

    for (; i + 16 <= count; i += 16) {
        a |= (*(const four *)(entries + i) ^ all) | (*(const four *)(entries + i + 4) ^ all);
        b |= (*(const four *)(entries + i + 8) ^ all) | (*(const four *)(entries + i + 12) ^ all);
    }
    a |= b;
    for (; i < count; i++)
        any |= entries[i] ^ pattern;
    return any | a[0] | a[1] | a[2] | a[3];
}

BODY bool rising(const uint64_t *entries, uint64_t count, uint64_t step)
{
    const uint64_t value = count ? entries[0] : 0;
    const four next = {4 * step, 4 * step, 4 * step, 4 * step};
    four want = {value, value + step, value + 2 * step, value + 3 * step}, any = {0};
    uint64_t i = 0, rest = 0;

    for (; i + 8 <= count; i += 8) {
        any |= *(const four *)(entries + i) ^ want;
        want += next;
        any |= *(const four *)(entries + i + 4) ^ want;
        want += next;
    }
    for (; i < count; i++)
        rest |= entries[i] ^ (value + i * step);
    return (rest | any[0] | any[1] | any[2] | any[3]) == 0;
}

/* clang-format off */
#define WORK(set, attribute)                                                                       \
    attribute static void fill_run_##set(uint64_t *entries, uint64_t count, uint64_t value,        \
                                         uint64_t step)                                            \
    {                                                                                              \
        fill_run(entries, count, value, step);                                                     \
    }                                                                                              \
    attribute static void fill_list_##set(uint64_t *entries, const struct page_number *frames,     \
                                          uint64_t count, unsigned shift, uint64_t flags)          \
    {                                                                                              \
        fill_list(entries, frames, count, shift, flags);                                           \
    }                                                                                              \
    attribute static uint64_t differ_##set(const uint64_t *entries, uint64_t count,                \
                                           uint64_t pattern)                                       \
    {                                                                                              \
        return differ(entries, count, pattern);                                                    \
    }                                                                                              \
    attribute static bool rising_##set(const uint64_t *entries, uint64_t count, uint64_t step)     \
    {                                                                                              \
        return rising(entries, count, step);                                                       \
    }                                                                                              \
    static const struct io_entry_work work_##set = {#set, fill_run_##set, fill_list_##set,         \
                                                    differ_##set, rising_##set};
/* clang-format on */

WORK(baseline, )

#if defined(__x86_64__)
WORK(avx2, __attribute__((target("avx2"))))
#endif

const struct io_entry_work *io_entry_work_named(const char *name)
{
#if defined(__x86_64__)
    if (strcmp(name, work_avx2.name) == 0)
        return __builtin_cpu_supports("avx2") ? &work_avx2 : NULL;
#endif
    return strcmp(name, work_baseline.name) == 0 ? &work_baseline : NULL;
}

const struct io_entry_work *io_entry_work(void)
{
    const struct io_entry_work *best = io_entry_work_named("avx2");

    return best ? best : &work_baseline;
}
