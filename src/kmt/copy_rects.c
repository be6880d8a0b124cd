/* SPDX-License-Identifier: MIT */
#include "kmt/copy_rects.h"
#include "util/alloc.h"

static bool is_empty(const RECT *r)
{
    return r->left >= r->right || r->top >= r->bottom;
}

static RECT common(const RECT *a, const RECT *b)
{
    return (RECT){.left = a->left > b->left ? a->left : b->left,
                  .top = a->top > b->top ? a->top : b->top,
                  .right = a->right < b->right ? a->right : b->right,
                  .bottom = a->bottom < b->bottom ? a->bottom : b->bottom};
}

static RECT whole(D3DKMDT_2DREGION region)
{
    return (RECT){.right = (LONG)region.cx, .bottom = (LONG)region.cy};
}

/* One end of a span of the source, in the destination; `up`: all that it touches counts. */
static LONG stretched(LONG at, LONG from, LONG from_end, LONG to, LONG to_end, bool up)
{
    const int64_t length = (int64_t)from_end - from, other = (int64_t)to_end - to;
    const __int128 scaled = (__int128)((int64_t)at - from) * other;

    return (LONG)(to + (scaled + (up ? length - 1 : 0)) / length);
}

static RECT to_screen(const struct copy_rects *c, const RECT *sub)
{
    const RECT *from = &c->from, *to = &c->to;
    const RECT r = common(sub, from);

    if (is_empty(&r))
        return (RECT){0};
    return (RECT){.left = stretched(r.left, from->left, from->right, to->left, to->right, false),
                  .top = stretched(r.top, from->top, from->bottom, to->top, to->bottom, false),
                  .right = stretched(r.right, from->left, from->right, to->left, to->right, true),
                  .bottom = stretched(r.bottom, from->top, from->bottom, to->top, to->bottom, true)};
}

/* PRES-103, PRES-104 */
static void add(struct copy_rects *c, const RECT *destination)
{
    const RECT screen = whole(c->screen);
    RECT r = common(destination, &c->to);

    if (c->clip)
        r = common(&r, &screen);
    if (!is_empty(&r))
        c->rect[c->count++] = r;
}

static void choose(struct copy_rects *c)
{
    const D3DKMT_PRESENT *args = c->args;
    const bool blt = args->Flags.Blt;

    c->to = args->Flags.DstRectValid ? args->DstRect : whole(c->screen);
    c->from = (RECT){0};
    if (blt)
        c->from = args->Flags.SrcRectValid ? args->SrcRect : whole(c->source);
    if (is_empty(&c->to) || (blt && is_empty(&c->from)))
        c->to = c->from = (RECT){0};
}

NTSTATUS copy_rects_take(struct copy_rects *c, const RECT *subs, UINT count)
{
    choose(c);
    c->rect = util_alloc((count ? count : 1) * sizeof(*c->rect));
    if (!c->rect)
        return STATUS_NO_MEMORY;
    if (!count && !is_empty(&c->to))
        add(c, &c->to);
    for (UINT i = 0; i < count; i++) {
        const RECT r = c->args->Flags.Blt ? to_screen(c, &subs[i]) : subs[i];

        if (!is_empty(&r))
            add(c, &r);
    }
    return STATUS_SUCCESS;
}

bool copy_rects_overlap(const RECT *a, const RECT *b)
{
    const RECT both = common(a, b);

    return !is_empty(&both);
}
