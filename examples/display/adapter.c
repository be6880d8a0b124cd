/* SPDX-License-Identifier: MIT */
/* Step 1: DriverEntry, and the adapter from AddDevice to RemoveDevice. */
#include "panel.h"

static NTSTATUS NTAPI add_device(PDEVICE_OBJECT pdo, PVOID *context)
{
    struct panel *panel = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*panel), PANEL_TAG);

    UNREFERENCED_PARAMETER(pdo);
    if (!panel)
        return STATUS_NO_MEMORY;
    RtlZeroMemory(panel, sizeof(*panel));
    *context = panel;
    return STATUS_SUCCESS;
}

/* The two ranges of memory, in their order. */
static NTSTATUS find_ranges(const struct panel *panel, PHYSICAL_ADDRESS range[2])
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    DXGK_DEVICE_INFO info;
    NTSTATUS status;
    ULONG found = 0;

    RtlZeroMemory(&info, sizeof(info));
    status = panel->dxgk.DxgkCbGetDeviceInformation(panel->dxgk.DeviceHandle, &info);
    if (!NT_SUCCESS(status))
        return status;
    if (!info.TranslatedResourceList || !info.TranslatedResourceList->Count)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    list = &info.TranslatedResourceList->List[0].PartialResourceList;
    for (ULONG i = 0; i < list->Count && found < 2; i++)
        if (list->PartialDescriptors[i].Type == CmResourceTypeMemory)
            range[found++] = list->PartialDescriptors[i].u.Memory.Start;
    return found == 2 ? STATUS_SUCCESS : STATUS_DEVICE_CONFIGURATION_ERROR;
}

static NTSTATUS map(struct panel *panel, PHYSICAL_ADDRESS at, ULONG bytes, MEMORY_CACHING_TYPE type,
                    PUCHAR *mapped)
{
    PVOID view = NULL;
    NTSTATUS status = panel->dxgk.DxgkCbMapMemory(panel->dxgk.DeviceHandle, at, bytes, FALSE, FALSE,
                                                  type, &view);

    *mapped = NT_SUCCESS(status) ? view : NULL;
    return status;
}

static void unmap(struct panel *panel)
{
    PUCHAR registers = panel->registers;

    panel->registers = NULL; /* the service routine looks at it */
    if (registers)
        (void)panel->dxgk.DxgkCbUnmapMemory(panel->dxgk.DeviceHandle, registers);
    if (panel->memory)
        (void)panel->dxgk.DxgkCbUnmapMemory(panel->dxgk.DeviceHandle, panel->memory);
    panel->memory = NULL;
}

static NTSTATUS NTAPI start_device(PVOID context, PDXGK_START_INFO info, PDXGKRNL_INTERFACE dxgk,
                                   PULONG sources, PULONG children)
{
    struct panel *panel = context;
    PHYSICAL_ADDRESS range[2];
    NTSTATUS status;

    UNREFERENCED_PARAMETER(info);
    panel->dxgk = *dxgk;
    status = panel->dxgk.DxgkCbAcquirePostDisplayOwnership(panel->dxgk.DeviceHandle, &panel->post);
    if (NT_SUCCESS(status))
        status = find_ranges(panel, range);
    if (NT_SUCCESS(status))
        status = map(panel, range[0], PANEL_REGISTER_BYTES, MmNonCached, &panel->registers);
    if (NT_SUCCESS(status))
        status = map(panel, range[1], PANEL_MEMORY_BYTES, MmWriteCombined, &panel->memory);
    if (NT_SUCCESS(status) && panel_read(panel, PANEL_ID) != PANEL_ID_VALUE)
        status = STATUS_DEVICE_CONFIGURATION_ERROR;
    if (!NT_SUCCESS(status)) {
        unmap(panel);
        return status;
    }
    if (!panel->post.Width) { /* another adapter has the firmware's display */
        panel->post.Width = 1024;
        panel->post.Height = 768;
    }
    panel->mode.cx = panel->post.Width; /* the signal stays, black, until there is a first mode */
    panel->mode.cy = panel->post.Height;
    panel_show(panel, TRUE);
    panel->mode.cx = panel->mode.cy = 0;
#if STEP >= 2
    panel_write(panel, PANEL_IRQ_ENABLE, PANEL_PLUG);
#endif
    *sources = 1;
    *children = 1;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI stop_device(PVOID context)
{
    struct panel *panel = context;

    panel_write(panel, PANEL_IRQ_ENABLE, 0);
    panel_show(panel, FALSE);
    unmap(panel);
    return STATUS_SUCCESS;
}

/* In place of the above, where the next one is to find a picture: black, in the mode that is shown. */
static NTSTATUS NTAPI stop_and_release(PVOID context, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                       PDXGK_DISPLAY_INFORMATION info)
{
    struct panel *panel = context;
    PHYSICAL_ADDRESS range[2];

    if (target != PANEL_TARGET || !NT_SUCCESS(find_ranges(panel, range)))
        return STATUS_NOT_SUPPORTED;
    if (!panel->mode.cx) {
        panel->mode.cx = panel->post.Width;
        panel->mode.cy = panel->post.Height;
    }
    panel_write(panel, PANEL_IRQ_ENABLE, 0);
    panel_show(panel, TRUE);
    info->Width = panel->mode.cx;
    info->Height = panel->mode.cy;
    info->Pitch = panel->mode.cx * 4;
    info->ColorFormat = D3DDDIFMT_X8R8G8B8;
    info->PhysicAddress = range[1];
    info->TargetId = target;
    unmap(panel);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI remove_device(PVOID context)
{
    ExFreePoolWithTag(context, PANEL_TAG);
    return STATUS_SUCCESS;
}

static void NTAPI reset_device(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
}

static void NTAPI unload(void)
{
}

static NTSTATUS NTAPI set_power_state(PVOID context, ULONG uid, DEVICE_POWER_STATE state,
                                      POWER_ACTION action)
{
    struct panel *panel = context;

    UNREFERENCED_PARAMETER(action);
#if STEP >= 2
    if (uid == DISPLAY_ADAPTER_HW_ID && panel->registers)
        panel_write(panel, PANEL_IRQ_ENABLE, state == PowerDeviceD0 ? PANEL_PLUG : 0);
#else
    UNREFERENCED_PARAMETER(panel);
    UNREFERENCED_PARAMETER(uid);
    UNREFERENCED_PARAMETER(state);
#endif
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_adapter_info(HANDLE context, const DXGKARG_QUERYADAPTERINFO *args)
{
    DXGK_DRIVERCAPS *caps = args->pOutputData;

    UNREFERENCED_PARAMETER(context);
    if (args->Type != DXGKQAITYPE_DRIVERCAPS)
        return STATUS_NOT_SUPPORTED;
    if (args->OutputDataSize < sizeof(*caps))
        return STATUS_BUFFER_TOO_SMALL;
    RtlZeroMemory(caps, sizeof(*caps));
    caps->WDDMVersion = DXGKDDI_WDDMv1_2;
    caps->HighestAcceptableAddress.QuadPart = -1;
    caps->SupportNonVGA = TRUE;
    caps->SupportSmoothRotation = TRUE;
#if STEP >= 5
    caps->PointerCaps.Color = 1;
    caps->MaxPointerWidth = caps->MaxPointerHeight = PANEL_POINTER_SIDE;
#endif
    return STATUS_SUCCESS;
}

#ifndef _WIN32
DECLSPEC_EXPORT /* looked for by name in an ELF object */
#endif
    DRIVER_INITIALIZE DriverEntry;

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    KMDDOD_INITIALIZATION_DATA table;

    RtlZeroMemory(&table, sizeof(table));
    table.Version = DXGKDDI_INTERFACE_VERSION;
    table.DxgkDdiAddDevice = add_device;
    table.DxgkDdiStartDevice = start_device;
    table.DxgkDdiStopDevice = stop_device;
    table.DxgkDdiStopDeviceAndReleasePostDisplayOwnership = stop_and_release;
    table.DxgkDdiRemoveDevice = remove_device;
    table.DxgkDdiResetDevice = reset_device;
    table.DxgkDdiUnload = unload;
    table.DxgkDdiSetPowerState = set_power_state;
    table.DxgkDdiQueryAdapterInfo = query_adapter_info;
    table.DxgkDdiQueryChildRelations = panel_query_child_relations;
    table.DxgkDdiQueryChildStatus = panel_query_child_status;
    table.DxgkDdiQueryDeviceDescriptor = panel_query_device_descriptor;
    table.DxgkDdiIsSupportedVidPn = panel_is_supported;
    table.DxgkDdiRecommendFunctionalVidPn = panel_recommend;
    table.DxgkDdiEnumVidPnCofuncModality = panel_enumerate;
    table.DxgkDdiCommitVidPn = panel_commit;
    table.DxgkDdiUpdateActiveVidPnPresentPath = panel_update_path;
    table.DxgkDdiPresentDisplayOnly = panel_present;
    table.DxgkDdiSetVidPnSourceVisibility = panel_set_visibility;
    table.DxgkDdiSystemDisplayEnable = panel_system_display_enable;
    table.DxgkDdiSystemDisplayWrite = panel_system_display_write;
#if STEP >= 2
    table.DxgkDdiInterruptRoutine = panel_interrupt;
    table.DxgkDdiDpcRoutine = panel_dpc;
#endif
#if STEP >= 4
    table.DxgkDdiControlInterrupt = panel_control_interrupt;
    table.DxgkDdiGetScanLine = panel_get_scan_line;
#endif
#if STEP >= 5
    table.DxgkDdiSetPointerPosition = panel_set_pointer_position;
    table.DxgkDdiSetPointerShape = panel_set_pointer_shape;
#endif
    return DxgkInitializeDisplayOnlyDriver(object, path, &table);
}
