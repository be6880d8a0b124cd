/* SPDX-License-Identifier: MIT */
/* Synchronization objects of a device, and lists of them, as the wait and signal calls take them.
 * The lists need no heap: they are short. */
#ifndef DXGK_KMT_SYNC_H
#define DXGK_KMT_SYNC_H

#include <ntddk.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct kmt_call;

#define KMT_MAX_OBJECTS 32u /* D3DDDI_MAX_OBJECT_SIGNALED, _WAITED_ON (KMT-371) */

struct kmt_sync {
    struct list link;
    struct kmt_device *device;
    struct vidsch_sync *sch;
    struct kmt_paging_queue *queue; /* whose progress it is, or NULL */
    struct kmt_event *event;        /* of a CPU notification */
    struct port_cpu_event *by_kmd;  /* which the driver signals; or NULL */
    D3DKMT_HANDLE handle;
};

/* Give the scheduler's object a handle, and an end with the device. NULL: out of memory, and the
 * caller still has the object. */
struct kmt_sync *kmt_sync_add(struct kmt_device *device, struct vidsch_sync *sch);
void kmt_sync_remove(struct kmt_sync *sync);

struct kmt_sync_list {
    struct vidsch_sync *sync[KMT_MAX_OBJECTS];
    UINT count;
    UINT monitored;            /* how many of them are monitored fences */
    struct kmt_device *device; /* of the last one */
};

/* `count` is at most KMT_MAX_OBJECTS. */
NTSTATUS kmt_sync_list_get(const struct kmt_call *call, const D3DKMT_HANDLE *handles, UINT count,
                           struct kmt_sync_list *list);
/* The same from the client's array; a count of 0 or above the limit is STATUS_INVALID_PARAMETER. */
NTSTATUS kmt_sync_list_copy(const struct kmt_call *call, const D3DKMT_HANDLE *user, UINT count,
                            struct kmt_sync_list *list);

#endif
