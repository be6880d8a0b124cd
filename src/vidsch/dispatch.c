/* SPDX-License-Identifier: MIT */
/*
 * Submitting one packet to the driver, on the worker.
 *
 *   physical mode   id -> Patch with final addresses (PASSIVE) -> ring -> SubmitCommand (DISPATCH)
 *   virtual mode    id -> ring -> SubmitCommandVirtual (DISPATCH)
 *
 * The packet goes on the ring before the driver is called, since it may complete before the call
 * returns (SUBMIT-027); after the call it may be freed already. While `busy_node` is set, recovery
 * does not touch the node.
 */
#include "vidsch/dispatch.h"
#include "nt/base/status_name.h"
#include "vidmm/residency/aperture_range.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/device_wait.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/hw_submit.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/null_context.h"
#include "vidsch/packet.h"
#include "vidsch/paging.h"
#include "vidsch/portion.h"
#include "vidsch/prepatch.h"
#include "vidsch/queue.h"
#include "vidsch/retire.h"
#include "vidsch/scheduler.h"
#include "vidsch/screen_hold.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

/* Write the present address of each allocation into the allocation list. False: one was destroyed,
 * or is not on the residency list (GPUVA-247). With WDDM 1.x, what the portion needs is resident;
 * the others get their address if they have one (PATCH-148). */
static bool place_allocations(struct packet *packet)
{
    struct dma_buffer *buffer = packet->buffer;
    struct vidmm_device *device = packet->context->device->mm;

    for (uint32_t i = 0; i < buffer->allocation_count; i++) {
        const struct dma_reference *reference = &buffer->references_map[i];
        DXGK_ALLOCATIONLIST *element = &buffer->allocations[i];
        struct vidmm_place place = {0};

        *element = (DXGK_ALLOCATIONLIST){.hDeviceSpecificAllocation = reference->device_specific};
        element->WriteOperation = reference->write;
        if (reference->handle) {
            struct vidmm_open *open = vidmm_open_find_queued(device, reference->handle);

            if (!open ||
                (!packet->portion && !reference->pinned && !vidmm_open_on_residency_list(open))) {
                NOTE("GPUVA-247",
                     "allocation 0x%x, element %u of a Render, %s when its turn came; the device is "
                     "in error",
                     reference->handle, i, open ? "was not on the residency list" : "was destroyed");
                return false;
            }
            vidmm_open_place(open, &place);
            if (reference->pinned && !place.resident) { /* its pin ended with what was shown */
                NOTE("PRES-112",
                     "allocation 0x%x, element %u of a present, has left memory before its turn came, "
                     "as the screen shows something else; the device is in error",
                     reference->handle, i);
                return false;
            }
            element->SegmentId = place.segment & SEGMENT_ID_MASK;
            element->PhysicalAddress.QuadPart = (LONGLONG)place.physical;
        }
    }
    return true;
}

/* The driver failed a call that must not fail: a bug check. If the configuration lowers the
 * severity of the rule, the packet is dropped instead, and its device is put in error. */
static void refused_fatally(const char *rule, uint64_t parameter, NTSTATUS status,
                            const struct packet *packet)
{
    if (ddi_driver_failed(packet->context->device->vidsch->ddi, status))
        verify_fatal(rule, 0x119, parameter, (uint32_t)status, packet->fence,
                     packet->context->node->ordinal,
                     "the driver answered %s for fence %u of node %u", nt_status_text(status).text,
                     packet->fence, packet->context->node->ordinal);
}

/* Segment and address of a buffer (PATCH-144). */
static void place_buffer(const struct vidsch *vidsch, const struct vidmm_aperture_range *aperture,
                         struct logical_page logical, UINT *segment, PHYSICAL_ADDRESS *address)
{
    *segment = aperture->segment;
    address->QuadPart = (LONGLONG)(aperture->segment
                                       ? vidmm_aperture_address(vidsch->vidmm, aperture)
                                       : logical_page_addr(logical).value);
}

/* hDevice or hContext of a submission; NULL for paging that moves memory out before a power-down
 * (PATCH-143, PAGE-019). */
static HANDLE submitter(const struct packet *packet)
{
    bool nobodys = packet->kind == PACKET_LEAVE ||
                   (packet->kind == PACKET_PAGING && packet->paging->public.nobodys);

    return nobodys ? NULL : packet->context->mm.driver_handle;
}

/* Where the private data of a submission ends: at the end of the block if the driver did not move
 * its pointer (PAGE-084). */
static UINT paging_private_end(const struct paging_slot *slot)
{
    return slot->public.private_used ? slot->public.private_used : slot->public.private_capacity;
}

static bool patch(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    struct vidsch *vidsch = context->device->vidsch;
    DXGKARG_PATCH args = {.hContext = submitter(packet)};
    NTSTATUS status;

    if (packet->kind == PACKET_PAGING) {
        const struct paging_slot *slot = packet->paging;

        place_buffer(vidsch, &slot->memory->aperture, slot->memory->first_logical,
                     &args.DmaBufferSegmentId, &args.DmaBufferPhysicalAddress);
        args.pDmaBuffer = slot->public.data;
        args.DmaBufferSize = slot->public.capacity;
        args.DmaBufferSubmissionStartOffset = slot->public.start;
        args.DmaBufferSubmissionEndOffset = slot->public.used;
        args.pDmaBufferPrivateData = slot->public.private_data;
        args.DmaBufferPrivateDataSize = slot->public.private_capacity;
        args.DmaBufferPrivateDataSubmissionStartOffset = slot->public.private_start;
        args.DmaBufferPrivateDataSubmissionEndOffset = paging_private_end(slot);
        args.Flags.Paging = 1;
    } else {
        struct dma_buffer *buffer = packet->buffer;

        place_buffer(vidsch, &buffer->aperture, buffer->first_logical, &args.DmaBufferSegmentId,
                     &args.DmaBufferPhysicalAddress);
        args.pDmaBuffer = buffer->data;
        args.DmaBufferSize = buffer->capacity;
        args.DmaBufferSubmissionStartOffset = packet->start;
        args.DmaBufferSubmissionEndOffset = packet->end;
        args.pDmaBufferPrivateData = buffer->private_data;
        args.DmaBufferPrivateDataSize = buffer->private_bytes;
        args.DmaBufferPrivateDataSubmissionEndOffset = buffer->private_used;
        args.pAllocationList = buffer->allocations;
        args.AllocationListSize = buffer->allocation_count;
        args.pPatchLocationList = buffer->patches;
        args.PatchLocationListSize = buffer->patch_count;
        args.PatchLocationListSubmissionStart = packet->first_patch;
        if (!vidsch_prepatched(packet)) {
            args.PatchLocationListSubmissionLength = packet->patch_count;
            buffer->patched = true;
        }
        args.Flags.NullRendering = packet->null_rendering;
        args.Flags.Present = packet->present; /* PRES-113 */
        vidsch->statistics.patches += args.PatchLocationListSubmissionLength;
    }
    args.SubmissionFenceId = packet->fence;
    vidsch_life_patched(packet);
    if (packet->kind == PACKET_RENDER)
        vidsch_patch_before(packet);
    status = ddi_patch(vidsch->ddi, &args);
    if (!NT_SUCCESS(status)) {
        refused_fatally("PATCH-157", 0x3, status, packet);
        return false;
    }
    if (packet->kind == PACKET_PAGING)
        return true;
    if (!vidsch_dma_buffer_check(packet->buffer, "DxgkDdiPatch", false))
        return false;
    vidsch_patch_after(packet);
    return true;
}

static DXGK_SUBMITCOMMANDFLAGS submit_flags(const struct packet *packet)
{
    const struct vidsch *vidsch = packet->context->device->vidsch;
    DXGK_SUBMITCOMMANDFLAGS flags = {.Value = 0};

    flags.Paging = packet->kind == PACKET_PAGING || packet->leaves_paging;
    flags.ContextSwitch = packet->kind == PACKET_LEAVE;
    flags.NullRendering = packet->null_rendering;
    flags.Present = packet->present; /* PRES-113 */
    if (packet->present && packet->buffer->flip.is) {
        flags.Flip = 1; /* PRES-135 */
        flags.FlipWithNoWait = packet->buffer->flip.no_wait;
    }
    flags.Resubmission = packet->resubmission && !vidsch_is_1x(vidsch); /* PREEMPT-024 */
    return flags;
}

static NTSTATUS submit_physical(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    const struct vidsch *vidsch = context->device->vidsch;
    DXGKARG_SUBMITCOMMAND args = {
        .hContext = submitter(packet),
        .SubmissionFenceId = packet->fence,
        .Flags = submit_flags(packet),
        .NodeOrdinal = context->node->ordinal,
    };

    if (packet->kind == PACKET_PAGING) {
        const struct paging_slot *slot = packet->paging;

        place_buffer(vidsch, &slot->memory->aperture, slot->memory->first_logical,
                     &args.DmaBufferSegmentId, &args.DmaBufferPhysicalAddress);
        args.DmaBufferSize = slot->public.capacity;
        args.DmaBufferSubmissionStartOffset = slot->public.start;
        args.DmaBufferSubmissionEndOffset = slot->public.used;
        args.pDmaBufferPrivateData = slot->public.private_data;
        args.DmaBufferPrivateDataSize = slot->public.private_capacity;
        args.DmaBufferPrivateDataSubmissionStartOffset = slot->public.private_start;
        args.DmaBufferPrivateDataSubmissionEndOffset = paging_private_end(slot);
    } else if (packet->kind == PACKET_RENDER) {
        const struct dma_buffer *buffer = packet->buffer;

        place_buffer(vidsch, &buffer->aperture, buffer->first_logical, &args.DmaBufferSegmentId,
                     &args.DmaBufferPhysicalAddress);
        args.DmaBufferSize = buffer->capacity;
        args.DmaBufferSubmissionStartOffset = packet->start;
        args.DmaBufferSubmissionEndOffset = packet->end;
        args.pDmaBufferPrivateData = buffer->private_data;
        args.DmaBufferPrivateDataSize = buffer->private_bytes;
        args.DmaBufferPrivateDataSubmissionEndOffset = buffer->private_used;
        args.VidPnSourceId = buffer->flip.source;
        args.FlipInterval = buffer->flip.interval;
    }
    return ddi_submit_command(context->device->vidsch->ddi, &args);
}

static NTSTATUS submit_virtual(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    DXGKARG_SUBMITCOMMANDVIRTUAL args = {
        .hContext = packet->kind == PACKET_LEAVE ? NULL : context->mm.driver_handle,
        .SubmissionFenceId = packet->fence,
        .Flags = submit_flags(packet),
        .NodeOrdinal = context->node->ordinal,
    };

    if (packet->kind == PACKET_PAGING) {
        const struct paging_slot *slot = packet->paging;

        args.DmaBufferVirtualAddress = slot->public.va.value + slot->public.start;
        args.DmaBufferSize = slot->public.used - slot->public.start;
        if (slot->public.private_data) { /* only its part: this DDI has no offsets into the block */
            args.pDmaBufferPrivateData = (uint8_t *)slot->public.private_data +
                                         slot->public.private_start;
            args.DmaBufferPrivateDataSize = slot->public.private_capacity -
                                            slot->public.private_start;
        }
    } else if (packet->kind == PACKET_VIRTUAL) {
        args.DmaBufferVirtualAddress = packet->va;
        args.DmaBufferSize = packet->bytes;
        if (packet->buffer) {
            args.pDmaBufferPrivateData = packet->buffer->private_data;
            args.DmaBufferPrivateDataSize = packet->buffer->private_bytes;
            args.VidPnSourceId = packet->buffer->flip.source;
            args.FlipInterval = packet->buffer->flip.interval;
        }
        args.DmaBufferUmdPrivateDataSize = packet->umd_private_bytes;
    }
    return ddi_submit_command_virtual(context->device->vidsch->ddi, &args);
}

/* The driver refused the packet with this id. If it is still on the node, its device is put in
 * error, and the packet ends when those before it have ended. */
static void refuse(struct vidsch_node *node, uint32_t fence)
{
    for (uint32_t i = 0; i < node->count; i++) {
        struct packet *packet = node_in_flight(node, i);

        if (packet->fence != fence)
            continue;
        packet->refused = true;
        vidsch_device_lose(packet->context->device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT, false,
                           "DxgkDdiSubmitCommandVirtual answered STATUS_INVALID_PARAMETER");
        vidsch_retire_refused(node);
        return;
    }
}

/* The packet may end in the course of its submission: hold what has its private data, which is
 * compared then (PATCH-066, PAGE-008). */
static struct dma_buffer *hold_buffer(const struct packet *packet)
{
    if (packet->kind == PACKET_PAGING || !packet->buffer ||
        !vidsch_compares_now(packet->context->device->vidsch))
        return NULL;
    packet->buffer->references++;
    return packet->buffer;
}

static void check_private(struct dma_buffer *buffer, const struct paging_memory *paging,
                          uint32_t fence, const char *ddi)
{
    if (buffer) {
        (void)vidsch_dma_buffer_check_private(buffer, ddi);
        vidsch_patch_unchanged(buffer, fence, "by DxgkDdiSubmitCommand");
        vidsch_dma_buffer_put(buffer);
    }
    if (paging && !ddi_guarded_intact(&paging->private))
        verify_fatal("PAGE-008", VIDEO_MEMORY_MANAGEMENT_INTERNAL, MEMORY_PRIVATE_DATA_OVERFLOW,
                     paging->private.end, 0, 0,
                     "%s wrote outside the private data of its paging buffer", ddi);
}

static void submit(struct vidsch_node *node, struct packet *packet, bool is_virtual)
{
    const char *ddi = is_virtual ? "DxgkDdiSubmitCommandVirtual" : "DxgkDdiSubmitCommand";
    const struct paging_memory *paging = packet->kind == PACKET_PAGING ? packet->paging->memory
                                                                       : NULL;
    struct dma_buffer *buffer = hold_buffer(packet);
    struct vidsch *vidsch = node->vidsch;
    uint32_t fence = packet->fence;
    bool may_refuse = packet->kind == PACKET_VIRTUAL; /* SUBMIT-107 */
    NTSTATUS status;

    if (fence_after(fence, node->last_submitted) || node->last_submitted == 0)
        node->last_submitted = fence;
    node->after_reset = false;
    vidsch_null_context_note(node, packet);
    if (packet->kind == PACKET_PAGING) {
        vidsch->statistics.paging_submissions++;
    } else {
        vidsch->statistics.submissions++;
        sim_current->submissions++;
    }
    vidsch_portion_in_flight(packet);
    vidsch_tell_submitted(packet);
    vidsch_life_submitted(packet);
    vidsch_node_push(node, packet);
    status = is_virtual ? submit_virtual(packet) : submit_physical(packet);
    check_private(buffer, paging, fence, ddi);
    if (NT_SUCCESS(status))
        return;
    /* `packet` may have been freed by now. */
    if (ddi_driver_failed(vidsch->ddi, status) &&
        (!may_refuse || status != STATUS_INVALID_PARAMETER))
        verify_fatal("SUBMIT-037", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_SUBMIT_FAILED,
                     (uint32_t)status, fence, node->ordinal,
                     "%s answered %s for fence %u of node %u", ddi, nt_status_text(status).text,
                     fence, node->ordinal);
    refuse(node, fence);
}

/* The node was closed while the packet was patched: return it to where it came from. */
static void put_back(struct vidsch_node *node, struct packet *packet)
{
    struct vidsch_context *context = packet->context;

    context->device->in_flight--;
    vidsch_portion_put_back(packet);
    if (packet_comes_first(packet) && !context->hw_queue)
        list_push_front(&node->resubmit, &packet->link);
    else
        list_push_front(&context->queue,
                        &packet->link); /* a lost context's packets are canceled there */
}

static void drop(struct packet *packet, D3DKMT_DEVICEEXECUTION_STATE state, const char *why)
{
    vidsch_device_lose(packet->context->device, state, false, why);
    vidsch_life_fails(packet, JOURNAL_DROPPED);
    packet->context->device->in_flight--;
    vidsch_packet_finish(packet);
}

void vidsch_dispatch(struct vidsch_node *node, struct packet *packet)
{
    struct vidsch *vidsch = node->vidsch;
    struct vidsch_context *context = packet->context;
    bool is_virtual = context->mm.virtual_addressing;
    const bool is_over = vidsch_screen_flip_is_over(packet);
    bool good = !is_over;

    vidsch_assert_worker(vidsch);
    vidsch->worker.busy_node = node;
    vidsch->worker.busy_context = context;
    if (!context->hw_queue && (packet->kind != PACKET_PAGING || packet->fence == 0))
        packet->fence = vidsch_node_next_fence(node);
    if (good && packet->kind == PACKET_RENDER)
        good = place_allocations(packet);
    if (good && !is_virtual && !context->info.Caps.NoPatchingRequired &&
        packet->kind != PACKET_LEAVE && !context->hw_queue)
        good = patch(packet);
    if (!good)
        drop(packet, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT,
             is_over ? "the mode of its flip is over"
                     : "its allocations could not be placed, or DxgkDdiPatch failed");
    else if (vidsch->recovery.resetting || node->stopped)
        put_back(node, packet);
    else if (context->hw_queue)
        vidsch_hw_submit(packet);
    else
        submit(node, packet, is_virtual);
    vidsch->worker.busy_node = NULL;
    vidsch->worker.busy_context = NULL;
    vidsch_change_announce(&vidsch->change);
    if (context->state == CONTEXT_SUBMITTING) {
        context->state = CONTEXT_IDLE;
        vidsch_queue_advance(context);
    }
    if (context->pending == 0 || context->device->pending == 0)
        vidsch_device_wake(context->device); /* a thread may wait for the worker to be done */
}
