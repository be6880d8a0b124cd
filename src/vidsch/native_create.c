/* SPDX-License-Identifier: MIT */
/* Native fences as clients make them (client.h). */
#include "sim/sim_assert.h"
#include "verify/refusal.h"
#include "vidmm/process.h"
#include "vidsch/client.h"
#include "vidsch/device.h"
#include "vidsch/native_fence.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_view.h"

#include "ddi/entries_fence.h"

bool vidsch_sync_is_native(const struct vidsch_sync *sync)
{
    return sync->native != NULL;
}

bool vidsch_native_supported(const struct vidsch_device *device)
{
    return device->vidsch->config.caps.NativeGpuFence;
}

static NTSTATUS check_support(const struct vidsch *vidsch)
{
    if (!vidsch->config.caps.NativeGpuFence)
        return refuse(STATUS_NOT_SUPPORTED, "KMT-420",
                      "the driver has not announced native fences, or was not granted them");
    if (!ddi_has(vidsch->ddi, DxgkDdiCreateNativeFence) ||
        !ddi_has(vidsch->ddi, DxgkDdiDestroyNativeFence))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-420",
                      "the driver has no DxgkDdiCreateNativeFence or DxgkDdiDestroyNativeFence");
    return STATUS_SUCCESS;
}

static NTSTATUS map_for_cmp(struct vidsch_native *native)
{
    struct vidmm_process *process = vidmm_paging_process(native->sync->vidsch->vidmm);
    NTSTATUS status = vidmm_fence_slot_open_gpu(process, native->sync->memory, &native->cmp[0]);

    return NT_SUCCESS(status) ? vidmm_fence_slot_open_gpu(process, native->memory, &native->cmp[1])
                              : status;
}

static NTSTATUS attach(struct vidsch_sync *sync)
{
    struct vidsch *vidsch = sync->vidsch;
    struct vidsch_native *native = util_zalloc(1, sizeof(*native));
    NTSTATUS status;

    if (!native)
        return STATUS_NO_MEMORY;
    native->sync = sync;
    native->told = NATIVE_NOBODY;
    list_init(&native->due_link);
    list_init(&native->signaled_link);
    status = vidmm_fence_memory_create(sync->process->mm, &native->memory);
    if (NT_SUCCESS(status) && vidsch->config.native_to_cmp)
        status = map_for_cmp(native);
    if (NT_SUCCESS(status)) {
        native->host_handle = ddi_handle_create(&vidsch->ddi->handles, DDI_HANDLE_NATIVE_FENCE,
                                                native);
        status = native->host_handle ? STATUS_SUCCESS : STATUS_NO_MEMORY;
    }
    if (!NT_SUCCESS(status)) {
        vidsch_native_free(native);
        return status;
    }
    *vidmm_fence_memory_kernel(native->memory) = NATIVE_NOBODY;
    sync->native = native;
    sync->watched = &vidsch->syncs.native_watched;
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_native_create(struct vidsch_device *device,
                              const D3DDDI_CREATENATIVEFENCEINFO *info, struct vidsch_sync **out)
{
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 own = {.Type = D3DDDI_MONITORED_FENCE, .Flags = info->Flags};
    struct vidsch_sync *sync;
    NTSTATUS status = check_support(device->vidsch);

    if (!NT_SUCCESS(status))
        return status;
    own.MonitoredFence.InitialFenceValue = info->InitialFenceValue;
    own.MonitoredFence.EngineAffinity = info->EngineAffinity;
    status = vidsch_sync_make(device, &own, true, &sync);
    if (!NT_SUCCESS(status))
        return status;
    status = attach(sync);
    if (!NT_SUCCESS(status)) {
        vidsch_sync_destroy(sync);
        return status;
    }
    *out = sync;
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_native_begin(struct vidsch_sync *sync, const struct vidsch_sync_view *view,
                             void *private_data, UINT private_bytes)
{
    struct vidsch_native *native = sync->native;
    DXGKARG_CREATENATIVEFENCE args = {
        .hNativeFence = native->host_handle,
        .NativeFenceMapping = {.CurrentValueCpuVa = view->slot.client,
                               .CurrentValueGpuVa = view->slot.va.value,
                               .MonitoredValueGpuVa = view->monitored.va.value},
        .CurrentValueGpuVaInCmpAddressSpace = native->cmp[0].va.value,
        .MonitoredValueGpuVaInCmpAddressSpace = native->cmp[1].va.value,
        .pPrivateDriverData = private_bytes ? private_data : NULL,
        .PrivateDriverDataSize = private_bytes,
    };
    NTSTATUS status = ddi_create_native_fence(sync->vidsch->ddi, &args);

    if (!NT_SUCCESS(status))
        return status;
    native->driver_handle = args.hNativeFence;
    native->begun = true;
    vidsch_native_waiters_changed(sync);
    return STATUS_SUCCESS;
}
