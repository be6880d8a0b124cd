/* SPDX-License-Identifier: MIT */
#include "modes/apply.h"
#include "modes/modes.h"
#include "modes/refusals.h"
#include "modes/vidpn.h"
#include "verify/refusal.h"

/* Whether another choice is to be tried after a commit with this status. */
static bool may_retry(const struct modes *modes, NTSTATUS status, UINT before)
{
    return !NT_SUCCESS(status) && modes->refusals > before;
}

/* VIDPN-208: has a monitor left meanwhile that a source to be committed leads to? The worker sees
 * to that next. */
static bool is_out_of_date(const struct modes *modes, const struct vidpn *vidpn)
{
    for (UINT i = 0; i < vidpn->paths; i++)
        if (modes_has_left(modes_target(modes, vidpn->path[i].VidPnTargetId)) &&
            !vidpn_source_equal(modes->active, vidpn, vidpn->path[i].VidPnSourceId))
            return true;
    return false;
}

static NTSTATUS commit(struct modes *modes, struct vidpn *vidpn, enum commit_how how)
{
    if (!is_out_of_date(modes, vidpn))
        return modes_commit(modes, vidpn, how);
    vidpn_destroy(vidpn);
    return refuse(STATUS_GRAPHICS_MONITOR_NOT_CONNECTED, "VIDPN-208",
                  "a monitor has left while modes were chosen");
}

NTSTATUS modes_apply(struct modes *modes, struct vidpn *vidpn, const struct modes_wish *wish,
                     enum commit_how how)
{
    NTSTATUS status = STATUS_SUCCESS, chosen;
    struct vidpn *copy;
    UINT before;

    modes_refused_forget(modes);
    do {
        before = modes->refusals;
        copy = vidpn_copy(vidpn);
        chosen = copy ? modes_choose(modes, &copy, wish) : STATUS_NO_MEMORY;
        if (!NT_SUCCESS(chosen)) {
            vidpn_destroy(copy);
            if (NT_SUCCESS(status))
                status = chosen; /* else that of the commit that has failed */
            break;
        }
        status = commit(modes, copy, how);
    } while (may_retry(modes, status, before));
    modes_refused_forget(modes);
    vidpn_destroy(vidpn);
    return status;
}

NTSTATUS modes_apply_all(struct modes *modes, enum commit_how how)
{
    struct vidpn *vidpn;
    NTSTATUS status;
    UINT before;

    modes_refused_forget(modes);
    do {
        before = modes->refusals;
        vidpn = NULL;
        status = modes_choose_all(modes, &vidpn);
        if (vidpn)
            status = commit(modes, vidpn, how);
    } while (may_retry(modes, status, before));
    modes_refused_forget(modes);
    return status;
}
