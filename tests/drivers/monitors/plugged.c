/* SPDX-License-Identifier: MIT */
/*
 * bootfb for a device that says which monitor is on its output: an EDID in the first 1024 bytes of
 * its second memory range, as QEMU's standard VGA has it, zeros while there is none, and an
 * interrupt at each change. It takes over what bootfb registers, and answers for the output itself.
 */
#include "bootfb.h"

#define EDID_BYTES 1024u
#define BLOCK      128u

NTSTATUS NTAPI __real_DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT object, PUNICODE_STRING path,
                                                      PKMDDOD_INITIALIZATION_DATA table);
NTSTATUS NTAPI __wrap_DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT object, PUNICODE_STRING path,
                                                      PKMDDOD_INITIALIZATION_DATA table);

static KMDDOD_INITIALIZATION_DATA bootfb; /* what it would have registered */
static DXGKRNL_INTERFACE dxgk;
static const volatile UCHAR *edid; /* mapped; NULL: not now */

static BOOLEAN is_plugged(void)
{
    return edid && edid[1] == 0xFF; /* of the header of a base block */
}

/* ---- the device ---- */

/* The second range of memory. */
static NTSTATUS find(PHYSICAL_ADDRESS *start)
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    DXGK_DEVICE_INFO info;
    NTSTATUS status;
    ULONG found = 0;

    RtlZeroMemory(&info, sizeof(info));
    status = dxgk.DxgkCbGetDeviceInformation(dxgk.DeviceHandle, &info);
    if (!NT_SUCCESS(status))
        return status;
    list = &info.TranslatedResourceList->List[0].PartialResourceList;
    for (ULONG i = 0; i < list->Count; i++) {
        if (list->PartialDescriptors[i].Type != CmResourceTypeMemory || found++ != 1)
            continue;
        *start = list->PartialDescriptors[i].u.Memory.Start;
        return STATUS_SUCCESS;
    }
    return STATUS_DEVICE_CONFIGURATION_ERROR;
}

static NTSTATUS NTAPI start_device(PVOID context, PDXGK_START_INFO info, PDXGKRNL_INTERFACE offered,
                                   PULONG sources, PULONG children)
{
    PHYSICAL_ADDRESS start;
    NTSTATUS status;

    RtlCopyMemory(&dxgk, offered, offered->Size < sizeof(dxgk) ? offered->Size : sizeof(dxgk));
    status = find(&start);
    if (!NT_SUCCESS(status))
        return status;
    edid = MmMapIoSpaceEx(start, EDID_BYTES, PAGE_READWRITE | PAGE_NOCACHE);
    if (!edid)
        return STATUS_INSUFFICIENT_RESOURCES;
    return bootfb.DxgkDdiStartDevice(context, info, offered, sources, children);
}

static void unmap(void)
{
    if (edid)
        MmUnmapIoSpace((PVOID)(ULONG_PTR)edid, EDID_BYTES);
    edid = NULL;
}

static NTSTATUS NTAPI stop_device(PVOID context)
{
    unmap();
    return bootfb.DxgkDdiStopDevice(context);
}

static NTSTATUS NTAPI stop_and_release(PVOID context, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                       PDXGK_DISPLAY_INFORMATION info)
{
    const NTSTATUS status = bootfb.DxgkDdiStopDeviceAndReleasePostDisplayOwnership(context, target,
                                                                                   info);

    if (NT_SUCCESS(status))
        unmap();
    return status;
}

/* ---- the output ---- */

static NTSTATUS NTAPI query_child_relations(PVOID context, PDXGK_CHILD_DESCRIPTOR children,
                                            ULONG bytes)
{
    const NTSTATUS status = bootfb.DxgkDdiQueryChildRelations(context, children, bytes);

    if (!NT_SUCCESS(status))
        return status;
    children->ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    children->ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HDMI;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_child_status(PVOID context, PDXGK_CHILD_STATUS status,
                                         BOOLEAN non_destructive_only)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(non_destructive_only);
    if (status->Type != StatusConnection)
        return STATUS_NOT_SUPPORTED;
    status->HotPlug.Connected = is_plugged();
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_device_descriptor(PVOID context, ULONG uid,
                                              PDXGK_DEVICE_DESCRIPTOR descriptor)
{
    const ULONG offset = descriptor->DescriptorOffset;

    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(uid);
    if (!is_plugged())
        return STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
    if (offset + BLOCK > EDID_BYTES || offset / BLOCK > edid[126])
        return STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    for (ULONG i = 0; i < BLOCK && i < descriptor->DescriptorLength; i++)
        ((UCHAR *)descriptor->DescriptorBuffer)[i] = edid[offset + i];
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI recommend_monitor_modes(HANDLE context,
                                              const DXGKARG_RECOMMENDMONITORMODES *const args)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(args);
    return STATUS_SUCCESS; /* the monitor tells them itself */
}

/* ---- changes ---- */

static BOOLEAN NTAPI interrupt(PVOID context, ULONG message)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(message);
    (void)dxgk.DxgkCbQueueDpc(dxgk.DeviceHandle);
    return TRUE;
}

static void NTAPI dpc(PVOID context)
{
    DXGK_CHILD_STATUS status;

    UNREFERENCED_PARAMETER(context);
    RtlZeroMemory(&status, sizeof(status));
    status.Type = StatusConnection;
    status.ChildUid = BOOTFB_TARGET;
    status.HotPlug.Connected = is_plugged();
    (void)dxgk.DxgkCbIndicateChildStatus(dxgk.DeviceHandle, &status);
}

/* ---- registration ---- */

NTSTATUS NTAPI __wrap_DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT object, PUNICODE_STRING path,
                                                      PKMDDOD_INITIALIZATION_DATA table)
{
    bootfb = *table;
    table->DxgkDdiStartDevice = start_device;
    table->DxgkDdiStopDevice = stop_device;
    table->DxgkDdiStopDeviceAndReleasePostDisplayOwnership = stop_and_release;
    table->DxgkDdiQueryChildRelations = query_child_relations;
    table->DxgkDdiQueryChildStatus = query_child_status;
    table->DxgkDdiQueryDeviceDescriptor = query_device_descriptor;
    table->DxgkDdiRecommendMonitorModes = recommend_monitor_modes;
    table->DxgkDdiInterruptRoutine = interrupt;
    table->DxgkDdiDpcRoutine = dpc;
    return __real_DxgkInitializeDisplayOnlyDriver(object, path, table);
}
