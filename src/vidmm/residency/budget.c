/* SPDX-License-Identifier: MIT */
#include "vidmm/residency/budget.h"
#include "util/address.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/address_space.h"

/* ---- charges of one device ---- */

uint64_t budget_capacity(const struct vidmm *vidmm, UINT id)
{
    const struct vidmm_segment *segment = &vidmm->segment[id];

    if (id == 0)
        return vidmm->system_limit >> PAGE_BITS;
    if (segment_is_aperture(segment))
        return (segment->commit_limit < vidmm->aperture_limit ? segment->commit_limit
                                                              : vidmm->aperture_limit) >>
               PAGE_BITS;
    return (segment->bytes - segment->bad_bytes - segment->pinned_bytes) >> PAGE_BITS;
}

static uint64_t own_tables(const struct vidmm_space *space, UINT id)
{
    return space && !space->tables.stay ? space->tables.held[id] : 0;
}

uint64_t budget_capacity_of(const struct vidmm_device *device, UINT id)
{
    const uint64_t all = budget_capacity(device->process->vidmm, id),
                   tables = own_tables(device->process->space, id);

    return all > tables ? all - tables : 0;
}

/* The index to charge for an allocation in that segment: 0 if only page tables map it. */
static UINT charge_of(const struct vidmm_allocation *allocation, UINT segment)
{
    bool bare = segment_is_aperture(&allocation->vidmm->segment[segment]) &&
                allocation->vidmm->config.gpu_mmu && !allocation->accessed_physically;

    return bare ? 0 : segment;
}

/* The pages that it needs in the worst case when all members of a list are packed:
 * alignment leaves gaps. */
static uint64_t charge_pages(const struct vidmm_allocation *allocation)
{
    return align_up(allocation->pages, allocation->alignment >> PAGE_BITS);
}

static bool fits(const struct vidmm_open *open, UINT charge)
{
    return open->device->charged[charge] + charge_pages(open->allocation) <=
           budget_capacity_of(open->device, charge);
}

bool budget_allows(const struct vidmm_allocation *allocation, UINT segment)
{
    UINT charge = charge_of(allocation, segment);

    LIST_FOR(node, &allocation->opens) {
        const struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (open->charged && open->charge != charge && !fits(open, charge))
            return false;
    }
    return true;
}

bool budget_fits_beside_used(const struct vidmm_open *open)
{
    const struct vidmm_device *device = open->device;
    uint64_t pages = device->charged[open->charge];

    if (!open->charge)
        return true;
    LIST_FOR(node, &device->opens) {
        const struct vidmm_open *other = CONTAINER(node, struct vidmm_open, device_link);

        if (follow_pending(&other->use) && !other->charged &&
            other->allocation->segment == open->charge)
            pages += charge_pages(other->allocation);
    }
    LIST_FOR(node, &device->dying) {
        const struct vidmm_open *other = CONTAINER(node, struct vidmm_open, dying_link);

        if (other->allocation->segment == open->charge)
            pages += charge_pages(other->allocation);
    }
    return pages <= budget_capacity_of(device, open->charge);
}

bool budget_fits_elsewhere(const struct vidmm_open *open, UINT segment)
{
    UINT order[VIDMM_MAX_SEGMENTS];
    UINT down;
    unsigned count = segment_order(open->allocation, order, &down);

    for (unsigned i = 0; i < count; i++)
        if (order[i] != segment && fits(open, charge_of(open->allocation, order[i])))
            return true;
    return false;
}

/* ---- the budget of a process ---- */

/* The equal share of a process (RES-042). Processes that reserved more than an equal share get what
 * they reserved; the others share the rest equally. Only processes count that use or reserve memory
 * of the group, and `process` itself. */
static uint64_t equal_share(const struct vidmm_process *process, D3DKMT_MEMORY_SEGMENT_GROUP group,
                            uint64_t size)
{
    uint64_t users = 1;
    uint64_t share;
    uint64_t next;

    LIST_FOR(node, &process->vidmm->processes) {
        const struct vidmm_process *other = CONTAINER(node, struct vidmm_process, link);

        users += other != process && (other->usage[group] || other->reservation[group]);
    }
    /* A process that gets more than its share makes the share of the others smaller; then more of
     * them may have reserved more than that. Repeat until the share is stable. */
    for (share = UINT64_MAX, next = size / users; next < share;) {
        uint64_t reserved = 0;
        uint64_t left = users;

        share = next;
        LIST_FOR(node, &process->vidmm->processes) {
            const struct vidmm_process *other = CONTAINER(node, struct vidmm_process, link);

            if (other != process && other->reservation[group] > share) {
                reserved += other->reservation[group];
                left--;
            }
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): `process` itself is always left. */
        next = reserved < size ? (size - reserved) / left : 0;
    }
    return share;
}

uint64_t budget_of(const struct vidmm_process *process, D3DKMT_MEMORY_SEGMENT_GROUP group)
{
    struct vidmm *vidmm = process->vidmm;
    uint64_t size = segment_group_bytes(vidmm, group);
    uint64_t reserved = 0;
    uint64_t budget;

    if (vidmm->budget.usage[group] > size) {
        budget = equal_share(process, group, size); /* together, processes use more than there is */
    } else {
        LIST_FOR(node, &vidmm->processes) {
            const struct vidmm_process *other = CONTAINER(node, struct vidmm_process, link);

            if (other != process)
                reserved += other->reservation[group];
        }
        budget = size > reserved ? size - reserved : 0;
    }
    return budget > process->reservation[group] ? budget : process->reservation[group];
}

static bool has_budget(const struct vidmm *vidmm, D3DKMT_MEMORY_SEGMENT_GROUP group)
{
    return segment_group_bytes(vidmm, group) != 0;
}

uint64_t budget_over(const struct vidmm_process *process)
{
    uint64_t over = 0;

    for (int group = 0; group < 2; group++) {
        uint64_t budget;

        if (!has_budget(process->vidmm, (D3DKMT_MEMORY_SEGMENT_GROUP)group))
            continue;
        budget = budget_of(process, (D3DKMT_MEMORY_SEGMENT_GROUP)group);
        if (process->usage[group] > budget)
            over += process->usage[group] - budget;
    }
    return over;
}

static void tell_watches(const struct vidmm *vidmm)
{
    LIST_FOR(node, &vidmm->budget.watches) {
        struct vidmm_budget_watch *watch = CONTAINER(node, struct vidmm_budget_watch, link);

        watch->changed(watch);
    }
}

/* Another device of the process lists the allocation, and it is counted there (RES-045). */
static bool counted(const struct vidmm_open *open)
{
    LIST_FOR(node, &open->allocation->opens) {
        const struct vidmm_open *other = CONTAINER(node, struct vidmm_open, link);

        if (other != open && other->counted && other->device->process == open->device->process)
            return true;
    }
    return false;
}

static void change_usage(struct vidmm_open *open, bool up)
{
    struct vidmm_process *process = open->device->process;
    struct vidmm *vidmm = process->vidmm;
    D3DKMT_MEMORY_SEGMENT_GROUP group = segment_group(vidmm, open->charge);
    uint64_t bytes = open->allocation->pages << PAGE_BITS;

    open->counted = up;
    if (up) {
        process->usage[group] += bytes;
        vidmm->budget.usage[group] += bytes;
    } else {
        process->usage[group] -= bytes;
        vidmm->budget.usage[group] -= bytes;
    }
}

static void count(struct vidmm_open *open)
{
    if (counted(open))
        return;
    change_usage(open, true);
    tell_watches(open->device->process->vidmm);
}

/* If another device of the process still lists it, it is counted there from now on, where it may be
 * charged to another group. */
static void uncount(struct vidmm_open *open)
{
    if (!open->counted)
        return;
    change_usage(open, false);
    LIST_FOR(node, &open->allocation->opens) {
        struct vidmm_open *other = CONTAINER(node, struct vidmm_open, link);

        if (other->charged && other->device->process == open->device->process) {
            change_usage(other, true);
            break;
        }
    }
    tell_watches(open->device->process->vidmm);
}

static bool within_budget(const struct vidmm_open *open, UINT charge)
{
    const struct vidmm_process *process = open->device->process;
    D3DKMT_MEMORY_SEGMENT_GROUP group = segment_group(process->vidmm, charge);

    if (!has_budget(process->vidmm, group) || counted(open))
        return true;
    return process->usage[group] + (open->allocation->pages << PAGE_BITS) <=
           budget_of(process, group);
}

static void charge_to(struct vidmm_open *open, UINT charge)
{
    open->charge = charge;
    open->device->charged[charge] += charge_pages(open->allocation);
    count(open);
    open->charged = true;
}

static bool may_charge(const struct vidmm_open *open, UINT charge)
{
    UINT order[VIDMM_MAX_SEGMENTS];
    UINT down;
    unsigned segments = segment_order(open->allocation, order, &down);

    for (unsigned i = 0; i < segments; i++)
        if (charge_of(open->allocation, order[i]) == charge)
            return true;
    return false;
}

bool budget_charge_holds(const struct vidmm_open *open)
{
    return !open->charged || may_charge(open, open->charge);
}

/* First where it is: to all who list it, it takes the same memory. */
NTSTATUS budget_charge(struct vidmm_open *open, bool over_budget)
{
    const struct vidmm_allocation *allocation = open->allocation;
    UINT order[VIDMM_MAX_SEGMENTS + 1];
    UINT down;
    const unsigned here = allocation->runs && may_charge(open, allocation->segment);
    const unsigned segments = here + segment_order(allocation, order + here, &down);

    for (unsigned i = 0; i < segments; i++) {
        const UINT charge = i < here ? allocation->segment : charge_of(allocation, order[i]);

        if (!fits(open, charge) || (!over_budget && !within_budget(open, charge)))
            continue;
        charge_to(open, charge);
        return STATUS_SUCCESS;
    }
    return STATUS_NO_MEMORY;
}

void budget_uncharge(struct vidmm_open *open)
{
    open->charged = false;
    uncount(open);
    open->device->charged[open->charge] -= charge_pages(open->allocation);
}

void budget_charge_to(struct vidmm_open *open, UINT charge)
{
    if (open->charged)
        budget_uncharge(open);
    charge_to(open, charge);
}

void budget_charge_elsewhere(struct vidmm_open *open, UINT segment)
{
    UINT order[VIDMM_MAX_SEGMENTS];
    UINT down;
    unsigned segments = segment_order(open->allocation, order, &down);

    for (unsigned i = 0; i < segments; i++) {
        UINT charge = charge_of(open->allocation, order[i]);

        if (order[i] == segment || !fits(open, charge))
            continue;
        budget_charge_to(open, charge);
        return;
    }
}

void budget_placed(struct vidmm_allocation *allocation)
{
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (!open->charged || open->charge == allocation->segment)
            continue;
        budget_charge_to(open, allocation->segment);
    }
}

uint64_t budget_excess(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT listed)
{
    struct vidmm_process *process = device->process;
    struct vidmm *vidmm = process->vidmm;
    uint64_t wanted[2] = {process->usage[0], process->usage[1]};
    uint64_t excess = 0;

    for (UINT i = 0; i < listed; i++) {
        const struct vidmm_open *open = open_find(device, list[i]);
        UINT order[VIDMM_MAX_SEGMENTS];
        UINT down;

        if (open->charged)
            continue;
        (void)segment_order(open->allocation, order, &down);
        wanted[segment_group(vidmm, charge_of(open->allocation, order[0]))] += open->allocation->pages
                                                                               << PAGE_BITS;
    }
    for (int group = 0; group < 2; group++) {
        uint64_t budget = budget_of(process, (D3DKMT_MEMORY_SEGMENT_GROUP)group);

        if (has_budget(vidmm, (D3DKMT_MEMORY_SEGMENT_GROUP)group) && wanted[group] > budget)
            excess += wanted[group] - budget;
    }
    if (excess)
        return excess;
    /* The budget suffices, but the list does not fit the segments: about that many
     * bytes must be evicted. */
    for (UINT i = 0; i < listed; i++) {
        const struct vidmm_open *open = open_find(device, list[i]);

        excess += open->charged ? 0 : open->allocation->pages << PAGE_BITS;
    }
    return excess;
}

/* ---- for clients ---- */

NTSTATUS vidmm_query_video_memory(struct vidmm *vidmm, struct vidmm_process *process,
                                  D3DKMT_QUERYVIDEOMEMORYINFO *info)
{
    D3DKMT_MEMORY_SEGMENT_GROUP group = info->MemorySegmentGroup;
    uint64_t reserved = 0;
    uint64_t size;

    if ((group != D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL &&
         group != D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL) ||
        info->PhysicalAdapterIndex != 0)
        return refuse(STATUS_INVALID_PARAMETER, "RES-043",
                      "segment group %d of physical adapter %u: groups are 0 and 1, the adapter 0",
                      (int)group, info->PhysicalAdapterIndex);
    LIST_FOR(node, &vidmm->processes) {
        const struct vidmm_process *other = CONTAINER(node, struct vidmm_process, link);

        if (other != process)
            reserved += other->reservation[group];
    }
    size = segment_group_bytes(vidmm, group);
    info->Budget = process ? budget_of(process, group) : size;
    info->CurrentUsage = process ? process->usage[group] : 0;
    info->CurrentReservation = process ? process->reservation[group] : 0;
    info->AvailableForReservation = size / 2 > reserved ? size / 2 - reserved : 0;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_set_reservation(struct vidmm_process *process, D3DKMT_MEMORY_SEGMENT_GROUP group,
                               uint64_t bytes)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info = {.MemorySegmentGroup = group};
    NTSTATUS status = vidmm_query_video_memory(process->vidmm, process, &info);

    if (!NT_SUCCESS(status))
        return status;
    if (bytes > info.AvailableForReservation)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "a reservation of %llu bytes, %llu are available", (unsigned long long)bytes,
                      (unsigned long long)info.AvailableForReservation);
    process->reservation[group] = bytes;
    tell_watches(process->vidmm);
    return STATUS_SUCCESS;
}

void vidmm_budget_watch(struct vidmm *vidmm, struct vidmm_budget_watch *watch)
{
    list_push_back(&vidmm->budget.watches, &watch->link);
}

void vidmm_budget_unwatch(struct vidmm_budget_watch *watch)
{
    list_remove(&watch->link);
}

uint64_t vidmm_over_budget(const struct vidmm_process *process)
{
    return budget_over(process);
}

uint64_t vidmm_device_work(struct vidmm_device *device)
{
    return device->process->vidmm->scheduler->device_ticket(device);
}
