/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ddi/entries_display.h"
#include "modes/display_worker.h"
#include "nt/base/status_name.h"
#include "nt/ke/deadlock.h"
#include "screens/screen.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define SECOND        UINT64_C(1000000000)
#define DEFAULT_LIMIT (2 * SECOND)

/* ---- one present ---- */

static void tell_frame(const struct screens *screens, const struct screen *s)
{
    const struct screens_frame frame = {.source = s->source,
                                        .number = s->completed,
                                        .cause = s->sent_anew ? SCREENS_MODE : SCREENS_PRESENT,
                                        .rectangle = s->changed.rect,
                                        .rectangles = s->changed.count};

    if (screens->config.frame)
        screens->config.frame(screens->config.frame_context, &frame);
}

void screen_complete(struct screens *screens, struct screen *s, bool shown)
{
    s->outstanding = false;
    if (trace_current)
        trace_record('E', screens->config.modes->source[s->source].track, "present", 0, "shown",
                     shown, NULL, 0);
    if (shown)
        screen_compare(screens, s);
    pointer_unmerge(s);
    if (shown) {
        s->completed++;
        tell_frame(screens, s);
    } else {
        s->anew |= s->sent_anew;
        region_add_all(&s->dirty,
                       &s->changed); /* PRES-219, PRES-220: the next present covers it again */
    }
    (void)sim_waitq_wake(&screens->news, UINT32_MAX);
    (void)sim_waitq_wake(&screens->work, 1);
}

/* PRES-219: each status once in a mode. */
static void warn_once(const struct screens *screens, struct screen *s, NTSTATUS status)
{
    for (unsigned i = 0; i < s->warnings; i++)
        if (s->warned[i] == status)
            return;
    if (screens->config.modes->ddi->gone)
        return;
    if (s->warnings < SCREEN_STATUSES)
        s->warned[s->warnings++] = status;
    WARNING("PRES-219", "DxgkDdiPresentDisplayOnly returned %s for source %u",
            nt_status_text(status).text, s->source);
}

static void judge(struct screens *screens, struct screen *s, NTSTATUS status)
{
    if (status == STATUS_PENDING && !screens->config.reports) {
        VIOLATION("PRES-212",
                  "DxgkDdiPresentDisplayOnly returned STATUS_PENDING, of a driver without a service "
                  "routine and a DPC");
        status = STATUS_SUCCESS;
    }
    if (status == STATUS_PENDING) { /* PRES-215: the DPC may have come already */
        if (s->told != NOTHING_YET)
            screen_complete(screens, s, s->told == COMPLETE);
        return;
    }
    if (s->reported != NOTHING_YET)
        VIOLATION("PRES-215",
                  "progress of a present was reported, but DxgkDdiPresentDisplayOnly returned %s",
                  nt_status_text(status).text);
    if (status != STATUS_SUCCESS)
        warn_once(screens, s, status);
    if (!NT_SUCCESS(status)) {
        s->failure = status;
        s->after = blank_after(s, sim_now());
    }
    screen_complete(screens, s, NT_SUCCESS(status));
}

static void trace_present(const struct screens *screens, const struct screen *s)
{
    const RECT box = region_box(&s->sent);

    if (!trace_current)
        return;
    trace_record('B', screens->config.modes->source[s->source].track, "present", 0, "source",
                 s->source, "rectangles", s->sent.count);
    trace_more("left", (uint32_t)box.left, "top", (uint32_t)box.top);
    trace_more("right", (uint32_t)box.right, "bottom", (uint32_t)box.bottom);
    trace_more("width", s->image.width, "height", s->image.height);
    trace_more("format", s->image.format, "frame", s->completed + 1);
    if (s->move_count)
        trace_more("moves", s->move_count, NULL, 0);
}

static void present(struct screens *screens, struct screen *s)
{
    DXGKARG_PRESENT_DISPLAYONLY args;
    NTSTATUS status;

    s->sent = s->changed = s->dirty;
    for (UINT i = 0; i < s->move_count; i++)
        region_add(&s->changed, &s->move[i].DestRect);
    s->sent_anew = s->anew;
    s->anew = false;
    s->due = false;
    region_clear(&s->dirty);
    s->failure = STATUS_SUCCESS;
    s->outstanding = s->calling = true;
    s->reported = s->told = NOTHING_YET;
    s->late = false;
    s->deadline = sim_now() + screens->config.limit_ns;
    s->after = blank_after(s, sim_now());
    trace_present(screens, s);
    pointer_merge(screens, s);
    memset(&args, 0, sizeof(args));
    args.VidPnSourceId = s->source;
    args.pSource = s->shown;
    args.BytesPerPixel = SCREEN_BYTES;
    args.Pitch = (LONG)s->image.pitch;
    args.Flags.Rotate = s->rotated;
    args.NumMoves = s->move_count;
    args.pMoves = s->move_count ? s->move : NULL;
    args.NumDirtyRects = s->sent.count;
    args.pDirtyRect = s->sent.count ? s->sent.rect : NULL;
    moves_forget(s);
    status = ddi_present_display_only(screens->config.modes->ddi, &args);
    s->calling = false;
    judge(screens, s, status);
}

/* The driver is to be started again; what is outstanding is no more. */
static void lose(struct screens *screens)
{
    screens->lost = true;
    for (UINT i = 0; i < screens->config.modes->sources; i++) {
        struct screen *s = &screens->screen[i];

        if (!s->outstanding)
            continue;
        s->late = true;
        screen_complete(screens, s, false);
    }
    screens->restarted = false;
    display_worker_lost(screens->config.modes);
}

/* PRES-218 */
static void give_up(struct screens *screens, struct screen *s)
{
    const RECT box = region_box(&s->sent);
    const uint64_t called = s->deadline - screens->config.limit_ns;

    if (screens->config.modes->ddi->gone) { /* nobody is left to report it */
        screen_complete(screens, s, false);
        return;
    }
    VIOLATION("PRES-218",
              "a present of source %u, of %d x %d pixels in %u rectangles, was not reported "
              "complete within %llu ms; the driver got it at %llu.%06u ms",
              s->source, (int)(box.right - box.left), (int)(box.bottom - box.top), s->sent.count,
              (unsigned long long)(screens->config.limit_ns / 1000000),
              (unsigned long long)(called / 1000000), (unsigned)(called % 1000000));
    nt_deadlock_describe(); /* PRES-329 */
    lose(screens);
}

bool screens_lose(struct screens *screens)
{
    if (screens->stop || screens->config.modes->ended)
        return false;
    screens->users++;
    lose(screens);
    while (screens->lost && !screens->stop && !sim_current->stopped)
        (void)sim_waitq_wait(&screens->news, SIM_FOREVER);
    screens_leave(screens);
    return true;
}

void screens_removed(struct screens *screens)
{
    screens->removed = true;
    for (UINT i = 0; i < screens->config.modes->sources; i++)
        if (screens->screen[i].outstanding && !screens->screen[i].calling)
            screen_complete(screens, &screens->screen[i], false);
    blanks_wake(screens);
}

void screens_restarted(struct screens *screens)
{
    screens->restarted = true;
    blanks_restarted(screens);
}

void screens_recovered(struct screens *screens)
{
    screens->lost = false;
    (void)sim_waitq_wake(&screens->news, UINT32_MAX);
    (void)sim_waitq_wake(&screens->work, 1);
}

/* ---- the presenter ---- */

static bool may_present(const struct screens *screens, const struct screen *s)
{
    return s->due && s->visible && s->lit && s->frame && !s->outstanding && !screens->lost &&
           !screens->removed;
}

/* Present one source, or find until when there is nothing to do. */
static bool step(struct screens *screens, uint64_t *until)
{
    const uint64_t now = sim_now();
    bool done, lost = false;

    *until = SIM_FOREVER;
    for (UINT i = 0; i < screens->config.modes->sources; i++) {
        struct screen *s = &screens->screen[i];

        if (s->outstanding && !s->calling && now >= s->deadline)
            give_up(screens, s);
        if (s->outstanding && !s->calling && s->deadline < *until)
            *until = s->deadline;
        if (!may_present(screens, s))
            continue;
        if (screens->config.unpaced || now >= s->after) {
            present(screens, s);
            return true;
        }
        if (s->after < *until)
            *until = s->after;
    }
    done = blanks_step(screens, until, &lost);
    if (lost)
        lose(screens);
    return done;
}

static void presenter_main(void *arg)
{
    struct screens *screens = arg;
    uint64_t until;

    while (!screens->stop)
        if (!step(screens, &until) && !screens->stop)
            (void)sim_waitq_wait(&screens->work, until);
    screens->ended = true;
    (void)sim_waitq_wake(&screens->news, UINT32_MAX);
}

/* ---- the viewer ---- */

static void wait_idle(struct screens *screens, const struct screen *s)
{
    while (s->outstanding && !sim_current->stopped)
        (void)sim_waitq_wait(&screens->news, SIM_FOREVER);
}

static void rests(void *context, UINT source)
{
    struct screens *screens = context;
    struct screen *s = &screens->screen[source];

    s->visible = false;
    (void)sim_waitq_wake(&screens->news, UINT32_MAX);
    wait_idle(screens, s);
}

static void ends(void *context, UINT source)
{
    struct screens *screens = context;

    rests(screens, source);
    pointer_leave(screens, &screens->screen[source]);
}

static bool has_shown(const struct modes *modes)
{
    for (UINT i = 0; i < modes->sources; i++)
        if (modes->source[i].shown)
            return true;
    return false;
}

static void begins(void *context, UINT source)
{
    struct screens *screens = context;

    if (screens->config.first && !has_shown(screens->config.modes))
        screens->config.first(screens->config.scanned_context);
    screen_renew(screens, &screens->screen[source]);
    (void)sim_waitq_wake(&screens->news, UINT32_MAX);
}

/* PRES-222: the whole picture. */
static void visible(void *context, UINT source)
{
    struct screens *screens = context;
    struct screen *s = &screens->screen[source];

    pointer_return(screens, s);
    s->visible = true;
    screens->lost &= !screens->restarted;
    if (s->frame) {
        const RECT all = screen_whole(s);

        s->anew = true;
        moves_forget(s);
        screen_add_dirty(s, &all);
    }
    (void)sim_waitq_wake(&screens->work, 1);
}

static void hidden(void *context, UINT source)
{
    const struct screens *screens = context;

    if (screens->config.hidden)
        screens->config.hidden(screens->config.scanned_context, source);
}

static void settled(void *context)
{
    struct screens *screens = context;

    (void)sim_waitq_wake(&screens->news, UINT32_MAX);
}

/* ---- who draws ---- */

bool screens_draw(struct screens *screens, UINT source, struct screens_image *image)
{
    struct screen *s = &screens->screen[source];

    if (source >= screens->config.modes->sources || screens->stop)
        return false;
    screens->users++;
    while (s->outstanding && !screens->stop && !sim_current->stopped)
        (void)sim_waitq_wait(&screens->news, SIM_FOREVER);
    if (!s->frame && s->lit && !screens->stop) { /* there was no memory for it */
        screen_renew(screens, s);
        if (s->frame && s->visible)
            visible(screens, source);
    }
    if (s->frame && !screens->stop)
        *image = s->image;
    else
        image->pixels = NULL;
    screens_leave(screens);
    return image->pixels != NULL;
}

void screens_drawn(struct screens *screens, UINT source, const RECT *changed)
{
    screen_add_dirty(&screens->screen[source], changed);
    (void)sim_waitq_wake(&screens->work, 1);
}

void screens_redraw(struct screens *screens, UINT source)
{
    struct screen *s = &screens->screen[source];
    const RECT all = screen_whole(s);

    moves_forget(s);
    screen_add_dirty(s, &all);
    (void)sim_waitq_wake(&screens->work, 1);
}

bool screens_settle(struct screens *screens, UINT source)
{
    const struct screen *s = &screens->screen[source];
    bool shown;

    if (source >= screens->config.modes->sources || screens->stop)
        return false;
    screens->users++;
    while (!sim_current->stopped && !screens->stop &&
           (s->outstanding || screens->lost || may_present(screens, s) ||
            display_worker_busy(screens->config.modes)))
        (void)sim_waitq_wait(&screens->news, SIM_FOREVER);
    shown = !screens->stop && !screens->removed && s->frame && s->lit && s->visible &&
            region_empty(&s->dirty) && !s->move_count;
    screens_leave(screens);
    return shown;
}

NTSTATUS screens_failure(const struct screens *screens, UINT source)
{
    return source < MODES_MAX_SOURCES ? screens->screen[source].failure : STATUS_SUCCESS;
}

uint64_t screens_frames(const struct screens *screens, UINT source)
{
    return source < MODES_MAX_SOURCES ? screens->screen[source].completed : 0;
}

/* ---- life ---- */

struct screens *screens_create(const struct screens_config *config)
{
    struct screens *screens = util_zalloc(1, sizeof(*screens));

    if (!screens)
        return NULL;
    screens->config = *config;
    if (!screens->config.limit_ns)
        screens->config.limit_ns = DEFAULT_LIMIT;
    if (!screens->config.sync_limit_ns)
        screens->config.sync_limit_ns = DEFAULT_LIMIT;
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++) {
        screens->screen[i].source = i;
        list_init(&screens->screen[i].watches);
    }
    sim_mutex_init(&screens->pointer.lock);
    sim_waitq_init(&screens->work);
    sim_waitq_init(&screens->news);
    screens->presenter = sim_thread_create("presenter", SIM_THREAD_KERNEL, presenter_main, screens);
    if (!screens->presenter) {
        util_free(screens);
        return NULL;
    }
    config->modes->viewer = (struct modes_viewer){.rests = rests,
                                                  .ends = ends,
                                                  .begins = begins,
                                                  .visible = visible,
                                                  .hidden = hidden,
                                                  .settled = settled,
                                                  .context = screens};
    return screens;
}

void screens_destroy(struct screens *screens)
{
    if (!screens)
        return;
    screens->config.modes->viewer = (struct modes_viewer){0};
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++) { /* PRES-206: the driver reads the image */
        screens->screen[i].visible = false;
        wait_idle(screens, &screens->screen[i]);
    }
    screens->stop = true;
    (void)sim_waitq_wake(&screens->work, 1);
    blanks_wake(screens);
    while ((!screens->ended || screens->users) && !sim_current->stopped)
        (void)sim_waitq_wait(&screens->news, SIM_FOREVER);
    sim_thread_release(screens->presenter);
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++) {
        screen_free(screens, &screens->screen[i]);
        pointer_under_free(&screens->screen[i].pointer.under);
    }
    pointer_shape_free(&screens->pointer.shape);
    pointer_shape_free(&screens->pointer.fitted);
    util_free(screens);
}
