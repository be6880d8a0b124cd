/* SPDX-License-Identifier: MIT */
/* D3DKMTCheckMultiPlaneOverlaySupport and its later forms, and what drivers say of overlays
 * (PRES-302). */
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/plane_look.h"
#include "kmt/source_owner.h"
#include "screens/scanouts.h"
#include "verify/refusal.h"

/* ---- whether planes can be shown ---- */

/* A check in whatever form. */
struct checking {
    const struct kmt_device *device;
    struct scanouts *scanouts;
    struct planes_checked plane[PLANES_MOST];
    struct planes_composition composition[PLANES_MOST];
    UINT composition_source[PLANES_MOST];
    struct planes_check check;
};

static NTSTATUS begin(struct kmt_call *call, D3DKMT_HANDLE device, UINT count, struct checking *c)
{
    c->device = kmt_handle_device(call, device);
    if (!c->device)
        return STATUS_INVALID_PARAMETER;
    c->scanouts = kmt_scanouts(c->device->adapter);
    if (!c->scanouts)
        return STATUS_NOT_SUPPORTED;
    if (!count || count > PLANES_MOST)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-302", "a check of %u planes", count);
    c->check = (struct planes_check){.device = c->device->mm,
                                     .count = count,
                                     .plane = c->plane,
                                     .composition = c->composition,
                                     .composition_source = c->composition_source};
    return STATUS_SUCCESS;
}

static NTSTATUS check_source(const struct checking *c, UINT source)
{
    if (source < kmt_sources(c->device->adapter))
        return STATUS_SUCCESS;
    return refuse(STATUS_INVALID_PARAMETER, "PRES-302", "the adapter has no source %u", source);
}

/* Each layer of a source once. */
static NTSTATUS check_planes(const struct checking *c)
{
    const UINT most = planes_most(c->scanouts);

    for (UINT i = 0; most && i < c->check.count; i++) {
        const struct planes_checked *one = &c->plane[i];

        if (one->plane.layer >= most)
            return refuse(STATUS_INVALID_PARAMETER, "PRES-302", "layer %u of %u", one->plane.layer,
                          most);
        for (UINT k = 0; k < i; k++)
            if (c->plane[k].source == one->source && c->plane[k].plane.layer == one->plane.layer)
                return refuse(STATUS_INVALID_PARAMETER, "PRES-302",
                              "layer %u of source %u is listed twice", one->plane.layer,
                              one->source);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS carry_out(struct checking *c)
{
    NTSTATUS status = check_planes(c);

    for (UINT i = 0; NT_SUCCESS(status) && i < c->check.count; i++)
        status = check_source(c, c->plane[i].source);
    return NT_SUCCESS(status) ? planes_check(c->scanouts, &c->check) : status;
}

/* Form one has no layers: they are counted in the order of the planes of a source. */
static UINT next_layer(const struct checking *c, UINT index)
{
    UINT layer = 0;

    for (UINT i = 0; i < index; i++)
        layer += c->plane[i].source == c->plane[index].source;
    return layer;
}

static NTSTATUS check_1(struct kmt_call *call, void *arguments)
{
    D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT *args = arguments;
    D3DKMT_CHECK_MULTIPLANE_OVERLAY_PLANE plane[PLANES_MOST];
    struct checking c = {.device = NULL};
    NTSTATUS status = begin(call, args->hDevice, args->PlaneCount, &c);

    if (NT_SUCCESS(status) &&
        !kmt_client_get(plane, args->pOverlayPlanes, c.check.count * sizeof(plane[0])))
        status = STATUS_INVALID_PARAMETER;
    for (UINT i = 0; NT_SUCCESS(status) && i < c.check.count; i++) {
        c.plane[i].source = plane[i].VidPnSourceId;
        c.plane[i].plane.layer = next_layer(&c, i);
        c.plane[i].plane.enabled = true;
        c.plane[i].plane.allocation = plane[i].hResource;
        kmt_plane_look_1(&c.plane[i].plane, &plane[i].PlaneAttributes);
    }
    if (NT_SUCCESS(status))
        status = carry_out(&c);
    args->Supported = c.check.supported;
    args->ReturnInfo.Value = c.check.info;
    return status;
}

static NTSTATUS check_2(struct kmt_call *call, void *arguments)
{
    D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT2 *args = arguments;
    D3DKMT_CHECK_MULTIPLANE_OVERLAY_PLANE2 plane[PLANES_MOST];
    struct checking c = {.device = NULL};
    NTSTATUS status = begin(call, args->hDevice, args->PlaneCount, &c);

    if (NT_SUCCESS(status) &&
        !kmt_client_get(plane, args->pOverlayPlanes, c.check.count * sizeof(plane[0])))
        status = STATUS_INVALID_PARAMETER;
    for (UINT i = 0; NT_SUCCESS(status) && i < c.check.count; i++) {
        c.plane[i].source = plane[i].VidPnSourceId;
        c.plane[i].plane.layer = plane[i].LayerIndex;
        c.plane[i].plane.enabled = true;
        c.plane[i].plane.allocation = plane[i].hResource;
        kmt_plane_look_2(&c.plane[i].plane, &plane[i].PlaneAttributes);
    }
    if (NT_SUCCESS(status))
        status = carry_out(&c);
    args->Supported = c.check.supported;
    args->ReturnInfo.Value = c.check.info;
    return status;
}

static NTSTATUS take_plane_3(struct checking *c, UINT index,
                             const D3DKMT_CHECK_MULTIPLANE_OVERLAY_PLANE3 *user)
{
    D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES3 look;
    D3DKMT_CHECK_MULTIPLANE_OVERLAY_PLANE3 plane;
    struct planes_checked *to = &c->plane[index];

    if (!kmt_client_get(&plane, user, sizeof(plane)) ||
        !kmt_client_get(&look, plane.pPlaneAttributes, sizeof(look)))
        return STATUS_INVALID_PARAMETER;
    to->source = plane.VidPnSourceId;
    to->plane.layer = plane.LayerIndex;
    to->plane.enabled = true;
    to->plane.allocation = plane.hResource;
    kmt_plane_look_3(&to->plane, &look);
    return kmt_plane_rectangles(&to->plane, look.DirtyRectCount, look.pDirtyRects);
}

static NTSTATUS take_composition(struct checking *c, UINT index,
                                 const D3DKMT_MULTIPLANE_OVERLAY_POST_COMPOSITION_WITH_SOURCE *user)
{
    D3DKMT_MULTIPLANE_OVERLAY_POST_COMPOSITION_WITH_SOURCE one;

    if (!kmt_client_get(&one, user, sizeof(one)))
        return STATUS_INVALID_PARAMETER;
    c->composition_source[index] = one.VidPnSourceId;
    c->composition[index] = (struct planes_composition){.given = true,
                                                        .flags = one.PostComposition.Flags.Value,
                                                        .source = one.PostComposition.SrcRect,
                                                        .target = one.PostComposition.DstRect,
                                                        .rotation = one.PostComposition.Rotation};
    return check_source(c, one.VidPnSourceId);
}

static NTSTATUS take_3(struct checking *c, const D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT3 *args)
{
    D3DKMT_CHECK_MULTIPLANE_OVERLAY_PLANE3 *plane[PLANES_MOST];
    D3DKMT_MULTIPLANE_OVERLAY_POST_COMPOSITION_WITH_SOURCE *post[PLANES_MOST];
    NTSTATUS status = STATUS_SUCCESS;

    if (args->PostCompositionCount > PLANES_MOST)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-302", "%u compositions",
                      args->PostCompositionCount);
    if (!kmt_client_get(plane, args->ppOverlayPlanes, c->check.count * sizeof(plane[0])) ||
        !kmt_client_get(post, args->ppPostComposition, args->PostCompositionCount * sizeof(post[0])))
        return STATUS_INVALID_PARAMETER;
    for (UINT i = 0; NT_SUCCESS(status) && i < c->check.count; i++)
        status = take_plane_3(c, i, plane[i]);
    for (UINT i = 0; NT_SUCCESS(status) && i < args->PostCompositionCount; i++)
        status = take_composition(c, i, post[i]);
    c->check.compositions = args->PostCompositionCount;
    return status;
}

static NTSTATUS check_3(struct kmt_call *call, void *arguments)
{
    D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT3 *args = arguments;
    struct checking c = {.device = NULL};
    NTSTATUS status = begin(call, args->hDevice, args->PlaneCount, &c);

    if (NT_SUCCESS(status))
        status = take_3(&c, args);
    if (NT_SUCCESS(status))
        status = carry_out(&c);
    args->Supported = c.check.supported;
    args->ReturnInfo.Value = c.check.info;
    return status;
}

/* ---- what the driver has ---- */

static NTSTATUS find(struct kmt_call *call, D3DKMT_HANDLE handle, UINT source,
                     struct scanouts **scanouts)
{
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, handle);

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    *scanouts = kmt_scanouts(adapter);
    if (!*scanouts)
        return STATUS_NOT_SUPPORTED;
    if (source < kmt_sources(adapter))
        return STATUS_SUCCESS;
    return refuse(STATUS_INVALID_PARAMETER, "PRES-302", "the adapter has no source %u", source);
}

static NTSTATUS get_caps(struct kmt_call *call, void *arguments)
{
    D3DKMT_GET_MULTIPLANE_OVERLAY_CAPS *args = arguments;
    struct planes_caps caps;
    struct scanouts *scanouts;
    NTSTATUS status = find(call, args->hAdapter, args->VidPnSourceId, &scanouts);

    if (NT_SUCCESS(status))
        status = planes_caps(scanouts, args->VidPnSourceId, &caps);
    if (!NT_SUCCESS(status))
        return status;
    args->MaxPlanes = caps.planes;
    args->MaxRGBPlanes = caps.rgb;
    args->MaxYUVPlanes = caps.yuv;
    args->OverlayCaps.Value = caps.flags;
    args->OverlayCaps.Version3DDISupport = planes_third_form(scanouts);
    args->MaxStretchFactor = caps.stretch;
    args->MaxShrinkFactor = caps.shrink;
    return status;
}

static NTSTATUS get_composition_caps(struct kmt_call *call, void *arguments)
{
    D3DKMT_GET_POST_COMPOSITION_CAPS *args = arguments;
    struct scanouts *scanouts;
    NTSTATUS status = find(call, args->hAdapter, args->VidPnSourceId, &scanouts);

    return NT_SUCCESS(status)
               ? planes_composition_caps(scanouts, args->VidPnSourceId, &args->MaxStretchFactor,
                                         &args->MaxShrinkFactor)
               : status;
}

KMT_IN_OUT(D3DKMTCheckMultiPlaneOverlaySupport, D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT, check_1)
KMT_IN_OUT(D3DKMTCheckMultiPlaneOverlaySupport2, D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT2, check_2)
KMT_IN_OUT(D3DKMTCheckMultiPlaneOverlaySupport3, D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT3, check_3)
KMT_IN_OUT(D3DKMTGetMultiPlaneOverlayCaps, D3DKMT_GET_MULTIPLANE_OVERLAY_CAPS, get_caps)
KMT_IN_OUT(D3DKMTGetPostCompositionCaps, D3DKMT_GET_POST_COMPOSITION_CAPS, get_composition_caps)
