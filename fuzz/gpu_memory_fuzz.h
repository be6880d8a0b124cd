/* SPDX-License-Identifier: MIT */
/*
 * A driver and a GPU that do everything right, under clients that do anything: every call of the client interface that concerns
 * GPU memory, in any order, on a started adapter of any shape.
 *
 * The input is a program. Its first bytes choose the adapter (struct fuzz_shape); then each operation is a byte, followed by its
 * arguments, and is made by one of the client processes.
 *
 * A model that knows nothing of the host's structures says what must hold: for each process a list of intervals of addresses,
 * each split into pieces; for each allocation the first word of each of its pages, and for each handle how often it was made
 * resident, locked and offered.
 *   - a call succeeds or fails as the model says; one that fails changes nothing;
 *   - addresses are given out where they are free, within the limits asked for;
 *   - the host's record of each address space is the model's list, once what was queued is done;
 *   - the page tables, walked by the GPU, show at each address the page of the allocation that the model has there, with its
 *     protection; its bytes are those that were written last, by the CPU, the GPU, or through another address;
 *   - while an allocation is on a residency list, its addresses can be used;
 *   - page tables are what the host asked for (the checker is on), the IOMMU lets no access through that is not held, and no
 *     rule is broken that the driver would answer for;
 *   - all structures validate; at the end everything comes back.
 *
 * It does not say which of the free addresses is chosen, where an allocation is placed, when there is no room (any STATUS_NO_MEMORY
 * of a request that asks for memory is believed), what PermanentSysMem shows before it is pushed, nor when a device is lost while
 * something was made to fail. Requests that depend on each other through different queues are not made at once. There are no dual
 * entries, large pages, memory of clients (ExistingSysMem), NT handles, linked adapters, nor drivers of WDDM 1.x.
 *
 *   _state     the input, processes and devices, allocations and handles
 *   _model     the intervals
 *   _driver    the miniport: it keeps the operations that it was asked for
 *   _gpu       carries them out on the bytes of the machine, and walks page tables
 *   _memory    calls about allocations
 *   _address   calls about GPU virtual addresses
 *   _update    D3DKMTUpdateGpuVirtualAddress
 *   _work      submissions, and what they read and write
 *   _context   context allocations, which the driver maps
 *   _host      time, shortage, power, resets, removal
 *   _check     the model against the host and the tables
 */
#ifndef DXGK_FUZZ_GPU_MEMORY_H
#define DXGK_FUZZ_GPU_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port/support/client.h"
#include "sim/wait.h"

#define MUST(condition)                                                                   \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            fuzz_dump();                                                                  \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

#define PAGE 4096ull

enum {
    PROCESSES = 3,
    DEVICES = 2, /* of a process */
    ALLOCATIONS = 24,
    MOST_PAGES = 80, /* of an allocation */
    RANGES = 48,     /* of a process */
    PIECES = 64,     /* of a range */
    ACCESSES = 4,    /* of a submission */
    CONTEXT_ALLOCATIONS = 4,
    MOST_OPERATIONS = 400,
    SEGMENTS =
        4, /* 1: video memory, 2: aperture, 3: memory that the CPU does not see, in pages of 64 KiB; 0: system memory */
};

/* ---- the adapter ---- */

struct fuzz_shape {
    unsigned levels, root_bits, bits, middle_bits; /* `bits`: of level 0 */
    DXGK_PAGETABLEUPDATEMODE mode;
    bool zero, no_execute, explicit_invalidation, idle_updates, internal_range;
    bool failures;   /* allocations of the host may fail */
    bool hidden;     /* there is a segment 3 */
    bool tables_low; /* page tables of clients are in system memory */
    unsigned vram_pages, content_pages, aperture_pages,
        hidden_pages; /* content: of video memory, about what tables leave */
    enum iommu_mode iommu;
    unsigned buffer_bytes; /* of paging */
    unsigned processes;
};

/* ---- the model ---- */

enum fuzz_state { STATE_INVALID, STATE_ZERO, STATE_PAGES };

struct fuzz_piece {
    uint64_t first, pages; /* pages of the address space */
    enum fuzz_state state;
    unsigned allocation; /* of STATE_PAGES */
    uint64_t offset;     /* page of it */
    bool write, execute;
    uint64_t driver;
};

struct fuzz_range {
    uint64_t first, pages;
    bool reservation, no_commit, owned;
    enum fuzz_state initial;
    uint64_t driver;
    unsigned count;
    struct fuzz_piece piece[PIECES]; /* sorted; together they are the whole range */
};

/* The handle of an allocation on one device. */
struct fuzz_open {
    D3DKMT_HANDLE handle, resource;
    unsigned refs, locks;
    uint8_t *cpu; /* while it is locked */
    bool offered;
};

struct fuzz_word {
    bool known;
    uint64_t value;
};

struct fuzz_allocation {
    bool live;
    uint64_t pages;
    uint64_t bytes;
    bool visible;  /* to the CPU */
    bool lockable; /* and wherever it may be */
    bool shared;
    bool loose;            /* the CPU and the GPU have a copy each, which become one at times */
    unsigned owner;        /* process that made it */
    bool left;             /* it had no handle for a while */
    bool may_be_discarded; /* it was offered, by whomever, and has not been reclaimed since */
    D3DKMT_HANDLE global;
    struct fuzz_open open[PROCESSES][DEVICES];
    struct fuzz_word word[MOST_PAGES];
};

struct fuzz_device {
    bool live, lost;
    D3DKMT_HANDLE device, queue, queue_fence, context, fence;
    const volatile uint64_t *queue_value, *fence_value;
    uint64_t queued;      /* last value of its queue that was handed out */
    uint64_t given, done; /* number of the last work: submitted; executed */
    uint64_t signals;     /* value of `fence` once all updates are done */
    HANDLE host_device, host_context, own_context; /* the handles of the host; that of the driver */
    HANDLE context_allocation[CONTEXT_ALLOCATIONS];
    uint64_t context_pages[CONTEXT_ALLOCATIONS];
};

struct fuzz_process {
    struct probe_client *client;
    D3DKMT_HANDLE adapter;
    struct fuzz_device device[DEVICES];
    struct fuzz_range range[RANGES]; /* sorted */
    unsigned ranges;
    unsigned last_queue; /* device whose queue has the jobs that may be pending */
};

struct fuzz_run {
    const uint8_t *at, *end;
    struct fuzz_shape shape;
    struct probe *probe;
    struct fuzz_process process[PROCESSES];
    struct fuzz_allocation allocation[ALLOCATIONS];
    struct sim_waitq turns;
    unsigned turn;         /* process that acts; PROCESSES: the run is over */
    bool looks[PROCESSES]; /* it is to look for losses before it waits for its turn */
    unsigned operations;
    uint64_t values;     /* given to words so far */
    bool doubtful;       /* update: see is_doubtful */
    bool excused;        /* something was made to fail: devices may be lost, calls may fail */
    unsigned resets;     /* made so far */
    bool removed;        /* the device is gone */
    bool busy;           /* something may be queued */
    bool updating;       /* updates of addresses may be */
    const void *working; /* whose submissions may be; NULL: none */
    size_t records;      /* of violations, looked at */
};

extern struct fuzz_run *fuzz_run; /* one at a time */
extern uint64_t fuzz_operations;  /* of all runs */
extern uint64_t fuzz_fail_at,
    fuzz_failures; /* which allocation of the host fails, 0: none; how many have, in all runs */

void fuzz_dump(void);
/* What happens, for people, with FUZZ_TRACE in the environment. */
void fuzz_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- _state ---- */

uint64_t fuzz_number(unsigned bytes);
unsigned fuzz_byte(void);
unsigned fuzz_below(unsigned bound);
struct fuzz_process *fuzz_me(void);
/* Mark the devices of a process that have been lost; in a thread of that process. */
void fuzz_look_for_losses(unsigned process);
/* Work that was submitted has perhaps not been done: nobody knows what memory holds. */
void fuzz_forget_content(void);
unsigned fuzz_my_number(void);
/* One of the process; NULL: it has none that works. */
struct fuzz_device *fuzz_some_device(unsigned *number);
/* Mostly one that this device has open; NULL: none. */
struct fuzz_allocation *fuzz_some_allocation(unsigned device);
bool fuzz_begin_device(unsigned number);
void fuzz_end_device(unsigned number);
/* The process has no more use of its handle. */
void fuzz_close(unsigned process, unsigned device, struct fuzz_allocation *a);
/* A status that says that the device is gone, which must have had a cause. */
bool fuzz_device_gone(struct fuzz_device *device, NTSTATUS status);
/* May there be no room? What devices list may not fit any more, once page tables and context
 * allocations have grown, and what is locked stays. */
bool fuzz_much_is_listed(void);
bool fuzz_shortage(NTSTATUS status);
/* Wait until nothing is queued. */
void fuzz_drain(void);

/* ---- _model ---- */

struct fuzz_range *fuzz_range_at(struct fuzz_process *process, uint64_t page);
/* Is any of these pages in a range? */
bool fuzz_taken(const struct fuzz_process *process, uint64_t first, uint64_t pages);
bool fuzz_full(const struct fuzz_process *process);
struct fuzz_range *fuzz_range_add(struct fuzz_process *process, const struct fuzz_range *range);
void fuzz_range_remove(struct fuzz_process *process, struct fuzz_range *range);
/* False: there would be too many pieces. */
bool fuzz_paint(struct fuzz_range *range, const struct fuzz_piece *piece);
bool fuzz_has_room(const struct fuzz_range *range);
const struct fuzz_piece *fuzz_piece_at(const struct fuzz_range *range, uint64_t page);
/* The process has no handle of the allocation any more. */
void fuzz_unmap_all(struct fuzz_process *process, unsigned allocation);
/* Would another value of driver protection be in the way of this one? */
bool fuzz_conflict(unsigned allocation, uint64_t offset, uint64_t pages, uint64_t driver);

uint64_t fuzz_first_page(void);
uint64_t fuzz_end_page(void);
bool fuzz_is_offered(const struct fuzz_allocation *a);
/* Is there something of the host or of the driver in these pages of this process? */
bool fuzz_host_has(uint64_t first, uint64_t pages);

/* Is an allocation of this process where it can be used, as the host sees it? */
bool fuzz_host_ready(unsigned allocation);

/* ---- _driver, _gpu ---- */

void fuzz_driver_begin(struct probe *p);
void fuzz_driver_end(void);
void fuzz_gpu_begin(void);
void fuzz_gpu_end(void);
extern struct dxgk_table_format fuzz_format;

/* The driver's private data of an allocation. */
struct fuzz_private {
    uint64_t bytes;
    UINT set, preferred, flags, priority;
};

struct fuzz_access {
    uint64_t va, value; /* of a read: what must be there */
    bool write, known;
};

struct fuzz_work {
    uint32_t magic, count;
    uint64_t number; /* of its device's, from 1 on */
    struct fuzz_access access[ACCESSES];
};

struct fuzz_translation {
    bool valid, zero, read_only, no_execute;
    UINT segment;
    uint64_t offset;
};

/* The next packet, of a client or of paging, never ends; no, it does. */
void fuzz_driver_hang(bool paging);
void fuzz_driver_calm(void);
/* Nothing is left that was submitted. */
bool fuzz_driver_idle(void);
/* An allocation that is to be destroyed with its context. */
void fuzz_driver_own(HANDLE context, HANDLE allocation);
void fuzz_driver_disown(HANDLE allocation);
/* Of the context that was created last: the host's handles of it and of its device, and the driver's own. */
void fuzz_driver_last(HANDLE *device, HANDLE *context, HANDLE *own);
bool fuzz_gpu_root(HANDLE context, D3DGPU_PHYSICAL_ADDRESS *root, UINT *entries);
/* By the tables alone, from the root of a context. */
struct fuzz_translation fuzz_gpu_walk(HANDLE context, uint64_t va);
bool fuzz_gpu_touch(UINT segment, uint64_t offset, void *bytes, size_t count, bool write);
struct fuzz_op;
void fuzz_gpu_execute(struct fuzz_op *op, HANDLE context);
/* Bytes of a paging buffer. */
void fuzz_gpu_fetch(HANDLE context, uint64_t va, void *bytes, size_t count);
void fuzz_gpu_work(const struct fuzz_work *work, HANDLE context);
struct fuzz_op {
    DXGKARG_BUILDPAGINGBUFFER args;
    DXGK_PTE *entries;
    PFN_NUMBER *pages; /* of an MDL, or an ADL */
    void *data;
    DXGK_BUILDPAGINGBUFFER_COPY_RANGE *ranges;
    UINT first, count; /* what of it this part does */
};

/* ---- operations ---- */

void fuzz_create_allocation(void);
void fuzz_destroy_allocation(void);
void fuzz_open_resource(void);
void fuzz_make_resident(void);
void fuzz_evict(void);
void fuzz_offer(void);
void fuzz_reclaim(void);
void fuzz_lock(void);
void fuzz_unlock(void);
void fuzz_touch(void);
void fuzz_update_property(void);
void fuzz_invalidate_cache(void);
void fuzz_trim(void);

void fuzz_map(void);
void fuzz_reserve(void);
void fuzz_free(void);
void fuzz_update(void);

void fuzz_submit(void);
void fuzz_context_allocation(void);
void fuzz_context_inside(struct probe *p);

void fuzz_pass_time(void);
void fuzz_fail_something(void);
void fuzz_change_power(void);
void fuzz_hang(void);
void fuzz_unplug(void);

/* ---- _check ---- */

void fuzz_check_records(void);
void fuzz_check_all(void);

#endif
