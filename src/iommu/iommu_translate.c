/* SPDX-License-Identifier: MIT */
/*
 * Translation, and why it is refused. The IOTLB is a direct-mapped cache in front of the tables, one
 * array for pages and one for pieces of 2 MiB of large leaves. It is not coherent: it answers from
 * what it holds until it is told to drop it, as the real thing (IOMMU-074). What it does not hold,
 * or holds with too few rights, is looked up.
 */
#include "iommu/iommu_private.h"

#include <string.h>

#include "util/alloc.h"

bool iommu_tlb_init(struct iommu_domain *domain)
{
    domain->tlb = util_zalloc(TLB_ENTRIES, sizeof(*domain->tlb));
    domain->tlb_large = util_zalloc(TLB_LARGE_ENTRIES, sizeof(*domain->tlb_large));
    return domain->tlb && domain->tlb_large;
}

void iommu_tlb_finish(struct iommu_domain *domain)
{
    util_free(domain->tlb);
    util_free(domain->tlb_large);
}

static struct tlb_entry *page_slot(const struct iommu_domain *domain, uint64_t page)
{
    return &domain->tlb[page % TLB_ENTRIES];
}

static struct tlb_entry *large_slot(const struct iommu_domain *domain, uint64_t piece)
{
    return &domain->tlb_large[piece % TLB_LARGE_ENTRIES];
}

#define NO_FRAME UINT64_MAX

/* From the tables, into the IOTLB. NO_FRAME: not mapped, or not with these rights. */
static uint64_t look_up(const struct iommu_domain *domain, uint64_t page, uint64_t access)
{
    unsigned level;
    uint64_t entry = io_tables_find(&domain->tables, page, &level), frame;

    if (!entry || (entry & access) != access)
        return NO_FRAME;
    frame = io_entry_frame(entry) + (page & (io_span(level) - 1));
    if (level == 0)
        *page_slot(domain, page) = (struct tlb_entry){page + 1, frame, entry & IO_RIGHTS};
    else
        *large_slot(domain, page / io_span(1)) = (struct tlb_entry){
            page / io_span(1) + 1, frame & ~(io_span(1) - 1), entry & IO_RIGHTS};
    return frame;
}

bool iommu_translate(const struct iommu_domain *domain, struct logical_addr address,
                     enum iommu_access access, struct phys_addr *physical)
{
    const uint64_t page = address.value >> PAGE_BITS, wanted = (uint64_t)access;
    const struct tlb_entry *cached = page_slot(domain, page);
    uint64_t frame;

    if (domain->mode == IOMMU_OFF) {
        *physical = (struct phys_addr){address.value};
        return true;
    }
    if (cached->tag == page + 1 && (cached->rights & wanted) == wanted) {
        frame = cached->frame;
    } else {
        cached = large_slot(domain, page / io_span(1));
        if (cached->tag == page / io_span(1) + 1 && (cached->rights & wanted) == wanted)
            frame = cached->frame + page % io_span(1);
        else
            frame = look_up(domain, page, wanted);
        if (frame == NO_FRAME)
            return false;
    }
    physical->value = frame << PAGE_BITS | (address.value & (PAGE_BYTES - 1));
    return true;
}

bool iommu_page_mapped(const struct iommu_domain *domain, struct page_number logical)
{
    unsigned level;

    return io_tables_find(&domain->tables, logical.value, &level) != 0;
}

/* ---- flush ---- */

void iommu_domain_lose_flushes(struct iommu_domain *domain, unsigned count)
{
    domain->lose_flushes = count;
}

void iommu_flush_run(struct iommu_domain *domain, struct page_number logical_first, uint64_t count)
{
    const uint64_t first = logical_first.value, end = first + count;

    if (domain->lose_flushes > 0) {
        domain->lose_flushes--;
        return;
    }
    if (count >= TLB_ENTRIES)
        memset(domain->tlb, 0, TLB_ENTRIES * sizeof(*domain->tlb));
    for (uint64_t page = first; count < TLB_ENTRIES && page < end; page++)
        if (page_slot(domain, page)->tag == page + 1)
            page_slot(domain, page)->tag = 0;
    if (count >= TLB_LARGE_ENTRIES * io_span(1))
        memset(domain->tlb_large, 0, TLB_LARGE_ENTRIES * sizeof(*domain->tlb_large));
    for (uint64_t piece = first / io_span(1);
         count < TLB_LARGE_ENTRIES * io_span(1) && piece * io_span(1) < end; piece++)
        if (large_slot(domain, piece)->tag == piece + 1)
            large_slot(domain, piece)->tag = 0;
}

/* ---- refusal ---- */

void iommu_note_unmapped(struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    domain->recent[domain->recent_next++ % RECENT_RANGES] = (struct logical_range){start, count};
}

static bool unmapped_lately(const struct iommu_domain *domain, uint64_t page)
{
    for (unsigned i = 0; i < RECENT_RANGES; i++)
        if (page - domain->recent[i].start < domain->recent[i].size)
            return true;
    return false;
}

enum iommu_cause iommu_refusal(const struct iommu_domain *domain, struct logical_addr address,
                               enum iommu_access access)
{
    const uint64_t page = address.value >> PAGE_BITS;
    unsigned level;
    uint64_t entry = io_tables_find(&domain->tables, page, &level);

    if (entry)
        return (entry & (uint64_t)access) == (uint64_t)access ? IOMMU_CAUSE_NO_RAM
                                                              : IOMMU_CAUSE_RIGHTS;
    return unmapped_lately(domain, page) ? IOMMU_CAUSE_STALE : IOMMU_CAUSE_UNMAPPED;
}

const char *iommu_cause_text(enum iommu_cause cause)
{
    static const char *const texts[] = {
        [IOMMU_CAUSE_NONE] = "without a cause",
        [IOMMU_CAUSE_DETACHED] = "and is attached to no domain",
        [IOMMU_CAUSE_MASTER] = "and is not there or not allowed to be bus master",
        [IOMMU_CAUSE_WIDTH] = "which has more bits than the device can put on the bus",
        [IOMMU_CAUSE_UNMAPPED] = "which is not mapped for it",
        [IOMMU_CAUSE_STALE] = "which is not mapped for it any more",
        [IOMMU_CAUSE_RIGHTS] = "which is not mapped for this direction",
        [IOMMU_CAUSE_NO_RAM] = "where no memory is",
        [IOMMU_CAUSE_EXCLUSIVE] = "during exclusive access",
        [IOMMU_CAUSE_PASID] = "of a process that is not there",
        [IOMMU_CAUSE_PASID_RETIRED] = "of a process that is about to go",
        [IOMMU_CAUSE_NOT_HELD] = "which is memory that nobody holds for it",
    };

    return texts[cause];
}
