/* SPDX-License-Identifier: MIT */
/* What a client's mapping may be of: allocations by handle, and driver protections that exclude
 * each other. Lock held. */
#ifndef DXGK_VIDMM_VA_BIND_H
#define DXGK_VIDMM_VA_BIND_H

#include <stdbool.h>
#include <stdint.h>

#include <d3dkmthk.h>

struct vidmm_allocation;
struct vidmm_process;

/* NULL: the handle is that of no live allocation of the process. */
struct vidmm_allocation *va_find_allocation(const struct vidmm_process *process,
                                            D3DKMT_HANDLE handle);
/* Has some mapping of it a unique driver protection? */
bool va_has_unique_protection(const struct vidmm_allocation *allocation);
/* GPUVA-101 to GPUVA-103: if one mapping of a page has a unique driver protection, all others must
 * have the same. */
bool va_protection_conflict(const struct vidmm_allocation *allocation, uint64_t offset,
                            uint64_t pages, uint64_t protection);

#endif
