/* SPDX-License-Identifier: MIT */
/*
 * Translation, and the reasons to refuse it. The IOTLB is a direct-mapped cache in front of the
 * tables, one array for 4 KiB pages and one for 2 MiB parts of large leaves. It is not coherent:
 * like real hardware, it answers from its content until that is flushed (IOMMU-074). On a miss, or
 * if the cached rights are insufficient, the tables are walked.
 */
#include "iommu/iommu_translate.h"
#include "iommu/domain_record.h"
#include "iommu/io_table.h"
#include "iommu/iommu.h"
#include "util/address.h"
#include "util/alloc.h"

bool iommu_tlb_init(struct iommu_domain *domain)
{
    domain->tlb = util_zalloc(1, sizeof(*domain->tlb));
    return domain->tlb != NULL;
}

void iommu_tlb_finish(struct iommu_domain *domain)
{
    util_free(domain->tlb);
}

static struct iommu_tlb_entry *page_slot(const struct iommu_domain *domain, uint64_t page)
{
    return &domain->tlb->page[page % IOMMU_TLB_ENTRIES];
}

static struct iommu_tlb_entry *large_slot(const struct iommu_domain *domain, uint64_t piece)
{
    return &domain->tlb->large[piece % IOMMU_TLB_LARGE_ENTRIES];
}

static void keep_page(const struct iommu_domain *domain, uint64_t page, uint64_t frame,
                      uint64_t rights)
{
    const uint64_t slot = page % IOMMU_TLB_ENTRIES;

    *page_slot(domain, page) = (struct iommu_tlb_entry){page + 1, frame, rights};
    domain->tlb->used[slot / 64] |= (uint64_t)1 << slot % 64;
}

static void keep_large(const struct iommu_domain *domain, uint64_t piece, uint64_t frame,
                       uint64_t rights)
{
    *large_slot(domain, piece) = (struct iommu_tlb_entry){piece + 1, frame, rights};
    domain->tlb->used_large |= (uint64_t)1 << piece % IOMMU_TLB_LARGE_ENTRIES;
}

#define NO_FRAME UINT64_MAX

/* Walk the tables and fill the IOTLB. NO_FRAME: not mapped, or not with these rights. */
static uint64_t look_up(const struct iommu_domain *domain, uint64_t page, uint64_t access)
{
    unsigned level;
    uint64_t entry = io_tables_find(&domain->tables, page, &level), frame;

    if (!entry || (entry & access) != access)
        return NO_FRAME;
    frame = io_entry_frame(entry) + (page & (io_span(level) - 1));
    if (level == 0)
        keep_page(domain, page, frame, entry & IO_RIGHTS);
    else
        keep_large(domain, page / io_span(1), frame & ~(io_span(1) - 1), entry & IO_RIGHTS);
    return frame;
}

bool iommu_translate(const struct iommu_domain *domain, struct logical_addr address,
                     enum iommu_access access, struct phys_addr *physical)
{
    const uint64_t page = address.value >> PAGE_BITS, wanted = (uint64_t)access;
    const struct iommu_tlb_entry *cached = page_slot(domain, page);
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

bool iommu_page_mapped(const struct iommu_domain *domain, struct logical_page logical)
{
    unsigned level;

    return io_tables_find(&domain->tables, logical.value, &level) != 0;
}

uint64_t iommu_run_mapped(const struct iommu_domain *domain, struct logical_page logical,
                          uint64_t count, bool *mapped)
{
    return io_tables_run(&domain->tables, logical.value, count, mapped);
}

/* ---- flush ---- */

void iommu_domain_lose_flushes(struct iommu_domain *domain, unsigned count)
{
    domain->lose_flushes = count;
}

/* Of 64 places those that hold a translation inside the range become free. */
static void flush_places(uint64_t *used, struct iommu_tlb_entry *entries, uint64_t first,
                         uint64_t count)
{
    for (uint64_t left = *used; left; left &= left - 1) {
        const unsigned place = (unsigned)__builtin_ctzll(left);

        if (entries[place].tag - 1 - first >= count)
            continue;
        entries[place].tag = 0;
        *used &= ~((uint64_t)1 << place);
    }
}

static void flush_pages(struct iommu_tlb *tlb, uint64_t first, uint64_t count)
{
    const uint64_t all = IOMMU_TLB_ENTRIES / 64;
    const uint64_t words = count < IOMMU_TLB_ENTRIES ? (first % 64 + count + 63) / 64 : all;

    for (uint64_t i = 0; i < words && i < all; i++) {
        const uint64_t word = (first / 64 + i) % all;

        flush_places(&tlb->used[word], &tlb->page[word * 64], first, count);
    }
}

void iommu_flush_run(struct iommu_domain *domain, struct logical_page logical_first, uint64_t count)
{
    const uint64_t first = logical_first.value;
    const uint64_t piece = first / io_span(1), last = (first + count - 1) / io_span(1);

    if (count == 0)
        return;
    if (domain->lose_flushes > 0) {
        domain->lose_flushes--;
        return;
    }
    flush_pages(domain->tlb, first, count);
    flush_places(&domain->tlb->used_large, domain->tlb->large, piece, last - piece + 1);
}

/* ---- refusal ---- */

void iommu_tlb_note_unmapped(struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    domain->recent[domain->recent_next++ % IOMMU_RECENT_RANGES] = (struct logical_range){start,
                                                                                         count};
}

static bool unmapped_lately(const struct iommu_domain *domain, uint64_t page)
{
    for (unsigned i = 0; i < IOMMU_RECENT_RANGES; i++)
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
        [IOMMU_CAUSE_RESET] = "between DxgkDdiResetFromTimeout and DxgkDdiRestartFromTimeout",
        [IOMMU_CAUSE_PASID] = "of a process that is not there",
        [IOMMU_CAUSE_PASID_RETIRED] = "of a process that is about to go",
        [IOMMU_CAUSE_NOT_HELD] = "which is memory that nobody holds for it",
    };

    return texts[cause];
}
