/* SPDX-License-Identifier: MIT */
/* Sets of rectangles against a map of pixels, and where there are too many of them (PRES-204). */
#include "support/check_rule.h"

#include <string.h>

#include "screens/region.h"
#include "util/rng.h"

enum { SIDE = 24 };

static RECT rect(LONG left, LONG top, LONG right, LONG bottom)
{
    return (RECT){left, top, right, bottom};
}

static void add(struct region *region, LONG left, LONG top, LONG right, LONG bottom)
{
    RECT added = rect(left, top, right, bottom);

    region_add(region, &added);
    CHECK(region_validate(region));
}

static bool equal(RECT a, LONG left, LONG top, LONG right, LONG bottom)
{
    return a.left == left && a.top == top && a.right == right && a.bottom == bottom;
}

/* ---- against pixels ---- */

struct model {
    bool has[SIDE][SIDE];
};

static void model_add(struct model *model, const RECT *added)
{
    for (LONG y = added->top; y < added->bottom; y++)
        for (LONG x = added->left; x < added->right; x++)
            model->has[y][x] = true;
}

static void model_clip(struct model *model, const RECT *inside)
{
    for (LONG y = 0; y < SIDE; y++)
        for (LONG x = 0; x < SIDE; x++)
            model->has[y][x] &= x >= inside->left && x < inside->right && y >= inside->top &&
                                y < inside->bottom;
}

static void check(const struct region *region, const struct model *model)
{
    RECT box = {SIDE, SIDE, 0, 0};
    uint64_t pixels = 0;

    CHECK(region_validate(region));
    for (LONG y = 0; y < SIDE; y++)
        for (LONG x = 0; x < SIDE; x++) {
            if (!region->boxed)
                CHECK(region_has(region, x, y) == model->has[y][x]);
            if (!model->has[y][x])
                continue;
            CHECK(region_has(region, x, y));
            pixels++;
            box.left = x < box.left ? x : box.left;
            box.top = y < box.top ? y : box.top;
            box.right = x >= box.right ? x + 1 : box.right;
            box.bottom = y >= box.bottom ? y + 1 : box.bottom;
        }
    if (region->boxed) {
        CHECK(region_pixels(region) >= pixels);
        return;
    }
    CHECK(region_pixels(region) == pixels);
    CHECK(region_empty(region) == (pixels == 0));
    if (pixels)
        CHECK(equal(region_box(region), box.left, box.top, box.right, box.bottom));
}

static RECT random_rect(struct rng *rng, uint32_t longest)
{
    LONG left = (LONG)rng_below(rng, SIDE), top = (LONG)rng_below(rng, SIDE);
    LONG right = left + (LONG)rng_below(rng, longest), bottom = top + (LONG)rng_below(rng, longest);

    return rect(left, top, right < SIDE ? right : SIDE, bottom < SIDE ? bottom : SIDE);
}

TEST(random_rectangles_cover_the_same_pixels)
{
    struct rng rng = {204};
    unsigned boxed = 0;

    for (unsigned round = 0; round < 400; round++) {
        struct region region = {0}, other = {0};
        struct model model = {0}, other_model = {0};

        for (unsigned step = 0; step < 25; step++) {
            RECT added = random_rect(&rng, round % 2 ? 4 : 14);

            region_add(step % 5 == 4 ? &other : &region, &added);
            model_add(step % 5 == 4 ? &other_model : &model, &added);
            check(&region, &model);
            check(&other, &other_model);
        }
        region_add_all(&region, &other);
        for (LONG y = 0; y < SIDE; y++)
            for (LONG x = 0; x < SIDE; x++)
                model.has[y][x] |= other_model.has[y][x];
        check(&region, &model);
        if (!region.boxed) {
            RECT inside = random_rect(&rng, SIDE);

            region_clip(&region, &inside);
            model_clip(&model, &inside);
            check(&region, &model);
        } else {
            boxed++;
        }
    }
    CHECK(boxed < 100);
}

/* ---- by hand ---- */

TEST(what_is_empty_adds_nothing)
{
    struct region region = {0};

    CHECK(region_empty(&region));
    CHECK(equal(region_box(&region), 0, 0, 0, 0));
    add(&region, 3, 3, 3, 9);
    add(&region, 3, 3, 9, 3);
    add(&region, 9, 3, 3, 9);
    CHECK(region_empty(&region));
    add(&region, 1, 2, 3, 4);
    CHECK(!region_empty(&region));
    region_clear(&region);
    CHECK(region_empty(&region));
}

TEST(neighbours_become_one_rectangle)
{
    struct region region = {0};

    add(&region, 0, 0, 4, 4);
    add(&region, 4, 0, 8, 4); /* right */
    add(&region, 0, 4, 8, 8); /* below both */
    CHECK(region.count == 1 && equal(region.rect[0], 0, 0, 8, 8));
    add(&region, 2, 2, 6, 6); /* inside */
    CHECK(region.count == 1);
    add(&region, -2, -2, 9, 9); /* around */
    CHECK(region.count == 1 && equal(region.rect[0], -2, -2, 9, 9));
    add(&region, 9, 9, 10, 10); /* they share a corner alone */
    CHECK(region.count == 2);
    add(&region, 9, -2, 10, 8); /* and an edge in part */
    CHECK(region.count == 3);
}

TEST(a_gap_that_is_filled_joins_both_sides)
{
    struct region region = {0};

    add(&region, 0, 0, 2, 2);
    add(&region, 4, 0, 6, 2);
    add(&region, 2, 0, 4, 2);
    CHECK(region.count == 1 && equal(region.rect[0], 0, 0, 6, 2));
    add(&region, 0, 4, 6, 6);
    add(&region, 0, 8, 6, 9);
    CHECK(region.count == 3);
    add(&region, 0, 2, 6, 8); /* across one of them */
    CHECK(region.count == 1 && equal(region.rect[0], 0, 0, 6, 9));
}

TEST(an_overlap_is_there_once)
{
    struct region region = {0};

    add(&region, 2, 2, 6, 6);
    add(&region, 4, 4, 8, 8);
    CHECK(region_pixels(&region) == 28);
    CHECK(equal(region.rect[0], 2, 2, 6, 6)); /* what was there keeps its part */
    add(&region, 0, 3, 10, 5);                /* across both */
    CHECK(region_pixels(&region) == 28 + 10);
}

/* As many as there may be, none of which touches another. */
static struct region full(void)
{
    struct region region = {0};

    for (LONG i = 0; i < (LONG)REGION_MOST; i++)
        add(&region, i * 4, i * 2, i * 4 + 2, i * 2 + 1);
    return region;
}

TEST(a_full_region_takes_what_needs_no_more_rectangles)
{
    static const RECT around[] = {{-1, -1, 3, 2}, {0, -1, 3, 2},  {-1, 0, 3, 2},
                                  {-1, -1, 2, 2}, {-1, -1, 3, 1}, {0, 0, 2, 1}};

    for (unsigned i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
        struct region region = full();

        region_add(&region, &around[i]); /* it covers the first */
        CHECK(region_validate(&region) && !region.boxed && region.count == REGION_MOST);
        CHECK(region_has(&region, around[i].left, around[i].top));
        CHECK(region_has(&region, around[i].right - 1, around[i].bottom - 1));
    }
}

TEST(a_part_that_has_no_room_makes_a_box)
{
    struct region region = full();

    add(&region, 1, 0, 3, 3); /* right of the first fits, what is below does not */
    CHECK(region.boxed && equal(region.rect[0], 0, 0, 254, 127));
}

TEST(sixty_five_rectangles_are_one)
{
    struct region region = full(), other = {0};

    CHECK(region.count == REGION_MOST && !region.boxed);
    other = region;
    add(&other, 2, 0, 4, 1); /* one more that makes another larger */
    CHECK(other.count == REGION_MOST && !other.boxed);
    add(&region, 300, 200, 301, 201);
    CHECK(region.count == 1 && region.boxed && equal(region.rect[0], 0, 0, 301, 201));
    add(&region, 400, 10, 401, 11); /* it stays one */
    CHECK(region.count == 1 && equal(region.rect[0], 0, 0, 401, 201));
    add(&region, 5, 5, 6, 6);
    CHECK(region.count == 1 && equal(region.rect[0], 0, 0, 401, 201));
    region_add_all(&other, &region);
    CHECK(other.boxed && other.count == 1 && equal(other.rect[0], 0, 0, 401, 201));
    region_clear(&other);
    region_add_all(&other, &region);
    CHECK(other.boxed && equal(other.rect[0], 0, 0, 401, 201));
    region_clear(&region);
    add(&region, 0, 0, 1, 1);
    add(&region, 9, 9, 10, 10);
    CHECK(region.count == 2 && !region.boxed);
}

TEST(clipping)
{
    struct region region = {0};
    RECT inside = rect(3, 3, 7, 7), elsewhere = rect(100, 100, 200, 200);

    add(&region, 0, 0, 4, 4);
    add(&region, 6, 6, 9, 9);
    add(&region, 8, 0, 9, 9);
    region_clip(&region, &inside);
    CHECK(region_validate(&region) && region.count == 2 && region_pixels(&region) == 2);
    CHECK(region_has(&region, 3, 3) && region_has(&region, 6, 6));
    region_clip(&region, &elsewhere);
    CHECK(region_empty(&region));
    for (LONG i = 0; i < 65; i++)
        add(&region, i * 2, i * 2, i * 2 + 1, i * 2 + 1);
    CHECK(region.boxed);
    region_clip(&region, &inside);
    CHECK(region.boxed && equal(region.rect[0], 3, 3, 7, 7));
    region_clip(&region, &elsewhere);
    CHECK(region_empty(&region) && !region.boxed && region_validate(&region));
}

TEST(rectangles)
{
    RECT a = rect(0, 0, 4, 4), b = rect(2, 3, 8, 5), none = rect(7, 7, 7, 9), common;

    CHECK(equal(rect_common(&a, &b), 2, 3, 4, 4));
    CHECK(equal(rect_cover(&a, &b), 0, 0, 8, 5));
    CHECK(equal(rect_cover(&a, &none), 0, 0, 4, 4));
    CHECK(equal(rect_cover(&none, &b), 2, 3, 8, 5));
    b = rect(4, 0, 5, 4); /* beside it */
    common = rect_common(&a, &b);
    CHECK(rect_empty(&common));
}

TEST(what_is_no_region_is_found)
{
    struct region region = {.count = 2, .rect = {{0, 0, 4, 4}, {3, 3, 5, 5}}};

    CHECK(!region_validate(&region)); /* they overlap */
    region.rect[1] = rect(4, 4, 5, 5);
    CHECK(region_validate(&region));
    region.boxed = true; /* a box is one */
    CHECK(!region_validate(&region));
    region.boxed = false;
    region.rect[0] = rect(0, 0, 0, 4);
    CHECK(!region_validate(&region));
    region_clear(&region);
    region.boxed = true;
    CHECK(!region_validate(&region));
    region.boxed = false;
    region.count = REGION_MOST + 1;
    CHECK(!region_validate(&region));
}
