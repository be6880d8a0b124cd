/* SPDX-License-Identifier: MIT */
/*
 * Jobs of the paging worker and the queues they stand in. The structures are part of others
 * (devices, context allocations, ...), so they are declared at the base; paging_worker.h runs jobs,
 * and paging.h what is deferred.
 */
#ifndef DXGK_VIDMM_PAGING_RECORD_H
#define DXGK_VIDMM_PAGING_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "sim/wait.h"
#include "util/list.h"

struct vidmm;
struct vidmm_device;
struct vidmm_process;

/* Something to do, with the lock held, when all operations built so far have been carried out by
 * the GPU. The embedder owns the memory; fn may free it. */
struct paging_deferred {
    struct list link;
    void (*fn)(struct vidmm *vidmm, struct paging_deferred *deferred);
    uint64_t ticket;
};

struct paging_turn;

typedef NTSTATUS (*paging_job_fn)(struct vidmm *vidmm, struct paging_turn *turn, void *arg);
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

/* A stream of jobs that run and complete in order. A client's queue (struct vidmm_paging_queue)
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

/* On the heap, or embedded. The queue has no work when it goes. */
struct paging_queue *paging_queue_create(struct vidmm *vidmm, int priority);
void paging_queue_destroy(struct paging_queue *queue);
void paging_queue_init(struct paging_queue *queue, struct vidmm *vidmm, struct vidmm_device *device,
                       int priority);

/* One run of a job: for whom it works and how far it may go, and, with STATUS_RETRY, what has to
 * happen before another run can succeed. Passed down to whoever seeks memory, as TTM passes its
 * operation context. */
struct paging_turn {
    struct vidmm_device *requester; /* whose list it serves; its own allocations are no victims */
    bool impatient;                 /* it may have devices suspended */
    bool compact_own;               /* it may move members of the requester's list out of the way */
    /* with STATUS_RETRY */
    struct vidmm_process *suspend; /* suspend this one, then run again */
    uint64_t retry_at;             /* when it is worth running again at the latest */
};

static inline struct paging_turn paging_turn_begin(struct vidmm_device *requester)
{
    return (struct paging_turn){.requester = requester, .compact_own = true, .retry_at = UINT64_MAX};
}

/* What the worker does when it has no job; lock held. */
struct paging_idle_work {
    bool (*step)(struct vidmm *vidmm,
                 struct paging_turn *turn);     /* do one thing; false: there is nothing to do */
    bool (*waiting)(const struct vidmm *vidmm); /* there is something to do at once */
};

#endif
