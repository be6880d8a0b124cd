/* SPDX-License-Identifier: MIT */
/*
 * A GPU virtual address space: its record, its life, and the host's own mappings in it. Theory of
 * operation in address_space.c. Lock held.
 */
#ifndef DXGK_VIDMM_ADDRESS_SPACE_H
#define DXGK_VIDMM_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "sim/wait.h"
#include "util/extent.h"
#include "util/list.h"
#include "util/slab.h"
#include "util/span_tree.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/vidmm_record.h"

struct gpu_va;
struct page_table;
struct vidmm_run;
struct vidmm_space;

/* What the writing of page tables asks of the records of a space. */
struct space_records {
    /* Write all pages of a leaf table that are not invalid, with tables_write_leaf. */
    void (*refill)(struct vidmm_space *space, struct page_table *leaf);
    /* Write a span anew that had large pages. */
    void (*rewrite)(struct vidmm_space *space, uint64_t first, uint64_t count);
};

struct vidmm_space {
    struct vidmm *vidmm;
    struct gpu_mmu *mmu;
    struct vidmm_process *process;
    const struct space_records *records;
    struct list link; /* mmu->spaces */
    bool paging;      /* of the paging process */
    bool immediate;   /* see space_immediate */
    bool closing;     /* goes without further operations */
    /* NULL until the first request on an adapter with a resizable root */
    struct page_table *root;
    struct extent_tree free; /* pages; what no range covers */
    struct span_tree ranges;
    struct slab range_slab, piece_slab;
    /* ranges whose entries are still to be invalidated, oldest first */
    struct list freed;
    struct list unclean; /* mmu->unclean while `freed` is not empty */
    bool cleaning;       /* clean_job is queued, to empty `freed` */
    struct paging_job clean_job;
    uint32_t announcing;        /* threads inside root_announce */
    struct sim_waitq announced; /* woken when the last of them is done */
    /* PageTableUpdateRequireAddressSpaceIdle: until tables_settle */
    bool suspended;
    uint32_t references; /* queued jobs that point here, and 1 while it lives */
    struct list doomed;  /* unlinked tables, until tables_settle */
    /* tables visible to the paging process, until tables_settle */
    struct list windows;
    uint64_t flush_first, flush_end; /* pages that need FLUSH_TLB; first >= end: none */
    NTSTATUS status;                 /* first failure of an operation since tables_settle */
    uint64_t operations;             /* UPDATE_PAGE_TABLE and FLUSH_TLB built so far */
};

/* Its tables are being set up (again), or the adapter stops: updates are CPU_VIRTUAL and need no
 * buffer (GPUVA-182). */
static inline bool space_immediate(const struct vidmm_space *space)
{
    return space->immediate || (space->paging && !space->vidmm->started);
}

NTSTATUS space_create(struct vidmm *vidmm, struct vidmm_process *process, bool paging,
                      struct vidmm_space **space);
void space_destroy(struct vidmm_space *space);
/* An address range of the host's own in a space, mapped to these runs; *va chosen in the internal
 * range or [low, high). `commands`: the GPU fetches commands there. */
NTSTATUS space_map_internal(struct vidmm_space *space, const struct vidmm_run *runs,
                            uint32_t run_count, uint64_t low, uint64_t high, bool commands,
                            struct gpu_va *va);
void space_unmap_internal(struct vidmm_space *space, struct gpu_va va, uint64_t pages);
HANDLE space_process_handle(const struct vidmm_space *space);
bool space_validate(const struct vidmm_space *space);

/* Invalidate what was freed in any space (builder's fiber); starts every other write. */
void spaces_clean(struct vidmm *vidmm);
/* The same soon, as a job of the worker. If that cannot be queued, the next write does it. */
void space_clean_later(struct vidmm_space *space);
void space_retain(struct vidmm_space *space);
void space_release(struct vidmm_space *space);
/* After content of memory segments was lost: write the tables of all spaces but the paging
 * process's anew (builder's fiber). */
NTSTATUS space_rebuild_all(struct vidmm *vidmm);

#endif
