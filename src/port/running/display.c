/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "port/running/display.h"
#include "bus/outputs.h"
#include "ddi/ddi.h"
#include "modes/display_worker.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "port/query/children.h"
#include "port/query/integrated.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/running/brightness.h"
#include "port/running/managers.h"
#include "port/running/post.h"
#include "port/running/restarting.h"
#include "port/running/stale.h"
#include "port/running/tdr_settings.h"
#include "screens/blanks.h"
#include "screens/scanouts.h"
#include "screens/screens.h"
#include "sim/sim.h"
#include "util/array.h"
#include "verify/verify.h"
#include "vidsch/flip_loss.h"
#include "vidsch/screen_hold.h"
#include "vidsch/vidsch.h"

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)

static bool is_output(const DXGK_CHILD_DESCRIPTOR *child)
{
    return child->ChildDeviceType == TypeVideoOutput ||
           child->ChildDeviceType == TypeIntegratedDisplay;
}

/* DISP-039 to DISP-041: is a monitor there? A driver that fails leaves what was known. */
static bool ask_connection(struct port_adapter *adapter, const DXGK_CHILD_DESCRIPTOR *child,
                           bool before, bool carefully)
{
    const DXGK_CHILD_STATUS asked = {.Type = StatusConnection, .ChildUid = child->ChildUid};
    DXGK_CHILD_STATUS answer = asked;
    NTSTATUS status;

    if (child->ChildCapabilities.HpdAwareness == HpdAwarenessAlwaysConnected)
        return true;
    if (port_uses_connections(adapter))
        return before; /* DISP-083 */
    status = ddi_query_child_status(&adapter->ddi, &answer, carefully);
    if (!NT_SUCCESS(status)) {
        if (!adapter->ddi.gone)
            WARNING("DISP-040", "DxgkDdiQueryChildStatus returned %s for child 0x%x",
                    nt_status_text(status).text, child->ChildUid);
        return before;
    }
    if (answer.Type != asked.Type || answer.ChildUid != asked.ChildUid) {
        VIOLATION("DISP-040", "DxgkDdiQueryChildStatus changed Type or ChildUid of child 0x%x",
                  child->ChildUid);
        return before;
    }
    return answer.HotPlug.Connected != FALSE;
}

static bool is_other(const DXGK_CHILD_DESCRIPTOR *child)
{
    return child->ChildDeviceType == TypeOther;
}

/* DISP-030, DISP-042 */
static bool is_polled(const DXGK_CHILD_DESCRIPTOR *child)
{
    return child->ChildCapabilities.HpdAwareness == HpdAwarenessPolled ||
           child->ChildCapabilities.HpdAwareness == HpdAwarenessNone;
}

/* In table order; at the start those that are no outputs, too (DISP-039). */
static void ask_connections(struct port_adapter *adapter, enum modes_looking which, bool carefully)
{
    struct modes *modes = adapter->display.modes;

    for (ULONG i = 0; i < adapter->children.count; i++) {
        const DXGK_CHILD_DESCRIPTOR *child = &adapter->children.child[i];
        struct modes_target *target = modes_target(modes, child->ChildUid);

        if (is_output(child) && target && (which != MODES_LOOK_POLL || is_polled(child)))
            target->connected = ask_connection(adapter, child, target->connected, carefully);
        else if (is_other(child) && which == MODES_LOOK_START && !port_uses_connections(adapter))
            port_child_query_status(adapter, i, TRUE); /* DISP-041 */
    }
}

static void ask_descriptors(struct port_adapter *adapter)
{
    for (ULONG i = 0; i < adapter->children.count; i++)
        if (is_other(&adapter->children.child[i]))
            port_child_query_descriptor(adapter, i);
}

/* ---- what there is ---- */

static bool is_turned(const DXGK_CHILD_DESCRIPTOR *child)
{
    const D3DKMDT_MONITOR_ORIENTATION_AWARENESS awareness =
        child->ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness;

    return child->ChildDeviceType == TypeVideoOutput &&
           (awareness == D3DKMDT_MOA_POLLED || awareness == D3DKMDT_MOA_INTERRUPTIBLE);
}

static ULONG list_targets(const struct port_adapter *adapter, struct modes_target *targets)
{
    ULONG count = 0;

    for (ULONG i = 0; i < adapter->children.count; i++) {
        const DXGK_CHILD_DESCRIPTOR *child = &adapter->children.child[i];

        if (!is_output(child))
            continue;
        targets[count] = (struct modes_target){
            .id = child->ChildUid,
            .panel = port_integrated(adapter, child->ChildUid),
            .turns = is_turned(child),
            .technology =
                child->ChildDeviceType == TypeVideoOutput
                    ? child->ChildCapabilities.Type.VideoOutput.InterfaceTechnology
                    : child->ChildCapabilities.Type.IntegratedDisplayChild.InterfaceTechnology};
        count++;
    }
    return count;
}

static bool has_vsync_control(const struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;

    return ddi_has(d, DxgkDdiControlInterrupt) && ddi_has(d, DxgkDdiGetScanLine) &&
           ddi_has(d, DxgkDdiInterruptRoutine) && ddi_has(d, DxgkDdiDpcRoutine);
}

/* Level two: no work is on the GPU (PRES-130). */
static NTSTATUS still(struct ddi_adapter *ddi, const char *name)
{
    return port_stand_still(port_adapter_of_ddi(ddi), name);
}

static void go_on(struct ddi_adapter *ddi)
{
    port_go_on(port_adapter_of_ddi(ddi));
}

static struct modes *make_modes(struct port_adapter *adapter, ULONG sources)
{
    struct modes_target targets[PORT_MAX_CHILDREN];
    const struct modes described = {
        .ddi = &adapter->ddi,
        .adapter = adapter->handle,
        .version = port_driver_version(adapter),
        .display_only = adapter->ddi.present_display_only != NULL,
        .vsync_control = !adapter->ddi.present_display_only ||
                         has_vsync_control(adapter), /* DISP-009 */
        .tell_unpinned = adapter->port->config.tell_unpinned,
        .smooth_rotation = adapter->caps.driver.SupportSmoothRotation &&
                           ddi_has(&adapter->ddi, DxgkDdiUpdateActiveVidPnPresentPath),
        .connections = {.used = port_uses_connections(adapter),
                        .usb4 = adapter->display.caps.SupportUsb4Targets,
                        .lit_by_firmware = adapter->post.bytes > 0},
        .firmware_set = adapter->post.bytes > 0 && port_uses_connections(adapter),
        .still = adapter->ddi.present_display_only ? NULL : still,
        .go_on = go_on,
        .hold = adapter->display.hold,
        .release = adapter->display.release,
        .sources = sources,
        .targets = list_targets(adapter, targets)};

    return modes_create(&described, targets);
}

/* ---- recovery ---- */

/* PRES-258: whether one more within this minute is too many. */
static bool too_many(struct port_display *display)
{
    uint64_t *at = display->recovered;

    if (display->recoveries == PORT_DISPLAY_RECOVERIES) {
        if (sim_now() - at[0] < MINUTE)
            return true;
        memmove(at, at + 1, (PORT_DISPLAY_RECOVERIES - 1) * sizeof(*at));
        display->recoveries--;
    }
    at[display->recoveries++] = sim_now();
    return false;
}

static bool restart(void *context)
{
    struct port_adapter *adapter = context;
    DXGKARG_COLLECTDBGINFO_EXT extension;
    NTSTATUS status;

    if (!port_runs(adapter) || adapter->ddi.gone)
        return false;
    if (too_many(&adapter->display)) {
        verify_fatal("PRES-258", VIDEO_TDR_FAILURE, 0, 0, 0, 0,
                     "a present or a vertical sync was lost for the sixth time within a minute");
        return false;
    }
    WARNING("PRES-257",
            "record 0x117: a present or a vertical sync was lost, and the driver starts again");
    if (ddi_has(&adapter->ddi, DxgkDdiCollectDbgInfo))
        (void)ddi_debug_report(&adapter->ddi, VIDEO_TDR_TIMEOUT_DETECTED, &extension);
    if (!port_restarting_begin(adapter))
        return false;
    status = adapter->display.start_again(adapter);
    port_restarting_end(adapter);
    if (!NT_SUCCESS(status)) {
        verify_fatal("PRES-258", VIDEO_TDR_FAILURE, 0, (uint32_t)status, 0, 0,
                     "recovery failed: StartDevice returned %s", nt_status_text(status).text);
        return false;
    }
    screens_restarted(adapter->display.screens);
    return true;
}

static void restart_over(void *context)
{
    const struct port_adapter *adapter = context;

    screens_recovered(adapter->display.screens);
}

/* ---- life ---- */

static void tell_frame(void *context, const struct screens_frame *frame)
{
    struct port_adapter *adapter = context;
    const struct port_config *config = &adapter->port->config;

    config->frame(config->frame_context, adapter, frame);
}

/* PRES-335: of the firmware's frame buffer, which the driver's processor writes. A device that says
 * itself what it shows may still be at work when its driver is done. */
static bool scanned_out(void *context, UINT source, struct screens_scanned *scanned)
{
    const struct port_adapter *adapter = context;
    const DXGK_DISPLAY_INFORMATION *info = &adapter->post.info;
    struct dxgk_scanout shown;

    if (source || !adapter->post.bytes || !adapter->post.acquired ||
        (info->ColorFormat != D3DDDIFMT_X8R8G8B8 && info->ColorFormat != D3DDDIFMT_A8R8G8B8) ||
        bus_device_scanout(adapter->device, 0, &shown) != DXGK_SCANOUT_FIRMWARE)
        return false;
    *scanned = (struct screens_scanned){.pixels = port_post_pixels(adapter),
                                        .width = info->Width,
                                        .height = info->Height,
                                        .pitch = info->Pitch};
    return scanned->pixels != NULL;
}

static void look_first(void *context)
{
    struct port_adapter *adapter = context;
    struct screens_scanned scanned;

    if (scanned_out(adapter, 0, &scanned))
        port_post_look(adapter); /* PRES-023 */
}

static void look_hidden(void *context, UINT source)
{
    struct port_adapter *adapter = context;
    struct screens_scanned scanned;

    if (!adapter->ddi.gone && scanned_out(adapter, source, &scanned))
        port_post_look_hidden(adapter); /* PRES-337 */
}

static struct screens *make_screens(struct port_adapter *adapter)
{
    const struct screens_config config = {
        .modes = adapter->display.modes,
        .ram = adapter->port->config.ram,
        .reports = ddi_has(&adapter->ddi, DxgkDdiInterruptRoutine) &&
                   ddi_has(&adapter->ddi, DxgkDdiDpcRoutine),
        .pitch_excess = adapter->port->config.present_pitch,
        .unpaced = adapter->port->config.present_unpaced,
        .frame = adapter->port->config.frame ? tell_frame : NULL,
        .frame_context = adapter,
        .scanned = scanned_out,
        .first = look_first,
        .hidden = look_hidden,
        .scanned_context = adapter,
        .pointer_caps = adapter->caps.driver.PointerCaps,
        .pointer_width = adapter->caps.driver.MaxPointerWidth,
        .pointer_height = adapter->caps.driver.MaxPointerHeight,
        .limit_ns = port_tdr_present_delay() * SECOND,
        .sync_limit_ns = port_tdr_vsync_delay() * SECOND,
        .idle_periods = adapter->caps.driver.SchedulingCaps.VSyncPowerSaveAware
                            ? port_vsync_idle_periods()
                            : 1};

    return screens_create(&config);
}

/* PRES-336 */
static const void *model_pixels(void *context, UINT source)
{
    const struct port_adapter *adapter = context;
    const unsigned output = port_display_output(adapter, source);
    struct dxgk_scanout shown;

    return bus_device_scanout(adapter->device, output, &shown) == DXGK_SCANOUT_ON ? shown.pixels
                                                                                  : NULL;
}

/* PRES-256 */
static bool flip_lost(void *context, UINT source)
{
    const struct port_adapter *adapter = context;

    return vidsch_flip_lost(adapter->managers.vidsch, source);
}

/* PRES-338 */
_Static_assert(MODES_MAX_SOURCES <= VIDSCH_MOST_SOURCES, "each has a count");
static void flips_over(void *context, UINT source)
{
    const struct port_adapter *adapter = context;

    vidsch_flips_over(adapter->managers.vidsch, source);
}

static struct scanouts *make_scanouts(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const struct scanouts_config config = {
        .modes = adapter->display.modes,
        .device = vidsch_display_device(adapter->managers.vidsch),
        .at_dirql = caps->FlipCaps.FlipOnVSyncMmIo,
        .immediate = caps->FlipCaps.FlipImmediateMmIo,
        .direct_flip = port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WIN8 &&
                       caps->SupportDirectFlip,
        .most_flips = caps->MaxQueuedFlipOnVSync,
        .independent = port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_7 &&
                       caps->MiscCaps.IndependentVidPnVSyncControl,
        .idle_periods = caps->SchedulingCaps.VSyncPowerSaveAware ? port_vsync_idle_periods() : 1,
        .lost = flip_lost,
        .flips_over = flips_over,
        .lost_context = adapter,
        .pointer_caps = caps->PointerCaps,
        .pointer_width = caps->MaxPointerWidth,
        .pointer_height = caps->MaxPointerHeight,
        .scanned = model_pixels,
        .scanned_context = adapter,
        .plane_form = adapter->display.plane_form,
        .planes = caps->MaxOverlayPlanes,
        .most_plane_flips = caps->MaxQueuedMultiPlaneOverlayFlipVSync,
        .immediate_planes = caps->SupportMultiPlaneOverlayImmediateFlip,
        .limit_ns = port_tdr_settings(&adapter->port->config.tdr).delay * SECOND,
        .frame = adapter->port->config.frame ? tell_frame : NULL,
        .frame_context = adapter};

    return scanouts_create(&config);
}

/* Who shows the pictures. False: out of memory. */
static bool make_viewer(struct port_adapter *adapter)
{
    struct port_display *display = &adapter->display;

    if (adapter->ddi.present_display_only)
        display->screens = make_screens(adapter);
    else
        display->scanouts = make_scanouts(adapter);
    return display->screens || display->scanouts;
}

/* ---- what the driver says of children ---- */

static const DXGK_CHILD_DESCRIPTOR *find_child(const struct port_adapter *adapter, ULONG uid)
{
    for (ULONG i = 0; i < adapter->children.count; i++)
        if (adapter->children.child[i].ChildUid == uid)
            return &adapter->children.child[i];
    return NULL;
}

static NTSTATUS note_connection(struct port_adapter *adapter, const DXGK_CHILD_DESCRIPTOR *child,
                                bool connected)
{
    const DXGK_CHILD_STATUS status = {
        .Type = StatusConnection, .ChildUid = child->ChildUid, .HotPlug.Connected = connected};

    if (!connected && child->ChildCapabilities.HpdAwareness == HpdAwarenessAlwaysConnected) {
        VIOLATION("DISP-052", "child 0x%x, which is always connected, was indicated as gone",
                  child->ChildUid);
        return STATUS_INVALID_PARAMETER;
    }
    (void)port_children_note_status(adapter, &status);
    if (adapter->display.modes)
        (void)display_worker_note(adapter->display.modes, child->ChildUid, connected);
    return STATUS_SUCCESS;
}

static void note_angle(struct port_adapter *adapter, const DXGK_CHILD_DESCRIPTOR *child, UINT angle)
{
    struct modes_target *target = adapter->display.modes
                                      ? modes_target(adapter->display.modes, child->ChildUid)
                                      : NULL;

    if (target && child->ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness ==
                      D3DKMDT_MOA_INTERRUPTIBLE)
        target->angle = monitor_angle(child->ChildUid, angle);
}

NTSTATUS port_display_note(struct port_adapter *adapter, const DXGK_CHILD_STATUS *status)
{
    const DXGK_CHILD_DESCRIPTOR *child = find_child(adapter, status->ChildUid);
    struct port_children *children = &adapter->children;

    if (port_uses_connections(adapter)) {
        VIOLATION("DISP-083",
                  "DxgkCbIndicateChildStatus for child 0x%x, of a driver that uses the "
                  "connection change model",
                  status->ChildUid);
        return STATUS_NOT_SUPPORTED;
    }
    if (!children->known) { /* DISP-054 */
        children->early[children->told++ % (sizeof(children->early) / sizeof(DXGK_CHILD_STATUS))] =
            *status;
        return STATUS_SUCCESS;
    }
    if (!child) {
        VIOLATION("LIFE-083", "the adapter has no child 0x%x", status->ChildUid);
        return STATUS_INVALID_PARAMETER;
    }
    switch ((int)status->Type) {
    case StatusConnection:
        return note_connection(adapter, child, status->HotPlug.Connected != FALSE);
    case StatusRotation:
        note_angle(adapter, child, status->Rotation.Angle);
        return STATUS_SUCCESS;
    case StatusMiracastConnection:
        if (is_output(child) &&
            child->ChildCapabilities.Type.VideoOutput.InterfaceTechnology == D3DKMDT_VOT_MIRACAST)
            return note_connection(adapter, child, status->Miracast.Connected != FALSE);
        VIOLATION("DISP-047", "StatusMiracastConnection of child 0x%x, which is no Miracast sink",
                  status->ChildUid);
        return STATUS_INVALID_PARAMETER;
    default:
        return STATUS_SUCCESS;
    }
}

NTSTATUS port_display_connector(struct port_adapter *adapter)
{
    if (!port_uses_connections(adapter)) {
        VIOLATION("DISP-089", "the driver does not use the connection change model, which needs "
                              "QueryConnectionChange, DisplayDetectControl and SetTimingsFromVidPn");
        return STATUS_NOT_SUPPORTED;
    }
    if (adapter->display.modes) /* else it is asked when detection is switched on */
        display_worker_indicate(adapter->display.modes);
    return STATUS_SUCCESS;
}

/* DISP-054 */
static void apply_early(struct port_adapter *adapter)
{
    struct port_children *children = &adapter->children;
    const ULONG room = sizeof(children->early) / sizeof(children->early[0]);

    children->known = true;
    for (ULONG i = children->told > room ? children->told - room : 0; i < children->told; i++)
        (void)port_display_note(adapter, &children->early[i % room]);
    children->told = 0;
}

/* On the display worker. */
static void look(void *context, enum modes_looking which, bool carefully)
{
    struct port_adapter *adapter = context;

    ask_connections(adapter, which, carefully);
    if (which != MODES_LOOK_START)
        return;
    ask_descriptors(adapter);
    apply_early(adapter);
}

static NTSTATUS ask_colors(void *context, UINT target, DXGK_COLORIMETRY *answer)
{
    const DXGK_QAITARGETIN input = {.TargetId = target};

    return port_query(context, DXGKQAITYPE_QUERYCOLORIMETRYOVERRIDES, &input, sizeof(input), answer,
                      sizeof(*answer));
}

static void panel_came(void *context, UINT target)
{
    port_brightness_begin(context, target);
}

static void panel_went(void *context, UINT target)
{
    port_brightness_end(context, target);
}

/* ---- life ---- */

NTSTATUS port_display_start(struct port_adapter *adapter, ULONG sources)
{
    struct port_display *display = &adapter->display;
    NTSTATUS status;

    adapter->post.told = adapter->post.told_hidden = false;
    display->modes = make_modes(adapter, sources);
    if (!display->modes)
        return STATUS_NO_MEMORY;
    if (adapter->ddi.present_display_only)
        display->modes->restart = (struct modes_restart){
            .run = restart, .over = restart_over, .context = adapter};
    display->modes->panels = (struct modes_panels){
        .came = panel_came, .went = panel_went, .context = adapter};
    if (!adapter->ddi.present_display_only) /* DISP-011 */
        display->modes->colors = (struct modes_colors){.ask = ask_colors, .context = adapter};
    display->modes->look = (struct modes_look){.run = look, .context = adapter};
    status = make_viewer(adapter) ? display_worker_begin(display->modes) : STATUS_NO_MEMORY;
    if (!NT_SUCCESS(status))
        return status;
    status = display_first(display->modes);
    if (!NT_SUCCESS(status) && status != STATUS_NO_MEMORY)
        status = STATUS_SUCCESS; /* VIDPN-149: it stays dark, and has started */
    if (NT_SUCCESS(status) && verify_current && verify_strict(verify_current))
        display_strict(display->modes);
    return status;
}

/* What the driver is to keep as it is, if it hands its picture on. */
static void note_lit(struct port_adapter *adapter)
{
    struct modes *modes = adapter->display.modes;
    const struct modes_target *target;

    adapter->post.target = modes_lit_target(modes);
    target = modes_target(modes, adapter->post.target);
    adapter->post.mode = target ? target->last : (D3DKMDT_2DREGION){0};
    adapter->post.monitor = false;
    for (UINT i = 0; i < modes->targets; i++)
        adapter->post.monitor |= modes->target[i].connected;
}

void port_display_stop(struct port_adapter *adapter, bool keep)
{
    struct port_display *display = &adapter->display;

    port_display_forget(adapter);
    if (!display->modes)
        return;
    note_lit(adapter);
    if (display->modes->worker)
        display_stop(display->modes, keep);
    display_worker_end(display->modes);
    if (display->screens && !adapter->ddi.gone)
        screens_sleep(display->screens);
    screens_destroy(display->screens);
    display->screens = NULL;
    scanouts_destroy(display->scanouts);
    display->scanouts = NULL;
    modes_destroy(display->modes);
    display->modes = NULL;
}

NTSTATUS port_display_suspend(struct port_adapter *adapter)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (adapter->display.modes)
        status = display_suspend(adapter->display.modes);
    if (adapter->display.scanouts)
        scanouts_sleep(adapter->display.scanouts);
    if (adapter->display.screens)
        screens_sleep(adapter->display.screens);
    return status;
}

void port_display_resume(struct port_adapter *adapter)
{
    if (adapter->display.modes)
        (void)display_resume(adapter->display.modes);
}

NTSTATUS port_display_force_recovery(const struct port_adapter *adapter)
{
    if (!adapter->display.screens || !adapter->ddi.present_display_only)
        return STATUS_NOT_SUPPORTED;
    return screens_lose(adapter->display.screens) ? STATUS_SUCCESS : STATUS_DEVICE_REMOVED;
}

void port_display_removed(const struct port_adapter *adapter)
{
    if (adapter->display.screens)
        screens_removed(adapter->display.screens);
    if (adapter->display.scanouts)
        scanouts_removed(adapter->display.scanouts);
}

/* ---- who shows it ---- */

struct modes *port_display_modes(const struct port_adapter *adapter)
{
    return adapter->display.modes;
}

struct screens *port_display_screens(const struct port_adapter *adapter)
{
    return adapter->display.screens;
}

struct scanouts *port_display_scanouts(const struct port_adapter *adapter)
{
    return adapter->display.scanouts;
}
