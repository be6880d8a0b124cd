/* SPDX-License-Identifier: MIT */
/*
 * Flips of a full driver (PRES-119 to PRES-154). Each source has a queue in two parts:
 *
 *   waiting   first in, first out; only its head moves: when the GPU work before it is done, its
 *             interval is over, and the hardware has room
 *   handed    at most MaxQueuedFlipOnVSync of them, whose address the driver has been given; a
 *             vertical sync with the address of one completes it and those before it
 *
 * O(1) per flip and per vertical sync, but for the comparison with what is handed over, usually
 * one. One thread of the adapter hands over, as that pages in and enables vertical syncs.
 */
#include <string.h>

#include "ddi/entries_display.h"
#include "nt/base/status_name.h"
#include "screens/planes_record.h"
#include "screens/vertical.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

/* ---- what is shown ---- */

static bool is_away(const struct scanout *s, const struct flip *flip)
{
    return flip->primary.allocation != s->now.allocation;
}

static bool leaves(const struct scanout *s)
{
    if (s->moving && is_away(s, s->moving))
        return true;
    for (UINT i = 0; i < s->handed_count; i++)
        if (is_away(s, s->handed[i]))
            return true;
    LIST_FOR(node, &s->waiting)
        if (is_away(s, CONTAINER(node, struct flip, link)))
            return true;
    return false;
}

void flip_mark(struct scanout *s)
{
    const bool away = leaves(s), of_shared = away && !s->now.allocation && s->shared;

    if (s->now.allocation && s->now.leaves != away) {
        s->now.leaves = away;
        vidmm_scanout_leaves(s->now.allocation, away);
    }
    if (s->shared && s->shared_leaves != of_shared) {
        s->shared_leaves = of_shared;
        vidmm_scanout_leaves(s->shared->allocation, of_shared);
    }
}

/* What `flip` has shown up to now is over; its record carries that to the thread. */
static void finish(struct flip *flip)
{
    scanout_trace_end(flip, false);
    list_push_back(&flip->scanout->all->over, &flip->link);
    (void)sim_waitq_wake(&flip->scanout->all->work, 1);
    (void)sim_waitq_wake(&flip->scanout->all->news, UINT32_MAX);
}

static void show(struct scanout *s, struct flip *flip)
{
    const struct shown before = s->now;

    s->now = flip->primary;
    flip->primary = before;
    shown_stays(&flip->primary);
    s->latched = s->syncs;
    s->completed++;
    vertical_note_flip(s, flip->device);
    planes_off(s);
    scanout_trace_end(flip, true);
    finish(flip);
}

void flip_complete(struct scanout *s, UINT count)
{
    for (UINT i = 0; i < count; i++)
        show(s, s->handed[i]);
    s->handed_count -= count;
    memmove(s->handed, s->handed + count, s->handed_count * sizeof(s->handed[0]));
    if (count)
        scanout_frame(s, SCREENS_FLIP);
    flip_mark(s);
}

void flip_drop_all(struct scanout *s)
{
    struct list *node;

    while (s->handed_count)
        finish(s->handed[--s->handed_count]);
    while ((node = list_pop_front(&s->waiting)) != NULL)
        finish(CONTAINER(node, struct flip, link));
    flip_mark(s);
}

/* ---- handing over ---- */

static NTSTATUS call(struct scanout *s, struct flip *flip)
{
    const struct scanouts_config *config = &s->all->config;
    DXGKARG_SETVIDPNSOURCEADDRESS args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.VidPnSourceId = s->source;
    args.PrimarySegment = flip->primary.where.segment;
    args.PrimaryAddress.QuadPart = (LONGLONG)flip->primary.where.address;
    args.hAllocation = flip->primary.where.allocation;
    args.ContextCount = flip->context ? 1 + flip->other_count : 0;
    args.Context[0] = flip->context;
    for (UINT i = 0; i < flip->other_count; i++)
        args.Context[1 + i] = flip->others[i];
    args.Duration = flip->duration; /* PRES-128 */
    if (flip->interval == 0 && config->immediate)
        args.Flags.FlipImmediate = 1;
    else
        args.Flags.FlipOnNextVSync = 1; /* PRES-149 */
    /* PRES-126, PRES-127 */
    args.Flags.SharedPrimaryTransition = config->direct_flip &&
                                         !flip->primary.allocation != !s->now.allocation;
    s->calling = true;
    if (!ddi_has(config->modes->ddi, DxgkDdiSetVidPnSourceAddress))
        status = planes_call_plain(s, &flip->primary.where, flip); /* PRES-191 */
    else
        status = config->at_dirql ? ddi_flip(config->modes->ddi, &args)
                                  : ddi_set_vidpn_source_address(config->modes->ddi, &args);
    s->calling = false;
    s->addressed = true;
    return status;
}

static void drop(struct scanout *s, struct flip *flip, NTSTATUS status)
{
    if (!s->all->config.modes->ddi->gone)
        VIOLATION("PRES-132",
                  "DxgkDdiSetVidPnSourceAddress returned %s for a flip of source %u, which is not "
                  "shown",
                  nt_status_text(status).text, s->source);
    finish(flip);
}

/* The path has gone or come meanwhile: it waits again (PRES-248), unless it was for a mode that is
 * over, or of a device that ends. */
static void put_back(struct scanout *s, struct flip *flip, uint64_t modes)
{
    if (s->modes != modes || flip->leaves) {
        finish(flip);
        return;
    }
    if (flip->primary.pinned && !flip->by_gpu) {
        vidmm_scanout_unpin(flip->primary.allocation);
        flip->primary.pinned = false;
    }
    list_push_front(&s->waiting, &flip->link);
}

/* The GPU has done it: what is left is its vertical sync. */
static void hand_done(struct scanout *s, struct flip *flip)
{
    const uint64_t modes = s->modes;

    if (!s->all->enabled)
        vsync_control(s->all, true);
    if (!s->lit || s->modes != modes) {
        put_back(s, flip, modes);
        return;
    }
    s->moving = NULL;
    flip->handed = sim_now();
    s->handed[s->handed_count++] = flip;
    s->addressed = true;
}

static void hand_over(struct scanout *s, struct flip *flip)
{
    const bool immediate = flip->interval == 0 && s->all->config.immediate;
    const uint64_t commits = s->commits, modes = s->modes;
    NTSTATUS status = STATUS_SUCCESS;

    if (flip->by_gpu) {
        hand_done(s, flip);
        return;
    }

    if (flip->primary.allocation) {
        status = vidmm_scanout_pin(flip->primary.allocation, &flip->primary.where);
        flip->primary.pinned = NT_SUCCESS(status);
    } else {
        flip->primary.where = s->shared->where;
    }
    if (!NT_SUCCESS(status)) {
        WARNING("PRES-081", "the primary of a flip of source %u cannot be paged in: %s", s->source,
                nt_status_text(status).text);
        finish(flip);
        return;
    }
    if (!immediate)
        vsync_need(s); /* PRES-172 */
    if (!s->lit || s->commits != commits || s->modes != modes) {
        put_back(s, flip, modes);
        return;
    }
    s->moving = NULL;
    flip->handed = sim_now();
    scanout_trace_begin(flip);
    s->handed[s->handed_count++] = flip; /* the vertical sync may come before the return */
    status = call(s, flip);
    if (!s->handed_count || s->handed[s->handed_count - 1] != flip)
        return; /* it is complete, or dropped */
    flip->returned = sim_now();
    if (!NT_SUCCESS(status)) {
        s->handed_count--;
        drop(s, flip, status);
    } else if (immediate) {
        flip_complete(s, s->handed_count); /* PRES-150 */
    }
}

/* PRES-146; the GPU counts by itself. */
static bool interval_is_over(const struct scanout *s, const struct flip *flip)
{
    return flip->by_gpu || flip->interval <= 1 || s->syncs + 1 >= s->latched + flip->interval;
}

/* PRES-248: nobody sees it, but it is what is shown when the display is lit again. */
static bool skip_dark(struct scanout *s, struct flip *flip, uint64_t *until)
{
    uint64_t at;

    if (!flip->handed)
        flip->handed = sim_now(); /* since when it could be shown */
    at = flip->handed + vsync_period(s);
    if (sim_now() < at) {
        if (*until > at)
            *until = at;
        return false;
    }
    list_remove(&flip->link);
    show(s, flip);
    flip_mark(s);
    return true;
}

/* PRES-256: no vertical sync has completed it. */
static void give_up(struct scanout *s)
{
    const struct scanouts_config *config = &s->all->config;
    const bool reset = flip_ask_reset(s);

    if (!config->modes->ddi->gone)
        WARNING("PRES-256",
                "record 0x117: no vertical sync of target 0x%x with the address 0x%llx was "
                "reported within %llu ms of the flip of source %u; %s",
                s->target, (unsigned long long)s->handed[0]->primary.where.address,
                (unsigned long long)(config->limit_ns / 1000000), s->source,
                reset ? "the adapter is reset" : "it counts as shown");
    if (!reset)
        flip_complete(s, 1);
}

static bool step(struct scanout *s, uint64_t *until)
{
    struct flip *head;

    if (s->handed_count && !s->all->resetting) {
        const uint64_t deadline = s->handed[0]->handed + s->all->config.limit_ns;

        if (sim_now() >= deadline) {
            give_up(s);
            return true;
        }
        if (deadline < *until)
            *until = deadline;
    }
    if (list_empty(&s->waiting))
        return false;
    head = CONTAINER(s->waiting.next, struct flip, link);
    if (!head->ready || !planes_let(s, head))
        return false;
    if (!s->lit || !s->all->config.modes->source[s->source].visible)
        return skip_dark(s, head, until);
    if (s->handed_count >= (head->by_gpu ? SCANOUT_MOST_FLIPS : s->all->config.most_flips))
        return false;
    if (!interval_is_over(s, head)) { /* it is counted in vertical syncs */
        if (s->all->config.modes->asleep)
            return false;
        if (!s->all->enabled) {
            vsync_control(s->all, true);
            return true;
        }
        if (!vsync_in_vain(s, head, until))
            return false;
    }
    list_remove(&head->link);
    s->moving = head;
    hand_over(s, head);
    s->moving = NULL;
    flip_mark(s);
    return true;
}

bool flip_step(struct scanouts *scanouts, uint64_t *until)
{
    struct list *node = list_pop_front(&scanouts->over);

    *until = SIM_FOREVER;
    if (node) {
        struct flip *flip = CONTAINER(node, struct flip, link);

        if (flip->device && !flip->ready)
            vidmm_scanout_forget(flip->device, &flip->wait);
        flip_release(&flip->primary);
        util_free(flip);
        (void)sim_waitq_wake(&scanouts->news, UINT32_MAX);
        return true;
    }
    for (UINT i = 0; i < scanouts->config.modes->sources; i++)
        if (step(&scanouts->source[i], until) || planes_step(&scanouts->source[i], until))
            return true;
    return vsync_step(scanouts, until) || vsync_watch(scanouts, until);
}

/* ---- who flips ---- */

static void ready(void *context)
{
    struct flip *flip = context;

    flip->ready = true;
    (void)sim_waitq_wake(&flip->scanout->all->work, 1);
}

static struct flip *new_flip(struct scanout *s, const struct scanouts_flip *wanted)
{
    struct flip *flip = util_zalloc(1, sizeof(*flip) + wanted->other_count * sizeof(HANDLE));

    if (!flip)
        return NULL;
    list_init(&flip->link);
    flip->scanout = s;
    flip->device = wanted->device;
    flip->context = wanted->context;
    flip->other_count = wanted->other_count;
    flip->others = (HANDLE *)(flip + 1);
    for (UINT i = 0; i < wanted->other_count; i++)
        flip->others[i] = wanted->others[i];
    flip->interval = wanted->interval;
    flip->by_gpu = wanted->write != NULL;
    flip->no_wait = wanted->no_wait;
    flip->duration = wanted->duration;
    flip->order = ++s->orders;
    planes_will_end(s);
    flip->wait = (struct vidmm_scanout_wait){.ready = ready, .context = flip};
    return flip;
}

/* PRES-135: the primary stays where the commands say it is. */
static NTSTATUS write_flip(struct flip *flip, const struct scanouts_flip *wanted)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (flip->primary.allocation) {
        status = vidmm_scanout_pin(flip->primary.allocation, &flip->primary.where);
        flip->primary.pinned = NT_SUCCESS(status);
    } else if (flip->scanout->shared) {
        flip->primary.where = flip->scanout->shared->where;
    }
    return NT_SUCCESS(status) ? wanted->write(wanted->write_context) : status;
}

/* The device still owns the source in the mode for which the primary was made. */
static NTSTATUS check_still(const struct scanout *s, const struct scanouts_flip *wanted)
{
    const NTSTATUS status = queued_check(s, wanted->device, wanted->sch);

    if (!NT_SUCCESS(status))
        return status;
    if (s->modes != wanted->modes)
        return refuse(STATUS_GRAPHICS_PRESENT_MODE_CHANGED, "PRES-088",
                      "the mode of source %u has changed during the present", s->source);
    return STATUS_SUCCESS;
}

/* `all`: also those that the GPU flips, and the one that moves, as the device ends. */
static void drop_waiting_of(struct scanout *s, const struct vidmm_device *device, bool all)
{
    if (all && s->moving && s->moving->device == device)
        s->moving->leaves = true;
    LIST_FOR_SAFE(node, following, &s->waiting) {
        struct flip *flip = CONTAINER(node, struct flip, link);

        if (flip->device != device || (flip->by_gpu && !all))
            continue;
        list_remove(node);
        finish(flip);
    }
    flip_mark(s);
}

/* With room for it. */
static NTSTATUS queue_flip(struct scanout *s, const struct scanouts_flip *wanted)
{
    NTSTATUS status = check_still(s, wanted);
    struct flip *flip;

    if (!NT_SUCCESS(status))
        return status;
    flip = new_flip(s, wanted);
    if (!flip)
        return STATUS_NO_MEMORY;
    if (wanted->allocation) {
        flip->primary.allocation = vidmm_scanout_get(wanted->device, wanted->allocation);
        if (!flip->primary.allocation) {
            util_free(flip);
            return STATUS_INVALID_PARAMETER;
        }
        flip->primary.device = wanted->device;
        flip->primary.handle = wanted->allocation;
    }
    status = flip->by_gpu ? write_flip(flip, wanted) : STATUS_SUCCESS;
    if (!NT_SUCCESS(status)) {
        flip_release(&flip->primary);
        util_free(flip);
        return status;
    }
    (void)vertical_begin(s->all, wanted->source, wanted->device); /* else it is not counted */
    list_push_back(&s->waiting, &flip->link);
    flip_mark(s);
    vidmm_scanout_after(wanted->device, &flip->wait); /* PRES-137 */
    (void)sim_waitq_wake(&s->all->work, 1);
    return STATUS_SUCCESS;
}

NTSTATUS scanouts_flip(struct scanouts *scanouts, const struct scanouts_flip *wanted)
{
    struct scanout *s = &scanouts->source[wanted->source];
    const struct scanouts_copy_request request = {.source = wanted->source,
                                                  .device = wanted->device,
                                                  .limit = wanted->limit,
                                                  .do_not_wait = wanted->do_not_wait};
    struct copy *work = NULL;
    NTSTATUS status;

    if (wanted->restart)
        drop_waiting_of(s, wanted->device, false);
    status = wanted->write
                 ? copy_begin_flip(s, &request, &work)
                 : queued_await_room(scanouts, wanted->device, wanted->limit, wanted->do_not_wait);
    if (NT_SUCCESS(status))
        status = queue_flip(s, wanted);
    if (work)
        copy_asked(work);
    return status;
}

/* ---- the end of a client ---- */

static bool is_of(const struct flip *flip, const struct vidmm_device *device)
{
    return flip->device == device || flip->primary.device == device;
}

/* It is shown, or the driver has its address, or is about to get it. */
static bool shows(const struct scanout *s, const struct vidmm_device *device)
{
    if (planes_hold(s, device) || s->now.device == device || (s->moving && is_of(s->moving, device)))
        return true;
    for (UINT k = 0; k < s->handed_count; k++)
        if (is_of(s->handed[k], device))
            return true;
    return false;
}

static bool holds(const struct scanouts *scanouts, const struct vidmm_device *device)
{
    LIST_FOR(node, &scanouts->over)
        if (is_of(CONTAINER(node, struct flip, link), device))
            return true;
    for (UINT i = 0; i < scanouts->config.modes->sources; i++)
        if (shows(&scanouts->source[i], device))
            return true;
    return false;
}

/* PRES-259: before what others have queued, which may wait for ever. */
static void show_shared(struct scanout *s)
{
    const struct scanouts_flip back = {.source = s->source};
    struct flip *flip = s->shared ? new_flip(s, &back) : NULL;

    if (!flip)
        return;
    flip->interval = 1;
    flip->order = 0;
    flip->ready = true;
    list_push_front(&s->waiting, &flip->link);
    flip_mark(s);
    (void)sim_waitq_wake(&s->all->work, 1);
}

/* A flip to the shared primary is on its way. */
static bool returns(const struct scanout *s)
{
    if (s->moving && !s->moving->primary.allocation)
        return true;
    for (UINT k = 0; k < s->handed_count; k++)
        if (!s->handed[k]->primary.allocation)
            return true;
    LIST_FOR(node, &s->waiting)
        if (!CONTAINER(node, struct flip, link)->primary.allocation)
            return true;
    return false;
}

/* What the driver does not flip away from goes all the same (PRES-132). */
static void give_back(struct scanouts *scanouts, const struct vidmm_device *device)
{
    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        struct scanout *s = &scanouts->source[i];

        if (s->now.device == device && !returns(s))
            flip_release(&s->now);
    }
}

void scanouts_leave(struct scanouts *scanouts, const struct vidmm_device *device)
{
    scanouts->users++;
    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        struct scanout *s = &scanouts->source[i];

        drop_waiting_of(s, device, true);
        planes_drop_waiting_of(s, device);
        if (s->owner == device)
            s->owner = NULL;
        if (shows(s, device))
            show_shared(s);
        if (s->shared)
            primary_forget(s->shared, device);
    }
    vertical_forget(scanouts, device);
    for (;;) {
        give_back(scanouts, device);
        if (scanouts->stop || sim_current->stopped || !holds(scanouts, device))
            break;
        (void)sim_waitq_wait(&scanouts->news, SIM_FOREVER);
    }
    queued_leave(scanouts);
}
