/* SPDX-License-Identifier: MIT */
#include "vidmm/check/table_format.h"
#include "bus/mmu.h"
#include "dxgkhost/page_tables.h"
#include "util/array.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"

#include <string.h>

/* Formats of drivers without a device model that tells theirs. */
static const struct dxgk_table_format built_in[] = {
    {
        /* coskmd with COS_GPUVA_SUPPORT: its entries are DXGK_PTEs */
        .name = "cosgpu",
        .entry_bytes = 16,
        .levels = 2,
        .index_bits = {10, 10},
        .valid = 1u << 0,
        .zero = 1u << 1,
        .coherent = 1u << 2,
        .read_only = 1u << 3,
        .no_execute = 1u << 4,
        .large = 1u << 10,
        .big = 1u << 17,
        .address_word = 1,
        .address_shift = 12,
        .address_mask = ~0ull >> 12,
        .segment_mask = 0x1Fu << 5,
        .segments = 3,
        .segment = {{.segment = 0, .bits = 0u << 5},
                    {.segment = 1, .bits = 1u << 5},
                    {.segment = 2, .bits = 2u << 5}},
    },
};

const struct dxgk_table_format *table_format_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(built_in); i++)
        if (strcmp(built_in[i].name, name) == 0)
            return &built_in[i];
    return NULL;
}

static uint64_t bytes_of(const struct dxgk_table_format *format, uint32_t entries)
{
    return (uint64_t)entries * format->entry_bytes;
}

/* Is the description one that can be read, and of the tables that the driver described? */
static bool fits(const struct dxgk_table_format *format, const struct vidmm *vidmm)
{
    const struct table_geometry *geometry = &vidmm->mmu->geometry;

    if ((format->entry_bytes != 4 && format->entry_bytes != 8 && format->entry_bytes != 16) ||
        format->address_word >= (format->entry_bytes + 7) / 8 ||
        format->segments > DXGK_TABLE_SEGMENTS || format->levels != geometry->levels)
        return false;
    for (unsigned level = 0; level < geometry->levels; level++)
        if ((level + 1 < geometry->levels || !geometry->resizable_root) &&
            (geometry->entries[level] != 1u << format->index_bits[level] ||
             bytes_of(format, geometry->entries[level]) >
                 vidmm->config.level[level].PageTableSizeInBytes))
            return false;
    return !geometry->twins || bytes_of(format, geometry->entries[0] >> TWIN_SHIFT) <=
                                   geometry->caps.LeafPageTableSizeFor64KPagesInBytes;
}

const struct dxgk_table_format *table_format_of(struct vidmm *vidmm)
{
    const struct dxgk_table_format *format = vidmm->config.table_format;

    if (!format && vidmm->config.device)
        format = bus_device_table_format(vidmm->config.device);
    return format && vidmm->mmu && fits(format, vidmm) ? format : NULL;
}
