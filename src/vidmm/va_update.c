/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A batch is the operations of one call, cut into steps: a window of an allocation that a map
 *   operation repeats is a step for each repetition. When it is created, everything is checked, and
 *   the pieces that will be inserted are made, with the tables that they hold. Each step waits in
 *   the list of jobs of its reservation, so that it is cancelled with it (GPUVA-120), and its piece
 *   changes when the allocation that it maps is destroyed (va_range.h).
 *
 *   When the fence of the batch has been reached, its job applies the steps in order to the
 *   records, and then writes the entries, as the pages are in the end. What a copy will find in its
 *   source is known only then, so its pieces are made by the job. If there is no memory for them,
 *   the device is in error. Where the GPU writes page tables, entries that map pages are copied on
 *   the companion context (va_entry_copy.h); all others are written as ever.
 *
 *        wait        until no other batch copies entries of the same pages
 *        bring in    what the steps map, where the GPU copies entries of it
 *        apply       the steps to the records
 *        write       the entries, or begin to copy them
 *        copy        on the companion; then what has changed since is written anew
 *
 *   A job that is run again begins with the first of these that it has not done. Whenever it stops,
 *   the entries are what the records say, but for those that are being copied: else, what others
 *   do to an allocation meanwhile would miss an entry that still maps it.
 *
 *   Until the job is over, an allocation that a step maps stays, whatever the client evicts
 *   (GPUVA-141). But nobody knows when a fence is signalled, so others who need its memory get it.
 *   Then it is brought in again; what does not fit, or not together, is left out, since an
 *   allocation need not be resident to be mapped (GPUVA-128). Nothing is kept in place by a job
 *   that waits for memory.
 */
#include "vidmm/va_update.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/queued_use.h"
#include "vidmm/residency/residency.h"
#include "vidmm/residency/victim.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/table_residency.h"
#include "vidmm/space/va_bind.h"
#include "vidmm/space/va_range_copy.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"
#include "vidmm/space/va_update_check.h"
#include "vidmm/va_entry_copy.h"

typedef D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION update_operation;

struct va_step {
    struct va_job job;  /* of the reservation that changes; its piece, except of a copy */
    struct va_job from; /* of the reservation that a copy reads */
    uint64_t first, pages;
    struct va_copying copying; /* of a copy */
    bool copies;
    bool kept;                     /* in its place, while others are brought in */
    struct vidmm_allocation *used; /* with a hold, until the batch ends */
};

struct va_batch {
    struct vidmm_device *device;
    struct vidmm_space *space; /* with a reference */
    struct paging_job job;
    void (*done)(void *context);
    void *context;
    bool dropped;
    uint64_t first, end;               /* all pages that its steps change are between these */
    uint32_t count, made, next, shown; /* steps; of those, made; applied; with their entries */
    bool written;                      /* entries, except those that the companion copies */
    bool again;                        /* they are to be written from the first on */
    struct vidmm_context *companion;
    struct entry_copy copy;
    struct va_step step[];
};

/* ---- making steps ---- */

/* More windows in one call than any client has pages for. */
#define MOST_STEPS ((uint64_t)1 << 22)

static uint64_t steps_of(const update_operation *operation)
{
    const uint64_t pages = operation->Map.SizeInBytes >> PAGE_BITS;

    switch (operation->OperationType) {
    case D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP:
    case D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT:
        return pages / va_update_window(operation);
    default:
        return 1;
    }
}

/* What the pages of a map or unmap operation become. */
static void describe(const struct vidmm_process *process, const struct va_range *range,
                     const update_operation *operation, struct va_piece *values)
{
    *values = (struct va_piece){.driver_protection = range->driver_protection};
    if (operation->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_UNMAP) {
        values->state = operation->Unmap.Protection.Zero ? ENTRY_ZERO : ENTRY_INVALID;
        return;
    }
    values->state = ENTRY_PAGES;
    values->allocation = va_find_allocation(process, operation->Map.hAllocation);
    values->offset = operation->Map.AllocationOffsetInBytes >> PAGE_BITS;
    if (operation->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT) {
        values->protection = operation->MapProtect.Protection.Value;
        values->driver_protection = operation->MapProtect.DriverProtection;
    } else {
        values->protection = (D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE){.Write = 1}.Value;
    }
}

static void note_pages(struct va_batch *batch, const struct va_step *step)
{
    if (batch->end == 0 || step->first < batch->first)
        batch->first = step->first;
    if (step->first + step->pages > batch->end)
        batch->end = step->first + step->pages;
}

static NTSTATUS make_step(struct va_range *range, const struct va_piece *values,
                          struct va_step *step)
{
    NTSTATUS status;

    step->job.spare = slab_take(&range->space->piece_slab);
    if (!step->job.spare)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = piece_create(range, values, &step->job.piece);
    if (!NT_SUCCESS(status)) {
        slab_give(&range->space->piece_slab, step->job.spare);
        step->job.spare = NULL;
        return status;
    }
    step->first = values->span.first;
    step->pages = values->span.pages;
    step->job.piece->job = &step->job;
    range_job_waits(range, &step->job);
    step->used = values->allocation;
    if (step->used)
        queued_use_begin(step->used);
    return STATUS_SUCCESS;
}

static NTSTATUS make_steps(struct va_batch *batch, const update_operation *operation,
                           struct va_range *range)
{
    const uint64_t pages = steps_of(operation) == 1 ? operation->Map.SizeInBytes >> PAGE_BITS
                                                    : va_update_window(operation);
    struct va_piece values;

    describe(batch->device->process, range, operation, &values);
    values.span.pages = pages;
    for (uint64_t i = 0; i < steps_of(operation); i++) {
        NTSTATUS status;

        values.span.first = (operation->Map.BaseAddress >> PAGE_BITS) + i * pages;
        status = make_step(range, &values, &batch->step[batch->made]);
        if (!NT_SUCCESS(status))
            return status;
        note_pages(batch, &batch->step[batch->made]);
        batch->made++;
    }
    return STATUS_SUCCESS;
}

static void make_copy(struct va_batch *batch, const update_operation *operation,
                      const struct va_update_ranges *ranges)
{
    struct va_step *step = &batch->step[batch->made++];

    step->copies = true;
    step->first = operation->Copy.DestAddress >> PAGE_BITS;
    step->pages = operation->Copy.SizeInBytes >> PAGE_BITS;
    step->copying = (struct va_copying){.first = step->first,
                                        .pages = step->pages,
                                        .source = operation->Copy.SourceAddress >> PAGE_BITS,
                                        .from = &step->from,
                                        .to = &step->job};
    step->job.copying = step->from.copying = &step->copying;
    note_pages(batch, step);
    range_job_waits(ranges->target, &step->job);
    range_job_waits(ranges->source, &step->from);
}

/* ---- ends ---- */

static void end_step(struct va_batch *batch, struct va_step *step)
{
    if (step->job.range)
        va_job_cancel(&step->job);
    if (step->from.range)
        va_job_cancel(&step->from);
    if (step->job.spare)
        slab_give(&batch->space->piece_slab, step->job.spare);
    step->job.spare = NULL;
    if (step->used)
        queued_use_end(step->used);
    step->used = NULL;
}

static void batch_free(struct va_batch *batch)
{
    for (uint32_t i = 0; i < batch->made; i++)
        end_step(batch, &batch->step[i]);
    space_release(batch->space);
    util_free(batch);
}

void vidmm_batch_discard(struct va_batch *batch)
{
    struct vidmm *vidmm = batch->space->vidmm;

    sim_mutex_lock(&vidmm->lock);
    batch_free(batch);
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- creating a batch ---- */

struct update_call {
    struct vidmm_device *device;
    const update_operation *operations;
    UINT count;
    struct va_batch *batch;
};

static NTSTATUS batch_new(struct update_call *call)
{
    struct vidmm_space *space = call->device->process->space;
    uint64_t steps = 0;

    for (UINT i = 0; i < call->count && steps <= MOST_STEPS; i++)
        steps += steps_of(&call->operations[i]);
    if (steps > MOST_STEPS)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "the operations repeat their windows more than %llu times",
                      (unsigned long long)MOST_STEPS);
    call->batch = util_zalloc(1, sizeof(*call->batch) + steps * sizeof(call->batch->step[0]));
    if (!call->batch)
        return STATUS_INSUFFICIENT_RESOURCES;
    call->batch->device = call->device;
    call->batch->space = space;
    call->batch->count = (uint32_t)steps;
    space_retain(space);
    for (uint32_t i = 0; i < steps; i++) {
        list_init(&call->batch->step[i].job.link);
        list_init(&call->batch->step[i].from.link);
    }
    return STATUS_SUCCESS;
}

/* Lock held. */
static NTSTATUS create(struct update_call *call)
{
    const struct vidmm_process *process = call->device->process;
    struct va_update_ranges ranges;
    NTSTATUS status = va_update_check(process, call->operations, call->count, &ranges);

    if (NT_SUCCESS(status))
        status = batch_new(call);
    for (UINT i = 0; i < call->count && NT_SUCCESS(status); i++) {
        if (call->operations[i].OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_COPY)
            make_copy(call->batch, &call->operations[i], &ranges);
        else
            status = make_steps(call->batch, &call->operations[i], ranges.target);
    }
    if (!NT_SUCCESS(status) && call->batch) {
        batch_free(call->batch);
        call->batch = NULL;
    }
    return status;
}

static NTSTATUS create_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)vidmm;
    (void)turn;
    return create(arg);
}

NTSTATUS vidmm_batch_create(struct vidmm_device *device, const update_operation *operations,
                            UINT count, struct va_batch **out)
{
    struct update_call call = {.device = device, .operations = operations, .count = count};
    struct vidmm *vidmm = device->process->vidmm;
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    status = vidmm->lost || vidmm->stopping || device->lost
                 ? refuse(STATUS_DEVICE_REMOVED, NULL, "the device or the adapter is lost")
                 : create(&call);
    sim_mutex_unlock(&vidmm->lock);
    if (status == STATUS_NO_MEMORY) /* the worker may evict to make room for page tables */
        status = paging_run(vidmm, create_job, &call);
    if (!NT_SUCCESS(status) && call.batch) { /* made, and the adapter was lost afterwards */
        vidmm_batch_discard(call.batch);
        call.batch = NULL;
    }
    *out = call.batch;
    return vidmm_status(status);
}

/* ---- bringing in ---- */

/* What is there stays while others of the batch are brought in. */
static void keep(struct va_step *step)
{
    if (step->kept || !step->used || !step->used->resident)
        return;
    step->kept = true;
    step->used->pins++;
    victim_update(step->used);
}

/* Nothing of the batch is kept in place or left out any more. */
static void keep_none(struct va_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        struct va_step *step = &batch->step[i];

        if (step->used)
            step->used->claims.left_out = false;
        if (!step->kept)
            continue;
        step->kept = false;
        step->used->pins--;
        if (!step->used->destroyed)
            victim_update(step->used);
    }
}

static void leave_out(struct vidmm_allocation *allocation, NTSTATUS status)
{
    allocation->claims.left_out = true;
    NOTE("GPUVA-141",
         "allocation %u of 0x%llx bytes, which a batch of updates maps, cannot be made resident "
         "beside the others of the batch (0x%08x): its entries are invalid until it is",
         allocation->number.of_all, (unsigned long long)allocation->bytes, (unsigned)status);
}

static NTSTATUS bring_in_missing(struct va_batch *batch, struct paging_turn *turn)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        struct vidmm_allocation *allocation = batch->step[i].used;
        NTSTATUS status;

        if (!allocation || allocation->resident || allocation->destroyed ||
            allocation->offer.in_force || allocation->claims.left_out)
            continue;
        status = placement_bring_in(turn, batch->space->vidmm, allocation);
        if (status == STATUS_RETRY)
            return status;
        if (NT_SUCCESS(status))
            keep(&batch->step[i]);
        else
            leave_out(allocation, status);
    }
    return STATUS_SUCCESS;
}

/* What a companion will copy is there, if that is possible; else its entries are invalid. */
static NTSTATUS bring_in(struct va_batch *batch, struct paging_turn *turn)
{
    NTSTATUS status;

    for (uint32_t i = 0; i < batch->count; i++)
        keep(&batch->step[i]);
    status = bring_in_missing(batch, turn);
    keep_none(batch);
    return status;
}

/* ---- carrying it out ---- */

/* Steps stay in the list of their reservation until the batch ends, so that its end is seen. */
static void apply(struct va_step *step)
{
    struct va_piece *piece = step->job.piece;

    step->job.piece = NULL;
    piece_apply(piece, &step->job.spare);
}

static NTSTATUS apply_copy(struct va_step *step)
{
    if (!step->from.range)
        return STATUS_SUCCESS; /* the reservation that it reads was freed */
    return range_copy(step->job.range, step->first, step->from.range, step->copying.source,
                      step->pages);
}

/* The records change as the operations say. STATUS_RETRY: again from the step where it stopped. */
static NTSTATUS apply_steps(struct va_batch *batch)
{
    for (; batch->next < batch->count; batch->next++) {
        struct va_step *step = &batch->step[batch->next];
        NTSTATUS status = STATUS_SUCCESS;

        if (step->job.range && step->copies)
            status = apply_copy(step);
        else if (step->job.range)
            apply(step);
        if (status == STATUS_RETRY)
            return status;
        step->job.copying = step->from.copying = NULL;
        if (!NT_SUCCESS(status))
            residency_fail_device(batch->device);
    }
    return STATUS_SUCCESS;
}

static void each_stretch(struct va_batch *batch, uint32_t from, uint32_t end, range_stretch_fn fn)
{
    for (uint32_t i = from; i < end; i++) {
        const struct va_step *step = &batch->step[i];

        if (step->job.range)
            range_each_stretch(step->job.range, step->first, step->first + step->pages, fn, batch);
    }
}

static void show_stretch(void *arg, struct va_range *range, struct va_piece *piece, uint64_t first,
                         uint64_t end)
{
    (void)arg;
    range_write_stretch(range, piece, first, end);
}

/* The job stops: the entries become what the steps so far have made of the records. */
static NTSTATUS show_steps(struct va_batch *batch)
{
    each_stretch(batch, batch->shown, batch->next, show_stretch);
    batch->shown = batch->next;
    return tables_settle(batch->space);
}

/* STATUS_RETRY: the privileged space has to grow first. */
static NTSTATUS copy_stretch(struct va_batch *batch, const struct va_piece *piece, uint64_t first,
                             uint64_t end)
{
    if (!batch->companion || !piece || piece->state != ENTRY_PAGES ||
        !piece->allocation->resident || batch->space->tables.absent)
        return STATUS_NOT_SUPPORTED;
    return entry_copy_add(&batch->copy, piece, first, end);
}

static void write_stretch(void *arg, struct va_range *range, struct va_piece *piece, uint64_t first,
                          uint64_t end)
{
    struct va_batch *batch = arg;
    NTSTATUS status;

    if (batch->again)
        return;
    status = copy_stretch(batch, piece, first, end);
    batch->again = status == STATUS_RETRY;
    if (!batch->again && !NT_SUCCESS(status))
        range_write_stretch(range, piece, first, end);
}

/* Entries are written as the pages are after the last step: nobody can tell the steps apart. */
static NTSTATUS write_entries(struct va_batch *batch)
{
    batch->again = false;
    if (batch->companion)
        entry_copy_begin(&batch->copy, batch->space, batch->companion);
    each_stretch(batch, 0, batch->count, write_stretch);
    batch->written = !batch->again;
    if (batch->written)
        return STATUS_SUCCESS;
    entry_copy_end(&batch->copy); /* it begins anew */
    return STATUS_RETRY;
}

/* What a companion copies goes into tables: they are there, if that is possible. */
static NTSTATUS return_tables(const struct va_batch *batch)
{
    return batch->space->tables.absent ? tables_return(batch->space) : STATUS_SUCCESS;
}

static NTSTATUS carry_out(struct va_batch *batch, struct paging_turn *turn)
{
    NTSTATUS status;

    if (entry_copy_changes(batch->space, batch->first, batch->end))
        return STATUS_RETRY; /* its end is announced (copied_use_end) */
    if (batch->companion && batch->next == 0 && !batch->space->vidmm->lost &&
        (bring_in(batch, turn) == STATUS_RETRY || return_tables(batch) == STATUS_RETRY))
        return STATUS_RETRY;
    status = apply_steps(batch);
    if (status == STATUS_RETRY) {
        (void)show_steps(batch);
        return status;
    }
    status = write_entries(batch);
    if (status == STATUS_RETRY) {
        (void)show_steps(batch);
        return status;
    }
    return tables_settle(batch->space);
}

static NTSTATUS run_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct va_batch *batch = arg;
    NTSTATUS status = STATUS_SUCCESS, copied;

    if (batch->dropped)
        return status;
    spaces_clean(vidmm);
    if (!batch->device->lost && !batch->written)
        status = carry_out(batch, turn);
    if (status == STATUS_RETRY)
        return status;
    copied = entry_copy_run(&batch->copy);
    if (copied == STATUS_RETRY)
        return copied;
    if (!NT_SUCCESS(copied))
        residency_fail_device(batch->device);
    entry_copy_end(&batch->copy);
    return status;
}

static void run_over(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct va_batch *batch = arg;
    void (*done)(void *context) = batch->done;
    void *context = batch->context;

    (void)vidmm;
    (void)status;
    entry_copy_abandon(&batch->copy); /* the job was not run to its end, or has ended it itself */
    batch_free(batch);
    if (done)
        done(context);
}

static void post(struct va_batch *batch, struct va_updates *updates)
{
    batch->job = (struct paging_job){
        .fn = run_job, .release = run_over, .arg = batch, .kind = JOB_COMMIT_ADDRESSES};
    paging_job_post(&updates->queue, &batch->job);
}

void vidmm_batch_run(struct va_batch *batch, struct va_updates *updates,
                     void (*done)(void *context), void *context)
{
    batch->companion = updates->companion;
    batch->done = done;
    batch->context = context;
    post(batch, updates);
}

void vidmm_batch_drop(struct va_batch *batch, struct va_updates *updates)
{
    batch->dropped = true;
    post(batch, updates);
}

/* ---- the batches of a context ---- */

void vidmm_updates_init(struct va_updates *updates, struct vidmm_device *device,
                        struct vidmm_context *companion)
{
    updates->companion = companion;
    paging_queue_init(&updates->queue, device->process->vidmm, device, 0);
}

bool vidmm_updates_by_gpu(const struct vidmm_device *device)
{
    return device->process->privileged != NULL;
}

void vidmm_updates_finish(struct va_updates *updates)
{
    struct vidmm *vidmm = updates->queue.vidmm;

    sim_mutex_lock(&vidmm->lock);
    paging_queue_drain(&updates->queue);
    sim_mutex_unlock(&vidmm->lock);
}
