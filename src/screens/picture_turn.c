/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/picture_turn.h"
#include "util/alloc.h"
#include "util/explain.h"
#include "util/min_max.h"

#define TILE 32u /* pixels: rows of one picture are columns of the other, and both stay cached */

/* Where the pixel at 0,0 goes, and how many bytes further its neighbours to the right and below. */
struct turn {
    size_t first;
    ptrdiff_t right, down;
};

static struct turn turn_of(const struct picture *turned, unsigned quarters)
{
    ptrdiff_t step = PICTURE_STEP, line = (ptrdiff_t)turned->width * step;
    size_t last_row = (size_t)(turned->height - 1) * (size_t)line;
    size_t last_column = (size_t)(line - step);

    switch (quarters % 4) {
    case 1:
        return (struct turn){last_row, -line, step};
    case 2:
        return (struct turn){last_row + last_column, -step, -line};
    case 3:
        return (struct turn){last_column, line, -step};
    default:
        return (struct turn){0, step, line};
    }
}

static void turn_tile(uint8_t *rows, const struct picture *picture, const struct turn *turn,
                      uint32_t left, uint32_t top)
{
    uint32_t right = (uint32_t)min_of(left + TILE, picture->width);
    uint32_t bottom = (uint32_t)min_of(top + TILE, picture->height);

    for (uint32_t y = top; y < bottom; y++) {
        const uint8_t *from = picture_at(picture, left, y);
        uint8_t *to = rows + (ptrdiff_t)turn->first + turn->right * (ptrdiff_t)left +
                      turn->down * (ptrdiff_t)y;

        for (uint32_t x = left; x < right; x++, from += PICTURE_STEP, to += turn->right)
            memcpy(to, from, PICTURE_STEP);
    }
}

bool picture_turn(struct picture *turned, const struct picture *picture, unsigned quarters)
{
    bool sideways = quarters % 2;
    struct picture made;
    struct turn turn;

    if (!picture->rows || quarters % 4 == 0)
        return picture_copy(turned, picture);
    if (!picture_make(&made, sideways ? picture->height : picture->width,
                      sideways ? picture->width : picture->height))
        return false;
    turn = turn_of(&made, quarters);
    for (uint32_t top = 0; top < picture->height; top += TILE)
        for (uint32_t left = 0; left < picture->width; left += TILE)
            turn_tile(made.rows, picture, &turn, left, top);
    *turned = made;
    return true;
}

/* ---- scaling ---- */

struct area {
    uint32_t x, y, width, height;
};

/* A side at the ratio of two others, to the nearest pixel. */
static uint32_t side(uint32_t side_of, uint32_t to, uint32_t of)
{
    return (uint32_t)max_of(1, ((uint64_t)side_of * to * 2 + of) / ((uint64_t)of * 2));
}

/* The part of the target that the picture covers. */
static bool area_of(struct area *area, const struct picture *picture,
                    D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling)
{
    uint32_t width = picture->width, height = picture->height;
    struct area whole = *area;

    switch (scaling) {
    case D3DKMDT_VPPS_IDENTITY:
        return width == whole.width && height == whole.height;
    case D3DKMDT_VPPS_STRETCHED:
        return true;
    case D3DKMDT_VPPS_CENTERED:
        if (width > whole.width || height > whole.height)
            return false;
        area->width = width;
        area->height = height;
        break;
    case D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX:
        if ((uint64_t)width * whole.height < (uint64_t)height * whole.width)
            area->width = side(width, whole.height, height);
        else
            area->height = side(height, whole.width, width);
        break;
    default:
        return false;
    }
    area->x = (whole.width - area->width) / 2;
    area->y = (whole.height - area->height) / 2;
    return true;
}

static const char *name_of(D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling)
{
    switch (scaling) {
    case D3DKMDT_VPPS_IDENTITY:
        return "as it is";
    case D3DKMDT_VPPS_CENTERED:
        return "centred";
    case D3DKMDT_VPPS_STRETCHED:
        return "stretched";
    case D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX:
        return "as large as its ratio allows";
    case D3DKMDT_VPPS_CUSTOM:
        return "in a way that only the driver knows";
    default:
        return "by an unknown scaling";
    }
}

/* The pixel of a picture under the middle of each pixel of an area, as an offset. */
static void offsets(uint32_t *offset, uint32_t count, uint32_t of)
{
    for (uint32_t i = 0; i < count; i++)
        offset[i] = (uint32_t)((2 * (uint64_t)i + 1) * of / (2 * (uint64_t)count)) * PICTURE_STEP;
}

static void stretch(struct picture *scaled, const struct picture *picture, const struct area *area,
                    const uint32_t *offset)
{
    uint32_t before = UINT32_MAX;

    for (uint32_t y = 0; y < area->height; y++) {
        uint32_t from_y = (uint32_t)((2 * (uint64_t)y + 1) * picture->height /
                                     (2 * (uint64_t)area->height));
        const uint8_t *from = picture_at(picture, 0, from_y);
        uint8_t *to = picture_at(scaled, area->x, area->y + y);

        if (from_y == before) {
            memcpy(to, picture_at(scaled, area->x, area->y + y - 1),
                   (size_t)area->width * PICTURE_STEP);
            continue;
        }
        before = from_y;
        for (uint32_t x = 0; x < area->width; x++, to += PICTURE_STEP)
            memcpy(to, from + offset[x], PICTURE_STEP);
    }
}

bool picture_scale(struct picture *scaled, const struct picture *picture, uint32_t width,
                   uint32_t height, D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling, char *why,
                   size_t why_bytes)
{
    struct area area = {0, 0, width, height};
    uint32_t *offset;
    struct picture made;

    if (!picture->rows || !picture_size_valid(width, height) || !area_of(&area, picture, scaling)) {
        util_explain(why, why_bytes, "a picture of %u x %u on a target of %u x %u %s",
                     picture->width, picture->height, width, height, name_of(scaling));
        return false;
    }
    offset = util_alloc(area.width * sizeof(*offset));
    if (!offset || !picture_make_black(&made, width, height)) {
        util_free(offset);
        util_explain(why, why_bytes, "out of memory");
        return false;
    }
    offsets(offset, area.width, picture->width);
    stretch(&made, picture, &area, offset);
    util_free(offset);
    *scaled = made;
    return true;
}
