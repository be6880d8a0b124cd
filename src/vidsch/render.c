/* SPDX-License-Identifier: MIT */
/*
 * D3DKMTRender: a command buffer becomes DMA buffers.
 *
 *   client list -> own map, driver's list -> DxgkDdiRender -> checks of what came back -> queue
 *                                              ^                                          |
 *                                              +-- INSUFFICIENT_DMA_BUFFER: fresh buffer -+
 *
 * The driver reads the client's memory itself; the host reads each list element once and never
 * looks at the commands. The commands of GDI are the host's to copy: DxgkDdiRenderKm gets those.
 */
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "nt/base/status_name.h"
#include "sim/irql.h"
#include "sim/mutex.h"
#include "sim/sim_assert.h"
#include "verify/refusal.h"
#include "vidmm/allocation/offer.h"
#include "vidmm/allocation/renaming.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/process.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/gdi_commands.h"
#include "vidsch/packet.h"
#include "vidsch/prepatch.h"
#include "vidsch/portion.h"
#include "vidsch/queue.h"
#include "vidsch/recovery.h"
#include "vidsch/reference.h"
#include "vidsch/render_answer.h"
#include "vidsch/render_gdi.h"
#include "vidsch/render_resize.h"
#include "vidsch/scheduler.h"
#include "vidsch/screen_hold.h"
#include "vidsch/slots.h"
#include "vidsch/vidsch_assert.h"

struct submission {
    struct vidsch_context *context;
    struct vidsch_context
        *contexts[D3DDDI_MAX_BROADCAST_CONTEXT + 1]; /* all that get the packet, `context` first */
    uint32_t count;
    D3DKMT_RENDER *args;
    struct dma_buffer *buffer;
    struct ddi_guarded records; /* of DxgkDdiRenderKm, in place of the client's commands */
    const char *ddi;
    UINT multipass;
};

static NTSTATUS check_arguments(const struct vidsch_context *context, const D3DKMT_RENDER *args)
{
    if (!context->has_lists)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-301",
                      "the context has no command buffer: it is of GPU virtual addresses, or for "
                      "synchronization only");
    if (args->CommandOffset > args->CommandLength ||
        args->CommandLength > context->promise.command_bytes)
        return refuse(STATUS_INVALID_PARAMETER, "PATCH-063",
                      "CommandOffset %u, CommandLength %u, the command buffer has %u bytes",
                      args->CommandOffset, args->CommandLength, context->promise.command_bytes);
    if (args->AllocationCount > context->promise.allocation_count ||
        args->PatchLocationCount > context->promise.patch_count)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-303", /* PATCH-073 */
                      "%u allocations and %u patch locations, the lists have %u and %u elements",
                      args->AllocationCount, args->PatchLocationCount,
                      context->promise.allocation_count, context->promise.patch_count);
    if (args->BroadcastContextCount > D3DDDI_MAX_BROADCAST_CONTEXT)
        return refuse(STATUS_INVALID_PARAMETER, "PATCH-059",
                      "%u broadcast contexts, at most %u are possible",
                      (unsigned)args->BroadcastContextCount, D3DDDI_MAX_BROADCAST_CONTEXT);
    if (args->pPrivateDriverData || args->PrivateDriverDataSize || args->Flags.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-307",
                      "pPrivateDriverData %p, %u bytes, reserved bits of Flags 0x%x",
                      args->pPrivateDriverData, args->PrivateDriverDataSize, args->Flags.Reserved);
    if (args->Flags.PresentRedirected || args->Flags.RenderKmReadback)
        return refuse(STATUS_NOT_SUPPORTED, "KMT-306",
                      "this host neither redirects presents nor reads back what GDI has drawn");
    if (args->Flags.RenderKm && !ddi_has(context->device->vidsch->ddi, DxgkDdiRenderKm))
        return refuse(STATUS_NOT_SUPPORTED, "PATCH-097", "the driver has no DxgkDdiRenderKm");
    return STATUS_SUCCESS;
}

/* Look up the broadcast contexts: in physical mode, of this device, each named once (KMT-308). */
static NTSTATUS collect_contexts(struct submission *s)
{
    struct vidsch_device *device = s->context->device;
    struct nt_process *process = vidmm_process_nt(vidmm_device_process(device->mm));

    s->contexts[0] = s->context;
    s->count = 1;
    for (ULONG i = 0; i < s->args->BroadcastContextCount; i++) {
        struct vidsch_context *context = handle_lookup(
            &process->handles, s->args->BroadcastContext[i], DDI_CLIENT_CONTEXT);

        if (!context || context->device != device || !context->has_lists)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-308",
                          "broadcast context %u, handle 0x%x, is no context of this device with a "
                          "command buffer",
                          (unsigned)i, s->args->BroadcastContext[i]);
        for (uint32_t j = 0; j < s->count; j++)
            if (s->contexts[j] == context)
                return refuse(STATUS_INVALID_PARAMETER, "KMT-308",
                              "broadcast context %u, handle 0x%x, was named before", (unsigned)i,
                              s->args->BroadcastContext[i]);
        s->contexts[s->count++] = context;
    }
    return STATUS_SUCCESS;
}

/* Read each element of the client's list once, into the host's own map (PATCH-071, PATCH-072). */
static NTSTATUS convert_list(struct submission *s)
{
    struct vidsch_device *device = s->context->device;
    struct nt_process *process = vidmm_process_nt(vidmm_device_process(device->mm));
    const volatile D3DDDI_ALLOCATIONLIST *list = s->context->promise.allocations.view;

    for (UINT i = 0; i < s->args->AllocationCount; i++) {
        const D3DDDI_ALLOCATIONLIST element = list[i];
        struct dma_reference reference = {.handle = element.hAllocation,
                                          .write = element.WriteOperation};
        struct vidmm_place place = {0};

        if (reference.handle) {
            struct vidmm_open *open = handle_lookup(&process->handles, reference.handle,
                                                    DDI_CLIENT_ALLOCATION);

            NTSTATUS status = vidsch_reference_check(device, open, &reference, i);

            if (!NT_SUCCESS(status))
                return status;
            vidmm_open_place(open, &place);
            reference.device_specific = place.device_specific;
            reference.bytes = vidmm_open_bytes(open);
            reference.history = vidmm_open_history(open) != NULL;
            if (vidsch_is_1x(device->vidsch) &&
                device->vidsch->config.wddm_version >= DXGKDDI_INTERFACE_VERSION_WIN8)
                reference.offer = (uint8_t)element.OfferPriority; /* RES-064 */
        }
        s->buffer->references_map[i] = reference;
    }
    s->buffer->allocation_count = s->args->AllocationCount;
    return STATUS_SUCCESS;
}

/* Make the list that the driver sees at Render, with the addresses last known (PATCH-080). */
static void fill_list(const struct submission *s)
{
    struct dma_buffer *buffer = s->buffer;
    const size_t bytes = buffer->allocation_count * sizeof(*buffer->allocations);
    struct nt_process *process = vidmm_process_nt(vidmm_device_process(s->context->device->mm));

    for (uint32_t i = 0; i < buffer->allocation_count; i++) {
        struct dma_reference *reference = &buffer->references_map[i];
        DXGK_ALLOCATIONLIST *element = &buffer->allocations[i];
        struct vidmm_place place = {0};
        struct vidmm_open *open = NULL;

        *element = (DXGK_ALLOCATIONLIST){.hDeviceSpecificAllocation = reference->device_specific};
        element->WriteOperation = reference->write;
        if (reference->handle)
            open = handle_lookup(&process->handles, reference->handle, DDI_CLIENT_ALLOCATION);
        if (open && vidmm_open_place(open, &place) && place.resident) {
            element->SegmentId = place.segment & SEGMENT_ID_MASK;
            element->PhysicalAddress.QuadPart = (LONGLONG)place.physical;
        }
        vidsch_prepatch_note(reference, element);
    }
    buffer->patched = false;
    if (vidsch_compares_now(s->context->device->vidsch))
        ddi_guarded_end(&buffer->allocation_memory, bytes);
    else
        ddi_guarded_open(&buffer->allocation_memory);
}

static bool is_documented(NTSTATUS status)
{
    switch (status) {
    case STATUS_PRIVILEGED_INSTRUCTION:
    case STATUS_ILLEGAL_INSTRUCTION:
    case STATUS_INVALID_PARAMETER:
    case STATUS_INVALID_USER_BUFFER:
    case STATUS_INVALID_HANDLE:
    case STATUS_NO_MEMORY:
    case STATUS_GRAPHICS_DRIVER_MISMATCH:
    case STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE:
    case STATUS_DEVICE_REMOVED:
        return true;
    default:
        return false;
    }
}

static bool note_screens(struct packet *packet)
{
    const struct dma_buffer *buffer = packet->buffer;

    for (uint32_t i = 0; i < buffer->allocation_count; i++)
        if (buffer->references_map[i].write &&
            !vidsch_screen_note(packet, buffer->references_map[i].handle))
            return false;
    return true;
}

/* A packet for the whole buffer; NULL: out of memory. */
static struct packet *render_packet(const struct submission *s, struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct packet *packet = vidsch_packet_create(context, PACKET_RENDER);

    if (!packet)
        return NULL;
    packet->buffer = s->buffer;
    s->buffer->references++;
    packet->end = s->buffer->used;
    packet->patch_count = s->buffer->patch_count;
    packet->null_rendering = s->args->Flags.NullRendering ||
                             context->flags.NullRendering; /* PATCH-096 */
    if ((vidsch_is_1x(vidsch) && !vidsch_portion_create(packet)) || !note_screens(packet)) {
        vidsch_packet_free(vidsch, packet);
        return NULL;
    }
    return packet;
}

/* NULL: it is of no allocation, or of one that has been destroyed. */
static const struct vidmm_open *patched(const struct submission *s, uint32_t location)
{
    const struct dma_buffer *buffer = s->buffer;
    const D3DKMT_HANDLE handle =
        buffer->references_map[buffer->patches[location].AllocationIndex].handle;

    return handle ? vidmm_open_find_queued(s->context->device->mm, handle) : NULL;
}

/* ALLOC-122: of one allocation the patch locations name older instances first. */
static NTSTATUS check_instances(const struct submission *s)
{
    if (!vidmm_device_renames(s->context->device->mm))
        return STATUS_SUCCESS;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < s->buffer->patch_count; i++) {
            const struct vidmm_open *open = patched(s, i);

            if (open && pass == 0)
                vidmm_instance_begin(open);
            else if (open && !vidmm_instance_use(open))
                return refuse(STATUS_GRAPHICS_ALLOCATION_INVALID, "ALLOC-122",
                              "patch location %u names an older instance of an allocation than one "
                              "before it",
                              i);
        }
    return STATUS_SUCCESS;
}

/* For locks of WDDM 1.x, which wait for what uses an allocation. */
static void note_uses(const struct submission *s)
{
    const bool renames = vidmm_device_renames(s->context->device->mm);

    for (uint32_t i = 0; renames && i < s->buffer->patch_count; i++) {
        const struct vidmm_open *open = patched(s, i);

        if (open)
            vidmm_instance_keep(open);
    }
    for (uint32_t i = 0; i < s->buffer->allocation_count; i++) {
        const struct dma_reference *reference = &s->buffer->references_map[i];
        struct vidmm_open *open = reference->handle ? vidmm_open_find_queued(s->context->device->mm,
                                                                             reference->handle)
                                                    : NULL;

        if (open)
            vidmm_open_used(open, reference->write);
    }
}

/* Queue one packet in each context, or none at all. */
static NTSTATUS queue(struct submission *s)
{
    struct vidsch *vidsch = s->context->device->vidsch;
    struct packet *packets[D3DDDI_MAX_BROADCAST_CONTEXT + 1];
    NTSTATUS status = vidsch_device_check(s->context->device, true);

    if (!NT_SUCCESS(status)) /* lost while the driver translated */
        return status;
    for (uint32_t i = 0; i < s->count; i++) {
        packets[i] = render_packet(s, s->contexts[i]);
        if (!packets[i]) {
            while (i-- > 0)
                vidsch_packet_free(vidsch, packets[i]);
            return STATUS_NO_MEMORY;
        }
    }
    for (uint32_t i = 0; i < s->count; i++)
        vidsch_queue_push(packets[i]);
    if (vidsch_is_1x(vidsch))
        note_uses(s);
    return STATUS_SUCCESS;
}

/* PATCH-097 */
static NTSTATUS call_driver(struct submission *s, DXGKARG_RENDER *render)
{
    struct ddi_adapter *ddi = s->context->device->vidsch->ddi;
    const uint8_t *commands = s->context->promise.commands.view;
    NTSTATUS status;

    if (!s->args->Flags.RenderKm) {
        render->pCommand = commands + s->args->CommandOffset;
        return ddi_render(ddi, s->context->mm.driver_handle, render);
    }
    render->pCommand = s->records.data;
    status = ddi_render_km(ddi, s->context->mm.driver_handle, render);
    ddi_guarded_check(&s->records, s->ddi);
    return status;
}

/* Call the driver once, with the current buffer; *more: it needs another one. */
static NTSTATUS translate(struct submission *s, bool *more)
{
    struct vidsch_device *device = s->context->device;
    struct dma_buffer *buffer = s->buffer;
    UINT before = s->multipass;
    DXGKARG_RENDER render = {
        .CommandLength = s->args->CommandLength - s->args->CommandOffset,
        .pDmaBuffer = buffer->data,
        .DmaSize = buffer->capacity,
        .pDmaBufferPrivateData = buffer->private_data,
        .DmaBufferPrivateDataSize = buffer->private_bytes,
        .pAllocationList = buffer->allocations,
        .AllocationListSize = buffer->allocation_count,
        .pPatchLocationListIn = s->context->promise.patches.view,
        .PatchLocationListInSize = s->args->PatchLocationCount,
        .pPatchLocationListOut = buffer->patch_capacity ? buffer->patches : NULL,
        .PatchLocationListOutSize = buffer->patch_capacity,
        .MultipassOffset = s->multipass,
        .DmaBufferSegmentId = buffer->aperture.segment,
        .DmaBufferPhysicalAddress.QuadPart = (LONGLONG)vidsch_dma_buffer_address(buffer),
    };
    NTSTATUS status;

    s->buffer->rendered_at = sim_now();
    status = call_driver(s, &render);
    *more = status == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    if (!NT_SUCCESS(status) && !*more) {
        if (!is_documented(status))
            WARNING("PATCH-093", "%s answered %s", s->ddi, nt_status_text(status).text);
        if (status == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE) /* PATCH-092 */
            vidsch_device_lose(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT, false,
                               s->args->Flags.RenderKm ? "DxgkDdiRenderKm answered "
                                                         "STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE"
                                                       : "DxgkDdiRender answered "
                                                         "STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE");
        return status;
    }
    refusal_forget(STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER);
    s->multipass = render.MultipassOffset;
    status = vidsch_render_answer_take(
        buffer, &(struct render_answer){.ddi = s->ddi,
                                        .dma = render.pDmaBuffer,
                                        .private_data = render.pDmaBufferPrivateData,
                                        .patches = render.pPatchLocationListOut});
    if (!NT_SUCCESS(status))
        return status;
    vidsch_patch_rendered(buffer);
    if (*more && buffer->used == 0 && s->multipass == before) { /* PATCH-088 */
        VIOLATION("PATCH-088", "%s found %u empty bytes insufficient (0x10E/0x16)", s->ddi,
                  buffer->capacity);
        return STATUS_NO_MEMORY;
    }
    return STATUS_SUCCESS;
}

/* A new buffer with the client's references. */
static struct dma_buffer *another_buffer(const struct submission *s)
{
    struct dma_buffer *buffer = vidsch_dma_buffer_get(s->context);

    if (!buffer)
        return NULL;
    for (uint32_t i = 0; i < s->buffer->allocation_count; i++)
        buffer->references_map[i] = s->buffer->references_map[i];
    buffer->allocation_count = s->buffer->allocation_count;
    return buffer;
}

/* PATCH-116: of a WDDM 1.x buffer only what patch locations name is brought in. A driver whose list
 * is empty although the buffer has allocations patches them before they have a place. */
static void warn_of_empty_list(const struct submission *s)
{
    const struct dma_buffer *buffer = s->buffer;

    if (buffer->patch_count)
        return;
    for (uint32_t i = 0; i < buffer->allocation_count; i++)
        if (buffer->references_map[i].handle) {
            WARNING("PATCH-116",
                    "%s returned no patch location, but the allocation list has an "
                    "allocation at index %u: nothing is made resident for this buffer",
                    s->ddi, i);
            return;
        }
}

/* RES-064: when the work queued so far is done. What is locked cannot be offered. */
static void offer_listed(const struct submission *s)
{
    for (uint32_t i = 0; i < s->buffer->allocation_count; i++) {
        const struct dma_reference *reference = &s->buffer->references_map[i];
        const D3DKMT_OFFER_FLAGS flags = {0};

        if (reference->handle && reference->offer)
            (void)vidmm_offer(s->context->device->mm, NULL, &reference->handle, 1,
                              (D3DKMT_OFFER_PRIORITY)reference->offer, flags);
    }
}

/* Call DxgkDdiRender until all is translated. Consumes the reference to s->buffer. */
static NTSTATUS translate_all(struct submission *s)
{
    for (;;) {
        struct dma_buffer *next = NULL;
        bool more;
        NTSTATUS status;

        fill_list(s);
        status = translate(s, &more);
        if (NT_SUCCESS(status) && more)
            next = another_buffer(s);
        if (NT_SUCCESS(status)) {
            vidsch_render_answer_unbind(s->buffer);
            status = vidsch_render_answer_check(s->buffer);
        }
        if (NT_SUCCESS(status) && vidsch_is_1x(s->context->device->vidsch)) {
            warn_of_empty_list(s);
            status = check_instances(s);
            if (NT_SUCCESS(status))
                status = vidsch_slots_take(s->buffer);
        }
        if (NT_SUCCESS(status))
            status = queue(s);
        if (NT_SUCCESS(status) && !more)
            offer_listed(s);
        vidsch_dma_buffer_put(s->buffer);
        s->buffer = next;
        if (NT_SUCCESS(status) && more && !next)
            return STATUS_NO_MEMORY;
        if (!NT_SUCCESS(status) || !more) {
            if (next)
                vidsch_dma_buffer_put(next);
            return status;
        }
    }
}

static void outputs(const struct vidsch_context *context, D3DKMT_RENDER *args)
{
    vidsch_assert_locked(context);
    args->pNewCommandBuffer = context->promise.commands.view;
    args->NewCommandBufferSize = context->promise.command_bytes;
    args->pNewAllocationList = context->promise.allocations.view;
    args->NewAllocationListSize = context->promise.allocation_count;
    args->pNewPatchLocationList = context->promise.patches.view;
    args->NewPatchLocationListSize = context->promise.patch_count;
    args->NewCommandBuffer = 0; /* KMT-156 */
}

static NTSTATUS copy_records(struct submission *s)
{
    const uint8_t *commands = s->context->promise.commands.view;

    if (!s->args->Flags.RenderKm)
        return STATUS_SUCCESS;
    return vidsch_gdi_commands_copy(&s->records, commands + s->args->CommandOffset,
                                    s->args->CommandLength - s->args->CommandOffset);
}

static NTSTATUS render(struct vidsch_context *context, D3DKMT_RENDER *args)
{
    struct submission s = {.context = context,
                           .args = args,
                           .ddi = args->Flags.RenderKm ? "DxgkDdiRenderKm" : "DxgkDdiRender"};
    NTSTATUS status = vidsch_device_check(context->device, true);
    struct dma_buffer *reserve;

    vidsch_assert_locked(context);
    if (NT_SUCCESS(status))
        status = check_arguments(context, args);
    if (NT_SUCCESS(status))
        status = collect_contexts(&s);
    for (uint32_t i = 0; i < s.count && NT_SUCCESS(status); i++)
        status = vidmm_context_prepare(&s.contexts[i]->mm);
    if (!NT_SUCCESS(status))
        return status;
    reserve = vidsch_dma_buffer_get(
        context); /* reserves the next call's buffer before this one succeeds (PATCH-054) */
    if (!reserve)
        return STATUS_NO_MEMORY;
    s.buffer = context->reserve;
    context->reserve = reserve;
    status = convert_list(&s);
    if (NT_SUCCESS(status))
        status = copy_records(&s);
    if (!NT_SUCCESS(status)) {
        vidsch_dma_buffer_put(s.buffer);
        return status;
    }
    status = translate_all(&s);
    ddi_guarded_finish(&s.records);
    return status;
}

NTSTATUS vidsch_render(struct vidsch_context *context, D3DKMT_RENDER *args)
{
    const bool is_gdi = vidsch_render_is_gdi(context, args);
    NTSTATUS status;

    sim_assert_passive();
    vidsch_recovery_await_adapter(context->device->vidsch); /* TDR-081 */
    sim_mutex_lock(&context->render_lock);
    status = is_gdi ? vidsch_render_gdi(context, args) : render(context, args);
    if (NT_SUCCESS(status)) {
        if (!is_gdi && (args->Flags.ResizeCommandBuffer || args->Flags.ResizeAllocationList ||
                        args->Flags.ResizePatchLocationList))
            vidsch_render_resize(context, args);
        args->QueuedBufferCount = context->work; /* PATCH-058 */
        status = STATUS_SUCCESS;
    }
    if (context->has_lists || is_gdi)
        outputs(context, args); /* PATCH-055 */
    sim_mutex_unlock(&context->render_lock);
    return status;
}
