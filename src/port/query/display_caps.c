/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "port/query/display_caps.h"
#include "nt/base/status_name.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "port/record/versions.h"

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

static NTSTATUS check(struct port_adapter *adapter)
{
    DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const struct ddi_adapter *d = &adapter->ddi;
    const UINT claimed = (UINT)caps->WDDMVersion;

    if (claimed && !port_version_wddm_known(claimed))
        PORT_FINDING(adapter, "CAPS-032", "WDDMVersion 0x%x is no DXGK_WDDMVERSION value", claimed);
    else if (claimed && claimed < DXGKDDI_WDDMv1_2)
        PORT_FINDING(adapter, "DISP-161", "WDDMVersion is 0x%x, of a display-only driver", claimed);
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
