/* SPDX-License-Identifier: MIT */
/* The driver of the rig, and its scheduler. */
#include "mm_rig.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"

#include <stdlib.h>

#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/wait.h"

struct mm_rig *mm_rig;

/* ---- records ---- */

static struct mm_event *event(enum mm_event_kind kind)
{
    struct mm_event *e = &mm_rig->events[mm_rig->event_count % MM_MAX_EVENTS];

    if (mm_rig->event_count < MM_MAX_EVENTS - 1)
        mm_rig->event_count++;
    *e = (struct mm_event){.kind = kind, .irql = sim_irql(), .process = nt_process_current()->id};
    return e;
}

static void keep_handles(struct mm_event *e, UINT count, const HANDLE *handles)
{
    e->count = count;
    for (UINT i = 0; i < count && i < 8; i++)
        e->handle[i] = handles[i];
}

static void keep_pages(struct mm_op *op, uint64_t count, const uint64_t *pages, uint64_t base)
{
    op->pages = malloc(count * sizeof(*op->pages));
    CHECK(op->pages);
    op->page_count = (UINT)count;
    for (uint64_t i = 0; i < count; i++)
        op->pages[i] = pages ? pages[i] : base + i;
}

static void keep_mdl(struct mm_op *op, const MDL *mdl)
{
    CHECK(mdl->ByteCount % PAGE_BYTES == 0 && (mdl->MdlFlags & MDL_PAGES_LOCKED));
    keep_pages(op, mdl->ByteCount >> PAGE_BITS, (const uint64_t *)(const void *)(mdl + 1), 0);
}

static struct mm_op *record(struct mm_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    struct mm_op *op = &rig->ops[rig->op_count];

    CHECK(rig->op_count < MM_MAX_OPS);
    rig->op_count++;
    *op = (struct mm_op){
        .args = *args, .immediate = args->pDmaBuffer == NULL, .ticket = rig->submitted};
    switch (args->Operation) {
    case DXGK_OPERATION_UPDATE_PAGE_TABLE: {
        size_t count = args->UpdatePageTable.Flags.Repeat
                           ? 1
                           : args->UpdatePageTable.NumPageTableEntries;

        op->entries = malloc(count * sizeof(DXGK_PTE));
        CHECK(op->entries);
        memcpy(op->entries, args->UpdatePageTable.pPageTableEntries, count * sizeof(DXGK_PTE));
        break;
    }
    case DXGK_OPERATION_TRANSFER:
        if (args->Transfer.TransferSize && args->Transfer.Source.SegmentId == 0)
            keep_mdl(op, args->Transfer.Source.pMdl);
        else if (args->Transfer.TransferSize && args->Transfer.Destination.SegmentId == 0)
            keep_mdl(op, args->Transfer.Destination.pMdl);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        keep_mdl(op, args->MapApertureSegment.pMdl);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2: {
        const DXGK_ADL *adl = &args->MapApertureSegment2.Adl;

        keep_pages(op, adl->PageCount, adl->Flags.Contiguous ? NULL : (const uint64_t *)adl->Pages,
                   adl->BasePageNumber);
        break;
    }
    default:
        break;
    }
    return op;
}

/* ---- the driver ---- */

static NTSTATUS NTAPI build_paging_buffer(HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    struct mm_rig *rig = mm_rig;
    UINT bytes = rig->command_bytes ? rig->command_bytes : 32;
    struct mm_event *e = event(MM_BUILD);
    NTSTATUS status = STATUS_PENDING;

    CHECK(adapter == rig->ddi.context);
    e->operation = (int)args->Operation;
    if (++rig->in_build > rig->max_in_build)
        rig->max_in_build = rig->in_build;
    sim_point();
    if (rig->on_build)
        status = rig->on_build(rig, args);
    if (status == STATUS_PENDING && (!args->pDmaBuffer || rig->write_nothing)) {
        mm_gpu_execute(rig, record(rig, args));
        status = STATUS_SUCCESS;
    }
    if (status == STATUS_PENDING && args->DmaSize < bytes)
        status = STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    if (status == STATUS_PENDING) {
        memset(args->pDmaBuffer, 0, bytes);
        memcpy(args->pDmaBuffer, &rig->op_count, sizeof(rig->op_count));
        record(rig, args);
        args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + bytes;
        args->pDmaBufferPrivateData = args->pDmaBufferPrivateData
                                          ? (uint8_t *)args->pDmaBufferPrivateData +
                                                rig->private_advance
                                          : NULL;
        status = STATUS_SUCCESS;
    }
    rig->in_build--;
    return status;
}

static NTSTATUS NTAPI create_process(HANDLE adapter, DXGKARG_CREATEPROCESS *args)
{
    (void)adapter;
    args->hKmdProcess = (HANDLE)(++mm_rig->next_handle);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI destroy_process(HANDLE adapter, HANDLE process)
{
    (void)adapter;
    (void)process;
    return STATUS_SUCCESS;
}

static void NTAPI set_root_page_table(HANDLE adapter, const DXGKARG_SETROOTPAGETABLE *args)
{
    (void)adapter;
    (void)args;
}

static void answer(struct mm_rig *rig, DXGK_ALLOCATIONINFO *info)
{
    const struct mm_private *p = info->pPrivateDriverData;

    CHECK(info->Size == 0 && info->hAllocation == NULL &&
          info->SupportedWriteSegmentSet == 0); /* ALLOC-005 */
    CHECK(info->PrivateDriverDataSize == sizeof(*p));
    info->Size = p->size;
    info->PitchAlignedSize = p->pitch_size;
    info->Alignment = p->alignment;
    info->SupportedWriteSegmentSet = p->set;
    info->SupportedReadSegmentSet = p->read_set;
    info->EvictionSegmentSet = p->eviction_set;
    info->PreferredSegment.Value = p->preferred;
    info->FlagsWddm2.Value = p->flags;
    info->Flags2.Value = p->flags2;
    info->AllocationPriority = p->priority || p->raw_priority ? p->priority
                                                              : D3DDDI_ALLOCATIONPRIORITY_NORMAL;
    info->PhysicalAdapterIndex = p->adapter_index;
    if (!p->null_handle)
        info->hAllocation = (HANDLE)(++rig->next_handle);
}

static NTSTATUS NTAPI create_allocation(HANDLE adapter, DXGKARG_CREATEALLOCATION *args)
{
    struct mm_rig *rig = mm_rig;
    struct mm_event *e = event(MM_CREATE);

    CHECK(adapter == rig->ddi.context);
    e->resource = args->hResource;
    e->flags = args->Flags.Value;
    e->count = args->NumAllocations;
    if (!NT_SUCCESS(rig->create_status))
        return rig->create_status;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        answer(rig, &args->pAllocationInfo[i]);
        if (i < 8)
            e->handle[i] = args->pAllocationInfo[i].hAllocation;
    }
    if (rig->next_resource)
        args->hResource = rig->next_resource;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI destroy_allocation(HANDLE adapter, const DXGKARG_DESTROYALLOCATION *args)
{
    struct mm_event *e = event(MM_DESTROY);

    (void)adapter;
    keep_handles(e, args->NumAllocations, args->pAllocationList);
    e->resource = args->hResource;
    e->flags = args->Flags.Value;
    if (mm_rig->on_destroy)
        mm_rig->on_destroy(mm_rig, args);
    return mm_rig->destroy_status;
}

static NTSTATUS NTAPI set_allocation_backing_store(HANDLE adapter,
                                                   const DXGKARG_SETALLOCATIONBACKINGSTORE *args)
{
    struct mm_event *e = event(MM_BACKING);

    CHECK(adapter == mm_rig->ddi.context);
    keep_handles(e, 1, &args->hDriverAllocation);
    e->backing = args->pBackingStore;
    return mm_rig->backing_status;
}

static NTSTATUS NTAPI open_allocation(HANDLE device, const DXGKARG_OPENALLOCATION *args)
{
    struct mm_rig *rig = mm_rig;
    struct mm_event *e = event(MM_OPEN);

    e->device = device;
    e->flags = args->Flags.Value;
    e->count = args->NumAllocations;
    if (rig->on_open)
        rig->on_open(rig, args);
    if (!NT_SUCCESS(rig->open_status))
        return rig->open_status;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        struct mm_private *p = args->pOpenAllocation[i].pPrivateDriverData;

        if (p && p->edit)
            p->mark = 0xED17;
        if (rig->null_open_handle && i == args->NumAllocations - 1)
            continue;
        args->pOpenAllocation[i].hDeviceSpecificAllocation = (HANDLE)(++rig->next_handle);
        if (i < 8)
            e->handle[i] = args->pOpenAllocation[i].hDeviceSpecificAllocation;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI close_allocation(HANDLE device, const DXGKARG_CLOSEALLOCATION *args)
{
    struct mm_event *e = event(MM_CLOSE);

    e->device = device;
    keep_handles(e, args->NumAllocations, args->pOpenHandleList);
    return mm_rig->close_status;
}

void mm_driver_init(struct mm_rig *rig)
{
    DRIVER_INITIALIZATION_DATA table = {.Version = rig->options.version};

    table.DxgkDdiBuildPagingBuffer = build_paging_buffer;
    table.DxgkDdiCreateProcess = rig->options.physical ? NULL : create_process;
    table.DxgkDdiDestroyProcess = rig->options.physical ? NULL : destroy_process;
    table.DxgkDdiSetRootPageTable = set_root_page_table;
    table.DxgkDdiCreateAllocation = create_allocation;
    table.DxgkDdiDestroyAllocation = destroy_allocation;
    if (!rig->options.no_backing_entry)
        table.DxgkDdiSetAllocationBackingStore = set_allocation_backing_store;
    table.DxgkDdiOpenAllocation = open_allocation;
    table.DxgkDdiCloseAllocation = close_allocation;
    CHECK(NT_SUCCESS(ddi_adapter_init(&rig->ddi, &table, NULL, "mm_driver")));
    rig->ddi.context = rig;
    rig->ddi.compute_only = rig->options.compute_only;
    rig->ddi.features = rig->options.features;
    rig->next_handle = 0x1000;
    rig->command_bytes = 32;
}

/* ---- the scheduler ---- */

static HANDLE system_context(struct ddi_adapter *adapter)
{
    (void)adapter;
    return (HANDLE)(uintptr_t)0x5C;
}

static HANDLE system_device(struct ddi_adapter *adapter)
{
    (void)adapter;
    return (HANDLE)(uintptr_t)0x5D;
}

static NTSTATUS buffer_get(struct ddi_adapter *adapter, struct vidmm_paging_buffer **buffer)
{
    struct mm_rig *rig = mm_rig;

    (void)adapter;
    if (!NT_SUCCESS(rig->get_status))
        return rig->get_status;
    if (rig->gone)
        return STATUS_DEVICE_REMOVED;
    for (;;) {
        for (unsigned i = 0; i < 4; i++) {
            if (rig->buffer_busy[i])
                continue;
            rig->buffer_busy[i] = true;
            rig->buffer_ticket[i] = 0;
            rig->buffer[i].used = rig->buffer[i].private_used = 0;
            *buffer = &rig->buffer[i];
            return STATUS_SUCCESS;
        }
        sim_waitq_wait(&rig->done, SIM_FOREVER);
    }
}

static void execute(struct mm_rig *rig, unsigned i)
{
    const struct vidmm_paging_buffer *buffer = &rig->buffer[i];
    UINT bytes = rig->command_bytes;

    for (uint32_t at = 0; at + bytes <= buffer->used; at += bytes) {
        uint32_t op;

        memcpy(&op, (const uint8_t *)buffer->data + at, sizeof(op));
        CHECK(op < rig->op_count);
        mm_gpu_execute(rig, &rig->ops[op]);
    }
    rig->completed = rig->buffer_ticket[i];
    rig->buffer_busy[i] = false;
    sim_waitq_wake(&rig->done, UINT32_MAX);
}

void mm_release(struct mm_rig *rig)
{
    for (;;) {
        unsigned next = 4;

        for (unsigned i = 0; i < 4; i++)
            if (rig->buffer_busy[i] && rig->buffer_ticket[i] == rig->completed + 1)
                next = i;
        if (next == 4)
            return;
        execute(rig, next);
    }
}

static NTSTATUS buffer_submit(struct ddi_adapter *adapter, struct vidmm_paging_buffer *buffer,
                              uint64_t *ticket)
{
    struct mm_rig *rig = mm_rig;
    unsigned i = (unsigned)(buffer - rig->buffer);

    (void)adapter;
    struct mm_event *sent = event(MM_SUBMIT);

    sent->count = buffer->used;
    sent->flags = buffer->nobodys;
    rig->empty_submits += buffer->used == 0;
    rig->buffer_ticket[i] = *ticket = ++rig->submitted;
    if (rig->gone)
        return STATUS_DEVICE_REMOVED;
    if (!rig->hold)
        mm_release(rig);
    return STATUS_SUCCESS;
}

static bool paging_done(struct ddi_adapter *adapter, uint64_t ticket)
{
    (void)adapter;
    return mm_rig->completed >= ticket;
}

static NTSTATUS paging_wait(struct ddi_adapter *adapter, uint64_t ticket)
{
    (void)adapter;
    while (mm_rig->completed < ticket) {
        if (mm_rig->gone)
            return STATUS_DEVICE_REMOVED;
        sim_waitq_wait(&mm_rig->done, SIM_FOREVER);
    }
    return STATUS_SUCCESS;
}

static uint64_t device_ticket(struct vidmm_device *device)
{
    return ((struct mm_client *)vidmm_device_owner(device))->queued;
}

static bool device_done(struct vidmm_device *device, uint64_t ticket)
{
    return ((struct mm_client *)vidmm_device_owner(device))->completed >= ticket;
}

static bool device_rings(struct vidmm_device *device)
{
    (void)device;
    return false;
}

static NTSTATUS device_wait(struct vidmm_device *device, uint64_t ticket)
{
    struct mm_client *client = vidmm_device_owner(device);

    while (client->completed < ticket) {
        if (client->nudged) {
            client->nudged = false;
            return STATUS_RETRY;
        }
        sim_waitq_wait(&client->changed, SIM_FOREVER);
    }
    return STATUS_SUCCESS;
}

static void device_nudge(struct vidmm_device *device)
{
    struct mm_client *client = vidmm_device_owner(device);

    client->nudged = true;
    sim_waitq_wake(&client->changed, UINT32_MAX);
}

static void complete(struct mm_client *client, uint64_t ticket)
{
    if (ticket > client->completed)
        client->completed = ticket;
    sim_waitq_wake(&client->changed, UINT32_MAX);
}

static NTSTATUS context_leave(struct vidmm_device *device, struct vidmm_context *context)
{
    (void)device;
    (void)context;
    return STATUS_SUCCESS;
}

static NTSTATUS process_suspend(struct vidmm_process *process)
{
    struct mm_rig *rig = mm_rig;

    rig->suspends++;
    for (unsigned i = 0; i < MM_CLIENTS; i++) {
        if (rig->client[i].process != process)
            continue;
        rig->client[i].suspended = true;
        complete(&rig->client[i], rig->client[i].hardware);
    }
    return STATUS_SUCCESS;
}

static void process_resume(struct vidmm_process *process)
{
    mm_rig->resumes++;
    for (unsigned i = 0; i < MM_CLIENTS; i++)
        if (mm_rig->client[i].process == process)
            mm_rig->client[i].suspended = false;
}

static void device_error(struct vidmm_device *device, D3DKMT_DEVICEEXECUTION_STATE state)
{
    ((struct mm_client *)vidmm_device_owner(device))->error = state;
    vidmm_device_set_lost(device);
}

static void device_resident(struct vidmm_device *device)
{
    struct mm_client *client = vidmm_device_owner(device);

    client->resident_calls++;
    sim_waitq_wake(&client->changed, UINT32_MAX);
}

const struct vidmm_scheduler mm_scheduler = {
    .system_context = system_context,
    .system_device = system_device,
    .paging_buffer_get = buffer_get,
    .paging_buffer_submit = buffer_submit,
    .paging_done = paging_done,
    .paging_wait = paging_wait,
    .device_ticket = device_ticket,
    .device_done = device_done,
    .device_rings = device_rings,
    .device_wait = device_wait,
    .device_nudge = device_nudge,
    .process_suspend = process_suspend,
    .context_leave = context_leave,
    .process_resume = process_resume,
    .device_error = device_error,
    .device_resident = device_resident,
};

void mm_submit(struct mm_client *client)
{
    client->queued++;
}

bool mm_dispatch(struct mm_client *client)
{
    if (client->suspended || !vidmm_device_prepare(client->device, NULL, UINT64_MAX))
        return false;
    client->hardware = client->queued;
    return true;
}

void mm_finish(struct mm_client *client)
{
    client->hardware = client->queued;
    complete(client, client->queued);
}
