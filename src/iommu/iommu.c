/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A domain is a radix tree of tables of 512 entries. Its depth grows with the highest page mapped, so that the usual few
 *   GiB cost three levels although device windows may stand near 2^52. A table that becomes empty is unlinked at once and
 *   kept (empty, as it is) on a short list for the next need: memory follows what is mapped.
 *
 *       root (level 2) -- [page >> 18] --> (level 1) -- [page >> 9 & 511] --> leaf (level 0) -- [page & 511] --> entry
 *
 *       leaf entry:  | 63      42 | 41        2 | 1 0    |
 *                    |  count     |  frame      | rights |      count 0: not mapped
 *
 *   Runs are mapped and unmapped leaf by leaf: one descent, then entries side by side. A map that fails half way is undone
 *   by unmapping what it did, which needs no memory.
 *
 *   Logical = physical (OFF, ISOLATION): one page may be mapped by several owners; the entry counts them, and the rights
 *   are the union until the last is gone. OFF keeps the same books, it only does not look at them when translating.
 *
 *   REMAP: logical ranges come from an extent tree, lowest first, aligned to the power of two that is not below their
 *   length (IOMMU-031). Freed ranges wait in a ring before they return to the tree, so that a stale device address faults
 *   for as long as possible instead of reaching somebody else's memory (IOMMU-033): the oldest leaves the ring when it is
 *   full, or when the tree cannot serve a request. The ring is part of the domain, so freeing never needs memory.
 *
 *   IOTLB: a direct-mapped cache of translations in front of the tree. It is not coherent: unmapping drops the entries of
 *   the run after the tables were changed, and a caller that forgot would be served stale ones, as by the real thing.
 */
#include "iommu/iommu.h"

#include <string.h>

#include "util/alloc.h"
#include "util/checked.h"
#include "util/extent.h"

enum {
    TABLE_BITS = 9,
    TABLE_ENTRIES = 1 << TABLE_BITS,
    MAX_LEVELS = 5, /* 45 bits of page number */
    SPARE_TABLES = 64,
    TLB_ENTRIES = 1024,
    RING_RANGES = 4096,
};

#define RIGHTS_MASK ((uint64_t)3)
#define FRAME_SHIFT 2
#define FRAME_BITS  40
#define FRAME_MASK  ((((uint64_t)1 << FRAME_BITS) - 1) << FRAME_SHIFT)
#define COUNT_SHIFT (FRAME_SHIFT + FRAME_BITS)
#define COUNT_ONE   ((uint64_t)1 << COUNT_SHIFT)
#define COUNT_MAX   (((uint64_t)1 << (64 - COUNT_SHIFT)) - 1)

struct iommu_table {
    union {
        struct iommu_table *child[TABLE_ENTRIES];
        uint64_t leaf[TABLE_ENTRIES];
    };
    uint32_t used;
    struct iommu_table *next_spare;
};

struct tlb_entry {
    uint64_t tag; /* logical page + 1 */
    uint64_t frame;
    uint64_t rights;
};

struct freed_range {
    uint64_t start, size;
};

struct iommu_domain {
    struct ram *ram;
    enum iommu_mode mode;
    struct iommu_table *root;
    unsigned levels; /* of the tree; 0 while root is NULL */
    struct iommu_table *spare;
    unsigned spare_tables;
    uint64_t mapped_pages;
    uint64_t map_count;
    uint64_t highest_page; /* REMAP */
    bool reuse_early;
    struct extent_tree logical;
    struct freed_range *ring;
    unsigned ring_first, ring_count;
    struct tlb_entry *tlb;
};

static uint64_t entry_count(uint64_t entry)
{
    return entry >> COUNT_SHIFT;
}

static uint64_t entry_frame(uint64_t entry)
{
    return (entry & FRAME_MASK) >> FRAME_SHIFT;
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

static struct iommu_table *table_new(struct iommu_domain *domain)
{
    struct iommu_table *table = domain->spare;

    if (!table)
        return util_zalloc(1, sizeof(*table));
    domain->spare = table->next_spare;
    domain->spare_tables--;
    return table;
}

/* The table is empty. */
static void table_drop(struct iommu_domain *domain, struct iommu_table *table)
{
    if (domain->spare_tables >= SPARE_TABLES) {
        util_free(table);
        return;
    }
    table->next_spare = domain->spare;
    domain->spare = table;
    domain->spare_tables++;
}

static void table_free(struct iommu_table *table, unsigned level)
{
    if (!table)
        return;
    for (unsigned i = 0; level > 0 && i < TABLE_ENTRIES; i++)
        table_free(table->child[i], level - 1);
    util_free(table);
}

static unsigned slot_at(uint64_t page, unsigned level)
{
    return (unsigned)(page >> (level * TABLE_BITS)) & (TABLE_ENTRIES - 1);
}

static bool covered(const struct iommu_domain *domain, uint64_t page)
{
    return domain->levels > 0 && page >> (domain->levels * TABLE_BITS) == 0;
}

static struct iommu_table *leaf_find(const struct iommu_domain *domain, uint64_t page)
{
    struct iommu_table *table = covered(domain, page) ? domain->root : NULL;

    for (unsigned level = domain->levels; table && --level > 0;)
        table = table->child[slot_at(page, level)];
    return table;
}

/* Free the tables on the way to the page that are empty, from the leaf up. */
static void prune(struct iommu_domain *domain, uint64_t page)
{
    struct iommu_table *way[MAX_LEVELS] = {0};
    struct iommu_table *table = covered(domain, page) ? domain->root : NULL;
    unsigned level = domain->levels;

    while (table) {
        way[--level] = table;
        table = level > 0 ? table->child[slot_at(page, level)] : NULL;
    }
    for (; level + 1 < domain->levels; level++) {
        if (way[level]->used > 0)
            return;
        way[level + 1]->child[slot_at(page, level + 1)] = NULL;
        way[level + 1]->used--;
        table_drop(domain, way[level]);
    }
    if (domain->root && domain->root->used == 0) {
        table_drop(domain, domain->root);
        domain->root = NULL;
        domain->levels = 0;
    }
}

/* Put roots on top until the page is covered. An empty domain gets one root, of the right level. */
static bool deepen(struct iommu_domain *domain, uint64_t page)
{
    unsigned levels = 1;

    while (levels < MAX_LEVELS && page >> (levels * TABLE_BITS) != 0)
        levels++;
    if (page >> (levels * TABLE_BITS) != 0)
        return false;
    while (domain->levels < levels) {
        struct iommu_table *root = table_new(domain);

        if (!root)
            return false;
        if (domain->root) {
            root->child[0] = domain->root;
            root->used = 1;
            domain->levels++;
        } else {
            domain->levels = levels;
        }
        domain->root = root;
    }
    return true;
}

/* The leaf table of the page, made if need be; what was made for nothing on failure is pruned again. */
static struct iommu_table *leaf_make(struct iommu_domain *domain, uint64_t page)
{
    struct iommu_table *table;

    if (!deepen(domain, page))
        return NULL;
    table = domain->root;
    for (unsigned level = domain->levels; --level > 0;) {
        struct iommu_table **child = &table->child[slot_at(page, level)];

        if (!*child) {
            *child = table_new(domain);
            if (!*child) {
                prune(domain, page);
                return NULL;
            }
            table->used++;
        }
        table = *child;
    }
    return table;
}

/* ---- entries ------------------------------------------------------------------------------------------------------- */

static bool in_ram(const struct iommu_domain *domain, uint64_t frame)
{
    return frame < ram_bytes(domain->ram) / PAGE_BYTES;
}

static bool entry_add(struct iommu_domain *domain, struct iommu_table *leaf, uint64_t page,
                      uint64_t frame, unsigned access)
{
    uint64_t *entry = &leaf->leaf[slot_at(page, 0)];

    if (frame >> FRAME_BITS != 0)
        return false;
    if (entry_count(*entry) == 0) {
        *entry = COUNT_ONE | frame << FRAME_SHIFT | access;
        leaf->used++;
        domain->mapped_pages++;
    } else {
        /* A page may have several mappings only where logical = physical (IOMMU-050, PHYS-081). */
        if (entry_frame(*entry) != frame || domain->mode == IOMMU_REMAP ||
            entry_count(*entry) == COUNT_MAX)
            return false;
        *entry = (*entry + COUNT_ONE) | access;
    }
    if (in_ram(domain, frame))
        ram_iommu_map_page(domain->ram, (struct page_number){frame});
    return true;
}

static void entry_remove(struct iommu_domain *domain, struct iommu_table *leaf, uint64_t page)
{
    uint64_t *entry = &leaf->leaf[slot_at(page, 0)];
    uint64_t frame = entry_frame(*entry);

    if (entry_count(*entry) == 0)
        return;
    if (in_ram(domain, frame))
        ram_iommu_unmap_page(domain->ram, (struct page_number){frame});
    *entry -= COUNT_ONE;
    if (entry_count(*entry) > 0)
        return;
    *entry = 0;
    leaf->used--;
    domain->mapped_pages--;
}

static uint64_t pages_left_in_leaf(uint64_t page, uint64_t count)
{
    uint64_t left = TABLE_ENTRIES - slot_at(page, 0);

    return count < left ? count : left;
}

static void remove_run(struct iommu_domain *domain, uint64_t page, uint64_t count)
{
    while (count > 0) {
        uint64_t now = pages_left_in_leaf(page, count);
        struct iommu_table *leaf = leaf_find(domain, page);

        for (uint64_t i = 0; leaf && i < now; i++)
            entry_remove(domain, leaf, page + i);
        if (leaf && leaf->used == 0)
            prune(domain, page);
        page += now;
        count -= now;
    }
}

/* Map count pages from `page` on to `frames` (an array), or to `first`, first + 1, ... if that is NULL. */
static bool add_run(struct iommu_domain *domain, uint64_t page, const struct page_number *frames,
                    uint64_t first, uint64_t count, unsigned access)
{
    struct iommu_table *leaf = NULL;

    for (uint64_t i = 0; i < count; i++) {
        if (i == 0 || slot_at(page + i, 0) == 0)
            leaf = leaf_make(domain, page + i);
        if (!leaf ||
            !entry_add(domain, leaf, page + i, frames ? frames[i].value : first + i, access)) {
            if (leaf && leaf->used == 0)
                prune(domain, page + i);
            remove_run(domain, page, i);
            return false;
        }
    }
    domain->map_count += count;
    return true;
}

/* ---- logical addresses --------------------------------------------------------------------------------------------- */

/* The oldest freed range returns to the tree. */
static bool release_oldest(struct iommu_domain *domain)
{
    struct freed_range *oldest = &domain->ring[domain->ring_first];

    if (domain->ring_count == 0 || !extent_give(&domain->logical, oldest->start, oldest->size))
        return false;
    domain->ring_first = (domain->ring_first + 1) % RING_RANGES;
    domain->ring_count--;
    return true;
}

static bool logical_take(struct iommu_domain *domain, uint64_t count, uint64_t *start)
{
    struct extent_request want = {.size = count};

    if (count == 0 || count > domain->highest_page)
        return false;
    want.align = power_of_two_at_least(count);
    while (!extent_take(&domain->logical, &want, start))
        if (domain->logical.out_of_memory || !release_oldest(domain))
            return false;
    return true;
}

static void logical_give(struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    while (domain->ring_count == RING_RANGES)
        if (!release_oldest(domain))
            return; /* only for ranges unmapped in pieces, and out of memory: this one is lost to the domain */
    domain->ring[(domain->ring_first + domain->ring_count++) % RING_RANGES] = (struct freed_range){
        start, count};
    while (domain->reuse_early && release_oldest(domain))
        ;
}

/* Take exactly this range; freed ranges in the way come back first. */
static bool logical_take_fixed(struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    while (!extent_take_fixed(&domain->logical, start, count))
        if (domain->logical.out_of_memory || !release_oldest(domain))
            return false;
    return true;
}

/* ---- domains ------------------------------------------------------------------------------------------------------- */

struct iommu_domain *iommu_domain_create(struct ram *ram, enum iommu_mode mode,
                                         struct logical_addr highest)
{
    struct iommu_domain *domain = util_zalloc(1, sizeof(*domain));

    if (!domain)
        return NULL;
    domain->ram = ram;
    domain->mode = mode;
    extent_tree_init(&domain->logical);
    domain->tlb = util_zalloc(TLB_ENTRIES, sizeof(*domain->tlb));
    if (!domain->tlb)
        goto failed;
    if (mode == IOMMU_REMAP) {
        uint64_t pages = (highest.value >> PAGE_BITS) +
                         ((highest.value & (PAGE_BYTES - 1)) == PAGE_BYTES - 1);

        if (pages > (uint64_t)1 << FRAME_BITS)
            pages = (uint64_t)1 << FRAME_BITS;
        domain->ring = util_zalloc(RING_RANGES, sizeof(*domain->ring));
        /* IOMMU-030: logical page 0 is never mapped. */
        if (!domain->ring || pages < 2 || !extent_give(&domain->logical, 1, pages - 1))
            goto failed;
        domain->highest_page = pages - 1;
    }
    return domain;

failed:
    iommu_domain_destroy(domain);
    return NULL;
}

/* Take the mappings of a table out of the books of the frames. */
static void forget(struct iommu_domain *domain, const struct iommu_table *table, unsigned level)
{
    for (unsigned i = 0; table && i < TABLE_ENTRIES; i++) {
        if (level > 0) {
            forget(domain, table->child[i], level - 1);
            continue;
        }
        for (uint64_t n = entry_count(table->leaf[i]);
             n > 0 && in_ram(domain, entry_frame(table->leaf[i])); n--)
            ram_iommu_unmap_page(domain->ram, (struct page_number){entry_frame(table->leaf[i])});
    }
}

void iommu_domain_destroy(struct iommu_domain *domain)
{
    if (!domain)
        return;
    if (domain->root) {
        forget(domain, domain->root, domain->levels - 1);
        table_free(domain->root, domain->levels - 1);
    }
    while (domain->spare) {
        struct iommu_table *table = domain->spare;

        domain->spare = table->next_spare;
        util_free(table);
    }
    extent_tree_finish(&domain->logical);
    util_free(domain->ring);
    util_free(domain->tlb);
    util_free(domain);
}

enum iommu_mode iommu_domain_mode(const struct iommu_domain *domain)
{
    return domain->mode;
}

uint64_t iommu_domain_mapped_pages(const struct iommu_domain *domain)
{
    return domain->mapped_pages;
}

uint64_t iommu_domain_map_count(const struct iommu_domain *domain)
{
    return domain->map_count;
}

bool iommu_domain_isolate(struct iommu_domain *domain)
{
    if (domain->mode != IOMMU_OFF)
        return false;
    domain->mode = IOMMU_ISOLATION;
    return true;
}

void iommu_domain_reuse_early(struct iommu_domain *domain, bool early)
{
    domain->reuse_early = early;
}

/* ---- map and unmap ------------------------------------------------------------------------------------------------- */

static bool map_remapped(struct iommu_domain *domain, const struct page_number *pages,
                         uint64_t first, uint64_t count, unsigned access, uint64_t *start)
{
    if (!logical_take(domain, count, start))
        return false;
    if (add_run(domain, *start, pages, first, count, access))
        return true;
    extent_give(&domain->logical, *start, count);
    return false;
}

/* Logical = physical: the stretches of consecutive pages one by one. */
static bool map_identity(struct iommu_domain *domain, const struct page_number *pages,
                         uint64_t count, unsigned access)
{
    for (uint64_t i = 0; i < count;) {
        uint64_t first = i++;

        while (i < count && pages[i].value == pages[i - 1].value + 1)
            i++;
        if (!add_run(domain, pages[first].value, NULL, pages[first].value, i - first, access)) {
            iommu_unmap(domain, pages, first);
            return false;
        }
    }
    return true;
}

bool iommu_map(struct iommu_domain *domain, const struct page_number *pages, uint64_t count,
               unsigned access, struct page_number *logical)
{
    uint64_t start = 0;

    if (domain->mode == IOMMU_REMAP) {
        if (!map_remapped(domain, pages, 0, count, access, &start))
            return false;
        for (uint64_t i = 0; logical && i < count; i++)
            logical[i].value = start + i;
        return true;
    }
    if (!map_identity(domain, pages, count, access))
        return false;
    if (logical)
        memmove(logical, pages, count * sizeof(*logical));
    return true;
}

bool iommu_map_run(struct iommu_domain *domain, struct page_number first, uint64_t count,
                   unsigned access, struct page_number *logical_first)
{
    uint64_t start = first.value;

    if (domain->mode == IOMMU_REMAP) {
        if (!map_remapped(domain, NULL, first.value, count, access, &start))
            return false;
    } else if (!add_run(domain, first.value, NULL, first.value, count, access)) {
        return false;
    }
    if (logical_first)
        logical_first->value = start;
    return true;
}

bool iommu_map_identity_run(struct iommu_domain *domain, struct page_number first, uint64_t count,
                            unsigned access)
{
    if (domain->mode == IOMMU_REMAP && !logical_take_fixed(domain, first.value, count))
        return false;
    if (add_run(domain, first.value, NULL, first.value, count, access))
        return true;
    if (domain->mode == IOMMU_REMAP)
        extent_give(&domain->logical, first.value, count);
    return false;
}

void iommu_unmap_run_unflushed(struct iommu_domain *domain, struct page_number logical_first,
                               uint64_t count)
{
    remove_run(domain, logical_first.value, count);
    if (domain->mode == IOMMU_REMAP)
        logical_give(domain, logical_first.value, count);
}

void iommu_flush_run(const struct iommu_domain *domain, struct page_number logical_first,
                     uint64_t count)
{
    if (count >= TLB_ENTRIES) {
        memset(domain->tlb, 0, TLB_ENTRIES * sizeof(*domain->tlb));
        return;
    }
    for (uint64_t page = logical_first.value; page < logical_first.value + count; page++)
        if (domain->tlb[page % TLB_ENTRIES].tag == page + 1)
            domain->tlb[page % TLB_ENTRIES].tag = 0;
}

void iommu_unmap_run(struct iommu_domain *domain, struct page_number logical_first, uint64_t count)
{
    iommu_unmap_run_unflushed(domain, logical_first, count);
    iommu_flush_run(domain, logical_first, count);
}

void iommu_unmap(struct iommu_domain *domain, const struct page_number *logical, uint64_t count)
{
    for (uint64_t i = 0; i < count;) {
        uint64_t first = i++;

        while (i < count && logical[i].value == logical[i - 1].value + 1)
            i++;
        iommu_unmap_run(domain, logical[first], i - first);
    }
}

/* ---- translation --------------------------------------------------------------------------------------------------- */

static bool tlb_fill(const struct iommu_domain *domain, uint64_t page, struct tlb_entry *cached)
{
    const struct iommu_table *leaf = leaf_find(domain, page);
    uint64_t entry = leaf ? leaf->leaf[slot_at(page, 0)] : 0;

    if (entry_count(entry) == 0)
        return false;
    *cached = (struct tlb_entry){
        .tag = page + 1, .frame = entry_frame(entry), .rights = entry & RIGHTS_MASK};
    return true;
}

bool iommu_translate(const struct iommu_domain *domain, struct logical_addr address,
                     enum iommu_access access, struct phys_addr *physical)
{
    uint64_t page = address.value >> PAGE_BITS;
    struct tlb_entry *cached = &domain->tlb[page % TLB_ENTRIES];

    if (domain->mode == IOMMU_OFF) {
        physical->value = address.value;
        return true;
    }
    if (cached->tag != page + 1 && !tlb_fill(domain, page, cached))
        return false;
    if ((cached->rights & (uint64_t)access) != (uint64_t)access)
        return false;
    physical->value = cached->frame << PAGE_BITS | (address.value & (PAGE_BYTES - 1));
    return true;
}

bool iommu_page_mapped(const struct iommu_domain *domain, struct page_number logical)
{
    const struct iommu_table *leaf = leaf_find(domain, logical.value);

    return leaf && entry_count(leaf->leaf[slot_at(logical.value, 0)]) > 0;
}

/* ---- validation ----------------------------------------------------------------------------------------------------- */

static bool validate_table(const struct iommu_domain *domain, const struct iommu_table *table,
                           unsigned level, uint64_t base, uint64_t *mapped)
{
    uint32_t used = 0;

    for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
        uint64_t page = base + ((uint64_t)i << (level * TABLE_BITS));

        if (level > 0) {
            if (!table->child[i])
                continue;
            used++;
            if (!validate_table(domain, table->child[i], level - 1, page, mapped))
                return false;
            continue;
        }
        if (entry_count(table->leaf[i]) == 0) {
            if (table->leaf[i] != 0)
                return false;
            continue;
        }
        used++;
        ++*mapped;
        if (domain->mode != IOMMU_REMAP && entry_frame(table->leaf[i]) != page)
            return false;
        if (domain->mode == IOMMU_REMAP &&
            (page == 0 || page > domain->highest_page || entry_count(table->leaf[i]) != 1 ||
             extent_is_free(&domain->logical, page, 1)))
            return false;
        if (in_ram(domain, entry_frame(table->leaf[i])) &&
            ram_page_iommu_maps(domain->ram, (struct page_number){entry_frame(table->leaf[i])}) <
                entry_count(table->leaf[i]))
            return false;
    }
    return used == table->used && used > 0;
}

bool iommu_validate(const struct iommu_domain *domain)
{
    uint64_t mapped = 0;

    if (!extent_tree_validate(&domain->logical) || domain->ring_count > RING_RANGES)
        return false;
    if ((domain->root == NULL) != (domain->levels == 0))
        return false;
    if (domain->root && !validate_table(domain, domain->root, domain->levels - 1, 0, &mapped))
        return false;
    return mapped == domain->mapped_pages;
}
