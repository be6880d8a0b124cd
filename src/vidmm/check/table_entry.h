/* SPDX-License-Identifier: MIT */
/* An entry of a page table as both sides mean it: read from a DXGK_PTE, or from bytes in the format
 * of a GPU. */
#ifndef DXGK_VIDMM_TABLE_ENTRY_H
#define DXGK_VIDMM_TABLE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct dxgk_table_format;
struct page_table;
struct text_line;

struct table_entry {
    bool valid, zero;
    bool large;                           /* above level 0: a block */
    bool big;                             /* level 1: entries of 64 KiB below */
    bool read_only, no_execute, coherent; /* level 0 */
    bool segment_known;
    uint32_t segment;
    uint64_t offset; /* in the segment; with an unknown segment, what the address field has */
};

/* What two entries differ in; of several, the first in this order. */
enum entry_part {
    ENTRY_SAME,
    ENTRY_VALID,
    ENTRY_ZERO_BIT,
    ENTRY_LARGE,
    ENTRY_BIG,
    ENTRY_SEGMENT,
    ENTRY_ADDRESS,
    ENTRY_READ_ONLY,
    ENTRY_NO_EXECUTE,
    ENTRY_COHERENT,
};

struct table_entry table_entry_asked(const DXGK_PTE *pte, unsigned level);
/* `bytes`: those of the entry. */
struct table_entry table_entry_read(const struct dxgk_table_format *format, const void *bytes,
                                    unsigned level);
/* How many entries the memory of a table has room for. */
uint64_t table_entry_room(const struct dxgk_table_format *format, const struct page_table *table);
/* Where one stands in memory; NULL: that ends before it, or the CPU does not see it. */
const uint8_t *table_entry_at(const struct dxgk_table_format *format,
                              const struct page_table *table, uint32_t index);
/* Its first 8 bytes, for reports. */
uint64_t table_entry_bits(const struct dxgk_table_format *format, const void *bytes);
/* Bits that the format does not have are not compared. */
enum entry_part table_entry_differ(const struct dxgk_table_format *format,
                                   const struct table_entry *asked, const struct table_entry *found,
                                   unsigned level);
/* "page at segment 1 offset 0x5000, read-only". */
void table_entry_say(struct text_line *line, const struct table_entry *entry, unsigned level);

#endif
