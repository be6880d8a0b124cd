/* SPDX-License-Identifier: MIT */
/*
 * Process address spaces that devices share (the IoMmu model, in outline: IOMMU-102 to IOMMU-109).
 * A space has a number, the PASID, which a device sends along with an address. It maps what the
 * process has at that address, as far as that was entered here.
 *
 * Life: create, map and unmap as the process does, retire when its last device is about to be
 * destroyed, destroy when that is gone. Numbers start at 1 (0 means an access without PASID), fit
 * 20 bits, and are reused as late as possible (IOMMU-105).
 */
#ifndef DXGK_IOMMU_PASID_H
#define DXGK_IOMMU_PASID_H

#include <stdbool.h>
#include <stdint.h>

#include "iommu/iommu.h"
#include "util/hash.h"

#define PASID_BITS 20u

/* All such spaces of a machine. */
struct iommu_pasids {
    struct hash_map spaces; /* by PASID */
    uint32_t last;          /* the number given out last */
};

enum iommu_pasid_state { PASID_UNKNOWN, PASID_LIVE, PASID_RETIRED };

void iommu_pasids_init(struct iommu_pasids *pasids);
/* Also destroys the spaces that are left. */
void iommu_pasids_finish(struct iommu_pasids *pasids);

/* 0: out of memory, or all numbers are in use. */
uint32_t iommu_pasid_create(struct iommu_pasids *pasids);
/* From now on, an access with it is an error of the driver (IOMMU-108). */
void iommu_pasid_retire(struct iommu_pasids *pasids, uint32_t pasid);
void iommu_pasid_destroy(struct iommu_pasids *pasids, uint32_t pasid);
enum iommu_pasid_state iommu_pasid_state(const struct iommu_pasids *pasids, uint32_t pasid);

/* Enter what the process has at `page` of its address space. False: out of memory, or the page is
 * already mapped. */
bool iommu_pasid_map(struct iommu_pasids *pasids, uint32_t pasid, struct logical_page page,
                     struct page_number frame, uint64_t count, unsigned access);
void iommu_pasid_unmap(struct iommu_pasids *pasids, uint32_t pasid, struct logical_page page,
                       uint64_t count);
/* Translate one access that stays inside a page. False: the process has nothing there, or not with
 * this right. */
bool iommu_pasid_translate(const struct iommu_pasids *pasids, uint32_t pasid, uint64_t address,
                           enum iommu_access access, struct phys_addr *physical);

#endif
