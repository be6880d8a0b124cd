/* SPDX-License-Identifier: MIT */
/*
 * A segment of the adapter, and a request for memory in one. segment_table.c fills it in, segment.c
 * allocates in it, and eviction.c frees memory in it.
 */
#ifndef DXGK_VIDMM_SEGMENT_RECORD_H
#define DXGK_VIDMM_SEGMENT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/address.h"
#include "util/extent.h"
#include "util/list.h"
#include "util/order.h"

struct paging_turn;
struct vidmm;
struct vidmm_allocation;
struct vidmm_space;

#define VIDMM_MAX_SEGMENTS 32u /* ids are 5 bits */

struct vidmm_segment {
    UINT id; /* 1-based */
    DXGK_SEGMENTFLAGS flags;
    uint64_t base; /* BaseAddress */
    uint64_t bytes, commit_limit;
    uint64_t page_bytes;     /* 4096 or 65536 */
    struct phys_addr cpu;    /* CpuTranslatedAddress */
    unsigned bar;            /* BAR through which the CPU accesses a CpuVisible segment, and ... */
    uint64_t bar_offset;     /* ... where in that BAR the segment begins */
    bool in_ram;             /* not in a BAR, but in contiguous RAM of the driver, at `cpu` */
    struct extent_tree free; /* free pages */
    uint64_t mapped_bytes;   /* aperture: bytes mapped; memory: bytes allocated */
    uint64_t pinned_bytes;   /* of them, those taken by segment_take_pinned */
    uint64_t table_bytes;    /* and those of page tables that may be evicted */
    uint64_t given;          /* ticket of the operations that may still use what was given back */
    uint64_t bad_bytes;      /* invalid memory ranges */
    uint64_t *bank_end; /* pages of the segment below the end of each bank, ascending; or NULL */
    UINT bank_count;
    uint64_t window_bytes; /* size of the CPU-visible range at `cpu`; 0: none */
    /* free pages of its CPU host aperture, in pages of its own size */
    struct extent_tree window_free;
    /* a range of it that is kept for page tables (host_aperture_keep); `count` 0: none */
    struct {
        uint64_t first, count;
    } window_kept;
    /* allocations that no device needs, offered ones first (victim.node) */
    struct order_tree victims;
    /* demoted_link: allocations that were moved out for others (compact.c), and those elsewhere
     * that prefer this segment, oldest first */
    struct list demoted;
    bool space_appeared; /* memory was freed since promotion last looked */
    uint32_t leaving; /* allocations here that no device lists, but unfinished GPU work may use */
};

static inline bool segment_is_aperture(const struct vidmm_segment *segment)
{
    return segment->flags.Aperture != 0;
}

/* Taken for the host itself. */
static inline uint64_t segment_own_bytes(const struct vidmm_segment *segment)
{
    return segment->pinned_bytes + segment->table_bytes;
}

/* The CPU can access every byte of it at a fixed address. */
static inline bool segment_cpu_visible(const struct vidmm_segment *segment)
{
    return !segment_is_aperture(segment) && segment->flags.CpuVisible;
}

/* The address that engines use for a place in the segment (SEG-024). */
static inline uint64_t segment_physical(const struct vidmm_segment *segment, struct segment_addr at)
{
    return segment->base + at.value;
}

static inline UINT segment_bit(UINT id)
{
    return 1u << (id - 1);
}

/* A request to make room in a segment. */
struct room_request {
    struct vidmm_segment *segment;
    uint64_t pages, align_bytes;
    bool contiguous;
    const struct vidmm_allocation *newcomer; /* the allocation that needs it; NULL: host memory */
    bool last;                               /* no other segment is left to try */
    const struct vidmm_space *space;         /* for a page table of it; NULL: for none */
};

/* How lower sub-rooms start an eviction. Placement and page tables (which take pinned segment
 * memory) are below eviction, and eviction in turn updates page tables. This table is the one
 * pointer that closes the cycle, as a shrinker is in Linux. */
struct room_maker {
    NTSTATUS(*make_room)
    (struct paging_turn *turn, struct vidmm *vidmm, const struct room_request *room);
    NTSTATUS(*make_way)
    (struct paging_turn *turn, const struct vidmm_allocation *newcomer, UINT segment);
};

#endif
