/* SPDX-License-Identifier: MIT */
/* What the driver says of an allocation. */
#ifndef DXGK_VIDMM_ALLOCATION_INFO_H
#define DXGK_VIDMM_ALLOCATION_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm_allocation;

/* What the driver said about an allocation, checked (ALLOC rules: VIOLATION and a failure) and
 * taken over. */
NTSTATUS allocation_read_info(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info);
/* It is not larger than every segment of its set. */
bool allocation_fits_somewhere(const struct vidmm_allocation *allocation);

#endif
