/* SPDX-License-Identifier: MIT */
/*
 * Paging operations that map system pages into an aperture segment, and the reverse. All append
 * operations (builder's fiber, lock held); none changes what the allocation's record says about its
 * place.
 */
#ifndef DXGK_VIDMM_APERTURE_H
#define DXGK_VIDMM_APERTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm;
struct vidmm_allocation;

/* Map the backing pages at page `first` of an aperture segment, and the reverse (which puts the
 * dummy page there). The first may make allocation->aperture_view, for the caller to release after
 * the unmap. */
NTSTATUS aperture_map(struct vidmm_allocation *allocation, UINT segment, uint64_t first);
NTSTATUS aperture_unmap(struct vidmm_allocation *allocation, UINT segment, uint64_t first);

/* The page behind unmapped aperture ranges. */
NTSTATUS aperture_dummy_create(struct vidmm *vidmm);
void aperture_dummy_destroy(struct vidmm *vidmm);

#endif
