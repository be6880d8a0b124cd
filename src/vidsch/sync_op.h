/* SPDX-License-Identifier: MIT */
/*
 * Operations: an operation is one wait for, or one signal of, some objects with a value each.
 * Packets or a waiting thread refer to it.
 *
 * Level up to DISPATCH_LEVEL; create: PASSIVE_LEVEL.
 */
#ifndef DXGK_VIDSCH_SYNC_OP_H
#define DXGK_VIDSCH_SYNC_OP_H

#include "vidsch/vidsch.h"

enum sync_op_kind { OP_SIGNAL, OP_WAIT_QUEUED, OP_WAIT_CPU };

struct sync_entry {
    struct list link; /* sync->waiters */
    struct vidsch_sync *sync;
    struct sync_op *op;
    uint64_t value;
};

#define SYNC_INLINE_ENTRIES 4u

struct sync_op {
    struct list link; /* waits of the CPU: in vidsch->syncs.cpu_waits */
    enum sync_op_kind kind;
    uint32_t count;
    uint32_t references; /* packets, or the waiting thread */
    uint32_t remaining;  /* signal: contexts that have not reached it yet */
    bool rewind, at_submission;
    bool any;        /* wait: one object is enough */
    bool registered; /* its entries are in the waiter lists of their objects */
    bool done;
    NTSTATUS status;
    struct vidsch_context *context; /* queued wait */
    struct sim_thread *thread;      /* of a blocking wait */
    void (*notify)(void *context, NTSTATUS status);
    void *notify_context;
    struct sync_entry *entries; /* inline_entries, or a block of its own */
    struct sync_entry inline_entries[SYNC_INLINE_ENTRIES];
};

/* `values` may be NULL. The result has one reference; NULL: out of memory. */
struct sync_op *vidsch_sync_op_create(struct vidsch *vidsch, enum sync_op_kind kind,
                                      struct vidsch_sync *const *list, const UINT64 *values,
                                      UINT count);
void vidsch_sync_op_release(struct vidsch *vidsch, struct sync_op *op);
/* Try to complete the wait. True: it was satisfied, and has taken semaphore counts and mutexes. */
bool vidsch_sync_op_try(struct sync_op *op);
/* Add it to the waiter lists of its objects; remove it from them. */
void vidsch_sync_op_register(struct sync_op *op);
void vidsch_sync_op_unregister(struct sync_op *op);

#endif
