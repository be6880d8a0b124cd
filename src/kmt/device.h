/* SPDX-License-Identifier: MIT */
/* Devices of a process: what stands on one, so that it ends with the device, and that end. */
#ifndef DXGK_KMT_DEVICE_H
#define DXGK_KMT_DEVICE_H

#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct kmt_call;
struct kmt_process;

struct kmt_device {
    struct kmt_adapter *adapter;
    struct vidsch_device *sch; /* and `mm`: NULL on a display-only adapter (DISP-012) */
    struct vidmm_device *mm;
    D3DKMT_HANDLE handle;
    struct list link, contexts, queues, syncs;
    struct list hw_queues; /* struct kmt_hw_queue */
    /* for a driver without contexts: buffers of the device; else NULL */
    struct vidsch_context *own;
    struct kmt_trimmer *trimmer; /* NULL: no trim callback was registered */
    bool requests_vsync;         /* PRES-308 */
    UINT queued_limit;           /* of presents (PRES-290); 0: the default */
    uint32_t draining;           /* calls that wait for it to become idle */
};

/* The record of a scheduler's device of the process; NULL: there is none. */
struct kmt_device *kmt_device_of(const struct kmt_call *call, const struct vidsch_device *sch);
/* Put it in this error, if it can be in any. */
void kmt_device_lose(struct kmt_device *device, D3DKMT_DEVICEEXECUTION_STATE state);
/* Wait until the device is idle; until then a deadlock may be broken by putting it in error. */
void kmt_device_drain(struct kmt_device *device);
/* The device's own handle is gone already. `call` NULL: at the end of the process. */
void kmt_device_destroy(struct kmt_process *process, struct kmt_device *device,
                        const struct kmt_call *call);

#endif
