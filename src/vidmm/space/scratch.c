/* SPDX-License-Identifier: MIT */
/* The scratch area of the paging process. Overview in paging_process.c. */
#include "vidmm/space/scratch.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "util/hash.h"
#include "util/list.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/va_mapping.h"

bool scratch_needs_tables(const struct gpu_mmu *mmu)
{
    const DXGK_GPUMMUCAPS *caps = &mmu->geometry.caps;

    return caps->PageTableUpdateMode == DXGK_PAGETABLEUPDATE_GPU_VIRTUAL ||
           caps->LegacyBehaviors.SourcePageTableVaInTransfer;
}

struct gpu_va scratch_table(const struct vidmm *vidmm, struct gpu_va va)
{
    const struct gpu_mmu *mmu = vidmm->mmu;
    uint64_t pages = vidmm->config.level[0].PageTableSizeInBytes >> PAGE_BITS;
    uint64_t index = ((va.value >> PAGE_BITS) - mmu->scratch.first) / mmu->geometry.span;

    if (!scratch_needs_tables(mmu))
        return (struct gpu_va){0};
    return (struct gpu_va){(mmu->scratch.tables_first + index * pages) << PAGE_BITS};
}

uint64_t scratch_limit(const struct vidmm *vidmm)
{
    return vidmm->mmu->scratch.limit;
}

static NTSTATUS take_window(struct gpu_mmu *mmu, uint64_t pages, struct scratch_window **out)
{
    const struct extent_request want = {.size = pages};
    struct scratch_window *window = util_zalloc(1, sizeof(*window));
    bool taken;

    if (!window)
        return STATUS_INSUFFICIENT_RESOURCES;
    window->pages = pages;
    taken = extent_take(&mmu->scratch.free, &want, &window->first);
    /* addresses that were released may still wait for the GPU */
    if (!taken && !mmu->scratch.free.out_of_memory) {
        (void)paging_settle(mmu->vidmm);
        taken = extent_take(&mmu->scratch.free, &want, &window->first);
    }
    if (taken && hash_put(&mmu->scratch.windows, window->first, window)) {
        *out = window;
        return STATUS_SUCCESS;
    }
    if (taken)
        (void)extent_give(&mmu->scratch.free, window->first, window->pages);
    util_free(window);
    if (taken || mmu->scratch.free.out_of_memory)
        return STATUS_INSUFFICIENT_RESOURCES;
    return STATUS_NO_MEMORY;
}

static NTSTATUS map_window(struct vidmm *vidmm, uint64_t pages, struct entry_source *source,
                           struct gpu_va *va)
{
    struct gpu_mmu *mmu = vidmm->mmu;
    struct scratch_window *window;
    NTSTATUS status = take_window(mmu, pages, &window);

    if (!NT_SUCCESS(status))
        return status;
    source->origin += window->first;
    tables_write(mmu->space, window->first, pages, source);
    status = tables_settle(mmu->space);
    va->value = window->first << PAGE_BITS;
    if (!NT_SUCCESS(status))
        scratch_release(vidmm, *va, pages);
    return status;
}

static uint64_t total_pages(const struct vidmm_run *runs, uint32_t run_count)
{
    uint64_t pages = 0;

    for (uint32_t i = 0; i < run_count; i++)
        pages += runs[i].pages;
    return pages;
}

NTSTATUS scratch_map(struct vidmm *vidmm, const struct vidmm_run *runs, uint32_t run_count,
                     bool read_only, struct gpu_va *va)
{
    struct entry_source source = {.state = ENTRY_PAGES,
                                  .read_only = read_only,
                                  .no_execute = true,
                                  .runs = runs,
                                  .run_count = run_count};

    return map_window(vidmm, total_pages(runs, run_count), &source, va);
}

NTSTATUS scratch_map_allocation(struct vidmm *vidmm, const struct vidmm_allocation *allocation,
                                uint64_t page, const struct vidmm_run *runs, uint32_t run_count,
                                bool read_only, struct gpu_va *va)
{
    uint64_t pages = total_pages(runs, run_count), held;
    struct entry_source source = {.state = ENTRY_PAGES,
                                  .read_only = read_only,
                                  .no_execute = true,
                                  .allocation = allocation,
                                  .protection = space_driver_protection(allocation, page, &held),
                                  .origin = 0 - page,
                                  .runs = runs,
                                  .run_count = run_count,
                                  .run_first = page,
                                  .run_base = page};

    return map_window(vidmm, pages, &source, va);
}

static void window_done(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    struct scratch_window *window = CONTAINER(deferred, struct scratch_window, deferred);

    if (window == &vidmm->mmu->scratch.reserve) {
        vidmm->mmu->scratch.reserve_busy = false;
        return;
    }
    /* given back exactly as it was taken: cannot fail */
    (void)extent_give(&vidmm->mmu->scratch.free, window->first, window->pages);
    util_free(window);
}

static struct scratch_window *window_at(struct gpu_mmu *mmu, struct gpu_va va)
{
    if (va.value >> PAGE_BITS != mmu->scratch.reserve.first)
        return hash_remove(&mmu->scratch.windows, va.value >> PAGE_BITS);
    mmu->scratch.reserve_user = NULL;
    return &mmu->scratch.reserve;
}

void scratch_release(struct vidmm *vidmm, struct gpu_va va, uint64_t pages)
{
    struct gpu_mmu *mmu = vidmm->mmu;
    struct scratch_window *window = window_at(mmu, va);
    struct entry_source invalid = {.state = ENTRY_INVALID};

    paging_assert_builder(vidmm);
    (void)pages;
    if (!window)
        return;
    if (vidmm->config.mmu.PageTableUpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        (void)paging_settle(vidmm); /* the CPU invalidates the entries immediately (GPUVA-230) */
    tables_write(mmu->space, window->first, window->pages, &invalid);
    (void)tables_settle(mmu->space);
    window->deferred.fn = window_done;
    paging_defer(vidmm, &window->deferred);
}

/* The reserve maps one table at a time; a table that loses it is mapped again when
 * it is next written. */
static struct gpu_va map_in_reserve(struct page_table *table)
{
    struct vidmm *vidmm = table->space->vidmm;
    struct gpu_mmu *mmu = vidmm->mmu;
    struct page_table *before = mmu->scratch.reserve_user;
    const struct gpu_va va = {mmu->scratch.reserve.first << PAGE_BITS};
    struct entry_source source = {.state = ENTRY_PAGES,
                                  .no_execute = true,
                                  .origin = mmu->scratch.reserve.first,
                                  .runs = &table->place.run,
                                  .run_count = 1};

    if (table->place.run.pages > mmu->scratch.reserve.pages)
        return (struct gpu_va){0};
    if (before) {
        list_remove(&before->link);
        before->window.value = 0;
        scratch_release(vidmm, va, mmu->scratch.reserve.pages);
    }
    if (mmu->scratch.reserve_busy)
        (void)paging_settle(vidmm);
    mmu->scratch.reserve_busy = true;
    mmu->scratch.reserve_user = table;
    tables_write(mmu->space, mmu->scratch.reserve.first, table->place.run.pages, &source);
    (void)tables_settle(mmu->space);
    return va;
}

static struct gpu_va map_table(struct page_table *table)
{
    struct gpu_va va = {0};

    if (NT_SUCCESS(scratch_map(table->space->vidmm, &table->place.run, 1, false, &va)))
        return va;
    if (table->space->vidmm->lost)
        return (struct gpu_va){0};
    return map_in_reserve(table);
}

const struct table_windows scratch_table_windows = {
    .map = map_table, .release = scratch_release, .of_leaf = scratch_table};
