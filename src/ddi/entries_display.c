/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of displays; otherwise like entries.c. */
#include "ddi/entries_display.h"
#include "ddi/door.h"
#include "ddi/parts.h"
#include "ddi/told.h"

#include "sim/irql.h"
#include "sim/machine.h"

NTSTATUS ddi_is_supported_vidpn(struct ddi_adapter *a, DXGKARG_ISSUPPORTEDVIDPN *args)
{
    CALL_BOTH(a, DxgkDdiIsSupportedVidPn, args, a->context);
}

NTSTATUS ddi_recommend_functional_vidpn(struct ddi_adapter *a,
                                        const DXGKARG_RECOMMENDFUNCTIONALVIDPN *args)
{
    CALL_PARTS_IN(a, DxgkDdiRecommendFunctionalVidPn, args, ddi_parts_recommend_vidpn, a->context);
}

NTSTATUS ddi_recommend_vidpn_topology(struct ddi_adapter *a,
                                      const DXGKARG_RECOMMENDVIDPNTOPOLOGY *args)
{
    CALL_IN(a, DxgkDdiRecommendVidPnTopology, args, a->context);
}

NTSTATUS ddi_enum_vidpn_cofunc_modality(struct ddi_adapter *a,
                                        const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args)
{
    CALL_IN(a, DxgkDdiEnumVidPnCofuncModality, args, a->context);
}

NTSTATUS ddi_recommend_monitor_modes(struct ddi_adapter *a,
                                     const DXGKARG_RECOMMENDMONITORMODES *args)
{
    CALL_IN(a, DxgkDdiRecommendMonitorModes, args, a->context);
}

NTSTATUS ddi_commit_vidpn(struct ddi_adapter *a, const DXGKARG_COMMITVIDPN *args)
{
    CALL_IN(a, DxgkDdiCommitVidPn, args, a->context);
}

NTSTATUS ddi_set_vidpn_source_visibility(struct ddi_adapter *a,
                                         const DXGKARG_SETVIDPNSOURCEVISIBILITY *args)
{
    CALL_IN(a, DxgkDdiSetVidPnSourceVisibility, args, a->context);
}

NTSTATUS ddi_update_active_vidpn_present_path(struct ddi_adapter *a,
                                              const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *args)
{
    CALL_PARTS_IN(a, DxgkDdiUpdateActiveVidPnPresentPath, args, ddi_parts_update_path, a->context);
}

NTSTATUS ddi_set_target_gamma(struct ddi_adapter *a, const DXGKARG_SETTARGETGAMMA *args)
{
    CALL_PARTS_IN(a, DxgkDdiSetTargetGamma, args, ddi_parts_set_gamma, a->context);
}

NTSTATUS ddi_set_palette(struct ddi_adapter *a, const DXGKARG_SETPALETTE *args)
{
    CALL_PARTS_IN(a, DxgkDdiSetPalette, args, ddi_parts_set_palette, a->context);
}

NTSTATUS ddi_query_vidpn_hw_capability(struct ddi_adapter *a, DXGKARG_QUERYVIDPNHWCAPABILITY *args)
{
    CALL_BOTH(a, DxgkDdiQueryVidPnHWCapability, args, a->context);
}

NTSTATUS ddi_present_display_only(struct ddi_adapter *a, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    struct ddi_parts passed;
    struct ddi_call call;
    NTSTATUS status = ddi_parts_lend(&passed, ddi_parts_present_display_only, args, sizeof(*args),
                                     ddi_structure_DxgkDdiPresentDisplayOnly)
                          ? ddi_enter_with(&call, a, DDI_DxgkDdiPresentDisplayOnly, args)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_parts_refuse(&passed, status);
    status = a->present_display_only(a->context, passed.structure.data);
    ddi_returned(&call);
    ddi_parts_check(&passed, (uintptr_t)a->present_display_only);
    ddi_parts_end(&passed, NULL);
    return ddi_leave_with(&call, status);
}

NTSTATUS ddi_set_vidpn_source_address(struct ddi_adapter *a,
                                      const DXGKARG_SETVIDPNSOURCEADDRESS *args)
{
    CALL_IN(a, DxgkDdiSetVidPnSourceAddress, args, a->context);
}

struct flip {
    struct ddi_adapter *adapter;
    struct ddi_lent passed;
    NTSTATUS status;
};

static bool flip(void *arg)
{
    struct flip *flip = arg;
    struct ddi_adapter *a = flip->adapter;
    struct ddi_call call;

    flip->status = ddi_enter_with_at(&call, a, DDI_DxgkDdiSetVidPnSourceAddress, LEVEL_NONE,
                                     SIM_IRQL_DEVICE, flip->passed.data);
    if (!NT_SUCCESS(flip->status))
        return false;
    flip->status = a->table.DxgkDdiSetVidPnSourceAddress(a->context, flip->passed.data);
    ddi_returned(&call);
    ddi_structure_check(&flip->passed, sizeof(DXGKARG_SETVIDPNSOURCEADDRESS), false,
                        (uintptr_t)a->table.DxgkDdiSetVidPnSourceAddress);
    flip->status = ddi_leave_with(&call, flip->status);
    return true;
}

NTSTATUS ddi_flip(struct ddi_adapter *a, const DXGKARG_SETVIDPNSOURCEADDRESS *args)
{
    struct flip call = {.adapter = a};

    if (!ddi_structure_lend(&call.passed, DDI_DxgkDdiSetVidPnSourceAddress, args, sizeof(*args),
                            ddi_structure_DxgkDdiSetVidPnSourceAddress))
        return STATUS_NO_MEMORY;
    if (a->synchronize)
        a->synchronize(a, flip, &call);
    else
        (void)flip(&call);
    ddi_structure_end(&call.passed, DDI_DxgkDdiSetVidPnSourceAddress, sizeof(*args), NULL);
    return call.status;
}

NTSTATUS ddi_present(struct ddi_adapter *a, HANDLE context, DXGKARG_PRESENT *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiPresent, args, ddi_parts_present, context);
}

NTSTATUS ddi_get_scan_line(struct ddi_adapter *a, DXGKARG_GETSCANLINE *args)
{
    CALL_BOTH(a, DxgkDdiGetScanLine, args, a->context);
}

NTSTATUS ddi_set_pointer_position(struct ddi_adapter *a, const DXGKARG_SETPOINTERPOSITION *args)
{
    CALL_IN(a, DxgkDdiSetPointerPosition, args, a->context);
}

NTSTATUS ddi_set_pointer_shape(struct ddi_adapter *a, const DXGKARG_SETPOINTERSHAPE *args)
{
    CALL_PARTS_IN(a, DxgkDdiSetPointerShape, args, ddi_parts_set_pointer_shape, a->context);
}

NTSTATUS ddi_stop_device_and_release_post_display_ownership(struct ddi_adapter *a, UINT target,
                                                            DXGK_DISPLAY_INFORMATION *info)
{
    CALL_BOTH(a, DxgkDdiStopDeviceAndReleasePostDisplayOwnership, info, a->context, target);
}

NTSTATUS ddi_get_child_container_id(struct ddi_adapter *a, ULONG child, DXGK_CHILD_CONTAINER_ID *id)
{
    struct ddi_lent passed;
    struct ddi_call call;
    NTSTATUS status = ddi_structure_lend(&passed, DDI_DxgkDdiGetChildContainerId, id, sizeof(*id),
                                         ddi_structure_DxgkDdiGetChildContainerId)
                          ? ddi_enter_child(&call, a, DDI_DxgkDdiGetChildContainerId, child)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_lent_refuse(&passed, status);
    status = a->table.DxgkDdiGetChildContainerId(a->context, child, passed.data);
    ddi_returned(&call);
    ddi_structure_check(&passed, sizeof(*id), true, (uintptr_t)a->table.DxgkDdiGetChildContainerId);
    ddi_structure_end(&passed, DDI_DxgkDdiGetChildContainerId, sizeof(*id), id);
    return ddi_leave_with(&call, status);
}

NTSTATUS ddi_system_display_enable(struct ddi_adapter *a, UINT target,
                                   struct ddi_system_display *screen)
{
    const struct ddi_told_screen told = {.target = target};
    struct ddi_system_display *lent;
    struct ddi_lent passed;
    struct ddi_call call;
    NTSTATUS status = ddi_lend(&passed, screen, sizeof(*screen),
                               "what DxgkDdiSystemDisplayEnable fills in")
                          ? ddi_enter_with(&call, a, DDI_DxgkDdiSystemDisplayEnable, &told)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status))
        return ddi_lent_refuse(&passed, status);
    lent = passed.data;
    status = a->table.DxgkDdiSystemDisplayEnable(a->context, target, &lent->flags, &lent->width,
                                                 &lent->height, &lent->format);
    ddi_returned(&call);
    ddi_lent_check(&passed, true, (uintptr_t)a->table.DxgkDdiSystemDisplayEnable);
    ddi_lent_end(&passed, screen);
    return ddi_leave_with(&call, status);
}

void ddi_system_display_write(struct ddi_adapter *a, const uint32_t *pixels, UINT width, UINT lines,
                              UINT top)
{
    const size_t bytes = (size_t)width * lines * sizeof(*pixels);
    const struct ddi_told_screen told = {.width = width, .lines = lines, .top = top};
    struct ddi_lent passed;
    struct ddi_call call;
    NTSTATUS status = ddi_lend(&passed, pixels, bytes, "Source of DxgkDdiSystemDisplayWrite")
                          ? ddi_enter_with(&call, a, DDI_DxgkDdiSystemDisplayWrite, &told)
                          : STATUS_NO_MEMORY;

    if (!NT_SUCCESS(status)) {
        (void)ddi_lent_refuse(&passed, status);
        return;
    }
    a->table.DxgkDdiSystemDisplayWrite(a->context, passed.data, width, lines,
                                       width * (UINT)sizeof(*pixels), 0, top);
    ddi_returned(&call);
    ddi_lent_check(&passed, true, (uintptr_t)a->table.DxgkDdiSystemDisplayWrite);
    ddi_lent_end(&passed, NULL);
    ddi_leave(&call);
}

NTSTATUS ddi_update_monitor_link_info(struct ddi_adapter *a, DXGKARG_UPDATEMONITORLINKINFO *args)
{
    CALL_BOTH(a, DxgkDdiUpdateMonitorLinkInfo, args, a->context);
}

NTSTATUS ddi_control_mode_behavior(struct ddi_adapter *a, DXGKARG_CONTROLMODEBEHAVIOR *args)
{
    CALL_BOTH(a, DxgkDdiControlModeBehavior, args, a->context);
}

NTSTATUS ddi_set_target_content_type(struct ddi_adapter *a, const DXGKARG_SETTARGETCONTENTTYPE *args)
{
    CALL_IN(a, DxgkDdiSetTargetContentType, args, a->context);
}

NTSTATUS ddi_set_target_adjusted_colorimetry(struct ddi_adapter *a, UINT target,
                                             const DXGK_COLORIMETRY *colors)
{
    CALL_STATUS(a, DxgkDdiSetTargetAdjustedColorimetry, a->context, target, *colors);
}

NTSTATUS
ddi_set_target_adjusted_colorimetry2(struct ddi_adapter *a,
                                     const DXGKARG_SETTARGETADJUSTEDCOLORIMETRY2 *args)
{
    CALL_IN(a, DxgkDdiSetTargetAdjustedColorimetry2, args, a->context);
}
