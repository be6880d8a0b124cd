/* SPDX-License-Identifier: MIT */
/* What a path does to a picture: rotation (VIDPN-109) and scaling. */
#include "support/check_rule.h"

#include <string.h>

#include "screens/picture_turn.h"
#include "util/alloc.h"

/* Each pixel has its own color: x, y, and a constant that is not black. */
static struct picture numbered(uint32_t width, uint32_t height)
{
    struct picture picture;

    CHECK(picture_make(&picture, width, height));
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            uint8_t *at = picture_at(&picture, x, y);

            at[0] = (uint8_t)x;
            at[1] = (uint8_t)y;
            at[2] = 0x80;
        }
    return picture;
}

static bool is(const struct picture *picture, uint32_t x, uint32_t y, uint32_t of_x, uint32_t of_y)
{
    const uint8_t *at = picture_at(picture, x, y);

    return at[0] == (uint8_t)of_x && at[1] == (uint8_t)of_y && at[2] == 0x80;
}

static bool black(const struct picture *picture, uint32_t x, uint32_t y)
{
    return memcmp(picture_at(picture, x, y), "\0\0", 3) == 0;
}

/* ---- rotation ---- */

TEST(a_quarter_turn_brings_the_right_edge_to_the_top)
{
    struct picture picture = numbered(3, 2), turned;

    CHECK(picture_turn(&turned, &picture, 1));
    CHECK(turned.width == 2 && turned.height == 3);
    CHECK(is(&turned, 0, 0, 2, 0)); /* the top right corner */
    CHECK(is(&turned, 1, 0, 2, 1));
    CHECK(is(&turned, 0, 2, 0, 0)); /* the top left one is at the bottom left */
    CHECK(is(&turned, 1, 2, 0, 1));
    CHECK(is(&turned, 0, 1, 1, 0));
    picture_free(&turned);
    picture_free(&picture);
}

TEST(every_pixel_of_every_turn)
{
    static const uint32_t sizes[][2] = {{70, 45}, {32, 64}, {1, 100}, {100, 1}, {33, 31}};

    for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        uint32_t width = sizes[s][0], height = sizes[s][1];
        struct picture picture = numbered(width, height), turned[5];

        for (unsigned quarters = 0; quarters < 5; quarters++)
            CHECK(picture_turn(&turned[quarters], &picture, quarters));
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                CHECK(is(&turned[0], x, y, x, y));
                CHECK(is(&turned[1], y, width - 1 - x, x, y));
                CHECK(is(&turned[2], width - 1 - x, height - 1 - y, x, y));
                CHECK(is(&turned[3], height - 1 - y, x, x, y));
                CHECK(is(&turned[4], x, y, x, y));
            }
        CHECK(turned[1].width == height && turned[1].height == width);
        CHECK(turned[2].width == width && turned[2].height == height);
        CHECK(turned[3].width == height && turned[3].height == width);
        for (unsigned quarters = 0; quarters < 5; quarters++)
            picture_free(&turned[quarters]);
        picture_free(&picture);
    }
}

TEST(no_picture_turns_into_none)
{
    struct picture none = {0}, turned;

    CHECK(picture_turn(&turned, &none, 1) && !turned.rows);
}

/* ---- scaling ---- */

static void refused(const struct picture *picture, uint32_t width, uint32_t height,
                    D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling, const char *reason)
{
    struct picture scaled = {5, 6, NULL};
    char why[128] = "";

    CHECK(!picture_scale(&scaled, picture, width, height, scaling, why, sizeof(why)));
    CHECK(scaled.width == 5 && scaled.height == 6 && !scaled.rows);
    if (strcmp(why, reason) != 0)
        fail_msg("'%s', not '%s'", why, reason);
}

/* The pixels of this rectangle have a color, all others are black. */
static void covers(const struct picture *scaled, uint32_t left, uint32_t top, uint32_t width,
                   uint32_t height)
{
    for (uint32_t y = 0; y < scaled->height; y++)
        for (uint32_t x = 0; x < scaled->width; x++) {
            bool inside = x >= left && x < left + width && y >= top && y < top + height;

            CHECK(black(scaled, x, y) != inside);
        }
}

TEST(identity_needs_equal_sizes)
{
    struct picture picture = numbered(4, 3), scaled;

    CHECK(picture_scale(&scaled, &picture, 4, 3, D3DKMDT_VPPS_IDENTITY, NULL, 0));
    CHECK(picture_checksum(&scaled) == picture_checksum(&picture));
    picture_free(&scaled);
    refused(&picture, 5, 3, D3DKMDT_VPPS_IDENTITY,
            "a picture of 4 x 3 on a target of 5 x 3 as it is");
    refused(&picture, 4, 2, D3DKMDT_VPPS_IDENTITY,
            "a picture of 4 x 3 on a target of 4 x 2 as it is");
    picture_free(&picture);
}

TEST(centred_has_black_bars)
{
    struct picture picture = numbered(4, 3), scaled;

    CHECK(picture_scale(&scaled, &picture, 9, 5, D3DKMDT_VPPS_CENTERED, NULL, 0));
    CHECK(scaled.width == 9 && scaled.height == 5);
    covers(&scaled, 2, 1, 4, 3);
    CHECK(is(&scaled, 2, 1, 0, 0) && is(&scaled, 5, 3, 3, 2));
    picture_free(&scaled);
    CHECK(picture_scale(&scaled, &picture, 4, 3, D3DKMDT_VPPS_CENTERED, NULL, 0));
    CHECK(picture_checksum(&scaled) == picture_checksum(&picture));
    picture_free(&scaled);
    refused(&picture, 3, 9, D3DKMDT_VPPS_CENTERED,
            "a picture of 4 x 3 on a target of 3 x 9 centred");
    refused(&picture, 9, 2, D3DKMDT_VPPS_CENTERED,
            "a picture of 4 x 3 on a target of 9 x 2 centred");
    picture_free(&picture);
}

TEST(stretched_covers_the_target)
{
    struct picture picture = numbered(4, 3), scaled;

    CHECK(picture_scale(&scaled, &picture, 8, 9, D3DKMDT_VPPS_STRETCHED, NULL, 0));
    for (uint32_t y = 0; y < 9; y++)
        for (uint32_t x = 0; x < 8; x++)
            CHECK(is(&scaled, x, y, x / 2, y / 3));
    picture_free(&scaled);
    CHECK(picture_scale(&scaled, &picture, 2, 1, D3DKMDT_VPPS_STRETCHED, NULL, 0)); /* smaller */
    CHECK(is(&scaled, 0, 0, 1, 1) && is(&scaled, 1, 0, 3, 1));
    picture_free(&scaled);
    CHECK(picture_scale(&scaled, &picture, 4, 5, D3DKMDT_VPPS_STRETCHED, NULL, 0));
    CHECK(is(&scaled, 3, 0, 3, 0) && is(&scaled, 3, 1, 3, 0) && is(&scaled, 3, 2, 3, 1));
    CHECK(is(&scaled, 3, 3, 3, 2) && is(&scaled, 3, 4, 3, 2));
    picture_free(&scaled);
    picture_free(&picture);
}

TEST(the_aspect_ratio_stays)
{
    struct picture picture = numbered(40, 30), scaled; /* 4:3 */
    const D3DKMDT_VIDPN_PRESENT_PATH_SCALING ratio = D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX;

    CHECK(picture_scale(&scaled, &picture, 96, 60, ratio, NULL, 0)); /* bars at the sides */
    covers(&scaled, 8, 0, 80, 60);
    CHECK(is(&scaled, 8, 0, 0, 0) && is(&scaled, 87, 59, 39, 29));
    picture_free(&scaled);
    CHECK(picture_scale(&scaled, &picture, 20, 25, ratio, NULL, 0)); /* above and below; smaller */
    covers(&scaled, 0, 5, 20, 15);
    picture_free(&scaled);
    CHECK(picture_scale(&scaled, &picture, 80, 60, ratio, NULL, 0)); /* no bars */
    covers(&scaled, 0, 0, 80, 60);
    picture_free(&scaled);
    CHECK(picture_scale(&scaled, &picture, 50, 31, ratio, NULL, 0)); /* 41.3 wide */
    covers(&scaled, 4, 0, 41, 31);
    picture_free(&scaled);
    picture_free(&picture);
    picture = numbered(1000, 1);
    CHECK(picture_scale(&scaled, &picture, 10, 11, ratio, NULL, 0)); /* at least a line */
    covers(&scaled, 0, 5, 10, 1);
    picture_free(&scaled);
    picture_free(&picture);
}

TEST(other_scalings_give_no_picture)
{
    struct picture picture = numbered(2, 2), none = {0};

    refused(&picture, 2, 2, D3DKMDT_VPPS_CUSTOM,
            "a picture of 2 x 2 on a target of 2 x 2 in a way that only the driver knows");
    refused(&picture, 2, 2, D3DKMDT_VPPS_UNPINNED,
            "a picture of 2 x 2 on a target of 2 x 2 by an unknown scaling");
    refused(&picture, 2, 0, D3DKMDT_VPPS_STRETCHED,
            "a picture of 2 x 2 on a target of 2 x 0 stretched");
    refused(&none, 2, 2, D3DKMDT_VPPS_STRETCHED,
            "a picture of 0 x 0 on a target of 2 x 2 stretched");
    picture_free(&picture);
}

TEST(short_memory_leaves_nothing)
{
    struct picture picture = numbered(4, 3), result = {0};
    struct util_heap heap = {.fail_at = 1};

    util_heap_current = &heap;
    CHECK(!picture_turn(&result, &picture, 1) && !result.rows);
    util_heap_current = NULL;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        struct util_heap again = {.fail_at = nth};
        char why[32] = "";

        util_heap_current = &again;
        CHECK(!picture_scale(&result, &picture, 8, 6, D3DKMDT_VPPS_STRETCHED, why, sizeof(why)));
        util_heap_current = NULL;
        CHECK(strcmp(why, "out of memory") == 0 && !result.rows && again.live_blocks == 0);
    }
    picture_free(&picture);
}
