/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A domain is a radix tree of tables of 512 entries. Its depth grows with the highest page
 *   mapped, so that the usual few GiB cost three levels although device windows may stand near
 *   2^52. A table that becomes empty is unlinked at once and kept (empty, as it is) on a short list
 *   for the next need: memory follows what is mapped.
 *
 *       root, level 2  -- [page >> 18] -->  level 1  -- [page >> 9 & 511] -->
 *                                           leaf     -- [page & 511] -->  entry
 *
 *       leaf entry:  | 63      42 | 41        2 | 1 0    |
 *                    |  count     |  frame      | rights |      count 0: not mapped
 *
 *   Runs are mapped and unmapped leaf by leaf: one descent, then entries side by side. A map that
 *   fails half way is undone by unmapping what it did, which needs no memory.
 *
 *   Logical = physical (OFF, ISOLATION): one page may be mapped by several owners; the entry counts
 *   them, and the rights are the union until the last is gone. OFF keeps the same books, it only
 *   does not look at them when translating.
 *
 *   REMAP: logical ranges come from an extent tree, lowest first, aligned to the power of two that
 *   is not below their length (IOMMU-031). Freed ranges wait in a ring before they return to the
 *   tree, so that a stale device address faults for as long as possible instead of reaching
 *   somebody else's memory (IOMMU-033): the oldest leaves the ring when it is full, or when the
 *   tree cannot serve a request. The ring is part of the domain, so freeing never needs memory.
 *
 *   IOTLB: a direct-mapped cache of translations in front of the tree. It is not coherent:
 *   unmapping drops the entries of the run after the tables were changed, and a caller that forgot
 *   would be served stale ones, as by the real thing.
 */
#include "iommu/iommu_private.h"

#include <string.h>

#include "util/alloc.h"
#include "util/checked.h"

/* ---- logical addresses ---- */

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
            return; /* unmapped in pieces, and out of memory: the range is lost to the domain */
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

/* ---- domains ---- */

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

void iommu_domain_destroy(struct iommu_domain *domain)
{
    if (!domain)
        return;
    iommu_table_drop_all(domain);
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

/* ---- map and unmap ---- */

static bool map_remapped(struct iommu_domain *domain, const struct page_number *pages,
                         uint64_t first, uint64_t count, unsigned access, uint64_t *start)
{
    if (!logical_take(domain, count, start))
        return false;
    if (iommu_table_add(domain, *start, pages, first, count, access))
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
        if (!iommu_table_add(domain, pages[first].value, NULL, pages[first].value, i - first,
                             access)) {
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
    } else if (!iommu_table_add(domain, first.value, NULL, first.value, count, access)) {
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
    if (iommu_table_add(domain, first.value, NULL, first.value, count, access))
        return true;
    if (domain->mode == IOMMU_REMAP)
        extent_give(&domain->logical, first.value, count);
    return false;
}

void iommu_unmap_run_unflushed(struct iommu_domain *domain, struct page_number logical_first,
                               uint64_t count)
{
    iommu_table_remove(domain, logical_first.value, count);
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

/* ---- translation ---- */

static bool tlb_fill(const struct iommu_domain *domain, uint64_t page, struct tlb_entry *cached)
{
    const struct iommu_table *leaf = iommu_table_leaf(domain, page);
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
    const struct iommu_table *leaf = iommu_table_leaf(domain, logical.value);

    return leaf && entry_count(leaf->leaf[slot_at(logical.value, 0)]) > 0;
}

/* ---- validation ---- */

bool iommu_validate(const struct iommu_domain *domain)
{
    uint64_t mapped;

    return extent_tree_validate(&domain->logical) && domain->ring_count <= RING_RANGES &&
           iommu_table_validate(domain, &mapped) && mapped == domain->mapped_pages;
}
