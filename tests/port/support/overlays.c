/* SPDX-License-Identifier: MIT */
#include "port/support/overlays.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

struct overlays_record overlays_seen;
struct overlays_answers overlays;
unsigned overlays_client_form;
UINT overlays_duration;
bool overlays_restart;
bool overlays_extras;
static unsigned driver_form;

/* ---- the display engine ---- */

static struct {
    bool enabled;
    uint64_t address, id;
} pending[PLANES], latched[PLANES];
static bool in_mode; /* planes were shown since the last call for the primary alone */

static void latch(void)
{
    memcpy(latched, pending, sizeof(latched));
}

static void tell_addresses(DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    static DXGK_MULTIPLANE_OVERLAY_VSYNC_INFO info[PLANES];

    memset(info, 0, sizeof(info));
    for (UINT i = 0; i < PLANES; i++) {
        info[i].LayerIndex = i + overlays.told_layer;
        info[i].Enabled = latched[i].enabled;
        info[i].PhysicalAddress.QuadPart = (LONGLONG)latched[i].address;
    }
    data->CrtcVsyncWithMultiPlaneOverlay.VidPnTargetId = full_engine.target;
    data->CrtcVsyncWithMultiPlaneOverlay.PhysicalAdapterMask = 0;
    data->CrtcVsyncWithMultiPlaneOverlay.MultiPlaneOverlayVsyncInfoCount = PLANES;
    data->CrtcVsyncWithMultiPlaneOverlay.pMultiPlaneOverlayVsyncInfo = info;
}

static void tell_ids(DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    static DXGK_MULTIPLANE_OVERLAY_VSYNC_INFO2 info[PLANES];

    memset(info, 0, sizeof(info));
    for (UINT i = 0; i < PLANES; i++) {
        info[i].LayerIndex = i + overlays.told_layer;
        info[i].PresentId = latched[i].id;
        info[i].Flags.PostPresentNeeded = overlays.wants_post && i == 1 && latched[i].id;
    }
    data->CrtcVsyncWithMultiPlaneOverlay2.VidPnTargetId = full_engine.target;
    data->CrtcVsyncWithMultiPlaneOverlay2.PhysicalAdapterMask = 0;
    data->CrtcVsyncWithMultiPlaneOverlay2.MultiPlaneOverlayVsyncInfoCount = PLANES;
    data->CrtcVsyncWithMultiPlaneOverlay2.pMultiPlaneOverlayVsyncInfo = info;
}

static void tell(DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    if (!in_mode)
        return;
    data->InterruptType = overlays.type;
    if (overlays.type == DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY)
        tell_addresses(data);
    else if (overlays.type == DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2)
        tell_ids(data);
}

/* ---- showing ---- */

static void note_call(struct overlays_call call)
{
    call.irql = sim_current->irql;
    for (UINT i = 0; i < call.count; i++) {
        const struct plane_seen *plane = &call.plane[i];

        if (plane->layer >= PLANES)
            continue;
        pending[plane->layer].enabled = plane->enabled;
        pending[plane->layer].address = plane->address;
        pending[plane->layer].id = plane->id;
        if (plane->layer == 0)
            full_engine.pending = plane->address;
    }
    in_mode = true;
    overlays_seen.call[overlays_seen.calls++ % PLANE_CALLS] = call;
}

static void show_1(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY *args =
        (const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY *)(uintptr_t)call->arg[1];
    struct overlays_call seen = {.form = 1,
                                 .source = args->VidPnSourceId,
                                 .count = args->PlaneCount,
                                 .flags = args->Flags.Value,
                                 .duration = args->Duration,
                                 .order = call->order};

    (void)p;
    for (UINT i = 0; i < args->PlaneCount && i < PLANES; i++)
        seen.plane[i] = (struct plane_seen){
            .layer = args->pPlanes[i].LayerIndex,
            .enabled = args->pPlanes[i].Enabled != FALSE,
            .address = (uint64_t)args->pPlanes[i].AllocationAddress.QuadPart,
            .allocation = args->pPlanes[i].hAllocation,
            .context = args->Context[0],
            .source = args->pPlanes[i].PlaneAttributes.SrcRect,
            .target = args->pPlanes[i].PlaneAttributes.DstRect,
            .clip = args->pPlanes[i].PlaneAttributes.ClipRect,
            .stretch = args->pPlanes[i].PlaneAttributes.StretchQuality};
    note_call(seen);
    call->answered = true;
    call->result = (uint64_t)overlays.show_status;
}

static void show_2(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2 *args =
        (const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2 *)(uintptr_t)call->arg[1];
    struct overlays_call seen = {.form = 2,
                                 .source = args->VidPnSourceId,
                                 .count = args->PlaneCount,
                                 .flags = args->Flags.Value,
                                 .duration = args->Duration,
                                 .order = call->order};

    (void)p;
    for (UINT i = 0; i < args->PlaneCount && i < PLANES; i++)
        seen.plane[i] = (struct plane_seen){
            .layer = args->pPlanes[i].LayerIndex,
            .enabled = args->pPlanes[i].Enabled != FALSE,
            .address = (uint64_t)args->pPlanes[i].AllocationAddress.QuadPart,
            .allocation = args->pPlanes[i].hAllocation,
            .context = args->Context[0],
            .source = args->pPlanes[i].PlaneAttributes.SrcRect,
            .target = args->pPlanes[i].PlaneAttributes.DstRect,
            .clip = args->pPlanes[i].PlaneAttributes.ClipRect,
            .stretch = args->pPlanes[i].PlaneAttributes.StretchQuality};
    note_call(seen);
    call->answered = true;
    call->result = (uint64_t)overlays.show_status;
}

static struct plane_seen seen_3(const DXGK_MULTIPLANE_OVERLAY_PLANE3 *plane)
{
    const DXGK_PRIMARYCONTEXTDATA *primary = plane->ContextCount == 1 ? plane->ppContextData[0]
                                                                      : NULL;
    struct plane_seen seen = {.layer = plane->LayerIndex,
                              .enabled = plane->InputFlags.Enabled,
                              .id = plane->PresentId,
                              .flags = plane->InputFlags.Value,
                              .line = plane->MaxImmediateFlipLine,
                              .source = plane->PlaneAttributes.SrcRect,
                              .target = plane->PlaneAttributes.DstRect,
                              .clip = plane->PlaneAttributes.ClipRect,
                              .stretch = plane->PlaneAttributes.StretchQuality,
                              .private_bytes = plane->DriverPrivateDataSize,
                              .dirty = plane->PlaneAttributes.DirtyRectCnt};

    if (primary) {
        seen.address = (uint64_t)primary->SegmentAddress.QuadPart;
        seen.allocation = primary->hAllocation;
        seen.context = primary->hContext;
    }
    if (plane->DriverPrivateDataSize >= sizeof(UINT))
        memcpy(&seen.private_first, plane->pDriverPrivateData, sizeof(UINT));
    return seen;
}

static void show_3(struct probe *p, struct probe_call *call)
{
    DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 *args =
        (DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 *)(uintptr_t)call->arg[1];
    struct overlays_call seen = {.form = 3,
                                 .source = args->VidPnSourceId,
                                 .count = args->PlaneCount,
                                 .flags = args->InputFlags.Value,
                                 .duration = args->Duration,
                                 .composition = args->pPostComposition != NULL,
                                 .metadata = args->pHDRMetaData != NULL,
                                 .order = call->order};

    (void)p;
    for (UINT i = 0; i < args->PlaneCount && i < PLANES; i++) {
        seen.plane[i] = seen_3(args->ppPlanes[i]);
        args->ppPlanes[i]->OutputFlags.FlipConvertedToImmediate = overlays.converts;
        args->ppPlanes[i]->OutputFlags.PostPresentNeeded = overlays.converts && overlays.wants_post;
    }
    note_call(seen);
    call->answered = true;
    call->result = (uint64_t)overlays.show_status;
    if (overlays.needs_passive) {
        args->OutputFlags.PrePresentNeeded = 1;
        call->result = (uint64_t)STATUS_RETRY;
        overlays.needs_passive = false;
    }
}

static void post(struct probe *p, struct probe_call *call)
{
    (void)p;
    overlays_seen.posts++;
    overlays_seen.post_irql = sim_current->irql;
    overlays_seen.post = *(const DXGKARG_POSTMULTIPLANEOVERLAYPRESENT *)(uintptr_t)call->arg[1];
    call->answered = true;
    call->result = (uint64_t)overlays.post_status;
}

/* The primary alone, and visibility, switch off all other planes. */
static probe_hook *address;

static void note_plain(struct probe *p, struct probe_call *call)
{
    in_mode = false;
    memset(pending, 0, sizeof(pending));
    address(p, call);
}

/* ---- questions ---- */

static void note_check(UINT form, UINT count, BOOL *supported,
                       DXGK_CHECK_MULTIPLANE_OVERLAY_SUPPORT_RETURN_INFO *info)
{
    overlays_seen.checks++;
    overlays_seen.check_form = form;
    overlays_seen.check_count = count;
    overlays_seen.check_irql = sim_current->irql;
    overlays_seen.preset = (UINT)*supported;
    *supported = overlays.supported;
    info->Value = overlays.info;
}

static void answer(struct probe_call *call)
{
    call->answered = true;
    call->result = (uint64_t)overlays.check_status;
}

static void check_1(struct probe *p, struct probe_call *call)
{
    DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT *args =
        (DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->PlaneCount && i < PLANES; i++) {
        overlays_seen.check_source[i] = args->pPlanes[i].VidPnSourceId;
        overlays_seen.check_allocation[i] = args->pPlanes[i].hAllocation;
        overlays_seen.check_layer[i] = i;
    }
    note_check(1, args->PlaneCount, &args->Supported, &args->ReturnInfo);
    answer(call);
}

static void check_2(struct probe *p, struct probe_call *call)
{
    DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT2 *args =
        (DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT2 *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->PlaneCount && i < PLANES; i++) {
        overlays_seen.check_source[i] = args->pPlanes[i].VidPnSourceId;
        overlays_seen.check_allocation[i] = args->pPlanes[i].hAllocation;
        overlays_seen.check_layer[i] = args->pPlanes[i].LayerIndex;
    }
    note_check(2, args->PlaneCount, &args->Supported, &args->ReturnInfo);
    answer(call);
}

static void check_3(struct probe *p, struct probe_call *call)
{
    DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3 *args =
        (DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3 *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->PlaneCount && i < PLANES; i++) {
        overlays_seen.check_source[i] = args->ppPlanes[i]->VidPnSourceId;
        overlays_seen.check_allocation[i] = args->ppPlanes[i]->hAllocation;
        overlays_seen.check_layer[i] = args->ppPlanes[i]->LayerIndex;
    }
    note_check(3, args->PlaneCount, &args->Supported, &args->ReturnInfo);
    answer(call);
}

static void caps(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETMULTIPLANEOVERLAYCAPS *args = (DXGKARG_GETMULTIPLANEOVERLAYCAPS *)(uintptr_t)
                                                 call->arg[1];

    (void)p;
    overlays_seen.caps++;
    args->MaxPlanes = PLANES;
    args->MaxRGBPlanes = 3;
    args->MaxYUVPlanes = 2;
    args->OverlayCaps.Value = 0x30;
    args->MaxStretchFactor = 4;
    args->MaxShrinkFactor = 2;
    call->answered = true;
}

static void composition_caps(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETPOSTCOMPOSITIONCAPS *args = (DXGKARG_GETPOSTCOMPOSITIONCAPS *)(uintptr_t)call->arg[1];

    (void)p;
    overlays_seen.compositions++;
    args->MaxStretchFactor = 3;
    args->MaxShrinkFactor = 1.5F;
    call->answered = true;
}

static void present(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PRESENT *args = (const DXGKARG_PRESENT *)(uintptr_t)call->arg[1];

    (void)p;
    call->answered = true;
    if (!args->Flags.FlipWithMultiPlaneOverlay)
        return;
    overlays_seen.presents++;
    overlays_seen.present = *args;
    overlays_seen.info = *args->pPresentMultiPlaneOverlayInfo;
    for (UINT i = 0; i < overlays_seen.info.PlaneListCount && i < PLANES; i++)
        overlays_seen.list[i] = overlays_seen.info.pPlaneList[i];
}

/* ---- the driver ---- */

void overlays_set_entries(struct probe *p, unsigned form, bool there)
{
    static const enum probe_ddi entry[][2] = {
        {PROBE_CheckMultiPlaneOverlaySupport, PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay},
        {PROBE_CheckMultiPlaneOverlaySupport2, PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay2},
        {PROBE_CheckMultiPlaneOverlaySupport3, PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay3}};

    probe_set_entry(p, entry[form - 1][0], there);
    probe_set_entry(p, entry[form - 1][1], there);
}

struct probe *overlays_create(const struct probe_options *options, unsigned form)
{
    struct probe *p = flips_create(options);

    memset(&overlays_seen, 0, sizeof(overlays_seen));
    overlays = (struct overlays_answers){
        .supported = TRUE,
        .type = form == 3 ? DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2
                          : DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY};
    memset(pending, 0, sizeof(pending));
    memset(latched, 0, sizeof(latched));
    in_mode = false;
    driver_form = overlays_client_form = form;
    overlays_duration = 0;
    overlays_extras = false;
    p->caps.SupportMultiPlaneOverlay = TRUE;
    p->caps.MaxOverlayPlanes = PLANES;
    overlays_set_entries(p, form, true);
    probe_set_entry(p, PROBE_PostMultiPlaneOverlayPresent, true);
    probe_set_entry(p, PROBE_GetMultiPlaneOverlayCaps, true);
    probe_set_entry(p, PROBE_GetPostCompositionCaps, true);
    p->before[PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay] = show_1;
    p->before[PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay2] = show_2;
    p->before[PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay3] = show_3;
    p->before[PROBE_CheckMultiPlaneOverlaySupport] = check_1;
    p->before[PROBE_CheckMultiPlaneOverlaySupport2] = check_2;
    p->before[PROBE_CheckMultiPlaneOverlaySupport3] = check_3;
    p->before[PROBE_PostMultiPlaneOverlayPresent] = post;
    p->before[PROBE_GetMultiPlaneOverlayCaps] = caps;
    p->before[PROBE_GetPostCompositionCaps] = composition_caps;
    p->before[PROBE_Present] = present;
    address = p->before[PROBE_SetVidPnSourceAddress];
    p->before[PROBE_SetVidPnSourceAddress] = note_plain;
    return p;
}

void overlays_begin(struct probe *p)
{
    flips_begin(p);
    full_engine.latch = latch;
    full_engine.tell = tell;
    flips_show_first();
}

const struct overlays_call *overlays_last(void)
{
    return &overlays_seen.call[(overlays_seen.calls - 1) % PLANE_CALLS];
}
