/* SPDX-License-Identifier: MIT */
/* Synchronization objects: creation and the end (KMT-331 to KMT-366), and what the CPU does with
 * them (KMT-384 to KMT-393). */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/sync.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/event.h"
#include "kmt/handle.h"
#include "kmt/process.h"
#include "kmt/shared.h"
#include "nt/base/kprocess.h"
#include "port/callbacks/cpu_event.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

/* ---- handles ---- */

static struct kmt_sync *add(struct kmt_adapter *adapter, struct kmt_device *device,
                            struct vidsch_sync *sch)
{
    struct kmt_sync *sync = util_zalloc(1, sizeof(*sync));

    if (!sync)
        return NULL;
    sync->adapter = adapter;
    sync->device = device;
    sync->sch = sch;
    list_push_back(device ? &device->syncs : &adapter->syncs, &sync->link);
    return sync;
}

static bool make_handle(struct kmt_sync *sync)
{
    sync->handle = handle_create(&sync->adapter->process->nt->handles, DDI_CLIENT_SYNC, sync);
    return sync->handle != 0;
}

NTSTATUS kmt_sync_publish(struct kmt_sync *sync)
{
    if (make_handle(sync))
        return STATUS_SUCCESS;
    kmt_sync_remove(sync);
    return STATUS_NO_MEMORY;
}

struct kmt_sync *kmt_sync_add(struct kmt_device *device, struct vidsch_sync *sch)
{
    struct kmt_sync *sync = add(device->adapter, device, sch);

    if (sync && !make_handle(sync)) {
        list_remove(&sync->link);
        util_free(sync);
        return NULL;
    }
    return sync;
}

NTSTATUS kmt_sync_open(struct kmt_adapter *adapter, struct kmt_device *device,
                       struct kmt_shared *shared, struct kmt_sync **out)
{
    struct kmt_sync *sync;

    if (shared->gone)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter of the object is gone");
    if (shared->port != adapter->port)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-340", "the object is of another adapter");
    if (!device && vidsch_sync_type(shared->sync) == D3DDDI_MONITORED_FENCE)
        return refuse(
            STATUS_INVALID_PARAMETER, "KMT-359",
            "a monitored fence is opened for a device, by D3DKMTOpenSyncObjectFromNtHandle2");
    sync = add(adapter, device, shared->sync);
    if (!sync)
        return STATUS_NO_MEMORY;
    sync->shared = shared;
    kmt_shared_reference(shared);
    *out = sync;
    return STATUS_SUCCESS;
}

NTSTATUS kmt_sync_view(struct kmt_sync *sync, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags,
                       UINT affinity)
{
    if (vidsch_sync_type(sync->sch) != D3DDDI_MONITORED_FENCE)
        return STATUS_SUCCESS;
    sync->no_wait |= flags.NoWait;
    sync->no_signal |= flags.NoSignal;
    return vidsch_sync_view_create(sync->device->sch, sync->sch, flags, affinity, &sync->view);
}

void kmt_sync_remove(struct kmt_sync *sync)
{
    handle_remove(&sync->adapter->process->nt->handles, sync->handle, DDI_CLIENT_SYNC);
    list_remove(&sync->link);
    port_cpu_event_destroy(sync->by_kmd);
    if (sync->view)
        vidsch_sync_view_destroy(sync->view);
    if (sync->shared)
        kmt_shared_release(sync->shared);
    else
        vidsch_sync_destroy(sync->sch);
    kmt_event_close(sync->event);
    util_free(sync);
}

NTSTATUS kmt_sync_list_get(const struct kmt_call *call, const D3DKMT_HANDLE *handles, UINT count,
                           enum kmt_sync_use use, struct kmt_sync_list *list)
{
    bool denied = false;

    list->count = count;
    list->monitored = 0;
    list->adapter = NULL;
    for (UINT i = 0; i < count; i++) {
        /* The caller has copied `count` of them. */
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
        struct kmt_sync *sync = kmt_handle_lookup(call, handles[i], DDI_CLIENT_SYNC);

        if (!sync)
            return STATUS_INVALID_PARAMETER;
        list->sync[i] = sync->sch;
        list->monitored += vidsch_sync_type(sync->sch) == D3DDDI_MONITORED_FENCE;
        list->adapter = sync->adapter;
        denied |= use == KMT_SYNC_WAIT ? sync->no_wait : sync->no_signal;
    }
    return denied ? refuse(STATUS_ACCESS_DENIED, "SUBMIT-140",
                           "an object of the list was opened with NoSignal or NoWait")
                  : STATUS_SUCCESS;
}

NTSTATUS kmt_sync_list_copy(const struct kmt_call *call, const D3DKMT_HANDLE *user, UINT count,
                            enum kmt_sync_use use, struct kmt_sync_list *list)
{
    D3DKMT_HANDLE handles[KMT_MAX_OBJECTS];

    if (count == 0 || count > KMT_MAX_OBJECTS ||
        !kmt_client_get(handles, user, count * sizeof(*handles)))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-371",
                      "%u handles at %p; 1 to %u are possible, and have to be readable", count,
                      (const void *)user, KMT_MAX_OBJECTS);
    return kmt_sync_list_get(call, handles, count, use, list);
}

/* ---- creation ---- */

/* KMT-351, KMT-352: the notification sets the client's event at each signal; or the driver alone
 * does (KMT-353). */
static NTSTATUS attach_event(struct kmt_sync *sync, HANDLE handle, bool by_kmd)
{
    NTSTATUS status = kmt_event_open(handle, &sync->event);

    if (!NT_SUCCESS(status))
        return status;
    if (by_kmd)
        return port_cpu_event_create(sync->device->adapter->port,
                                     vidsch_device_driver_handle(sync->device->sch),
                                     kmt_event_object(sync->event), &sync->by_kmd);
    vidsch_sync_on_signal(sync->sch, kmt_event_set, sync->event);
    return STATUS_SUCCESS;
}

/* On failure the caller still has the scheduler's object. */
static NTSTATUS share(struct kmt_device *device, struct vidsch_sync *sch,
                      D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, struct kmt_sync **sync)
{
    struct kmt_shared *shared;
    NTSTATUS status;

    if (flags.CrossAdapter)
        return refuse(STATUS_NOT_SUPPORTED, NULL, "this host shares nothing between adapters");
    shared = kmt_shared_create(device->adapter->process->kmt, DDI_CLIENT_SYNC,
                               device->adapter->port, flags.NtSecuritySharing);
    if (!shared)
        return STATUS_NO_MEMORY;
    shared->sync = sch;
    status = kmt_sync_open(device->adapter, device, shared, sync);
    if (!NT_SUCCESS(status)) {
        kmt_shared_free(shared);
        return status;
    }
    shared->references--; /* the one of its creation */
    vidsch_sync_detach(sch);
    return STATUS_SUCCESS;
}

NTSTATUS kmt_sync_make(struct kmt_device *device, struct vidsch_sync *sch,
                       D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, struct kmt_sync **out)
{
    if (flags.Shared)
        return share(device, sch, flags, out);
    *out = add(device->adapter, device, sch);
    return *out ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

/* The creator's part of a shared monitored fence. */
static NTSTATUS view_of_creator(struct kmt_sync *sync, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info)
{
    NTSTATUS status = kmt_sync_view(sync, info->Flags, info->MonitoredFence.EngineAffinity);

    if (!NT_SUCCESS(status))
        return status;
    info->MonitoredFence.FenceValueCPUVirtualAddress = vidsch_sync_view_cpu(sync->view);
    info->MonitoredFence.FenceValueGPUVirtualAddress = vidsch_sync_view_gpu(sync->view);
    return STATUS_SUCCESS;
}

static NTSTATUS make(struct kmt_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info,
                     D3DKMT_HANDLE *handle)
{
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 answer = *info;
    struct vidsch_sync *sch;
    struct kmt_sync *sync;
    NTSTATUS status = vidsch_sync_create(device->sch, &answer, &sch);

    if (!NT_SUCCESS(status))
        return status;
    status = kmt_sync_make(device, sch, info->Flags, &sync);
    if (!NT_SUCCESS(status)) {
        vidsch_sync_destroy(sch);
        return status;
    }
    if (info->Type == D3DDDI_MONITORED_FENCE && info->Flags.Shared)
        status = view_of_creator(sync, &answer);
    else if (info->Type == D3DDDI_CPU_NOTIFICATION)
        status = attach_event(sync, info->CPUNotification.Event, info->Flags.SignalByKmd);
    if (!NT_SUCCESS(status)) {
        kmt_sync_remove(sync);
        return status;
    }
    status = kmt_sync_publish(sync);
    if (!NT_SUCCESS(status))
        return status;
    *info = answer;
    info->SharedHandle = sync->shared ? sync->shared->global : 0; /* KMT-336, KMT-337 */
    *handle = sync->handle;
    return STATUS_SUCCESS;
}

static NTSTATUS create_object2(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *args = arguments;
    struct kmt_device *device;

    if (args->Info.Flags.Reserved || args->Info.Flags.Reserved0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-009", "reserved bits in Flags 0x%x",
                      args->Info.Flags.Value);
    device = kmt_handle_device(call, args->hDevice);
    if (!device)
        return STATUS_INVALID_PARAMETER; /* KMT-335 */
    if (args->Info.Type == D3DDDI_MONITORED_FENCE && !kmt_adapter_is_2x(device->adapter))
        return kmt_adapter_refuse_1x();
    return make(device, &args->Info, &args->hSyncObject);
}

static NTSTATUS create_object(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT *args = arguments;
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = args->Info.Type};
    struct kmt_device *device;

    if (info.Type == D3DDDI_SYNCHRONIZATION_MUTEX) {
        info.SynchronizationMutex.InitialState = args->Info.SynchronizationMutex.InitialState;
    } else if (info.Type == D3DDDI_SEMAPHORE) {
        info.Semaphore.MaxCount = args->Info.Semaphore.MaxCount;
        info.Semaphore.InitialCount = args->Info.Semaphore.InitialCount;
    } else {
        return refuse(STATUS_INVALID_PARAMETER, "KMT-332",
                      "type %d of object: this call creates mutexes and semaphores",
                      (int)args->Info.Type);
    }
    device = kmt_handle_device(call, args->hDevice);
    return device ? make(device, &info, &args->hSyncObject) : STATUS_INVALID_PARAMETER;
}

static NTSTATUS destroy_object(struct kmt_call *call, void *arguments)
{
    const D3DKMT_DESTROYSYNCHRONIZATIONOBJECT *args = arguments;
    struct kmt_sync *sync = kmt_handle_lookup(call, args->hSyncObject, DDI_CLIENT_SYNC);
    struct kmt_adapter *adapter;

    if (!sync || sync->queue)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-070", "handle 0x%x is %s", args->hSyncObject,
                      sync ? "the fence of a paging queue" : "not that of a synchronization object");
    if (sync->of_hw_queue)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-174",
                      "handle 0x%x is the progress fence of a hardware queue, with which it ends",
                      args->hSyncObject);
    adapter = sync->adapter;
    kmt_call_pin(call, sync->device ? (const void *)sync->device : adapter);
    kmt_sync_remove(sync);
    kmt_adapter_put(adapter, call);
    return STATUS_SUCCESS;
}

/* ---- from the CPU ---- */

static NTSTATUS refuse_objects(UINT count)
{
    return refuse(STATUS_INVALID_PARAMETER, NULL,
                  "%u objects, 1 to %u are possible; or reserved bits in Flags", count,
                  KMT_MAX_OBJECTS);
}

static NTSTATUS copy_values(const UINT64 *user, UINT count, UINT64 *values)
{
    return kmt_client_get(values, user, count * sizeof(*values)) ? STATUS_SUCCESS
                                                                 : STATUS_INVALID_PARAMETER;
}

static NTSTATUS wait_async(struct kmt_sync_list *list, const UINT64 *values, bool any, HANDLE handle)
{
    struct kmt_event *event;
    NTSTATUS status = kmt_event_open(handle, &event);

    if (!NT_SUCCESS(status))
        return status;
    status = vidsch_sync_wait_async(list->sync, values, list->count, any, kmt_event_finish, event);
    if (!NT_SUCCESS(status))
        kmt_event_close(event);
    return status;
}

static NTSTATUS wait_from_cpu(struct kmt_call *call, void *arguments)
{
    const D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU *args = arguments;
    struct kmt_sync_list list;
    UINT64 values[KMT_MAX_OBJECTS];
    struct kmt_device *device;
    NTSTATUS status;

    if (args->ObjectCount == 0 || args->ObjectCount > KMT_MAX_OBJECTS || args->Flags.Reserved)
        return refuse_objects(args->ObjectCount);
    status = copy_values(args->FenceValueArray, args->ObjectCount, values);
    if (!NT_SUCCESS(status))
        return status;
    device = kmt_handle_lookup(call, args->hDevice,
                               DDI_CLIENT_DEVICE); /* not pinned: its end ends the wait */
    if (!device)
        return STATUS_INVALID_PARAMETER;
    status = kmt_sync_list_copy(call, args->ObjectHandleArray, args->ObjectCount, KMT_SYNC_WAIT,
                                &list);
    if (!NT_SUCCESS(status))
        return status;
    if (!kmt_adapter_is_2x(device->adapter))
        return kmt_adapter_refuse_1x();
    if (list.adapter != device->adapter)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "the objects are of another adapter");
    status = vidsch_device_check(device->sch, false);
    if (!NT_SUCCESS(status))
        return status;
    if (args->hAsyncEvent)
        return wait_async(&list, values, args->Flags.WaitAny, args->hAsyncEvent);
    return vidsch_sync_wait_cpu(list.sync, values, list.count, args->Flags.WaitAny, SIM_FOREVER);
}

static NTSTATUS signal_from_cpu(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU *args = arguments;
    D3DDDICB_SIGNALFLAGS others = args->Flags;
    struct kmt_sync_list list;
    UINT64 values[KMT_MAX_OBJECTS];
    struct kmt_device *device;
    NTSTATUS status;

    others.AllowFenceRewind = 0;
    if (args->ObjectCount == 0 || args->ObjectCount > KMT_MAX_OBJECTS || others.Value)
        return refuse_objects(args->ObjectCount); /* KMT-385 */
    status = copy_values(args->FenceValueArray, args->ObjectCount, values);
    if (!NT_SUCCESS(status))
        return status;
    device = kmt_handle_device(call, args->hDevice);
    if (!device)
        return STATUS_INVALID_PARAMETER;
    status = kmt_sync_list_copy(call, args->ObjectHandleArray, args->ObjectCount, KMT_SYNC_SIGNAL,
                                &list);
    if (!NT_SUCCESS(status))
        return status;
    if (!kmt_adapter_is_2x(device->adapter))
        return kmt_adapter_refuse_1x();
    if (list.adapter != device->adapter)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "the objects are of another adapter");
    status = vidsch_device_check(device->sch, false);
    return NT_SUCCESS(status) ? vidsch_sync_signal_cpu(list.sync, values, list.count, args->Flags)
                              : status;
}

KMT_IN_OUT(D3DKMTCreateSynchronizationObject, D3DKMT_CREATESYNCHRONIZATIONOBJECT, create_object)
KMT_IN_OUT(D3DKMTCreateSynchronizationObject2, D3DKMT_CREATESYNCHRONIZATIONOBJECT2, create_object2)
KMT_END(D3DKMTDestroySynchronizationObject, D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, destroy_object)
KMT_IN(D3DKMTWaitForSynchronizationObjectFromCpu, D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU,
       wait_from_cpu)
KMT_IN(D3DKMTSignalSynchronizationObjectFromCpu, D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU,
       signal_from_cpu)
