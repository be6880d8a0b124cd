/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/picture_compare.h"
#include "util/min_max.h"

static bool has(const struct picture *picture, uint32_t x, uint32_t y)
{
    return x < picture->width && y < picture->height;
}

/* The largest of the differences of the three channels. */
static uint8_t distance(const uint8_t *a, const uint8_t *b)
{
    uint8_t largest = 0;

    for (unsigned i = 0; i < PICTURE_STEP; i++) {
        uint8_t apart = (uint8_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);

        if (apart > largest)
            largest = apart;
    }
    return largest;
}

static uint8_t distance_at(const struct picture *picture, const struct picture *reference,
                           uint32_t x, uint32_t y)
{
    bool one = has(picture, x, y), other = has(reference, x, y);

    if (one && other)
        return distance(picture_at(picture, x, y), picture_at(reference, x, y));
    return one || other ? 255 : 0; /* neither: a corner beside both */
}

/* A pixel that only one of them has is no matter of tolerance. */
static bool counts(const struct picture *picture, const struct picture *reference, uint32_t x,
                   uint32_t y, uint8_t tolerance)
{
    return has(picture, x, y) != has(reference, x, y) ||
           distance_at(picture, reference, x, y) > tolerance;
}

static void count(struct picture_difference *difference, uint32_t x, uint32_t y)
{
    RECT *box = &difference->box;
    LONG left = (LONG)x, top = (LONG)y;

    if (!difference->count++) {
        *box = (RECT){left, top, left + 1, top + 1};
        return;
    }
    box->left = left < box->left ? left : box->left;
    box->right = left >= box->right ? left + 1 : box->right;
    box->bottom = top + 1; /* rows come from the top */
}

struct picture_difference picture_compare(const struct picture *picture,
                                          const struct picture *reference, uint8_t tolerance)
{
    struct picture_difference difference = {.same_size = picture->width == reference->width &&
                                                         picture->height == reference->height};
    uint32_t width = (uint32_t)max_of(picture->width, reference->width);
    uint32_t height = (uint32_t)max_of(picture->height, reference->height);

    for (uint32_t y = 0; y < height; y++) {
        if (difference.same_size && memcmp(picture_at(picture, 0, y), picture_at(reference, 0, y),
                                           (size_t)width * PICTURE_STEP) == 0)
            continue;
        for (uint32_t x = 0; x < width; x++) {
            uint8_t apart = distance_at(picture, reference, x, y);

            if (apart > difference.largest)
                difference.largest = apart;
            if (counts(picture, reference, x, y, tolerance))
                count(&difference, x, y);
        }
    }
    return difference;
}

bool picture_matches(const struct picture_difference *difference, uint64_t allowed)
{
    return difference->same_size && difference->count <= allowed;
}

/* ---- for the eye ---- */

#define LEAST_RED 128u

static void show(uint8_t *to, const struct picture *picture, const struct picture *reference,
                 uint32_t x, uint32_t y, uint8_t tolerance)
{
    uint8_t apart = distance_at(picture, reference, x, y);
    const uint8_t *behind = has(reference, x, y) ? picture_at(reference, x, y) : NULL;
    uint8_t grey = behind ? (uint8_t)((behind[0] + 2 * behind[1] + behind[2]) / 16) : 0;

    memset(to, grey, PICTURE_STEP);
    if (counts(picture, reference, x, y, tolerance))
        to[0] = (uint8_t)(LEAST_RED + apart / 2);
}

bool picture_show_difference(struct picture *shown, const struct picture *picture,
                             const struct picture *reference, uint8_t tolerance)
{
    struct picture made;

    if (!picture_make(&made, (uint32_t)max_of(picture->width, reference->width),
                      (uint32_t)max_of(picture->height, reference->height)))
        return false;
    for (uint32_t y = 0; y < made.height; y++)
        for (uint32_t x = 0; x < made.width; x++)
            show(picture_at(&made, x, y), picture, reference, x, y, tolerance);
    *shown = made;
    return true;
}
