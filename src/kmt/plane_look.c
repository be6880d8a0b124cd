/* SPDX-License-Identifier: MIT */
#include "kmt/plane_look.h"
#include "kmt/client_memory.h"

/* ---- form one says flags in place of a color space ---- */

static D3DDDI_COLOR_SPACE_TYPE color_space(UINT flags)
{
    if (flags & D3DKMT_MULTIPLANE_OVERLAY_YCbCr_FLAG_xvYCC)
        return D3DDDI_COLOR_SPACE_YCBCR_FULL_G22_NONE_P709_X601;
    if (flags & D3DKMT_MULTIPLANE_OVERLAY_YCbCr_FLAG_BT709)
        return flags & D3DKMT_MULTIPLANE_OVERLAY_YCbCr_FLAG_NOMINAL_RANGE
                   ? D3DDDI_COLOR_SPACE_YCBCR_STUDIO_G22_LEFT_P709
                   : D3DDDI_COLOR_SPACE_YCBCR_FULL_G22_LEFT_P709;
    return flags & D3DKMT_MULTIPLANE_OVERLAY_YCbCr_FLAG_NOMINAL_RANGE
               ? D3DDDI_COLOR_SPACE_YCBCR_STUDIO_G22_LEFT_P601
               : D3DDDI_COLOR_SPACE_RGB_FULL_G22_NONE_P709;
}

void kmt_plane_look_1(struct plane_setting *to, const D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES *from)
{
    to->look = (struct plane_look){.flags = from->Flags,
                                   .source = from->SrcRect,
                                   .target = from->DstRect,
                                   .clip = from->ClipRect,
                                   .rotation = from->Rotation,
                                   .blend = from->Blend,
                                   .frame_format = from->VideoFrameFormat,
                                   .color_space = color_space(from->YCbCrFlags),
                                   .stereo_format = from->StereoFormat,
                                   .left_view_frame_0 = (UINT)from->StereoLeftViewFrame0,
                                   .base_view_frame_0 = (UINT)from->StereoBaseViewFrame0,
                                   .stereo_flip_mode = from->StereoFlipMode,
                                   .stretch_quality = from->StretchQuality};
}

void kmt_plane_look_2(struct plane_setting *to, const D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES2 *from)
{
    to->look = (struct plane_look){.flags = from->Flags,
                                   .source = from->SrcRect,
                                   .target = from->DstRect,
                                   .clip = from->ClipRect,
                                   .rotation = from->Rotation,
                                   .blend = from->Blend,
                                   .frame_format = from->VideoFrameFormat,
                                   .color_space = from->ColorSpace,
                                   .stereo_format = from->StereoFormat,
                                   .left_view_frame_0 = (UINT)from->StereoLeftViewFrame0,
                                   .base_view_frame_0 = (UINT)from->StereoBaseViewFrame0,
                                   .stereo_flip_mode = from->StereoFlipMode,
                                   .stretch_quality = from->StretchQuality,
                                   .reserved = from->Reserved1};
}

void kmt_plane_look_3(struct plane_setting *to, const D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES3 *from)
{
    to->look = (struct plane_look){.flags = from->Flags,
                                   .source = from->SrcRect,
                                   .target = from->DstRect,
                                   .clip = from->ClipRect,
                                   .rotation = from->Rotation,
                                   .blend = from->Blend,
                                   .color_space = from->ColorSpace,
                                   .stretch_quality = from->StretchQuality,
                                   .white_level = from->SDRWhiteLevel};
}

NTSTATUS kmt_plane_rectangles(struct plane_setting *to, UINT count, const RECT *from)
{
    to->rectangles = 0;
    if (!count || count > PLANES_RECTANGLES)
        return STATUS_SUCCESS;
    if (!kmt_client_get(to->rectangle, from, count * sizeof(RECT)))
        return STATUS_INVALID_PARAMETER;
    to->rectangles = count;
    return STATUS_SUCCESS;
}
