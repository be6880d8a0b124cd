/* SPDX-License-Identifier: MIT */
/* D3DKMTSubmitCommand: commands at a GPU virtual address, one packet in each context named. */
#include <string.h>

#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "util/checked.h"
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

static NTSTATUS check(struct vidsch_context *const *contexts, UINT count,
                      const D3DKMT_SUBMITCOMMAND *args)
{
    const struct vidsch *vidsch;
    uint64_t end;

    if (count == 0 || count > D3DDDI_MAX_BROADCAST_CONTEXT) /* SUBMIT-112 */
        return STATUS_INVALID_PARAMETER;
    vidsch = contexts[0]->device->vidsch;
    for (UINT i = 0; i < count; i++) {
        const struct vidsch_context *context = contexts[i];

        if (context->device != contexts[0]->device || !context->mm.virtual_addressing ||
            context->flags.SynchronizationOnly)
            return STATUS_INVALID_PARAMETER; /* KMT-316, PATCH-030 */
        if (args->PrivateDriverDataSize > context->info.DmaBufferPrivateDataSize)
            return STATUS_INVALID_PARAMETER; /* SUBMIT-111 */
        for (UINT j = 0; j < i; j++)
            if (contexts[j] == context)
                return STATUS_INVALID_PARAMETER;
    }
    if (args->Flags.Reserved || args->Flags.NoKmdAccess) /* KMT-320 */
        return STATUS_INVALID_PARAMETER;
    if (args->Flags.PresentRedirected)
        return STATUS_NOT_SUPPORTED;
    if (ckd_add(&end, args->Commands, (uint64_t)args->CommandLength)) /* KMT-317 */
        return STATUS_INVALID_PARAMETER;
    if (vidsch->config.virtual_address_end && end > vidsch->config.virtual_address_end)
        return STATUS_INVALID_PARAMETER;
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
            return STATUS_INVALID_PARAMETER;
        }
        memset(buffer->private_data + args->PrivateDriverDataSize, 0,
               buffer->private_bytes - args->PrivateDriverDataSize);
    }
    *out = packet;
    return STATUS_SUCCESS;
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
        return status;
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
    if (!NT_SUCCESS(status)) {
        while (made-- > 0)
            vidsch_packet_free(vidsch, packets[made]);
        return status;
    }
    for (UINT i = 0; i < count; i++)
        vidsch_queue_push(packets[i]);
    return STATUS_SUCCESS;
}
