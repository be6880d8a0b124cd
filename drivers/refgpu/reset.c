/* SPDX-License-Identifier: MIT */
/*
 * Recovery: resets of single engines and of the adapter, silence while the IOMMU domain changes,
 * and the debug report. After a reset the fence register and block are set to the value reported to
 * the host, so that no older value is taken for progress.
 */
#include "driver.h"

static ULONG engine_read(const struct refgpu_node *node, ULONG reg)
{
    return refgpu_read(node->adapter, REFGPU_REG_ENGINE(node->index, reg));
}

/* The engines share nothing that a reset would affect. */
NTSTATUS NTAPI RefGpuQueryDependentEngineGroup(
    IN_CONST_HANDLE hAdapter, INOUT_DXGKARG_QUERYDEPENDENTENGINEGROUP pQueryDependentEngineGroup)
{
    const UINT node = pQueryDependentEngineGroup->NodeOrdinal;

    if (node >= refgpu_nodes(hAdapter))
        return STATUS_INVALID_PARAMETER;
    pQueryDependentEngineGroup->DependentNodeOrdinalMask = 1ull << node;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuQueryEngineStatus(IN_CONST_HANDLE hAdapter,
                                       INOUT_PDXGKARG_QUERYENGINESTATUS pQueryEngineStatus)
{
    struct refgpu_adapter *adapter = hAdapter;
    ULONG status;

    if (pQueryEngineStatus->NodeOrdinal >= refgpu_nodes(adapter))
        return STATUS_INVALID_PARAMETER;
    status = refgpu_read(adapter,
                         REFGPU_REG_ENGINE(pQueryEngineStatus->NodeOrdinal, REFGPU_ENG_STATUS));
    pQueryEngineStatus->EngineStatus.Value = 0;
    pQueryEngineStatus->EngineStatus.Responsive = (status & (REFGPU_ENG_STATUS_HALTED |
                                                             REFGPU_ENG_STATUS_HUNG |
                                                             REFGPU_ENG_STATUS_PREEMPT)) == 0;
    return STATUS_SUCCESS;
}

struct engine_reset {
    struct refgpu_node *node;
    ULONG aborted;
};

static BOOLEAN NTAPI reset_engine(PVOID context)
{
    struct engine_reset *reset = context;
    struct refgpu_node *node = reset->node;
    ULONG completed;

    refgpu_write_register(node->adapter, REFGPU_REG_ENGINE(node->index, REFGPU_ENG_CONTROL),
                          REFGPU_ENG_CONTROL_RESET);
    reset->aborted = engine_read(node, REFGPU_ENG_ABORTED);
    completed = refgpu_completed(node, reset->aborted ? node->completed
                                                      : engine_read(node, REFGPU_ENG_COMPLETED));
    /* It had completed after all; or it was reported as faulted, and packets behind it were refused
     * since, which completed them. */
    if (!reset->aborted || refgpu_later(completed, reset->aborted))
        reset->aborted = completed;
    node->completed = reset->aborted;
    node->preempt_fence = 0;
    refgpu_node_restart(node);
    return TRUE;
}

NTSTATUS NTAPI RefGpuResetEngine(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_RESETENGINE pResetEngine)
{
    struct refgpu_adapter *adapter = hAdapter;
    struct engine_reset reset;
    NTSTATUS status;

    if (pResetEngine->NodeOrdinal >= REFGPU_NODES)
        return STATUS_INVALID_PARAMETER;
    reset.node = &adapter->node[pResetEngine->NodeOrdinal];
    reset.aborted = 0;
    status = refgpu_synchronize(adapter, reset_engine, &reset);
    if (!NT_SUCCESS(status))
        return status;
    pResetEngine->LastAbortedFenceId = reset.aborted;
    refgpu_log_drain(adapter);
    return STATUS_SUCCESS;
}

/* ---- the whole adapter ---- */

static BOOLEAN NTAPI stop_adapter(PVOID context)
{
    struct refgpu_adapter *adapter = context;

    refgpu_hardware_stop(adapter);
    for (ULONG i = 0; i < REFGPU_NODES; i++) {
        adapter->node[i].completed = adapter->node[i].last_submitted;
        adapter->node[i].preempt_fence = 0;
        adapter->node[i].reject_fence = 0;
    }
    refgpu_scheduled_empty(adapter);
    return TRUE;
}

NTSTATUS NTAPI RefGpuResetFromTimeout(IN_CONST_HANDLE hAdapter)
{
    struct refgpu_adapter *adapter = hAdapter;

    refgpu_log_drain(adapter);
    return refgpu_synchronize(adapter, stop_adapter, adapter);
}

NTSTATUS NTAPI RefGpuRestartFromTimeout(IN_CONST_HANDLE hAdapter)
{
    refgpu_hardware_start((struct refgpu_adapter *)hAdapter);
    return STATUS_SUCCESS;
}

/* ---- exclusive access: idle engines touch nothing, and nothing happens that would be logged
 * ---- */

NTSTATUS NTAPI RefGpuBeginExclusiveAccess(IN_CONST_HANDLE hAdapter,
                                          IN_PDXGKARG_BEGINEXCLUSIVEACCESS pBeginExclusiveAccess)
{
    struct refgpu_adapter *adapter = hAdapter;

    (void)pBeginExclusiveAccess;
    refgpu_log_drain(adapter);
    refgpu_write_register(adapter, REFGPU_REG_IRQ_ENABLE, 0);
    for (ULONG i = 0; i < refgpu_nodes(adapter); i++) {
        if (refgpu_read(adapter, REFGPU_REG_ENGINE(i, REFGPU_ENG_STATUS)) & REFGPU_ENG_STATUS_BUSY) {
            refgpu_write_register(adapter, REFGPU_REG_IRQ_ENABLE, refgpu_causes(adapter));
            return STATUS_DEVICE_BUSY;
        }
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuEndExclusiveAccess(IN_CONST_HANDLE hAdapter,
                                        IN_PDXGKARG_ENDEXCLUSIVEACCESS pEndExclusiveAccess)
{
    struct refgpu_adapter *adapter = hAdapter;

    (void)pEndExclusiveAccess;
    refgpu_write_register(adapter, REFGPU_REG_IRQ_ENABLE, refgpu_causes(adapter));
    return STATUS_SUCCESS;
}

/* ---- debug information ---- */

struct debug_info {
    ULONG magic, reason;
    ULONG irq_status, irq_enable;
    struct {
        ULONG status, head, tail, completed, current, offset, fault_info, fault_fence,
            last_submitted, reported;
        ULONGLONG fault_address;
    } node[REFGPU_NODES];
};

NTSTATUS NTAPI RefGpuCollectDbgInfo(IN_CONST_HANDLE hAdapter,
                                    IN_CONST_PDXGKARG_COLLECTDBGINFO pCollectDbgInfo)
{
    struct refgpu_adapter *adapter = hAdapter;
    struct debug_info info;

    if (pCollectDbgInfo->BufferSize < sizeof info)
        return STATUS_NO_MEMORY;
    if (!adapter->registers)
        return STATUS_UNSUCCESSFUL;
    RtlZeroMemory(&info, sizeof info);
    info.magic = REFGPU_TAG;
    info.reason = pCollectDbgInfo->Reason;
    info.irq_status = refgpu_read(adapter, REFGPU_REG_IRQ_STATUS);
    info.irq_enable = refgpu_read(adapter, REFGPU_REG_IRQ_ENABLE);
    for (ULONG i = 0; i < REFGPU_NODES; i++) {
        const struct refgpu_node *node = &adapter->node[i];

        info.node[i].status = engine_read(node, REFGPU_ENG_STATUS);
        info.node[i].head = engine_read(node, REFGPU_ENG_HEAD);
        info.node[i].tail = engine_read(node, REFGPU_ENG_TAIL);
        info.node[i].completed = engine_read(node, REFGPU_ENG_COMPLETED);
        info.node[i].current = engine_read(node, REFGPU_ENG_CURRENT);
        info.node[i].offset = engine_read(node, REFGPU_ENG_OFFSET);
        info.node[i].fault_info = engine_read(node, REFGPU_ENG_FAULT_INFO);
        info.node[i].fault_fence = engine_read(node, REFGPU_ENG_FAULT_FENCE);
        info.node[i].fault_address = refgpu_read64(adapter,
                                                   REFGPU_REG_ENGINE(i, REFGPU_ENG_FAULT_ADDR_LO));
        info.node[i].last_submitted = node->last_submitted;
        info.node[i].reported = node->completed;
        if (info.node[i].status & REFGPU_ENG_STATUS_BUSY)
            pCollectDbgInfo->pExtension->CurrentDmaBufferOffset = info.node[i].offset;
    }
    pCollectDbgInfo->pExtension->BucketingKey = info.node[0].status << 16 | info.node[1].status;
    RtlCopyMemory(pCollectDbgInfo->pBuffer, &info, sizeof info);
    refgpu_scheduled_collect(adapter, (PUCHAR)pCollectDbgInfo->pBuffer + sizeof info,
                             pCollectDbgInfo->BufferSize - sizeof info);
    return STATUS_SUCCESS;
}
