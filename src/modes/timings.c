/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/timings.h"
#include "ddi/entries_connection.h"
#include "modes/connections.h"
#include "modes/kept.h"
#include "modes/modes.h"
#include "modes/scope.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "util/alloc.h"
#include "verify/verify.h"

/* DXGK_PATH_UPDATE, which the headers have for C++ alone. */
enum path_update { PATH_UNMODIFIED, PATH_ADDED, PATH_MODIFIED, PATH_REMOVED };

/* ---- the wire ---- */

static UINT lowest_bit(UINT bits)
{
    return bits & (0u - bits);
}

D3DKMDT_WIRE_FORMAT_AND_PREFERENCE timings_wire_format(D3DKMDT_WIRE_FORMAT_AND_PREFERENCE offered)
{
    D3DKMDT_WIRE_FORMAT_AND_PREFERENCE chosen = {.Value = 0};

    if (offered.Rgb & D3DKMDT_BITS_PER_COMPONENT_08)
        chosen.Rgb = D3DKMDT_BITS_PER_COMPONENT_08;
    else if (offered.Rgb)
        chosen.Rgb = lowest_bit(offered.Rgb) & 0x3F;
    else if (offered.YCbCr444)
        chosen.YCbCr444 = lowest_bit(offered.YCbCr444) & 0x3F;
    else if (offered.YCbCr422)
        chosen.YCbCr422 = lowest_bit(offered.YCbCr422) & 0x3F;
    else if (offered.YCbCr420)
        chosen.YCbCr420 = lowest_bit(offered.YCbCr420) & 0x3F;
    else if (offered.Intensity)
        chosen.Intensity = lowest_bit(offered.Intensity) & 0x3F;
    return chosen;
}

static D3DKMDT_WIRE_FORMAT_AND_PREFERENCE wire_of(const struct vidpn *vidpn, UINT target)
{
    const union mode *mode = mode_set_pinned(*vidpn_target_set(vidpn, target));
    D3DKMDT_WIRE_FORMAT_AND_PREFERENCE chosen = {.Value = 0};

    if (mode)
        chosen = timings_wire_format(mode->target.WireFormatAndPreference);
    if (!chosen.Value)
        chosen.Rgb = D3DKMDT_BITS_PER_COMPONENT_08; /* VIDPN-106 */
    return chosen;
}

/* ---- what the driver is told ---- */

/* VIDPN-215: what is turned off stays in the VidPN. */
static struct vidpn *with_dark(const struct modes *modes, const struct vidpn *vidpn)
{
    struct vidpn *all = vidpn_copy(vidpn);

    for (UINT i = 0; all && i < modes->targets; i++)
        if (modes->target[i].off && modes->target[i].kept &&
            !vidpn_path_to(all, modes->target[i].id))
            (void)modes_add_kept(all, &modes->target[i]);
    return all;
}

static enum path_update update_of(const struct vidpn *told, const struct vidpn *all, UINT target)
{
    if (!told || !vidpn_path_to(told, target))
        return PATH_ADDED;
    return vidpn_path_equal(told, all, target) ? PATH_UNMODIFIED : PATH_MODIFIED;
}

struct timings {
    DXGKARG_SETTIMINGSFROMVIDPN args;
    DXGK_SET_TIMING_RESULTS results;
    DXGK_SET_TIMING_PATH_INFO *path;
};

/* False: out of memory. */
static bool describe(const struct modes *modes, const struct vidpn *told, const struct vidpn *all,
                     struct timings *t)
{
    const UINT most = all->paths + (told ? told->paths : 0);
    UINT count = 0;

    memset(t, 0, sizeof(*t));
    t->path = util_zalloc(most + 1, sizeof(*t->path));
    if (!t->path)
        return false;
    for (UINT i = 0; i < all->paths; i++) { /* VIDPN-213 */
        const UINT id = all->path[i].VidPnTargetId;
        const struct modes_target *target = modes_target(modes, id);
        DXGK_SET_TIMING_PATH_INFO *info = &t->path[count++];

        info->VidPnTargetId = id;
        info->OutputWireColorSpace = D3DDDI_OUTPUT_WIRE_COLOR_SPACE_G22_P709; /* VIDPN-217 */
        info->SelectedWireFormat = wire_of(all, id);
        info->Input.VidPnPathUpdates = update_of(told, all, id);
        info->Input.Active = !target->off;
        info->Input.IgnoreConnectivity = target->forced;
        info->Input.PreserveInherited = modes->connections.inherits;
    }
    for (UINT i = 0; told && i < told->paths; i++)
        if (!vidpn_path_to(all, told->path[i].VidPnTargetId)) {
            DXGK_SET_TIMING_PATH_INFO *info = &t->path[count++];

            info->VidPnTargetId = told->path[i].VidPnTargetId;
            info->Input.VidPnPathUpdates = PATH_REMOVED;
        }
    t->args.PathCount = count;
    t->args.pSetTimingPathInfo = t->path;
    t->args.pResultsFlags = &t->results;
    return true;
}

/* ---- what it answers ---- */

static void take_answers(struct modes *modes, const struct vidpn *all, const struct timings *t)
{
    for (UINT i = 0; i < t->args.PathCount; i++) {
        const UINT id = i < all->paths ? all->path[i].VidPnTargetId : t->path[i].VidPnTargetId;
        struct modes_target *target = modes_target(modes, id);
        const DXGK_SET_TIMING_PATH_INFO *info = &t->path[i];

        if (!target || target->going)
            continue;
        trace_instant(modes->source[0].track, "timings", "target", id, "recheck planes",
                      info->Output.RecheckMPO);
        trace_more("glitch cause", info->GlitchCause, "glitch effect", info->GlitchEffect);
        connections_told(modes, target, &info->TargetState);
    }
    if (t->results.ConnectionStatusChanges) /* VIDPN-220 */
        modes->connections.indicated = true;
}

static NTSTATUS call(struct modes *modes, struct vidpn *all, struct timings *t)
{
    const uint64_t refused = modes_allocations_refused();
    const struct modes_hand *hand;
    struct modes_scope scope;
    NTSTATUS status = STATUS_NO_MEMORY;

    modes_scope_begin(&scope, modes, "DxgkDdiSetTimingsFromVidPn", 0, all);
    hand = modes_hand_out(&scope, HAND_VIDPN, all);
    if (hand) {
        t->args.hFunctionalVidPn = (D3DKMDT_HVIDPN)hand->handle;
        status = ddi_set_timings_from_vidpn(modes->ddi, &t->args);
    }
    modes_scope_end(&scope);
    modes->starved = !hand || (!NT_SUCCESS(status) && modes_allocations_refused() != refused);
    return modes->starved ? STATUS_NO_MEMORY : status;
}

NTSTATUS timings_set(struct modes *modes, const struct vidpn *vidpn, enum timings_how how)
{
    const struct vidpn *told = how == TIMINGS_ANEW ? NULL : modes->connections.told;
    struct vidpn *all = with_dark(modes, vidpn);
    struct timings t = {.path = NULL};
    NTSTATUS status = STATUS_NO_MEMORY;
    bool answered;

    modes->starved = !all || !describe(modes, told, all, &t);
    if (!modes->starved)
        status = call(modes, all, &t);
    answered = NT_SUCCESS(status);
    if (!answered && how == TIMINGS_REMOVE && !modes->starved && !modes->ddi->gone) {
        WARNING("VIDPN-184", "DxgkDdiSetTimingsFromVidPn returned %s for paths that are removed",
                nt_status_text(status).text);
        status = STATUS_SUCCESS;
    }
    if (NT_SUCCESS(status)) {
        vidpn_destroy(modes->connections.told);
        modes->connections.told = all;
        if (answered)
            take_answers(modes, all, &t);
    } else {
        vidpn_destroy(all);
    }
    util_free(t.path);
    return status;
}
