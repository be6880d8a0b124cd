/* SPDX-License-Identifier: MIT */
/*
 * Submissions (KMT-299 to KMT-324). The hot calls: no heap, no list longer than what the structure
 * holds. What values mean (capacities, modes of contexts, limits of private data) the scheduler
 * checks.
 */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "verify/refusal.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/client.h"

#define STACK_PRIVATE_BYTES 1024u

static NTSTATUS refuse_contexts(UINT count)
{
    return refuse(STATUS_INVALID_PARAMETER, NULL, "%u contexts, at most %u are possible", count,
                  D3DDDI_MAX_BROADCAST_CONTEXT);
}

/* The contexts of a broadcast list, pinned for the call. */
static NTSTATUS find_contexts(struct kmt_call *call, const D3DKMT_HANDLE *handle, UINT count,
                              struct vidsch_context **context)
{
    for (UINT i = 0; i < count; i++) {
        context[i] = kmt_handle_lookup(call, handle[i], DDI_CLIENT_CONTEXT);
        if (!context[i])
            return STATUS_INVALID_PARAMETER;
    }
    call->pin_list = (const void *const *)context;
    call->pin_list_count = count;
    return STATUS_SUCCESS;
}

/* KMT-301, KMT-115: a device handle means its own buffers, which only a driver without contexts
 * has. */
static struct vidsch_context *context_to_render(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct vidsch_context *context = kmt_handle_context(call, handle);
    struct kmt_device *device = context ? NULL : kmt_handle_device(call, handle);

    if (!device || !device->own)
        return context;
    kmt_call_pin(call, device->own);
    return device->own;
}

static NTSTATUS render(struct kmt_call *call, void *arguments)
{
    D3DKMT_RENDER *args = arguments;
    struct vidsch_context *further[D3DDDI_MAX_BROADCAST_CONTEXT];
    struct vidsch_context *context;
    NTSTATUS status;

    if (args->Flags.Reserved || args->pPrivateDriverData || args->PrivateDriverDataSize)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-307", /* KMT-009 */
                      "pPrivateDriverData %p, %u bytes, reserved bits of Flags 0x%x",
                      args->pPrivateDriverData, args->PrivateDriverDataSize, args->Flags.Reserved);
    if (args->BroadcastContextCount > D3DDDI_MAX_BROADCAST_CONTEXT)
        return refuse_contexts(args->BroadcastContextCount);
    context = context_to_render(call, args->hContext);
    if (!context)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-301",
                      "handle 0x%x is not that of a context, nor of a device of a driver without "
                      "contexts",
                      args->hContext);
    if (args->BroadcastContextCount) {
        status = find_contexts(call, args->BroadcastContext, args->BroadcastContextCount, further);
        if (!NT_SUCCESS(status))
            return status;
    }
    return vidsch_render(context, args);
}

/* KMT-321, KMT-322: allocations of the device that are on its residency list. */
static NTSTATUS check_primaries(const struct kmt_call *call, const D3DKMT_SUBMITCOMMAND *args,
                                struct vidsch_context *context)
{
    const struct vidmm_device *device = vidsch_device_mm(vidsch_context_device(context));

    for (UINT i = 0; i < args->NumPrimaries; i++) {
        struct vidmm_open *open = kmt_handle_lookup(call, args->WrittenPrimaries[i],
                                                    DDI_CLIENT_ALLOCATION);

        if (!open || vidmm_open_device(open) != device || !vidmm_open_on_residency_list(open))
            return refuse(STATUS_INVALID_PARAMETER, "KMT-321",
                          "primary %u, handle 0x%x, is no allocation of the device that was made "
                          "resident",
                          i, args->WrittenPrimaries[i]);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS check_submit(const D3DKMT_SUBMITCOMMAND *args)
{
    uint64_t end;

    if (args->Flags.NoKmdAccess || args->Flags.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-320", "reserved bits in Flags");
    if (args->BroadcastContextCount == 0 ||
        args->BroadcastContextCount > D3DDDI_MAX_BROADCAST_CONTEXT)
        return refuse_contexts(args->BroadcastContextCount);
    if (args->NumPrimaries > D3DDDI_MAX_WRITTEN_PRIMARIES || args->NumHistoryBuffers ||
        args->HistoryBufferArray)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-321", /* KMT-323 */
                      "%u primaries, %u history buffers at %p", args->NumPrimaries,
                      args->NumHistoryBuffers, (const void *)args->HistoryBufferArray);
    if (args->PrivateDriverDataSize > KMT_MAX_PRIVATE_BYTES ||
        (args->PrivateDriverDataSize && !args->pPrivateDriverData))
        return kmt_client_refuse_private(args->pPrivateDriverData, args->PrivateDriverDataSize);
    if (ckd_add(&end, args->Commands, (uint64_t)args->CommandLength))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-317", "commands of %u bytes at 0x%llx",
                      args->CommandLength, (unsigned long long)args->Commands);
    return STATUS_SUCCESS;
}

static NTSTATUS submit_command(struct kmt_call *call, void *arguments)
{
    D3DKMT_SUBMITCOMMAND *args = arguments;
    struct vidsch_context *context[D3DDDI_MAX_BROADCAST_CONTEXT];
    uint8_t local[STACK_PRIVATE_BYTES];
    void *data = args->PrivateDriverDataSize <= sizeof(local) ? local : NULL;
    NTSTATUS status = check_submit(args);

    if (!NT_SUCCESS(status))
        return status;
    if (!data)
        status = kmt_client_copy_private(args->pPrivateDriverData, args->PrivateDriverDataSize,
                                         &data);
    else if (!kmt_client_get(data, args->pPrivateDriverData, args->PrivateDriverDataSize))
        status = STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status))
        status = find_contexts(call, args->BroadcastContext, args->BroadcastContextCount, context);
    if (NT_SUCCESS(status) && args->Flags.PresentRedirected)
        status = refuse(STATUS_NOT_SUPPORTED, "KMT-320", "PresentRedirected needs a display");
    if (NT_SUCCESS(status) && args->NumPrimaries)
        status = check_primaries(call, args, context[0]);
    if (NT_SUCCESS(status))
        status = vidsch_submit_command(context, args->BroadcastContextCount, args, data);
    if (data != local)
        util_free(data);
    return status;
}

KMT_IN_OUT(D3DKMTRender, D3DKMT_RENDER, render)
KMT_IN(D3DKMTSubmitCommand, D3DKMT_SUBMITCOMMAND, submit_command)
