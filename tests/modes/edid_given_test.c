/* SPDX-License-Identifier: MIT */
/* What a user says of a monitor: bytes of an EDID, and lists of modes. */
#include "modes/support/edid_bytes.h"

#include <string.h>

#include "modes/edid_given.h"
#include "util/alloc.h"

static char error[256];

static bool check(const struct edid_bytes *edid, size_t size, bool force)
{
    error[0] = '\0';
    return edid_given_check(edid->block[0], size, force, error, sizeof(error));
}

static bool is_refused(const struct edid_bytes *edid, const char *why)
{
    return !check(edid, (size_t)edid->blocks * EDID_BLOCK, false) && strstr(error, why) &&
           check(edid, (size_t)edid->blocks * EDID_BLOCK, true);
}

TEST(good_bytes_are_taken)
{
    static struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    edid_bytes_sum(&edid);
    CHECK(check(&edid, 128, false) && error[0] == '\0');
    for (unsigned i = 0; i < 255; i++)
        edid_bytes_extension(&edid, 4);
    edid_bytes_sum(&edid);
    CHECK(check(&edid, sizeof(edid.block), false));
}

/* Also with force. */
TEST(bytes_are_whole_blocks)
{
    static struct edid_bytes edid[2];

    edid_bytes_init(&edid[0], 4);
    edid_bytes_sum(&edid[0]);
    for (unsigned force = 0; force < 2; force++) {
        CHECK(!check(&edid[0], 0, force) && strstr(error, "not 0 bytes"));
        CHECK(!check(&edid[0], 127, force) && !check(&edid[0], 129, force) &&
              strstr(error, "not 129 bytes"));
        CHECK(!check(&edid[0], 257 * 128, force) && strstr(error, "not 32896 bytes"));
    }
}

TEST(bad_bytes_need_force)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    edid_bytes_extension(&edid, 4);
    edid_bytes_extension(&edid, 4);
    edid_bytes_sum(&edid);
    CHECK(check(&edid, 384, false));
    edid.block[0][20] ^= 1;
    CHECK(is_refused(&edid, "block 0 of the EDID has a sum"));
    edid.block[0][20] ^= 1;
    edid.block[2][127]++;
    CHECK(is_refused(&edid, "block 2 of the EDID has a sum"));
    edid.block[2][127]--;
    edid.block[0][7] = 1;
    edid_bytes_sum(&edid);
    CHECK(is_refused(&edid, "block 0 of the EDID has no header"));
    edid.block[0][7] = 0;
    edid.block[0][126] = 1;
    edid_bytes_sum(&edid);
    CHECK(is_refused(&edid, "announces 1 extensions, and has 2"));
}

static bool is_list(const char *text, const struct timing *expected, unsigned count)
{
    unsigned found;
    struct timing *list = edid_given_modes(text, &found, error, sizeof(error));
    bool same = list && found == count;

    for (unsigned i = 0; same && i < count; i++)
        same = timing_equal(&list[i], &expected[i]);
    util_free(list);
    return same;
}

TEST(lists_of_modes)
{
    static const struct timing list[] = {{1024, 768, 1344, 806, 65000000, false},
                                         {1280, 720, 1650, 750, 74250000, false},
                                         {1920, 1080, 2200, 1125, 148350000, false},
                                         {1920, 1080, 2640, 1125, 74250000, true},
                                         {800, 600, 1056, 625, 49500000, false}};
    static const struct timing slow[] = {{1920, 1080, 2750, 1125, 74180000, false}};

    CHECK(is_list("1024x768@60,1280x720,1920x1080@59.94,1920x1080i@50,800x600@75.000", list, 5));
    CHECK(is_list("1024x768", list, 1));
    CHECK(is_list("1920x1080@23.976", slow, 1));
}

TEST(what_is_no_list)
{
    static const char *const bad[] = {"",
                                      ",",
                                      "1024",
                                      "1024x",
                                      "x768",
                                      "1024x768@",
                                      "1024x768@60,",
                                      ",1024x768",
                                      "1024x768@a",
                                      "1024x768 ",
                                      " 1024x768",
                                      "1024X768",
                                      "1024x768@60.",
                                      "1024x768@60.1234",
                                      "1024x768@.5",
                                      "-1024x768",
                                      "0x768",
                                      "1024x0",
                                      "1024x768@0",
                                      "1024x768@1001",
                                      "16385x768",
                                      "1024x16385",
                                      "1000x700i",
                                      "99999999999x768",
                                      "1024x4294967296",
                                      "1024x768@4294967356",
                                      "1024x768@60Hz",
                                      "1024x768ii",
                                      "1024x768@60i"};

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        unsigned count;
        struct timing *list = edid_given_modes(bad[i], &count, error, sizeof(error));

        if (list)
            fail_msg("\"%s\" was taken", bad[i]);
        CHECK(strstr(error, "is no mode such as"));
    }
    CHECK(!edid_given_modes("1024x768,1280y720,800x600", &(unsigned){0}, error, sizeof(error)));
    CHECK(strstr(error, "\"1280y720\" is no mode"));
}
