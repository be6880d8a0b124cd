/* SPDX-License-Identifier: MIT */
#include "vidmm/record/dxgkrnl_events.h"
#include "ddi/ddi.h"
#include "nt/base/current.h"
#include "nt/ps/process.h"
#include "sim/machine.h"
#include "util/address.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/record/vidmm_scheduler.h"

#include <string.h>

/* MemoryTransfer.uiType, as far as Windows was seen to write it. */
enum transfer_type { TRANSFER_FILL = 0, TRANSFER_DISCARD = 5 };

/* PagingQueuePacket.PagingQueueType */
enum queue_type { QUEUE_OF_CLIENT = 0, QUEUE_OF_HOST = 1 };

/* ---- handles ---- */

static uint64_t handle(const struct vidmm *vidmm, enum wintrace_object object, uint64_t number)
{
    return wintrace_handle(object, vidmm->ddi->handles.adapter, number);
}

uint64_t vidmm_adapter_handle(const struct vidmm *vidmm)
{
    return handle(vidmm, WINTRACE_ADAPTER, vidmm->ddi->handles.adapter);
}

uint64_t vidmm_allocation_handle(const struct vidmm_allocation *allocation)
{
    return allocation ? handle(allocation->vidmm, WINTRACE_ALLOCATION, allocation->number.of_all)
                      : 0;
}

uint64_t vidmm_open_handle(const struct vidmm_open *open)
{
    return open ? handle(open->allocation->vidmm, WINTRACE_OPEN, open->serial) : 0;
}

uint64_t vidmm_queue_handle(const struct paging_queue *queue)
{
    return handle(queue->vidmm, WINTRACE_PAGING_QUEUE, queue->serial);
}

uint64_t vidmm_device_handle(const struct vidmm_device *device)
{
    const struct vidmm *vidmm = device->process->vidmm;

    return vidmm->scheduler->device_number
               ? handle(vidmm, WINTRACE_DEVICE, vidmm->scheduler->device_number(device))
               : 0;
}

static uint64_t job_handle(const struct paging_job *job)
{
    return handle(job->queue->vidmm, WINTRACE_PAGING_JOB, job->serial);
}

static uint64_t process_handle(const struct vidmm_process *process)
{
    return process
               ? handle(process->vidmm, WINTRACE_PROCESS, ddi_handle_number(process->host_handle))
               : 0;
}

static uint64_t buffer_handle(const struct vidmm *vidmm)
{
    return vidmm->buffer ? handle(vidmm, WINTRACE_PAGING_BUFFER, vidmm->buffer->number) : 0;
}

static uint64_t system_id(void)
{
    return (uintptr_t)nt_process_id(nt_process_system());
}

static uint64_t segment_number(const struct vidmm *vidmm, UINT segment)
{
    return segment ? segment : vidmm->segment_count + 1;
}

static uint64_t segment_of(const struct vidmm *vidmm, const struct vidmm_run *run)
{
    return run ? segment_number(vidmm, run->segment) : 0;
}

/* Where it begins in its segment; not told of system memory. */
static uint64_t offset_of(const struct vidmm_run *run)
{
    return run && run->segment ? segment_page_addr(run->first).value : 0;
}

/* ---- operations ---- */

/* What the events of all operations begin with. */
struct head {
    const struct vidmm *vidmm;
    uint64_t adapter, buffer, more, allocation, process;
    struct paging_subject subject;
};

static void memory_transfer(const struct head *h, uint64_t offset, uint64_t size,
                            enum transfer_type type)
{
    wintrace_emit(WINTRACE_MEMORY_TRANSFER, system_id(), h->allocation, h->buffer, offset, size,
                  type);
}

static void tell_physical(const struct head *h, const DXGKARG_BUILDPAGINGBUFFER *op)
{
    switch (op->Operation) {
    case DXGK_OPERATION_TRANSFER:
        wintrace_emit(
            WINTRACE_TRANSFER, h->adapter, h->buffer, h->more, h->allocation,
            op->Transfer.TransferOffset, op->Transfer.TransferSize, op->Transfer.Source.SegmentId,
            op->Transfer.Source.SegmentId ? (uint64_t)op->Transfer.Source.SegmentAddress.QuadPart
                                          : 0,
            op->Transfer.Destination.SegmentId,
            op->Transfer.Destination.SegmentId
                ? (uint64_t)op->Transfer.Destination.SegmentAddress.QuadPart
                : 0,
            op->Transfer.Flags.Value);
        break;
    case DXGK_OPERATION_FILL:
        memory_transfer(h, 0, op->Fill.FillSize, TRANSFER_FILL);
        wintrace_emit(WINTRACE_FILL, h->adapter, h->buffer, h->more, h->allocation,
                      op->Fill.FillSize, op->Fill.FillPattern, op->Fill.Destination.SegmentId,
                      (uint64_t)op->Fill.Destination.SegmentAddress.QuadPart);
        break;
    case DXGK_OPERATION_DISCARD_CONTENT:
        memory_transfer(h, 0, 0, TRANSFER_DISCARD);
        wintrace_emit(WINTRACE_DISCARD, h->adapter, h->buffer, h->more, h->allocation,
                      op->DiscardContent.Flags.Value, op->DiscardContent.SegmentId,
                      (uint64_t)op->DiscardContent.SegmentAddress.QuadPart);
        break;
    default:
        break;
    }
}

static uint64_t device_of(const struct head *h)
{
    const struct vidmm_allocation *allocation = h->subject.allocation;
    const struct vidmm_open *open;

    if (!allocation || list_empty(&allocation->opens))
        return 0;
    open = CONTAINER(allocation->opens.next, struct vidmm_open, link);
    return vidmm_device_handle(open->device);
}

static void tell_aperture(const struct head *h, const DXGKARG_BUILDPAGINGBUFFER *op)
{
    switch (op->Operation) {
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        wintrace_emit(WINTRACE_APERTURE_MAPPING, device_of(h), h->allocation,
                      (uint64_t)op->MapApertureSegment.NumberOfPages << PAGE_BITS, 0);
        wintrace_emit(WINTRACE_MAP_APERTURE, h->adapter, h->buffer, h->more, h->allocation,
                      op->MapApertureSegment.SegmentId, op->MapApertureSegment.OffsetInPages,
                      op->MapApertureSegment.NumberOfPages, op->MapApertureSegment.Flags.Value, 0);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2: /* of which that build has no event */
        wintrace_emit(WINTRACE_APERTURE_MAPPING, device_of(h), h->allocation,
                      (uint64_t)op->MapApertureSegment2.NumberOfPages << PAGE_BITS, 0);
        wintrace_emit(WINTRACE_MAP_APERTURE, h->adapter, h->buffer, h->more, h->allocation,
                      op->MapApertureSegment2.SegmentId, op->MapApertureSegment2.OffsetInPages,
                      op->MapApertureSegment2.NumberOfPages, op->MapApertureSegment2.Flags.Value, 0);
        break;
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        wintrace_emit(WINTRACE_APERTURE_UNMAPPING, device_of(h), h->allocation,
                      (uint64_t)op->UnmapApertureSegment.NumberOfPages << PAGE_BITS, 0);
        wintrace_emit(WINTRACE_UNMAP_APERTURE, h->adapter, h->buffer, h->more, h->allocation,
                      op->UnmapApertureSegment.SegmentId, op->UnmapApertureSegment.OffsetInPages,
                      op->UnmapApertureSegment.NumberOfPages, 0);
        break;
    default:
        break;
    }
}

static void tell_virtual(const struct head *h, const DXGKARG_BUILDPAGINGBUFFER *op)
{
    const DXGK_BUILDPAGINGBUFFER_TRANSFERVIRTUAL *transfer = &op->TransferVirtual;
    const DXGK_BUILDPAGINGBUFFER_FILLVIRTUAL *fill = &op->FillVirtual;
    const struct vidmm_run *from = h->subject.source, *to = h->subject.destination;

    switch (op->Operation) {
    case DXGK_OPERATION_VIRTUAL_TRANSFER:
        wintrace_emit(WINTRACE_VIRTUAL_TRANSFER, h->adapter, h->buffer, h->more, h->allocation,
                      transfer->AllocationOffsetInBytes, transfer->TransferSizeInBytes,
                      segment_of(h->vidmm, from), segment_of(h->vidmm, to),
                      transfer->SourceVirtualAddress, transfer->DestinationVirtualAddress,
                      transfer->SourcePageTable, (uint64_t)transfer->TransferDirection,
                      transfer->Flags.Flags, transfer->DestinationPageTable, offset_of(from),
                      offset_of(to));
        break;
    case DXGK_OPERATION_VIRTUAL_FILL:
        memory_transfer(h, fill->AllocationOffsetInBytes, fill->FillSizeInBytes, TRANSFER_FILL);
        wintrace_emit(WINTRACE_VIRTUAL_FILL, h->adapter, h->buffer, h->more, h->allocation,
                      fill->AllocationOffsetInBytes, fill->FillSizeInBytes, fill->FillPattern,
                      segment_of(h->vidmm, to), fill->DestinationVirtualAddress, offset_of(to));
        break;
    case DXGK_OPERATION_INIT_CONTEXT_RESOURCE:
        wintrace_emit(WINTRACE_INIT_CONTEXT_RESOURCE, h->adapter, h->buffer, h->more, h->allocation,
                      op->InitContextResource.Destination.SegmentId,
                      op->InitContextResource.Destination.SegmentId
                          ? (uint64_t)op->InitContextResource.Destination.SegmentAddress.QuadPart
                          : 0,
                      0, op->InitContextResource.Destination.GpuVirtualAddress);
        break;
    case DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION:
        wintrace_emit(WINTRACE_UPDATE_CONTEXT_ALLOCATION, h->adapter, h->buffer, h->more,
                      h->allocation, op->UpdateContextAllocation.ContextAllocation,
                      op->UpdateContextAllocation.ContextAllocationSize, 0,
                      op->UpdateContextAllocation.DriverPrivateDataSize);
        break;
    case DXGK_OPERATION_NOTIFY_RESIDENCY:
        wintrace_emit(WINTRACE_NOTIFY_RESIDENCY, h->adapter, h->buffer, h->more, h->allocation,
                      op->NotifyResidency.PhysicalAddress.SegmentId,
                      op->NotifyResidency.PhysicalAddress.SegmentOffset,
                      op->NotifyResidency.Resident);
        break;
    case DXGK_OPERATION_SIGNAL_MONITORED_FENCE:
        wintrace_emit(WINTRACE_SIGNAL_MONITORED_FENCE, h->adapter, h->buffer, h->more, 0,
                      op->SignalMonitoredFence.MonitoredFenceGpuVa,
                      op->SignalMonitoredFence.MonitoredFenceValue);
        break;
    default:
        break;
    }
}

static uint32_t bits_of(DXGK_UPDATEPAGETABLEFLAGS flags)
{
    uint32_t bits;

    _Static_assert(sizeof(flags) == sizeof(bits), "flags of 32 bits");
    memcpy(&bits, &flags, sizeof(bits));
    return bits;
}

/* A table that the CPU writes is told without its address, which is one of the host. */
static void tell_tables(const struct head *h, const DXGKARG_BUILDPAGINGBUFFER *op)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;
    uint64_t address = 0, segment = 0;

    if (op->Operation == DXGK_OPERATION_FLUSH_TLB) {
        wintrace_emit(WINTRACE_FLUSH_TLB, h->adapter, h->buffer, h->more, 0,
                      op->FlushTlb.RootPageTableAddress.SegmentId,
                      op->FlushTlb.RootPageTableAddress.SegmentOffset, h->process,
                      op->FlushTlb.StartVirtualAddress, op->FlushTlb.EndVirtualAddress);
        return;
    }
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE)
        return;
    if (update->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_VIRTUAL) {
        address = update->PageTableAddress.GpuVirtual;
    } else if (update->UpdateMode != DXGK_PAGETABLEUPDATE_CPU_VIRTUAL) {
        address = update->PageTableAddress.GpuPhysical.SegmentOffset;
        segment = update->PageTableAddress.GpuPhysical.SegmentId;
    }
    wintrace_emit(WINTRACE_UPDATE_PAGE_TABLE, h->adapter, h->buffer, h->more, h->allocation,
                  update->PageTableLevel, address, segment, update->NumPageTableEntries, 0, 0,
                  update->StartIndex, bits_of(update->Flags), update->DriverProtection,
                  update->AllocationOffsetInBytes, h->process, (uint64_t)update->UpdateMode,
                  update->FirstPteVirtualAddress);
}

void vidmm_tell_operation(const struct vidmm *vidmm, const DXGKARG_BUILDPAGINGBUFFER *op,
                          const struct paging_subject *subject, bool more)
{
    struct head h = {.vidmm = vidmm, .more = more};

    if (!wintrace_on())
        return;
    if (subject)
        h.subject = *subject;
    h.adapter = vidmm_adapter_handle(vidmm);
    h.buffer = buffer_handle(vidmm);
    h.allocation = vidmm_allocation_handle(h.subject.allocation);
    h.process = process_handle(h.subject.process);
    tell_physical(&h, op);
    tell_aperture(&h, op);
    tell_virtual(&h, op);
    tell_tables(&h, op);
}

/* ---- places ---- */

void vidmm_tell_placed(const struct vidmm_allocation *allocation)
{
    const struct vidmm *vidmm = allocation->vidmm;
    const bool memory = allocation->segment &&
                        !segment_is_aperture(&vidmm->segment[allocation->segment]);

    if (!wintrace_on())
        return;
    if (allocation->segment == 0)
        wintrace_emit(WINTRACE_SYSMEM_COMMIT, vidmm_adapter_handle(vidmm),
                      vidmm_allocation_handle(allocation), segment_number(vidmm, 0));
    LIST_FOR(link, &allocation->opens)
        wintrace_emit(WINTRACE_PAGE_IN, vidmm_open_handle(CONTAINER(link, struct vidmm_open, link)),
                      segment_number(vidmm, allocation->segment),
                      memory ? offset_of(&allocation->runs[0])
                             : allocation->aperture.first << PAGE_BITS);
}

void vidmm_tell_evicted(const struct vidmm_allocation *allocation)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_EVICT, vidmm_allocation_handle(allocation));
}

void vidmm_tell_leaving(const struct vidmm_allocation *allocation)
{
    if (wintrace_on() && allocation->runs && allocation->segment == 0)
        wintrace_emit(WINTRACE_SYSMEM_UNCOMMIT, vidmm_adapter_handle(allocation->vidmm),
                      vidmm_allocation_handle(allocation), segment_number(allocation->vidmm, 0));
}

void vidmm_tell_listed(const struct vidmm_open *open)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_LISTED, vidmm_open_handle(open), open->residency_count);
}

/* ---- jobs ---- */

void vidmm_tell_job_queued(const struct paging_job *job)
{
    const struct paging_queue *queue = job->queue;
    const struct vidmm *vidmm = queue->vidmm;

    if (!wintrace_on())
        return;
    if (queue->client && queue->device)
        wintrace_emit(WINTRACE_PAGING_QUEUED_FOR_DEVICE, vidmm_device_handle(queue->device),
                      vidmm_queue_handle(queue), job_handle(job), job->sequence, job->kind,
                      job->about, QUEUE_OF_CLIENT);
    else
        wintrace_emit(WINTRACE_PAGING_QUEUED, vidmm_adapter_handle(vidmm), vidmm_queue_handle(queue),
                      job_handle(job), job->sequence, job->kind, QUEUE_OF_HOST);
}

void vidmm_tell_job_taken(struct paging_job *job)
{
    if (!wintrace_on() || job->taken)
        return;
    job->taken = true;
    job->taken_at = sim_now();
    wintrace_emit(WINTRACE_PAGING_TAKEN, vidmm_queue_handle(job->queue), job_handle(job),
                  job->sequence);
}

void vidmm_tell_job_done(const struct paging_job *job)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_PAGING_DONE, vidmm_queue_handle(job->queue), job_handle(job),
                      job->sequence, job->taken ? (sim_now() - job->taken_at) / 100 : 0);
}
