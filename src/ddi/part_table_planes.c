/* SPDX-License-Identifier: MIT */
/* What the structures of multi-plane overlays point to; otherwise like part_table.c. */
#include "ddi/part.h"

#include <ntddk.h>
#include <dispmprt.h>

#define POINTER(type, member) .pointer = offsetof(type, member)
#define COUNTED_BY(type, member, bytes_each)                                              \
    .count = offsetof(type, member), .counted = (unsigned)sizeof(((type *)NULL)->member), \
    .each = (bytes_each)
#define NO_MORE      \
    {                \
        .what = NULL \
    }

/* ---- DxgkDdiPresent ---- */

static const struct ddi_part plane_list[] = {
    {POINTER(DXGK_PRESENTMULTIPLANEOVERLAYINFO, pPlaneList),
     COUNTED_BY(DXGK_PRESENTMULTIPLANEOVERLAYINFO, PlaneListCount,
                sizeof(DXGK_PRESENTMULTIPLANEOVERLAYLIST)),
     .what = "pPlaneList of DXGK_PRESENTMULTIPLANEOVERLAYINFO"},
    NO_MORE};

const struct ddi_part ddi_parts_present_planes[] = {
    {POINTER(DXGKARG_PRESENT, pPresentMultiPlaneOverlayInfo),
     .each = sizeof(DXGK_PRESENTMULTIPLANEOVERLAYINFO), .inner = plane_list,
     .what = "pPresentMultiPlaneOverlayInfo of DXGKARG_PRESENT"},
    NO_MORE};

/* ---- DxgkDdiCheckMultiPlaneOverlaySupport ---- */

const struct ddi_part ddi_parts_check_planes[] = {
    {POINTER(DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT, pPlanes),
     COUNTED_BY(DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT, PlaneCount,
                sizeof(DXGK_CHECK_MULTIPLANE_OVERLAY_SUPPORT_PLANE)),
     .what = "pPlanes of DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT"},
    NO_MORE};

const struct ddi_part ddi_parts_check_planes_2[] = {
    {POINTER(DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT2, pPlanes),
     COUNTED_BY(DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT2, PlaneCount,
                sizeof(DXGK_MULTIPLANE_OVERLAY_PLANE_WITH_SOURCE)),
     .what = "pPlanes of DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT2"},
    NO_MORE};

/* Of an element of an array of pointers. */
typedef struct {
    DXGK_MULTIPLANE_OVERLAY_PLANE_WITH_SOURCE2 *to;
} checked_plane;
typedef struct {
    DXGK_MULTIPLANE_OVERLAY_POST_COMPOSITION_WITH_SOURCE *to;
} checked_composition;

static const struct ddi_part checked_attributes[] = {
    {POINTER(DXGK_MULTIPLANE_OVERLAY_PLANE_WITH_SOURCE2, PlaneAttributes.pDirtyRects),
     COUNTED_BY(DXGK_MULTIPLANE_OVERLAY_PLANE_WITH_SOURCE2, PlaneAttributes.DirtyRectCnt,
                sizeof(RECT)),
     .what = "pDirtyRects of DXGK_MULTIPLANE_OVERLAY_PLANE_WITH_SOURCE2"},
    NO_MORE};

static const struct ddi_part checked_planes[] = {
    {POINTER(checked_plane, to), .each = sizeof(DXGK_MULTIPLANE_OVERLAY_PLANE_WITH_SOURCE2),
     .inner = checked_attributes, .what = "a plane of DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3"},
    NO_MORE};

static const struct ddi_part checked_compositions[] = {
    {POINTER(checked_composition, to),
     .each = sizeof(DXGK_MULTIPLANE_OVERLAY_POST_COMPOSITION_WITH_SOURCE),
     .what = "a composition of DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3"},
    NO_MORE};

const struct ddi_part ddi_parts_check_planes_3[] = {
    {POINTER(DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3, ppPlanes),
     COUNTED_BY(DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3, PlaneCount, sizeof(checked_plane)),
     .inner = checked_planes, .what = "ppPlanes of DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3"},
    {POINTER(DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3, ppPostComposition),
     COUNTED_BY(DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3, PostCompositionCount,
                sizeof(checked_composition)),
     .inner = checked_compositions,
     .what = "ppPostComposition of DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3"},
    NO_MORE};

/* ---- DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay ---- */

const struct ddi_part ddi_parts_show_planes[] = {
    {POINTER(DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY, pPlanes),
     COUNTED_BY(DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY, PlaneCount,
                sizeof(DXGK_MULTIPLANE_OVERLAY_PLANE)),
     .what = "pPlanes of DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY"},
    NO_MORE};

const struct ddi_part ddi_parts_show_planes_2[] = {
    {POINTER(DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2, pPlanes),
     COUNTED_BY(DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2, PlaneCount,
                sizeof(DXGK_MULTIPLANE_OVERLAY_PLANE2)),
     .what = "pPlanes of DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2"},
    NO_MORE};

typedef struct {
    DXGK_MULTIPLANE_OVERLAY_PLANE3 *to;
} shown_plane;
typedef struct {
    DXGK_PRIMARYCONTEXTDATA *to;
} shown_primary;

static const struct ddi_part shown_primaries[] = {
    {POINTER(shown_primary, to), .each = sizeof(DXGK_PRIMARYCONTEXTDATA),
     .what = "an element of ppContextData of DXGK_MULTIPLANE_OVERLAY_PLANE3"},
    NO_MORE};

static const struct ddi_part plane_members[] = {
    {POINTER(DXGK_MULTIPLANE_OVERLAY_PLANE3, ppContextData),
     COUNTED_BY(DXGK_MULTIPLANE_OVERLAY_PLANE3, ContextCount, sizeof(shown_primary)),
     .inner = shown_primaries, .what = "ppContextData of DXGK_MULTIPLANE_OVERLAY_PLANE3"},
    {POINTER(DXGK_MULTIPLANE_OVERLAY_PLANE3, pDriverPrivateData),
     COUNTED_BY(DXGK_MULTIPLANE_OVERLAY_PLANE3, DriverPrivateDataSize, 1),
     .what = "pDriverPrivateData of DXGK_MULTIPLANE_OVERLAY_PLANE3"},
    {POINTER(DXGK_MULTIPLANE_OVERLAY_PLANE3, PlaneAttributes.pDirtyRects),
     COUNTED_BY(DXGK_MULTIPLANE_OVERLAY_PLANE3, PlaneAttributes.DirtyRectCnt, sizeof(RECT)),
     .what = "pDirtyRects of DXGK_MULTIPLANE_OVERLAY_PLANE3"},
    NO_MORE};

static const struct ddi_part shown_planes[] = {
    {POINTER(shown_plane, to), .each = sizeof(DXGK_MULTIPLANE_OVERLAY_PLANE3),
     .inner = plane_members, .way = DDI_PART_BACK,
     .what = "a plane of DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3"},
    NO_MORE};

static const struct ddi_part metadata[] = {{POINTER(DXGK_HDR_METADATA, pMetaData),
                                            COUNTED_BY(DXGK_HDR_METADATA, Size, 1),
                                            .what = "pMetaData of DXGK_HDR_METADATA"},
                                           NO_MORE};

const struct ddi_part ddi_parts_show_planes_3[] = {
    {POINTER(DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3, ppPlanes),
     COUNTED_BY(DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3, PlaneCount, sizeof(shown_plane)),
     .inner = shown_planes,
     .what = "ppPlanes of DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3"},
    {POINTER(DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3, pPostComposition),
     .each = sizeof(DXGK_MULTIPLANE_OVERLAY_POST_COMPOSITION),
     .what = "pPostComposition of DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3"},
    {POINTER(DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3, pHDRMetaData),
     .each = sizeof(DXGK_HDR_METADATA), .inner = metadata,
     .what = "pHDRMetaData of DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3"},
    NO_MORE};
