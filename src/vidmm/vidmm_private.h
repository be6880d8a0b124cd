/* SPDX-License-Identifier: MIT */
/*
 * What the files of vidmm share. Nothing outside src/vidmm includes this.
 *
 * Locking: one sim_mutex (vidmm->lock) guards segments, allocations' places, residency lists,
 * address spaces and the paging buffer under construction. It is held across
 * DxgkDdiBuildPagingBuffer and while waiting for the paging node, never across
 * DxgkDdiSetRootPageTable, DxgkDdiCreateAllocation and its kind, and never while waiting for the
 * GPU work of a client. Interrupt-level code never needs it: what it reads (vidmm_open_place) is
 * written with a release order.
 *
 * Who builds: operations are appended (paging_build and everything that calls it: residency_*,
 * scratch_*, space_* that touch entries, segment_take_pinned where it evicts) by ONE fiber at a
 * time, the paging worker, inside a job; before the worker exists and after it has ended, by the
 * thread that starts or stops the adapter. A client thread that needs entries written posts a job
 * (paging_queue_post) or has one run for it (paging_run). So a thread inside the driver, or one
 * that holds the same-process lock of a DDI, never waits for the GPU scheduler class.
 *
 *   client call                   worker fiber                    retire fiber
 *   paging_queue_post(job) ---->  job(): builds operations
 *     fence value n               paging_flush -> ticket t  --->  paging_wait(t)
 *                                 next job ...                    deferred actions of t run
 *                                                                 (frames given back, scratch
 *                                                                 reused, views re-pointed),
 *                                                                 fence n told
 *
 * A job runs with the lock held and never loses it, so what it looked up stays valid. When it
 * cannot go on before client work of the GPU has finished (a victim is still in use), a function it
 * called returns STATUS_RETRY; the job returns that at once, leaving everything consistent, and is
 * run again from its start when something changed. Jobs are therefore written so that a second run
 * continues what the first began.
 *
 * Statuses inside: STATUS_NO_MEMORY: no room in a segment. STATUS_INSUFFICIENT_RESOURCES: host
 * memory, frames or IOMMU space failed; becomes STATUS_NO_MEMORY at the client (vidmm_status).
 * STATUS_RETRY: see above.
 */
#ifndef DXGK_VIDMM_PRIVATE_H
#define DXGK_VIDMM_PRIVATE_H

#include "util/extent.h"
#include "util/hash.h"
#include "sim/sim.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/order.h"
#include "vidmm/vidmm.h"

#define VIDMM_MAX_SEGMENTS 32u    /* ids are 5 bits */
#define VIDMM_MAX_LOCKS    65535u /* KMT-269 */

/* A piece of a place: pages of one segment. Segment 0 is system memory: `first` is then the device
 * (logical) page number. */
struct vidmm_run {
    UINT segment;
    uint64_t first; /* page: offset in the segment >> 12, or logical page */
    uint64_t pages;
};

/* Something to do, with the lock held, when all operations built so far have been carried out by
 * the GPU. The embedder owns the memory; fn may free it. */
struct paging_deferred {
    struct list link;
    void (*fn)(struct vidmm *vidmm, struct paging_deferred *deferred);
    uint64_t ticket;
};

typedef NTSTATUS (*paging_job_fn)(struct vidmm *vidmm, void *arg);
typedef void (*paging_release_fn)(struct vidmm *vidmm, void *arg, NTSTATUS status);

/* One piece of work for the worker. */
struct paging_job {
    struct list link; /* queue->jobs until it has run */
    struct paging_queue *queue;
    paging_job_fn fn;
    paging_release_fn release;
    void *arg;
    uint64_t value; /* fence value told at its completion; 0: none */
    NTSTATUS status;
    bool heap; /* freed at its completion */
    struct paging_deferred done;
};

/* A stream of jobs that run and complete in order. The client's kind (struct vidmm_paging_queue)
 * begins with one. */
struct paging_queue {
    struct vidmm *vidmm;
    struct vidmm_device *device; /* whose allocations are no victims of its jobs; NULL: none */
    int priority;                /* among queues of one device */
    struct list link;            /* worker->queues while it has jobs to run */
    struct list jobs;
    uint32_t pending;      /* jobs not completed */
    bool parked;           /* its first job answered STATUS_RETRY */
    bool impatient;        /* and has waited long enough to take memory from running devices */
    uint64_t deadline;     /* when to run it again at the latest */
    struct sim_waitq idle; /* woken when pending becomes 0 */
    bool client;
};

struct vidmm_paging_queue {
    struct paging_queue base;
    struct list link; /* device->queues */
    void (*progress)(void *context, uint64_t value);
    void *context;
    uint64_t assigned, done, told; /* fence values */
    struct list tell_link;         /* vidmm->tell while done > told */
    bool telling;
};

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

enum vidmm_content {
    CONTENT_NONE,    /* never written, or lost: filled at the next residency */
    CONTENT_SYSTEM,  /* authoritative in the backing pages */
    CONTENT_SEGMENT, /* authoritative in its memory segment */
};

/* System pages of one allocation, to be unmapped from the device and given back when the GPU is
 * done with them. */
struct backing_release {
    struct paging_deferred deferred;
    struct page_number *backing; /* frames to give back, or NULL */
    struct page_number *logical; /* device pages to unmap, or NULL */
    uint64_t pages;
    void *view;    /* kernel view of them to release, or NULL */
    bool borrowed; /* the frames are a client's */
    bool heap;     /* free the record itself */
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
    UINT supported_set;  /* bit n: segment n + 1 */
    UINT preferred[5];   /* segment ids, best first; 0: none */
    UINT preferred_down; /* bit n: preferred[n] is searched from its end */
    UINT eviction_set;
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
    uint64_t aperture_first;     /* page of the aperture, while segment is an aperture */
    HANDLE aperture_device;      /* hDevice given with its map operation */
    struct page_number *backing; /* system frames, or NULL */
    struct page_number *logical; /* device page of each frame while in the IOMMU, or NULL */
    void *aperture_view; /* kernel address given as CpuVisibleAddress while mapped, or NULL */
    void *kernel_view;   /* kernel address given by DxgkDdiSetAllocationBackingStore, or NULL */

    /* residency */
    uint32_t device_references;    /* devices with a count > 0 */
    uint32_t pins;                 /* > 0: neither moved nor evicted while resident */
    struct order_node victim_node; /* in victims: has a place, unreferenced, unpinned, idle */
    UINT victim_segment;           /* 0: in none */
    struct list demoted_link;      /* in the demoted list of the segment it prefers */
    bool captured;                 /* pinned for its Capture flag */
    UINT leaving_segment;          /* counted in segment->leaving; 0: not */
    uint64_t released_at;          /* vidmm->clock when the last device dropped it */
    uint32_t offered;              /* opens that offered it */
    bool offer_in_force;           /* all of them, and the GPU work before is done */
    UINT offer_priority;
    bool decommit;  /* offered with AllowDecommit */
    bool discarded; /* its content was dropped while offered */
    bool leave;     /* evict as soon as the GPU is done (Evict without EvictOnlyIfNecessary) */
    struct list leave_link; /* vidmm->departures */
    uint32_t users;         /* opens whose use_ticket is watched */
    bool system_copy; /* backing equals the segment's content, as far as the GPU has not written */
    bool borrowed;    /* backing is client memory: locked, never given back to ram */
    uint64_t busy_ticket;           /* paging ticket of the last operation on it */
    struct paging_deferred arrival; /* page-in under way: makes it ready */
    bool arriving;                  /* arrival is queued */

    /* addresses: owned by address_space.c */
    struct list mappings;

    /* CPU views: owned by cpu_access.c */
    void *view;
    uint32_t lock_count;
    bool locking; /* a thread is making the view */
    void *cpu_private;
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

/* A group of allocations with a driver handle of its own; the unit of sharing. */
struct vidmm_resource {
    struct vidmm *vidmm;
    HANDLE driver_handle; /* hResource as the driver left it */
    bool driver_knows;    /* an allocation was created in it (ALLOC-017) */
    bool shared, read_only;
    uint32_t references; /* vidmm_resource_get */
    void *private_data;  /* newest per-resource data (ALLOC-015) */
    UINT private_bytes;
    struct list allocations; /* vidmm_allocation.resource_link */
    struct list opens;       /* vidmm_resource_open.link */
};

/* One device's open of a resource: the D3DKMT handle. */
struct vidmm_resource_open {
    struct vidmm_resource *resource;
    struct vidmm_device *device;
    D3DKMT_HANDLE handle;
    struct list link, device_link;
    struct list opens; /* vidmm_open.resource_link, in order of creation */
};

/* Something that waits for the GPU work of a device up to a packet. */
struct follow {
    struct list link; /* device->follows, by ticket; on itself: not waiting */
    uint64_t ticket;
    void (*fn)(struct vidmm_device *device, struct follow *follow); /* lock held */
};

/* One device's open of an allocation: hDeviceSpecificAllocation and the D3DKMT handle. */
struct vidmm_open {
    struct vidmm_allocation *allocation;
    struct vidmm_device *device;
    struct vidmm_resource_open *resource_open;
    struct list resource_link;
    struct list link;        /* allocation->opens */
    struct list device_link; /* device->opens */
    D3DKMT_HANDLE handle;
    HANDLE driver_handle; /* hDeviceSpecificAllocation */
    uint32_t residency_count;
    uint32_t mark;              /* scratch of one call */
    struct list residency_link; /* device->residency while the count is > 0 */
    struct list missing_link;   /* device->missing_list while listed and not ready */
    uint64_t listed_at;         /* vidmm->clock when it got on the list */
    UINT charge; /* segment that its list entry is counted against; 0: system memory */
    bool charged;
    struct order_node order; /* in device->listed[segment] while listed and resident there */
    UINT order_segment;
    bool ordered;
    struct follow use; /* GPU work that may use it though it is off the list */
    uint64_t last_use; /* the youngest such packet of the device */
    bool offered;
    bool read_only;
    struct follow offer_after; /* GPU work before the offer counts */
    uint32_t lock_count;
    struct list dying_link; /* device->dying: destroyed, and work queued before may use it still */
    uint32_t portions;      /* WDDM 1.x: elements of portions that hold it (portion.c) */
    uint32_t kept;          /* of those, for that it stays where it is: pins of the allocation */
};

struct vidmm_process {
    struct vidmm *vidmm;
    struct nt_process *nt;
    HANDLE host_handle;   /* hDxgkProcess */
    HANDLE driver_handle; /* hKmdProcess */
    ULONG pasid;          /* 0: the adapter does not share the address space */
    uint32_t references;
    struct vidmm_space *space;
    struct list link;
    struct list contexts;                 /* struct vidmm_context.link */
    struct list fence_pages;              /* fence_memory.c */
    struct paging_queue fence_departures; /* pages of fences on their way out */
    bool in_create_process;               /* DxgkCbReserveGpuVirtualAddressRange is allowed */
    bool ready;                           /* DxgkDdiCreateProcess has succeeded */
    bool suspended;                       /* by the job that runs now: its devices count as idle */
    uint32_t holds;                       /* the worker is using it without a reference */
    struct sim_waitq idle;                /* woken when that ends */
    uint64_t reservation[2];              /* by memory segment group */
    uint64_t usage[2]; /* bytes on its residency lists, shared allocations once */
};

struct vidmm_device {
    struct vidmm_process *process;
    HANDLE driver_handle;
    void *owner;
    bool lost;
    struct list opens, residency, queues, resource_opens;
    struct list dying;        /* vidmm_open.dying_link */
    uint32_t missing;         /* opens on the residency list whose allocation is not ready */
    struct list missing_list; /* them, oldest first */
    bool displaced;           /* something of its list was moved out for the job that runs */
    uint64_t used_at;         /* order of last submission, for eviction */
    bool held; /* vidmm_device_prepare said no: device_resident is owed to the scheduler */
    bool tell_resident, tell_error; /* to be told to the scheduler by the retire fiber */
    struct list tell_link;          /* vidmm->tell_devices */
    /* It became complete after being held and has not run since: no victim before this time. */
    uint64_t granted_until;
    /* By segment id (0: system): listed allocations resident there, lowest priority first. */
    struct order_tree *listed;
    uint64_t *charged;           /* by segment id (0: system): pages of its list */
    struct paging_queue prepare; /* brings in what is missing */
    struct paging_job prepare_job;
    bool preparing;
    struct list portions;                    /* WDDM 1.x: vidmm_portion.link, those held */
    struct vidmm_portion *portion_preparing; /* the one that a job works for */
    struct paging_job portion_job;
    bool portion_posted;
    struct list follows;                  /* struct follow.link, by ticket */
    uint32_t destructions;                /* not finished */
    struct destruction *last_destruction; /* destroy.c: for closing without memory */
    struct sim_thread *follower;          /* waits for the GPU work of this device (follow.c) */
    struct sim_waitq follow_work;
    bool follow_stop, follow_ended;
    uint32_t pins;         /* the retire fiber is using it without the lock */
    struct sim_waitq idle; /* woken when pins, destructions or the follower end */
    struct list link;
};

struct paging_worker;
struct paging_process; /* paging_process.c */

struct vidmm {
    struct vidmm_config config;
    struct ddi_adapter *ddi;
    const struct vidmm_scheduler *scheduler;
    struct sim_mutex lock;
    struct sim_mutex processes_lock; /* one opens or closes at a time; taken before `lock` */
    UINT segment_count;
    struct vidmm_segment segment[VIDMM_MAX_SEGMENTS]; /* by id; [0] unused */
    UINT aperture;                                    /* id of the aperture segment, 0: none */
    uint64_t aperture_limit; /* bytes mapped through all aperture segments together at most */
    uint64_t aperture_mapped;
    struct list aperture_ranges; /* vidmm_aperture_range.link */
    struct list allocations, processes, devices;
    struct vidmm_process *paging_process;
    struct paging_process *scratch;
    struct paging_worker *worker;
    struct vidmm_paging_buffer *buffer; /* under construction, or NULL */
    uint32_t buffer_operations; /* built since the last flush, also those that wrote nothing */
    bool losing_power;          /* what is built is submitted for nobody (PAGE-019) */
    uint64_t last_ticket;
    struct list deferred; /* struct paging_deferred, of operations not flushed yet */
    struct list retiring; /* struct paging_deferred, by ticket */
    struct list tell,
        tell_devices; /* queues and devices the retire fiber has news of for the scheduler */
    struct paging_queue chores;    /* what no client waits for */
    struct list destructions_held; /* destruction.held: until something acquired is released */
    uint32_t kept;          /* allocations that may not move until a portion has run (portion.c) */
    struct list departures; /* allocations to move out when the worker has nothing else to do */
    struct vidmm_device
        *requester;   /* whose list the running job serves; its own allocations are no victims */
    bool impatient;   /* the running job may have devices suspended */
    bool compact_own; /* it may move members of the requester's list out of the way */
    struct vidmm_process *suspend; /* with STATUS_RETRY: suspend this one, then run again */
    uint64_t retry_at; /* with STATUS_RETRY: when the job is worth running again at the latest */
    uint64_t usage[2]; /* bytes on residency lists by memory segment group, once per process */
    uint64_t system_limit;           /* TotalSystemMemoryAvailableForGraphics */
    struct paging_queue driver_runs; /* struct driver_run */
    struct sim_waitq driver_wait;    /* who waits for those */
    struct list driver_waiters;      /* struct driver_waiter: who waits for the lock */
    bool driver_out;                 /* both wait no longer (vidmm_let_driver_out) */
    bool reset; /* between reset_cleanup and reset_restore: built but not submitted */
    struct vidmm_paging_buffer *discard; /* for those */
    struct page_number discard_first;
    struct page_number dummy_frame,
        dummy; /* the page behind unmapped aperture ranges: frame and device page */
    bool has_dummy;
    trace_track track;
    struct vidmm_statistics statistics;
    bool started, stopping, lost;
    uint64_t clock; /* order for LRU */
};

static inline bool segment_is_aperture(const struct vidmm_segment *segment)
{
    return segment->flags.Aperture != 0;
}

/* Its pages are not given back while the record is there: a client's, or the driver knows them. */
static inline bool backing_stays(const struct vidmm_allocation *allocation)
{
    return allocation->borrowed || allocation->kernel_view;
}

/* What a client is told for an internal status. */
static inline NTSTATUS vidmm_status(NTSTATUS status)
{
    return status == STATUS_INSUFFICIENT_RESOURCES ? STATUS_NO_MEMORY : status;
}

/* ---- segment_table.c ---- */
NTSTATUS segment_table_init(struct vidmm *vidmm, const struct vidmm_config *config);
void segment_table_finish(struct vidmm *vidmm);

/* ---- segment.c (placement; lock held) ---- */
/* Place `pages` pages: contiguous if asked, else as few runs as can be. STATUS_NO_MEMORY: no room
 * (evict and retry). Space given back may still be read or written by operations built earlier;
 * operations built later come after them, but who writes it with the CPU waits for the ticket of a
 * flush first. */
NTSTATUS segment_take(struct vidmm_segment *segment, uint64_t pages, uint64_t align_bytes,
                      bool contiguous, bool from_end, struct vidmm_run **runs, uint32_t *run_count);
void segment_give(struct vidmm *vidmm, const struct vidmm_run *runs, uint32_t run_count);
/* What `pages` take there: whole pages of the segment's own size. */
uint64_t segment_pages(const struct vidmm_segment *segment, uint64_t pages);
/* One contiguous range for the host's own use (page tables, pinned), evicting if it must and runs
 * on the worker (or while there is none); another thread gets STATUS_NO_MEMORY instead.
 * STATUS_RETRY as above. Given back by segment_give_pinned. */
NTSTATUS segment_take_pinned(struct vidmm *vidmm, UINT segment, uint64_t pages,
                             uint64_t align_bytes, struct vidmm_run *run);
void segment_give_pinned(struct vidmm *vidmm, const struct vidmm_run *run);
/* Host address of bytes of a CpuVisible memory segment; NULL: the CPU cannot reach it. Contiguous
 * over the segment. */
void *segment_cpu(const struct vidmm *vidmm, UINT segment, uint64_t offset);

/* ---- paging.c (lock held unless said) ---- */
/* Append one operation to the paging buffer under construction: DxgkDdiBuildPagingBuffer with the
 * multipass protocol (PAGE rules); full buffers are submitted on the way. `op` comes with Operation
 * and its union member filled; buffer members are filled here. */
NTSTATUS paging_build(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op);
/* The same at once, without a buffer (pDmaBuffer NULL, CPU_VIRTUAL), for the set-up of the paging
 * process. */
NTSTATUS paging_build_immediate(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op);
/* Submit what is under construction; *ticket: completes when all of it is done (the last ticket if
 * nothing is pending). */
NTSTATUS paging_flush(struct vidmm *vidmm, uint64_t *ticket);
/* The ticket that operations built so far will complete with at the latest; and whether one is
 * complete. */
uint64_t paging_ticket_now(const struct vidmm *vidmm);
bool paging_ticket_done(const struct vidmm *vidmm, uint64_t ticket);
/* Run what was deferred up to a ticket, which is complete. */
void paging_retire(struct vidmm *vidmm, uint64_t ticket);
/* Have `deferred` run when all operations built so far are done; at once if none is pending. Never
 * fails. */
void paging_defer(struct vidmm *vidmm, struct paging_deferred *deferred);
/* Flush, wait until the GPU has done it all (the lock stays held) and run what was deferred. On the
 * builder's fiber only. */
NTSTATUS paging_settle(struct vidmm *vidmm);
/* Wait for a ticket; drops and retakes the lock. Not inside a job. */
NTSTATUS paging_wait_unlocked(struct vidmm *vidmm, uint64_t ticket);

/* ---- paging_worker.c ---- */
NTSTATUS paging_worker_start(struct vidmm *vidmm);
void paging_worker_stop(struct vidmm *vidmm);
/* Runs on the worker's fiber, or there is no worker: building is allowed. */
bool paging_may_build(const struct vidmm *vidmm);
/* Something that a job returned STATUS_RETRY for may have changed. Any thread, lock held or not. */
void paging_poke(struct vidmm *vidmm);

/* On the heap, or embedded. The queue has no work when it goes. */
struct paging_queue *paging_queue_create(struct vidmm *vidmm, int priority);
void paging_queue_destroy(struct paging_queue *queue);
void paging_queue_init(struct paging_queue *queue, struct vidmm *vidmm, struct vidmm_device *device,
                       int priority);
/* Wait until its jobs are complete (lock held; dropped meanwhile). */
void paging_queue_drain(struct paging_queue *queue);
/* Queue a job whose memory is the caller's until `release` was called; never fails. Lock held, or
 * no sim point passes meanwhile. */
void paging_job_post(struct paging_queue *queue, struct paging_job *job);
/* Queue a job (lock held). `release` (may be NULL) is called with the lock held once the job has
 * run and its operations are done, or when it was dropped because the adapter stopped; it gets the
 * job's status. Fails only for lack of host memory. fence (may be NULL): the value told to the
 * queue's progress function then. */
NTSTATUS paging_queue_post(struct vidmm_paging_queue *queue, paging_job_fn fn,
                           paging_release_fn release, void *arg, uint64_t *fence);
/* The same for a queue of the host's own. */
NTSTATUS paging_post(struct paging_queue *queue, paging_job_fn fn, paging_release_fn release,
                     void *arg);
/* Lock NOT held: have fn run on the worker, behind nothing, and wait until what it built is done.
 * On the worker's own fiber, or while there is none, it runs at once. The status is fn's, or that
 * of the wait (STATUS_DEVICE_REMOVED). */
NTSTATUS paging_run(struct vidmm *vidmm, paging_job_fn fn, void *arg);
/* The retire fiber has something to tell the scheduler (vidmm->tell, tell_devices). */
void paging_tell(struct vidmm *vidmm);

/* ---- follow.c: GPU work of clients that something waits for (lock held) ---- */
NTSTATUS follow_start(struct vidmm_device *device);
/* Lock held; dropped meanwhile. Everything followed is done. */
void follow_stop(struct vidmm_device *device);
void follow_init(struct follow *follow);
/* Call fn when the GPU work that the device has queued so far is finished: at once if it is, and
 * nothing waits before it. */
void follow_device(struct vidmm_device *device, struct follow *follow,
                   void (*fn)(struct vidmm_device *, struct follow *));
/* The same always on the follower's fiber; ticket 0: at the next opportunity. */
void follow_after(struct vidmm_device *device, struct follow *follow, uint64_t ticket,
                  void (*fn)(struct vidmm_device *, struct follow *));
void follow_cancel(struct follow *follow);
static inline bool follow_pending(const struct follow *follow)
{
    return !list_empty(&follow->link);
}

/* ---- backing.c: system pages of an allocation (lock held) ---- */
/* Have frames; new ones are filled with the allocation's pattern when it has no content (which
 * becomes CONTENT_SYSTEM). */
NTSTATUS backing_take(struct vidmm_allocation *allocation);
/* Have them mapped for the device (allocation->logical). */
NTSTATUS backing_map(struct vidmm_allocation *allocation);
/* Undo it at once: no operation was built with them. Harmless without a mapping. */
void backing_unmap_now(struct vidmm_allocation *allocation);
/* Runs that describe the mapped pages: fewest pieces. */
NTSTATUS backing_runs(const struct vidmm_allocation *allocation, struct vidmm_run **runs,
                      uint32_t *run_count);
/* Take mapping (and frames) off the allocation when the GPU is done; `release`, from the heap or
 * the allocation's final one, is used up. */
void backing_defer_unmap(struct vidmm_allocation *allocation, struct backing_release *release,
                         bool frames);

/* Frames that nothing uses any more; frees the array. */
void backing_give(struct vidmm *vidmm, struct page_number *backing, uint64_t pages, bool borrowed);

/* ---- placement.c (lock held, builder's fiber) ---- */
/* Bring in, evicting others as needed; operations are appended, the caller flushes. On failure it
 * is where it was. */
NTSTATUS residency_bring_in(struct vidmm *vidmm, struct vidmm_allocation *allocation);
NTSTATUS residency_move_out(struct vidmm *vidmm, struct vidmm_allocation *allocation,
                            bool keep_content);

/* ---- eviction.c (lock held, builder's fiber) ---- */
/* What room is wanted for. */
struct room_request {
    struct vidmm_segment *segment;
    uint64_t pages, align_bytes;
    bool contiguous;
    const struct vidmm_allocation *newcomer; /* NULL: the host's own */
    bool last;                               /* there is no other segment to try */
};
/* Make room by evicting; STATUS_NO_MEMORY when nothing more can go, STATUS_RETRY when it may later.
 * On success the caller tries again, and comes back if the hole does not suit. */
NTSTATUS residency_make_room(struct vidmm *vidmm, const struct room_request *room);
/* STATUS_SUCCESS if no GPU work of a client can use it now; else STATUS_RETRY, with a process to
 * suspend if that helps. */
NTSTATUS eviction_need_idle(struct vidmm_allocation *allocation);
/* The allocation's place, references or priority changed: keep it in the orders that eviction
 * follows. Never fails. */
void eviction_update(struct vidmm_allocation *allocation);

/* ---- allocation.c: opens by handle, and the host's own allocations; lock held ---- */
/* The open behind a handle of the device; NULL: none, or one that DxgkDdiOpenAllocation has not
 * returned for yet. */
struct vidmm_open *open_find(struct vidmm_device *device, D3DKMT_HANDLE handle);
/* The same for work that was queued with the handle: also one that was destroyed since (ALLOC-088).
 * O(1), O(destroyed ones that wait for the GPU) for those. */
struct vidmm_open *open_find_queued(struct vidmm_device *device, D3DKMT_HANDLE handle);
struct allocation_request {
    HANDLE driver_handle;
    uint64_t bytes, alignment;
    UINT supported_set, preferred[5], eviction_set, priority;
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags;
};
/* Not resident yet: raise `pins` and residency_bring_in in a job. Checks nothing but that the size
 * fits a segment of the set. */
NTSTATUS allocation_create_internal(struct vidmm *vidmm, const struct allocation_request *request,
                                    struct vidmm_allocation **allocation);
/* Builder's fiber. The GPU no longer uses it; mappings are freed (space_allocation_destroyed),
 * pages and the object go when operations built before are done. */
void allocation_destroy_internal(struct vidmm_allocation *allocation);

/* ---- address_space.c / page_table.c (lock held) ---- */
NTSTATUS space_create(struct vidmm *vidmm, struct vidmm_process *process, bool paging,
                      struct vidmm_space **space);
void space_destroy(struct vidmm_space *space);
/* The place of the allocation changed (in, out, moved): rewrite the entries of all its mappings.
 * Appends operations. */
NTSTATUS space_allocation_placed(struct vidmm *vidmm, struct vidmm_allocation *allocation);
/* The allocation goes: free its Map ranges in all spaces (GPUVA-097), invalidate entries inside
 * reservations. */
void space_allocation_destroyed(struct vidmm *vidmm, struct vidmm_allocation *allocation);
/* An address range of the host's own in a space, mapped to these runs; *va chosen in the internal
 * range or [low, high). `commands`: the GPU fetches commands there. */
NTSTATUS space_map_internal(struct vidmm_space *space, const struct vidmm_run *runs,
                            uint32_t run_count, uint64_t low, uint64_t high, bool commands,
                            struct gpu_va *va);
void space_unmap_internal(struct vidmm_space *space, struct gpu_va va, uint64_t pages);
HANDLE space_process_handle(const struct vidmm_space *space);
bool space_validate(const struct vidmm_space *space);

/* ---- paging_process.c (lock held) ---- */
NTSTATUS paging_process_create(struct vidmm *vidmm);
void paging_process_destroy(struct vidmm *vidmm);
/* Map runs in the scratch area for the operations built next; valid until scratch_release, which
 * may be called right after the operation was built (the space is reused only after the ticket of
 * the flush that follows). Appends UPDATE_PAGE_TABLE and FLUSH_TLB. Allocations larger than
 * scratch_limit() pages are done in chunks by the caller. Two mappings of scratch_limit() pages fit
 * at once; where space waits for its ticket, scratch_map settles (paging_settle). */
NTSTATUS scratch_map(struct vidmm *vidmm, const struct vidmm_run *runs, uint32_t run_count,
                     bool read_only, struct gpu_va *va);
void scratch_release(struct vidmm *vidmm, struct gpu_va va, uint64_t pages);
uint64_t scratch_limit(const struct vidmm *vidmm);

/* ---- cpu_access.c (lock held) ---- */
/* A view exists that must be moved along with the content. */
bool cpu_access_follows(const struct vidmm_allocation *allocation);
/* The CPU has it locked in a way that it must not go to this memory segment now. */
bool cpu_access_forbids(const struct vidmm_allocation *allocation,
                        const struct vidmm_segment *segment);
/* The content is about to be copied: remember what it is now. Then, with the copy done and the new
 * place recorded (runs, or NULL: the backing): bring over what the CPU has stored meanwhile and
 * re-point the view. The second fails before it changes anything. */
NTSTATUS cpu_access_leave(struct vidmm_allocation *allocation);
NTSTATUS cpu_access_placed(struct vidmm_allocation *allocation);
void cpu_access_destroyed(struct vidmm_allocation *allocation);

/* ---- context_allocation.c ---- */
void context_allocation_finish_all(struct vidmm_context *context);

#endif
