/* SPDX-License-Identifier: MIT */
/* IO page tables against arrays: random maps and unmaps, some without memory, and everything looked at from time to time. */
#ifndef DXGK_TESTS_IOMMU_TABLE_MODEL_H
#define DXGK_TESTS_IOMMU_TABLE_MODEL_H

#include "iommu/io_table.h"
#include "util/alloc.h"

/* The frame behind a page, and its mappings; 0, 0: none. */
uint64_t table_frame_of(const struct io_tables *t, uint64_t page, uint64_t *count, uint64_t *rights);

/* `steps` operations around the page `base`. */
void table_agrees(struct util_heap *heap, bool shared, uint64_t base, uint64_t seed, uint64_t steps);

#endif
