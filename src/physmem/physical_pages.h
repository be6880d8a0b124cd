/* SPDX-License-Identifier: MIT */
/* Allocation of frames of RAM within limits that a driver sets: for all services that hand out
 * memory. */
#ifndef DXGK_PHYSMEM_PHYSICAL_PAGES_H
#define DXGK_PHYSMEM_PHYSICAL_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "ram/ram.h"

struct physical_backing;
struct physical_memory;

struct physical_contiguous_limits {
    uint64_t bytes;
    uint64_t lowest, highest; /* inclusive */
    uint64_t boundary;
};
struct physical_mdl_limits {
    uint64_t bytes;
    uint64_t low, high, skip;
    ULONG flags; /* MM_ALLOCATE_* */
};

/* Checks PHYS-024. */
NTSTATUS physical_pages_check_cache(DXGK_MEMORY_CACHING_TYPE type);
/* Both check the limits first (STATUS_INVALID_PARAMETER after a report), then allocate the frames
 * (STATUS_NO_MEMORY: there are none). */
NTSTATUS physical_pages_take_contiguous(struct physical_memory *memory,
                                        const struct physical_contiguous_limits *limits,
                                        enum ram_cache cache, enum ram_owner owner,
                                        struct physical_backing *backing);
NTSTATUS physical_pages_take_mdl(struct physical_memory *memory,
                                 const struct physical_mdl_limits *limits, enum ram_cache cache,
                                 enum ram_owner owner, struct physical_backing *backing);
/* Any `request->pages` frames, in an order that satisfies PHYS-059. False: out of memory. */
bool physical_pages_take_scattered(struct physical_memory *memory,
                                   const struct ram_request *request, struct page_number *pages);

#endif
