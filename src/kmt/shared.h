/* SPDX-License-Identifier: MIT */
/*
 * Objects that processes share: what several handles of several processes name together, and the
 * global handle by which it is opened (KMT-029, KMT-223, KMT-224).
 *
 *   resource               lives as long as vidmm's; opens of it, and references of NT objects
 *   synchronization object one reference for each struct kmt_sync, and for each NT object
 *   keyed mutex            one reference for each struct kmt_keyed, and for each NT object
 *
 * A global handle refers, and keeps nothing alive.
 */
#ifndef DXGK_KMT_SHARED_H
#define DXGK_KMT_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "util/list.h"

struct kmt;
struct kmt_keyed_mutex;
struct port_adapter;
struct vidmm_resource;
struct vidsch_sync;

struct kmt_shared {
    struct kmt *kmt;
    struct list link;                /* kmt->shared */
    enum ddi_client_handle type;     /* DDI_CLIENT_RESOURCE, _SYNC or _KEYED_MUTEX */
    bool secure;                     /* NtSecuritySharing: no global handle, but NT handles */
    D3DKMT_HANDLE global;            /* 0: none */
    uint32_t references;             /* not of a resource: vidmm counts those */
    struct port_adapter *port;       /* kept; NULL for a keyed mutex */
    bool gone;                       /* the adapter stopped, and the object with it */
    const struct kmt_shared *bundle; /* the resource it was shared together with (KMT-251) */
    void *runtime;                   /* private data of the runtime (KMT-195) */
    UINT runtime_bytes;
    union { /* by type; NULL when it is gone */
        struct vidmm_resource *resource;
        struct vidsch_sync *sync;
        struct kmt_keyed_mutex *mutex;
    };
    void (*end_mutex)(struct kmt_keyed_mutex *mutex); /* with the last reference */
};

/* With one reference, which the caller gives to its first handle, and the payload still to be set.
 * NULL: out of memory. */
struct kmt_shared *kmt_shared_create(struct kmt *kmt, enum ddi_client_handle type,
                                     struct port_adapter *port, bool secure);
/* The payload was never set, or is gone already. */
void kmt_shared_free(struct kmt_shared *shared);
/* The resource is shared from now on; its end frees `shared`. */
void kmt_shared_set_resource(struct kmt_shared *shared, struct vidmm_resource *resource);
/* The client interface ends, and resources are shared that are no client's: displays' primaries. */
void kmt_shared_forget(struct kmt *kmt);

void kmt_shared_reference(struct kmt_shared *shared);
/* With the last reference the object is destroyed. PASSIVE_LEVEL, may call the driver. */
void kmt_shared_release(struct kmt_shared *shared);
/* The object of a global handle that anybody still has open; NULL: there is none of the type. */
struct kmt_shared *kmt_shared_find(const struct kmt *kmt, D3DKMT_HANDLE global,
                                   enum ddi_client_handle type);

/* The adapter stops, and nobody has anything of it open any more: what NT handles still keep
 * goes. */
void kmt_shared_adapter_stops(struct kmt *kmt, const struct port_adapter *port);

#endif
