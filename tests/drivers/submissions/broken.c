/* SPDX-License-Identifier: MIT */
/*
 * The reference miniport with one mistake in how it submits, reports, preempts or resets: here those
 * in what it notifies. It notifies through callbacks that change what the miniport says of node 0;
 * the first completion is left as it is.
 */
#include "submissions/broken.h"

#include "service_value.h"

NTSTATUS NTAPI __real_RefGpuStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                                        IN_PDXGK_START_INFO DxgkStartInfo,
                                        IN_PDXGKRNL_INTERFACE DxgkInterface,
                                        OUT_PULONG NumberOfVideoPresentSources,
                                        OUT_PULONG NumberOfChildren);
NTSTATUS NTAPI __wrap_RefGpuStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                                        IN_PDXGK_START_INFO DxgkStartInfo,
                                        IN_PDXGKRNL_INTERFACE DxgkInterface,
                                        OUT_PULONG NumberOfVideoPresentSources,
                                        OUT_PULONG NumberOfChildren);
void NTAPI __real_RefGpuDpcRoutine(IN_CONST_PVOID MiniportDeviceContext);
void NTAPI __wrap_RefGpuDpcRoutine(IN_CONST_PVOID MiniportDeviceContext);
void __real_refgpu_read_settings(PUNICODE_STRING registry_path);
void __wrap_refgpu_read_settings(PUNICODE_STRING registry_path);

struct submissions submissions;
static ULONG completions;

void __wrap_refgpu_read_settings(PUNICODE_STRING registry_path)
{
    __real_refgpu_read_settings(registry_path);
    submissions.fault = ServiceValue(registry_path, L"SubmitFault");
}

static void say(DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    submissions.dxgk.DxgkCbNotifyInterrupt(submissions.dxgk.DeviceHandle, data);
}

/* ---- completions ---- */

static void notify_completed(const DXGKARGCB_NOTIFY_INTERRUPT_DATA *told)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = *told;
    UINT *fence = &data.DmaCompleted.SubmissionFenceId;

    switch (submissions.fault) {
    case SUBMITS_TWICE:
        say(&data);
        break;
    case SUBMITS_NEVER:
    case SUBMITS_FENCE_AHEAD:
        if (completions == 2)
            return;
        break;
    case SUBMITS_OTHER_NODE:
        data.DmaCompleted.NodeOrdinal = 1;
        break;
    case SUBMITS_NEXT:
        ++*fence;
        break;
    case SUBMITS_FORMER:
        say(&data);
        --*fence;
        break;
    case SUBMITS_FAULT_UNKNOWN:
        RtlZeroMemory(&data, sizeof data);
        data.InterruptType = DXGK_INTERRUPT_DMA_FAULTED;
        data.DmaFaulted.FaultedFenceId = told->DmaCompleted.SubmissionFenceId + 1000;
        data.DmaFaulted.Status = STATUS_UNSUCCESSFUL;
        break;
    default:
        break;
    }
    say(&data);
}

/* ---- answers to requests for preemption ---- */

static void notify_preempted(const DXGKARGCB_NOTIFY_INTERRUPT_DATA *told)
{
    const struct refgpu_node *node = &submissions.adapter->node[told->DmaPreempted.NodeOrdinal];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = *told, more;

    switch (submissions.fault) {
    case SUBMITS_PREEMPTED_UNKNOWN:
        data.DmaPreempted.LastCompletedFenceId = node->last_submitted + 1;
        break;
    case SUBMITS_PREEMPTED_NONE:
        data.DmaPreempted.LastCompletedFenceId--;
        break;
    case SUBMITS_PREEMPTED_ID:
        data.DmaPreempted.PreemptionFenceId++;
        break;
    case SUBMITS_PREEMPTED_TWICE:
        say(&data);
        break;
    case SUBMITS_PREEMPTED_NEVER:
        return;
    default:
        break;
    }
    say(&data);
    if (submissions.fault == SUBMITS_PREEMPTED_FIRST &&
        node->last_submitted != data.DmaPreempted.LastCompletedFenceId) {
        RtlZeroMemory(&more, sizeof more);
        more.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
        more.DmaCompleted.SubmissionFenceId = node->last_submitted;
        say(&more);
    }
}

static void NTAPI notify(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARGCB_NOTIFY_INTERRUPT_DATA data)
{
    if (data->InterruptType == DXGK_INTERRUPT_DMA_COMPLETED &&
        data->DmaCompleted.NodeOrdinal == 0 && ++completions > 1)
        notify_completed(data);
    else if (data->InterruptType == DXGK_INTERRUPT_DMA_PREEMPTED &&
             data->DmaPreempted.NodeOrdinal == 0)
        notify_preempted(data);
    else
        submissions.dxgk.DxgkCbNotifyInterrupt(adapter, data);
}

/* ---- deferred calls ---- */

static BOOLEAN NTAPI queue_dpc(HANDLE adapter)
{
    if (submissions.fault == SUBMITS_NO_DPC && completions > 1)
        return FALSE;
    return submissions.dxgk.DxgkCbQueueDpc(adapter);
}

static void NTAPI notify_dpc(IN_CONST_HANDLE adapter)
{
    if (submissions.fault != SUBMITS_NO_NOTIFY_DPC || completions <= 1)
        submissions.dxgk.DxgkCbNotifyDpc(adapter);
}

void NTAPI __wrap_RefGpuDpcRoutine(IN_CONST_PVOID MiniportDeviceContext)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (submissions.fault == SUBMITS_IN_DPC && completions > 1) {
        RtlZeroMemory(&data, sizeof data);
        data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
        data.DmaCompleted.SubmissionFenceId = submissions.adapter->node[0].completed;
        say(&data);
    }
    __real_RefGpuDpcRoutine(MiniportDeviceContext);
}

/* ---- at interrupt level, from elsewhere ---- */

struct completion {
    struct refgpu_node *node;
    ULONG fence;
};

static BOOLEAN NTAPI complete(PVOID context)
{
    const struct completion *completion = context;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = completion->fence;
    data.DmaCompleted.NodeOrdinal = completion->node->index;
    if (refgpu_later(completion->fence, completion->node->completed))
        completion->node->completed = completion->fence;
    say(&data);
    (void)submissions.dxgk.DxgkCbQueueDpc(submissions.dxgk.DeviceHandle);
    return TRUE;
}

void submissions_complete(struct refgpu_node *node, ULONG fence)
{
    struct completion completion;

    completion.node = node;
    completion.fence = fence;
    (void)refgpu_synchronize(node->adapter, complete, &completion);
}

struct answer {
    struct refgpu_node *node;
    ULONG request;
};

static BOOLEAN NTAPI preempt_all(PVOID context)
{
    const struct answer *answer = context;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
    data.DmaPreempted.PreemptionFenceId = answer->request;
    data.DmaPreempted.LastCompletedFenceId = answer->node->last_submitted;
    data.DmaPreempted.NodeOrdinal = answer->node->index;
    answer->node->completed = answer->node->last_submitted;
    say(&data);
    (void)submissions.dxgk.DxgkCbQueueDpc(submissions.dxgk.DeviceHandle);
    return TRUE;
}

NTSTATUS submissions_preempt_all(struct refgpu_adapter *adapter,
                                 const DXGKARG_PREEMPTCOMMAND *request)
{
    struct answer answer;

    answer.node = &adapter->node[request->NodeOrdinal];
    answer.request = request->PreemptionFenceId;
    return refgpu_synchronize(adapter, preempt_all, &answer);
}

NTSTATUS NTAPI __wrap_RefGpuStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                                        IN_PDXGK_START_INFO DxgkStartInfo,
                                        IN_PDXGKRNL_INTERFACE DxgkInterface,
                                        OUT_PULONG NumberOfVideoPresentSources,
                                        OUT_PULONG NumberOfChildren)
{
    DXGKRNL_INTERFACE own = *DxgkInterface;

    submissions.dxgk = *DxgkInterface;
    submissions.adapter = (struct refgpu_adapter *)(ULONG_PTR)MiniportDeviceContext;
    completions = 0;
    own.DxgkCbNotifyInterrupt = notify;
    own.DxgkCbQueueDpc = queue_dpc;
    own.DxgkCbNotifyDpc = notify_dpc;
    return __real_RefGpuStartDevice(MiniportDeviceContext, DxgkStartInfo, &own,
                                    NumberOfVideoPresentSources, NumberOfChildren);
}
