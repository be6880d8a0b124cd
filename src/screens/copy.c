/* SPDX-License-Identifier: MIT */
/*
 * What the GPU does to what a source shows: copies and fills of clients, and flips that it makes
 * itself. Each is on the list of its source from before the driver is asked until the GPU has done
 * it; a change of mode waits for those (PRES-112, PRES-338), and those wait for a change of mode.
 */
#include "sim/machine.h"
#include "sim/sim.h"
#include "screens/scanouts_record.h"
#include "modes/vidpn.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

/* ---- the end of one ---- */

static void done(void *context)
{
    struct copy *copy = context;
    struct scanouts *all = copy->scanout->all;

    list_remove(&copy->link);
    util_free(copy);
    (void)sim_waitq_wake(&all->news, UINT32_MAX);
}

void copy_asked(struct copy *copy)
{
    struct scanouts *all = copy->scanout->all;

    copy->asked = true;
    vidmm_scanout_after(copy->device, &copy->wait);
    (void)sim_waitq_wake(&all->news, UINT32_MAX);
    queued_leave(all);
}

void copy_drop(struct copy *copy)
{
    struct scanouts *all = copy->scanout->all;

    done(copy);
    queued_leave(all);
}

void scanouts_copy_end(struct scanouts_copy *handle)
{
    copy_asked(handle->record);
}

void copy_forget_all(struct scanout *s)
{
    LIST_FOR_SAFE(node, following, &s->copies) {
        struct copy *copy = CONTAINER(node, struct copy, link);

        if (copy->asked)
            vidmm_scanout_forget(copy->device, &copy->wait);
        list_remove(node);
        util_free(copy);
    }
}

/* ---- a change of mode ---- */

static bool is_being_asked(const struct scanout *s)
{
    LIST_FOR(node, &s->copies)
        if (!CONTAINER(node, struct copy, link)->asked)
            return true;
    return false;
}

static const struct copy *first(const struct scanout *s)
{
    return CONTAINER(s->copies.next, struct copy, link);
}

/* Work that waits for something that never comes must not keep the mode for ever: what it names
 * stays in memory until it has run. */
void copy_hold(struct scanout *s)
{
    const uint64_t deadline = sim_now() + s->all->config.limit_ns;

    s->changing = true;
    while (!list_empty(&s->copies) && !sim_current->stopped &&
           (is_being_asked(s) || sim_now() < deadline))
        (void)sim_waitq_wait(&s->all->news, is_being_asked(s) ? SIM_FOREVER : deadline);
    if (!list_empty(&s->copies) && !sim_current->stopped)
        NOTE(first(s)->flips ? "PRES-338" : "PRES-112",
             "%s source %u have not run within %llu ms: what is shown changes all the same",
             first(s)->flips ? "flips of" : "copies to", s->source,
             (unsigned long long)(s->all->config.limit_ns / 1000000));
}

void copy_end_flips(const struct scanout *s)
{
    const struct scanouts_config *config = &s->all->config;
    bool any = false;

    LIST_FOR(node, &s->copies)
        any |= CONTAINER(node, struct copy, link)->flips;
    if (any && config->flips_over)
        config->flips_over(config->lost_context, s->source);
}

void copy_go_on(struct scanout *s)
{
    s->changing = false;
    (void)sim_waitq_wake(&s->all->news, UINT32_MAX);
}

/* ---- the beginning of one ---- */

/* PRES-114: what the source shows, as the device has it open. */
static NTSTATUS find_target(struct scanout *s, struct vidmm_device *device,
                            struct scanouts_target *target)
{
    const struct vidpn *vidpn = s->all->config.modes->active;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn ? vidpn_path_from(vidpn, s->source, 0) : NULL;

    if (!s->shared || !path)
        return refuse(STATUS_GRAPHICS_PRESENT_OCCLUDED, "PRES-114", "source %u shows nothing",
                      s->source);
    target->width = s->shared->surface.Width;
    target->height = s->shared->surface.Height;
    target->format = s->shared->surface.Format;
    target->rotation = path->ContentTransformation.Rotation;
    if (s->now.allocation && s->now.device != device)
        return refuse(STATUS_GRAPHICS_PRESENT_OCCLUDED, "PRES-114",
                      "source %u shows a primary of another device", s->source);
    target->handle = s->now.handle;
    return s->now.allocation ? STATUS_SUCCESS : primary_open(s->shared, device, &target->handle);
}

static NTSTATUS check_owner(const struct scanout *s, const struct vidmm_device *device)
{
    if (s->owner && s->owner != device && s->owner_type == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE)
        return refuse(STATUS_GRAPHICS_PRESENT_OCCLUDED, "PRES-114",
                      "another device owns source %u exclusively", s->source);
    return STATUS_SUCCESS;
}

static struct copy *new_copy(struct scanout *s, struct vidmm_device *device)
{
    struct copy *copy = util_zalloc(1, sizeof(*copy));

    if (!copy)
        return NULL;
    copy->scanout = s;
    copy->device = device;
    copy->wait = (struct vidmm_scanout_wait){.ready = done, .context = copy};
    list_push_back(&s->copies, &copy->link);
    return copy;
}

/* STATUS_RETRY: something else may have come meanwhile. */
static NTSTATUS await_change(const struct scanout *s)
{
    const bool waits = s->changing;

    while (s->changing && !s->all->stop && !sim_current->stopped)
        (void)sim_waitq_wait(&s->all->news, SIM_FOREVER);
    if (s->all->stop || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    return waits ? STATUS_RETRY : STATUS_SUCCESS;
}

static NTSTATUS await_turn(struct scanout *s, const struct scanouts_copy_request *request)
{
    NTSTATUS status;

    do {
        status = queued_await_room(s->all, request->device, request->limit, request->do_not_wait);
        if (NT_SUCCESS(status))
            status = await_change(s);
    } while (status == STATUS_RETRY);
    return status;
}

NTSTATUS copy_begin_flip(struct scanout *s, const struct scanouts_copy_request *request,
                         struct copy **copy)
{
    NTSTATUS status;

    s->all->users++; /* until copy_asked */
    status = await_turn(s, request);
    *copy = NT_SUCCESS(status) ? new_copy(s, request->device) : NULL;
    if (*copy) {
        (*copy)->flips = true;
        return status;
    }
    queued_leave(s->all);
    return NT_SUCCESS(status) ? STATUS_NO_MEMORY : status;
}

NTSTATUS scanouts_copy_begin(struct scanouts *scanouts, const struct scanouts_copy_request *request,
                             struct scanouts_copy *handle)
{
    struct scanout *s = &scanouts->source[request->source];
    NTSTATUS status;

    scanouts->users++; /* until its end */
    status = await_turn(s, request);
    if (NT_SUCCESS(status))
        status = check_owner(s, request->device);
    handle->record = NT_SUCCESS(status) ? new_copy(s, request->device) : NULL;
    if (!handle->record) {
        queued_leave(scanouts);
        return NT_SUCCESS(status) ? STATUS_NO_MEMORY : status;
    }
    status = find_target(s, request->device, &handle->target);
    if (!NT_SUCCESS(status))
        scanouts_copy_end(handle);
    return status;
}

/* ---- flips to nothing else ---- */

static const struct shown *latest(const struct scanout *s)
{
    if (!list_empty(&s->waiting))
        return &CONTAINER(s->waiting.prev, struct flip, link)->primary;
    if (s->moving)
        return &s->moving->primary;
    return s->handed_count ? &s->handed[s->handed_count - 1]->primary : &s->now;
}

NTSTATUS scanouts_same(struct scanouts *scanouts, const struct scanouts_copy_request *request,
                       struct scanouts_same *same)
{
    struct scanout *s = &scanouts->source[request->source];
    const struct shown *last = latest(s);
    struct copy *copy;
    NTSTATUS status;

    *same = (struct scanouts_same){.handle = last->handle, .shared = !last->allocation};
    if (!same->shared && last->device == request->device)
        return STATUS_SUCCESS;
    if (!same->shared || !s->shared)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-339", "source %u shows %s", request->source,
                      same->shared ? "nothing" : "a primary of another device");
    status = copy_begin_flip(s, request, &copy); /* while it is opened, it stays */
    if (!NT_SUCCESS(status))
        return status;
    status = s->shared ? primary_open(s->shared, request->device, &same->handle)
                       : STATUS_INVALID_PARAMETER;
    copy_drop(copy);
    return status;
}
