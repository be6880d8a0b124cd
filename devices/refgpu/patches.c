/* SPDX-License-Identifier: MIT */
/*
 * How the miniport writes addresses into DMA buffers, for a host that checks it
 * (dxgkhost/patches.h): two halves of 4 bytes, told apart by the slot. DriverId is the upper half of
 * the offset in the allocation. Where no allocation is, all bits are set: an address that faults.
 */
#include "device.h"

#define HALF .slot_mask = 1, .bytes = 4, .driver_shift = 32, .has_absent = true, .absent = ~0ull

const struct dxgk_patch_format refgpu_patch_format = {
    .name = "refgpu",
    .encodings = 2,
    .encoding = {{.slot = 0, HALF}, {.slot = 1, .right = 32, HALF}},
};
