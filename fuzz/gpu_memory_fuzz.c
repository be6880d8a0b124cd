/* SPDX-License-Identifier: MIT */
/* The target: one machine a run, and the program that the input is. gpu_memory_fuzz.h says what it is about. */
#include "gpu_memory_fuzz.h"

#include "dxgkhost/page_tables.h"
#include "nt/base/current.h"
#include "sim/machine.h"

uint64_t fuzz_operations;
/* For programs that make each allocation fail in turn: which of the run; whether it did. */
uint64_t fuzz_fail_at, fuzz_failures;

/* ---- the shape ---- */

static void choose_shape(struct fuzz_shape *s)
{
    static const DXGK_PAGETABLEUPDATEMODE modes[] = {DXGK_PAGETABLEUPDATE_GPU_PHYSICAL,
                                                     DXGK_PAGETABLEUPDATE_GPU_VIRTUAL,
                                                     DXGK_PAGETABLEUPDATE_CPU_VIRTUAL};
    static const enum iommu_mode iommu[] = {IOMMU_OFF, IOMMU_ISOLATION, IOMMU_REMAP};
    const unsigned a = fuzz_byte(), b = fuzz_byte(), c = fuzz_byte(), d = fuzz_byte();

    s->levels = 2 + a % 5;
    s->bits = a & 128 ? 8 : 9;
    s->middle_bits = s->levels == 6 ? 7 : 9;
    s->root_bits = s->levels == 2 ? 8 : 9;
    s->mode = modes[b % 3];
    s->iommu = iommu[b / 3 % 3];
    s->zero = (c & 1) != 0;
    s->no_execute = (c & 2) != 0;
    s->explicit_invalidation = (c & 4) != 0;
    s->idle_updates = (c & 8) != 0;
    s->hidden = (c & 16) != 0;
    s->tables_low = (c & 32) != 0;
    s->internal_range = (c & 64) != 0;
    s->failures = (c & 128) != 0;
    s->content_pages = 64u << (d % 4);
    s->vram_pages = s->content_pages + (s->tables_low ? 0 : s->bits == 8 ? 1200 : 700);
    s->aperture_pages = 64u << (d / 4 % 4);
    s->hidden_pages = s->hidden ? 512 : 0;
    s->buffer_bytes = d & 16 ? 0x1000 : 0x10000;
    s->processes = 1 + (d / 32) % PROCESSES;
}

static void describe_tables(struct probe *p, const struct fuzz_shape *s)
{
    unsigned bits = 12;

    for (unsigned i = 0; i < s->levels; i++) {
        DXGK_PAGE_TABLE_LEVEL_DESC *l = &p->level[i];

        l->PageTableIndexBitCount = i + 1 == s->levels ? s->root_bits
                                    : i                ? s->middle_bits
                                                       : s->bits;
        l->PageTableSegmentId = l->PagingProcessPageTableSegmentId = s->tables_low ? 0 : 1;
        fuzz_format.index_bits[i] = l->PageTableIndexBitCount;
        bits += l->PageTableIndexBitCount;
    }
    fuzz_format.levels = s->levels;
    p->mmu.PageTableLevelCount = s->levels;
    p->mmu.VirtualAddressBitCount = bits;
    p->mmu.PageTableUpdateMode = s->mode;
    p->mmu.ZeroInPteSupported = s->zero;
    p->mmu.NoExecuteMemorySupported = s->no_execute;
    p->mmu.CacheCoherentMemorySupported = 1;
    p->mmu.ExplicitPageTableInvalidation = s->explicit_invalidation;
    p->mmu.PageTableUpdateRequireAddressSpaceIdle = s->idle_updates;
    p->mmu.InvalidTlbEntriesNotCached = 1;
}

static void describe(struct probe *p, const struct fuzz_shape *s)
{
    describe_tables(p, s);
    p->segment[0].Size = p->segment[0].CommitLimit = s->vram_pages * PAGE;
    p->segment[1].Size = p->segment[1].CommitLimit = s->aperture_pages * PAGE;
    if (s->hidden) {
        p->segments = 3;
        memset(&p->segment[2], 0, sizeof(p->segment[2]));
        p->segment[2].BaseAddress.QuadPart = 1ll << 36;
        p->segment[2].Size = p->segment[2].CommitLimit = s->hidden_pages * PAGE;
        p->segment[2].Flags.Use64KBPages = 1;
        p->segment[2].Flags.LocalBudgetGroup = 1;
    }
    p->paging_bytes = s->buffer_bytes;
    if (s->internal_range) {
        p->caps.InternalGpuVirtualAddressRangeStart = fuzz_end_page() * PAGE / 4 * 3;
        p->caps.InternalGpuVirtualAddressRangeEnd = fuzz_end_page() * PAGE;
    }
}

/* ---- the program ---- */

static void next_process(void)
{
    fuzz_check_records();
    fuzz_run->turn = fuzz_below(fuzz_run->shape.processes);
}

static void live(void)
{
    const unsigned number = fuzz_below(DEVICES), how = fuzz_byte();
    struct fuzz_device *d = &fuzz_me()->device[number];

    if (!d->live)
        (void)fuzz_begin_device(number);
    else if (d->lost || (how & 15) == 15)
        fuzz_end_device(number);
}

static const struct {
    const char *name;
    void (*make)(void);
    unsigned weight;
} operations[] = {
    {"create an allocation", fuzz_create_allocation, 3},
    {"make resident", fuzz_make_resident, 4},
    {"map", fuzz_map, 6},
    {"reserve", fuzz_reserve, 2},
    {"free", fuzz_free, 2},
    {"update", fuzz_update, 4},
    {"submit", fuzz_submit, 4},
    {"evict", fuzz_evict, 2},
    {"destroy an allocation", fuzz_destroy_allocation, 1},
    {"open a resource", fuzz_open_resource, 1},
    {"offer", fuzz_offer, 1},
    {"reclaim", fuzz_reclaim, 2},
    {"lock", fuzz_lock, 2},
    {"unlock", fuzz_unlock, 1},
    {"touch", fuzz_touch, 2},
    {"update a property", fuzz_update_property, 1},
    {"invalidate a cache", fuzz_invalidate_cache, 1},
    {"trim", fuzz_trim, 1},
    {"context allocation", fuzz_context_allocation, 2},
    {"pass time", fuzz_pass_time, 2},
    {"check", fuzz_check_all, 2},
    {"next process", next_process, 2},
    {"device", live, 1},
    {"fail something", fuzz_fail_something, 1},
    {"power", fuzz_change_power, 1},
    {"hang", fuzz_hang, 1},
    {"unplug", fuzz_unplug, 1},
};

static unsigned some_operation(void)
{
    unsigned all = 0, at, i = 0;

    for (unsigned k = 0; k < sizeof(operations) / sizeof(operations[0]); k++)
        all += operations[k].weight;
    for (at = fuzz_byte() % all; at >= operations[i].weight; i++)
        at -= operations[i].weight;
    return i;
}

/* One allocation of the host from here on. */
static void begin_failing(struct util_heap *heap)
{
    heap->fail_at = heap->requests + fuzz_fail_at;
    fuzz_run->excused = fuzz_run->busy = true;
}

static void end_failing(struct util_heap *heap)
{
    if (fuzz_fail_at)
        fuzz_failures += heap->requests >= heap->fail_at;
    heap->fail_at = 0;
    heap->fail_onward = false;
}

static void operate(void)
{
    const unsigned what = some_operation();

    if (fuzz_run->operations == 0 && fuzz_fail_at)
        begin_failing(&fuzz_run->probe->sim->heap);

    fuzz_trace("%u: process %u, %s", fuzz_run->operations, fuzz_run->turn, operations[what].name);
    fuzz_run->operations++;
    fuzz_operations++;
    if (fuzz_run->operations % 64 == 0) {
        fuzz_drain();
        probe_forget(fuzz_run->probe);
    }
    for (unsigned i = 0; i < DEVICES && !fuzz_run->removed; i++)
        if (fuzz_me()->device[i].lost) {
            fuzz_drain();
            fuzz_end_device(i);
            fuzz_drain();
            (void)fuzz_begin_device(i);
        }
    if (!fuzz_me()->device[0].live && !fuzz_me()->device[1].live && !fuzz_run->removed)
        (void)fuzz_begin_device(0);
    operations[what].make();
}

static void wake_all(void)
{
    (void)sim_waitq_wake(&fuzz_run->turns, UINT32_MAX);
}

static void process_main(struct probe *p)
{
    unsigned number = 0;

    while (fuzz_run->process[number].client->nt != nt_process_current())
        number++;
    while (fuzz_run->turn < PROCESSES) {
        if (fuzz_run->looks[number]) {
            fuzz_look_for_losses(number);
            fuzz_run->looks[number] = false;
        }
        if (fuzz_run->turn != number) {
            (void)sim_waitq_wait(&fuzz_run->turns, SIM_FOREVER);
            continue;
        }
        if (fuzz_run->at >= fuzz_run->end || fuzz_run->operations == MOST_OPERATIONS) {
            if (!fuzz_run->removed)
                fuzz_check_all();
            end_failing(&p->sim->heap);
            fuzz_run->turn = PROCESSES;
        } else {
            operate();
        }
        if (fuzz_run->turn != number)
            wake_all();
    }
}

/* ---- one run ---- */

static void run(struct probe *p)
{
    const unsigned count = fuzz_run->shape.processes;

    for (unsigned i = 0; i < count; i++)
        fuzz_run->process[i].client = probe_client_start(p, process_main);
    for (unsigned i = 0; i < count; i++)
        probe_client_wait(p, fuzz_run->process[i].client);
    MUST(!p->sim->stopped);
    if (fuzz_run->removed) /* with clients on it */
        MUST(probe_stop(p) == 0);
    for (unsigned i = 0; i < count; i++)
        probe_client_end(p, fuzz_run->process[i].client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_run the_run;
    struct probe_options options;

    memset(&the_run, 0, sizeof(the_run));
    memset(&options, 0, sizeof(options));
    fuzz_run = &the_run;
    fuzz_run->at = data;
    fuzz_run->end = data + size;
    sim_waitq_init(&fuzz_run->turns);
    choose_shape(&fuzz_run->shape);
    options.port.iommu = fuzz_run->shape.iommu;
    options.port.check_tables = true;
    options.port.table_format = &fuzz_format;
    fuzz_run->probe = probe_create(&options);
    describe(fuzz_run->probe, &fuzz_run->shape);
    fuzz_driver_begin(fuzz_run->probe);
    fuzz_gpu_begin();
    probe_clients_begin(fuzz_run->probe);
    MUST(NT_SUCCESS(probe_start(fuzz_run->probe)));
    run(fuzz_run->probe);
    fuzz_check_records();
    probe_clients_end(fuzz_run->probe);
    MUST(probe_stop(fuzz_run->probe) == 0);
    fuzz_check_records();
    probe_destroy(fuzz_run->probe);
    fuzz_run->probe = NULL;
    fuzz_driver_end();
    fuzz_gpu_end();
    return 0;
}
