/* SPDX-License-Identifier: MIT */
/*
 * Making an allocation resident, and evicting it.
 *
 *   into a memory segment    allocate -> fill or transfer -> (notify) -> entries -> ready;
 *                            backing freed when the GPU is done
 *   into the aperture        frames -> range -> map operation -> entries -> ready
 *   into system memory       frames -> entries -> ready  (GpuMmu, not accessed physically)
 *   out                      invalidate entries, flush TLB -> (notify) -> transfer or unmap;
 *                            segment memory is freed at once, since operations of its next owner
 *                            run later; frames are unmapped and freed when the GPU is done
 *
 * Everything that can fail for lack of memory is allocated before the first operation is built. If
 * something fails later (the driver or the scheduler refuses), the content stays where it is: on
 * the way in nothing has changed, on the way out the allocation is parked.
 *
 * If the CPU has locked the allocation, the worker waits for the copy (paging_settle) and updates
 * the view, so that CPU writes meanwhile are not lost (cpu_view.c).
 */
#include "vidmm/residency/placement.h"
#include "ram/ram.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/content/aperture.h"
#include "vidmm/content/backing.h"
#include "vidmm/content/content.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/readiness.h"
#include "vidmm/residency/swizzling_range.h"
#include "vidmm/residency/victim.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/va_mapping.h"

static void forget_place(struct vidmm_allocation *allocation)
{
    util_free(allocation->runs);
    allocation->runs = NULL;
    allocation->run_count = 0;
    allocation->segment = 0;
}

/* ---- in: memory segments ---- */

/* Backing pages are kept when the content moves to a memory segment. */
static bool keeps_backing(const struct vidmm_allocation *allocation)
{
    return allocation->flags.PermanentSysMem || allocation->borrowed;
}

static NTSTATUS build_content_in(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                                 uint32_t run_count)
{
    NTSTATUS status = allocation->content == CONTENT_SYSTEM
                          ? content_transfer(allocation, runs, run_count, false)
                          : content_fill(allocation, runs, run_count);

    return NT_SUCCESS(status) ? content_notify(allocation, runs) : status;
}

/* On success the allocation owns `runs`. */
static NTSTATUS enter_memory(struct vidmm_allocation *allocation, UINT segment,
                             struct vidmm_run *runs, uint32_t run_count)
{
    struct vidmm *vidmm = allocation->vidmm;
    enum vidmm_content before = allocation->content;
    bool moving_view = cpu_view_follows(allocation);
    struct backing_release *release = util_alloc(sizeof(*release));
    NTSTATUS status = release ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;

    if (NT_SUCCESS(status) && before == CONTENT_SYSTEM)
        status = backing_map(allocation);
    if (NT_SUCCESS(status) && moving_view)
        status = cpu_view_leave(allocation);
    if (!NT_SUCCESS(status)) {
        backing_unmap_now(allocation);
        util_free(release);
        return status;
    }
    status = build_content_in(allocation, runs, run_count);
    allocation->runs = runs;
    allocation->run_count = run_count;
    allocation->segment = segment;
    allocation->content = CONTENT_SEGMENT;
    if (NT_SUCCESS(status) && moving_view) {
        status = paging_settle(vidmm);
        if (NT_SUCCESS(status))
            status = cpu_view_placed(allocation);
    }
    if (NT_SUCCESS(status))
        status = readiness_arrive(allocation);
    if (!NT_SUCCESS(status)) {
        /* The system copy is still valid. Operations already built copy to memory that its next
         * owner overwrites later. */
        allocation->runs = NULL;
        allocation->run_count = 0;
        allocation->segment = 0;
        allocation->content = before;
        if (moving_view)
            cpu_view_placed(allocation);
        backing_defer_unmap(allocation, release, false);
        return status;
    }
    allocation->written = !vidmm_writes_are_listed(allocation->vidmm);
    allocation->system_copy = before == CONTENT_SYSTEM && keeps_backing(allocation);
    backing_defer_unmap(allocation, release, !keeps_backing(allocation));
    return status;
}

/* ---- banks ---- */

/* Room in the hinted banks, best first: inside one, or else across its border, from its start
 * upwards or from its end downwards. Banks are hints (SEG-039): STATUS_NO_MEMORY only means that
 * there is room elsewhere, if anywhere. */
static NTSTATUS take_hinted(const struct vidmm_allocation *allocation,
                            struct vidmm_segment *segment, uint64_t pages, struct vidmm_run **run)
{
    const struct allocation_segments *s = &allocation->segments;
    NTSTATUS status = STATUS_NO_MEMORY;

    if (!segment->bank_end || s->preferred[0] != segment->id)
        return status;
    for (unsigned across = 0; across < 2; across++) {
        for (unsigned i = 0; i < 4 && status == STATUS_NO_MEMORY; i++) {
            const UINT bank = s->bank[i];
            const bool down = s->bank_down >> i & 1;
            uint64_t low, high;

            if (bank == 0 || bank > segment->bank_count)
                continue;
            low = bank == 1 || (across && down) ? 0 : segment->bank_end[bank - 2];
            high = across && !down ? 0 : segment->bank_end[bank - 1];
            status = segment_take_within(segment, pages, allocation->alignment, low, high, down,
                                         run);
        }
    }
    return status;
}

static NTSTATUS place_in_memory(struct paging_turn *turn, struct vidmm_allocation *allocation,
                                struct vidmm_segment *segment, bool down, bool last)
{
    struct vidmm *vidmm = allocation->vidmm;
    uint64_t pages = segment->flags.PitchAlignment ? allocation->pitch_pages : allocation->pages;
    const struct room_request room = {
        .segment = segment,
        .pages = segment_pages(segment, pages),
        .align_bytes = allocation->alignment,
        .contiguous = allocation->accessed_physically || !vidmm->config.gpu_mmu, /* RES-056 */
        .newcomer = allocation,
        .last = last,
    };
    struct vidmm_run *runs = NULL;
    uint32_t run_count = 0;
    NTSTATUS status;

    if (allocation->flags.PermanentSysMem) {
        status = backing_take(allocation);
        if (!NT_SUCCESS(status))
            return status;
    }
    status = take_hinted(allocation, segment, pages, &runs);
    run_count = 1;
    for (bool made = true; status == STATUS_NO_MEMORY && made;) {
        status = segment_take(segment, pages, allocation->alignment, room.contiguous, down, &runs,
                              &run_count);
        if (status != STATUS_NO_MEMORY)
            break;
        status = vidmm->room_maker->make_room(turn, vidmm, &room);
        made = NT_SUCCESS(status);
        if (made)
            status = STATUS_NO_MEMORY; /* once more */
    }
    if (!NT_SUCCESS(status))
        return status;
    status = enter_memory(allocation, segment->id, runs, run_count);
    if (!NT_SUCCESS(status)) {
        segment_give(vidmm, runs, run_count);
        util_free(runs);
    }
    return status;
}

/* ---- in: system memory ---- */

static bool needs_aperture(const struct vidmm_allocation *allocation)
{
    return allocation->accessed_physically ||
           !allocation->vidmm->config.gpu_mmu; /* SEG-064, SEG-065 */
}

static NTSTATUS take_aperture(struct paging_turn *turn, struct vidmm_allocation *allocation,
                              struct vidmm_segment *segment, bool down, bool last)
{
    struct vidmm *vidmm = allocation->vidmm;
    uint64_t bytes = allocation->pages << PAGE_BITS;
    const struct room_request room = {
        .segment = segment,
        .pages = allocation->pages,
        .align_bytes = allocation->alignment,
        .contiguous = true,
        .newcomer = allocation,
        .last = last,
    };
    struct vidmm_run *run = NULL;
    uint32_t count = 0;
    NTSTATUS status;

    for (;;) {
        status = STATUS_NO_MEMORY;
        if (segment_aperture_commits(vidmm, segment, bytes))
            status = segment_take(segment, allocation->pages, allocation->alignment, true, down,
                                  &run, &count);
        if (status != STATUS_NO_MEMORY)
            break;
        status = vidmm->room_maker->make_room(turn, vidmm, &room);
        if (!NT_SUCCESS(status))
            break;
    }
    if (NT_SUCCESS(status)) {
        allocation->aperture.first = run->first;
        vidmm->aperture_mapped += bytes;
        util_free(run);
    }
    return status;
}

static void give_aperture(struct vidmm_allocation *allocation, UINT segment)
{
    struct vidmm *vidmm = allocation->vidmm;
    const struct vidmm_run run = {
        .segment = segment, .first = allocation->aperture.first, .pages = allocation->pages};

    vidmm->aperture_mapped -= allocation->pages << PAGE_BITS;
    segment_give(vidmm, &run, 1);
}

/* `segment` is an aperture; the allocation goes to system memory, and is mapped in the
 * aperture only if needed. */
static NTSTATUS place_in_system(struct paging_turn *turn, struct vidmm_allocation *allocation,
                                struct vidmm_segment *segment, bool down, bool last)
{
    bool mapped = needs_aperture(allocation);
    struct backing_release *release = util_alloc(sizeof(*release));
    NTSTATUS status = release ? backing_take(allocation) : STATUS_INSUFFICIENT_RESOURCES;

    if (NT_SUCCESS(status))
        status = backing_map(allocation);
    if (NT_SUCCESS(status))
        status = backing_runs(allocation, &allocation->runs, &allocation->run_count);
    if (NT_SUCCESS(status) && mapped)
        status = take_aperture(turn, allocation, segment, down, last);
    if (!NT_SUCCESS(status)) {
        /* New frames are kept: the allocation is then in system memory, which does no harm. */
        forget_place(allocation);
        backing_unmap_now(allocation);
        util_free(release);
        return status;
    }
    if (mapped) {
        allocation->segment = segment->id;
        status = aperture_map(allocation, segment->id, allocation->aperture.first);
    }
    if (NT_SUCCESS(status))
        status = readiness_arrive(allocation);
    if (!NT_SUCCESS(status)) {
        if (mapped)
            give_aperture(allocation, segment->id);
        forget_place(allocation);
        backing_defer_unmap(allocation, release, false);
        return status;
    }
    util_free(release);
    return status;
}

/* ---- alone ---- */

/* ALLOC-055: before the paging of such an allocation the worker suspends all clients, one after
 * another, which ends their work; they stay so until the job is over. */
static NTSTATUS claim_gpu(struct paging_turn *turn, const struct vidmm_allocation *allocation)
{
    const struct vidmm *vidmm = allocation->vidmm;
    unsigned held = 0;

    if (!allocation->arrival.alone || !turn || !vidmm->started || vidmm->stopping)
        return STATUS_SUCCESS;
    LIST_FOR(node, &vidmm->processes) {
        struct vidmm_process *process = CONTAINER(node, struct vidmm_process, link);

        if (!process->suspended && held < PAGING_MOST_SUSPENDED) {
            turn->suspend = process;
            return STATUS_RETRY;
        }
        held++;
    }
    return STATUS_SUCCESS;
}

/* Nothing of clients goes out before its paging is done. */
static NTSTATUS release_gpu(const struct vidmm_allocation *allocation, NTSTATUS status)
{
    NTSTATUS settled;

    if (!allocation->arrival.alone || status == STATUS_RETRY)
        return status;
    settled = paging_settle(allocation->vidmm);
    return NT_SUCCESS(status) ? settled : status;
}

/* ---- in ---- */

/* May the allocation be placed there now? */
static bool segment_usable(const struct vidmm_allocation *allocation,
                           const struct vidmm_segment *segment)
{
    if (segment_is_aperture(segment))
        return true;
    if (segment->flags.PitchAlignment && allocation->pitch_pages == 0)
        return false;
    if (allocation->pages > segment->bytes >> PAGE_BITS || cpu_view_leaves_memory(allocation))
        return false;
    return !cpu_view_forbids(allocation, segment);
}

static NTSTATUS place_in(struct paging_turn *turn, struct vidmm_allocation *allocation,
                         struct vidmm_segment *segment, bool down, bool force)
{
    NTSTATUS status;

    if (!segment_usable(allocation, segment))
        return allocation->view.lock_count ? STATUS_RETRY
                                           : STATUS_NO_MEMORY; /* ALLOC-128: until it is unlocked */
    status = allocation->vidmm->room_maker->make_way(turn, allocation, segment->id);
    if (!NT_SUCCESS(status))
        return status;
    status = claim_gpu(turn, allocation);
    if (!NT_SUCCESS(status))
        return status;
    status = segment_is_aperture(segment) ? place_in_system(turn, allocation, segment, down, force)
                                          : place_in_memory(turn, allocation, segment, down, force);
    return release_gpu(allocation, status);
}

NTSTATUS placement_put(struct paging_turn *turn, struct vidmm_allocation *allocation, UINT segment)
{
    UINT order[VIDMM_MAX_SEGMENTS];
    UINT down;
    unsigned count = segment_order(allocation, order, &down);

    for (unsigned i = 0; i < count; i++)
        if (order[i] == segment)
            return place_in(turn, allocation, &allocation->vidmm->segment[segment], down >> i & 1,
                            true);
    return STATUS_NO_MEMORY;
}

NTSTATUS placement_bring_in(struct paging_turn *turn, struct vidmm *vidmm,
                            struct vidmm_allocation *allocation)
{
    UINT order[VIDMM_MAX_SEGMENTS];
    UINT down;
    unsigned count;
    NTSTATUS result = STATUS_NO_MEMORY;

    paging_assert_builder(vidmm);
    if (allocation->resident)
        return STATUS_SUCCESS;
    if (allocation->runs) { /* parked */
        if (segment_usable(allocation, &vidmm->segment[allocation->segment]))
            return readiness_arrive(allocation);
        result = placement_move_out(turn, vidmm, allocation, true);
        if (!NT_SUCCESS(result))
            return result;
        result = STATUS_NO_MEMORY;
    }
    count = segment_order(allocation, order, &down);
    /* First pass: do not evict what has a higher priority; second pass: evict whatever is
     * necessary (RES-054). */
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < count; i++) {
            NTSTATUS status = place_in(turn, allocation, &vidmm->segment[order[i]], down >> i & 1,
                                       pass == 1 || count == 1);

            if (status == STATUS_RETRY)
                result = status;
            else if (status != STATUS_NO_MEMORY)
                return status;
        }
    }
    if (result == STATUS_NO_MEMORY)
        (void)refuse(result, NULL,
                     "%llu bytes find no room in the segments 0x%x, whatever is evicted",
                     (unsigned long long)allocation->bytes, allocation->segments.supported);
    return result;
}

/* ---- out ---- */

/* Get mapped frames to copy the content to. `fresh`: they were allocated here. */
static NTSTATUS backing_for_copy(struct vidmm_allocation *allocation, bool *fresh)
{
    NTSTATUS status;

    *fresh = allocation->backing == NULL;
    status = backing_take(allocation);
    return NT_SUCCESS(status) ? backing_map(allocation) : status;
}

/* Undo that; no operation was built with them. */
static void backing_no_copy(struct vidmm_allocation *allocation, bool fresh)
{
    backing_unmap_now(allocation);
    if (fresh) {
        backing_give(allocation->vidmm, allocation->backing, allocation->pages, false);
        allocation->backing = NULL;
    }
}

/* No address of the CPU leads to its memory any more. */
static void give_up_views(struct vidmm_allocation *allocation)
{
    cpu_view_close_window(allocation);
    swizzling_range_release(allocation);
    allocation->view.through_range = false;
}

/* The last step of both ways out. Of what is offered without AllowDecommit the frames are kept
 * (RES-067). */
static void give_up_content(struct vidmm_allocation *allocation, struct backing_release *release,
                            bool keep)
{
    bool offered = allocation->offer.in_force && !keep;

    allocation->offer.uncommitted |= offered && allocation->offer.decommit;
    backing_defer_unmap(allocation, release,
                        !keep && !backing_stays(allocation) &&
                            (!offered || allocation->offer.decommit));
}

static NTSTATUS leave_memory(struct paging_turn *turn, struct vidmm_allocation *allocation,
                             bool keep, struct backing_release *release)
{
    struct vidmm *vidmm = allocation->vidmm;
    bool clean = allocation->system_copy && !allocation->written;
    bool copy = keep && !clean;
    bool moving_view = cpu_view_follows(allocation) && keep;
    bool fresh = false;
    NTSTATUS status = STATUS_SUCCESS;

    if (copy)
        status = backing_for_copy(allocation, &fresh);
    if (NT_SUCCESS(status) && moving_view)
        status = cpu_view_leave(allocation);
    if (!NT_SUCCESS(status)) {
        backing_no_copy(allocation, fresh);
        util_free(release);
        return status;
    }
    readiness_end(turn, allocation);
    status = space_allocation_placed(vidmm, allocation);
    if (NT_SUCCESS(status))
        status = content_notify(allocation, NULL);
    if (NT_SUCCESS(status))
        status = copy ? content_transfer(allocation, allocation->runs, allocation->run_count, true)
                      : content_discard(allocation, allocation->runs, allocation->run_count);
    if (NT_SUCCESS(status) && moving_view) {
        status = paging_settle(vidmm);
        if (NT_SUCCESS(status)) {
            struct vidmm_run *runs = allocation->runs;

            allocation->runs = NULL; /* the new place is the frames */
            status = cpu_view_placed(allocation);
            allocation->runs = runs;
        }
    }
    if (!NT_SUCCESS(status)) {
        if (moving_view)
            cpu_view_placed(allocation);
        if (copy)
            allocation->system_copy = false;
        backing_defer_unmap(allocation, release, fresh);
        return status;
    }
    give_up_views(allocation);
    segment_give(vidmm, allocation->runs, allocation->run_count);
    chronicle_left(allocation, allocation->absence);
    forget_place(allocation);
    allocation->content = keep ? CONTENT_SYSTEM : CONTENT_NONE;
    give_up_content(allocation, release, keep);
    return status;
}

static NTSTATUS leave_system(struct paging_turn *turn, struct vidmm_allocation *allocation,
                             bool keep, struct backing_release *release)
{
    struct vidmm *vidmm = allocation->vidmm;
    UINT aperture = allocation->segment;
    NTSTATUS status;

    readiness_end(turn, allocation);
    status = space_allocation_placed(vidmm, allocation);
    if (NT_SUCCESS(status) && aperture)
        status = aperture_unmap(allocation, aperture, allocation->aperture.first);
    if (!NT_SUCCESS(status)) {
        util_free(release);
        return status;
    }
    vidmm_tell_leaving(allocation);
    if (aperture)
        give_aperture(allocation, aperture);
    chronicle_left(allocation, allocation->absence);
    forget_place(allocation);
    if (!keep)
        allocation->content = CONTENT_NONE;
    give_up_content(allocation, release, keep);
    return status;
}

static bool in_memory_segment(const struct vidmm_allocation *allocation)
{
    return allocation->segment &&
           !segment_is_aperture(&allocation->vidmm->segment[allocation->segment]);
}

NTSTATUS placement_move_out(struct paging_turn *turn, struct vidmm *vidmm,
                            struct vidmm_allocation *allocation, bool keep_content)
{
    struct backing_release *release;
    NTSTATUS status;

    paging_assert_builder(vidmm);
    if (!allocation->runs)
        return STATUS_SUCCESS;
    status = claim_gpu(turn, allocation);
    if (!NT_SUCCESS(status))
        return status;
    release = util_alloc(sizeof(*release));
    if (!release)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = in_memory_segment(allocation) ? leave_memory(turn, allocation, keep_content, release)
                                           : leave_system(turn, allocation, keep_content, release);
    status = release_gpu(allocation, status);
    victim_update(allocation);
    if (NT_SUCCESS(status)) {
        allocation->arrival.busy_ticket = paging_ticket_now(vidmm);
        if (!keep_content)
            allocation->offer.discarded = true; /* RES-068 */
        vidmm->statistics.evictions++;
        vidmm_tell_evicted(allocation);
        trace_instant(vidmm->track, "evict", "bytes", allocation->pages << PAGE_BITS, NULL, 0);
    }
    return status;
}

/* Free the place. The caller has handled the page-table entries. */
static void give_place(struct paging_turn *turn, struct vidmm_allocation *allocation, bool notify)
{
    struct vidmm *vidmm = allocation->vidmm;

    readiness_end(turn, allocation);
    vidmm_tell_leaving(allocation);
    chronicle_left(allocation, notify ? CHRONICLE_DESTROYED : ABSENCE_RESET);
    if (allocation->runs && in_memory_segment(allocation)) {
        if (notify)
            content_notify(allocation, NULL);
        give_up_views(allocation);
        segment_give(vidmm, allocation->runs, allocation->run_count);
    } else if (allocation->runs && allocation->segment) {
        aperture_unmap(allocation, allocation->segment, allocation->aperture.first);
        give_aperture(allocation, allocation->segment);
    }
    forget_place(allocation);
    victim_update(allocation);
}

void placement_drop(struct vidmm_allocation *allocation)
{
    give_place(NULL, allocation, true);
    allocation->content = CONTENT_NONE;
    backing_defer_unmap(allocation, &allocation->final, false);
}

void placement_purge(struct vidmm_allocation *allocation)
{
    bool memory = in_memory_segment(allocation);

    give_place(NULL, allocation, false);
    if (memory && cpu_view_follows(allocation))
        cpu_view_lose(allocation); /* KMT-275 */
    if (allocation->logical) {
        /* The GPU is stopped, so operations already built need not be waited for. */
        if (allocation->aperture.view)
            ram_view_release(allocation->vidmm->config.ram, allocation->aperture.view,
                             allocation->pages);
        allocation->aperture.view = NULL;
        backing_unmap_now(allocation);
    }
}
