/* SPDX-License-Identifier: MIT */
/*
 * The records of a GPU virtual address space, for the files that work on them: address_space.c
 * (ranges and pieces), gpu_va.c (client requests), page_table*.c, paging_process.c, context*.c,
 * fence_memory.c. Other rooms, and other files of vidmm, use the functions in vidmm.h and
 * vidmm_private.h; a few more for them stand at the end. Theory of operation in address_space.c.
 */
#ifndef DXGK_VIDMM_ADDRESS_SPACE_H
#define DXGK_VIDMM_ADDRESS_SPACE_H

#include "vidmm/page_table.h"
#include "vidmm/paging_process.h"
#include "util/span_tree.h"
#include "vidmm/vidmm_private.h"

enum range_kind {
    /* D3DKMTMapGpuVirtualAddress; dies with its allocations if it began with one */
    RANGE_MAP,
    RANGE_RESERVATION, /* D3DKMTReserveGpuVirtualAddress */
    RANGE_DRIVER,      /* DxgkCbReserveGpuVirtualAddressRange */
    RANGE_CONTEXT,     /* DxgkCbMapContextAllocation; dies with its allocation */
    RANGE_INTERNAL,    /* the host's own: fence pages, paging buffers */
};

struct va_range;

/* Consecutive pages of a range that are in one state, and that if mapped map consecutive pages of
 * one object. */
struct va_piece {
    struct span_node span; /* in range->pieces; its bounds also while waiting */
    struct va_range *range;
    enum entry_state state;
    struct vidmm_allocation *allocation; /* ENTRY_PAGES; NULL: the runs of the range */
    uint64_t offset;                     /* page of the object at span.first */
    uint64_t protection;                 /* D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE.Value */
    uint64_t driver_protection;
    /* allocation->mappings, those with a unique driver protection first */
    struct list mapping;
    /* the job that will put it in place; NULL: it is in place */
    struct va_job *job;
};

struct va_range {
    struct span_node span; /* in space->ranges, then (list only) on space->freed */
    struct vidmm_space *space;
    enum range_kind kind;
    enum entry_state initial;   /* of pages without a piece */
    bool no_commit;             /* D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT */
    bool user_mapping;          /* of a driver reservation: clients may map inside */
    bool owned;                 /* dies when the last allocation in it goes */
    uint32_t owners;            /* pieces with an allocation, also those waiting */
    uint64_t driver_protection; /* of pages without a piece */
    struct span_tree pieces;
    struct list jobs;       /* struct va_job.link */
    struct vidmm_run *runs; /* RANGE_INTERNAL */
    uint32_t run_count;
    bool coherent;        /* RANGE_INTERNAL */
    struct list freed;    /* space->freed */
    struct va_piece body; /* the first piece, so that a plain mapping is one object */
    bool body_used;
};

/* Work that waits in a paging queue. */
struct va_job {
    struct list link;
    struct va_range *range; /* NULL: freed meanwhile, nothing to do (GPUVA-120) */
    struct va_piece *piece; /* NULL: write the initial state of the range */
    struct va_piece *spare; /* for a piece that is cut in two */
    struct vidmm_space *space;
};

struct vidmm_space {
    struct vidmm *vidmm;
    struct paging_process *shared;
    struct vidmm_process *process;
    struct list link; /* shared->spaces */
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
    struct list unclean; /* shared->unclean while `freed` is not empty */
    bool cleaning;       /* clean_job is queued, to empty `freed` */
    struct paging_job clean_job;
    uint32_t announcing;        /* threads inside context_announce_root */
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

/* ---- ranges (address_space.c; lock held) ---- */

/* Where a range may stand. Zero-initialise, then set what is wanted; pages. */
struct va_request {
    uint64_t base; /* exactly here; 0: choose */
    uint64_t pages;
    uint64_t low, high; /* window for a choice; high 0: end of the space */
    uint64_t align;     /* 0: as GPUVA-062 */
    bool internal;      /* for the host: the internal range, from its end */
};
/* Address space only. STATUS_INVALID_PARAMETER (fixed place taken or outside), STATUS_NO_MEMORY,
 * STATUS_INSUFFICIENT_RESOURCES. */
NTSTATUS range_create(struct vidmm_space *space, enum range_kind kind,
                      const struct va_request *request, struct va_range **range);
/* Undo range_create; no piece is in it, no entry was written for it. */
void range_discard(struct va_range *range);
struct va_range *range_at(const struct vidmm_space *space, uint64_t page);
/* Free its addresses now and its entries by the next write to the space. True: such a write is
 * needed (space_clean). */
bool range_free(struct va_range *range);

/* A piece that is in no tree yet; hold its tables. Fails as tables_hold. */
NTSTATUS piece_create(struct va_range *range, const struct va_piece *values,
                      struct va_piece **piece);
/* Undo piece_create. */
void piece_discard(struct va_piece *piece);
/* The job's turn will do nothing (GPUVA-120); its piece goes. */
void va_job_cancel(struct va_job *job);
/* Take a piece that is in place out of its range; its entries are the caller's to write. */
void piece_remove(struct va_piece *piece);
/* Memory of a piece that is on no list. */
void piece_give(struct va_range *range, struct va_piece *piece);
/* What the entries of its pages say. */
void piece_source(const struct va_piece *piece, struct entry_source *source);
/* Put it in place; what it covers goes. `spare` may be used (*spare becomes NULL). Entries are the
 * caller's to write. */
void piece_apply(struct va_piece *piece, struct va_piece **spare);
/* Write the entries of a piece, or of the initial state of [first, first + pages) (builder's
 * fiber). */
void piece_write(struct va_piece *piece);
void range_write_initial(struct va_range *range, uint64_t first, uint64_t pages);
/* Does placing the piece need operations? */
bool piece_needs_write(const struct va_piece *piece);

/* Invalidate what was freed in any space (builder's fiber); starts every other write. */
void spaces_clean(struct vidmm *vidmm);
/* The same soon, as a job of the worker. If that cannot be queued, the next write does it. */
void space_clean_later(struct vidmm_space *space);
void space_retain(struct vidmm_space *space);
void space_release(struct vidmm_space *space);
/* Does the root reach `end` (pages)? Always, unless it is resizable. */
bool space_covers(const struct vidmm_space *space, uint64_t end);
/* Builder's fiber; the lock is dropped while the new root is announced. STATUS_RETRY and others as
 * tables_hold. */
NTSTATUS space_cover(struct vidmm_space *space, uint64_t end);
NTSTATUS space_resize_root(struct vidmm_space *space, uint32_t entries);

/* ---- contexts (context.c) ---- */

/* DxgkDdiSetRootPageTable for every context of the space's process. Lock held; dropped
 * meanwhile. */
void context_announce_root(struct vidmm_space *space);

/* ---- for other files of vidmm ---- */

/* The last open of a shared allocation in this process closes: free its ranges there (builder's
 * fiber). */
void space_allocation_closed(struct vidmm_space *space, struct vidmm_allocation *allocation);
/* Driver protection to use for a scratch mapping at `page` of the allocation, and for how many
 * pages it holds (GPUVA-104). */
uint64_t space_driver_protection(const struct vidmm_allocation *allocation, uint64_t page,
                                 uint64_t *pages);
/* scratch_map of an allocation from `page` on: `runs` say where it is, starting with that page.
 * Entries carry its handle and offset. The runs must not reach over a change of driver
 * protection. */
NTSTATUS scratch_map_allocation(struct vidmm *vidmm, const struct vidmm_allocation *allocation,
                                uint64_t page, const struct vidmm_run *runs, uint32_t run_count,
                                bool read_only, struct gpu_va *va);
/* GPU address, in the paging process, of the leaf table that maps a scratch address; 0 unless the
 * driver's caps call for it (GPUVA-235: TransferVirtual.SourcePageTable where
 * LegacyBehaviors.SourcePageTableVaInTransfer is set). */
struct gpu_va scratch_table(const struct vidmm *vidmm, struct gpu_va va);
/* After content of memory segments was lost: write all tables anew. The first for the paging
 * process (no buffers are used), the second for all others (builder's fiber), the third announces
 * their roots (lock dropped meanwhile). */
NTSTATUS paging_process_rebuild(struct vidmm *vidmm);
NTSTATUS space_rebuild_all(struct vidmm *vidmm);
void space_announce_all(struct vidmm *vidmm);
/* Context allocations of a context or its device are resident and initialised. */
bool context_allocations_ready(const struct vidmm_context *context);
/* VRAM content is lost and everything evicted (in vidmm_reset_cleanup): they are made resident and,
 * where content is gone, initialised again, by space_rebuild_all (CTXA-068). */
void context_allocations_lost(struct vidmm *vidmm);
void context_allocations_restore(struct vidmm *vidmm);
/* After DxgkDdiDestroyDevice, or a failed DxgkDdiCreateDevice, by the handle the driver was given:
 * what is left is a leak and freed. Lock not held. */
void context_allocation_device_gone(struct vidmm *vidmm, HANDLE host_device);
void fence_memory_init(struct vidmm_process *process);
/* Process goes. Waits until all its pages are gone. Lock not held. */
void fence_memory_finish(struct vidmm_process *process);

#endif
