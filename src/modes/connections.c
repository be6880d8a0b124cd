/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/change.h"
#include "modes/connections.h"
#include "ddi/entries_connection.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define MOST_OF_A_DRAIN 1024u /* DISP-091 */

/* ---- control ---- */

static NTSTATUS control(struct modes *modes, enum connection_control what, UINT target,
                        bool non_destructive_only)
{
    DXGKARG_DISPLAYDETECTCONTROL args;

    memset(&args, 0, sizeof(args));
    args.TargetId = target & 0xFFFFFF;
    args.Type = what;
    args.NonDestructiveOnly = non_destructive_only;
    return ddi_display_detect_control(modes->ddi, &args);
}

void connections_enable(struct modes *modes)
{
    NTSTATUS status = control(modes, CONNECTION_ENABLE, 0, false);

    modes->connections.enabled = NT_SUCCESS(status);
    if (!NT_SUCCESS(status)) {
        if (!modes->ddi->gone)
            VIOLATION("DISP-086",
                      "DxgkDdiDisplayDetectControl returned %s for DXGK_DDCT_ENABLEHPD; external "
                      "targets stay dark",
                      nt_status_text(status).text);
        return;
    }
    if (modes->connections.lit_by_firmware && !modes->connections.any &&
        !modes->connections.indicated)
        WARNING("DISP-085", "DxgkDdiDisplayDetectControl(DXGK_DDCT_ENABLEHPD) has returned, and "
                            "the driver has not indicated the display that firmware has lit");
    if (modes->connections.indicated)
        connections_drain(modes);
}

void connections_disable(struct modes *modes)
{
    if (!modes->connections.enabled)
        return;
    modes->connections.enabled = false;
    (void)control(modes, CONNECTION_DISABLE, 0, false);
}

/* A driver that fails has found nothing (DISP-086). */
void connections_poll_all(struct modes *modes, bool non_destructive_only)
{
    if (modes->connections.enabled)
        (void)control(modes, CONNECTION_POLL_ALL, 0, non_destructive_only);
}

NTSTATUS connections_poll_one(struct modes *modes, UINT target, bool non_destructive_only)
{
    if (!modes_target(modes, target))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET, "DISP-087",
                      "the adapter has no target 0x%x", target);
    if (modes->connections.enabled)
        (void)control(modes, CONNECTION_POLL_ONE, target, non_destructive_only);
    return STATUS_SUCCESS;
}

/* ---- monitors ---- */

bool connections_analog(D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    switch ((int)technology) {
    case D3DKMDT_VOT_HD15:
    case D3DKMDT_VOT_SVIDEO:
    case D3DKMDT_VOT_COMPOSITE_VIDEO:
    case D3DKMDT_VOT_COMPONENT_VIDEO:
        return true;
    default:
        return false;
    }
}

static void note_connected(struct modes_target *target, bool connected)
{
    target->changed |= connected;
    target->left |= !connected;
    target->connected = connected;
    target->unknown = false;
    if (!connected)
        return;
    target->barred = false;
    target->retries = 0;
    target->limit = 0;
}

/* DISP-094 */
static void monitor_connected(struct modes_target *target, const DXGK_CONNECTION_CHANGE *change)
{
    const D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY link = change->MonitorConnect.LinkTargetType;

    if (link == D3DKMDT_VOT_INTERNAL || link == D3DKMDT_VOT_MIRACAST) {
        VIOLATION("DISP-094", "LinkTargetType of a monitor on target 0x%x is %s", target->id,
                  link == D3DKMDT_VOT_INTERNAL ? "D3DKMDT_VOT_INTERNAL" : "D3DKMDT_VOT_MIRACAST");
        return;
    }
    target->technology = link;
    note_connected(target, true);
}

/* DISP-095 */
static void monitor_unknown(struct modes_target *target)
{
    if (!connections_analog(target->technology)) {
        VIOLATION("DISP-095", "MonitorStatusUnknown of target 0x%x, whose technology is %d: digital",
                  target->id, (int)target->technology);
        return;
    }
    note_connected(target, false);
    target->unknown = true;
}

/* ---- targets ---- */

/* DISP-097. NULL: it cannot be added, which was told. */
static struct modes_target *add_target(struct modes *modes, const DXGK_CONNECTION_CHANGE *change,
                                       UINT id, D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    struct modes_target *target = NULL;

    if (modes_target(modes, id) || !id || id > 0xFFFFFF) {
        VIOLATION("DISP-097", "NewTargetId 0x%x below target 0x%x %s", id,
                  (unsigned)change->TargetId,
                  modes_target(modes, id) ? "is a target that is there already"
                                          : "is none of 1 to 0xFFFFFF");
        return NULL;
    }
    for (UINT i = 0; i < modes->targets && !target; i++)
        if (modes->target[i].gone)
            target = &modes->target[i];
    if (!target) {
        VIOLATION("DISP-097", "no room for target 0x%x: there are %u dynamic targets already", id,
                  CONNECTIONS_MAX_DYNAMIC);
        return NULL;
    }
    *target = (struct modes_target){.id = id, .technology = technology, .dynamic = true};
    if (vidpn_admit(modes->active, target) &&
        (!modes->connections.told || vidpn_admit(modes->connections.told, target)))
        return target;
    *target = (struct modes_target){.gone = true};
    return NULL;
}

static void target_connected(struct modes *modes, struct modes_target *target,
                             const DXGK_CONNECTION_CHANGE *change)
{
    struct modes_target *added = add_target(modes, change, change->TargetConnect.NewTargetId,
                                            change->TargetConnect.BaseTargetType);

    if (added)
        added->above = target;
}

/* The first entry of a drain makes the new target; the others name it, too. */
static void target_joined(struct modes *modes, struct modes_target *target,
                          const DXGK_CONNECTION_CHANGE *change)
{
    const UINT id = change->TargetJoin.NewTargetId;
    struct modes_target *joined = modes_target(modes, id);

    if (target->joined) {
        VIOLATION("DISP-093", "target 0x%x joins target 0x%x, and is part of target 0x%x already",
                  target->id, id, target->joined->id);
        return;
    }
    if (joined && joined->join_of == modes->connections.drains &&
        joined->technology != change->TargetJoin.BaseTargetType) {
        VIOLATION("DISP-096", "BaseTargetType of target 0x%x is %d, and was %d", id,
                  (int)change->TargetJoin.BaseTargetType, (int)joined->technology);
        return;
    }
    if (joined && joined->join_of && joined->join_of != modes->connections.drains) {
        VIOLATION("DISP-096", "target 0x%x joins target 0x%x, whose parts came in an earlier batch",
                  target->id, id);
        return;
    }
    if (!joined || !joined->join_of)
        joined = add_target(modes, change, id, change->TargetJoin.BaseTargetType);
    if (!joined)
        return;
    joined->join_of = modes->connections.drains;
    target->joined = joined;
    if (target->monitor || target->connected)
        note_connected(target, false);
}

static bool hangs_from(const struct modes_target *target, const struct modes_target *base)
{
    return target->above == base || base->joined == target;
}

/* DISP-096: with all that is below. */
static void leave(struct modes *modes, struct modes_target *target)
{
    if (target->going)
        return;
    target->going = true;
    note_connected(target, false);
    for (UINT i = 0; i < modes->targets; i++)
        if (!modes->target[i].gone && hangs_from(&modes->target[i], target))
            leave(modes, &modes->target[i]);
}

static void target_disconnected(struct modes *modes, struct modes_target *target)
{
    if (!target->dynamic) {
        VIOLATION("DISP-093", "target 0x%x, a child of the adapter, was reported as disconnected",
                  target->id);
        return;
    }
    leave(modes, target);
    modes->again = true;
}

void connections_free(struct modes *modes, struct modes_target *target)
{
    for (UINT i = 0; i < modes->targets; i++) {
        if (modes->target[i].joined == target)
            modes->target[i].joined = NULL;
        if (modes->target[i].above == target)
            modes->target[i].above = NULL;
    }
    *target = (struct modes_target){.gone = true};
}

/* ---- links ---- */

static const D3DKMDT_VIDPN_PRESENT_PATH *path_of(const struct modes *modes,
                                                 const struct modes_target *target)
{
    return target->gone ? NULL : vidpn_path_to(modes->active, target->id);
}

/* The first path of a source has its vertical syncs. */
static bool leads(const struct modes *modes, const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    return path && vidpn_path_from(modes->active, path->VidPnSourceId, 0) == path;
}

static void stand_still(const struct modes *modes, const struct modes_target *target)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = path_of(modes, target);

    if (leads(modes, path) && modes->viewer.ends)
        modes->viewer.ends(modes->viewer.context, path->VidPnSourceId);
}

void connections_hold(const struct modes *modes)
{
    for (UINT i = 0; modes->connections.used && i < modes->targets; i++)
        if (modes->target[i].stopped)
            stand_still(modes, &modes->target[i]);
}

/* What is to be seen has perhaps become another meanwhile, as when a display was off. */
static void show_again(struct modes *modes, UINT source)
{
    const struct modes_viewer *v = &modes->viewer;
    NTSTATUS status = v->prepare ? v->prepare(v->context, modes->active, source) : STATUS_SUCCESS;

    if (NT_SUCCESS(status))
        status = modes_change_begin(modes, "DxgkDdiSetVidPnSourceAddress");
    if (NT_SUCCESS(status)) {
        if (v->address)
            (void)v->address(v->context, modes->active, source);
        if (v->begins)
            v->begins(v->context, source);
        if (modes->source[source].visible && v->visible)
            v->visible(v->context, source);
        modes_change_end(modes);
    }
    if (v->settle)
        v->settle(v->context, source, NT_SUCCESS(status), true);
}

void connections_resume(struct modes *modes, const bool *shown)
{
    for (UINT i = 0; modes->connections.used && i < modes->targets; i++) {
        struct modes_target *target = &modes->target[i];
        const D3DKMDT_VIDPN_PRESENT_PATH *path = path_of(modes, target);

        if (target->resumes && leads(modes, path) && (!shown || !shown[path->VidPnSourceId]))
            show_again(modes, path->VidPnSourceId);
        target->resumes = false;
    }
}

/* DISP-098; what it does to the source follows. */
static void link_changed(struct modes *modes, struct modes_target *target,
                         enum connection_status status)
{
    switch (status) {
    case CONNECTION_LINK_STARTED:
        target->stopped = true;
        break;
    case CONNECTION_LINK_SUCCEEDED:
        target->retries = 0;
        target->limit = 0;
        target->resumes = target->stopped;
        target->stopped = false;
        break;
    default:
        target->stopped = false;
        target->failed = true;
        modes->again = true;
    }
}

static bool is_link(enum connection_status status)
{
    return status == CONNECTION_LINK_STARTED || status == CONNECTION_LINK_FAILED ||
           status == CONNECTION_LINK_SUCCEEDED;
}

void connections_told(struct modes *modes, struct modes_target *target,
                      const DXGK_CONNECTION_CHANGE *state)
{
    const ULONGLONG id = state->ConnectionChangeId;
    const enum connection_status status = (enum connection_status)state->ConnectionStatus;

    if (id == target->state)
        return; /* as it was */
    if (id <= modes->connections.last || state->TargetId != target->id) {
        VIOLATION("VIDPN-221",
                  "TargetState of target 0x%x has the change %llu of target 0x%x; its last one was "
                  "%llu",
                  target->id, (unsigned long long)id, (unsigned)state->TargetId,
                  (unsigned long long)target->state);
        return;
    }
    if (!is_link(status))
        return; /* the queue has it, too */
    target->state = target->foretold = id;
    link_changed(modes, target, status);
}

/* ---- the queue ---- */

static void apply(struct modes *modes, struct modes_target *target,
                  const DXGK_CONNECTION_CHANGE *change)
{
    switch ((int)change->ConnectionStatus) {
    case CONNECTION_TARGET_DISCONNECTED:
        target_disconnected(modes, target);
        break;
    case CONNECTION_TARGET_CONNECTED:
        target_connected(modes, target, change);
        break;
    case CONNECTION_TARGET_JOINED:
        target_joined(modes, target, change);
        break;
    case CONNECTION_MONITOR_CONNECTED:
        if (target->joined)
            VIOLATION("DISP-093", "a monitor on target 0x%x, which is part of target 0x%x",
                      target->id, target->joined->id);
        else
            monitor_connected(target, change);
        break;
    case CONNECTION_MONITOR_DISCONNECTED:
        note_connected(target, false);
        break;
    case CONNECTION_MONITOR_UNKNOWN:
        monitor_unknown(target);
        break;
    case CONNECTION_LINK_STARTED:
    case CONNECTION_LINK_FAILED:
    case CONNECTION_LINK_SUCCEEDED:
        link_changed(modes, target, (enum connection_status)change->ConnectionStatus);
        connections_hold(modes);
        connections_resume(modes, NULL);
        break;
    default:
        VIOLATION("DISP-093", "ConnectionStatus of a change of target 0x%x is %u", target->id,
                  (unsigned)change->ConnectionStatus);
    }
}

/* DISP-100 */
static void check_usb4(const struct modes *modes, const DXGK_CONNECTION_CHANGE *change)
{
    if (modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM3_0 &&
        change->ConnectionStatus == CONNECTION_MONITOR_CONNECTED &&
        change->MonitorConnect.MonitorConnectFlags.Usb4DisplayPortMonitor &&
        !modes->connections.usb4)
        VIOLATION("DISP-100",
                  "Usb4DisplayPortMonitor is set for target 0x%x, and SupportUsb4Targets is clear",
                  (unsigned)change->TargetId);
}

static void take(struct modes *modes, const DXGK_CONNECTION_CHANGE *change)
{
    struct modes_connections *c = &modes->connections;
    const ULONGLONG id = change->ConnectionChangeId;
    struct modes_target *target = modes_target(modes, change->TargetId);

    if (c->any && id <= c->last) { /* DISP-092 */
        VIOLATION("DISP-092", "a change has the id %llu, and the one before it had %llu",
                  (unsigned long long)id, (unsigned long long)c->last);
        return;
    }
    c->any = true;
    c->last = id;
    if (!target || target->going) { /* DISP-093 */
        VIOLATION("DISP-093", "a change of target 0x%x, which the adapter does not have",
                  (unsigned)change->TargetId);
        return;
    }
    check_usb4(modes, change);
    if (target->foretold == id && target->foretold) {
        target->foretold = 0;
        return; /* SetTimingsFromVidPn has told it */
    }
    target->state = id;
    apply(modes, target, change);
}

void connections_drain(struct modes *modes)
{
    static const DXGKARG_QUERYCONNECTIONCHANGE untouched;
    DXGKARG_QUERYCONNECTIONCHANGE args;
    NTSTATUS status;

    modes->connections.indicated = false;
    modes->connections.drains++;
    for (unsigned i = 0; i < MOST_OF_A_DRAIN; i++) {
        memset(&args, 0, sizeof(args)); /* DISP-091 */
        status = ddi_query_connection_change(modes->ddi, &args);
        if (status == STATUS_ALREADY_COMPLETE) {
            if (memcmp((const char *)&args, (const char *)&untouched, sizeof(args)) != 0)
                WARNING("DISP-090", "DxgkDdiQueryConnectionChange returned "
                                    "STATUS_ALREADY_COMPLETE, and has changed the structure");
            return;
        }
        if (!NT_SUCCESS(status)) {
            if (!modes->ddi->gone)
                WARNING("DISP-091", "DxgkDdiQueryConnectionChange returned %s",
                        nt_status_text(status).text);
            return;
        }
        take(modes, &args.ConnectionChange);
    }
    VIOLATION("DISP-091",
              "%u changes at once: DxgkDdiQueryConnectionChange never returned "
              "STATUS_ALREADY_COMPLETE",
              MOST_OF_A_DRAIN);
}
