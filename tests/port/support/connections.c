/* SPDX-License-Identifier: MIT */
#include "port/support/connections.h"

#include <string.h>

#define QUEUE   64u
#define TARGETS 32u

struct connection_record connection_seen;
struct connection_answers connection;

static struct {
    DXGK_CONNECTION_CHANGE waiting[QUEUE];
    UINT first, count;
    ULONGLONG id;
    DXGK_CONNECTION_CHANGE last[TARGETS]; /* of each target */
    UINT targets;
} queue;

/* ---- changes ---- */

DXGK_CONNECTION_CHANGE change_monitor(UINT target, enum connection_status status)
{
    DXGK_CONNECTION_CHANGE change = {.TargetId = target & 0xFFFFFF, .ConnectionStatus = status};

    if (status == CONNECTION_MONITOR_CONNECTED)
        change.MonitorConnect.LinkTargetType = D3DKMDT_VOT_HDMI;
    return change;
}

DXGK_CONNECTION_CHANGE change_target(UINT target, enum connection_status status, UINT fresh,
                                     D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    DXGK_CONNECTION_CHANGE change = change_monitor(target, status);

    change.TargetConnect.BaseTargetType = technology;
    change.TargetConnect.NewTargetId = fresh;
    return change;
}

static DXGK_CONNECTION_CHANGE *last_of(UINT target)
{
    for (UINT i = 0; i < queue.targets; i++)
        if (queue.last[i].TargetId == target)
            return &queue.last[i];
    CHECK(queue.targets < TARGETS);
    queue.last[queue.targets] = (DXGK_CONNECTION_CHANGE){.TargetId = target & 0xFFFFFF};
    return &queue.last[queue.targets++];
}

void connections_queue_as(DXGK_CONNECTION_CHANGE change, ULONGLONG id)
{
    CHECK(queue.count < QUEUE);
    change.ConnectionChangeId = id;
    queue.waiting[(queue.first + queue.count++) % QUEUE] = change;
}

void connections_queue(DXGK_CONNECTION_CHANGE change)
{
    connections_queue_as(change, ++queue.id);
}

NTSTATUS connections_indicate(struct probe *p)
{
    const NTSTATUS status = p->state[0].dxgk.DxgkCbIndicateConnectorChange(
        p->state[0].dxgk.DeviceHandle);

    probe_sleep(1000000);
    (void)display_update(display_modes(p));
    return status;
}

void connections_tell(struct probe *p, DXGK_CONNECTION_CHANGE change)
{
    connections_queue(change);
    CHECK(connections_indicate(p) == STATUS_SUCCESS);
}

/* ---- the driver ---- */

static void control(struct probe *p, struct probe_call *call)
{
    const DXGKARG_DISPLAYDETECTCONTROL *args = (const DXGKARG_DISPLAYDETECTCONTROL *)(uintptr_t)
                                                   call->arg[1];

    connection_seen.control[connection_seen.controls++ % CONNECTION_CALLS] = *args;
    call->answered = true;
    call->result = (uint64_t)(args->Type == CONNECTION_ENABLE ? connection.enable_status
                                                              : connection.poll_status);
    if (args->Type != CONNECTION_ENABLE || connection.quiet)
        return;
    for (UINT i = 0; i < display.outputs && i < 4; i++)
        if (display.connected[i] && !last_of(DISPLAY_CHILD + i)->ConnectionChangeId)
            connections_queue(change_monitor(DISPLAY_CHILD + i, CONNECTION_MONITOR_CONNECTED));
    if (queue.count)
        (void)p->state[0].dxgk.DxgkCbIndicateConnectorChange(p->state[0].dxgk.DeviceHandle);
}

static void query(struct probe *p, struct probe_call *call)
{
    static const DXGKARG_QUERYCONNECTIONCHANGE zero;
    DXGKARG_QUERYCONNECTIONCHANGE *args = (DXGKARG_QUERYCONNECTIONCHANGE *)(uintptr_t)call->arg[1];

    (void)p;
    connection_seen.queries++;
    connection_seen.zeroed &= memcmp(args, &zero, sizeof(zero)) == 0;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    if (connection.query_status) {
        call->result = (uint64_t)(uint32_t)connection.query_status;
        return;
    }
    if (connection.endless)
        connections_queue(change_monitor(DISPLAY_CHILD, CONNECTION_MONITOR_CONNECTED));
    if (!queue.count) {
        call->result = (uint64_t)STATUS_ALREADY_COMPLETE;
        return;
    }
    args->ConnectionChange = queue.waiting[queue.first];
    if (connection.usb4 && args->ConnectionChange.ConnectionStatus == CONNECTION_MONITOR_CONNECTED)
        args->ConnectionChange.MonitorConnect.MonitorConnectFlags.Usb4DisplayPortMonitor = 1;
    *last_of(args->ConnectionChange.TargetId) = args->ConnectionChange;
    queue.first = (queue.first + 1) % QUEUE;
    queue.count--;
    connection_seen.given++;
}

static UINT look_at_vidpn(struct probe *p, D3DKMDT_HVIDPN vidpn, UINT target, D3DKMDT_2DREGION *size)
{
    const DXGK_VIDPN_INTERFACE *v = display_interface(p, vidpn);
    const DXGK_VIDPNTARGETMODESET_INTERFACE *modes;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_TARGET_MODE *pinned = NULL;
    D3DKMDT_HVIDPNTARGETMODESET set;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths = 0;

    CHECK(v->pfnGetTopology(vidpn, &handle, &topology) == STATUS_SUCCESS);
    CHECK(topology->pfnGetNumPaths(handle, &paths) == STATUS_SUCCESS);
    if (!paths || v->pfnAcquireTargetModeSet(vidpn, target, &set, &modes) != STATUS_SUCCESS)
        return (UINT)paths;
    if (modes->pfnAcquirePinnedModeInfo(set, &pinned) == STATUS_SUCCESS && pinned) {
        *size = pinned->VideoSignalInfo.ActiveSize;
        CHECK(modes->pfnReleaseModeInfo(set, pinned) == STATUS_SUCCESS);
    }
    CHECK(v->pfnReleaseTargetModeSet(vidpn, set) == STATUS_SUCCESS);
    return (UINT)paths;
}

static bool is_clean(const DXGKARG_SETTIMINGSFROMVIDPN *args)
{
    static const DXGK_CONNECTION_CHANGE none;
    bool clean = args->pResultsFlags->Value == 0;

    for (UINT i = 0; i < args->PathCount; i++)
        clean &= args->pSetTimingPathInfo[i].OutputFlags == 0 &&
                 args->pSetTimingPathInfo[i].DiagnosticInfo == 0 &&
                 memcmp(&args->pSetTimingPathInfo[i].TargetState, &none, sizeof(none)) == 0;
    return clean;
}

static void answer_states(const DXGKARG_SETTIMINGSFROMVIDPN *args)
{
    for (UINT i = 0; i < args->PathCount; i++) {
        DXGK_SET_TIMING_PATH_INFO *info = &args->pSetTimingPathInfo[i];

        if (connection.link &&
            (!connection.link_target || connection.link_target == info->VidPnTargetId) &&
            info->Input.Active) {
            DXGK_CONNECTION_CHANGE *last = last_of(info->VidPnTargetId);

            *last = change_monitor(info->VidPnTargetId, (enum connection_status)connection.link);
            last->ConnectionChangeId = ++queue.id;
            if (connection.queue_link)
                connections_queue_as(*last, queue.id);
        }
        info->TargetState = *last_of(info->VidPnTargetId);
    }
}

static void timing(struct probe *p, struct probe_call *call)
{
    DXGKARG_SETTIMINGSFROMVIDPN *args = (DXGKARG_SETTIMINGSFROMVIDPN *)(uintptr_t)call->arg[1];
    struct connection_timing *t =
        &connection_seen.timing[connection_seen.timings++ % CONNECTION_CALLS];

    memset(t, 0, sizeof(*t));
    t->paths = args->PathCount;
    t->flags = args->SetFlags.Value;
    t->clean = is_clean(args);
    t->order = call->order;
    for (UINT i = 0; i < args->PathCount && i < CONNECTION_PATHS; i++)
        t->path[i] = args->pSetTimingPathInfo[i];
    t->vidpn_paths = look_at_vidpn(p, args->hFunctionalVidPn,
                                   args->pSetTimingPathInfo[0].VidPnTargetId, &t->size);
    call->answered = true;
    call->result = (uint64_t)(uint32_t)connection.timing_status;
    if (!NT_SUCCESS(connection.timing_status))
        return;
    answer_states(args);
    args->pResultsFlags->ConnectionStatusChanges = connection.changes;
    if (connection.in_timing)
        connection.in_timing(args);
}

struct probe *connections_create(const struct probe_options *options)
{
    static const enum probe_ddi entries[] = {PROBE_SetTimingsFromVidPn, PROBE_DisplayDetectControl,
                                             PROBE_QueryConnectionChange};
    struct probe *p = full_display_create(options);

    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        probe_set_entry(p, entries[i], true);
    memset(&connection, 0, sizeof(connection));
    memset(&connection_seen, 0, sizeof(connection_seen));
    memset(&queue, 0, sizeof(queue));
    connection_seen.zeroed = true;
    p->before[PROBE_DisplayDetectControl] = control;
    p->before[PROBE_QueryConnectionChange] = query;
    p->before[PROBE_SetTimingsFromVidPn] = timing;
    return p;
}

/* ---- what was seen ---- */

const DXGK_SET_TIMING_PATH_INFO *connections_path(UINT call, UINT target)
{
    const struct connection_timing *t = &connection_seen.timing[call % CONNECTION_CALLS];

    for (UINT i = 0; i < t->paths && i < CONNECTION_PATHS; i++)
        if (t->path[i].VidPnTargetId == target)
            return &t->path[i];
    return NULL;
}

struct modes_target *connections_target(const struct probe *p, UINT target)
{
    return modes_target(display_modes(p), target);
}
