/* SPDX-License-Identifier: MIT */
/* Parts of an image that have moved (PRES-202 to PRES-204). */
#include <string.h>

#include "screens/screen.h"

static RECT shifted(const RECT *r, const POINT *by)
{
    return (RECT){r->left + by->x, r->top + by->y, r->right + by->x, r->bottom + by->y};
}

/* Of the destination, what is inside the image, and comes from inside it. */
static RECT fitting(const struct screen *s, const RECT *to, const POINT *by)
{
    const POINT back = {-by->x, -by->y};
    const RECT all = screen_whole(s), inside = rect_common(to, &all);
    const RECT from = shifted(&inside, &back), known = rect_common(&from, &all);

    return rect_empty(&inside) || rect_empty(&known) ? (RECT){0, 0, 0, 0} : shifted(&known, by);
}

/* Do these pixels stand on the screen as they do in the image? */
static bool is_on_screen(const struct screen *s, const RECT *r)
{
    const RECT pointer = rect_common(r, &s->pointer.area);

    for (UINT i = 0; i < s->dirty.count; i++) {
        const RECT common = rect_common(r, &s->dirty.rect[i]);

        if (!rect_empty(&common))
            return false;
    }
    return s->visible && rect_empty(&pointer);
}

void moves_to_dirty(struct screen *s, const D3DKMT_MOVE_RECT *move, UINT count)
{
    for (UINT i = 0; i < count; i++)
        region_add(&s->dirty, &move[i].DestRect);
    s->due |= !region_empty(&s->dirty);
}

/* Of overlapping parts in the order that keeps what is still to be read. */
static void copy_pixels(const struct screens_image *image, const RECT *to, const POINT *by)
{
    const LONG lines = to->bottom - to->top;
    const size_t bytes = (size_t)(to->right - to->left) * SCREEN_BYTES;

    for (LONG i = 0; i < lines; i++) {
        const LONG y = by->y > 0 ? to->bottom - 1 - i : to->top + i;

        memmove(image->pixels + (size_t)y * image->pitch + (size_t)to->left * SCREEN_BYTES,
                image->pixels + (size_t)(y - by->y) * image->pitch +
                    (size_t)(to->left - by->x) * SCREEN_BYTES,
                bytes);
    }
}

/* A pixel that the software pointer covers on the screen is moved with the pointer on it. */
void screens_move(struct screens *screens, UINT source, const RECT *to, POINT by)
{
    struct screen *s = &screens->screen[source];
    const RECT dest = fitting(s, to, &by);
    const POINT back = {-by.x, -by.y};
    const RECT from = shifted(&dest, &back);

    if (rect_empty(&dest))
        return;
    copy_pixels(&s->image, &dest, &by);
    if (s->move_count == SCREEN_MOVES) { /* PRES-204 */
        moves_to_dirty(s, s->move, s->move_count);
        moves_forget(s);
    }
    if (is_on_screen(s, &from) && is_on_screen(s, &dest))
        s->move[s->move_count++] = (D3DKMT_MOVE_RECT){{from.left, from.top}, dest};
    else
        screen_add_dirty(s, &dest);
    s->due = true;
    (void)sim_waitq_wake(&screens->work, 1);
}
