/* SPDX-License-Identifier: MIT */
/*
 * A GPU virtual address space (compare drm_gpuvm): its record, creating and destroying it, and the
 * host's own mappings in it. Theory of operation in address_space.c. Lock held.
 */
#ifndef DXGK_VIDMM_ADDRESS_SPACE_H
#define DXGK_VIDMM_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "sim/wait.h"
#include "util/list.h"
#include "util/range_map.h"
#include "util/slab.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/va_history.h"

struct flushes_asked;
struct gpu_va;
struct page_table;
struct va_piece;
struct va_range;
struct vidmm_run;
struct vidmm_space;

/* Callbacks by which the code that writes page tables asks what entries should contain. They are
 * va_piece_records (va_piece.h); a table of pointers, since that code is below. */
struct space_records {
    /* Write all valid or Zero entries of a leaf table, with tables_write_leaf. */
    void (*refill)(struct vidmm_space *space, struct page_table *leaf);
    /* The same for some pages of it. */
    void (*refill_part)(struct page_table *leaf, uint64_t first, uint64_t count);
    /* Can all that is mapped there, and there is something, be mapped by 64 KB entries? */
    bool (*wide_only)(struct page_table *leaf);
    /* Write again the entries of a span that was mapped with large pages. */
    void (*rewrite)(struct vidmm_space *space, uint64_t first, uint64_t count);
};

/* Which of its tables are in their segments (table_residency.c). */
struct space_tables {
    bool stay;       /* none is evicted */
    bool away;       /* some are not there, or not everything in them is written yet */
    bool root_moved; /* and has not been announced */
    bool returning;  /* `returned` is queued */
    struct paging_deferred returned;
    uint64_t absent; /* tables that have no memory */
    /* by level: page_table.placed, tables that may be evicted, oldest first */
    struct list placed[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];
    uint64_t held[VIDMM_MAX_SEGMENTS]; /* by segment: pages of all tables, absent ones included */
    uint64_t here[VIDMM_MAX_SEGMENTS]; /* pages of those on the lists */
    /* of the search for a victim: no context executes; the last use of any */
    bool idle;
    uint64_t used_at;
};

struct vidmm_space {
    struct vidmm *vidmm;
    struct gpu_mmu *mmu;
    struct vidmm_process *process;
    const struct space_records *records;
    struct list link;  /* mmu->spaces */
    bool paging;       /* it is the paging process's */
    bool privileged;   /* the second one of its process (privileged_space.h) */
    uint64_t jobs;     /* struct va_job.order: how many have waited for a range */
    struct list holds; /* struct table_hold.link: tables that are held beside those of pieces */
    bool immediate;    /* see space_immediate */
    bool closing;      /* being destroyed, without building operations */
    /* NULL only while the space is created or destroyed */
    struct page_table *root;
    struct range_map ranges; /* all pages; the owners are struct va_range */
    struct va_history history;
    struct flushes_asked *flushes; /* NULL: not recorded */
    struct slab range_slab, piece_slab;
    /* freed ranges whose entries are still to be invalidated, oldest first */
    struct list freed;
    struct list unclean; /* mmu->unclean while `freed` is not empty */
    bool cleaning;       /* clean_job, which empties `freed`, is queued */
    struct paging_job clean_job;
    uint32_t announcing;        /* threads inside root_announce */
    struct sim_waitq announced; /* woken when `announcing` becomes 0 */
    /* PageTableUpdateRequireAddressSpaceIdle: its process is suspended until tables_settle */
    bool suspended;
    uint32_t references; /* one for each queued job that points here, and one while it exists */
    struct list doomed;  /* unlinked tables, freed by tables_settle */
    /* tables mapped in the paging process until tables_settle */
    struct list windows;
    uint64_t flush_first, flush_end; /* pages that need FLUSH_TLB; first >= end: none */
    struct space_tables tables;
    NTSTATUS status;     /* first failure of an operation since the last tables_settle */
    uint64_t operations; /* UPDATE_PAGE_TABLE and FLUSH_TLB built so far */
};

/* Its tables are being set up (again), or the adapter is stopping: updates use CPU_VIRTUAL and no
 * paging buffer (GPUVA-182). */
static inline bool space_immediate(const struct vidmm_space *space)
{
    return space->immediate || (space->paging && !space->vidmm->started);
}

NTSTATUS space_create(struct vidmm *vidmm, struct vidmm_process *process, bool paging,
                      struct vidmm_space **space);
void space_destroy(struct vidmm_space *space);
/* Map all of a range that was just created by a piece with these values, and write its entries
 * (builder's fiber); on failure the range is gone. */
NTSTATUS space_map_whole(struct va_range *range, struct va_piece *values);
/* Map these runs in a range that the host owns; *va is chosen in the internal range, or in [low,
 * high). `commands`: the GPU fetches commands from there. */
NTSTATUS space_map_internal(struct vidmm_space *space, const struct vidmm_run *runs,
                            uint32_t run_count, uint64_t low, uint64_t high, bool commands,
                            struct gpu_va *va);
/* The same at a multiple of `align` bytes (0: of a page), anywhere. */
NTSTATUS space_map_internal_at(struct vidmm_space *space, const struct vidmm_run *runs,
                               uint32_t run_count, uint64_t align, bool commands, struct gpu_va *va);
void space_unmap_internal(struct vidmm_space *space, struct gpu_va va);
bool space_validate(const struct vidmm_space *space);

/* Invalidate the entries of all freed ranges, in every space (builder's fiber). Must be called
 * before any other entry is written. */
void spaces_clean(struct vidmm *vidmm);
/* Have a job do that soon. If the job cannot be queued, the next write does it. */
void space_clean_later(struct vidmm_space *space);
void space_retain(struct vidmm_space *space);
void space_release(struct vidmm_space *space);
/* After the content of memory segments was lost: write the page tables of all spaces again, except
 * the paging process's (builder's fiber). */
NTSTATUS space_rebuild_all(struct vidmm *vidmm);

#endif
