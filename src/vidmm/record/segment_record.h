/* SPDX-License-Identifier: MIT */
/*
 * A segment of the adapter as the memory manager knows it, and a request for room in one. Set up by
 * segment_table.c; placed in by segment.c; who loses memory in it by eviction.c.
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

#define VIDMM_MAX_SEGMENTS 32u /* ids are 5 bits */

struct vidmm_segment {
    UINT id; /* 1-based */
    DXGK_SEGMENTFLAGS flags;
    uint64_t base; /* BaseAddress */
    uint64_t bytes, commit_limit;
    uint64_t page_bytes;       /* 4096 or 65536 */
    struct phys_addr cpu;      /* CpuTranslatedAddress */
    unsigned bar;              /* that the CPU reaches a CpuVisible segment by ... */
    uint64_t bar_offset;       /* ... and where in it */
    bool in_ram;               /* instead of a BAR: contiguous memory of the driver's, at `cpu` */
    struct extent_tree free;   /* pages */
    uint64_t mapped_bytes;     /* aperture: mapped now; memory: placed now */
    uint64_t pinned_bytes;     /* of them: taken by segment_take_pinned */
    uint64_t bad_bytes;        /* invalid memory ranges */
    uint64_t window_bytes;     /* CPU range at `cpu`; 0: none */
    struct order_tree victims; /* allocations nobody needs, offered ones first (victim_node) */
    struct list demoted;       /* demoted_link: elsewhere, would rather be here; oldest first */
    bool space_appeared;       /* since promotion last looked */
    uint32_t leaving; /* allocations here that nobody lists but unfinished GPU work may use */
};

static inline bool segment_is_aperture(const struct vidmm_segment *segment)
{
    return segment->flags.Aperture != 0;
}

/* The CPU reaches every byte of it at a fixed address. */
static inline bool segment_cpu_visible(const struct vidmm_segment *segment)
{
    return !segment_is_aperture(segment) && segment->flags.CpuVisible;
}

/* The address by which engines know a place of the segment (SEG-024). */
static inline uint64_t segment_physical(const struct vidmm_segment *segment, struct segment_addr at)
{
    return segment->base + at.value;
}

static inline UINT segment_bit(UINT id)
{
    return 1u << (id - 1);
}

/* What room is wanted for. */
struct room_request {
    struct vidmm_segment *segment;
    uint64_t pages, align_bytes;
    bool contiguous;
    const struct vidmm_allocation *newcomer; /* NULL: the host's own */
    bool last;                               /* there is no other segment to try */
};

/* Who evicts. Those who need room are below: placement, and page tables, which take pinned segment
 * memory, and to make room for them is to evict what page tables map. */
struct room_maker {
    NTSTATUS(*make_room)
    (struct paging_turn *turn, struct vidmm *vidmm, const struct room_request *room);
    NTSTATUS(*make_way)
    (struct paging_turn *turn, const struct vidmm_allocation *newcomer, UINT segment);
};

#endif
