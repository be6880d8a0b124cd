/* SPDX-License-Identifier: MIT */
/*
 * The records of frames: owner and cache attribute, and the counts that keep a frame from being
 * reused. Nearly all counts are 0 or 1, and most frames have none, so a count is a byte in an array
 * that is touched only where frames are locked or mapped. Larger counts continue in a second array,
 * in units of 128. A carry leaves 128 in the first array: zero there always means a count of zero,
 * and a count that varies around 256 does not carry each time.
 */
#include "ram/ram_frame.h"
#include "ram/ram.h"
#include "ram/ram_record.h"
#include "verify/verify.h"

enum { FEW_MAX = 255, CARRY = 128 };

/* ---- counts ---- */

uint64_t ram_frame_counts_bytes(uint64_t pages)
{
    return 2 * pages * sizeof(uint32_t) + 2 * pages;
}

void ram_frame_counts_init(struct ram *ram, char *memory)
{
    ram->locks.many = (uint32_t *)(void *)memory;
    ram->iommu_maps.many = ram->locks.many + ram->pages;
    ram->locks.few = (uint8_t *)(ram->iommu_maps.many + ram->pages);
    ram->iommu_maps.few = ram->locks.few + ram->pages;
}

static void count_up(struct ram_counts *counts, uint64_t page)
{
    if (counts->few[page] < FEW_MAX) {
        counts->few[page]++;
    } else {
        counts->few[page] = CARRY;
        counts->many[page]++;
    }
}

static void count_down(struct ram_counts *counts, uint64_t page)
{
    if (counts->few[page] == CARRY && counts->many[page] > 0) {
        counts->few[page] = FEW_MAX;
        counts->many[page]--;
    } else if (counts->few[page] > 0) {
        counts->few[page]--;
    }
}

static uint32_t count_of(const struct ram_counts *counts, uint64_t page)
{
    return counts->few[page] < CARRY ? counts->few[page]
                                     : counts->few[page] + CARRY * counts->many[page];
}

/* ---- quarantine ---- */

/* PHYS-003: what a lock or the IOMMU still holds stays out of the free list until the last of them
 * lets go (PHYS-083). */
void ram_frame_quarantine(struct ram *ram, uint64_t page)
{
    ram->frames[page] = (uint8_t)((ram->frames[page] & ~FRAME_OWNER) | RAM_QUARANTINED);
    VIOLATION("PHYS-003",
              "page 0x%llx was released while locked %u times and mapped %u times by an IOMMU",
              (unsigned long long)page, count_of(&ram->locks, page),
              count_of(&ram->iommu_maps, page));
}

/* Called after a count went down. A frame that was given back too early becomes free once nothing
 * holds it. */
static void let_go(struct ram *ram, uint64_t page)
{
    if (ram->locks.few[page] | ram->iommu_maps.few[page])
        return;
    ram->frames[page] &= (uint8_t)~FRAME_HELD;
    if (frame_owner(ram->frames[page]) == RAM_QUARANTINED)
        ram_release_run(ram, page, 1);
}

/* ---- interface ---- */

void ram_lock_page(struct ram *ram, struct page_number page)
{
    count_up(&ram->locks, page.value);
    ram->frames[page.value] |= FRAME_HELD;
}

void ram_unlock_page(struct ram *ram, struct page_number page)
{
    count_down(&ram->locks, page.value);
    let_go(ram, page.value);
}

uint32_t ram_page_locks(const struct ram *ram, struct page_number page)
{
    return count_of(&ram->locks, page.value);
}

void ram_iommu_map_page(struct ram *ram, struct page_number page)
{
    count_up(&ram->iommu_maps, page.value);
    ram->frames[page.value] |= FRAME_HELD;
}

void ram_iommu_unmap_page(struct ram *ram, struct page_number page)
{
    count_down(&ram->iommu_maps, page.value);
    let_go(ram, page.value);
}

void ram_iommu_map_pages(struct ram *ram, const struct page_number *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (list[i].value < ram->pages)
            ram_iommu_map_page(ram, list[i]);
}

void ram_iommu_unmap_pages(struct ram *ram, const struct page_number *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (list[i].value < ram->pages)
            ram_iommu_unmap_page(ram, list[i]);
}

void ram_iommu_map_run(struct ram *ram, struct page_number first, uint64_t count)
{
    uint8_t *restrict few = ram->iommu_maps.few + first.value;
    uint8_t *restrict frames = ram->frames + first.value;
    uint8_t carries = 0;

    /* Without branches, and over all bytes, so that the compiler can vectorize it. */
    for (uint64_t i = 0; i < count; i++)
        carries |= (uint8_t)(few[i] == FEW_MAX);
    for (uint64_t i = 0; i < count && carries; i++)
        ram_iommu_map_page(ram, (struct page_number){first.value + i});
    for (uint64_t i = 0; i < count && !carries; i++) {
        few[i]++;
        frames[i] |= FRAME_HELD;
    }
}

void ram_iommu_unmap_run(struct ram *ram, struct page_number first, uint64_t count)
{
    uint8_t *restrict few = ram->iommu_maps.few + first.value;
    uint8_t *restrict frames = ram->frames + first.value;
    const uint8_t *restrict locks = ram->locks.few + first.value;
    uint8_t special = 0;

    for (uint64_t i = 0; i < count; i++) {
        const uint8_t owner = frames[i] & FRAME_OWNER;

        special |= (uint8_t)(few[i] == 0) | (uint8_t)(few[i] == CARRY) |
                   (uint8_t)(owner == RAM_QUARANTINED);
    }
    for (uint64_t i = 0; i < count && special; i++)
        ram_iommu_unmap_page(ram, (struct page_number){first.value + i});
    for (uint64_t i = 0; i < count && !special; i++) {
        few[i]--;
        frames[i] = (uint8_t)((frames[i] & ~FRAME_HELD) | (few[i] | locks[i] ? FRAME_HELD : 0));
    }
}

uint32_t ram_page_iommu_maps(const struct ram *ram, struct page_number page)
{
    return count_of(&ram->iommu_maps, page.value);
}

enum ram_owner ram_page_owner(const struct ram *ram, struct page_number page)
{
    return frame_owner(ram->frames[page.value]);
}

enum ram_cache ram_page_cache(const struct ram *ram, struct page_number page)
{
    return (enum ram_cache)((ram->frames[page.value] & FRAME_CACHE) >> FRAME_CACHE_SHIFT);
}
