/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "screens/pointer.h"
#include "screens/pointer_draw.h"
#include "screens/pointer_hardware.h"
#include "screens/pointer_shape.h"
#include "screens/screen.h"
#include "util/explain.h"

static bool is_here(const struct screens *screens, const struct screen *s)
{
    const struct screens_cursor *cursor = &screens->pointer.cursor;

    return cursor->visible && cursor->source == s->source &&
           screens->pointer.shape.kind != POINTER_NONE;
}

static struct pointer_hardware hardware_of(const struct screens *screens)
{
    return (struct pointer_hardware){.ddi = screens->config.modes->ddi,
                                     .caps = screens->config.pointer_caps,
                                     .width = screens->config.pointer_width,
                                     .height = screens->config.pointer_height};
}

/* PRES-226 */
static bool in_hardware(const struct screens *screens, const struct screen *s)
{
    const struct pointer_hardware hardware = hardware_of(screens);

    return screens->pointer.hard && pointer_hardware_exists(&hardware) && !s->rotated;
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

static void tell_position(struct screens *screens, struct screen *s, bool visible)
{
    const struct pointer_hardware hardware = hardware_of(screens);

    pointer_tell_place(&hardware, &s->pointer.told,
                       &(struct pointer_place){.source = s->source,
                                               .x = corner_x(screens),
                                               .y = corner_y(screens),
                                               .visible = visible,
                                               .dark = !s->lit,
                                               .by_program = screens->pointer.cursor.by_program});
}

/* False: it must be drawn in software, until there is another shape. */
static bool tell_shape(struct screens *screens, struct screen *s)
{
    const struct pointer_hardware hardware = hardware_of(screens);

    screens->pointer.hard = pointer_tell_shape(&hardware, &s->pointer.told, s->source,
                                               &screens->pointer.fitted);
    return screens->pointer.hard;
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
    if (s->pointer.told.known && s->pointer.told.visible)
        tell_position(screens, s, false);
    sim_mutex_unlock(&screens->pointer.lock);
}

void pointer_return(struct screens *screens, struct screen *s)
{
    sim_mutex_lock(&screens->pointer.lock);
    s->pointer.told.known = s->pointer.told.shaped = false;
    bring_up(screens, s);
    sim_mutex_unlock(&screens->pointer.lock);
}

bool screens_set_pointer(struct screens *screens, const struct pointer_shape *shape, char *why,
                         size_t why_bytes)
{
    struct screens_pointer *pointer = &screens->pointer;
    struct pointer_shape made = {0};
    char reason[128];

    if (screens->stop) {
        util_explain(why, why_bytes, "the adapter stops");
        return false;
    }
    if (shape && !pointer_shape_make(&made, shape, why, why_bytes))
        return false;
    screens->users++;
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
        screens->screen[i].pointer.told.shaped = false;
    bring_all_up(screens);
    sim_mutex_unlock(&pointer->lock);
    screens_leave(screens);
    return true;
}

static LONG inside(LONG at, UINT side)
{
    return at < 0 || !side ? 0 : at >= (LONG)side ? (LONG)side - 1 : at;
}

void screens_move_pointer(struct screens *screens, const struct screens_cursor *cursor)
{
    struct screen *s = &screens->screen[cursor->source];

    if (cursor->source >= screens->config.modes->sources || screens->stop)
        return;
    screens->users++;
    sim_mutex_lock(&screens->pointer.lock);
    screens->pointer.cursor = *cursor;
    screens->pointer.cursor.x = inside(cursor->x, s->image.width); /* PRES-233 */
    screens->pointer.cursor.y = inside(cursor->y, s->image.height);
    bring_all_up(screens);
    if (!cursor->visible && !s->lit) /* PRES-230 */
        tell_position(screens, s, false);
    sim_mutex_unlock(&screens->pointer.lock);
    screens_leave(screens);
}
