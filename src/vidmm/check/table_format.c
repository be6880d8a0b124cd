/* SPDX-License-Identifier: MIT */
#include "vidmm/check/table_format.h"
#include "bus/mmu.h"
#include "dxgkhost/page_tables.h"
#include "util/array.h"
#include "verify/verify.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_INDEX_BITS 24u

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

/* ---- a description by itself ---- */

struct complaint {
    char *text;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static bool complain(const struct complaint *to,
                                                           const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(to->text, to->bytes, format, values);
    va_end(values);
    return false;
}

static bool sound_shape(const struct dxgk_table_format *f, const struct complaint *to)
{
    if (f->entry_bytes != 4 && f->entry_bytes != 8 && f->entry_bytes != 16)
        return complain(to, "entry_bytes is %u: 4, 8 or 16", f->entry_bytes);
    if (f->levels == 0 || f->levels > DXGK_TABLE_LEVELS)
        return complain(to, "%u levels: 1 to %u", f->levels, DXGK_TABLE_LEVELS);
    for (uint32_t i = 0; i < f->levels; i++)
        if (f->index_bits[i] == 0 || f->index_bits[i] > MOST_INDEX_BITS)
            return complain(to, "level %u has %u index bits: 1 to %u", i, f->index_bits[i],
                            MOST_INDEX_BITS);
    return true;
}

static bool sound_address(const struct dxgk_table_format *f, const struct complaint *to)
{
    if (f->address_word >= (f->entry_bytes + 7) / 8)
        return complain(to, "the address is in word %u of an entry of %u bytes", f->address_word,
                        f->entry_bytes);
    if (f->address_shift > 63)
        return complain(to, "the address is shifted by %u bits", f->address_shift);
    if (f->address_mask == 0)
        return complain(to, "the mask of the address is 0");
    if (f->entry_bytes == 4 && f->address_mask >> 32)
        return complain(to, "the mask of the address, 0x%llx, is wider than an entry of 4 bytes",
                        (unsigned long long)f->address_mask);
    return true;
}

/* No bit means two things. `big` and `large` may be one that leaves use for something else. */
static bool sound_bits(const struct dxgk_table_format *f, const struct complaint *to)
{
    const struct {
        const char *name;
        uint64_t mask;
        bool upper; /* of levels above the leaf alone */
    } part[] = {
        {"valid", f->valid, false},
        {"zero", f->zero, false},
        {"read_only", f->read_only, false},
        {"no_execute", f->no_execute, false},
        {"coherent", f->coherent, false},
        {"large", f->large, true},
        {"big", f->big, true},
        {"segment_mask", f->segment_mask, false},
        {"the mask of the address", f->address_word == 0 ? f->address_mask : 0, false},
    };

    if (f->valid == 0)
        return complain(to, "valid is 0: no bit says that an entry is valid");
    for (size_t i = 0; i < ARRAY_COUNT(part); i++) {
        if (f->entry_bytes == 4 && part[i].mask >> 32)
            return complain(to, "%s, 0x%llx, is wider than an entry of 4 bytes", part[i].name,
                            (unsigned long long)part[i].mask);
        for (size_t k = 0; k < i; k++)
            if ((part[i].mask & part[k].mask) && part[i].upper == part[k].upper)
                return complain(to, "%s and %s have bits 0x%llx in common", part[k].name,
                                part[i].name, (unsigned long long)(part[i].mask & part[k].mask));
    }
    if (f->inverted & ~(f->read_only | f->no_execute))
        return complain(to, "inverted has bits 0x%llx beside those of read_only and no_execute",
                        (unsigned long long)(f->inverted & ~(f->read_only | f->no_execute)));
    return true;
}

static bool sound_segments(const struct dxgk_table_format *f, const struct complaint *to)
{
    if (f->segments > DXGK_TABLE_SEGMENTS)
        return complain(to, "%u segments: at most %u", f->segments, DXGK_TABLE_SEGMENTS);
    for (uint32_t i = 0; i < f->segments; i++) {
        const struct dxgk_table_segment *segment = &f->segment[i];

        if (segment->segment >= VIDMM_MAX_SEGMENTS)
            return complain(to, "there is no segment %u", segment->segment);
        if (segment->bits & ~f->segment_mask)
            return complain(to, "segment %u has bits 0x%llx beyond segment_mask, 0x%llx",
                            segment->segment, (unsigned long long)segment->bits,
                            (unsigned long long)f->segment_mask);
        for (uint32_t k = 0; k < i; k++)
            if (f->segment[k].bits == segment->bits)
                return complain(to, "segments %u and %u have the same bits, 0x%llx",
                                f->segment[k].segment, segment->segment,
                                (unsigned long long)segment->bits);
    }
    return true;
}

bool table_format_sound(const struct dxgk_table_format *format, char *error, size_t error_bytes)
{
    const struct complaint to = {error, error_bytes};

    return sound_shape(format, &to) && sound_address(format, &to) && sound_bits(format, &to) &&
           sound_segments(format, &to);
}

/* ---- the tables that a driver described ---- */

static uint64_t bytes_of(const struct dxgk_table_format *format, uint32_t entries)
{
    return (uint64_t)entries * format->entry_bytes;
}

static bool fits(const struct dxgk_table_format *format, const struct vidmm *vidmm,
                 const struct complaint *to)
{
    const struct table_geometry *geometry = &vidmm->mmu->geometry;

    if (!table_format_sound(format, to->text, to->bytes))
        return false;
    if (format->levels != geometry->levels)
        return complain(to, "it has %u levels, the driver's tables %u", format->levels,
                        geometry->levels);
    for (unsigned level = 0; level < geometry->levels; level++) {
        if (level + 1 == geometry->levels && geometry->resizable_root)
            continue;
        if (geometry->entries[level] != 1u << format->index_bits[level])
            return complain(to, "it has %u entries in a table of level %u, the driver %u",
                            1u << format->index_bits[level], level, geometry->entries[level]);
        if (bytes_of(format, geometry->entries[level]) >
            vidmm->config.level[level].PageTableSizeInBytes)
            return complain(to, "%u entries of %u bytes are more than a table of level %u has: %u",
                            geometry->entries[level], format->entry_bytes, level,
                            vidmm->config.level[level].PageTableSizeInBytes);
    }
    if (geometry->twins && bytes_of(format, geometry->entries[0] >> TWIN_SHIFT) >
                               geometry->caps.LeafPageTableSizeFor64KPagesInBytes)
        return complain(to, "%u entries of %u bytes are more than a table of 64 KiB pages has: %u",
                        geometry->entries[0] >> TWIN_SHIFT, format->entry_bytes,
                        geometry->caps.LeafPageTableSizeFor64KPagesInBytes);
    return true;
}

void table_format_begin(struct vidmm *vidmm)
{
    const struct dxgk_table_format *format = vidmm->config.table_format;
    char text[160] = "";

    if (format && vidmm->config.check_tables && vidmm->mmu &&
        !fits(format, vidmm, &(struct complaint){text, sizeof(text)}))
        NOTE("GPUVA-260", "page tables are not compared by the format %s: %s",
             format->name ? format->name : "without a name", text);
}

const struct dxgk_table_format *table_format_of(struct vidmm *vidmm)
{
    const struct dxgk_table_format *format = vidmm->config.table_format;
    char text[160] = "";

    if (!format && vidmm->config.device)
        format = bus_device_table_format(vidmm->config.device);
    return format && vidmm->mmu && fits(format, vidmm, &(struct complaint){text, sizeof(text)})
               ? format
               : NULL;
}
