/* SPDX-License-Identifier: MIT */
/* Pointer shapes: what is one (PRES-236 to PRES-239), and what hardware gets (PRES-226, PRES-240). */
#include "support/check_rule.h"

#include <string.h>

#include "screens/pointer_shape.h"
#include "util/alloc.h"

/* AND above XOR: the four pixels are black, white, the screen, and its inverse. */
static uint8_t four[] = {0x3F, 0x50};
static const struct pointer_shape all_four = {
    .kind = POINTER_MONOCHROME, .width = 4, .height = 1, .pitch = 1, .pixels = four};

static DXGK_POINTERFLAGS caps(UINT value)
{
    return (DXGK_POINTERFLAGS){.Value = value};
}

static uint32_t color(const struct pointer_shape *shape, uint32_t x, uint32_t y)
{
    uint32_t value;

    memcpy(&value, shape->pixels + y * shape->pitch + x * 4, sizeof(value));
    return value;
}

static void refused(const struct pointer_shape *of, const char *reason)
{
    struct pointer_shape shape = {.width = 77};
    char why[128] = "";

    CHECK(!pointer_shape_make(&shape, of, why, sizeof(why)));
    CHECK(shape.width == 77 && !shape.pixels);
    if (strcmp(why, reason) != 0)
        fail_msg("'%s', not '%s'", why, reason);
}

/* ---- making ---- */

TEST(lines_of_masks_are_rounded_up_to_four_bytes)
{
    static uint8_t pixels[2 * 3 * 7];
    const struct pointer_shape of = {.kind = POINTER_MONOCHROME,
                                     .width = 33,
                                     .height = 3,
                                     .pitch = 7,
                                     .hot_x = 32,
                                     .hot_y = 2,
                                     .pixels = pixels};
    struct pointer_shape shape;

    for (unsigned i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)(i + 1);
    CHECK(pointer_shape_make(&shape, &of, NULL, 0));
    CHECK(shape.pitch == 8 && shape.height == 3 && pointer_shape_bytes(&shape) == 48);
    CHECK(shape.hot_x == 32 && shape.hot_y == 2);
    for (unsigned line = 0; line < 6; line++) {
        CHECK(memcmp(shape.pixels + line * 8, pixels + line * 7, 5) == 0);
        CHECK(memcmp(shape.pixels + line * 8 + 5, "\0\0", 3) == 0);
    }
    CHECK(pointer_shape_flags(&shape).Value == 1);
    pointer_shape_free(&shape);
    CHECK(shape.kind == POINTER_NONE && !shape.pixels);
}

TEST(lines_of_masks_need_a_bit_a_pixel)
{
    static uint8_t pixels[4];
    struct pointer_shape of = {
        .kind = POINTER_MONOCHROME, .width = 16, .height = 1, .pitch = 2, .pixels = pixels};
    struct pointer_shape shape;

    CHECK(pointer_shape_make(&shape, &of, NULL, 0));
    pointer_shape_free(&shape);
    of.width = 17;
    refused(&of, "a pitch of 2 bytes, and lines of 3");
}

TEST(colors_have_lines_without_gaps)
{
    static uint32_t pixels[] = {0x11223344, 0x80FFFFFF, 0xDEADDEAD, 1, 2, 0xDEADDEAD};
    struct pointer_shape of = {
        .kind = POINTER_COLOR, .width = 2, .height = 2, .pitch = 12, .pixels = (uint8_t *)pixels};
    struct pointer_shape shape;

    CHECK(pointer_shape_make(&shape, &of, NULL, 0));
    CHECK(shape.pitch == 8 && pointer_shape_bytes(&shape) == 16);
    CHECK(color(&shape, 0, 0) == 0x11223344 && color(&shape, 1, 0) == 0x80FFFFFF);
    CHECK(color(&shape, 0, 1) == 1 && color(&shape, 1, 1) == 2);
    CHECK(pointer_shape_flags(&shape).Value == 2);
    pointer_shape_free(&shape);
    of.kind = POINTER_MASKED_COLOR;
    refused(&of, "the masked color at 0, 0 has the alpha byte 0x11");
    pixels[0] = 0xFF223344;
    refused(&of, "the masked color at 1, 0 has the alpha byte 0x80");
    pixels[1] = 0xFFFFFF;
    CHECK(pointer_shape_make(&shape, &of, NULL, 0));
    CHECK(pointer_shape_flags(&shape).Value == 4);
    pointer_shape_free(&shape);
}

TEST(what_is_no_shape)
{
    struct pointer_shape of = all_four;
    struct util_heap heap = {.fail_at = 1};

    of.kind = POINTER_NONE;
    refused(&of, "a pointer shape of the unknown kind 0");
    of.kind = (enum pointer_kind)4;
    refused(&of, "a pointer shape of the unknown kind 4");
    of = all_four;
    of.width = 0;
    refused(&of, "a pointer shape of 0 x 1 pixels");
    of.width = 1025;
    refused(&of, "a pointer shape of 1025 x 1 pixels");
    of = all_four;
    of.height = 0;
    refused(&of, "a pointer shape of 4 x 0 pixels");
    of.height = 1025;
    refused(&of, "a pointer shape of 4 x 1025 pixels");
    of = all_four;
    of.width = 9;
    refused(&of, "a pitch of 1 bytes, and lines of 2");
    of.kind = POINTER_COLOR;
    of.width = 1;
    of.pitch = 3;
    refused(&of, "a pitch of 3 bytes, and lines of 4");
    of = all_four;
    of.hot_x = 4;
    refused(&of, "the hot spot 4, 0 in a shape of 4 x 1 pixels");
    of = all_four;
    of.hot_y = 1;
    refused(&of, "the hot spot 0, 1 in a shape of 4 x 1 pixels");
    util_heap_current = &heap;
    refused(&all_four, "out of memory");
    util_heap_current = NULL;
}

/* ---- for hardware ---- */

static void software(const struct pointer_shape *shape, UINT value, uint32_t width, uint32_t height,
                     const char *reason)
{
    struct pointer_shape fitted = {.width = 77};
    char why[128] = "";

    CHECK(!pointer_shape_fit(&fitted, shape, caps(value), width, height, why, sizeof(why)));
    CHECK(fitted.width == 77 && !fitted.pixels);
    if (strcmp(why, reason) != 0)
        fail_msg("'%s', not '%s'", why, reason);
}

TEST(masked_color_shows_all_of_a_monochrome_shape)
{
    for (UINT value = 4; value <= 6; value += 2) { /* also where Color is there, too */
        struct pointer_shape fitted;

        CHECK(pointer_shape_fit(&fitted, &all_four, caps(value), 4, 1, NULL, 0));
        CHECK(fitted.kind == POINTER_MASKED_COLOR && fitted.pitch == 16);
        CHECK(fitted.width == 4 && fitted.height == 1);
        CHECK(color(&fitted, 0, 0) == 0x00000000 && color(&fitted, 1, 0) == 0x00FFFFFF);
        CHECK(color(&fitted, 2, 0) == 0xFF000000 && color(&fitted, 3, 0) == 0xFFFFFFFF);
        pointer_shape_free(&fitted);
    }
}

TEST(the_leftmost_pixel_is_the_highest_bit)
{
    static uint8_t bits[8]; /* AND and XOR masks of 2 lines, 2 bytes each */
    const struct pointer_shape shape = {
        .kind = POINTER_MONOCHROME, .width = 15, .height = 2, .pitch = 2, .pixels = bits};

    for (unsigned y = 0; y < 2; y++)
        for (unsigned x = 0; x < 15; x++) {
            struct pointer_shape fitted;

            memset(bits, 0, sizeof(bits));
            bits[4 + 2 * y + x / 8] = (uint8_t)(0x80 >> x % 8);
            CHECK(pointer_shape_fit(&fitted, &shape, caps(4), 15, 2, NULL, 0));
            for (unsigned other = 0; other < 30; other++)
                CHECK(color(&fitted, other % 15, other / 15) ==
                      (other == 15 * y + x ? 0x00FFFFFF : 0));
            pointer_shape_free(&fitted);
        }
}

TEST(color_shows_a_monochrome_shape_that_inverts_nothing)
{
    uint8_t bits[] = {0x3F, 0xF0, 0x40, 0x80}; /* two lines of each mask */
    struct pointer_shape shape = all_four, fitted;

    software(&shape, 2, 4, 1,
             "the pixel 3, 0 inverts the screen, which PointerCaps with Color alone cannot show");
    shape.width = 3; /* what stands beyond the width does not matter */
    shape.height = 2;
    shape.hot_x = 2;
    shape.hot_y = 1;
    shape.pixels = bits;
    software(&shape, 2, 4, 2,
             "the pixel 0, 1 inverts the screen, which PointerCaps with Color alone cannot show");
    bits[3] = 0x10;
    CHECK(pointer_shape_fit(&fitted, &shape, caps(2), 3, 2, NULL, 0));
    CHECK(fitted.kind == POINTER_COLOR && fitted.pitch == 12);
    CHECK(fitted.hot_x == 2 && fitted.hot_y == 1);
    CHECK(color(&fitted, 0, 0) == 0xFF000000 && color(&fitted, 1, 0) == 0xFFFFFFFF);
    CHECK(color(&fitted, 2, 0) == 0 && color(&fitted, 0, 1) == 0);
    pointer_shape_free(&fitted);
}

TEST(a_shape_whose_format_the_hardware_has_stays_as_it_is)
{
    static uint32_t pixel = 0xFF123456;
    struct pointer_shape shape = {.width = 1, .height = 1, .pitch = 4, .pixels = (uint8_t *)&pixel};
    struct pointer_shape fitted;

    CHECK(pointer_shape_fit(&fitted, &all_four, caps(7), 4, 1, NULL, 0));
    CHECK(fitted.kind == POINTER_MONOCHROME && fitted.pitch == 4);
    CHECK(fitted.pixels[0] == 0x3F && fitted.pixels[4] == 0x50);
    pointer_shape_free(&fitted);
    for (shape.kind = POINTER_COLOR; shape.kind <= POINTER_MASKED_COLOR; shape.kind++) {
        UINT bit = pointer_shape_flags(&shape).Value;

        CHECK(pointer_shape_fit(&fitted, &shape, caps(bit), 1, 1, NULL, 0));
        CHECK(fitted.kind == shape.kind && color(&fitted, 0, 0) == pixel);
        CHECK(fitted.pixels != shape.pixels);
        pointer_shape_free(&fitted);
        CHECK(!pointer_shape_fit(&fitted, &shape, caps(7 & ~bit), 1, 1, NULL, 0));
    }
}

TEST(what_the_hardware_lacks_is_drawn_in_software)
{
    software(&all_four, 0, 64, 64, "a shape of the format 0x1; PointerCaps 0x0 lacks it");
    software(&all_four, 7, 3, 1, "a shape of 4 x 1 pixels; the hardware has at most 3 x 1");
    software(&all_four, 7, 64, 0, "a shape of 4 x 1 pixels; the hardware has at most 64 x 0");
}

TEST(short_memory_makes_it_software)
{
    struct util_heap heap = {.fail_at = 1};

    util_heap_current = &heap;
    software(&all_four, 4, 4, 1, "out of memory");
    heap.fail_at = 2;
    software(&all_four, 1, 4, 1, "out of memory");
    util_heap_current = NULL;
    CHECK(heap.live_blocks == 0);
}
