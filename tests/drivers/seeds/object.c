/* SPDX-License-Identifier: MIT */
/* Processes, devices, contexts. */
#include "seeds.h"

#if SEEDS_2_0
NTSTATUS NTAPI SeedsCreateProcess(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEPROCESS pArgs)
{
    struct seeds_context *process = (struct seeds_context *)seeds_allocate(sizeof(*process));

    if (!process)
        return STATUS_NO_MEMORY;
    process->adapter = (struct seeds_adapter *)hAdapter;
    pArgs->hKmdProcess = process;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsDestroyProcess(IN_CONST_HANDLE hAdapter, IN_CONST_HANDLE hKmdProcess)
{
    UNREFERENCED_PARAMETER(hAdapter);
    seeds_free((PVOID)hKmdProcess);
    return STATUS_SUCCESS;
}
#endif

/* One size for all: in pInfo of a single-engine driver, in ContextInfo of a multi-engine one. */
static void describe_buffers(const struct seeds_adapter *adapter, UINT *dma_bytes, UINT *segments,
                             UINT *private_bytes, UINT *allocations, UINT *locations)
{
    *dma_bytes = SEEDS_DMA_BYTES;
    *segments = adapter->config & SEEDS_CONFIG_APERTURE ? 1u << (SEEDS_SEGMENT_APERTURE - 1) : 0;
    *private_bytes = SEEDS_CONFIG_PRIVATE(adapter->config) * 8;
    *allocations = SEEDS_LIST;
    *locations = SEEDS_LOCATIONS;
}

NTSTATUS NTAPI SeedsCreateDevice(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEDEVICE pCreateDevice)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)hAdapter;
    struct seeds_context *device = (struct seeds_context *)seeds_allocate(sizeof(*device));

    if (!device)
        return STATUS_NO_MEMORY;
    device->adapter = adapter;
    device->dxgk_device = pCreateDevice->hDevice;
    if (!(adapter->config & SEEDS_CONFIG_MULTI)) {
        DXGK_DEVICEINFO *info = pCreateDevice->pInfo;

        describe_buffers(adapter, &info->DmaBufferSize, &info->DmaBufferSegmentSet,
                         &info->DmaBufferPrivateDataSize, &info->AllocationListSize,
                         &info->PatchLocationListSize);
    }
    pCreateDevice->hDevice = device;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsDestroyDevice(IN_CONST_HANDLE hDevice)
{
    seeds_free((PVOID)hDevice);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsCreateContext(IN_CONST_HANDLE hDevice,
                                  INOUT_PDXGKARG_CREATECONTEXT pCreateContext)
{
    const struct seeds_context *device = (const struct seeds_context *)hDevice;
    DXGK_CONTEXTINFO *info = &pCreateContext->ContextInfo;
    struct seeds_context *context = (struct seeds_context *)seeds_allocate(sizeof(*context));

    if (!context)
        return STATUS_NO_MEMORY;
    *context = *device;
    context->dxgk_context = pCreateContext->hContext;
    context->node = pCreateContext->NodeOrdinal;
    describe_buffers(device->adapter, &info->DmaBufferSize, &info->DmaBufferSegmentSet,
                     &info->DmaBufferPrivateDataSize, &info->AllocationListSize,
                     &info->PatchLocationListSize);
#if SEEDS_2_0
    context->is_virtual = pCreateContext->Flags.VirtualAddressing != 0;
    if (context->is_virtual) {
        info->DmaBufferSegmentSet = 0;
        info->Caps.NoPatchingRequired = !pCreateContext->Flags.SystemContext;
    }
    info->PagingCompanionNodeId = 1;
#endif
    if (pCreateContext->Flags.SystemContext)
        device->adapter->system_context = context;
    pCreateContext->hContext = context;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsDestroyContext(IN_CONST_HANDLE hContext)
{
    struct seeds_context *context = (struct seeds_context *)hContext;
    struct seeds_adapter *adapter = context->adapter;

    if (adapter->system_context == context)
        adapter->system_context = NULL;
    for (ULONG i = 0; i < SEEDS_BUFFERS; i++)
        if (adapter->buffer[i].owner == context)
            adapter->buffer[i].start = NULL; /* its DMA buffers are gone */
    seeds_free(context);
    return STATUS_SUCCESS;
}
