/* SPDX-License-Identifier: MIT */
/* An allocation as one device has opened it, and how it is found by the client's handle. */
#ifndef DXGK_VIDMM_OPEN_RECORD_H
#define DXGK_VIDMM_OPEN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "util/list.h"
#include "util/order.h"
#include "vidmm/record/follow_record.h"

struct vidmm_allocation;
struct vidmm_device;
struct vidmm_renaming;
struct vidmm_resource_open;

/* One device's open of an allocation: it has a D3DKMT handle, and the driver's
 * hDeviceSpecificAllocation. */
struct vidmm_open {
    struct vidmm_allocation *allocation;
    struct vidmm_device *device;
    struct vidmm_resource_open *resource_open;
    struct list resource_link;
    struct list link;        /* allocation->opens */
    struct list device_link; /* device->opens */
    D3DKMT_HANDLE handle;
    uint32_t serial;      /* in order of creation, from 1 */
    HANDLE driver_handle; /* hDeviceSpecificAllocation */
    uint32_t residency_count;
    uint32_t mark;              /* counter for the duration of one call */
    struct list residency_link; /* device->residency while the count is > 0 */
    struct list missing_link;   /* device->missing_list or joining_list: listed, not ready */
    bool joining;               /* in joining_list */
    uint64_t joined_after;      /* joining: the last ticket of the device then */
    uint64_t listed_at;         /* vidmm->clock when it was put on the list */
    UINT charge;                /* segment to which its list entry is charged; 0: system memory */
    bool charged;
    bool counted; /* in the usage of its process; one of the devices that list the allocation is */
    struct order_node order; /* in device->listed[segment] while listed and resident there */
    UINT order_segment;
    bool ordered;
    /* waits until GPU work is done that may use it although it is off the list */
    struct vidmm_follow use;
    uint64_t last_use; /* ticket of the last such packet of the device */
    /* WDDM 1.x: tickets of the last packets whose allocation list has it, and writes to it */
    uint64_t used_by, written_by;
    struct vidmm_renaming *renaming; /* all instances; NULL: it is the only one */
    struct list instance_link;
    uint64_t instance; /* its number among them: the higher, the newer */
    bool offered;
    bool read_only;
    bool closing;                    /* the GPU is done with it, and so is the device */
    struct vidmm_follow offer_after; /* waits for the GPU work before the offer */
    uint32_t lock_count;
    uint64_t owned_pages; /* that device->owned_pages counts: the device has created it */
    /* in device->dying: destroyed, but work queued earlier may still use it */
    struct list dying_link;
    uint32_t portions; /* WDDM 1.x: references by elements of portions (portion.c) */
    uint32_t kept;     /* of those, the ones that also pin the allocation */
    bool writes;       /* some element of the portion that is looked at writes to it */
};

/* A new open of the device, on no list. open_record_free also frees its handle. */
struct vidmm_open *open_record_new(struct vidmm_device *device, struct vidmm_allocation *allocation);
void open_record_free(struct vidmm_open *open);

/* The open behind a handle of the device (lock held). NULL: there is none, or DxgkDdiOpenAllocation
 * has not returned for it yet. */
struct vidmm_open *open_find(struct vidmm_device *device, D3DKMT_HANDLE handle);
/* The same for work that was queued with the handle: also finds an open that has been destroyed
 * since (ALLOC-088). O(1); for destroyed ones O(destroyed opens that wait for the GPU). */
struct vidmm_open *open_find_queued(struct vidmm_device *device, D3DKMT_HANDLE handle);

#endif
