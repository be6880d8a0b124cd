/* SPDX-License-Identifier: MIT */
#include "vidsch/render_gdi.h"

#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
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
#include "vidsch/gdi_commands.h"
#include "vidsch/packet.h"
#include "vidsch/queue.h"
#include "vidsch/reference.h"
#include "vidsch/render_answer.h"
#include "vidsch/scheduler.h"
#include "vidsch/screen_hold.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

#define LIST_ELEMENTS ((uint32_t)(PAGE_BYTES / sizeof(D3DDDI_ALLOCATIONLIST)))

struct drawing {
    struct vidsch_context *context;
    const D3DKMT_RENDER *args;
    struct ddi_guarded records;
    struct dma_buffer *buffer;
    uint32_t private_used;
};

bool vidsch_render_is_gdi(const struct vidsch_context *context, const D3DKMT_RENDER *args)
{
    return args->Flags.RenderKm && context->mm.virtual_addressing && !context->hw &&
           !context->flags.SynchronizationOnly;
}

static bool has_buffer(const struct vidsch_context *context)
{
    return context->promise.commands.view != NULL;
}

static NTSTATUS make_buffer(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct vidsch_promise *promise = &context->promise;
    const uint64_t bytes = align_up(context->info.DmaBufferSize ? context->info.DmaBufferSize : 1,
                                    PAGE_BYTES);

    if (!vidsch_client_block_create(vidsch, &promise->allocations, PAGE_BYTES))
        return STATUS_NO_MEMORY;
    if (bytes > UINT32_MAX || !vidsch_client_block_create(vidsch, &promise->commands, bytes)) {
        vidsch_client_block_destroy(vidsch, &promise->allocations);
        return STATUS_NO_MEMORY;
    }
    promise->command_bytes = (uint32_t)bytes;
    promise->allocation_count = LIST_ELEMENTS;
    return STATUS_SUCCESS;
}

static NTSTATUS check_arguments(const struct vidsch_context *context, const D3DKMT_RENDER *args)
{
    const struct vidsch_promise *promise = &context->promise;

    if (args->CommandOffset > args->CommandLength || args->CommandLength > promise->command_bytes ||
        args->AllocationCount > promise->allocation_count)
        return refuse(STATUS_INVALID_PARAMETER, "PATCH-166",
                      "CommandOffset %u, CommandLength %u, %u allocations: the context has a command "
                      "buffer of %u bytes, and a list of %u elements",
                      args->CommandOffset, args->CommandLength, args->AllocationCount,
                      promise->command_bytes, promise->allocation_count);
    if (args->PatchLocationCount || args->BroadcastContextCount)
        return refuse(STATUS_INVALID_PARAMETER, "PATCH-166",
                      "%u patch locations and %u further contexts, with GPU virtual addresses",
                      args->PatchLocationCount, (unsigned)args->BroadcastContextCount);
    if (args->Flags.PresentRedirected || args->Flags.RenderKmReadback)
        return refuse(STATUS_NOT_SUPPORTED, "KMT-306",
                      "this host neither redirects presents nor reads back what GDI has drawn");
    if (!ddi_has(context->device->vidsch->ddi, DxgkDdiRenderGdi))
        return refuse(STATUS_NOT_SUPPORTED, "PATCH-099", "the driver has no DxgkDdiRenderGdi");
    return STATUS_SUCCESS;
}

/* ---- the allocation list ---- */

static struct vidmm_open *find(const struct drawing *d, D3DKMT_HANDLE handle)
{
    struct nt_process *process = vidmm_process_nt(vidmm_device_process(d->context->device->mm));

    return handle_lookup(&process->handles, handle, DDI_CLIENT_ALLOCATION);
}

/* An element with the address that the allocation has in the address space of the process. */
static NTSTATUS refer(const struct drawing *d, UINT i, const D3DDDI_ALLOCATIONLIST *from)
{
    const struct dma_reference reference = {.handle = from->hAllocation,
                                            .write = from->WriteOperation};
    struct vidsch_device *device = d->context->device;
    DXGK_ALLOCATIONLIST *element = &d->buffer->allocations[i];
    const struct vidmm_open *open;
    struct vidmm_place place = {0};
    NTSTATUS status;

    *element = (DXGK_ALLOCATIONLIST){.hDeviceSpecificAllocation = NULL};
    element->WriteOperation = reference.write;
    d->buffer->references_map[i] = reference;
    if (!reference.handle)
        return STATUS_SUCCESS;
    status = vidsch_reference_usable(device, find(d, reference.handle), &reference, i);
    if (NT_SUCCESS(status))
        status = vidmm_open_address(device->mm, reference.handle, reference.write,
                                    &element->VirtualAddress);
    if (!NT_SUCCESS(status))
        return status;
    open = find(d, reference.handle);
    if (!open)
        return refuse(STATUS_INVALID_HANDLE, NULL,
                      "element %u of the allocation list, handle 0x%x, was destroyed during the "
                      "call",
                      i, reference.handle);
    vidmm_open_place(open, &place);
    element->hDeviceSpecificAllocation = place.device_specific;
    return STATUS_SUCCESS;
}

static NTSTATUS refer_all(const struct drawing *d)
{
    const volatile D3DDDI_ALLOCATIONLIST *list = d->context->promise.allocations.view;
    NTSTATUS status = STATUS_SUCCESS;

    for (UINT i = 0; i < d->args->AllocationCount && NT_SUCCESS(status); i++) {
        const D3DDDI_ALLOCATIONLIST element = list[i];

        status = refer(d, i, &element);
    }
    d->buffer->allocation_count = d->args->AllocationCount;
    ddi_guarded_end(&d->buffer->allocation_memory,
                    d->args->AllocationCount * sizeof(*d->buffer->allocations));
    return status;
}

/* ---- the driver ---- */

static NTSTATUS ask_driver(struct drawing *d)
{
    struct ddi_adapter *ddi = d->context->device->vidsch->ddi;
    struct dma_buffer *buffer = d->buffer;
    DXGKARG_RENDERGDI args = {
        .pCommand = d->records.data,
        .CommandLength = d->args->CommandLength - d->args->CommandOffset,
        .pDmaBuffer = buffer->data,
        .DmaBufferGpuVirtualAddress = buffer->va.value,
        .DmaSize = buffer->capacity,
        .pDmaBufferPrivateData = buffer->private_data,
        .DmaBufferPrivateDataSize = buffer->private_bytes,
        .pAllocationList = buffer->allocations,
        .AllocationListSize = buffer->allocation_count,
    };
    NTSTATUS status;

    buffer->rendered_at = sim_now();
    status = ddi_render_gdi(ddi, d->context->mm.driver_handle, &args);
    ddi_guarded_check(&d->records, "DxgkDdiRenderGdi");
    if (status != STATUS_SUCCESS) {
        if (NT_SUCCESS(status) || ddi_driver_failed(ddi, status))
            verify_fatal("PATCH-099", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_SUBMIT_FAILED,
                         (uint32_t)status, 0, d->context->node->ordinal,
                         "DxgkDdiRenderGdi answered %s", nt_status_text(status).text);
        return NT_SUCCESS(status) ? STATUS_INVALID_PARAMETER : status;
    }
    status = vidsch_render_answer_take(
        buffer, &(struct render_answer){.ddi = "DxgkDdiRenderGdi",
                                        .dma = args.pDmaBuffer,
                                        .private_data = args.pDmaBufferPrivateData,
                                        .patches = buffer->patches});
    d->private_used = (uint32_t)((uint8_t *)args.pDmaBufferPrivateData - buffer->private_data);
    return status;
}

static NTSTATUS queue(const struct drawing *d)
{
    struct vidsch_context *context = d->context;
    struct vidsch *vidsch = context->device->vidsch;
    NTSTATUS status = vidsch_device_check(context->device, true);
    struct packet *packet;

    if (!NT_SUCCESS(status)) /* lost while the driver was asked */
        return status;
    packet = vidsch_packet_create(context, PACKET_VIRTUAL);
    if (!packet)
        return STATUS_NO_MEMORY;
    packet->buffer = d->buffer;
    d->buffer->references++;
    packet->null_rendering = d->args->Flags.NullRendering || context->flags.NullRendering;
    packet->va = d->buffer->va.value;
    packet->bytes = d->buffer->used;
    packet->umd_private_bytes = d->private_used; /* SUBMIT-110 */
    for (uint32_t i = 0; i < d->buffer->allocation_count; i++) {
        const struct dma_reference *reference = &d->buffer->references_map[i];

        if (reference->write && !vidsch_screen_note(packet, reference->handle)) {
            vidsch_packet_free(vidsch, packet);
            return STATUS_NO_MEMORY;
        }
    }
    vidsch_queue_push(packet);
    return STATUS_SUCCESS;
}

static NTSTATUS draw(struct drawing *d)
{
    NTSTATUS status;

    d->buffer = vidsch_dma_buffer_get_data(d->context);
    if (!d->buffer)
        return STATUS_NO_MEMORY;
    status = refer_all(d);
    if (NT_SUCCESS(status)) /* it may have been lost meanwhile */
        status = vidsch_device_check(d->context->device, true);
    if (NT_SUCCESS(status))
        status = ask_driver(d);
    if (NT_SUCCESS(status))
        status = queue(d);
    vidsch_dma_buffer_put(d->buffer);
    return status;
}

NTSTATUS vidsch_render_gdi(struct vidsch_context *context, D3DKMT_RENDER *args)
{
    struct drawing d = {.context = context, .args = args};
    const uint8_t *commands = context->promise.commands.view;
    const bool first = !has_buffer(context);
    NTSTATUS status = vidsch_device_check(context->device, true);

    vidsch_assert_locked(context);
    if (NT_SUCCESS(status))
        status = check_arguments(context, args);
    if (NT_SUCCESS(status))
        status = first ? make_buffer(context) : vidmm_context_prepare(&context->mm);
    if (!NT_SUCCESS(status) || first)
        return status;
    status = vidsch_gdi_commands_copy(&d.records, commands + args->CommandOffset,
                                      args->CommandLength - args->CommandOffset);
    if (!NT_SUCCESS(status))
        return status;
    status = draw(&d);
    ddi_guarded_finish(&d.records);
    return status;
}
