/* SPDX-License-Identifier: MIT */
#include "modes/display_power.h"
#include "ddi/ddi.h"
#include "modes/apply.h"
#include "modes/connections.h"
#include "modes/enumerate.h"
#include "modes/kept.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "verify/verify.h"

static void child_power(struct modes *modes, UINT target, DEVICE_POWER_STATE state)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (ddi_has(modes->ddi, DxgkDdiSetPowerState))
        status = ddi_set_power_state(modes->ddi, target, state, PowerActionNone);
    if (!NT_SUCCESS(status) && !modes->ddi->gone)
        VIOLATION("DISP-150", "DxgkDdiSetPowerState returned %s for child 0x%x",
                  nt_status_text(status).text, target);
}

/* ---- off ---- */

NTSTATUS modes_turn_off(struct modes *modes, struct modes_target *target)
{
    struct vidpn *vidpn, *kept, *before;
    NTSTATUS status = STATUS_NO_MEMORY;

    if (!vidpn_path_to(modes->active, target->id)) {
        target->off = true;
        return STATUS_SUCCESS;
    }
    vidpn = vidpn_copy(modes->active);
    kept = vidpn_copy(modes->active);
    if (!vidpn || !kept) {
        vidpn_destroy(vidpn);
        vidpn_destroy(kept);
        return status;
    }
    before = target->kept;
    target->kept = kept;
    target->off = true; /* VIDPN-215 */
    vidpn_remove(vidpn, vidpn_path_to(vidpn, target->id));
    status = modes_commit(modes, vidpn, COMMIT_POWER);
    if (status == STATUS_NO_MEMORY) { /* it is still on */
        target->off = false;
        target->kept = before;
        before = kept;
    }
    vidpn_destroy(before);
    if (status == STATUS_NO_MEMORY)
        return status;
    child_power(modes, target->id, PowerDeviceD3);
    return status;
}

/* ---- on ---- */

/* A path with nothing pinned, from a source that has none. False: there is none such. */
static bool add_fresh(struct vidpn *vidpn, const struct modes_target *target)
{
    D3DKMDT_VIDPN_PRESENT_PATH path;
    UINT source = 0;

    while (source < vidpn->modes->sources && vidpn_paths_from(vidpn, source))
        source++;
    path = vidpn_new_path(source, target->id, vidpn_free_ordinal(vidpn));
    return source < vidpn->modes->sources && vidpn_add(vidpn, &path);
}

/* The paths of the targets whose monitors are on are to be in the VidPN. Sets *fresh if modes are
 * to be chosen for one. */
static void add_paths(const struct modes *modes, struct vidpn *vidpn, bool *fresh)
{
    for (UINT i = 0; i < modes->targets; i++) {
        const struct modes_target *target = &modes->target[i];

        if (modes_can_light(target) && target->kept && !vidpn_path_to(vidpn, target->id))
            (void)modes_add_kept(vidpn, target);
    }
    for (UINT i = 0; i < modes->targets; i++) {
        const struct modes_target *target = &modes->target[i];

        if (modes_can_light(target) && !vidpn_path_to(vidpn, target->id))
            *fresh |= add_fresh(vidpn, target);
    }
}

/* Light what is to be lit, as it was before if the driver still supports that. */
static NTSTATUS light(struct modes *modes, struct vidpn *vidpn, enum commit_how how)
{
    bool fresh = false;
    NTSTATUS status = STATUS_NO_MEMORY;

    if (!vidpn)
        return status;
    add_paths(modes, vidpn, &fresh);
    if (fresh) {
        status = modes_apply(modes, vidpn, NULL, how);
    } else {
        status = vidpn->paths ? modes_ask_supported(modes, vidpn) : STATUS_SUCCESS;
        if (NT_SUCCESS(status))
            status = modes_commit(modes, vidpn, how);
        else
            vidpn_destroy(vidpn);
    }
    return NT_SUCCESS(status) || status == STATUS_NO_MEMORY || modes->ddi->gone
               ? status
               : modes_apply_all(modes, how);
}

NTSTATUS modes_turn_on(struct modes *modes, struct modes_target *target)
{
    NTSTATUS status;

    target->off = false;
    child_power(modes, target->id, PowerDeviceD0);
    status = light(modes, vidpn_copy(modes->active), COMMIT_POWER);
    if (status == STATUS_NO_MEMORY && !vidpn_path_to(modes->active, target->id)) {
        child_power(modes, target->id, PowerDeviceD3); /* it is still off */
        target->off = true;
    }
    return status;
}

/* ---- changes while it is off ---- */

struct modes_target *modes_dark_target(const struct modes *modes, UINT source)
{
    for (UINT i = 0; i < modes->targets; i++) {
        struct modes_target *target = &modes->target[i];

        if (target->off && target->kept && vidpn_path(target->kept, source, target->id))
            return target;
    }
    return NULL;
}

const struct vidpn *modes_lit_or_asleep(const struct modes *modes, UINT source)
{
    const struct modes_target *dark = vidpn_paths_from(modes->active, source)
                                          ? NULL
                                          : modes_dark_target(modes, source);

    return dark && dark->asleep ? dark->kept : modes->active;
}

NTSTATUS modes_change_dark(struct modes *modes, struct modes_target *target,
                           const struct modes_wish *wish)
{
    struct vidpn *vidpn = vidpn_copy(modes->active);
    const D3DKMDT_VIDPN_PRESENT_PATH path = vidpn_new_path(wish->source, target->id,
                                                           vidpn ? vidpn_free_ordinal(vidpn) : 0);
    struct vidpn *before;
    NTSTATUS status = STATUS_NO_MEMORY;

    if (vidpn && vidpn_add(vidpn, &path))
        status = modes_choose(modes, &vidpn, wish);
    if (!NT_SUCCESS(status)) {
        vidpn_destroy(vidpn);
        return status;
    }
    before = target->kept;
    target->kept = vidpn;
    status = modes_commit_dark(modes, vidpn, wish->source);
    if (NT_SUCCESS(status)) {
        target->last = wish->size;
    } else {
        target->kept = before;
        before = vidpn;
    }
    vidpn_destroy(before);
    return status;
}

/* ---- with the adapter ---- */

NTSTATUS modes_sleep(struct modes *modes)
{
    NTSTATUS status = STATUS_SUCCESS, off;

    for (UINT i = 0; i < modes->targets; i++) {
        struct modes_target *target = &modes->target[i];

        if (!target->monitor || target->off)
            continue;
        off = modes_turn_off(modes, target);
        if (NT_SUCCESS(status))
            status = off;
        target->asleep = target->off;
    }
    if (modes->connections.used && status != STATUS_NO_MEMORY)
        connections_disable(modes); /* DISP-085 */
    modes->asleep = true;
    return status;
}

/* DISP-153: connections have been read again meanwhile. */
static void meet(struct modes *modes, struct modes_target *target)
{
    if (modes_has_left(target))
        monitor_depart(target);
    target->left = false;
    if (!target->asleep)
        return;
    target->asleep = target->off = false;
    child_power(modes, target->id, PowerDeviceD0);
}

void modes_wake(struct modes *modes)
{
    modes->asleep = false;
    if (modes->connections.used)
        connections_enable(modes);
    else if (modes->look.run)
        modes->look.run(modes->look.context, MODES_LOOK_RESUME, true);
    for (UINT i = 0; i < modes->targets; i++) {
        struct modes_target *target = &modes->target[i];

        meet(modes, target);
        if (target->monitor || !target->connected)
            continue;
        target->changed = false;
        (void)monitor_arrive(modes, target);
    }
}

NTSTATUS modes_light_again(struct modes *modes)
{
    return light(modes, vidpn_copy(modes->active), COMMIT_RESUME);
}
