/* SPDX-License-Identifier: MIT */
/*
 * The IOMMU: domains, each with IO page tables that turn what a device puts on the bus into
 * physical addresses.
 *
 * Modes (PHYS/IOMMU companion): OFF: logical = physical, no check; mappings are only booked, so
 * that the domain can be switched to ISOLATION at any time and accesses to memory not held for DMA
 * can be told. ISOLATION: logical = physical, but only mapped pages pass. REMAP: the host picks
 * logical addresses within [0, highest visible]; only mapped pages pass. IO page tables: radix of
 * 512 entries a level, 4 KiB leaves, one entry holds frame, rights and a mapping count. Map, unmap
 * and translate cost O(levels) a page (amortised O(1) in a run).
 */
#ifndef DXGK_IOMMU_H
#define DXGK_IOMMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ram/ram.h"
#include "util/address.h"

enum iommu_mode { IOMMU_OFF, IOMMU_ISOLATION, IOMMU_REMAP };
enum iommu_access { IOMMU_READ = 1, IOMMU_WRITE = 2 };

struct iommu_domain;

struct iommu_fault {
    struct logical_addr address;
    enum iommu_access access;
    uint64_t time; /* filled by the bus */
};

/* `highest` bounds logical addresses (inclusive) in REMAP mode. NULL: out of memory. */
struct iommu_domain *iommu_domain_create(struct ram *ram, enum iommu_mode mode,
                                         struct logical_addr highest);
/* Mappings left are reported by the caller; all are dropped. */
void iommu_domain_destroy(struct iommu_domain *domain);
enum iommu_mode iommu_domain_mode(const struct iommu_domain *domain);
uint64_t iommu_domain_mapped_pages(const struct iommu_domain *domain);
/* Map operations (page counts) since creation, for statistics. */
uint64_t iommu_domain_map_count(const struct iommu_domain *domain);

/* Map pages for the device at one contiguous logical range (REMAP: chosen here; ISOLATION: logical
 * = physical, so the range is contiguous only if the pages are; OFF: booked only). *logical (pages
 * long, may be NULL) gets the logical page of each; counts are kept in the frame records. Pages
 * beyond RAM (device windows) are allowed. False: out of memory or address space; nothing
 * changed. */
bool iommu_map(struct iommu_domain *domain, const struct page_number *pages, uint64_t count,
               unsigned access, struct page_number *logical);
/* The same for one physical run. */
bool iommu_map_run(struct iommu_domain *domain, struct page_number first, uint64_t count,
                   unsigned access, struct page_number *logical_first);
/* Map a physical run at its own address in REMAP mode too (reserved ranges, IOMMU-082); false also
 * when a mapping or the limit is in the way. Undone by iommu_unmap_run. */
bool iommu_map_identity_run(struct iommu_domain *domain, struct page_number first, uint64_t count,
                            unsigned access);
/* Undo iommu_map: `logical` as it returned, whole. The IOTLB is flushed before return. */
void iommu_unmap(struct iommu_domain *domain, const struct page_number *logical, uint64_t count);
void iommu_unmap_run(struct iommu_domain *domain, struct page_number logical_first, uint64_t count);

/* Translate one access that stays inside a 4 KiB page. False: fault. */
bool iommu_translate(const struct iommu_domain *domain, struct logical_addr address,
                     enum iommu_access access, struct phys_addr *physical);

/* The page is mapped, or in OFF mode booked, for the device. */
bool iommu_page_mapped(const struct iommu_domain *domain, struct page_number logical);
/* From OFF to ISOLATION, which changes no address and drops no mapping (IOMMU-003..005). False in
 * any other mode. */
bool iommu_domain_isolate(struct iommu_domain *domain);
/* REMAP: reuse the lowest free logical range at once, instead of as late as possible
 * (IOMMU-033). */
void iommu_domain_reuse_early(struct iommu_domain *domain, bool early);

/* The parts of iommu_unmap_run, for tests of the IOTLB: translations cached before go on until the
 * flush (IOMMU-074). */
void iommu_unmap_run_unflushed(struct iommu_domain *domain, struct page_number logical_first,
                               uint64_t count);
void iommu_flush_run(const struct iommu_domain *domain, struct page_number logical_first,
                     uint64_t count);

bool iommu_validate(const struct iommu_domain *domain);

#endif
