/* SPDX-License-Identifier: MIT */
/* The images of sources: system memory that drivers read as if it were a client's (PRES-198 to
 * PRES-201). */
#include "modes/mode_check.h"
#include "modes/vidpn.h"
#include "ram/ram.h"
#include "screens/screen.h"
#include "screens/source_mode.h"
#include "sim/sim.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define PAGE 4096u

static uint64_t pages_of(const struct screens_image *image)
{
    return ((uint64_t)image->pitch * image->height + PAGE - 1) / PAGE;
}

void screen_free(struct screens *screens, struct screen *s)
{
    struct ram *ram = screens->config.ram;

    if (s->image.pixels)
        ram_view_release(ram, s->image.pixels, s->frames);
    if (s->shown)
        ram_view_release(ram, s->shown, s->frames);
    if (s->frame)
        ram_give_pages(ram, s->frame, s->frames);
    util_free(s->frame);
    s->frame = NULL;
    s->shown = NULL;
    s->image = (struct screens_image){0};
    region_clear(&s->dirty);
    moves_forget(s);
}

/* PRES-201: memory like that of a client, which the driver reads through a view of its own. */
static bool make_image(struct screens *screens, struct screen *s)
{
    struct ram *ram = screens->config.ram;
    const struct ram_request request = {
        .pages = pages_of(&s->image), .owner = RAM_CLIENT, .cache = RAM_CACHED, .zero = true};
    struct page_number *frame = util_zalloc(request.pages, sizeof(*frame));

    s->frames = request.pages;
    if (!frame || !ram_take_pages(ram, &request, frame)) {
        util_free(frame);
        return false;
    }
    s->frame = frame;
    s->image.pixels = ram_view_reserve(ram, s->frames);
    s->shown = ram_view_reserve(ram, s->frames);
    return s->image.pixels && s->shown &&
           ram_view_point(ram, s->image.pixels, 0, frame, s->frames, true) &&
           ram_view_point(ram, s->shown, 0, frame, s->frames, false);
}

static bool is_turned(const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    const UINT turns = (UINT)path->ContentTransformation.Rotation - D3DKMDT_VPPR_IDENTITY;

    return turns % 2 == 1; /* by 90 or 270 degrees, whatever the offset */
}

static bool is_alike(const struct screens_image *a, const struct screens_image *b)
{
    return a->width == b->width && a->height == b->height && a->pitch == b->pitch &&
           a->format == b->format;
}

void screen_renew(struct screens *screens, struct screen *s)
{
    const struct vidpn *vidpn = screens->config.modes->active;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(vidpn, s->source, 0);
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = path ? source_mode(vidpn, s->source) : NULL;
    const D3DKMDT_2DREGION *size = mode ? &mode->Format.Graphics.PrimSurfSize : NULL;
    struct screens_image image;

    s->due = false;
    s->warnings = 0;
    s->unlike = false;
    s->lit = mode && mode_pixel_bytes(mode->Format.Graphics.PixelFormat) == SCREEN_BYTES;
    if (!s->lit)
        return;
    s->rotated = path->ContentTransformation.Rotation != D3DKMDT_VPPR_IDENTITY;
    s->rate = source_rate(vidpn, path);
    s->target = path->VidPnTargetId;
    s->epoch = s->after = s->lit_at = sim_now();
    image = (struct screens_image){.width = is_turned(path) ? size->cy : size->cx,
                                   .height = is_turned(path) ? size->cx : size->cy,
                                   .format = mode->Format.Graphics.PixelFormat};
    image.pitch = image.width * SCREEN_BYTES + screens->config.pitch_excess;
    if (s->frame && is_alike(&s->image, &image))
        return;
    screen_free(screens, s);
    s->image = image;
    if (!make_image(screens, s)) {
        NOTE("PRES-198", "no memory is left for the image of source %u, %u x %u", s->source,
             s->image.width, s->image.height);
        screen_free(screens, s);
    }
}

void screen_add_dirty(struct screen *s, const RECT *r)
{
    const RECT all = screen_whole(s), inside = rect_common(r, &all);

    region_add(&s->dirty, &inside);
    s->due = !region_empty(&s->dirty) || s->move_count;
}
