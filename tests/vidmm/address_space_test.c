/* SPDX-License-Identifier: MIT */
/*
 * Address spaces against the obvious slow version: one record per page, every search page by page.
 * The driver and GPU of the rig carry out what the host asks for; after each batch of requests the
 * tables are walked page by page, directly and through a TLB that forgets nothing unasked, and
 * compared with the model.
 */
#include "support/gva_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

enum { PAGES = 1 << 13, SPAN = 16, OBJECTS = 12, RANGES = 512, LARGEST = 24, REGION = 4096 };

struct model_page {
    int range; /* 1-based; 0: free */
    enum entry_state state;
    int object;
    uint64_t offset, protection;
};

struct model_range {
    bool used, map, owned;
    enum entry_state initial;
    uint64_t first, pages;
};

struct model {
    struct model_page page[PAGES];
    struct model_range range[RANGES + 1];
    struct gva_object *object[OBJECTS];
    uint64_t place[OBJECTS][LARGEST]; /* page << 5 | segment */
    struct rng rng;
    uint64_t end;
    bool zero, faults;
    bool sparse, large; /* where ranges begin, if they can: GPUVA-062 */
    uint64_t failures;
};

static uint32_t below(struct model *m, uint32_t bound)
{
    return rng_below(&m->rng, bound);
}

static int new_range(struct model *m, uint64_t first, uint64_t pages)
{
    for (int i = 1; i <= RANGES; i++) {
        if (m->range[i].used)
            continue;
        m->range[i] = (struct model_range){.used = true, .first = first, .pages = pages};
        for (uint64_t p = first; p < first + pages; p++)
            m->page[p] = (struct model_page){.range = i};
        return i;
    }
    return 0;
}

static void end_range(struct model *m, int range)
{
    for (uint64_t p = m->range[range].first; p < m->range[range].first + m->range[range].pages; p++)
        m->page[p] = (struct model_page){.range = 0};
    m->range[range].used = false;
}

static bool region_free(const struct model *m, uint64_t first, uint64_t pages)
{
    for (uint64_t p = first; p < first + pages; p++)
        if (m->page[p].range)
            return false;
    return true;
}

/* GPUVA-062 by trying every page. */
static uint64_t pick(const struct model *m, uint64_t low, uint64_t high, uint64_t pages,
                     bool reserve)
{
    uint64_t align = reserve || m->sparse || (m->large && pages >= SPAN) ? 16 : 1;

    for (; align >= 1; align /= 16) {
        for (uint64_t p = (low + align - 1) / align * align; p + pages <= high; p += align)
            if (region_free(m, p, pages))
                return p;
        if (reserve)
            break;
    }
    return 0;
}

/* What the request should come to: status, and the place. */
static NTSTATUS predict(const struct model *m, uint64_t *base, uint64_t low, uint64_t high,
                        uint64_t pages, bool reserve, enum entry_state state, int *inside)
{
    *inside = 0;
    if (high > m->end)
        high = m->end;
    if (*base ? *base < SPAN || *base + pages > m->end : high && low + pages > high)
        return STATUS_INVALID_PARAMETER;
    if (state == ENTRY_ZERO && !m->zero)
        return STATUS_NOT_SUPPORTED;
    if (*base) {
        if (region_free(m, *base, pages))
            return STATUS_SUCCESS;
        if (reserve)
            return STATUS_INVALID_PARAMETER;
        *inside = m->page[*base].range;
        for (uint64_t p = *base; p < *base + pages; p++)
            if (m->page[p].range != *inside || !*inside)
                return STATUS_INVALID_PARAMETER;
        return m->range[*inside].map && state != ENTRY_PAGES ? STATUS_INVALID_PARAMETER
                                                             : STATUS_SUCCESS;
    }
    *base = pick(m, low < SPAN ? SPAN : low, high ? high : m->end, pages, reserve);
    return *base ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static void window(struct model *m, uint64_t unit, uint64_t *base, uint64_t *low, uint64_t *high)
{
    *base = *low = *high = 0;
    switch (below(m, 4)) {
    case 0:
        *base = below(m, REGION) / unit * unit;
        break;
    case 1:
        *low = below(m, REGION) / unit * unit;
        *high = *low + below(m, 200) / unit * unit;
        break;
    case 2:
        *low = below(m, REGION / 4) / unit * unit;
        break;
    }
}

/* Let one of the next allocations fail, some of the time. */
static void maybe_fail(struct model *m)
{
    struct util_heap *heap = &sim_current->heap;

    m->failures = heap->failures;
    if (m->faults && below(m, 4) == 0)
        heap->fail_at = heap->requests + 1 + below(m, 10);
}

/* It failed for lack of memory, so nothing may have changed. */
static bool failed(const struct model *m, NTSTATUS status)
{
    struct util_heap *heap = &sim_current->heap;

    heap->fail_at = 0;
    return status == STATUS_NO_MEMORY && heap->failures != m->failures;
}

static void do_map(struct gva_rig *rig, struct model *m)
{
    int object = (int)below(m, OBJECTS), inside;
    uint64_t offset = below(m, LARGEST), pages = 1 + below(m, (uint32_t)(LARGEST - offset));
    uint64_t base, low, high;
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(m->object[object], pages);
    enum entry_state state = ENTRY_PAGES;
    NTSTATUS expected, status;

    window(m, 1, &base, &low, &high);
    if (below(m, 5) == 0) {
        state = below(m, 2) ? ENTRY_ZERO : ENTRY_INVALID;
        args.hAllocation = 0;
        args.Protection.Value = 0;
        args.Protection.Zero = state == ENTRY_ZERO;
        args.Protection.NoAccess = state == ENTRY_INVALID;
    } else {
        args.Protection.Value = below(m, 4);
    }
    args.BaseAddress = base << 12;
    args.MinimumAddress = low << 12;
    args.MaximumAddress = high << 12;
    args.OffsetInPages = offset;
    expected = predict(m, &base, low, high, pages, false, state, &inside);
    maybe_fail(m);
    status = gva_map(rig, &args);
    if (failed(m, status))
        return;
    CHECK(NT_SUCCESS(expected) ? NT_SUCCESS(status) : status == expected);
    if (!NT_SUCCESS(status))
        return;
    CHECK(args.VirtualAddress == base << 12);
    CHECK((status == STATUS_PENDING) == (args.PagingFenceValue != 0));
    if (!inside) {
        inside = new_range(m, base, pages);
        m->range[inside].map = true;
        m->range[inside].owned = state == ENTRY_PAGES;
        m->range[inside].initial = state == ENTRY_ZERO ? ENTRY_ZERO : ENTRY_INVALID;
    }
    for (uint64_t i = 0; i < pages; i++)
        m->page[base + i] = (struct model_page){.range = inside,
                                                .state = state,
                                                .object = object,
                                                .offset = offset + i,
                                                .protection = args.Protection.Value};
}

static void do_reserve(struct gva_rig *rig, struct model *m)
{
    uint64_t pages = 16u * (1 + below(m, 12)), base, low, high;
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {
        .Size = pages << 12,
        .ReservationType = (D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE)below(m, 3)};
    enum entry_state state = args.ReservationType == D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO
                                 ? ENTRY_ZERO
                                 : ENTRY_INVALID;
    NTSTATUS expected, status;
    int inside;

    window(m, 16, &base, &low, &high);
    args.BaseAddress = base << 12;
    args.MinimumAddress = low << 12;
    args.MaximumAddress = high << 12;
    expected = predict(m, &base, low, high, pages, true, state, &inside);
    maybe_fail(m);
    status = vidmm_reserve_gpu_va(rig->process, below(m, 3) ? rig->queue : NULL, &args);
    if (failed(m, status))
        return;
    CHECK(status == expected);
    if (!NT_SUCCESS(status))
        return;
    CHECK(args.VirtualAddress == base << 12);
    inside = new_range(m, base, pages);
    m->range[inside].initial = state;
    for (uint64_t i = 0; i < pages; i++)
        m->page[base + i].state = state;
}

static void do_free(struct gva_rig *rig, struct model *m)
{
    int range = 1 + (int)below(m, RANGES);

    for (int i = 0; i < RANGES && !m->range[range].used; i++)
        range = range % RANGES + 1;
    if (!m->range[range].used)
        return;
    if (below(m, 10) == 0) {
        CHECK(gva_free(rig, m->range[range].first << 12, m->range[range].pages + 1) ==
              STATUS_INVALID_PARAMETER);
        return;
    }
    CHECK(gva_free(rig, m->range[range].first << 12, m->range[range].pages) == STATUS_SUCCESS);
    end_range(m, range);
}

/* Place an object as one to three runs, in VRAM or system memory, or nowhere. */
static void do_place(struct gva_rig *rig, struct model *m)
{
    int object = (int)below(m, OBJECTS);
    struct vidmm_run runs[3];
    uint32_t count = below(m, 4), segment = below(m, 3) ? GVA_VRAM_SEGMENT : 0;
    uint64_t left = LARGEST, page = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t pages = i + 1 == count ? left : 1 + below(m, (uint32_t)(left - (count - i)));

        runs[i] = (struct vidmm_run){
            .segment = segment, .first = 0x100000 + 16u * below(m, 100000), .pages = pages};
        left -= pages;
        for (uint64_t k = 0; k < pages; k++)
            m->place[object][page++] = (runs[i].first + k) << 5 | segment;
    }
    if (count == 0)
        memset(m->place[object], 0xFF, sizeof(m->place[object]));
    gva_object_place(rig, m->object[object], runs, count);
}

static void do_destroy(struct gva_rig *rig, struct model *m)
{
    int object = (int)below(m, OBJECTS);

    gva_object_destroy(rig, m->object[object]);
    for (int i = 1; i <= RANGES; i++) {
        struct model_range *range = &m->range[i];
        bool had = false, left = false;

        for (uint64_t p = range->first; range->used && p < range->first + range->pages; p++) {
            struct model_page *page = &m->page[p];

            if (page->state == ENTRY_PAGES && page->object == object) {
                *page = (struct model_page){.range = i, .state = range->initial};
                had = true;
            }
            left |= page->state == ENTRY_PAGES;
        }
        if (range->used && range->owned && had && !left)
            end_range(m, i);
    }
    m->object[object] = gva_object_create(rig, rig->mm_device, LARGEST);
    memset(m->place[object], 0xFF, sizeof(m->place[object]));
}

static void check_page(struct gva_rig *rig, struct model *m, uint64_t p,
                       const DXGKARG_SETROOTPAGETABLE *root)
{
    const struct model_page *page = &m->page[p];
    const DXGK_GPUMMUCAPS *caps = &rig->options.mmu;
    uint64_t place = page->state == ENTRY_PAGES && page->range
                         ? m->place[page->object][page->offset]
                         : ~(uint64_t)0;
    bool expected = page->range &&
                    (page->state == ENTRY_ZERO || (page->state == ENTRY_PAGES && ~place != 0));
    uint64_t entry = 0, cached = 0;
    bool reached = gva_walk(rig, root, p << 12, &entry);

    CHECK(reached == expected);
    if (expected && page->state == ENTRY_ZERO)
        CHECK((entry & (GVA_VALID | GVA_ZERO)) == (GVA_VALID | GVA_ZERO));
    if (expected && page->state == ENTRY_PAGES) {
        CHECK(gva_entry_page(entry) == place >> 5 && gva_entry_segment(entry) == (place & 31) &&
              !(entry & GVA_ZERO));
        if (!(entry & GVA_LARGE)) {
            CHECK(((entry & GVA_READ_ONLY) != 0) ==
                  (caps->ReadOnlyMemorySupported && !(page->protection & 1)));
            CHECK(((entry & GVA_NO_EXECUTE) != 0) ==
                  (caps->NoExecuteMemorySupported && !(page->protection & 2)));
        }
    }
    /* GPUVA-219: what the TLB remembers is what the tables say. */
    CHECK(gva_access(rig, root, p << 12, &cached) == reached);
    CHECK(!reached || (cached | GVA_LARGE) == (entry | GVA_LARGE));
}

static void check_all(struct gva_rig *rig, struct model *m)
{
    DXGKARG_SETROOTPAGETABLE root;

    gva_idle(rig);
    CHECK(gva_valid(rig));
    if (!rig->process->space->root->ready)
        return; /* nothing was ever written: no context was told of it either */
    root = gva_root(rig->process->space);
    for (uint64_t p = 0; p < m->end; p++)
        check_page(rig, m, p, &root);
    check_rule_record("GPUVA-219", __FILE__, __LINE__, __func__);
    check_rule_record("GPUVA-091", __FILE__, __LINE__, __func__);
    check_rule_record("GPUVA-093", __FILE__, __LINE__, __func__);
}

static void step(struct gva_rig *rig, struct model *m)
{
    uint32_t what = below(m, 100);

    if (what < 45)
        do_map(rig, m);
    else if (what < 55)
        do_reserve(rig, m);
    else if (what < 75)
        do_free(rig, m);
    else if (what < 95)
        do_place(rig, m);
    else
        do_destroy(rig, m);
}

static uint64_t walk_seed;
static unsigned walk_steps;
static bool walk_faults;

static void walk(struct gva_rig *rig)
{
    struct model *m = calloc(1, sizeof(*m));

    CHECK(m);
    m->rng.state = walk_seed;
    m->end = rig->vidmm->mmu->geometry.end < PAGES ? rig->vidmm->mmu->geometry.end : PAGES;
    m->sparse = rig->options.sparse_addresses;
    m->large = rig->options.mmu.LargePageSupported;
    m->zero = rig->options.mmu.ZeroInPteSupported;
    m->faults = walk_faults;
    CHECK(rig->vidmm->mmu->geometry.end == m->end);
    rig->sticky = true;
    rig->delay = 3000;
    for (int i = 0; i < OBJECTS; i++) {
        m->object[i] = gva_object_create(rig, rig->mm_device, LARGEST);
        memset(m->place[i], 0xFF, sizeof(m->place[i]));
    }
    for (unsigned i = 0; i < walk_steps && rig->op_count < GVA_MAX_OPS - 8000; i++) {
        step(rig, m);
        if (i % 40 == 39)
            check_all(rig, m);
    }
    check_all(rig, m);
    for (int i = 0; i < OBJECTS; i++)
        gva_object_destroy(rig, m->object[i]);
    gva_idle(rig);
    CHECK(gva_valid(rig));
    free(m);
}

/* 13 bits of pages: levels of the given index bits. */
static void geometry(struct gva_options *options, UINT levels, const UINT *bits, UINT segment)
{
    gva_options_default(options);
    options->mmu.VirtualAddressBitCount = 25;
    options->mmu.PageTableLevelCount = levels;
    for (UINT level = 0; level < levels; level++)
        options->level[level] = (DXGK_PAGE_TABLE_LEVEL_DESC){
            .PageTableIndexBitCount = bits[level],
            .PageTableSegmentId = segment,
            .PagingProcessPageTableSegmentId = segment,
            .PageTableSizeInBytes = 4096};
}

static void random_walks(const struct gva_options *options, unsigned seeds, unsigned steps)
{
    for (unsigned seed = 1; seed <= seeds; seed++) {
        struct gva_options copy = *options;

        copy.seed = seed;
        walk_seed = seed * 77;
        walk_steps = steps;
        gva_run(&copy, walk);
    }
}

static const UINT four[] = {4, 3, 3, 3};
static const UINT three[] = {4, 4, 5};
static const UINT two[] = {4, 0};

TEST(four_levels)
{
    struct gva_options options;

    geometry(&options, 4, four, GVA_VRAM_SEGMENT);
    random_walks(&options, 6, 400);
}

TEST(invalid_entries_not_cached)
{
    struct gva_options options;

    geometry(&options, 3, three, GVA_VRAM_SEGMENT);
    options.mmu.InvalidTlbEntriesNotCached = 1;
    random_walks(&options, 4, 300);
}

TEST(explicit_invalidation)
{
    struct gva_options options;

    geometry(&options, 4, four, GVA_VRAM_SEGMENT);
    options.mmu.ExplicitPageTableInvalidation = 1;
    random_walks(&options, 4, 300);
}

TEST(large_pages)
{
    struct gva_options options;

    geometry(&options, 4, four, GVA_VRAM_SEGMENT);
    options.mmu.LargePageSupported = 1;
    options.mmu.AllowNonAlignedLargePageAddress = 1;
    options.mmu.SysMemLargePageSupported = 1;
    random_walks(&options, 4, 300);
}

TEST(sparse_addresses)
{
    struct gva_options options;

    geometry(&options, 4, four, GVA_VRAM_SEGMENT);
    options.sparse_addresses = true;
    random_walks(&options, 2, 300);
}

TEST(without_zero)
{
    struct gva_options options;

    geometry(&options, 3, three, GVA_VRAM_SEGMENT);
    options.mmu.ZeroInPteSupported = 0;
    options.mmu.ReadOnlyMemorySupported = 0;
    options.mmu.NoExecuteMemorySupported = 0;
    random_walks(&options, 2, 300);
}

TEST(updates_by_virtual_address)
{
    struct gva_options options;

    geometry(&options, 3, three, GVA_VRAM_SEGMENT);
    options.mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_VIRTUAL;
    random_walks(&options, 3, 150);
}

TEST(updates_by_cpu)
{
    struct gva_options options;

    geometry(&options, 3, three, 0);
    options.mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    random_walks(&options, 3, 300);
}

TEST(resizable_root)
{
    struct gva_options options;

    geometry(&options, 2, two, GVA_VRAM_SEGMENT);
    options.level[1].PageTableSizeInBytes = 0;
    random_walks(&options, 4, 300);
}

/* Memory fails now and then, in the client's calls and in the worker. */
TEST(memory_fails)
{
    struct gva_options options;

    walk_faults = true;
    geometry(&options, 4, four, GVA_VRAM_SEGMENT);
    random_walks(&options, 4, 400);
    geometry(&options, 3, three, 0);
    options.mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    random_walks(&options, 2, 300);
    geometry(&options, 3, three, GVA_VRAM_SEGMENT);
    options.mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_VIRTUAL;
    random_walks(&options, 3, 150);
    geometry(&options, 2, two, GVA_VRAM_SEGMENT);
    options.level[1].PageTableSizeInBytes = 0;
    random_walks(&options, 2, 300);
    walk_faults = false;
}

TEST(idle_address_spaces)
{
    struct gva_options options;

    geometry(&options, 3, three, GVA_VRAM_SEGMENT);
    options.mmu.PageTableUpdateRequireAddressSpaceIdle = 1;
    random_walks(&options, 2, 200);
}
