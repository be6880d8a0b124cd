/* SPDX-License-Identifier: MIT */
/*
 * Updating the mappings of an allocation, in all address spaces, when it moves or is destroyed.
 * Lock held, builder's fiber.
 */
#ifndef DXGK_VIDMM_VA_MAPPING_H
#define DXGK_VIDMM_VA_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm;
struct vidmm_allocation;
struct vidmm_space;

/* The allocation was moved, made resident or evicted: write the entries of all its
 * mappings again. */
NTSTATUS space_allocation_placed(struct vidmm *vidmm, struct vidmm_allocation *allocation);
/* The allocation is being destroyed: free its Map ranges in all spaces (GPUVA-097), and invalidate
 * its entries inside reservations. */
void space_allocation_destroyed(struct vidmm *vidmm, struct vidmm_allocation *allocation);
/* This process closes its last open of a shared allocation: free its ranges there
 * (builder's fiber). */
void space_allocation_closed(struct vidmm_space *space, struct vidmm_allocation *allocation);
/* The driver protection to use for a scratch mapping at `page` of the allocation; *pages: for how
 * many pages it is the same (GPUVA-104). */
uint64_t space_driver_protection(const struct vidmm_allocation *allocation, uint64_t page,
                                 uint64_t *pages);

#endif
