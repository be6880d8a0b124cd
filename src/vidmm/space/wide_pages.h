/* SPDX-License-Identifier: MIT */
/* 64 KB pages: leaf tables with a twin (page_table.h), in dual and in single PTE mode (builder's
 * fiber). */
#ifndef DXGK_VIDMM_WIDE_PAGES_H
#define DXGK_VIDMM_WIDE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct entry_source;
struct page_table;
struct vidmm_space;

/* Write the entries of pages of a leaf that has a twin, in one table or both. */
void wide_write_leaf(struct page_table *leaf, uint64_t first, uint64_t count,
                     struct entry_source *source);
/* May a part of a leaf table be written with 64 KB entries alone? */
bool tables_are_wide(struct vidmm_space *space, uint64_t first, uint64_t count,
                     struct entry_source *source);
/* Single PTE mode: have tables of 4 KB entries there. */
void tables_make_small(struct vidmm_space *space, uint64_t first, uint64_t count);

#endif
