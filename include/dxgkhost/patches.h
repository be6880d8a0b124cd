/* SPDX-License-Identifier: MIT */
/*
 * How a driver writes addresses into its DMA buffers: what DxgkDdiPatch leaves at the place of a
 * patch location. With it the host tells a wrong address from a right one (docs/patching.md).
 */
#ifndef DXGKHOST_PATCHES_H
#define DXGKHOST_PATCHES_H

#include <stdbool.h>
#include <stdint.h>

#define DXGK_PATCH_ENCODINGS 16

/*
 * The encoding of the locations for which (DriverId & driver_mask) == driver and
 * (SlotId & slot_mask) == slot: `bytes` bytes at PatchOffset, little-endian, in which the bits of
 * `mask` hold ((address + base) >> right) << left. The address is that of the allocation (its
 * PhysicalAddress in the allocation list) plus AllocationOffset, and plus DriverId << driver_shift
 * unless that is 0.
 */
struct dxgk_patch_encoding {
    uint32_t driver, driver_mask;
    uint32_t slot, slot_mask;
    uint32_t bytes; /* 4 or 8; 0: DxgkDdiPatch does not write such a location */
    uint32_t right, left;
    uint64_t mask; /* 0: all bits */
    uint32_t driver_shift;
    /* What the driver adds. With `own_base` only it knows: the first location of a segment tells,
     * and all others must agree. */
    uint64_t base;
    bool own_base;
    /* With `has_absent`, what stands for the address where there is no allocation, or none that is in
     * memory. Else such locations are not looked at. */
    bool has_absent;
    uint64_t absent;
    bool any_value; /* no address of the allocation stands there; only the place is checked */
};

/* The first encoding that fits counts; a location that none fits is not looked at. */
struct dxgk_patch_format {
    const char *name;
    uint32_t encodings;
    struct dxgk_patch_encoding encoding[DXGK_PATCH_ENCODINGS];
};

#endif
