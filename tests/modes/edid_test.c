/* SPDX-License-Identifier: MIT */
/* Modes and ranges of EDIDs, right ones and wrong ones. */
#include "modes/support/edid_bytes.h"

#include <string.h>

#include "modes/timing_list.h"

static bool has(const struct edid_bytes *edid, uint32_t width, uint32_t height,
                uint32_t total_width, uint32_t total_height, uint64_t rate)
{
    const struct timing t = {width, height, total_width, total_height, rate, false};

    return edid_bytes_mode(edid, &t) != NULL;
}

static bool has_known(const struct edid_bytes *edid, uint32_t width, uint32_t height, uint32_t hertz)
{
    const D3DKMDT_MONITOR_SOURCE_MODE *mode;
    struct timing t;

    if (!timing_known(width, height, hertz, &t))
        return false;
    mode = edid_bytes_mode(edid, &t);
    return mode && mode->VideoSignalInfo.VideoStandard == D3DKMDT_VSS_VESA_DMT;
}

static void full_hd(uint8_t *at)
{
    edid_bytes_detailed(at, 14850, 1920, 280, 1080, 45, false);
}

/* ---- blocks ---- */

TEST(a_block_is_right_by_its_sum)
{
    struct edid_bytes edid;
    uint8_t *base = edid.block[0];

    edid_bytes_init(&edid, 4);
    edid_bytes_sum(&edid);
    CHECK(edid_block_valid(base, true) && edid_block_valid(base, false));
    base[20] ^= 1;
    CHECK(!edid_block_valid(base, true) && !edid_block_valid(base, false));
    base[20] ^= 1;
    base[127]++;
    CHECK(!edid_block_valid(base, true));
}

TEST(a_base_block_has_a_header)
{
    for (unsigned i = 0; i < 8; i++) {
        struct edid_bytes edid;

        edid_bytes_init(&edid, 4);
        edid.block[0][i] ^= 0x80;
        edid_bytes_sum(&edid);
        CHECK(!edid_block_valid(edid.block[0], true));
        CHECK(edid_block_valid(edid.block[0], false));
    }
}

TEST(nothing_in_it)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 0);
    memset(edid.block, 0, sizeof(edid.block));
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 0);
    full_hd(edid_bytes_descriptor(&edid, 0));
    edid.blocks = 0;
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 0);
    edid_bytes_end(&edid);
}

/* ---- detailed timings ---- */

TEST(detailed_timing)
{
    const struct timing t = {1920, 1080, 2200, 1125, 148500000, false};
    const D3DKMDT_MONITOR_SOURCE_MODE *mode;
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    full_hd(edid_bytes_descriptor(&edid, 0));
    edid_bytes_read(&edid);
    mode = edid_bytes_mode(&edid, &t);
    CHECK(edid.set->count == 1 && mode && mode->Id == 1);
    CHECK(mode->VideoSignalInfo.VideoStandard == D3DKMDT_VSS_OTHER);
    CHECK(mode->VideoSignalInfo.VSyncFreq.Numerator == 60 &&
          mode->VideoSignalInfo.VSyncFreq.Denominator == 1);
    CHECK(mode->Origin == D3DKMDT_MCO_MONITORDESCRIPTOR && mode->Preference == D3DKMDT_MP_PREFERRED);
    CHECK(mode->ColorBasis == D3DKMDT_CB_SRGB);
    CHECK(mode->ColorCoeffDynamicRanges.FirstChannel == 8 &&
          mode->ColorCoeffDynamicRanges.SecondChannel == 8);
    CHECK(mode->ColorCoeffDynamicRanges.ThirdChannel == 8 &&
          mode->ColorCoeffDynamicRanges.FourthChannel == 0);
    edid_bytes_end(&edid);
}

/* All bits of each number. */
TEST(detailed_timing_of_the_largest_numbers)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 0), 65535, 4095, 4095, 4095, 4095, false);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 1), 0x3456, 0x0F01, 0x0203, 0x0E05, 0x0407,
                        false);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 2), 1, 64, 0, 64, 0, false);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 3);
    CHECK(has(&edid, 4095, 4095, 8190, 8190, 655350000));
    CHECK(has(&edid, 0x0F01, 0x0E05, 0x0F01 + 0x0203, 0x0E05 + 0x0407, 133980000));
    CHECK(has(&edid, 64, 64, 64, 64, 10000));
    edid_bytes_end(&edid);
}

TEST(detailed_timing_of_two_fields)
{
    const struct timing t = {1920, 1080, 2200, 1125, 74250000, true};
    const D3DKMDT_MONITOR_SOURCE_MODE *mode;
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 0), 7425, 1920, 280, 540, 22, true);
    edid_bytes_read(&edid);
    mode = edid_bytes_mode(&edid, &t);
    CHECK(edid.set->count == 1 && mode && mode->Preference == D3DKMDT_MP_PREFERRED);
    CHECK(mode->VideoSignalInfo.VSyncFreq.Numerator == 60 &&
          mode->VideoSignalInfo.VSyncFreq.Denominator == 1);
    edid_bytes_end(&edid);
}

TEST(the_first_detailed_timing_is_preferred)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    edid_bytes_descriptor(&edid, 0)[3] = 0xFC; /* a name before it */
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 1), 6500, 1024, 320, 768, 38, false);
    full_hd(edid_bytes_descriptor(&edid, 3));
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 2 && edid_bytes_preferred(&edid) == 0);
    CHECK(edid.set->mode[0].monitor.VideoSignalInfo.ActiveSize.cx == 1024);
    edid_bytes_end(&edid);
}

TEST(what_is_no_picture_is_no_timing)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 0);
    memset(edid_bytes_descriptor(&edid, 0), 1, 18); /* as old monitors fill unused ones */
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 1), 14850, 63, 280, 1080, 45, false);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 2), 14850, 1920, 280, 63, 45, false);
    full_hd(edid_bytes_descriptor(&edid, 3));
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 1 && edid_bytes_preferred(&edid) == 0 &&
          has(&edid, 1920, 1080, 2200, 1125, 148500000));
    edid_bytes_end(&edid);
}

/* No mode may have them (VIDPN-096), so that none of the monitor has. */
TEST(rates_that_no_display_has)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 0), 99, 500, 500, 500, 500, false);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 1), 100, 500, 500, 500, 500, false);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 2), 8192, 64, 64, 64, 0, false);
    edid_bytes_detailed(edid_bytes_descriptor(&edid, 3), 8193, 64, 64, 64, 0, false);
    edid_bytes_read(&edid);
    CHECK_RULE("VIDPN-096/c", edid.set->count == 2 && has(&edid, 500, 500, 1000, 1000, 1000000) &&
                                  has(&edid, 64, 64, 128, 64, 81920000));
    edid_bytes_end(&edid);
}

/* ---- codes of the base block ---- */

/* Each bit alone gives the one mode that it stands for. */
TEST(established_timings)
{
    static const uint16_t timings[17][3] = {
        {720, 400, 70},   {720, 400, 88},  {640, 480, 60},  {640, 480, 67},  {640, 480, 72},
        {640, 480, 75},   {800, 600, 56},  {800, 600, 60},  {800, 600, 72},  {800, 600, 75},
        {832, 624, 75},   {1024, 768, 87}, {1024, 768, 60}, {1024, 768, 70}, {1024, 768, 75},
        {1280, 1024, 75}, {1152, 870, 75}};
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    for (unsigned i = 0; i < 17; i++) {
        memset(edid.block[0] + 35, 0, 3);
        edid.block[0][35 + i / 8] = (uint8_t)(0x80 >> i % 8);
        edid_bytes_read(&edid);
        CHECK(edid.set->count == 1 && has_known(&edid, timings[i][0], timings[i][1], timings[i][2]));
        CHECK(edid_bytes_preferred(&edid) == -1);
    }
    memset(edid.block[0] + 35, 0xFF, 3); /* the last 7 bits are those of manufacturers */
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 17);
    edid_bytes_end(&edid);
}

TEST(established_timings_of_the_descriptor)
{
    struct edid_bytes edid;
    uint8_t *d = edid_bytes_descriptor(&edid, 1);

    edid_bytes_init(&edid, 4);
    d[3] = 0xF7;
    d[5] = 10;
    d[6] = 0x80;
    d[7] = 0x80;
    d[11] = 0x10;
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 3 && has_known(&edid, 640, 350, 85) &&
          has_known(&edid, 1920, 1440, 75));
    CHECK(has(&edid, 1280, 768, 1440, 790, 68250000));
    memset(d + 6, 0xFF, 12);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 44);
    edid_bytes_end(&edid);
}

static void put_standard(struct edid_bytes *edid, unsigned n, unsigned first, unsigned second)
{
    edid->block[0][38 + 2 * n] = (uint8_t)first;
    edid->block[0][39 + 2 * n] = (uint8_t)second;
}

TEST(standard_timings_of_each_ratio)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    put_standard(&edid, 0, 1280 / 8 - 31, 0x00);      /* 16:10, 60 Hz */
    put_standard(&edid, 2, 1280 / 8 - 31, 0x40 | 25); /* 4:3, 85 Hz */
    put_standard(&edid, 3, 1280 / 8 - 31, 0x80 | 15); /* 5:4, 75 Hz */
    put_standard(&edid, 7, 1920 / 8 - 31, 0xC0);      /* 16:9 */
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 4 && edid_bytes_preferred(&edid) == -1);
    CHECK(has_known(&edid, 1280, 800, 60) && has_known(&edid, 1280, 960, 85) &&
          has_known(&edid, 1280, 1024, 75));
    CHECK(has_known(&edid, 1920, 1080, 60));
    edid.block[0][19] = 2; /* before EDID 1.3: 1:1 */
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 4 && edid.set->mode[0].monitor.VideoSignalInfo.ActiveSize.cy == 1280);
    edid.block[0][19] = 3;
    edid_bytes_read(&edid);
    CHECK(edid.set->mode[0].monitor.VideoSignalInfo.ActiveSize.cy == 800);
    edid_bytes_end(&edid);
}

TEST(standard_timings_by_formula)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    put_standard(&edid, 0, 1920 / 8 - 31, 0xC0 | 15); /* 75 Hz, which the list does not have */
    put_standard(&edid, 1, 1, 0x40);                  /* the smallest: 256 x 192 */
    put_standard(&edid, 2, 255, 0xFF);                /* the largest: 2288 x 1287, 123 Hz */
    put_standard(&edid, 3, 1024 / 8 - 31, 0x40 | 27); /* 87 Hz, and not of two fields */
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 4 && has(&edid, 1920, 1080, 2608, 1130, 220750000));
    CHECK(edid.set->mode[0].monitor.VideoSignalInfo.VideoStandard == D3DKMDT_VSS_VESA_DMT);
    CHECK(edid.set->mode[1].monitor.VideoSignalInfo.ActiveSize.cx == 256);
    CHECK(edid.set->mode[1].monitor.VideoSignalInfo.ActiveSize.cy == 192);
    CHECK(edid.set->mode[2].monitor.VideoSignalInfo.ActiveSize.cx == 2288);
    CHECK(edid.set->mode[2].monitor.VideoSignalInfo.ActiveSize.cy == 1287);
    CHECK(edid.set->mode[3].monitor.VideoSignalInfo.ScanLineOrdering == D3DDDI_VSSLO_PROGRESSIVE);
    edid_bytes_end(&edid);
}

TEST(standard_timings_that_are_not_used)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    put_standard(&edid, 0, 0, 0);
    put_standard(&edid, 1, 0, 0x40);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 0);
    put_standard(&edid, 2, 1, 2); /* one that is, of 256 pixels */
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 1);
    edid_bytes_end(&edid);
}

TEST(standard_timings_for_a_width_that_they_cannot_say)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    put_standard(&edid, 0, 1360 / 8 - 31, 0xC0);
    put_standard(&edid, 1, 1368 / 8 - 31, 0xC0);
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 1 && has_known(&edid, 1366, 768, 60));
    edid_bytes_end(&edid);
}

TEST(standard_timings_of_the_descriptor)
{
    struct edid_bytes edid;
    uint8_t *d = edid_bytes_descriptor(&edid, 2);

    edid_bytes_init(&edid, 4);
    d[3] = 0xFA;
    memset(d + 5, 1, 12);
    d[5] = 1440 / 8 - 31;
    d[6] = 0;
    d[15] = 1600 / 8 - 31;
    d[16] = 0x40;
    d[17] = 0x0A;
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 2 && has_known(&edid, 1440, 900, 60) &&
          has_known(&edid, 1600, 1200, 60));
    edid_bytes_end(&edid);
}

TEST(what_is_named_twice_is_there_once)
{
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    full_hd(edid_bytes_descriptor(&edid, 0));
    full_hd(edid_bytes_descriptor(&edid, 1));
    put_standard(&edid, 0, 1920 / 8 - 31, 0xC0);
    put_standard(&edid, 1, 1024 / 8 - 31, 0x40);
    edid.block[0][36] = 8; /* 1024x768@60 */
    edid_bytes_extension(&edid, 6)[4] = 0x41;
    edid.block[1][5] = 16;
    edid_bytes_read(&edid);
    CHECK(edid.set->count == 2 && edid_bytes_preferred(&edid) == 0);
    CHECK(edid.set->mode[0].monitor.VideoSignalInfo.VideoStandard == D3DKMDT_VSS_OTHER);
    CHECK(edid.set->mode[0].id == 1 && edid.set->mode[1].id == 2 && edid.set->next_id == 3);
    edid_bytes_end(&edid);
}

/* ---- without a descriptor ---- */

TEST(default_modes)
{
    static const uint16_t sizes[7][2] = {{640, 480},   {800, 600},   {1024, 768}, {1280, 720},
                                         {1280, 1024}, {1600, 1200}, {1920, 1080}};
    struct edid_bytes edid;
    int preferred;

    edid_bytes_init(&edid, 4);
    edid_bytes_read(&edid);
    CHECK(edid_default_modes(edid.set) && edid.set->count == 7);
    for (unsigned i = 0; i < 7; i++) {
        CHECK(has_known(&edid, sizes[i][0], sizes[i][1], 60));
        CHECK(edid.set->mode[i].monitor.Origin == D3DKMDT_MCO_DEFAULTMONITORPROFILE);
    }
    preferred = edid_bytes_preferred(&edid);
    CHECK(preferred >= 0 && edid.set->mode[preferred].monitor.VideoSignalInfo.ActiveSize.cx == 1024);
    edid_bytes_end(&edid);
}

/* ---- ranges ---- */

static void put_ranges(uint8_t *d, const uint8_t *six)
{
    memset(d, 0, 18);
    d[3] = 0xFD;
    d[4] = six[0];
    memcpy(d + 5, six + 1, 5);
}

static bool is_range(const D3DKMDT_MONITOR_FREQUENCY_RANGE *r, UINT low, UINT high, UINT low_lines,
                     UINT high_lines)
{
    const D3DKMDT_FREQUENCY_RANGE *l = &r->RangeLimits;

    return l->MinVSyncFreq.Numerator == low && l->MaxVSyncFreq.Numerator == high &&
           l->MinHSyncFreq.Numerator == low_lines && l->MaxHSyncFreq.Numerator == high_lines &&
           l->MinVSyncFreq.Denominator == 1 && l->MaxVSyncFreq.Denominator == 1 &&
           l->MinHSyncFreq.Denominator == 1 && l->MaxHSyncFreq.Denominator == 1;
}

TEST(ranges)
{
    D3DKMDT_MONITOR_FREQUENCY_RANGE r;
    struct edid_bytes edid;

    edid_bytes_init(&edid, 3);
    CHECK(!edid_range(edid.block[0], 0, &r));
    put_ranges(edid_bytes_descriptor(&edid, 1), (const uint8_t[]){0, 56, 75, 30, 83, 17});
    put_ranges(edid_bytes_descriptor(&edid, 3), (const uint8_t[]){0, 24, 60, 15, 68, 25});
    CHECK(edid_range(edid.block[0], 0, &r) && is_range(&r, 56, 75, 30000, 83000));
    CHECK(r.Origin == D3DKMDT_MCO_MONITORDESCRIPTOR &&
          r.ConstraintType == D3DKMDT_MFRC_MAXPIXELRATE);
    CHECK(r.Constraint.MaxPixelRate == 170000000);
    CHECK(edid_range(edid.block[0], 1, &r) && is_range(&r, 24, 60, 15000, 68000) &&
          r.Constraint.MaxPixelRate == 250000000);
    CHECK(!edid_range(edid.block[0], 2, &r));
    edid_bytes_descriptor(&edid, 1)[0] = 1; /* a detailed timing now */
    CHECK(edid_range(edid.block[0], 0, &r) && is_range(&r, 24, 60, 15000, 68000));
}

TEST(ranges_with_offsets)
{
    static const UINT expected[16][2] = {{50, 100}, {50, 100}, {50, 355}, {305, 355}};
    D3DKMDT_MONITOR_FREQUENCY_RANGE r;
    struct edid_bytes edid;

    edid_bytes_init(&edid, 4);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 4; k++) {
            put_ranges(edid_bytes_descriptor(&edid, 0),
                       (const uint8_t[]){(uint8_t)(i | k << 2), 50, 100, 50, 100, 255});
            edid.block[0][19] = 4;
            CHECK(edid_range(edid.block[0], 0, &r));
            CHECK(is_range(&r, expected[i][0], expected[i][1], expected[k][0] * 1000,
                           expected[k][1] * 1000));
            CHECK(r.Constraint.MaxPixelRate == 2550000000);
            edid.block[0][19] = 3; /* which has no offsets */
            CHECK(edid_range(edid.block[0], 0, &r) && is_range(&r, 50, 100, 50000, 100000));
        }
}

TEST(ranges_with_the_rest_of_the_pixel_rate)
{
    D3DKMDT_MONITOR_FREQUENCY_RANGE r;
    struct edid_bytes edid;
    uint8_t *d = edid_bytes_descriptor(&edid, 0);

    edid_bytes_init(&edid, 4);
    put_ranges(d, (const uint8_t[]){0, 50, 100, 50, 100, 16});
    d[12] = 39 << 2 | 3; /* 9.75 MHz */
    CHECK(edid_range(edid.block[0], 0, &r) && r.Constraint.MaxPixelRate == 160000000);
    d[10] = 4;
    CHECK(edid_range(edid.block[0], 0, &r) && r.Constraint.MaxPixelRate == 150250000);
    d[9] = 0;
    CHECK(edid_range(edid.block[0], 0, &r) && r.Constraint.MaxPixelRate == 0);
}
