/* SPDX-License-Identifier: MIT */
/* A keyed mutex, for what creates and opens it (keyed_mutex.c) and what takes it
 * (keyed_mutex_use.c). */
#ifndef DXGK_KMT_KEYED_MUTEX_RECORD_H
#define DXGK_KMT_KEYED_MUTEX_RECORD_H

#include "kmt/keyed_mutex.h"
#include "sim/wait.h"

struct kmt_keyed_mutex {
    UINT64 key;                    /* when it is free */
    UINT64 fence_value;            /* of the last release */
    const struct kmt_keyed *owner; /* NULL: free */
    bool abandoned;
    struct list waiters; /* struct waiter */
    struct sim_waitq changed;
    void *data; /* of the runtime */
    UINT bytes;
};

struct waiter {
    struct list link;
    const struct kmt_keyed *keyed; /* NULL: it was destroyed meanwhile */
    UINT64 key;
};

/* Runtime data: the first block that is given stays; later ones must have its size (KMT-403). */
NTSTATUS kmt_keyed_take_data(struct kmt_keyed_mutex *mutex, const void *user, UINT bytes);

#endif
