/* SPDX-License-Identifier: MIT */
/* Start and stop: the adapter's resources, its memory, and the programming of the registers. */
#include "driver.h"

void refgpu_write_register64(struct refgpu_adapter *adapter, ULONG reg, ULONGLONG value)
{
    refgpu_write_register(adapter, reg, (ULONG)value);
    refgpu_write_register(adapter, reg + 4u, (ULONG)(value >> 32));
}

ULONGLONG refgpu_read64(struct refgpu_adapter *adapter, ULONG reg)
{
    const ULONG low = refgpu_read(adapter, reg);

    return low | (ULONGLONG)refgpu_read(adapter, reg + 4u) << 32;
}

/* ---- registers ---- */

static void node_program(struct refgpu_node *node)
{
    struct refgpu_adapter *adapter = node->adapter;
    struct refgpu_fence_block *fence = (struct refgpu_fence_block *)adapter->fence_page.cpu +
                                       node->index;

    fence->completed = node->completed;
    fence->preempted = 0;
    refgpu_write_register64(adapter, REFGPU_REG_ENGINE(node->index, REFGPU_ENG_RING_LO),
                            refgpu_dma_page(&node->ring, 0));
    refgpu_write_register(adapter, REFGPU_REG_ENGINE(node->index, REFGPU_ENG_RING_SIZE),
                          REFGPU_RING_ENTRIES);
    refgpu_write_register64(adapter, REFGPU_REG_ENGINE(node->index, REFGPU_ENG_FENCE_LO),
                            refgpu_dma_page(&adapter->fence_page, 0) + node->index * sizeof *fence);
    refgpu_write_register(adapter, REFGPU_REG_ENGINE(node->index, REFGPU_ENG_COMPLETED),
                          node->completed);
    refgpu_write_register(adapter, REFGPU_REG_ENGINE(node->index, REFGPU_ENG_CONTROL),
                          REFGPU_ENG_CONTROL_ENABLE);
}

void refgpu_node_restart(struct refgpu_node *node)
{
    node->tail = 0;
    RtlZeroMemory((PVOID)node->slot_context, sizeof node->slot_context);
    RtlZeroMemory((PVOID)node->slot_fence, sizeof node->slot_fence);
    node_program(node);
}

void refgpu_hardware_start(struct refgpu_adapter *adapter)
{
    const ULONG pages = (ULONG)(adapter->log.bytes >> PAGE_SHIFT);

    refgpu_write_register(adapter, REFGPU_REG_CONTROL, REFGPU_CONTROL_RESET);
    RtlZeroMemory(adapter->gart, adapter->gart_pages * sizeof *adapter->gart);
    refgpu_write_register64(adapter, REFGPU_REG_GART_TABLE_LO, adapter->gart_table);
    refgpu_write_register(adapter, REFGPU_REG_GART_PAGES, adapter->gart_pages);
    for (ULONG i = 0; i < pages; i++)
        refgpu_write_register64(adapter, REFGPU_REG_LOG_PAGE + 8u * i,
                                refgpu_dma_page(&adapter->log, i));
    adapter->log_read = 0;
    refgpu_write_register(adapter, REFGPU_REG_LOG_CONTROL, pages);
    for (ULONG i = 0; i < REFGPU_NODES; i++)
        refgpu_node_restart(&adapter->node[i]);
    refgpu_scheduled_program(adapter);
    refgpu_display_program(adapter);
    adapter->powered = TRUE;
    refgpu_write_register(adapter, REFGPU_REG_IRQ_ENABLE, refgpu_causes(adapter));
}

void refgpu_hardware_stop(struct refgpu_adapter *adapter)
{
    adapter->powered = FALSE;
    refgpu_write_register(adapter, REFGPU_REG_CONTROL, REFGPU_CONTROL_RESET);
}

void refgpu_engines_stop(struct refgpu_adapter *adapter)
{
    adapter->powered = FALSE;
    refgpu_write_register(adapter, REFGPU_REG_IRQ_ENABLE, 0);
    for (ULONG i = 0; i < refgpu_nodes(adapter); i++)
        refgpu_write_register(adapter, REFGPU_REG_ENGINE(i, REFGPU_ENG_CONTROL),
                              REFGPU_ENG_CONTROL_RESET);
    refgpu_write_register(adapter, REFGPU_REG_LOG_CONTROL, 0);
    refgpu_write_register(adapter, REFGPU_REG_GART_PAGES, 0);
}

/* ---- resources ---- */

static ULONGLONG resource_bytes(const CM_PARTIAL_RESOURCE_DESCRIPTOR *resource)
{
    if (resource->Type == CmResourceTypeMemory)
        return resource->u.Memory.Length;
    if (resource->Type != CmResourceTypeMemoryLarge)
        return 0;
    if (resource->Flags & CM_RESOURCE_MEMORY_LARGE_40)
        return (ULONGLONG)resource->u.Memory40.Length40 << 8;
    if (resource->Flags & CM_RESOURCE_MEMORY_LARGE_48)
        return (ULONGLONG)resource->u.Memory48.Length48 << 16;
    return (ULONGLONG)resource->u.Memory64.Length64 << 32;
}

/* Find the register BAR and the VRAM BAR, which are distinguished by their order. */
static NTSTATUS find_bars(struct refgpu_adapter *adapter, PHYSICAL_ADDRESS *registers)
{
    DXGK_DEVICE_INFO info;
    const CM_PARTIAL_RESOURCE_LIST *list;
    ULONG found = 0;
    NTSTATUS status;

    RtlZeroMemory(&info, sizeof info);
    status = adapter->dxgk.DxgkCbGetDeviceInformation(adapter->dxgk.DeviceHandle, &info);
    if (!NT_SUCCESS(status))
        return status;
    if (!info.TranslatedResourceList || !info.TranslatedResourceList->Count)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    list = &info.TranslatedResourceList->List[0].PartialResourceList;
    for (ULONG i = 0; i < list->Count; i++) {
        const CM_PARTIAL_RESOURCE_DESCRIPTOR *resource = list->PartialDescriptors + i;
        const ULONGLONG bytes = resource_bytes(resource);

        if (!bytes)
            continue;
        if (found == 0 && bytes >= REFGPU_REGISTER_BYTES) {
            *registers = resource->u.Memory.Start;
        } else if (found == 1) {
            adapter->vram_bus = resource->u.Memory.Start;
            adapter->vram_bytes = bytes;
        }
        found++;
    }
    return found >= 2u ? STATUS_SUCCESS : STATUS_DEVICE_CONFIGURATION_ERROR;
}

static NTSTATUS map_hardware(struct refgpu_adapter *adapter)
{
    PHYSICAL_ADDRESS registers = {.QuadPart = 0};
    PHYSICAL_ADDRESS table;
    PVOID mapped = NULL;
    ULONGLONG table_bytes;
    ULONG features;
    NTSTATUS status = find_bars(adapter, &registers);

    if (!NT_SUCCESS(status))
        return status;
    status = adapter->dxgk.DxgkCbMapMemory(adapter->dxgk.DeviceHandle, registers,
                                           REFGPU_REGISTER_BYTES, FALSE, FALSE, MmNonCached,
                                           &mapped);
    if (!NT_SUCCESS(status))
        return status;
    adapter->registers = mapped;
    if (refgpu_read(adapter, REFGPU_REG_ID) != REFGPU_ID ||
        refgpu_read64(adapter, REFGPU_REG_VRAM_LO) != adapter->vram_bytes)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    features = refgpu_read(adapter, REFGPU_REG_FEATURES);
    adapter->no_execute = (features & REFGPU_FEATURE_NO_EXECUTE) != 0;
    adapter->display.outputs = REFGPU_FEATURE_OUTPUTS(features);
    if (adapter->display.outputs > REFGPU_OUTPUTS)
        adapter->display.outputs = REFGPU_OUTPUTS;
    /* The last part of VRAM contains the GART table and belongs to no segment. */
    adapter->gart_pages = refgpu_read(adapter, REFGPU_REG_GART_LIMIT);
    table_bytes = (adapter->gart_pages * sizeof *adapter->gart + 0xFFFFu) & ~0xFFFFull;
    if (table_bytes >= adapter->vram_bytes)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    adapter->vram_bytes -= table_bytes;
    adapter->gart_table = adapter->vram_bytes;
    table.QuadPart = adapter->vram_bus.QuadPart + (LONGLONG)adapter->gart_table;
    status = adapter->dxgk.DxgkCbMapMemory(adapter->dxgk.DeviceHandle, table, (ULONG)table_bytes,
                                           FALSE, FALSE, MmWriteCombined, &mapped);
    if (!NT_SUCCESS(status))
        return status;
    adapter->gart = mapped;
    return refgpu_display_start(adapter);
}

static void unmap_hardware(struct refgpu_adapter *adapter)
{
    PVOID registers = adapter->registers;

    refgpu_display_stop(adapter);
    if (adapter->gart)
        (void)adapter->dxgk.DxgkCbUnmapMemory(adapter->dxgk.DeviceHandle, adapter->gart);
    adapter->gart = NULL;
    adapter->registers = NULL; /* the ISR checks this first */
    if (registers)
        (void)adapter->dxgk.DxgkCbUnmapMemory(adapter->dxgk.DeviceHandle, registers);
}

static void free_memory(struct refgpu_adapter *adapter)
{
    for (ULONG i = 0; i < REFGPU_NODES; i++) {
        refgpu_dma_free(adapter, &adapter->node[i].ring);
        adapter->node[i].entries = NULL;
        adapter->node[i].fence = NULL;
    }
    refgpu_scheduled_free(adapter);
    refgpu_dma_free(adapter, &adapter->fence_page);
    refgpu_dma_free(adapter, &adapter->log);
}

static NTSTATUS allocate_memory(struct refgpu_adapter *adapter)
{
    /* The log first: allocating it shows how to allocate the rest. */
    NTSTATUS status = refgpu_dma_pages(adapter, REFGPU_LOG_PAGES * PAGE_SIZE, &adapter->log);

    if (NT_SUCCESS(status))
        status = refgpu_dma_contiguous(adapter, PAGE_SIZE, &adapter->fence_page);
    for (ULONG i = 0; NT_SUCCESS(status) && i < REFGPU_NODES; i++) {
        struct refgpu_node *node = &adapter->node[i];

        status = refgpu_dma_contiguous(adapter, REFGPU_RING_ENTRIES * REFGPU_ENTRY_BYTES,
                                       &node->ring);
        if (NT_SUCCESS(status)) {
            node->entries = node->ring.cpu;
            node->fence = (struct refgpu_fence_block *)adapter->fence_page.cpu + i;
        }
    }
    if (NT_SUCCESS(status))
        status = refgpu_scheduled_start(adapter);
    return status;
}

NTSTATUS NTAPI RefGpuStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                                 IN_PDXGK_START_INFO DxgkStartInfo,
                                 IN_PDXGKRNL_INTERFACE DxgkInterface,
                                 OUT_PULONG NumberOfVideoPresentSources, OUT_PULONG NumberOfChildren)
{
    struct refgpu_adapter *adapter = (struct refgpu_adapter *)MiniportDeviceContext;
    NTSTATUS status;

    adapter->dxgk = *DxgkInterface;
    adapter->start_info = *DxgkStartInfo;
    if (DxgkStartInfo->RequiredDmaQueueEntry >= REFGPU_RING_ENTRIES)
        return STATUS_NOT_SUPPORTED;
    for (ULONG i = 0; i < REFGPU_NODES; i++) {
        struct refgpu_node *node = &adapter->node[i];

        node->last_submitted = node->completed = node->preempt_fence = 0;
        node->reject_after = node->reject_fence = 0;
    }
    status = map_hardware(adapter);
    if (NT_SUCCESS(status))
        status = allocate_memory(adapter);
    if (NT_SUCCESS(status))
        status = refgpu_logger_start(adapter);
    if (!NT_SUCCESS(status)) {
        free_memory(adapter);
        unmap_hardware(adapter);
        return status;
    }
    refgpu_hardware_start(adapter);
    adapter->started = TRUE;
    *NumberOfVideoPresentSources = adapter->display.outputs;
    *NumberOfChildren = adapter->display.outputs;
    return STATUS_SUCCESS;
}

void refgpu_stop(struct refgpu_adapter *adapter)
{
    adapter->started = FALSE;
    refgpu_logger_stop(adapter);
    free_memory(adapter);
    unmap_hardware(adapter);
}

NTSTATUS NTAPI RefGpuStopDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    struct refgpu_adapter *adapter = (struct refgpu_adapter *)MiniportDeviceContext;

    if (!adapter->started)
        return STATUS_SUCCESS;
    refgpu_hardware_stop(adapter);
    refgpu_stop(adapter);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuSetPowerState(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG DeviceUid,
                                   IN_DEVICE_POWER_STATE DevicePowerState,
                                   IN_POWER_ACTION ActionType)
{
    struct refgpu_adapter *adapter = (struct refgpu_adapter *)MiniportDeviceContext;

    (void)ActionType;
    if (DeviceUid != DISPLAY_ADAPTER_HW_ID || !adapter->started)
        return STATUS_SUCCESS;
    if (DevicePowerState == PowerDeviceD0) {
        if (!adapter->powered)
            refgpu_hardware_start(adapter);
    } else if (adapter->powered) {
        refgpu_log_drain(adapter);
        refgpu_hardware_stop(adapter);
    }
    return STATUS_SUCCESS;
}
