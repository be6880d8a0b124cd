/* SPDX-License-Identifier: MIT */
#include "vidsch/sync_object.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "verify/refusal.h"
#include "vidmm/context/fence_memory.h"
#include "vidmm/process.h"
#include "vidsch/client.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/kick.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"

/* ---- creation ---- */

/* SUBMIT-127, KMT-338, KMT-340, KMT-341, KMT-352 */
static bool flags_are_legal(const D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info)
{
    D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS f = info->Flags;
    bool monitored = info->Type == D3DDDI_MONITORED_FENCE;

    if (f.Reserved || f.Reserved0)
        return false;
    if (f.NtSecuritySharing && !f.Shared)
        return false;
    if (f.CrossAdapter && (!f.NtSecuritySharing || (!monitored && info->Type != D3DDDI_FENCE)))
        return false;
    if (!monitored && (f.TopOfPipeline || f.NoSignal || f.NoWait || f.NoSignalMaxValueOnTdr ||
                       f.NoGPUAccess || f.LocalMemoryPreferred))
        return false;
    if (f.NoSignal && f.NoWait)
        return false;
    if (monitored && f.Shared && !f.NtSecuritySharing)
        return false;
    if (info->Type == D3DDDI_CPU_NOTIFICATION)
        return !f.Shared;
    return !f.SignalByKmd;
}

static NTSTATUS check_info(const struct vidsch *vidsch,
                           const D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info)
{
    if (info->Type < D3DDDI_SYNCHRONIZATION_MUTEX || info->Type > D3DDDI_MONITORED_FENCE)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-126", "type %d of object is unknown",
                      (int)info->Type);
    if (!flags_are_legal(info))
        return refuse(STATUS_INVALID_PARAMETER, NULL, "Flags 0x%x do not go with type %d",
                      info->Flags.Value, (int)info->Type);
    if (info->Flags.SignalByKmd && !ddi_has(vidsch->ddi, DxgkDdiCreateCpuEvent))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-355",
                      "SignalByKmd: the driver has no DxgkDdiCreateCpuEvent, or is below WDDM 3.0");
    if (info->Type == D3DDDI_SEMAPHORE && info->Semaphore.InitialCount > info->Semaphore.MaxCount)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-343",
                      "a semaphore with InitialCount %u and MaxCount %u",
                      info->Semaphore.InitialCount, info->Semaphore.MaxCount);
    if (info->Type == D3DDDI_MONITORED_FENCE && info->MonitoredFence.EngineAffinity > 1)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-350", "EngineAffinity 0x%x, at most 1",
                      info->MonitoredFence.EngineAffinity);
    return STATUS_SUCCESS;
}

/* A place for a fence that one process has; `gpu` false: in memory that no GPU mapping leads to
 * (SUBMIT-142). */
static NTSTATUS create_slot(struct vidmm_process *process, bool gpu, struct vidmm_fence_slot *slot)
{
    struct vidmm_fence_memory *memory;
    NTSTATUS status;

    if (gpu)
        return vidmm_fence_slot_create(process, slot);
    status = vidmm_fence_memory_create(process, &memory);
    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_fence_slot_open(process, memory, false, slot);
    vidmm_fence_memory_release(memory); /* the slot has its own reference */
    return status;
}

/* Set the initial state of the object, by its type; outputs for the client are written to `info`
 * (a shared monitored fence has its addresses in each view, sync_view.h). */
static NTSTATUS init_state(struct vidsch_sync *sync, struct vidmm_process *process, bool own_memory,
                           D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info)
{
    NTSTATUS status;

    switch (info->Type) {
    case D3DDDI_MONITORED_FENCE:
        status = own_memory ? vidmm_fence_memory_create(process, &sync->memory)
                            : create_slot(process, !info->Flags.NoGPUAccess, &sync->slot);
        if (!NT_SUCCESS(status))
            return status;
        sync->fence = sync->memory ? vidmm_fence_memory_kernel(sync->memory) : sync->slot.kernel;
        *sync->fence = sync->queued = info->MonitoredFence.InitialFenceValue;
        info->MonitoredFence.FenceValueCPUVirtualAddress = sync->slot.client;
        info->MonitoredFence.FenceValueGPUVirtualAddress = sync->slot.va.value;
        break;
    case D3DDDI_FENCE:
        sync->value = sync->queued = info->Fence.FenceValue;
        break;
    case D3DDDI_SEMAPHORE:
        sync->count = info->Semaphore.InitialCount;
        sync->max_count = info->Semaphore.MaxCount;
        break;
    case D3DDDI_SYNCHRONIZATION_MUTEX:
        sync->count = info->SynchronizationMutex.InitialState ? 0 : 1;
        break;
    default:
        break;
    }
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_sync_create(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info,
                            struct vidsch_sync **out)
{
    return vidsch_sync_make(device, info, info->Flags.Shared, out);
}

NTSTATUS vidsch_sync_make(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info,
                          bool own_memory, struct vidsch_sync **out)
{
    struct vidsch *vidsch = device->vidsch;
    NTSTATUS status = vidsch_device_check(device, false);
    struct vidsch_sync *sync;

    sim_assert_passive();
    if (NT_SUCCESS(status))
        status = check_info(vidsch, info);
    if (!NT_SUCCESS(status))
        return status;
    sync = util_zalloc(1, sizeof(*sync));
    if (!sync)
        return STATUS_NO_MEMORY;
    sync->type = info->Type;
    sync->flags = info->Flags;
    status = init_state(sync, vidmm_device_process(device->mm), own_memory, info);
    if (!NT_SUCCESS(status)) {
        util_free(sync);
        return status;
    }
    sync->vidsch = vidsch;
    sync->number = ++vidsch->next_sync;
    sync->device = device;
    sync->process = device->process;
    sync->process->references++;
    sync->references = 1;
    list_init(&sync->watch_link);
    list_init(&sync->waiters);
    list_init(&sync->owner_link);
    if (sync->memory) { /* those belong to the creator's view */
        sync->flags.NoSignal = sync->flags.NoWait = sync->flags.NoGPUAccess = 0;
        sync->flags.NoSignalMaxValueOnTdr = 0;
    }
    sync->watched = sync->memory ? &vidsch->syncs.watched : &sync->process->watched;
    list_push_back(&device->syncs, &sync->link);
    *out = sync;
    return STATUS_SUCCESS;
}

/* ---- state ---- */

struct vidsch_device *vidsch_sync_device(const struct vidsch_sync *sync)
{
    return sync->device;
}

D3DDDI_SYNCHRONIZATIONOBJECT_TYPE vidsch_sync_type(const struct vidsch_sync *sync)
{
    return sync->type;
}

uint64_t vidsch_sync_current(const struct vidsch_sync *sync)
{
    return sync->type == D3DDDI_MONITORED_FENCE ? *sync->fence : sync->value;
}

UINT64 vidsch_sync_value(struct vidsch_sync *sync)
{
    return vidsch_sync_current(sync);
}

void vidsch_sync_on_signal(struct vidsch_sync *sync, void (*notify)(void *context), void *context)
{
    sync->notify = notify;
    sync->notify_context = context;
}

/* ---- the end ---- */

void vidsch_sync_detach(struct vidsch_sync *sync)
{
    list_remove(&sync->link);
    sync->device = NULL;
}

void vidsch_sync_release(struct vidsch_sync *sync)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (--sync->references)
        return;
    list_push_back(&sync->vidsch->syncs.dead, &sync->link);
    vidsch_kick_worker(sync->vidsch);
}

void vidsch_sync_reap(struct vidsch *vidsch)
{
    struct list *link;

    sim_assert_passive();
    while ((link = list_pop_front(&vidsch->syncs.dead)) != NULL) {
        struct vidsch_sync *sync = CONTAINER(link, struct vidsch_sync, link);

        if (sync->memory)
            vidmm_fence_memory_release(sync->memory);
        else if (sync->type == D3DDDI_MONITORED_FENCE && sync->process->mm)
            vidmm_fence_slot_destroy(sync->process->mm, &sync->slot);
        list_remove(&sync->owner_link);
        vidsch_process_put(sync->process);
        util_free(sync);
    }
}
