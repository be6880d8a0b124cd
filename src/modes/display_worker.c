/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/display_worker.h"
#include "ddi/ddi.h"
#include "modes/apply.h"
#include "modes/commit.h"
#include "modes/display_power.h"
#include "modes/enumerate.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/recommend.h"
#include "modes/strict.h"
#include "modes/vidpn.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"

/* On the stack of who waits for it. */
struct request {
    struct list link;
    NTSTATUS (*run)(struct modes *modes, void *arg);
    void *arg;
    NTSTATUS status;
    bool done;
    const char *rule; /* and `reason`: why it fails, for the call of who waits */
    char reason[REFUSAL_BYTES];
};

struct display_worker {
    struct sim_thread *thread;
    struct sim_waitq work, answered;
    struct list requests;
    bool noted, lost, reset, stop, ended;
    bool working;
};

/* ---- want of memory ---- */

#define ATTEMPTS 10u
#define PAUSE_NS 100000000u

/* What nobody asks for again must not be lost when memory is short for a while. */
static NTSTATUS insist(struct modes *modes, NTSTATUS (*run)(struct modes *modes))
{
    NTSTATUS status = run(modes);

    for (unsigned i = 1; i < ATTEMPTS && status == STATUS_NO_MEMORY && !modes->ddi->gone &&
                         !modes->ended && !sim_current->stopped;
         i++) {
        sim_block(sim_now() + PAUSE_NS, NULL);
        status = run(modes);
    }
    return status;
}

/* ---- monitors that come and go ---- */

static bool has_path(const struct modes *modes, const struct modes_target *target)
{
    return vidpn_path_to(modes->active, target->id) != NULL;
}

/* The paths that stay, or all anew if the driver does not support them without the others. With
 * `again`, it is asked for their modes once more (VIDPN-203). */
static NTSTATUS commit_rest(struct modes *modes, struct vidpn *vidpn, bool again)
{
    static const struct modes_pivot none = {D3DKMDT_EPT_NOPIVOT, D3DDDI_ID_UNINITIALIZED,
                                            D3DDDI_ID_UNINITIALIZED};
    NTSTATUS status = again ? modes_enumerate(modes, &vidpn, &none) : STATUS_SUCCESS;

    if (NT_SUCCESS(status) && vidpn->paths)
        status = modes_ask_supported(modes, vidpn);
    if (NT_SUCCESS(status))
        return modes_commit(modes, vidpn, COMMIT_CHANGE);
    vidpn_destroy(vidpn);
    return status == STATUS_NO_MEMORY || modes->ddi->gone ? status
                                                          : modes_apply_all(modes, COMMIT_CHANGE);
}

/* Is its path the most important one of several from the same source? */
static bool leads_clones(const struct vidpn *vidpn, UINT target)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_to(vidpn, target);

    return vidpn_paths_from(vidpn, path->VidPnSourceId) > 1 &&
           vidpn_path_from(vidpn, path->VidPnSourceId, 0) == path;
}

/* VIDPN-202: without the paths of those that have left; then they are gone. */
static NTSTATUS departures(struct modes *modes)
{
    struct vidpn *vidpn = NULL;
    NTSTATUS status = STATUS_SUCCESS;
    bool again = false;

    for (UINT i = 0; i < modes->targets; i++) {
        const struct modes_target *target = &modes->target[i];

        if (!modes_has_left(target) || !has_path(modes, target))
            continue;
        if (!vidpn)
            vidpn = vidpn_copy(modes->active);
        if (!vidpn)
            return STATUS_NO_MEMORY;
        again |= leads_clones(vidpn, target->id);
        vidpn_remove(vidpn, vidpn_path_to(vidpn, target->id));
    }
    if (vidpn)
        status = commit_rest(modes, vidpn, again);
    if (status == STATUS_NO_MEMORY) /* they are still to be seen to */
        return status;
    for (UINT i = 0; i < modes->targets; i++) {
        if (modes_has_left(&modes->target[i]))
            monitor_depart(&modes->target[i]);
        modes->target[i].left = false;
    }
    return status;
}

/* VIDPN-201: the paths that are there stay pinned, and one is added; if that does not go, all are
 * chosen anew. */
static NTSTATUS add_path(struct modes *modes, const struct modes_target *target)
{
    struct vidpn *vidpn = vidpn_copy(modes->active);
    UINT source = 0;
    NTSTATUS status = STATUS_NO_MEMORY;

    while (vidpn && source < modes->sources && vidpn_paths_from(vidpn, source))
        source++;
    if (vidpn && source == modes->sources) { /* VIDPN-148: it stays dark */
        vidpn_destroy(vidpn);
        return STATUS_SUCCESS;
    }
    if (vidpn) {
        const D3DKMDT_VIDPN_PRESENT_PATH path = vidpn_new_path(source, target->id,
                                                               vidpn_free_ordinal(vidpn));

        if (vidpn_add(vidpn, &path))
            status = modes_apply(modes, vidpn, NULL, COMMIT_CHANGE);
        else
            vidpn_destroy(vidpn);
    }
    return NT_SUCCESS(status) || status == STATUS_NO_MEMORY || modes->ddi->gone
               ? status
               : modes_apply_all(modes, COMMIT_CHANGE);
}

/* DISP-050: other modes for the path of a monitor that has changed. */
static NTSTATUS choose_again(struct modes *modes, const struct modes_target *target)
{
    struct vidpn *vidpn = vidpn_copy(modes->active);
    D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn ? vidpn_path_to(vidpn, target->id) : NULL;
    D3DKMDT_VIDPN_PRESENT_PATH fresh;

    if (!path) {
        vidpn_destroy(vidpn);
        return STATUS_SUCCESS;
    }
    fresh = vidpn_new_path(path->VidPnSourceId, target->id, (UINT)path->ImportanceOrdinal);
    vidpn_remove(vidpn, path);
    if (vidpn_add(vidpn, &fresh))
        return modes_apply(modes, vidpn, NULL, COMMIT_CHANGE);
    vidpn_destroy(vidpn);
    return STATUS_NO_MEMORY;
}

static NTSTATUS look_again(struct modes *modes, struct modes_target *target)
{
    bool changed = false;
    NTSTATUS status = STATUS_SUCCESS;

    if (target->changed)
        status = monitor_look_again(modes, target, &changed);
    if (!NT_SUCCESS(status))
        return status;
    target->changed = false;
    target->other |= changed;
    if (target->other)
        status = choose_again(modes, target);
    target->other = status == STATUS_NO_MEMORY;
    return status;
}

static void keep_first(NTSTATUS *status, NTSTATUS other)
{
    if (NT_SUCCESS(*status))
        *status = other;
}

static NTSTATUS arrive(struct modes *modes, struct modes_target *target)
{
    NTSTATUS status;

    target->changed = false;
    status = monitor_arrive(modes, target);
    target->fresh = target->monitor != NULL;
    return status;
}

static NTSTATUS add_paths(struct modes *modes)
{
    NTSTATUS status = STATUS_SUCCESS, added;
    bool any = false;

    for (UINT i = 0; i < modes->targets; i++)
        any |= modes->target[i].fresh && modes->target[i].monitor;
    if (any && !modes->active->paths) {
        status = modes_apply_all(modes, COMMIT_CHANGE);
        any = status == STATUS_NO_MEMORY;
        for (UINT i = 0; i < modes->targets; i++)
            modes->target[i].fresh &= any;
        return status;
    }
    for (UINT i = 0; any && i < modes->targets; i++) {
        struct modes_target *target = &modes->target[i];

        if (!target->monitor || target->off || has_path(modes, target))
            continue;
        added = add_path(modes, target);
        target->fresh = added == STATUS_NO_MEMORY;
        keep_first(&status, added);
    }
    return status;
}

static NTSTATUS update_once(struct modes *modes)
{
    NTSTATUS status = departures(modes);

    for (UINT i = 0; i < modes->targets; i++) {
        struct modes_target *target = &modes->target[i];

        if (modes_has_left(target)) /* no memory to see to that yet */
            continue;
        if (target->connected && target->monitor && (target->changed || target->other))
            keep_first(&status, look_again(modes, target));
        if (target->connected && !target->monitor)
            keep_first(&status, arrive(modes, target));
    }
    keep_first(&status, add_paths(modes));
    return status;
}

static NTSTATUS update(struct modes *modes, void *arg)
{
    (void)arg;
    return insist(modes, update_once);
}

static NTSTATUS first(struct modes *modes, void *arg)
{
    (void)arg;
    if (modes->look.run)
        modes->look.run(modes->look.context, MODES_LOOK_START);
    return update(modes, NULL);
}

/* ---- what clients want ---- */

static bool same_size(const struct modes *modes, const struct modes_wish *wish)
{
    const union mode *mode = mode_set_pinned(*vidpn_source_set(modes->active, wish->source));
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(modes->active, wish->source, 0);

    return mode && mode->source.Format.Graphics.PrimSurfSize.cx == wish->size.cx &&
           mode->source.Format.Graphics.PrimSurfSize.cy == wish->size.cy &&
           !modes_wishes_rate(wish, wish->source) &&
           (wish->scaling == D3DKMDT_VPPS_UNINITIALIZED ||
            wish->scaling == path->ContentTransformation.Scaling);
}

static bool offers(const D3DKMDT_VIDPN_PRESENT_PATH *path,
                   D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation)
{
    const D3DKMDT_VIDPN_PRESENT_PATH_ROTATION_SUPPORT *support =
        &path->ContentTransformation.RotationSupport;

    return rotation == D3DKMDT_VPPR_IDENTITY ||
           (rotation == D3DKMDT_VPPR_ROTATE90 && support->Rotate90) ||
           (rotation == D3DKMDT_VPPR_ROTATE180 && support->Rotate180) ||
           (rotation == D3DKMDT_VPPR_ROTATE270 && support->Rotate270);
}

/* VIDPN-204 */
static NTSTATUS set_mode(struct modes *modes, void *arg)
{
    const struct modes_wish *wish = arg;
    D3DKMDT_VIDPN_PRESENT_PATH *path;
    struct vidpn *vidpn;
    NTSTATUS status = STATUS_SUCCESS;

    path = wish->source < modes->sources ? vidpn_path_from(modes->active, wish->source, 0) : NULL;
    if (!path && modes_dark_target(modes, wish->source))
        return modes_change_dark(modes, modes_dark_target(modes, wish->source), wish);
    if (!path)
        return refuse(wish->source < modes->sources ? STATUS_GRAPHICS_SOURCE_NOT_IN_TOPOLOGY
                                                    : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE,
                      "VIDPN-204", "source %u has no path", wish->source);
    if (!offers(path, wish->rotation))
        return refuse(STATUS_GRAPHICS_PATH_CONTENT_GEOMETRY_TRANSFORMATION_NOT_SUPPORTED,
                      "VIDPN-117", "the path supports no rotation %d", (int)wish->rotation);
    if (same_size(modes, wish) && modes->smooth_rotation)
        return wish->rotation == path->ContentTransformation.Rotation
                   ? STATUS_SUCCESS
                   : modes_rotate(modes, wish->source, path->VidPnTargetId, wish->rotation);
    vidpn = vidpn_copy(modes->active);
    while (vidpn && NT_SUCCESS(status) && vidpn_paths_from(vidpn, wish->source)) {
        D3DKMDT_VIDPN_PRESENT_PATH *old = vidpn_path_from(vidpn, wish->source, 0);

        vidpn_remove(vidpn, old);
    }
    for (UINT i = 0; vidpn && NT_SUCCESS(status) && i < modes->active->paths; i++) {
        const D3DKMDT_VIDPN_PRESENT_PATH *old = &modes->active->path[i];
        D3DKMDT_VIDPN_PRESENT_PATH fresh;

        if (old->VidPnSourceId != wish->source)
            continue;
        fresh = vidpn_new_path(old->VidPnSourceId, old->VidPnTargetId, (UINT)old->ImportanceOrdinal);
        if (!vidpn_add(vidpn, &fresh))
            status = STATUS_NO_MEMORY;
    }
    if (!vidpn)
        return STATUS_NO_MEMORY;
    if (NT_SUCCESS(status))
        return modes_apply(modes, vidpn, wish, COMMIT_CHANGE);
    vidpn_destroy(vidpn);
    return status;
}

/* ---- what firmware tells ---- */

/* DISP-155, DISP-156 */
static NTSTATUS acpi(struct modes *modes, void *arg)
{
    const ULONG flags = *(const ULONG *)arg;
    NTSTATUS status = STATUS_SUCCESS;

    if (flags & DXGK_ACPI_POLL_DISPLAY_CHILDREN) {
        if (modes->look.run)
            modes->look.run(modes->look.context, MODES_LOOK_POLL);
        status = update(modes, NULL);
    }
    if (flags & DXGK_ACPI_CHANGE_DISPLAY_MODE)
        keep_first(&status, modes_recommend(modes, DXGK_RFVR_HOTKEY));
    if (flags & DXGK_ACPI_CHANGE_DISPLAY_TOPOLOGY)
        keep_first(&status, modes_apply_all(modes, COMMIT_CHANGE));
    return status;
}

/* ---- power ---- */

struct power {
    UINT target;
    bool on;
};

static NTSTATUS power(struct modes *modes, void *arg)
{
    const struct power *p = arg;
    struct modes_target *target = modes_target(modes, p->target);

    if (!target || !target->monitor)
        return refuse(target ? STATUS_GRAPHICS_MONITOR_NOT_CONNECTED
                             : STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET,
                      "VIDPN-176", "no monitor is on target 0x%x", p->target);
    if (target->off == !p->on)
        return STATUS_SUCCESS;
    return p->on ? modes_turn_on(modes, target) : modes_turn_off(modes, target);
}

static NTSTATUS suspend(struct modes *modes, void *arg)
{
    (void)arg;
    return modes_sleep(modes);
}

static NTSTATUS resume(struct modes *modes, void *arg)
{
    NTSTATUS status;

    (void)arg;
    modes_wake(modes);
    status = insist(modes, modes_light_again);
    for (UINT i = 0; i < modes->targets; i++)
        if (modes->target[i].connected && !modes->target[i].monitor) /* no memory for it */
            return update(modes, NULL);
    return status;
}

static NTSTATUS strict(struct modes *modes, void *arg)
{
    (void)arg;
    modes_strict_check(modes);
    return STATUS_SUCCESS;
}

static NTSTATUS commit_again(struct modes *modes)
{
    struct vidpn *vidpn = vidpn_copy(modes->active);

    return vidpn ? modes_commit(modes, vidpn, COMMIT_AGAIN) : STATUS_NO_MEMORY;
}

static NTSTATUS restore(struct modes *modes, void *arg)
{
    (void)arg;
    return insist(modes, commit_again);
}

/* PRES-258 */
static void recover(struct modes *modes)
{
    if (modes->ended || !modes->restart.run || !modes->restart.run(modes->restart.context))
        return;
    (void)restore(modes, NULL);
    modes->restart.over(modes->restart.context);
}

/* VIDPN-191 */
static NTSTATUS go_dark(struct modes *modes)
{
    struct vidpn *vidpn = vidpn_create(modes);

    return vidpn ? modes_commit(modes, vidpn, COMMIT_CHANGE) : STATUS_NO_MEMORY;
}

static NTSTATUS stop(struct modes *modes, void *arg)
{
    const bool *keep = arg;
    NTSTATUS status = *keep ? STATUS_SUCCESS : insist(modes, go_dark);

    modes->ended = true;
    return status;
}

/* ---- the thread ---- */

static void carry_out(struct modes *modes, struct request *request)
{
    struct refusal refusal;
    const char *reason;

    refusal_begin(&refusal);
    request->status = request->run(modes, request->arg);
    reason = NT_SUCCESS(request->status) ? NULL : refusal_reason(request->status);
    request->rule = refusal.rule;
    if (reason)
        memcpy(request->reason, reason, sizeof(request->reason));
    refusal_drop(&refusal);
    request->done = true;
}

/* False: there is nothing to do. */
static bool work(struct modes *modes, struct display_worker *worker)
{
    struct list *node = list_pop_front(&worker->requests);

    if (node) {
        worker->working = true;
        carry_out(modes, CONTAINER(node, struct request, link));
        (void)sim_waitq_wake(&worker->answered, UINT32_MAX);
    } else if (worker->lost && !modes->asleep) {
        worker->working = true;
        worker->lost = false;
        recover(modes);
    } else if (worker->reset && !modes->asleep) {
        worker->working = true;
        worker->reset = false;
        (void)restore(modes, NULL);
    } else if (worker->noted && !modes->asleep) {
        worker->working = true;
        worker->noted = false;
        (void)update(modes, NULL);
    } else {
        return false;
    }
    worker->working = false;
    if (modes->viewer.settled)
        modes->viewer.settled(modes->viewer.context);
    return true;
}

static void worker_main(void *arg)
{
    struct modes *modes = arg;
    struct display_worker *worker = modes->worker;

    while (!worker->stop || !list_empty(&worker->requests))
        if (!work(modes, worker))
            (void)sim_waitq_wait(&worker->work, SIM_FOREVER);
    worker->ended = true;
    (void)sim_waitq_wake(&worker->answered, UINT32_MAX);
}

bool display_worker_busy(const struct modes *modes)
{
    return !modes->ended && (modes->asleep || (modes->worker && modes->worker->working));
}

NTSTATUS display_worker_begin(struct modes *modes)
{
    struct display_worker *worker = util_zalloc(1, sizeof(*worker));

    if (!worker)
        return STATUS_NO_MEMORY;
    list_init(&worker->requests);
    sim_waitq_init(&worker->work);
    sim_waitq_init(&worker->answered);
    modes->worker = worker;
    worker->thread = sim_thread_create("display worker", SIM_THREAD_KERNEL, worker_main, modes);
    if (worker->thread)
        return STATUS_SUCCESS;
    util_free(worker);
    modes->worker = NULL;
    return STATUS_NO_MEMORY;
}

void display_worker_end(struct modes *modes)
{
    struct display_worker *worker = modes->worker;

    if (!worker)
        return;
    worker->stop = true;
    (void)sim_waitq_wake(&worker->work, 1);
    while (!worker->ended && !sim_current->stopped)
        (void)sim_waitq_wait(&worker->answered, SIM_FOREVER);
    sim_thread_release(worker->thread);
    modes->worker = NULL;
    util_free(worker);
    while (modes->users && !sim_current->stopped)
        (void)sim_waitq_wait(&modes->alone, SIM_FOREVER);
}

static NTSTATUS call(struct modes *modes, NTSTATUS (*run)(struct modes *, void *), void *arg)
{
    struct display_worker *worker = modes->worker;
    struct request request = {.run = run, .arg = arg, .status = STATUS_DEVICE_REMOVED, .reason = ""};

    if (!worker || worker->stop || modes->ended)
        return STATUS_DEVICE_REMOVED;
    list_push_back(&worker->requests, &request.link);
    (void)sim_waitq_wake(&worker->work, 1);
    while (!request.done && !sim_current->stopped)
        (void)sim_waitq_wait(&worker->answered, SIM_FOREVER);
    if (!request.done)
        list_remove(&request.link);
    if (request.reason[0])
        (void)refuse(request.status, request.rule, "%s", request.reason);
    return request.status;
}

/* The same, with the adapter in D0. */
static NTSTATUS call_awake(struct modes *modes, NTSTATUS (*run)(struct modes *, void *), void *arg)
{
    NTSTATUS status;

    modes->users++; /* until then it is not freed, whatever the hold waits for */
    status = modes->hold ? modes->hold(modes->ddi) : STATUS_SUCCESS;
    if (NT_SUCCESS(status)) {
        status = call(modes, run, arg);
        if (modes->release)
            modes->release(modes->ddi);
    }
    if (--modes->users == 0)
        (void)sim_waitq_wake(&modes->alone, UINT32_MAX);
    return status;
}

void display_worker_lost(struct modes *modes)
{
    if (!modes->worker)
        return;
    modes->worker->lost = true;
    (void)sim_waitq_wake(&modes->worker->work, 1);
}

void display_worker_reset(struct modes *modes)
{
    if (!modes->worker)
        return;
    modes->worker->reset = true;
    (void)sim_waitq_wake(&modes->worker->work, 1);
}

bool display_worker_note(struct modes *modes, UINT target, bool connected)
{
    struct modes_target *t = modes_target(modes, target);

    if (!t)
        return false;
    t->changed |= connected;
    t->left |= !connected;
    t->connected = connected;
    if (modes->worker) {
        modes->worker->noted = true;
        (void)sim_waitq_wake(&modes->worker->work, 1);
    }
    return true;
}

NTSTATUS display_first(struct modes *modes)
{
    return call_awake(modes, first, NULL);
}

NTSTATUS display_update(struct modes *modes)
{
    return call_awake(modes, update, NULL);
}

NTSTATUS display_do(struct modes *modes, NTSTATUS (*run)(struct modes *modes, void *arg), void *arg)
{
    return call_awake(modes, run, arg);
}

NTSTATUS display_set_mode(struct modes *modes, const struct modes_wish *wish)
{
    struct modes_wish copy = *wish;

    return call_awake(modes, set_mode, &copy);
}

NTSTATUS display_acpi(struct modes *modes, ULONG flags)
{
    return call_awake(modes, acpi, &flags);
}

NTSTATUS display_power(struct modes *modes, UINT target, bool on)
{
    struct power args = {target, on};

    return call_awake(modes, power, &args);
}

NTSTATUS display_suspend(struct modes *modes)
{
    return call(modes, suspend, NULL);
}

NTSTATUS display_resume(struct modes *modes)
{
    return call(modes, resume, NULL);
}

NTSTATUS display_restore(struct modes *modes)
{
    return call_awake(modes, restore, NULL);
}

void display_strict(struct modes *modes)
{
    (void)call_awake(modes, strict, NULL);
}

void display_stop(struct modes *modes, bool keep)
{
    (void)call(modes, stop, &keep);
}
