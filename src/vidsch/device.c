/* SPDX-License-Identifier: MIT */
/*
 * Devices. A device is the unit of error: once lost it stays so until it is destroyed (KMT-122).
 * Losing it can happen at any level up to DISPATCH; its contexts are taken out of scheduling at
 * once, and what needs PASSIVE_LEVEL (telling vidmm, DxgkDdiCancelCommand for each packet that
 * never reached the hardware) is left to the worker, which finds it on vidsch->lost.
 */
#include <string.h>

#include "vidsch/vidsch_private.h"

/* ---- processes, as the scheduler sees them ---- */

static struct vidsch_process *process_find(struct vidsch *vidsch, const struct vidmm_process *mm)
{
    LIST_FOR(link, &vidsch->processes) {
        struct vidsch_process *process = CONTAINER(link, struct vidsch_process, link);

        if (process->mm == mm)
            return process;
    }
    return NULL;
}

struct vidsch_process *vidsch_process_find(const struct vidmm_process *mm, struct vidsch **vidsch)
{
    for (*vidsch = sim_current->room[SIM_ROOM_VIDSCH]; *vidsch; *vidsch = (*vidsch)->next) {
        struct vidsch_process *process = process_find(*vidsch, mm);

        if (process)
            return process;
    }
    return NULL;
}

struct vidsch_process *vidsch_process_get(struct vidsch *vidsch, struct vidmm_process *mm)
{
    struct vidsch_process *process = process_find(vidsch, mm);
    uint32_t id = vidmm_process_nt(mm)->id;

    if (!process) {
        /* Perhaps one that has a record of timeouts, and opened the adapter again. */
        LIST_FOR(link, &vidsch->processes) {
            struct vidsch_process *old = CONTAINER(link, struct vidsch_process, link);

            if (!old->mm && old->id == id)
                process = old;
        }
    }
    if (!process) {
        process = util_zalloc(1, sizeof(*process));
        if (!process)
            return NULL;
        process->id = id;
        list_init(&process->watched);
        list_push_back(&vidsch->processes, &process->link);
    }
    process->mm = mm;
    process->references++;
    return process;
}

void vidsch_process_put(struct vidsch *vidsch, struct vidsch_process *process)
{
    (void)vidsch;
    if (--process->references)
        return;
    process->mm = NULL;
    if (process->blocked || process->timeouts)
        return; /* remembered (TDR-042) */
    list_remove(&process->link);
    util_free(process);
}

/* ---- creation ---- */

void vidsch_wait_reset(struct vidsch *vidsch)
{
    while (vidsch->resetting || vidsch->restoring || vidsch->adapter_reset_wanted)
        vidsch_wait_changed(vidsch, SIM_FOREVER);
}

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

/* NULL is a legal value, but no legal key. */
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

void vidsch_device_free(struct vidsch_device *device)
{
    struct vidsch *vidsch = device->vidsch;

    if (device->handle_recorded)
        hash_remove(&vidsch->driver_devices, handle_key(device->driver_handle));
    (void)ddi_handle_remove(&vidsch->ddi->handles, device->host_handle, DDI_HANDLE_DEVICE);
    list_remove(&device->link);
    list_remove(&device->lost_link);
    vidsch_process_put(vidsch, device->process);
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
    list_init(&device->outstanding);
    list_init(&device->parked);
    sim_waitq_init(&device->changed);
    process->references++;
    device->host_handle = ddi_handle_create(&vidsch->ddi->handles, DDI_HANDLE_DEVICE, device);
    if (!device->host_handle) {
        vidsch_device_free(device);
        return NULL;
    }
    return device;
}

/* Flags and pInfo share their place: a driver with contexts is given the flags, another one a place for what it has to say
 * (PATCH-008), which is the driver's during the call alone. */
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
    status = ddi_create_device(vidsch->ddi, args);
    device->info = *info;
    memset(info, 0xDD, sizeof(*info));
    util_free(info);
    return status;
}

static void destroy_with_driver(struct vidsch_device *device)
{
    NTSTATUS status;

    if (sim_current->stopped || device->hosts_own)
        return;
    status = ddi_destroy_device(device->vidsch->ddi, device->driver_handle);
    if (!NT_SUCCESS(status) && !sim_current->stopped)
        VIOLATION("PATCH-018", "DxgkDdiDestroyDevice answered 0x%08x", (unsigned)status);
}

/* Paging needs a device of the driver's for its context, or for the root page table that is set for it. A driver without contexts
 * pages physical memory for nobody. */
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
    uint64_t epoch = vidsch->paging_epoch;
    DXGKARG_CREATEDEVICE args = {0};
    NTSTATUS status;

    if (!device)
        return STATUS_NO_MEMORY;
    device->system = system;
    device->hosts_own = system && !driver_has_system_device(vidsch);
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
        vidsch_device_free(device);
        return status;
    }
    device->driver_handle = args.hDevice;
    status = vidmm_device_create(process->mm, device->driver_handle, device, &device->mm);
    if (!NT_SUCCESS(status)) {
        destroy_with_driver(device);
        vidmm_device_gone(vidsch->vidmm, device->host_handle);
        vidsch_device_free(device);
        return status;
    }
    if (!device->hosts_own)
        record_driver_handle(device);
    list_push_back(&vidsch->devices, &device->link);
    process->devices++;
    if (!system && (vidsch->quiescing ||
                    epoch != vidsch->paging_epoch)) /* what came meanwhile concerns it, too */
        vidsch_device_lose(device, D3DKMT_DEVICEEXECUTION_RESET, true);
    *out = device;
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_device_create(struct vidsch *vidsch, struct vidmm_process *mm,
                              const D3DKMT_CREATEDEVICEFLAGS *flags, struct vidsch_device **out)
{
    struct vidsch_process *process;
    NTSTATUS status = STATUS_ACCESS_DENIED;

    vidsch_wait_reset(vidsch);
    if (vidsch->quiescing)
        return STATUS_DEVICE_REMOVED;
    process = vidsch_process_get(vidsch, mm);
    if (!process)
        return STATUS_NO_MEMORY;
    if (!process->blocked && !taken_by_another(vidsch, process)) /* TDR-042, PATCH-016 */
        status = create(vidsch, process, flags, false, out);
    vidsch_process_put(vidsch, process);
    return status;
}

NTSTATUS vidsch_device_create_system(struct vidsch *vidsch)
{
    struct vidmm_process *mm = vidmm_paging_process(vidsch->vidmm);
    struct vidsch_process *process = vidsch_process_get(vidsch, mm);
    NTSTATUS status;

    if (!process)
        return STATUS_NO_MEMORY;
    status = create(vidsch, process, NULL, true, &vidsch->system_device);
    vidsch_process_put(vidsch, process);
    return status;
}

/* ---- the end ---- */

static bool busy(const struct vidsch_device *device, const struct vidsch_context *context)
{
    const struct vidsch_context *held = device->vidsch->busy_context;

    if (device->cleaning)
        return true;
    if (context)
        return context->pending || context->buffers_free != context->buffers || held == context;
    return device->pending || (held && held->device == device);
}

void vidsch_device_drain(struct vidsch_device *device, const struct vidsch_context *context)
{
    while (busy(device, context) && !sim_current->stopped)
        sim_waitq_wait(&device->changed, SIM_FOREVER);
}

void vidsch_device_destroy(struct vidsch_device *device)
{
    struct vidsch *vidsch = device->vidsch;

    vidsch_device_drain(device, NULL);
    while (!list_empty(&device->contexts))
        vidsch_context_destroy(CONTAINER(device->contexts.next, struct vidsch_context, link));
    while (!list_empty(&device->syncs))
        vidsch_sync_destroy(CONTAINER(device->syncs.next, struct vidsch_sync, link));
    vidsch_syncs_reap(vidsch);
    vidmm_device_destroy(device->mm);
    destroy_with_driver(device);
    vidmm_device_gone(vidsch->vidmm, device->host_handle);
    device->process->devices--;
    vidsch_device_free(device);
}

/* ---- loss ---- */

void vidsch_device_lose(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state, bool reset)
{
    struct vidsch *vidsch = device->vidsch;

    if (device_is_lost(device) || device->system)
        return; /* KMT-129: the first cause stays */
    device->state = state;
    device->reset_loss = reset;
    device->cleaning = true;
    LIST_FOR(link, &device->contexts) {
        struct vidsch_context *context = CONTAINER(link, struct vidsch_context, link);

        if (context->state == CONTEXT_READY || context->state == CONTEXT_PARKED)
            vidsch_context_unready(context);
        context->state = CONTEXT_LOST;
        if (context->node->unbroken == context)
            context->node->unbroken = NULL;
    }
    list_push_back(&vidsch->lost, &device->lost_link);
    vidsch_worker_wake(vidsch);
    trace_instant(0, "device lost", "state", (uint64_t)state, NULL, 0);
}

/* What Patch would have been told (TDR-063). */
static void describe(const struct packet *packet, DXGKARG_CANCELCOMMAND *args)
{
    const struct dma_buffer *buffer = packet->buffer;

    *args = (DXGKARG_CANCELCOMMAND){.hContext = packet->context->mm.driver_handle};
    if (buffer) {
        args->pDmaBufferPrivateData = buffer->private_data;
        args->DmaBufferPrivateDataSize = buffer->private_bytes;
    }
    if (!buffer || packet->kind == PACKET_VIRTUAL) {
        args->DmaBufferVirtualAddress = packet->va;
        args->DmaBufferSize = packet->bytes;
        args->DmaBufferUmdPrivateDataSize = packet->umd_private_bytes;
        return;
    }
    args->pDmaBuffer = buffer->data;
    args->DmaBufferSize = buffer->capacity;
    args->DmaBufferSubmissionStartOffset = packet->start;
    args->DmaBufferSubmissionEndOffset = packet->end;
    args->DmaBufferPrivateDataSubmissionEndOffset = buffer->private_used;
    args->pAllocationList = buffer->allocations;
    args->AllocationListSize = buffer->allocation_count;
    args->pPatchLocationList = buffer->patches;
    args->PatchLocationListSize = buffer->patch_count;
    args->PatchLocationListSubmissionStart = packet->first_patch;
    args->PatchLocationListSubmissionLength = packet->patch_count;
}

static void cancel_queue(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct list *link;

    while ((link = list_pop_front(&context->queue)) != NULL) {
        struct packet *packet = CONTAINER(link, struct packet, link);

        if (packet_is_work(packet) && !packet->resubmission &&
            vidsch->config.caps.CancelCommandAware && ddi_has(vidsch->ddi, DxgkDdiCancelCommand)) {
            DXGKARG_CANCELCOMMAND args;
            NTSTATUS status;

            describe(packet, &args);
            status = ddi_cancel_command(vidsch->ddi, &args);
            if (!NT_SUCCESS(status) && !sim_current->stopped)
                verify_fatal("TDR-064", 0x119, 0x9, (uint32_t)status, 0, 0,
                             "DxgkDdiCancelCommand answered 0x%08x", (unsigned)status);
        }
        vidsch_packet_finish(packet);
    }
}

void vidsch_device_lost_work(struct vidsch_device *device)
{
    vidmm_device_set_lost(device->mm);
    LIST_FOR(link, &device->contexts)
        cancel_queue(CONTAINER(link, struct vidsch_context, link));
    vidsch_syncs_lost(device);
    device->cleaning = false;
    vidsch_device_wake(device);
    vidsch_changed(device->vidsch);
}

NTSTATUS vidsch_device_mark_error(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state)
{
    vidsch_device_lose(device, state, false); /* TDR-080 */
    return STATUS_SUCCESS;
}

/* ---- questions ---- */

struct vidmm_device *vidsch_device_mm(struct vidsch_device *device)
{
    return device->mm;
}

D3DKMT_DEVICEEXECUTION_STATE vidsch_device_state(const struct vidsch_device *device)
{
    if (device->vidsch->quiescing || sim_current->stopped)
        return D3DKMT_DEVICEEXECUTION_STOPPED;
    return device->state;
}

NTSTATUS vidsch_device_check(const struct vidsch_device *device, bool submission)
{
    if (device->vidsch->quiescing || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    if (!device_is_lost(device))
        return STATUS_SUCCESS;
    return submission && !device->reset_loss ? STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE
                                             : STATUS_DEVICE_REMOVED;
}

NTSTATUS vidsch_device_wait_idle(struct vidsch_device *device)
{
    while (device->pending && !sim_current->stopped)
        sim_waitq_wait(&device->changed, SIM_FOREVER);
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_device_fault_state(struct vidsch_device *device, D3DKMT_DEVICEPAGEFAULT_STATE *state)
{
    if (device->vidsch->quiescing || sim_current->stopped)
        return STATUS_DEVICE_REMOVED; /* KMT-128 */
    *state = device->fault;
    return STATUS_SUCCESS;
}

HANDLE vidsch_device_driver_handle(const struct vidsch_device *device)
{
    return device->driver_handle;
}
