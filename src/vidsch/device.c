/* SPDX-License-Identifier: MIT */
/*
 * Devices: creation and destruction, by the driver and by vidmm.
 */
#include <string.h>

#include "vidsch/device.h"
#include "nt/base/status_name.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "verify/refusal.h"
#include "vidmm/process.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device_loss.h"
#include "vidsch/device_wait.h"
#include "vidsch/dxgkrnl_objects.h"
#include "vidsch/node.h"
#include "vidsch/process.h"
#include "vidsch/recovery.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/sync_view.h"

/* CAPS-063: an accelerator without any MMU serves one process at a time. */
static bool taken_by_another(const struct vidsch *vidsch, const struct vidsch_process *process)
{
    if (!vidsch->ddi->compute_only)
        return false;
    for (UINT i = 0; i < vidsch->config.nodes; i++)
        if (vidsch->node[i].info.virtual_addressing)
            return false;
    LIST_FOR(link, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (!device->system && device->process != process)
            return true;
    }
    return false;
}

/* A driver's handle may be NULL, but a key of the map may not. */
static uint64_t handle_key(HANDLE handle)
{
    return handle ? (uint64_t)(uintptr_t)handle : UINT64_MAX;
}

static void record_driver_handle(struct vidsch_device *device)
{
    struct vidsch *vidsch = device->vidsch;
    uint64_t key = handle_key(device->driver_handle);

    if (device->driver_handle == device->host_handle)
        VIOLATION("PATCH-004", "DxgkDdiCreateDevice left the host's handle in hDevice");
    else if (hash_get(&vidsch->driver_devices, key))
        VIOLATION("PATCH-004", "DxgkDdiCreateDevice gave the handle of another live device");
    else
        device->handle_recorded = hash_put(&vidsch->driver_devices, key, device);
}

static void device_free(struct vidsch_device *device)
{
    struct vidsch *vidsch = device->vidsch;

    if (device->handle_recorded)
        hash_remove(&vidsch->driver_devices, handle_key(device->driver_handle));
    (void)ddi_handle_remove(&vidsch->ddi->handles, device->host_handle, DDI_HANDLE_DEVICE);
    list_remove(&device->link);
    list_remove(&device->lost_link);
    vidsch_process_put(device->process);
    util_free(device->loss);
    util_free(device);
}

static struct vidsch_device *device_alloc(struct vidsch *vidsch, struct vidsch_process *process)
{
    struct vidsch_device *device = util_zalloc(1, sizeof(*device));

    if (!device)
        return NULL;
    device->vidsch = vidsch;
    device->process = process;
    device->state = D3DKMT_DEVICEEXECUTION_ACTIVE;
    device->awaited_ticket = UINT64_MAX;
    device->fault.FaultedPrimitiveAPISequenceNumber =
        DXGK_PRIMITIVE_API_SEQUENCE_NUMBER_UNKNOWN; /* KMT-131 */
    device->fault.FaultedBindTableEntry = DXGK_BIND_TABLE_ENTRY_UNKNOWN;
    list_init(&device->link);
    list_init(&device->lost_link);
    list_init(&device->contexts);
    list_init(&device->syncs);
    list_init(&device->views);
    list_init(&device->outstanding);
    list_init(&device->parked);
    sim_waitq_init(&device->changed);
    process->references++;
    device->host_handle = ddi_handle_create(&vidsch->ddi->handles, DDI_HANDLE_DEVICE, device);
    if (!device->host_handle) {
        device_free(device);
        return NULL;
    }
    return device;
}

/* Flags and pInfo are a union. A driver with contexts gets flags; one without gets a structure to
 * fill in (PATCH-008), which it may use only during the call. */
static NTSTATUS create_with_driver(struct vidsch_device *device, DXGKARG_CREATEDEVICE *args)
{
    struct vidsch *vidsch = device->vidsch;
    DXGK_DEVICEINFO *info;
    NTSTATUS status;

    if (device->hosts_own) {
        args->hDevice = NULL;
        return STATUS_SUCCESS;
    }
    if (vidsch->config.caps.MultiEngineAware) {
        args->Flags.SystemDevice = device->system;
        return ddi_create_device(vidsch->ddi, args);
    }
    info = util_zalloc(1, sizeof(*info));
    if (!info)
        return STATUS_NO_MEMORY;
    args->pInfo = info;
    status = ddi_create_device_with_info(vidsch->ddi, args);
    device->info = *info;
    util_free(info);
    return status;
}

static void destroy_with_driver(struct vidsch_device *device)
{
    NTSTATUS status;

    if (sim_current->stopped || device->hosts_own)
        return;
    status = ddi_destroy_device(device->vidsch->ddi, device->driver_handle);
    if (ddi_driver_failed(device->vidsch->ddi, status))
        VIOLATION("PATCH-018", "DxgkDdiDestroyDevice answered %s", nt_status_text(status).text);
}

/* Does the driver create a system device? Paging needs one for its context, or to set its root page
 * table. A driver without contexts or virtual addressing pages physical memory, without a
 * device. */
static bool driver_has_system_device(const struct vidsch *vidsch)
{
    return vidsch->config.caps.MultiEngineAware ||
           vidsch->node[vidsch->config.paging_node].info.virtual_addressing;
}

static NTSTATUS create(struct vidsch *vidsch, struct vidsch_process *process,
                       const D3DKMT_CREATEDEVICEFLAGS *flags, bool system,
                       struct vidsch_device **out)
{
    struct vidsch_device *device = device_alloc(vidsch, process);
    uint64_t epoch = vidsch->paging.epoch;
    DXGKARG_CREATEDEVICE args = {0};
    NTSTATUS status;

    if (!device)
        return STATUS_NO_MEMORY;
    device->system = system;
    device->hosts_own = system && !driver_has_system_device(vidsch) &&
                        out != &vidsch->first_system_device;
    if (flags)
        device->flags = *flags;
    args.hDevice = device->host_handle;
    args.hKmdProcess = ddi_has(vidsch->ddi, DxgkDdiCreateProcess)
                           ? vidmm_process_driver_handle(process->mm)
                           : NULL;
    args.Pasid = system ? 0 : vidmm_process_pasid(process->mm); /* IOMMU-104 */
    status = create_with_driver(device, &args);
    if (!NT_SUCCESS(status)) {
        vidmm_device_gone(vidsch->vidmm, device->host_handle);
        device_free(device);
        return status;
    }
    device->driver_handle = args.hDevice;
    status = vidmm_device_create(process->mm, device->driver_handle, device, &device->mm);
    if (!NT_SUCCESS(status)) {
        destroy_with_driver(device);
        vidmm_device_gone(vidsch->vidmm, device->host_handle);
        device_free(device);
        return status;
    }
    if (device->flags.LegacyMode)
        vidmm_device_set_legacy(device->mm);
    if (!device->hosts_own)
        record_driver_handle(device);
    list_push_back(&vidsch->devices, &device->link);
    process->devices++;
    vidsch_tell_device(device, OBJECT_BEGINS);
    /* Was the adapter reset or stopped while the driver was called? */
    if (!system && (vidsch->quiescing || vidsch->removed || epoch != vidsch->paging.epoch))
        vidsch_device_lose(device, D3DKMT_DEVICEEXECUTION_RESET, true,
                           "the adapter was reset or stopped while it was created");
    *out = device;
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_device_create(struct vidsch *vidsch, struct vidmm_process *mm,
                              const D3DKMT_CREATEDEVICEFLAGS *flags, struct vidsch_device **out)
{
    struct vidsch_process *process;
    NTSTATUS status = STATUS_ACCESS_DENIED;

    sim_assert_passive();
    vidsch_recovery_await_adapter(vidsch);
    if (vidsch->quiescing || vidsch->removed)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter is being stopped");
    process = vidsch_process_get(vidsch, mm);
    if (!process)
        return STATUS_NO_MEMORY;
    if (process->blocked)
        status = refuse(status, "TDR-042", "the process has caused too many resets");
    else if (taken_by_another(vidsch, process))
        status = refuse(status, "PATCH-016",
                        "another process has a device of this driver without MultiEngineAware");
    else
        status = create(vidsch, process, flags, false, out);
    vidsch_process_put(process);
    return status;
}

NTSTATUS vidsch_device_create_system(struct vidsch *vidsch)
{
    struct vidmm_process *mm = vidmm_paging_process(vidsch->vidmm);
    struct vidsch_process *process = vidsch_process_get(vidsch, mm);
    NTSTATUS status;

    if (!process)
        return STATUS_NO_MEMORY;
    status = vidsch->config.caps.MultiEngineAware || vidsch->config.displays
                 ? create(vidsch, process, NULL, true, &vidsch->first_system_device)
                 : STATUS_SUCCESS;
    if (NT_SUCCESS(status))
        status = create(vidsch, process, NULL, true, &vidsch->system_device);
    vidsch_process_put(process);
    return status;
}

struct vidmm_device *vidsch_display_device(const struct vidsch *vidsch)
{
    return vidsch->first_system_device->mm;
}

void vidsch_device_destroy(struct vidsch_device *device)
{
    struct vidsch *vidsch = device->vidsch;

    sim_assert_passive();
    vidsch_device_drain(device, NULL);
    while (!list_empty(&device->contexts))
        vidsch_context_destroy(CONTAINER(device->contexts.next, struct vidsch_context, link));
    while (!list_empty(&device->syncs))
        vidsch_sync_destroy(CONTAINER(device->syncs.next, struct vidsch_sync, link));
    while (!list_empty(&device->views))
        vidsch_sync_view_destroy(CONTAINER(device->views.next, struct vidsch_sync_view, link));
    vidsch_sync_reap(vidsch);
    vidmm_device_destroy(device->mm);
    destroy_with_driver(device);
    vidmm_device_gone(vidsch->vidmm, device->host_handle);
    vidsch_tell_device(device, OBJECT_ENDS);
    device->process->devices--;
    device_free(device);
}

struct vidmm_device *vidsch_device_mm(struct vidsch_device *device)
{
    return device->mm;
}

HANDLE vidsch_device_driver_handle(const struct vidsch_device *device)
{
    return device->driver_handle;
}
