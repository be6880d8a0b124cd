/* SPDX-License-Identifier: MIT */
/*
 * The example driver as one that is not multi-engine aware: it has no contexts, says the sizes of its buffers when a device is
 * created, and takes a device's handle where others take a context's.
 */
#include "../../examples/blitter/blitter.h"

static NTSTATUS NTAPI SingleInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                       DRIVER_INITIALIZATION_DATA *Data);

#define DxgkInitialize SingleInitialize
#include "../../examples/blitter/adapter.c"
#undef DxgkInitialize
#include "../../examples/blitter/memory.c"
#include "../../examples/blitter/work.c"

static NTSTATUS NTAPI SingleQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                             IN_CONST_PDXGKARG_QUERYADAPTERINFO Args)
{
    NTSTATUS status = BlitterQueryAdapterInfo(hAdapter, Args);

    if (NT_SUCCESS(status) && Args->Type == DXGKQAITYPE_DRIVERCAPS) {
        DXGK_DRIVERCAPS *caps = (DXGK_DRIVERCAPS *)Args->pOutputData;

        caps->SchedulingCaps.Value = 0;
        caps->GpuEngineTopology.NbAsymetricProcessingNodes = 5; /* nobody looks at it */
    }
    return status;
}

static NTSTATUS NTAPI SingleCreateDevice(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEDEVICE Args)
{
    DXGK_DEVICEINFO *info = Args->pInfo;
    NTSTATUS status = BlitterCreateDevice(hAdapter, Args);

    if (NT_SUCCESS(status)) {
        info->DmaBufferSize = BLITTER_DMA_BYTES;
        info->AllocationListSize = 48;
        info->PatchLocationListSize = 96;
    }
    return status;
}

static NTSTATUS NTAPI SingleInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                       DRIVER_INITIALIZATION_DATA *Data)
{
    Data->DxgkDdiQueryAdapterInfo = SingleQueryAdapterInfo;
    Data->DxgkDdiCreateDevice = SingleCreateDevice;
    Data->DxgkDdiCreateContext = NULL;
    Data->DxgkDdiDestroyContext = NULL;
    return DxgkInitialize(DriverObject, RegistryPath, Data);
}
