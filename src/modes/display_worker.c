/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/display_worker.h"
#include "ddi/ddi.h"
#include "modes/apply.h"
#include "modes/commit.h"
#include "modes/connections.h"
#include "modes/display_power.h"
#include "modes/enumerate.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/recommend.h"
#include "modes/strict.h"
#include "modes/target_calls.h"
#include "modes/update.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
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

static void keep_first(NTSTATUS *status, NTSTATUS other)
{
    if (NT_SUCCESS(*status))
        *status = other;
}

/* ---- monitors that come and go ---- */

static NTSTATUS update(struct modes *modes, void *arg)
{
    (void)arg;
    return insist(modes, modes_update);
}

static NTSTATUS first(struct modes *modes, void *arg)
{
    NTSTATUS status;

    (void)arg;
    if (modes->look.run)
        modes->look.run(modes->look.context, MODES_LOOK_START, true);
    if (modes->connections.used)
        connections_enable(modes);
    status = insist(modes, modes_begin);
    return NT_SUCCESS(status) ? update(modes, NULL) : status;
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
        modes_target(modes, old->VidPnTargetId)->retries = 0; /* DISP-099: what comes is another */
        modes_target(modes, old->VidPnTargetId)->limit = 0;
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

/* ---- polls ---- */

/* DISP-042 to DISP-044, DISP-087 */
static NTSTATUS poll(struct modes *modes, void *arg)
{
    const struct modes_poll *request = arg;

    if (modes->connections.used) {
        connections_poll_all(modes, request->careful);
        if (modes->connections.indicated)
            connections_drain(modes);
    } else if (modes->look.run) {
        modes->look.run(modes->look.context, request->all ? MODES_LOOK_MORE : MODES_LOOK_POLL,
                        request->careful);
    }
    return request->keep_modes ? insist(modes, modes_meet_monitors) : update(modes, NULL);
}

/* ---- what firmware tells ---- */

/* DISP-155, DISP-156 */
static NTSTATUS acpi(struct modes *modes, void *arg)
{
    static const struct modes_reason hotkey = {.reason = DXGK_RFVR_HOTKEY};
    const ULONG flags = *(const ULONG *)arg;
    NTSTATUS status = STATUS_SUCCESS;

    if (flags & DXGK_ACPI_POLL_DISPLAY_CHILDREN) {
        struct modes_poll request = {.careful = true};

        status = poll(modes, &request);
    }
    if (flags & DXGK_ACPI_CHANGE_DISPLAY_MODE)
        keep_first(&status, modes_recommend(modes, &hotkey));
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

static NTSTATUS force(struct modes *modes, void *arg)
{
    const struct power *p = arg;

    return modes_force(modes, p->target, p->on);
}

struct content {
    UINT target;
    D3DKMDT_VIDPN_PRESENT_PATH_CONTENT content;
};

static NTSTATUS set_content(struct modes *modes, void *arg)
{
    const struct content *c = arg;

    return target_set_content(modes, c->target, c->content);
}

static NTSTATUS control_behavior(struct modes *modes, void *arg)
{
    return target_control_behavior(modes, arg);
}

static NTSTATUS arrange(struct modes *modes, void *arg)
{
    return modes_arrange(modes, *(const enum modes_arrangement *)arg);
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

    connections_disable(modes); /* DISP-085 */
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
    } else if (modes->connections.indicated && modes->connections.enabled && !modes->asleep) {
        worker->working = true;
        connections_drain(modes);
        (void)update(modes, NULL);
    } else if ((worker->noted || modes->again) && !modes->asleep) {
        worker->working = true;
        worker->noted = modes->again = false;
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
    else if (!NT_SUCCESS(request.status) && !refusal_reason(request.status))
        (void)refuse(request.status, NULL, "what was to be shown could not be: %s",
                     nt_status_text(request.status).text);
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

void display_worker_indicate(struct modes *modes)
{
    modes->connections.indicated = true;
    if (modes->worker)
        (void)sim_waitq_wake(&modes->worker->work, 1);
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

NTSTATUS display_poll(struct modes *modes, const struct modes_poll *request)
{
    struct modes_poll copy = *request;

    return call_awake(modes, poll, &copy);
}

static NTSTATUS recommend(struct modes *modes, void *arg)
{
    return modes_recommend(modes, arg);
}

NTSTATUS display_recommend(struct modes *modes, void *data, UINT bytes)
{
    struct modes_reason reason = {DXGK_RFVR_USERMODE, data, bytes};

    return call_awake(modes, recommend, &reason);
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

NTSTATUS display_arrange(struct modes *modes, enum modes_arrangement arrangement)
{
    return call_awake(modes, arrange, &arrangement);
}

NTSTATUS display_force(struct modes *modes, UINT target, bool on)
{
    struct power args = {target, on};

    return call_awake(modes, force, &args);
}

NTSTATUS display_set_content(struct modes *modes, UINT target,
                             D3DKMDT_VIDPN_PRESENT_PATH_CONTENT content)
{
    struct content args = {target, content};

    return call_awake(modes, set_content, &args);
}

NTSTATUS display_control_behavior(struct modes *modes, DXGKARG_CONTROLMODEBEHAVIOR *args)
{
    return call_awake(modes, control_behavior, args);
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
