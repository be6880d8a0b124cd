/* SPDX-License-Identifier: MIT */
/*
 * The contrary driver: the probe with answers of which each is legal, and none is a default, a zero or equal to another of its
 * kind; on a machine whose RAM and video memory are full of old bytes. What follows from an answer is then seen to follow from it,
 * and not from a value that the host would have had anyway.
 *
 *     p = contrary_create(NULL);           answers may be changed
 *     contrary_run(p, body);               start; body on a client thread; end
 *
 * It notes what its entry points are told, in contrary_seen.
 */
#ifndef DXGK_TESTS_PORT_CONTRARY_H
#define DXGK_TESTS_PORT_CONTRARY_H

#include "port/support/client.h"

/* Segments: an aperture, and two of video memory, the second below the first. */
#define CONTRARY_APERTURE 1u
#define CONTRARY_VRAM     2u
#define CONTRARY_FAR      3u
#define CONTRARY_SEGMENTS 3u
#define CONTRARY_SET(id)  (1u << ((id)-1))

/* Nodes: three of GPU virtual addresses, of which one pages, and one of physical ones. */
#define CONTRARY_NODES    4u
#define CONTRARY_WORK     1u
#define CONTRARY_PAGING   2u
#define CONTRARY_PHYSICAL 3u

#define CONTRARY_VRAM_IN_BAR    0x830000u /* where they begin in the second range of the device */
#define CONTRARY_FAR_IN_BAR     0x130000u
#define CONTRARY_LIMIT          (7u << 20) /* ApertureSegmentCommitLimit */
#define CONTRARY_BITS           41u        /* VirtualAddressBitCount: 12 + 10 + 11 + 8 */
#define CONTRARY_LEVELS         3u
#define CONTRARY_INTERNAL       0x12300130000ull /* the range for the host's own GPU virtual addresses */
#define CONTRARY_INTERNAL_END   0x12300140000ull
#define CONTRARY_SLOT           5u      /* MaxAllocationListSlotId */
#define CONTRARY_PAGING_BYTES   0x6200u /* no whole pages */
#define CONTRARY_PAGING_PRIVATE 40u
#define CONTRARY_DIRT           0xA5

/* What its allocations are like: of the next CreateAllocation. */
struct contrary_allocation {
    UINT set; /* of segments; the lowest is preferred */
    UINT alignment;
    bool physical;
};

/* A page of a client's address space, as the entry said that was written last. */
struct contrary_page {
    uint64_t va;
    DXGK_PTE pte;
};

extern struct contrary_seen {
    UINT system_node,
        paging_nodes; /* of the system context; a bit for each node with paging packets */
    UINT first_paging_bytes, first_paging_private;
    bool paging_dirty;    /* private data that was not zero at first */
    UINT paging_segments; /* a bit for each segment of paging buffers */
    uint64_t aperture_bytes[CONTRARY_SEGMENTS + 2],
        aperture_most;        /* mapped; the most in all together */
    UINT fills, transfers[8]; /* by TransferDirection */
    UINT table_segments[CONTRARY_LEVELS],
        paging_table_segments[CONTRARY_LEVELS]; /* a bit for each */
    unsigned tables_misaligned;
    struct contrary_page page[8192];
    size_t pages;
    HANDLE system_process, system_context;
    DXGK_ALLOCATIONINFO allocated; /* of the latest CreateAllocation */
} contrary_seen;

extern struct contrary_allocation contrary_next;

struct probe *contrary_create(const struct probe_options *options);
/* Start it, run the body as a client, and end it: nothing may be reported as an error. */
void contrary_run(struct probe *p, void (*body)(struct probe *p));
/* The whole: contrary_run(contrary_create(NULL), body). */
#define RIG_ARGUMENT_contrary  struct probe *p
#define RIG_RUN_contrary(body) contrary_run(contrary_create(NULL), body)

/* For a client's GPU virtual address: its entry. NULL: none was written. */
const DXGK_PTE *contrary_entry(uint64_t va);
NTSTATUS contrary_query(const struct probe_gpu *g, KMTQUERYADAPTERINFOTYPE type, void *answer,
                        UINT bytes);

#endif
