/* SPDX-License-Identifier: MIT */
/*
 * Paging operations that map system pages into an aperture segment and unmap them. All append
 * operations (builder's fiber, lock held); none changes the place in the allocation's record.
 */
#ifndef DXGK_VIDMM_APERTURE_H
#define DXGK_VIDMM_APERTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm;
struct vidmm_allocation;

/* Map the backing pages at page `first` of an aperture segment; or unmap them, so that the range
 * points to the dummy page. aperture_map may create allocation->aperture.view, which the caller
 * releases after the unmap. */
NTSTATUS aperture_map(struct vidmm_allocation *allocation, UINT segment, uint64_t first);
NTSTATUS aperture_unmap(struct vidmm_allocation *allocation, UINT segment, uint64_t first);

/* The page that unmapped aperture ranges point to. */
NTSTATUS aperture_dummy_create(struct vidmm *vidmm);
void aperture_dummy_destroy(struct vidmm *vidmm);

#endif
