/* SPDX-License-Identifier: MIT */
/* The driver's life: it registers itself, takes the frame buffer over from the firmware when the
 * adapter starts, and hands it on, black, when the adapter stops. */
#include "bootfb.h"

/* ---- the adapter ---- */

static NTSTATUS NTAPI add_device(PDEVICE_OBJECT pdo, PVOID *context)
{
    struct bootfb *fb = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*fb), BOOTFB_TAG);

    UNREFERENCED_PARAMETER(pdo);
    if (!fb)
        return STATUS_NO_MEMORY;
    RtlZeroMemory(fb, sizeof(*fb));
    *context = fb;
    return STATUS_SUCCESS;
}

static NTSTATUS map(struct bootfb *fb)
{
    const SIZE_T bytes = (SIZE_T)fb->post.Pitch * fb->post.Height;

    fb->pixels = MmMapIoSpaceEx(fb->post.PhysicAddress, bytes, PAGE_READWRITE | PAGE_WRITECOMBINE);
    return fb->pixels ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

static void unmap(struct bootfb *fb)
{
    if (fb->pixels)
        MmUnmapIoSpace(fb->pixels, (SIZE_T)fb->post.Pitch * fb->post.Height);
    fb->pixels = NULL;
}

static NTSTATUS NTAPI start_device(PVOID context, PDXGK_START_INFO info, PDXGKRNL_INTERFACE dxgk,
                                   PULONG sources, PULONG children)
{
    struct bootfb *fb = context;
    NTSTATUS status;

    UNREFERENCED_PARAMETER(info);
    RtlCopyMemory(&fb->dxgk, dxgk, dxgk->Size < sizeof(fb->dxgk) ? dxgk->Size : sizeof(fb->dxgk));
    status = fb->dxgk.DxgkCbAcquirePostDisplayOwnership(fb->dxgk.DeviceHandle, &fb->post);
    if (!NT_SUCCESS(status))
        return status;
    /* Without a frame buffer of 32 bits there is nothing to draw on. */
    if (!fb->post.Width || fb->post.Pitch < fb->post.Width * BOOTFB_BYTES ||
        (fb->post.ColorFormat != D3DDDIFMT_X8R8G8B8 && fb->post.ColorFormat != D3DDDIFMT_A8R8G8B8))
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    status = map(fb);
    if (!NT_SUCCESS(status))
        return status;
    bootfb_black(fb); /* until the first source is made visible */
    *sources = 1;
    *children = 1;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI stop_device(PVOID context)
{
    struct bootfb *fb = context;

    unmap(fb);
    fb->visible = FALSE;
    fb->mode.cx = fb->mode.cy = 0;
    return STATUS_SUCCESS;
}

/* The same, but the screen goes on: black, and in the mode that it has always had. */
static NTSTATUS NTAPI stop_and_release(PVOID context, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                       PDXGK_DISPLAY_INFORMATION info)
{
    struct bootfb *fb = context;

    if (target != BOOTFB_TARGET)
        return STATUS_NOT_SUPPORTED;
    bootfb_black(fb);
    *info = fb->post;
    info->TargetId = target;
    return stop_device(context);
}

static NTSTATUS NTAPI remove_device(PVOID context)
{
    ExFreePoolWithTag(context, BOOTFB_TAG);
    return STATUS_SUCCESS;
}

static void NTAPI reset_device(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
}

static void NTAPI unload(void)
{
}

/* There is no power to save: the frame buffer is the firmware's. */
static NTSTATUS NTAPI set_power_state(PVOID context, ULONG uid, DEVICE_POWER_STATE state,
                                      POWER_ACTION action)
{
    struct bootfb *fb = context;

    UNREFERENCED_PARAMETER(action);
    if (uid == DISPLAY_ADAPTER_HW_ID && state == PowerDeviceD0)
        bootfb_black(fb);
    return STATUS_SUCCESS;
}

/* ---- what it can do ---- */

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
    return STATUS_SUCCESS;
}

/* ---- DriverEntry ---- */

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
    table.DxgkDdiQueryChildRelations = bootfb_query_child_relations;
    table.DxgkDdiQueryChildStatus = bootfb_query_child_status;
    table.DxgkDdiQueryDeviceDescriptor = bootfb_query_device_descriptor;
    table.DxgkDdiRecommendMonitorModes = bootfb_recommend_monitor_modes;
    table.DxgkDdiIsSupportedVidPn = bootfb_is_supported_vidpn;
    table.DxgkDdiRecommendFunctionalVidPn = bootfb_recommend_functional_vidpn;
    table.DxgkDdiEnumVidPnCofuncModality = bootfb_enum_vidpn_cofunc_modality;
    table.DxgkDdiCommitVidPn = bootfb_commit_vidpn;
    table.DxgkDdiUpdateActiveVidPnPresentPath = bootfb_update_active_vidpn_present_path;
    table.DxgkDdiQueryVidPnHWCapability = bootfb_query_vidpn_hw_capability;
    table.DxgkDdiPresentDisplayOnly = bootfb_present_display_only;
    table.DxgkDdiSetVidPnSourceVisibility = bootfb_set_vidpn_source_visibility;
    table.DxgkDdiSystemDisplayEnable = bootfb_system_display_enable;
    table.DxgkDdiSystemDisplayWrite = bootfb_system_display_write;
    return DxgkInitializeDisplayOnlyDriver(object, path, &table);
}
