/* SPDX-License-Identifier: MIT */
/* Coverage of the drivers of a machine. See coverage.h. */
#include "loader/coverage.h"

#include <string.h>

void coverage_add_region(struct coverage *coverage, uint8_t *counter, size_t places)
{
    struct coverage_region *region = &coverage->region[coverage->regions];

    if (coverage->regions == COVERAGE_REGIONS || places == 0 || places > UINT32_MAX / 2)
        return;
    *region = (struct coverage_region){counter, (uint32_t)places, coverage->places};
    coverage->places += (uint32_t)places;
    coverage->regions++;
}

void coverage_add_pairs(struct coverage *coverage, struct coverage_compare *pair, size_t count)
{
    if (coverage->images < COVERAGE_PAIRS && count <= UINT32_MAX)
        coverage->pairs[coverage->images++] = (struct coverage_pairs){pair, (uint32_t)count};
}

static bool is_in(const void *address, uintptr_t low, uintptr_t high)
{
    return (uintptr_t)address >= low && (uintptr_t)address < high;
}

void coverage_forget(struct coverage *coverage, uintptr_t low, uintptr_t high)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < coverage->regions; i++)
        if (!is_in(coverage->region[i].counter, low, high))
            coverage->region[left++] = coverage->region[i];
    coverage->regions = left;
    left = 0;
    for (uint32_t i = 0; i < coverage->images; i++)
        if (!is_in(coverage->pairs[i].pair, low, high))
            coverage->pairs[left++] = coverage->pairs[i];
    coverage->images = left;
}

void coverage_hit_at(struct coverage *coverage, uint64_t offset)
{
    coverage->by_address = true;
    coverage_hit(coverage, (uint32_t)(offset ^ offset >> 16)); /* below 64 KiB: no two are one */
}

void coverage_compare(struct coverage *coverage, uint64_t where, uint64_t a, uint64_t b,
                      uint8_t bytes)
{
    struct coverage_compare *pair;

    if (a == b)
        return;
    where = where * 0x9E3779B97F4A7C15u >> 40;
    pair = &coverage->compare[where % (COVERAGE_COMPARES / 2) * 2];
    pair[pair->bytes != 0] = (struct coverage_compare){a, b, bytes};
    coverage->compared = true;
}

void coverage_clear(struct coverage *coverage)
{
    for (uint32_t i = 0; i < coverage->regions; i++)
        memset(coverage->region[i].counter, 0, coverage->region[i].places);
    for (uint32_t i = 0; i < coverage->images; i++)
        memset(coverage->pairs[i].pair, 0,
               coverage->pairs[i].count * sizeof(*coverage->pairs[i].pair));
    memset(coverage->count, 0, sizeof(coverage->count));
    memset(coverage->compare, 0, sizeof(coverage->compare));
    coverage->compared = false;
}

static uint32_t copy_pairs(const struct coverage_compare *pair, uint32_t pairs,
                           struct coverage_compare *to, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pairs && count < most; i++)
        if (pair[i].bytes)
            to[count++] = pair[i];
    return count;
}

uint32_t coverage_pairs(const struct coverage *coverage, struct coverage_compare *to, uint32_t most)
{
    uint32_t count = coverage->compared ? copy_pairs(coverage->compare, COVERAGE_COMPARES, to, most)
                                        : 0;

    for (uint32_t i = 0; i < coverage->images; i++)
        count += copy_pairs(coverage->pairs[i].pair, coverage->pairs[i].count, to + count,
                            most - count);
    return count;
}

void coverage_collect(const struct coverage *coverage, uint8_t *count)
{
    uint32_t counted = coverage->by_address || coverage->places > COVERAGE_PLACES
                           ? COVERAGE_PLACES
                           : coverage->places;

    memcpy(count, coverage->count, counted);
    for (uint32_t i = 0; i < coverage->regions; i++) {
        const struct coverage_region *region = &coverage->region[i];

        for (uint32_t j = 0; j < region->places; j++)
            if (region->counter[j])
                count[(region->first + j) % COVERAGE_PLACES] = region->counter[j];
    }
}
