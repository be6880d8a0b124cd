/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/pointer_draw.h"
#include "screens/region.h"
#include "util/alloc.h"

bool pointer_canvas_of_image(struct pointer_canvas *canvas, void *pixels, size_t pitch,
                             uint32_t width, uint32_t height, D3DDDIFORMAT format)
{
    struct pointer_canvas made = {.pixels = pixels,
                                  .pitch = pitch,
                                  .width = width,
                                  .height = height,
                                  .step = 4,
                                  .red = 2,
                                  .green = 1,
                                  .blue = 0};

    switch (format) {
    case D3DDDIFMT_R8G8B8:
        made.step = 3;
        break;
    case D3DDDIFMT_A8R8G8B8:
    case D3DDDIFMT_X8R8G8B8:
        break;
    case D3DDDIFMT_A8B8G8R8:
    case D3DDDIFMT_X8B8G8R8:
        made.red = 0;
        made.blue = 2;
        break;
    default:
        return false;
    }
    *canvas = made;
    return true;
}

struct pointer_canvas pointer_canvas_of_picture(const struct picture *picture)
{
    return (struct pointer_canvas){.pixels = picture->rows,
                                   .pitch = (size_t)picture->width * PICTURE_STEP,
                                   .width = picture->width,
                                   .height = picture->height,
                                   .step = PICTURE_STEP,
                                   .red = 0,
                                   .green = 1,
                                   .blue = 2};
}

/* The far side of a shape, where it could leave the numbers. */
static LONG end(int32_t start, uint32_t length)
{
    int64_t sum = (int64_t)start + length;

    return sum > INT32_MAX ? INT32_MAX : (LONG)sum;
}

RECT pointer_area(const struct pointer_canvas *canvas, const struct pointer_shape *shape, int32_t x,
                  int32_t y)
{
    RECT whole = {0, 0, (LONG)canvas->width, (LONG)canvas->height};
    RECT covered = {x, y, end(x, shape->width), end(y, shape->height)};

    return rect_common(&whole, &covered);
}

static uint8_t *pixel_at(const struct pointer_canvas *canvas, LONG x, LONG y)
{
    return canvas->pixels + (size_t)y * canvas->pitch + (size_t)x * canvas->step;
}

void pointer_draw(const struct pointer_canvas *canvas, const struct pointer_shape *shape, int32_t x,
                  int32_t y)
{
    RECT area = pointer_area(canvas, shape, x, y);

    for (LONG row = area.top; row < area.bottom; row++)
        for (LONG column = area.left; column < area.right; column++) {
            uint8_t *pixel = pixel_at(canvas, column, row);
            uint32_t rgb = (uint32_t)pixel[canvas->red] << 16 |
                           (uint32_t)pixel[canvas->green] << 8 | pixel[canvas->blue];

            rgb = pointer_shape_over(shape, (uint32_t)(column - x), (uint32_t)(row - y), rgb);
            pixel[canvas->red] = (uint8_t)(rgb >> 16);
            pixel[canvas->green] = (uint8_t)(rgb >> 8);
            pixel[canvas->blue] = (uint8_t)rgb;
        }
}

/* ---- what is under it ---- */

static size_t line_of(const struct pointer_canvas *canvas, const RECT *area)
{
    return (size_t)(area->right - area->left) * canvas->step;
}

bool pointer_put(struct pointer_under *under, const struct pointer_canvas *canvas,
                 const struct pointer_shape *shape, int32_t x, int32_t y)
{
    RECT area = pointer_area(canvas, shape, x, y);
    size_t line, bytes;

    if (rect_empty(&area)) {
        under->area = (RECT){0, 0, 0, 0};
        return true;
    }
    line = line_of(canvas, &area);
    bytes = line * (size_t)(area.bottom - area.top);
    if (bytes > under->capacity) {
        uint8_t *larger = util_realloc(under->bytes, bytes);

        if (!larger)
            return false;
        under->bytes = larger;
        under->capacity = bytes;
    }
    for (LONG y_of = area.top; y_of < area.bottom; y_of++)
        memcpy(under->bytes + (size_t)(y_of - area.top) * line, pixel_at(canvas, area.left, y_of),
               line);
    under->area = area;
    pointer_draw(canvas, shape, x, y);
    return true;
}

void pointer_take(struct pointer_under *under, const struct pointer_canvas *canvas)
{
    const RECT *area = &under->area;
    size_t line;

    if (!rect_empty(area)) {
        line = line_of(canvas, area);
        for (LONG y = area->top; y < area->bottom; y++)
            memcpy(pixel_at(canvas, area->left, y), under->bytes + (size_t)(y - area->top) * line,
                   line);
    }
    under->area = (RECT){0, 0, 0, 0};
}

void pointer_under_free(struct pointer_under *under)
{
    util_free(under->bytes);
    *under = (struct pointer_under){0};
}
