/* SPDX-License-Identifier: MIT */
/* D3DKMTGetDisplayModeList (PRES-273, PRES-274). */
#include "kmt/mode_list.h"

#include <stdlib.h>
#include <string.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/handle.h"
#include "modes/choose.h"
#include "modes/display_worker.h"
#include "modes/mode_check.h"
#include "modes/mode_list.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "port/running/display.h"
#include "screens/source_mode.h"
#include "util/alloc.h"
#include "verify/refusal.h"

/* ---- one mode ---- */

static UINT whole_rate(const D3DDDI_RATIONAL *rate)
{
    return rate->Denominator
               ? (UINT)(((uint64_t)rate->Numerator + rate->Denominator / 2) / rate->Denominator)
               : 0;
}

/* A rate that the driver leaves open is told as 60 Hz (PRES-195). */
static void set_rate(D3DKMT_DISPLAYMODE *mode, const D3DDDI_RATIONAL *rate)
{
    mode->RefreshRate = mode_frequency_given(rate) ? *rate : (D3DDDI_RATIONAL){60, 1};
    mode->IntegerRefreshRate = whole_rate(&mode->RefreshRate);
}

static D3DKMT_DISPLAYMODE describe(const struct modes_listed *listed, UINT quarters)
{
    D3DKMT_DISPLAYMODE mode;

    memset(&mode, 0, sizeof(mode));
    mode.Width = listed->size.cx;
    mode.Height = listed->size.cy;
    mode.Format = listed->format;
    set_rate(&mode, &listed->rate);
    mode.ScanLineOrdering = listed->order;
    mode.DisplayOrientation = (D3DDDI_ROTATION)(D3DDDI_ROTATION_IDENTITY + quarters);
    mode.Flags.ValidatedAgainstMonitorCaps = listed->accepted;
    return mode;
}

static D3DDDI_ROTATION orientation(D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation)
{
    switch ((int)rotation) {
    case D3DKMDT_VPPR_ROTATE90:
        return D3DDDI_ROTATION_90;
    case D3DKMDT_VPPR_ROTATE180:
        return D3DDDI_ROTATION_180;
    case D3DKMDT_VPPR_ROTATE270:
        return D3DDDI_ROTATION_270;
    default:
        return D3DDDI_ROTATION_IDENTITY;
    }
}

bool kmt_current_mode(const struct modes *modes, UINT source, D3DKMT_DISPLAYMODE *mode)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(modes->active, source, 0);
    const D3DKMDT_VIDPN_SOURCE_MODE *of = path ? source_mode(modes->active, source) : NULL;
    const union mode *target;
    D3DDDI_RATIONAL rate;

    if (!of)
        return false;
    target = mode_set_pinned(*vidpn_target_set(modes->active, path->VidPnTargetId));
    memset(mode, 0, sizeof(*mode));
    mode->Width = of->Format.Graphics.PrimSurfSize.cx;
    mode->Height = of->Format.Graphics.PrimSurfSize.cy;
    mode->Format = of->Format.Graphics.PixelFormat;
    rate = source_rate(modes->active, path);
    set_rate(mode, &rate);
    if (target)
        mode->ScanLineOrdering = (D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING)modes_scan_order(
            modes, &target->target.VideoSignalInfo);
    mode->DisplayOrientation = orientation(path->ContentTransformation.Rotation);
    mode->Flags.ValidatedAgainstMonitorCaps = 1;
    return true;
}

/* ---- all of them ---- */

struct listing {
    UINT source, count;
    D3DKMT_DISPLAYMODE *mode;
};

static int compare(const void *a, const void *b)
{
    const D3DKMT_DISPLAYMODE *x = a, *y = b;
    const uint64_t first[] = {x->Width,
                              x->Height,
                              (uint64_t)x->RefreshRate.Numerator * y->RefreshRate.Denominator,
                              x->Format,
                              x->ScanLineOrdering,
                              x->DisplayOrientation};
    const uint64_t second[] = {y->Width,
                               y->Height,
                               (uint64_t)y->RefreshRate.Numerator * x->RefreshRate.Denominator,
                               y->Format,
                               y->ScanLineOrdering,
                               y->DisplayOrientation};

    for (unsigned i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (first[i] != second[i])
            return first[i] < second[i] ? -1 : 1;
    return 0;
}

/* On the display worker, which may change its list afterwards. */
static NTSTATUS list(struct modes *modes, void *arg)
{
    struct listing *listing = arg;
    const struct mode_list *found;
    NTSTATUS status = modes_list(modes, listing->source, &found);

    if (!NT_SUCCESS(status))
        return status;
    listing->mode = util_alloc((4 * (size_t)found->count + 1) * sizeof(*listing->mode));
    if (!listing->mode)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < found->count; i++)
        for (UINT quarters = 0; quarters < 4; quarters++)
            if (found->mode[i].turns & 1u << quarters)
                listing->mode[listing->count++] = describe(&found->mode[i], quarters);
    qsort(listing->mode, listing->count, sizeof(*listing->mode), compare);
    return STATUS_SUCCESS;
}

NTSTATUS kmt_list_modes(struct modes *modes, UINT source, D3DKMT_DISPLAYMODE **mode, UINT *count)
{
    struct listing listing = {.source = source};
    NTSTATUS status = display_do(modes, list, &listing);

    *mode = listing.mode;
    *count = listing.count;
    return status;
}

static NTSTATUS put(struct kmt_call *call, D3DKMT_GETDISPLAYMODELIST *args,
                    const D3DKMT_DISPLAYMODE *mode, UINT count)
{
    const UINT room = args->ModeCount;

    if (!count)
        return refuse(STATUS_GRAPHICS_NO_AVAILABLE_VIDPN_TARGET, "PRES-273",
                      "source %u is on no target, so it has no modes", args->VidPnSourceId);
    args->ModeCount = count;
    if (!args->pModeList)
        return STATUS_SUCCESS;
    if (room < count) {
        call->write_on_failure = true;
        return refuse(STATUS_BUFFER_TOO_SMALL, "PRES-273", "room for %u modes, there are %u", room,
                      count);
    }
    return kmt_client_put(args->pModeList, mode, count * sizeof(*mode)) ? STATUS_SUCCESS
                                                                        : STATUS_INVALID_PARAMETER;
}

static NTSTATUS get_mode_list(struct kmt_call *call, void *arguments)
{
    D3DKMT_GETDISPLAYMODELIST *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    D3DKMT_DISPLAYMODE *mode = NULL;
    UINT count;
    struct modes *modes;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(status))
        return status;
    modes = port_display_modes(adapter->port);
    if (!modes)
        return refuse(STATUS_NOT_SUPPORTED, "KMT-001", "the adapter has no display");
    if (args->VidPnSourceId >= modes->sources)
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-273",
                      "the adapter has no source %u", args->VidPnSourceId);
    if (!args->pModeList && args->ModeCount)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-273", "no list for %u modes", args->ModeCount);
    status = kmt_list_modes(modes, args->VidPnSourceId, &mode, &count);
    if (NT_SUCCESS(status))
        status = put(call, args, mode, count);
    util_free(mode);
    return status;
}

KMT_IN_OUT(D3DKMTGetDisplayModeList, D3DKMT_GETDISPLAYMODELIST, get_mode_list)
