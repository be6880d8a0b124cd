/* SPDX-License-Identifier: MIT */
/* Hardware queues as clients use them (client.h): creation, commands, waits and signals. */
#include <string.h>

#include "nt/base/status_name.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "util/checked.h"
#include "verify/refusal.h"
#include "vidmm/context/context_allocation.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/dma_memory.h"
#include "vidsch/hw_context.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/queue.h"
#include "vidsch/recovery.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/vidsch_bugcheck.h"

/* ---- creation ---- */

static NTSTATUS check_parent(const struct vidsch_context *parent, D3DDDI_CREATEHWQUEUEFLAGS flags)
{
    if (!parent->hw)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-173",
                      "the context was made without HwQueueSupported, and owns no hardware queues");
    if (flags.Reserved || flags.NoKmdAccess)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-176", "reserved bits in Flags 0x%x",
                      flags.Value);
    if (flags.UserModeSubmission && !parent->node->info.user_mode_submission)
        return refuse(STATUS_NOT_SUPPORTED, "KMT-176",
                      "UserModeSubmission: node %u takes no submissions from user mode",
                      parent->node->ordinal);
    return STATUS_SUCCESS;
}

static bool begin(struct vidsch_context *queue, const struct vidsch_hw_queue_request *request)
{
    struct vidsch_hw_queue *hw = util_zalloc(1, sizeof(*hw));

    if (!hw)
        return false;
    hw->queue = queue;
    hw->parent = request->parent;
    hw->progress = request->progress;
    hw->flags = request->flags;
    hw->looked_at = UINT64_MAX;
    list_init(&hw->in_flight);
    list_init(&hw->link);
    queue->device->user_queues += hw->flags.UserModeSubmission;
    queue->hw_queue = hw;
    return true;
}

NTSTATUS vidsch_hw_queue_open(const struct vidsch_hw_queue_request *request,
                              struct vidsch_context **out)
{
    struct vidsch_context *parent = request->parent;
    struct vidsch_device *device = parent->device;
    DXGKARG_CREATEHWQUEUE args = {
        .Flags = request->flags,
        .PrivateDriverDataSize = request->private_bytes,
        .pPrivateDriverData = request->private_data,
        .hHwQueueProgressFence = request->progress_handle,
        .HwQueueProgressFenceCPUVirtualAddress = (void *)(uintptr_t)request->progress->fence,
        .HwQueueProgressFenceGPUVirtualAddress = request->progress->slot.va.value,
    };
    struct vidsch_context *queue;
    NTSTATUS status;

    sim_assert_passive();
    vidsch_recovery_await_adapter(device->vidsch);
    status = vidsch_device_check(device, false);
    if (NT_SUCCESS(status))
        status = check_parent(parent, request->flags);
    if (!NT_SUCCESS(status))
        return status;
    queue = vidsch_context_alloc(device, parent->node, DDI_HANDLE_HW_QUEUE);
    if (!queue)
        return STATUS_NO_MEMORY;
    status = begin(queue, request) ? vidsch_hw_queue_create(queue, &args) : STATUS_NO_MEMORY;
    if (!NT_SUCCESS(status)) {
        vidsch_context_abandon(queue);
        return status;
    }
    if (request->flags.UserModeSubmission)
        request->progress->of_doorbell = parent->node;
    list_push_back(&parent->hw->queues, &queue->hw_queue->link);
    list_push_back(&device->contexts, &queue->link);
    if (device_is_lost(device))
        queue->state = CONTEXT_LOST;
    *out = queue;
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_hw_queue_check(const struct vidsch_context *parent, D3DDDI_CREATEHWQUEUEFLAGS flags)
{
    NTSTATUS status = vidsch_device_check(parent->device, false);

    return NT_SUCCESS(status) ? check_parent(parent, flags) : status;
}

/* ---- commands ---- */

/* KMT-181 */
static NTSTATUS check_mode(const struct vidsch_context *queue)
{
    return queue->hw_queue->flags.UserModeSubmission
               ? refuse(STATUS_INVALID_PARAMETER, "KMT-181",
                        "the queue was created with UserModeSubmission, and takes nothing of the "
                        "host's")
               : STATUS_SUCCESS;
}

static NTSTATUS check(const struct vidsch_context *queue, const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args)
{
    const struct vidsch_context *parent = queue->hw_queue->parent;
    const uint64_t most = queue->device->vidsch->config.virtual_address_end;
    uint64_t end;

    if (args->HwQueueProgressFenceId <= queue->hw_queue->last_id)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-326",
                      "progress fence id %llu, the last one of the queue was %llu",
                      (unsigned long long)args->HwQueueProgressFenceId,
                      (unsigned long long)queue->hw_queue->last_id);
    /* Of a context of DxgkDdiCreateHwContext the driver names no limit. */
    if (!parent->hw->own_entries &&
        args->PrivateDriverDataSize > parent->info.DmaBufferPrivateDataSize)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-111",
                      "private data of %u bytes, the driver takes %u", args->PrivateDriverDataSize,
                      parent->info.DmaBufferPrivateDataSize);
    if (ckd_add(&end, args->CommandBuffer, (uint64_t)args->CommandLength) || (most && end > most))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-317",
                      "commands of %u bytes at 0x%llx, GPU virtual addresses end at 0x%llx",
                      args->CommandLength, (unsigned long long)args->CommandBuffer,
                      (unsigned long long)most);
    return STATUS_SUCCESS;
}

/* Known bytes behind the private data, since the driver may write to it when it validates. */
#define PRIVATE_ZONE VIDSCH_CANARY_BYTES

/* Bytes of private data that the driver gets: those of the client, and behind them, where it
 * validates them, what it may add (SUBMIT-114). */
static uint32_t private_room(const struct vidsch_context *queue, uint32_t of_client)
{
    const struct vidsch_context *parent = queue->hw_queue->parent;
    const bool validates = ddi_has(queue->device->vidsch->ddi, DxgkDdiValidateSubmitCommand);

    return of_client && validates && parent->info.DmaBufferPrivateDataSize > of_client
               ? parent->info.DmaBufferPrivateDataSize
               : of_client;
}

/* SUBMIT-113 (yields) */
static NTSTATUS validate(const struct vidsch_context *queue,
                         const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args, const struct packet *packet)
{
    struct ddi_adapter *ddi = queue->device->vidsch->ddi;
    const struct hw_submission *hw = packet->hw;
    DXGKARG_VALIDATESUBMITCOMMAND question = {
        .Commands = hw->va,
        .CommandLength = hw->bytes,
        .Flags = {.HardwareQueueSubmission = 1},
        .ContextCount = 1,
        .Context = {queue->hw_queue->driver_handle},
        .pPrivateDriverData = hw->private_data,
        .PrivateDriverDataSize = hw->private_bytes,
        .UmdPrivateDataSize = args->PrivateDriverDataSize,
        .HwQueueProgressFenceId = hw->id,
    };
    NTSTATUS status;

    if (!args->PrivateDriverDataSize || !ddi_has(ddi, DxgkDdiValidateSubmitCommand))
        return STATUS_SUCCESS;
    status = ddi_validate_submit_command(ddi, queue->hw_queue->parent->mm.driver_handle, &question);
    if (!NT_SUCCESS(status))
        return refuse(status, "SUBMIT-114", "DxgkDdiValidateSubmitCommand returned %s",
                      nt_status_text(status).text);
    if (!vidsch_dma_memory_is_canary((const uint8_t *)hw->private_data + hw->private_bytes,
                                     PRIVATE_ZONE)) {
        verify_fatal("PATCH-066", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_PRIVATE_DATA_OVERFLOW,
                     hw->private_bytes, 0, 0,
                     "DxgkDdiValidateSubmitCommand wrote beyond the %u bytes of private data",
                     hw->private_bytes);
        return STATUS_INVALID_PARAMETER;
    }
    status = vidsch_device_check(queue->device, true);       /* lost meanwhile? */
    return NT_SUCCESS(status) ? check(queue, args) : status; /* or another one came first */
}

static NTSTATUS make_packet(struct vidsch_context *queue, const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args,
                            const void *private_data, struct packet **out)
{
    struct vidsch *vidsch = queue->device->vidsch;
    struct packet *packet = vidsch_packet_create(queue, PACKET_HW);
    struct hw_submission *hw;
    uint32_t bytes;

    if (!packet)
        return STATUS_NO_MEMORY;
    bytes = private_room(queue, args->PrivateDriverDataSize);
    hw = packet->hw = util_zalloc(1, sizeof(*hw) + bytes + PRIVATE_ZONE);
    if (!hw) {
        vidsch_packet_free(vidsch, packet);
        return STATUS_NO_MEMORY;
    }
    hw->id = args->HwQueueProgressFenceId;
    hw->va = args->CommandBuffer;
    hw->bytes = args->CommandLength;
    hw->private_bytes = bytes;
    hw->private_data = hw + 1;
    if (args->PrivateDriverDataSize)
        memcpy(hw->private_data, private_data, args->PrivateDriverDataSize);
    memset((uint8_t *)hw->private_data + bytes, VIDSCH_CANARY, PRIVATE_ZONE);
    *out = packet;
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_hw_queue_submit(struct vidsch_context *queue,
                                const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args, const void *private_data)
{
    struct packet *packet;
    NTSTATUS status;

    sim_assert_passive();
    vidsch_recovery_await_adapter(queue->device->vidsch); /* TDR-081 */
    status = vidsch_device_check(queue->device, true);
    if (NT_SUCCESS(status))
        status = check_mode(queue);
    if (NT_SUCCESS(status))
        status = vidmm_context_prepare(&queue->hw_queue->parent->mm);
    if (NT_SUCCESS(status)) /* it may have been lost meanwhile */
        status = vidsch_device_check(queue->device, true);
    if (NT_SUCCESS(status))
        status = check(queue, args);
    if (NT_SUCCESS(status))
        status = make_packet(queue, args, private_data, &packet);
    if (!NT_SUCCESS(status))
        return status;
    status = validate(queue, args, packet);
    if (!NT_SUCCESS(status)) {
        vidsch_packet_free(queue->device->vidsch, packet);
        return status;
    }
    queue->hw_queue->last_id = args->HwQueueProgressFenceId;
    vidsch_queue_push(packet);
    return STATUS_SUCCESS;
}

/* ---- waits and signals ---- */

static NTSTATUS check_monitored(struct vidsch_sync *const *list, UINT count)
{
    for (UINT i = 0; i < count; i++)
        if (list[i]->type != D3DDDI_MONITORED_FENCE)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-398",
                          "object %u of the list is no monitored fence", i);
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_hw_queue_wait(struct vidsch_context *queue, struct vidsch_sync *const *list,
                              const UINT64 *values, UINT count)
{
    NTSTATUS status = check_mode(queue);

    if (NT_SUCCESS(status))
        status = check_monitored(list, count);
    return NT_SUCCESS(status) ? vidsch_sync_wait_gpu(queue, list, values, count) : status;
}

NTSTATUS vidsch_hw_queue_signal(struct vidsch_context *const *queues, UINT queue_count,
                                struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                D3DDDICB_SIGNALFLAGS flags)
{
    NTSTATUS status = check_monitored(list, count);

    for (UINT i = 0; i < queue_count && NT_SUCCESS(status); i++)
        status = check_mode(queues[i]);
    return NT_SUCCESS(status)
               ? vidsch_sync_signal_gpu(queues, queue_count, list, values, count, flags)
               : status;
}
