/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/enumerate.h"
#include "ddi/entries_display.h"
#include "modes/modes.h"
#include "modes/scope.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "verify/refusal.h"
#include "verify/verify.h"

/* A scope with a handle of the VidPN. NULL: out of memory; the scope has ended. */
static D3DKMDT_HVIDPN begin(struct modes_scope *scope, struct modes *modes, const char *ddi,
                            unsigned access, struct vidpn *vidpn)
{
    const struct modes_hand *hand;

    modes_scope_begin(scope, modes, ddi, access, vidpn);
    hand = modes_hand_out(scope, HAND_VIDPN, vidpn);
    if (!hand)
        modes_scope_end(scope);
    return hand ? (D3DKMDT_HVIDPN)hand->handle : NULL;
}

/* ---- is it supported? ---- */

NTSTATUS modes_ask_supported(struct modes *modes, struct vidpn *vidpn)
{
    const uint64_t refused = modes_allocations_refused();
    DXGKARG_ISSUPPORTEDVIDPN args;
    struct modes_scope scope;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hDesiredVidPn = begin(&scope, modes, "DxgkDdiIsSupportedVidPn", 0, vidpn);
    if (!args.hDesiredVidPn)
        return STATUS_NO_MEMORY;
    status = ddi_is_supported_vidpn(modes->ddi, &args);
    modes_scope_end(&scope);
    if ((!NT_SUCCESS(status) || !args.IsVidPnSupported) && modes_allocations_refused() != refused)
        return STATUS_NO_MEMORY;
    if (!NT_SUCCESS(status)) { /* VIDPN-130 */
        if (status != STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY && status != STATUS_NO_MEMORY &&
            !modes->ddi->gone)
            WARNING("VIDPN-130", "DxgkDdiIsSupportedVidPn returned %s", nt_status_text(status).text);
        return STATUS_GRAPHICS_INVALID_VIDPN;
    }
    if (args.IsVidPnSupported > 1)
        WARNING("VIDPN-130", "IsVidPnSupported is %u", args.IsVidPnSupported);
    return args.IsVidPnSupported ? STATUS_SUCCESS : STATUS_GRAPHICS_INVALID_VIDPN;
}

/* ---- what goes together? ---- */

/* VIDPN-143 */
static bool is_whole(const struct vidpn *vidpn)
{
    for (UINT i = 0; i < vidpn->paths; i++) {
        const D3DKMDT_VIDPN_PRESENT_PATH *path = &vidpn->path[i];

        if (!(*vidpn_source_set(vidpn, path->VidPnSourceId))->count) {
            VIOLATION("VIDPN-143", "source %u has no mode, of a VidPN that is said to be supported",
                      path->VidPnSourceId);
            return false;
        }
        if (!(*vidpn_target_set(vidpn, path->VidPnTargetId))->count) {
            VIOLATION("VIDPN-143",
                      "target 0x%x has no mode, of a VidPN that is said to be supported",
                      path->VidPnTargetId);
            return false;
        }
    }
    return true;
}

/* VIDPN-135: what must stay as it is; NULL: no mode set. */
static struct mode_set **pivot_set(const struct vidpn *vidpn, const struct modes_pivot *pivot)
{
    return pivot->type == D3DKMDT_EPT_VIDPNSOURCE   ? vidpn_source_set(vidpn, pivot->source)
           : pivot->type == D3DKMDT_EPT_VIDPNTARGET ? vidpn_target_set(vidpn, pivot->target)
                                                    : NULL;
}

/* The bits of a structure of what is supported, all of them. */
static UINT support_bits(const void *support)
{
    UINT bits;

    memcpy(&bits, support, sizeof(bits));
    return bits;
}

/* VIDPN-137: support of scaling and rotation, where it is the pivot. */
static void keep_support(const struct vidpn *before, struct vidpn *after,
                         const struct modes_pivot *pivot)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *p = vidpn_path(before, pivot->source, pivot->target);
    D3DKMDT_VIDPN_PRESENT_PATH *q = vidpn_path(after, pivot->source, pivot->target);
    const bool scaling = pivot->type == D3DKMDT_EPT_SCALING,
               rotation = pivot->type == D3DKMDT_EPT_ROTATION;

    if (!p || !q)
        return;
    if ((scaling && support_bits(&p->ContentTransformation.ScalingSupport) !=
                        support_bits(&q->ContentTransformation.ScalingSupport)) ||
        (rotation && support_bits(&p->ContentTransformation.RotationSupport) !=
                         support_bits(&q->ContentTransformation.RotationSupport)))
        VIOLATION("VIDPN-137", "the %s support of the pivot's path was changed",
                  scaling ? "scaling" : "rotation");
    if (scaling)
        q->ContentTransformation.ScalingSupport = p->ContentTransformation.ScalingSupport;
    if (rotation)
        q->ContentTransformation.RotationSupport = p->ContentTransformation.RotationSupport;
}

/* VIDPN-113 */
static void clear_later_support(const struct modes *modes, struct vidpn *vidpn)
{
    for (UINT i = 0; i < vidpn->paths && modes->version < DXGKDDI_INTERFACE_VERSION_WIN7; i++) {
        vidpn->path[i].ContentTransformation.ScalingSupport.AspectRatioCenteredMax = 0;
        vidpn->path[i].ContentTransformation.ScalingSupport.Custom = 0;
    }
}

static bool turns(const D3DKMDT_VIDPN_PRESENT_PATH_ROTATION_SUPPORT *r)
{
    return r->Identity || r->Rotate90 || r->Rotate180 || r->Rotate270;
}

/* VIDPN-118 */
static void check_offsets(const struct modes *modes, const struct vidpn *vidpn)
{
    for (UINT source = 0; source < modes->sources; source++)
        for (UINT i = 0; i < vidpn_paths_from(vidpn, source); i++) {
            const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(vidpn, source, i);
            const D3DKMDT_VIDPN_PRESENT_PATH_ROTATION_SUPPORT *r =
                &path->ContentTransformation.RotationSupport;
            const bool others = r->Offset90 || r->Offset180 || r->Offset270;

            if (!turns(r) || (i ? r->Offset0 || others : r->Offset0 && !others))
                continue;
            VIOLATION("VIDPN-118",
                      "the %s path from source %u, to target 0x%x, supports the offsets%s%s%s%s%s",
                      i ? "secondary" : "primary", source, path->VidPnTargetId,
                      r->Offset0 ? " 0" : "", r->Offset90 ? " 90" : "", r->Offset180 ? " 180" : "",
                      r->Offset270 ? " 270" : "", r->Offset0 || others ? "" : " of none");
        }
}

NTSTATUS modes_enumerate(struct modes *modes, struct vidpn **vidpn, const struct modes_pivot *pivot)
{
    const uint64_t refused = modes_allocations_refused();
    DXGKARG_ENUMVIDPNCOFUNCMODALITY args;
    struct vidpn *copy = vidpn_copy(*vidpn);
    struct mode_set **fixed;
    struct modes_scope scope;
    NTSTATUS status;

    if (!copy)
        return STATUS_NO_MEMORY;
    memset(&args, 0, sizeof(args));
    args.EnumPivotType = pivot->type;
    args.EnumPivot.VidPnSourceId = pivot->source;
    args.EnumPivot.VidPnTargetId = pivot->target;
    fixed = pivot_set(copy, pivot);
    args.hConstrainingVidPn = begin(&scope, modes, "DxgkDdiEnumVidPnCofuncModality",
                                    MODES_SETS | MODES_SUPPORT, copy);
    if (!args.hConstrainingVidPn) {
        vidpn_destroy(copy);
        return STATUS_NO_MEMORY;
    }
    scope.pivot = fixed ? *fixed : NULL;
    status = ddi_enum_vidpn_cofunc_modality(modes->ddi, &args);
    modes_scope_end(&scope);
    if (modes_allocations_refused() != refused) {
        status = STATUS_NO_MEMORY;    /* whatever the driver has made of it */
    } else if (!NT_SUCCESS(status)) { /* VIDPN-142 */
        if (!modes->ddi->gone)
            WARNING("VIDPN-142", "DxgkDdiEnumVidPnCofuncModality returned %s",
                    nt_status_text(status).text);
    } else if (status != STATUS_SUCCESS) {
        NOTE("VIDPN-142", "DxgkDdiEnumVidPnCofuncModality returned %s, which counts as success",
             nt_status_text(status).text);
        status = STATUS_SUCCESS;
    }
    if (NT_SUCCESS(status) && !is_whole(copy))
        status = STATUS_GRAPHICS_INVALID_VIDPN;
    if (!NT_SUCCESS(status)) {
        vidpn_destroy(copy);
        return status;
    }
    if (modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM1_3_PATH_INDEPENDENT_ROTATION)
        check_offsets(modes, copy);
    keep_support(*vidpn, copy, pivot);
    clear_later_support(modes, copy);
    vidpn_destroy(*vidpn);
    *vidpn = copy;
    return status;
}

/* ---- capabilities ---- */

static void ask(struct modes *modes, struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    DXGKARG_QUERYVIDPNHWCAPABILITY args;
    struct modes_scope scope;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hFunctionalVidPn = begin(&scope, modes, "DxgkDdiQueryVidPnHWCapability", 0, vidpn);
    args.SourceId = path->VidPnSourceId;
    args.TargetId = path->VidPnTargetId;
    if (!args.hFunctionalVidPn)
        return;
    status = ddi_query_vidpn_hw_capability(modes->ddi, &args);
    modes_scope_end(&scope);
    if (!NT_SUCCESS(status) && !modes->ddi->gone)
        WARNING("VIDPN-200", "DxgkDdiQueryVidPnHWCapability returned %s",
                nt_status_text(status).text);
    else if (NT_SUCCESS(status) && args.VidPnHWCaps.Reserved)
        VIOLATION("VIDPN-200", "reserved bits of VidPnHWCaps are 0x%x", args.VidPnHWCaps.Reserved);
}

void modes_ask_capabilities(struct modes *modes, struct vidpn *vidpn, UINT source)
{
    const UINT count = vidpn_paths_from(vidpn, source);

    if (modes->version < DXGKDDI_INTERFACE_VERSION_WIN7 ||
        !ddi_has(modes->ddi, DxgkDdiQueryVidPnHWCapability))
        return;
    for (UINT i = 0; i < count; i++)
        ask(modes, vidpn, vidpn_path_from(vidpn, source, i));
}
