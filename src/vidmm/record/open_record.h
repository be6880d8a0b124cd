/* SPDX-License-Identifier: MIT */
/* One device's open of an allocation, and how it is found by the client's handle. */
#ifndef DXGK_VIDMM_OPEN_RECORD_H
#define DXGK_VIDMM_OPEN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "util/list.h"
#include "vidmm/record/follow_record.h"
#include "util/order.h"

struct vidmm_allocation;
struct vidmm_device;
struct vidmm_resource_open;

/* One device's open of an allocation: hDeviceSpecificAllocation and the D3DKMT handle. */
struct vidmm_open {
    struct vidmm_allocation *allocation;
    struct vidmm_device *device;
    struct vidmm_resource_open *resource_open;
    struct list resource_link;
    struct list link;        /* allocation->opens */
    struct list device_link; /* device->opens */
    D3DKMT_HANDLE handle;
    HANDLE driver_handle; /* hDeviceSpecificAllocation */
    uint32_t residency_count;
    uint32_t mark;              /* scratch of one call */
    struct list residency_link; /* device->residency while the count is > 0 */
    struct list missing_link;   /* device->missing_list while listed and not ready */
    uint64_t listed_at;         /* vidmm->clock when it got on the list */
    UINT charge; /* segment that its list entry is counted against; 0: system memory */
    bool charged;
    struct order_node order; /* in device->listed[segment] while listed and resident there */
    UINT order_segment;
    bool ordered;
    struct vidmm_follow use; /* GPU work that may use it though it is off the list */
    uint64_t last_use;       /* the youngest such packet of the device */
    bool offered;
    bool read_only;
    struct vidmm_follow offer_after; /* GPU work before the offer counts */
    uint32_t lock_count;
    struct list dying_link; /* device->dying: destroyed, and work queued before may use it still */
    uint32_t portions;      /* WDDM 1.x: elements of portions that hold it (portion.c) */
    uint32_t kept;          /* of those, for that it stays where it is: pins of the allocation */
};

/* A record for a device's open of an allocation, on no list; and the reverse, with its handle. */
struct vidmm_open *open_record_new(struct vidmm_device *device, struct vidmm_allocation *allocation);
void open_record_free(struct vidmm_open *open);

/* The open behind a handle of the device (lock held); NULL: none, or one that DxgkDdiOpenAllocation
 * has not returned for yet. */
struct vidmm_open *open_find(struct vidmm_device *device, D3DKMT_HANDLE handle);
/* The same for work that was queued with the handle: also one that was destroyed since (ALLOC-088).
 * O(1), O(destroyed ones that wait for the GPU) for those. */
struct vidmm_open *open_find_queued(struct vidmm_device *device, D3DKMT_HANDLE handle);

#endif
