/* SPDX-License-Identifier: MIT */
#include "modes/update.h"
#include "ddi/ddi.h"
#include "modes/apply.h"
#include "modes/connections.h"
#include "modes/enumerate.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/recommend.h"
#include "modes/vidpn.h"
#include "verify/verify.h"

#define LINK_RETRIES 3u /* DISP-099 */

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

/* Is its path to go? Also that of a target that was driven without a monitor. */
static bool leaves(const struct modes_target *target)
{
    return modes_has_left(target) || target->going || target->joined;
}

/* VIDPN-202: without the paths of those that have left; then they are gone. */
static NTSTATUS departures(struct modes *modes)
{
    struct vidpn *vidpn = NULL;
    NTSTATUS status = STATUS_SUCCESS;
    bool again = false;

    for (UINT i = 0; i < modes->targets; i++) {
        const struct modes_target *target = &modes->target[i];

        if (target->gone || !leaves(target) || !has_path(modes, target))
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
        struct modes_target *target = &modes->target[i];

        if (modes_has_left(target))
            monitor_depart(target);
        target->left = false;
        if (target->going && !has_path(modes, target)) /* else it is tried again */
            connections_free(modes, target);
    }
    return status;
}

NTSTATUS modes_remove_path(struct modes *modes, const struct modes_target *target)
{
    struct vidpn *vidpn = vidpn_copy(modes->active);

    if (!vidpn)
        return STATUS_NO_MEMORY;
    vidpn_remove(vidpn, vidpn_path_to(vidpn, target->id));
    return commit_rest(modes, vidpn, false);
}

/* VIDPN-201: the paths that are there stay pinned, and one is added; if that does not go, all are
 * chosen anew. */
NTSTATUS modes_add_path(struct modes *modes, const struct modes_target *target)
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

/* DISP-099: it gets no path until something else is on it. */
static NTSTATUS give_up(struct modes *modes, struct modes_target *target)
{
    VIOLATION("DISP-099",
              "the link of target 0x%x could not be configured, also with %u other modes; its path "
              "is removed",
              target->id, target->retries);
    target->barred = true;
    return modes_remove_path(modes, target);
}

/* DISP-098: the link does not carry the mode; the next lower one. */
static NTSTATUS retry_link(struct modes *modes, struct modes_target *target)
{
    const union mode *mode = mode_set_pinned(*vidpn_target_set(modes->active, target->id));
    NTSTATUS status = STATUS_GRAPHICS_INVALID_VIDPN;

    target->failed = false;
    if (!has_path(modes, target) || !mode)
        return STATUS_SUCCESS;
    target->limit = modes_signal_load(&mode->target.VideoSignalInfo);
    if (target->retries < LINK_RETRIES) {
        target->retries++;
        status = choose_again(modes, target);
        if (status == STATUS_NO_MEMORY) {
            target->retries--;
            target->failed = true;
        }
    }
    return NT_SUCCESS(status) || status == STATUS_NO_MEMORY || modes->ddi->gone
               ? status
               : give_up(modes, target);
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
    if (!target->monitor || !target->forced)
        return status;
    target->forced = false; /* VIDPN-207: its path gets modes of the monitor */
    target->other = has_path(modes, target);
    return target->other ? look_again(modes, target) : status;
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

        if (!modes_can_light(target) || has_path(modes, target))
            continue;
        added = modes_add_path(modes, target);
        target->fresh = added == STATUS_NO_MEMORY;
        keep_first(&status, added);
    }
    return status;
}

static NTSTATUS arrivals(struct modes *modes)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (UINT i = 0; i < modes->targets; i++) {
        struct modes_target *target = &modes->target[i];

        if (target->gone || modes_has_left(target)) /* no memory to see to that yet */
            continue;
        if (target->connected && target->monitor && (target->changed || target->other))
            keep_first(&status, look_again(modes, target));
        if (target->connected && !target->monitor)
            keep_first(&status, arrive(modes, target));
        if (target->failed)
            keep_first(&status, retry_link(modes, target));
    }
    return status;
}

NTSTATUS modes_meet_monitors(struct modes *modes)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (UINT i = 0; i < modes->targets; i++)
        if (!modes->target[i].gone && modes->target[i].connected && !modes->target[i].monitor)
            keep_first(&status, arrive(modes, &modes->target[i]));
    return status;
}

NTSTATUS modes_update(struct modes *modes)
{
    NTSTATUS status = departures(modes);

    keep_first(&status, arrivals(modes));
    keep_first(&status, add_paths(modes));
    return status;
}

static bool any_to_light(const struct modes *modes)
{
    bool any = false;

    for (UINT i = 0; i < modes->targets; i++)
        any |= !modes->target[i].gone && modes_can_light(&modes->target[i]);
    return any;
}

/* VIDPN-161, VIDPN-166 */
NTSTATUS modes_begin(struct modes *modes)
{
    const bool old = modes->version < DXGKDDI_INTERFACE_VERSION_WIN7;
    const struct modes_reason reason = {.reason = old ? DXGK_RFVR_USERMODE : DXGK_RFVR_FIRMWARE};
    NTSTATUS status;

    if (!old && !modes->firmware_set)
        return STATUS_SUCCESS;
    status = arrivals(modes);
    if (!NT_SUCCESS(status) || !any_to_light(modes))
        return status;
    modes->connections.inherits = modes->firmware_set;
    status = modes_recommend(modes, &reason);
    modes->connections.inherits = false;
    if (old && !NT_SUCCESS(status) && status != STATUS_NO_MEMORY)
        status = modes_recommend_topology(modes);
    return status == STATUS_NO_MEMORY ? status : STATUS_SUCCESS;
}
