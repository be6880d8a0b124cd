/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "port/query/display_caps.h"
#include "nt/base/status_name.h"
#include "port/query/outputs.h"
#include "port/query/plane_caps.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "port/record/versions.h"

#define PORT_MAX_QUEUED_FLIPS 64u /* PRES-140 */

/* DISP-162: members of renderers, which count as 0 here. */
static void drop_render_caps(DXGK_DRIVERCAPS *caps)
{
    static const char zero[sizeof(DXGK_DRIVERCAPS)];
#define MEMBER(name)                                                                             \
    do {                                                                                         \
        if (memcmp(&caps->name, zero, sizeof(caps->name)) != 0)                                  \
            WARNING("DISP-162", "%s is set, which a display-only driver has no use for", #name); \
        memset(&caps->name, 0, sizeof(caps->name));                                              \
    } while (0)

    MEMBER(SchedulingCaps);
    MEMBER(MemoryManagementCaps);
    MEMBER(PreemptionCaps);
    MEMBER(GpuEngineTopology);
    MEMBER(MaxAllocationListSlotId);
    MEMBER(ApertureSegmentCommitLimit);
    MEMBER(NumberOfSwizzlingRanges);
    MEMBER(FlipCaps);
    MEMBER(MaxOverlays);
    MEMBER(SupportPerEngineTDR);
    MEMBER(SupportDirectFlip);
#undef MEMBER
}

/* DISP-165 */
static void check_pointer(DXGK_DRIVERCAPS *caps)
{
    const bool sized = caps->MaxPointerWidth && caps->MaxPointerHeight;

    if (!caps->PointerCaps.Value == !sized)
        return;
    WARNING("DISP-165", "PointerCaps is 0x%x, with a size of %u x %u", caps->PointerCaps.Value,
            caps->MaxPointerWidth, caps->MaxPointerHeight);
    caps->PointerCaps.Value = 0;
}

/* What both kinds of drivers need to hand the screen on. */
static void check_release(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const struct ddi_adapter *d = &adapter->ddi;

    if (!caps->SupportNonVGA)
        PORT_FINDING(adapter, "DISP-160", "SupportNonVGA is clear");
    if (!caps->SupportSmoothRotation)
        PORT_FINDING(adapter, "DISP-160", "SupportSmoothRotation is clear");
    if (caps->SupportNonVGA && !ddi_has(d, DxgkDdiStopDeviceAndReleasePostDisplayOwnership))
        PORT_FINDING(adapter, "PRES-028",
                     "SupportNonVGA is set, but StopDeviceAndReleasePostDisplayOwnership is NULL");
    if (caps->SupportNonVGA &&
        (!ddi_has(d, DxgkDdiSystemDisplayEnable) || !ddi_has(d, DxgkDdiSystemDisplayWrite)))
        WARNING("PRES-028",
                "SupportNonVGA is set, but SystemDisplayEnable or SystemDisplayWrite is NULL");
}

static NTSTATUS check(struct port_adapter *adapter)
{
    DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const UINT claimed = (UINT)caps->WDDMVersion;

    if (claimed && !port_version_wddm_known(claimed))
        PORT_FINDING(adapter, "CAPS-032", "WDDMVersion 0x%x is no DXGK_WDDMVERSION value", claimed);
    else if (claimed && claimed < DXGKDDI_WDDMv1_2)
        PORT_FINDING(adapter, "DISP-161", "WDDMVersion is 0x%x, of a display-only driver", claimed);
    check_release(adapter);
    drop_render_caps(caps);
    check_pointer(caps);
    return STATUS_SUCCESS;
}

/* DISP-167: the bits that the driver's version has. */
static UINT extension_bits(UINT version)
{
    return version >= DXGKDDI_INTERFACE_VERSION_WDDM3_0   ? 0x7F
           : version >= DXGKDDI_INTERFACE_VERSION_WDDM2_9 ? 0x3F
           : version >= DXGKDDI_INTERFACE_VERSION_WDDM2_7 ? 0x1F
           : version >= DXGKDDI_INTERFACE_VERSION_WDDM2_5 ? 0xF
           : version < DXGKDDI_INTERFACE_VERSION_WDDM2_1
               ? 0x80000003 /* NonSpecificPrimarySupport */
               : 0x3;
}

/* DISP-166, DISP-167 */
static void query_extension(struct port_adapter *adapter)
{
    DXGK_DISPLAY_DRIVERCAPS_EXTENSION *caps = &adapter->display.caps;

    if (port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return;
    if (!NT_SUCCESS(port_query(adapter, DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION, NULL, 0, caps,
                               sizeof(*caps))))
        memset(caps, 0, sizeof(*caps));
    if (caps->Value & ~extension_bits(port_driver_version(adapter)))
        WARNING("DISP-167",
                "DXGK_DISPLAY_DRIVERCAPS_EXTENSION has the bits 0x%x, which are reserved",
                caps->Value & ~extension_bits(port_driver_version(adapter)));
    caps->Value &= extension_bits(port_driver_version(adapter));
}

NTSTATUS port_display_caps_query(struct port_adapter *adapter)
{
    NTSTATUS status;

    memset(&adapter->caps.driver, 0, sizeof(adapter->caps.driver));
    memset(&adapter->display.caps, 0, sizeof(adapter->display.caps));
    status = port_query(adapter, DXGKQAITYPE_DRIVERCAPS, NULL, 0, &adapter->caps.driver,
                        port_version_caps_bytes(port_driver_version(adapter)));
    if (!NT_SUCCESS(status)) {
        verify_decline("CAPS-004", "DXGKQAITYPE_DRIVERCAPS failed with %s",
                       nt_status_text(status).text);
        return status;
    }
    adapter->caps.model = port_driver_version(adapter);
    status = check(adapter);
    if (NT_SUCCESS(status))
        query_extension(adapter);
    return status;
}

/* PRES-245: each of the transforms needs the one before it. */
static void check_colors(struct port_adapter *adapter)
{
    const DXGK_COLORTRANSFORMCAPS caps = adapter->caps.driver.ColorTransformCaps;

    if (port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_2)
        return;
    if (caps.Transform_3x4Matrix_WideColor && !caps.Transform_3x4Matrix)
        PORT_FINDING(adapter, "PRES-245",
                     "Transform_3x4Matrix_WideColor is set without Transform_3x4Matrix");
    if (caps.Transform_3x4Matrix_HighColor && !caps.Transform_3x4Matrix_WideColor)
        PORT_FINDING(adapter, "PRES-245",
                     "Transform_3x4Matrix_HighColor is set without Transform_3x4Matrix_WideColor");
}

/* DISP-159, DISP-160: of a full driver; none of them keeps a published one from running. */
static void check_full(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const UINT version = port_driver_version(adapter);

    if (version < DXGKDDI_INTERFACE_VERSION_WIN8)
        return;
    if (!caps->PreemptionCaps.GraphicsPreemptionGranularity &&
        !caps->PreemptionCaps.ComputePreemptionGranularity)
        PORT_FINDING(adapter, "DISP-160", "PreemptionCaps is 0");
    if (!caps->FlipCaps.FlipOnVSyncMmIo)
        PORT_FINDING(adapter, "DISP-160", "FlipCaps.FlipOnVSyncMmIo is clear");
    if (!caps->SupportPerEngineTDR)
        PORT_FINDING(adapter, "DISP-160", "SupportPerEngineTDR is clear");
    if (!caps->SupportDirectFlip)
        PORT_FINDING(adapter, "DISP-160", "SupportDirectFlip is clear");
    if (!caps->PresentationCaps.SupportKernelModeCommandBuffer)
        PORT_FINDING(adapter, "DISP-160",
                     "PresentationCaps.SupportKernelModeCommandBuffer is clear");
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM1_3 && !caps->FlipCaps.FlipIndependent)
        PORT_FINDING(adapter, "DISP-160", "FlipCaps.FlipIndependent is clear");
    check_release(adapter);
}

/* DISP-013: without these there is no picture. NULL: all are there. */
static const char *missing_entry(const struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;
    const bool model = port_uses_connections(adapter);

    return !ddi_has(d, DxgkDdiQueryChildRelations)          ? "DxgkDdiQueryChildRelations"
           : !ddi_has(d, DxgkDdiQueryDeviceDescriptor)      ? "DxgkDdiQueryDeviceDescriptor"
           : !ddi_has(d, DxgkDdiIsSupportedVidPn)           ? "DxgkDdiIsSupportedVidPn"
           : !ddi_has(d, DxgkDdiEnumVidPnCofuncModality)    ? "DxgkDdiEnumVidPnCofuncModality"
           : !ddi_has(d, DxgkDdiSetVidPnSourceVisibility)   ? "DxgkDdiSetVidPnSourceVisibility"
           : !model && !ddi_has(d, DxgkDdiQueryChildStatus) ? "DxgkDdiQueryChildStatus"
           : !model && !ddi_has(d, DxgkDdiCommitVidPn)      ? "DxgkDdiCommitVidPn"
                                                            : NULL;
}

static void check_expected_entries(struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;

#define EXPECT(entry)       \
    if (!ddi_has(d, entry)) \
    PORT_EXPECTED(adapter, "DISP-013", "%s is NULL; it is never called", #entry)
    EXPECT(DxgkDdiRecommendFunctionalVidPn);
    EXPECT(DxgkDdiUpdateActiveVidPnPresentPath);
    EXPECT(DxgkDdiRecommendMonitorModes);
#undef EXPECT
}

/* PRES-091 */
static NTSTATUS check_entries(struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;
    const char *missing = missing_entry(adapter);

    if (missing)
        PORT_REFUSE("DISP-013", "the driver has video present sources, but %s is NULL", missing);
    check_expected_entries(adapter);

    if (!ddi_has(d, DxgkDdiPresent)) /* needed by presents alone */
        PORT_FINDING(adapter, "PRES-091",
                     "the driver has video present sources, but DxgkDdiPresent is NULL");
    if (!ddi_has(d, DxgkDdiSetVidPnSourceAddress) && adapter->display.plane_form != 3)
        PORT_REFUSE(
            "PRES-091",
            "the driver has video present sources, but DxgkDdiSetVidPnSourceAddress is NULL");
    if (port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WIN8 &&
        !ddi_has(d, DxgkDdiGetScanLine))
        WARNING("PRES-091", "DxgkDdiGetScanLine is NULL");
    return STATUS_SUCCESS;
}

/* PRES-140 */
static NTSTATUS check_flip_queue(struct port_adapter *adapter)
{
    DXGK_DRIVERCAPS *caps = &adapter->caps.driver;

    if (caps->MaxQueuedFlipOnVSync > PORT_MAX_QUEUED_FLIPS)
        PORT_REFUSE("PRES-140", "MaxQueuedFlipOnVSync is %u (0x119/0x4: invalid flip queue length)",
                    caps->MaxQueuedFlipOnVSync);
    if (caps->MaxQueuedFlipOnVSync)
        return STATUS_SUCCESS;
    WARNING("PRES-140", "MaxQueuedFlipOnVSync is 0 (0x119/0x4: invalid flip queue length); 1 is "
                        "used");
    caps->MaxQueuedFlipOnVSync = 1;
    return STATUS_SUCCESS;
}

NTSTATUS port_display_caps_check(struct port_adapter *adapter)
{
    NTSTATUS status;

    port_plane_caps_check(adapter);
    status = check_entries(adapter);
    check_full(adapter);
    check_colors(adapter);
    if (NT_SUCCESS(status))
        status = check_flip_queue(adapter);
    if (!NT_SUCCESS(status))
        return status;
    check_pointer(&adapter->caps.driver);
    query_extension(adapter);
    return status;
}
