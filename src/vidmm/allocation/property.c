/* SPDX-License-Identifier: MIT */
/*
 * An update of properties: the driver may refuse it first; then the record and the charges of
 * residency lists change at once; and if the allocation is where it must not be any more, a job of
 * the client's paging queue moves it.
 */
#include "vidmm/allocation/property.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "sim/mutex.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/allocation/allocation_info.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/budget.h"
#include "vidmm/residency/demotion.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/repack.h"
#include "vidmm/residency/residency.h"
#include "vidmm/residency/victim.h"
#include "vidmm/segment/segment.h"

/* What an update changes. */
struct properties {
    struct allocation_segments segments;
    bool accessed_physically;
};

/* ---- arguments ---- */

static NTSTATUS read_preferred(const struct vidmm *vidmm, UINT value, struct properties *p)
{
    p->segments.preferred_down = 0;
    for (unsigned i = 0; i < 5; i++) {
        const UINT entry = value >> (6 * i);
        UINT id = entry & 31;

        if (id && id == segment_implicit(vidmm))
            id = vidmm->aperture;
        if (id > vidmm->segment_count || (id && !(p->segments.supported & segment_bit(id))))
            return refuse(STATUS_INVALID_PARAMETER, "ALLOC-110",
                          "PreferredSegment names segment %u, the supported set is 0x%x", id,
                          p->segments.supported);
        p->segments.preferred[i] = id;
        p->segments.preferred_down |= (entry >> 5 & 1) << i;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS read_set(const struct vidmm *vidmm, UINT set, struct properties *p)
{
    const UINT implicit = segment_implicit(vidmm);

    if (implicit && set & segment_bit(implicit))
        set = (set & ~segment_bit(implicit)) | segment_bit(vidmm->aperture);
    if (set == 0 || segment_set_unknown(vidmm, set))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-110",
                      "SupportedSegmentSet 0x%x is empty, or names segments that do not exist", set);
    p->segments.supported = set;
    for (unsigned i = 0; i < 5; i++) /* what is no longer supported cannot be preferred */
        if (p->segments.preferred[i] && !(set & segment_bit(p->segments.preferred[i])))
            p->segments.preferred[i] = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS read_properties(const struct vidmm_allocation *allocation,
                                const D3DDDI_UPDATEALLOCPROPERTY *args, struct properties *p)
{
    NTSTATUS status = STATUS_SUCCESS;

    p->segments = allocation->segments;
    p->accessed_physically = allocation->accessed_physically;
    if (args->SetAccessedPhysically && allocation->vidmm->config.gpu_mmu)
        p->accessed_physically = args->Flags.AccessedPhysically;
    if (args->SetSupportedSegmentSet)
        status = read_set(allocation->vidmm, args->SupportedSegmentSet, p);
    if (NT_SUCCESS(status) && args->SetPreferredSegment)
        status = read_preferred(allocation->vidmm, args->PreferredSegment.Value, p);
    return status;
}

/* ---- the driver ---- */

/* Lock held; dropped meanwhile. A destruction waits until the driver has answered. */
static NTSTATUS ask_driver(struct vidmm_allocation *allocation,
                           const D3DDDI_UPDATEALLOCPROPERTY *args)
{
    struct vidmm *vidmm = allocation->vidmm;
    DXGKARG_VALIDATEUPDATEALLOCPROPERTY question = {.hAllocation = allocation->driver_handle,
                                                    .SupportedSegmentSet = args->SupportedSegmentSet,
                                                    .PreferredSegment = args->PreferredSegment,
                                                    .Flags = args->Flags};
    NTSTATUS status;

    question.PropertyMaskValue = args->PropertyMaskValue;
    allocation->claims.acquired++;
    sim_mutex_unlock(&vidmm->lock);
    status = ddi_validate_update_allocation_property(vidmm->ddi, &question);
    sim_mutex_lock(&vidmm->lock);
    if (--allocation->claims.acquired == 0)
        allocation_released(vidmm);
    return NT_SUCCESS(status)
               ? STATUS_SUCCESS
               : refuse(status, "ALLOC-111", "DxgkDdiValidateUpdateAllocationProperty returned %s",
                        nt_status_text(status).text);
}

/* ---- the change ---- */

/* Is it where it may not be, or not in the way that it has to be? */
static bool is_misplaced(const struct vidmm_allocation *allocation)
{
    const struct vidmm *vidmm = allocation->vidmm;

    if (!allocation->runs)
        return false;
    if (allocation->segment == 0) /* pages that only page tables map */
        return allocation->accessed_physically ||
               !(allocation->segments.supported & segment_bit(vidmm->aperture));
    return !(allocation->segments.supported & segment_bit(allocation->segment)) ||
           (allocation->accessed_physically && allocation->run_count > 1 &&
            !segment_is_aperture(&vidmm->segment[allocation->segment]));
}

static void apply(struct vidmm_allocation *allocation, const struct properties *p)
{
    allocation->segments = p->segments;
    allocation->accessed_physically = p->accessed_physically;
}

/* Where each list entry was charged. */
static void note_charges(struct vidmm_allocation *allocation)
{
    LIST_FOR(node, &allocation->opens)
        CONTAINER(node, struct vidmm_open, link)->mark =
            CONTAINER(node, struct vidmm_open, link)->charge;
}

static void forget_charges(struct vidmm_allocation *allocation)
{
    LIST_FOR(node, &allocation->opens)
        CONTAINER(node, struct vidmm_open, link)->mark = 0;
}

static bool charges_hold(const struct vidmm_allocation *allocation)
{
    LIST_FOR(node, &allocation->opens)
        if (!budget_charge_holds(CONTAINER(node, struct vidmm_open, link)))
            return false;
    return true;
}

/* False: one of them does not fit. */
static bool charge_anew(struct vidmm_allocation *allocation)
{
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (!open->charged)
            continue;
        budget_uncharge(open);
        if (!NT_SUCCESS(budget_charge(open, true)) || !budget_fits_beside_used(open)) {
            budget_charge_to(open, open->mark);
            return false;
        }
    }
    return true;
}

static void undo(struct vidmm_allocation *allocation, const struct properties *before)
{
    apply(allocation, before);
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (open->charged && open->charge != open->mark)
            budget_charge_to(open, open->mark);
    }
}

/* The charges were noted before. */
static NTSTATUS change(struct vidmm_allocation *allocation, const struct properties *p)
{
    const bool moves = (apply(allocation, p), is_misplaced(allocation));

    if (moves && allocation->pins)
        return refuse(STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION, "ALLOC-054",
                      "the allocation is pinned in segment %u, and the set is to be 0x%x",
                      allocation->segment, p->segments.supported);
    if (!allocation_fits_somewhere(allocation) ||
        ((moves || !charges_hold(allocation)) && !charge_anew(allocation)))
        return refuse(STATUS_NO_MEMORY, "ALLOC-110",
                      "%llu bytes find no room in the segments 0x%x beside what else is resident, or "
                      "queued work may still use",
                      (unsigned long long)allocation->bytes, p->segments.supported);
    if (allocation->resident && !moves)
        demotion_note(allocation);
    return STATUS_SUCCESS;
}

/* ---- the move ---- */

struct move {
    struct vidmm_device *device;
    struct vidmm_allocation *allocation; /* held */
};

static NTSTATUS move_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_device *device = ((struct move *)arg)->device;
    struct vidmm_allocation *allocation = ((struct move *)arg)->allocation;
    NTSTATUS status = STATUS_SUCCESS;

    if (allocation->gone || allocation->destroyed)
        return STATUS_SUCCESS;
    if (is_misplaced(allocation)) {
        status = victim_need_free(turn, allocation);
        if (NT_SUCCESS(status)) {
            allocation->absence = ABSENCE_MOVED;
            status = placement_move_out(turn, vidmm, allocation, !allocation->offer.in_force);
        }
    }
    if (NT_SUCCESS(status) && allocation->device_references && !allocation->resident &&
        !allocation->offer.in_force)
        status = repack_bring_in(turn, device, allocation);
    if (!NT_SUCCESS(status) && status != STATUS_RETRY)
        residency_fail_device(device);
    return status;
}

static void moved(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct move *move = arg;

    (void)vidmm;
    (void)status;
    allocation_unhold(move->allocation);
    util_free(move);
}

static NTSTATUS post_move(struct vidmm_paging_queue *queue, struct vidmm_allocation *allocation,
                          struct move *move, uint64_t *fence)
{
    const struct paging_work work = {
        .fn = move_job, .release = moved, .arg = move, .kind = JOB_DEFERRED_COMMAND};
    NTSTATUS status;

    *move = (struct move){queue->base.device, allocation};
    allocation_hold(allocation);
    status = paging_queue_post(queue, &work, fence);
    if (NT_SUCCESS(status))
        return STATUS_PENDING;
    allocation_unhold(allocation);
    return status;
}

/* Lock held; dropped meanwhile. Frees `move`, unless a job has it. */
static NTSTATUS update(struct vidmm_paging_queue *queue, const D3DDDI_UPDATEALLOCPROPERTY *args,
                       struct move *move, uint64_t *fence)
{
    struct vidmm_device *device = queue->base.device;
    struct vidmm_open *open = open_find(device, args->hAllocation);
    struct vidmm_allocation *allocation = open ? open->allocation : NULL;
    struct properties before, after;
    NTSTATUS status = allocation ? read_properties(allocation, args, &after)
                                 : refuse(STATUS_INVALID_PARAMETER, "KMT-290",
                                          "handle 0x%x is no allocation of the device of the queue",
                                          args->hAllocation);

    if (NT_SUCCESS(status))
        status = ask_driver(allocation, args);
    if (NT_SUCCESS(status) && open_find(device, args->hAllocation) != open)
        status = refuse(STATUS_INVALID_PARAMETER, "KMT-290",
                        "allocation 0x%x was destroyed meanwhile", args->hAllocation);
    if (NT_SUCCESS(status)) /* once more: another thread may have changed the others */
        status = read_properties(allocation, args, &after);
    if (NT_SUCCESS(status)) {
        before = (struct properties){allocation->segments, allocation->accessed_physically};
        note_charges(allocation);
        status = change(allocation, &after);
        if (NT_SUCCESS(status) && is_misplaced(allocation))
            status = post_move(queue, allocation, move, fence);
        if (!NT_SUCCESS(status))
            undo(allocation, &before);
        forget_charges(allocation);
    }
    if (status != STATUS_PENDING)
        util_free(move);
    return status;
}

NTSTATUS vidmm_update_property(struct vidmm_paging_queue *queue,
                               const D3DDDI_UPDATEALLOCPROPERTY *args, uint64_t *fence)
{
    struct vidmm *vidmm = queue->base.vidmm;
    struct move *move = util_alloc(sizeof(*move));
    NTSTATUS status;

    *fence = 0;
    if (!move)
        return STATUS_NO_MEMORY;
    if (!ddi_has(vidmm->ddi, DxgkDdiValidateUpdateAllocationProperty)) {
        util_free(move);
        return refuse(STATUS_NOT_SUPPORTED, "ALLOC-111",
                      "the driver has no DxgkDdiValidateUpdateAllocationProperty");
    }
    sim_mutex_lock(&vidmm->lock);
    status = update(queue, args, move, fence);
    sim_mutex_unlock(&vidmm->lock);
    return status;
}
