/* SPDX-License-Identifier: MIT */
/*
 * The worker notifies vidmm of a lost device, and the driver of each packet that never reached the
 * hardware (DxgkDdiCancelCommand).
 */
#include "vidsch/cancel.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "vidmm/process.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_wait.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/doorbell.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/life.h"
#include "vidsch/packet.h"
#include "vidsch/scheduler.h"
#include "vidsch/signal.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

/* The arguments that Patch would have had (TDR-063). */
static void describe(const struct packet *packet, DXGKARG_CANCELCOMMAND *args)
{
    const struct dma_buffer *buffer = packet->buffer;

    *args = (DXGKARG_CANCELCOMMAND){.hContext = packet->context->mm.driver_handle};
    if (buffer) {
        args->pDmaBufferPrivateData = buffer->private_data;
        args->DmaBufferPrivateDataSize = buffer->private_bytes;
    }
    if (packet->kind == PACKET_VIRTUAL) {
        args->DmaBufferVirtualAddress = packet->va;
        args->DmaBufferSize = packet->bytes;
        args->DmaBufferUmdPrivateDataSize = packet->umd_private_bytes;
        return;
    }
    args->pDmaBuffer = buffer->data;
    args->DmaBufferSize = buffer->capacity;
    args->DmaBufferSubmissionStartOffset = packet->start;
    args->DmaBufferSubmissionEndOffset = packet->end;
    args->DmaBufferPrivateDataSubmissionEndOffset = buffer->private_used;
    args->pAllocationList = buffer->allocations;
    args->AllocationListSize = buffer->allocation_count;
    args->pPatchLocationList = buffer->patches;
    args->PatchLocationListSize = buffer->patch_count;
    args->PatchLocationListSubmissionStart = packet->first_patch;
    args->PatchLocationListSubmissionLength = packet->patch_count;
}

static void check_lists(const struct packet *packet)
{
    if (packet->buffer && packet->buffer->data)
        (void)vidsch_dma_buffer_check(packet->buffer, "DxgkDdiCancelCommand", true);
    else if (packet->buffer)
        (void)vidsch_dma_buffer_check_private(packet->buffer, "DxgkDdiCancelCommand");
}

static void cancel_queue(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct list *link;

    while ((link = list_pop_front(&context->queue)) != NULL) {
        struct packet *packet = CONTAINER(link, struct packet, link);

        if (packet_is_work(packet) && packet->kind != PACKET_HW && !packet_comes_first(packet) &&
            !packet->resubmission && vidsch->config.caps.CancelCommandAware &&
            ddi_has(vidsch->ddi, DxgkDdiCancelCommand)) {
            DXGKARG_CANCELCOMMAND args;
            NTSTATUS status;

            describe(packet, &args);
            status = ddi_cancel_command(vidsch->ddi, &args);
            check_lists(packet);
            if (ddi_driver_failed(vidsch->ddi, status))
                verify_fatal("TDR-064", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_CANCEL_FAILED,
                             (uint32_t)status, 0, 0, "DxgkDdiCancelCommand answered %s",
                             nt_status_text(status).text);
        }
        vidsch_life_fails(packet, JOURNAL_CANCELED);
        vidsch_packet_finish(packet);
    }
}

void vidsch_cancel_device(struct vidsch_device *device)
{
    vidsch_assert_worker(device->vidsch);
    vidmm_device_set_lost(device->mm);
    LIST_FOR(link, &device->contexts)
        cancel_queue(CONTAINER(link, struct vidsch_context, link));
    LIST_FOR(link, &device->contexts) {
        const struct vidsch_context *context = CONTAINER(link, struct vidsch_context, link);

        if (context->hw)
            vidsch_hw_abandon(context->hw);
    }
    vidsch_doorbells_abort(device);
    vidsch_signal_device_lost(device);
    device->cleaning = false;
    vidsch_device_wake(device);
    vidsch_change_announce(&device->vidsch->change);
}
