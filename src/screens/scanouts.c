/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ddi/entries_display.h"
#include "modes/mode_check.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "ddi/entries_planes.h"
#include "screens/planes_record.h"
#include "screens/scanout_pointer.h"
#include "screens/source_mode.h"
#include "screens/vertical.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define DEFAULT_LIMIT UINT64_C(2000000000)

/* ---- primaries of modes ---- */

static bool serves(const struct primary *primary, const D3DKMDT_SHAREDPRIMARYSURFACEDATA *surface)
{
    return primary && primary->surface.Width == surface->Width &&
           primary->surface.Height == surface->Height && primary->surface.Format == surface->Format;
}

/* What a client shows comes back with the display, unless a reset has taken it. */
static NTSTATUS return_shown(struct scanout *s)
{
    if (s->lost) {
        flip_release(&s->now);
        (void)sim_waitq_wake(&s->all->news, UINT32_MAX); /* whose it was may leave */
    }
    s->lost = false;
    if (!s->now.allocation)
        return STATUS_SUCCESS;
    if (s->now.pinned)
        return vidmm_scanout_place(s->now.allocation, &s->now.where);
    s->now.pinned = NT_SUCCESS(vidmm_scanout_pin(s->now.allocation, &s->now.where));
    return s->now.pinned ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

/* PRES-061: also of a mode that the source has already, or had before its display was turned
 * off. */
static NTSTATUS prepare(void *context, const struct vidpn *vidpn, UINT source)
{
    struct scanouts *scanouts = context;
    struct scanout *s = &scanouts->source[source];
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = source_mode(vidpn, source);
    D3DKMDT_SHAREDPRIMARYSURFACEDATA surface;

    if (!mode) {
        copy_hold(s); /* PRES-112 */
        return STATUS_SUCCESS;
    }
    surface = (D3DKMDT_SHAREDPRIMARYSURFACEDATA){
        .Width = mode->Format.Graphics.PrimSurfSize.cx,
        .Height = mode->Format.Graphics.PrimSurfSize.cy,
        .Format = mode->Format.Graphics.PixelFormat,
        .RefreshRate = source_rate(vidpn, vidpn_path_from(vidpn, source, 0)),
        .VidPnSourceId = source};
    s->next_for = vidpn;
    if (!serves(s->shared, &surface)) {
        copy_hold(s); /* PRES-112 */
        return primary_create(scanouts->config.device, &surface, &s->next);
    }
    s->next = s->shared;
    (void)return_shown(s); /* else the shared one is shown */
    return primary_return(s->shared);
}

/* What is shown in this VidPN: a client's primary only in the mode that it was flipped in. */
static const struct vidmm_scanout *shown_in(const struct scanout *s, const struct vidpn *vidpn)
{
    const struct primary *const shared = s->next && s->next_for == vidpn ? s->next : s->shared;

    if (!shared)
        return NULL;
    return s->now.pinned && shared == s->shared ? &s->now.where : &shared->where;
}

static HANDLE primary(void *context, const struct vidpn *vidpn, UINT source)
{
    const struct scanouts *scanouts = context;
    const struct vidmm_scanout *where = shown_in(&scanouts->source[source], vidpn);

    return where ? where->allocation : NULL;
}

static NTSTATUS set_address(struct scanout *s, const struct vidmm_scanout *where)
{
    DXGKARG_SETVIDPNSOURCEADDRESS args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.VidPnSourceId = s->source;
    args.PrimarySegment = where->segment;
    args.PrimaryAddress.QuadPart = (LONGLONG)where->address;
    args.hAllocation = where->allocation;
    args.Flags.ModeChange = 1;
    s->addressed = true;
    planes_will_end(s);
    if (!ddi_has(s->all->config.modes->ddi, DxgkDdiSetVidPnSourceAddress))
        return planes_call_plain(s, where, NULL);
    status = ddi_set_vidpn_source_address(s->all->config.modes->ddi, &args);
    return NT_SUCCESS(status) ? status
                              : refuse(status, "PRES-132",
                                       "DxgkDdiSetVidPnSourceAddress returned %s for source %u",
                                       nt_status_text(status).text, s->source);
}

static NTSTATUS address(void *context, const struct vidpn *vidpn, UINT source)
{
    struct scanouts *scanouts = context;
    struct scanout *s = &scanouts->source[source];
    const struct vidmm_scanout *where = shown_in(s, vidpn);

    return where ? set_address(s, where) : STATUS_SUCCESS;
}

/* What was flipped to was for the mode that is over. */
static void leave_mode(struct scanout *s)
{
    s->modes++;
    copy_end_flips(s);
    flip_drop_all(s);
    planes_drop_all(s);
    flip_release(&s->now);
}

static void settle(void *context, UINT source, bool committed, bool keep)
{
    struct scanouts *scanouts = context;
    struct scanout *s = &scanouts->source[source];
    struct primary *const shared = s->shared, *const next = s->next;
    struct primary *const stays = !committed || (!next && keep) ? shared : next;

    if (shared && !stays)
        leave_mode(s);
    s->shared = stays; /* nobody finds the others any more while they end */
    s->next = NULL;
    s->next_for = NULL;
    if (shared != stays)
        primary_destroy(shared);
    if (next != stays)
        primary_destroy(next);
    copy_go_on(s);
    if (s->anew)
        scanout_frame(s, SCREENS_MODE);
    s->anew = false;
}

/* ---- the other calls of the modes ---- */

/* No vertical sync comes any more: what is handed over is what is shown last. */
static void ends(void *context, UINT source)
{
    struct scanouts *scanouts = context;
    struct scanout *s = &scanouts->source[source];

    while (s->calling && !sim_current->stopped)
        sim_block(sim_now() + 1, NULL);
    scanout_pointer_leave(s);
    s->lit = s->addressed = false;
    flip_complete(s, s->handed_count);
    planes_complete_all(s);
    planes_off(s);
    planes_forget_answers(scanouts);
}

static void begins(void *context, UINT source)
{
    struct scanouts *scanouts = context;
    const struct vidpn *vidpn = scanouts->config.modes->active;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(vidpn, source, 0);
    struct scanout *s = &scanouts->source[source];

    s->lit = path && source_mode(vidpn, source);
    if (!s->lit)
        return;
    s->commits++;
    if (s->shared && s->next != s->shared && s->next_for == vidpn)
        leave_mode(s); /* from now on, before work goes on, flips are for the next one */
    s->addressed = true;
    s->early = false;
    s->target = path->VidPnTargetId;
    s->rate = source_rate(vidpn, path);
    s->silent = s->off_grid = false;
    s->window = 0;
    s->watched = sim_now();
}

static void visible(void *context, UINT source)
{
    struct scanouts *scanouts = context;
    struct scanout *s = &scanouts->source[source];

    planes_off(s);
    s->anew = s->next != NULL; /* it is in force when the commit is over */
    if (!s->anew)
        scanout_frame(s, SCREENS_MODE);
    scanout_pointer_return(s);
    s->watched = sim_now();
    (void)sim_waitq_wake(&scanouts->work, 1);
}

static bool hold_pointer(void *context, bool wait)
{
    return scanout_pointer_hold(context, wait);
}

static void let_pointer_go(void *context)
{
    scanout_pointer_let_go(context);
}

/* ---- clients ---- */

UINT scanouts_segment(const struct scanouts *scanouts, UINT source)
{
    const struct scanout *s = &scanouts->source[source];

    return !s->lit ? 0 : s->now.allocation ? s->now.where.segment : s->shared->where.segment;
}

uint64_t scanouts_flips(const struct scanouts *scanouts, UINT source)
{
    return source < MODES_MAX_SOURCES ? scanouts->source[source].completed : 0;
}

uint64_t scanouts_modes(const struct scanouts *scanouts, UINT source)
{
    return scanouts->source[source].modes;
}

const struct vidmm_device *scanouts_owner(const struct scanouts *scanouts, UINT source,
                                          D3DKMT_VIDPNSOURCEOWNER_TYPE *type)
{
    *type = scanouts->source[source].owner_type;
    return scanouts->source[source].owner;
}

void scanouts_set_owner(struct scanouts *scanouts, UINT source, const struct vidmm_device *device,
                        D3DKMT_VIDPNSOURCEOWNER_TYPE type)
{
    scanouts->source[source].owner = device;
    scanouts->source[source].owner_type = type;
}

bool scanouts_attribute(const struct scanouts *scanouts, UINT source, UINT *attribute)
{
    const struct scanout *s = &scanouts->source[source];

    *attribute = s->attribute;
    return s->now.allocation != NULL;
}

void scanouts_set_attribute(struct scanouts *scanouts, UINT source, UINT attribute)
{
    scanouts->source[source].attribute = attribute;
}

bool scanouts_shared(const struct scanouts *scanouts, UINT source, struct vidmm_device **device,
                     D3DKMT_HANDLE *resource)
{
    const struct primary *shared = scanouts->source[source].shared;

    *device = shared ? shared->device : NULL;
    *resource = shared ? shared->resource : 0;
    return shared != NULL;
}

NTSTATUS scanouts_show(struct scanouts *scanouts, UINT source, struct vidmm_device *device,
                       D3DKMT_HANDLE allocation)
{
    struct scanout *s = &scanouts->source[source];
    struct shown next = {.allocation = vidmm_scanout_get(device, allocation),
                         .device = device,
                         .handle = allocation};
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (!next.allocation)
        return status;
    copy_hold(s); /* PRES-112 */
    status = vidmm_scanout_pin(next.allocation, &next.where);
    next.pinned = NT_SUCCESS(status);
    if (NT_SUCCESS(status))
        status = modes_still(scanouts->config.modes, "DxgkDdiSetVidPnSourceAddress");
    if (NT_SUCCESS(status)) {
        copy_end_flips(s);
        flip_drop_all(s);
        planes_drop_all(s);
        status = set_address(s, &next.where);
        modes_go_on(scanouts->config.modes);
        planes_off(s);
    }
    if (NT_SUCCESS(status)) {
        const struct shown before = s->now;

        s->now = next;
        next = before;
        scanout_frame(s, SCREENS_MODE);
    }
    flip_release(&next);
    copy_go_on(s);
    return status;
}

void scanouts_reset(struct scanouts *scanouts)
{
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++) {
        struct scanout *s = &scanouts->source[i];

        flip_drop_all(s);
        s->pointer = (struct pointer_told){.known = false};
        planes_drop_all(s);
        planes_off(s);
        s->lost = true;
        s->modes++;
        s->reports = false; /* PRES-172, as below */
        s->blanks = 0;
    }
    scanouts->enabled = scanouts->keeps = scanouts->resetting = false; /* PRES-172 */
}

void scanouts_removed(struct scanouts *scanouts)
{
    scanouts->removed = true;
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++) {
        flip_drop_all(&scanouts->source[i]);
        planes_drop_all(&scanouts->source[i]);
    }
    (void)sim_waitq_wake(&scanouts->news, UINT32_MAX);
    vertical_stop(scanouts);
}

/* ---- what is seen ---- */

bool scanouts_look(struct scanouts *scanouts, UINT source, struct scanouts_picture *picture)
{
    struct scanout *s = &scanouts->source[source];
    struct vidmm_allocation *shown;
    uint64_t bytes;

    if (!s->shared)
        return false;
    if (s->planes && s->planes->shown)
        return planes_compose(s, picture);
    shown = s->now.allocation ? s->now.allocation : s->shared->allocation;
    picture->width = s->shared->surface.Width;
    picture->height = s->shared->surface.Height;
    picture->format = s->shared->surface.Format;
    picture->pitch = scanout_pitch(picture->width * mode_pixel_bytes(picture->format),
                                   picture->height, vidmm_scanout_bytes(shown));
    bytes = (uint64_t)picture->pitch * picture->height;
    util_free(s->copy);
    s->copy = util_alloc(bytes);
    picture->pixels = s->copy;
    return s->copy && vidmm_scanout_read(shown, s->copy, bytes);
}

/* ---- life ---- */

static void flipper_main(void *arg)
{
    struct scanouts *scanouts = arg;
    uint64_t until;

    while (!scanouts->stop)
        if (!flip_step(scanouts, &until) && !scanouts->stop)
            (void)sim_waitq_wait(&scanouts->work, until);
    scanouts->ended = true;
    (void)sim_waitq_wake(&scanouts->news, UINT32_MAX);
}

static void end_planes(struct scanouts *scanouts)
{
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++)
        planes_destroy(&scanouts->source[i]);
}

static bool make_planes(struct scanouts *scanouts)
{
    const struct scanouts_config *config = &scanouts->config;
    bool good = true;

    for (UINT i = 0; config->plane_form && good && i < config->modes->sources; i++)
        good = planes_create(&scanouts->source[i], config->planes);
    return good;
}

struct scanouts *scanouts_create(const struct scanouts_config *config)
{
    struct scanouts *scanouts = util_zalloc(1, sizeof(*scanouts));

    if (!scanouts)
        return NULL;
    scanouts->config = *config;
    if (!scanouts->config.limit_ns)
        scanouts->config.limit_ns = DEFAULT_LIMIT;
    list_init(&scanouts->over);
    list_init(&scanouts->presenters);
    list_init(&scanouts->waits);
    sim_waitq_init(&scanouts->work);
    sim_waitq_init(&scanouts->news);
    sim_mutex_init(&scanouts->pointer.lock);
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++) {
        scanouts->source[i].all = scanouts;
        scanouts->source[i].source = i;
        list_init(&scanouts->source[i].waiting);
        list_init(&scanouts->source[i].copies);
        list_init(&scanouts->source[i].watches);
    }
    if (!make_planes(scanouts)) {
        end_planes(scanouts);
        util_free(scanouts);
        return NULL;
    }
    scanouts->flipper = sim_thread_create("flipper", SIM_THREAD_KERNEL, flipper_main, scanouts);
    if (!scanouts->flipper) {
        end_planes(scanouts);
        util_free(scanouts);
        return NULL;
    }
    config->modes->viewer = (struct modes_viewer){.ends = ends,
                                                  .begins = begins,
                                                  .visible = visible,
                                                  .hold_pointer = hold_pointer,
                                                  .let_pointer_go = let_pointer_go,
                                                  .prepare = prepare,
                                                  .primary = primary,
                                                  .address = address,
                                                  .settle = settle,
                                                  .context = scanouts};
    return scanouts;
}

static void end_source(struct scanout *s)
{
    copy_forget_all(s);
    flip_drop_all(s);
    planes_drop_all(s);
    planes_destroy(s);
    flip_release(&s->now);
    primary_destroy(s->shared);
    util_free(s->copy);
}

void scanouts_destroy(struct scanouts *scanouts)
{
    uint64_t until;

    if (!scanouts)
        return;
    scanouts->config.modes->viewer = (struct modes_viewer){0};
    scanouts_sleep(scanouts); /* PRES-172 */
    scanouts->stop = true;
    (void)sim_waitq_wake(&scanouts->work, 1);
    (void)sim_waitq_wake(&scanouts->news, UINT32_MAX);
    vertical_stop(scanouts);
    while ((!scanouts->ended || scanouts->users) && !sim_current->stopped)
        (void)sim_waitq_wait(&scanouts->news, SIM_FOREVER);
    sim_thread_release(scanouts->flipper);
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++) {
        scanouts->source[i].lit = false;
        end_source(&scanouts->source[i]);
    }
    while (!list_empty(&scanouts->over))
        (void)flip_step(scanouts, &until);
    pointer_shape_free(&scanouts->pointer.shape);
    pointer_shape_free(&scanouts->pointer.fitted);
    vertical_forget(scanouts, NULL);
    util_free(scanouts);
}
