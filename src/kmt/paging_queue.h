/* SPDX-License-Identifier: MIT */
/* Paging queues of a device: the memory manager's queue, and the fence that shows its progress. */
#ifndef DXGK_KMT_PAGING_QUEUE_H
#define DXGK_KMT_PAGING_QUEUE_H

#include <ntddk.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct kmt_paging_queue {
    struct list link;
    struct kmt_device *device;
    struct vidmm_paging_queue *mm;
    struct kmt_sync *sync;
    D3DKMT_HANDLE handle;
};

void kmt_paging_queue_destroy(struct kmt_paging_queue *queue);

#endif
