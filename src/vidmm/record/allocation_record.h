/* SPDX-License-Identifier: MIT */
/*
 * One allocation of the adapter: where its bytes are, who wants it, and what protects it. The files
 * of allocation, residency, content and space each keep their part of it; this header makes and
 * holds the record itself.
 */
#ifndef DXGK_VIDMM_ALLOCATION_RECORD_H
#define DXGK_VIDMM_ALLOCATION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/list.h"
#include "util/order.h"
#include "vidmm/record/paging_record.h"

struct nt_process;
struct vidmm;
struct vidmm_resource;

enum vidmm_content {
    CONTENT_NONE,    /* never written, or lost: filled at the next residency */
    CONTENT_SYSTEM,  /* authoritative in the backing pages */
    CONTENT_SEGMENT, /* authoritative in its memory segment */
};

/* System pages of one allocation, to be unmapped from the device and given back when the GPU is
 * done with them. */
struct backing_release {
    struct paging_deferred deferred;
    struct page_number *backing;  /* frames to give back, or NULL */
    struct logical_page *logical; /* device pages to unmap, or NULL */
    uint64_t pages;
    void *view;    /* kernel view of them to release, or NULL */
    bool borrowed; /* the frames are a client's */
    bool heap;     /* free the record itself */
};

/* Where the driver wants an allocation. */
struct allocation_segments {
    UINT supported;      /* bit n: segment n + 1 */
    UINT preferred[5];   /* segment ids, best first; 0: none */
    UINT preferred_down; /* bit n: preferred[n] is searched from its end */
    UINT eviction;
};

/* Its range of an aperture, while it is mapped there. */
struct aperture_place {
    uint64_t first; /* page of the segment */
    HANDLE device;  /* hDevice given with its map operation */
    void *view;     /* kernel address given as CpuVisibleAddress, or NULL */
};

/* Where it stands in the orders by which memory is taken away (victim.c) or given back. */
struct victim_place {
    struct order_node node;   /* in segment->victims: has a place, unreferenced, unpinned, idle */
    UINT segment;             /* 0: in none */
    UINT leaving_segment;     /* counted in segment->leaving; 0: not */
    struct list demoted_link; /* in the demoted list of the segment it prefers */
    bool captured;            /* pinned for its Capture flag */
    uint64_t released_at;     /* vidmm->clock when the last device dropped it */
    bool leave; /* evict as soon as the GPU is done (Evict without EvictOnlyIfNecessary) */
    struct list leave_link; /* vidmm->departures */
};

struct allocation_offer {
    uint32_t count; /* opens that offered it */
    bool in_force;  /* all of them, and the GPU work before is done */
    UINT priority;
    bool decommit;  /* offered with AllowDecommit */
    bool discarded; /* its content was dropped while offered */
};

/* What the GPU has still to do on it. */
struct allocation_arrival {
    uint64_t busy_ticket;            /* paging ticket of the last operation */
    struct paging_deferred deferred; /* page-in under way: makes it ready */
    bool pending;                    /* the same is queued */
};

/* The CPU's view, from the first lock to the last unlock. */
struct allocation_view {
    void *address;
    uint32_t lock_count;
    bool locking;       /* a thread is making it */
    void *fingerprints; /* of its pages, while the GPU copies them */
};

/*
 * One allocation of the adapter.
 *
 *   place        runs    resident  ready   where the bytes are
 *   OUT          NULL    false     false   backing pages (or nowhere: CONTENT_NONE)
 *   coming in    set     true      false   operations and entries are built; ready at busy_ticket
 *   IN           set     true      true    usable by the GPU
 *   parked       set     false     false   space kept but no entries (an eviction was broken off);
 *                                          comes in again cheaply
 *
 * Page-table entries are valid exactly while `resident`.
 */
struct vidmm_allocation {
    struct vidmm *vidmm;
    struct list link; /* vidmm->allocations */
    struct vidmm_resource *resource;
    struct list resource_link; /* resource->allocations, in order of creation */
    struct list opens;         /* struct vidmm_open */
    HANDLE driver_handle;      /* hAllocation */
    uint64_t bytes;            /* as the driver said */
    uint64_t pages;            /* whole pages; multiples of 64 KB where a segment wants it */
    uint64_t pitch_pages;      /* in a PitchAlignment segment; 0: must not go there */
    uint64_t alignment;
    struct allocation_segments segments;
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags;
    UINT flags2;
    UINT priority;
    UINT fill_pattern; /* of its first content */
    bool accessed_physically, cpu_visible;
    struct nt_process *creator; /* may lock it; NULL: gone, or internal */

    /* place */
    enum vidmm_content content;
    bool resident;
    bool ready;
    bool written; /* the GPU may have changed the segment's copy since page-in */
    UINT segment; /* where it is resident; 0 with resident: bare system pages */
    /* What entries point at, in order: pieces of a memory segment, or of segment 0 (also for an
     * allocation mapped through the aperture, whose range is in aperture_first). */
    struct vidmm_run *runs;
    uint32_t run_count;
    struct aperture_place aperture;
    struct page_number *backing;  /* system frames, or NULL */
    struct logical_page *logical; /* device page of each frame while in the IOMMU, or NULL */
    void *kernel_view; /* kernel address given by DxgkDdiSetAllocationBackingStore, or NULL */

    /* residency */
    uint32_t device_references; /* devices with a count > 0 */
    uint32_t pins;              /* > 0: neither moved nor evicted while resident */
    struct victim_place victim;
    struct allocation_offer offer;
    uint32_t users;   /* opens whose use_ticket is watched */
    bool system_copy; /* backing equals the segment's content, as far as the GPU has not written */
    bool borrowed;    /* backing is client memory: locked, never given back to ram */
    struct allocation_arrival arrival;

    /* addresses: owned by address_space.c */
    struct list mappings;

    struct allocation_view view; /* owned by cpu_view.c */
    /* Set for memory of the host's own that is placed like an allocation (context allocations). */
    bool internal;
    bool destroyed;    /* on its way out: no new place, no new mapping */
    bool gone;         /* only the record is left, for those who hold it */
    uint32_t holds;    /* threads that keep the record while they drop the lock */
    uint32_t acquired; /* DxgkCbAcquireHandleData: not destroyed before they are released */
    bool read_only;
    void *private_data; /* of the client, as the driver left it at creation (ALLOC-076) */
    UINT private_bytes;
    struct backing_release final; /* its last pages, so that destroying needs no memory */
};

/* Its pages are not given back while the record is there: a client's, or the driver knows them. */
static inline bool backing_stays(const struct vidmm_allocation *allocation)
{
    return allocation->borrowed || allocation->kernel_view;
}

/* An empty record, on no list. NULL: out of memory. */
struct vidmm_allocation *allocation_record_new(struct vidmm *vidmm);
/* Nothing refers to it any more, and its pages are given back (allocation_free): free it, now or
 * with the last hold. */
void allocation_record_end(struct vidmm_allocation *allocation);
/* Keep the record while the lock is dropped. */
void allocation_hold(struct vidmm_allocation *allocation);
void allocation_unhold(struct vidmm_allocation *allocation);

#endif
