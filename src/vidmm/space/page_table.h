/* SPDX-License-Identifier: MIT */
/*
 * Page tables of one GPU virtual address space: the record of each table, the memory it is in, and
 * which tables must exist. page_table_write.h writes entries. Theory of operation in page_table.c.
 *
 * Positions and counts are in pages of 4 KiB. The lock must be held. Functions that may build
 * operations are for the builder's fiber (paging.h), and say so.
 */
#ifndef DXGK_VIDMM_PAGE_TABLE_H
#define DXGK_VIDMM_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/address.h"
#include "util/bits.h"
#include "util/list.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/space/gpu_mmu.h"

struct table_asked;
struct table_geometry;

/* The memory of a table. */
struct table_place {
    struct vidmm_run run;     /* where the GPU accesses it */
    struct page_number frame; /* if it is in system memory */
    uint64_t pages;           /* 0: none */
    bool written;             /* the driver was asked to write there */
};

/*
 * A leaf table of 4 KB entries may have a twin of 64 KB entries, for the same addresses and for
 * life (GPUVA-205). In dual PTE mode both are linked: of a page whose bit in twin->set is set the
 * entry is there, and those of the leaf are invalid (GPUVA-210). In single PTE mode one of them is:
 * the twin while `wide` is set, until a page is to be mapped that cannot be there; then the leaf,
 * for good (GPUVA-206 to GPUVA-208). The bits in leaf->set say of both kinds that an address is
 * translated.
 */
#define TWIN_SHIFT 4u
#define TWIN_PAGES (1u << TWIN_SHIFT)

struct page_table {
    struct vidmm_space *space;
    struct page_table *parent; /* NULL: root */
    struct page_table **child; /* tables below; not on level 0 */
    struct page_table *twin;   /* of a leaf; NULL: none */
    bool is_twin;              /* it is the one of 64 KB entries */
    bool wide;                 /* of a leaf: its twin is in use instead */
    uint64_t *set;             /* bit: the entry is not invalid */
    uint64_t *large;           /* bit: the entry maps a large page; NULL on level 0 */
    uint64_t first;            /* first page that it translates */
    /* level 0: number of pages that may be mapped; above: number of tables below. On each level,
     * plus the edges of fills (page_table.c). The table is needed while this is not 0. */
    uint64_t uses;
    uint32_t entries;
    uint32_t index;   /* its entry in the parent */
    uint32_t process; /* its id in the chronicle */
    uint8_t level;
    bool ready; /* all entries have been written, and the parent links to it */
    /* It has left its segment: what is recorded here is what it will have when it comes back, and
     * no operation about it is built (table_residency.c). */
    bool absent;
    bool evictable;     /* counted so in its segment */
    uint64_t pages;     /* of its place, when it has one */
    struct list placed; /* space->tables.placed, while it may be evicted */
    struct table_place place;
    /* GPU_VIRTUAL: its address in the paging process while it is being written; 0: not mapped */
    struct gpu_va window;
    struct list link; /* in the `doomed` or `windows` list of the space */
    struct paging_deferred deferred;
    struct table_asked *asked; /* NULL: not recorded */
};

static inline uint64_t table_entry_pages(const struct table_geometry *geometry, unsigned level)
{
    return (uint64_t)1 << geometry->shift[level];
}
/* Page-number bits below the index of its entries. */
static inline unsigned table_shift(const struct table_geometry *geometry,
                                   const struct page_table *table)
{
    return table->is_twin ? TWIN_SHIFT : geometry->shift[table->level];
}
/* The leaf table that has the entry of the page: the leaf, or its twin. */
static inline const struct page_table *table_in_use(const struct page_table *leaf, uint64_t page)
{
    const struct page_table *twin = leaf->twin;

    if (!twin)
        return leaf;
    return leaf->wide || bit_test(twin->set, (uint32_t)((page - leaf->first) >> TWIN_SHIFT)) ? twin
                                                                                             : leaf;
}
static inline uint32_t table_index(const struct page_table *table, unsigned shift, uint64_t page)
{
    return (uint32_t)((page - table->first) >> shift);
}

/* Create a table of `entries` entries that begins at the page which `index` in the parent selects;
 * it has memory, but is not ready. `bytes` 0: the size in the level's descriptor. */
NTSTATUS table_create(struct vidmm_space *space, struct page_table *parent, unsigned level,
                      uint32_t index, uint32_t entries, uint64_t bytes, struct page_table **table);
/* Its memory, and that of its twin: give it up, and take some again (STATUS_NO_MEMORY, ... as
 * table_create). */
void table_leave(struct page_table *table);
NTSTATUS table_enter(struct page_table *table);
/* The same, without a twin, beside those pages of its segment, if there is room. */
NTSTATUS table_enter_beside(struct page_table *table, uint64_t hole, uint64_t pages);
/* It counts as pinned from now on. */
void table_stay(struct page_table *table);
/* Free a table, with its memory, at once: the GPU cannot reach it (any more). It must
 * have no tables below. */
void table_destroy(struct page_table *table);
/* Free a table and all tables below it, without building operations. Memory is freed when the
 * operations built so far are done. */
void table_abandon(struct page_table *table);
D3DGPU_PHYSICAL_ADDRESS table_address(const struct page_table *table);
/* Its first byte, for the CPU; NULL: it lies in a segment that the CPU does not see, or nowhere. */
void *table_cpu(const struct page_table *table);

/*
 * ---- which tables must exist ----
 *
 * On failure nothing is held: STATUS_NO_MEMORY (segment full), STATUS_INSUFFICIENT_RESOURCES (host
 * memory), STATUS_RETRY.
 */

/* Hold all leaf tables of [first, first + count), so that its pages may be mapped; creates those
 * that are missing. Pages may be dropped one at a time. */
NTSTATUS tables_hold(struct vidmm_space *space, uint64_t first, uint64_t count);
void tables_drop(struct vidmm_space *space, uint64_t first, uint64_t count);
/* Pages whose leaf tables are held so, while it is on the list of the space. */
struct table_hold {
    struct list link; /* space->holds */
    uint64_t first, pages;
};
/* The leaf table of the page; NULL: there is none. */
struct page_table *tables_leaf(const struct vidmm_space *space, uint64_t page);
/* Hold the tables that are needed because page `edge`, where the content of entries changes, is in
 * the middle of an entry of an upper table. */
NTSTATUS tables_hold_edge(struct vidmm_space *space, uint64_t edge);
void tables_drop_edge(struct vidmm_space *space, uint64_t edge);
/* True if an entry in [first, first + count) is not invalid, or a table there that the GPU can
 * reach is no longer held. Then tables_write must be called. */
bool tables_need_write(const struct vidmm_space *space, uint64_t first, uint64_t count);
/* Free tables that are not held and that the GPU never reached. */
void tables_prune(struct vidmm_space *space, uint64_t first, uint64_t count);
bool tables_validate(const struct vidmm_space *space);

#endif
