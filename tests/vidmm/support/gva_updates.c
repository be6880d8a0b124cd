/* SPDX-License-Identifier: MIT */
#include "gva_updates.h"

NTSTATUS gva_map_part(struct gva_rig *rig, const struct gva_object *object, uint64_t base,
                      uint64_t offset, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, pages);

    args.BaseAddress = base;
    args.OffsetInPages = offset;
    return gva_map(rig, &args);
}

const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *gva_update_at(const struct gva_rig *rig, uint32_t n)
{
    const struct gva_op *op = gva_op_at(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE, n);

    return op ? &op->args.UpdatePageTable : NULL;
}

const struct gva_op *gva_leaf_write(const struct gva_rig *rig, uint32_t n)
{
    for (uint32_t i = 0; i < gva_op_count(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE); i++) {
        const struct gva_op *op = gva_op_at(rig, DXGK_OPERATION_UPDATE_PAGE_TABLE, i);

        if (op->args.UpdatePageTable.PageTableLevel == 0 && op->entries[0].Valid && n-- == 0)
            return op;
    }
    return NULL;
}
