/* SPDX-License-Identifier: MIT */
/* EDIDs made of lists of timings: what is made reads back. */
#include "modes/support/edid_bytes.h"

#include <stdio.h>
#include <string.h>

#include "modes/edid_given.h"
#include "modes/edid_make.h"
#include "modes/timing_list.h"
#include "util/alloc.h"

static char error[256];

/* Make one and read it; the caller ends it. */
static void make(struct edid_bytes *edid, const struct edid_wish *wish)
{
    uint8_t *bytes;

    memset(edid, 0, sizeof(*edid));
    bytes = edid_make(wish, &edid->blocks, error, sizeof(error));
    if (!bytes)
        fail_msg("%s", error);
    memcpy(edid->block, bytes, (size_t)edid->blocks * EDID_BLOCK);
    util_free(bytes);
    assert_true(edid_given_check(edid->block[0], (size_t)edid->blocks * EDID_BLOCK, false, error,
                                 sizeof(error)));
    edid_bytes_read(edid);
}

static bool is_refused(const struct edid_wish *wish, const char *why)
{
    unsigned blocks;
    uint8_t *bytes = edid_make(wish, &blocks, error, sizeof(error));

    if (bytes || !strstr(error, why))
        print_error("%s: %s\n", why, bytes ? "made" : error);
    util_free(bytes);
    return !bytes && strstr(error, why);
}

static struct timing wanted(uint32_t width, uint32_t height, uint32_t hertz)
{
    struct timing t;

    assert_true(timing_wanted(width, height, hertz * 1000, false, &t));
    return t;
}

/* All of the list are there, each once, and nothing else is; the first is preferred. */
static bool reads_back(const struct edid_bytes *edid, const struct timing *list, unsigned count)
{
    const int preferred = edid_bytes_preferred(edid);

    for (unsigned i = 0; i < count; i++)
        if (!edid_bytes_mode(edid, &list[i]))
            return false;
    return edid->set->count == count && preferred >= 0 &&
           edid_bytes_mode(edid, &list[0]) == &edid->set->mode[preferred].monitor;
}

TEST(default_monitor)
{
    const struct timing list[] = {wanted(1024, 768, 60), wanted(1280, 720, 60),
                                  wanted(1920, 1080, 60)};
    struct edid_bytes edid;

    make(&edid, &(struct edid_wish){.timing = list, .count = 3});
    CHECK(edid.blocks == 1 && reads_back(&edid, list, 3));
    CHECK(edid.block[0][18] == 1 && edid.block[0][19] == 4);
    CHECK(memcmp(edid_bytes_descriptor(&edid, 0),
                 (const uint8_t[]){0x64, 0x19, 0x00, 0x40, 0x41, 0x00, 0x26, 0x30}, 8) == 0);
    edid_bytes_end(&edid);
}

TEST(first_detailed_timing)
{
    const struct timing list[] = {wanted(1920, 1080, 60)};
    struct edid_bytes edid;
    const uint8_t *d;

    make(&edid, &(struct edid_wish){.timing = list, .count = 1});
    d = edid_bytes_descriptor(&edid, 0);
    CHECK(reads_back(&edid, list, 1));
    CHECK(memcmp(d, (const uint8_t[]){0x02, 0x3A, 0x80, 0x18, 0x71, 0x38, 0x2D, 0x40}, 8) == 0);
    CHECK((d[8] | (d[11] & 0xC0) << 2) + (d[9] | (d[11] & 0x30) << 4) <
          280); /* front porch and pulse */
    CHECK((d[10] >> 4 | (d[11] & 0x0C) << 2) + ((d[10] & 15) | (d[11] & 3) << 4) <
          45); /* ... in lines */
    CHECK((d[12] | (d[14] & 0xF0) << 4) == 508 &&
          (d[13] | (d[14] & 0x0F) << 8) == 285); /* size in mm */
    CHECK(edid.block[0][21] == 51 && edid.block[0][22] == 29 && d[15] == 0 &&
          d[16] == 0); /* ... in cm; no border */
    edid_bytes_end(&edid);
}

TEST(name_and_serial_number)
{
    const struct timing list[] = {wanted(1024, 768, 60)};
    struct edid_bytes edid;

    make(&edid,
         &(struct edid_wish){.timing = list, .count = 1, .name = "Thirteen char", .serial = "7"});
    CHECK(memcmp(edid_bytes_descriptor(&edid, 2), "\0\0\0\xFC\0Thirteen char", 18) == 0);
    CHECK(memcmp(edid_bytes_descriptor(&edid, 3),
                 "\0\0\0\xFF\0"
                 "7\n           ",
                 18) == 0);
    CHECK(memcmp(edid.block[0] + 12, "\0\0\0\0", 4) == 0); /* no number beside the text */
    edid_bytes_end(&edid);
    make(&edid, &(struct edid_wish){.timing = list, .count = 1});
    CHECK(memcmp(edid_bytes_descriptor(&edid, 2), "\0\0\0\xFC\0dxgkhost\n    ", 18) == 0);
    CHECK(edid_bytes_descriptor(&edid, 3)[3] == 0x10);
    edid_bytes_end(&edid);
}

TEST(range_limits)
{
    const struct timing list[] = {wanted(1024, 768, 60), wanted(640, 480, 75),
                                  wanted(1920, 1080, 120)};
    D3DKMDT_MONITOR_FREQUENCY_RANGE r;
    struct edid_bytes edid;

    make(&edid, &(struct edid_wish){.timing = list, .count = 3});
    CHECK(reads_back(&edid, list, 3) && edid_range(edid.block[0], 0, &r));
    CHECK(r.RangeLimits.MinVSyncFreq.Numerator == 60 && r.RangeLimits.MaxVSyncFreq.Numerator == 120);
    CHECK(r.RangeLimits.MinHSyncFreq.Numerator == 37000 &&
          r.RangeLimits.MaxHSyncFreq.Numerator == 135000);
    CHECK(r.Constraint.MaxPixelRate == 300000000 && !edid_range(edid.block[0], 1, &r));
    edid_bytes_end(&edid);
}

/* No byte of a limit is 0. */
TEST(range_limits_at_their_edges)
{
    const struct timing slow = {640, 480, 800, 500, 400000, false}; /* 1 Hz */
    struct timing list[] = {wanted(640, 480, 256), wanted(640, 480, 300)};
    D3DKMDT_MONITOR_FREQUENCY_RANGE r;
    struct edid_bytes edid;

    make(&edid, &(struct edid_wish){.timing = list, .count = 2});
    CHECK(edid_range(edid.block[0], 0, &r) && r.RangeLimits.MinVSyncFreq.Numerator == 255);
    CHECK(edid_bytes_descriptor(&edid, 2)[5] == 255 && edid_bytes_descriptor(&edid, 2)[4] == 2);
    edid_bytes_end(&edid);
    make(&edid, &(struct edid_wish){.timing = &slow, .count = 1});
    CHECK(edid_range(edid.block[0], 0, &r));
    CHECK(r.RangeLimits.MinVSyncFreq.Numerator == 1 && r.RangeLimits.MaxVSyncFreq.Numerator == 1);
    CHECK(r.RangeLimits.MinHSyncFreq.Numerator == 1000);
    edid_bytes_end(&edid);
}

TEST(range_limits_above_255)
{
    const struct timing many_lines = {640, 3000, 700, 3100, 434000000, false};
    const struct timing fast[] = {wanted(640, 480, 300), wanted(640, 480, 500)};
    const struct timing mixed[] = {wanted(640, 480, 60), wanted(640, 480, 256)};
    D3DKMDT_MONITOR_FREQUENCY_RANGE r;
    struct edid_bytes edid;

    make(&edid, &(struct edid_wish){.timing = fast, .count = 2});
    CHECK(reads_back(&edid, fast, 2) && edid_range(edid.block[0], 0, &r));
    CHECK(r.RangeLimits.MinVSyncFreq.Numerator == 299 &&
          r.RangeLimits.MaxVSyncFreq.Numerator == 500);
    CHECK(r.RangeLimits.MinHSyncFreq.Numerator == 173000 &&
          r.RangeLimits.MaxHSyncFreq.Numerator == 333000);
    edid_bytes_end(&edid);
    make(&edid, &(struct edid_wish){.timing = mixed, .count = 2});
    CHECK(edid_range(edid.block[0], 0, &r));
    CHECK(r.RangeLimits.MinVSyncFreq.Numerator == 59 && r.RangeLimits.MaxVSyncFreq.Numerator == 256);
    CHECK(is_refused(
        &(struct edid_wish){.timing = (struct timing[]){wanted(640, 480, 520)}, .count = 1},
        "510 Hz"));
    CHECK(is_refused(&(struct edid_wish){.timing = &many_lines, .count = 1}, "510 kHz"));
    edid_bytes_end(&edid);
}

/* Where each kind goes: established, standard, codes, and detailed timings in the base block and behind it. */
TEST(more_than_fit_into_the_base_block)
{
    struct timing list[40];
    struct edid_bytes edid;
    unsigned count = 0;

    list[count++] = wanted(1366, 768, 60);
    for (unsigned hertz = 60; hertz < 90; hertz++)
        list[count++] = wanted(1280, 800, hertz);
    list[count++] = wanted(640, 480, 60);
    list[count++] = wanted(800, 600, 72);
    list[count++] = wanted(2048, 1152, 100);
    assert_true(
        timing_of_code(89, &list[count++])); /* of 185.625 MHz, which no detailed timing has */
    assert_true(timing_of_code(118, &list[count++])); /* of too many */
    make(&edid, &(struct edid_wish){.timing = list, .count = count});
    CHECK(edid.blocks == 5 &&
          reads_back(&edid, list, count)); /* 24 detailed timings: 2, 6, 6, 6, 4 */
    CHECK(edid.block[1][2] == 10 && edid.block[1][7] == 0x42 && edid.block[1][3] == 0x80 &&
          edid.block[2][2] == 4);
    CHECK((edid.block[0][35] & 0x20) && (edid.block[0][36] & 0x80));
    for (unsigned i = 54 + 12; i < 54 + 15; i++) /* all detailed timings have one size */
        CHECK(edid.block[0][i] == edid.block[0][i + 18] &&
              edid.block[0][i] == edid.block[4][i - 54 + 4]);
    edid_bytes_end(&edid);
}

TEST(standard_timings_before_extensions)
{
    struct edid_bytes edid;
    struct timing list[11];

    list[0] = wanted(1920, 1200, 60);
    for (unsigned i = 1; i < 11; i++)
        list[i] = wanted(1280, 800, 59 + i);
    make(&edid, &(struct edid_wish){.timing = list, .count = 10, .serial = "1"});
    CHECK(edid.blocks == 2 && reads_back(&edid, list, 10)); /* 1 detailed, 8 standard, 1 behind */
    edid_bytes_end(&edid);
    make(&edid, &(struct edid_wish){.timing = list, .count = 10});
    CHECK(edid.blocks == 1 &&
          reads_back(&edid, list, 10)); /* without serial number, a second is in the base block */
    edid_bytes_end(&edid);
    make(&edid, &(struct edid_wish){.timing = list, .count = 11});
    CHECK(edid.blocks == 2 && reads_back(&edid, list, 11));
    edid_bytes_end(&edid);
}

TEST(standard_timings_at_their_edges)
{
    struct timing list[] = {wanted(1024, 768, 60), timing_by_formula(1600, 900, 123),
                            timing_by_formula(256, 160, 60), timing_by_formula(2288, 1716, 61)};
    struct edid_bytes edid;

    make(&edid, &(struct edid_wish){.timing = list, .count = 4});
    CHECK(reads_back(&edid, list, 4) && edid_bytes_descriptor(&edid, 1)[3] == 0xFD);
    CHECK(memcmp(edid.block[0] + 38, (const uint8_t[]){169, 0xFF, 1, 0, 255, 0x41, 1, 1}, 8) == 0);
    list[1] = wanted(1366, 768, 60); /* no standard timing says it to everyone */
    list[2] = wanted(240, 150, 60);
    list[3] = wanted(2296, 1435, 60);
    edid_bytes_end(&edid);
    make(&edid, &(struct edid_wish){.timing = list, .count = 4});
    CHECK(reads_back(&edid, list, 4) && edid.block[0][38] == 1 && edid.blocks == 2);
    edid_bytes_end(&edid);
}

TEST(interlaced_timings)
{
    struct timing list[3];
    struct edid_bytes edid;

    assert_true(timing_wanted(1920, 1080, 60000, true, &list[0]));
    assert_true(timing_wanted(1920, 1080, 50000, true, &list[1]));
    assert_true(timing_wanted(1024, 768, 87000, true, &list[2]));
    make(&edid, &(struct edid_wish){.timing = list, .count = 3});
    CHECK(edid.blocks == 1 && reads_back(&edid, list, 3));
    edid_bytes_end(&edid);
}

TEST(the_same_twice_is_once)
{
    const struct timing list[] = {wanted(1024, 768, 60), wanted(1280, 720, 60),
                                  wanted(1024, 768, 60), wanted(1280, 720, 60)};
    struct edid_bytes edid;

    make(&edid, &(struct edid_wish){.timing = list, .count = 4});
    CHECK(reads_back(&edid, list, 2));
    CHECK(edid.block[0][38] == 1280 / 8 - 31 && edid.block[0][40] == 1); /* one standard timing */
    CHECK(edid_bytes_descriptor(&edid, 1)[3] == 0xFD);                   /* one detailed timing */
    edid_bytes_end(&edid);
}

/* A detailed timing counts in 10 kHz. */
TEST(rates_in_between_are_rounded)
{
    struct timing list[] = {wanted(640, 480, 60)};
    struct edid_bytes edid;

    make(&edid, &(struct edid_wish){.timing = list, .count = 1});
    list[0].pixel_rate = 25180000;
    CHECK(reads_back(&edid, list, 1));
    edid_bytes_end(&edid);
}

TEST(as_many_as_there_is_room_for)
{
    enum { MOST = 2 + 255 * 6 };
    static struct timing list[MOST + 1];
    static struct edid_bytes edid;

    for (unsigned i = 0; i <= MOST; i++)
        list[i] = (struct timing){1001 + i, 700, 1200 + i, 750, 65000000, false};
    make(&edid, &(struct edid_wish){.timing = list, .count = MOST});
    CHECK(edid.blocks == EDID_MOST_BLOCKS && reads_back(&edid, list, MOST));
    CHECK(is_refused(&(struct edid_wish){.timing = list, .count = MOST + 1},
                     "1533 modes do not fit"));
    edid_bytes_end(&edid);
}

TEST(what_cannot_be_said_is_refused)
{
    static const struct timing bad[] = {
        {4096, 2160, 4400, 2250, 594000000, false},
        {1920, 4096, 2200, 4100, 148500000, false},
        {1920, 1080, 6016, 1125, 148500000, false},
        {1920, 1080, 2200, 5176, 148500000, false},
        {1920, 1080, 1919, 1125, 148500000, false},
        {1920, 1080, 2200, 1079, 148500000, false},
        {1920, 1080, 2200, 1125, 655355000, false},
        {1920, 1080, 2200, 1125, 4999, false},
        {1920, 1080, 2200, 1125, 2470000, false},
        {0, 1080, 2200, 1125, 148500000, false},
        {1920, 0, 2200, 1125, 148500000, false},
        {63, 1080, 2200, 1125, 148500000, false},
        {1920, 63, 2200, 1125, 148500000, false},
        {1920, 1080, 2200, 1124, 74250000, true},
        {1920, 1081, 2200, 1125, 74250000, true},
        {0, 0, 0, 0, 0, false},
        {1920, 1080, 2200, 1125, UINT64_MAX, false},
        {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX, true}};
    const struct timing good = wanted(1024, 768, 60);

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct timing list[] = {good, bad[i]};
        char size[32];

        snprintf(size, sizeof(size), "%ux%u", bad[i].width, bad[i].height);
        CHECK(is_refused(&(struct edid_wish){.timing = &bad[i], .count = 1},
                         "as the preferred mode"));
        CHECK(is_refused(&(struct edid_wish){.timing = list, .count = 2}, size));
    }
    CHECK(is_refused(&(struct edid_wish){.timing = &good, .count = 0}, "needs a mode"));
    CHECK(is_refused(&(struct edid_wish){.timing = &good, .count = 1, .name = ""}, "name"));
    CHECK(is_refused(&(struct edid_wish){.timing = &good, .count = 1, .name = "fourteen chars"},
                     "name"));
    CHECK(is_refused(&(struct edid_wish){.timing = &good, .count = 1, .serial = "a\nb"},
                     "serial number"));
    CHECK(is_refused(&(struct edid_wish){.timing = &good, .count = 1, .serial = "\x7F"},
                     "serial number"));
}

/* Every timing that can be wanted comes back, alone and behind another. */
TEST(whatever_is_wanted_reads_back)
{
    static const uint16_t sizes[][2] = {{640, 480},   {720, 576},  {800, 600},   {1001, 701},
                                        {1280, 720},  {1366, 768}, {1920, 1080}, {2560, 1440},
                                        {3840, 2160}, {4095, 1000}};
    struct timing list[2] = {wanted(1024, 768, 70)};
    struct edid_bytes edid = {0};

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (unsigned hertz = 24; hertz <= 120; hertz++) {
            list[1] = wanted(sizes[i][0], sizes[i][1], hertz);
            if (list[1].pixel_rate > 655350000 && !timing_code(&list[1]))
                continue;
            make(&edid, &(struct edid_wish){.timing = list, .count = 2});
            CHECK(reads_back(&edid, list, 2));
            edid_bytes_end(&edid);
        }
}
