/* SPDX-License-Identifier: MIT */
/* Waits for the vertical blank, and the scan line (PRES-291 to PRES-295). */
#include <string.h>

#include "ddi/ddi.h"
#include "ddi/entries_display.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/handle.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "nt/ke/event.h"
#include "nt/ke/wait.h"
#include "nt/ob/user_handle.h"
#include "port/record/adapter_info.h"
#include "port/running/display.h"
#include "screens/blanks.h"
#include "screens/scanouts.h"
#include "screens/vertical.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

/* ---- whose blanks ---- */

/* One of the two is not NULL. */
struct shower {
    struct scanouts *scanouts; /* of a full driver */
    struct screens *screens;   /* of a display-only one */
};

static NTSTATUS find_shower(const struct kmt_adapter *adapter, struct shower *shower)
{
    shower->scanouts = port_display_scanouts(adapter->port);
    shower->screens = port_display_screens(adapter->port);
    return shower->scanouts || shower->screens
               ? STATUS_SUCCESS
               : refuse(STATUS_NOT_SUPPORTED, "KMT-001", "the adapter has no display");
}

static NTSTATUS check_source(const struct kmt_adapter *adapter, UINT source, struct shower *shower)
{
    const NTSTATUS status = find_shower(adapter, shower);

    if (!NT_SUCCESS(status))
        return status;
    return source < port_display_modes(adapter->port)->sources
               ? kmt_adapter_check(adapter)
               : refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-291",
                        "the adapter has no source %u", source);
}

/* ---- waiting ---- */

static NTSTATUS wait_for_blank(struct kmt_call *call, void *arguments)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    struct shower shower;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = check_source(adapter, args->VidPnSourceId, &shower);
    if (!NT_SUCCESS(status))
        return status;
    return shower.scanouts ? scanouts_await_blank(shower.scanouts, args->VidPnSourceId)
                           : screens_await_blank(shower.screens, args->VidPnSourceId);
}

/* ---- with other objects ---- */

struct waiting {
    struct scanouts_watch watch;
    KEVENT blank;
    DISPATCHER_HEADER *object[1 + D3DKMT_MAX_WAITFORVERTICALBLANK_OBJECTS];
    UINT opened; /* of them, behind the first */
};

static void blank_came(void *context)
{
    struct waiting *w = context;

    (void)nt_event_signal(&w->blank);
}

static NTSTATUS open_objects(struct waiting *w, const D3DKMT_WAITFORVERTICALBLANKEVENT2 *args)
{
    w->object[0] = &w->blank.Header;
    for (UINT i = 0; i < args->NumObjects; i++) {
        void *event;
        const NTSTATUS status = nt_user_handle_open(args->ObjectHandleArray[i], NT_USER_EVENT,
                                                    SYNCHRONIZE, &event);

        if (!NT_SUCCESS(status))
            return refuse(status, "PRES-292",
                          "ObjectHandleArray[%u] is no handle of an event that may be waited for",
                          i);
        w->object[1 + w->opened++] = &((KEVENT *)event)->Header;
    }
    return STATUS_SUCCESS;
}

static void begin_watch(const struct shower *shower, UINT source, struct scanouts_watch *watch)
{
    if (shower->scanouts)
        scanouts_watch(shower->scanouts, source, watch);
    else
        screens_watch(shower->screens, source, watch);
}

static bool end_watch(const struct shower *shower, struct scanouts_watch *watch, bool made_up)
{
    return shower->scanouts ? scanouts_unwatch(shower->scanouts, watch, made_up)
                            : screens_unwatch(shower->screens, watch, made_up);
}

/* PRES-293: if no blank comes, the host makes one up. */
static NTSTATUS wait_for_any(struct waiting *w, const struct shower *shower, UINT source)
{
    LARGE_INTEGER timeout;
    NTSTATUS status;

    nt_event_init(&w->blank, NotificationEvent, false);
    w->watch.came = blank_came;
    w->watch.context = w;
    begin_watch(shower, source, &w->watch);
    timeout.QuadPart = -(LONGLONG)(w->watch.within_ns / 100);
    status = nt_wait_objects(w->object, 1 + w->opened, false, &timeout);
    if (end_watch(shower, &w->watch, status == STATUS_TIMEOUT))
        return STATUS_DEVICE_REMOVED;
    return status == STATUS_TIMEOUT ? STATUS_WAIT_0 : status;
}

/* PRES-292 */
static NTSTATUS wait_for_blank2(struct kmt_call *call, void *arguments)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT2 *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    struct shower shower;
    struct waiting *w;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = check_source(adapter, args->VidPnSourceId, &shower);
    if (!NT_SUCCESS(status))
        return status;
    if (args->NumObjects > D3DKMT_MAX_WAITFORVERTICALBLANK_OBJECTS)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-293", "%u objects, at most %u are possible",
                      args->NumObjects, D3DKMT_MAX_WAITFORVERTICALBLANK_OBJECTS);
    w = util_zalloc(1, sizeof(*w));
    if (!w)
        return STATUS_NO_MEMORY;
    status = open_objects(w, args);
    if (NT_SUCCESS(status))
        status = wait_for_any(w, &shower, args->VidPnSourceId);
    while (w->opened)
        nt_user_handle_close(w->object[w->opened--]);
    util_free(w);
    return status;
}

/* ---- the scan line ---- */

/* PRES-178, PRES-295: what the driver says, or else where the beam would be. */
static NTSTATUS ask_line(struct ddi_adapter *ddi, UINT target, UINT lines, DXGKARG_GETSCANLINE *line)
{
    NTSTATUS status;

    if (!ddi_has(ddi, DxgkDdiGetScanLine)) {
        WARNING("PRES-295", "the driver has no DxgkDdiGetScanLine; the line is simulated");
        return STATUS_NOT_SUPPORTED;
    }
    memset(line, 0, sizeof(*line));
    line->VidPnTargetId = target;
    status = ddi_get_scan_line(ddi, line);
    if (!NT_SUCCESS(status))
        WARNING("PRES-295", "DxgkDdiGetScanLine returned %s; the line is simulated",
                nt_status_text(status).text);
    else if (line->ScanLine >= lines)
        VIOLATION("PRES-178", "DxgkDdiGetScanLine tells line %u of target 0x%x, which has %u",
                  line->ScanLine, target, lines);
    return status;
}

/* The driver is asked, unless it is a display-only one without VSync control (PRES-193). */
static void find_line(const struct kmt_adapter *adapter, const struct shower *shower,
                      const D3DKMDT_VIDPN_PRESENT_PATH *path, D3DKMT_GETSCANLINE *args)
{
    const UINT source = args->VidPnSourceId;
    const struct scanouts_line beam = shower->scanouts ? scanouts_line(shower->scanouts, source)
                                                       : screens_line(shower->screens, source);
    const bool asked = port_display_modes(adapter->port)->vsync_control;
    DXGKARG_GETSCANLINE line;
    const NTSTATUS status = asked ? ask_line(port_adapter_ddi(adapter->port), path->VidPnTargetId,
                                             beam.lines, &line)
                                  : STATUS_NOT_SUPPORTED;

    args->InVerticalBlank = NT_SUCCESS(status) ? line.InVerticalBlank : beam.in_blank;
    args->ScanLine = NT_SUCCESS(status) ? line.ScanLine : beam.line;
}

static NTSTATUS get_scan_line(struct kmt_call *call, void *arguments)
{
    D3DKMT_GETSCANLINE *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    const D3DKMDT_VIDPN_PRESENT_PATH *path;
    const struct modes *modes;
    struct shower shower;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = find_shower(adapter, &shower);
    if (NT_SUCCESS(status))
        status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(status))
        return status;
    modes = port_display_modes(adapter->port);
    path = args->VidPnSourceId < modes->sources
               ? vidpn_path_from(modes->active, args->VidPnSourceId, 0)
               : NULL;
    if (!path)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-295", "source %u has no path",
                      args->VidPnSourceId);
    find_line(adapter, &shower, path, args);
    return STATUS_SUCCESS;
}

KMT_IN(D3DKMTWaitForVerticalBlankEvent, D3DKMT_WAITFORVERTICALBLANKEVENT, wait_for_blank)
KMT_IN(D3DKMTWaitForVerticalBlankEvent2, D3DKMT_WAITFORVERTICALBLANKEVENT2, wait_for_blank2)
KMT_IN_OUT(D3DKMTGetScanLine, D3DKMT_GETSCANLINE, get_scan_line)
