/* SPDX-License-Identifier: MIT */
/*
 * Planes on their way to the screen. Each layer of a source is a queue of its own, as that of the
 * primary alone is (flip.c); the planes of one present are handed over in one call, when each of
 * them is the next of its layer. Presents of planes and flips of the primary alone keep the order
 * in which they came. O(layers) per present and per vertical sync, but for the walk over presents
 * that wait.
 */
#include <string.h>

#include "screens/planes_record.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

static struct plane_flip *of(struct list *node)
{
    return CONTAINER(CONTAINER(node, struct flip, link), struct plane_flip, flip);
}

UINT planes_most(const struct scanouts *scanouts)
{
    return scanouts->config.plane_form ? scanouts->config.planes : 0;
}

bool planes_third_form(const struct scanouts *scanouts)
{
    return scanouts->config.plane_form == 3;
}

/* ---- the end of a flip ---- */

static struct shown *shown_on(struct scanout *s, UINT layer)
{
    return layer ? &s->planes->plane[layer].now : &s->now;
}

static void finish(struct plane_flip *f, bool shown)
{
    struct scanouts *all = f->flip.scanout->all;

    scanout_trace_end(&f->flip, shown);
    list_push_back(&all->over, &f->flip.link);
    (void)sim_waitq_wake(&all->work, 1);
    (void)sim_waitq_wake(&all->news, UINT32_MAX);
}

static void show(struct scanout *s, struct plane_flip *f)
{
    struct plane *plane = &s->planes->plane[f->setting.layer];
    struct shown *now = shown_on(s, f->setting.layer);
    const struct shown before = *now;

    *now = f->flip.primary;
    f->flip.primary = before;
    plane->enabled = f->setting.enabled;
    plane->setting = f->setting;
    plane->setting.private_data = NULL;
    plane->latched = s->syncs;
    s->planes->shown = true;
    s->completed++;
    finish(f, true);
}

void planes_complete(struct scanout *s, UINT layer, UINT count)
{
    struct plane *plane = &s->planes->plane[layer];

    for (UINT i = 0; i < count; i++)
        show(s, plane->handed[i]);
    plane->handed_count -= count;
    memmove(plane->handed, plane->handed + count, plane->handed_count * sizeof(struct plane_flip *));
}

void planes_complete_all(struct scanout *s)
{
    for (UINT i = 0; s->planes && i < s->planes->count; i++)
        planes_complete(s, i, s->planes->plane[i].handed_count);
}

void planes_off(struct scanout *s)
{
    struct planes *planes = s->planes;

    if (!planes || !planes->shown)
        return;
    planes_complete_all(s);
    planes->shown = false;
    for (UINT i = 0; i < planes->count; i++) {
        planes->plane[i].enabled = false;
        planes->plane[i].stale |= i && planes->plane[i].now.allocation;
    }
    planes_expect_again(s);
    (void)sim_waitq_wake(&s->all->work, 1);
}

static bool take_handed(struct plane *plane, const struct plane_flip *f)
{
    for (UINT k = 0; k < plane->handed_count; k++)
        if (plane->handed[k] == f) {
            plane->handed_count--;
            memmove(plane->handed + k, plane->handed + k + 1,
                    (plane->handed_count - k) * sizeof(struct plane_flip *));
            return true;
        }
    return false;
}

void planes_drop_all(struct scanout *s)
{
    struct list *node;

    if (!s->planes)
        return;
    for (UINT i = 0; i < s->planes->count; i++) {
        struct plane *plane = &s->planes->plane[i];

        while (plane->handed_count)
            finish(plane->handed[--plane->handed_count], false);
    }
    while ((node = list_pop_front(&s->planes->waiting)) != NULL)
        finish(of(node), false);
    planes_expect_again(s);
}

/* ---- handing over ---- */

static NTSTATUS pin(struct plane_flip *f)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (f->flip.primary.allocation) {
        status = vidmm_scanout_pin(f->flip.primary.allocation, &f->flip.primary.where);
        f->flip.primary.pinned = NT_SUCCESS(status);
    }
    return status;
}

static void drop_moving(struct scanout *s)
{
    struct planes *planes = s->planes;
    const UINT count = planes->moving_count;

    planes->moving_count = 0;
    for (UINT i = 0; i < count; i++)
        finish(planes->moving[i], false);
    planes_expect_again(s);
}

static bool prepare(struct scanout *s)
{
    const struct planes *planes = s->planes;
    bool vsync = false;

    for (UINT i = 0; i < planes->moving_count; i++) {
        struct plane_flip *f = planes->moving[i];
        const NTSTATUS status = pin(f);

        if (!NT_SUCCESS(status)) {
            WARNING("PRES-081", "the primary of layer %u of source %u cannot be paged in: %s",
                    f->setting.layer, s->source, nt_status_text(status).text);
            return false;
        }
        vsync |= !plane_flip_is_immediate(s->all, f);
    }
    if (vsync)
        vsync_need(s); /* PRES-172 */
    return s->lit;
}

/* Those that the driver has at once, or has told to be so. */
static void complete_immediate(struct scanout *s, struct plane_flip **flip, UINT count)
{
    bool any = false;

    for (UINT i = 0; i < count; i++) {
        struct plane *plane = &s->planes->plane[flip[i]->setting.layer];
        UINT k = 0;

        while (k < plane->handed_count && plane->handed[k] != flip[i])
            k++;
        if (k == plane->handed_count)
            continue; /* a vertical sync has done so */
        if (!plane_flip_is_immediate(s->all, flip[i]) && !flip[i]->converted)
            continue;
        if (flip[i]->wants_post && s->planes->posts < PLANES_POSTS)
            s->planes->post[s->planes->posts++] = (struct plane_post){
                .layer = flip[i]->setting.layer, .mask = 1, .id = flip[i]->flip.id};
        planes_complete(s, flip[i]->setting.layer, k + 1); /* PRES-150 */
        any = true;
    }
    if (any)
        scanout_frame(s, SCREENS_FLIP);
}

static void hand_over(struct scanout *s)
{
    struct planes *planes = s->planes;
    struct plane_flip *flip[PLANES_MOST];
    UINT count;
    NTSTATUS status;

    if (!prepare(s)) {
        drop_moving(s);
        return;
    }
    count = planes->moving_count;
    planes->moving_count = 0;
    for (UINT i = 0; i < count; i++) {
        struct plane *plane = &planes->plane[planes->moving[i]->setting.layer];

        flip[i] = planes->moving[i];
        flip[i]->flip.id = ++plane->id; /* PRES-187 */
        flip[i]->flip.handed = sim_now();
        scanout_trace_begin(&flip[i]->flip);
        plane->handed[plane->handed_count++] = flip[i];
    }
    status = planes_call(s, flip, count);
    if (NT_SUCCESS(status)) {
        complete_immediate(s, flip, count);
        return;
    }
    for (UINT i = 0; i < count; i++) /* what it has shown all the same is over */
        for (UINT layer = 0; layer < planes->count; layer++)
            if (take_handed(&planes->plane[layer], flip[i]))
                finish(flip[i], false);
    planes_expect_again(s);
}

static bool interval_is_over(const struct scanout *s, const struct plane_flip *f)
{
    const UINT interval = f->setting.interval;

    return interval <= 1 || s->syncs + 1 >= s->planes->plane[f->setting.layer].latched + interval;
}

static UINT most_handed(const struct scanouts *all)
{
    return all->config.most_plane_flips ? all->config.most_plane_flips : all->config.most_flips;
}

/* A flip of the primary alone was queued before it, or is pending. */
static bool is_behind_plain(const struct scanout *s, const struct plane_flip *f)
{
    if (s->handed_count || s->moving)
        return true;
    LIST_FOR(node, &s->waiting)
        if (CONTAINER(node, struct flip, link)->order < f->flip.order)
            return true;
    return false;
}

enum when { NOW, LATER, AT_SYNC };

static enum when when(const struct scanout *s, const struct plane_flip *f, UINT held)
{
    if (!f->flip.ready || held & 1u << f->setting.layer || is_behind_plain(s, f) ||
        s->planes->plane[f->setting.layer].handed_count >= most_handed(s->all))
        return LATER;
    return interval_is_over(s, f) ? NOW : AT_SYNC;
}

/* The first present whose planes are all the next of their layers; `sync`: some wait for a vertical
 * sync alone. */
static struct list *find_next(struct scanout *s, bool *sync, uint64_t *until)
{
    struct planes *planes = s->planes;
    struct list *node = planes->waiting.next;
    UINT held = 0;

    while (node != &planes->waiting) {
        struct list *first = node;
        const uint64_t call = plane_flip_at(first)->call;
        enum when worst = NOW;
        UINT layers = 0;

        for (; node != &planes->waiting && plane_flip_at(node)->call == call; node = node->next) {
            const enum when one = when(s, plane_flip_at(node), held);

            layers |= 1u << plane_flip_at(node)->setting.layer;
            worst = one == LATER || worst == LATER ? LATER : one == AT_SYNC ? AT_SYNC : worst;
        }
        if (worst == NOW ||
            (worst == AT_SYNC && s->all->enabled && vsync_in_vain(s, &of(first)->flip, until)))
            return first;
        *sync |= worst == AT_SYNC;
        held |= layers;
    }
    return NULL;
}

static void take_call(struct scanout *s, struct list *first)
{
    struct planes *planes = s->planes;
    const uint64_t call = plane_flip_at(first)->call;

    planes->moving_count = 0;
    for (struct list *node = first; node != &planes->waiting && plane_flip_at(node)->call == call;) {
        struct list *following = node->next;

        list_remove(node);
        planes->moving[planes->moving_count++] = of(node);
        node = following;
    }
}

/* PRES-248: nobody sees it. Of what it shows the primary stays, for when the display is lit. */
static bool skip_dark(struct scanout *s, struct list *first, uint64_t *until)
{
    struct plane_flip *head = of(first);
    uint64_t due;

    if (!head->flip.handed)
        head->flip.handed = sim_now();
    due = head->flip.handed + vsync_period(s);
    if (sim_now() < due) {
        if (*until > due)
            *until = due;
        return false;
    }
    take_call(s, first);
    for (UINT i = 0; i < s->planes->moving_count; i++) {
        struct plane_flip *f = s->planes->moving[i];

        if (f->setting.layer == 0 && f->setting.enabled)
            show(s, f);
        else
            finish(f, true);
    }
    s->planes->moving_count = 0;
    s->planes->shown = false;
    return true;
}

/* PRES-256: no vertical sync has completed the oldest of the layer. */
static void give_up(struct scanout *s, UINT layer)
{
    const struct flip *flip = &s->planes->plane[layer].handed[0]->flip;
    const bool by_id = planes_third_form(s->all), reset = flip_ask_reset(s);

    if (!s->all->config.modes->ddi->gone)
        WARNING("PRES-256",
                "record 0x117: no vertical sync of target 0x%x with the %s 0x%llx of layer %u was "
                "reported within %llu ms of the flip of source %u; %s",
                s->target, by_id ? "PresentId" : "address",
                (unsigned long long)(by_id ? flip->id : flip->primary.where.address), layer,
                (unsigned long long)(s->all->config.limit_ns / 1000000), s->source,
                reset ? "the adapter is reset" : "it counts as shown");
    if (!reset)
        planes_complete(s, layer, 1);
}

static bool give_up_overdue(struct scanout *s, uint64_t *until)
{
    for (UINT i = 0; i < s->planes->count && !s->all->resetting; i++) {
        const struct plane *plane = &s->planes->plane[i];
        uint64_t deadline;

        if (!plane->handed_count)
            continue;
        deadline = plane->handed[0]->flip.handed + s->all->config.limit_ns;
        if (sim_now() >= deadline) {
            give_up(s, i);
            return true;
        }
        if (deadline < *until)
            *until = deadline;
    }
    return false;
}

static bool release_stale(struct scanout *s)
{
    for (UINT i = 1; i < s->planes->count; i++) {
        struct plane *plane = &s->planes->plane[i];

        if (!plane->stale)
            continue;
        plane->stale = false;
        flip_release(&plane->now);
        (void)sim_waitq_wake(&s->all->news, UINT32_MAX);
        return true;
    }
    return false;
}

static bool call_post(struct scanout *s)
{
    struct planes *planes = s->planes;
    struct plane_post post;

    if (!planes->posts)
        return false;
    post = planes->post[0];
    planes->posts--;
    memmove(planes->post, planes->post + 1, planes->posts * sizeof(post));
    planes_call_post(s, &post);
    return true;
}

bool planes_step(struct scanout *s, uint64_t *until)
{
    struct list *next;
    bool sync = false;

    if (!s->planes)
        return false;
    if (call_post(s) || release_stale(s) || give_up_overdue(s, until))
        return true;
    next = find_next(s, &sync, until);
    if (!next && sync && !s->all->enabled && !s->all->config.modes->asleep) {
        vsync_control(s->all, true);
        return true;
    }
    if (!next)
        return false;
    if (!s->lit || !s->all->config.modes->source[s->source].visible)
        return skip_dark(s, next, until);
    take_call(s, next);
    hand_over(s);
    return true;
}

bool planes_let(const struct scanout *s, const struct flip *flip)
{
    if (!s->planes)
        return true;
    for (UINT i = 0; i < s->planes->count; i++)
        if (s->planes->plane[i].handed_count)
            return false;
    LIST_FOR(node, &s->planes->waiting)
        if (plane_flip_at(node)->flip.order < flip->order)
            return false;
    return true;
}

/* ---- the end of a client ---- */

void planes_drop_waiting_of(struct scanout *s, const struct vidmm_device *device)
{
    if (!s->planes)
        return;
    LIST_FOR_SAFE(node, following, &s->planes->waiting) {
        struct plane_flip *f = of(node);

        if (f->flip.device != device)
            continue;
        list_remove(node);
        finish(f, false);
    }
    planes_expect_again(s);
}

/* ---- life ---- */

bool planes_create(struct scanout *s, UINT count)
{
    struct planes *planes = util_zalloc(1, sizeof(*planes));

    if (!planes)
        return false;
    s->planes = planes;
    list_init(&planes->waiting);
    list_init(&planes->answers);
    planes->count = count;
    planes->plane = util_zalloc(count, sizeof(*planes->plane));
    planes_will_end(s);
    return planes->plane != NULL;
}

void planes_destroy(struct scanout *s)
{
    struct list *node;

    if (!s->planes)
        return;
    while ((node = list_pop_front(&s->planes->answers)) != NULL)
        util_free(CONTAINER(node, struct plane_answer, link));
    for (UINT i = 1; s->planes->plane && i < s->planes->count; i++)
        flip_release(&s->planes->plane[i].now);
    util_free(s->planes->plane);
    util_free(s->planes);
    s->planes = NULL;
}
