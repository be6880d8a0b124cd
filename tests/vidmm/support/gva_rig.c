/* SPDX-License-Identifier: MIT */
/* The rig's machine and its client. */
#include "bus/device.h"
#include "ddi/client_handle.h"
#include "gva_rig.h"
#include "nt/base/kprocess.h"
#include "nt/ps/process.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "sim/wait.h"

#include <stdlib.h>
#include <string.h>

void gva_driver_init(struct gva_rig *rig);
extern const struct vidmm_scheduler gva_scheduler;

/* ---- adapter ---- */

void gva_options_default(struct gva_options *options)
{
    *options = (struct gva_options){.seed = 1,
                                    .version = DXGKDDI_INTERFACE_VERSION_WDDM2_9,
                                    .vram_bytes = 64u << 20,
                                    .buffer_bytes = 4096};
    options->mmu.ReadOnlyMemorySupported = 1;
    options->mmu.NoExecuteMemorySupported = 1;
    options->mmu.ZeroInPteSupported = 1;
    options->mmu.CacheCoherentMemorySupported = 1;
    options->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_PHYSICAL;
    options->mmu.VirtualAddressBitCount = 48;
    options->mmu.PageTableLevelCount = 4;
    for (unsigned level = 0; level < 4; level++)
        options->level[level] = (DXGK_PAGE_TABLE_LEVEL_DESC){
            .PageTableIndexBitCount = 9,
            .PageTableSegmentId = GVA_VRAM_SEGMENT,
            .PagingProcessPageTableSegmentId = GVA_VRAM_SEGMENT,
            .PageTableSizeInBytes = 4096};
}

/* The entries of enum gva_entry. */
static void describe_format(struct gva_rig *rig)
{
    struct dxgk_table_format *format = &rig->format;

    *format = (struct dxgk_table_format){
        .name = "rig",
        .entry_bytes = 8,
        .levels = rig->options.mmu.PageTableLevelCount,
        .valid = GVA_VALID,
        .zero = GVA_ZERO,
        .read_only = GVA_READ_ONLY,
        .no_execute = GVA_NO_EXECUTE,
        .coherent = GVA_COHERENT,
        .large = GVA_LARGE,
        .address_mask = ~(uint64_t)0xFFF,
        .segment_mask = 0x1F << 7,
        .segments = 3,
        .segment = {{.segment = 0}, {.segment = 1, .bits = 1 << 7}, {.segment = 2, .bits = 2 << 7}},
    };
    for (unsigned level = 0; level < format->levels && level < DXGK_MAX_PAGE_TABLE_LEVEL_COUNT;
         level++)
        format->index_bits[level] = rig->options.level[level].PageTableIndexBitCount;
}

static NTSTATUS create_vidmm(struct gva_rig *rig)
{
    DXGK_SEGMENTDESCRIPTOR4 segments[2] = {0};
    struct vidmm_config config = {
        .ddi = &rig->ddi,
        .ram = rig->base.ram,
        .device = rig->base.device,
        .domain = rig->base.domain,
        .scheduler = &gva_scheduler,
        .wddm_version = rig->options.version,
        .internal_va_start = rig->options.internal_start,
        .internal_va_end = rig->options.internal_end,
        .gpu_mmu = !rig->options.no_gpu_mmu,
        .mmu = rig->options.mmu,
        .sparse_addresses = rig->options.sparse_addresses,
        .check_tables = rig->options.check_tables,
        .table_format = rig->options.whole_entries ? table_format_named("cosgpu") : &rig->format};

    describe_format(rig);
    segments[0].Flags.CpuVisible = !rig->options.hidden_vram;
    segments[0].Flags.Use64KBPages = rig->options.large_vram;
    segments[0].Flags.DirectFlip = 1;
    segments[0].CpuTranslatedAddress.QuadPart = (LONGLONG)bus_device_bar(rig->base.device, 0).value;
    segments[0].Size = rig->options.vram_bytes;
    segments[1].Flags.Aperture = 1;
    segments[1].Flags.CacheCoherent = 1;
    segments[1].BaseAddress.QuadPart = (LONGLONG)1 << 40;
    segments[1].Size = 64u << 20;
    config.segments.NbSegment = 2;
    config.segments.pSegmentDescriptor = (BYTE *)segments;
    config.segments.SegmentDescriptorStride = sizeof(segments[0]);
    config.segments.PagingBufferSize = rig->options.buffer_bytes;
    config.segment_count = 2;
    memcpy(config.level, rig->options.level, sizeof(config.level));
    return vidmm_create(&config, &rig->vidmm);
}

static uint64_t buffer_pages(const struct gva_rig *rig)
{
    return (rig->options.buffer_bytes + GVA_PAGE - 1) / GVA_PAGE;
}

static void unmap_buffer(struct gva_rig *rig, unsigned i)
{
    iommu_unmap_run(rig->base.domain, rig->buffer_logical[i], buffer_pages(rig));
    ram_give_contiguous(rig->base.ram, rig->buffer_frame[i], buffer_pages(rig));
}

static void map_buffers(struct gva_rig *rig)
{
    uint64_t pages = buffer_pages(rig);

    for (unsigned i = 0; i < 4; i++) {
        const struct ram_request request = {
            .pages = pages, .owner = RAM_HOST, .cache = RAM_WRITE_COMBINED};
        struct page_number first;
        struct logical_page logical[16];

        CHECK(ram_take_contiguous(rig->base.ram, &request, &first));
        CHECK(iommu_map_run(rig->base.domain, first, pages, IOMMU_READ | IOMMU_WRITE, &logical[0]));
        for (uint64_t page = 1; page < pages; page++)
            logical[page].value = logical[0].value + page;
        rig->buffer_frame[i] = first;
        rig->buffer_logical[i] = logical[0];
        rig->buffer[i].data = ram_direct(rig->base.ram, page_phys(first));
        rig->buffer[i].capacity = rig->options.buffer_bytes;
        if (!rig->options.no_gpu_mmu)
            CHECK(NT_SUCCESS(
                vidmm_map_paging_buffer(rig->vidmm, logical, pages, &rig->buffer[i].va)));
    }
}

NTSTATUS gva_start(struct gva_rig *rig)
{
    NTSTATUS status = create_vidmm(rig);

    if (!NT_SUCCESS(status))
        return status;
    if (rig->fail_start)
        sim_current->heap.fail_at = sim_current->heap.requests + rig->fail_start;
    status = vidmm_start_process(rig->vidmm);
    if (NT_SUCCESS(status))
        status = vidmm_start_tables(rig->vidmm);
    sim_current->heap.fail_at = 0;
    if (!NT_SUCCESS(status))
        return status;
    map_buffers(rig);
    return vidmm_start(rig->vidmm);
}

static void progress(void *context, uint64_t value)
{
    struct gva_rig *rig = context;

    CHECK(value >= rig->progress);
    rig->progress = value;
    sim_waitq_wake(&rig->done, UINT32_MAX);
}

NTSTATUS gva_open_client(struct gva_rig *rig)
{
    NTSTATUS status = vidmm_process_open(rig->vidmm, rig->nt_process, &rig->process);

    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_device_create(rig->process, (HANDLE)(uintptr_t)0xDE, rig, &rig->mm_device);
    if (!NT_SUCCESS(status))
        return status;
    return vidmm_paging_queue_create(rig->mm_device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL, progress,
                                     rig, &rig->queue);
}

void gva_close_client(struct gva_rig *rig)
{
    vidmm_device_destroy(rig->mm_device);
    vidmm_process_close(rig->process);
    rig->process = NULL;
    rig->mm_device = NULL;
    rig->queue = NULL;
}

void gva_stop(struct gva_rig *rig)
{
    vidmm_stop(rig->vidmm);
    vidmm_destroy(rig->vidmm);
    rig->vidmm = NULL;
}

/* ---- running ---- */

struct run {
    struct gva_rig *rig;
    void (*body)(struct gva_rig *rig);
    bool bare;
};

static void forget(struct hash_map *map)
{
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    while (hash_next(map, &cursor, &key, &value))
        free(value);
    hash_finish(map);
    hash_init(map);
}

static void forget_gpu(struct gva_rig *rig)
{
    forget(&rig->tables);
    forget(&rig->tlb);
    for (unsigned i = 0; i < 4; i++)
        unmap_buffer(rig, i);
}

static void start_all(struct gva_rig *rig)
{
    CHECK(NT_SUCCESS(gva_start(rig)));
    CHECK(NT_SUCCESS(gva_open_client(rig)));
    gva_mark(rig);
}

static void no_thread(void *arg)
{
    (void)arg;
}

/* Threads that have ended are freed when the next one is made. */
static void reap_threads(void)
{
    for (int i = 0; i < 2; i++) {
        sim_stall(1000000);
        sim_thread_release(sim_thread_create("reaper", SIM_THREAD_KERNEL, no_thread, NULL));
    }
}

static void stop_all(struct gva_rig *rig)
{
    rig->delay = 0;
    gva_release(rig);
    gva_close_client(rig);
    gva_stop(rig);
    forget_gpu(rig);
    rig->create_process_calls = rig->destroy_process_calls = rig->set_root_calls =
        rig->root_size_calls = 0;
    rig->submitted = rig->completed = rig->progress = 0;
    rig->op_from = rig->op_count;
    reap_threads();
}

static void run_body(void *arg)
{
    const struct run *run = arg;
    uint64_t blocks, frames;

    if (!run->bare) { /* once for what grows and stays: tables of handles, IO page tables, stacks */
        start_all(run->rig);
        stop_all(run->rig);
    }
    blocks = sim_current->heap.live_blocks;
    frames = ram_free_pages(run->rig->base.ram);
    if (!run->bare) {
        start_all(run->rig);
    }
    run->body(run->rig);
    if (!run->bare) {
        stop_all(run->rig);
        /* nothing leaks; other rooms' tables may have grown */
        CHECK(sim_current->heap.live_blocks <= blocks + 16);
        CHECK(ram_free_pages(run->rig->base.ram) == frames);
    }
}

static void set_up(struct gva_rig *rig)
{
    const struct rig_machine_config config = {.seed = rig->options.seed,
                                              .ram_bytes = 256u << 20,
                                              .vram_bytes = rig->options.vram_bytes,
                                              .iommu = IOMMU_REMAP};

    rig_machine_begin(&rig->base, &config);
    rig->nt_process = nt_process_create("client");
    CHECK(rig->nt_process);
    sim_waitq_init(&rig->done);
    hash_init(&rig->tables);
    hash_init(&rig->tlb);
    rig->ops = calloc(GVA_MAX_OPS, sizeof(*rig->ops));
    CHECK(rig->ops);
    gva_driver_init(rig);
}

static void tear_down(struct gva_rig *rig)
{
    forget(&rig->tables);
    forget(&rig->tlb);
    for (uint32_t i = 0; i < rig->op_count; i++) {
        free(rig->ops[i].entries);
        free(rig->ops[i].data);
    }
    free(rig->ops);
    ddi_adapter_finish(&rig->ddi);
    nt_process_destroy(rig->nt_process);
    rig_machine_end(&rig->base);
}

static void run(const struct gva_options *options, void (*body)(struct gva_rig *rig), bool bare)
{
    struct gva_rig *rig = calloc(1, sizeof(*rig));
    struct run arg = {.rig = rig, .body = body, .bare = bare};

    CHECK(rig);
    gva_rig = rig;
    if (options)
        rig->options = *options;
    else
        gva_options_default(&rig->options);
    set_up(rig);
    rig_machine_run(rig->nt_process, run_body, &arg);
    tear_down(rig);
    free(rig);
    gva_rig = NULL;
}

void gva_run(const struct gva_options *options, void (*body)(struct gva_rig *rig))
{
    run(options, body, false);
}

void gva_run_bare(const struct gva_options *options, void (*body)(struct gva_rig *rig))
{
    run(options, body, true);
}

static NTSTATUS nothing(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    (void)vidmm;
    (void)arg;
    return STATUS_SUCCESS;
}

void gva_idle(struct gva_rig *rig)
{
    /* Jobs of several queues take turns; enough rounds let all of them run. */
    do {
        CHECK(NT_SUCCESS(paging_run(rig->vidmm, nothing, NULL)));
    } while (rig->queue && rig->queue->base.pending);
    for (int i = 0; i < 4; i++)
        CHECK(NT_SUCCESS(paging_run(rig->vidmm, nothing, NULL)));
}

/* ---- operations ---- */

void gva_mark(struct gva_rig *rig)
{
    rig->op_from = rig->op_count;
}

uint32_t gva_op_position(const struct gva_rig *rig, int kind, uint32_t n)
{
    for (uint32_t i = rig->op_from; i < rig->op_count; i++)
        if ((kind < 0 || (int)rig->ops[i].args.Operation == kind) && n-- == 0)
            return i - rig->op_from;
    return UINT32_MAX;
}

const struct gva_op *gva_op_at(const struct gva_rig *rig, int kind, uint32_t n)
{
    uint32_t at = gva_op_position(rig, kind, n);

    return at == UINT32_MAX ? NULL : &rig->ops[rig->op_from + at];
}

uint32_t gva_op_count(const struct gva_rig *rig, int kind)
{
    uint32_t count = 0;

    for (uint32_t i = rig->op_from; i < rig->op_count; i++)
        count += kind < 0 || (int)rig->ops[i].args.Operation == kind;
    return count;
}

/* ---- objects ---- */

struct gva_object *gva_object_create(struct gva_rig *rig, struct vidmm_device *device,
                                     uint64_t pages)
{
    static uintptr_t serial = 0xA000;
    struct gva_object *object = util_zalloc(1, sizeof(*object));

    CHECK(object);
    object->allocation.vidmm = rig->vidmm;
    object->allocation.pages = pages;
    object->allocation.bytes = pages * GVA_PAGE;
    object->allocation.driver_handle = (HANDLE)++serial;
    object->allocation.number.of_client = ++rig->vidmm->statistics.allocations_created;
    list_init(&object->allocation.mappings);
    list_init(&object->allocation.opens);
    object->open.allocation = &object->allocation;
    object->open.device = device;
    object->handle = handle_create(&device->process->nt->handles, DDI_CLIENT_ALLOCATION,
                                   &object->open);
    object->open.handle = object->handle;
    CHECK(object->handle);
    return object;
}

struct place {
    struct gva_object *object;
    const struct vidmm_run *runs;
    uint32_t run_count;
};

static NTSTATUS place_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct place *place = arg;
    struct vidmm_allocation *allocation = &place->object->allocation;

    (void)turn;
    free(place->object->runs);
    place->object->runs = NULL;
    if (place->run_count) {
        place->object->runs = malloc(place->run_count * sizeof(struct vidmm_run));
        CHECK(place->object->runs);
        memcpy(place->object->runs, place->runs, place->run_count * sizeof(struct vidmm_run));
    }
    allocation->runs = place->object->runs;
    allocation->run_count = place->run_count;
    allocation->resident = place->run_count != 0;
    allocation->segment = place->run_count ? place->runs[0].segment : 0;
    return space_allocation_placed(vidmm, allocation);
}

void gva_object_place(struct gva_rig *rig, struct gva_object *object, const struct vidmm_run *runs,
                      uint32_t run_count)
{
    struct place place = {.object = object, .runs = runs, .run_count = run_count};

    CHECK(NT_SUCCESS(paging_run(rig->vidmm, place_job, &place)));
}

void gva_object_place_at(struct gva_rig *rig, struct gva_object *object, UINT segment,
                         uint64_t first)
{
    const struct vidmm_run run = {
        .segment = segment, .first = first, .pages = object->allocation.pages};

    gva_object_place(rig, object, &run, 1);
}

static NTSTATUS destroyed_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    space_allocation_destroyed(vidmm, arg);
    return STATUS_SUCCESS;
}

struct gva_object *gva_object_resident(struct gva_rig *rig, uint64_t pages, uint64_t first)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, pages);

    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, first);
    return object;
}

void gva_object_destroy(struct gva_rig *rig, struct gva_object *object)
{
    CHECK(handle_remove(&object->open.device->process->nt->handles, object->handle,
                        DDI_CLIENT_ALLOCATION));
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, destroyed_job, &object->allocation)));
    CHECK(list_empty(&object->allocation.mappings));
    free(object->runs);
    util_free(object);
}

/* ---- requests ---- */

D3DDDI_MAPGPUVIRTUALADDRESS gva_map_args(const struct gva_object *object, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = {
        .hPagingQueue = 1, .hAllocation = object ? object->handle : 0, .SizeInPages = pages};

    if (object)
        args.Protection.Write = 1;
    return args;
}

NTSTATUS gva_map(struct gva_rig *rig, D3DDDI_MAPGPUVIRTUALADDRESS *args)
{
    return vidmm_map_gpu_va(rig->queue, args);
}

uint64_t gva_map_simple(struct gva_rig *rig, const struct gva_object *object, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, pages);

    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    CHECK(args.VirtualAddress != 0);
    return args.VirtualAddress;
}

NTSTATUS gva_map_at(struct gva_rig *rig, const struct gva_object *object, uint64_t base,
                    uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, pages);

    args.BaseAddress = base;
    return gva_map(rig, &args);
}

NTSTATUS gva_free(struct gva_rig *rig, uint64_t base, uint64_t pages)
{
    return vidmm_free_gpu_va(rig->process, base, pages * GVA_PAGE);
}

NTSTATUS gva_reserve(struct gva_rig *rig, uint64_t pages,
                     D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE type, uint64_t *base)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {
        .BaseAddress = *base, .Size = pages * GVA_PAGE, .ReservationType = type};
    NTSTATUS status = vidmm_reserve_gpu_va(rig->process, rig->queue, &args);

    if (NT_SUCCESS(status))
        *base = args.VirtualAddress;
    return status;
}

uint64_t gva_look(struct gva_rig *rig, uint64_t va)
{
    DXGKARG_SETROOTPAGETABLE root;
    uint64_t entry;

    gva_idle(rig);
    root = gva_root(rig->process->space);
    if (!rig->process->space->root->ready)
        return GVA_FAULT;
    return gva_walk(rig, &root, va, &entry) ? entry : GVA_FAULT;
}

uint64_t gva_pinned(const struct gva_rig *rig)
{
    return segment_own_bytes(&rig->vidmm->segment[GVA_VRAM_SEGMENT]);
}

bool gva_valid(struct gva_rig *rig)
{
    bool valid;

    sim_mutex_lock(&rig->vidmm->lock);
    valid = space_validate(rig->process->space) && space_validate(rig->vidmm->paging_process->space);
    sim_mutex_unlock(&rig->vidmm->lock);
    return valid;
}
