/* SPDX-License-Identifier: MIT */
/*
 * Physical memory at one moment, for people: how much each owner has, how fragmented the rest is,
 * what each IOMMU domain maps and what each driver holds, as text; and a picture of it by owner.
 */
#ifndef DXGK_REPORT_MEMORY_H
#define DXGK_REPORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "iommu/iommu.h"
#include "physmem/physical_holding.h"
#include "physmem/physical_memory.h"
#include "ram/ram.h"

struct report_adapter {
    const char *name;
    const struct iommu_domain *domain;
    const struct physical_adapter *physical;
};

struct report_memory {
    const struct ram *ram;
    const struct physical_memory *physical;
    const struct report_adapter *adapters;
    size_t adapter_count;
};

/* Names for people: "pool", "write-combined". */
const char *report_owner_name(enum ram_owner owner);
const char *report_cache_name(enum ram_cache cache);

/* False: writing failed. The cost is proportional to frames in use and free runs. */
bool report_memory_text(const struct report_memory *memory, FILE *out);
/* 96 cells wide, at most 64 high; each cell has the color of the owner of most of its frames, and a
 * mark if some are not cached or write-combined. Low addresses are at the top. */
bool report_memory_svg(const struct report_memory *memory, FILE *out);

#endif
