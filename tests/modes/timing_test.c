/* SPDX-License-Identifier: MIT */
/* Timings of the lists, by the formulas, and as Windows' structure has them. */
#include "support/check_rule.h"

#include "modes/timing.h"
#include "modes/timing_list.h"

static bool is(const struct timing *t, uint32_t width, uint32_t height, uint32_t total_width,
               uint32_t total_height, uint64_t rate)
{
    return t->width == width && t->height == height && t->total_width == total_width &&
           t->total_height == total_height && t->pixel_rate == rate && !t->interlaced;
}

TEST(known_timings_are_those_of_the_list)
{
    struct timing t;

    CHECK(timing_known(640, 480, 60, &t) && is(&t, 640, 480, 800, 525, 25175000));
    CHECK(timing_known(1024, 768, 60, &t) && is(&t, 1024, 768, 1344, 806, 65000000));
    CHECK(timing_known(1920, 1080, 60, &t) && is(&t, 1920, 1080, 2200, 1125, 148500000));
    CHECK(timing_known(2560, 1600, 85, &t) && is(&t, 2560, 1600, 3536, 1682, 505250000));
    CHECK(timing_known(1152, 870, 75, &t) && is(&t, 1152, 870, 1456, 915, 100000000));
    CHECK(timing_known(1024, 768, 87, &t) && t.interlaced && t.total_width == 1264 &&
          t.total_height == 817);
    CHECK(!timing_known(1024, 768, 61, &t));
    CHECK(!timing_known(1024, 767, 60, &t));
    CHECK(!timing_known(1025, 768, 60, &t));
}

TEST(normal_blanking_before_reduced)
{
    struct timing t;

    CHECK(timing_known(1920, 1200, 60, &t) && is(&t, 1920, 1200, 2592, 1245, 193250000));
    CHECK(timing_known_reduced(1920, 1200, 60, &t) && is(&t, 1920, 1200, 2080, 1235, 154000000));
    CHECK(timing_known(1600, 900, 60, &t) &&
          is(&t, 1600, 900, 1800, 1000, 108000000)); /* it has no other */
    CHECK(!timing_known_reduced(1024, 768, 60, &t));
}

TEST(codes_of_televisions)
{
    static const uint8_t with_other_shape[][2] = {{2, 3},    {4, 69},   {16, 76},  {34, 74},
                                                  {93, 103}, {97, 107}, {117, 119}};
    struct timing t, other;

    CHECK(timing_of_code(16, &t) && is(&t, 1920, 1080, 2200, 1125, 148500000));
    CHECK(timing_of_code(5, &t) && t.interlaced && t.height == 1080 && t.total_height == 1125 &&
          t.pixel_rate == 74250000);
    CHECK(timing_of_code(60, &t) && is(&t, 1280, 720, 3300, 750, 59400000));
    CHECK(timing_of_code(90, &t) && is(&t, 2560, 1080, 3000, 1100, 198000000));
    CHECK(timing_of_code(118, &t) && is(&t, 3840, 2160, 4400, 2250, 1188000000));
    for (unsigned i = 0; i < sizeof(with_other_shape) / 2; i++) {
        CHECK(timing_of_code(with_other_shape[i][0], &t) &&
              timing_of_code(with_other_shape[i][1], &other));
        CHECK(timing_equal(&t, &other));
        CHECK(timing_code(&t) == with_other_shape[i][0]);
    }
    t.pixel_rate++;
    CHECK(timing_code(&t) == 0);
}

TEST(no_code_has_4096_pixels_or_none)
{
    unsigned known = 0;
    struct timing t;

    for (uint32_t code = 0; code < 300; code++)
        if (timing_of_code(code, &t)) {
            CHECK(t.width < 4096 && t.width >= 640 && t.height >= 240 && t.total_width > t.width &&
                  t.total_height > t.height);
            known++;
        }
    CHECK(known == 114); /* 1 to 120, but for 98 to 102 and 115 */
    CHECK(!timing_of_code(0, &t) && !timing_of_code(98, &t) && !timing_of_code(102, &t) &&
          !timing_of_code(115, &t));
}

/* Numbers that the program cvt prints. */
TEST(formula_with_normal_blanking)
{
    struct timing t = timing_by_formula(1920, 1080, 60);

    CHECK(is(&t, 1920, 1080, 2576, 1120, 173000000));
    t = timing_by_formula(640, 480, 60);
    CHECK(is(&t, 640, 480, 800, 500, 23750000));
    t = timing_by_formula(1600, 900, 60);
    CHECK(is(&t, 1600, 900, 2112, 934, 118250000));
    t = timing_by_formula(2560, 1440, 60);
    CHECK(is(&t, 2560, 1440, 3488, 1493, 312250000));
    t = timing_by_formula(1680, 1050, 85); /* of the list, which has it by this formula */
    CHECK(is(&t, 1680, 1050, 2288, 1105, 214750000));
    t = timing_by_formula(
        1366, 768, 75); /* no whole cells: the picture stays as asked, the blank part grows */
    CHECK(t.width == 1366 && t.total_width % 8 == 0 &&
          t.total_width == timing_by_formula(1368, 768, 75).total_width);
}

TEST(formula_with_reduced_blanking)
{
    struct timing t = timing_by_reduced_formula(1920, 1200, 60);

    CHECK(is(&t, 1920, 1200, 2080, 1235, 154000000));
    t = timing_by_reduced_formula(2560, 1600, 120);
    CHECK(is(&t, 2560, 1600, 2720, 1694, 552750000));
    t = timing_by_reduced_formula(3840, 2160, 60);
    CHECK(is(&t, 3840, 2160, 4000, 2222, 533250000));
    t = timing_by_reduced_formula(640, 480, 24); /* the fewest lines: 3, 4, and 6 */
    CHECK(is(&t, 640, 480, 800, 493, 9250000));
}

/* Every pair of the list that comes from the formula agrees with it. */
TEST(list_and_formula_agree)
{
    static const uint16_t sizes[][2] = {{1280, 768},  {1280, 800},  {1400, 1050}, {1440, 900},
                                        {1680, 1050}, {1920, 1200}, {2560, 1600}};
    struct timing t, f;

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (unsigned k = 0; k < 3; k++) {
            static const uint8_t rates[] = {60, 75, 85};

            CHECK(timing_known(sizes[i][0], sizes[i][1], rates[k], &t));
            f = timing_by_formula(sizes[i][0], sizes[i][1], rates[k]);
            CHECK(timing_equal(&t, &f));
        }
        CHECK(timing_known_reduced(sizes[i][0], sizes[i][1], 60, &t));
        f = timing_by_reduced_formula(sizes[i][0], sizes[i][1], 60);
        CHECK(timing_equal(&t, &f));
    }
}

TEST(wanted_timings)
{
    struct timing t;

    CHECK(timing_wanted(1024, 768, 60000, false, &t) &&
          is(&t, 1024, 768, 1344, 806, 65000000)); /* of the list */
    CHECK(timing_wanted(3840, 2160, 60000, false, &t) &&
          is(&t, 3840, 2160, 4400, 2250, 594000000)); /* of televisions */
    CHECK(timing_wanted(1920, 1080, 50000, true, &t) && t.interlaced && t.pixel_rate == 74250000);
    CHECK(timing_wanted(1024, 768, 87000, true, &t) && t.interlaced);
    CHECK(timing_wanted(1024, 768, 87000, false, &t) && !t.interlaced); /* by the formula */
    CHECK(timing_wanted(1920, 1080, 59940, false, &t) &&
          is(&t, 1920, 1080, 2200, 1125, 148350000)); /* of the list, slowed down */
    CHECK(timing_wanted(1920, 1080, 59940, true, &t) && t.interlaced && t.pixel_rate == 74180000);
    CHECK(timing_wanted(2560, 1440, 240000, false, &t) && t.total_width == 2720 &&
          t.pixel_rate < 1100000000); /* reduced */
    CHECK(!timing_wanted(1000, 700, 60000, true, &t));
}

TEST(wanted_timings_have_limits)
{
    struct timing t;

    CHECK(!timing_wanted(0, 768, 60000, false, &t));
    CHECK(!timing_wanted(1024, 0, 60000, false, &t));
    CHECK(!timing_wanted(TIMING_MOST_SIDE + 1, 768, 60000, false, &t));
    CHECK(!timing_wanted(1024, TIMING_MOST_SIDE + 1, 60000, false, &t));
    CHECK(!timing_wanted(1024, 768, 499, false, &t));
    CHECK(!timing_wanted(1024, 768, 1000500, false, &t));
    CHECK(!timing_wanted(1, 1, 60000, false, &t)); /* less than a step of the pixel rate */
    CHECK(timing_wanted(1024, 768, 1000000, false, &t) && t.pixel_rate);
    CHECK(timing_wanted(1024, 768, 500, false, &t) && t.pixel_rate);
    for (uint32_t hertz = 1; hertz <= TIMING_MOST_HERTZ; hertz += 37)
        CHECK(timing_wanted(TIMING_MOST_SIDE, TIMING_MOST_SIDE, hertz * 1000, false, &t) &&
              t.total_width > t.width && t.total_height > t.height);
}

TEST(signals_have_reduced_fractions)
{
    struct timing t = {1920, 1080, 2200, 1125, 148500000, false};
    D3DKMDT_VIDEO_SIGNAL_INFO s = timing_signal(&t, D3DKMDT_VSS_OTHER);

    CHECK(s.VideoStandard == D3DKMDT_VSS_OTHER && s.PixelRate == 148500000);
    CHECK(s.TotalSize.cx == 2200 && s.TotalSize.cy == 1125 && s.ActiveSize.cx == 1920 &&
          s.ActiveSize.cy == 1080);
    CHECK(s.VSyncFreq.Numerator == 60 && s.VSyncFreq.Denominator == 1);
    CHECK(s.HSyncFreq.Numerator == 67500 && s.HSyncFreq.Denominator == 1);
    CHECK(s.ScanLineOrdering == D3DDDI_VSSLO_PROGRESSIVE);
    t.pixel_rate = 148350000;
    s = timing_signal(&t, D3DKMDT_VSS_VESA_DMT);
    CHECK(s.VideoStandard == D3DKMDT_VSS_VESA_DMT);
    CHECK(s.VSyncFreq.Numerator == 1978 && s.VSyncFreq.Denominator == 33);
    CHECK(s.HSyncFreq.Numerator == 741750 && s.HSyncFreq.Denominator == 11);
}

/* VSync comes once a field. */
TEST(signals_of_two_fields)
{
    const struct timing t = {1920, 1080, 2200, 1125, 74250000, true};
    const D3DKMDT_VIDEO_SIGNAL_INFO s = timing_signal(&t, D3DKMDT_VSS_EIA_861B);

    CHECK(s.VSyncFreq.Numerator == 60 && s.VSyncFreq.Denominator == 1);
    CHECK(s.HSyncFreq.Numerator == 33750 && s.HSyncFreq.Denominator == 1);
    CHECK(s.TotalSize.cy == 1125 && s.ActiveSize.cy == 1080);
    CHECK(s.ScanLineOrdering == D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST);
}

/* Both numbers stay below those that mean something else, with the ratio about the same. */
TEST(signals_of_large_numbers)
{
    const struct timing t = {60001, 60013, 65011, 65003, UINT64_C(20000000003), false};
    const D3DKMDT_VIDEO_SIGNAL_INFO s = timing_signal(&t, D3DKMDT_VSS_OTHER);
    const double rate = (double)s.VSyncFreq.Numerator / s.VSyncFreq.Denominator;

    CHECK(s.VSyncFreq.Numerator && s.VSyncFreq.Numerator <= INT32_MAX &&
          s.VSyncFreq.Denominator <= INT32_MAX);
    CHECK(rate > 4.7326 && rate < 4.7328);
}
