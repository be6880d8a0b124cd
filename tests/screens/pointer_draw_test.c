/* SPDX-License-Identifier: MIT */
/* The software pointer: pixels of each kind of shape, at the edges, and taken away again. */
#include "support/check_rule.h"

#include <string.h>

#include "screens/pointer_draw.h"
#include "util/alloc.h"

enum { WIDTH = 6, HEIGHT = 5, PITCH = 28 };

static uint32_t screen[HEIGHT * PITCH / 4];

static struct pointer_canvas canvas_of(D3DDDIFORMAT format)
{
    struct pointer_canvas canvas;

    CHECK(pointer_canvas_of_image(&canvas, screen, PITCH, WIDTH, HEIGHT, format));
    return canvas;
}

static void paint(void)
{
    for (unsigned i = 0; i < sizeof(screen) / sizeof(screen[0]); i++)
        screen[i] = 0xA0000000u + 0x010203u * (i + 5);
}

static uint32_t was(int x, int y)
{
    return 0xA0000000u + 0x010203u * ((unsigned)(y * (PITCH / 4) + x) + 5);
}

static uint32_t now(int x, int y)
{
    return screen[y * (PITCH / 4) + x];
}

/* Only the pixels of this rectangle have changed. */
static void others_are_left(int left, int top, int right, int bottom)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < PITCH / 4; x++)
            if (x < left || x >= right || y < top || y >= bottom)
                CHECK(now(x, y) == was(x, y));
}

static uint8_t masks[] = {0x3F, 0x50}; /* black, white, the screen, its inverse */
static const struct pointer_shape monochrome = {
    .kind = POINTER_MONOCHROME, .width = 4, .height = 1, .pitch = 1, .pixels = masks};

static uint32_t colors[] = {0xFF102030, 0x00FFFFFF, 0x80FF0000, 0xFFFFFFFF};
static const struct pointer_shape color = {
    .kind = POINTER_COLOR, .width = 2, .height = 2, .pitch = 8, .pixels = (uint8_t *)colors};
static uint32_t masked_colors[] = {0x00102030, 0xFF00FF0F, 0xFF000000, 0x00000000};
static const struct pointer_shape masked = {.kind = POINTER_MASKED_COLOR,
                                            .width = 2,
                                            .height = 2,
                                            .pitch = 8,
                                            .pixels = (uint8_t *)masked_colors};

/* ---- pixels ---- */

TEST(a_monochrome_pointer)
{
    struct pointer_canvas canvas = canvas_of(D3DDDIFMT_X8R8G8B8);

    paint();
    pointer_draw(&canvas, &monochrome, 1, 2);
    CHECK(now(1, 2) == (was(1, 2) & 0xFF000000));
    CHECK(now(2, 2) == (was(2, 2) | 0x00FFFFFF));
    CHECK(now(3, 2) == was(3, 2));
    CHECK(now(4, 2) == (was(4, 2) ^ 0x00FFFFFF));
    others_are_left(1, 2, 5, 3);
}

static uint32_t blended(uint32_t value, uint32_t with, uint32_t alpha)
{
    uint32_t sum = with * alpha + value * (255 - alpha);

    return sum / 255 + (sum % 255 >= 128); /* to the nearest */
}

TEST(a_color_pointer_is_blended)
{
    struct pointer_canvas canvas = canvas_of(D3DDDIFMT_A8R8G8B8);
    uint32_t under = was(3, 2);

    paint();
    pointer_draw(&canvas, &color, 3, 1);
    CHECK(now(3, 1) == 0xA0102030); /* the alpha of the image stays */
    CHECK(now(4, 1) == was(4, 1));
    CHECK(now(3, 2) == (0xA0000000 | blended(under >> 16 & 0xFF, 255, 128) << 16 |
                        blended(under >> 8 & 0xFF, 0, 128) << 8 | blended(under & 0xFF, 0, 128)));
    CHECK(now(4, 2) == 0xA0FFFFFF);
    others_are_left(3, 1, 5, 3);
}

TEST(a_masked_pointer_replaces_or_inverts)
{
    struct pointer_canvas canvas = canvas_of(D3DDDIFMT_X8R8G8B8);

    paint();
    pointer_draw(&canvas, &masked, 0, 0);
    CHECK(now(0, 0) == 0xA0102030);
    CHECK(now(1, 0) == (was(1, 0) ^ 0x0000FF0F));
    CHECK(now(0, 1) == was(0, 1));
    CHECK(now(1, 1) == 0xA0000000);
    others_are_left(0, 0, 2, 2);
}

TEST(the_order_of_colors_is_that_of_the_image)
{
    struct pointer_canvas canvas = canvas_of(D3DDDIFMT_X8B8G8R8);
    struct picture picture;
    uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};

    paint();
    pointer_draw(&canvas, &color, 0, 0);
    CHECK(now(0, 0) == 0xA0302010);
    canvas = canvas_of(D3DDDIFMT_A8B8G8R8);
    paint();
    pointer_draw(&canvas, &color, 0, 0);
    CHECK(now(0, 0) == 0xA0302010);
    CHECK(pointer_canvas_of_image(&canvas, bytes, 6, 2, 1, D3DDDIFMT_R8G8B8));
    pointer_draw(&canvas, &color, 0, 0);
    CHECK(memcmp(bytes, "\x30\x20\x10\4\5\6", 6) == 0);
    CHECK(!pointer_canvas_of_image(&canvas, bytes, 6, 2, 1, D3DDDIFMT_R5G6B5));
    CHECK(!pointer_canvas_of_image(&canvas, bytes, 6, 2, 1, D3DDDIFMT_A2B10G10R10));
    CHECK(canvas.step == 3);

    CHECK(picture_make_black(&picture, 3, 2)); /* as into a capture (PRES-227) */
    canvas = pointer_canvas_of_picture(&picture);
    pointer_draw(&canvas, &color, 1, 0);
    CHECK(memcmp(picture.rows, "\0\0\0\x10\x20\x30\0\0\0", 9) == 0);
    CHECK(memcmp(picture_at(&picture, 0, 1), "\0\0\0\x80\0\0\xFF\xFF\xFF", 9) == 0);
    picture_free(&picture);
}

/* ---- at the edges ---- */

TEST(what_is_outside_is_not_drawn)
{
    struct pointer_canvas canvas = canvas_of(D3DDDIFMT_X8R8G8B8);
    static const int32_t outside[][2] = {{-2, 0},        {0, -2},        {WIDTH, 0},
                                         {0, HEIGHT},    {INT32_MIN, 0}, {INT32_MAX, 0},
                                         {0, INT32_MIN}, {0, INT32_MAX}};

    paint();
    pointer_draw(&canvas, &color, -1, -1);
    CHECK(now(0, 0) == 0xA0FFFFFF);
    others_are_left(0, 0, 1, 1);
    paint();
    pointer_draw(&canvas, &color, WIDTH - 1, HEIGHT - 1);
    CHECK(now(WIDTH - 1, HEIGHT - 1) == 0xA0102030);
    others_are_left(WIDTH - 1, HEIGHT - 1, WIDTH, HEIGHT);
    paint();
    for (unsigned i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
        pointer_draw(&canvas, &color, outside[i][0], outside[i][1]);
    others_are_left(0, 0, 0, 0);
}

TEST(the_area_is_what_is_inside)
{
    struct pointer_canvas canvas = canvas_of(D3DDDIFMT_X8R8G8B8);
    RECT area = pointer_area(&canvas, &color, -1, HEIGHT - 1);

    CHECK(area.left == 0 && area.right == 1 && area.top == HEIGHT - 1 && area.bottom == HEIGHT);
}

/* ---- put and taken ---- */

TEST(what_was_under_it_comes_back)
{
    struct pointer_canvas canvas = canvas_of(D3DDDIFMT_X8R8G8B8);
    struct pointer_under under = {0};
    struct util_heap heap = {0};

    util_heap_current = &heap;
    paint();
    for (int32_t y = -3; y <= HEIGHT + 1; y++)
        for (int32_t x = -3; x <= WIDTH + 1; x++) {
            CHECK(pointer_put(&under, &canvas, y % 2 ? &color : &masked, x, y));
            pointer_take(&under, &canvas);
            others_are_left(0, 0, 0, 0);
        }
    CHECK(under.capacity == 2 * 2 * 4);
    CHECK(pointer_put(&under, &canvas, &color, 1, 1));
    CHECK(now(1, 1) == 0xA0102030);
    pointer_take(&under, &canvas);
    screen[0] = 0;
    pointer_take(&under, &canvas); /* nothing more is kept */
    CHECK(screen[0] == 0);
    screen[0] = was(0, 0);
    CHECK(pointer_put(&under, &canvas, &color, 1, 1));
    pointer_take(&under, &canvas);
    CHECK(pointer_put(&under, &canvas, &color, 99, 99)); /* nothing of it is seen */
    pointer_take(&under, &canvas);
    others_are_left(0, 0, 0, 0);
    pointer_under_free(&under);
    CHECK(!under.bytes && under.capacity == 0);
    util_heap_current = NULL;
    CHECK(heap.live_blocks == 0);
}

TEST(without_memory_nothing_is_drawn)
{
    struct pointer_canvas canvas = canvas_of(D3DDDIFMT_X8R8G8B8);
    struct pointer_under under = {0};
    struct util_heap heap = {.fail_at = 1};

    paint();
    util_heap_current = &heap;
    CHECK(!pointer_put(&under, &canvas, &color, 1, 1));
    util_heap_current = NULL;
    others_are_left(0, 0, 0, 0);
    CHECK(!under.bytes);
    pointer_take(&under, &canvas);
    others_are_left(0, 0, 0, 0);
}
