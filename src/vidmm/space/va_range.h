/* SPDX-License-Identifier: MIT */
/*
 * Ranges of a GPU virtual address space: a range is a set of consecutive addresses with one owner.
 * Its pieces say what its pages map. Theory of operation in address_space.c. Lock held.
 */
#ifndef DXGK_VIDMM_VA_RANGE_H
#define DXGK_VIDMM_VA_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/list.h"
#include "util/span_tree.h"
#include "vidmm/space/page_table_write.h"
#include "vidmm/space/va_history.h"

struct vidmm_allocation;
struct vidmm_space;

enum range_kind {
    /* D3DKMTMapGpuVirtualAddress; freed with its allocations if it was created with one */
    RANGE_MAP,
    RANGE_RESERVATION, /* D3DKMTReserveGpuVirtualAddress */
    RANGE_DRIVER,      /* DxgkCbReserveGpuVirtualAddressRange */
    RANGE_CONTEXT,     /* DxgkCbMapContextAllocation; freed with its allocation */
    RANGE_POOL,        /* a whole allocation in a privileged space (privileged_space.h) */
    RANGE_INTERNAL,    /* the host's own: fence pages, paging buffers */
};

struct va_range;

/* Consecutive pages of a range that are in one state; if mapped, they map consecutive pages of one
 * allocation (or of the range's runs). */
struct va_piece {
    /* in range->pieces; `first` and `pages` are also valid before it is inserted */
    struct span_node span;
    struct va_range *range;
    enum entry_state state;
    struct vidmm_allocation *allocation; /* for ENTRY_PAGES; NULL: the runs of the range */
    uint64_t offset;                     /* page of the allocation at span.first */
    uint64_t protection;                 /* D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE.Value */
    uint64_t driver_protection;
    /* in allocation->mappings, where unique driver protections come first */
    struct list mapping;
    /* the job that will insert it; NULL: it is in the tree */
    struct va_job *job;
};

struct va_range {
    struct span_node span; /* in space->ranges; once freed, only on space->freed */
    struct vidmm_space *space;
    enum range_kind kind;
    enum entry_state initial;   /* state of pages without a piece */
    bool no_commit;             /* D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT */
    bool user_mapping;          /* driver reservation: clients may map inside it */
    bool owned;                 /* freed when the last allocation mapped in it is destroyed */
    uint32_t owners;            /* pieces with an allocation, including those not inserted yet */
    uint64_t driver_protection; /* for pages without a piece */
    struct span_tree pieces;
    struct list jobs;       /* struct va_job.link */
    struct vidmm_run *runs; /* memory of a RANGE_INTERNAL */
    uint32_t run_count;
    bool coherent;     /* RANGE_INTERNAL */
    struct list freed; /* in space->freed; its pieces then say only what protection entries have */
    /* memory of the first piece, so that a plain mapping needs no second object */
    struct va_piece body;
    bool body_used;
};

struct va_job;

/* A copy that waits: pages [first, first + pages) of one range will map what those from `source` on
 * of the other do then. */
struct va_copying {
    uint64_t first, pages, source;
    const struct va_job *from, *to; /* one for each range, so that either may be freed */
};

/* A change to a range that waits in a paging queue. */
struct va_job {
    struct list link;
    uint64_t order;         /* among those of its space */
    struct va_range *range; /* NULL: freed meanwhile, so there is nothing to do (GPUVA-120) */
    struct va_piece *piece; /* NULL: write the initial state of the range */
    struct va_piece *spare; /* needed if a piece is cut in two */
    const struct va_copying *copying; /* of which it is one end; NULL: of none, or it is made */
    struct vidmm_space *space;
};

/* Where a range may be placed, in pages. Unset members are 0. */
struct va_request {
    uint64_t base; /* fixed address; 0: choose one */
    uint64_t pages;
    uint64_t low, high; /* limits for a chosen address; high 0: end of the space */
    uint64_t align;     /* 0: as in GPUVA-062 */
    bool internal;      /* for the host: in the internal range, searched from its end */
};
/* Allocate addresses only. STATUS_INVALID_PARAMETER (fixed address taken or outside the space),
 * STATUS_NO_MEMORY, STATUS_INSUFFICIENT_RESOURCES. */
NTSTATUS range_create(struct vidmm_space *space, enum range_kind kind,
                      const struct va_request *request, struct va_range **range);
/* Undo range_create; the range must have no piece, and no entry written. */
void range_discard(struct va_range *range);
struct va_range *range_at(const struct vidmm_space *space, uint64_t page);
/* The lowest range that ends above the page, or the one after `range`; NULL: none. */
struct va_range *range_from(const struct vidmm_space *space, uint64_t page);
struct va_range *range_next(const struct va_range *range);
/* The one below a page that is free; NULL: there is none, or the page is not free. */
struct va_range *range_below(struct vidmm_space *space, uint64_t page);
/* Put a job at the end of those that wait for the range. */
void range_job_waits(struct va_range *range, struct va_job *job);
/* Free the record of a range that is on no list and whose entries are invalid, with what is left of
 * its pieces. */
void range_forget(struct va_range *range);
/* Free the addresses now; their entries are invalidated before the next write to any space. True:
 * such a write is needed (space_clean_later or spaces_clean). */
bool range_free(struct va_range *range);
/* The same, when not the freeing of the range ends its mappings. */
bool range_free_because(struct va_range *range, enum mapping_end end);

#endif
