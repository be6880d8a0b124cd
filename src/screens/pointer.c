/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/pointer.h"
#include "ddi/entries_display.h"
#include "nt/base/status_name.h"
#include "screens/pointer_draw.h"
#include "screens/pointer_shape.h"
#include "screens/screen.h"
#include "verify/verify.h"

static bool is_here(const struct screens *screens, const struct screen *s)
{
    const struct screens_cursor *cursor = &screens->pointer.cursor;

    return cursor->visible && cursor->source == s->source &&
           screens->pointer.shape.kind != POINTER_NONE;
}

static bool has_hardware(const struct screens *screens)
{
    const struct ddi_adapter *ddi = screens->config.modes->ddi;

    return screens->config.pointer_caps.Value && screens->config.pointer_width &&
           screens->config.pointer_height && ddi_has(ddi, DxgkDdiSetPointerShape) &&
           ddi_has(ddi, DxgkDdiSetPointerPosition);
}

/* PRES-226 */
static bool in_hardware(const struct screens *screens, const struct screen *s)
{
    return screens->pointer.hard && has_hardware(screens) && !s->rotated;
}

static LONG corner_x(const struct screens *screens)
{
    return screens->pointer.cursor.x - (LONG)screens->pointer.shape.hot_x;
}

static LONG corner_y(const struct screens *screens)
{
    return screens->pointer.cursor.y - (LONG)screens->pointer.shape.hot_y;
}

/* ---- calls of the driver ---- */

/* PRES-235: equal calls in a row are left out. */
static void tell_position(struct screens *screens, struct screen *s, bool visible)
{
    struct ddi_adapter *ddi = screens->config.modes->ddi;
    struct screen_pointer *told = &s->pointer;
    DXGKARG_SETPOINTERPOSITION args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.VidPnSourceId = s->source;
    args.X = visible ? corner_x(screens) : 0;
    args.Y = visible ? corner_y(screens) : 0;
    args.Flags.Visible = visible;
    args.Flags.Procedural = screens->pointer.cursor.by_program;
    if (!ddi_has(ddi, DxgkDdiSetPointerPosition) || ddi->gone ||
        (told->known && told->visible == visible && told->x == args.X && told->y == args.Y))
        return;
    told->known = true;
    told->visible = visible;
    told->x = args.X;
    told->y = args.Y;
    status = ddi_set_pointer_position(ddi, &args);
    /* a driver without pointer hardware may not implement even hiding */
    if (!NT_SUCCESS(status) && has_hardware(screens) && !ddi->gone)
        WARNING("PRES-241", "DxgkDdiSetPointerPosition returned %s for source %u",
                nt_status_text(status).text, s->source);
}

/* False: it must be drawn in software, until there is another shape. */
static bool tell_shape(struct screens *screens, struct screen *s)
{
    const struct pointer_shape *shape = &screens->pointer.fitted;
    struct ddi_adapter *ddi = screens->config.modes->ddi;
    DXGKARG_SETPOINTERSHAPE args;
    NTSTATUS status;

    if (s->pointer.shaped)
        return true;
    memset(&args, 0, sizeof(args));
    args.Flags = pointer_shape_flags(shape);
    args.Width = shape->width;
    args.Height = shape->height;
    args.Pitch = shape->pitch;
    args.VidPnSourceId = s->source;
    args.pPixels = shape->pixels;
    args.XHot = shape->hot_x;
    args.YHot = shape->hot_y;
    status = ddi_set_pointer_shape(ddi, &args);
    s->pointer.shaped = NT_SUCCESS(status);
    if (s->pointer.shaped)
        return true;
    screens->pointer.hard = false;
    if (status != STATUS_NO_MEMORY && !ddi->gone)
        WARNING("PRES-241", "DxgkDdiSetPointerShape returned %s for source %u",
                nt_status_text(status).text, s->source);
    return false;
}

/* ---- software ---- */

static bool canvas_of(struct pointer_canvas *canvas, const struct screen *s)
{
    return pointer_canvas_of_image(canvas, s->image.pixels, s->image.pitch, s->image.width,
                                   s->image.height, s->image.format);
}

static bool is_drawn(const struct screens *screens, const struct screen *s)
{
    return is_here(screens, s) && !in_hardware(screens, s);
}

/* What the pointer covered is due, and what it covers now. */
static void mark_drawn(struct screens *screens, struct screen *s)
{
    struct pointer_canvas canvas;
    RECT area = {0, 0, 0, 0};

    if (is_drawn(screens, s) && canvas_of(&canvas, s))
        area = pointer_area(&canvas, &screens->pointer.shape, corner_x(screens), corner_y(screens));
    if (memcmp(&area, &s->pointer.area, sizeof(area)) == 0 && !screens->pointer.fresh)
        return;
    screen_add_dirty(s, &s->pointer.area);
    screen_add_dirty(s, &area);
    s->pointer.area = area;
    (void)sim_waitq_wake(&screens->work, 1);
}

void pointer_merge(struct screens *screens, struct screen *s)
{
    struct pointer_canvas canvas;

    if (is_drawn(screens, s) && canvas_of(&canvas, s))
        (void)pointer_put(&s->pointer.under, &canvas, &screens->pointer.shape, corner_x(screens),
                          corner_y(screens));
}

void pointer_unmerge(struct screen *s)
{
    struct pointer_canvas canvas;

    if (s->frame && canvas_of(&canvas, s))
        pointer_take(&s->pointer.under, &canvas);
}

/* ---- what changes ---- */

static void bring_up(struct screens *screens, struct screen *s)
{
    if (!s->lit || !s->frame) /* PRES-229 */
        return;
    if (is_here(screens, s) && in_hardware(screens, s) && tell_shape(screens, s))
        tell_position(screens, s, true);
    else
        tell_position(screens, s, false);
    mark_drawn(screens, s);
}

static void bring_all_up(struct screens *screens)
{
    for (UINT i = 0; i < screens->config.modes->sources; i++)
        if (screens->screen[i].visible)
            bring_up(screens, &screens->screen[i]);
    screens->pointer.fresh = false;
}

void pointer_leave(struct screens *screens, struct screen *s)
{
    sim_mutex_lock(&screens->pointer.lock);
    if (s->pointer.known && s->pointer.visible)
        tell_position(screens, s, false);
    sim_mutex_unlock(&screens->pointer.lock);
}

void pointer_return(struct screens *screens, struct screen *s)
{
    sim_mutex_lock(&screens->pointer.lock);
    s->pointer.known = s->pointer.shaped = false;
    bring_up(screens, s);
    sim_mutex_unlock(&screens->pointer.lock);
}

bool screens_set_pointer(struct screens *screens, const struct pointer_shape *shape, char *why,
                         size_t why_bytes)
{
    struct screens_pointer *pointer = &screens->pointer;
    struct pointer_shape made = {0};
    char reason[128];

    if (shape && !pointer_shape_make(&made, shape, why, why_bytes))
        return false;
    sim_mutex_lock(&pointer->lock);
    pointer_shape_free(&pointer->shape);
    pointer_shape_free(&pointer->fitted);
    pointer->shape = made;
    pointer->hard = shape &&
                    pointer_shape_fit(&pointer->fitted, &made, screens->config.pointer_caps,
                                      screens->config.pointer_width, screens->config.pointer_height,
                                      reason, sizeof(reason));
    pointer->fresh = true;
    for (UINT i = 0; i < screens->config.modes->sources; i++)
        screens->screen[i].pointer.shaped = false;
    bring_all_up(screens);
    sim_mutex_unlock(&pointer->lock);
    return true;
}

static LONG inside(LONG at, UINT side)
{
    return at < 0 || !side ? 0 : at >= (LONG)side ? (LONG)side - 1 : at;
}

void screens_move_pointer(struct screens *screens, const struct screens_cursor *cursor)
{
    const struct screen *s = &screens->screen[cursor->source];

    if (cursor->source >= screens->config.modes->sources)
        return;
    sim_mutex_lock(&screens->pointer.lock);
    screens->pointer.cursor = *cursor;
    screens->pointer.cursor.x = inside(cursor->x, s->image.width); /* PRES-233 */
    screens->pointer.cursor.y = inside(cursor->y, s->image.height);
    bring_all_up(screens);
    sim_mutex_unlock(&screens->pointer.lock);
}
