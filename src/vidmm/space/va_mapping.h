/* SPDX-License-Identifier: MIT */
/*
 * The mappings of an allocation in all address spaces, when it moves or goes. Lock held, builder's
 * fiber.
 */
#ifndef DXGK_VIDMM_VA_MAPPING_H
#define DXGK_VIDMM_VA_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm;
struct vidmm_allocation;
struct vidmm_space;

/* The place of the allocation changed (in, out, moved): rewrite the entries of all its mappings.
 * Appends operations. */
NTSTATUS space_allocation_placed(struct vidmm *vidmm, struct vidmm_allocation *allocation);
/* The allocation goes: free its Map ranges in all spaces (GPUVA-097), invalidate entries inside
 * reservations. */
void space_allocation_destroyed(struct vidmm *vidmm, struct vidmm_allocation *allocation);
/* The last open of a shared allocation in this process closes: free its ranges there (builder's
 * fiber). */
void space_allocation_closed(struct vidmm_space *space, struct vidmm_allocation *allocation);
/* Driver protection to use for a scratch mapping at `page` of the allocation, and for how many
 * pages it holds (GPUVA-104). */
uint64_t space_driver_protection(const struct vidmm_allocation *allocation, uint64_t page,
                                 uint64_t *pages);

#endif
