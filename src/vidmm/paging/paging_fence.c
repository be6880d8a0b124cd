/* SPDX-License-Identifier: MIT */
#include "vidmm/paging/paging_fence.h"
#include "ddi/ddi.h"
#include "sim/machine.h"
#include "verify/verify.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"

bool paging_fence_has(const struct vidmm *vidmm)
{
    return (vidmm->config.driver_fences || vidmm->config.hw_paging) && vidmm->mmu &&
           vidmm->config.wddm_version >= DXGKDDI_INTERFACE_VERSION_WDDM2_2;
}

bool paging_fence_due(const struct vidmm *vidmm)
{
    return vidmm->fence.value && vidmm->fence.due && !vidmm->lost && !vidmm->reset &&
           (!vidmm->config.hw_paging || vidmm->config.hw_paging_signals);
}

/* GPUVA-243: the table of a driver below 2.5 has none. */
static bool has_entry(const struct vidmm *vidmm)
{
    return vidmm->ddi->table.DxgkDdiSignalMonitoredFence;
}

void paging_fence_operation(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op)
{
    *op = (DXGKARG_BUILDPAGINGBUFFER){.Operation = DXGK_OPERATION_SIGNAL_MONITORED_FENCE};
    op->SignalMonitoredFence.MonitoredFenceGpuVa = vidmm->fence.va.value;
    op->SignalMonitoredFence.MonitoredFenceValue = vidmm->fence.last + 1;
}

NTSTATUS paging_fence_call(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *call)
{
    DXGKARG_SIGNALMONITOREDFENCE args = {
        .KernelSubmissionType = DXGK_KERNEL_SUBMISSION_BUILD_PAGING_BUFFER,
        .pDmaBuffer = call->pDmaBuffer,
        .DmaBufferGpuVirtualAddress = call->DmaBufferGpuVirtualAddress,
        .DmaSize = call->DmaSize,
        .pDmaBufferPrivateData = call->pDmaBufferPrivateData,
        .DmaBufferPrivateDataSize = call->DmaBufferPrivateDataSize,
        .MultipassOffset = call->MultipassOffset,
        .MonitoredFenceGpuVa = call->SignalMonitoredFence.MonitoredFenceGpuVa,
        .MonitoredFenceValue = call->SignalMonitoredFence.MonitoredFenceValue,
        .MonitoredFenceCpuVa = (void *)(uintptr_t)vidmm->fence.value,
        .hHwQueue = vidmm->config.hw_paging ? vidmm->scheduler->paging_queue(vidmm->ddi) : NULL,
    };
    NTSTATUS status;

    if (!has_entry(vidmm))
        return ddi_build_paging_buffer(vidmm->ddi, call);
    status = ddi_signal_monitored_fence(vidmm->ddi, call->hSystemContext, &args);
    call->pDmaBuffer = args.pDmaBuffer;
    call->pDmaBufferPrivateData = args.pDmaBufferPrivateData;
    call->MultipassOffset = args.MultipassOffset;
    return status;
}

static const char *by_what(const struct vidmm *vidmm)
{
    return has_entry(vidmm) ? "DxgkDdiSignalMonitoredFence"
                            : "DxgkDdiBuildPagingBuffer (SIGNAL_MONITORED_FENCE)";
}

void paging_fence_built(struct vidmm *vidmm, uint64_t ticket)
{
    struct paging_fence *fence = &vidmm->fence;

    const uint64_t value = fence->last + 1;

    fence->due = false;
    if (!vidmm->config.hw_paging) /* else the submission counts */
        fence->last++;
    if (*fence->value >= value)
        VIOLATION("GPUVA-242",
                  "%s: the paging fence has the value 0x%llx although the buffer that is to write "
                  "0x%llx was not submitted yet",
                  by_what(vidmm), (unsigned long long)*fence->value, (unsigned long long)value);
    if (fence->awaited_count == PAGING_FENCE_AWAITED)
        fence->awaited_count--; /* the newest stands for both */
    fence->awaited[fence->awaited_count].ticket = ticket;
    fence->awaited[fence->awaited_count++].value = value;
}

void paging_fence_check(struct vidmm *vidmm, uint64_t ticket)
{
    struct paging_fence *fence = &vidmm->fence;
    uint64_t wanted = 0;
    uint32_t done = 0;

    if (!fence->awaited_count || vidmm->lost || sim_current->stopped)
        return;
    while (done < fence->awaited_count && fence->awaited[done].ticket <= ticket)
        wanted = fence->awaited[done++].value;
    if (!done)
        return;
    fence->awaited_count -= done;
    for (uint32_t i = 0; i < fence->awaited_count; i++)
        fence->awaited[i] = fence->awaited[i + done];
    if (*fence->value >= wanted && *fence->value <= fence->last)
        return;
    VIOLATION("GPUVA-242",
              "%s: the paging buffer is done, and the paging fence at 0x%llx has the value 0x%llx "
              "instead of 0x%llx",
              by_what(vidmm), (unsigned long long)fence->va.value,
              (unsigned long long)*fence->value, (unsigned long long)wanted);
    *fence->value = wanted; /* as the driver should have */
}

void paging_fence_forget(struct vidmm *vidmm)
{
    vidmm->fence.awaited_count = 0;
    vidmm->fence.due = false;
}
