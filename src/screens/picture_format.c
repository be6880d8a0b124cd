/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/picture_format.h"
#include "util/explain.h"

/* Bits of a channel, to the nearest of 8. */
static uint8_t channel(uint32_t value, unsigned shift, unsigned bits)
{
    uint32_t most = (1u << bits) - 1;

    return (uint8_t)(((value >> shift & most) * 255 + most / 2) / most);
}

static inline uint32_t load(const uint8_t *at)
{
    uint32_t pixel;

    memcpy(&pixel, at, sizeof(pixel));
    return pixel;
}

/* Three bytes, and a fourth that the next pixel overwrites; the last of a row has no next. */
static inline void store(uint8_t *rgb, uint32_t pixel, bool last)
{
    if (last)
        memcpy(rgb, &pixel, 3);
    else
        memcpy(rgb, &pixel, 4);
}

static void from_bgrx(uint8_t *rgb, const uint8_t *row, uint32_t width)
{
    for (uint32_t x = 0; x + 1 < width; x++)
        store(rgb + 3 * (size_t)x, __builtin_bswap32(load(row + 4 * (size_t)x)) >> 8, false);
    if (width)
        store(rgb + 3 * (size_t)(width - 1),
              __builtin_bswap32(load(row + 4 * (size_t)(width - 1))) >> 8, true);
}

static void from_rgbx(uint8_t *rgb, const uint8_t *row, uint32_t width)
{
    for (uint32_t x = 0; x + 1 < width; x++)
        store(rgb + 3 * (size_t)x, load(row + 4 * (size_t)x), false);
    if (width)
        store(rgb + 3 * (size_t)(width - 1), load(row + 4 * (size_t)(width - 1)), true);
}

static void from_bgr(uint8_t *rgb, const uint8_t *row, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++, rgb += 3, row += 3) {
        rgb[0] = row[2];
        rgb[1] = row[1];
        rgb[2] = row[0];
    }
}

static void from_565(uint8_t *rgb, const uint8_t *row, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++, rgb += 3, row += 2) {
        uint32_t pixel = row[0] | (uint32_t)row[1] << 8;

        rgb[0] = channel(pixel, 11, 5);
        rgb[1] = channel(pixel, 5, 6);
        rgb[2] = channel(pixel, 0, 5);
    }
}

static void from_bits10(uint8_t *rgb, const uint8_t *row, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++, rgb += 3, row += 4) {
        uint32_t pixel = load(row);

        rgb[0] = channel(pixel, 0, 10);
        rgb[1] = channel(pixel, 10, 10);
        rgb[2] = channel(pixel, 20, 10);
    }
}

static void from_palette(uint8_t *rgb, const uint8_t *row, uint32_t width,
                         const D3DKMDT_PALETTEDATA *palette)
{
    for (uint32_t x = 0; x < width; x++, rgb += 3) {
        const D3DKMDT_PALETTEDATA *color = &palette[row[x]];

        rgb[0] = color->Red;
        rgb[1] = color->Green;
        rgb[2] = color->Blue;
    }
}

uint32_t picture_format_bytes(D3DDDIFORMAT format)
{
    switch (format) {
    case D3DDDIFMT_A8R8G8B8:
    case D3DDDIFMT_X8R8G8B8:
    case D3DDDIFMT_A8B8G8R8:
    case D3DDDIFMT_X8B8G8R8:
    case D3DDDIFMT_A2B10G10R10:
        return 4;
    case D3DDDIFMT_R8G8B8:
        return 3;
    case D3DDDIFMT_R5G6B5:
        return 2;
    case D3DDDIFMT_P8:
        return 1;
    default:
        return 0;
    }
}

void picture_convert_row(uint8_t *rgb, const void *row, uint32_t width, D3DDDIFORMAT format,
                         const D3DKMDT_PALETTEDATA *palette)
{
    switch (format) {
    case D3DDDIFMT_A8R8G8B8:
    case D3DDDIFMT_X8R8G8B8:
        from_bgrx(rgb, row, width);
        break;
    case D3DDDIFMT_A8B8G8R8:
    case D3DDDIFMT_X8B8G8R8:
        from_rgbx(rgb, row, width);
        break;
    case D3DDDIFMT_A2B10G10R10:
        from_bits10(rgb, row, width);
        break;
    case D3DDDIFMT_R8G8B8:
        from_bgr(rgb, row, width);
        break;
    case D3DDDIFMT_R5G6B5:
        from_565(rgb, row, width);
        break;
    case D3DDDIFMT_P8:
        from_palette(rgb, row, width, palette);
        break;
    default:
        break;
    }
}

static bool described_well(const struct picture_memory *memory, char *why, size_t why_bytes)
{
    uint32_t step = picture_format_bytes(memory->format);
    size_t line;

    if (!step) {
        util_explain(why, why_bytes, "no picture of the format %u", (unsigned)memory->format);
        return false;
    }
    if (!picture_size_valid(memory->width, memory->height)) {
        util_explain(why, why_bytes, "no picture of %u x %u pixels", memory->width, memory->height);
        return false;
    }
    line = (size_t)memory->width * step;
    if (memory->pitch < line) {
        util_explain(why, why_bytes, "a pitch of %zu bytes, and rows of %zu", memory->pitch, line);
        return false;
    }
    if (memory->size < line || (memory->size - line) / memory->pitch < memory->height - 1) {
        util_explain(why, why_bytes, "%u rows with a pitch of %zu bytes in %zu bytes of memory",
                     memory->height, memory->pitch, memory->size);
        return false;
    }
    if (memory->format == D3DDDIFMT_P8 && !memory->palette) {
        util_explain(why, why_bytes, "colors by number, and no palette was set");
        return false;
    }
    return true;
}

bool picture_from_memory(struct picture *picture, const struct picture_memory *memory, char *why,
                         size_t why_bytes)
{
    const uint8_t *row = memory->bytes;
    struct picture made;

    if (!described_well(memory, why, why_bytes))
        return false;
    if (!picture_make(&made, memory->width, memory->height)) {
        util_explain(why, why_bytes, "out of memory");
        return false;
    }
    for (uint32_t y = 0; y < made.height; y++, row += memory->pitch)
        picture_convert_row(picture_at(&made, 0, y), row, made.width, memory->format,
                            memory->palette);
    *picture = made;
    return true;
}
