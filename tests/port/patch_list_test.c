/* SPDX-License-Identifier: MIT */
/* Each member of each patch location, at its limit and past it, wherever in the list it stands: locations are looked at in fours
 * and one by one. */
#include "port/support/portions.h"

#include <string.h>

#define MOST     9u
#define COMMANDS 256u

static struct portions_gpu gpu;
static bool with_nothing; /* element 0 is no allocation */

/* `count` locations of elements 1 and 2 that are right. */
static void good(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        portions_element(&gpu, i, i % 2, 1 + i % 2, 0);
        gpu.context.pPatchLocationList[i].PatchOffset = 8 * i;
        gpu.context.pPatchLocationList[i].AllocationOffset = 64 * i;
    }
}

static D3DDDI_PATCHLOCATIONLIST *location(unsigned at)
{
    return &gpu.context.pPatchLocationList[at];
}

static bool is_good(unsigned count)
{
    return portions_render(&gpu, COMMANDS, count) == STATUS_SUCCESS;
}

/* One member of location `at` of `count`: at its limit, then past it. */
static void element_numbers(struct probe *p, unsigned count, unsigned at)
{
    static const UINT past[] = {PORTIONS_MANY + 1, 0x80000000, ~0u};
    uint64_t before = probe_rule(p, "PATCH-102");

    good(count);
    location(at)->AllocationIndex = PORTIONS_MANY;
    CHECK_RULE("PATCH-102", is_good(count) && probe_rule(p, "PATCH-102") == before);
    for (unsigned i = 0; i < 3; i++) {
        location(at)->AllocationIndex = past[i];
        CHECK_RULE("PATCH-102", portions_render(&gpu, COMMANDS, count) == STATUS_INVALID_PARAMETER &&
                                    probe_rule(p, "PATCH-102") == before + i + 1);
    }
}

static void reserved_bits(struct probe *p, unsigned count, unsigned at)
{
    uint64_t before = probe_rule(p, "PATCH-105");

    good(count);
    location(at)->Value = 7; /* the last slot */
    CHECK_RULE("PATCH-105", is_good(count) && probe_rule(p, "PATCH-105") == before);
    for (unsigned bit = 24; bit < 32; bit += 7) {
        location(at)->Value = 1u << bit;
        CHECK_RULE("PATCH-105", is_good(count) && probe_rule(p, "PATCH-105") == ++before);
    }
}

static void offsets_in_allocations(struct probe *p, unsigned count, unsigned at)
{
    uint64_t before = probe_rule(p, "PATCH-108");

    for (unsigned element = 1; element <= 2; element++) { /* of 2 MiB and of 1 */
        good(count);
        location(at)->AllocationIndex = element;
        location(at)->AllocationOffset = (3 - element) * PORTIONS_MIB;
        CHECK_RULE("PATCH-108", is_good(count) && probe_rule(p, "PATCH-108") == before);
        location(at)->AllocationOffset++;
        CHECK_RULE("PATCH-108", is_good(count) && probe_rule(p, "PATCH-108") == ++before);
        location(at)->AllocationOffset = ~0u;
        CHECK_RULE("PATCH-108", is_good(count) && probe_rule(p, "PATCH-108") == ++before);
    }
    if (!with_nothing)
        return;
    good(count);
    location(at)->AllocationIndex = 0;
    location(at)->AllocationOffset = 0;
    CHECK_RULE("PATCH-108", is_good(count) && probe_rule(p, "PATCH-108") == before);
    location(at)->AllocationOffset = 1;
    CHECK_RULE("PATCH-108", is_good(count) && probe_rule(p, "PATCH-108") == before + 1);
}

static void places_in_the_buffer(struct probe *p, unsigned count, unsigned at)
{
    static const UINT past[] = {COMMANDS, 0x80000000, ~0u};
    uint64_t before = probe_rule(p, "PATCH-110");

    good(count);
    location(at)->PatchOffset = COMMANDS - 1;
    CHECK_RULE("PATCH-110", is_good(count) && probe_rule(p, "PATCH-110") == before);
    for (unsigned i = 0; i < 3; i++) {
        location(at)->PatchOffset = past[i];
        CHECK_RULE("PATCH-110", portions_render(&gpu, COMMANDS, count) == STATUS_INVALID_PARAMETER &&
                                    probe_rule(p, "PATCH-110") == before + i + 1);
    }
    if (!with_nothing)
        return;
    location(at)->AllocationIndex = 0; /* its place is not looked at */
    location(at)->AllocationOffset = 0;
    CHECK_RULE("PATCH-110", is_good(count) && probe_rule(p, "PATCH-110") == before + 3);
}

/* The first element is an allocation, too. */
static void add_first(void)
{
    D3DDDI_ALLOCATIONLIST *list = gpu.context.pAllocationList, kept = list[1];

    portions_allocate(&gpu, 0, PORTIONS_MIB);
    list[0] = list[1];
    list[1] = kept;
}

static void everywhere(struct probe *p, void (*member)(struct probe *p, unsigned count, unsigned at))
{
    for (unsigned nothing = 0; nothing < 2; nothing++) {
        with_nothing = nothing;
        portions_open(&gpu);
        for (unsigned i = 0; i < PORTIONS_MANY; i++)
            portions_allocate(&gpu, i, i == 0 ? 2 * PORTIONS_MIB : PORTIONS_MIB);
        if (!nothing)
            add_first();
        for (unsigned count = 1; count <= MOST; count += count < 4 ? 1 : 5)
            for (unsigned at = 0; at < count; at++) {
                member(p, count, at);
                portions_finish(&gpu);
            }
        portions_close(&gpu);
    }
}

TEST_WITH(portions, numbers_of_elements_end_with_the_list)
{
    everywhere(p, element_numbers);
}

TEST_WITH(portions, reserved_bits_are_reported)
{
    everywhere(p, reserved_bits);
}

TEST_WITH(portions, offsets_end_with_the_allocation)
{
    everywhere(p, offsets_in_allocations);
}

TEST_WITH(portions, places_end_with_the_commands)
{
    everywhere(p, places_in_the_buffer);
}
