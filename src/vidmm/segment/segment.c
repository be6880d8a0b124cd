/* SPDX-License-Identifier: MIT */
/* Allocation in segments, contiguous or in several runs, from one extent tree of free
 * pages per segment. */
#include "vidmm/segment/segment.h"
#include "bus/memory.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "verify/refusal.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"

/* ---- taking ---- */

static NTSTATUS take_contiguous(struct vidmm_segment *segment, uint64_t pages, uint64_t align_pages,
                                bool from_end, struct vidmm_run *run)
{
    const struct extent_request request = {
        .size = pages, .align = align_pages, .from_end = from_end};
    uint64_t start;

    if (!extent_take(&segment->free, &request, &start))
        return segment->free.out_of_memory ? STATUS_INSUFFICIENT_RESOURCES : STATUS_NO_MEMORY;
    *run = (struct vidmm_run){.segment = segment->id, .first = start, .pages = pages};
    return STATUS_SUCCESS;
}

/* The largest aligned run of at most `want` pages. */
static NTSTATUS take_piece(struct vidmm_segment *segment, uint64_t want, uint64_t align_pages,
                           bool from_end, struct vidmm_run *run)
{
    uint64_t largest = extent_largest(&segment->free);
    uint64_t pages = want <= largest ? want : align_down(largest, align_pages);

    while (pages) {
        NTSTATUS status = take_contiguous(segment, pages, align_pages, from_end, run);

        if (status != STATUS_NO_MEMORY)
            return status;
        /* The largest free range has no aligned run of this size: try smaller ones. */
        pages = pages <= align_pages
                    ? 0
                    : align_down(pages / 2 > align_pages ? pages / 2 : align_pages, align_pages);
    }
    return STATUS_NO_MEMORY;
}

static void give_runs(struct vidmm_segment *segment, const struct vidmm_run *runs, uint32_t count)
{
    /* Each run is given back exactly as it was taken, so this cannot fail. */
    for (uint32_t i = 0; i < count; i++)
        extent_give(&segment->free, runs[i].first, runs[i].pages);
}

static NTSTATUS take_scattered(struct vidmm_segment *segment, uint64_t pages, uint64_t align_pages,
                               bool from_end, struct vidmm_run **out, uint32_t *out_count)
{
    struct vidmm_run *runs = NULL;
    uint32_t count = 0;
    uint32_t capacity = 0;
    NTSTATUS status = STATUS_SUCCESS;

    if (segment->free.free_units < pages)
        return STATUS_NO_MEMORY;
    while (pages) {
        if (count == capacity) {
            struct vidmm_run *grown;

            capacity = capacity ? capacity * 2 : 1;
            grown = util_realloc(runs, capacity * sizeof(*runs));
            if (!grown) {
                status = STATUS_INSUFFICIENT_RESOURCES;
                break;
            }
            runs = grown;
        }
        status = take_piece(segment, pages, align_pages, from_end, &runs[count]);
        if (!NT_SUCCESS(status))
            break;
        pages -= runs[count++].pages;
    }
    if (!NT_SUCCESS(status)) {
        give_runs(segment, runs, count);
        util_free(runs);
        return status;
    }
    *out = runs;
    *out_count = count;
    return STATUS_SUCCESS;
}

static uint64_t align_pages_of(const struct vidmm_segment *segment, uint64_t align_bytes)
{
    uint64_t align = align_bytes > segment->page_bytes ? align_bytes
                                                       : segment->page_bytes; /* ALLOC-028 */

    return align >> PAGE_BITS;
}

uint64_t segment_pages(const struct vidmm_segment *segment, uint64_t pages)
{
    return align_up(pages, segment->page_bytes >> PAGE_BITS);
}

NTSTATUS segment_take(struct vidmm_segment *segment, uint64_t pages, uint64_t align_bytes,
                      bool contiguous, bool from_end, struct vidmm_run **runs, uint32_t *run_count)
{
    uint64_t align_pages = align_pages_of(segment, align_bytes);
    NTSTATUS status;

    pages = segment_pages(segment, pages);
    if (contiguous) {
        struct vidmm_run *run = util_alloc(sizeof(*run));

        if (!run)
            return STATUS_INSUFFICIENT_RESOURCES;
        status = take_contiguous(segment, pages, align_pages, from_end, run);
        if (!NT_SUCCESS(status)) {
            util_free(run);
            return status;
        }
        *runs = run;
        *run_count = 1;
    } else {
        /* Runs are aligned, too. That costs nothing where the alignment is the segment's page size:
         * every free run has it. */
        status = take_scattered(segment, pages, align_pages, from_end, runs, run_count);
        if (!NT_SUCCESS(status))
            return status;
    }
    segment->mapped_bytes += pages << PAGE_BITS;
    return STATUS_SUCCESS;
}

NTSTATUS segment_take_within(struct vidmm_segment *segment, uint64_t pages, uint64_t align_bytes,
                             uint64_t low, uint64_t high, bool from_end, struct vidmm_run **run)
{
    const struct extent_request request = {.size = segment_pages(segment, pages),
                                           .align = align_pages_of(segment, align_bytes),
                                           .low = low,
                                           .high = high,
                                           .from_end = from_end};
    uint64_t start;

    *run = util_alloc(sizeof(**run));
    if (!*run)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!extent_take(&segment->free, &request, &start)) {
        util_free(*run);
        *run = NULL;
        return segment->free.out_of_memory ? STATUS_INSUFFICIENT_RESOURCES : STATUS_NO_MEMORY;
    }
    **run = (struct vidmm_run){.segment = segment->id, .first = start, .pages = request.size};
    segment->mapped_bytes += request.size << PAGE_BITS;
    return STATUS_SUCCESS;
}

void segment_give(struct vidmm *vidmm, const struct vidmm_run *runs, uint32_t run_count)
{
    vidmm_assert_locked(vidmm);
    for (uint32_t i = 0; i < run_count; i++) {
        struct vidmm_segment *segment = &vidmm->segment[runs[i].segment];

        extent_give(&segment->free, runs[i].first, runs[i].pages);
        segment->mapped_bytes -= runs[i].pages << PAGE_BITS;
        segment->space_appeared = true;
        segment->given = paging_ticket_now(vidmm);
    }
    paging_poke(vidmm);
}

/* ---- the host's own memory ---- */

static NTSTATUS take_own(struct vidmm *vidmm, struct room_request *room, struct vidmm_run *run)
{
    struct vidmm_segment *segment = room->segment;
    const uint64_t align = align_pages_of(segment, room->align_bytes);
    struct paging_turn own = paging_turn_begin(NULL);
    NTSTATUS status;

    room->pages = segment_pages(segment, room->pages);
    for (;;) {
        status = take_contiguous(segment, room->pages, align, false, run);
        if (status != STATUS_NO_MEMORY || !vidmm->started || !paging_may_build(vidmm))
            break;
        status = vidmm->room_maker->make_room(paging_turn_of_caller(vidmm, &own), vidmm, room);
        if (!NT_SUCCESS(status))
            break;
    }
    if (NT_SUCCESS(status)) {
        segment->mapped_bytes += room->pages << PAGE_BITS;
    } else if (status == STATUS_NO_MEMORY) {
        const uint64_t largest = extent_largest(&segment->free) << PAGE_BITS,
                       wanted = room->pages << PAGE_BITS;

        (void)refuse(status, NULL,
                     "segment %u has no %llu free bytes in one range for what must stay in it "
                     "(page tables, say); the largest has %llu of 0x%llx",
                     segment->id, (unsigned long long)wanted, (unsigned long long)largest,
                     (unsigned long long)segment->bytes);
    }
    return status;
}

NTSTATUS segment_take_pinned(struct vidmm *vidmm, UINT id, uint64_t pages, uint64_t align_bytes,
                             struct vidmm_run *run)
{
    struct room_request room = {.segment = &vidmm->segment[id],
                                .pages = pages,
                                .align_bytes = align_bytes,
                                .contiguous = true,
                                .last = true};
    NTSTATUS status = take_own(vidmm, &room, run);

    if (NT_SUCCESS(status))
        room.segment->pinned_bytes += room.pages << PAGE_BITS;
    return status;
}

void segment_give_pinned(struct vidmm *vidmm, const struct vidmm_run *run)
{
    vidmm->segment[run->segment].pinned_bytes -= run->pages << PAGE_BITS;
    segment_give(vidmm, run, 1);
}

NTSTATUS segment_take_table(struct vidmm *vidmm, UINT id, uint64_t pages, uint64_t align_bytes,
                            const struct vidmm_space *space, struct vidmm_run *run)
{
    struct room_request room = {.segment = &vidmm->segment[id],
                                .pages = pages,
                                .align_bytes = align_bytes,
                                .contiguous = true,
                                .last = true,
                                .space = space};
    NTSTATUS status = take_own(vidmm, &room, run);

    if (NT_SUCCESS(status))
        room.segment->table_bytes += room.pages << PAGE_BITS;
    return status;
}

NTSTATUS segment_take_table_beside(struct vidmm *vidmm, UINT id, uint64_t pages,
                                   uint64_t align_bytes, uint64_t hole, uint64_t hole_pages,
                                   struct vidmm_run *run)
{
    struct vidmm_segment *segment = &vidmm->segment[id];
    struct extent_request want = {.size = segment_pages(segment, pages),
                                  .align = align_pages_of(segment, align_bytes),
                                  .high = hole};
    bool taken = hole > 0 && extent_take(&segment->free, &want, &run->first);

    want.low = hole + hole_pages;
    want.high = 0;
    if (!taken && want.low < segment->bytes >> PAGE_BITS)
        taken = extent_take(&segment->free, &want, &run->first);
    if (!taken)
        return segment->free.out_of_memory ? STATUS_INSUFFICIENT_RESOURCES : STATUS_NO_MEMORY;
    run->segment = id;
    run->pages = want.size;
    segment->mapped_bytes += want.size << PAGE_BITS;
    segment->table_bytes += want.size << PAGE_BITS;
    return STATUS_SUCCESS;
}

void segment_give_table(struct vidmm *vidmm, const struct vidmm_run *run)
{
    vidmm->segment[run->segment].table_bytes -= run->pages << PAGE_BITS;
    segment_give(vidmm, run, 1);
}

void segment_pin_table(struct vidmm *vidmm, const struct vidmm_run *run)
{
    vidmm->segment[run->segment].table_bytes -= run->pages << PAGE_BITS;
    vidmm->segment[run->segment].pinned_bytes += run->pages << PAGE_BITS;
}

void *segment_cpu(const struct vidmm *vidmm, UINT id, struct segment_addr at)
{
    const struct vidmm_segment *segment = &vidmm->segment[id];
    uint8_t *bytes;

    if (!segment_cpu_visible(segment) || !vidmm->config.device)
        return NULL;
    if (segment->in_ram)
        return ram_direct(vidmm->config.ram, (struct phys_addr){segment->cpu.value + at.value});
    bytes = bus_device_memory(vidmm->config.device, segment->bar);
    return bytes ? bytes + segment->bar_offset + at.value : NULL;
}

/* ---- questions ---- */

bool segment_aperture_commits(const struct vidmm *vidmm, const struct vidmm_segment *segment,
                              uint64_t bytes)
{
    return bytes <= segment->commit_limit - segment->mapped_bytes &&
           bytes <= vidmm->aperture_limit - vidmm->aperture_mapped;
}

UINT segment_implicit(const struct vidmm *vidmm)
{
    return vidmm->config.gpu_mmu && vidmm->aperture && vidmm->segment_count < 31
               ? vidmm->segment_count + 1
               : 0;
}

D3DKMT_MEMORY_SEGMENT_GROUP segment_group(const struct vidmm *vidmm, UINT id)
{
    const struct vidmm_segment *segment = &vidmm->segment[id ? id : vidmm->aperture];

    if (segment->flags.LocalBudgetGroup)
        return D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
    if (segment->flags.NonLocalBudgetGroup)
        return D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL;
    if (id && !segment_is_aperture(segment))
        return D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
    for (UINT i = 1; i <= vidmm->segment_count; i++)
        if (!segment_is_aperture(&vidmm->segment[i]) && vidmm->segment[i].flags.ApplicationTarget)
            return D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL;
    return D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
}

uint64_t segment_group_bytes(const struct vidmm *vidmm, D3DKMT_MEMORY_SEGMENT_GROUP group)
{
    uint64_t bytes = 0;

    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &vidmm->segment[id];

        if (!segment->flags.ApplicationTarget || segment_group(vidmm, id) != group)
            continue;
        if (segment_is_aperture(segment))
            bytes += segment->commit_limit < vidmm->aperture_limit ? segment->commit_limit
                                                                   : vidmm->aperture_limit;
        else
            bytes += segment->bytes - segment->bad_bytes - segment_own_bytes(segment);
    }
    return bytes;
}

unsigned segment_order(const struct vidmm_allocation *allocation, UINT order[VIDMM_MAX_SEGMENTS],
                       UINT *down)
{
    UINT left = allocation->segments.restricted ? allocation->segments.restricted
                                                : allocation->segments.supported;
    unsigned count = 0;

    *down = 0;
    for (unsigned i = 0; i < 5; i++) {
        UINT id = allocation->segments.preferred[i];

        if (id == 0 || !(left & segment_bit(id)))
            continue;
        left &= ~segment_bit(id);
        if (allocation->segments.preferred_down >> i & 1)
            *down |= 1u << count;
        order[count++] = id;
    }
    for (UINT id = 1; id <= allocation->vidmm->segment_count; id++) {
        if (!(left & segment_bit(id)))
            continue;
        if (allocation->flags.FromEndOfSegment)
            *down |= 1u << count;
        order[count++] = id;
    }
    return count;
}
