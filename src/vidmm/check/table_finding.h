/* SPDX-License-Identifier: MIT */
/* What is wrong with entries of page tables, in words: the rule, the place, what was asked for by
 * which call, what was found, and the walk. */
#ifndef DXGK_VIDMM_TABLE_FINDING_H
#define DXGK_VIDMM_TABLE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidmm/check/table_entry.h"

struct dxgk_table_format;
struct dxgk_walk;
struct page_table;
struct table_call;
struct vidmm_space;

enum finding_kind {
    FINDING_LEFT,    /* GPUVA-260: the update was not carried out */
    FINDING_LATE,    /* GPUVA-260: it was not, and has been since */
    FINDING_UNASKED, /* GPUVA-261: valid, and nobody asked for that */
    FINDING_WRONG,   /* a part of the entry: the rule of that part */
};

/* Entries of one table that follow each other and are wrong in the same way. */
struct table_finding {
    enum finding_kind kind;
    enum entry_part part;
    const struct dxgk_table_format *format;
    const struct page_table *table;
    uint32_t index, count;
    /* of the first one */
    struct table_entry asked, found;
    uint64_t bits;
    const struct table_call *by, *by_before;
};

bool table_finding_continues(const struct table_finding *run, const struct table_finding *next);
void table_finding_report(const struct table_finding *finding);
/* The memory of a root table ends before its entries (GPUVA-155). */
void table_finding_short(const struct dxgk_table_format *format, const struct page_table *table);
/* The device model's own walk against what was asked for; reports if they differ (GPUVA-264). */
void table_finding_walk(const struct vidmm_space *space, uint64_t address,
                        const struct table_call *by, const struct table_entry *asked,
                        const struct dxgk_walk *walk);
/* " (0x...: as call 57 asked)" for an entry as it stands in memory. */
void table_finding_entry(const struct dxgk_table_format *format, const struct page_table *table,
                         uint32_t index, const void *bytes, char *text, size_t size);

struct table_call_text {
    char text[224];
};
/* "DxgkDdiBuildPagingBuffer call 57 (UPDATE_PAGE_TABLE, level 0 [5] to [20], addresses 0x5000 to
 * 0x14fff, at 1.234 ms)". */
struct table_call_text table_call_say(const struct table_call *call, bool flush);
/* "process 1 (client)". */
struct table_call_text table_process_say(const struct vidmm_space *space);

#endif
