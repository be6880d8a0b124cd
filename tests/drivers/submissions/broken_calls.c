/* SPDX-License-Identifier: MIT */
/* Mistakes in the calls themselves: rendering, patching, submission, preemption and resets. */
#include "submissions/broken.h"

#define DECLARE(Entry, ...)                           \
    NTSTATUS NTAPI __real_RefGpu##Entry(__VA_ARGS__); \
    NTSTATUS NTAPI __wrap_RefGpu##Entry(__VA_ARGS__)

DECLARE(Render, IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender);
DECLARE(Patch, IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch);
DECLARE(SubmitCommand, IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand);
DECLARE(PreemptCommand, IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PREEMPTCOMMAND pPreemptCommand);
DECLARE(QueryCurrentFence, IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_QUERYCURRENTFENCE pCurrentFence);
DECLARE(QueryDependentEngineGroup, IN_CONST_HANDLE hAdapter,
        INOUT_DXGKARG_QUERYDEPENDENTENGINEGROUP pQueryDependentEngineGroup);
DECLARE(ResetEngine, IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_RESETENGINE pResetEngine);
DECLARE(ResetFromTimeout, IN_CONST_HANDLE hAdapter);

/* ---- Render and Patch ---- */

static void spoil_location(D3DDDI_PATCHLOCATIONLIST *location, const DXGKARG_RENDER *render)
{
    switch (submissions.fault) {
    case SUBMITS_RENDER_ELEMENT:
        location->AllocationIndex = render->AllocationListSize;
        break;
    case SUBMITS_RENDER_LOCATION:
        location->PatchOffset += 0x1000;
        break;
    case SUBMITS_RENDER_ALLOCATION:
        location->AllocationOffset = 0x7FFFF000;
        break;
    default:
        break;
    }
}

NTSTATUS NTAPI __wrap_RefGpuRender(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender)
{
    D3DDDI_PATCHLOCATIONLIST *locations = pRender->pPatchLocationListOut;
    UCHAR *end = (UCHAR *)pRender->pDmaBuffer + pRender->DmaSize;
    UCHAR *private_end = (UCHAR *)pRender->pDmaBufferPrivateData + pRender->DmaBufferPrivateDataSize;
    NTSTATUS status = __real_RefGpuRender(hContext, pRender);

    if (pRender->pPatchLocationListOut == locations)
        return status;
    spoil_location(&locations[1], pRender);
    if (submissions.fault == SUBMITS_RENDER_PAST)
        pRender->pDmaBuffer = end + sizeof(ULONG);
    if (submissions.fault == SUBMITS_RENDER_WRITES)
        RtlZeroMemory(end, sizeof(ULONG));
    if (submissions.fault == SUBMITS_RENDER_LIST)
        pRender->pPatchLocationListOut =
            (D3DDDI_PATCHLOCATIONLIST *)(PVOID)((UCHAR *)pRender->pPatchLocationListOut - 4);
    if (submissions.fault == SUBMITS_RENDER_PRIVATE)
        pRender->pDmaBufferPrivateData = private_end + sizeof(ULONG);
    return status;
}

NTSTATUS NTAPI __wrap_RefGpuPatch(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch)
{
    const NTSTATUS status = __real_RefGpuPatch(hAdapter, pPatch);

    return submissions.fault == SUBMITS_PATCH_FAILS ? STATUS_INVALID_PARAMETER : status;
}

/* ---- submission and preemption ---- */

static PHYSICAL_ADDRESS former;

static void spoil_submission(DXGKARG_SUBMITCOMMAND *own)
{
    const PHYSICAL_ADDRESS last = former;

    former = own->DmaBufferPhysicalAddress;
    switch (submissions.fault) {
    case SUBMITS_WRONG_BYTES:
        own->DmaBufferSubmissionEndOffset -= 4;
        break;
    case SUBMITS_WRONG_PLACE:
        own->DmaBufferSubmissionStartOffset += 4;
        own->DmaBufferSubmissionEndOffset += 4;
        break;
    case SUBMITS_FORMER_BUFFER:
        if (last.QuadPart)
            own->DmaBufferPhysicalAddress = last;
        break;
    case SUBMITS_WRONG_FENCE:
        own->SubmissionFenceId++;
        break;
    default:
        break;
    }
}

NTSTATUS NTAPI __wrap_RefGpuSubmitCommand(IN_CONST_HANDLE hAdapter,
                                          IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand)
{
    struct refgpu_adapter *adapter = hAdapter;
    DXGKARG_SUBMITCOMMAND own = *pSubmitCommand;
    NTSTATUS status;

    if (own.NodeOrdinal != 0)
        return __real_RefGpuSubmitCommand(hAdapter, pSubmitCommand);
    if (submissions.fault == SUBMITS_SUBMIT_FAILS)
        return STATUS_DEVICE_BUSY;
    spoil_submission(&own);
    if (submissions.fault == SUBMITS_WRITES_PRIVATE && own.pDmaBufferPrivateData)
        RtlZeroMemory((UCHAR *)own.pDmaBufferPrivateData + own.DmaBufferPrivateDataSize,
                      sizeof(ULONG));
    status = __real_RefGpuSubmitCommand(hAdapter, &own);
    if (submissions.fault == SUBMITS_EARLY)
        submissions_complete(&adapter->node[0], own.SubmissionFenceId);
    return status;
}

NTSTATUS NTAPI __wrap_RefGpuPreemptCommand(IN_CONST_HANDLE hAdapter,
                                           IN_CONST_PDXGKARG_PREEMPTCOMMAND pPreemptCommand)
{
    if (submissions.fault == SUBMITS_PREEMPT_FAILS)
        return STATUS_DEVICE_BUSY;
    if (submissions.fault == SUBMITS_PREEMPTED_ALL)
        return submissions_preempt_all(hAdapter, pPreemptCommand);
    return __real_RefGpuPreemptCommand(hAdapter, pPreemptCommand);
}

NTSTATUS NTAPI __wrap_RefGpuQueryCurrentFence(IN_CONST_HANDLE hAdapter,
                                              INOUT_PDXGKARG_QUERYCURRENTFENCE pCurrentFence)
{
    const NTSTATUS status = __real_RefGpuQueryCurrentFence(hAdapter, pCurrentFence);

    if (submissions.fault == SUBMITS_FENCE_AHEAD)
        pCurrentFence->CurrentFence += 5;
    return status;
}

/* ---- resets ---- */

NTSTATUS NTAPI __wrap_RefGpuQueryDependentEngineGroup(
    IN_CONST_HANDLE hAdapter, INOUT_DXGKARG_QUERYDEPENDENTENGINEGROUP pQueryDependentEngineGroup)
{
    const NTSTATUS status = __real_RefGpuQueryDependentEngineGroup(hAdapter,
                                                                   pQueryDependentEngineGroup);

    if (submissions.fault == SUBMITS_DEPENDENTS)
        pQueryDependentEngineGroup->DependentNodeOrdinalMask <<= 1;
    return status;
}

static KTIMER later;
static KDPC later_dpc;
static ULONG later_fence;

static VOID NTAPI notify_later(PKDPC dpc, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)dpc;
    (void)argument1;
    (void)argument2;
    submissions_complete(context, later_fence);
}

static void complete_soon(struct refgpu_node *node, ULONG fence)
{
    LARGE_INTEGER soon;

    later_fence = fence;
    KeInitializeTimer(&later);
    KeInitializeDpc(&later_dpc, notify_later, node);
    soon.QuadPart = -15; /* 1.5 us */
    (void)KeSetTimer(&later, soon, &later_dpc);
}

/* The engine goes on with what it does. */
static NTSTATUS only_say_so(struct refgpu_node *node, DXGKARG_RESETENGINE *reset)
{
    reset->LastAbortedFenceId = refgpu_read(node->adapter,
                                            REFGPU_REG_ENGINE(node->index, REFGPU_ENG_CURRENT));
    node->completed = reset->LastAbortedFenceId;
    node->preempt_fence = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI __wrap_RefGpuResetEngine(IN_CONST_HANDLE hAdapter,
                                        INOUT_PDXGKARG_RESETENGINE pResetEngine)
{
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_node *node = &adapter->node[pResetEngine->NodeOrdinal];
    NTSTATUS status;

    if (submissions.fault == SUBMITS_RESET_RUNS)
        return only_say_so(node, pResetEngine);
    if (submissions.fault == SUBMITS_TIMEOUT_RUNS || submissions.fault == SUBMITS_TIMEOUT_NOTIFIES)
        return STATUS_UNSUCCESSFUL;
    status = __real_RefGpuResetEngine(hAdapter, pResetEngine);
    if (submissions.fault == SUBMITS_ABORTED_UNKNOWN)
        pResetEngine->LastAbortedFenceId = node->last_submitted + 1;
    if (submissions.fault == SUBMITS_ABORTED_OLD)
        pResetEngine->LastAbortedFenceId -= 2;
    if (submissions.fault == SUBMITS_RESET_NOTIFIES)
        complete_soon(node, pResetEngine->LastAbortedFenceId);
    return status;
}

NTSTATUS NTAPI __wrap_RefGpuResetFromTimeout(IN_CONST_HANDLE hAdapter)
{
    struct refgpu_adapter *adapter = hAdapter;
    NTSTATUS status = STATUS_SUCCESS;

    if (submissions.fault != SUBMITS_TIMEOUT_RUNS)
        status = __real_RefGpuResetFromTimeout(hAdapter);
    for (ULONG i = 0; i < REFGPU_NODES; i++)
        adapter->node[i].completed = adapter->node[i].last_submitted;
    if (submissions.fault == SUBMITS_TIMEOUT_NOTIFIES)
        complete_soon(&adapter->node[0], adapter->node[0].last_submitted);
    return status;
}
