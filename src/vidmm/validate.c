/* SPDX-License-Identifier: MIT */
/* Checks every invariant of segments, allocations and residency lists by counting everything
 * again; for tests. */
#include "sim/mutex.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/checked.h"
#include "util/extent.h"
#include "util/list.h"
#include "util/order.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/residency/aperture_range.h"
#include "vidmm/residency/budget.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/address_space.h"
#include "vidmm/vidmm.h"

struct tally {
    struct vidmm *vidmm;
    uint64_t placed[VIDMM_MAX_SEGMENTS]; /* bytes */
    uint64_t victims[VIDMM_MAX_SEGMENTS];
    uint32_t leaving[VIDMM_MAX_SEGMENTS];
    uint64_t aperture;
    uint64_t usage[2]; /* by group, of the opens that are counted */
};

/* A function of its own, as a place for a breakpoint. */
static bool broken(const char *what, uint64_t line)
{
    trace_instant(0, what, "line", line, NULL, 0);
    return false;
}

#define HOLDS(condition)                                            \
    do {                                                            \
        if (!(condition))                                           \
            return broken("vidmm_validate: " #condition, __LINE__); \
    } while (0)

static uint64_t run_pages(const struct vidmm_allocation *allocation)
{
    uint64_t pages = 0;

    for (uint32_t i = 0; i < allocation->run_count; i++)
        pages += allocation->runs[i].pages;
    return pages;
}

static bool check_place(struct tally *tally, const struct vidmm_allocation *allocation)
{
    const struct vidmm_segment *segment = &tally->vidmm->segment[allocation->segment];
    bool memory = allocation->segment && !segment_is_aperture(segment);

    HOLDS(!allocation->ready || allocation->resident);
    HOLDS(!allocation->resident || allocation->runs);
    HOLDS(!allocation->arrival.pending || (allocation->resident && !allocation->ready));
    HOLDS(allocation->content != CONTENT_SYSTEM || allocation->backing);
    HOLDS(!allocation->logical || allocation->backing);
    if (!allocation->runs) {
        HOLDS(allocation->segment == 0 && allocation->content != CONTENT_SEGMENT);
        return true;
    }
    HOLDS(run_pages(allocation) >= allocation->pages);
    if (memory) {
        HOLDS(allocation->content == CONTENT_SEGMENT);
        HOLDS(!allocation->accessed_physically || allocation->run_count == 1);
        tally->placed[allocation->segment] += run_pages(allocation) << PAGE_BITS;
        for (uint32_t i = 0; i < allocation->run_count; i++) {
            HOLDS(allocation->runs[i].segment == allocation->segment);
            HOLDS(range_inside(allocation->runs[i].first, allocation->runs[i].pages,
                               segment->bytes >> PAGE_BITS));
        }
        return true;
    }
    HOLDS(allocation->content == CONTENT_SYSTEM && allocation->logical);
    if (allocation->segment) {
        tally->placed[allocation->segment] += allocation->pages << PAGE_BITS;
        tally->aperture += allocation->pages << PAGE_BITS;
    }
    return true;
}

static bool check_counts(struct tally *tally, const struct vidmm_allocation *allocation)
{
    uint32_t references = 0;
    uint32_t offered = 0;
    uint32_t locks = 0;

    LIST_FOR(node, &allocation->opens) {
        const struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);
        bool missing = !list_empty(&open->missing_link);

        references += open->residency_count != 0;
        offered += open->offered;
        locks += open->lock_count;
        HOLDS(open->charged == (open->residency_count != 0));
        HOLDS(!open->counted || open->charged);
        if (open->counted)
            tally->usage[segment_group(tally->vidmm, open->charge)] += allocation->pages
                                                                       << PAGE_BITS;
        HOLDS((open->residency_count != 0) == !list_empty(&open->residency_link));
        HOLDS(missing ==
              (open->residency_count && !allocation->ready && !allocation->offer.in_force));
        HOLDS(!open->ordered || (allocation->runs && open->order_segment == allocation->segment));
    }
    HOLDS(references == allocation->device_references);
    HOLDS(offered == allocation->offer.count);
    HOLDS(locks <= allocation->view.lock_count);
    HOLDS(!allocation->view.address || allocation->view.lock_count);
    if (allocation->victim.segment) {
        HOLDS(allocation->victim.segment == allocation->segment);
        tally->victims[allocation->victim.segment]++;
    }
    if (allocation->victim.leaving_segment)
        tally->leaving[allocation->victim.leaving_segment]++;
    return true;
}

static bool check_segments(const struct tally *tally)
{
    const struct vidmm *vidmm = tally->vidmm;

    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &vidmm->segment[id];

        HOLDS(extent_tree_validate(&segment->free));
        HOLDS(order_validate(&segment->victims));
        HOLDS(segment->mapped_bytes == tally->placed[id] + segment_own_bytes(segment));
        HOLDS((segment->free.free_units << PAGE_BITS) + segment->mapped_bytes + segment->bad_bytes ==
              segment->bytes);
        HOLDS(segment->victims.count == tally->victims[id]);
        HOLDS(segment->leaving == tally->leaving[id]);
        HOLDS(segment->mapped_bytes <= segment->commit_limit);
    }
    HOLDS(vidmm->aperture_mapped == tally->aperture + aperture_range_bytes(vidmm));
    HOLDS(vidmm->aperture_mapped <= vidmm->aperture_limit);
    return true;
}

static bool check_device(const struct vidmm *vidmm, const struct vidmm_device *device)
{
    uint64_t charged[VIDMM_MAX_SEGMENTS] = {0};
    uint32_t missing = 0;
    uint64_t joined_after = 0;

    LIST_FOR(node, &device->residency) {
        const struct vidmm_open *open = CONTAINER(node, struct vidmm_open, residency_link);

        HOLDS(open->device == device);
        charged[open->charge] += align_up(open->allocation->pages,
                                          open->allocation->alignment >> PAGE_BITS);
    }
    LIST_FOR(node, &device->missing_list) {
        HOLDS(CONTAINER(node, struct vidmm_open, missing_link)->device == device);
        HOLDS(!CONTAINER(node, struct vidmm_open, missing_link)->joining);
        missing++;
    }
    HOLDS(missing == device->missing);
    LIST_FOR(node, &device->joining_list) {
        const struct vidmm_open *open = CONTAINER(node, struct vidmm_open, missing_link);

        HOLDS(open->device == device && open->joining && open->joined_after >= joined_after);
        joined_after = open->joined_after;
    }
    for (UINT id = 0; id <= vidmm->segment_count; id++) {
        HOLDS(charged[id] == device->charged[id]);
        HOLDS(charged[id] <= budget_capacity_of(device, id));
        HOLDS(order_validate(&device->listed[id]));
    }
    return true;
}

static bool check_spaces(const struct vidmm *vidmm)
{
    LIST_FOR(node, &vidmm->processes) {
        const struct vidmm_process *process = CONTAINER(node, struct vidmm_process, link);

        HOLDS(!process->space || space_validate(process->space));
        HOLDS(!process->privileged || space_validate(process->privileged));
    }
    HOLDS(!vidmm->paging_process || !vidmm->paging_process->space ||
          space_validate(vidmm->paging_process->space));
    return true;
}

static bool check_usage(const struct tally *tally)
{
    const struct vidmm *vidmm = tally->vidmm;
    uint64_t usage[2] = {0, 0};

    LIST_FOR(node, &vidmm->processes) {
        const struct vidmm_process *process = CONTAINER(node, struct vidmm_process, link);

        usage[0] += process->usage[0];
        usage[1] += process->usage[1];
    }
    HOLDS(usage[0] == vidmm->budget.usage[0] && usage[1] == vidmm->budget.usage[1]);
    HOLDS(usage[0] == tally->usage[0] && usage[1] == tally->usage[1]);
    return true;
}

static bool validate(struct vidmm *vidmm)
{
    struct tally tally = {.vidmm = vidmm};

    LIST_FOR(node, &vidmm->allocations) {
        const struct vidmm_allocation *allocation = CONTAINER(node, struct vidmm_allocation, link);

        if (!check_place(&tally, allocation) || !check_counts(&tally, allocation))
            return false;
    }
    LIST_FOR(node, &vidmm->devices)
        if (!check_device(vidmm, CONTAINER(node, struct vidmm_device, link)))
            return false;
    return check_segments(&tally) && check_usage(&tally) && check_spaces(vidmm);
}

bool vidmm_validate(struct vidmm *vidmm)
{
    bool valid;

    sim_mutex_lock(&vidmm->lock);
    valid = validate(vidmm);
    sim_mutex_unlock(&vidmm->lock);
    return valid;
}
