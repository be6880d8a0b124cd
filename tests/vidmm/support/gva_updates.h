/* SPDX-License-Identifier: MIT */
/* For tests of page tables: maps a part of an allocation, and looks at the updates that follow. */
#ifndef DXGK_TESTS_VIDMM_GVA_UPDATES_H
#define DXGK_TESTS_VIDMM_GVA_UPDATES_H

#include "gva_rig.h"

NTSTATUS gva_map_part(struct gva_rig *rig, const struct gva_object *object, uint64_t base,
                      uint64_t offset, uint64_t pages);

/* The n-th UPDATE_PAGE_TABLE since the mark; NULL: none. */
const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *gva_update_at(const struct gva_rig *rig, uint32_t n);
/* The n-th of those that write a valid leaf entry. */
const struct gva_op *gva_leaf_write(const struct gva_rig *rig, uint32_t n);

#endif
