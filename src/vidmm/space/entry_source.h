/* SPDX-License-Identifier: MIT */
/* What page-table entries are to contain: nothing, the Zero bit, or pages, and where these are. */
#ifndef DXGK_VIDMM_ENTRY_SOURCE_H
#define DXGK_VIDMM_ENTRY_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm_space;

enum entry_state { ENTRY_INVALID, ENTRY_ZERO, ENTRY_PAGES };

struct entry_source {
    enum entry_state state;
    bool read_only, no_execute, coherent;
    bool large;                                /* large pages are allowed */
    bool wide;                                 /* entries of 64 KB are allowed */
    const struct vidmm_allocation *allocation; /* that is mapped, or NULL */
    uint64_t protection;                       /* DriverProtection */
    /* page `p` of the space maps page `p - origin` of the allocation or runs (may wrap around) */
    uint64_t origin;
    const struct logical_page *logical; /* device address of each page; or NULL, and then: */
    const struct vidmm_run *runs;       /* where the pages are */
    uint32_t run_count;
    uint64_t run_base; /* page number at which the runs start */
    uint32_t run;      /* cursor: initially 0, and run_first = run_base */
    uint64_t run_first;
};

/* The entry of a fill: nothing, or the Zero bit. */
DXGK_PTE source_fill(enum entry_state state);
/* The entries of so many pages of the space, each 1 << shift after the one before. */
void source_entries(const struct vidmm_space *space, struct entry_source *source, uint64_t first,
                    unsigned shift, DXGK_PTE *entries, uint32_t count);
/* Can the pages that begin at `first` be mapped by one large page (GPUVA-213 to GPUVA-216)? */
bool source_fits_large(const struct vidmm_space *space, struct entry_source *source, uint64_t first);
/* Can the 64 KB from that page on be mapped by one entry (GPUVA-203, GPUVA-204, GPUVA-211)? */
bool source_fits_wide(const struct vidmm_space *space, struct entry_source *source, uint64_t first);

#endif
