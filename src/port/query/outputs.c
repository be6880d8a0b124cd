/* SPDX-License-Identifier: MIT */
#include "port/query/outputs.h"
#include "modes/modes.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"

/* Reserved values, which no child can have (DISP-025). */
static bool is_reserved(ULONG uid)
{
    return uid == DISPLAY_ADAPTER_HW_ID /* and D3DDDI_ID_UNINITIALIZED */ || uid == D3DDDI_ID_ANY ||
           uid == D3DDDI_ID_ALL;
}

static bool is_technology(D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    return technology == D3DKMDT_VOT_OTHER || technology == D3DKMDT_VOT_INTERNAL ||
           ((int)technology >= D3DKMDT_VOT_HD15 && (int)technology <= D3DKMDT_VOT_INDIRECT_WIRED &&
            (int)technology != 7);
}

static void check_awareness(struct port_adapter *adapter, ULONG index, DXGK_CHILD_DESCRIPTOR *child)
{
    DXGK_CHILD_DEVICE_HPD_AWARENESS *awareness = &child->ChildCapabilities.HpdAwareness;

    switch ((int)*awareness) {
    case HpdAwarenessAlwaysConnected:
    case HpdAwarenessPolled:
    case HpdAwarenessInterruptible:
        return;
    case HpdAwarenessNone:
        VIOLATION("DISP-030", "HpdAwareness of child %u is HpdAwarenessNone, which is reserved",
                  (unsigned)index);
        break;
    default:
        PORT_FINDING(adapter, "DISP-030", "HpdAwareness of child %u is %d", (unsigned)index,
                     (int)*awareness);
    }
    *awareness = HpdAwarenessPolled;
}

static void check_output(struct port_adapter *adapter, ULONG index, DXGK_CHILD_DESCRIPTOR *child)
{
    DXGK_VIDEO_OUTPUT_CAPABILITIES *output = &child->ChildCapabilities.Type.VideoOutput;

    if (!is_technology(output->InterfaceTechnology)) {
        PORT_FINDING(adapter, "DISP-032", "InterfaceTechnology of child %u is %d", (unsigned)index,
                     (int)output->InterfaceTechnology);
        output->InterfaceTechnology = D3DKMDT_VOT_OTHER;
    }
    if (output->MonitorOrientationAwareness == D3DKMDT_MOA_UNINITIALIZED) {
        WARNING("DISP-034", "MonitorOrientationAwareness of child %u is not set", (unsigned)index);
        output->MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    }
}

/* DISP-036: the connectors of a display that is part of the device. */
static bool is_of_integrated(D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    switch (technology) {
    case D3DKMDT_VOT_INTERNAL:
    case D3DKMDT_VOT_LVDS:
    case D3DKMDT_VOT_DISPLAYPORT_EMBEDDED:
    case D3DKMDT_VOT_UDI_EMBEDDED:
    case D3DKMDT_VOT_DVI:
    case D3DKMDT_VOT_HDMI:
    case D3DKMDT_VOT_D_JPN:
    case D3DKMDT_VOT_SDI:
    case D3DKMDT_VOT_DISPLAYPORT_EXTERNAL:
    case D3DKMDT_VOT_UDI_EXTERNAL:
        return true;
    default:
        return false;
    }
}

static void check_integrated(struct port_adapter *adapter, ULONG index, DXGK_CHILD_DESCRIPTOR *child)
{
    DXGK_INTEGRATED_DISPLAY_CHILD *display = &child->ChildCapabilities.Type.IntegratedDisplayChild;

    if (!adapter->ddi.present_display_only &&
        child->ChildCapabilities.HpdAwareness != HpdAwarenessAlwaysConnected)
        WARNING("DISP-080", "HpdAwareness of child %u, an integrated display, is %d",
                (unsigned)index, (int)child->ChildCapabilities.HpdAwareness);
    if (!adapter->ddi.present_display_only)
        child->ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected; /* DISP-079 */
    if (is_of_integrated(display->InterfaceTechnology))
        return;
    PORT_FINDING(adapter, "DISP-036",
                 "InterfaceTechnology of child %u, an integrated display, is %d", (unsigned)index,
                 (int)display->InterfaceTechnology);
    display->InterfaceTechnology = D3DKMDT_VOT_INTERNAL;
}

/* DISP-032: one panel is internal. */
static void count_internal(const struct port_adapter *adapter, ULONG index)
{
    const DXGK_CHILD_DESCRIPTOR *list = adapter->children.child;

    for (ULONG i = 0; i < index; i++)
        if (list[i].ChildDeviceType == TypeVideoOutput &&
            list[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology == D3DKMDT_VOT_INTERNAL &&
            list[index].ChildCapabilities.Type.VideoOutput.InterfaceTechnology ==
                D3DKMDT_VOT_INTERNAL)
            WARNING("DISP-032", "children %u and %u are both D3DKMDT_VOT_INTERNAL", (unsigned)i,
                    (unsigned)index);
}

/* DISP-022, DISP-023: a child of a type that does not exist is left alone. */
static bool is_known_type(const DXGK_CHILD_DESCRIPTOR *child)
{
    return child->ChildDeviceType == TypeVideoOutput || child->ChildDeviceType == TypeOther ||
           child->ChildDeviceType == TypeIntegratedDisplay;
}

static void check_type(struct port_adapter *adapter, ULONG index, const DXGK_CHILD_DESCRIPTOR *child)
{
    if (!is_known_type(child))
        PORT_FINDING(adapter, "DISP-023", "child %u is of type %d", (unsigned)index,
                     (int)child->ChildDeviceType);
    else if (child->ChildDeviceType == TypeIntegratedDisplay &&
             port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_2)
        PORT_FINDING(adapter, "DISP-023",
                     "child %u is of TypeIntegratedDisplay (3), which WDDM 2.2 brought",
                     (unsigned)index);
}

/* DISP-025, DISP-028 */
static NTSTATUS check_ids(struct port_adapter *adapter, ULONG index)
{
    const DXGK_CHILD_DESCRIPTOR *list = adapter->children.child, *child = &list[index];
    bool shared = false;

    if (is_reserved(child->ChildUid))
        PORT_EXPECTED(adapter, "DISP-025", "ChildUid of child %u is 0x%x, which is reserved",
                      (unsigned)index, (unsigned)child->ChildUid);
    if (child->ChildUid > 0xFFFFFF && port_uses_connections(adapter))
        PORT_FINDING(adapter, "DISP-026",
                     "ChildUid of child %u is 0x%x; a connection change has 24 bits for it",
                     (unsigned)index, (unsigned)child->ChildUid);
    for (ULONG other = 0; other < index; other++) {
        if (!is_known_type(&list[other]))
            continue;
        if (list[other].ChildUid == child->ChildUid)
            PORT_REFUSE("DISP-025", "children %u and %u have the same ChildUid 0x%x",
                        (unsigned)other, (unsigned)index, (unsigned)child->ChildUid);
        shared |= child->AcpiUid && list[other].AcpiUid == child->AcpiUid;
    }
    if (shared)
        WARNING("DISP-028", "AcpiUid of child %u is 0x%x, which another child has, too",
                (unsigned)index, (unsigned)child->AcpiUid);
    return STATUS_SUCCESS;
}

NTSTATUS port_output_check(struct port_adapter *adapter, ULONG index)
{
    DXGK_CHILD_DESCRIPTOR *child = &adapter->children.child[index];
    NTSTATUS status;

    check_type(adapter, index, child);
    if (!is_known_type(child))
        return STATUS_SUCCESS;
    status = check_ids(adapter, index);
    if (!NT_SUCCESS(status))
        return status;
    if (child->ChildDeviceType != TypeIntegratedDisplay || adapter->ddi.present_display_only)
        check_awareness(adapter, index, child);
    if (child->ChildDeviceType == TypeVideoOutput) {
        check_output(adapter, index, child);
        count_internal(adapter, index);
    } else if (child->ChildDeviceType == TypeIntegratedDisplay) {
        check_integrated(adapter, index, child);
    }
    return STATUS_SUCCESS;
}

bool port_uses_connections(const struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;

    return !d->present_display_only &&
           port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_2 &&
           ddi_has(d, DxgkDdiQueryConnectionChange) && ddi_has(d, DxgkDdiDisplayDetectControl) &&
           ddi_has(d, DxgkDdiSetTimingsFromVidPn);
}

/* DISP-083: a driver that supplies some of the three entries keeps the older model. */
static void check_connections(const struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;
    const bool query = ddi_has(d, DxgkDdiQueryConnectionChange),
               detect = ddi_has(d, DxgkDdiDisplayDetectControl),
               timings = ddi_has(d, DxgkDdiSetTimingsFromVidPn);

    if (port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_2 ||
        d->present_display_only || (!query && !detect && !timings) || port_uses_connections(adapter))
        return;
    WARNING("DISP-083", "the connection change model is not used, as these are NULL:%s%s%s",
            query ? "" : " DxgkDdiQueryConnectionChange",
            detect ? "" : " DxgkDdiDisplayDetectControl",
            timings ? "" : " DxgkDdiSetTimingsFromVidPn");
}

NTSTATUS port_outputs_check(struct port_adapter *adapter, ULONG sources)
{
    bool any = false;

    check_connections(adapter);
    if (sources && !adapter->ddi.present_display_only &&
        port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WIN7 &&
        !ddi_has(&adapter->ddi, DxgkDdiQueryVidPnHWCapability))
        WARNING("DISP-014",
                "DxgkDdiQueryVidPnHWCapability is NULL; the paths are taken to have none "
                "of its capabilities");
    for (ULONG i = 0; i < adapter->children.count; i++)
        any |= adapter->children.child[i].ChildDeviceType == TypeVideoOutput ||
               adapter->children.child[i].ChildDeviceType == TypeIntegratedDisplay;
    if (sources > MODES_MAX_SOURCES)
        PORT_CANNOT("DISP-016", "the driver reports %u video present sources; this host has %u",
                    (unsigned)sources, MODES_MAX_SOURCES);
    if (sources && !any &&
        verify_expected("DISP-016", "the driver reports %u video present sources and no output",
                        (unsigned)sources))
        return STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_TARGET;
    if (!sources && any) {
        verify_refusal("DISP-017", "the driver reports video outputs and no video present source");
        return STATUS_GRAPHICS_ADAPTER_MUST_HAVE_AT_LEAST_ONE_SOURCE;
    }
    return STATUS_SUCCESS;
}
