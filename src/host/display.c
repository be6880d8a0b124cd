/* SPDX-License-Identifier: MIT */
/* Screens as a user has them: their modes, and what is drawn on them. */
#include <stdlib.h>
#include <string.h>

#include "host/display.h"
#include "dxgkhost/display.h"
#include "host/called.h"
#include "host/driver.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "host/task.h"
#include "modes/display_power.h"
#include "modes/display_worker.h"
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "port/running/display.h"
#include "screens/blanks.h"
#include "screens/scanouts.h"
#include "screens/screens.h"
#include "screens/vertical.h"
#include "sim/machine.h"
#include "util/explain.h"
#include "util/list.h"
#include "verify/refusal.h"

struct port_adapter *host_display_adapter(const struct dxgk_machine *machine, unsigned number)
{
    LIST_FOR(node, &machine->adapters)
        if (number-- == 0)
            return CONTAINER(node, struct host_adapter, link)->port;
    return NULL;
}

struct modes *host_display_modes(struct dxgk_machine *machine, unsigned adapter, unsigned source,
                                 char *error, size_t error_bytes)
{
    const struct port_adapter *port = NULL;
    struct modes *modes = NULL;

    if (machine && host_may_look(machine))
        port = host_display_adapter(machine, adapter);
    if (port)
        modes = port_display_modes(port);
    if (!machine || !host_may_look(machine))
        util_explain(error, error_bytes,
                     machine ? "another host thread uses the machine" : "not a client's thread");
    else if (!port)
        util_explain(error, error_bytes, "the machine has no adapter %u", adapter);
    else if (!modes)
        util_explain(error, error_bytes, "adapter %u has no display that runs", adapter);
    else if (source >= modes->sources)
        util_explain(error, error_bytes, "adapter %u has no video present source %u", adapter,
                     source);
    else
        return modes;
    return NULL;
}

/* ---- what there is ---- */

void host_display_describe(const struct modes *modes, const struct vidpn *vidpn, unsigned source,
                           struct dxgk_display *display)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(vidpn, source, 0);
    const union mode *shown, *signal;
    UINT turns;

    if (!path)
        return;
    shown = mode_set_pinned(*vidpn_source_set(vidpn, source));
    signal = mode_set_pinned(*vidpn_target_set(vidpn, path->VidPnTargetId));
    if (!shown || !signal)
        return;
    turns = ((UINT)path->ContentTransformation.Rotation - D3DKMDT_VPPR_IDENTITY) % 4;
    display->lit = true;
    display->visible = modes->source[source].visible;
    display->target = path->VidPnTargetId;
    display->mode.width = shown->source.Format.Graphics.PrimSurfSize.cx;
    display->mode.height = shown->source.Format.Graphics.PrimSurfSize.cy;
    display->mode.quarter_turns = turns;
    display->canvas_width = turns % 2 ? display->mode.height : display->mode.width;
    display->canvas_height = turns % 2 ? display->mode.width : display->mode.height;
    if (!mode_frequency_given(&signal->target.VideoSignalInfo.VSyncFreq))
        return;
    display->mode.hz_numerator = signal->target.VideoSignalInfo.VSyncFreq.Numerator;
    display->mode.hz_denominator = signal->target.VideoSignalInfo.VSyncFreq.Denominator;
}

DXGK_API bool dxgk_machine_display(struct dxgk_machine *machine, unsigned adapter, unsigned source,
                                   struct dxgk_display *display)
{
    const struct modes *modes = host_display_modes(machine, adapter, source, NULL, 0);
    const struct port_adapter *port;
    const struct screens *screens;
    const struct scanouts *scanouts;
    struct vsync_counts vsyncs = {.of = {0}};

    memset(display, 0, sizeof(*display));
    if (!modes)
        return false;
    host_display_describe(modes, modes_lit_or_asleep(modes, source), source, display);
    port = host_display_adapter(machine, adapter);
    screens = port_display_screens(port);
    scanouts = port_display_scanouts(port);
    display->frames = screens    ? screens_frames(screens, source)
                      : scanouts ? scanouts_frames(scanouts, source)
                                 : 0;
    if (screens)
        vsyncs = screens_vsyncs(screens, source);
    else if (scanouts)
        vsyncs = scanouts_vsyncs(scanouts, source);
    display->vsyncs_reported = vsyncs.of[VSYNC_REPORTED];
    display->vsyncs_simulated = vsyncs.of[VSYNC_SIMULATED];
    display->vsyncs_substituted = vsyncs.of[VSYNC_SUBSTITUTED];
    return true;
}

/* ---- modes ---- */

/* The adapter may be stopped before a task begins that is to do something with it: tasks find it
 * themselves. */
struct place {
    struct dxgk_machine *machine;
    unsigned adapter;
};

static struct modes *modes_of(const struct place *place)
{
    const struct port_adapter *port = host_display_adapter(place->machine, place->adapter);

    return port ? port_display_modes(port) : NULL;
}

static struct screens *screens_of(const struct place *place)
{
    const struct port_adapter *port = host_display_adapter(place->machine, place->adapter);

    return port ? port_display_screens(port) : NULL;
}

struct mode_request {
    struct place place;
    struct modes_wish wish;
    NTSTATUS status;
    char reason[400];
};

static void set_mode(void *arg)
{
    struct mode_request *request = arg;
    struct modes *modes = modes_of(&request->place);
    const char *reason;
    struct refusal refusal;

    refusal_begin(&refusal);
    refusal.call = "a change of the mode";
    request->status = modes ? display_set_mode(modes, &request->wish) : STATUS_DEVICE_REMOVED;
    reason = refusal_reason(request->status);
    util_explain(request->reason, sizeof(request->reason), "%s",
                 reason                                     ? reason
                 : request->status == STATUS_NO_MEMORY      ? "out of memory"
                 : request->status == STATUS_DEVICE_REMOVED ? "the adapter was stopped, or is lost"
                 : request->status == STATUS_INVALID_PARAMETER
                     ? "the driver or the monitor has no such mode"
                     : "the driver does not take it");
    refusal_drop(&refusal);
}

enum dxgk_result host_display_result(enum dxgk_result result, NTSTATUS status, const char *what,
                                     const char *reason, char *error, size_t error_bytes)
{
    if (result == DXGK_OUT_OF_MEMORY) {
        util_explain(error, error_bytes, "out of memory");
        return result;
    }
    if (result != DXGK_OK) {
        util_explain(error, error_bytes, "%s: a bug check stopped the machine", what);
        return result;
    }
    if (NT_SUCCESS(status))
        return DXGK_OK;
    util_explain(error, error_bytes, "%s: %s (%s)", what, reason, nt_status_text(status).text);
    return DXGK_ERROR;
}

DXGK_API enum dxgk_result dxgk_client_set_mode(unsigned adapter, unsigned source,
                                               const struct dxgk_display_mode *mode, char *error,
                                               size_t error_bytes)
{
    struct mode_request request = {.place = {host_run_client_machine(), adapter}};
    char what[80];
    enum dxgk_result result;

    if (!host_display_modes(request.place.machine, adapter, source, error, error_bytes))
        return DXGK_ERROR;
    util_explain(what, sizeof(what), "no mode of %u x %u", mode->width, mode->height);
    if (mode->on_target &&
        !vidpn_path(modes_lit_or_asleep(modes_of(&request.place), source), source, mode->target)) {
        util_explain(error, error_bytes, "%s: source %u is not shown on target 0x%x", what, source,
                     mode->target);
        return DXGK_ERROR;
    }
    if (mode->quarter_turns > 3) {
        util_explain(error, error_bytes, "%s: %u quarter turns", what, mode->quarter_turns);
        return DXGK_ERROR;
    }
    request.wish.given = true;
    request.wish.source = source;
    request.wish.size = (D3DKMDT_2DREGION){mode->width, mode->height};
    request.wish.frequency = (D3DDDI_RATIONAL){mode->hz_numerator, mode->hz_denominator};
    request.wish.rotation = (D3DKMDT_VIDPN_PRESENT_PATH_ROTATION)((UINT)D3DKMDT_VPPR_IDENTITY +
                                                                  mode->quarter_turns);
    host_called_begin(request.place.machine, adapter);
    result = host_task_run("mode", set_mode, &request);
    host_called_end(request.place.machine, adapter);
    return host_display_result(result, request.status, what, request.reason, error, error_bytes);
}

struct power_request {
    struct place place;
    UINT target;
    bool on;
    NTSTATUS status;
    char reason[400];
};

static void set_power(void *arg)
{
    struct power_request *request = arg;
    struct modes *modes = modes_of(&request->place);
    const char *reason;
    struct refusal refusal;

    refusal_begin(&refusal);
    refusal.call = "a change of a display's power";
    request->status = modes ? display_power(modes, request->target, request->on)
                            : STATUS_DEVICE_REMOVED;
    reason = refusal_reason(request->status);
    util_explain(request->reason, sizeof(request->reason), "%s",
                 reason ? reason : "the driver refused");
    refusal_drop(&refusal);
}

DXGK_API enum dxgk_result dxgk_client_display_power(unsigned adapter, uint32_t target, bool on,
                                                    char *error, size_t error_bytes)
{
    struct power_request request = {
        .place = {host_run_client_machine(), adapter}, .target = target, .on = on};
    char what[80];
    enum dxgk_result result;

    if (!host_display_modes(request.place.machine, adapter, 0, error, error_bytes))
        return DXGK_ERROR;
    util_explain(what, sizeof(what), "the display on target 0x%x was not turned %s", target,
                 on ? "on" : "off");
    host_called_begin(request.place.machine, adapter);
    result = host_task_run("display power", set_power, &request);
    host_called_end(request.place.machine, adapter);
    return host_display_result(result, request.status, what, request.reason, error, error_bytes);
}

/* ---- drawing ---- */

struct draw_request {
    struct place place;
    UINT source;
    const struct dxgk_drawing *drawing;
    bool settle, shown;
    NTSTATUS failure; /* of the driver's present */
};

static RECT rectangle(const struct dxgk_drawing *d)
{
    return (RECT){d->x, d->y, d->x + (LONG)d->width, d->y + (LONG)d->height};
}

static void copy(const struct screens_image *image, const struct dxgk_drawing *d)
{
    const RECT r = rectangle(d);

    for (LONG y = r.top < 0 ? 0 : r.top; y < r.bottom && y < (LONG)image->height; y++) {
        const LONG left = r.left < 0 ? 0 : r.left;
        const LONG right = r.right < (LONG)image->width ? r.right : (LONG)image->width;

        if (left < right)
            memcpy(image->pixels + (size_t)y * image->pitch + (size_t)left * 4,
                   (const uint8_t *)d->pixels + (size_t)(y - r.top) * d->pitch +
                       (size_t)(left - r.left) * 4,
                   (size_t)(right - left) * 4);
    }
}

static void draw(void *arg)
{
    struct draw_request *request = arg;
    const RECT changed = rectangle(request->drawing);
    struct screens *screens = screens_of(&request->place);
    struct screens_image image;

    request->shown = screens && screens_draw(screens, request->source, &image);
    if (!request->shown)
        return;
    copy(&image, request->drawing);
    screens_drawn(screens, request->source, &changed);
    if (request->settle)
        request->shown = screens_settle(screens, request->source);
    if (!request->shown)
        request->failure = screens_failure(screens, request->source);
}

DXGK_API enum dxgk_result dxgk_client_draw(unsigned adapter, unsigned source,
                                           const struct dxgk_drawing *drawing, bool settle,
                                           char *error, size_t error_bytes)
{
    struct draw_request request = {.place = {host_run_client_machine(), adapter},
                                   .source = source,
                                   .drawing = drawing,
                                   .settle = settle};
    enum dxgk_result result;
    bool draws;

    if (!host_display_modes(request.place.machine, adapter, source, error, error_bytes))
        return DXGK_ERROR;
    draws = screens_of(&request.place) != NULL;
    if (!draws || drawing->width > INT32_MAX / 2 || drawing->height > INT32_MAX / 2 ||
        drawing->x > INT32_MAX / 2 || drawing->y > INT32_MAX / 2) {
        util_explain(error, error_bytes,
                     draws ? "the drawing is out of all bounds"
                           : "the host draws on display-only adapters alone");
        return DXGK_ERROR;
    }
    result = host_task_run("draw", draw, &request);
    if (request.failure) /* PRES-219, PRES-220: the next present covers it again */
        return host_display_result(result, request.failure, "the drawing is not on the screen",
                                   "the driver failed the present", error, error_bytes);
    return host_display_result(result,
                               request.shown ? STATUS_SUCCESS : STATUS_GRAPHICS_PRESENT_OCCLUDED,
                               "the drawing is not on the screen",
                               "the source shows nothing, because it is dark; the image "
                               "has it, and is shown when the source is lit again",
                               error, error_bytes);
}
