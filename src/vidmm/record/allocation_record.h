/* SPDX-License-Identifier: MIT */
/*
 * The record of one allocation: where its content is, which devices want it, and what keeps it from
 * being moved or freed. The sub-rooms allocation, residency, content and space each maintain their
 * part of the record; this header declares it and has the functions that create, hold and free it.
 */
#ifndef DXGK_VIDMM_ALLOCATION_RECORD_H
#define DXGK_VIDMM_ALLOCATION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/list.h"
#include "util/order.h"
#include "vidmm/record/allocation_view.h"
#include "vidmm/record/paging_record.h"

struct nt_process;
struct vidmm;
struct vidmm_resource;

enum vidmm_content {
    CONTENT_NONE,    /* never written, or lost: filled when it next becomes resident */
    CONTENT_SYSTEM,  /* the backing pages hold the valid copy */
    CONTENT_SEGMENT, /* its memory segment holds the valid copy */
};

/* System pages of one allocation that are unmapped from the device and freed once the GPU no
 * longer uses them. */
struct backing_release {
    struct paging_deferred deferred;
    struct page_number *backing;  /* frames to free, or NULL */
    struct logical_page *logical; /* device pages to unmap, or NULL */
    uint64_t pages;
    void *view;    /* kernel mapping of the pages, to be released; or NULL */
    bool borrowed; /* the frames belong to a client */
    bool heap;     /* this record is on the heap and is freed, too */
};

/* Why an allocation is not resident: its first cause. */
enum allocation_absence {
    ABSENCE_NEVER,   /* it was not made resident yet */
    ABSENCE_ROOM,    /* evicted to make room */
    ABSENCE_OFFERED, /* discarded while it was offered */
    ABSENCE_EVICTED, /* D3DKMTEvict */
    ABSENCE_DEMOTED, /* moved out of its segment: over the budget of its device */
    ABSENCE_MOVED,   /* on its way to another place */
    ABSENCE_POWER,   /* moved out for a change of power, or of the IOMMU domain */
    ABSENCE_RESET,   /* lost in a reset of the adapter */
};

/* For people: "evicted by D3DKMTEvict". */
const char *allocation_absence_text(enum allocation_absence absence);

/* The segments that the driver named for an allocation. */
struct allocation_segments {
    bool primary;        /* it is, or may become, what a video present source shows */
    UINT source;         /* which one; D3DDDI_ID_ANY: each (PRES-073) */
    UINT supported;      /* bit n: segment n + 1 */
    UINT reads, writes;  /* WDDM 1.x: for work that only reads it, or writes to it, too */
    UINT restricted;     /* to one of these, by what uses it next; 0: to neither */
    UINT preferred[5];   /* segment ids, best first; 0: none */
    UINT preferred_down; /* bit n: preferred[n] is searched from its end */
    UINT eviction;
    /* WDDM 1.x: banks of preferred[0], best first, from 1; 0: none; and which are searched from
     * their end */
    UINT bank[4];
    UINT bank_down;
};

/* Its range of an aperture segment while it is mapped there. */
struct aperture_place {
    uint64_t first; /* page of the segment */
    HANDLE device;  /* hDevice passed with the map operation */
    void *view;     /* kernel address passed as CpuVisibleAddress, or NULL */
};

/* Its position in the lists that decide what is evicted (a victim is an allocation that may be
 * chosen for eviction: victim.c), and what is moved back to a better segment (promotion.c). */
struct victim_place {
    /* In segment->victims: it has a place, no device lists it, it is not pinned, and the
     * GPU is done with it. */
    struct order_node node;
    UINT segment;             /* 0: in none */
    UINT leaving_segment;     /* segment whose `leaving` counts it; 0: none */
    struct list demoted_link; /* in the `demoted` list of the segment it prefers */
    bool captured;            /* pinned because of its Capture flag */
    uint64_t released_at;     /* vidmm->clock when the last device took it off its list */
    bool leave;               /* evict once the GPU is done (Evict without EvictOnlyIfNecessary) */
    struct list leave_link;   /* vidmm->departures */
};

struct allocation_offer {
    uint32_t count; /* number of opens that have offered it */
    bool in_force;  /* every open has offered it, and earlier GPU work is done */
    UINT priority;
    bool decommit;    /* offered with AllowDecommit */
    bool discarded;   /* its content was discarded while it was offered */
    bool uncommitted; /* and its frames given up, which a reclaim must get again (RES-071) */
};

/* Paging operations that must complete before the allocation may be used. */
struct allocation_arrival {
    uint64_t busy_ticket;            /* paging ticket of the last operation */
    struct paging_deferred deferred; /* marks it ready when a page-in completes */
    bool pending;                    /* `deferred` is queued */
    bool alone; /* no client work beside its paging (WDDM 1.x, SynchronousPaging) */
};

/* Who counts on it, beside the GPU's commands: batches of updates (va_update.h), and the driver. */
struct allocation_claims {
    uint32_t queued;     /* batches wait: if the client evicts it, it stays while nobody needs its
                          memory */
    uint32_t copied;     /* the GPU copies entries that map it, which delays its destruction */
    uint32_t acquired;   /* references by DxgkCbAcquireHandleData, which delay it, too */
    bool left_out;       /* by the batch that is looked at: it does not fit */
    bool leaves_screen;  /* a screen shows it, and a flip to another is queued */
    uint32_t departures; /* how often that has ended */
};

/* WDDM 1.x: renaming. */
struct allocation_instance {
    UINT limit;   /* MaximumRenamingListLength: so many instances at most; 0: any number */
    bool further; /* made by the host: the driver knows the original alone */
};

/* The client's private data, as the driver left it at creation (ALLOC-076), and what picture that
 * is, as the driver says (PRES-084). */
struct client_data {
    void *at;
    UINT size;
    DXGKARG_DESCRIBEALLOCATION *described; /* NULL: it was not asked */
};

/* In order of creation, from 1. */
struct allocation_number {
    uint64_t of_client; /* among those of clients; 0: it is none */
    uint32_t of_all;
};

/*
 * One allocation of the adapter. `runs` is the memory it occupies, its place.
 *
 *   place        runs    resident  ready   where the content is
 *   OUT          NULL    false     false   backing pages (or nowhere: CONTENT_NONE)
 *   coming in    set     true      false   operations and entries are built; ready at busy_ticket
 *   IN           set     true      true    usable by the GPU
 *   parked       set     false     false   an eviction failed halfway: it keeps its memory, but has
 *                                          no page-table entries; making it resident again is cheap
 *
 * Page-table entries are valid exactly while `resident` is true.
 */
struct vidmm_allocation {
    struct vidmm *vidmm;
    struct list link; /* vidmm->allocations */
    struct vidmm_resource *resource;
    struct list resource_link; /* resource->allocations, in order of creation */
    struct list opens;         /* struct vidmm_open */
    HANDLE driver_handle;      /* hAllocation */
    struct allocation_number number;
    uint64_t bytes;       /* as the driver reported */
    uint64_t pages;       /* whole pages; a multiple of 64 KB where a segment needs that */
    uint64_t pitch_pages; /* size in a PitchAlignment segment; 0: not allowed there */
    uint64_t alignment;
    struct allocation_segments segments;
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags;
    UINT flags2;
    UINT priority;
    UINT fill_pattern; /* its initial content */
    bool accessed_physically, cpu_visible;
    struct nt_process *creator; /* process that may lock it; NULL: it has ended, or internal */

    /* place */
    enum vidmm_content content;
    bool resident;
    enum allocation_absence absence; /* while it is not resident */
    bool ready;
    bool written; /* the GPU may have written to the segment's copy since page-in */
    UINT segment; /* where it is resident; 0 while resident: system pages outside any segment */
    /* What page-table entries point to, in order: runs of a memory segment, or of segment 0 (also
     * when it is mapped through an aperture, whose range is in `aperture`). */
    struct vidmm_run *runs;
    uint32_t run_count;
    struct aperture_place aperture;
    struct page_number *backing;  /* system frames, or NULL */
    struct logical_page *logical; /* device address of each frame while mapped, or NULL */
    void *kernel_view; /* kernel address passed to DxgkDdiSetAllocationBackingStore, or NULL */

    /* residency */
    uint32_t device_references; /* devices that have it on their residency list */
    uint32_t pins;              /* > 0: neither moved nor evicted while resident */
    struct victim_place victim;
    struct allocation_offer offer;
    struct allocation_claims claims;
    uint32_t users;   /* opens taken off a residency list whose GPU work (`use`) is not finished,
                         and copies of entries that map it */
    bool system_copy; /* `backing` has the segment's content, except what the GPU wrote since */
    bool borrowed;    /* `backing` is client memory: locked, and never freed to ram */
    struct allocation_arrival arrival;

    /* its mappings in GPU address spaces: va_piece.mapping, kept by va_piece.c */
    struct list mappings;

    struct allocation_view view; /* maintained by cpu_access.c and cpu_view.c */
    /* Not a client's: the host's own memory, placed like an allocation (context allocations). */
    bool internal;
    bool destroyed; /* being destroyed: gets no new place and no new mapping */
    bool gone;      /* destroyed; the record remains until the last hold ends */
    uint32_t holds; /* threads that need the record although they drop the lock */
    bool read_only;
    struct allocation_instance instance;
    struct client_data client_data;
    /* frees its last pages; here so that destroying allocates nothing */
    struct backing_release final;
};

/* Its frames are kept as long as the record exists: they are a client's, or the driver has been
 * given their address. */
static inline bool backing_stays(const struct vidmm_allocation *allocation)
{
    return allocation->borrowed || allocation->kernel_view;
}

/* An empty record that is on no list. NULL: out of memory. */
struct vidmm_allocation *allocation_record_new(struct vidmm *vidmm);
/* Free the record, now or with its last hold. Nothing may refer to it, and its pages must have been
 * freed (allocation_free). */
void allocation_record_end(struct vidmm_allocation *allocation);
/* Keep the record from being freed while the lock is dropped. */
void allocation_hold(struct vidmm_allocation *allocation);
void allocation_unhold(struct vidmm_allocation *allocation);

#endif
