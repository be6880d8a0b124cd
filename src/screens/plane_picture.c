/* SPDX-License-Identifier: MIT */
/*
 * The picture of several planes, as multi-plane overlay hardware composes it: what of a plane its
 * source rectangle shows, mirrored, stretched to its target rectangle and cut at its clip
 * rectangle, over what lies below, layer 0 on top, black at the bottom; alpha is premultiplied.
 * Stretched without a filter.
 */
#include <string.h>

#include "modes/mode_check.h"
#include "screens/planes_record.h"
#include "util/alloc.h"

#define BYTES    4u
#define VERTICAL 1u /* of DXGK_MULTIPLANE_OVERLAY_FLAGS */
#define SIDEWAYS 2u
#define BLENDS   1u

struct canvas {
    UINT width, height;
    uint8_t *pixels; /* B, G, R, X; without gaps */
};

struct layer {
    UINT width, height, pitch;
    const uint8_t *pixels;
    bool red_first; /* R, G, B */
    bool blends;
    UINT flags, turns; /* quarter turns, counter-clockwise */
    RECT source, target, clip;
};

static LONG side(const RECT *r, bool across)
{
    return across ? r->right - r->left : r->bottom - r->top;
}

/* Which pixel of the source rectangle is seen at (x, y) of the target rectangle; both as fractions
 * of 1 / 65536. */
static void turn(const struct layer *l, int64_t *x, int64_t *y)
{
    const int64_t whole = 65535, across = *x, down = *y;

    switch (l->turns) {
    case 1:
        *x = whole - down;
        *y = across;
        break;
    case 2:
        *x = whole - across;
        *y = whole - down;
        break;
    case 3:
        *x = down;
        *y = whole - across;
        break;
    default:
        break;
    }
    if (l->flags & SIDEWAYS)
        *x = whole - *x;
    if (l->flags & VERTICAL)
        *y = whole - *y;
}

/* NULL: there is none. */
static const uint8_t *pixel_at(const struct layer *l, LONG x, LONG y)
{
    int64_t across = ((int64_t)(x - l->target.left) * 65536 + 32768) / side(&l->target, true);
    int64_t down = ((int64_t)(y - l->target.top) * 65536 + 32768) / side(&l->target, false);
    int64_t column, row;

    turn(l, &across, &down);
    column = l->source.left + across * side(&l->source, true) / 65536;
    row = l->source.top + down * side(&l->source, false) / 65536;
    if (column < 0 || column >= l->width || row < 0 || row >= l->height)
        return NULL;
    return l->pixels + (size_t)row * l->pitch + (size_t)column * BYTES;
}

static void put(uint8_t *to, const struct layer *l, const uint8_t *from)
{
    const UINT below = l->blends ? 255u - from[3] : 0;

    for (UINT i = 0; i < 3; i++) {
        const UINT over = from[l->red_first ? 2 - i : i] + (to[i] * below + 127) / 255;

        to[i] = (uint8_t)(over > 255 ? 255 : over);
    }
}

static LONG least(LONG a, LONG b)
{
    return a < b ? a : b;
}

static LONG most(LONG a, LONG b)
{
    return a > b ? a : b;
}

static void paint(const struct canvas *canvas, const struct layer *l)
{
    const RECT area = {most(most(l->target.left, l->clip.left), 0),
                       most(most(l->target.top, l->clip.top), 0),
                       least(least(l->target.right, l->clip.right), (LONG)canvas->width),
                       least(least(l->target.bottom, l->clip.bottom), (LONG)canvas->height)};

    for (LONG y = area.top; y < area.bottom; y++)
        for (LONG x = area.left; x < area.right; x++) {
            const uint8_t *from = pixel_at(l, x, y);

            if (from)
                put(canvas->pixels + ((size_t)y * canvas->width + (size_t)x) * BYTES, l, from);
        }
}

/* ---- what is known of a plane ---- */

static bool is_known(D3DDDIFORMAT format, bool *red_first)
{
    *red_first = format == D3DDDIFMT_A8B8G8R8 || format == D3DDDIFMT_X8B8G8R8;
    return *red_first || format == D3DDDIFMT_A8R8G8B8 || format == D3DDDIFMT_X8R8G8B8;
}

static UINT turns_of(D3DDDI_ROTATION rotation)
{
    return rotation > D3DDDI_ROTATION_IDENTITY ? ((UINT)rotation - D3DDDI_ROTATION_IDENTITY) % 4 : 0;
}

static bool is_area(const RECT *r)
{
    return r->left < r->right && r->top < r->bottom && r->left > -65536 && r->top > -65536 &&
           r->right < 65536 && r->bottom < 65536;
}

static void add(const struct scanout *s, const struct canvas *canvas, UINT index)
{
    const struct plane *plane = &s->planes->plane[index];
    const struct plane_setting *setting = &plane->setting;
    struct vidmm_allocation *shown = index ? plane->now.allocation : s->now.allocation;
    struct layer l = {.width = setting->width,
                      .height = setting->height,
                      .blends = (setting->look.blend & BLENDS) != 0,
                      .flags = setting->look.flags,
                      .turns = turns_of(setting->look.rotation),
                      .source = setting->look.source,
                      .target = setting->look.target,
                      .clip = setting->look.clip};
    uint64_t bytes;
    uint8_t *copy;

    if (!plane->enabled || !shown || !l.width || !l.height || l.width > 16384 || l.height > 16384 ||
        !is_known(setting->format, &l.red_first) || !is_area(&l.source) || !is_area(&l.target))
        return;
    l.pitch = scanout_pitch(l.width * BYTES, l.height, vidmm_scanout_bytes(shown));
    bytes = (uint64_t)l.pitch * l.height;
    copy = util_alloc(bytes);
    l.pixels = copy;
    if (copy && vidmm_scanout_read(shown, copy, bytes))
        paint(canvas, &l);
    util_free(copy);
}

bool planes_compose(struct scanout *s, struct scanouts_picture *picture)
{
    const struct canvas canvas = {
        .width = s->shared->surface.Width,
        .height = s->shared->surface.Height,
        .pixels = util_zalloc((size_t)s->shared->surface.Width * BYTES, s->shared->surface.Height)};

    if (!canvas.pixels)
        return false;
    for (UINT i = s->planes->count; i-- > 0;)
        add(s, &canvas, i);
    util_free(s->copy);
    s->copy = canvas.pixels;
    *picture = (struct scanouts_picture){.width = canvas.width,
                                         .height = canvas.height,
                                         .pitch = canvas.width * BYTES,
                                         .format = D3DDDIFMT_X8R8G8B8,
                                         .pixels = s->copy};
    return true;
}
