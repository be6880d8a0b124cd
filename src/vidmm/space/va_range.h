/* SPDX-License-Identifier: MIT */
/*
 * Ranges of a GPU virtual address space (who owns which addresses), and the pieces in them (what
 * their pages say). Theory of operation in address_space.c. Lock held.
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

struct vidmm_allocation;
struct vidmm_space;

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
/* Memory of a range that is on no list; its entries are written. */
void range_forget(struct va_range *range);
/* Free its addresses now and its entries by the next write to the space. True: such a write is
 * needed (space_clean). */
bool range_free(struct va_range *range);

#endif
