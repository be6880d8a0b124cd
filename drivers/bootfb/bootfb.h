/* SPDX-License-Identifier: MIT */
/*
 * bootfb: the smallest display-only driver. It has one video present source and one output, and no
 * hardware but the linear frame buffer that the firmware has set up: every picture is copied there
 * by the processor. Read the files in this order:
 *
 *     entry.c     DriverEntry, and the adapter from AddDevice to RemoveDevice
 *     output.c    its one output: what is connected, which modes there are
 *     mode.c      a mode is proposed, enumerated and committed
 *     present.c   pictures
 *
 * All but the interrupt entries run at PASSIVE_LEVEL. dxgkhost and Windows call no two of the entries
 * of modes at the same time (display-modes.md), so nothing here needs a lock.
 */
#ifndef BOOTFB_H
#define BOOTFB_H

#include <ntddk.h>
#include <dispmprt.h>

#define BOOTFB_TAG    0x54426662u /* bfBT */
#define BOOTFB_SOURCE 0u
#define BOOTFB_TARGET 0u /* ChildUid of the output */
#define BOOTFB_BYTES  4u /* of a pixel */

/* Pixels that a mode can have; those that fit into the frame buffer are offered, and stand in its
 * middle. The frame buffer's own size comes before them. */
extern const D3DKMDT_2DREGION bootfb_size[];
extern const UINT bootfb_sizes;

struct bootfb {
    DXGKRNL_INTERFACE dxgk;
    DXGK_DISPLAY_INFORMATION post; /* the frame buffer, as the firmware left it */
    UCHAR *pixels;                 /* mapped; NULL: not now */
    BOOLEAN visible;
    D3DKMDT_2DREGION mode; /* committed; 0, 0: none */
    D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation;
};

/* output.c */
DXGKDDI_QUERY_CHILD_RELATIONS bootfb_query_child_relations;
DXGKDDI_QUERY_CHILD_STATUS bootfb_query_child_status;
DXGKDDI_QUERY_DEVICE_DESCRIPTOR bootfb_query_device_descriptor;
DXGKDDI_RECOMMENDMONITORMODES bootfb_recommend_monitor_modes;

/* mode.c */
DXGKDDI_ISSUPPORTEDVIDPN bootfb_is_supported_vidpn;
DXGKDDI_RECOMMENDFUNCTIONALVIDPN bootfb_recommend_functional_vidpn;
DXGKDDI_ENUMVIDPNCOFUNCMODALITY bootfb_enum_vidpn_cofunc_modality;
DXGKDDI_COMMITVIDPN bootfb_commit_vidpn;
DXGKDDI_UPDATEACTIVEVIDPNPRESENTPATH bootfb_update_active_vidpn_present_path;
DXGKDDI_QUERYVIDPNHWCAPABILITY bootfb_query_vidpn_hw_capability;

/* present.c */
DXGKDDI_PRESENTDISPLAYONLY bootfb_present_display_only;
DXGKDDI_SETVIDPNSOURCEVISIBILITY bootfb_set_vidpn_source_visibility;
DXGKDDI_SYSTEM_DISPLAY_ENABLE bootfb_system_display_enable;
DXGKDDI_SYSTEM_DISPLAY_WRITE bootfb_system_display_write;
/* All of the frame buffer becomes black. */
void bootfb_black(struct bootfb *fb);

/* Is the picture turned by 90 or 270 degrees? */
static inline BOOLEAN bootfb_turned(const struct bootfb *fb)
{
    return fb->rotation == D3DKMDT_VPPR_ROTATE90 || fb->rotation == D3DKMDT_VPPR_ROTATE270;
}

#endif
