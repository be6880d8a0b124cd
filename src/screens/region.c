/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/region.h"

static LONG less(LONG a, LONG b)
{
    return a < b ? a : b;
}

static LONG more(LONG a, LONG b)
{
    return a > b ? a : b;
}

bool rect_empty(const RECT *rect)
{
    return rect->left >= rect->right || rect->top >= rect->bottom;
}

RECT rect_common(const RECT *a, const RECT *b)
{
    return (RECT){more(a->left, b->left), more(a->top, b->top), less(a->right, b->right),
                  less(a->bottom, b->bottom)};
}

RECT rect_cover(const RECT *a, const RECT *b)
{
    if (rect_empty(a))
        return *b;
    if (rect_empty(b))
        return *a;
    return (RECT){less(a->left, b->left), less(a->top, b->top), more(a->right, b->right),
                  more(a->bottom, b->bottom)};
}

static bool overlap(const RECT *a, const RECT *b)
{
    RECT common = rect_common(a, b);

    return !rect_empty(&common);
}

static bool covers(const RECT *a, const RECT *b)
{
    return a->left <= b->left && a->top <= b->top && a->right >= b->right && a->bottom >= b->bottom;
}

/* Both together are a rectangle: they share a whole edge. */
static bool one_rectangle(const RECT *a, const RECT *b)
{
    if (a->left == b->left && a->right == b->right)
        return a->bottom == b->top || b->bottom == a->top;
    return a->top == b->top && a->bottom == b->bottom &&
           (a->right == b->left || b->right == a->left);
}

void region_clear(struct region *region)
{
    region->count = 0;
    region->boxed = false;
}

bool region_empty(const struct region *region)
{
    return region->count == 0;
}

static void drop(struct region *region, uint32_t at)
{
    region->count--;
    memmove(&region->rect[at], &region->rect[at + 1],
            (region->count - at) * sizeof(region->rect[0]));
}

RECT region_box(const struct region *region)
{
    RECT box = {0, 0, 0, 0};

    for (uint32_t i = 0; i < region->count; i++)
        box = rect_cover(&box, &region->rect[i]);
    return box;
}

static void make_box(struct region *region, const RECT *more_of_it)
{
    RECT box = region_box(region);

    region->rect[0] = rect_cover(&box, more_of_it);
    region->count = 1;
    region->boxed = true;
}

/* A rectangle that overlaps none makes a neighbour larger, or is one more. False: there is no
 * room. */
static bool place(struct region *region, const RECT *rect)
{
    for (uint32_t i = 0; i < region->count; i++)
        if (one_rectangle(&region->rect[i], rect)) {
            region->rect[i] = rect_cover(&region->rect[i], rect);
            return true;
        }
    if (region->count == REGION_MOST)
        return false;
    region->rect[region->count++] = *rect;
    return true;
}

/* What the rectangles from `at` on do not have yet of this one. Those that it overlaps keep their
 * part; pieces that came of it meanwhile do not overlap the rest of it. */
static bool place_rest(struct region *region, const RECT *rect, uint32_t at)
{
    RECT cut, piece[4];

    if (rect_empty(rect))
        return true;
    while (at < region->count && !overlap(&region->rect[at], rect))
        at++;
    if (at == region->count)
        return place(region, rect);
    cut = rect_common(&region->rect[at], rect);
    piece[0] = (RECT){rect->left, rect->top, rect->right, cut.top};
    piece[1] = (RECT){rect->left, cut.top, cut.left, cut.bottom};
    piece[2] = (RECT){cut.right, cut.top, rect->right, cut.bottom};
    piece[3] = (RECT){rect->left, cut.bottom, rect->right, rect->bottom};
    for (unsigned i = 0; i < 4; i++)
        if (!place_rest(region, &piece[i], at + 1))
            return false;
    return true;
}

/* Pairs that together are one rectangle become it, until there are none. */
static void merge(struct region *region)
{
    for (uint32_t i = 0; i < region->count; i++)
        for (uint32_t j = i + 1; j < region->count; j++)
            if (one_rectangle(&region->rect[i], &region->rect[j])) {
                region->rect[i] = rect_cover(&region->rect[i], &region->rect[j]);
                drop(region, j);
                i = UINT32_MAX; /* from the beginning: it may have new neighbours */
                break;
            }
}

void region_add(struct region *region, const RECT *rect)
{
    if (rect_empty(rect))
        return;
    if (region->boxed) {
        make_box(region, rect);
        return;
    }
    for (uint32_t i = 0; i < region->count;) {
        if (covers(rect, &region->rect[i]))
            drop(region, i);
        else
            i++;
    }
    if (place_rest(region, rect, 0))
        merge(region);
    else
        make_box(region, rect);
}

void region_add_all(struct region *region, const struct region *other)
{
    if (other->boxed) {
        make_box(region, &other->rect[0]);
        return;
    }
    for (uint32_t i = 0; i < other->count; i++)
        region_add(region, &other->rect[i]);
}

void region_clip(struct region *region, const RECT *inside)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < region->count; i++) {
        RECT common = rect_common(&region->rect[i], inside);

        if (!rect_empty(&common))
            region->rect[kept++] = common;
    }
    region->count = kept;
    region->boxed &= kept > 0;
}

uint64_t region_pixels(const struct region *region)
{
    uint64_t pixels = 0;

    for (uint32_t i = 0; i < region->count; i++) {
        const RECT *rect = &region->rect[i];

        pixels += (uint64_t)((int64_t)rect->right - rect->left) *
                  (uint64_t)((int64_t)rect->bottom - rect->top);
    }
    return pixels;
}

bool region_has(const struct region *region, LONG x, LONG y)
{
    for (uint32_t i = 0; i < region->count; i++) {
        const RECT *rect = &region->rect[i];

        if (x >= rect->left && x < rect->right && y >= rect->top && y < rect->bottom)
            return true;
    }
    return false;
}

bool region_validate(const struct region *region)
{
    if (region->count > REGION_MOST || (region->boxed && region->count != 1))
        return false;
    for (uint32_t i = 0; i < region->count; i++) {
        if (rect_empty(&region->rect[i]))
            return false;
        for (uint32_t j = i + 1; j < region->count; j++)
            if (overlap(&region->rect[i], &region->rect[j]))
                return false;
    }
    return true;
}
