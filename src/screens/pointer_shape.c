/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/pointer_shape.h"
#include "util/alloc.h"
#include "util/explain.h"

#define OPAQUE 0xFF000000u
#define WHITE  0x00FFFFFFu

static uint32_t line_bytes(enum pointer_kind kind, uint32_t width)
{
    return kind == POINTER_MONOCHROME ? (width + 7) / 8 : width * 4;
}

static uint32_t lines(const struct pointer_shape *shape)
{
    return shape->kind == POINTER_MONOCHROME ? shape->height * 2 : shape->height;
}

size_t pointer_shape_bytes(const struct pointer_shape *shape)
{
    return (size_t)shape->pitch * lines(shape);
}

DXGK_POINTERFLAGS pointer_shape_flags(const struct pointer_shape *shape)
{
    DXGK_POINTERFLAGS flags = {.Value = 0};

    flags.Monochrome = shape->kind == POINTER_MONOCHROME;
    flags.Color = shape->kind == POINTER_COLOR;
    flags.MaskedColor = shape->kind == POINTER_MASKED_COLOR;
    return flags;
}

/* ---- pixels ---- */

static uint32_t color_at(const struct pointer_shape *shape, uint32_t x, uint32_t y)
{
    uint32_t color;

    memcpy(&color, shape->pixels + (size_t)y * shape->pitch + (size_t)x * 4, sizeof(color));
    return color;
}

static void set_color(struct pointer_shape *shape, uint32_t x, uint32_t y, uint32_t color)
{
    memcpy(shape->pixels + (size_t)y * shape->pitch + (size_t)x * 4, &color, sizeof(color));
}

static bool bit_at(const struct pointer_shape *shape, uint32_t x, uint32_t line)
{
    return shape->pixels[(size_t)line * shape->pitch + x / 8] >> (7 - x % 8) & 1;
}

static bool and_at(const struct pointer_shape *shape, uint32_t x, uint32_t y)
{
    return bit_at(shape, x, y);
}

static bool xor_at(const struct pointer_shape *shape, uint32_t x, uint32_t y)
{
    return bit_at(shape, x, shape->height + y);
}

static uint32_t blend(uint32_t under, uint32_t color)
{
    uint32_t alpha = color >> 24, mixed = 0;

    for (unsigned shift = 0; shift < 24; shift += 8) {
        uint32_t a = color >> shift & 0xFF, b = under >> shift & 0xFF;

        mixed |= (a * alpha + b * (255 - alpha) + 127) / 255 << shift;
    }
    return mixed;
}

uint32_t pointer_shape_over(const struct pointer_shape *shape, uint32_t x, uint32_t y, uint32_t rgb)
{
    uint32_t color;

    switch (shape->kind) {
    case POINTER_MONOCHROME:
        return (and_at(shape, x, y) ? rgb : 0) ^ (xor_at(shape, x, y) ? WHITE : 0);
    case POINTER_COLOR:
        return blend(rgb, color_at(shape, x, y));
    case POINTER_MASKED_COLOR:
        color = color_at(shape, x, y);
        return ((color & OPAQUE ? rgb : 0) ^ color) & WHITE;
    default:
        return rgb;
    }
}

/* ---- making ---- */

static bool empty(struct pointer_shape *shape, const struct pointer_shape *like,
                  enum pointer_kind kind)
{
    struct pointer_shape made = *like;

    made.kind = kind;
    made.pitch = (line_bytes(kind, like->width) + 3) & ~3u;
    made.pixels = util_zalloc(lines(&made), made.pitch);
    if (!made.pixels)
        return false;
    *shape = made;
    return true;
}

/* The alpha byte of a masked color is a choice of two. */
static bool alpha_valid(const struct pointer_shape *shape, char *why, size_t why_bytes)
{
    if (shape->kind != POINTER_MASKED_COLOR)
        return true;
    for (uint32_t y = 0; y < shape->height; y++)
        for (uint32_t x = 0; x < shape->width; x++) {
            uint32_t alpha = color_at(shape, x, y) >> 24;

            if (alpha == 0 || alpha == 0xFF)
                continue;
            util_explain(why, why_bytes, "the masked color at %u, %u has the alpha byte 0x%02X", x,
                         y, alpha);
            return false;
        }
    return true;
}

static bool shape_valid(const struct pointer_shape *of, char *why, size_t why_bytes)
{
    if (of->kind < POINTER_MONOCHROME || of->kind > POINTER_MASKED_COLOR) {
        util_explain(why, why_bytes, "a pointer shape of the unknown kind %d", (int)of->kind);
        return false;
    }
    if (of->width < 1 || of->width > POINTER_MOST_SIDE || of->height < 1 ||
        of->height > POINTER_MOST_SIDE) {
        util_explain(why, why_bytes, "a pointer shape of %u x %u pixels", of->width, of->height);
        return false;
    }
    if (of->pitch < line_bytes(of->kind, of->width)) {
        util_explain(why, why_bytes, "a pitch of %u bytes, and lines of %u", of->pitch,
                     line_bytes(of->kind, of->width));
        return false;
    }
    if (of->hot_x >= of->width || of->hot_y >= of->height) {
        util_explain(why, why_bytes, "the hot spot %u, %u in a shape of %u x %u pixels", of->hot_x,
                     of->hot_y, of->width, of->height);
        return false;
    }
    return true;
}

bool pointer_shape_make(struct pointer_shape *shape, const struct pointer_shape *of, char *why,
                        size_t why_bytes)
{
    struct pointer_shape made;

    if (!shape_valid(of, why, why_bytes) || !alpha_valid(of, why, why_bytes))
        return false;
    if (!empty(&made, of, of->kind)) {
        util_explain(why, why_bytes, "out of memory");
        return false;
    }
    for (uint32_t line = 0; line < lines(of); line++)
        memcpy(made.pixels + (size_t)line * made.pitch, of->pixels + (size_t)line * of->pitch,
               line_bytes(of->kind, of->width));
    *shape = made;
    return true;
}

void pointer_shape_free(struct pointer_shape *shape)
{
    util_free(shape->pixels);
    *shape = (struct pointer_shape){0};
}

/* ---- for hardware ---- */

static uint32_t masked_of(const struct pointer_shape *shape, uint32_t x, uint32_t y)
{
    return (and_at(shape, x, y) ? OPAQUE : 0) | (xor_at(shape, x, y) ? WHITE : 0);
}

/* Without pixels that invert. */
static uint32_t color_of(const struct pointer_shape *shape, uint32_t x, uint32_t y)
{
    if (and_at(shape, x, y))
        return 0;
    return xor_at(shape, x, y) ? OPAQUE | WHITE : OPAQUE;
}

static bool inverts(const struct pointer_shape *shape, uint32_t *x, uint32_t *y)
{
    for (*y = 0; *y < shape->height; ++*y)
        for (*x = 0; *x < shape->width; ++*x)
            if (and_at(shape, *x, *y) && xor_at(shape, *x, *y))
                return true;
    return false;
}

static bool in_color(struct pointer_shape *fitted, const struct pointer_shape *shape,
                     enum pointer_kind kind, char *why, size_t why_bytes)
{
    uint32_t x, y;

    if (kind == POINTER_COLOR && inverts(shape, &x, &y)) {
        util_explain(why, why_bytes,
                     "the pixel %u, %u inverts the screen, which PointerCaps with Color alone "
                     "cannot show",
                     x, y);
        return false;
    }
    if (!empty(fitted, shape, kind)) {
        util_explain(why, why_bytes, "out of memory");
        return false;
    }
    for (y = 0; y < shape->height; y++)
        for (x = 0; x < shape->width; x++)
            set_color(fitted, x, y,
                      kind == POINTER_COLOR ? color_of(shape, x, y) : masked_of(shape, x, y));
    return true;
}

bool pointer_shape_fit(struct pointer_shape *fitted, const struct pointer_shape *shape,
                       DXGK_POINTERFLAGS caps, uint32_t most_width, uint32_t most_height, char *why,
                       size_t why_bytes)
{
    DXGK_POINTERFLAGS flags = pointer_shape_flags(shape);

    if (shape->width > most_width || shape->height > most_height) {
        util_explain(why, why_bytes, "a shape of %u x %u pixels; the hardware has at most %u x %u",
                     shape->width, shape->height, most_width, most_height);
        return false;
    }
    if (flags.Value & caps.Value)
        return pointer_shape_make(fitted, shape, why, why_bytes);
    if (shape->kind == POINTER_MONOCHROME && caps.MaskedColor)
        return in_color(fitted, shape, POINTER_MASKED_COLOR, why, why_bytes);
    if (shape->kind == POINTER_MONOCHROME && caps.Color)
        return in_color(fitted, shape, POINTER_COLOR, why, why_bytes);
    util_explain(why, why_bytes, "a shape of the format 0x%X; PointerCaps 0x%X lacks it",
                 flags.Value, caps.Value);
    return false;
}
