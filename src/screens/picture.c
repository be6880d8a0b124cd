/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/picture.h"
#include "util/alloc.h"
#include "util/crc32.h"

static size_t bytes_of(const struct picture *picture)
{
    return (size_t)picture->width * picture->height * PICTURE_STEP;
}

bool picture_size_valid(uint32_t width, uint32_t height)
{
    return width >= 1 && width <= PICTURE_MOST_SIDE && height >= 1 && height <= PICTURE_MOST_SIDE;
}

bool picture_make(struct picture *picture, uint32_t width, uint32_t height)
{
    struct picture made = {.width = width, .height = height};

    if (!picture_size_valid(width, height))
        return false;
    made.rows = util_alloc(bytes_of(&made));
    if (!made.rows)
        return false;
    *picture = made;
    return true;
}

bool picture_make_black(struct picture *picture, uint32_t width, uint32_t height)
{
    if (!picture_make(picture, width, height))
        return false;
    memset(picture->rows, 0, bytes_of(picture));
    return true;
}

bool picture_copy(struct picture *copy, const struct picture *picture)
{
    struct picture made = {0};

    if (picture->rows) {
        if (!picture_make(&made, picture->width, picture->height))
            return false;
        memcpy(made.rows, picture->rows, bytes_of(picture));
    }
    *copy = made;
    return true;
}

void picture_free(struct picture *picture)
{
    util_free(picture->rows);
    *picture = (struct picture){0};
}

uint32_t picture_checksum(const struct picture *picture)
{
    const uint32_t size[] = {picture->width, picture->height}; /* little endian, as the host is */
    struct crc32 crc;

    crc32_begin(&crc);
    crc32_add(&crc, size, sizeof(size));
    crc32_add(&crc, picture->rows, bytes_of(picture));
    return crc32_value(&crc);
}
