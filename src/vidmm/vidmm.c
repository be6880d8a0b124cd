/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 * The video memory manager of an adapter decides where allocations are, and has the driver's GPU
 * move them.
 *
 *   allocation    memory that the driver knows by a handle. The valid copy of its content is in one
 *                 place: nowhere yet, in system pages, or in a memory segment.
 *   segment       an extent tree of free pages. A memory segment holds content; an aperture is only
 *                 an address range, which the driver maps to system pages.
 *   device        has a residency list: the allocations that must be resident before any of its
 *                 contexts runs. Clients change the list (MakeResident, Evict); the worker then
 *                 moves memory accordingly.
 *   job           one task of the worker: make missing allocations resident, write page-table
 *                 entries. It appends paging operations to a buffer; the GPU executes them in order
 *                 on the paging node.
 *   ticket        number of a submitted paging buffer. What must wait for the GPU (freeing pages,
 *                 reporting a fence value, marking an allocation ready) is deferred to a ticket.
 *
 * Because all operations run in one order, segment memory may be given to its next owner as soon as
 * the operations that empty it are built. System pages are different: the CPU reuses them, so they
 * are freed when the ticket is complete.
 *
 * From a client's call to the GPU, by file:
 *
 *   residency.c        lists and counts, MakeResident, Evict
 *   budget.c           how much a process may use
 *   placement.c        making allocations resident, and evicting them
 *   eviction.c         which allocations are evicted
 *   content.c          transfers and fills
 *   aperture.c         map and unmap
 *   backing.c          system pages and the IOMMU
 *   paging.c           building operations, tickets
 *   paging_worker.c    jobs and completions
 *   driver_run.c       jobs that a thread inside the driver waits for
 *   follow.c           waiting for client work
 *
 * Creating, using and destroying allocations: allocation.c, allocation_info.c, destroy.c,
 * handle_callbacks.c, offer.c, cpu_access.c, share.c.
 *
 * When an allocation is placed or moved, the address spaces (address_space.c and its neighbors)
 * write the page-table entries.
 */
#include <string.h>

#include "vidmm/vidmm.h"
#include "ddi/ddi.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "vidmm/allocation/handle_callbacks.h"
#include "vidmm/check/table_check.h"
#include "vidmm/check/table_format.h"
#include "vidmm/check/translation_check.h"
#include "vidmm/content/aperture.h"
#include "vidmm/context/fence_memory.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_fence.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/residency/departure.h"
#include "vidmm/residency/eviction.h"
#include "vidmm/residency/lock_wait.h"
#include "vidmm/residency/swizzling_range.h"
#include "vidmm/segment/segment_table.h"
#include "vidmm/space/paging_process.h"

#define MAX_SWIZZLING_RANGES 4096u

/* ---- creation and destruction ---- */

/* A paging buffer for operations that are built during a reset and never submitted. */
static bool make_discard(struct vidmm *vidmm)
{
    const DXGK_QUERYSEGMENTOUT4 *table = &vidmm->config.segments;
    struct ram_request request = {.owner = RAM_HOST, .cache = RAM_WRITE_COMBINED};
    struct page_number first;

    vidmm->discard.buffer = util_zalloc(1, sizeof(*vidmm->discard.buffer));
    if (!vidmm->discard.buffer)
        return false;
    if (table->PagingBufferPrivateDataSize) {
        vidmm->discard.buffer->private_data = util_zalloc(1, table->PagingBufferPrivateDataSize);
        if (!vidmm->discard.buffer->private_data)
            return false;
        vidmm->discard.buffer->private_capacity = table->PagingBufferPrivateDataSize;
    }
    request.pages = align_up(table->PagingBufferSize ? table->PagingBufferSize : 1, PAGE_BYTES) >>
                    PAGE_BITS;
    if (!ram_take_contiguous(vidmm->config.ram, &request, &first))
        return false;
    vidmm->discard.buffer->data = ram_direct(vidmm->config.ram, page_phys(first));
    vidmm->discard.buffer->capacity = (uint32_t)(request.pages << PAGE_BITS);
    vidmm->discard.first = first;
    return true;
}

static void discard_free(struct vidmm *vidmm)
{
    if (!vidmm->discard.buffer)
        return;
    if (vidmm->discard.buffer->data)
        ram_give_contiguous(vidmm->config.ram, vidmm->discard.first,
                            vidmm->discard.buffer->capacity >> PAGE_BITS);
    util_free(vidmm->discard.buffer->private_data);
    util_free(vidmm->discard.buffer);
}

/* The driver says how many it has; more than anybody can use do not cost more. */
static bool make_ranges(struct vidmm *vidmm)
{
    if (vidmm->config.swizzling_ranges > MAX_SWIZZLING_RANGES)
        vidmm->config.swizzling_ranges = MAX_SWIZZLING_RANGES;
    if (vidmm->config.swizzling_ranges == 0)
        return true;
    vidmm->old.range = util_zalloc(vidmm->config.swizzling_ranges, sizeof(*vidmm->old.range));
    return vidmm->old.range != NULL;
}

NTSTATUS vidmm_create(const struct vidmm_config *config, struct vidmm **out)
{
    struct vidmm *vidmm = util_zalloc(1, sizeof(*vidmm));
    NTSTATUS status;

    if (!vidmm)
        return STATUS_NO_MEMORY;
    vidmm->config = *config;
    vidmm->config.bad_range = NULL;
    vidmm->ddi = config->ddi;
    vidmm->scheduler = config->scheduler;
    vidmm->chronicle.on = config->chronicle;
    vidmm->room_maker = &eviction_room_maker;
    vidmm->idle_work = &departure_idle_work;
    vidmm->config.table_reader = config->check_tables ? &table_check_reader : NULL;
    sim_mutex_init(&vidmm->lock);
    list_init(&vidmm->process_changes);
    sim_waitq_init(&vidmm->process_changed);
    list_init(&vidmm->allocations);
    list_init(&vidmm->processes);
    list_init(&vidmm->budget.watches);
    list_init(&vidmm->aperture_ranges);
    list_init(&vidmm->devices);
    list_init(&vidmm->deferred);
    list_init(&vidmm->retiring);
    list_init(&vidmm->tell);
    list_init(&vidmm->tell_devices);
    list_init(&vidmm->departures);
    list_init(&vidmm->destructions_held);
    list_init(&vidmm->contexts.all);
    hash_init(&vidmm->contexts.closing);
    paging_queue_init(&vidmm->chores, vidmm, NULL, -1);
    paging_queue_init(&vidmm->driver.runs, vidmm, NULL, 2);
    sim_waitq_init(&vidmm->driver.wait);
    list_init(&vidmm->driver.waiters);
    sim_waitq_init(&vidmm->old.lock_waits);
    vidmm->track = trace_track_create("paging", "paging");
    status = segment_table_init(vidmm, config);
    vidmm->config.segments.pSegmentDescriptor = NULL;
    if (NT_SUCCESS(status) && !make_ranges(vidmm))
        status = STATUS_NO_MEMORY;
    if (NT_SUCCESS(status) && vidmm->aperture)
        status = aperture_dummy_create(vidmm);
    if (NT_SUCCESS(status) && !make_discard(vidmm))
        status = STATUS_NO_MEMORY;
    if (!NT_SUCCESS(status)) {
        vidmm_destroy(vidmm);
        return status;
    }
    vidmm_set_of_adapter(vidmm->ddi, vidmm);
    translation_check_begin(vidmm);
    *out = vidmm;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_start_process(struct vidmm *vidmm)
{
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    status = vidmm_status(paging_process_create(vidmm));
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

static NTSTATUS make_fence(struct vidmm *vidmm)
{
    struct paging_fence *fence = &vidmm->fence;
    struct logical_page page;
    NTSTATUS status;

    if (!paging_fence_has(vidmm) || fence->value)
        return STATUS_SUCCESS;
    status = vidmm_status(fence_memory_make(vidmm, &fence->memory));
    if (!NT_SUCCESS(status))
        return status;
    page = fence_memory_page(fence->memory);
    status = vidmm_map_paging_buffer(vidmm, &page, 1, &fence->va);
    if (NT_SUCCESS(status))
        fence->value = vidmm_fence_memory_kernel(fence->memory);
    return status;
}

NTSTATUS vidmm_start_tables(struct vidmm *vidmm)
{
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    status = vidmm_status(paging_process_make_tables(vidmm));
    sim_mutex_unlock(&vidmm->lock);
    return NT_SUCCESS(status) && vidmm->config.hw_paging ? make_fence(vidmm) : status;
}

bool vidmm_paging_fence(const struct vidmm *vidmm, struct gpu_va *va, volatile uint64_t **value)
{
    *va = vidmm->fence.va;
    *value = vidmm->fence.value;
    return vidmm->fence.value != NULL;
}

NTSTATUS vidmm_start(struct vidmm *vidmm)
{
    NTSTATUS status = paging_process_check_tables(vidmm);

    if (NT_SUCCESS(status))
        status = make_fence(vidmm);
    table_format_begin(vidmm);
    if (!NT_SUCCESS(status))
        return status;
    vidmm->started = true;
    status = paging_worker_start(vidmm);
    if (!NT_SUCCESS(status))
        vidmm->started = false;
    vidmm_tell_segments(vidmm);
    return status;
}

void vidmm_stop(struct vidmm *vidmm)
{
    vidmm->stopping = true;
    if (sim_current->stopped)
        return;
    paging_worker_stop(vidmm);
    handle_references_end(vidmm);
    sim_mutex_lock(&vidmm->lock);
    (void)paging_settle(vidmm);
    vidmm->started = false;
    sim_mutex_unlock(&vidmm->lock);
}

void vidmm_destroy(struct vidmm *vidmm)
{
    if (!vidmm)
        return;
    if (vidmm->mmu && !sim_current->stopped) {
        /* Only now: the scheduler's system device and context are gone (GPUVA-037). */
        sim_mutex_lock(&vidmm->lock);
        paging_process_destroy(vidmm);
        sim_mutex_unlock(&vidmm->lock);
    }
    if (vidmm->fence.memory)
        vidmm_fence_memory_release(vidmm->fence.memory);
    hash_finish(&vidmm->contexts.closing);
    discard_free(vidmm);
    aperture_dummy_destroy(vidmm);
    segment_table_finish(vidmm);
    chronicle_finish(&vidmm->chronicle);
    util_free(vidmm->old.range);
    if (vidmm_of_adapter(vidmm->ddi) == vidmm) {
        translation_check_end(vidmm);
        vidmm_set_of_adapter(vidmm->ddi, NULL);
    }
    util_free(vidmm);
}

void vidmm_set_lost(struct vidmm *vidmm)
{
    vidmm->lost = true;
    lock_wait_wake(vidmm);
    paging_poke(vidmm);
}

bool vidmm_is_lost(const struct vidmm *vidmm)
{
    return vidmm->lost;
}

/* ---- numbers ---- */

void vidmm_statistics(const struct vidmm *vidmm, struct vidmm_statistics *statistics)
{
    *statistics = vidmm->statistics;
}
