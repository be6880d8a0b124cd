/* SPDX-License-Identifier: MIT */
#include "modes/apply.h"
#include "modes/modes.h"
#include "modes/refusals.h"
#include "modes/vidpn.h"

/* Whether another choice is to be tried after a commit with this status. */
static bool may_retry(const struct modes *modes, NTSTATUS status, UINT before)
{
    return !NT_SUCCESS(status) && modes->refusals > before;
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
        status = modes_commit(modes, copy, how);
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
            status = modes_commit(modes, vidpn, how);
    } while (may_retry(modes, status, before));
    modes_refused_forget(modes);
    return status;
}
