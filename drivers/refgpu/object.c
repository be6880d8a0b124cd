/* SPDX-License-Identifier: MIT */
/* Processes, devices, contexts. A virtual context has a save area, in which the copy engine saves
 * interrupted work. */
#include "driver.h"

/* Save areas are in this window of a process's GPU virtual address space unless the client narrows
 * it. */
#define SAVE_WINDOW_START 0x0000000100000000ull
#define SAVE_WINDOW_END   0x0000400000000000ull

NTSTATUS NTAPI RefGpuCreateProcess(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEPROCESS pArgs)
{
    struct refgpu_process *process = refgpu_allocate(sizeof *process);

    if (!process)
        return STATUS_NO_MEMORY;
    process->id = (ULONG)InterlockedIncrement(
        &((struct refgpu_adapter *)(ULONG_PTR)hAdapter)->processes);
    process->dxgk_process = pArgs->hDxgkProcess;
    process->system = pArgs->Flags.SystemProcess != 0;
    pArgs->hKmdProcess = process;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuDestroyProcess(IN_CONST_HANDLE hAdapter, IN_CONST_HANDLE hKmdProcess)
{
    (void)hAdapter;
    refgpu_free((PVOID)hKmdProcess);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuCreateDevice(IN_CONST_HANDLE hAdapter,
                                  INOUT_PDXGKARG_CREATEDEVICE pCreateDevice)
{
    struct refgpu_device *device = refgpu_allocate(sizeof *device);

    if (!device)
        return STATUS_NO_MEMORY;
    device->adapter = hAdapter;
    device->process = pCreateDevice->hKmdProcess;
    device->dxgk_device = pCreateDevice->hDevice;
    pCreateDevice->hDevice = device;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuDestroyDevice(IN_CONST_HANDLE hDevice)
{
    refgpu_free((PVOID)hDevice);
    return STATUS_SUCCESS;
}

/* ---- contexts ---- */

static NTSTATUS create_save_area(struct refgpu_context *context,
                                 const struct refgpu_context_data *data)
{
    struct refgpu_adapter *adapter = context->device->adapter;
    const ULONGLONG below = data->save_below;
    DXGKARGCB_CREATECONTEXTALLOCATION create;
    DXGKARGCB_MAPCONTEXTALLOCATION map;
    NTSTATUS status;

    RtlZeroMemory(&create, sizeof create);
    create.ContextAllocationFlags.MapGpuVirtualAddress = 1;
    create.hAdapter = adapter->dxgk.DeviceHandle;
    create.hDevice = context->device->dxgk_device;
    create.hContext = context->dxgk_context;
    create.hDriverAllocation = context;
    create.Size = REFGPU_SAVE_BYTES;
    create.Alignment = REFGPU_SAVE_BYTES;
    create.SupportedSegmentSet = 1u << (REFGPU_SEGMENT_VRAM - 1u) |
                                 1u << (REFGPU_SEGMENT_APERTURE - 1u);
    create.PreferredSegment.SegmentId0 = REFGPU_SEGMENT_VRAM;
    create.PreferredSegment.SegmentId1 = REFGPU_SEGMENT_APERTURE;
    status = adapter->dxgk.DxgkCbCreateContextAllocation(&create);
    if (!NT_SUCCESS(status))
        return status;
    context->save_allocation = create.hAllocation;

    RtlZeroMemory(&map, sizeof map);
    map.MinimumAddress = SAVE_WINDOW_START;
    map.MaximumAddress = SAVE_WINDOW_END;
    if (below) {
        map.MaximumAddress = below;
        if (below <= SAVE_WINDOW_START)
            map.MinimumAddress = 0;
    }
    map.hAllocation = context->save_allocation;
    map.SizeInPages = REFGPU_SAVE_BYTES / PAGE_SIZE;
    map.Protection.Write = 1;
    map.Protection.Execute = (data->flags & REFGPU_CONTEXT_EXECUTABLE_SAVE_AREA) != 0;
    context->save = adapter->dxgk.DxgkCbMapContextAllocation(adapter->dxgk.DeviceHandle, &map);
    if (context->save)
        return STATUS_SUCCESS;
    (void)adapter->dxgk.DxgkCbDestroyContextAllocation(adapter->dxgk.DeviceHandle,
                                                       context->save_allocation);
    context->save_allocation = NULL;
    return STATUS_NO_MEMORY;
}

static void destroy_save_area(const struct refgpu_context *context)
{
    struct refgpu_adapter *adapter = context->device->adapter;

    if (context->save_allocation)
        (void)adapter->dxgk.DxgkCbDestroyContextAllocation(adapter->dxgk.DeviceHandle,
                                                           context->save_allocation);
}

/* The client's private data, if any; else defaults. */
static NTSTATUS context_data(const DXGKARG_CREATECONTEXT *args, struct refgpu_context_data *data)
{
    RtlZeroMemory(data, sizeof *data);
    if (!args->PrivateDriverDataSize)
        return STATUS_SUCCESS;
    if (args->PrivateDriverDataSize < sizeof *data)
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(data, args->pPrivateDriverData, sizeof *data);
    if (data->magic != REFGPU_UMD_MAGIC ||
        (data->flags & ~(REFGPU_CONTEXT_NO_SAVE_AREA | REFGPU_CONTEXT_EXECUTABLE_SAVE_AREA)) ||
        (data->save_below & (PAGE_SIZE - 1u)))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

static void context_info(const struct refgpu_context *context, DXGK_CONTEXTINFO *info)
{
    info->DmaBufferPrivateDataSize = REFGPU_PRIVATE_BYTES;
    info->PagingCompanionNodeId = REFGPU_NODE_COPY;
    if (context->virtual_addressing && !context->system) {
        info->DmaBufferSize = PAGE_SIZE;
        info->DmaBufferSegmentSet = 1u << (REFGPU_SEGMENT_APERTURE - 1);
        info->AllocationListSize = 16;
        info->Caps.NoPatchingRequired = 1;
        return;
    }
    info->DmaBufferSize = REFGPU_DMA_BUFFER;
    info->AllocationListSize = 256;
    info->PatchLocationListSize = 2048;
}

NTSTATUS NTAPI RefGpuCreateContext(IN_CONST_HANDLE hDevice,
                                   INOUT_PDXGKARG_CREATECONTEXT pCreateContext)
{
    struct refgpu_device *device = hDevice;
    struct refgpu_context_data data;
    struct refgpu_context *context;
    NTSTATUS status;

    if (pCreateContext->NodeOrdinal >= refgpu_nodes(device->adapter) ||
        (pCreateContext->NodeOrdinal == REFGPU_NODE_SCHEDULED) !=
            (pCreateContext->Flags.HwQueueSupported != 0))
        return STATUS_INVALID_PARAMETER;
    status = context_data(pCreateContext, &data);
    if (!NT_SUCCESS(status))
        return status;
    context = refgpu_allocate(sizeof *context);
    if (!context)
        return STATUS_NO_MEMORY;
    context->device = device;
    context->node = pCreateContext->NodeOrdinal;
    context->system = pCreateContext->Flags.SystemContext != 0;
    context->virtual_addressing = pCreateContext->Flags.VirtualAddressing != 0;
    context->dxgk_context = pCreateContext->hContext;
    context->id = (ULONG)InterlockedIncrement(&device->adapter->contexts);
    if (context->virtual_addressing && !context->system &&
        !(data.flags & REFGPU_CONTEXT_NO_SAVE_AREA)) {
        status = create_save_area(context, &data);
        if (!NT_SUCCESS(status)) {
            refgpu_free(context);
            return status;
        }
    }
    if (context->node == REFGPU_NODE_SCHEDULED) {
        status = refgpu_scheduled_add(context);
        if (!NT_SUCCESS(status)) {
            destroy_save_area(context);
            refgpu_free(context);
            return status;
        }
    }
    context_info(context, &pCreateContext->ContextInfo);
    pCreateContext->hContext = context;
    return STATUS_SUCCESS;
}

/* A destroyed context must no longer be reachable through the rings. */
static BOOLEAN NTAPI forget_context(PVOID argument)
{
    struct refgpu_context *context = argument;
    struct refgpu_node *node = &context->device->adapter->node[context->node];

    /* Another context's packet may be taking a slot right now. */
    for (ULONG i = 0; i < REFGPU_RING_ENTRIES; i++)
        (void)InterlockedCompareExchangePointer((PVOID volatile *)&node->slot_context[i], NULL,
                                                context);
    return TRUE;
}

NTSTATUS NTAPI RefGpuDestroyContext(IN_CONST_HANDLE hContext)
{
    struct refgpu_context *context = (struct refgpu_context *)hContext;
    refgpu_scheduled_remove(context);
    destroy_save_area(context);
    if (context->node < REFGPU_NODES)
        (void)refgpu_synchronize(context->device->adapter, forget_context, context);
    refgpu_free(context);
    return STATUS_SUCCESS;
}

/* ---- address spaces ---- */

void NTAPI RefGpuSetRootPageTable(IN_CONST_HANDLE hAdapter,
                                  IN_CONST_PDXGKARG_SETROOTPAGETABLE pSetPageTable)
{
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_context *context = pSetPageTable->hContext;
    DXGKARGCB_UPDATECONTEXTALLOCATION args;
    struct refgpu_update update;
    NTSTATUS status;

    if (pSetPageTable->Address.SegmentId != REFGPU_SEGMENT_VRAM) {
        DbgPrintEx(DPFLTR_IHVVIDEO_ID, DPFLTR_ERROR_LEVEL, "refgpu: root table in segment %u\n",
                   pSetPageTable->Address.SegmentId);
        return;
    }
    context->root = pSetPageTable->Address.SegmentOffset;
    context->root_known = TRUE;
    if (context->system)
        refgpu_scheduled_log_root(adapter, context->root);
    refgpu_scheduled_tell(context);
    if (!context->save_allocation)
        return;
    /* Lets tools that inspect a save area find its context. */
    update.offset = REFGPU_SAVE_ROOT_OFFSET;
    update.count = 2;
    update.value[0] = context->id;
    update.value[1] = context->root;
    RtlZeroMemory(&args, sizeof args);
    args.hAllocation = context->save_allocation;
    args.pPrivateDriverData = &update;
    args.PrivateDriverDataSize = sizeof update;
    status = adapter->dxgk.DxgkCbUpdateContextAllocation(adapter->dxgk.DeviceHandle, &args);
    if (status == STATUS_UNSUCCESSFUL) /* an adapter reset happened meanwhile */
        status = adapter->dxgk.DxgkCbUpdateContextAllocation(adapter->dxgk.DeviceHandle, &args);
    if (!NT_SUCCESS(status))
        DbgPrintEx(DPFLTR_IHVVIDEO_ID, DPFLTR_WARNING_LEVEL,
                   "refgpu: context %u: save area not updated: %08X\n", context->id, (ULONG)status);
}

/* All levels have the same size. */
SIZE_T NTAPI RefGpuGetRootPageTableSize(IN_CONST_HANDLE hAdapter,
                                        INOUT_PDXGKARG_GETROOTPAGETABLESIZE pArgs)
{
    (void)hAdapter;
    pArgs->NumberOfPte = REFGPU_TABLE_ENTRIES;
    return REFGPU_TABLE_BYTES;
}
