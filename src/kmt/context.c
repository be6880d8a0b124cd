/* SPDX-License-Identifier: MIT */
/* Contexts: physical and virtual ones, their end (KMT-143 to KMT-162). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/context.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/hw_queue.h"
#include "port/record/adapter_info.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

/* ---- creation ---- */

/* KMT-006, KMT-012, KMT-149: before any handle is looked at. */
static NTSTATUS check(const struct vidsch_context_request *request)
{
    if (request->flags.NoKmdAccess || request->flags.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-149", "reserved bits in Flags 0x%x",
                      request->flags.Value);
    if (request->flags.HwQueueSupported && !request->virtual_addressing)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-149",
                      "HwQueueSupported for a context of physical addresses");
    if (request->private_bytes > KMT_MAX_PRIVATE_BYTES ||
        (request->private_bytes && !request->private_data))
        return kmt_client_refuse_private(request->private_data, request->private_bytes);
    return STATUS_SUCCESS;
}

static NTSTATUS check_mode(const struct kmt_adapter *adapter,
                           const struct vidsch_context_request *request)
{
    if (request->virtual_addressing &&
        (!kmt_adapter_is_2x(adapter) || !port_adapter_gpu_mmu(adapter->port)))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-145", /* KMT-022 */
                      "the adapter has no GPU virtual addresses%s",
                      kmt_adapter_is_2x(adapter) ? "" : ": its driver is of WDDM 1.x");
    return STATUS_SUCCESS;
}

NTSTATUS kmt_context_create(struct kmt_call *call, const struct kmt_context_request *creation,
                            struct vidsch_context **out, D3DKMT_HANDLE *handle)
{
    NTSTATUS status = check(&creation->request);
    struct kmt_context *context;
    struct kmt_device *device;

    if (!NT_SUCCESS(status))
        return status;
    device = kmt_handle_device(call, creation->device);
    if (!device)
        return STATUS_INVALID_PARAMETER;
    status = check_mode(device->adapter, &creation->request);
    if (!NT_SUCCESS(status))
        return status;
    context = util_zalloc(1, sizeof(*context));
    if (!context)
        return STATUS_NO_MEMORY;
    status = vidsch_context_create(device->sch, &creation->request, &context->sch);
    if (!NT_SUCCESS(status)) {
        util_free(context);
        return status;
    }
    context->type = creation->request.hardware ? DDI_CLIENT_HW_CONTEXT : DDI_CLIENT_CONTEXT;
    context->handle = handle_create(&call->process->nt->handles, (uint8_t)context->type,
                                    context->sch);
    if (!context->handle) {
        vidsch_context_destroy(context->sch);
        util_free(context);
        return STATUS_NO_MEMORY;
    }
    list_push_back(&device->contexts, &context->link);
    /* KMT-151, KMT-152 */
    trace_instant(call->track, "context created", "handle", context->handle, "client hint",
                  (uint64_t)creation->request.hint < D3DKMT_CLIENTHINT_MAX
                      ? (uint64_t)creation->request.hint
                      : 0);
    *out = context->sch;
    *handle = context->handle;
    return STATUS_SUCCESS;
}

static NTSTATUS create_context(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATECONTEXT *args = arguments;
    struct kmt_context_request creation = {
        .device = args->hDevice,
        .request =
            {
                .node = args->NodeOrdinal,
                .engine_affinity = args->EngineAffinity,
                .flags = args->Flags,
                .private_data = args->pPrivateDriverData,
                .private_bytes = args->PrivateDriverDataSize,
                .hint = args->ClientHint,
            },
    };
    struct vidsch_client_lists lists;
    struct vidsch_context *context;
    NTSTATUS status = kmt_context_create(call, &creation, &context, &args->hContext);

    if (!NT_SUCCESS(status))
        return status;
    vidsch_context_lists(context, &lists);
    args->pCommandBuffer = lists.command_buffer;
    args->CommandBufferSize = lists.command_bytes;
    args->pAllocationList = lists.allocations;
    args->AllocationListSize = lists.allocation_count;
    args->pPatchLocationList = lists.patches;
    args->PatchLocationListSize = lists.patch_count;
    args->CommandBuffer = 0; /* KMT-156 */
    return STATUS_SUCCESS;
}

static NTSTATUS create_context_virtual(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATECONTEXTVIRTUAL *args = arguments;
    struct kmt_context_request creation = {
        .device = args->hDevice,
        .request =
            {
                .node = args->NodeOrdinal,
                .engine_affinity = args->EngineAffinity,
                .flags = args->Flags,
                .private_data = args->pPrivateDriverData,
                .private_bytes = args->PrivateDriverDataSize,
                .virtual_addressing = true,
                .hint = args->ClientHint,
            },
    };
    struct vidsch_context *context;

    return kmt_context_create(call, &creation, &context, &args->hContext);
}

/* ---- the end ---- */

/* The device of a context and what is remembered of it. Few of either, and only here. */
static struct kmt_device *find(const struct kmt_process *process, const struct vidsch_context *sch,
                               struct kmt_context **context)
{
    LIST_FOR(a, &process->adapters) {
        LIST_FOR(d, &CONTAINER(a, struct kmt_adapter, link)->devices) {
            struct kmt_device *device = CONTAINER(d, struct kmt_device, link);

            LIST_FOR(c, &device->contexts) {
                *context = CONTAINER(c, struct kmt_context, link);
                if ((*context)->sch == sch)
                    return device;
            }
        }
    }
    return NULL;
}

NTSTATUS kmt_context_destroy(struct kmt_call *call, D3DKMT_HANDLE handle,
                             enum ddi_client_handle type)
{
    struct vidsch_context *sch = kmt_handle_lookup(call, handle, type);
    struct kmt_context *context = NULL;
    struct kmt_device *device = sch ? find(call->process, sch, &context) : NULL;

    if (!device)
        return STATUS_INVALID_PARAMETER;
    if (vidsch_context_owns_mutex(sch) && NT_SUCCESS(vidsch_device_check(device->sch, false)))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-160", /* KMT-159 */
                      "the context owns a synchronization mutex");
    kmt_call_pin(call, device);
    handle_remove(&call->process->nt->handles, handle, (uint8_t)type);
    list_remove(&context->link);
    util_free(context);
    kmt_call_wait_unpinned(call->process, call, sch);
    kmt_hw_queues_destroy(call->process, device, sch, call);
    device->draining++;
    vidsch_context_destroy(sch); /* KMT-158 */
    device->draining--;
    return STATUS_SUCCESS;
}

static NTSTATUS destroy_context(struct kmt_call *call, void *arguments)
{
    const D3DKMT_DESTROYCONTEXT *args = arguments;

    return kmt_context_destroy(call, args->hContext, DDI_CLIENT_CONTEXT);
}

KMT_IN_OUT(D3DKMTCreateContext, D3DKMT_CREATECONTEXT, create_context)
KMT_IN_OUT(D3DKMTCreateContextVirtual, D3DKMT_CREATECONTEXTVIRTUAL, create_context_virtual)
KMT_END(D3DKMTDestroyContext, D3DKMT_DESTROYCONTEXT, destroy_context)
