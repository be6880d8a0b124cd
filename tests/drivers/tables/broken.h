/* SPDX-License-Identifier: MIT */
/* The mistakes of the driver `tables`, as the value TableFault of its service key. */
#ifndef DXGK_TESTS_TABLES_BROKEN_H
#define DXGK_TESTS_TABLES_BROKEN_H

/* Mistakes in leaf entries are made in updates of that many entries. */
#define TABLES_VICTIM_PAGES 24u

enum table_fault {
    TABLES_SOUND,
    TABLES_WRONG_LEVEL,   /* the entries of a leaf go into the table above it */
    TABLES_WRONG_PAGE,    /* each entry points to the page after its own */
    TABLES_STALE,         /* entries are not made invalid */
    TABLES_NO_FLUSH,      /* nothing is done for FLUSH_TLB */
    TABLES_BIG,           /* leaf tables are said to have pages of 64 KiB */
    TABLES_WRONG_SEGMENT, /* pages of video memory become pages of the aperture */
    TABLES_LATE,          /* entries are written by the next paging buffer */
    TABLES_CHUNK,         /* the second third of the entries is forgotten */
    TABLES_WRITABLE,      /* ReadOnly is ignored */
    TABLES_FIRST_ROOT,    /* the first root table that a client had is that of all */
    TABLES_HANG,          /* the GPU hangs before it writes them, once: no mistake in tables */
    TABLES_KEPT_LINK,     /* an upper entry keeps pointing to the first table that it had */
};

#endif
