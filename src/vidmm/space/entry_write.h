/* SPDX-License-Identifier: MIT */
/* Writing the entries of one table, whatever is above and below it (builder's fiber). */
#ifndef DXGK_VIDMM_ENTRY_WRITE_H
#define DXGK_VIDMM_ENTRY_WRITE_H

#include <stdint.h>

struct entry_source;
struct page_table;

/* First page that an entry translates. */
uint64_t entry_first(const struct page_table *table, uint32_t index);
/* A fill, of a table of any level. */
void entries_fill(struct page_table *table, uint32_t start, uint32_t count,
                  const struct entry_source *source);
/* Entries of 4 KB in a leaf, of any source. */
void entries_write(struct page_table *leaf, uint64_t first, uint64_t count,
                   struct entry_source *source);
/* Link entries to the tables below; all of them have one. */
void entries_link(struct page_table *table, uint32_t start, uint32_t count);

#endif
