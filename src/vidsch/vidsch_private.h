/* SPDX-License-Identifier: MIT */
/*
 * What the files of vidsch share. Nothing outside src/vidsch includes this.
 *
 * Locking: none. One host thread runs the machine, and other fibers, interrupts and deferred calls
 * get in only at points. The code here makes no point of its own: what lies between two calls of
 * ddi_*, vidmm_* or sim_waitq_wait is atomic. Each function that makes such a call says so
 * ("yields") and looks again at what may have changed.
 */
#ifndef DXGK_VIDSCH_PRIVATE_H
#define DXGK_VIDSCH_PRIVATE_H

#include "util/hash.h"
#include "util/list.h"
#include "util/slab.h"
#include "vidsch/vidsch.h"

#define VIDSCH_LEVELS           16u /* ready lists of a node: client priorities -7..7, and paging */
#define VIDSCH_PAGING_LEVEL     15u
#define VIDSCH_PRIORITY_LIMIT   7
#define VIDSCH_PAGING_BUFFERS   4u
#define VIDSCH_PAGING_SLOTS     16u /* submissions of paging at a time */
#define VIDSCH_MAX_NODES        64u
#define VIDSCH_MAX_DEPTH        64u          /* packets in flight on a node */
#define VIDSCH_QUANTUM_NS       20000000ull  /* PREEMPT-039 */
#define VIDSCH_LONG_QUANTA      10u          /* PREEMPT-040 */
#define VIDSCH_DEPENDENT_NS     500000000ull /* TDR-028 */
#define VIDSCH_SECOND_NS        1000000000ull
#define VIDSCH_CANARY_BYTES     64u
#define VIDSCH_MAX_LIST         65536u      /* elements a client may ask for (KMT-305) */
#define VIDSCH_MAX_COMMANDS     (16u << 20) /* bytes a client may ask for */
#define VIDSCH_NO_PATCHING_LIST 16u         /* RES-033 */

enum packet_kind {
    PACKET_RENDER,  /* portion of a DMA buffer: Patch, SubmitCommand */
    PACKET_VIRTUAL, /* command buffer at a GPU virtual address: SubmitCommandVirtual */
    PACKET_PAGING,  /* paging buffer, either way */
    PACKET_WAIT,
    PACKET_SIGNAL,
};

struct dma_buffer;
struct dma_portion;
struct paging_slot;
struct sync_op;
struct vidsch_node;
struct vidsch_process;

struct packet {
    struct list link;        /* context->queue, after of another packet, or node->resubmit */
    struct list after;       /* signals that follow: carried out when this packet is retired */
    struct list device_link; /* device->outstanding, in order of ticket (GPU work only) */
    struct vidsch_context *context;
    struct dma_buffer *buffer; /* render: all of it; virtual: its private block */
    struct paging_slot *paging;
    struct sync_op *op;          /* wait, signal */
    uint64_t ticket;             /* of the device */
    uint64_t flow;               /* trace: one number per packet of the adapter */
    struct dma_portion *portion; /* render, WDDM 1.x */
    union {
        struct { /* virtual: address and bytes of the commands */
            uint64_t va;
            uint32_t bytes;
            uint32_t umd_private_bytes;
        };
        struct { /* render: bytes and elements of the buffer that it is (PATCH-146, PATCH-150) */
            uint32_t start, end;
            uint32_t first_patch, patch_count;
        };
    };
    uint32_t fence; /* SubmissionFenceId of the present submission; 0: none yet */
    uint8_t kind;
    bool resubmission; /* was on the node before */
    bool null_rendering;
    bool refused; /* SubmitCommandVirtual said STATUS_INVALID_PARAMETER (SUBMIT-107) */
};
_Static_assert(sizeof(struct packet) <= 128, "two cache lines");

/* Move everything from one list to another, empty one. */
static inline void list_take_all(struct list *from, struct list *to)
{
    list_init(to);
    if (list_empty(from))
        return;
    *to = *from;
    to->next->prev = to->prev->next = to;
    list_init(from);
}

static inline bool packet_is_work(const struct packet *packet)
{
    return packet->kind <= PACKET_PAGING;
}

/* ---- DMA buffers (dma_buffer.c) ---- */

/* What one element of the allocation list stands for: the host's own map (PATCH-082). */
struct dma_reference {
    D3DKMT_HANDLE handle;
    HANDLE device_specific; /* NULL: nothing */
    uint64_t bytes;         /* of the allocation */
    bool write;
};

struct dma_buffer {
    struct list link; /* context->free_buffers */
    struct vidsch_context *owner;
    uint32_t references; /* packets, and whoever fills it */
    /* bytes; virtual contexts have none */
    uint8_t *data;
    uint32_t capacity;
    struct page_number first;             /* of the run, whose first and last page hold canaries */
    struct page_number first_logical;     /* of data */
    struct vidmm_aperture_range aperture; /* where data is, if the driver wants it in an aperture */
    uint64_t pages;                       /* of data */
    uint32_t used;
    /* private block */
    uint8_t *private_block; /* canary, data, canary */
    uint8_t *private_data;
    uint32_t private_bytes, private_used;
    /* lists */
    struct dma_reference *references_map;
    DXGK_ALLOCATIONLIST *allocations;
    D3DDDI_PATCHLOCATIONLIST *patches; /* one element of canary on each side */
    uint32_t allocation_capacity, allocation_count;
    uint32_t patch_capacity, patch_count;
    /* WDDM 1.x, by element of the patch-location list (slots.c) */
    struct vidmm_need *needs;
    uint32_t *next_in_slot; /* the next element of the same slot; patch_count: none */
};

/* Memory that a client may write: whole pages seen through one view. */
struct client_block {
    void *view;
    struct page_number *frames;
    uint64_t pages;
};

/* A driver of WDDM 1.x: the lists of a submission say what must be resident (RES-002). */
#define vidsch_is_1x(vidsch) ((vidsch)->config.wddm_version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)

/* A portion of a buffer, WDDM 1.x (portion.c). */
struct dma_portion {
    struct vidmm_portion mm;
    bool checked; /* for bindings that leak (PATCH-134) */
};

/* ---- paging buffers (paging.c) ---- */

/* A paging buffer. Submissions fill it one behind the other (PAGE-016), and it begins anew when they are all over. */
struct paging_memory {
    struct page_number first, first_logical;
    struct vidmm_aperture_range aperture; /* PAGE-002 */
    struct gpu_va va;
    uint64_t pages;
    uint8_t *private_block;
    uint32_t used, private_used; /* by submissions so far */
    uint32_t users;              /* submissions that are filled, queued, or with the driver */
    bool full;                   /* takes no further one */
};

/* One submission: a part of a paging buffer. */
struct paging_slot {
    struct vidmm_paging_buffer public;
    struct packet packet;
    struct list link; /* free */
    struct paging_memory *memory;
    uint64_t last_ticket; /* the last one that completes with it (GPUVA-187) */
};

/* ---- synchronization objects (sync.c, sync_queue.c) ---- */

enum sync_op_kind { OP_SIGNAL, OP_WAIT_QUEUED, OP_WAIT_CPU };

struct sync_entry {
    struct list link; /* sync->waiters */
    struct vidsch_sync *sync;
    struct sync_op *op;
    uint64_t value;
};

#define SYNC_INLINE_ENTRIES 4u

struct sync_op {
    struct list link; /* waits of the CPU: vidsch->cpu_waits */
    enum sync_op_kind kind;
    uint32_t count;
    uint32_t references; /* packets, or the waiting thread */
    uint32_t remaining;  /* signal: contexts that have not come to it */
    bool rewind, at_submission;
    bool any;        /* wait: one object is enough */
    bool registered; /* its entries stand in the waiter lists of their objects */
    bool done;
    NTSTATUS status;
    struct vidsch_context *context; /* queued wait */
    struct sim_thread *thread;      /* of a blocking wait */
    void (*notify)(void *context, NTSTATUS status);
    void *notify_context;
    struct sync_entry *entries; /* inline_entries, or a block of its own */
    struct sync_entry inline_entries[SYNC_INLINE_ENTRIES];
};

struct vidsch_sync {
    struct vidsch *vidsch;
    struct vidsch_device *device; /* NULL once the handle is gone */
    struct vidsch_process *process;
    struct list link;       /* device->syncs, or vidsch->dead_syncs */
    struct list watch_link; /* process->watched: a monitored fence with waiters */
    struct list waiters;    /* struct sync_entry, in order of arrival */
    struct list owner_link; /* owner->mutexes */
    D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type;
    D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags;
    uint32_t references;           /* the handle, and each entry of an operation */
    struct vidmm_fence_slot slot;  /* monitored fence */
    uint64_t value;                /* D3DDDI_FENCE */
    uint64_t queued;               /* highest value asked for so far */
    uint32_t count, max_count;     /* semaphore; mutex: 1 free, 0 owned */
    struct vidsch_context *owner;  /* mutex */
    void (*notify)(void *context); /* CPU notification */
    void *notify_context;
};

/* ---- process, device, context ---- */

struct vidsch_process {
    struct list link;         /* vidsch->processes */
    struct vidmm_process *mm; /* NULL while it has no device */
    uint32_t id;              /* nt_process.id */
    uint32_t devices;
    uint32_t references; /* devices, synchronization objects, suspensions */
    uint32_t suspended;
    struct list watched; /* monitored fences with waiters (SUBMIT-136) */
    uint32_t timeouts;   /* engine timeouts since window_start (TDR-041) */
    uint64_t window_start;
    bool blocked;
};

struct vidsch_device {
    struct vidmm_device *mm; /* first: the driver's host handle resolves to it; NULL until it is */
    struct vidsch *vidsch;
    struct vidsch_process *process;
    struct list link;      /* vidsch->devices */
    struct list lost_link; /* vidsch->lost: queued work to be cancelled by the worker */
    struct list contexts, syncs;
    struct list outstanding;  /* GPU packets, oldest first */
    struct list parked;       /* contexts that could run but for residency or suspension */
    struct sim_waitq changed; /* woken when packets end */
    HANDLE host_handle, driver_handle;
    D3DKMT_CREATEDEVICEFLAGS flags;
    DXGK_DEVICEINFO info; /* of a driver without contexts: the sizes of its buffers (PATCH-009) */
    D3DKMT_DEVICEEXECUTION_STATE state;
    D3DKMT_DEVICEPAGEFAULT_STATE fault;
    uint64_t last_ticket;
    uint64_t awaited_ticket; /* the least that somebody on `changed` waits for; UINT64_MAX: none */
    uint32_t pending;        /* packets of any kind, queued or in flight */
    uint32_t in_flight;      /* GPU packets on a node, or on the way there */
    bool system;
    bool hosts_own; /* the system device of a driver that has none: never shown to it (PATCH-006) */
    bool handle_recorded;
    bool awaiting_residency;
    bool cleaning;   /* lost, and the worker has not done with its queues */
    bool reset_loss; /* lost in a reset or timeout: STATUS_DEVICE_REMOVED for submissions */
};

enum context_state {
    CONTEXT_IDLE,       /* queue empty */
    CONTEXT_READY,      /* on a ready list of its node */
    CONTEXT_SUBMITTING, /* the worker has its head packet */
    CONTEXT_BLOCKED,    /* head is a wait that is not satisfied */
    CONTEXT_PARKED,     /* on device->parked */
    CONTEXT_LOST,       /* nothing is taken from its queue but to be cancelled */
};

struct vidsch_context {
    struct vidmm_context mm; /* first: the driver's host handle resolves to it */
    struct vidsch_device *device;
    struct vidsch_node *node;
    struct list link;         /* device->contexts */
    struct list queue;        /* packets, first in first out */
    struct list run_link;     /* ready list, or device->parked */
    struct list advance_link; /* vidsch->advance */
    struct packet *last_in_flight;
    enum context_state state;
    uint32_t level;
    INT priority;
    uint32_t pending; /* packets of any kind */
    uint32_t work;    /* GPU packets among them */
    D3DDDI_CREATECONTEXTFLAGS flags;
    DXGK_CONTEXTINFO info; /* as the driver answered */
    bool has_lists;        /* physical mode, takes commands */
    bool dying;
    /* promised sizes and what backs them */
    uint32_t command_bytes, allocation_count, patch_count;
    struct client_block commands, allocations, patches;
    struct list free_buffers;
    struct dma_buffer *reserve; /* for the next Render (PATCH-054) */
    struct sim_mutex render_lock;
    uint32_t buffers, buffers_free;
    struct list mutexes;
    trace_track track;
};

/* ---- nodes ---- */

enum preempt_reason {
    PREEMPT_NONE,
    PREEMPT_PRIORITY,
    PREEMPT_PAGING,
    PREEMPT_TIMEOUT,
    PREEMPT_DEPENDENT
};
enum recover_cause {
    RECOVER_NONE,
    RECOVER_TIMEOUT,
    RECOVER_PAGE_FAULT,
    RECOVER_DRIVER,
    RECOVER_FORCED
};

struct node_event {
    struct sim_event event;
    struct vidsch_node *node;
};

struct vidsch_node {
    struct vidsch *vidsch;
    uint32_t ordinal;
    struct vidsch_node_info info;
    /* fence ids */
    uint32_t next_fence;
    uint32_t last_submitted;
    uint32_t last_completed; /* as processed */
    uint32_t reported;       /* as notified: runs ahead of last_completed until the DPC */
    /* in flight, oldest first */
    struct packet **ring;
    uint32_t ring_mask, depth, head, count;
    uint64_t oldest_since; /* when the oldest became the oldest */
    /* waiting */
    uint32_t ready_mask;
    struct list ready[VIDSCH_LEVELS];
    struct list resubmit; /* paging packets to be given again with their ids */
    /* Between two portions of a buffer of this context nothing but paging goes to the node
     * (PATCH-126); NULL: no such. */
    const struct vidsch_context *unbroken;
    uint64_t generation; /* of engine resets; older interrupt records are stale */
    /* preemption */
    enum preempt_reason preempting;
    bool preempt_answered; /* at interrupt level; the DPC is to come */
    uint32_t preempt_id, closed_preempt_id;
    uint64_t preempt_since;
    /* recovery */
    bool stopped;     /* the recovery thread has the node: nothing is submitted */
    bool ignoring;    /* notifications are dropped (TDR-022) */
    bool after_reset; /* no submission since the last reset (TDR-024) */
    enum recover_cause recover;
    bool watch_due, monitored_noted, timeout_noted;
    struct node_event watch, deadline, quantum;
    trace_track track;
    bool span_open;
};

static inline bool fence_after(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static inline struct packet *node_in_flight(const struct vidsch_node *node, uint32_t index)
{
    return node->ring[(node->head + index) & node->ring_mask];
}

/* ---- interrupt records (interrupt.c) ---- */

struct irq_record {
    DXGK_INTERRUPT_TYPE type;
    uint32_t node;
    uint32_t fence; /* completed, faulted, last completed of a preemption */
    NTSTATUS status;
    uint64_t generation;
    DXGK_PAGE_FAULT_FLAGS page_fault_flags;
    D3DKMT_DEVICEPAGEFAULT_STATE fault;
};

struct vidsch {
    struct vidsch *next; /* of the machine */
    struct vidsch_config config;
    struct ddi_adapter *ddi;
    struct vidmm *vidmm;
    struct vidsch_node *node; /* config.nodes of them */
    struct slab packets, ops;
    struct list processes, devices;
    struct list lost;    /* devices whose queued work the worker has to cancel */
    struct list advance; /* contexts whose head may have become something else */
    bool advancing;
    struct list dead_syncs; /* objects without references: freed at PASSIVE_LEVEL */
    struct list cpu_waits;
    struct hash_map driver_devices; /* driver's device handles that live (PATCH-004) */
    struct vidsch_device *system_device;
    struct vidsch_context *system_context;
    uint64_t next_flow;
    /* worker */
    struct sim_thread *worker;
    struct sim_waitq worker_wait;
    bool worker_idle, worker_end, worker_ended;
    uint64_t kick;                       /* nodes to look at */
    const struct vidsch_context *keeper; /* whose memory stays in place between portions (portion.c) */
    uint32_t keeping;                    /* its portions that keep some */
    struct list awaiting_keeper;         /* contexts that go on when there is none */
    bool restoring;                      /* after an adapter reset: only paging runs */
    struct vidsch_context *busy_context; /* the worker has a packet of it in hand */
    struct vidsch_node *
        busy_node; /* a Patch, SubmitCommand or PreemptCommand for it is being made by the worker */
    struct sim_waitq changed; /* woken by everything that stop, suspend and recovery wait for */
    uint32_t changed_waiters;
    /* interrupts */
    struct irq_record *records;
    uint32_t record_mask, record_head, record_tail;
    /* paging */
    struct paging_memory *paging_memory; /* VIDSCH_PAGING_BUFFERS */
    uint32_t paging_turn;                /* the one that is being filled */
    struct paging_slot *paging_slots;    /* VIDSCH_PAGING_SLOTS */
    struct list paging_free;
    struct sim_waitq paging_wait;
    uint64_t paging_last, paging_completed; /* tickets */
    struct paging_slot *paging_youngest;    /* queued last, and not done */
    uint64_t paging_epoch;                  /* resets that threw paging work away */
    bool paging_discard; /* between reset and restart: buffers are dropped (TDR-051) */
    /* recovery */
    struct sim_thread *recovery;
    struct sim_waitq recovery_wait;
    bool recovery_idle, recovery_end, recovery_ended;
    bool resetting; /* adapter reset in progress */
    bool adapter_reset_wanted;
    enum recover_cause adapter_cause;
    uint64_t recoveries;   /* finished or called off */
    uint64_t *reset_times; /* ring of tdr.limit_count */
    uint32_t reset_count;
    struct iommu_fault last_bus_fault;
    bool bus_fault_noted;
    uint32_t suspended;    /* vidsch_suspend */
    uint32_t clients_held; /* vidsch_hold_clients */
    bool started, quiescing, quiesced;
    struct vidsch_statistics statistics;
};

/* In debug builds, after each round of changes. */
static inline void vidsch_debug_check(struct vidsch *vidsch)
{
#ifdef DXGK_DEBUG_CHECKS
    if (!vidsch_validate(vidsch))
        __builtin_trap();
#else
    (void)vidsch;
#endif
}

/* ---- queue.c: packets, software queues, ready lists (no points) ---- */
struct packet *vidsch_packet_create(struct vidsch_context *context, enum packet_kind kind);
void vidsch_packet_free(struct vidsch *vidsch, struct packet *packet); /* that was never queued */
/* Behind everything of the context; the context must not be lost. */
void vidsch_queue_push(struct packet *packet);
/* Look at the head of the context again: carry out signals, try waits, make ready. Schedule only
 * notes it for the next run. */
void vidsch_queue_advance(struct vidsch_context *context);
void vidsch_queue_schedule(struct vidsch_context *context);
void vidsch_queue_run(struct vidsch *vidsch);
/* Give preempted packets (oldest first in `packets`) back to where they came from. */
void vidsch_queue_return(struct vidsch_node *node, struct packet *const *packets, uint32_t count);
/* The packet is over, whatever its kind: accounting, waiters, memory. */
void vidsch_packet_finish(struct packet *packet);
void vidsch_drop_after(struct packet *packet);
/* All GPU packets of the device up to the ticket are done. O(1). */
bool vidsch_ticket_done(const struct vidsch_device *device, uint64_t ticket);
void vidsch_device_wake(struct vidsch_device *device);
void vidsch_context_ready(struct vidsch_context *context);
void vidsch_context_unready(struct vidsch_context *context);
void vidsch_device_unpark(struct vidsch_device *device);
void vidsch_kick(struct vidsch_node *node);
void vidsch_changed(struct vidsch *vidsch);
/* Block until something of general interest has changed (yields). False: the deadline came first. */
bool vidsch_wait_changed(struct vidsch *vidsch, uint64_t deadline);

/* ---- worker.c ---- */
void vidsch_worker_main(void *arg);
void vidsch_worker_wake(struct vidsch *vidsch);

/* ---- dispatch.c: one packet to the driver (yields) ---- */
void vidsch_dispatch(struct vidsch_node *node, struct packet *packet);
uint32_t vidsch_next_fence(struct vidsch_node *node);

/* ---- retire.c (no points; <= DISPATCH_LEVEL) ---- */
void vidsch_retire_through(struct vidsch_node *node, uint32_t fence);
void vidsch_retire_refused(struct vidsch_node *node);
/* Take the oldest packet off the node as failed: signals behind it are dropped. */
void vidsch_retire_failed(struct vidsch_node *node);
/* Take everything off the ring; completed ones are retired before. Returns how many were put in
 * `packets`. */
uint32_t vidsch_ring_take(struct vidsch_node *node, struct packet **packets);
void vidsch_ring_push(struct vidsch_node *node, struct packet *packet);

/* ---- slots.c: the patch-location list as slots and split points (WDDM 1.x) ---- */
/* Check and take in the list that the driver produced. What is odd is reported and served;
 * STATUS_NO_MEMORY. */
NTSTATUS vidsch_slots_take(struct dma_buffer *buffer);
/* The element, whose SplitOffset is less than `split`, binds an allocation, and its slot is not bound
 * anew there. O(1). */
bool vidsch_slot_stays_bound(const struct dma_buffer *buffer, uint32_t element, uint32_t split);

/* ---- portion.c: how much of a DMA buffer goes at once (WDDM 1.x; no points) ---- */
/* A fresh packet becomes the first portion of its buffer, or all of it. False: out of memory. */
bool vidsch_portion_create(struct packet *packet);
/* May the packet at the head of its queue go? False: not yet, or its device is lost. */
bool vidsch_portion_ready(struct packet *packet);
/* It leaves the queue for the driver, and comes back because the node was closed, or from the node:
 * what else may go there meanwhile (PATCH-126). */
void vidsch_portion_taken(const struct packet *packet);
void vidsch_portion_put_back(const struct packet *packet);
/* It is with the driver from now on. */
void vidsch_portion_in_flight(const struct packet *packet);
/* The packet at the head of the keeper's queue must go before the keeping ends. */
bool vidsch_portion_is_kept_for(const struct packet *packet);
void vidsch_portion_free(struct packet *packet);

/* ---- preempt.c ---- */
NTSTATUS vidsch_preempt(struct vidsch_node *node, enum preempt_reason reason); /* yields */
void vidsch_preempt_consider(struct vidsch_node *node);                        /* yields */
void vidsch_preempt_answered(struct vidsch_node *node, uint32_t last_completed);
void vidsch_preempt_close(struct vidsch_node *node);

/* ---- timeout.c ---- */
void vidsch_node_events_init(struct vidsch_node *node);
void vidsch_node_events_cancel(struct vidsch_node *node);
void vidsch_watch_start(struct vidsch_node *node);
void vidsch_watch_check(struct vidsch_node *node); /* yields */
uint64_t vidsch_tdr_delay(const struct vidsch *vidsch);

/* ---- recovery.c, engine_reset.c, adapter_reset.c ---- */
void vidsch_recovery_main(void *arg);
/* Ask for it; any level up to DISPATCH_LEVEL. */
void vidsch_want_engine_reset(struct vidsch_node *node, enum recover_cause cause);
void vidsch_want_adapter_reset(struct vidsch *vidsch, enum recover_cause cause);
void vidsch_engine_reset(struct vidsch_node *node);
void vidsch_adapter_reset(struct vidsch *vidsch);
void vidsch_collect_debug_info(struct vidsch *vidsch, UINT reason);
/* Wait until the worker is not inside the driver for the node (NULL: for any). False: TdrDdiDelay
 * went by. */
bool vidsch_wait_worker(struct vidsch *vidsch, const struct vidsch_node *node);

/* ---- device.c ---- */
/* The process on whichever adapter of the machine it belongs to; NULL: it has no device. */
struct vidsch_process *vidsch_process_find(const struct vidmm_process *mm, struct vidsch **vidsch);
struct vidsch_process *vidsch_process_get(struct vidsch *vidsch, struct vidmm_process *mm);
void vidsch_process_put(struct vidsch *vidsch, struct vidsch_process *process);
/* The device is in error from now on; its queued work is cancelled by the worker. No points, <=
 * DISPATCH_LEVEL. */
void vidsch_device_lose(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state,
                        bool reset);
/* What the worker does about a lost device (yields). */
void vidsch_device_lost_work(struct vidsch_device *device);
NTSTATUS vidsch_device_create_system(struct vidsch *vidsch);
void vidsch_device_free(struct vidsch_device *device);
/* Block until nothing of the device (context; NULL: all) is queued or in flight, and the worker has
 * done with it. */
void vidsch_device_drain(struct vidsch_device *device, const struct vidsch_context *context);
/* Block while the adapter is being reset (TDR-081). */
void vidsch_wait_reset(struct vidsch *vidsch);

static inline bool device_is_lost(const struct vidsch_device *device)
{
    return device->state != D3DKMT_DEVICEEXECUTION_ACTIVE;
}

/* ---- context.c ---- */
NTSTATUS vidsch_context_create_system(struct vidsch *vidsch);
void vidsch_context_free(struct vidsch_context *context);

/* ---- dma_buffer.c ---- */
bool vidsch_client_block_create(struct vidsch *vidsch, struct client_block *block, uint64_t bytes);
void vidsch_client_block_destroy(struct vidsch *vidsch, struct client_block *block);
/* A buffer of at least the promised sizes with one reference: from the pool, or new. NULL: out of
 * memory. */
/* Where byte 0 is for the driver: in buffer->aperture.segment, or system memory (PATCH-089, PATCH-144). */
uint64_t vidsch_dma_buffer_address(const struct dma_buffer *buffer);
struct dma_buffer *vidsch_dma_buffer_get(struct vidsch_context *context);
void vidsch_dma_buffer_put(struct dma_buffer *buffer);
void vidsch_dma_buffers_free(struct vidsch_context *context);
/* Stops the machine (PATCH-066) and is false if something around the buffer was written to. */
bool vidsch_dma_buffer_check(const struct dma_buffer *buffer, const char *ddi);
/* Contiguous pages that the device may reach. */
bool vidsch_pages_take(struct vidsch *vidsch, uint64_t pages, uint64_t guard,
                       struct page_number *first, struct page_number *logical);
void vidsch_pages_give(struct vidsch *vidsch, struct page_number first, uint64_t pages,
                       uint64_t guard, struct page_number logical);
uint8_t *vidsch_private_create(uint32_t bytes);
bool vidsch_private_intact(const uint8_t *block, uint32_t bytes);

/* ---- paging.c ---- */
NTSTATUS vidsch_paging_create(struct vidsch *vidsch);
void vidsch_paging_destroy(struct vidsch *vidsch);
void vidsch_paging_retired(struct vidsch *vidsch, struct paging_slot *slot);
/* All paging work is thrown away: waiters go on with an error. */
void vidsch_paging_abandon(struct vidsch *vidsch);

/* ---- sync_queue.c (no points, <= DISPATCH_LEVEL, unless said) ---- */
struct sync_op *vidsch_op_create(struct vidsch *vidsch, enum sync_op_kind kind,
                                 struct vidsch_sync *const *list, const UINT64 *values, UINT count);
void vidsch_op_release(struct vidsch *vidsch, struct sync_op *op);
/* Are its objects satisfied now? Then their counts and ownerships are taken, and the wait is done. */
bool vidsch_wait_try(struct sync_op *op);
void vidsch_wait_register(struct sync_op *op);
void vidsch_wait_unregister(struct sync_op *op);
/* One context has come to the signal. */
void vidsch_signal_reached(struct sync_op *op, struct vidsch_context *context);
/* The object changed: let go whoever can. */
void vidsch_sync_changed(struct vidsch_sync *sync);
void vidsch_process_reread(struct vidsch_process *process);
void vidsch_sync_release(struct vidsch_sync *sync);
void vidsch_cpu_wait_end(struct vidsch *vidsch, struct sync_op *op, NTSTATUS status);
/* Reset: fences of the device jump to the maximum (TDR-059); CPU waits end (TDR-060). */
void vidsch_syncs_lost(struct vidsch_device *device);
void vidsch_syncs_reap(struct vidsch *vidsch); /* PASSIVE_LEVEL, yields */
uint64_t vidsch_sync_current(const struct vidsch_sync *sync);
void vidsch_mutexes_free(struct vidsch_context *context);

#endif
