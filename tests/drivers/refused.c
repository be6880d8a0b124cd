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
    FAILS_DISPLAY,      /* an adapter with a display, which calls back in vain: once while it
                         * starts, often when it is removed */
    FAILS_CAPS = 24,    /* the query of DXGK_DRIVERCAPS */
    FAILS_DEVICE,       /* the system device */
    FAILS_FAULT,        /* StartDevice writes to address 0 */
    FAILS_FAULT_LATER,  /* StartDevice fails, and RemoveDevice writes to address 0 */
    FAILS_FAULT_AFTER_FINDING, /* refused by a finding, and StopDevice writes to address 0 */
    FAILS_AFTER_VIOLATION,     /* AddDevice fails after an error of another rule */
    FAILS_BEFORE_DECLINED,     /* a query is not supported, before this machine cannot serve it */
    FAILS_WITH_NO_NAME,        /* StartDevice: a status that has no name */
    FAILS_WITH_WARNING,        /* StartDevice: a status that is a warning, and no success */
    FAILS_FOR_MEMORY,          /* StartDevice: STATUS_NO_MEMORY, of which there is enough */
    FAILS_STOP,                /* refused by a finding, and StopDevice fails with its status */
    FAILS_WITHOUT_PAGING,      /* PagingBufferSize 0 after a query that is not supported */
    FAILS_METADATA,            /* the metadata of node 0: only a warning */
    FAILS_CHILDREN,            /* more children than there is room for */
    FAILS_OUTPUTS,             /* a video output */
    FAILS_SEGMENT_COUNT,       /* the second query of the segments fails */
    FAILS_FAULT_WITH_FINDING   /* findings, then a fault before the start has ended */
};

static ULONG fails, segment_queries;

static volatile ULONG *volatile nothing; /* stays NULL */

static void write_to_nothing(void)
{
    nothing[2] = 1;
}

static NTSTATUS NTAPI RefusedAddDevice(IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
                                       OUT_PPVOID MiniportDeviceContext)
{
    if (fails == FAILS_ADD_DEVICE)
        return STATUS_DEVICE_NOT_READY;
    if (fails == FAILS_DECLINED)
        return STATUS_SUCCESS;
    if (fails == FAILS_AFTER_VIOLATION) {
        ExFreePoolWithTag(ExAllocatePoolWithTag(NonPagedPoolNx, 64, 0x31666552), 0x32666552);
        return STATUS_DEVICE_NOT_READY;
    }
    return BlitterAddDevice(PhysicalDeviceObject, MiniportDeviceContext);
}

static void ReadNoSpace(const DXGKRNL_INTERFACE *Dxgk)
{
    ULONG value, read = 0;

    (void)Dxgk->DxgkCbReadDeviceSpace(Dxgk->DeviceHandle, 77, &value, 0, sizeof(value), &read);
}

static NTSTATUS NTAPI RefusedRemoveDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    if (fails == FAILS_FAULT_LATER)
        write_to_nothing();
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
    if (fails == FAILS_FAULT)
        write_to_nothing();
    if (fails == FAILS_CHILDREN)
        *NumberOfChildren = 100000;
    if (fails == FAILS_OUTPUTS)
        *NumberOfVideoPresentSources = 1;
    if (fails < FAILS_FAULT_LATER || (fails > FAILS_FAULT_LATER && fails < FAILS_WITH_NO_NAME) ||
        fails > FAILS_FOR_MEMORY)
        return status;
    (void)BlitterStopDevice(MiniportDeviceContext);
    return fails == FAILS_FAULT_LATER    ? STATUS_DEVICE_NOT_READY
           : fails == FAILS_WITH_NO_NAME ? (NTSTATUS)0xE0DE0001
           : fails == FAILS_WITH_WARNING ? STATUS_BUFFER_OVERFLOW
                                         : STATUS_NO_MEMORY;
}

static NTSTATUS NTAPI RefusedStopDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    if (fails == FAILS_FAULT_AFTER_FINDING)
        write_to_nothing();
    if (fails == FAILS_STOP) {
        (void)BlitterStopDevice(MiniportDeviceContext);
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    }
    if (fails != FAILS_MAPPING_LEFT)
        return BlitterStopDevice(MiniportDeviceContext);
    ((BLITTER_ADAPTER *)MiniportDeviceContext)->Registers = NULL;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI RefusedQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                              IN_CONST_PDXGKARG_QUERYADAPTERINFO Args)
{
    NTSTATUS status;

    if (fails == FAILS_CAPS && Args->Type == DXGKQAITYPE_DRIVERCAPS)
        return STATUS_DEVICE_NOT_READY;
    if (fails == FAILS_FAULT_WITH_FINDING && Args->Type == DXGKQAITYPE_QUERYSEGMENT4)
        write_to_nothing();
    if (fails == FAILS_SEGMENT_COUNT && Args->Type == DXGKQAITYPE_QUERYSEGMENT4 &&
        ++segment_queries == 2)
        return STATUS_DEVICE_NOT_READY;
    if ((fails == FAILS_BEFORE_DECLINED || fails == FAILS_WITHOUT_PAGING) &&
        Args->Type == DXGKQAITYPE_PHYSICALADAPTERCAPS)
        return STATUS_NOT_SUPPORTED;
    if (fails == FAILS_SEGMENTS && Args->Type == DXGKQAITYPE_QUERYSEGMENT4)
        return STATUS_DEVICE_NOT_READY;
    status = BlitterQueryAdapterInfo(hAdapter, Args);
    if (NT_SUCCESS(status) && Args->Type == DXGKQAITYPE_DRIVERCAPS) {
        DXGK_DRIVERCAPS *caps = (DXGK_DRIVERCAPS *)Args->pOutputData;

        caps->SupportPerEngineTDR = FALSE; /* CAPS-029: a warning */
        if (fails == FAILS_TWO_FINDINGS || fails == FAILS_MAPPING_LEFT || fails == FAILS_STOP ||
            fails == FAILS_FAULT_AFTER_FINDING || fails == FAILS_FAULT_WITH_FINDING)
            caps->SchedulingCaps.Value = 0x1C; /* CAPS-048, -049, -050 */
        if (fails == FAILS_BEFORE_DECLINED)
            caps->HighestAcceptableAddress.QuadPart = 0xFFFFF; /* CAPS-021 */
    }
    if (NT_SUCCESS(status) && fails == FAILS_WITHOUT_PAGING &&
        Args->Type == DXGKQAITYPE_QUERYSEGMENT4)
        ((DXGK_QUERYSEGMENTOUT4 *)Args->pOutputData)->PagingBufferSize = 0; /* CAPS-077 */
    return status;
}

static NTSTATUS NTAPI RefusedCreateDevice(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEDEVICE Args)
{
    return fails == FAILS_DEVICE ? STATUS_DEVICE_NOT_READY : BlitterCreateDevice(hAdapter, Args);
}

static NTSTATUS NTAPI RefusedGetNodeMetadata(IN_CONST_HANDLE hAdapter, UINT NodeOrdinal,
                                             OUT_PDXGKARG_GETNODEMETADATA Args)
{
    return fails == FAILS_METADATA ? STATUS_DEVICE_NOT_READY
                                   : BlitterGetNodeMetadata(hAdapter, NodeOrdinal, Args);
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
    Data->DxgkDdiCreateDevice = RefusedCreateDevice;
    Data->DxgkDdiGetNodeMetadata = RefusedGetNodeMetadata;
    if (fails == FAILS_REGISTRATION)
        Data->DxgkDdiRemoveDevice = NULL;
    if (fails == FAILS_NEWER)
        Data->Version = 0xFFFFF;
    if (fails == FAILS_NOT_AT_ALL)
        return STATUS_SUCCESS;
    status = DxgkInitialize(DriverObject, RegistryPath, fails == FAILS_ARGUMENTS ? NULL : Data);
    if (fails == FAILS_TWICE)
        status = DxgkInitialize(DriverObject, RegistryPath, Data);
    if (fails != FAILS_ENTRY)
        return status;
    (void)ExAllocatePoolWithTag(NonPagedPoolNx, 64, 0x31666552); /* left behind */
    return STATUS_DEVICE_NOT_READY;
}
