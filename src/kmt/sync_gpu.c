/* SPDX-License-Identifier: MIT */
/*
 * Waits and signals queued in contexts (KMT-367 to KMT-390): packets of the context, never a wait
 * of the caller.
 *
 * The forms differ in where values come from. Monitored fences have one each, in an array; a
 * D3DDDI_FENCE has one in the structure and stands alone in its list; mutexes, semaphores and
 * notifications have none (KMT-378, KMT-380).
 */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/context.h"
#include "kmt/device.h"
#include "kmt/event.h"
#include "kmt/handle.h"
#include "kmt/sync.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

/* Do the bytes of a union behind the member in use hold zero (KMT-382)? */
static bool rest_is_zero(const UINT64 *reserved, size_t count, size_t used)
{
    for (size_t i = used; i < count; i++)
        if (reserved[i])
            return false;
    return true;
}

static bool has_fence(const struct kmt_sync_list *list)
{
    for (UINT i = 0; i < list->count; i++)
        if (vidsch_sync_type(list->sync[i]) == D3DDDI_FENCE)
            return true;
    return false;
}

/* Values for the newer calls. `array`: the client's pointer; `single`: value of a lone
 * D3DDDI_FENCE, or NULL if the array has it (SignalFromGpu). *values gets `storage`, or NULL if no
 * object of the list has one. */
static NTSTATUS get_values(const struct kmt_sync_list *list, const UINT64 *array,
                           const UINT64 *single, UINT64 *storage, const UINT64 **values)
{
    *values = NULL;
    if (list->monitored && list->monitored != list->count)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-381",
                      "monitored fences together with other objects");
    if (list->monitored || (has_fence(list) && !single)) {
        *values = storage;
        return kmt_client_get(storage, array, list->count * sizeof(*storage))
                   ? STATUS_SUCCESS
                   : STATUS_INVALID_PARAMETER;
    }
    if (has_fence(list)) {
        if (list->count != 1)
            return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-132",
                          "a fence (not monitored) in a list of %u objects", list->count);
        storage[0] = *single;
        *values = storage;
    }
    return STATUS_SUCCESS;
}

/* Values for the older calls, which have no place for 64-bit values of several objects (KMT-372).
 * `single` NULL: no value at all. */
static NTSTATUS old_values(const struct kmt_sync_list *list, const UINT64 *single,
                           const UINT64 **values)
{
    *values = NULL;
    if (list->monitored)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "monitored fences have calls of their own");
    if (!has_fence(list))
        return STATUS_SUCCESS;
    if (!single || list->count != 1)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-386", /* KMT-368 */
                      "a fence in a list of %u objects%s", list->count,
                      single ? "" : ", in a call without a fence value");
    *values = single;
    return STATUS_SUCCESS;
}

/* The FromGpu calls belong to the 2.x interface (KMT-373). */
static NTSTATUS check_2x(const struct kmt_sync_list *list)
{
    return kmt_adapter_is_2x(list->adapter) ? STATUS_SUCCESS : kmt_adapter_refuse_1x();
}

/* ---- waits ---- */

static NTSTATUS wait_from_gpu(struct kmt_call *call, void *arguments)
{
    const D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU *args = arguments;
    struct vidsch_context *context = kmt_handle_lookup(call, args->hContext, DDI_CLIENT_CONTEXT);
    UINT64 storage[KMT_MAX_OBJECTS];
    struct kmt_sync_list list;
    const UINT64 *values;
    NTSTATUS status = kmt_sync_list_copy(call, args->ObjectHandleArray, args->ObjectCount,
                                         KMT_SYNC_WAIT, &list);

    if (NT_SUCCESS(status) && !context)
        status = STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status))
        status = check_2x(&list);
    if (NT_SUCCESS(status))
        status = get_values(&list, args->MonitoredFenceValueArray, &args->FenceValue, storage,
                            &values);
    return NT_SUCCESS(status) ? vidsch_sync_wait_gpu(context, list.sync, values, list.count)
                              : status;
}

static NTSTATUS wait_old(const struct kmt_call *call, D3DKMT_HANDLE handle,
                         const D3DKMT_HANDLE *handles, UINT count, const UINT64 *single)
{
    struct vidsch_context *context = kmt_handle_lookup(call, handle, DDI_CLIENT_CONTEXT);
    struct kmt_sync_list list;
    const UINT64 *values;
    NTSTATUS status;

    if (!context)
        return STATUS_INVALID_PARAMETER;
    if (count == 0 || count > KMT_MAX_OBJECTS)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-371", "%u objects, 1 to %u are possible",
                      count, KMT_MAX_OBJECTS);
    status = kmt_sync_list_get(call, handles, count, KMT_SYNC_WAIT, &list);
    if (NT_SUCCESS(status))
        status = old_values(&list, single, &values);
    return NT_SUCCESS(status) ? vidsch_sync_wait_gpu(context, list.sync, values, count) : status;
}

static NTSTATUS wait_1(struct kmt_call *call, void *arguments)
{
    const D3DKMT_WAITFORSYNCHRONIZATIONOBJECT *args = arguments;

    return wait_old(call, args->hContext, args->ObjectHandleArray, args->ObjectCount, NULL);
}

static NTSTATUS wait_2(struct kmt_call *call, void *arguments)
{
    const D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 *args = arguments;

    return wait_old(call, args->hContext, args->ObjectHandleArray, args->ObjectCount,
                    &args->Fence.FenceValue);
}

/* ---- signals ---- */

static NTSTATUS signal_from_gpu(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU *args = arguments;
    struct vidsch_context *context = kmt_handle_lookup(call, args->hContext, DDI_CLIENT_CONTEXT);
    D3DDDICB_SIGNALFLAGS none = {0};
    UINT64 storage[KMT_MAX_OBJECTS];
    struct kmt_sync_list list;
    const UINT64 *values;
    NTSTATUS status = kmt_sync_list_copy(call, args->ObjectHandleArray, args->ObjectCount,
                                         KMT_SYNC_SIGNAL, &list);

    if (NT_SUCCESS(status) && !context)
        status = STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status))
        status = check_2x(&list);
    if (NT_SUCCESS(status))
        status = get_values(&list, args->MonitoredFenceValueArray, NULL, storage, &values);
    return NT_SUCCESS(status)
               ? vidsch_sync_signal_gpu(&context, 1, list.sync, values, list.count, none)
               : status;
}

static NTSTATUS find_contexts(const struct kmt_call *call, const D3DKMT_HANDLE *handles, UINT count,
                              struct vidsch_context **context)
{
    for (UINT i = 0; i < count; i++) {
        context[i] = kmt_handle_lookup(call, handles[i], DDI_CLIENT_CONTEXT);
        if (!context[i])
            return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

/* EnqueueCpuEvent (KMT-375, KMT-376): the event stands alone. */
static NTSTATUS signal_event(struct vidsch_context *const *context, UINT contexts, UINT objects,
                             HANDLE handle)
{
    struct kmt_event *event;
    NTSTATUS status;

    if (objects)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-131",
                      "EnqueueCpuEvent together with %u objects", objects);
    status = kmt_event_open(handle, &event);
    if (!NT_SUCCESS(status))
        return status;
    status = vidsch_sync_enqueue_event(context, contexts, kmt_event_finish, event);
    if (!NT_SUCCESS(status))
        kmt_event_close(event);
    return status;
}

static NTSTATUS signal_from_gpu2(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 *args = arguments;
    struct vidsch_context *context[D3DDDI_MAX_BROADCAST_CONTEXT];
    D3DKMT_HANDLE handles[D3DDDI_MAX_BROADCAST_CONTEXT];
    UINT64 storage[KMT_MAX_OBJECTS];
    struct kmt_sync_list list;
    const UINT64 *values;
    NTSTATUS status;

    if (args->Flags.Reserved || args->Flags.DXGK_SIGNAL_FLAG_INTERNAL0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-009", "reserved bits in Flags 0x%x",
                      args->Flags.Value);
    if (args->BroadcastContextCount == 0 ||
        args->BroadcastContextCount > D3DDDI_MAX_BROADCAST_CONTEXT)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-380", "%u contexts, 1 to %u are possible",
                      (UINT)args->BroadcastContextCount, D3DDDI_MAX_BROADCAST_CONTEXT);
    if (!kmt_client_get(handles, args->BroadcastContextArray,
                        args->BroadcastContextCount * sizeof(*handles)))
        return STATUS_INVALID_PARAMETER;
    status = find_contexts(call, handles, args->BroadcastContextCount, context);
    if (NT_SUCCESS(status) && !args->Flags.EnqueueCpuEvent)
        status = kmt_sync_list_copy(call, args->ObjectHandleArray, args->ObjectCount,
                                    KMT_SYNC_SIGNAL, &list);
    if (NT_SUCCESS(status) && (args->Flags.EnqueueCpuEvent || list.monitored || has_fence(&list)) &&
        !rest_is_zero(args->Reserved, 8, 1))
        status = refuse(STATUS_INVALID_PARAMETER, "KMT-382", "Reserved members are not 0");
    if (NT_SUCCESS(status) && args->Flags.EnqueueCpuEvent)
        return signal_event(context, args->BroadcastContextCount, args->ObjectCount,
                            args->CpuEventHandle);
    if (NT_SUCCESS(status))
        status = check_2x(&list);
    if (!NT_SUCCESS(status))
        return status;
    status = get_values(&list, args->MonitoredFenceValueArray, &args->FenceValue, storage, &values);
    return NT_SUCCESS(status) ? vidsch_sync_signal_gpu(context, args->BroadcastContextCount,
                                                       list.sync, values, list.count, args->Flags)
                              : status;
}

static NTSTATUS signal_1(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECT *args = arguments;
    D3DDDICB_SIGNALFLAGS others = args->Flags;
    struct vidsch_context *context;
    struct kmt_sync_list list;
    const UINT64 *values;
    NTSTATUS status;

    others.SignalAtSubmission = 0;
    if (others.Value || args->ObjectCount == 0 || args->ObjectCount > KMT_MAX_OBJECTS)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-368",
                      "%u objects, Flags 0x%x: 1 to %u, and SignalAtSubmission alone",
                      args->ObjectCount, args->Flags.Value, KMT_MAX_OBJECTS);
    context = kmt_handle_lookup(call, args->hContext, DDI_CLIENT_CONTEXT);
    if (!context)
        return STATUS_INVALID_PARAMETER;
    status = kmt_sync_list_get(call, args->ObjectHandleArray, args->ObjectCount, KMT_SYNC_SIGNAL,
                               &list);
    if (NT_SUCCESS(status))
        status = old_values(&list, NULL, &values);
    return NT_SUCCESS(status)
               ? vidsch_sync_signal_gpu(&context, 1, list.sync, values, list.count, args->Flags)
               : status;
}

static NTSTATUS signal_2(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 *args = arguments;
    struct vidsch_context *context[KMT_MAX_CONTEXTS];
    struct kmt_sync_list list;
    const UINT64 *values;
    UINT contexts = args->BroadcastContextCount + 1;
    NTSTATUS status;

    if (args->Flags.Reserved || args->Flags.DXGK_SIGNAL_FLAG_INTERNAL0 ||
        args->Flags.AllowFenceRewind)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-009", "Flags 0x%x", args->Flags.Value);
    if (args->BroadcastContextCount > D3DDDI_MAX_BROADCAST_CONTEXT ||
        args->ObjectCount > KMT_MAX_OBJECTS ||
        (args->ObjectCount == 0 && !args->Flags.EnqueueCpuEvent))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-371",
                      "%u contexts besides, %u objects, Flags 0x%x",
                      (UINT)args->BroadcastContextCount, args->ObjectCount, args->Flags.Value);
    status = find_contexts(call, &args->hContext, 1, context);
    if (NT_SUCCESS(status))
        status = find_contexts(call, args->BroadcastContext, args->BroadcastContextCount,
                               context + 1);
    if (NT_SUCCESS(status) && args->Flags.EnqueueCpuEvent)
        return signal_event(context, contexts, args->ObjectCount, args->CpuEventHandle);
    if (NT_SUCCESS(status))
        status = kmt_sync_list_get(call, args->ObjectHandleArray, args->ObjectCount,
                                   KMT_SYNC_SIGNAL, &list);
    if (NT_SUCCESS(status))
        status = old_values(&list, &args->Fence.FenceValue, &values);
    return NT_SUCCESS(status) ? vidsch_sync_signal_gpu(context, contexts, list.sync, values,
                                                       list.count, args->Flags)
                              : status;
}

KMT_IN(D3DKMTWaitForSynchronizationObject, D3DKMT_WAITFORSYNCHRONIZATIONOBJECT, wait_1)
KMT_IN(D3DKMTWaitForSynchronizationObject2, D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, wait_2)
KMT_IN(D3DKMTWaitForSynchronizationObjectFromGpu, D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU,
       wait_from_gpu)
KMT_IN(D3DKMTSignalSynchronizationObject, D3DKMT_SIGNALSYNCHRONIZATIONOBJECT, signal_1)
KMT_IN(D3DKMTSignalSynchronizationObject2, D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, signal_2)
KMT_IN(D3DKMTSignalSynchronizationObjectFromGpu, D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU,
       signal_from_gpu)
KMT_IN(D3DKMTSignalSynchronizationObjectFromGpu2, D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2,
       signal_from_gpu2)
