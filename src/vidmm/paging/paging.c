/* SPDX-License-Identifier: MIT */
/*
 * Building paging operations, and running callbacks when the GPU has executed them.
 *
 *   MultipassOffset = 0
 *   repeat
 *       offer the free rest of the current paging buffer -> DxgkDdiBuildPagingBuffer
 *       SUCCESS                  keep what was written; more operations may follow in the buffer
 *       INSUFFICIENT_DMA_BUFFER  submit, get a new buffer, call again with the same arguments, and
 *                                MultipassOffset as the driver left it
 *       ALLOCATION_BUSY          settle (wait for all paging), call again with AllocationIsIdle
 *
 * Submissions are numbered by tickets, which complete in order. An operation that wrote nothing is
 * part of that order, too: flushing a buffer with no byte used gives a ticket that completes after
 * all earlier ones (GPUVA-187). Callbacks deferred until the GPU is done (paging_defer) are in two
 * lists: `deferred` for operations that are not flushed yet, and `retiring`, in ticket order, which
 * the retire fiber processes.
 */
#include <inttypes.h>

#include "vidmm/paging/paging.h"
#include "ddi/ddi.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "trace/trace.h"
#include "util/checked.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/paging/paging_fence.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"

static const char *operation_name(DXGK_BUILDPAGINGBUFFER_OPERATION operation)
{
    static const char *const names[] = {
        "TRANSFER",
        "FILL",
        "DISCARD_CONTENT",
        "READ_PHYSICAL",
        "WRITE_PHYSICAL",
        "MAP_APERTURE_SEGMENT",
        "UNMAP_APERTURE_SEGMENT",
        "SPECIAL_LOCK_TRANSFER",
        "VIRTUAL_TRANSFER",
        "VIRTUAL_FILL",
        "INIT_CONTEXT_RESOURCE",
        "UPDATE_PAGE_TABLE",
        "FLUSH_TLB",
        "UPDATE_CONTEXT_ALLOCATION",
        "COPY_PAGE_TABLE_ENTRIES",
        "NOTIFY_RESIDENCY",
        "SIGNAL_MONITORED_FENCE",
        "MAP_APERTURE_SEGMENT2",
    };

    return (size_t)operation < sizeof(names) / sizeof(names[0]) ? names[operation] : "operation";
}

/* ---- the buffer under construction ---- */

static NTSTATUS buffer_open(struct vidmm *vidmm)
{
    if (vidmm->buffer)
        return STATUS_SUCCESS;
    if (vidmm->reset) {
        /* TDR-051: what is built during the clean-up after a reset is not submitted. */
        vidmm->buffer = vidmm->discard.buffer;
        vidmm->buffer->used = vidmm->buffer->start = 0;
        vidmm->buffer->private_used = vidmm->buffer->private_start = 0;
        return STATUS_SUCCESS;
    }

    struct vidmm_paging_buffer *buffer = NULL;
    NTSTATUS status = vidmm->scheduler->paging_buffer_get(vidmm->ddi, &buffer);

    if (!NT_SUCCESS(status))
        return status;
    vidmm->buffer = buffer;
    vidmm->statistics.paging_buffers++;
    return STATUS_SUCCESS;
}

/* Submit the buffer, even if it is empty. */
static NTSTATUS buffer_submit(struct vidmm *vidmm)
{
    struct vidmm_paging_buffer *buffer = vidmm->buffer;
    uint64_t ticket = vidmm->last_ticket;
    NTSTATUS status;

    vidmm->buffer = NULL;
    if (!buffer || buffer == vidmm->discard.buffer)
        return STATUS_SUCCESS;
    buffer->nobodys = vidmm->losing_power;
    if (vidmm->config.hw_paging &&
        (buffer->used != buffer->start || buffer->private_used != buffer->private_start))
        buffer->fence_value = ++vidmm->fence.last;
    status = vidmm->scheduler->paging_buffer_submit(vidmm->ddi, buffer, &ticket);
    if (NT_SUCCESS(status))
        vidmm->last_ticket = ticket;
    else
        vidmm->lost = true; /* operations in it are lost: nothing may build on them */
    return status;
}

/* ---- the multipass protocol ---- */

static bool may_be_busy(const DXGKARG_BUILDPAGINGBUFFER *op)
{
    switch (op->Operation) {
    case DXGK_OPERATION_TRANSFER:
        return !op->Transfer.Flags.AllocationIsIdle;
    case DXGK_OPERATION_DISCARD_CONTENT:
        return !op->DiscardContent.Flags.AllocationIsIdle;
    default:
        return false;
    }
}

static void set_idle(DXGKARG_BUILDPAGINGBUFFER *op)
{
    if (op->Operation == DXGK_OPERATION_TRANSFER)
        op->Transfer.Flags.AllocationIsIdle = 1;
    else
        op->DiscardContent.Flags.AllocationIsIdle = 1;
}

/* Bytes at the end of a buffer for the command that writes the progress fence, which ends each
 * submission to a hardware queue. How long a driver's command is, nobody says. */
#define SIGNAL_ROOM 256u

static uint32_t kept_back(const struct vidmm *vidmm, const struct vidmm_paging_buffer *buffer,
                          const DXGKARG_BUILDPAGINGBUFFER *op, uint32_t capacity, uint32_t room)
{
    const uint32_t most = capacity / 4 < SIGNAL_ROOM ? capacity / 4 : SIGNAL_ROOM;

    if (!vidmm->config.hw_paging_signals || buffer != vidmm->buffer ||
        op->Operation == DXGK_OPERATION_SIGNAL_MONITORED_FENCE)
        return 0;
    return room < most ? room : most;
}

/* Call the driver once with a buffer of that context. Of `op` only MultipassOffset is updated. */
static NTSTATUS build_pass(struct vidmm *vidmm, struct vidmm_paging_buffer *buffer, HANDLE context,
                           DXGKARG_BUILDPAGINGBUFFER *op, bool *progress)
{
    uint8_t *data = (uint8_t *)buffer->data + buffer->used;
    uint8_t *private_data = buffer->private_data
                                ? (uint8_t *)buffer->private_data + buffer->private_used
                                : NULL;
    uint32_t room = buffer->capacity - buffer->used;
    uint32_t private_room = buffer->private_data ? buffer->private_capacity - buffer->private_used
                                                 : 0;
    uint32_t written = 0;
    uint32_t private_written = 0;
    DXGKARG_BUILDPAGINGBUFFER call = *op;
    NTSTATUS status;

    room -= kept_back(vidmm, buffer, op, buffer->capacity, room);
    private_room -= kept_back(vidmm, buffer, op, buffer->private_capacity, private_room);
    call.pDmaBuffer = data;
    call.DmaSize = room;
    call.pDmaBufferPrivateData = private_data;
    call.DmaBufferPrivateDataSize = private_room;
    call.hSystemContext = context;
    call.DmaBufferGpuVirtualAddress = vidmm->config.gpu_mmu ? buffer->va.value : 0;
    call.DmaBufferWriteOffset = vidmm->config.gpu_mmu ? buffer->used : 0;
    vidmm->statistics.build_calls++;
    status = op->Operation == DXGK_OPERATION_SIGNAL_MONITORED_FENCE
                 ? paging_fence_call(vidmm, &call)
                 : ddi_build_paging_buffer(vidmm->ddi, &call);
    if (!advance_of(data, call.pDmaBuffer, room, &written)) {
        verify_fatal("PAGE-008", VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0x12, (uint64_t)op->Operation,
                     room, 0, "%s moved pDmaBuffer outside the %" PRIu32 " bytes offered",
                     operation_name(op->Operation), room);
        return STATUS_UNSUCCESSFUL;
    }
    if (!advance_of(private_data, call.pDmaBufferPrivateData, private_room, &private_written)) {
        verify_fatal("PAGE-008", VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0x13, (uint64_t)op->Operation,
                     private_room, 0,
                     "%s moved pDmaBufferPrivateData outside the %" PRIu32 " bytes offered",
                     operation_name(op->Operation), private_room);
        return STATUS_UNSUCCESSFUL;
    }
    *progress = written || private_written || call.MultipassOffset != op->MultipassOffset;
    vidmm->statistics.bytes_built += (uint64_t)written + private_written;
    buffer->used += written;
    buffer->private_used += private_written;
    if (buffer == vidmm->buffer && (written || private_written))
        vidmm->fence.due = true;
    op->MultipassOffset = call.MultipassOffset;
    return status;
}

/* Of a buffer that is full while an operation goes on: SUBMIT-117. */
static void signal_in_rest(struct vidmm *vidmm)
{
    DXGKARG_BUILDPAGINGBUFFER op;
    bool progress;

    if (!vidmm->config.hw_paging_signals || !paging_fence_due(vidmm))
        return;
    paging_fence_operation(vidmm, &op);
    if (NT_SUCCESS(build_pass(vidmm, vidmm->buffer, vidmm->scheduler->system_context(vidmm->ddi),
                              &op, &progress)))
        paging_fence_built(vidmm, vidmm->last_ticket + 1);
}

static NTSTATUS build_passes(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op,
                             const struct paging_subject *subject)
{
    op->MultipassOffset = 0;
    for (;;) {
        NTSTATUS status = buffer_open(vidmm);
        bool progress = false;

        if (!NT_SUCCESS(status))
            return status;

        bool fresh = vidmm->buffer->used == 0 && vidmm->buffer->private_used == 0;

        status = build_pass(vidmm, vidmm->buffer, vidmm->scheduler->system_context(vidmm->ddi), op,
                            &progress);
        if (status == STATUS_SUCCESS ||
            (status == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER && progress))
            vidmm_tell_operation(vidmm, op, subject, status != STATUS_SUCCESS);
        if (status == STATUS_SUCCESS)
            return status;
        if (sim_current->stopped || vidmm->ddi->gone)
            return STATUS_DEVICE_REMOVED;
        if (status == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER) {
            if (fresh && !progress) {
                verify_fatal("PAGE-013", VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0xB,
                             (uint64_t)op->Operation, (uint32_t)status, vidmm->buffer->capacity,
                             "%s found %" PRIu32 " empty bytes insufficient",
                             operation_name(op->Operation), vidmm->buffer->capacity);
                return STATUS_UNSUCCESSFUL;
            }
            vidmm->buffer->full = true;
            if (op->Operation != DXGK_OPERATION_SIGNAL_MONITORED_FENCE)
                signal_in_rest(vidmm);
            status = buffer_submit(vidmm);
            if (!NT_SUCCESS(status))
                return status;
            continue;
        }
        if (status == STATUS_GRAPHICS_ALLOCATION_BUSY && may_be_busy(op)) {
            /* PAGE-014. Client work is finished (an allocation is only moved then); only paging
             * operations can still use the allocation. */
            status = paging_settle(vidmm);
            if (!NT_SUCCESS(status))
                return status;
            set_idle(op);
            continue;
        }
        verify_fatal(status == STATUS_GRAPHICS_ALLOCATION_BUSY ? "PAGE-015" : "PAGE-010",
                     VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0xB, (uint64_t)op->Operation,
                     (uint32_t)status, 0, "%s returned 0x%08X", operation_name(op->Operation),
                     (unsigned)status);
        return STATUS_UNSUCCESSFUL;
    }
}

static void count(struct vidmm *vidmm, const DXGKARG_BUILDPAGINGBUFFER *op)
{
    vidmm->statistics.paging_operations++;
    if (op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
        vidmm->statistics.page_table_updates += op->UpdatePageTable.NumPageTableEntries;
}

NTSTATUS paging_build(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op,
                      const struct paging_subject *subject)
{
    const char *name = operation_name(op->Operation);
    NTSTATUS status;

    paging_assert_builder(vidmm);
    if (vidmm->lost)
        return STATUS_DEVICE_REMOVED; /* PAGE-082 */
    trace_begin(vidmm->track, name, "buffer_used", vidmm->buffer ? vidmm->buffer->used : 0);
    status = build_passes(vidmm, op, subject);
    trace_end(vidmm->track, name);
    if (NT_SUCCESS(status))
        count(vidmm, op);
    return status;
}

NTSTATUS paging_build_beside(struct vidmm *vidmm, struct vidmm_paging_buffer *buffer, HANDLE context,
                             DXGKARG_BUILDPAGINGBUFFER *op, const struct paging_subject *subject)
{
    const bool fresh = buffer->used == 0 && buffer->private_used == 0;
    bool progress = false;
    NTSTATUS status;

    paging_assert_builder(vidmm);
    if (vidmm->lost)
        return STATUS_DEVICE_REMOVED;
    status = build_pass(vidmm, buffer, context, op, &progress);
    if (status == STATUS_SUCCESS || (status == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER && progress))
        vidmm_tell_operation(vidmm, op, subject, status != STATUS_SUCCESS);
    if (status == STATUS_SUCCESS)
        count(vidmm, op);
    if (sim_current->stopped || vidmm->ddi->gone)
        return STATUS_DEVICE_REMOVED;
    if (status == STATUS_SUCCESS)
        return status;
    if (status == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER && (progress || !fresh))
        return status;
    verify_fatal(status == STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER ? "PAGE-013" : "PAGE-010",
                 VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0xB, (uint64_t)op->Operation, (uint32_t)status,
                 buffer->capacity, "%s returned 0x%08X", operation_name(op->Operation),
                 (unsigned)status);
    return STATUS_UNSUCCESSFUL;
}

NTSTATUS paging_build_immediate(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op,
                                const struct paging_subject *subject)
{
    DXGKARG_BUILDPAGINGBUFFER call = *op;
    NTSTATUS status;

    if (vidmm->lost)
        return STATUS_DEVICE_REMOVED;
    /* what describes a buffer is 0 */
    call.hSystemContext = vidmm->scheduler->system_context(vidmm->ddi);
    vidmm->statistics.build_calls++;
    status = ddi_build_paging_buffer(vidmm->ddi, &call);
    if (status != STATUS_SUCCESS) {
        if (!sim_current->stopped && !vidmm->ddi->gone)
            VIOLATION("GPUVA-186", "%s without a buffer returned 0x%08X",
                      operation_name(op->Operation), (unsigned)status);
        return NT_SUCCESS(status) ? STATUS_UNSUCCESSFUL : status;
    }
    vidmm_tell_operation(vidmm, op, subject, false);
    count(vidmm, op);
    return STATUS_SUCCESS;
}

/* ---- tickets ---- */

uint64_t paging_ticket_now(const struct vidmm *vidmm)
{
    return vidmm->buffer ? vidmm->last_ticket + 1 : vidmm->last_ticket;
}

bool paging_ticket_done(const struct vidmm *vidmm, uint64_t ticket)
{
    if (ticket > vidmm->last_ticket)
        return false;
    return ticket == 0 || vidmm->lost || vidmm->scheduler->paging_done(vidmm->ddi, ticket);
}

static void splice(struct list *from, struct list *to, uint64_t ticket)
{
    struct list *node;

    while ((node = list_pop_front(from)) != NULL) {
        CONTAINER(node, struct paging_deferred, link)->ticket = ticket;
        list_push_back(to, node);
    }
}

/* GPUVA-242: last in the buffer. */
static void signal_fence(struct vidmm *vidmm)
{
    DXGKARG_BUILDPAGINGBUFFER op;

    if (!paging_fence_due(vidmm) || !paging_may_build(vidmm))
        return;
    paging_fence_operation(vidmm, &op);
    if (NT_SUCCESS(paging_build(vidmm, &op, NULL)))
        paging_fence_built(vidmm, paging_ticket_now(vidmm));
}

NTSTATUS paging_flush(struct vidmm *vidmm, uint64_t *ticket)
{
    NTSTATUS status;

    vidmm_assert_locked(vidmm);
    signal_fence(vidmm);
    status = buffer_submit(vidmm);
    if (!list_empty(&vidmm->deferred)) {
        splice(&vidmm->deferred, &vidmm->retiring, vidmm->last_ticket);
        paging_tell(vidmm);
    }
    if (ticket)
        *ticket = vidmm->last_ticket;
    return status;
}

void paging_defer(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    vidmm_assert_locked(vidmm);
    if (vidmm->buffer || !list_empty(&vidmm->deferred)) {
        list_push_back(&vidmm->deferred, &deferred->link);
        return;
    }
    if (list_empty(&vidmm->retiring) && paging_ticket_done(vidmm, vidmm->last_ticket)) {
        list_init(&deferred->link);
        deferred->fn(vidmm, deferred);
        return;
    }
    deferred->ticket = vidmm->last_ticket;
    list_push_back(&vidmm->retiring, &deferred->link);
    paging_tell(vidmm);
}

void paging_retire(struct vidmm *vidmm, uint64_t ticket)
{
    vidmm_assert_locked(vidmm);
    paging_fence_check(vidmm, ticket);
    while (!list_empty(&vidmm->retiring)) {
        struct paging_deferred *deferred = CONTAINER(vidmm->retiring.next, struct paging_deferred,
                                                     link);

        if (deferred->ticket > ticket)
            return;
        list_remove(&deferred->link);
        deferred->fn(vidmm, deferred);
    }
}

void paging_catch_up(struct vidmm *vidmm)
{
    vidmm_assert_locked(vidmm);
    while (!list_empty(&vidmm->retiring)) {
        const uint64_t ticket = CONTAINER(vidmm->retiring.next, struct paging_deferred, link)->ticket;

        if (!paging_ticket_done(vidmm, ticket))
            return;
        paging_retire(vidmm, ticket);
    }
}

NTSTATUS paging_settle(struct vidmm *vidmm)
{
    uint64_t ticket;
    NTSTATUS status = paging_flush(vidmm, &ticket);

    paging_assert_builder(vidmm);
    if (NT_SUCCESS(status) && !paging_ticket_done(vidmm, ticket))
        status = vidmm->scheduler->paging_wait(vidmm->ddi, ticket);
    if (!NT_SUCCESS(status))
        vidmm->lost = true;
    paging_retire(vidmm, ticket); /* even on failure: a lost adapter no longer uses the memory */
    return status;
}

NTSTATUS paging_wait_unlocked(struct vidmm *vidmm, uint64_t ticket)
{
    NTSTATUS status;

    if (paging_ticket_done(vidmm, ticket))
        return STATUS_SUCCESS;
    sim_mutex_unlock(&vidmm->lock);
    status = vidmm->scheduler->paging_wait(vidmm->ddi, ticket);
    sim_mutex_lock(&vidmm->lock);
    if (!NT_SUCCESS(status))
        vidmm->lost = true;
    return status;
}
