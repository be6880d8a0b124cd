/* SPDX-License-Identifier: MIT */
/* Synchronization objects: creation, state and destruction. The client's calls are in sync.c. */
#ifndef DXGK_VIDSCH_SYNC_OBJECT_H
#define DXGK_VIDSCH_SYNC_OBJECT_H

#include "util/list.h"
#include "util/slab.h"
#include "vidmm/context/fence_memory.h"
#include "vidsch/vidsch.h"

struct vidsch_native;
struct vidsch_process;

struct vidsch_sync {
    struct vidsch *vidsch;
    struct vidsch_device *device; /* NULL once the handle is gone */
    struct vidsch_process *process;
    uint32_t number;        /* among those of the adapter, from 1 */
    struct list link;       /* device->syncs, or vidsch->syncs.dead */
    struct list watch_link; /* *watched: a monitored fence with waiters */
    struct list *watched;   /* process->watched, or one of vidsch->syncs: it is shared; native */
    struct list waiters;    /* struct sync_entry, in order of arrival */
    struct list owner_link; /* owner->mutexes */
    D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type;
    D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags;
    uint32_t references;               /* the handle, and each entry of an operation */
    volatile uint64_t *fence;          /* value of a monitored fence, in one of: */
    struct vidmm_fence_slot slot;      /* not shared */
    struct vidmm_fence_memory *memory; /* shared, or native */
    struct vidsch_native *native;      /* native_fence.h; NULL: the driver does not know it */
    struct vidsch_node *of_doorbell; /* progress of a queue of this node, submitted to by clients */
    uint64_t value;                  /* D3DDDI_FENCE */
    uint64_t queued;                 /* value that the last signal sets, be it done or queued */
    uint32_t count, max_count;       /* semaphore; mutex: 1 free, 0 owned */
    struct vidsch_context *owner;    /* mutex */
    void (*notify)(void *context);   /* CPU notification */
    void *notify_context;
};

/* The synchronization objects and operations of an adapter. */
struct vidsch_syncs {
    struct slab ops;
    struct list dead;      /* objects without references, to be freed at PASSIVE_LEVEL */
    struct list cpu_waits; /* struct sync_op: the waits of threads and callbacks */
    struct list watched;   /* shared monitored fences with waiters */
    /* native fences: those with waiters; struct vidsch_native: those of which the driver has to be
     * told, and those that it said were signaled */
    struct list native_watched, native_due, native_signaled;
};

struct packet;

/* vidsch_sync_create; `own_memory`: the value of a monitored fence is in memory that nothing else
 * is in, as that of a shared one. */
NTSTATUS vidsch_sync_make(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info,
                          bool own_memory, struct vidsch_sync **out);
/* Queue a packet between a wait for the value of a monitored fence (if it waits) and a signal of
 * the next value: all of them, or none. */
NTSTATUS vidsch_sync_bracket(struct vidsch_context *context, struct vidsch_sync *fence,
                             UINT64 value, bool waits, struct packet *middle);
NTSTATUS vidsch_sync_bracket_check(const struct vidsch_context *context, struct vidsch_sync *fence,
                                   UINT64 value, bool waits);
uint64_t vidsch_sync_current(const struct vidsch_sync *sync);
/* Drop a reference. Level up to DISPATCH_LEVEL: with the last one, the worker frees the object
 * later, since vidmm must free its memory at PASSIVE_LEVEL. */
void vidsch_sync_release(struct vidsch_sync *sync);
/* Free the objects without references. PASSIVE_LEVEL, yields. */
void vidsch_sync_reap(struct vidsch *vidsch);

#endif
