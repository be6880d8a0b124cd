/* SPDX-License-Identifier: MIT */
/* The EDID of the models, as the host reads it. */
#include "support/check_rule.h"

#include <stdio.h>
#include <string.h>

#include "modes/edid.h"
#include "modes/edid_timing.h"
#include "modes/timing.h"
#include "support/bench.h"

static void read_edid(struct bench *b, uint8_t *edid)
{
    for (unsigned i = 0; i < 128; i++)
        edid[i] = (uint8_t)bench_read(b, 2, i, 1);
}

/* Its rate is in whole megahertz quarters, as VESA's formula has it. */
TEST(the_preferred_mode_is_the_one_asked_for)
{
    static const unsigned sizes[][2] = {{1280, 800},  {1920, 1080}, {1024, 768},  {1920, 1200},
                                        {1280, 1024}, {1280, 768},  {3840, 2160}, {64, 64}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct timing due = timing_by_reduced_formula(sizes[i][0], sizes[i][1], 60);
        char width[32], height[32];
        const char *const options[] = {width, height, NULL};
        struct timing timing;
        uint8_t edid[128];
        struct bench *b;

        (void)snprintf(width, sizeof(width), "width=%u", sizes[i][0]);
        (void)snprintf(height, sizeof(height), "height=%u", sizes[i][1]);
        b = bench_create("stdvga", options);
        read_edid(b, edid);
        CHECK(edid_block_valid(edid, true) && edid_extensions(edid) == 0);
        CHECK(edid_detailed_timing(edid + 54, &timing) && timing_equal(&timing, &due));
        CHECK(edid[75] == 0xFC && memcmp(edid + 77, "dxgkhost\n", 9) == 0);
        CHECK(edid[93] == 0xFD && edid[95] == 50 && edid[96] == 75 && edid[101] == '\n' &&
              edid[107] == ' ');
        bench_destroy(b);
    }
}

TEST(another_monitor_is_another_block)
{
    const char *const options[] = {NULL};
    struct bench *b = bench_create("stdvga", options);
    const uint8_t given[1024] = {7, [255] = 9};

    CHECK(b->outputs->monitor(b->device, 0, given, sizeof(given)));
    CHECK(bench_read(b, 2, 0, 1) == 7 && bench_read(b, 2, 255, 1) == 9);
    CHECK(!b->outputs->monitor(b->device, 0, given, sizeof(given) + 128));
    CHECK(bench_read(b, 2, 255, 1) == 9);
    CHECK(b->outputs->monitor(b->device, 0, NULL, 0));
    CHECK(bench_read(b, 2, 0, 1) == 0 && bench_read(b, 2, 255, 1) == 0);
    bench_destroy(b);
}

TEST(a_monitor_without_edid)
{
    const char *const options[] = {"edid=0", NULL};
    struct bench *b = bench_create("stdvga", options);
    uint8_t edid[128];

    read_edid(b, edid);
    CHECK(!edid_block_valid(edid, true) && edid[1] == 0);
    bench_destroy(b);
}
