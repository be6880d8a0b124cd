/* SPDX-License-Identifier: MIT */
#include "modes/timing_list.h"

enum kind { PROGRESSIVE, INTERLACED, REDUCED };

struct row {
    uint16_t width, height, hertz, total_width, total_height;
    uint32_t kilohertz;
    enum kind kind;
};

/* clang-format off */
static const struct row list[] = {
    /* VESA DMT */
    {640, 350, 85, 832, 445, 31500, PROGRESSIVE}, {640, 400, 85, 832, 445, 31500, PROGRESSIVE},
    {720, 400, 85, 936, 446, 35500, PROGRESSIVE}, {640, 480, 60, 800, 525, 25175, PROGRESSIVE},
    {640, 480, 72, 832, 520, 31500, PROGRESSIVE}, {640, 480, 75, 840, 500, 31500, PROGRESSIVE},
    {640, 480, 85, 832, 509, 36000, PROGRESSIVE}, {800, 600, 56, 1024, 625, 36000, PROGRESSIVE},
    {800, 600, 60, 1056, 628, 40000, PROGRESSIVE}, {800, 600, 72, 1040, 666, 50000, PROGRESSIVE},
    {800, 600, 75, 1056, 625, 49500, PROGRESSIVE}, {800, 600, 85, 1048, 631, 56250, PROGRESSIVE},
    {800, 600, 120, 960, 636, 73250, REDUCED}, {848, 480, 60, 1088, 517, 33750, PROGRESSIVE},
    {1024, 768, 87, 1264, 817, 44900, INTERLACED}, {1024, 768, 60, 1344, 806, 65000, PROGRESSIVE},
    {1024, 768, 70, 1328, 806, 75000, PROGRESSIVE}, {1024, 768, 75, 1312, 800, 78750, PROGRESSIVE},
    {1024, 768, 85, 1376, 808, 94500, PROGRESSIVE}, {1024, 768, 120, 1184, 813, 115500, REDUCED},
    {1152, 864, 75, 1600, 900, 108000, PROGRESSIVE}, {1280, 720, 60, 1650, 750, 74250, PROGRESSIVE},
    {1280, 768, 60, 1440, 790, 68250, REDUCED}, {1280, 768, 60, 1664, 798, 79500, PROGRESSIVE},
    {1280, 768, 75, 1696, 805, 102250, PROGRESSIVE},
    {1280, 768, 85, 1712, 809, 117500, PROGRESSIVE}, {1280, 768, 120, 1440, 813, 140250, REDUCED},
    {1280, 800, 60, 1440, 823, 71000, REDUCED}, {1280, 800, 60, 1680, 831, 83500, PROGRESSIVE},
    {1280, 800, 75, 1696, 838, 106500, PROGRESSIVE},
    {1280, 800, 85, 1712, 843, 122500, PROGRESSIVE}, {1280, 800, 120, 1440, 847, 146250, REDUCED},
    {1280, 960, 60, 1800, 1000, 108000, PROGRESSIVE},
    {1280, 960, 85, 1728, 1011, 148500, PROGRESSIVE}, {1280, 960, 120, 1440, 1017, 175500, REDUCED},
    {1280, 1024, 60, 1688, 1066, 108000, PROGRESSIVE},
    {1280, 1024, 75, 1688, 1066, 135000, PROGRESSIVE},
    {1280, 1024, 85, 1728, 1072, 157500, PROGRESSIVE},
    {1280, 1024, 120, 1440, 1084, 187250, REDUCED}, {1360, 768, 60, 1792, 795, 85500, PROGRESSIVE},
    {1360, 768, 120, 1520, 813, 148250, REDUCED}, {1366, 768, 60, 1792, 798, 85500, PROGRESSIVE},
    {1366, 768, 60, 1500, 800, 72000, REDUCED}, {1400, 1050, 60, 1560, 1080, 101000, REDUCED},
    {1400, 1050, 60, 1864, 1089, 121750, PROGRESSIVE},
    {1400, 1050, 75, 1896, 1099, 156000, PROGRESSIVE},
    {1400, 1050, 85, 1912, 1105, 179500, PROGRESSIVE},
    {1400, 1050, 120, 1560, 1112, 208000, REDUCED}, {1440, 900, 60, 1600, 926, 88750, REDUCED},
    {1440, 900, 60, 1904, 934, 106500, PROGRESSIVE},
    {1440, 900, 75, 1936, 942, 136750, PROGRESSIVE},
    {1440, 900, 85, 1952, 948, 157000, PROGRESSIVE}, {1440, 900, 120, 1600, 953, 182750, REDUCED},
    {1600, 900, 60, 1800, 1000, 108000, REDUCED}, {1600, 1200, 60, 2160, 1250, 162000, PROGRESSIVE},
    {1600, 1200, 65, 2160, 1250, 175500, PROGRESSIVE},
    {1600, 1200, 70, 2160, 1250, 189000, PROGRESSIVE},
    {1600, 1200, 75, 2160, 1250, 202500, PROGRESSIVE},
    {1600, 1200, 85, 2160, 1250, 229500, PROGRESSIVE},
    {1600, 1200, 120, 1760, 1271, 268250, REDUCED}, {1680, 1050, 60, 1840, 1080, 119000, REDUCED},
    {1680, 1050, 60, 2240, 1089, 146250, PROGRESSIVE},
    {1680, 1050, 75, 2272, 1099, 187000, PROGRESSIVE},
    {1680, 1050, 85, 2288, 1105, 214750, PROGRESSIVE},
    {1680, 1050, 120, 1840, 1112, 245500, REDUCED},
    {1792, 1344, 60, 2448, 1394, 204750, PROGRESSIVE},
    {1792, 1344, 75, 2456, 1417, 261000, PROGRESSIVE},
    {1792, 1344, 120, 1952, 1423, 333250, REDUCED},
    {1856, 1392, 60, 2528, 1439, 218250, PROGRESSIVE},
    {1856, 1392, 75, 2560, 1500, 288000, PROGRESSIVE},
    {1856, 1392, 120, 2016, 1474, 356500, REDUCED},
    {1920, 1080, 60, 2200, 1125, 148500, PROGRESSIVE},
    {1920, 1200, 60, 2080, 1235, 154000, REDUCED},
    {1920, 1200, 60, 2592, 1245, 193250, PROGRESSIVE},
    {1920, 1200, 75, 2608, 1255, 245250, PROGRESSIVE},
    {1920, 1200, 85, 2624, 1262, 281250, PROGRESSIVE},
    {1920, 1200, 120, 2080, 1271, 317000, REDUCED},
    {1920, 1440, 60, 2600, 1500, 234000, PROGRESSIVE},
    {1920, 1440, 75, 2640, 1500, 297000, PROGRESSIVE},
    {1920, 1440, 120, 2080, 1525, 380500, REDUCED}, {2048, 1152, 60, 2250, 1200, 162000, REDUCED},
    {2560, 1600, 60, 2720, 1646, 268500, REDUCED},
    {2560, 1600, 60, 3504, 1658, 348500, PROGRESSIVE},
    {2560, 1600, 75, 3536, 1672, 443250, PROGRESSIVE},
    {2560, 1600, 85, 3536, 1682, 505250, PROGRESSIVE},
    {2560, 1600, 120, 2720, 1694, 552750, REDUCED},
    /* of displays before that list, which established timings name */
    {720, 400, 70, 900, 449, 28322, PROGRESSIVE}, {720, 400, 88, 900, 449, 35500, PROGRESSIVE},
    {640, 480, 67, 864, 525, 30240, PROGRESSIVE}, {832, 624, 75, 1152, 667, 57284, PROGRESSIVE},
    {1152, 870, 75, 1456, 915, 100000, PROGRESSIVE},
};

/* `same` differs in the shape of the picture alone. */
static const struct { uint8_t code, same; struct row row; } codes[] = {
    {1, 1, {640, 480, 60, 800, 525, 25175, PROGRESSIVE}},
    {2, 3, {720, 480, 60, 858, 525, 27000, PROGRESSIVE}},
    {4, 69, {1280, 720, 60, 1650, 750, 74250, PROGRESSIVE}},
    {5, 5, {1920, 1080, 60, 2200, 1125, 74250, INTERLACED}},
    {6, 7, {1440, 480, 60, 1716, 525, 27000, INTERLACED}},
    {8, 9, {1440, 240, 60, 1716, 262, 27000, PROGRESSIVE}},
    {10, 11, {2880, 480, 60, 3432, 525, 54000, INTERLACED}},
    {12, 13, {2880, 240, 60, 3432, 262, 54000, PROGRESSIVE}},
    {14, 15, {1440, 480, 60, 1716, 525, 54000, PROGRESSIVE}},
    {16, 76, {1920, 1080, 60, 2200, 1125, 148500, PROGRESSIVE}},
    {17, 18, {720, 576, 50, 864, 625, 27000, PROGRESSIVE}},
    {19, 68, {1280, 720, 50, 1980, 750, 74250, PROGRESSIVE}},
    {20, 20, {1920, 1080, 50, 2640, 1125, 74250, INTERLACED}},
    {21, 22, {1440, 576, 50, 1728, 625, 27000, INTERLACED}},
    {23, 24, {1440, 288, 50, 1728, 312, 27000, PROGRESSIVE}},
    {25, 26, {2880, 576, 50, 3456, 625, 54000, INTERLACED}},
    {27, 28, {2880, 288, 50, 3456, 312, 54000, PROGRESSIVE}},
    {29, 30, {1440, 576, 50, 1728, 625, 54000, PROGRESSIVE}},
    {31, 75, {1920, 1080, 50, 2640, 1125, 148500, PROGRESSIVE}},
    {32, 72, {1920, 1080, 24, 2750, 1125, 74250, PROGRESSIVE}},
    {33, 73, {1920, 1080, 25, 2640, 1125, 74250, PROGRESSIVE}},
    {34, 74, {1920, 1080, 30, 2200, 1125, 74250, PROGRESSIVE}},
    {35, 36, {2880, 480, 60, 3432, 525, 108000, PROGRESSIVE}},
    {37, 38, {2880, 576, 50, 3456, 625, 108000, PROGRESSIVE}},
    {39, 39, {1920, 1080, 50, 2304, 1250, 72000, INTERLACED}},
    {40, 40, {1920, 1080, 100, 2640, 1125, 148500, INTERLACED}},
    {41, 70, {1280, 720, 100, 1980, 750, 148500, PROGRESSIVE}},
    {42, 43, {720, 576, 100, 864, 625, 54000, PROGRESSIVE}},
    {44, 45, {1440, 576, 100, 1728, 625, 54000, INTERLACED}},
    {46, 46, {1920, 1080, 120, 2200, 1125, 148500, INTERLACED}},
    {47, 71, {1280, 720, 120, 1650, 750, 148500, PROGRESSIVE}},
    {48, 49, {720, 480, 120, 858, 525, 54000, PROGRESSIVE}},
    {50, 51, {1440, 480, 120, 1716, 525, 54000, INTERLACED}},
    {52, 53, {720, 576, 200, 864, 625, 108000, PROGRESSIVE}},
    {54, 55, {1440, 576, 200, 1728, 625, 108000, INTERLACED}},
    {56, 57, {720, 480, 240, 858, 525, 108000, PROGRESSIVE}},
    {58, 59, {1440, 480, 240, 1716, 525, 108000, INTERLACED}},
    {60, 65, {1280, 720, 24, 3300, 750, 59400, PROGRESSIVE}},
    {61, 66, {1280, 720, 25, 3960, 750, 74250, PROGRESSIVE}},
    {62, 67, {1280, 720, 30, 3300, 750, 74250, PROGRESSIVE}},
    {63, 78, {1920, 1080, 120, 2200, 1125, 297000, PROGRESSIVE}},
    {64, 77, {1920, 1080, 100, 2640, 1125, 297000, PROGRESSIVE}},
    {79, 79, {1680, 720, 24, 3300, 750, 59400, PROGRESSIVE}},
    {80, 80, {1680, 720, 25, 3168, 750, 59400, PROGRESSIVE}},
    {81, 81, {1680, 720, 30, 2640, 750, 59400, PROGRESSIVE}},
    {82, 82, {1680, 720, 50, 2200, 750, 82500, PROGRESSIVE}},
    {83, 83, {1680, 720, 60, 2200, 750, 99000, PROGRESSIVE}},
    {84, 84, {1680, 720, 100, 2000, 825, 165000, PROGRESSIVE}},
    {85, 85, {1680, 720, 120, 2000, 825, 198000, PROGRESSIVE}},
    {86, 86, {2560, 1080, 24, 3750, 1100, 99000, PROGRESSIVE}},
    {87, 87, {2560, 1080, 25, 3200, 1125, 90000, PROGRESSIVE}},
    {88, 88, {2560, 1080, 30, 3520, 1125, 118800, PROGRESSIVE}},
    {89, 89, {2560, 1080, 50, 3300, 1125, 185625, PROGRESSIVE}},
    {90, 90, {2560, 1080, 60, 3000, 1100, 198000, PROGRESSIVE}},
    {91, 91, {2560, 1080, 100, 2970, 1250, 371250, PROGRESSIVE}},
    {92, 92, {2560, 1080, 120, 3300, 1250, 495000, PROGRESSIVE}},
    {93, 103, {3840, 2160, 24, 5500, 2250, 297000, PROGRESSIVE}},
    {94, 104, {3840, 2160, 25, 5280, 2250, 297000, PROGRESSIVE}},
    {95, 105, {3840, 2160, 30, 4400, 2250, 297000, PROGRESSIVE}},
    {96, 106, {3840, 2160, 50, 5280, 2250, 594000, PROGRESSIVE}},
    {97, 107, {3840, 2160, 60, 4400, 2250, 594000, PROGRESSIVE}},
    {108, 109, {1280, 720, 48, 2500, 750, 90000, PROGRESSIVE}},
    {110, 110, {1680, 720, 48, 2750, 750, 99000, PROGRESSIVE}},
    {111, 112, {1920, 1080, 48, 2750, 1125, 148500, PROGRESSIVE}},
    {113, 113, {2560, 1080, 48, 3750, 1100, 198000, PROGRESSIVE}},
    {114, 116, {3840, 2160, 48, 5500, 2250, 594000, PROGRESSIVE}},
    {117, 119, {3840, 2160, 100, 5280, 2250, 1188000, PROGRESSIVE}},
    {118, 120, {3840, 2160, 120, 4400, 2250, 1188000, PROGRESSIVE}},
};
/* clang-format on */

#define ROWS  (sizeof(list) / sizeof(list[0]))
#define CODES (sizeof(codes) / sizeof(codes[0]))

static struct timing of_row(const struct row *row)
{
    return (struct timing){.width = row->width,
                           .height = row->height,
                           .total_width = row->total_width,
                           .total_height = row->total_height,
                           .pixel_rate = row->kilohertz * UINT64_C(1000),
                           .interlaced = row->kind == INTERLACED};
}

static bool is_of(const struct row *row, uint32_t width, uint32_t height, uint32_t hertz)
{
    return row->width == width && row->height == height && row->hertz == hertz;
}

bool timing_known_reduced(uint32_t width, uint32_t height, uint32_t hertz, struct timing *timing)
{
    for (unsigned i = 0; i < ROWS; i++)
        if (list[i].kind == REDUCED && is_of(&list[i], width, height, hertz)) {
            *timing = of_row(&list[i]);
            return true;
        }
    return false;
}

bool timing_known(uint32_t width, uint32_t height, uint32_t hertz, struct timing *timing)
{
    for (unsigned i = 0; i < ROWS; i++)
        if (list[i].kind != REDUCED && is_of(&list[i], width, height, hertz)) {
            *timing = of_row(&list[i]);
            return true;
        }
    return timing_known_reduced(width, height, hertz, timing);
}

bool timing_of_code(uint32_t code, struct timing *timing)
{
    for (unsigned i = 0; i < CODES; i++)
        if (codes[i].code == code || codes[i].same == code) {
            *timing = of_row(&codes[i].row);
            return true;
        }
    return false;
}

uint32_t timing_code(const struct timing *timing)
{
    struct timing other;

    for (unsigned i = 0; i < CODES; i++) {
        other = of_row(&codes[i].row);
        if (timing_equal(&other, timing))
            return codes[i].code;
    }
    return 0;
}

/* Of CTA-861; false: it has none. */
static bool of_television(uint32_t width, uint32_t height, uint32_t hertz, bool interlaced,
                          struct timing *timing)
{
    for (unsigned i = 0; i < CODES; i++)
        if (is_of(&codes[i].row, width, height, hertz) &&
            (codes[i].row.kind == INTERLACED) == interlaced) {
            *timing = of_row(&codes[i].row);
            return true;
        }
    return false;
}

/* ---- as a user asks for them ---- */

#define MOST_DETAILED 655350000u /* Hz, of a detailed timing */

static bool of_lists(uint32_t width, uint32_t height, uint32_t hertz, bool interlaced,
                     struct timing *timing)
{
    return (timing_known(width, height, hertz, timing) && timing->interlaced == interlaced) ||
           of_television(width, height, hertz, interlaced, timing);
}

bool timing_wanted(uint32_t width, uint32_t height, uint32_t millihertz, bool interlaced,
                   struct timing *timing)
{
    const uint32_t hertz = millihertz / 1000 + (millihertz % 1000 >= 500);
    const uint32_t fields = interlaced ? 2 : 1;

    if (!width || !height || width > TIMING_MOST_SIDE || height > TIMING_MOST_SIDE || !hertz ||
        hertz > TIMING_MOST_HERTZ)
        return false;
    if (!of_lists(width, height, hertz, interlaced, timing)) {
        if (interlaced)
            return false;
        *timing = timing_by_formula(width, height, hertz);
        if (timing->pixel_rate > MOST_DETAILED)
            *timing = timing_by_reduced_formula(width, height, hertz);
    }
    if (millihertz % 1000) { /* to the nearest 10 kHz, as detailed timings count */
        const uint64_t unit = UINT64_C(10000000) * fields;

        timing->pixel_rate = ((uint64_t)millihertz * timing->total_width * timing->total_height +
                              unit / 2) /
                             unit * 10000;
    }
    return timing->pixel_rate != 0;
}
