/* SPDX-License-Identifier: MIT */
/*
 * Process address spaces that devices share (the IoMmu model, in outline: IOMMU-102 to IOMMU-109).
 * A space has a number, the PASID, which a device puts beside an address; what stands there is what
 * the process has there, as far as it was entered.
 *
 * Life: create, map and unmap as the process does, retire when its last device is about to go,
 * destroy when that is gone. Numbers are from 1 (0 stands for accesses without one), fit 20 bits,
 * and come back as late as possible (IOMMU-105).
 */
#ifndef DXGK_IOMMU_PASID_H
#define DXGK_IOMMU_PASID_H

#include <stdbool.h>
#include <stdint.h>

#include "iommu/iommu.h"
#include "util/hash.h"

#define PASID_BITS 20u

/* The spaces of a machine. */
struct iommu_pasids {
    struct hash_map spaces; /* by PASID */
    uint32_t last;          /* given out */
};

enum iommu_pasid_state { PASID_UNKNOWN, PASID_LIVE, PASID_RETIRED };

void iommu_pasids_init(struct iommu_pasids *pasids);
/* Spaces that are left go too. */
void iommu_pasids_finish(struct iommu_pasids *pasids);

/* 0: out of memory, or all numbers are in use. */
uint32_t iommu_pasid_create(struct iommu_pasids *pasids);
/* From now on an access is an error of the driver (IOMMU-108). */
void iommu_pasid_retire(struct iommu_pasids *pasids, uint32_t pasid);
void iommu_pasid_destroy(struct iommu_pasids *pasids, uint32_t pasid);
enum iommu_pasid_state iommu_pasid_state(const struct iommu_pasids *pasids, uint32_t pasid);

/* Enter what the process has at `page` of its address space. False: out of memory, or something is
 * there. */
bool iommu_pasid_map(struct iommu_pasids *pasids, uint32_t pasid, struct logical_page page,
                     struct page_number frame, uint64_t count, unsigned access);
void iommu_pasid_unmap(struct iommu_pasids *pasids, uint32_t pasid, struct logical_page page,
                       uint64_t count);
/* One access that stays inside a page. False: the process has nothing there, or not for this. */
bool iommu_pasid_translate(const struct iommu_pasids *pasids, uint32_t pasid, uint64_t address,
                           enum iommu_access access, struct phys_addr *physical);

#endif
