/* SPDX-License-Identifier: MIT */
#include "driver.h"

#define CONTEXTS_BYTES (REFGPU_SCHED_CONTEXTS * (ULONG)sizeof(struct refgpu_context_descriptor))
#define TABLES_BYTES   0x10000u /* for both: a power of two (dma.c) */
#define QUEUES_BYTES   (REFGPU_SCHED_QUEUES * (ULONG)sizeof(struct refgpu_queue_descriptor))

ULONG refgpu_nodes(const struct refgpu_adapter *adapter)
{
    return REFGPU_NODES + (adapter->scheduled.on ? 1u : 0u);
}

ULONG refgpu_paging_node(const struct refgpu_adapter *adapter)
{
    return adapter->scheduled.on && refgpu_settings.hardware_scheduling == 2u
               ? REFGPU_NODE_SCHEDULED
               : REFGPU_NODE_COPY;
}

ULONG refgpu_causes(const struct refgpu_adapter *adapter)
{
    return REFGPU_IRQ_ALL | (adapter->scheduled.on ? REFGPU_IRQ_SCHED_ALL : 0u) |
           (adapter->display.outputs ? REFGPU_IRQ_DISPLAY_ALL : 0u);
}

/* ---- start and stop ---- */

/* The host has the last word (hardware scheduling may be switched off in the system). */
static BOOLEAN is_granted(struct refgpu_adapter *adapter)
{
    DXGKARGCB_QUERYFEATURESUPPORT args;

    RtlZeroMemory(&args, sizeof args);
    args.DeviceHandle = adapter->dxgk.DeviceHandle;
    args.FeatureId = DXGK_FEATURE_HWSCH;
    args.DriverSupportState = DXGK_FEATURE_SUPPORT_STABLE;
    return NT_SUCCESS(adapter->dxgk.DxgkCbQueryFeatureSupport(&args)) && args.Enabled;
}

NTSTATUS refgpu_scheduled_start(struct refgpu_adapter *adapter)
{
    struct refgpu_scheduled *s = &adapter->scheduled;
    NTSTATUS status;

    s->on = refgpu_settings.hardware_scheduling &&
            refgpu_read(adapter, REFGPU_REG_SCHED_VERSION) >> 16 == REFGPU_SCHED_VERSION >> 16 &&
            is_granted(adapter);
    if (!s->on)
        return STATUS_SUCCESS;
    KeInitializeMutex(&s->memory_lock, 0);
    RtlZeroMemory(s->context, sizeof s->context);
    RtlZeroMemory(s->queue, sizeof s->queue);
    RtlZeroMemory(s->band, sizeof s->band);
    RtlZeroMemory(&s->log, sizeof s->log);
    s->normal_share = 0;
    status = refgpu_dma_contiguous(adapter, TABLES_BYTES, &s->memory);
    if (!NT_SUCCESS(status))
        return status;
    s->contexts = s->memory.cpu;
    s->queues = (struct refgpu_queue_descriptor *)(PVOID)((PUCHAR)s->memory.cpu + CONTEXTS_BYTES);
    return STATUS_SUCCESS;
}

void refgpu_scheduled_free(struct refgpu_adapter *adapter)
{
    if (adapter->scheduled.on)
        refgpu_dma_free(adapter, &adapter->scheduled.memory);
    adapter->scheduled.on = FALSE;
}

/* ---- registers ---- */

static void program_bands(struct refgpu_adapter *adapter)
{
    struct refgpu_scheduled *s = &adapter->scheduled;

    for (ULONG band = 0; band < REFGPU_SCHED_BANDS; band++)
        for (ULONG i = 0; i < 3u; i++)
            refgpu_write_register(adapter, REFGPU_REG_SCHED_BAND(band, i * 4u), s->band[band][i]);
    refgpu_write_register(adapter, REFGPU_REG_SCHED_NORMAL_SHARE, s->normal_share);
}

/* The device goes on where the header says. */
static void program_log(struct refgpu_adapter *adapter)
{
    const struct refgpu_scheduled *s = &adapter->scheduled;

    refgpu_write_register(adapter, REFGPU_REG_SCHED_LOG_ENTRIES, 0);
    refgpu_write_register64(adapter, REFGPU_REG_SCHED_LOG_LO, s->log.LogBufferGpuVa);
    refgpu_write_register64(adapter, REFGPU_REG_SCHED_LOG_ROOT_LO, s->log_root);
    refgpu_write_register(adapter, REFGPU_REG_SCHED_LOG_NOTICE, s->log.InterruptEntry);
    refgpu_write_register(adapter, REFGPU_REG_SCHED_LOG_ENTRIES, s->log.NumberOfEntries);
}

void refgpu_scheduled_log_root(struct refgpu_adapter *adapter, ULONGLONG root)
{
    adapter->scheduled.log_root = root;
    if (adapter->scheduled.on && adapter->powered)
        program_log(adapter);
}

NTSTATUS NTAPI RefGpuSetSchedulingLogBuffer(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_SETSCHEDULINGLOGBUFFER pSetSchedulingLogBuffer)
{
    struct refgpu_adapter *adapter = hAdapter;

    if (pSetSchedulingLogBuffer->NodeOrdinal != REFGPU_NODE_SCHEDULED)
        return STATUS_INVALID_PARAMETER;
    adapter->scheduled.log = *pSetSchedulingLogBuffer;
    if (adapter->powered)
        program_log(adapter);
    return STATUS_SUCCESS;
}

void refgpu_scheduled_program(struct refgpu_adapter *adapter)
{
    struct refgpu_scheduled *s = &adapter->scheduled;

    if (!s->on)
        return;
    refgpu_write_register64(adapter, REFGPU_REG_SCHED_CONTEXTS_LO, refgpu_dma_page(&s->memory, 0));
    refgpu_write_register64(adapter, REFGPU_REG_SCHED_QUEUES_LO,
                            refgpu_dma_page(&s->memory, CONTEXTS_BYTES >> PAGE_SHIFT));
    program_bands(adapter);
    program_log(adapter);
    refgpu_write_register(adapter, REFGPU_REG_ENGINE(REFGPU_ENGINE_SCHEDULED, REFGPU_ENG_CONTROL),
                          REFGPU_ENG_CONTROL_ENABLE);
}

void refgpu_scheduled_command(struct refgpu_adapter *adapter, ULONG opcode, ULONG index)
{
    KeMemoryBarrier();
    if (adapter->powered)
        refgpu_write_register(adapter, REFGPU_REG_SCHED_COMMAND,
                              REFGPU_SCHED_COMMAND(opcode, index));
}

/* ---- debug information ---- */

struct scheduled_info {
    ULONG status, running, aborted, switches, offset, fault_info;
    ULONGLONG fault_address, submitted, faults;
};

void refgpu_scheduled_collect(struct refgpu_adapter *adapter, PVOID buffer, SIZE_T room)
{
    const ULONG e = REFGPU_ENGINE_SCHEDULED;
    struct scheduled_info info;

    if (!adapter->scheduled.on || room < sizeof info)
        return;
    RtlZeroMemory(&info, sizeof info);
    info.status = refgpu_read(adapter, REFGPU_REG_ENGINE(e, REFGPU_ENG_STATUS));
    info.running = refgpu_read(adapter, REFGPU_REG_SCHED_RUNNING);
    info.aborted = refgpu_read(adapter, REFGPU_REG_SCHED_ABORTED);
    info.switches = refgpu_read(adapter, REFGPU_REG_SCHED_SWITCHES);
    info.offset = refgpu_read(adapter, REFGPU_REG_ENGINE(e, REFGPU_ENG_OFFSET));
    info.fault_info = refgpu_read(adapter, REFGPU_REG_ENGINE(e, REFGPU_ENG_FAULT_INFO));
    info.fault_address = refgpu_read64(adapter, REFGPU_REG_ENGINE(e, REFGPU_ENG_FAULT_ADDR_LO));
    info.submitted = (ULONGLONG)adapter->scheduled.submitted;
    info.faults = adapter->scheduled.faults;
    RtlCopyMemory(buffer, &info, sizeof info);
}

/* ---- priorities ---- */

void refgpu_scheduled_first(struct refgpu_context_descriptor *descriptor)
{
    descriptor->band = REFGPU_BAND_REALTIME;
    descriptor->level = 31;
}

/* Nanoseconds of units of 100 ns. */
static ULONG ns(UINT64 units)
{
    return units < 0xFFFFFFFFu / 100u ? (ULONG)units * 100u : 0xFFFFFFFFu;
}

NTSTATUS NTAPI RefGpuSetupPriorityBands(IN_CONST_HANDLE hAdapter,
                                        IN_CONST_PDXGKARG_SETUPPRIORITYBANDS pSetupPriorityBands)
{
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_scheduled *s = &adapter->scheduled;

    for (ULONG i = 0; i < REFGPU_SCHED_BANDS; i++) {
        s->band[i][0] = ns(pSetupPriorityBands->gracePeriodForBand[i]);
        s->band[i][1] = ns(pSetupPriorityBands->processQuantumForBand[i]);
        s->band[i][2] = ns(pSetupPriorityBands->processGracePeriodForBand[i]);
    }
    s->normal_share = pSetupPriorityBands->targetNormalBandPercentage;
    if (s->on && adapter->powered)
        program_bands(adapter);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuSetContextSchedulingProperties(
    IN_CONST_HANDLE hAdapter,
    IN_CONST_PDXGKARG_SETCONTEXTSCHEDULINGPROPERTIES pSetContextSchedulingProperties)
{
    const DXGKARG_SETCONTEXTSCHEDULINGPROPERTIES *args = pSetContextSchedulingProperties;
    struct refgpu_adapter *adapter = hAdapter;
    const struct refgpu_context *context = args->hContext;
    struct refgpu_context_descriptor *d;

    if (!context->schedule.on || (ULONG)args->priorityBand >= REFGPU_SCHED_BANDS)
        return STATUS_INVALID_PARAMETER;
    d = &adapter->scheduled.contexts[context->schedule.slot];
    d->band = (uint16_t)args->priorityBand;
    if (context->system)
        refgpu_scheduled_first(d);
    else
        d->level = (uint16_t)(args->priorityBand == DXGK_SCHEDULING_PRIORITY_BAND_REALTIME
                                  ? args->realtimeBandPriorityLevel & 31
                                  : 0);
    d->priority = args->inProcessPriority;
    d->quantum = ns(args->quantum);
    d->grace_same = ns(args->gracePeriodSamePriority);
    d->grace_lower = ns(args->gracePeriodLowerPriority);
    refgpu_scheduled_command(adapter, REFGPU_SCHED_COMMAND_CONTEXT, context->schedule.slot);
    return STATUS_SUCCESS;
}

/* ---- submission ---- */

/* The client's private data of a command for a queue; those of packets are checked when they are
 * submitted. */
NTSTATUS NTAPI RefGpuValidateSubmitCommand(IN_CONST_HANDLE hContext,
                                           INOUT_PDXGKARG_VALIDATESUBMITCOMMAND pArgs)
{
    struct refgpu_submit_data data;

    (void)hContext;
    if (!pArgs->Flags.HardwareQueueSubmission)
        return STATUS_SUCCESS;
    if (pArgs->UmdPrivateDataSize < sizeof data)
        return STATUS_INVALID_USER_BUFFER;
    RtlCopyMemory(&data, pArgs->pPrivateDriverData, sizeof data);
    return data.magic == REFGPU_UMD_MAGIC && !data.flags ? STATUS_SUCCESS
                                                         : STATUS_INVALID_USER_BUFFER;
}

NTSTATUS NTAPI RefGpuSubmitCommandToHwQueue(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_SUBMITCOMMANDTOHWQUEUE pSubmitCommandToHwQueue)
{
    const DXGKARG_SUBMITCOMMANDTOHWQUEUE *args = pSubmitCommandToHwQueue;
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_queue *queue = args->hHwQueue;
    struct refgpu_queue_entry *entry = &queue->entries[queue->tail];
    const ULONG next = (queue->tail + 1u) & (REFGPU_QUEUE_ENTRIES - 1u);

    /* What is wrong with the commands the device finds. */
    entry->address = args->DmaBufferVirtualAddress;
    entry->bytes = args->Flags.NullRendering ? 0 : args->DmaBufferSize;
    entry->flags = REFGPU_QUEUE_ENTRY_INTERRUPT;
    if (queue->context->system)
        entry->flags |= REFGPU_QUEUE_ENTRY_PRIVILEGED;
    entry->value = args->HwQueueProgressFenceId;
    entry->reserved = 0;
    queue->tail = next;
    (void)InterlockedIncrement64(&adapter->scheduled.submitted);
    KeMemoryBarrier();
    adapter->scheduled.queues[queue->slot].tail = next;
    KeMemoryBarrier();
    if (adapter->powered)
        refgpu_write_register(adapter, REFGPU_REG_SCHED_DOORBELL(queue->slot), 1);
    return STATUS_SUCCESS;
}
