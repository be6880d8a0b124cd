/* SPDX-License-Identifier: MIT */
/* Pictures: of memory in each format (PRES-315), and their checksum (PRES-319). */
#include "support/check_rule.h"

#include <string.h>

#include "screens/picture_format.h"
#include "util/alloc.h"
#include "util/crc32.h"

/* ---- one pixel ---- */

struct rgb {
    uint8_t red, green, blue;
};

static const D3DKMDT_PALETTEDATA *palette(void)
{
    static D3DKMDT_PALETTEDATA entry[PICTURE_COLORS];

    for (unsigned i = 0; i < PICTURE_COLORS; i++)
        entry[i] = (D3DKMDT_PALETTEDATA){(BYTE)i, (BYTE)(255 - i), (BYTE)(i ^ 0x55), 0xEE};
    return entry;
}

static struct rgb pixel_of(D3DDDIFORMAT format, uint32_t value)
{
    struct picture_memory memory = {.bytes = &value,
                                    .size = picture_format_bytes(format),
                                    .pitch = picture_format_bytes(format),
                                    .width = 1,
                                    .height = 1,
                                    .format = format,
                                    .palette = format == D3DDDIFMT_P8 ? palette() : NULL};
    struct picture picture;
    struct rgb rgb;

    CHECK(picture_from_memory(&picture, &memory, NULL, 0));
    CHECK(picture.width == 1 && picture.height == 1);
    memcpy(&rgb, picture.rows, sizeof(rgb));
    picture_free(&picture);
    return rgb;
}

static bool is(struct rgb rgb, uint32_t expected)
{
    return ((uint32_t)rgb.red << 16 | (uint32_t)rgb.green << 8 | rgb.blue) == expected;
}

TEST(formats_of_a_byte_a_channel)
{
    CHECK(is(pixel_of(D3DDDIFMT_A8R8G8B8, 0x80123456), 0x123456));
    CHECK(is(pixel_of(D3DDDIFMT_X8R8G8B8, 0xFF123456), 0x123456));
    CHECK(is(pixel_of(D3DDDIFMT_A8B8G8R8, 0x00123456), 0x563412));
    CHECK(is(pixel_of(D3DDDIFMT_X8B8G8R8, 0x99123456), 0x563412));
    CHECK(is(pixel_of(D3DDDIFMT_R8G8B8, 0x123456), 0x123456)); /* B, G, R in memory */
}

TEST(formats_of_fewer_and_more_bits)
{
    CHECK(is(pixel_of(D3DDDIFMT_R5G6B5, 0xFFFF), 0xFFFFFF));
    CHECK(is(pixel_of(D3DDDIFMT_R5G6B5, 0xF800), 0xFF0000));
    CHECK(is(pixel_of(D3DDDIFMT_R5G6B5, 0x07E0), 0x00FF00));
    CHECK(is(pixel_of(D3DDDIFMT_R5G6B5, 0x001F), 0x0000FF));
    CHECK(is(pixel_of(D3DDDIFMT_R5G6B5, 3u << 11 | 1u << 5 | 30), 0x1904F7)); /* to the nearest */
    CHECK(is(pixel_of(D3DDDIFMT_A2B10G10R10, 0xFFFFFFFF), 0xFFFFFF));
    CHECK(is(pixel_of(D3DDDIFMT_A2B10G10R10, 0x000003FF), 0xFF0000));
    CHECK(is(pixel_of(D3DDDIFMT_A2B10G10R10, 0x000FFC00), 0x00FF00));
    CHECK(is(pixel_of(D3DDDIFMT_A2B10G10R10, 0x3FF00000), 0x0000FF));
    CHECK(is(pixel_of(D3DDDIFMT_A2B10G10R10, 0xC0000000), 0x000000));
    /* 4 of 1023 is 0.997 of 255, 2 is 0.499, 3 is 0.748 */
    CHECK(is(pixel_of(D3DDDIFMT_A2B10G10R10, 4u << 20 | 2u << 10 | 3u), 0x010001));
}

TEST(colors_by_number_are_those_of_the_palette)
{
    CHECK(is(pixel_of(D3DDDIFMT_P8, 0), 0x00FF55));
    CHECK(is(pixel_of(D3DDDIFMT_P8, 0xAB), 0xAB54FE));
    CHECK(is(pixel_of(D3DDDIFMT_P8, 255), 0xFF00AA));
}

/* ---- rows ---- */

static const D3DDDIFORMAT formats[] = {D3DDDIFMT_A8R8G8B8, D3DDDIFMT_X8R8G8B8,   D3DDDIFMT_A8B8G8R8,
                                       D3DDDIFMT_X8B8G8R8, D3DDDIFMT_R8G8B8,     D3DDDIFMT_R5G6B5,
                                       D3DDDIFMT_P8,       D3DDDIFMT_A2B10G10R10};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* Each pixel of a picture of several, with padding, is what it is by itself; and nothing is read or written beyond. */
TEST(rows_are_a_pitch_apart)
{
    enum { WIDTH = 5, HEIGHT = 3, PITCH = 29 };
    uint8_t bytes[HEIGHT * PITCH];

    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (unsigned f = 0; f < FORMATS; f++) {
        uint32_t step = picture_format_bytes(formats[f]);
        struct picture_memory memory = {.bytes = bytes,
                                        .size = (HEIGHT - 1) * PITCH + WIDTH * step,
                                        .pitch = PITCH,
                                        .width = WIDTH,
                                        .height = HEIGHT,
                                        .format = formats[f],
                                        .palette = palette()};
        struct picture picture;

        CHECK(picture_from_memory(&picture, &memory, NULL, 0));
        CHECK(picture.width == WIDTH && picture.height == HEIGHT);
        for (uint32_t y = 0; y < HEIGHT; y++)
            for (uint32_t x = 0; x < WIDTH; x++) {
                uint32_t value = 0;
                struct rgb rgb;

                memcpy(&value, bytes + y * PITCH + x * step, step);
                rgb = pixel_of(formats[f], value);
                CHECK(memcmp(picture_at(&picture, x, y), &rgb, 3) == 0);
            }
        picture_free(&picture);
        CHECK(picture.width == 0 && picture.height == 0 && !picture.rows);
    }
}

TEST(a_row_is_written_up_to_its_end)
{
    static const uint8_t row[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

    for (unsigned f = 0; f < FORMATS; f++) {
        uint8_t rgb[16];

        memset(rgb, 0xCD, sizeof(rgb));
        picture_convert_row(rgb, row, 3, formats[f], palette());
        for (unsigned i = 9; i < sizeof(rgb); i++)
            CHECK(rgb[i] == 0xCD);
        memset(rgb, 0xCD, sizeof(rgb));
        picture_convert_row(rgb, row, 0, formats[f], palette());
        CHECK(rgb[0] == 0xCD);
    }
}

/* ---- what gives no picture ---- */

static void refused(const struct picture_memory *memory, const char *reason)
{
    struct picture picture = {7, 8, NULL};
    char why[128] = "";

    CHECK(!picture_from_memory(&picture, memory, why, sizeof(why)));
    CHECK(picture.width == 7 && picture.height == 8 && !picture.rows);
    if (strcmp(why, reason) != 0)
        fail_msg("'%s', not '%s'", why, reason);
}

static bool taken(const struct picture_memory *memory)
{
    struct picture picture;
    bool made = picture_from_memory(&picture, memory, NULL, 0);

    if (made)
        picture_free(&picture);
    return made;
}

TEST(what_is_described_badly_gives_no_picture)
{
    static const uint8_t bytes[64];
    const struct picture_memory good = {.bytes = bytes,
                                        .size = 64,
                                        .pitch = 16,
                                        .width = 4,
                                        .height = 4,
                                        .format = D3DDDIFMT_X8R8G8B8};
    struct picture_memory memory = good;

    CHECK(taken(&good));
    memory.format = D3DDDIFMT_A2R10G10B10;
    refused(&memory, "no picture of the format 35");
    memory.format = D3DDDIFMT_UNKNOWN;
    refused(&memory, "no picture of the format 0");
    memory = good;
    memory.width = 0;
    refused(&memory, "no picture of 0 x 4 pixels");
    memory = good;
    memory.height = PICTURE_MOST_SIDE + 1;
    refused(&memory, "no picture of 4 x 16385 pixels");
    memory = good;
    memory.pitch = 15;
    refused(&memory, "a pitch of 15 bytes, and rows of 16");
    memory = good;
    memory.size = 63;
    refused(&memory, "4 rows with a pitch of 16 bytes in 63 bytes of memory");
    memory.size = 15;
    refused(&memory, "4 rows with a pitch of 16 bytes in 15 bytes of memory");
    memory = good;
    memory.pitch = SIZE_MAX / 2; /* would overflow with the rows */
    refused(&memory, "4 rows with a pitch of 9223372036854775807 bytes in 64 bytes of memory");
    memory.height = 1;
    CHECK(taken(&memory));
    memory = good;
    memory.format = D3DDDIFMT_P8;
    refused(&memory, "colors by number, and no palette was set");
    memory.palette = palette();
    CHECK(taken(&memory));
}

TEST(short_memory_is_told)
{
    static const uint8_t bytes[4];
    const struct picture_memory memory = {
        .bytes = bytes, .size = 4, .pitch = 4, .width = 1, .height = 1, .format = D3DDDIFMT_X8R8G8B8};
    struct util_heap heap = {.fail_at = 1};
    struct picture picture = {0};

    util_heap_current = &heap;
    refused(&memory, "out of memory");
    heap.fail_at = 2;
    CHECK(!picture_make(&picture, 2, 2));
    heap.fail_at = 3;
    CHECK(!picture_make_black(&picture, 2, 2));
    CHECK(!picture.rows && !picture.width);
    CHECK(picture_make_black(&picture, 2, 2));
    for (unsigned i = 0; i < 12; i++)
        CHECK(picture.rows[i] == 0);
    picture_free(&picture);
    util_heap_current = NULL;
    CHECK(heap.live_blocks == 0);
}

TEST(sizes)
{
    CHECK(picture_size_valid(1, 1));
    CHECK(picture_size_valid(PICTURE_MOST_SIDE, 1));
    CHECK(picture_size_valid(1, PICTURE_MOST_SIDE));
    CHECK(!picture_size_valid(0, 1));
    CHECK(!picture_size_valid(1, 0));
    CHECK(!picture_size_valid(PICTURE_MOST_SIDE + 1, 1));
    CHECK(!picture_size_valid(1, PICTURE_MOST_SIDE + 1));
}

/* ---- copies and checksums ---- */

TEST(a_copy_is_another_picture)
{
    struct picture picture, copy;

    CHECK(picture_make_black(&picture, 3, 2));
    picture_at(&picture, 2, 1)[2] = 9;
    CHECK(picture_copy(&copy, &picture));
    CHECK(copy.rows != picture.rows && picture_at(&copy, 2, 1)[2] == 9);
    CHECK(picture_checksum(&copy) == picture_checksum(&picture));
    picture_free(&picture);
    picture_free(&copy);
    CHECK(picture_copy(&copy, &picture));
    CHECK(!copy.rows && copy.width == 0 && copy.height == 0);
}

TEST(the_checksum_is_of_the_size_and_the_rows)
{
    /* 2 x 1: red, then 1, 2, 3 */
    static const uint8_t bytes[] = {2, 0, 0, 0, 1, 0, 0, 0, 255, 0, 0, 1, 2, 3};
    static const uint32_t with_padding[] = {0x00FF0000, 0xFF010203, 0x12345678};
    static const uint32_t swapped[] = {0x000000FF, 0x77030201};
    struct picture_memory memory = {.bytes = with_padding,
                                    .size = sizeof(with_padding),
                                    .pitch = 12,
                                    .width = 2,
                                    .height = 1,
                                    .format = D3DDDIFMT_X8R8G8B8};
    struct picture picture, other;
    uint32_t sum;

    CHECK(picture_from_memory(&picture, &memory, NULL, 0));
    sum = picture_checksum(&picture);
    CHECK(sum == crc32_of(bytes, sizeof(bytes)));
    memory.bytes = swapped;
    memory.size = memory.pitch = 8;
    memory.format = D3DDDIFMT_A8B8G8R8;
    CHECK(picture_from_memory(&other, &memory, NULL, 0));
    CHECK(picture_checksum(&other) == sum); /* whatever format and pitch it came from */
    other.width = 1;
    other.height = 2; /* the same bytes in another shape */
    CHECK(picture_checksum(&other) != sum);
    picture_free(&other);
    picture_free(&picture);
    CHECK(picture_checksum(&picture) == crc32_of("\0\0\0\0\0\0\0", 8));
}
