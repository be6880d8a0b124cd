/* SPDX-License-Identifier: MIT */
/* D3DKMTSubmitCommand: commands at a GPU virtual address, one packet in each context named. */
#include <string.h>

#include "nt/base/status_name.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "util/checked.h"
#include "util/min_max.h"
#include "verify/refusal.h"
#include "vidmm/context/context_allocation.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/packet.h"
#include "vidsch/queue.h"
#include "vidsch/recovery.h"
#include "vidsch/scheduler.h"
#include "vidsch/screen_hold.h"

/* The one with index `i`, after those before it. */
static NTSTATUS check_context(struct vidsch_context *const *contexts, UINT i,
                              const D3DKMT_SUBMITCOMMAND *args)
{
    const struct vidsch_context *context = contexts[i];

    if (context->device != contexts[0]->device)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-316",
                      "context %u of the list is of another device than the first", i);
    if (context->device->vidsch->config.wddm_version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return refuse(STATUS_NOT_SUPPORTED, "KMT-022",
                      "the call is one of WDDM 2.0, and the driver of the adapter is of 1.x");
    if (context->hw)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-316",
                      "context %u of the list takes commands in its hardware queues alone", i);
    if (!context->mm.virtual_addressing || context->flags.SynchronizationOnly)
        return refuse(STATUS_INVALID_PARAMETER, "PATCH-030", "context %u of the list is %s", i,
                      context->mm.virtual_addressing ? "for synchronization only"
                                                     : "of physical addresses");
    if (args->PrivateDriverDataSize > context->info.DmaBufferPrivateDataSize)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-111",
                      "private data of %u bytes, the driver takes %u", args->PrivateDriverDataSize,
                      context->info.DmaBufferPrivateDataSize);
    for (UINT j = 0; j < i; j++)
        if (contexts[j] == context)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-316",
                          "contexts %u and %u of the list are the same", j, i);
    return STATUS_SUCCESS;
}

static NTSTATUS check(struct vidsch_context *const *contexts, UINT count,
                      const D3DKMT_SUBMITCOMMAND *args)
{
    const struct vidsch *vidsch;
    uint64_t end;

    if (count == 0 || count > D3DDDI_MAX_BROADCAST_CONTEXT)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-112", "%u contexts, 1 to %u are possible",
                      count, D3DDDI_MAX_BROADCAST_CONTEXT);
    vidsch = contexts[0]->device->vidsch;
    for (UINT i = 0; i < count; i++) {
        NTSTATUS status = check_context(contexts, i, args);

        if (!NT_SUCCESS(status))
            return status;
    }
    if (args->Flags.Reserved || args->Flags.NoKmdAccess)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-320", "reserved bits in Flags");
    if (args->Flags.PresentRedirected)
        return refuse(STATUS_NOT_SUPPORTED, NULL, "PresentRedirected needs a display");
    if (ckd_add(&end, args->Commands, (uint64_t)args->CommandLength) ||
        (vidsch->config.virtual_address_end && end > vidsch->config.virtual_address_end))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-317",
                      "commands of %u bytes at 0x%llx, GPU virtual addresses end at 0x%llx",
                      args->CommandLength, (unsigned long long)args->Commands,
                      (unsigned long long)vidsch->config.virtual_address_end);
    return STATUS_SUCCESS;
}

static NTSTATUS make_packet(struct vidsch_context *context, const D3DKMT_SUBMITCOMMAND *args,
                            const void *private_data, struct packet **out)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct packet *packet = vidsch_packet_create(context, PACKET_VIRTUAL);

    if (!packet)
        return STATUS_NO_MEMORY;
    packet->va = args->Commands;
    packet->bytes = args->CommandLength;
    packet->umd_private_bytes = args->PrivateDriverDataSize;
    packet->null_rendering = args->Flags.NullRendering || context->flags.NullRendering;
    for (UINT i = 0; i < args->NumPrimaries; i++)
        if (!vidsch_screen_note(packet, args->WrittenPrimaries[i])) {
            vidsch_packet_free(vidsch, packet);
            return STATUS_NO_MEMORY;
        }
    if (context->info.DmaBufferPrivateDataSize) {
        struct dma_buffer *buffer = vidsch_dma_buffer_get(context);

        packet->buffer = buffer;
        if (!buffer) {
            vidsch_packet_free(vidsch, packet);
            return STATUS_NO_MEMORY;
        }
        if (args->PrivateDriverDataSize &&
            !sim_copy_checked(buffer->private_data, private_data, args->PrivateDriverDataSize)) {
            vidsch_packet_free(vidsch, packet);
            return refuse(STATUS_INVALID_PARAMETER, NULL,
                          "private data of %u bytes at %p cannot be read",
                          args->PrivateDriverDataSize, private_data);
        }
        memset(buffer->private_data + args->PrivateDriverDataSize, 0,
               buffer->private_bytes - args->PrivateDriverDataSize);
    }
    *out = packet;
    return STATUS_SUCCESS;
}

/* SUBMIT-113: the driver looks at the private data once, whatever the number of contexts; what it
 * stores there, also behind the client's part, goes with every packet. */
static NTSTATUS validate(struct vidsch_context *const *contexts, UINT count,
                         const D3DKMT_SUBMITCOMMAND *args, struct packet *const *packets)
{
    struct ddi_adapter *ddi = contexts[0]->device->vidsch->ddi;
    const struct dma_buffer *buffer = packets[0]->buffer;
    DXGKARG_VALIDATESUBMITCOMMAND question = {
        .Commands = args->Commands,
        .CommandLength = args->CommandLength,
        .ContextCount = count,
        .UmdPrivateDataSize = args->PrivateDriverDataSize,
    };
    NTSTATUS status;

    if (!args->PrivateDriverDataSize || !ddi_has(ddi, DxgkDdiValidateSubmitCommand))
        return STATUS_SUCCESS;
    question.pPrivateDriverData = buffer->private_data;
    question.PrivateDriverDataSize = buffer->private_bytes;
    for (UINT i = 0; i < count; i++) {
        question.Context[i] = contexts[i]->mm.driver_handle;
        question.PrivateDriverDataSize = (UINT)min_of(question.PrivateDriverDataSize,
                                                      packets[i]->buffer->private_bytes);
    }
    status = ddi_validate_submit_command(ddi, question.Context[0], &question);
    if (!NT_SUCCESS(status))
        return refuse(status, "SUBMIT-114", "DxgkDdiValidateSubmitCommand returned %s",
                      nt_status_text(status).text);
    if (!vidsch_dma_buffer_check_private(buffer, "DxgkDdiValidateSubmitCommand"))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "DxgkDdiValidateSubmitCommand wrote beyond the private data");
    for (UINT i = 1; i < count; i++)
        memcpy(packets[i]->buffer->private_data, buffer->private_data,
               question.PrivateDriverDataSize);
    return vidsch_device_check(contexts[0]->device, true); /* lost meanwhile? */
}

NTSTATUS vidsch_submit_command(struct vidsch_context *const *contexts, UINT count,
                               const D3DKMT_SUBMITCOMMAND *args, const void *private_data)
{
    struct packet *packets[D3DDDI_MAX_BROADCAST_CONTEXT];
    struct vidsch *vidsch;
    UINT made = 0;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    sim_assert_passive();
    if (count == 0)
        return refuse(status, "SUBMIT-112", "no context is named");
    vidsch = contexts[0]->device->vidsch;
    vidsch_recovery_await_adapter(vidsch); /* TDR-081 */
    status = vidsch_device_check(contexts[0]->device, true);
    if (NT_SUCCESS(status))
        status = check(contexts, count, args);
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++)
        status = vidmm_context_prepare(&contexts[i]->mm);
    if (NT_SUCCESS(status)) /* it may have been lost meanwhile */
        status = vidsch_device_check(contexts[0]->device, true);
    if (!NT_SUCCESS(status))
        return status;
    while (made < count && NT_SUCCESS(status)) {
        status = make_packet(contexts[made], args, private_data, &packets[made]);
        made += NT_SUCCESS(status);
    }
    if (NT_SUCCESS(status))
        status = validate(contexts, count, args, packets);
    if (!NT_SUCCESS(status)) {
        while (made-- > 0)
            vidsch_packet_free(vidsch, packets[made]);
        return status;
    }
    for (UINT i = 0; i < count; i++)
        vidsch_queue_push(packets[i]);
    return STATUS_SUCCESS;
}
