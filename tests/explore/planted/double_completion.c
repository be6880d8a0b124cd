/* SPDX-License-Identifier: MIT */
/* A short cut: submission looks whether the packet is done already, and says so itself. The ISR does not know that, and says
 * it again. */
#include "plant.h"

struct short_cut {
    struct refgpu_node *node;
    ULONG fence;
};

static BOOLEAN NTAPI report_done(PVOID context)
{
    const struct short_cut *cut = context;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (cut->node->fence->completed != cut->fence || cut->node->completed == cut->fence)
        return FALSE;
    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = cut->fence;
    data.DmaCompleted.NodeOrdinal = cut->node->index;
    dxgk.DxgkCbNotifyInterrupt(dxgk.DeviceHandle, &data);
    (void)dxgk.DxgkCbQueueDpc(dxgk.DeviceHandle);
    return TRUE;
}

static NTSTATUS NTAPI submit_command(IN_CONST_HANDLE adapter,
                                     IN_CONST_PDXGKARG_SUBMITCOMMAND arguments)
{
    const NTSTATUS status = reference.DxgkDdiSubmitCommand(adapter, arguments);
    struct short_cut cut;

    if (!NT_SUCCESS(status))
        return status;
    cut.node = &((struct refgpu_adapter *)adapter)->node[arguments->NodeOrdinal];
    cut.fence = arguments->SubmissionFenceId;
    KeStallExecutionProcessor(1);
    (void)refgpu_synchronize(adapter, report_done, &cut);
    return status;
}

void plant(DRIVER_INITIALIZATION_DATA *table)
{
    table->DxgkDdiSubmitCommand = submit_command;
}
