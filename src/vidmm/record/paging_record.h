/* SPDX-License-Identifier: MIT */
/*
 * Jobs of the paging worker, and the queues they wait in. Other records (devices, context
 * allocations, ...) embed these structures, so they are declared here. paging_worker.h has the
 * functions for jobs, paging.h those for deferred callbacks.
 */
#ifndef DXGK_VIDMM_PAGING_RECORD_H
#define DXGK_VIDMM_PAGING_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "sim/wait.h"
#include "util/address.h"
#include "util/list.h"

struct vidmm;
struct vidmm_device;
struct vidmm_fence_memory;
struct vidmm_process;

/* A callback that runs, with the lock held, once the GPU has completed all operations built so far.
 * The caller embeds it and owns the memory; fn may free it. */
struct paging_deferred {
    struct list link;
    void (*fn)(struct vidmm *vidmm, struct paging_deferred *deferred);
    uint64_t ticket;
};

struct paging_turn;

typedef NTSTATUS (*paging_job_fn)(struct vidmm *vidmm, struct paging_turn *turn, void *arg);
typedef void (*paging_release_fn)(struct vidmm *vidmm, void *arg, NTSTATUS status);

/* The paging fence (paging_fence.h). */
#define PAGING_FENCE_AWAITED 16u
struct paging_fence {
    struct vidmm_fence_memory *memory;
    volatile uint64_t *value; /* NULL: there is none */
    struct gpu_va va;         /* in the paging process */
    uint64_t last;            /* the last value that a buffer was built to write */
    bool due;                 /* something was written behind it */
    uint32_t awaited_count;
    struct {
        uint64_t ticket, value;
    } awaited[PAGING_FENCE_AWAITED]; /* what submitted buffers are to write, oldest first */
};

/* How many processes a job may have suspended. */
#define PAGING_MOST_SUSPENDED 32u

/* What a job does, in Windows' numbers. */
enum paging_job_kind {
    JOB_DEFERRED_COMMAND = 109, /* none of the others */
    JOB_COMMIT_ADDRESSES = 113,
    JOB_UNCOMMIT_ADDRESSES = 114,
    JOB_PAGE_IN_DEVICE = 116,
    JOB_MAKE_RESIDENT = 206,
};

/* One piece of work for the worker. */
struct paging_job {
    struct list link; /* queue->jobs until it has run */
    struct paging_queue *queue;
    paging_job_fn fn;
    paging_release_fn release;
    void *arg;
    uint64_t value; /* fence value to report when it completes; 0: none */
    enum paging_job_kind kind;
    uint64_t about; /* of events: the handle of the allocation that it is about; 0: more than one */
    uint32_t serial, sequence; /* the number among all jobs, and in its queue */
    uint64_t taken_at;         /* virtual ns, of its first run; if events are told */
    bool taken;                /* it has run */
    NTSTATUS status;
    struct refusal *refusal; /* of the call that waits for it; NULL: none does */
    bool heap;               /* allocated by the queue, and freed when it completes */
    struct paging_deferred done;
};

/* A queue whose jobs run and complete in order. A client's queue (struct
 * vidmm_paging_queue) begins with one. */
struct paging_queue {
    struct vidmm *vidmm;
    /* for whom its jobs run: they do not evict from its list; NULL: no one */
    struct vidmm_device *device;
    int priority;     /* among queues of one device */
    struct list link; /* worker->queues while it has jobs to run */
    struct list jobs;
    uint32_t pending;  /* jobs that have not completed */
    uint32_t serial;   /* its number among the queues of the adapter */
    uint32_t posted;   /* jobs so far */
    bool parked;       /* its first job returned STATUS_RETRY */
    bool impatient;    /* its deadline has passed: now it may suspend running devices to evict */
    uint64_t deadline; /* when the parked job runs again at the latest */
    struct sim_waitq idle; /* woken when pending becomes 0 */
    bool client;
};

struct vidmm_paging_queue {
    struct paging_queue base;
    struct list link; /* device->queues */
    void (*progress)(void *context, uint64_t value);
    void *context;
    uint64_t assigned, done, told; /* fence values: last assigned, completed, reported */
    struct list tell_link;         /* vidmm->tell while done > told */
    bool telling;
};

/* A queue must be empty when its memory is given back. */
void paging_queue_init(struct paging_queue *queue, struct vidmm *vidmm, struct vidmm_device *device,
                       int priority);

/* The context of one run of a job (compare ttm_operation_ctx): for whom it runs, what it may do to
 * get memory, and, if it returns STATUS_RETRY, what must happen before it can succeed. It is passed
 * down to every function that may evict. */
struct paging_turn {
    /* runs for this device and does not evict from its list; or NULL */
    struct vidmm_device *requester;
    bool impatient;   /* it may have processes suspended */
    bool compact_own; /* it may move allocations of the requester's own list */
    /* with STATUS_RETRY */
    struct vidmm_process *suspend; /* suspend this process, then run the job again */
    uint64_t retry_at; /* UINT64_MAX: retry only when something changes; else also after a while */
};

static inline struct paging_turn paging_turn_begin(struct vidmm_device *requester)
{
    return (struct paging_turn){.requester = requester, .compact_own = true, .retry_at = UINT64_MAX};
}

/* Background work, done when the worker has no job; lock held. */
struct paging_idle_work {
    bool (*step)(struct vidmm *vidmm,
                 struct paging_turn *turn);     /* do one step; false: nothing was left to do */
    bool (*waiting)(const struct vidmm *vidmm); /* there is work that needs no further event */
};

#endif
