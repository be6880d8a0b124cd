/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   On an adapter with GpuMmu, paging buffers run in an address space of their own, that of the
 *   paging process (GPUVA-222 to GPUVA-230). Its layout is fixed:
 *
 *     page 0     1                                                                    1 GiB
 *     | invalid | leaf tables of the scratch area | paging buffers | padding | scratch area |
 *
 *   All its page tables are created at start, behind the system devices and the system context,
 *   and written by the driver's CPU code (CPU_VIRTUAL, without DMA buffer), so that the first
 *   paging buffer can run. After that only leaf entries of
 *   the scratch area change, by operations in paging buffers. With GPU_VIRTUAL updates such an
 *   operation needs a GPU address of the leaf table that it writes. Therefore the leaf tables of
 *   the scratch area are mapped in the second part of the layout.
 *
 *   Scratch area. For an operation that needs a GPU address of some memory, the memory is mapped
 *   here temporarily (a window):
 *
 *     scratch_map        UPDATE_PAGE_TABLE, FLUSH_TLB
 *                        the operation
 *     scratch_release    UPDATE_PAGE_TABLE invalid, FLUSH_TLB
 *                        ... when the GPU has done all of it, the addresses are free again
 *
 *   So windows of operations in flight do not overlap, and an unused address faults.
 */
#include "vidmm/space/paging_process.h"
#include "ddi/ddi.h"
#include "nt/base/current.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "util/range_map.h"
#include "util/span_tree.h"
#include "verify/refusal.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/root_table.h"
#include "vidmm/space/scratch.h"
#include "vidmm/space/table_description.h"
#include "vidmm/space/va_range.h"

#define PAGING_PROCESS_PAGES ((uint64_t)1 << (30 - PAGE_BITS)) /* GPUVA-227 */
/* addresses kept for paging buffers: 32 MiB */
#define PAGING_BUFFER_PAGES 8192u

/* Compute the layout from the geometry. False: the address space is too small. */
static bool lay_out(struct gpu_mmu *mmu)
{
    const struct table_geometry *geometry = &mmu->geometry;
    const DXGK_PAGE_TABLE_LEVEL_DESC *leaf = &mmu->vidmm->config.level[0];
    uint64_t table_pages = leaf->PageTableSizeInBytes >> PAGE_BITS, buffers = PAGING_BUFFER_PAGES;

    mmu->end = PAGING_PROCESS_PAGES;
    if (mmu->vidmm->config.paging_space_mb) /* GPUVA-228 */
        mmu->end = align_up((uint64_t)mmu->vidmm->config.paging_space_mb << (20 - PAGE_BITS),
                            geometry->span);
    if (mmu->end > geometry->end)
        mmu->end = geometry->end;
    mmu->end = align_down(mmu->end, geometry->span);
    mmu->scratch.tables_first = 1;
    mmu->scratch.tables_pages = (mmu->end / geometry->span) * table_pages;
    if (buffers > mmu->end / 4)
        buffers = mmu->end / 4;
    mmu->scratch.first = align_up(mmu->scratch.tables_first + mmu->scratch.tables_pages + buffers,
                                  geometry->span);
    return mmu->scratch.first < mmu->end;
}

/* ---- tables ---- */

/* The leaf table of the page. Inside a driver's reservation there is none; then any table. */
static const struct page_table *leaf_of(const struct vidmm_space *space, uint64_t page)
{
    const struct page_table *table = space->root, *below = table;

    while (below && below->level > 0)
        below = below->child[table_index(below, space->mmu->geometry.shift[below->level], page)];
    return below ? below : table;
}

/* Map the leaf tables of the scratch area in the paging process. */
static NTSTATUS map_table_window(struct gpu_mmu *mmu)
{
    const struct table_geometry *geometry = &mmu->geometry;
    uint64_t tables = (mmu->end - mmu->scratch.first) / geometry->span, page = mmu->scratch.first;
    struct vidmm_run *runs = util_alloc(tables * sizeof(*runs));
    struct gpu_va va;
    NTSTATUS status;

    if (!runs)
        return STATUS_INSUFFICIENT_RESOURCES;
    for (uint64_t i = 0; i < tables; i++, page += geometry->span) {
        runs[i] = leaf_of(mmu->space, page)->place.run;
        runs[i].pages = mmu->vidmm->config.level[0].PageTableSizeInBytes >> PAGE_BITS;
    }
    status = space_map_internal(
        mmu->space, runs, (uint32_t)tables, mmu->scratch.tables_first << PAGE_BITS,
        (mmu->scratch.tables_first + mmu->scratch.tables_pages) << PAGE_BITS, false, &va);
    util_free(runs);
    return status;
}

/* Hold the tables of the whole space for good, except for addresses that the driver reserved
 * for its own tables. */
static NTSTATUS hold_tables(struct gpu_mmu *mmu)
{
    struct vidmm_space *space = mmu->space;
    uint64_t page = 0;
    NTSTATUS status = STATUS_SUCCESS;

    for (struct va_range *range = range_from(space, 0); range && NT_SUCCESS(status);
         range = range_next(range)) {
        status = tables_hold(space, page, range->span.first - page);
        if (NT_SUCCESS(status))
            tables_ready(space, page, range->span.first - page);
        page = span_end(&range->span);
    }
    if (NT_SUCCESS(status))
        status = tables_hold(space, page, mmu->end - page);
    if (NT_SUCCESS(status))
        tables_ready(space, page, mmu->end - page);
    return status;
}

/* Addresses for the largest table of fixed size, as a fallback (gpu_mmu.h). */
static NTSTATUS take_reserve(struct gpu_mmu *mmu)
{
    const struct vidmm_config *config = &mmu->vidmm->config;
    struct extent_request want = {.size = 1};

    for (unsigned level = 0; level < mmu->geometry.levels; level++)
        if (config->level[level].PageTableSizeInBytes >> PAGE_BITS > want.size)
            want.size = config->level[level].PageTableSizeInBytes >> PAGE_BITS;
    mmu->scratch.reserve.pages = want.size;
    if (extent_take(&mmu->scratch.free, &want, &mmu->scratch.reserve.first))
        return STATUS_SUCCESS;
    return mmu->scratch.free.out_of_memory ? STATUS_INSUFFICIENT_RESOURCES : STATUS_NO_MEMORY;
}

/* Everything still free above scratch.first becomes the scratch area. */
static NTSTATUS take_scratch_area(struct gpu_mmu *mmu)
{
    struct vidmm_space *space = mmu->space;
    uint64_t from = mmu->scratch.first;
    struct range_map_entry gap;
    NTSTATUS status;

    while (range_map_free_from(&space->ranges, from, &gap)) {
        struct va_request request = {.base = gap.first > from ? gap.first : from};
        struct va_range *range;

        request.pages = gap.first + gap.size - request.base;
        status = range_create(space, RANGE_INTERNAL, &request, &range);
        if (!NT_SUCCESS(status))
            return status;
        if (!extent_give(&mmu->scratch.free, request.base, request.pages))
            return STATUS_INSUFFICIENT_RESOURCES;
        from = gap.first + gap.size;
    }
    status = take_reserve(mmu);
    mmu->scratch.limit = extent_largest(&mmu->scratch.free) / 2;
    return NT_SUCCESS(status) && mmu->scratch.limit == 0 ? STATUS_NO_MEMORY : status;
}

static void say_no_room(const struct gpu_mmu *mmu)
{
    const DXGK_PAGE_TABLE_LEVEL_DESC *leaf = &mmu->vidmm->config.level[0];

    verify_refusal("GPUVA-227",
                   "no room for the page tables of the paging process: for its %llu MiB of addresses "
                   "they are %llu of level 0, of %u bytes each, in segment %u",
                   (unsigned long long)(mmu->end >> (20 - PAGE_BITS)),
                   (unsigned long long)(mmu->end / mmu->geometry.span), leaf->PageTableSizeInBytes,
                   leaf->PagingProcessPageTableSegmentId);
}

NTSTATUS paging_process_make_tables(struct vidmm *vidmm)
{
    struct gpu_mmu *mmu = vidmm->mmu;
    struct vidmm_space *space = mmu->space;
    NTSTATUS status;

    if (!space)
        return STATUS_SUCCESS;
    status = root_cover(space, mmu->end);
    if (NT_SUCCESS(status))
        status = hold_tables(mmu);
    if (NT_SUCCESS(status))
        status = tables_settle(space);
    if (status == STATUS_NO_MEMORY)
        say_no_room(mmu);
    if (NT_SUCCESS(status))
        status = take_scratch_area(mmu);
    if (NT_SUCCESS(status) && scratch_needs_tables(mmu))
        status = map_table_window(mmu);
    if (NT_SUCCESS(status))
        root_announce(space);
    return status;
}

NTSTATUS paging_process_check_tables(const struct vidmm *vidmm)
{
    const struct gpu_mmu *mmu = vidmm->mmu;

    if (!mmu || !mmu->space || mmu->scratch.limit > 0)
        return STATUS_SUCCESS;
    verify_refusal("GPUVA-222", "paging would begin without page tables of the paging process");
    return STATUS_INVALID_DEVICE_STATE;
}

/* ---- the process ---- */

/* DxgkDdiCreateProcess; without the lock, since the driver may reserve addresses from inside it. */
static NTSTATUS tell_driver(struct vidmm *vidmm, struct vidmm_process *process)
{
    DXGKARG_CREATEPROCESS args = {.hDxgkProcess = process->host_handle};
    NTSTATUS status;

    args.Flags.SystemProcess = 1;
    process->in_create_process = true;
    sim_mutex_unlock(&vidmm->lock);
    status = ddi_create_process(vidmm->ddi, &args);
    sim_mutex_lock(&vidmm->lock);
    process->in_create_process = false;
    process->driver_handle = args.hKmdProcess;
    vidmm->mmu->known = NT_SUCCESS(status);
    return status;
}

static NTSTATUS create_gpu_side(struct vidmm *vidmm, struct gpu_mmu *mmu)
{
    struct vidmm_process *process = vidmm->paging_process;
    NTSTATUS status = table_description_check(vidmm);

    if (NT_SUCCESS(status))
        status = gpu_mmu_prepare(mmu);
    if (NT_SUCCESS(status) && !lay_out(mmu))
        status = STATUS_DEVICE_CONFIGURATION_ERROR;
    if (NT_SUCCESS(status))
        status = space_create(vidmm, process, true, &process->space);
    if (!NT_SUCCESS(status))
        return status;
    mmu->space = process->space;
    mmu->windows = &scratch_table_windows;
    return tell_driver(vidmm, process);
}

NTSTATUS paging_process_create(struct vidmm *vidmm)
{
    struct gpu_mmu *mmu = gpu_mmu_get(vidmm);
    NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;

    if (mmu)
        vidmm->paging_process = process_record_new(vidmm, nt_process_system());
    if (mmu && vidmm->paging_process)
        status = vidmm->config.gpu_mmu ? create_gpu_side(vidmm, mmu) : STATUS_SUCCESS;
    if (!NT_SUCCESS(status))
        paging_process_destroy(vidmm);
    return status;
}

static void destroy_process(struct vidmm *vidmm, struct vidmm_process *process)
{
    bool known = vidmm->mmu->known;

    if (process->space)
        space_destroy(process->space);
    process->space = NULL;
    if (known) {
        sim_mutex_unlock(&vidmm->lock);
        (void)ddi_destroy_process(vidmm->ddi, process->driver_handle);
        sim_mutex_lock(&vidmm->lock);
    }
    vidmm->paging_process = NULL;
    process_record_free(process);
}

void paging_process_destroy(struct vidmm *vidmm)
{
    struct gpu_mmu *mmu = vidmm->mmu;

    if (!mmu)
        return;
    if (mmu->space)
        /* no paging buffer runs any more, so the GPU needs no update */
        mmu->space->immediate = true;
    if (vidmm->paging_process)
        destroy_process(vidmm, vidmm->paging_process);
    gpu_mmu_destroy(mmu);
}

NTSTATUS paging_process_rebuild(struct vidmm *vidmm)
{
    struct vidmm_space *space = vidmm->mmu ? vidmm->mmu->space : NULL;
    bool immediate;
    NTSTATUS status;

    if (!space)
        return STATUS_SUCCESS;
    immediate = space->immediate;
    space->immediate = true;
    tables_rebuild(space);
    status = tables_settle(space);
    space->immediate = immediate;
    return status;
}

/* ---- paging buffers ---- */

NTSTATUS vidmm_map_paging_buffer(struct vidmm *vidmm, const struct logical_page *logical,
                                 uint64_t pages, struct gpu_va *va)
{
    struct gpu_mmu *mmu = vidmm->mmu;
    struct vidmm_run *runs;
    uint32_t count = 0;
    NTSTATUS status;

    if (!mmu || !mmu->space)
        return STATUS_NOT_SUPPORTED;
    runs = util_alloc(pages * sizeof(*runs));
    if (!runs)
        return STATUS_NO_MEMORY;
    for (uint64_t i = 0; i < pages; i++) {
        if (count > 0 && runs[count - 1].first + runs[count - 1].pages == logical[i].value)
            runs[count - 1].pages++;
        else
            runs[count++] = (struct vidmm_run){.first = logical[i].value, .pages = 1};
    }
    sim_mutex_lock(&vidmm->lock);
    status = space_map_internal(mmu->space, runs, count,
                                (mmu->scratch.tables_first + mmu->scratch.tables_pages) << PAGE_BITS,
                                mmu->scratch.first << PAGE_BITS, true, va);
    sim_mutex_unlock(&vidmm->lock);
    util_free(runs);
    return vidmm_status(status);
}
