/* SPDX-License-Identifier: MIT */
/* Processes, devices, contexts and allocations: little is kept of them, since page tables say the rest. */
#include "npu.h"

NTSTATUS NTAPI NpuCreateProcess(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEPROCESS pArgs)
{
    NPU_PROCESS *process = (NPU_PROCESS *)NpuAllocate(sizeof(*process));

    UNREFERENCED_PARAMETER(hAdapter);
    if (!process)
        return STATUS_NO_MEMORY;
    process->DxgkProcess = pArgs->hDxgkProcess;
    pArgs->hKmdProcess = process;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuDestroyProcess(IN_CONST_HANDLE hAdapter, IN_CONST_HANDLE hKmdProcess)
{
    UNREFERENCED_PARAMETER(hAdapter);
    ExFreePoolWithTag((PVOID)hKmdProcess, NPU_TAG);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuCreateDevice(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEDEVICE pCreateDevice)
{
    NPU_DEVICE *device = (NPU_DEVICE *)NpuAllocate(sizeof(*device));

    if (!device)
        return STATUS_NO_MEMORY;
    device->Adapter = (NPU_ADAPTER *)hAdapter;
    device->Process = (NPU_PROCESS *)pCreateDevice->hKmdProcess;
    pCreateDevice->hDevice = device;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuDestroyDevice(IN_CONST_HANDLE hDevice)
{
    ExFreePoolWithTag((PVOID)hDevice, NPU_TAG);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuCreateContext(IN_CONST_HANDLE hDevice, INOUT_PDXGKARG_CREATECONTEXT pCreateContext)
{
    NPU_CONTEXT *context;

    if (pCreateContext->NodeOrdinal != 0)
        return STATUS_INVALID_PARAMETER;
    context = (NPU_CONTEXT *)NpuAllocate(sizeof(*context));
    if (!context)
        return STATUS_NO_MEMORY;
    context->Device = (NPU_DEVICE *)hDevice;
    context->System = pCreateContext->Flags.SystemContext;
    if (context->System)
        pCreateContext->ContextInfo.DmaBufferSize = NPU_PAGING_BYTES;
    else
        pCreateContext->ContextInfo.Caps.NoPatchingRequired = 1;
    pCreateContext->hContext = context;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuDestroyContext(IN_CONST_HANDLE hContext)
{
    ExFreePoolWithTag((PVOID)hContext, NPU_TAG);
    return STATUS_SUCCESS;
}

/* ---- allocations ---- */

static NTSTATUS CreateOne(NPU_ADAPTER *Adapter, DXGK_ALLOCATIONINFO *Info)
{
    struct npu_allocation_data data;
    NPU_ALLOCATION *allocation;

    if (!Info->pPrivateDriverData || Info->PrivateDriverDataSize < sizeof(data))
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(&data, Info->pPrivateDriverData, sizeof(data));
    if (data.magic != NPU_MAGIC || data.bytes == 0 || data.bytes > 0x10000000)
        return STATUS_INVALID_PARAMETER;
    allocation = (NPU_ALLOCATION *)NpuAllocate(sizeof(*allocation));
    if (!allocation)
        return STATUS_NO_MEMORY;
    allocation->Bytes = (data.bytes + PAGE_SIZE - 1) & ~(ULONG)(PAGE_SIZE - 1);
    Info->hAllocation = allocation;
    Info->Size = allocation->Bytes;
    Info->Alignment = PAGE_SIZE;
    Info->SupportedReadSegmentSet = 1u << (NPU_SEGMENT - 1);
    Info->SupportedWriteSegmentSet = Info->SupportedReadSegmentSet;
    Info->PreferredSegment.SegmentId0 = NPU_SEGMENT;
    Info->AllocationPriority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
    Info->FlagsWddm2.Value = 0;
    Info->FlagsWddm2.CpuVisible = 1;
    (VOID) InterlockedAdd64(&Adapter->AllocatedBytes, allocation->Bytes);
    return STATUS_SUCCESS;
}

static VOID DestroyOne(NPU_ADAPTER *Adapter, HANDLE hAllocation)
{
    NPU_ALLOCATION *allocation = (NPU_ALLOCATION *)hAllocation;

    (VOID) InterlockedAdd64(&Adapter->AllocatedBytes, -(LONG64)allocation->Bytes);
    ExFreePoolWithTag(allocation, NPU_TAG);
}

NTSTATUS NTAPI NpuCreateAllocation(IN_CONST_HANDLE hAdapter,
                                   INOUT_PDXGKARG_CREATEALLOCATION pCreateAllocation)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)hAdapter;
    NTSTATUS status = STATUS_SUCCESS;
    UINT made = 0;

    while (made < pCreateAllocation->NumAllocations && NT_SUCCESS(status)) {
        status = CreateOne(adapter, &pCreateAllocation->pAllocationInfo[made]);
        if (NT_SUCCESS(status))
            made++;
    }
    while (!NT_SUCCESS(status) && made > 0) /* all of them or none */
        DestroyOne(adapter, pCreateAllocation->pAllocationInfo[--made].hAllocation);
    return status;
}

NTSTATUS NTAPI NpuDestroyAllocation(IN_CONST_HANDLE hAdapter,
                                    IN_CONST_PDXGKARG_DESTROYALLOCATION pDestroyAllocation)
{
    for (UINT i = 0; i < pDestroyAllocation->NumAllocations; i++)
        DestroyOne((NPU_ADAPTER *)hAdapter, pDestroyAllocation->pAllocationList[i]);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuDescribeAllocation(IN_CONST_HANDLE hAdapter,
                                     INOUT_PDXGKARG_DESCRIBEALLOCATION pDescribeAllocation)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pDescribeAllocation);
    return STATUS_NOT_SUPPORTED; /* no allocation is a picture */
}

NTSTATUS NTAPI NpuGetStandardAllocationDriverData(
    IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_GETSTANDARDALLOCATIONDRIVERDATA pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pArgs);
    return STATUS_NOT_SUPPORTED;
}

/* A device that opens an allocation gets a record of its own. */
NTSTATUS NTAPI NpuOpenAllocation(IN_CONST_HANDLE hDevice,
                                 IN_CONST_PDXGKARG_OPENALLOCATION pOpenAllocation)
{
    UINT opened = 0;

    UNREFERENCED_PARAMETER(hDevice);
    while (opened < pOpenAllocation->NumAllocations) {
        HANDLE record = NpuAllocate(sizeof(ULONG));

        if (!record)
            break;
        pOpenAllocation->pOpenAllocation[opened++].hDeviceSpecificAllocation = record;
    }
    if (opened == pOpenAllocation->NumAllocations)
        return STATUS_SUCCESS;
    while (opened > 0)
        ExFreePoolWithTag(pOpenAllocation->pOpenAllocation[--opened].hDeviceSpecificAllocation,
                          NPU_TAG);
    return STATUS_NO_MEMORY;
}

NTSTATUS NTAPI NpuCloseAllocation(IN_CONST_HANDLE hDevice,
                                  IN_CONST_PDXGKARG_CLOSEALLOCATION pCloseAllocation)
{
    UNREFERENCED_PARAMETER(hDevice);
    for (UINT i = 0; i < pCloseAllocation->NumAllocations; i++)
        ExFreePoolWithTag(pCloseAllocation->pOpenHandleList[i], NPU_TAG);
    return STATUS_SUCCESS;
}
