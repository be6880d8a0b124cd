/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   The host does not know the format of page tables; only the driver does. The host keeps a record
 *   per table: its memory, which entries are not invalid (one bit each), and the tables below. What
 *   an entry should contain is not recorded here, but in the ranges and pieces of the address space
 *   (address_space.c), from which any entry can be written again at any time.
 *
 *        root  [ . | L | . . . | Z | . ]    L: link to a table that is ready
 *                    |                      Z: Zero for the whole span of the entry, with no table
 *             [ L | . | G | . ... ]            below (GPUVA-114)
 *               |                           G: large page
 *        leaf [ v v v . . z z . ]           v: page; z: Zero
 *
 *   Life of a table
 *
 *     held       memory and record exist; the GPU cannot reach it           tables_hold
 *     ready      when an entry is needed: all entries are written           tables_write
 *                (InitialUpdate), then the table above links to it
 *     unlinked   when it is no longer held: the entry above is              tables_write
 *                overwritten with the state of the whole span, and a
 *                TLB flush is built
 *     freed      its memory is freed when the GPU has done all that         tables_settle
 *
 *   A table may leave its segment and come back, in any of these states (table_residency.c).
 *
 *   Memory for tables is allocated when addresses are mapped, not when the first entry is written.
 *   So a change of residency cannot fail for lack of a table, and mapping an allocation that is not
 *   resident needs no operation.
 *
 *   What holds a table. A mapped page holds its leaf table (uses += 1 per page, so that pieces can
 *   be cut anywhere), and a table holds the one above. A fill is a run of pages that are all Zero
 *   or all invalid. Where it covers a whole entry of an upper table, it needs no table below. It
 *   needs tables only at its two edges, where an upper entry would have to be Zero in one part and
 *   something else in the other. So a fill holds the tables that its edges cut: at most one per
 *   level and edge.
 *
 *     claim: if uses == 0, the whole span of the table is in one state, and none of its pages is
 *     mapped. Proof: a mapped page would hold the table; and between two different states there is
 *     an edge, which is the edge of a fill and would hold it. So the table can be replaced by that
 *     state in the entry above, without reading its entries.
 *
 *   Cost. Holding, writing and dropping [first, first + count) visits only the tables that it
 *   touches: O(levels + entries / 64) for a bitmap. Fills need one operation per table, pages one
 *   per table and piece.
 *
 * Locking: everything is protected by vidmm->lock.
 */
#include "vidmm/space/page_table.h"
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/bits.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/paging/paging.h"
#include "vidmm/segment/host_aperture.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/table_asked.h"
#include "vidmm/space/table_description.h"

#include <string.h>

/* ---- geometry ---- */

static uint32_t known_caps(UINT version)
{
    uint32_t known = 0xFF;

    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_1)
        known |= 0x300;
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_6)
        known |= 0x400;
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_9)
        known |= 0x800;
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM3_1)
        known |= 0x1000;
    return known;
}

/* 64 KB are left free at the start of a space, too. */
#define LARGE_PAGE_PAGES TWIN_PAGES

/* Can 64 KB be mapped by one entry, anywhere on the adapter? */
static bool has_large_pages(const struct vidmm *vidmm)
{
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if (vidmm->segment[id].flags.Use64KBPages)
            return true;
    return false;
}

void table_geometry_init(struct table_geometry *geometry, const struct vidmm *vidmm)
{
    const struct vidmm_config *config = &vidmm->config;
    unsigned shift = 0;

    *geometry = (struct table_geometry){.levels = config->mmu.PageTableLevelCount,
                                        .caps = config->mmu};
    geometry->caps.Value &= known_caps(config->wddm_version);
    geometry->end = (uint64_t)1 << (config->mmu.VirtualAddressBitCount - PAGE_BITS);
    for (unsigned level = 0; level < geometry->levels; level++) {
        geometry->shift[level] = shift;
        geometry->entries[level] = (uint32_t)1 << config->level[level].PageTableIndexBitCount;
        shift += config->level[level].PageTableIndexBitCount;
    }
    geometry->span = (uint64_t)1 << geometry->shift[1];
    geometry->resizable_root = geometry->levels == 2;
    geometry->twins = has_large_pages(vidmm) && geometry->span >= LARGE_PAGE_PAGES &&
                      geometry->caps.LeafPageTableSizeFor64KPagesInBytes != 0;
    geometry->dual = geometry->twins && geometry->caps.DualPteSupported;
    geometry->first = geometry->resizable_root || config->sparse_addresses ? geometry->span
                                                                           : LARGE_PAGE_PAGES;
    geometry->wide = config->sparse_addresses                                 ? 1
                     : has_large_pages(vidmm) || config->mmu.DualPteSupported ? LARGE_PAGE_PAGES
                                                                              : UINT64_MAX;
    if (geometry->resizable_root)
        geometry->entries[1] = (uint32_t)(geometry->end >> geometry->shift[1]);
}

/* ---- memory of tables ---- */

static NTSTATUS place_in_system_memory(struct vidmm *vidmm, uint64_t pages, bool cached,
                                       struct table_place *place)
{
    const struct ram_request request = {
        .pages = pages, .owner = RAM_HOST, .cache = cached ? RAM_CACHED : RAM_WRITE_COMBINED};
    struct logical_page logical;

    if (!ram_take_contiguous(vidmm->config.ram, &request, &place->frame))
        return STATUS_INSUFFICIENT_RESOURCES;
    logical = page_identity(place->frame);
    if (!iommu_map_run(vidmm->config.domain, place->frame, pages, IOMMU_READ | IOMMU_WRITE,
                       &logical)) {
        ram_give_contiguous(vidmm->config.ram, place->frame, pages);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    place->run = (struct vidmm_run){.first = logical.value, .pages = pages};
    place->pages = pages;
    return STATUS_SUCCESS;
}

/* The CPU writes tables there through a window: keep a part of it that is large enough for any. */
static NTSTATUS keep_window(const struct vidmm_space *space, UINT segment, uint64_t pages)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    struct vidmm *vidmm = space->vidmm;
    uint64_t bytes = pages << PAGE_BITS;
    const unsigned long long needed = bytes;

    if (segment_cpu_visible(&vidmm->segment[segment]) ||
        (!space->paging && geometry->caps.PageTableUpdateMode != DXGK_PAGETABLEUPDATE_CPU_VIRTUAL))
        return STATUS_SUCCESS;
    for (unsigned level = 0; level < geometry->levels; level++)
        if (vidmm->config.level[level].PageTableSegmentId == segment &&
            vidmm->config.level[level].PageTableSizeInBytes > bytes)
            bytes = vidmm->config.level[level].PageTableSizeInBytes;
    if (host_aperture_keep(&vidmm->segment[segment], bytes >> PAGE_BITS) ||
        host_aperture_keep(&vidmm->segment[segment], pages))
        return STATUS_SUCCESS;
    verify_refusal("GPUVA-183",
                   "the CPU host aperture of segment %u has no room for a page table of %llu bytes",
                   segment, needed);
    return STATUS_INSUFFICIENT_RESOURCES;
}

/* Can tables of the space leave their segments? Those of the paging process and of companion
 * contexts are in use without a context of a client. */
static bool may_leave(const struct vidmm_space *space, UINT segment)
{
    return segment != 0 && !space->paging && !space->privileged && !space->tables.stay;
}

static UINT table_segment(const struct vidmm_space *space, unsigned level)
{
    const DXGK_PAGE_TABLE_LEVEL_DESC *desc = &space->vidmm->config.level[level];

    return space->paging ? desc->PagingProcessPageTableSegmentId : desc->PageTableSegmentId;
}

static NTSTATUS place_take(struct page_table *table)
{
    struct vidmm_space *space = table->space;
    struct vidmm *vidmm = space->vidmm;
    const UINT segment = table_segment(space, table->level);
    const UINT align = vidmm->config.level[table->level].PageTableAlignmentInBytes;
    struct table_place *place = &table->place;
    NTSTATUS status;

    *place = (struct table_place){.pages = 0};
    table->evictable = may_leave(space, segment);
    if (segment == 0)
        return place_in_system_memory(vidmm, table->pages,
                                      space->mmu->geometry.caps.CachedPageTables, place);
    status = keep_window(space, segment, table->pages);
    if (!NT_SUCCESS(status))
        return status;
    status = table->evictable
                 ? segment_take_table(vidmm, segment, table->pages, align, space, &place->run)
                 : segment_take_pinned(vidmm, segment, table->pages, align, &place->run);
    if (NT_SUCCESS(status))
        place->pages = table->pages;
    return status;
}

static void place_give(struct vidmm *vidmm, struct page_table *table)
{
    struct table_place *place = &table->place;

    if (place->pages == 0)
        return;
    if (place->run.segment != 0 && table->evictable) {
        segment_give_table(vidmm, &place->run);
    } else if (place->run.segment != 0) {
        segment_give_pinned(vidmm, &place->run);
    } else {
        iommu_unmap_run(vidmm->config.domain, (struct logical_page){place->run.first}, place->pages);
        ram_give_contiguous(vidmm->config.ram, place->frame, place->pages);
    }
    *place = (struct table_place){.pages = 0};
}

/* ---- records ---- */

static void note_table(struct vidmm *vidmm, const struct page_table *table, enum chronicle_kind kind)
{
    if (table->place.pages == 0)
        return;
    chronicle_space(vidmm, &(struct chronicle_event){.kind = kind,
                                                     .process = table->process,
                                                     .pages = table->place.pages});
}

/* It is there, or no longer. A twin comes and goes with its leaf. */
static void count_here(struct page_table *table, bool here)
{
    struct space_tables *tables = &table->space->tables;
    const UINT segment = table->place.run.segment;

    if (!table->evictable || table->is_twin)
        return;
    if (here) {
        list_push_back(&tables->placed[table->level], &table->placed);
        tables->here[segment] += table->place.run.pages;
    } else {
        list_remove(&table->placed);
        tables->here[segment] -= table->place.run.pages;
    }
}

static void count_held(struct page_table *table, bool held)
{
    const UINT segment = table_segment(table->space, table->level);
    uint64_t pages;

    if (segment == 0)
        return;
    pages = segment_pages(&table->space->vidmm->segment[segment], table->pages);
    if (held)
        table->space->tables.held[segment] += pages;
    else
        table->space->tables.held[segment] -= pages;
}

/* On failure the leaf goes, too. */
static NTSTATUS make_twin(struct page_table *leaf)
{
    const uint64_t bytes = leaf->space->mmu->geometry.caps.LeafPageTableSizeFor64KPagesInBytes;
    NTSTATUS status = table_create(leaf->space, NULL, 0, leaf->index, leaf->entries >> TWIN_SHIFT,
                                   bytes, &leaf->twin);

    if (NT_SUCCESS(status)) {
        leaf->twin->first = leaf->first;
        leaf->twin->is_twin = true;
    } else {
        table_destroy(leaf);
    }
    return status;
}

NTSTATUS table_create(struct vidmm_space *space, struct page_table *parent, unsigned level,
                      uint32_t index, uint32_t entries, uint64_t bytes, struct page_table **out)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    size_t words = ((size_t)entries + 63) / 64;
    size_t size = sizeof(struct page_table) + words * sizeof(uint64_t);
    struct page_table *table;
    NTSTATUS status;

    if (level > 0)
        size += entries * sizeof(struct page_table *) + words * sizeof(uint64_t);
    table = util_zalloc(1, size);
    if (!table)
        return STATUS_INSUFFICIENT_RESOURCES;
    table->space = space;
    table->level = (uint8_t)level;
    table->is_twin = level == 0 && !parent;
    table->pages = (bytes ? bytes : space->vidmm->config.level[level].PageTableSizeInBytes) >>
                   PAGE_BITS;
    status = place_take(table);
    if (!NT_SUCCESS(status)) {
        util_free(table);
        return status;
    }
    table->entries = entries;
    table->index = index;
    table->set = (uint64_t *)(table + 1);
    if (level > 0) {
        table->large = table->set + words;
        table->child = (struct page_table **)(table->large + words);
    }
    list_init(&table->link);
    list_init(&table->placed);
    count_here(table, true);
    count_held(table, true);
    if (parent) {
        table->parent = parent;
        table->first = parent->first + ((uint64_t)index << geometry->shift[parent->level]);
        parent->child[index] = table;
        parent->uses++;
    }
    space->mmu->tables++;
    table->process = chronicle_process(space->process);
    note_table(space->vidmm, table, CHRONICLE_TABLE);
    asked_begin(table);
    *out = table;
    return geometry->twins && level == 0 && parent && !space->paging && !space->privileged
               ? make_twin(table)
               : STATUS_SUCCESS;
}

/* The space counts it no more. */
static void uncount(struct page_table *table)
{
    if (table->absent)
        table->space->tables.absent -= !table->is_twin;
    else
        count_here(table, false);
    count_held(table, false);
    if (table->twin)
        uncount(table->twin);
}

static void unlink_record(struct page_table *table)
{
    list_remove(&table->link);
    uncount(table);
    if (table->parent) {
        table->parent->child[table->index] = NULL;
        table->parent->uses--;
        table->parent = NULL;
    }
}

static void forget(struct vidmm *vidmm, struct page_table *table)
{
    struct page_table *twin = table->twin;

    note_table(vidmm, table, CHRONICLE_TABLE_GONE);
    vidmm->mmu->tables--;
    asked_end(table);
    place_give(vidmm, table);
    util_free(table);
    if (!twin)
        return;
    list_remove(&twin->link);
    forget(vidmm, twin);
}

void table_leave(struct page_table *table)
{
    count_here(table, false);
    note_table(table->space->vidmm, table, CHRONICLE_TABLE_GONE);
    asked_end(table);
    place_give(table->space->vidmm, table);
    table->absent = true;
    table->space->tables.absent += !table->is_twin;
    if (table->twin)
        table_leave(table->twin);
}

static void entered(struct page_table *table)
{
    table->absent = false;
    table->space->tables.absent -= !table->is_twin;
    count_here(table, true);
    note_table(table->space->vidmm, table, CHRONICLE_TABLE);
    asked_begin(table);
}

NTSTATUS table_enter_beside(struct page_table *table, uint64_t hole, uint64_t pages)
{
    struct vidmm *vidmm = table->space->vidmm;
    const UINT align = vidmm->config.level[table->level].PageTableAlignmentInBytes;
    NTSTATUS status = segment_take_table_beside(vidmm, table_segment(table->space, table->level),
                                                table->pages, align, hole, pages, &table->place.run);

    if (!NT_SUCCESS(status))
        return status;
    table->place.pages = table->pages;
    entered(table);
    return status;
}

NTSTATUS table_enter(struct page_table *table)
{
    NTSTATUS status = place_take(table);

    if (NT_SUCCESS(status) && table->twin) {
        status = table_enter(table->twin);
        if (!NT_SUCCESS(status))
            place_give(table->space->vidmm, table);
    }
    if (NT_SUCCESS(status))
        entered(table);
    return status;
}

void table_stay(struct page_table *table)
{
    if (!table->evictable)
        return;
    count_here(table, false);
    table->evictable = false;
    segment_pin_table(table->space->vidmm, &table->place.run);
    if (table->twin)
        table_stay(table->twin);
}

void table_destroy(struct page_table *table)
{
    unlink_record(table);
    forget(table->space->vidmm, table);
}

static void forget_deferred(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    forget(vidmm, CONTAINER(deferred, struct page_table, deferred));
}

void table_abandon(struct page_table *table)
{
    struct vidmm *vidmm = table->space->vidmm;

    if (table->level > 0) {
        for (uint32_t i = 0; i < table->entries; i++)
            if (table->child[i])
                table_abandon(table->child[i]);
    }
    unlink_record(table);
    if (space_immediate(table->space)) {
        forget(vidmm, table);
        return;
    }
    table->deferred.fn = forget_deferred;
    paging_defer(vidmm, &table->deferred);
}

D3DGPU_PHYSICAL_ADDRESS table_address(const struct page_table *table)
{
    return (D3DGPU_PHYSICAL_ADDRESS){
        .SegmentId = table->place.run.segment,
        .SegmentOffset = segment_page_addr(table->place.run.first).value};
}

void *table_cpu(const struct page_table *table)
{
    const struct vidmm *vidmm = table->space->vidmm;

    if (table->place.pages == 0)
        return NULL;
    if (table->place.run.segment != 0)
        return segment_cpu(vidmm, table->place.run.segment,
                           segment_page_addr(table->place.run.first));
    return ram_direct(vidmm->config.ram, page_phys(table->place.frame));
}

/* ---- holds ---- */

/* Free the table, and those above that only it held. Frees only tables that have
 * never been ready. */
static void prune_upwards(struct page_table *table)
{
    while (table->parent && table->uses == 0 && !table->ready) {
        struct page_table *above = table->parent;

        table_destroy(table);
        table = above;
    }
}

static NTSTATUS child_at(struct page_table *table, uint64_t page, struct page_table **child)
{
    const struct table_geometry *geometry = &table->space->mmu->geometry;
    uint32_t index = table_index(table, geometry->shift[table->level], page);
    NTSTATUS status;

    *child = table->child[index];
    if (*child)
        return STATUS_SUCCESS;
    status = table_create(table->space, table, table->level - 1u, index,
                          geometry->entries[table->level - 1], 0, child);
    if (!NT_SUCCESS(status))
        prune_upwards(table);
    return status;
}

static NTSTATUS leaf_at(struct vidmm_space *space, uint64_t page, struct page_table **leaf)
{
    struct page_table *table = space->root;

    while (table->level > 0) {
        NTSTATUS status = child_at(table, page, &table);

        if (!NT_SUCCESS(status))
            return status;
    }
    *leaf = table;
    return STATUS_SUCCESS;
}

struct page_table *tables_leaf(const struct vidmm_space *space, uint64_t page)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    struct page_table *table = space->root;

    while (table && table->level > 0)
        table = table->child[table_index(table, geometry->shift[table->level], page)];
    return table;
}

static uint64_t pages_in_leaf(const struct vidmm_space *space, uint64_t page, uint64_t end)
{
    uint64_t leaf_end = align_down(page, space->mmu->geometry.span) + space->mmu->geometry.span;

    return (end < leaf_end ? end : leaf_end) - page;
}

NTSTATUS tables_hold(struct vidmm_space *space, uint64_t first, uint64_t count)
{
    uint64_t end = first + count;

    for (uint64_t page = first; page < end;) {
        uint64_t pages = pages_in_leaf(space, page, end);
        struct page_table *leaf;
        NTSTATUS status = leaf_at(space, page, &leaf);

        if (!NT_SUCCESS(status)) {
            tables_drop(space, first, page - first);
            tables_prune(space, first, page - first);
            return status;
        }
        leaf->uses += pages;
        page += pages;
    }
    return STATUS_SUCCESS;
}

void tables_drop(struct vidmm_space *space, uint64_t first, uint64_t count)
{
    uint64_t end = first + count;

    for (uint64_t page = first; page < end;) {
        uint64_t pages = pages_in_leaf(space, page, end);

        tables_leaf(space, page)->uses -= pages;
        page += pages;
    }
}

/* Is the edge in the middle of an entry of this level? No, if it is at the start of one, or at
 * either end of the space. */
static bool edge_cuts(const struct table_geometry *geometry, unsigned level, uint64_t edge)
{
    return edge < geometry->end && (edge & (table_entry_pages(geometry, level) - 1)) != 0;
}

NTSTATUS tables_hold_edge(struct vidmm_space *space, uint64_t edge)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    struct page_table *table = space->root;

    while (table->level > 0 && edge_cuts(geometry, table->level, edge)) {
        unsigned stopped_at = table->level;
        NTSTATUS status = child_at(table, edge, &table);

        if (!NT_SUCCESS(status)) {
            table = space->root;
            while (table->level > stopped_at) {
                table = table->child[table_index(table, geometry->shift[table->level], edge)];
                table->uses--;
            }
            prune_upwards(table);
            return status;
        }
        table->uses++;
    }
    return STATUS_SUCCESS;
}

void tables_drop_edge(struct vidmm_space *space, uint64_t edge)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    struct page_table *table = space->root;

    while (table->level > 0 && edge_cuts(geometry, table->level, edge)) {
        table = table->child[table_index(table, geometry->shift[table->level], edge)];
        table->uses--;
    }
}

/* ---- queries ---- */

static bool need_write(const struct page_table *table, uint64_t first, uint64_t end)
{
    const struct table_geometry *geometry = &table->space->mmu->geometry;
    unsigned shift = geometry->shift[table->level];
    uint32_t from = table_index(table, shift, first), to = table_index(table, shift, end - 1);

    if (!bits_any(table->set, from, to - from + 1))
        return false;
    if (table->level == 0)
        return true;
    for (uint32_t i = from; i <= to; i++) {
        const struct page_table *child = table->child[i];
        uint64_t low, high;

        if (!bit_test(table->set, i))
            continue;
        if (!child || !child->ready || child->uses == 0)
            return true;
        low = child->first;
        high = low + ((uint64_t)1 << shift);
        if (need_write(child, first > low ? first : low, end < high ? end : high))
            return true;
    }
    return false;
}

bool tables_need_write(const struct vidmm_space *space, uint64_t first, uint64_t count)
{
    return space->root && need_write(space->root, first, first + count);
}

static void prune(struct page_table *table, uint64_t first, uint64_t end)
{
    const struct table_geometry *geometry = &table->space->mmu->geometry;
    unsigned shift = geometry->shift[table->level];
    uint32_t from = table_index(table, shift, first), to = table_index(table, shift, end - 1);

    for (uint32_t i = from; i <= to; i++) {
        struct page_table *child = table->child[i];
        uint64_t low, high;

        if (!child)
            continue;
        low = child->first;
        high = low + ((uint64_t)1 << shift);
        if (child->level > 0)
            prune(child, first > low ? first : low, end < high ? end : high);
        if (child->uses == 0 && !child->ready)
            table_destroy(child);
    }
}

void tables_prune(struct vidmm_space *space, uint64_t first, uint64_t count)
{
    if (space->root && count > 0)
        prune(space->root, first, first + count);
}

/* ---- validation ---- */

static bool table_valid(const struct page_table *table)
{
    uint64_t below = 0;

    if ((table->place.pages == 0) != table->absent ||
        (table->parent && table->parent->child[table->index] != table))
        return false;
    if (!table->ready && bits_any(table->set, 0, table->entries))
        return false;
    if (table->level == 0)
        return true;
    for (uint32_t i = 0; i < table->entries; i++) {
        const struct page_table *child = table->child[i];

        if (!child)
            continue;
        below++;
        if (child->parent != table || child->index != i || child->level + 1 != table->level ||
            !table_valid(child))
            return false;
        if (child->ready && (!table->ready || !bit_test(table->set, i) || bit_test(table->large, i)))
            return false;
        if (bit_test(table->large, i) && !bit_test(table->set, i))
            return false;
    }
    return table->uses >= below;
}

bool tables_validate(const struct vidmm_space *space)
{
    return !space->root || table_valid(space->root);
}
