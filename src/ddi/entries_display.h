/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of displays; otherwise like ddi.h. */
#ifndef DXGK_DDI_ENTRIES_DISPLAY_H
#define DXGK_DDI_ENTRIES_DISPLAY_H

#include "ddi/ddi.h"

NTSTATUS ddi_is_supported_vidpn(struct ddi_adapter *a, DXGKARG_ISSUPPORTEDVIDPN *args);
NTSTATUS ddi_recommend_functional_vidpn(struct ddi_adapter *a,
                                        const DXGKARG_RECOMMENDFUNCTIONALVIDPN *args);
NTSTATUS ddi_recommend_vidpn_topology(struct ddi_adapter *a,
                                      const DXGKARG_RECOMMENDVIDPNTOPOLOGY *args);
NTSTATUS ddi_enum_vidpn_cofunc_modality(struct ddi_adapter *a,
                                        const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args);
NTSTATUS ddi_recommend_monitor_modes(struct ddi_adapter *a,
                                     const DXGKARG_RECOMMENDMONITORMODES *args);
NTSTATUS ddi_commit_vidpn(struct ddi_adapter *a, const DXGKARG_COMMITVIDPN *args);
NTSTATUS ddi_set_vidpn_source_visibility(struct ddi_adapter *a,
                                         const DXGKARG_SETVIDPNSOURCEVISIBILITY *args);
NTSTATUS ddi_update_active_vidpn_present_path(struct ddi_adapter *a,
                                              const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *args);
NTSTATUS ddi_set_target_gamma(struct ddi_adapter *a, const DXGKARG_SETTARGETGAMMA *args);
NTSTATUS ddi_set_palette(struct ddi_adapter *a, const DXGKARG_SETPALETTE *args);
NTSTATUS ddi_query_vidpn_hw_capability(struct ddi_adapter *a, DXGKARG_QUERYVIDPNHWCAPABILITY *args);
/* Of a display-only driver, whose entry is not in the table. */
NTSTATUS ddi_present_display_only(struct ddi_adapter *a, const DXGKARG_PRESENT_DISPLAYONLY *args);
/* For a switch of mode; level two. */
NTSTATUS ddi_set_vidpn_source_address(struct ddi_adapter *a,
                                      const DXGKARG_SETVIDPNSOURCEADDRESS *args);
/* The same entry for a flip: at DIRQL, under the interrupt lock, beside calls of levels zero and
 * one (PRES-130). */
NTSTATUS ddi_flip(struct ddi_adapter *a, const DXGKARG_SETVIDPNSOURCEADDRESS *args);
/* `context`: the driver's handle, of a device without MultiEngineAware. */
NTSTATUS ddi_present(struct ddi_adapter *a, HANDLE context, DXGKARG_PRESENT *args);
NTSTATUS ddi_get_scan_line(struct ddi_adapter *a, DXGKARG_GETSCANLINE *args);
NTSTATUS ddi_set_pointer_position(struct ddi_adapter *a, const DXGKARG_SETPOINTERPOSITION *args);
NTSTATUS ddi_set_pointer_shape(struct ddi_adapter *a, const DXGKARG_SETPOINTERSHAPE *args);
NTSTATUS ddi_stop_device_and_release_post_display_ownership(struct ddi_adapter *a, UINT target,
                                                            DXGK_DISPLAY_INFORMATION *info);
NTSTATUS ddi_get_child_container_id(struct ddi_adapter *a, ULONG child, DXGK_CHILD_CONTAINER_ID *id);

/* Of a target, its link and its signal. */
NTSTATUS ddi_update_monitor_link_info(struct ddi_adapter *a, DXGKARG_UPDATEMONITORLINKINFO *args);
NTSTATUS ddi_control_mode_behavior(struct ddi_adapter *a, DXGKARG_CONTROLMODEBEHAVIOR *args);
NTSTATUS ddi_set_target_content_type(struct ddi_adapter *a,
                                     const DXGKARG_SETTARGETCONTENTTYPE *args);
NTSTATUS ddi_set_target_adjusted_colorimetry(struct ddi_adapter *a, UINT target,
                                             const DXGK_COLORIMETRY *colors);
NTSTATUS
ddi_set_target_adjusted_colorimetry2(struct ddi_adapter *a,
                                     const DXGKARG_SETTARGETADJUSTEDCOLORIMETRY2 *args);

/* The screen that a driver gives for a bug check. */
struct ddi_system_display {
    DXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS flags;
    UINT width, height;
    D3DDDIFORMAT format;
};
NTSTATUS ddi_system_display_enable(struct ddi_adapter *a, UINT target,
                                   struct ddi_system_display *screen);
/* Whole lines of 32 bit pixels, from the line `top` on. */
void ddi_system_display_write(struct ddi_adapter *a, const uint32_t *pixels, UINT width, UINT lines,
                              UINT top);

#endif
