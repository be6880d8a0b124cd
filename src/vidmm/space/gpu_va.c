/* SPDX-License-Identifier: MIT */
/*
 * Clients' requests for GPU virtual addresses (map, reserve, free), and mappings of context
 * allocations.
 *
 * A request is checked and published (its addresses, tables and records are taken) in the caller's
 * thread. Entries are then written by a job in the paging queue, which cannot fail
 * (address_space.c). If there is no room for page tables, or the root must grow, the whole request
 * is repeated on the worker, which may evict and may suspend contexts (publish_job).
 */
#include "vidmm/space/gpu_va.h"
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/handle.h"
#include "util/list.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "verify/refusal.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/privileged_space.h"
#include "vidmm/space/root_table.h"
#include "vidmm/space/va_bind.h"
#include "vidmm/space/va_context_map.h"
#include "vidmm/space/va_neighbour.h"
#include "vidmm/space/va_piece.h"
#include "vidmm/space/va_range.h"

#include <stdlib.h>

#define RESERVE_BYTES 65536u /* GPUVA-106 */

typedef D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection_type;

/* The state of one map or reserve request. */
struct va_call {
    struct vidmm_process *process;
    struct vidmm_space *space;
    struct vidmm_paging_queue *queue; /* NULL: the request is complete on return */
    enum range_kind kind;
    struct va_request request;
    struct va_piece values; /* of the piece; without a piece, the initial state of the range */
    D3DKMT_HANDLE handle;   /* allocation, or 0 */
    bool no_commit;
    bool fresh; /* the range was created by this call */
    struct va_range *range;
    struct va_piece *piece;
    struct va_piece *spare;
    uint64_t fence;
    bool for_worker;                    /* it failed, but may succeed on the worker */
    struct va_context_map *context_map; /* gets the reason for a failure; or NULL */
};

/* ---- arguments ---- */

static bool aligned(uint64_t value, uint64_t unit)
{
    return value % unit == 0;
}

static NTSTATUS refuse_without_mmu(void)
{
    return refuse(STATUS_NOT_SUPPORTED, NULL, "the adapter has no GPU virtual addresses");
}

static NTSTATUS refuse_zero(void)
{
    return refuse(STATUS_NOT_SUPPORTED, NULL, "the page tables of the driver have no Zero bit");
}

static NTSTATUS refuse_limits(uint64_t low, uint64_t high, uint64_t pages, uint64_t unit)
{
    return refuse(STATUS_INVALID_PARAMETER, NULL,
                  "0x%llx pages between MinimumAddress 0x%llx and MaximumAddress 0x%llx: both are "
                  "multiples of 0x%llx, with room for the range between",
                  (unsigned long long)pages, (unsigned long long)low, (unsigned long long)high,
                  (unsigned long long)unit);
}

/* GPUVA-087. */
static NTSTATUS check_protection(protection_type protection)
{
    bool nothing = protection.Zero || protection.NoAccess;

    bool good = !protection.SystemUseOnly && !protection.Reserved &&
                !(nothing && (protection.Write || protection.Execute ||
                              (protection.Zero && protection.NoAccess)));

    return good ? STATUS_SUCCESS
                : refuse(STATUS_INVALID_PARAMETER, "GPUVA-087",
                         "Protection 0x%llx: reserved bits, or bits that exclude each other",
                         (unsigned long long)protection.Value);
}

/* Check where a request wants its range, and convert it to pages (GPUVA-061, GPUVA-077,
 * GPUVA-080, GPUVA-081). */
static NTSTATUS check_place(const struct vidmm_space *space, uint64_t base, uint64_t low,
                            uint64_t high, uint64_t pages, uint64_t unit, struct va_request *request)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    uint64_t end;

    if (pages > UINT64_MAX >> PAGE_BITS)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "a range of 0x%llx pages",
                      (unsigned long long)pages);
    *request = (struct va_request){.base = base >> PAGE_BITS, .pages = pages};
    if (base != 0) {
        if (!aligned(base, unit) || request->base < geometry->first ||
            ckd_add(&end, request->base, pages) || end > geometry->end)
            return refuse(STATUS_INVALID_PARAMETER, "GPUVA-058",
                          "BaseAddress 0x%llx for 0x%llx pages: a multiple of 0x%llx, from 0x%llx "
                          "to 0x%llx",
                          (unsigned long long)base, (unsigned long long)pages,
                          (unsigned long long)unit, (unsigned long long)geometry->first << PAGE_BITS,
                          (unsigned long long)geometry->end << PAGE_BITS);
        return STATUS_SUCCESS;
    }
    if (!aligned(low, unit) || !aligned(high, unit) || ckd_add(&end, low, pages << PAGE_BITS))
        return refuse_limits(low, high, pages, unit);
    if (high != 0 && high >> PAGE_BITS > geometry->end)
        high = geometry->end << PAGE_BITS;
    if (high != 0 && end > high)
        return refuse_limits(low, high, pages, unit);
    request->low = low >> PAGE_BITS;
    request->high = high >> PAGE_BITS;
    return STATUS_SUCCESS;
}

/* Find the allocation of the call, and check that it can be mapped as requested. */
static NTSTATUS bind_allocation(struct va_call *call)
{
    struct va_piece *values = &call->values;

    if (values->state != ENTRY_PAGES)
        return STATUS_SUCCESS;
    if (call->handle)
        values->allocation = va_find_allocation(call->process, call->handle);
    if (!values->allocation)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                      "handle 0x%x is no allocation of the process", call->handle);
    if (!range_inside(values->offset, call->request.pages, values->allocation->pages))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "range of %llu pages from page %llu on, the allocation has %llu",
                      (unsigned long long)call->request.pages, (unsigned long long)values->offset,
                      (unsigned long long)values->allocation->pages);
    if (va_protection_conflict(values->allocation, values->offset, call->request.pages,
                               values->driver_protection)) {
        if (call->context_map)
            call->context_map->conflict = true;
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-101",
                      "DriverProtection 0x%llx, another mapping of these pages has a different "
                      "unique one",
                      (unsigned long long)values->driver_protection);
    }
    return STATUS_SUCCESS;
}

/* ---- publishing ---- */

/* May a client's map change pages inside the range (GPUVA-053, GPUVA-078, GPUVA-079, GPUVA-088)? */
static bool may_overlay(const struct va_range *range, const struct va_call *call)
{
    if (call->request.base + call->request.pages > span_end(&range->span))
        return false;
    switch (range->kind) {
    case RANGE_MAP:
        return call->values.state == ENTRY_PAGES;
    case RANGE_RESERVATION:
        return true;
    case RANGE_DRIVER:
        return range->user_mapping;
    default:
        return false;
    }
}

static void unpublish(struct va_call *call)
{
    if (call->piece)
        piece_discard(call->piece);
    if (call->spare)
        slab_give(&call->space->piece_slab, call->spare);
    if (call->range && call->fresh) {
        if (call->range->initial == ENTRY_ZERO) {
            tables_drop_edge(call->space, call->range->span.first);
            tables_drop_edge(call->space, span_end(&call->range->span));
            tables_prune(call->space, call->range->span.first, call->range->span.pages);
        }
        range_discard(call->range);
    }
    call->piece = call->spare = NULL;
    call->range = NULL;
}

/* Ensure that the root reaches the new range. If it has to grow, which only the worker may do, the
 * lock is dropped meanwhile. */
static NTSTATUS cover(struct va_call *call)
{
    uint64_t end = span_end(&call->range->span);

    if (root_covers(call->space, end))
        return STATUS_SUCCESS;
    if (paging_may_build(call->space->vidmm))
        return root_cover(call->space, end);
    call->for_worker = true;
    return STATUS_NO_MEMORY;
}

static void note_why(const struct va_call *call, NTSTATUS status)
{
    struct va_context_map *map = call->context_map;

    if (!map)
        return;
    if (status == STATUS_INVALID_PARAMETER)
        (void)va_neighbour_at(call->space, call->request.base, call->request.pages, &map->taken);
    map->no_room = status == STATUS_NO_MEMORY;
}

static NTSTATUS refuse_taken(const struct va_call *call)
{
    struct va_neighbour taken;

    if (!va_neighbour_at(call->space, call->request.base, call->request.pages, &taken))
        return STATUS_INVALID_PARAMETER;
    return refuse(STATUS_INVALID_PARAMETER, "GPUVA-078", "0x%llx pages at 0x%llx: there is %s",
                  (unsigned long long)call->request.pages,
                  (unsigned long long)call->request.base << PAGE_BITS,
                  va_neighbour_describe(&taken).text);
}

static NTSTATUS find_range(struct va_call *call)
{
    struct va_range *range;
    NTSTATUS status;

    call->fresh = true;
    if (call->request.base != 0 && call->kind == RANGE_MAP) {
        range = range_from(call->space, call->request.base);
        if (range && range->span.first < call->request.base + call->request.pages) {
            if (range->span.first > call->request.base || !may_overlay(range, call))
                return refuse_taken(call);
            call->fresh = false;
            call->range = range;
            return STATUS_SUCCESS;
        }
    }
    status = range_create(call->space, call->kind, &call->request, &call->range);
    if (!NT_SUCCESS(status)) {
        note_why(call, status);
        return status == STATUS_INVALID_PARAMETER ? refuse_taken(call) : status;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): range_create made one. */
    call->range->driver_protection = call->values.driver_protection;
    call->range->no_commit = call->no_commit;
    call->range->owned = call->values.state == ENTRY_PAGES;
    return cover(call);
}

/* A range of Zero entries: hold the tables at its two edges. */
static NTSTATUS make_initial(struct va_call *call)
{
    struct va_range *range = call->range;
    NTSTATUS status;

    if (call->values.state != ENTRY_ZERO)
        return STATUS_SUCCESS;
    status = tables_hold_edge(call->space, range->span.first);
    if (!NT_SUCCESS(status))
        return status;
    status = tables_hold_edge(call->space, span_end(&range->span));
    if (NT_SUCCESS(status)) {
        range->initial = ENTRY_ZERO;
    } else {
        tables_drop_edge(call->space, range->span.first);
        tables_prune(call->space, range->span.first, 1);
    }
    return status;
}

static NTSTATUS make_piece(struct va_call *call)
{
    uint64_t first = call->request.base ? call->request.base : call->range->span.first;
    NTSTATUS status;

    if (call->fresh && call->values.state != ENTRY_PAGES)
        return make_initial(call);
    if (!call->fresh) {
        call->spare = slab_take(&call->space->piece_slab);
        if (!call->spare)
            return STATUS_INSUFFICIENT_RESOURCES;
    }
    status = bind_allocation(call); /* again: the lock may have been dropped */
    call->values.span = (struct span_node){.first = first, .pages = call->request.pages};
    if (NT_SUCCESS(status))
        status = piece_create(call->range, &call->values, &call->piece);
    return status;
}

static bool needs_job(const struct va_call *call)
{
    const struct va_range *range = call->range;

    if (!list_empty(&range->jobs))
        return true; /* other jobs wait for this range: keep the order */
    if (call->piece)
        return piece_needs_write(call->piece);
    return range->initial != ENTRY_INVALID ||
           tables_need_write(call->space, range->span.first, range->span.pages);
}

/* ---- jobs ---- */

static void put_in_place(struct va_job *job)
{
    list_remove(&job->link);
    if (job->piece)
        piece_apply(job->piece, &job->spare);
}

static NTSTATUS job_run(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct va_job *job = arg;
    struct va_range *range = job->range;
    struct va_piece *piece = job->piece;

    (void)turn;
    if (!range)
        return STATUS_SUCCESS;
    spaces_clean(vidmm);
    put_in_place(job);
    job->range = NULL;
    job->piece = NULL;
    if (piece)
        piece_write(piece);
    else
        range_write_initial(range, range->span.first, range->span.pages);
    return tables_settle(job->space);
}

static void job_release(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct va_job *job = arg;

    (void)vidmm;
    (void)status;
    if (job->range)
        put_in_place(
            job); /* the job did not run, since the adapter is lost: update only the records */
    if (job->spare)
        slab_give(&job->space->piece_slab, job->spare);
    space_release(job->space);
    util_free(job);
}

/* Queue a job that inserts the piece and writes the entries. */
static NTSTATUS post(struct va_call *call)
{
    struct va_job *job = util_zalloc(1, sizeof(*job));
    NTSTATUS status;

    if (!job)
        return STATUS_INSUFFICIENT_RESOURCES;
    *job = (struct va_job){
        .range = call->range, .piece = call->piece, .spare = call->spare, .space = call->space};
    status = paging_queue_post(
        call->queue,
        &(struct paging_work){.fn = job_run,
                              .release = job_release,
                              .arg = job,
                              .kind = call->piece ? JOB_COMMIT_ADDRESSES : JOB_UNCOMMIT_ADDRESSES},
        &call->fence);
    if (!NT_SUCCESS(status)) {
        util_free(job);
        return status;
    }
    space_retain(call->space);
    range_job_waits(call->range, job);
    if (call->piece)
        call->piece->job = job;
    return STATUS_PENDING;
}

/* Write the entries now: on the worker, for a call that is complete when it returns. */
static void write_now(struct va_call *call)
{
    struct va_range *range = call->range;

    spaces_clean(call->space->vidmm);
    if (call->piece) {
        piece_apply(call->piece, &call->spare);
        piece_write(call->piece);
    } else {
        range_write_initial(range, range->span.first, range->span.pages);
    }
    /* on failure the adapter is lost, which the wait for the GPU reports */
    (void)tables_settle(call->space);
}

static NTSTATUS commit(struct va_call *call)
{
    bool needed = needs_job(call);

    if (needed && call->queue)
        return post(call);
    if (needed && !paging_may_build(call->space->vidmm)) {
        call->for_worker = true;
        return STATUS_NO_MEMORY;
    }
    if (needed)
        write_now(call);
    else if (call->piece)
        piece_apply(call->piece, &call->spare);
    if (call->spare)
        slab_give(&call->space->piece_slab, call->spare);
    return STATUS_SUCCESS;
}

static NTSTATUS publish(struct va_call *call)
{
    NTSTATUS status = bind_allocation(call);

    if (NT_SUCCESS(status))
        status = find_range(call);
    if (NT_SUCCESS(status))
        status = make_piece(call);
    if (NT_SUCCESS(status)) {
        uint64_t first = call->request.base ? call->request.base : call->range->span.first;

        status = commit(call);
        call->request.base = NT_SUCCESS(status) ? first : call->request.base;
    }
    if (NT_SUCCESS(status))
        return status;
    if (status == STATUS_NO_MEMORY && call->range && !paging_may_build(call->space->vidmm))
        call->for_worker = true;
    unpublish(call);
    return status;
}

static NTSTATUS publish_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    (void)vidmm;
    return publish(arg);
}

/* All of a space is visited, so a large one is validated only when its count of ranges is a
 * multiple of 8: what is wrong stays so. */
static void debug_check(const struct vidmm_space *space)
{
#ifdef DXGK_DEBUG_CHECKS
    bool large = space->ranges.ranges > 64 && space->ranges.ranges % 8 != 0;

    if (!large && !space_validate(space))
        abort();
#else
    (void)space;
#endif
}

/* Lock held. */
static NTSTATUS try_here(struct va_call *call)
{
    const struct vidmm *vidmm = call->space->vidmm;
    bool lost = vidmm->lost || vidmm->stopping || (call->queue && call->queue->base.device->lost);
    NTSTATUS status = lost
                          ? refuse(STATUS_DEVICE_REMOVED, NULL, "the device or the adapter is lost")
                          : publish(call);

    debug_check(call->space);
    return status;
}

/* Lock not held. Returns STATUS_PENDING, STATUS_SUCCESS or a failure. On success the address is in
 * call->request.base. */
static NTSTATUS perform(struct va_call *call)
{
    struct vidmm *vidmm = call->space->vidmm;
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    status = try_here(call);
    sim_mutex_unlock(&vidmm->lock);
    if (status == STATUS_NO_MEMORY && call->for_worker)
        status = paging_run(vidmm, publish_job, call);
    return vidmm_status(status);
}

/* ---- client requests ---- */

/* GPUVA-090: can the hardware express Zero? */
static bool can_be_zero(const struct vidmm_space *space)
{
    return space->mmu->geometry.caps.ZeroInPteSupported;
}

static enum entry_state requested_state(protection_type protection)
{
    return protection.Zero ? ENTRY_ZERO : protection.NoAccess ? ENTRY_INVALID : ENTRY_PAGES;
}

NTSTATUS vidmm_map_gpu_va(struct vidmm_paging_queue *queue, D3DDDI_MAPGPUVIRTUALADDRESS *args)
{
    struct vidmm_process *process = queue->base.device->process;
    struct va_call call = {.process = process,
                           .space = process->space,
                           .queue = queue,
                           .kind = RANGE_MAP,
                           .handle = args->hAllocation};
    NTSTATUS status;

    if (!call.space)
        return refuse_without_mmu();
    if (args->SizeInPages == 0 || args->Reserved0 != 0 || args->Reserved1 != 0)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "SizeInPages 0x%llx, Reserved0 0x%llx, Reserved1 0x%llx",
                      (unsigned long long)args->SizeInPages, (unsigned long long)args->Reserved0,
                      (unsigned long long)args->Reserved1);
    status = check_protection(args->Protection);
    if (!NT_SUCCESS(status))
        return status;
    call.values.state = requested_state(args->Protection);
    if ((call.values.state == ENTRY_PAGES) != (args->hAllocation != 0))
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-082",
                      "hAllocation 0x%x with Protection 0x%llx", args->hAllocation,
                      (unsigned long long)args->Protection.Value);
    status = check_place(call.space, args->BaseAddress, args->MinimumAddress, args->MaximumAddress,
                         args->SizeInPages, PAGE_BYTES, &call.request);
    if (!NT_SUCCESS(status))
        return status;
    if (call.values.state == ENTRY_ZERO && !can_be_zero(call.space))
        return refuse_zero();
    call.values.offset = args->OffsetInPages;
    call.values.protection = args->Protection.Value;
    call.values.driver_protection = args->DriverProtection;
    status = perform(&call);
    if (NT_SUCCESS(status)) {
        args->VirtualAddress = call.request.base << PAGE_BITS;
        args->PagingFenceValue = call.fence;
    }
    return status;
}

NTSTATUS vidmm_map_for_host(struct vidmm_process *process, D3DKMT_HANDLE handle, uint64_t pages,
                            D3DGPU_VIRTUAL_ADDRESS *va)
{
    const D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection = {.Write = 1};
    struct va_call call = {.process = process,
                           .space = process->space,
                           .kind = RANGE_MAP,
                           .request = {.pages = pages},
                           .values = {.state = ENTRY_PAGES, .protection = protection.Value},
                           .handle = handle};
    NTSTATUS status = call.space ? perform(&call) : refuse_without_mmu();

    if (NT_SUCCESS(status))
        *va = call.request.base << PAGE_BITS;
    return status;
}

NTSTATUS vidmm_reserve_gpu_va(struct vidmm_process *process, struct vidmm_paging_queue *queue,
                              D3DDDI_RESERVEGPUVIRTUALADDRESS *args)
{
    struct va_call call = {
        .process = process, .space = process->space, .queue = queue, .kind = RANGE_RESERVATION};
    NTSTATUS status;

    if (!call.space)
        return refuse_without_mmu();
    if (args->Size == 0 || !aligned(args->Size, RESERVE_BYTES) ||
        (UINT)args->ReservationType > D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "Size 0x%llx, a multiple of 0x%llx and not 0; ReservationType %d",
                      (unsigned long long)args->Size, (unsigned long long)RESERVE_BYTES,
                      (int)args->ReservationType);
    status = check_place(call.space, args->BaseAddress, args->MinimumAddress, args->MaximumAddress,
                         args->Size >> PAGE_BITS, RESERVE_BYTES, &call.request);
    if (!NT_SUCCESS(status))
        return status;
    call.values.state = ENTRY_INVALID;
    if (args->ReservationType == D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO) {
        if (!can_be_zero(call.space))
            return refuse_zero();
        call.values.state = ENTRY_ZERO;
    }
    sim_mutex_lock(&process->vidmm->lock);
    status = privileged_space_create(process); /* GPUVA-042 */
    sim_mutex_unlock(&process->vidmm->lock);
    if (!NT_SUCCESS(status))
        return vidmm_status(status);
    call.no_commit = args->ReservationType == D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT;
    call.values.driver_protection = args->DriverProtection;
    call.request.align = RESERVE_BYTES >> PAGE_BITS;
    status = perform(&call);
    if (!NT_SUCCESS(status))
        return status;
    args->VirtualAddress = call.request.base << PAGE_BITS;
    args->PagingFenceValue = call.fence;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_free_gpu_va(struct vidmm_process *process, D3DGPU_VIRTUAL_ADDRESS base,
                           D3DGPU_SIZE_T size)
{
    struct vidmm_space *space = process->space;
    struct vidmm *vidmm = process->vidmm;
    struct va_range *range;
    NTSTATUS status = STATUS_SUCCESS;

    if (!space)
        return refuse_without_mmu();
    if (!aligned(base, PAGE_BYTES) || !aligned(size, PAGE_BYTES))
        return refuse(STATUS_INVALID_PARAMETER, NULL, "0x%llx bytes at 0x%llx are no whole pages",
                      (unsigned long long)size, (unsigned long long)base);
    sim_mutex_lock(&vidmm->lock);
    range = range_at(space, base >> PAGE_BITS);
    if (!range || range->span.first != base >> PAGE_BITS || range->span.pages != size >> PAGE_BITS ||
        (range->kind != RANGE_MAP && range->kind != RANGE_RESERVATION))
        status = refuse(STATUS_INVALID_PARAMETER, "GPUVA-118",
                        "0x%llx bytes at 0x%llx are no whole range that was mapped or reserved",
                        (unsigned long long)size, (unsigned long long)base);
    else if (range_free(range))
        space_clean_later(space);
    debug_check(space);
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

NTSTATUS va_map_context_allocation(struct va_context_map *map)
{
    const DXGKARGCB_MAPCONTEXTALLOCATION *args = map->args;
    struct va_call call = {
        .process = map->process,
        .space = map->process->space,
        .kind = RANGE_CONTEXT,
        .request = {.base = args->BaseAddress >> PAGE_BITS, .pages = args->SizeInPages},
        .values = {.state = ENTRY_PAGES,
                   .allocation = map->allocation,
                   .offset = args->OffsetInPages,
                   .protection = args->Protection.Value,
                   .driver_protection = args->DriverProtection},
        .context_map = map};
    NTSTATUS status;

    if (args->BaseAddress == 0) {
        call.request.low = args->MinimumAddress >> PAGE_BITS;
        call.request.high = args->MaximumAddress >> PAGE_BITS;
    }
    status = try_here(&call);
    map->for_worker = call.for_worker;
    if (NT_SUCCESS(status))
        map->address = call.request.base << PAGE_BITS;
    return status;
}

void va_unmap_context_allocation(const struct va_context_map *map)
{
    struct vidmm_space *space = map->process->space;

    if (range_free(range_at(space, map->address >> PAGE_BITS)))
        space_clean_later(space);
}
