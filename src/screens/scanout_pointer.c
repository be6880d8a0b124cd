/* SPDX-License-Identifier: MIT */
#include "screens/scanout_pointer.h"
#include "modes/modes.h"
#include "screens/pointer_draw.h"
#include "screens/scanouts_record.h"
#include "sim/machine.h"
#include "util/explain.h"

static struct pointer_hardware hardware_of(const struct scanouts *scanouts)
{
    return (struct pointer_hardware){.ddi = scanouts->config.modes->ddi,
                                     .caps = scanouts->config.pointer_caps,
                                     .width = scanouts->config.pointer_width,
                                     .height = scanouts->config.pointer_height};
}

static bool is_here(const struct scanout *s)
{
    const struct scanouts_pointer *pointer = &s->all->pointer;

    return pointer->cursor.visible && pointer->cursor.source == s->source &&
           pointer->shape.kind != POINTER_NONE;
}

static bool in_hardware(const struct scanouts *scanouts)
{
    const struct pointer_hardware hardware = hardware_of(scanouts);

    return scanouts->pointer.hard && pointer_hardware_exists(&hardware);
}

static struct pointer_place place_of(const struct scanout *s, bool visible)
{
    const struct scanouts_pointer *pointer = &s->all->pointer;

    return (struct pointer_place){.source = s->source,
                                  .x = pointer->cursor.x - (LONG)pointer->shape.hot_x,
                                  .y = pointer->cursor.y - (LONG)pointer->shape.hot_y,
                                  .visible = visible,
                                  .dark = !s->lit,
                                  .by_program = pointer->cursor.by_program};
}

static void tell_place(struct scanout *s, bool visible)
{
    const struct pointer_hardware hardware = hardware_of(s->all);
    const struct pointer_place place = place_of(s, visible);

    pointer_tell_place(&hardware, &s->pointer, &place);
}

/* False: it is drawn into pictures, until there is another shape (PRES-241). */
static bool tell_shape(struct scanout *s)
{
    const struct pointer_hardware hardware = hardware_of(s->all);
    struct scanouts_pointer *pointer = &s->all->pointer;

    pointer->hard = pointer_tell_shape(&hardware, &s->pointer, s->source, &pointer->fitted);
    return pointer->hard;
}

static void bring_up(struct scanout *s)
{
    if (!s->lit) /* PRES-229 */
        return;
    if (is_here(s) && in_hardware(s->all) && tell_shape(s))
        tell_place(s, true);
    else
        tell_place(s, false);
}

static void bring_all_up(struct scanouts *scanouts)
{
    for (UINT i = 0; i < scanouts->config.modes->sources; i++)
        if (scanouts->config.modes->source[i].visible)
            bring_up(&scanouts->source[i]);
}

/* ---- changes of the mode ---- */

/* Whoever is alone with the driver must not wait for the lock: its holder may wait to be let in. So
 * the display worker has it before. */
bool scanout_pointer_hold(struct scanouts *scanouts, bool wait)
{
    if (!wait)
        return sim_mutex_try(&scanouts->pointer.lock);
    sim_mutex_lock(&scanouts->pointer.lock);
    return true;
}

void scanout_pointer_let_go(struct scanouts *scanouts)
{
    sim_mutex_unlock(&scanouts->pointer.lock);
}

/* False: the thread holds it already. */
static bool take(struct scanouts_pointer *pointer)
{
    if (pointer->lock.owner == sim_current->thread)
        return false;
    sim_mutex_lock(&pointer->lock);
    return true;
}

void scanout_pointer_leave(struct scanout *s)
{
    const bool taken = take(&s->all->pointer);

    if (s->pointer.known && s->pointer.visible)
        tell_place(s, false);
    if (taken)
        sim_mutex_unlock(&s->all->pointer.lock);
}

void scanout_pointer_return(struct scanout *s)
{
    const bool taken = take(&s->all->pointer);

    s->pointer.known = s->pointer.shaped = false;
    bring_up(s);
    if (taken)
        sim_mutex_unlock(&s->all->pointer.lock);
}

/* ---- who has a pointer ---- */

static void set_shape(struct scanouts *scanouts, const struct pointer_shape *made, bool shaped)
{
    struct scanouts_pointer *pointer = &scanouts->pointer;
    const struct scanouts_config *config = &scanouts->config;
    char reason[128];

    sim_mutex_lock(&pointer->lock);
    pointer_shape_free(&pointer->shape);
    pointer_shape_free(&pointer->fitted);
    pointer->shape = *made;
    pointer->hard = shaped && pointer_shape_fit(&pointer->fitted, made, config->pointer_caps,
                                                config->pointer_width, config->pointer_height,
                                                reason, sizeof(reason));
    for (UINT i = 0; i < config->modes->sources; i++)
        scanouts->source[i].pointer.shaped = false;
    bring_all_up(scanouts);
    sim_mutex_unlock(&pointer->lock);
}

bool scanouts_set_pointer(struct scanouts *scanouts, const struct pointer_shape *shape, char *why,
                          size_t why_bytes)
{
    struct pointer_shape made = {0};

    if (scanouts->stop) {
        util_explain(why, why_bytes, "the adapter stops");
        return false;
    }
    if (shape && !pointer_shape_make(&made, shape, why, why_bytes))
        return false;
    scanouts->users++;
    set_shape(scanouts, &made, shape != NULL);
    queued_leave(scanouts);
    return true;
}

static LONG inside(LONG at, UINT side)
{
    return at < 0 || !side ? 0 : at >= (LONG)side ? (LONG)side - 1 : at;
}

void scanouts_move_pointer(struct scanouts *scanouts, const struct screens_cursor *cursor)
{
    struct scanout *s = &scanouts->source[cursor->source];

    if (cursor->source >= scanouts->config.modes->sources || scanouts->stop)
        return;
    scanouts->users++;
    sim_mutex_lock(&scanouts->pointer.lock);
    scanouts->pointer.cursor = *cursor;
    if (s->shared) { /* PRES-233 */
        scanouts->pointer.cursor.x = inside(cursor->x, s->shared->surface.Width);
        scanouts->pointer.cursor.y = inside(cursor->y, s->shared->surface.Height);
    }
    bring_all_up(scanouts);
    if (!cursor->visible && !s->lit) /* PRES-230 */
        tell_place(s, false);
    sim_mutex_unlock(&scanouts->pointer.lock);
    queued_leave(scanouts);
}

void scanouts_draw_pointer(struct scanouts *scanouts, UINT source, const struct picture *picture)
{
    const struct scanout *s = &scanouts->source[source];
    struct pointer_canvas canvas;
    struct pointer_place place;

    if (source >= scanouts->config.modes->sources || !s->lit || !is_here(s) || in_hardware(scanouts))
        return;
    canvas = pointer_canvas_of_picture(picture);
    place = place_of(s, true);
    pointer_draw(&canvas, &scanouts->pointer.shape, place.x, place.y);
}
