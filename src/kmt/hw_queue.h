/* SPDX-License-Identifier: MIT */
/* Hardware queues, as a device has to know them: for their end with it, or with a context. */
#ifndef DXGK_KMT_HW_QUEUE_H
#define DXGK_KMT_HW_QUEUE_H

#include <ntddk.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct kmt_call;
struct kmt_device;
struct kmt_process;
struct vidsch_context;

struct kmt_hw_queue {
    struct list link; /* device->hw_queues */
    struct vidsch_context *parent, *sch;
    struct kmt_sync *progress;
    D3DKMT_HANDLE handle; /* DDI_CLIENT_HW_QUEUE, of sch */
};

/* End the queues of the context; NULL: of all contexts of the device. */
void kmt_hw_queues_destroy(struct kmt_process *process, struct kmt_device *device,
                           const struct vidsch_context *parent, const struct kmt_call *call);

#endif
