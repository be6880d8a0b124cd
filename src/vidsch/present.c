/* SPDX-License-Identifier: MIT */
/*
 * D3DKMTPresent as a copy, a fill, or a flip that the GPU makes: there is no command buffer of the
 * client, the driver writes the commands itself.
 *
 *   rectangles -> list of three: empty, source, destination -> DxgkDdiPresent -> checks -> queue
 *                                                                 ^                       |
 *                                                                 +-- insufficient buffer +
 *
 * The buffer goes on as one of Render does (PATCH-098), with the flag Present, and is never cut.
 */
#include "vidsch/present.h"
#include <string.h>

#include "ddi/client_handle.h"
#include "ddi/entries_display.h"
#include "nt/base/kprocess.h"
#include "nt/base/status_name.h"
#include "sim/mutex.h"
#include "sim/sim_assert.h"
#include "verify/refusal.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/process.h"
#include "vidmm/residency/open_place.h"
#include "vidmm/space/open_address.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/packet.h"
#include "vidsch/portion.h"
#include "vidsch/prepatch.h"
#include "vidsch/queue.h"
#include "vidsch/recovery.h"
#include "vidsch/reference.h"
#include "vidsch/render_answer.h"
#include "vidsch/scheduler.h"
#include "vidsch/screen_hold.h"
#include "vidsch/slots.h"

struct presenting {
    struct vidsch_context *context;
    const struct vidsch_present *present;
    struct ddi_guarded rects; /* the driver's, in all passes (PRES-104) */
    struct dma_buffer *buffer;
    UINT multipass;
    bool is_virtual;
    DXGK_PRESENTALLOCATIONINFO info[DMA_PRESENT_ELEMENTS]; /* in place of the list (PRES-115) */
    UINT private_used; /* in the last pass: 0 if the driver did not move its pointer */
};

/* ---- the allocation list ---- */

static struct vidmm_open *find(const struct presenting *p, D3DKMT_HANDLE handle)
{
    struct nt_process *process = vidmm_process_nt(vidmm_device_process(p->context->device->mm));

    return handle ? handle_lookup(&process->handles, handle, DDI_CLIENT_ALLOCATION) : NULL;
}

static bool is_pinned(const struct presenting *p, UINT index)
{
    return index == DXGK_PRESENT_DESTINATION_INDEX ? p->present->shown : p->present->flip.is;
}

/* PATCH-098 */
static NTSTATUS refer(const struct presenting *p, UINT index, D3DKMT_HANDLE handle)
{
    struct dma_reference *reference = &p->buffer->references_map[index];
    struct vidmm_open *open = find(p, handle);
    struct vidmm_place place = {0};
    NTSTATUS status;

    *reference = (struct dma_reference){.handle = handle,
                                        .write = index == DXGK_PRESENT_DESTINATION_INDEX,
                                        .pinned = is_pinned(p, index)};
    if (!handle)
        return STATUS_SUCCESS;
    status = vidsch_reference_check(p->context->device, open, reference, index);
    if (!NT_SUCCESS(status))
        return status;
    vidmm_open_place(open, &place);
    reference->device_specific = place.device_specific;
    reference->bytes = vidmm_open_bytes(open);
    return STATUS_SUCCESS;
}

/* With the addresses last known (PRES-110). */
static void fill_list(const struct presenting *p)
{
    struct dma_buffer *buffer = p->buffer;

    for (UINT i = 0; i < DMA_PRESENT_ELEMENTS; i++) {
        struct dma_reference *reference = &buffer->references_map[i];
        const struct vidmm_open *open = find(p, reference->handle);
        DXGK_ALLOCATIONLIST *element = &buffer->allocations[i];
        struct vidmm_place place = {0};

        *element = (DXGK_ALLOCATIONLIST){.hDeviceSpecificAllocation = reference->device_specific};
        element->WriteOperation = reference->write;
        if (open && vidmm_open_place(open, &place) && place.resident) {
            element->SegmentId = place.segment & SEGMENT_ID_MASK;
            element->PhysicalAddress.QuadPart = (LONGLONG)place.physical;
        }
        vidsch_prepatch_note(reference, element);
    }
    buffer->patched = false;
    ddi_guarded_open(&buffer->allocation_memory);
}

/* PRES-116: with addresses of the process; it may wait for one. */
static NTSTATUS get_address(struct presenting *p, UINT index, D3DKMT_HANDLE handle)
{
    const struct dma_reference reference = {.handle = handle,
                                            .write = index == DXGK_PRESENT_DESTINATION_INDEX};
    struct vidsch_device *device = p->context->device;
    NTSTATUS status;

    if (!handle)
        return STATUS_SUCCESS;
    status = vidsch_reference_usable(device, find(p, handle), &reference, index);
    return NT_SUCCESS(status) ? vidmm_open_address(device->mm, handle, reference.write,
                                                   &p->info[index].AllocationVirtualAddress)
                              : status;
}

static NTSTATUS get_addresses(struct presenting *p)
{
    NTSTATUS status = get_address(p, DXGK_PRESENT_SOURCE_INDEX, p->present->source);

    return NT_SUCCESS(status)
               ? get_address(p, DXGK_PRESENT_DESTINATION_INDEX, p->present->destination)
               : status;
}

/* In each pass: all waits are over, for addresses and for the driver in the pass before. */
static NTSTATUS inform(struct presenting *p, UINT index, D3DKMT_HANDLE handle)
{
    const struct vidmm_open *open = find(p, handle);
    struct vidmm_place place = {0};

    if (!handle)
        return STATUS_SUCCESS;
    if (!open)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-116",
                      "allocation 0x%x was destroyed during the present", handle);
    vidmm_open_place(open, &place);
    p->info[index].hDeviceSpecificAllocation = place.device_specific;
    return STATUS_SUCCESS;
}

static NTSTATUS inform_all(struct presenting *p)
{
    NTSTATUS status = inform(p, DXGK_PRESENT_SOURCE_INDEX, p->present->source);

    return NT_SUCCESS(status) ? inform(p, DXGK_PRESENT_DESTINATION_INDEX, p->present->destination)
                              : status;
}

static NTSTATUS take_buffer(struct presenting *p)
{
    NTSTATUS status;

    p->buffer = vidsch_dma_buffer_get_data(p->context);
    if (!p->buffer)
        return STATUS_NO_MEMORY;
    p->buffer->present = true;
    p->buffer->flip = p->present->flip;
    p->buffer->flip.over = p->context->device->vidsch->screens.flips_over[p->present->flip.source];
    if (p->is_virtual)
        return inform_all(p);
    p->buffer->allocation_count = DMA_PRESENT_ELEMENTS;
    status = refer(p, 0, 0);
    if (NT_SUCCESS(status))
        status = refer(p, DXGK_PRESENT_SOURCE_INDEX, p->present->source);
    if (NT_SUCCESS(status))
        status = refer(p, DXGK_PRESENT_DESTINATION_INDEX, p->present->destination);
    if (NT_SUCCESS(status))
        fill_list(p);
    return status;
}

/* ---- the driver's answer ---- */

static bool is_documented(NTSTATUS status)
{
    switch (status) {
    case STATUS_GRAPHICS_CANNOTCOLORCONVERT:
    case STATUS_NO_MEMORY:
    case STATUS_INSUFFICIENT_RESOURCES:
    case STATUS_INVALID_HANDLE:
    case STATUS_PRIVILEGED_INSTRUCTION:
    case STATUS_ILLEGAL_INSTRUCTION:
    case STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE:
    case STATUS_DEVICE_REMOVED:
        return true;
    default:
        return false;
    }
}

/* PRES-111 */
static NTSTATUS failed(const struct presenting *p, NTSTATUS status)
{
    if (!is_documented(status))
        WARNING("PRES-111", "DxgkDdiPresent answered %s", nt_status_text(status).text);
    if (status == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE)
        vidsch_device_lose(p->context->device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT, false,
                           "DxgkDdiPresent answered STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE");
    return status;
}

/* PRES-108: each element that is there must be named. */
static void check_named(const struct presenting *p)
{
    const struct dma_buffer *buffer = p->buffer;
    uint32_t named = 0;

    for (uint32_t i = 0; i < buffer->patch_count; i++)
        named |= 1u << buffer->patches[i].AllocationIndex;
    for (UINT i = DXGK_PRESENT_SOURCE_INDEX; i < DMA_PRESENT_ELEMENTS; i++)
        if (buffer->references_map[i].handle && !(named & 1u << i))
            WARNING("PRES-108",
                    "DxgkDdiPresent returned no patch location of the %s: its address may change "
                    "before the buffer runs",
                    i == DXGK_PRESENT_SOURCE_INDEX ? "source" : "destination");
}

/* PRES-109 */
static void check_locations(const struct presenting *p)
{
    const struct vidsch *vidsch = p->context->device->vidsch;
    const struct dma_buffer *buffer = p->buffer;

    for (uint32_t i = 0; i < buffer->patch_count; i++) {
        const D3DDDI_PATCHLOCATIONLIST *patch = &buffer->patches[i];

        if (patch->AllocationIndex == 0)
            WARNING("PRES-109",
                    "patch location %u of a present is of element 0, which is always empty", i);
        if (patch->SlotId > vidsch->config.max_allocation_list_slot)
            WARNING("PRES-109",
                    "patch location %u of a present is in slot %u, and MaxAllocationListSlotId is "
                    "%u",
                    i, patch->SlotId, vidsch->config.max_allocation_list_slot);
    }
}

static NTSTATUS check_answer(const struct presenting *p)
{
    NTSTATUS status = p->is_virtual ? STATUS_SUCCESS : vidsch_render_answer_check(p->buffer);

    if (!NT_SUCCESS(status) || p->is_virtual)
        return status;
    check_locations(p);
    if (p->context->info.Caps.NoPatchingRequired)
        return status;
    check_named(p);
    return vidsch_is_1x(p->context->device->vidsch) ? vidsch_slots_take(p->buffer) : status;
}

/* ---- one pass ---- */

static DXGKARG_PRESENT arguments(struct presenting *p)
{
    const struct vidsch_present *present = p->present;
    const struct dma_buffer *buffer = p->buffer;
    DXGKARG_PRESENT args = {
        .pDmaBuffer = buffer->data,
        .DmaSize = buffer->capacity,
        .pDmaBufferPrivateData = buffer->private_data,
        .DmaBufferPrivateDataSize = buffer->private_bytes,
        .pAllocationList = buffer->allocations,
        .pPatchLocationListOut = buffer->patch_capacity ? buffer->patches : NULL,
        .PatchLocationListOutSize = buffer->patch_capacity,
        .MultipassOffset = p->multipass,
        .Color = present->color,
        .DstRect = present->to,
        .SrcRect = present->from,
        .SubRectCnt = present->rect_count,
        .pDstSubRects = (const RECT *)(const void *)p->rects.data,
        .FlipInterval = present->flip.interval,
        .Flags = present->flags,
        .DmaBufferSegmentId = buffer->aperture.segment,
        .DmaBufferPhysicalAddress.QuadPart = (LONGLONG)vidsch_dma_buffer_address(buffer),
        .PrivateDriverDataSize = present->private_bytes,
        .pPrivateDriverData = present->private_data,
    };

    if (!p->is_virtual)
        return args;
    args.pAllocationInfo = p->info;
    args.DmaBufferPhysicalAddress.QuadPart = 0;
    args.DmaBufferGpuVirtualAddress = buffer->va.value;
    return args;
}

/* *more: it needs another buffer. */
static NTSTATUS ask_driver(struct presenting *p, bool *more)
{
    const UINT before = p->multipass;
    DXGKARG_PRESENT args = arguments(p);
    NTSTATUS status;

    p->buffer->rendered_at = sim_now();
    status = ddi_present(p->context->device->vidsch->ddi, p->context->mm.driver_handle, &args);
    ddi_guarded_check(&p->rects, "DxgkDdiPresent");
    *more = status == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    if (!NT_SUCCESS(status) && !*more)
        return failed(p, status);
    refusal_forget(STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER);
    p->multipass = args.MultipassOffset;
    status = vidsch_render_answer_take(
        p->buffer, &(struct render_answer){.ddi = "DxgkDdiPresent",
                                           .dma = args.pDmaBuffer,
                                           .private_data = args.pDmaBufferPrivateData,
                                           .patches = args.pPatchLocationListOut});
    if (!NT_SUCCESS(status))
        return status;
    p->private_used = (UINT)((uint8_t *)args.pDmaBufferPrivateData - p->buffer->private_data);
    if (!p->is_virtual)
        vidsch_patch_rendered(p->buffer);
    if (*more && p->buffer->used == 0 && p->multipass == before) { /* PRES-106 */
        VIOLATION("PRES-106",
                  "DxgkDdiPresent found %u empty bytes insufficient for one of %u rectangles",
                  p->buffer->capacity, p->present->rect_count);
        return STATUS_NO_MEMORY;
    }
    return check_answer(p);
}

/* ---- queueing ---- */

/* For locks of WDDM 1.x, which wait for what uses an allocation. */
static void note_uses(const struct presenting *p)
{
    for (UINT i = DXGK_PRESENT_SOURCE_INDEX; i < DMA_PRESENT_ELEMENTS; i++) {
        struct vidmm_open *open = find(p, p->buffer->references_map[i].handle);

        if (open)
            vidmm_open_used(open, p->buffer->references_map[i].write);
    }
}

static NTSTATUS queue(const struct presenting *p)
{
    struct vidsch_context *context = p->context;
    struct vidsch *vidsch = context->device->vidsch;
    NTSTATUS status = vidsch_device_check(context->device, true);
    struct packet *packet;

    if (!NT_SUCCESS(status)) /* lost while the driver was asked */
        return status;
    packet = vidsch_packet_create(context, p->is_virtual ? PACKET_VIRTUAL : PACKET_RENDER);
    if (!packet)
        return STATUS_NO_MEMORY;
    packet->buffer = p->buffer;
    p->buffer->references++;
    packet->present = true;
    packet->null_rendering = context->flags.NullRendering;
    if (p->is_virtual) {
        packet->va = p->buffer->va.value;
        packet->bytes = p->buffer->used;
        packet->umd_private_bytes = p->private_used; /* SUBMIT-110 */
    } else {
        packet->end = p->buffer->used;
        packet->patch_count = p->buffer->patch_count;
    }
    if (vidsch_is_1x(vidsch) && !vidsch_portion_create(packet)) {
        vidsch_packet_free(vidsch, packet);
        return STATUS_NO_MEMORY;
    }
    if (!vidsch_screen_note(packet, p->present->destination)) {
        vidsch_packet_free(vidsch, packet);
        return STATUS_NO_MEMORY;
    }
    vidsch_queue_push(packet);
    if (vidsch_is_1x(vidsch))
        note_uses(p);
    return STATUS_SUCCESS;
}

static NTSTATUS present_all(struct presenting *p)
{
    NTSTATUS status;
    bool more;

    do {
        more = false;
        status = take_buffer(p);
        if (NT_SUCCESS(status))
            status = ask_driver(p, &more);
        if (NT_SUCCESS(status))
            status = queue(p);
        if (p->buffer)
            vidsch_dma_buffer_put(p->buffer);
        p->buffer = NULL;
    } while (NT_SUCCESS(status) && more);
    return status;
}

NTSTATUS vidsch_present(struct vidsch_context *context, const struct vidsch_present *present)
{
    struct presenting p = {
        .context = context, .present = present, .is_virtual = context->mm.virtual_addressing};
    NTSTATUS status;

    sim_assert_passive();
    vidsch_recovery_await_adapter(context->device->vidsch); /* TDR-081 */
    status = vidsch_device_check(context->device, true);
    if (!NT_SUCCESS(status))
        return status;
    if (context->hw)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-305",
                      "the context takes commands in its hardware queues alone");
    if (context->flags.SynchronizationOnly)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-090",
                      "the context is for synchronization only");
    status = vidmm_context_prepare(&context->mm);
    if (NT_SUCCESS(status)) /* it may have been lost meanwhile */
        status = vidsch_device_check(context->device, true);
    if (!NT_SUCCESS(status))
        return status;
    if (!ddi_guarded_init(&p.rects, present->rect_count * sizeof(RECT),
                          "pDstSubRects of DXGKARG_PRESENT"))
        return STATUS_NO_MEMORY;
    if (present->rect_count)
        memcpy(p.rects.data, present->rects, present->rect_count * sizeof(RECT));
    sim_mutex_lock(&context->render_lock);
    status = p.is_virtual ? get_addresses(&p) : STATUS_SUCCESS;
    if (NT_SUCCESS(status)) /* it may have been lost meanwhile */
        status = vidsch_device_check(context->device, true);
    if (NT_SUCCESS(status))
        status = present_all(&p);
    sim_mutex_unlock(&context->render_lock);
    ddi_guarded_finish(&p.rects);
    return status;
}
