/* SPDX-License-Identifier: MIT */
#include "vidsch/hw_paging.h"
#include "sim/sim_assert.h"
#include "vidmm/vidmm.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/hw_context.h"
#include "vidsch/node.h"
#include "vidsch/paging.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"

static bool make(struct vidsch_context *queue)
{
    struct vidsch *vidsch = queue->device->vidsch;
    struct vidsch_sync *progress = util_zalloc(1, sizeof(*progress));
    struct vidsch_hw_queue *hw = util_zalloc(1, sizeof(*hw));

    if (!progress || !hw ||
        !vidmm_paging_fence(vidsch->vidmm, &progress->slot.va, &progress->fence)) {
        util_free(progress);
        util_free(hw);
        return false;
    }
    progress->type = D3DDDI_MONITORED_FENCE;
    hw->queue = queue;
    hw->parent = vidsch->system_context;
    hw->progress = progress;
    list_init(&hw->in_flight);
    list_init(&hw->link);
    queue->hw_queue = hw;
    return true;
}

NTSTATUS vidsch_hw_paging_begin(struct vidsch *vidsch)
{
    struct vidsch_context *parent = vidsch->system_context;
    DXGKARG_CREATEHWQUEUE args = {0};
    struct vidsch_context *queue;
    NTSTATUS status = STATUS_NO_MEMORY;

    sim_assert_passive();
    if (!parent->hw)
        return STATUS_SUCCESS;
    queue = vidsch_context_alloc(parent->device, parent->node, DDI_HANDLE_HW_QUEUE);
    if (!queue)
        return status;
    if (make(queue)) {
        const struct vidsch_sync *progress = queue->hw_queue->progress;

        args.HwQueueProgressFenceCPUVirtualAddress = (void *)(uintptr_t)progress->fence;
        args.HwQueueProgressFenceGPUVirtualAddress = progress->slot.va.value;
        status = vidsch_hw_queue_create(queue, &args);
    }
    if (!NT_SUCCESS(status)) {
        vidsch_context_abandon(queue);
        return status;
    }
    list_push_back(&parent->hw->queues, &queue->hw_queue->link);
    list_push_back(&parent->device->contexts, &queue->link);
    vidsch->paging.queue = queue;
    return STATUS_SUCCESS;
}
