/* SPDX-License-Identifier: MIT */
/* Showing planes in the form that the driver has (PRES-181, PRES-184 to PRES-188). */
#include <string.h>

#include "ddi/entries_planes.h"
#include "nt/base/status_name.h"
#include "screens/planes_record.h"
#include "sim/machine.h"
#include "verify/verify.h"

/* Of VIDEO_SCHEDULER_INTERNAL_ERROR. */
#define PLANES_FAILED 0xB
#define POST_FAILED   0xF

#define YCBCR_NOMINAL 1u
#define YCBCR_BT709   2u
#define YCBCR_XVYCC   4u

bool plane_flip_is_immediate(const struct scanouts *scanouts, const struct plane_flip *flip)
{
    return flip->setting.interval == 0 && scanouts->config.immediate_planes;
}

/* ---- looks ---- */

/* What form one says in place of a color space. */
static UINT ycbcr_flags(D3DDDI_COLOR_SPACE_TYPE space)
{
    switch ((int)space) {
    case D3DDDI_COLOR_SPACE_YCBCR_STUDIO_G22_LEFT_P601:
        return YCBCR_NOMINAL;
    case D3DDDI_COLOR_SPACE_YCBCR_STUDIO_G22_LEFT_P709:
        return YCBCR_NOMINAL | YCBCR_BT709;
    case D3DDDI_COLOR_SPACE_YCBCR_FULL_G22_LEFT_P709:
        return YCBCR_BT709;
    case D3DDDI_COLOR_SPACE_YCBCR_FULL_G22_NONE_P709_X601:
        return YCBCR_XVYCC;
    default:
        return 0;
    }
}

void plane_look_1(DXGK_MULTIPLANE_OVERLAY_ATTRIBUTES *to, const struct plane_look *from)
{
    memset(to, 0, sizeof(*to));
    to->Flags.Value = from->flags;
    to->SrcRect = from->source;
    to->DstRect = from->target;
    to->ClipRect = from->clip;
    to->Rotation = from->rotation;
    to->Blend.Value = from->blend;
    to->VideoFrameFormat = (DXGK_MULTIPLANE_OVERLAY_VIDEO_FRAME_FORMAT)from->frame_format;
    to->YCbCrFlags.Value = ycbcr_flags(from->color_space);
    to->StereoFormat = (DXGK_MULTIPLANE_OVERLAY_STEREO_FORMAT)from->stereo_format;
    to->StereoLeftViewFrame0 = (BOOL)from->left_view_frame_0;
    to->StereoBaseViewFrame0 = (BOOL)from->base_view_frame_0;
    to->StereoFlipMode = (DXGK_MULTIPLANE_OVERLAY_STEREO_FLIP_MODE)from->stereo_flip_mode;
    to->StretchQuality = (DXGK_MULTIPLANE_OVERLAY_STRETCH_QUALITY)from->stretch_quality;
}

void plane_look_2(DXGK_MULTIPLANE_OVERLAY_ATTRIBUTES2 *to, const struct plane_look *from)
{
    memset(to, 0, sizeof(*to));
    to->Flags.Value = from->flags;
    to->SrcRect = from->source;
    to->DstRect = from->target;
    to->ClipRect = from->clip;
    to->Rotation = from->rotation;
    to->Blend.Value = from->blend;
    to->VideoFrameFormat = (DXGK_MULTIPLANE_OVERLAY_VIDEO_FRAME_FORMAT)from->frame_format;
    to->ColorSpaceType = from->color_space;
    to->StereoFormat = (DXGK_MULTIPLANE_OVERLAY_STEREO_FORMAT)from->stereo_format;
    to->StereoLeftViewFrame0 = (BOOL)from->left_view_frame_0;
    to->StereoBaseViewFrame0 = (BOOL)from->base_view_frame_0;
    to->StereoFlipMode = (DXGK_MULTIPLANE_OVERLAY_STEREO_FLIP_MODE)from->stereo_flip_mode;
    to->StretchQuality = (DXGK_MULTIPLANE_OVERLAY_STRETCH_QUALITY)from->stretch_quality;
    to->Reserved1 = from->reserved;
}

void plane_look_3(DXGK_MULTIPLANE_OVERLAY_ATTRIBUTES3 *to, const struct plane_setting *setting)
{
    const struct plane_look *from = &setting->look;

    memset(to, 0, sizeof(*to));
    to->Flags.Value = from->flags;
    to->SrcRect = from->source;
    to->DstRect = from->target;
    to->ClipRect = from->clip;
    to->Rotation = from->rotation;
    to->Blend.Value = from->blend;
    to->ColorSpaceType = from->color_space;
    to->StretchQuality = (DXGK_MULTIPLANE_OVERLAY_STRETCH_QUALITY)from->stretch_quality;
    to->SDRWhiteLevel = from->white_level;
    to->DirtyRectCnt = setting->rectangles;
    to->pDirtyRects = setting->rectangles ? setting->rectangle : NULL;
}

/* ---- forms one and two ---- */

static DXGK_SETVIDPNSOURCEADDRESS_FLAGS flags_of(const struct scanouts *scanouts,
                                                 struct plane_flip **flip, UINT count)
{
    DXGK_SETVIDPNSOURCEADDRESS_FLAGS flags = {.Value = 0};
    bool immediate = true;

    for (UINT i = 0; i < count; i++)
        immediate &= plane_flip_is_immediate(scanouts, flip[i]);
    flags.FlipImmediate = immediate;
    flags.FlipOnNextVSync = !immediate;
    return flags;
}

static NTSTATUS show_1(struct scanout *s, struct plane_flip **flip, UINT count)
{
    DXGK_MULTIPLANE_OVERLAY_PLANE plane[PLANES_MOST];
    DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY args;

    memset(plane, 0, sizeof(plane));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < count; i++) {
        const struct vidmm_scanout *where = &flip[i]->flip.primary.where;

        plane[i].LayerIndex = flip[i]->setting.layer;
        plane[i].Enabled = flip[i]->setting.enabled;
        plane[i].AllocationSegment = where->segment;
        plane[i].AllocationAddress.QuadPart = (LONGLONG)where->address;
        plane[i].hAllocation = where->allocation;
        plane_look_1(&plane[i].PlaneAttributes, &flip[i]->setting.look);
    }
    args.ContextCount = flip[0]->flip.context ? 1 : 0;
    args.Context[0] = flip[0]->flip.context;
    args.Flags = flags_of(s->all, flip, count);
    args.VidPnSourceId = s->source;
    args.PlaneCount = count;
    args.pPlanes = plane;
    args.Duration = flip[0]->duration;
    return ddi_show_planes(s->all->config.modes->ddi, &args);
}

static NTSTATUS show_2(struct scanout *s, struct plane_flip **flip, UINT count)
{
    DXGK_MULTIPLANE_OVERLAY_PLANE2 plane[PLANES_MOST];
    DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2 args;

    memset(plane, 0, sizeof(plane));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < count; i++) {
        const struct vidmm_scanout *where = &flip[i]->flip.primary.where;

        plane[i].LayerIndex = flip[i]->setting.layer;
        plane[i].Enabled = flip[i]->setting.enabled;
        plane[i].AllocationSegment = where->segment;
        plane[i].AllocationAddress.QuadPart = (LONGLONG)where->address;
        plane[i].hAllocation = where->allocation;
        plane_look_2(&plane[i].PlaneAttributes, &flip[i]->setting.look);
    }
    args.ContextCount = flip[0]->flip.context ? 1 : 0;
    args.Context[0] = flip[0]->flip.context;
    args.Flags = flags_of(s->all, flip, count);
    args.VidPnSourceId = s->source;
    args.PlaneCount = count;
    args.pPlanes = plane;
    args.Duration = flip[0]->duration;
    return ddi_show_planes_2(s->all->config.modes->ddi, &args);
}

/* ---- form three ---- */

struct third {
    DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 args;
    DXGK_MULTIPLANE_OVERLAY_PLANE3 plane[PLANES_MOST], *planes[PLANES_MOST];
    DXGK_PRIMARYCONTEXTDATA primary[PLANES_MOST], *primaries[PLANES_MOST];
    DXGK_MULTIPLANE_OVERLAY_POST_COMPOSITION composition;
    DXGK_HDR_METADATA metadata;
};

static void fill_plane(const struct scanouts *scanouts, struct third *third, UINT i,
                       const struct plane_flip *flip)
{
    DXGK_MULTIPLANE_OVERLAY_PLANE3 *plane = &third->plane[i];
    const struct vidmm_scanout *where = &flip->flip.primary.where;
    const bool immediate = plane_flip_is_immediate(scanouts, flip);

    third->primary[i].hContext = flip->flip.context;
    third->primary[i].hAllocation = where->allocation;
    third->primary[i].SegmentId = (WORD)where->segment;
    third->primary[i].SegmentAddress.QuadPart = (LONGLONG)where->address;
    third->primaries[i] = &third->primary[i];
    third->planes[i] = plane;
    plane->LayerIndex = flip->setting.layer;
    plane->PresentId = flip->flip.id;
    plane->InputFlags.Enabled = flip->setting.enabled;
    plane->InputFlags.FlipImmediate = immediate;
    plane->InputFlags.FlipOnNextVSync = !immediate;
    plane->MaxImmediateFlipLine = UINT32_MAX; /* PRES-187 */
    plane->ContextCount = 1;
    plane->ppContextData = &third->primaries[i];
    plane->DriverPrivateDataSize = flip->setting.private_bytes;
    plane->pDriverPrivateData = (void *)(uintptr_t)flip->setting.private_data;
    plane_look_3(&plane->PlaneAttributes, &flip->setting);
}

static void fill_extras(struct third *third, const struct plane_flip *flip)
{
    if (flip->composition.given) {
        third->composition.Flags.Value = flip->composition.flags;
        third->composition.SrcRect = flip->composition.source;
        third->composition.DstRect = flip->composition.target;
        third->composition.Rotation = flip->composition.rotation;
        third->args.pPostComposition = &third->composition;
    }
    if (flip->metadata) {
        third->metadata.Type = (D3DDDI_HDR_METADATA_TYPE)flip->metadata_type;
        third->metadata.Size = flip->metadata_bytes;
        third->metadata.pMetaData = flip->metadata;
        third->args.pHDRMetaData = &third->metadata;
    }
}

/* PRES-185 */
static NTSTATUS call_3(struct scanout *s, struct third *third)
{
    struct ddi_adapter *ddi = s->all->config.modes->ddi;
    NTSTATUS status = ddi_show_planes_3(ddi, &third->args);

    if (status != STATUS_RETRY || !third->args.OutputFlags.PrePresentNeeded)
        return status;
    third->args.OutputFlags.Value = 0;
    third->args.InputFlags.RetryAtLowerIrql = 1;
    return ddi_show_planes_3_passive(ddi, &third->args, false);
}

static NTSTATUS show_3(struct scanout *s, struct plane_flip **flip, UINT count)
{
    struct third third;
    NTSTATUS status;

    memset(&third, 0, sizeof(third));
    for (UINT i = 0; i < count; i++)
        fill_plane(s->all, &third, i, flip[i]);
    fill_extras(&third, flip[0]);
    third.args.VidPnSourceId = s->source;
    third.args.PlaneCount = count;
    third.args.ppPlanes = third.planes;
    third.args.Duration = flip[0]->duration;
    status = call_3(s, &third);
    for (UINT i = 0; NT_SUCCESS(status) && i < count; i++) {
        flip[i]->converted = third.plane[i].OutputFlags.FlipConvertedToImmediate;
        flip[i]->wants_post = third.plane[i].OutputFlags.PostPresentNeeded;
    }
    return status;
}

/* ---- all of them ---- */

/* PRES-186 */
static void judge(const struct scanout *s, NTSTATUS status)
{
    if (s->all->config.modes->ddi->gone || status == STATUS_NO_MEMORY)
        return;
    if (s->all->config.plane_form == 1 && status == STATUS_INVALID_PARAMETER)
        VIOLATION("PRES-186",
                  "DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay returned %s for source %u; "
                  "its planes are not shown",
                  nt_status_text(status).text, s->source);
    else
        verify_fatal("PRES-186", VIDEO_SCHEDULER_INTERNAL_ERROR, PLANES_FAILED, (uint32_t)status,
                     s->source, 0, "DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay%s returned %s",
                     s->all->config.plane_form == 1   ? ""
                     : s->all->config.plane_form == 2 ? "2"
                                                      : "3",
                     nt_status_text(status).text);
}

NTSTATUS planes_call(struct scanout *s, struct plane_flip **flip, UINT count)
{
    const unsigned form = s->all->config.plane_form;
    NTSTATUS status;

    s->calling = true;
    status = form == 3   ? show_3(s, flip, count)
             : form == 2 ? show_2(s, flip, count)
                         : show_1(s, flip, count);
    s->calling = false;
    s->addressed = true;
    if (status != STATUS_SUCCESS) {
        judge(s, status);
        return NT_SUCCESS(status) ? STATUS_UNSUCCESSFUL : status;
    }
    return status;
}

NTSTATUS planes_call_plain(struct scanout *s, const struct vidmm_scanout *where, struct flip *flip)
{
    const struct shown primary = {.where = *where};
    struct plane_flip one = {.flip = {.scanout = s, .primary = primary, .interval = 0},
                             .setting = {.enabled = true}};
    const struct primary *const mode = !flip && s->next ? s->next : s->shared;
    const RECT all = {0, 0, (LONG)mode->surface.Width, (LONG)mode->surface.Height};
    struct third third;

    memset(&third, 0, sizeof(third));
    one.setting.look = (struct plane_look){.source = all,
                                           .target = all,
                                           .clip = all,
                                           .rotation = D3DDDI_ROTATION_IDENTITY,
                                           .stretch_quality = 1};
    one.flip.context = flip ? flip->context : NULL;
    one.flip.id = ++s->planes->plane[0].id;
    if (flip)
        flip->id = one.flip.id;
    fill_plane(s->all, &third, 0, &one);
    third.plane[0].InputFlags.FlipImmediate = !flip ||
                                              (flip->interval == 0 && s->all->config.immediate);
    third.plane[0].InputFlags.FlipOnNextVSync = !third.plane[0].InputFlags.FlipImmediate;
    third.args.VidPnSourceId = s->source;
    third.args.PlaneCount = 1;
    third.args.ppPlanes = third.planes;
    third.args.Duration = flip ? flip->duration : 0;
    return flip ? call_3(s, &third)
                : ddi_show_planes_3_passive(s->all->config.modes->ddi, &third.args, true);
}

void planes_call_post(struct scanout *s, const struct plane_post *post)
{
    const DXGKARG_POSTMULTIPLANEOVERLAYPRESENT args = {.VidPnTargetId = s->target,
                                                       .PhysicalAdapterMask = post->mask,
                                                       .LayerIndex = post->layer,
                                                       .PresentID = post->id};
    struct ddi_adapter *ddi = s->all->config.modes->ddi;
    NTSTATUS status;

    if (!ddi_has(ddi, DxgkDdiPostMultiPlaneOverlayPresent)) {
        VIOLATION("PRES-188",
                  "PostPresentNeeded was set for layer %u of source %u, but "
                  "DxgkDdiPostMultiPlaneOverlayPresent is NULL",
                  post->layer, s->source);
        return;
    }
    status = ddi_post_planes(ddi, &args);
    if (status != STATUS_SUCCESS && !ddi->gone)
        verify_fatal("PRES-188", VIDEO_SCHEDULER_INTERNAL_ERROR, POST_FAILED, (uint32_t)status,
                     s->source, post->layer,
                     "DxgkDdiPostMultiPlaneOverlayPresent returned %s for layer %u of source %u",
                     nt_status_text(status).text, post->layer, s->source);
}
