/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/commit.h"
#include "modes/refusals.h"
#include "ddi/entries_display.h"
#include "modes/change.h"
#include "modes/choose.h"
#include "modes/connections.h"
#include "modes/enumerate.h"
#include "modes/gamma.h"
#include "modes/modes.h"
#include "modes/palette.h"
#include "modes/scope.h"
#include "modes/timings.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "verify/refusal.h"
#include "verify/verify.h"

/* ---- visibility ---- */

void modes_show(struct modes *modes, UINT source, bool visible)
{
    const DXGKARG_SETVIDPNSOURCEVISIBILITY args = {.VidPnSourceId = source, .Visible = visible};
    NTSTATUS status;

    if (modes->source[source].visible == visible)
        return;
    if (!visible && modes->viewer.rests) /* VIDPN-186 */
        modes->viewer.rests(modes->viewer.context, source);
    modes->source[source].visible = visible;
    modes->source[source].shown |= visible;
    trace_instant(modes->source[source].track, visible ? "visible" : "invisible", "source", source,
                  NULL, 0);
    status = ddi_set_vidpn_source_visibility(modes->ddi, &args);
    if (!NT_SUCCESS(status) && !modes->ddi->gone)
        VIOLATION("VIDPN-189", "DxgkDdiSetVidPnSourceVisibility returned %s for source %u",
                  nt_status_text(status).text, source);
    if (visible && modes->viewer.visible)
        modes->viewer.visible(modes->viewer.context, source);
    else if (!visible && modes->viewer.hidden)
        modes->viewer.hidden(modes->viewer.context, source);
}

/* ---- one source ---- */

static HANDLE primary_of(const struct modes *modes, const struct vidpn *vidpn, UINT source)
{
    return modes->viewer.primary && vidpn_paths_from(vidpn, source)
               ? modes->viewer.primary(modes->viewer.context, vidpn, source)
               : NULL; /* VIDPN-174 */
}

/* Sets modes->starved if the host has no memory for it, or had none while the driver worked. */
static NTSTATUS commit_source(struct modes *modes, struct vidpn *vidpn, UINT source,
                              DXGKARG_COMMITVIDPN_FLAGS flags)
{
    const uint64_t refused = modes_allocations_refused();
    DXGKARG_COMMITVIDPN args;
    const struct modes_hand *hand;
    struct modes_scope scope;
    NTSTATUS status;

    modes->starved = false;
    modes_scope_begin(&scope, modes, "DxgkDdiCommitVidPn", 0, vidpn);
    hand = modes_hand_out(&scope, HAND_VIDPN, vidpn);
    if (!hand) {
        modes_scope_end(&scope);
        modes->starved = true;
        return STATUS_NO_MEMORY;
    }
    memset(&args, 0, sizeof(args));
    args.hFunctionalVidPn = (D3DKMDT_HVIDPN)hand->handle;
    args.AffectedVidPnSourceId = source;
    args.MonitorConnectivityChecks = D3DKMDT_MCC_IGNORE; /* VIDPN-172 */
    args.hPrimaryAllocation = primary_of(modes, vidpn, source);
    args.Flags = flags;
    status = ddi_commit_vidpn(modes->ddi, &args);
    modes_scope_end(&scope);
    modes->starved = !NT_SUCCESS(status) && modes_allocations_refused() != refused;
    return modes->starved ? STATUS_NO_MEMORY : status;
}

/* VIDPN-182, VIDPN-183: other scalings that the driver supports, each once, then no rotation. */
static NTSTATUS commit_other_scalings(struct modes *modes, struct vidpn *vidpn, UINT source,
                                      DXGKARG_COMMITVIDPN_FLAGS flags)
{
    static const D3DKMDT_VIDPN_PRESENT_PATH_SCALING order[] = {
        D3DKMDT_VPPS_IDENTITY, D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX, D3DKMDT_VPPS_STRETCHED,
        D3DKMDT_VPPS_CENTERED};
    D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(vidpn, source, 0);
    D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *t;
    NTSTATUS status = STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    D3DKMDT_VIDPN_PRESENT_PATH_SCALING refused;
    D3DKMDT_VIDPN_PRESENT_PATH_ROTATION turned;

    if (!path)
        return status;
    t = &path->ContentTransformation;
    refused = t->Scaling;
    turned = t->Rotation;
    VIOLATION("VIDPN-183", "scaling %d or rotation %d, which the driver supports, was refused",
              (int)t->Scaling, (int)t->Rotation);
    for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]) &&
                         status == STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
         i++) {
        if (!modes_scaling_fits(vidpn, path, order[i]) || order[i] == refused)
            continue;
        t->Scaling = order[i];
        status = commit_source(modes, vidpn, source, flags);
    }
    if (status == STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED &&
        t->Rotation != D3DKMDT_VPPR_IDENTITY) {
        t->Scaling = refused;
        t->Rotation = D3DKMDT_VPPR_IDENTITY;
        status = commit_source(modes, vidpn, source, flags);
    }
    if (!NT_SUCCESS(status)) { /* for whoever compares */
        t->Scaling = refused;
        t->Rotation = turned;
    }
    return status;
}

static NTSTATUS commit_one(struct modes *modes, struct vidpn *vidpn, UINT source,
                           DXGKARG_COMMITVIDPN_FLAGS flags)
{
    NTSTATUS status = commit_source(modes, vidpn, source, flags);

    if (status == STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED)
        status = commit_other_scalings(modes, vidpn, source, flags);
    return status;
}

/* ---- the whole ---- */

static bool removes(const struct vidpn *vidpn, UINT source)
{
    return vidpn_paths_from(vidpn, source) == 0;
}

static bool is_due(const struct modes *modes, const struct vidpn *vidpn, UINT source,
                   enum commit_how how)
{
    if (how == COMMIT_AGAIN || how == COMMIT_RESUME)
        return !removes(vidpn, source);
    return !vidpn_source_equal(modes->active, vidpn, source);
}

static void remember_sizes(struct modes *modes, const struct vidpn *vidpn)
{
    for (UINT i = 0; i < vidpn->paths; i++) {
        const union mode *mode = mode_set_pinned(
            *vidpn_source_set(vidpn, vidpn->path[i].VidPnSourceId));

        if (mode)
            modes_target(modes, vidpn->path[i].VidPnTargetId)->last =
                mode->source.Format.Graphics.PrimSurfSize;
    }
}

/* VIDPN-185: the sources that were committed go back to the active VidPN, the last one first. */
static void undo(struct modes *modes, const struct vidpn *vidpn, const bool *done,
                 DXGKARG_COMMITVIDPN_FLAGS flags)
{
    for (unsigned pass = 2; pass-- > 0;)
        for (UINT source = modes->sources; source-- > 0;) {
            const bool now = done[source] && removes(vidpn, source) == (pass == 0);
            struct vidpn *copy = now ? vidpn_copy(modes->active) : NULL;

            if (copy)
                (void)commit_source(modes, copy, source, flags);
            vidpn_destroy(copy);
        }
}

/* Commit what is due: sources that lose their last path first, each kind in ascending order
 * (VIDPN-168). */
static NTSTATUS commit_due(struct modes *modes, struct vidpn *vidpn, const bool *due, bool *done,
                           DXGKARG_COMMITVIDPN_FLAGS flags)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (unsigned pass = 0; pass < 2; pass++)
        for (UINT source = 0; NT_SUCCESS(status) && source < modes->sources; source++) {
            if (!due[source] || removes(vidpn, source) != (pass == 0))
                continue;
            status = commit_one(modes, vidpn, source, flags);
            if (!NT_SUCCESS(status) && pass == 0 && !modes->ddi->gone && !modes->starved) {
                WARNING("VIDPN-184", /* it goes on */
                        "DxgkDdiCommitVidPn returned %s for source %u, which loses its paths",
                        nt_status_text(status).text, source);
                status = STATUS_SUCCESS;
            }
            if (!NT_SUCCESS(status) && !modes->ddi->gone && !modes->starved)
                WARNING(
                    "VIDPN-184",
                    "DxgkDdiCommitVidPn returned %s for source %u, of a VidPN that it had said to "
                    "support",
                    nt_status_text(status).text, source);
            done[source] = NT_SUCCESS(status);
            if (!done[source] && !modes->starved)
                (void)modes_refused_add(modes, vidpn, source);
        }
    return status;
}

/* VIDPN-179, VIDPN-180: what Windows 7 has drivers do once more, which means nothing. */
static void commit_empty(struct modes *modes, const bool *due)
{
    const DXGKARG_COMMITVIDPN_FLAGS none = {.PathPowerTransition = 0};

    if (modes->version >= DXGKDDI_INTERFACE_VERSION_WIN8)
        return;
    for (UINT source = 0; source < modes->sources; source++) {
        struct vidpn *empty = due[source] ? vidpn_create(modes) : NULL;

        if (empty)
            (void)commit_source(modes, empty, source, none);
        vidpn_destroy(empty);
    }
}

static bool any_of(const struct modes *modes, const bool *done)
{
    bool any = false;

    for (UINT source = 0; source < modes->sources; source++)
        any |= done[source];
    return any;
}

/* VIDPN-211: all at once; a failure leaves everything as it was (VIDPN-221). */
static NTSTATUS time_due(struct modes *modes, const struct vidpn *vidpn, const bool *due,
                         bool *done, enum commit_how how)
{
    enum timings_how told = how == COMMIT_AGAIN ? TIMINGS_ANEW : TIMINGS_REMOVE;
    NTSTATUS status;

    for (UINT source = 0; source < modes->sources; source++)
        if (due[source] && !removes(vidpn, source) && told == TIMINGS_REMOVE)
            told = TIMINGS_CHANGE;
    status = timings_set(modes, vidpn, told);
    for (UINT source = 0; source < modes->sources; source++) {
        done[source] = due[source] && NT_SUCCESS(status);
        if (due[source] && !NT_SUCCESS(status) && !modes->starved && !removes(vidpn, source))
            (void)modes_refused_add(modes, vidpn, source);
    }
    return status;
}

/* What the source shows from now on, in the trace. */
static void trace_mode(const struct modes *modes, UINT source)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(modes->active, source, 0);
    const union mode *shown = mode_set_pinned(*vidpn_source_set(modes->active, source));
    const union mode *signal = path ? mode_set_pinned(
                                          *vidpn_target_set(modes->active, path->VidPnTargetId))
                                    : NULL;
    const trace_track track = modes->source[source].track;

    if (!shown || !signal) {
        trace_instant(track, "dark", "source", source, NULL, 0);
        return;
    }
    trace_instant(track, "mode", "source", source, "target", path->VidPnTargetId);
    trace_more("width", shown->source.Format.Graphics.PrimSurfSize.cx, "height",
               shown->source.Format.Graphics.PrimSurfSize.cy);
    trace_more("format", shown->source.Format.Graphics.PixelFormat, "rotation",
               ((UINT)path->ContentTransformation.Rotation - D3DKMDT_VPPR_IDENTITY) % 4 * 90);
    trace_more("active width", signal->target.VideoSignalInfo.ActiveSize.cx, "active height",
               signal->target.VideoSignalInfo.ActiveSize.cy);
}

/* PRES-062: primaries for the modes that come. */
static NTSTATUS prepare(const struct modes *modes, const struct vidpn *vidpn, const bool *due,
                        enum commit_how how)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (UINT source = 0; modes->viewer.prepare && NT_SUCCESS(status) && source < modes->sources;
         source++)
        if (due[source] && (!removes(vidpn, source) || how != COMMIT_POWER))
            status = modes->viewer.prepare(modes->viewer.context, vidpn, source);
    return status;
}

/* PRES-132, PRES-153 */
static NTSTATUS show_primaries(const struct modes *modes, const struct vidpn *vidpn, const bool *due)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (UINT source = 0; modes->viewer.address && NT_SUCCESS(status) && source < modes->sources;
         source++)
        if (due[source] && !removes(vidpn, source))
            status = modes->viewer.address(modes->viewer.context, vidpn, source);
    return status;
}

/* A display that is only turned off keeps its primary (PRES-061). */
static void settle(const struct modes *modes, const bool *due, bool committed, enum commit_how how)
{
    for (UINT source = 0; modes->viewer.settle && source < modes->sources; source++)
        if (due[source])
            modes->viewer.settle(modes->viewer.context, source, committed, how == COMMIT_POWER);
}

static void tell(const struct modes *modes, void (*what)(void *context, UINT source),
                 const bool *due)
{
    for (UINT source = 0; what && source < modes->sources; source++)
        if (due[source])
            what(modes->viewer.context, source);
}

/* Hide, commit, address; after a failure all is as it was, but hidden. */
static NTSTATUS carry_out(struct modes *modes, struct vidpn *vidpn, const bool *due,
                          enum commit_how how)
{
    const bool again = how == COMMIT_AGAIN || how == COMMIT_RESUME;
    const DXGKARG_COMMITVIDPN_FLAGS flags = {
        .PathPowerTransition = how == COMMIT_POWER || how == COMMIT_RESUME}; /* VIDPN-175 */
    bool done[MODES_MAX_SOURCES] = {false};
    NTSTATUS status;

    for (UINT source = 0; source < modes->sources; source++) {
        if (again)
            modes->source[source].visible = false; /* the driver's own doing (DISP-152) */
        else if (due[source])
            modes_show(modes, source, false);
    }
    tell(modes, modes->viewer.ends, due);
    if (how == COMMIT_RESUME)
        commit_empty(modes, due);
    status = modes->connections.used ? time_due(modes, vidpn, due, done, how)
                                     : commit_due(modes, vidpn, due, done, flags);
    if (NT_SUCCESS(status))
        status = show_primaries(modes, vidpn, due);
    if (NT_SUCCESS(status))
        return status;
    if (!modes->connections.used)
        undo(modes, vidpn, done, flags);
    else if (any_of(modes, done))
        (void)timings_set(modes, modes->active, TIMINGS_CHANGE);
    (void)show_primaries(modes, modes->active, done);
    return status;
}

static void take_over(struct modes *modes, struct vidpn *vidpn, const bool *due)
{
    vidpn_destroy(modes->active);
    modes->active = vidpn;
    modes->changes++;
    remember_sizes(modes, vidpn);
    for (UINT source = 0; source < modes->sources; source++)
        if (due[source]) {
            trace_mode(modes, source);
            modes_ask_capabilities(modes, vidpn, source);
        }
}

NTSTATUS modes_commit(struct modes *modes, struct vidpn *vidpn, enum commit_how how)
{
    bool due[MODES_MAX_SOURCES] = {false};
    bool any = false;
    NTSTATUS status;

    modes_apply_gamma(modes, vidpn);
    for (UINT source = 0; source < modes->sources; source++)
        any |= due[source] = is_due(modes, vidpn, source, how);
    if (!any || modes->ended) {
        vidpn_destroy(vidpn);
        return STATUS_SUCCESS;
    }
    status = prepare(modes, vidpn, due, how);
    if (NT_SUCCESS(status))
        status = modes_change_begin(modes, modes->connections.used ? "DxgkDdiSetTimingsFromVidPn"
                                                                   : "DxgkDdiCommitVidPn");
    if (!NT_SUCCESS(status)) {
        settle(modes, due, false, how);
        vidpn_destroy(vidpn);
        return status;
    }
    status = carry_out(modes, vidpn, due, how);
    if (NT_SUCCESS(status))
        take_over(modes, vidpn, due);
    else
        vidpn_destroy(vidpn);
    tell(modes, modes->viewer.begins, due);
    for (UINT source = 0; source < modes->sources; source++)
        if (due[source] && !removes(modes->active, source) && !modes->ddi->gone) {
            modes_load_palette(modes, source);
            modes_show(modes, source, true);
        }
    connections_hold(modes);
    modes_change_end(modes);
    settle(modes, due, NT_SUCCESS(status), how);
    connections_resume(modes, due);
    return status;
}

NTSTATUS modes_commit_dark(struct modes *modes, struct vidpn *vidpn, UINT source)
{
    bool due[MODES_MAX_SOURCES] = {false};
    NTSTATUS status = modes_still(modes, modes->connections.used ? "DxgkDdiSetTimingsFromVidPn"
                                                                 : "DxgkDdiCommitVidPn");

    if (!NT_SUCCESS(status))
        return status;
    if (modes->connections.used) /* VIDPN-215: that of the display is `kept` already */
        status = timings_set(modes, modes->active, TIMINGS_CHANGE);
    else
        status = commit_one(modes, vidpn, source, (DXGKARG_COMMITVIDPN_FLAGS){.PathPoweredOff = 1});
    due[source] = NT_SUCCESS(status);
    if (!modes->connections.used)
        commit_empty(modes, due);
    modes_go_on(modes);
    return status;
}

/* ---- one path ---- */

NTSTATUS modes_rotate(struct modes *modes, UINT source, UINT target,
                      D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation)
{
    D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path(modes->active, source, target);
    DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH args;
    NTSTATUS status;

    if (!path)
        return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
    memset(&args, 0, sizeof(args));
    args.VidPnPresentPathInfo = *path;
    args.VidPnPresentPathInfo.ContentTransformation.Rotation = rotation;
    status = modes_change_begin(modes, "DxgkDdiUpdateActiveVidPnPresentPath");
    if (!NT_SUCCESS(status))
        return status;
    if (modes->viewer.ends)
        modes->viewer.ends(modes->viewer.context, source);
    status = ddi_update_active_vidpn_present_path(modes->ddi, &args);
    if (NT_SUCCESS(status)) {
        path->ContentTransformation.Rotation = rotation;
        trace_mode(modes, source);
    } else if (status == STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY && !modes->ddi->gone) {
        VIOLATION("VIDPN-195", "the driver does not know the path from source %u to target 0x%x",
                  source, target);
    }
    if (modes->viewer.begins)
        modes->viewer.begins(modes->viewer.context, source);
    if (modes->source[source].visible && modes->viewer.visible)
        modes->viewer.visible(modes->viewer.context, source);
    modes_change_end(modes);
    return status;
}
