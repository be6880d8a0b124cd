/* SPDX-License-Identifier: MIT */
/* Counters of places, and pairs of values that were compared. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "loader/coverage.h"

static uint8_t count[COVERAGE_PLACES];

static struct coverage *new_coverage(void)
{
    memset(count, 0, sizeof(count));
    return calloc(1, sizeof(struct coverage));
}

TEST(places_are_numbered_in_the_order_of_their_images)
{
    struct coverage *c = new_coverage();
    uint8_t first[3] = {0, 9, 0}, second[2] = {0, 255};

    coverage_add_region(c, first, 3);
    coverage_add_region(c, second, 2);
    CHECK(c->places == 5);
    coverage_collect(c, count);
    CHECK(count[0] == 0 && count[1] == 9 && count[2] == 0 && count[3] == 0 && count[4] == 255);
    coverage_clear(c);
    CHECK(first[1] == 0 && second[1] == 0);
    free(c);
}

TEST(counters_that_are_gone_are_not_looked_at)
{
    struct coverage *c = new_coverage();
    uint8_t first[3] = {1, 1, 1}, second[2] = {7, 7};

    coverage_add_region(c, first, 3);
    coverage_add_region(c, second, 2);
    coverage_forget(c, (uintptr_t)first, (uintptr_t)first + sizeof(first));
    CHECK(c->regions == 1);
    coverage_collect(c, count);
    CHECK(count[0] == 0 && count[3] == 7 && count[4] == 7);
    free(c);
}

TEST(counters_stay_at_their_most)
{
    struct coverage *c = new_coverage();

    c->places = 3;
    for (unsigned i = 0; i < 1000; i++)
        coverage_hit(c, 2);
    coverage_hit(c, 0);
    coverage_collect(c, count);
    CHECK(count[0] == 1 && count[1] == 0 && count[2] == 255);
    free(c);
}

TEST(places_without_a_number_have_that_of_their_offset)
{
    struct coverage *c = new_coverage();

    coverage_hit_at(c, 0x1234);
    coverage_hit_at(c, 0x1234);
    coverage_hit_at(c, 0xFFFF);
    coverage_hit_at(c, 0x10000);
    coverage_collect(c, count);
    CHECK(count[0x1234] == 2 && count[0xFFFF] == 1 && count[1] == 1);
    free(c);
}

TEST(the_first_and_the_last_pair_of_a_comparison_are_kept)
{
    struct coverage *c = new_coverage();
    unsigned pairs = 0, first = 0, last = 0;

    coverage_compare(c, 77, 5, 5, 4);
    CHECK(!c->compared);
    for (uint64_t i = 1; i < 100; i++)
        coverage_compare(c, 77, i, 1000, 4);
    CHECK(c->compared);
    for (unsigned i = 0; i < COVERAGE_COMPARES; i++) {
        pairs += c->compare[i].bytes == 4 && c->compare[i].b == 1000;
        first += c->compare[i].a == 1;
        last += c->compare[i].a == 99;
    }
    CHECK(pairs == 2 && first == 1 && last == 1);
    coverage_clear(c);
    CHECK(!c->compared && c->compare[0].bytes == 0);
    free(c);
}

TEST(pairs_of_images_are_copied_until_the_image_is_gone)
{
    struct coverage *c = new_coverage();
    struct coverage_compare image[3] = {{1, 2, 4}, {0}, {3, 4, 8}}, copy[4];

    coverage_add_pairs(c, image, 3);
    coverage_compare(c, 77, 5, 6, 1);
    CHECK(coverage_pairs(c, copy, 4) == 3 && copy[0].a == 5 && copy[1].b == 2 && copy[2].bytes == 8);
    CHECK(coverage_pairs(c, copy, 2) == 2);
    coverage_forget(c, (uintptr_t)image, (uintptr_t)(image + 3));
    CHECK(coverage_pairs(c, copy, 4) == 1);
    coverage_add_pairs(c, image, 3);
    coverage_clear(c);
    CHECK(coverage_pairs(c, copy, 4) == 0 && image[2].bytes == 0);
    free(c);
}
