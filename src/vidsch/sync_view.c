/* SPDX-License-Identifier: MIT */
#include "vidsch/sync_view.h"
#include "sim/sim_assert.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/process.h"
#include "vidsch/client.h"
#include "vidsch/device.h"
#include "vidsch/native_fence.h"
#include "vidsch/process.h"
#include "vidsch/sync_object.h"

static NTSTATUS check_view(D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, UINT affinity)
{
    if (flags.NoSignal && flags.NoWait)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-127", "NoSignal and NoWait together");
    if (affinity > 1)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-350", "EngineAffinity 0x%x, at most 1",
                      affinity);
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_sync_view_create(struct vidsch_device *device, struct vidsch_sync *sync,
                                 D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, UINT affinity,
                                 struct vidsch_sync_view **out)
{
    struct vidsch_sync_view *view;
    NTSTATUS status = check_view(flags, affinity);

    sim_assert_passive();
    if (!NT_SUCCESS(status))
        return status;
    view = util_zalloc(1, sizeof(*view));
    if (!view)
        return STATUS_NO_MEMORY;
    status = vidmm_fence_slot_open(vidmm_device_process(device->mm), sync->memory,
                                   !flags.NoGPUAccess, &view->slot);
    if (NT_SUCCESS(status) && sync->native && !flags.NoGPUAccess) {
        status = vidmm_fence_slot_open_gpu(vidmm_device_process(device->mm), sync->native->memory,
                                           &view->monitored);
        if (!NT_SUCCESS(status))
            vidmm_fence_slot_destroy(vidmm_device_process(device->mm), &view->slot);
    }
    if (!NT_SUCCESS(status)) {
        util_free(view);
        return status;
    }
    view->sync = sync;
    view->flags = flags;
    view->process = device->process;
    view->process->references++;
    list_push_back(&device->views, &view->link);
    *out = view;
    return STATUS_SUCCESS;
}

void vidsch_sync_view_destroy(struct vidsch_sync_view *view)
{
    sim_assert_passive();
    list_remove(&view->link);
    vidmm_fence_slot_destroy(view->process->mm, &view->slot);
    vidmm_fence_slot_destroy(view->process->mm, &view->monitored);
    vidsch_process_put(view->process);
    util_free(view);
}

void *vidsch_sync_view_cpu(const struct vidsch_sync_view *view)
{
    return view->slot.client;
}

D3DGPU_VIRTUAL_ADDRESS vidsch_sync_view_gpu(const struct vidsch_sync_view *view)
{
    return view->slot.va.value;
}

D3DGPU_VIRTUAL_ADDRESS vidsch_sync_view_monitored(const struct vidsch_sync_view *view)
{
    return view->monitored.va.value;
}
