/* SPDX-License-Identifier: MIT */
#include "modes/arrange.h"
#include "modes/apply.h"
#include "modes/commit.h"
#include "modes/connections.h"
#include "modes/modes.h"
#include "modes/update.h"
#include "modes/vidpn.h"
#include "verify/refusal.h"

/* ---- clones ---- */

/* The path to the target comes from this source, if it does not yet. False: out of memory. */
static bool redirect(struct vidpn *vidpn, UINT source, UINT target)
{
    D3DKMDT_VIDPN_PRESENT_PATH *old = vidpn_path_to(vidpn, target);
    D3DKMDT_VIDPN_PRESENT_PATH path;
    UINT ordinal;

    if (old && old->VidPnSourceId == source)
        return true;
    ordinal = old ? (UINT)old->ImportanceOrdinal : vidpn_free_ordinal(vidpn);
    if (old)
        vidpn_remove(vidpn, old);
    path = vidpn_new_path(source, target, ordinal);
    return vidpn_add(vidpn, &path);
}

static NTSTATUS clone(struct modes *modes)
{
    struct vidpn *vidpn = modes->active->paths ? vidpn_copy(modes->active) : NULL;
    UINT source, displays = 0;

    if (!modes->active->paths)
        return refuse(STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED, "VIDPN-206",
                      "no display shows anything");
    source = modes->active->path[0].VidPnSourceId;
    for (UINT i = 0; vidpn && i < modes->targets; i++) {
        if (!modes_can_light(&modes->target[i]))
            continue;
        displays++;
        if (!redirect(vidpn, source, modes->target[i].id)) {
            vidpn_destroy(vidpn);
            vidpn = NULL;
        }
    }
    if (!vidpn)
        return STATUS_NO_MEMORY;
    if (displays < 2) {
        vidpn_destroy(vidpn);
        return refuse(STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED, "VIDPN-206",
                      "one display cannot show what another does: there is one alone");
    }
    return modes_apply(modes, vidpn, NULL, COMMIT_CHANGE);
}

NTSTATUS modes_arrange(struct modes *modes, enum modes_arrangement arrangement)
{
    return arrangement == MODES_CLONE ? clone(modes) : modes_apply_all(modes, COMMIT_CHANGE);
}

/* ---- forced targets ---- */

static NTSTATUS release(struct modes *modes, struct modes_target *target)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (vidpn_path_to(modes->active, target->id))
        status = modes_remove_path(modes, target);
    target->forced = status == STATUS_NO_MEMORY;
    return status;
}

NTSTATUS modes_force(struct modes *modes, UINT id, bool on)
{
    struct modes_target *target = modes_target(modes, id);
    NTSTATUS status;

    if (!target)
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET, "VIDPN-207",
                      "the adapter has no target 0x%x", id);
    if (!on)
        return target->forced ? release(modes, target) : STATUS_SUCCESS;
    if (target->monitor || target->forced)
        return STATUS_SUCCESS;
    if (!connections_analog(target->technology) || target->joined)
        return refuse(STATUS_GRAPHICS_MONITOR_NOT_CONNECTED, "VIDPN-207",
                      "no monitor is on target 0x%x, which is not analog (technology %d)", id,
                      (int)target->technology);
    target->forced = true;
    status = modes_add_path(modes, target);
    if (NT_SUCCESS(status) && !vidpn_path_to(modes->active, id))
        status = refuse(STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED, "VIDPN-207",
                        "no source is left for target 0x%x, or the driver does not support it", id);
    target->forced = NT_SUCCESS(status);
    return status;
}
