/* SPDX-License-Identifier: MIT */
/* Doorbells of hardware queues (KMT-182 to KMT-189). The argument of D3DKMTCreateDoorbell is that
 * of 3.2, as whoever asks for submission from user mode has it. */
#include <ntddk.h>
#include <d3dkmthk.h>
#include <dxgk_wddm3_2_client.h>

#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/handle.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/client.h"

static struct vidsch_context *queue_of(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct vidsch_context *queue = kmt_handle_lookup(call, handle, DDI_CLIENT_HW_QUEUE);

    if (queue)
        kmt_call_pin(call, queue);
    return queue;
}

/* KMT-183: an allocation of the queue's device that was made resident. */
static NTSTATUS find_buffer(struct kmt_call *call, const struct vidsch_context *queue,
                            D3DKMT_HANDLE handle, const char *what, struct vidmm_open **out)
{
    struct vidmm_open *open = kmt_handle_lookup(call, handle, DDI_CLIENT_ALLOCATION);

    if (!open || vidmm_open_device(open) != vidsch_device_mm(vidsch_context_device(queue)) ||
        !vidmm_open_on_residency_list(open))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-183",
                      "the %s, handle 0x%x, is no allocation of the device that was made resident",
                      what, handle);
    *out = open;
    return STATUS_SUCCESS;
}

static NTSTATUS make(struct kmt_call *call, struct vidsch_context *queue,
                     const D3DKMT_CREATE_DOORBELL_WDDM3_2 *args, void *private_data)
{
    struct vidsch_doorbell_request request = {.flags = args->Flags,
                                              .private_data = private_data,
                                              .private_bytes = args->PrivateDriverDataSize};
    NTSTATUS status = find_buffer(call, queue, args->hRingBuffer, "ring buffer", &request.ring);

    if (NT_SUCCESS(status) && args->hRingBufferControl)
        status = find_buffer(call, queue, args->hRingBufferControl, "control of the ring buffer",
                             &request.control);
    return NT_SUCCESS(status) ? vidsch_doorbell_create(queue, &request) : status;
}

static NTSTATUS create_doorbell(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATE_DOORBELL_WDDM3_2 *args = arguments;
    struct vidsch_doorbell_addresses addresses;
    struct vidsch_context *queue;
    void *private_data;
    NTSTATUS status;

    if (args->PrivateDriverDataSize > KMT_MAX_PRIVATE_BYTES ||
        (args->PrivateDriverDataSize && !args->PrivateDriverData))
        return kmt_client_refuse_private(args->PrivateDriverData, args->PrivateDriverDataSize);
    queue = queue_of(call, args->hHwQueue);
    if (!queue)
        return STATUS_INVALID_PARAMETER;
    status = vidsch_doorbell_support(queue);
    if (NT_SUCCESS(status))
        status = kmt_client_copy_private(args->PrivateDriverData, args->PrivateDriverDataSize,
                                         &private_data);
    if (!NT_SUCCESS(status))
        return status;
    status = make(call, queue, args, private_data);
    if (NT_SUCCESS(status) &&
        !kmt_client_put(args->PrivateDriverData, private_data, args->PrivateDriverDataSize)) {
        (void)vidsch_doorbell_destroy(queue);
        status = STATUS_INVALID_PARAMETER;
    }
    util_free(private_data);
    if (!NT_SUCCESS(status))
        return status;
    vidsch_doorbell_addresses(queue, &addresses);
    args->DoorbellCPUVirtualAddress = addresses.doorbell;
    args->DoorbellSecondaryCPUVirtualAddress = addresses.secondary;
    args->DoorbellStatusCPUVirtualAddress = addresses.status;
    args->HwQueueProgressFenceLastQueuedValueCPUVirtualAddress = addresses.last_queued;
    args->hDoorbell = args->hHwQueue; /* by which the other calls name it */
    return STATUS_SUCCESS;
}

static NTSTATUS connect_doorbell(struct kmt_call *call, void *arguments)
{
    const D3DKMT_CONNECT_DOORBELL *args = arguments;
    struct vidsch_context *queue;

    if (args->Flags.Value)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-009", "Flags 0x%x", args->Flags.Value);
    queue = queue_of(call, args->hHwQueue);
    return queue ? vidsch_doorbell_connect(queue) : STATUS_INVALID_PARAMETER;
}

static NTSTATUS destroy_doorbell(struct kmt_call *call, void *arguments)
{
    const D3DKMT_DESTROY_DOORBELL *args = arguments;
    struct vidsch_context *queue = queue_of(call, args->hHwQueue);

    return queue ? vidsch_doorbell_destroy(queue) : STATUS_INVALID_PARAMETER;
}

static NTSTATUS notify_work_submission(struct kmt_call *call, void *arguments)
{
    const D3DKMT_NOTIFY_WORK_SUBMISSION *args = arguments;
    struct vidsch_context *queue;

    if (args->Flags.Value)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-187", "Flags 0x%x", args->Flags.Value);
    queue = queue_of(call, args->hHwQueue);
    return queue ? vidsch_doorbell_notify(queue) : STATUS_INVALID_PARAMETER;
}

NTSTATUS APIENTRY D3DKMTCreateDoorbell(D3DKMT_CREATE_DOORBELL *user)
{
    D3DKMT_CREATE_DOORBELL_WDDM3_2 arguments;

    return kmt_call_run("D3DKMTCreateDoorbell", create_doorbell, user, &arguments,
                        sizeof(arguments), KMT_WRITES);
}

KMT_FUNCTION(D3DKMTConnectDoorbell, D3DKMT_CONNECT_DOORBELL, D3DKMT_CONNECT_DOORBELL,
             connect_doorbell, 0)
KMT_FUNCTION(D3DKMTDestroyDoorbell, D3DKMT_DESTROY_DOORBELL, D3DKMT_DESTROY_DOORBELL,
             destroy_doorbell, KMT_ENDS)
KMT_FUNCTION(D3DKMTNotifyWorkSubmission, D3DKMT_NOTIFY_WORK_SUBMISSION,
             D3DKMT_NOTIFY_WORK_SUBMISSION, notify_work_submission, 0)
