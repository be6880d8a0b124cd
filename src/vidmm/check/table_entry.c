/* SPDX-License-Identifier: MIT */
#include "vidmm/check/table_entry.h"
#include "dxgkhost/page_tables.h"
#include "util/address.h"
#include "util/text_line.h"
#include "vidmm/space/page_table.h"

#include <string.h>

struct table_entry table_entry_asked(const DXGK_PTE *pte, unsigned level)
{
    return (struct table_entry){
        .valid = pte->Valid,
        .zero = pte->Valid && pte->Zero,
        .large = level > 0 && pte->LargePage,
        .big = level == 1 && pte->PageTablePageSize == DXGK_PTE_PAGE_TABLE_PAGE_64KB,
        .read_only = level == 0 && pte->ReadOnly,
        .no_execute = level == 0 && pte->NoExecute,
        .coherent = level == 0 && pte->CacheCoherent,
        .segment_known = true,
        .segment = pte->Segment,
        .offset = pte->PageAddress << PAGE_BITS,
    };
}

static bool has(uint64_t bits, uint64_t mask)
{
    return mask && (bits & mask) == mask;
}

uint64_t table_entry_room(const struct dxgk_table_format *format, const struct page_table *table)
{
    return (table->place.pages << PAGE_BITS) / format->entry_bytes;
}

const uint8_t *table_entry_at(const struct dxgk_table_format *format,
                              const struct page_table *table, uint32_t index)
{
    const uint8_t *memory = index < table_entry_room(format, table) ? table_cpu(table) : NULL;

    return memory ? memory + (size_t)index * format->entry_bytes : NULL;
}

uint64_t table_entry_bits(const struct dxgk_table_format *format, const void *bytes)
{
    uint64_t bits = 0;

    memcpy(&bits, bytes, format->entry_bytes < sizeof(bits) ? format->entry_bytes : sizeof(bits));
    return bits;
}

static uint64_t address_of(const struct dxgk_table_format *format, const void *bytes)
{
    const uint8_t *at = (const uint8_t *)bytes + 8u * format->address_word;
    uint64_t bits = 0;

    memcpy(&bits, at, format->entry_bytes < sizeof(bits) ? format->entry_bytes : sizeof(bits));
    return (bits & format->address_mask) << format->address_shift;
}

static void place(const struct dxgk_table_format *format, uint64_t bits, struct table_entry *entry)
{
    for (uint32_t i = 0; i < format->segments; i++) {
        const struct dxgk_table_segment *segment = &format->segment[i];

        if ((bits & format->segment_mask) != segment->bits)
            continue;
        entry->segment_known = true;
        entry->segment = segment->segment;
        entry->offset -= segment->base;
        return;
    }
}

struct table_entry table_entry_read(const struct dxgk_table_format *format, const void *bytes,
                                    unsigned level)
{
    const uint64_t bits = table_entry_bits(format, bytes) ^ format->inverted;
    struct table_entry entry = {
        .valid = has(bits, format->valid),
        .large = level > 0 && has(bits, format->large),
        .big = level == 1 && has(bits, format->big),
        .read_only = level == 0 && has(bits, format->read_only),
        .no_execute = level == 0 && has(bits, format->no_execute),
        .coherent = level == 0 && has(bits, format->coherent),
        .offset = address_of(format, bytes),
    };

    entry.zero = entry.valid && has(bits, format->zero);
    if (level == 0 || entry.large || !format->tables_plain)
        place(format, bits, &entry);
    return entry;
}

enum entry_part table_entry_differ(const struct dxgk_table_format *format,
                                   const struct table_entry *asked, const struct table_entry *found,
                                   unsigned level)
{
    if (asked->valid != found->valid)
        return ENTRY_VALID;
    if (!asked->valid)
        return ENTRY_SAME;
    if (format->zero && asked->zero != found->zero)
        return ENTRY_ZERO_BIT;
    if (asked->zero)
        return ENTRY_SAME;
    if (format->large && asked->large != found->large)
        return ENTRY_LARGE;
    if (level == 1 && format->big && asked->big != found->big)
        return ENTRY_BIG;
    if (found->segment_known && asked->segment != found->segment)
        return ENTRY_SEGMENT;
    if (format->segments && !found->segment_known &&
        (level == 0 || asked->large || !format->tables_plain))
        return ENTRY_SEGMENT;
    if (asked->offset != found->offset)
        return ENTRY_ADDRESS;
    if (level > 0)
        return ENTRY_SAME;
    if (format->read_only && asked->read_only != found->read_only)
        return ENTRY_READ_ONLY;
    if (format->no_execute && asked->no_execute != found->no_execute)
        return ENTRY_NO_EXECUTE;
    if (format->coherent && asked->coherent != found->coherent)
        return ENTRY_COHERENT;
    return ENTRY_SAME;
}

void table_entry_say(struct text_line *line, const struct table_entry *entry, unsigned level)
{
    if (!entry->valid) {
        text_line_add(line, "invalid");
        return;
    }
    if (entry->zero) {
        text_line_add(line, "Zero");
        return;
    }
    text_line_add(line, "%s at ", level == 0 ? "page" : entry->large ? "large page" : "table");
    if (!entry->segment_known)
        text_line_add(line, "0x%llx", (unsigned long long)entry->offset);
    else if (entry->segment == 0)
        text_line_add(line, "system memory 0x%llx", (unsigned long long)entry->offset);
    else
        text_line_add(line, "segment %u offset 0x%llx", entry->segment,
                      (unsigned long long)entry->offset);
    if (entry->big)
        text_line_add(line, ", with pages of 64 KiB");
    if (entry->read_only)
        text_line_add(line, ", read-only");
    if (entry->no_execute)
        text_line_add(line, ", no execute");
    if (entry->coherent)
        text_line_add(line, ", coherent");
}
