/* SPDX-License-Identifier: MIT */
/*
 * The format of a GPU's page tables, as data, and what a walk of its MMU found. The host knows no
 * format by itself: only with a description can it read what a driver has written (--check-page-tables,
 * docs/page-tables.md).
 */
#ifndef DXGKHOST_PAGE_TABLES_H
#define DXGKHOST_PAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#define DXGK_TABLE_LEVELS   6u
#define DXGK_TABLE_SEGMENTS 8u

/* Where the address of an entry begins that points into a segment, and the bits that say so. */
struct dxgk_table_segment {
    uint32_t segment; /* as in the driver's segment table; 0: system memory */
    uint64_t bits;    /* of `segment_mask` */
    uint64_t base;    /* what the address field has for offset 0 */
};

/*
 * An entry has 4, 8 or 16 bytes, little endian. Masks are of its first 8 bytes; 0: the GPU has no
 * such bit, and it is not compared. Level 0 is the leaf.
 */
struct dxgk_table_format {
    const char *name;
    uint32_t entry_bytes;
    uint32_t levels;
    uint32_t index_bits[DXGK_TABLE_LEVELS];
    uint64_t valid;      /* all of them set: the entry is valid */
    uint64_t zero;       /* and its whole span reads as zero */
    uint64_t read_only;  /* level 0 */
    uint64_t no_execute; /* level 0 */
    uint64_t coherent;   /* level 0 */
    uint64_t large;      /* above level 0: it maps a block, not a table */
    uint64_t big;        /* level 1: the table below has entries of 64 KiB */
    /* address = (8 bytes at 8 * address_word & address_mask) << address_shift */
    uint32_t address_word, address_shift;
    uint64_t address_mask;
    uint64_t segment_mask;
    uint32_t segments; /* elements of segment[]; 0: entries do not say it, and it is not compared */
    struct dxgk_table_segment segment[DXGK_TABLE_SEGMENTS];
    bool tables_plain; /* entries that point to tables have no bits of segments, and base 0 */
    /* bits of `read_only` and `no_execute` that say so when they are clear: an entry has a bit for
     * writing */
    uint64_t inverted;
};

/* One entry that a walk has read. */
struct dxgk_walk_step {
    uint32_t level, index;
    uint64_t entry; /* its first 8 bytes */
};

/* How the MMU translates an address by the tables alone, whatever its TLB keeps. */
struct dxgk_walk {
    uint32_t steps; /* from the root on */
    struct dxgk_walk_step step[DXGK_TABLE_LEVELS];
    bool valid; /* it ended at a page; else an access faults, and the rest is unset */
    bool zero;
    bool read_only;
    bool no_execute;
    uint32_t segment; /* of the page */
    uint64_t offset;  /* of the byte; in system memory its bus address */
};

/* A translation that the TLB keeps and that was used, although the tables say something else. */
struct dxgk_stale_translation {
    uint32_t engine;
    uint32_t command; /* a number of the work that used it, for reports: its fence */
    uint64_t root;    /* offset of the root table in its segment */
    uint64_t address;
    uint64_t kept, now; /* leaf entries: in the TLB, and in the table; 0: none is valid there */
};

/* What a device model tells of its MMU. */
struct dxgk_device_mmu {
    uint32_t size;                          /* of this structure, for later versions */
    const struct dxgk_table_format *format; /* NULL: it describes none */
    /* Walk the tables from a root (offset in its segment), without any effect. False: it cannot tell.
     * NULL: the model has no such function. */
    bool (*walk)(void *device, uint64_t root, uint64_t address, struct dxgk_walk *walk);
    uint32_t format_size; /* of *format; models that do not have this member know no `inverted` */
};

#endif
