/* SPDX-License-Identifier: MIT */
/* How far a picture is from a reference (PRES-320). */
#include "support/check_rule.h"

#include <string.h>

#include "screens/picture_compare.h"
#include "util/alloc.h"

static struct picture grey(uint32_t width, uint32_t height, uint8_t shade)
{
    struct picture picture;

    CHECK(picture_make(&picture, width, height));
    memset(picture.rows, shade, (size_t)width * height * PICTURE_STEP);
    return picture;
}

static bool box_is(const struct picture_difference *difference, LONG left, LONG top, LONG right,
                   LONG bottom)
{
    const RECT *box = &difference->box;

    return box->left == left && box->top == top && box->right == right && box->bottom == bottom;
}

TEST(equal_pictures_do_not_differ)
{
    struct picture one = grey(5, 4, 100), other = grey(5, 4, 100);
    struct picture_difference difference = picture_compare(&one, &other, 0);

    CHECK(difference.same_size && difference.count == 0 && difference.largest == 0);
    CHECK(box_is(&difference, 0, 0, 0, 0));
    CHECK(picture_matches(&difference, 0));
    picture_free(&one);
    picture_free(&other);
}

TEST(a_pixel_counts_beyond_the_tolerance)
{
    for (unsigned channel = 0; channel < 3; channel++)
        for (int by = -3; by <= 3; by += 6) {
            struct picture one = grey(5, 4, 100), other = grey(5, 4, 100);
            struct picture_difference difference;

            picture_at(&one, 3, 2)[channel] = (uint8_t)(100 + by);
            difference = picture_compare(&one, &other, 2);
            CHECK(difference.count == 1 && difference.largest == 3);
            CHECK(box_is(&difference, 3, 2, 4, 3));
            CHECK(!picture_matches(&difference, 0) && picture_matches(&difference, 1));
            difference = picture_compare(&other, &one, 3);
            CHECK(difference.count == 0 && difference.largest == 3);
            CHECK(box_is(&difference, 0, 0, 0, 0) && picture_matches(&difference, 0));
            picture_free(&one);
            picture_free(&other);
        }
}

TEST(the_box_is_around_all_pixels_that_count)
{
    struct picture one = grey(9, 9, 0), other = grey(9, 9, 0);
    struct picture_difference difference;

    picture_at(&one, 4, 2)[0] = 255;
    picture_at(&one, 7, 3)[1] = 10;
    picture_at(&one, 2, 6)[2] = 20;
    picture_at(&one, 0, 8)[2] = 1; /* within the tolerance */
    difference = picture_compare(&one, &other, 1);
    CHECK(difference.count == 3 && difference.largest == 255);
    CHECK(box_is(&difference, 2, 2, 8, 7));
    CHECK(picture_matches(&difference, 3) && !picture_matches(&difference, 2));
    picture_free(&one);
    picture_free(&other);
}

TEST(pictures_of_other_sizes_never_match)
{
    struct picture one = grey(3, 5, 0), other = grey(5, 2, 0), none = {0};
    struct picture_difference difference = picture_compare(&one, &other, 255);

    CHECK(!difference.same_size && difference.largest == 255);
    CHECK(difference.count == 3 * 3 + 2 * 2); /* below, and to the right: black, but not there */
    CHECK(box_is(&difference, 0, 0, 5, 5));
    CHECK(!picture_matches(&difference, 1000));
    CHECK(picture_compare(&one, &other, 0).count == 13); /* the corner beside both is no pixel */
    difference = picture_compare(&one, &none, 0);
    CHECK(!difference.same_size && difference.count == 15);
    difference = picture_compare(&none, &none, 0);
    CHECK(difference.same_size && difference.count == 0);
    picture_free(&one);
    picture_free(&other);
}

static bool is(const struct picture *shown, uint32_t x, uint32_t y, uint8_t red, uint8_t rest)
{
    const uint8_t *at = picture_at(shown, x, y);

    return at[0] == red && at[1] == rest && at[2] == rest;
}

TEST(differences_are_red_over_the_dimmed_reference)
{
    struct picture one = grey(4, 2, 160), other = grey(4, 3, 160), shown;

    picture_at(&one, 1, 1)[2] = 60; /* by 100 */
    picture_at(&one, 2, 1)[2] = 155;
    CHECK(picture_show_difference(&shown, &one, &other, 5));
    CHECK(shown.width == 4 && shown.height == 3);
    CHECK(is(&shown, 0, 0, 40, 40));
    CHECK(is(&shown, 1, 1, 128 + 50, 40));
    CHECK(is(&shown, 2, 1, 40, 40));  /* within the tolerance */
    CHECK(is(&shown, 3, 2, 255, 40)); /* only the reference has it */
    picture_free(&shown);
    CHECK(picture_show_difference(&shown, &other, &one, 5));
    CHECK(is(&shown, 3, 2, 255, 0)); /* only the picture has it */
    picture_free(&shown);
    picture_free(&one);
    picture_free(&other);
}

TEST(nothing_is_shown_of_no_pictures_or_without_memory)
{
    struct picture one = grey(2, 2, 1), none = {0}, shown = {3, 3, NULL};
    struct util_heap heap = {.fail_at = 1};

    CHECK(!picture_show_difference(&shown, &none, &none, 0));
    util_heap_current = &heap;
    CHECK(!picture_show_difference(&shown, &one, &one, 0));
    util_heap_current = NULL;
    CHECK(shown.width == 3 && !shown.rows);
    picture_free(&one);
}
