/* SPDX-License-Identifier: MIT */
/* What the driver reports about an allocation that it has created. */
#ifndef DXGK_VIDMM_ALLOCATION_INFO_H
#define DXGK_VIDMM_ALLOCATION_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm_allocation;

/* Check what the driver reported about an allocation, and store it in the record. ALLOC rules: a
 * VIOLATION and a failure. */
NTSTATUS allocation_read_info(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info);
/* True if at least one segment of its set is large enough. */
bool allocation_fits_somewhere(const struct vidmm_allocation *allocation);

#endif
