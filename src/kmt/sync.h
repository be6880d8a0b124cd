/* SPDX-License-Identifier: MIT */
/* Handles of synchronization objects, and lists of them, as the wait and signal calls take them.
 * The lists need no heap: they are short. */
#ifndef DXGK_KMT_SYNC_H
#define DXGK_KMT_SYNC_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct kmt_adapter;
struct kmt_call;
struct kmt_shared;

#define KMT_MAX_OBJECTS 32u /* D3DDDI_MAX_OBJECT_SIGNALED, _WAITED_ON (KMT-371) */

/* One handle of a process. */
struct kmt_sync {
    struct list link; /* device->syncs; adapter->syncs without a device */
    struct kmt_adapter *adapter;
    struct kmt_device *device; /* with which it ends; NULL: it was opened without one (KMT-357) */
    struct vidsch_sync *sch;
    struct kmt_shared *shared;      /* with a reference; NULL: the object has only this handle */
    struct vidsch_sync_view *view;  /* of a shared monitored fence */
    bool no_wait, no_signal;        /* it was opened without the right to it, or so created */
    struct kmt_paging_queue *queue; /* whose progress it is, or NULL */
    bool of_hw_queue;               /* it is the progress of a hardware queue (KMT-174) */
    struct kmt_event *event;        /* of a CPU notification */
    struct port_cpu_event *by_kmd;  /* which the driver signals; or NULL */
    D3DKMT_HANDLE handle;
};

/* Give the scheduler's object a handle, and an end with the device. NULL: out of memory, and the
 * caller still has the object. */
struct kmt_sync *kmt_sync_add(struct kmt_device *device, struct vidsch_sync *sch);
/* Another thread finds what has a handle, and may end it. So the handle comes last: until then only
 * the call that makes the record knows it. On failure the record is removed. */
NTSTATUS kmt_sync_publish(struct kmt_sync *sync);
/* A further record, without a handle, for a shared object of the adapter, with a reference of its
 * own; `device` may be NULL, but not for a monitored fence, whose addresses are in its process
 * (KMT-359). */
NTSTATUS kmt_sync_open(struct kmt_adapter *adapter, struct kmt_device *device,
                       struct kmt_shared *shared, struct kmt_sync **out);
/* The device's part of a shared monitored fence that was just opened: with its addresses, and with
 * NoSignal, NoWait and the like for this handle alone (KMT-361). STATUS_SUCCESS for other types. */
NTSTATUS kmt_sync_view(struct kmt_sync *sync, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags,
                       UINT affinity);
/* The handle goes, and with the last one the object. */
void kmt_sync_remove(struct kmt_sync *sync);

/* The record of a new object, without a handle; if it is shared, with what the processes share of
 * it. On failure the caller still has the scheduler's object. */
NTSTATUS kmt_sync_make(struct kmt_device *device, struct vidsch_sync *sch,
                       D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, struct kmt_sync **out);
/* Open by an NT handle, whose access limits the uses (KMT-247), for a device: with its view, and
 * with a handle. */
NTSTATUS kmt_sync_open_nt(struct kmt_device *device, struct kmt_shared *shared, HANDLE handle,
                          D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, UINT affinity,
                          struct kmt_sync **out);

struct kmt_sync_list {
    struct vidsch_sync *sync[KMT_MAX_OBJECTS];
    UINT count;
    UINT monitored;              /* how many of them are monitored fences */
    struct kmt_adapter *adapter; /* of the last one */
};

enum kmt_sync_use { KMT_SYNC_WAIT, KMT_SYNC_SIGNAL };

/* `count` is at most KMT_MAX_OBJECTS. STATUS_ACCESS_DENIED: a handle was opened without the right
 * to the use (KMT-247). */
NTSTATUS kmt_sync_list_get(const struct kmt_call *call, const D3DKMT_HANDLE *handles, UINT count,
                           enum kmt_sync_use use, struct kmt_sync_list *list);
/* The same from the client's array; a count of 0 or above the limit is STATUS_INVALID_PARAMETER. */
NTSTATUS kmt_sync_list_copy(const struct kmt_call *call, const D3DKMT_HANDLE *user, UINT count,
                            enum kmt_sync_use use, struct kmt_sync_list *list);

#endif
