/* SPDX-License-Identifier: MIT */
/*
 * What the driver was asked to write into page tables, entry by entry, with the call that asked for
 * it last. Kept only while tables are checked (vidmm_config.check_tables); without it each function
 * costs a branch. Lock held. Theory of operation in table_asked.c.
 */
#ifndef DXGK_VIDMM_TABLE_ASKED_H
#define DXGK_VIDMM_TABLE_ASKED_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/list.h"
#include "vidmm/record/paging_record.h"

struct page_table;
struct table_change;
struct vidmm;
struct vidmm_space;

#define FLUSHES_KEPT 64u

/* One operation of DxgkDdiBuildPagingBuffer. UPDATE_PAGE_TABLE: kept while an entry names it. */
struct table_call {
    uint64_t number;         /* of its first call of the DDI, among all of the adapter */
    uint64_t ticket;         /* it has completed with that one; 0: when it returned */
    bool building;           /* the driver is in it */
    bool discarded;          /* built in a reset: never carried out */
    uint64_t time;           /* virtual ns */
    uint64_t address, bytes; /* GPU virtual addresses that it is about */
    uint32_t start, count;   /* entries */
    uint8_t level;
    bool repeat, initial;
    uint64_t users; /* entries that name it */
};

struct asked_entry {
    DXGK_PTE now, before;              /* before: by the call before that */
    struct table_call *by, *by_before; /* NULL: nothing was asked for */
    bool told;                         /* that it is wrong: once for each call */
    bool stale_told;                   /* that a translation from before it is used */
};

/* Of one table. */
struct table_asked {
    struct list changed; /* in table_watch.changed: calls have asked since it was looked at */
    struct page_table *table;
    bool short_told; /* that its memory ends before its entries */
    struct asked_entry entry[];
};

/* Who reads the tables: the code that checks them is above. */
struct table_reader {
    /* Look at the changed tables: calls have completed. */
    void (*look)(struct vidmm *vidmm);
    /* An entry as it stands in memory, beside what was asked for, in brackets; "" if it cannot. */
    void (*describe)(const struct page_table *table, uint32_t index, char *text, size_t bytes);
};

/* Of an adapter. */
struct table_watch {
    bool on;
    struct list changed;              /* struct table_asked.changed */
    struct paging_deferred completed; /* runs reader->look when what was built has completed */
    bool queued;
    const struct table_reader *reader;
    uint64_t unkept; /* entries that no record was kept of, for want of memory */
    /* From a loss of what was written, or was to be, until all tables are written anew. */
    bool lost;
};

/* The last flushes of a space, a ring. */
struct flushes_asked {
    uint64_t count; /* ever */
    struct table_call last[FLUSHES_KEPT];
};

void table_watch_init(struct table_watch *watch, const struct table_reader *reader);

/* The table was made; it goes. */
void asked_begin(struct page_table *table);
void asked_end(struct page_table *table);
/* The operation will be built; `number`: of the first of its calls. NULL: it is not recorded. And
 * it was built. */
struct table_call *asked_update(const struct table_change *change, uint64_t number);
void asked_built(const struct vidmm_space *space, struct table_call *call);
/* The GPU will copy others over these entries: nobody knows what they are, until they are written
 * again. */
void asked_copied(struct page_table *leaf, uint32_t start, uint32_t count);
/* A flush was built. */
void asked_flush(struct vidmm_space *space, uint64_t first, uint64_t count, uint64_t number);
/* Has it been carried out? */
bool asked_done(const struct vidmm *vidmm, const struct table_call *call);
/* The first flush after `number` that covers the page; NULL: none that is kept. */
const struct table_call *asked_flush_after(const struct vidmm_space *space, uint64_t page,
                                           uint64_t number);

#endif
