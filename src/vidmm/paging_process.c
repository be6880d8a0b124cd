/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   Paging buffers of an adapter with GpuMmu run in an address space of their own, that of the
 *   paging process (GPUVA-222 to GPUVA-230). It is laid out once:
 *
 *     page 0     1                                                                    1 GiB
 *     | invalid | leaf tables of the scratch area | paging buffers | padding | scratch area |
 *
 *   All its tables are made at start and written at once, by the driver's CPU (CPU_VIRTUAL, no DMA
 *   buffer), so that the first paging buffer can run. From then on only leaf entries of the scratch
 *   area change, by operations in paging buffers. With GPU_VIRTUAL updates such an operation needs
 *   an address of the leaf table it edits: that is what the second part (the window) is for.
 *
 *   Scratch area. An operation that needs an address takes pages here, has them mapped, is built,
 *   and gives them back:
 *
 *     scratch_map        UPDATE_PAGE_TABLE, FLUSH_TLB
 *                        the operation
 *     scratch_release    UPDATE_PAGE_TABLE invalid, FLUSH_TLB
 *                        ... all of it done by the GPU: the pages are free again
 *
 *   Windows of operations in flight are therefore disjoint, and an unused address faults.
 */
#include "vidmm/paging_process.h"

#include "vidmm/address_space.h"

#define PAGING_PROCESS_PAGES ((uint64_t)1 << (30 - PAGE_BITS)) /* GPUVA-227 */
/* addresses kept for paging buffers: 32 MiB */
#define PAGING_BUFFER_PAGES 8192u
#define LARGEST_UPDATE      1024u /* entries of one operation */

/* ---- what all spaces share ---- */

struct paging_process *paging_process_get(struct vidmm *vidmm)
{
    struct paging_process *shared = vidmm->scratch;

    if (shared)
        return shared;
    shared = util_zalloc(1, sizeof(*shared));
    if (!shared)
        return NULL;
    shared->vidmm = vidmm;
    list_init(&shared->spaces);
    list_init(&shared->unclean);
    list_init(&shared->context_allocations);
    extent_tree_init(&shared->scratch);
    hash_init(&shared->windows);
    hash_init(&shared->closing);
    paging_queue_init(&shared->chores, vidmm, NULL, 0);
    vidmm->scratch = shared;
    return shared;
}

/* Where everything is; needs the geometry. False: the address bits do not suffice. */
static bool lay_out(struct paging_process *shared)
{
    const struct table_geometry *geometry = &shared->geometry;
    const DXGK_PAGE_TABLE_LEVEL_DESC *leaf = &shared->vidmm->config.level[0];
    uint64_t table_pages = leaf->PageTableSizeInBytes >> PAGE_BITS, buffers = PAGING_BUFFER_PAGES;

    shared->end = geometry->end < PAGING_PROCESS_PAGES ? geometry->end : PAGING_PROCESS_PAGES;
    shared->end = align_down(shared->end, geometry->span);
    shared->window_first = 1;
    shared->window_pages = (shared->end / geometry->span) * table_pages;
    if (buffers > shared->end / 4)
        buffers = shared->end / 4;
    shared->scratch_first = align_up(shared->window_first + shared->window_pages + buffers,
                                     geometry->span);
    return shared->scratch_first < shared->end;
}

static NTSTATUS prepare(struct paging_process *shared)
{
    uint32_t most = 0;

    table_geometry_init(&shared->geometry, shared->vidmm);
    for (unsigned level = 0; level < shared->geometry.levels; level++)
        if (shared->geometry.entries[level] > most)
            most = shared->geometry.entries[level];
    shared->entry_capacity = most < LARGEST_UPDATE ? most : LARGEST_UPDATE;
    shared->entries = util_alloc(shared->entry_capacity * sizeof(DXGK_PTE));
    if (shared->geometry.caps.DualPteSupported)
        shared->none = util_zalloc(shared->entry_capacity, sizeof(DXGK_PTE));
    if (!shared->entries || (shared->geometry.caps.DualPteSupported && !shared->none))
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!lay_out(shared))
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    return STATUS_SUCCESS;
}

/* ---- tables ---- */

/* The leaf of the page; under a driver's reservation there is none, and any table will do. */
static const struct page_table *leaf_of(const struct vidmm_space *space, uint64_t page)
{
    const struct page_table *table = space->root, *below = table;

    while (below && below->level > 0)
        below = below->child[table_index(below, space->shared->geometry.shift[below->level], page)];
    return below ? below : table;
}

static bool needs_table_window(const struct paging_process *shared)
{
    const DXGK_GPUMMUCAPS *caps = &shared->geometry.caps;

    return caps->PageTableUpdateMode == DXGK_PAGETABLEUPDATE_GPU_VIRTUAL ||
           caps->LegacyBehaviors.SourcePageTableVaInTransfer;
}

struct gpu_va scratch_table(const struct vidmm *vidmm, struct gpu_va va)
{
    const struct paging_process *shared = vidmm->scratch;
    uint64_t pages = vidmm->config.level[0].PageTableSizeInBytes >> PAGE_BITS;
    uint64_t index = ((va.value >> PAGE_BITS) - shared->scratch_first) / shared->geometry.span;

    if (!needs_table_window(shared))
        return (struct gpu_va){0};
    return (struct gpu_va){(shared->window_first + index * pages) << PAGE_BITS};
}

/* The leaf tables of the scratch area, seen by the paging process itself. */
static NTSTATUS map_table_window(struct paging_process *shared)
{
    const struct table_geometry *geometry = &shared->geometry;
    uint64_t tables = (shared->end - shared->scratch_first) / geometry->span,
             page = shared->scratch_first;
    struct vidmm_run *runs = util_alloc(tables * sizeof(*runs));
    struct gpu_va va;
    NTSTATUS status;

    if (!runs)
        return STATUS_INSUFFICIENT_RESOURCES;
    for (uint64_t i = 0; i < tables; i++, page += geometry->span) {
        runs[i] = leaf_of(shared->space, page)->place.run;
        runs[i].pages = shared->vidmm->config.level[0].PageTableSizeInBytes >> PAGE_BITS;
    }
    status = space_map_internal(
        shared->space, runs, (uint32_t)tables, shared->window_first << PAGE_BITS,
        (shared->window_first + shared->window_pages) << PAGE_BITS, false, &va);
    util_free(runs);
    return status;
}

/* Hold the tables of all addresses that the driver did not reserve for tables of its own, from page
 * 0 to the end, for good. */
static NTSTATUS hold_tables(struct paging_process *shared)
{
    struct vidmm_space *space = shared->space;
    uint64_t page = 0;
    NTSTATUS status = STATUS_SUCCESS;

    for (struct span_node *node = span_first(&space->ranges); node && NT_SUCCESS(status);
         node = span_next(&space->ranges, node)) {
        status = tables_hold(space, page, node->first - page);
        if (NT_SUCCESS(status))
            tables_ready(space, page, node->first - page);
        page = span_end(node);
    }
    if (NT_SUCCESS(status))
        status = tables_hold(space, page, shared->end - page);
    if (NT_SUCCESS(status))
        tables_ready(space, page, shared->end - page);
    return status;
}

/* Room for the largest table of fixed size. */
static NTSTATUS take_reserve(struct paging_process *shared)
{
    const struct vidmm_config *config = &shared->vidmm->config;
    struct extent_request want = {.size = 1};

    for (unsigned level = 0; level < shared->geometry.levels; level++)
        if (config->level[level].PageTableSizeInBytes >> PAGE_BITS > want.size)
            want.size = config->level[level].PageTableSizeInBytes >> PAGE_BITS;
    shared->reserve.pages = want.size;
    if (extent_take(&shared->scratch, &want, &shared->reserve.first))
        return STATUS_SUCCESS;
    return shared->scratch.out_of_memory ? STATUS_INSUFFICIENT_RESOURCES : STATUS_NO_MEMORY;
}

/* What is left above scratch_first becomes the scratch area; nothing else is placed there. */
static NTSTATUS take_scratch_area(struct paging_process *shared)
{
    struct vidmm_space *space = shared->space;
    uint64_t first, pages, from = shared->scratch_first;
    NTSTATUS status;

    while (extent_next(&space->free, from, &first, &pages)) {
        struct va_request request = {.base = first > from ? first : from};
        struct va_range *range;

        request.pages = first + pages - request.base;
        status = range_create(space, RANGE_INTERNAL, &request, &range);
        if (!NT_SUCCESS(status))
            return status;
        if (!extent_give(&shared->scratch, request.base, request.pages))
            return STATUS_INSUFFICIENT_RESOURCES;
        from = first + pages;
    }
    status = take_reserve(shared);
    shared->scratch_limit = extent_largest(&shared->scratch) / 2;
    return NT_SUCCESS(status) && shared->scratch_limit == 0 ? STATUS_NO_MEMORY : status;
}

static NTSTATUS make_tables(struct paging_process *shared)
{
    struct vidmm_space *space = shared->space;
    NTSTATUS status = space_cover(space, shared->end);

    if (NT_SUCCESS(status))
        status = hold_tables(shared);
    if (NT_SUCCESS(status))
        status = tables_settle(space);
    if (NT_SUCCESS(status))
        status = take_scratch_area(shared);
    if (NT_SUCCESS(status) && needs_table_window(shared))
        status = map_table_window(shared);
    return status;
}

/* ---- the process ---- */

static struct vidmm_process *process_record(struct vidmm *vidmm)
{
    struct vidmm_process *process = util_zalloc(1, sizeof(*process));

    if (!process)
        return NULL;
    process->vidmm = vidmm;
    process->nt = nt_process_system();
    process->references = 1;
    list_init(&process->link);
    list_init(&process->contexts);
    fence_memory_init(process);
    sim_waitq_init(&process->idle);
    process->host_handle = ddi_handle_create(&vidmm->ddi->handles, DDI_HANDLE_PROCESS, process);
    if (!process->host_handle) {
        util_free(process);
        return NULL;
    }
    return process;
}

/* DxgkDdiCreateProcess, without the lock: the driver may reserve addresses meanwhile. */
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
    vidmm->scratch->known = NT_SUCCESS(status);
    return status;
}

static NTSTATUS create_gpu_side(struct vidmm *vidmm, struct paging_process *shared)
{
    struct vidmm_process *process = vidmm->paging_process;
    NTSTATUS status = table_description_check(vidmm);

    if (NT_SUCCESS(status))
        status = prepare(shared);
    if (NT_SUCCESS(status))
        status = space_create(vidmm, process, true, &process->space);
    if (!NT_SUCCESS(status))
        return status;
    shared->space = process->space;
    status = tell_driver(vidmm, process);
    if (NT_SUCCESS(status))
        status = make_tables(shared);
    return status;
}

NTSTATUS paging_process_create(struct vidmm *vidmm)
{
    struct paging_process *shared = paging_process_get(vidmm);
    NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;

    if (shared)
        vidmm->paging_process = process_record(vidmm);
    if (vidmm->paging_process)
        status = vidmm->config.gpu_mmu ? create_gpu_side(vidmm, shared) : STATUS_SUCCESS;
    if (!NT_SUCCESS(status))
        paging_process_destroy(vidmm);
    return status;
}

static void destroy_process(struct vidmm *vidmm, struct vidmm_process *process)
{
    bool known = vidmm->scratch->known;

    if (process->space)
        space_destroy(process->space);
    process->space = NULL;
    if (known) {
        sim_mutex_unlock(&vidmm->lock);
        (void)ddi_destroy_process(vidmm->ddi, process->driver_handle);
        sim_mutex_lock(&vidmm->lock);
    }
    (void)ddi_handle_remove(&vidmm->ddi->handles, process->host_handle, DDI_HANDLE_PROCESS);
    vidmm->paging_process = NULL;
    util_free(process);
}

void paging_process_destroy(struct vidmm *vidmm)
{
    struct paging_process *shared = vidmm->scratch;

    if (!shared)
        return;
    if (shared->space)
        /* no paging buffer runs any more: the GPU need not be told anything */
        shared->space->immediate = true;
    if (vidmm->paging_process)
        destroy_process(vidmm, vidmm->paging_process);
    extent_tree_finish(&shared->scratch);
    hash_finish(&shared->windows);
    hash_finish(&shared->closing);
    util_free(shared->entries);
    util_free(shared->none);
    util_free(shared);
    vidmm->scratch = NULL;
}

NTSTATUS paging_process_rebuild(struct vidmm *vidmm)
{
    struct vidmm_space *space = vidmm->scratch ? vidmm->scratch->space : NULL;
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

NTSTATUS vidmm_map_paging_buffer(struct vidmm *vidmm, const struct page_number *logical,
                                 uint64_t pages, struct gpu_va *va)
{
    struct paging_process *shared = vidmm->scratch;
    struct vidmm_run *runs;
    uint32_t count = 0;
    NTSTATUS status;

    if (!shared || !shared->space)
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
    status = space_map_internal(shared->space, runs, count,
                                (shared->window_first + shared->window_pages) << PAGE_BITS,
                                shared->scratch_first << PAGE_BITS, true, va);
    sim_mutex_unlock(&vidmm->lock);
    util_free(runs);
    return vidmm_status(status);
}

void vidmm_unmap_paging_buffer(struct vidmm *vidmm, struct gpu_va va, uint64_t pages)
{
    sim_mutex_lock(&vidmm->lock);
    if (vidmm->scratch && vidmm->scratch->space)
        space_unmap_internal(vidmm->scratch->space, va, pages);
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- scratch area ---- */

uint64_t scratch_limit(const struct vidmm *vidmm)
{
    return vidmm->scratch->scratch_limit;
}

static NTSTATUS take_window(struct paging_process *shared, uint64_t pages,
                            struct scratch_window **out)
{
    const struct extent_request want = {.size = pages};
    struct scratch_window *window = util_zalloc(1, sizeof(*window));
    bool taken;

    if (!window)
        return STATUS_INSUFFICIENT_RESOURCES;
    window->pages = pages;
    taken = extent_take(&shared->scratch, &want, &window->first);
    /* what was released may only wait for the GPU */
    if (!taken && !shared->scratch.out_of_memory) {
        (void)paging_settle(shared->vidmm);
        taken = extent_take(&shared->scratch, &want, &window->first);
    }
    if (taken && hash_put(&shared->windows, window->first, window)) {
        *out = window;
        return STATUS_SUCCESS;
    }
    if (taken)
        (void)extent_give(&shared->scratch, window->first, window->pages);
    util_free(window);
    if (taken || shared->scratch.out_of_memory)
        return STATUS_INSUFFICIENT_RESOURCES;
    return STATUS_NO_MEMORY;
}

static NTSTATUS map_window(struct vidmm *vidmm, uint64_t pages, struct entry_source *source,
                           struct gpu_va *va)
{
    struct paging_process *shared = vidmm->scratch;
    struct scratch_window *window;
    NTSTATUS status = take_window(shared, pages, &window);

    if (!NT_SUCCESS(status))
        return status;
    source->origin += window->first;
    tables_write(shared->space, window->first, pages, source);
    status = tables_settle(shared->space);
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
                                  .allocation = allocation->driver_handle,
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

    if (window == &vidmm->scratch->reserve) {
        vidmm->scratch->reserve_busy = false;
        return;
    }
    /* whole: cannot fail */
    (void)extent_give(&vidmm->scratch->scratch, window->first, window->pages);
    util_free(window);
}

static struct scratch_window *window_at(struct paging_process *shared, struct gpu_va va)
{
    if (va.value >> PAGE_BITS != shared->reserve.first)
        return hash_remove(&shared->windows, va.value >> PAGE_BITS);
    shared->reserve_user = NULL;
    return &shared->reserve;
}

void scratch_release(struct vidmm *vidmm, struct gpu_va va, uint64_t pages)
{
    struct paging_process *shared = vidmm->scratch;
    struct scratch_window *window = window_at(shared, va);
    struct entry_source invalid = {.state = ENTRY_INVALID};

    (void)pages;
    if (!window)
        return;
    if (vidmm->config.mmu.PageTableUpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        (void)paging_settle(vidmm); /* the CPU takes the entries away at once (GPUVA-230) */
    tables_write(shared->space, window->first, window->pages, &invalid);
    (void)tables_settle(shared->space);
    window->deferred.fn = window_done;
    paging_defer(vidmm, &window->deferred);
}

/* The reserve has one user; who had it before maps again when it is edited again. */
static struct gpu_va map_in_reserve(struct page_table *table)
{
    struct vidmm *vidmm = table->space->vidmm;
    struct paging_process *shared = vidmm->scratch;
    struct page_table *before = shared->reserve_user;
    const struct gpu_va va = {shared->reserve.first << PAGE_BITS};
    struct entry_source source = {.state = ENTRY_PAGES,
                                  .no_execute = true,
                                  .origin = shared->reserve.first,
                                  .runs = &table->place.run,
                                  .run_count = 1};

    if (table->place.run.pages > shared->reserve.pages)
        return (struct gpu_va){0};
    if (before) {
        list_remove(&before->link);
        before->window.value = 0;
        scratch_release(vidmm, va, shared->reserve.pages);
    }
    if (shared->reserve_busy)
        (void)paging_settle(vidmm);
    shared->reserve_busy = true;
    shared->reserve_user = table;
    tables_write(shared->space, shared->reserve.first, table->place.run.pages, &source);
    (void)tables_settle(shared->space);
    return va;
}

struct gpu_va scratch_map_table(struct page_table *table)
{
    struct gpu_va va = {0};

    if (NT_SUCCESS(scratch_map(table->space->vidmm, &table->place.run, 1, false, &va)))
        return va;
    if (table->space->vidmm->lost)
        return (struct gpu_va){0};
    return map_in_reserve(table);
}
