/* SPDX-License-Identifier: MIT */
/*
 * The example driver, which fails in the way that the value Fails of its service key names: one line
 * of the table each. For the tests of what a refused start tells.
 */
#include "../../examples/blitter/blitter.h"
#include "service_value.h"

static NTSTATUS NTAPI RefusedInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                        DRIVER_INITIALIZATION_DATA *Data);

#define DxgkInitialize RefusedInitialize
#include "../../examples/blitter/adapter.c"
#undef DxgkInitialize
#include "../../examples/blitter/memory.c"
#include "../../examples/blitter/work.c"

enum fails {
    FAILS_START_WITH_MAPPING = 1, /* StartDevice fails and leaves the registers mapped */
    FAILS_SEGMENTS,               /* the segment query fails after a warning was recorded */
    FAILS_CONTEXT,      /* the system context fails, after findings that are only warnings */
    FAILS_TWO_FINDINGS, /* two capabilities that Windows refuses, after one that it does not */
    FAILS_DECLINED,     /* AddDevice succeeds without a context */
    FAILS_ADD_DEVICE,
    FAILS_REGISTRATION, /* an entry point that registration asks for is NULL */
    FAILS_ARGUMENTS,    /* DxgkInitialize without a table */
    FAILS_NEWER,        /* built for an interface version that does not exist */
    FAILS_TWICE,        /* DxgkInitialize called again */
    FAILS_NOT_AT_ALL,   /* DriverEntry succeeds without DxgkInitialize */
    FAILS_ENTRY,        /* DriverEntry fails after DxgkInitialize succeeded */
    FAILS_MAPPING_LEFT, /* refused by a finding, and StopDevice leaves the registers mapped */
    FAILS_DISPLAY       /* an adapter with a display, which calls back in vain: once while it
                         * starts, often when it is removed */
};

static ULONG fails;

static NTSTATUS NTAPI RefusedAddDevice(IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
                                       OUT_PPVOID MiniportDeviceContext)
{
    if (fails == FAILS_ADD_DEVICE)
        return STATUS_DEVICE_NOT_READY;
    if (fails == FAILS_DECLINED)
        return STATUS_SUCCESS;
    return BlitterAddDevice(PhysicalDeviceObject, MiniportDeviceContext);
}

static void ReadNoSpace(const DXGKRNL_INTERFACE *Dxgk)
{
    ULONG value, read = 0;

    (void)Dxgk->DxgkCbReadDeviceSpace(Dxgk->DeviceHandle, 77, &value, 0, sizeof(value), &read);
}

static NTSTATUS NTAPI RefusedRemoveDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    for (int i = 0; fails == FAILS_DISPLAY && i < 100; i++)
        ReadNoSpace(&((BLITTER_ADAPTER *)MiniportDeviceContext)->Dxgk);
    return BlitterRemoveDevice(MiniportDeviceContext);
}

static NTSTATUS NTAPI RefusedQueryChildRelations(IN_CONST_PVOID MiniportDeviceContext,
                                                 PDXGK_CHILD_DESCRIPTOR ChildRelations,
                                                 ULONG ChildRelationsSize)
{
    (void)MiniportDeviceContext;
    (void)ChildRelationsSize;
    ChildRelations->ChildDeviceType = TypeVideoOutput;
    ChildRelations->ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HD15;
    return STATUS_SUCCESS;
}

/* Nobody looks at the outputs. */
static NTSTATUS NTAPI RefusedQueryChildStatus(IN_CONST_PVOID MiniportDeviceContext,
                                              INOUT_PDXGK_CHILD_STATUS ChildStatus,
                                              IN_BOOLEAN NonDestructiveOnly)
{
    (void)NonDestructiveOnly;
    (void)ChildStatus;
    ReadNoSpace(&((BLITTER_ADAPTER *)MiniportDeviceContext)->Dxgk);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI RefusedQueryDeviceDescriptor(IN_CONST_PVOID MiniportDeviceContext,
                                                   IN_ULONG ChildUid,
                                                   INOUT_PDXGK_DEVICE_DESCRIPTOR DeviceDescriptor)
{
    (void)ChildUid;
    (void)DeviceDescriptor;
    ReadNoSpace(&((BLITTER_ADAPTER *)MiniportDeviceContext)->Dxgk);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI RefusedStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                                         IN_PDXGK_START_INFO DxgkStartInfo,
                                         IN_PDXGKRNL_INTERFACE DxgkInterface,
                                         OUT_PULONG NumberOfVideoPresentSources,
                                         OUT_PULONG NumberOfChildren)
{
    NTSTATUS status = BlitterStartDevice(MiniportDeviceContext, DxgkStartInfo, DxgkInterface,
                                         NumberOfVideoPresentSources, NumberOfChildren);

    if (fails == FAILS_DISPLAY) {
        ReadNoSpace(&((BLITTER_ADAPTER *)MiniportDeviceContext)->Dxgk);
        *NumberOfVideoPresentSources = *NumberOfChildren = 1;
    }
    if (fails == FAILS_START_WITH_MAPPING) {
        ((BLITTER_ADAPTER *)MiniportDeviceContext)->Registers = NULL;
        return STATUS_DEVICE_NOT_READY;
    }
    return status;
}

static NTSTATUS NTAPI RefusedStopDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    if (fails != FAILS_MAPPING_LEFT)
        return BlitterStopDevice(MiniportDeviceContext);
    ((BLITTER_ADAPTER *)MiniportDeviceContext)->Registers = NULL;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI RefusedQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                              IN_CONST_PDXGKARG_QUERYADAPTERINFO Args)
{
    NTSTATUS status;

    if (fails == FAILS_SEGMENTS && Args->Type == DXGKQAITYPE_QUERYSEGMENT4)
        return STATUS_DEVICE_NOT_READY;
    status = BlitterQueryAdapterInfo(hAdapter, Args);
    if (NT_SUCCESS(status) && Args->Type == DXGKQAITYPE_DRIVERCAPS) {
        DXGK_DRIVERCAPS *caps = (DXGK_DRIVERCAPS *)Args->pOutputData;

        caps->SupportPerEngineTDR = FALSE; /* CAPS-029: a warning */
        if (fails == FAILS_TWO_FINDINGS || fails == FAILS_MAPPING_LEFT)
            caps->SchedulingCaps.Value = 0x1C; /* CAPS-048, -049, -050 */
    }
    return status;
}

static NTSTATUS NTAPI RefusedCreateContext(IN_CONST_HANDLE hDevice,
                                           INOUT_PDXGKARG_CREATECONTEXT Args)
{
    return fails == FAILS_CONTEXT ? STATUS_DEVICE_NOT_READY : BlitterCreateContext(hDevice, Args);
}

static NTSTATUS NTAPI RefusedInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                        DRIVER_INITIALIZATION_DATA *Data)
{
    NTSTATUS status;

    fails = ServiceValue(RegistryPath, L"Fails");
    Data->DxgkDdiAddDevice = RefusedAddDevice;
    Data->DxgkDdiStartDevice = RefusedStartDevice;
    Data->DxgkDdiStopDevice = RefusedStopDevice;
    Data->DxgkDdiRemoveDevice = RefusedRemoveDevice;
    if (fails == FAILS_DISPLAY) {
        Data->DxgkDdiQueryChildRelations = RefusedQueryChildRelations;
        Data->DxgkDdiQueryChildStatus = RefusedQueryChildStatus;
        Data->DxgkDdiQueryDeviceDescriptor = RefusedQueryDeviceDescriptor;
    }
    Data->DxgkDdiQueryAdapterInfo = RefusedQueryAdapterInfo;
    Data->DxgkDdiCreateContext = RefusedCreateContext;
    if (fails == FAILS_REGISTRATION)
        Data->DxgkDdiRemoveDevice = NULL;
    if (fails == FAILS_NEWER)
        Data->Version = 0xFFFFF;
    if (fails == FAILS_NOT_AT_ALL)
        return STATUS_SUCCESS;
    status = DxgkInitialize(DriverObject, RegistryPath, fails == FAILS_ARGUMENTS ? NULL : Data);
    if (fails == FAILS_TWICE)
        status = DxgkInitialize(DriverObject, RegistryPath, Data);
    return fails == FAILS_ENTRY ? STATUS_DEVICE_NOT_READY : status;
}
