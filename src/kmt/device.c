/* SPDX-License-Identifier: MIT */
/* Devices: creation, state, waiting, and the end of a device with everything on it (KMT-112 to
 * KMT-136). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/device.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/context.h"
#include "kmt/gamma.h"
#include "kmt/handle.h"
#include "kmt/hw_queue.h"
#include "kmt/paging_queue.h"
#include "kmt/present_state.h"
#include "kmt/source_owner.h"
#include "kmt/sync.h"
#include "kmt/trim.h"
#include "port/record/adapter_info.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

/* ---- creation ---- */

/* KMT-118: hardware contexts before the others. */
static void hardware_first(struct kmt_device *device)
{
    LIST_FOR_SAFE(link, next, &device->contexts) {
        if (CONTAINER(link, struct kmt_context, link)->type != DDI_CLIENT_HW_CONTEXT)
            continue;
        list_remove(link);
        list_push_front(&device->contexts, link);
    }
}

static void destroy_contexts(struct kmt_device *device)
{
    hardware_first(device);
    while (!list_empty(&device->contexts)) {
        struct kmt_context *context = CONTAINER(list_pop_front(&device->contexts),
                                                struct kmt_context, link);

        vidsch_context_destroy(context->sch);
        util_free(context);
    }
    device->own = NULL;
}

/* KMT-115: clients of a driver without contexts submit to the device, with buffers that it has from
 * the beginning. */
static NTSTATUS make_own_context(struct kmt_device *device)
{
    static const struct vidsch_context_request request = {0};
    struct kmt_context *context;
    NTSTATUS status;

    if (port_adapter_caps(device->adapter->port)->SchedulingCaps.MultiEngineAware)
        return STATUS_SUCCESS;
    context = util_zalloc(1, sizeof(*context));
    if (!context)
        return STATUS_NO_MEMORY;
    status = vidsch_context_create(device->sch, &request, &context->sch);
    if (!NT_SUCCESS(status)) {
        util_free(context);
        return status;
    }
    context->type = DDI_CLIENT_CONTEXT;
    list_push_back(&device->contexts, &context->link);
    device->own = context->sch;
    return STATUS_SUCCESS;
}

static NTSTATUS make(struct kmt_adapter *adapter, const D3DKMT_CREATEDEVICE *args,
                     struct kmt_device *device)
{
    bool opened;
    NTSTATUS status = kmt_adapter_begin_process(adapter, &opened);

    if (!NT_SUCCESS(status))
        return status;
    adapter->device_count++; /* keeps the process on the adapter */
    status = vidsch_device_create(port_adapter_vidsch(adapter->port), adapter->mm, &args->Flags,
                                  &device->sch);
    if (NT_SUCCESS(status)) {
        vidsch_set_process_class(adapter->process->nt->id, adapter->process->priority_class);
        device->mm = vidsch_device_mm(device->sch);
        status = make_own_context(device);
        if (NT_SUCCESS(status)) {
            device->handle = handle_create(&adapter->process->nt->handles, DDI_CLIENT_DEVICE,
                                           device);
            if (device->handle)
                return STATUS_SUCCESS;
            destroy_contexts(device);
            status = STATUS_NO_MEMORY;
        }
        vidsch_device_destroy(device->sch);
    }
    adapter->device_count--;
    if (opened)
        kmt_adapter_end_process(adapter); /* KMT-013: nothing remains */
    return status;
}

/* DISP-012: of an adapter without engines and memory, of which its driver is told nothing. */
static NTSTATUS make_showing(struct kmt_adapter *adapter, struct kmt_device *device)
{
    device->handle = handle_create(&adapter->process->nt->handles, DDI_CLIENT_DEVICE, device);
    if (!device->handle)
        return STATUS_NO_MEMORY;
    adapter->device_count++;
    return STATUS_SUCCESS;
}

static NTSTATUS create_device(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATEDEVICE *args = arguments;
    struct vidsch_client_lists lists = {0}; /* KMT-116: they are the contexts' */
    struct kmt_adapter *adapter;
    struct kmt_device *device;
    NTSTATUS status;

    if (args->Flags.TestDevice || args->Flags.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-113", "TestDevice or reserved bits in Flags");
    adapter = kmt_handle_adapter(call, args->hAdapter);
    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(status))
        return status;
    device = util_zalloc(1, sizeof(*device));
    if (!device)
        return STATUS_NO_MEMORY;
    device->adapter = adapter;
    list_init(&device->contexts);
    list_init(&device->queues);
    list_init(&device->hw_queues);
    list_init(&device->syncs);
    status = port_adapter_display_only(adapter->port) ? make_showing(adapter, device)
                                                      : make(adapter, args, device);
    if (!NT_SUCCESS(status)) {
        util_free(device);
        return status;
    }
    list_push_back(&adapter->devices, &device->link);
    kmt_source_enter(device, args->Flags.RequestVSync);
    args->hDevice = device->handle;
    if (device->own)
        vidsch_context_lists(device->own, &lists);
    args->pCommandBuffer = lists.command_buffer;
    args->CommandBufferSize = lists.command_bytes;
    args->pAllocationList = lists.allocations;
    args->AllocationListSize = lists.allocation_count;
    args->pPatchLocationList = lists.patches;
    args->PatchLocationListSize = lists.patch_count;
    return STATUS_SUCCESS;
}

/* ---- the end ---- */

/* Of an adapter that stops the client does not know: calls with the handle must tell that it is
 * gone. */
static void take_handle(struct kmt_process *process, const struct kmt_device *device,
                        D3DKMT_HANDLE handle, enum ddi_client_handle type)
{
    handle_remove(&process->nt->handles, handle, (uint8_t)type);
    if (device->adapter->stopped)
        (void)hash_put(&process->gone, handle, process);
}

/* Handles die with their parent (KMT-031): nobody finds the children any more; then whoever still
 * uses one is waited for. */
static void take_handles(struct kmt_process *process, struct kmt_device *device,
                         const struct kmt_call *call)
{
    LIST_FOR(node, &device->contexts)
        take_handle(process, device, CONTAINER(node, struct kmt_context, link)->handle,
                    CONTAINER(node, struct kmt_context, link)->type);
    LIST_FOR(node, &device->hw_queues)
        take_handle(process, device, CONTAINER(node, struct kmt_hw_queue, link)->handle,
                    DDI_CLIENT_HW_QUEUE);
    LIST_FOR(node, &device->queues)
        take_handle(process, device, CONTAINER(node, struct kmt_paging_queue, link)->handle,
                    DDI_CLIENT_PAGING_QUEUE);
    LIST_FOR(node, &device->syncs)
        take_handle(process, device, CONTAINER(node, struct kmt_sync, link)->handle,
                    DDI_CLIENT_SYNC);
    LIST_FOR(node, &device->contexts)
        kmt_call_wait_unpinned(process, call, CONTAINER(node, struct kmt_context, link)->sch);
    LIST_FOR(node, &device->queues)
        kmt_call_wait_unpinned(process, call, CONTAINER(node, struct kmt_paging_queue, link));
}

struct kmt_device *kmt_device_of(const struct kmt_call *call, const struct vidsch_device *sch)
{
    LIST_FOR(of_process, &call->process->adapters) {
        struct kmt_adapter *adapter = CONTAINER(of_process, struct kmt_adapter, link);

        LIST_FOR(node, &adapter->devices) {
            struct kmt_device *device = CONTAINER(node, struct kmt_device, link);

            if (device->sch == sch)
                return device;
        }
    }
    return NULL;
}

void kmt_device_lose(struct kmt_device *device, D3DKMT_DEVICEEXECUTION_STATE state)
{
    if (device->sch)
        vidsch_device_mark_error(device->sch, state);
}

void kmt_device_drain(struct kmt_device *device)
{
    if (!device->sch)
        return;
    device->draining++;
    vidsch_device_wait_idle(device->sch);
    device->draining--;
}

/* KMT-118, KMT-119. */
void kmt_device_destroy(struct kmt_process *process, struct kmt_device *device,
                        const struct kmt_call *call)
{
    struct kmt_adapter *adapter = device->adapter;

    if (adapter->stopped)
        (void)hash_put(&process->gone, device->handle, process);
    kmt_trim_end(device);
    kmt_source_end_waits(device);
    kmt_call_wait_unpinned(process, call, device);
    take_handles(process, device, call);
    kmt_device_drain(device);
    if (device->sch)
        kmt_gamma_leave(device);
    kmt_source_leave(device);
    kmt_hw_queues_destroy(process, device, NULL, call);
    destroy_contexts(device);
    while (!list_empty(&device->queues))
        kmt_paging_queue_destroy(CONTAINER(device->queues.next, struct kmt_paging_queue, link));
    while (!list_empty(&device->syncs))
        kmt_sync_remove(CONTAINER(device->syncs.next, struct kmt_sync, link));
    if (device->sch)
        vidsch_device_destroy(device->sch);
    list_remove(&device->link);
    util_free(device);
    adapter->device_count--;
    kmt_adapter_put(adapter, call);
}

static NTSTATUS destroy_device(struct kmt_call *call, void *arguments)
{
    const D3DKMT_DESTROYDEVICE *args = arguments;
    struct kmt_device *device = kmt_handle_take(call, args->hDevice, DDI_CLIENT_DEVICE);

    if (!device)
        return STATUS_INVALID_PARAMETER;
    kmt_device_destroy(call->process, device, call);
    return STATUS_SUCCESS;
}

/* ---- state ---- */

static D3DKMT_DEVICEEXECUTION_STATE execution_state(const struct kmt_device *device)
{
    if (kmt_adapter_check(device->adapter) != STATUS_SUCCESS)
        return D3DKMT_DEVICEEXECUTION_STOPPED;
    return device->sch ? vidsch_device_state(device->sch) : D3DKMT_DEVICEEXECUTION_ACTIVE;
}

static NTSTATUS get_device_state(struct kmt_call *call, void *arguments)
{
    D3DKMT_GETDEVICESTATE *args = arguments;
    struct kmt_device *device;

    if (args->StateType < D3DKMT_DEVICESTATE_EXECUTION ||
        args->StateType > D3DKMT_DEVICESTATE_PRESENT_QUEUE)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-133", "state type %d is unknown",
                      (int)args->StateType);
    device = kmt_handle_any_device(call, args->hDevice);
    if (!device && *call->removed && args->StateType == D3DKMT_DEVICESTATE_EXECUTION) {
        args->ExecutionState = D3DKMT_DEVICEEXECUTION_STOPPED;
        return STATUS_SUCCESS;
    }
    if (!device)
        return STATUS_INVALID_PARAMETER;
    switch (args->StateType) {
    case D3DKMT_DEVICESTATE_EXECUTION: /* KMT-128: in any case */
        args->ExecutionState = execution_state(device);
        return STATUS_SUCCESS;
    case D3DKMT_DEVICESTATE_RESET:
        args->ResetState.Value = 0; /* KMT-132: there is no desktop */
        return kmt_adapter_check(device->adapter);
    case D3DKMT_DEVICESTATE_PAGE_FAULT:
        return device->sch ? vidsch_device_fault_state(device->sch, &args->PageFaultState)
                           : kmt_adapter_refuse_display_only("no work on it can fault");
    default:
        return kmt_present_state(device, args);
    }
}

static NTSTATUS wait_for_idle(struct kmt_call *call, void *arguments)
{
    const D3DKMT_WAITFORIDLE *args = arguments;
    struct kmt_device *device = kmt_handle_any_device(call, args->hDevice);

    if (!device)
        return STATUS_INVALID_PARAMETER;
    if (!device->sch)
        return STATUS_SUCCESS;
    kmt_device_drain(device); /* KMT-124, KMT-136 */
    device->draining++;
    vidsch_device_wait_rung(device->sch);
    device->draining--;
    return STATUS_SUCCESS;
}

static NTSTATUS mark_device_as_error(struct kmt_call *call, void *arguments)
{
    const D3DKMT_MARKDEVICEASERROR *args = arguments;
    D3DKMT_DEVICEEXECUTION_STATE state;
    struct kmt_device *device;

    if (args->Reason == D3DKMT_DEVICE_ERROR_REASON_DRIVER_ERROR)
        state = D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT; /* KMT-135 */
    else if (args->Reason == D3DKMT_DEVICE_ERROR_REASON_GENERIC)
        state = D3DKMT_DEVICEEXECUTION_HUNG;
    else
        return refuse(STATUS_INVALID_PARAMETER, NULL, "reason %d is unknown", (int)args->Reason);
    device = kmt_handle_device(call, args->hDevice);
    if (!device)
        return STATUS_INVALID_PARAMETER;
    return vidsch_device_mark_error(device->sch, state);
}

KMT_IN_OUT(D3DKMTCreateDevice, D3DKMT_CREATEDEVICE, create_device)
KMT_END(D3DKMTDestroyDevice, D3DKMT_DESTROYDEVICE, destroy_device)
KMT_IN_OUT(D3DKMTGetDeviceState, D3DKMT_GETDEVICESTATE, get_device_state)
KMT_IN(D3DKMTWaitForIdle, D3DKMT_WAITFORIDLE, wait_for_idle)
KMT_IN_OUT(D3DKMTMarkDeviceAsError, D3DKMT_MARKDEVICEASERROR, mark_device_as_error)
