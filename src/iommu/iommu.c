/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A domain is a tree of IO page tables (io_table.h) with an IOTLB before it (iommu_translate.c)
 *   and, if the host chooses logical addresses, the allocator of those (iommu_place.c). Devices are
 *   attached to domains (iommu_device.c); all devices of one logical adapter to the same domain
 *   (IOMMU-043).
 *
 *   Every mapping is also counted in the record of its frame, so that a frame that a device can
 *   still reach is never handed out again (PHYS-003). Runs are mapped, unmapped and counted as
 *   runs.
 *
 *   Logical = physical (OFF, ISOLATION): one page may be mapped by several owners; the entry counts
 *   them and has the union of their rights until the last one unmaps. OFF keeps the same tables,
 *   but does not use them for translation.
 *
 *   REMAP: an entry is one mapping. The host chooses the place of each range and maps it at that
 *   address (IOMMU-053), so identity ranges can be added later.
 *
 *   A 2 MiB or 1 GiB leaf is always made by one call, so unmapping a range exactly as it was mapped
 *   never splits one and never needs memory.
 */
#include "iommu/iommu.h"
#include "iommu/domain_record.h"
#include "iommu/io_entries.h"
#include "iommu/io_table.h"
#include "iommu/iommu_place.h"
#include "iommu/iommu_translate.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/array.h"
#include "util/checked.h"
#include "util/extent.h"

#include <string.h>

/* ---- domains ---- */

struct iommu_domain *iommu_domain_create(struct ram *ram, enum iommu_mode mode,
                                         struct logical_addr highest)
{
    struct iommu_domain *domain = util_zalloc(1, sizeof(*domain));
    const uint64_t pages = (highest.value >> PAGE_BITS) +
                           ((highest.value & (PAGE_BYTES - 1)) == PAGE_BYTES - 1);

    if (!domain)
        return NULL;
    domain->ram = ram;
    domain->mode = mode;
    io_tables_init(&domain->tables, mode != IOMMU_REMAP);
    extent_tree_init(&domain->logical);
    if (iommu_tlb_init(domain) && (mode != IOMMU_REMAP || iommu_place_init(domain, pages)))
        return domain;
    iommu_domain_destroy(domain);
    return NULL;
}

struct iommu_domain *iommu_domain_create_placing(struct ram *ram, struct logical_addr highest,
                                                 const struct iommu_region *reserved, size_t count)
{
    struct iommu_domain *domain = iommu_domain_create(ram, IOMMU_REMAP, highest);

    if (!domain)
        return NULL;
    domain->placing = true;
    for (size_t i = 0; i < count; i++) {
        if (i == IOMMU_MAX_RESERVED ||
            !iommu_place_take_fixed(domain, reserved[i].first.value, reserved[i].pages)) {
            iommu_domain_destroy(domain);
            return NULL;
        }
        domain->reserved[domain->reserved_count++] = (struct logical_range){reserved[i].first.value,
                                                                            reserved[i].pages};
    }
    return domain;
}

static bool in_ram(const struct iommu_domain *domain, uint64_t frame)
{
    return frame < ram_bytes(domain->ram) / PAGE_BYTES;
}

static void book_run(struct iommu_domain *domain, uint64_t frame, uint64_t count, bool map)
{
    const uint64_t ram_pages = ram_bytes(domain->ram) / PAGE_BYTES;

    if (frame >= ram_pages)
        return;
    if (count > ram_pages - frame)
        count = ram_pages - frame;
    if (map)
        ram_iommu_map_run(domain->ram, (struct page_number){frame}, count);
    else
        ram_iommu_unmap_run(domain->ram, (struct page_number){frame}, count);
}

/* Entries of level 0, whose frames are not consecutive. */
static void unbook_pages(struct iommu_domain *domain, const uint64_t *entries, uint64_t count)
{
    struct page_number frames[64];
    uint64_t listed = 0;

    for (uint64_t i = 0; i < count; i++) {
        if (!entries[i])
            continue;
        frames[listed++].value = io_entry_frame(entries[i]);
        if (listed == ARRAY_COUNT(frames)) {
            ram_iommu_unmap_pages(domain->ram, frames, listed);
            listed = 0;
        }
    }
    ram_iommu_unmap_pages(domain->ram, frames, listed);
}

/* Each of these entries loses a mapping: decrement the counts of its frames. */
static void unbook(void *context, const uint64_t *entries, uint64_t count, unsigned level)
{
    struct iommu_domain *domain = context;

    if (io_is_leaf(entries[0]) &&
        domain->tables.work->rising(entries, count, io_span(level) * IO_FRAME_ONE)) {
        book_run(domain, io_entry_frame(entries[0]), count * io_span(level), false);
    } else if (level == 0) { /* of a higher level there is one, and 0 if not a leaf */
        unbook_pages(domain, entries, count);
    }
}

/* A leaf is dropped with all of its mappings. */
static void drop_leaf(void *context, uint64_t page, uint64_t entry, unsigned level)
{
    struct iommu_domain *domain = context;

    (void)page;
    for (uint64_t n = io_entry_count(entry); n > 0; n--)
        book_run(domain, io_entry_frame(entry), io_span(level), false);
}

uint64_t iommu_domain_clear(struct iommu_domain *domain)
{
    const uint64_t pages = domain->tables.pages;

    io_tables_each(&domain->tables, drop_leaf, domain);
    io_tables_finish(&domain->tables);
    iommu_flush_run(domain, (struct logical_page){0}, (uint64_t)1 << IO_FRAME_BITS);
    return pages;
}

void iommu_domain_destroy(struct iommu_domain *domain)
{
    if (!domain)
        return;
    io_tables_each(&domain->tables, drop_leaf, domain);
    io_tables_finish(&domain->tables);
    iommu_place_finish(domain);
    iommu_tlb_finish(domain);
    util_free(domain);
}

enum iommu_result iommu_domain_delete(struct iommu_domain *domain)
{
    if (domain->attached > 0 || domain->tables.pages > 0)
        return IOMMU_IN_USE;
    iommu_domain_destroy(domain);
    return IOMMU_DONE;
}

enum iommu_mode iommu_domain_mode(const struct iommu_domain *domain)
{
    return domain->mode;
}

uint64_t iommu_domain_mapped_pages(const struct iommu_domain *domain)
{
    return domain->tables.pages;
}

uint64_t iommu_domain_map_count(const struct iommu_domain *domain)
{
    return domain->map_count;
}

uint64_t iommu_domain_large_pages(const struct iommu_domain *domain)
{
    return domain->tables.large;
}

uint64_t iommu_domain_bytes(const struct iommu_domain *domain)
{
    return sizeof(*domain) + io_tables_bytes(&domain->tables) + sizeof(*domain->tlb) +
           (domain->ring ? IOMMU_RING_RANGES * sizeof(*domain->ring) : 0);
}

unsigned iommu_domain_attached(const struct iommu_domain *domain)
{
    return domain->attached;
}

bool iommu_domain_isolate(struct iommu_domain *domain)
{
    if (domain->mode != IOMMU_OFF)
        return false;
    domain->mode = IOMMU_ISOLATION;
    domain->attached_since = false;
    return true;
}

bool iommu_domain_relax(struct iommu_domain *domain)
{
    if (domain->mode != IOMMU_ISOLATION || domain->attached_since)
        return false;
    domain->mode = IOMMU_OFF;
    return true;
}

void iommu_domain_reuse_early(struct iommu_domain *domain, bool early)
{
    domain->reuse_early = early;
}

/* ---- map ---- */

static bool enter(struct iommu_domain *domain, uint64_t logical, const struct page_number *pages,
                  uint64_t first, uint64_t count, unsigned access)
{
    if (io_tables_map(&domain->tables, logical, pages, first, count, access) != IO_DONE)
        return false;
    domain->map_count += count;
    if (!pages)
        book_run(domain, first, count, true);
    else
        ram_iommu_map_pages(domain->ram, pages, count);
    return true;
}

static bool map_remapped(struct iommu_domain *domain, const struct page_number *pages,
                         uint64_t first, uint64_t count, unsigned access, uint64_t *start)
{
    if (!iommu_place_take(domain, count, start))
        return false;
    if (enter(domain, *start, pages, first, count, access))
        return true;
    iommu_place_untake(domain, *start, count);
    return false;
}

/* Logical = physical: map each run of consecutive pages separately. */
static bool map_identity(struct iommu_domain *domain, const struct page_number *pages,
                         uint64_t count, unsigned access)
{
    for (uint64_t i = 0; i < count;) {
        uint64_t first = i++;

        while (i < count && pages[i].value == pages[i - 1].value + 1)
            i++;
        if (!enter(domain, pages[first].value, NULL, pages[first].value, i - first, access)) {
            iommu_unmap_identity(domain, pages, first);
            return false;
        }
    }
    return true;
}

bool iommu_map(struct iommu_domain *domain, const struct page_number *pages, uint64_t count,
               unsigned access, struct logical_page *logical)
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
    for (uint64_t i = 0; logical && i < count; i++)
        logical[i] = page_identity(pages[i]);
    return true;
}

bool iommu_map_run(struct iommu_domain *domain, struct page_number first, uint64_t count,
                   unsigned access, struct logical_page *logical_first)
{
    uint64_t start = first.value;

    if (count == 0)
        return false;
    if (domain->mode == IOMMU_REMAP) {
        if (!map_remapped(domain, NULL, first.value, count, access, &start))
            return false;
    } else if (!enter(domain, first.value, NULL, first.value, count, access)) {
        return false;
    }
    if (logical_first)
        logical_first->value = start;
    return true;
}

bool iommu_map_identity_run(struct iommu_domain *domain, struct page_number first, uint64_t count,
                            unsigned access)
{
    const struct logical_page at = page_identity(first);

    if (count == 0)
        return false;
    if (domain->mode == IOMMU_REMAP)
        return iommu_map_at(domain, &at, first, count, access, NULL) == IOMMU_DONE;
    return enter(domain, first.value, NULL, first.value, count, access);
}

/* ---- the operation of the hardware interface ---- */

static bool reserved(const struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    for (size_t i = 0; i < domain->reserved_count; i++) {
        const struct logical_range *region = &domain->reserved[i];

        if (start >= region->start && range_inside(start - region->start, count, region->size))
            return true;
    }
    return false;
}

static bool any_mapped(const struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    bool mapped;

    return count > 0 && (io_tables_run(&domain->tables, start, count, &mapped) < count || mapped);
}

static enum iommu_result map_chosen(struct iommu_domain *domain, uint64_t at, uint64_t first,
                                    uint64_t count, unsigned access)
{
    const bool in_region = domain->placing && reserved(domain, at, count);
    const bool take = domain->mode == IOMMU_REMAP && !in_region;

    if (domain->placing && (!in_region || at != first))
        return IOMMU_UNSUPPORTED;
    if (any_mapped(domain, at, count))
        return IOMMU_IN_USE;
    if (domain->mode != IOMMU_REMAP && at != first)
        return IOMMU_INVALID;
    if (take && (at == 0 || at > domain->highest_page || !iommu_place_take_fixed(domain, at, count)))
        return domain->logical.out_of_memory ? IOMMU_NO_MEMORY : IOMMU_INVALID;
    if (enter(domain, at, NULL, first, count, access))
        return IOMMU_DONE;
    if (take)
        iommu_place_untake(domain, at, count);
    return IOMMU_NO_MEMORY;
}

enum iommu_result iommu_map_at(struct iommu_domain *domain, const struct logical_page *at,
                               struct page_number first, uint64_t count, unsigned access,
                               struct logical_page *logical)
{
    const uint64_t limit = (uint64_t)1 << IO_FRAME_BITS;
    enum iommu_result result;
    uint64_t start;

    if (count == 0 || access == 0 || access & ~(unsigned)IO_RIGHTS || first.value >= limit ||
        count > limit - first.value || (at && (at->value >= limit || count > limit - at->value)))
        return IOMMU_INVALID;
    if (at) {
        result = map_chosen(domain, at->value, first.value, count, access);
        if (result == IOMMU_DONE && logical)
            *logical = *at;
        return result;
    }
    if (!domain->placing)
        return IOMMU_UNSUPPORTED;
    if (!map_remapped(domain, NULL, first.value, count, access, &start))
        return IOMMU_NO_MEMORY;
    if (logical)
        logical->value = start;
    return IOMMU_DONE;
}

/* ---- unmap ---- */

void iommu_unmap_run_unflushed(struct iommu_domain *domain, struct logical_page logical_first,
                               uint64_t count)
{
    io_tables_unmap(&domain->tables, logical_first.value, count, unbook, domain);
    iommu_tlb_note_unmapped(domain, logical_first.value, count);
    if (domain->mode == IOMMU_REMAP && !reserved(domain, logical_first.value, count))
        iommu_place_give(domain, logical_first.value, count);
}

void iommu_unmap_run(struct iommu_domain *domain, struct logical_page logical_first, uint64_t count)
{
    iommu_unmap_run_unflushed(domain, logical_first, count);
    iommu_flush_run(domain, logical_first, count);
}

void iommu_unmap(struct iommu_domain *domain, const struct logical_page *logical, uint64_t count)
{
    for (uint64_t i = 0; i < count;) {
        uint64_t first = i++;

        while (i < count && logical[i].value == logical[i - 1].value + 1)
            i++;
        iommu_unmap_run(domain, logical[first], i - first);
    }
}

void iommu_unmap_identity(struct iommu_domain *domain, const struct page_number *pages,
                          uint64_t count)
{
    for (uint64_t i = 0; i < count;) {
        uint64_t first = i++;

        while (i < count && pages[i].value == pages[i - 1].value + 1)
            i++;
        iommu_unmap_run(domain, page_identity(pages[first]), i - first);
    }
}

/* ---- validation ---- */

struct check {
    const struct iommu_domain *domain;
    bool valid;
};

static void check_leaf(void *context, uint64_t page, uint64_t entry, unsigned level)
{
    struct check *check = context;
    const struct iommu_domain *domain = check->domain;
    const uint64_t frame = io_entry_frame(entry);

    if (domain->mode == IOMMU_REMAP)
        check->valid &= page != 0 && page + io_span(level) - 1 <= domain->highest_page &&
                        !extent_is_free(&domain->logical, page, 1);
    else
        check->valid &= frame == page;
    for (uint64_t i = 0; i < io_span(level) && in_ram(domain, frame + i); i++)
        check->valid &= ram_page_iommu_maps(domain->ram, (struct page_number){frame + i}) >=
                        io_entry_count(entry);
}

bool iommu_validate(const struct iommu_domain *domain)
{
    struct check check = {.domain = domain, .valid = true};

    if (!iommu_place_validate(domain) || !io_tables_validate(&domain->tables))
        return false;
    io_tables_each(&domain->tables, check_leaf, &check);
    return check.valid;
}
