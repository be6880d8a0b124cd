/* SPDX-License-Identifier: MIT */
/* D3DKMTPresentMultiPlaneOverlay and its later forms (PRES-303). */
#include <string.h>

#include "ddi/ddi.h"
#include "ddi/entries_planes.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/plane_look.h"
#include "kmt/present_state.h"
#include "kmt/source_owner.h"
#include "port/record/adapter_info.h"
#include "screens/scanouts.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/scanout.h"
#include "vidsch/client.h"

#define METADATA_MOST 65536u

/* A present in whatever form. */
struct presenting {
    struct kmt_device *device;
    struct scanouts *scanouts;
    struct planes_present present;
    struct plane_setting plane[PLANES_MOST];
    void *private_data[PLANES_MOST]; /* copies */
    void *metadata;
};

/* ---- what is common ---- */

static NTSTATUS find_device(struct kmt_call *call, D3DKMT_HANDLE context, struct presenting *p)
{
    struct vidsch_context *sch = kmt_handle_context(call, context);

    if (!sch)
        return STATUS_INVALID_PARAMETER;
    p->device = kmt_device_of(call, vidsch_context_device(sch));
    p->scanouts = p->device ? kmt_scanouts(p->device->adapter) : NULL;
    if (!p->scanouts)
        return STATUS_NOT_SUPPORTED;
    if (!planes_most(p->scanouts))
        return refuse(STATUS_NOT_SUPPORTED, "PRES-303", "the driver has no multi-plane overlays");
    p->present.device = p->device->mm;
    p->present.sch = p->device->sch;
    p->present.context = vidsch_context_driver_handle(sch);
    p->present.limit = kmt_queued_limit(p->device);
    p->present.plane = p->plane;
    return vidsch_device_check(p->device->sch, true);
}

static NTSTATUS begin(struct kmt_call *call, D3DKMT_HANDLE context, UINT source, UINT count,
                      struct presenting *p)
{
    NTSTATUS status = find_device(call, context, p);

    if (NT_SUCCESS(status))
        status = kmt_source_owned(p->device, source);
    if (!NT_SUCCESS(status))
        return status;
    p->present.source = source;
    p->present.count = count;
    if (!count || count > planes_most(p->scanouts))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-303",
                      "a present of %u planes; the driver has %u", count, planes_most(p->scanouts));
    return status;
}

/* PRES-147, for each plane. */
static NTSTATUS check_interval(const struct presenting *p, struct plane_setting *plane,
                               D3DDDI_FLIPINTERVAL_TYPE interval)
{
    if (interval < D3DDDI_FLIPINTERVAL_IMMEDIATE ||
        interval > D3DDDI_FLIPINTERVAL_IMMEDIATE_ALLOW_TEARING ||
        (interval >= D3DDDI_FLIPINTERVAL_TWO && interval <= D3DDDI_FLIPINTERVAL_FOUR &&
         !port_adapter_flips_at_intervals(p->device->adapter->port)))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-147", "flip interval %d", (int)interval);
    plane->interval = interval == D3DDDI_FLIPINTERVAL_IMMEDIATE_ALLOW_TEARING ? 0 : (UINT)interval;
    return STATUS_SUCCESS;
}

static NTSTATUS check_layers(const struct presenting *p)
{
    UINT layers = 0;

    for (UINT i = 0; i < p->present.count; i++) {
        const UINT layer = p->plane[i].layer;

        if (layer >= planes_most(p->scanouts) || layers >> layer & 1)
            return refuse(STATUS_INVALID_PARAMETER, "PRES-303", "layer %u %s", layer,
                          layer >= planes_most(p->scanouts) ? "does not exist" : "is listed twice");
        layers |= 1u << layer;
    }
    return STATUS_SUCCESS;
}

/* What the driver says of the primary of a plane, for pictures of the screen. */
static void describe(const struct presenting *p, struct plane_setting *plane)
{
    struct ddi_adapter *ddi = port_adapter_ddi(p->device->adapter->port);
    struct vidmm_allocation *allocation = vidmm_scanout_get(p->device->mm, plane->allocation);
    DXGKARG_DESCRIBEALLOCATION described;

    memset(&described, 0, sizeof(described));
    if (!allocation)
        return;
    described.hAllocation = vidmm_scanout_handle(allocation);
    if (ddi_has(ddi, DxgkDdiDescribeAllocation) &&
        NT_SUCCESS(ddi_describe_allocation(ddi, &described))) {
        plane->width = described.Width;
        plane->height = described.Height;
        plane->format = described.Format;
    }
    vidmm_scanout_release(allocation);
}

/* PRES-100: as of a flip, the driver looks at the planes, and writes nothing (PRES-134). */
static NTSTATUS ask_driver(const struct presenting *p)
{
    struct ddi_adapter *ddi = port_adapter_ddi(p->device->adapter->port);
    DXGK_PRESENTMULTIPLANEOVERLAYLIST list[PLANES_MOST];
    DXGK_PRESENTMULTIPLANEOVERLAYINFO info;
    DXGKARG_PRESENT args;
    NTSTATUS status;

    if (!ddi_has(ddi, DxgkDdiPresent))
        return refuse(STATUS_NOT_SUPPORTED, "PRES-091", "the driver has no DxgkDdiPresent");
    memset(list, 0, sizeof(list));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < p->present.count; i++) {
        list[i].LayerIndex = p->plane[i].layer;
        list[i].Enabled = p->plane[i].enabled;
        if (p->plane[i].enabled)
            list[i].hDeviceSpecificAllocation = vidmm_scanout_open_handle(p->device->mm,
                                                                          p->plane[i].allocation);
    }
    info = (DXGK_PRESENTMULTIPLANEOVERLAYINFO){
        .VidPnSourceId = p->present.source, .PlaneListCount = p->present.count, .pPlaneList = list};
    args.pPresentMultiPlaneOverlayInfo = &info;
    args.FlipInterval = (D3DDDI_FLIPINTERVAL_TYPE)p->plane[0].interval;
    args.Flags.FlipWithMultiPlaneOverlay = 1;
    status = ddi_present_planes(ddi, p->present.context, &args);
    if (NT_SUCCESS(status) &&
        (args.pDmaBuffer || args.pDmaBufferPrivateData || args.pPatchLocationListOut))
        VIOLATION("PRES-134",
                  "DxgkDdiPresent advanced a pointer for planes, which have no DMA buffer");
    return status;
}

static NTSTATUS carry_out(struct presenting *p)
{
    NTSTATUS status = check_layers(p);

    for (UINT i = 0; NT_SUCCESS(status) && i < p->present.count; i++)
        if (p->plane[i].enabled)
            describe(p, &p->plane[i]);
    if (NT_SUCCESS(status))
        status = ask_driver(p);
    return NT_SUCCESS(status) ? planes_present(p->scanouts, &p->present) : status;
}

/* ---- the first two forms ---- */

static NTSTATUS check_flags(D3DKMT_PRESENTFLAGS flags)
{
    D3DKMT_PRESENTFLAGS known = {.Value = 0};

    known.Flip = known.FlipDoNotWait = known.FlipRestart = known.PresentCountValid = 1;
    known.DurationValid = 1;
    if (flags.Value & ~known.Value)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-303",
                      "Flags 0x%x: this host presents planes with Flip, FlipDoNotWait, FlipRestart, "
                      "PresentCountValid and DurationValid",
                      flags.Value);
    return STATUS_SUCCESS;
}

static void take_flags(struct presenting *p, D3DKMT_PRESENTFLAGS flags, UINT duration)
{
    p->present.do_not_wait = flags.FlipDoNotWait;
    p->present.restart = flags.FlipRestart;
    p->present.duration = flags.DurationValid ? duration : 0;
}

static NTSTATUS present_1(struct kmt_call *call, void *arguments)
{
    const D3DKMT_PRESENT_MULTIPLANE_OVERLAY *args = arguments;
    D3DKMT_MULTIPLANE_OVERLAY plane[PLANES_MOST];
    struct presenting p = {.device = NULL};
    NTSTATUS status = begin(call, args->hContext, args->VidPnSourceId, args->PresentPlaneCount, &p);

    if (NT_SUCCESS(status))
        status = check_flags(args->Flags);
    if (NT_SUCCESS(status) &&
        !kmt_client_get(plane, args->pPresentPlanes, p.present.count * sizeof(plane[0])))
        status = STATUS_INVALID_PARAMETER;
    take_flags(&p, args->Flags, args->Duration);
    for (UINT i = 0; NT_SUCCESS(status) && i < p.present.count; i++) {
        p.plane[i].layer = plane[i].LayerIndex;
        p.plane[i].enabled = plane[i].Enabled != FALSE;
        p.plane[i].allocation = plane[i].hAllocation;
        kmt_plane_look_1(&p.plane[i], &plane[i].PlaneAttributes);
        status = check_interval(&p, &p.plane[i], args->FlipInterval);
    }
    return NT_SUCCESS(status) ? carry_out(&p) : status;
}

static NTSTATUS present_2(struct kmt_call *call, void *arguments)
{
    const D3DKMT_PRESENT_MULTIPLANE_OVERLAY2 *args = arguments;
    D3DKMT_MULTIPLANE_OVERLAY2 plane[PLANES_MOST];
    struct presenting p = {.device = NULL};
    NTSTATUS status = begin(call, args->hContext, args->VidPnSourceId, args->PresentPlaneCount, &p);

    if (NT_SUCCESS(status))
        status = check_flags(args->Flags);
    if (NT_SUCCESS(status) &&
        !kmt_client_get(plane, args->pPresentPlanes, p.present.count * sizeof(plane[0])))
        status = STATUS_INVALID_PARAMETER;
    take_flags(&p, args->Flags, args->Duration);
    for (UINT i = 0; NT_SUCCESS(status) && i < p.present.count; i++) {
        p.plane[i].layer = plane[i].LayerIndex;
        p.plane[i].enabled = plane[i].Enabled != FALSE;
        p.plane[i].allocation = plane[i].hAllocation;
        kmt_plane_look_2(&p.plane[i], &plane[i].PlaneAttributes);
        status = check_interval(&p, &p.plane[i], args->FlipInterval);
    }
    return NT_SUCCESS(status) ? carry_out(&p) : status;
}

/* ---- the third ---- */

static NTSTATUS take_plane_3(struct presenting *p, UINT index,
                             const D3DKMT_MULTIPLANE_OVERLAY3 *user)
{
    struct plane_setting *to = &p->plane[index];
    D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES3 look;
    D3DKMT_MULTIPLANE_OVERLAY3 plane;
    NTSTATUS status;

    if (!kmt_client_get(&plane, user, sizeof(plane)) ||
        !kmt_client_get(&look, plane.pPlaneAttributes, sizeof(look)))
        return STATUS_INVALID_PARAMETER;
    to->layer = plane.LayerIndex;
    to->enabled = plane.InputFlags.Enabled;
    if (to->enabled && plane.AllocationCount != 1)
        return refuse(plane.AllocationCount ? STATUS_NOT_SUPPORTED : STATUS_INVALID_PARAMETER,
                      "PRES-303", "layer %u has %u allocations; more than one is of linked adapters",
                      plane.LayerIndex, plane.AllocationCount);
    if (plane.hFlipToFence || plane.hFlipAwayFence)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-303",
                      "layer %u has fences, which are of hardware flip queues (PRES-192)",
                      plane.LayerIndex);
    if (to->enabled &&
        !kmt_client_get(&to->allocation, plane.pAllocationList, sizeof(to->allocation)))
        return STATUS_INVALID_PARAMETER;
    kmt_plane_look_3(to, &look);
    status = kmt_plane_rectangles(to, look.DirtyRectCount, look.pDirtyRects);
    if (NT_SUCCESS(status))
        status = kmt_client_copy_private(plane.pDriverPrivateData, plane.DriverPrivateDataSize,
                                         &p->private_data[index]);
    to->private_data = p->private_data[index];
    to->private_bytes = p->private_data[index] ? plane.DriverPrivateDataSize : 0;
    return NT_SUCCESS(status) ? check_interval(p, to, plane.FlipInterval) : status;
}

static NTSTATUS take_composition(struct presenting *p,
                                 const D3DKMT_MULTIPLANE_OVERLAY_POST_COMPOSITION *user)
{
    D3DKMT_MULTIPLANE_OVERLAY_POST_COMPOSITION composition;

    if (!user)
        return STATUS_SUCCESS;
    if (!kmt_client_get(&composition, user, sizeof(composition)))
        return STATUS_INVALID_PARAMETER;
    p->present.composition = (struct planes_composition){.given = true,
                                                         .flags = composition.Flags.Value,
                                                         .source = composition.SrcRect,
                                                         .target = composition.DstRect,
                                                         .rotation = composition.Rotation};
    return STATUS_SUCCESS;
}

static NTSTATUS take_metadata(struct presenting *p, const D3DKMT_PRESENT_MULTIPLANE_OVERLAY3 *args)
{
    NTSTATUS status;

    if (!args->Flags.HDRMetaDataValid)
        return STATUS_SUCCESS;
    if (args->HDRMetaDataSize > METADATA_MOST)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-303", "%u bytes of HDR metadata",
                      args->HDRMetaDataSize);
    status = kmt_client_copy_private(args->pHDRMetaData, args->HDRMetaDataSize, &p->metadata);
    p->present.metadata = p->metadata;
    p->present.metadata_type = (UINT)args->HDRMetaDataType;
    p->present.metadata_bytes = p->metadata ? args->HDRMetaDataSize : 0;
    return status;
}

static NTSTATUS check_flags_3(const D3DKMT_PRESENT_MULTIPLANE_OVERLAY3 *args)
{
    D3DKMT_PRESENT_MULTIPLANE_OVERLAY_FLAGS known = {.Value = 0};

    known.FlipDoNotWait = known.FlipRestart = known.DurationValid = known.HDRMetaDataValid = 1;
    if (args->Flags.Value & ~known.Value)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-303",
                      "Flags 0x%x: this host presents planes with FlipDoNotWait, FlipRestart, "
                      "DurationValid and HDRMetaDataValid",
                      args->Flags.Value);
    return STATUS_SUCCESS;
}

static NTSTATUS take_3(struct presenting *p, const D3DKMT_PRESENT_MULTIPLANE_OVERLAY3 *args)
{
    D3DKMT_MULTIPLANE_OVERLAY3 *plane[PLANES_MOST];
    NTSTATUS status = check_flags_3(args);

    if (NT_SUCCESS(status) &&
        !kmt_client_get(plane, args->ppPresentPlanes, p->present.count * sizeof(plane[0])))
        status = STATUS_INVALID_PARAMETER;
    for (UINT i = 0; NT_SUCCESS(status) && i < p->present.count; i++)
        status = take_plane_3(p, i, plane[i]);
    if (NT_SUCCESS(status))
        status = take_composition(p, args->pPostComposition);
    if (NT_SUCCESS(status))
        status = take_metadata(p, args);
    p->present.do_not_wait = args->Flags.FlipDoNotWait;
    p->present.restart = args->Flags.FlipRestart;
    p->present.duration = args->Flags.DurationValid ? args->Duration : 0;
    return status;
}

static NTSTATUS present_3(struct kmt_call *call, void *arguments)
{
    const D3DKMT_PRESENT_MULTIPLANE_OVERLAY3 *args = arguments;
    struct presenting p = {.device = NULL};
    D3DKMT_HANDLE context;
    NTSTATUS status;

    if (args->ContextCount != 1)
        return refuse(args->ContextCount ? STATUS_NOT_SUPPORTED : STATUS_INVALID_PARAMETER,
                      "PRES-303", "%u contexts; more than one is of linked adapters",
                      args->ContextCount);
    if (!kmt_client_get(&context, args->pContextList, sizeof(context)))
        return STATUS_INVALID_PARAMETER;
    status = begin(call, context, args->VidPnSourceId, args->PresentPlaneCount, &p);
    if (NT_SUCCESS(status))
        status = take_3(&p, args);
    if (NT_SUCCESS(status))
        status = carry_out(&p);
    for (UINT i = 0; i < PLANES_MOST; i++)
        util_free(p.private_data[i]);
    util_free(p.metadata);
    return status;
}

KMT_IN(D3DKMTPresentMultiPlaneOverlay, D3DKMT_PRESENT_MULTIPLANE_OVERLAY, present_1)
KMT_IN(D3DKMTPresentMultiPlaneOverlay2, D3DKMT_PRESENT_MULTIPLANE_OVERLAY2, present_2)
KMT_IN(D3DKMTPresentMultiPlaneOverlay3, D3DKMT_PRESENT_MULTIPLANE_OVERLAY3, present_3)
