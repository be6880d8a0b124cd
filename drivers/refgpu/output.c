/* SPDX-License-Identifier: MIT */
/* The children: connectors, of which the display engine tells whether a monitor is there, and what
 * it says of itself. */
#include "driver.h"

NTSTATUS NTAPI RefGpuQueryChildRelations(IN_CONST_PVOID MiniportDeviceContext,
                                         PDXGK_CHILD_DESCRIPTOR ChildRelations,
                                         ULONG ChildRelationsSize)
{
    const struct refgpu_adapter *adapter = MiniportDeviceContext;

    /* the last element stays zero */
    if (ChildRelationsSize < (adapter->display.outputs + 1u) * sizeof *ChildRelations)
        return STATUS_BUFFER_TOO_SMALL;
    for (ULONG i = 0; i < adapter->display.outputs; i++) {
        DXGK_CHILD_DESCRIPTOR *child = &ChildRelations[i];
        DXGK_VIDEO_OUTPUT_CAPABILITIES *caps = &child->ChildCapabilities.Type.VideoOutput;

        child->ChildDeviceType = TypeVideoOutput;
        child->ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
        caps->InterfaceTechnology = i ? D3DKMDT_VOT_DISPLAYPORT_EXTERNAL : D3DKMDT_VOT_HDMI;
        caps->MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
        child->ChildUid = i;
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuQueryChildStatus(IN_CONST_PVOID MiniportDeviceContext,
                                      INOUT_PDXGK_CHILD_STATUS ChildStatus,
                                      IN_BOOLEAN NonDestructiveOnly)
{
    struct refgpu_adapter *adapter = (struct refgpu_adapter *)MiniportDeviceContext;

    (void)NonDestructiveOnly; /* it always is */
    if (ChildStatus->Type != StatusConnection || ChildStatus->ChildUid >= adapter->display.outputs)
        return STATUS_NOT_SUPPORTED;
    ChildStatus->HotPlug.Connected = (refgpu_output_read(adapter, ChildStatus->ChildUid,
                                                         REFGPU_OUT_STATUS) &
                                      REFGPU_OUT_STATUS_CONNECTED) != 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuQueryDeviceDescriptor(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG ChildUid,
                                           INOUT_PDXGK_DEVICE_DESCRIPTOR DeviceDescriptor)
{
    struct refgpu_adapter *adapter = (struct refgpu_adapter *)MiniportDeviceContext;
    const ULONG offset = DeviceDescriptor->DescriptorOffset;
    UCHAR *to = DeviceDescriptor->DescriptorBuffer;
    ULONG bytes, left;

    if (ChildUid >= adapter->display.outputs)
        return STATUS_INVALID_PARAMETER;
    bytes = refgpu_output_read(adapter, ChildUid, REFGPU_OUT_EDID_BYTES);
    if (!bytes)
        return STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
    if (offset >= bytes || offset % sizeof(ULONG))
        return STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    left = bytes - offset < DeviceDescriptor->DescriptorLength ? bytes - offset
                                                               : DeviceDescriptor->DescriptorLength;
    refgpu_output_write(adapter, ChildUid, REFGPU_OUT_EDID_OFFSET, offset);
    for (ULONG done = 0; done < left; done += sizeof(ULONG)) {
        const ULONG data = refgpu_output_read(adapter, ChildUid, REFGPU_OUT_EDID_DATA);

        RtlCopyMemory(to + done, &data, left - done < sizeof data ? left - done : sizeof data);
    }
    DeviceDescriptor->DescriptorLength = left;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuRecommendMonitorModes(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_RECOMMENDMONITORMODES_CONST pRecommendMonitorModes)
{
    (void)hAdapter;
    (void)pRecommendMonitorModes;
    return STATUS_SUCCESS; /* the monitor tells them itself */
}
