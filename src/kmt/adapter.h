/* SPDX-License-Identifier: MIT */
/* An adapter as one process has it open: its handles are counted here, and the process stands on
 * the memory manager of the adapter while it has devices. */
#ifndef DXGK_KMT_ADAPTER_H
#define DXGK_KMT_ADAPTER_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "sim/mutex.h"
#include "util/list.h"

struct kmt_call;

/* From the first open handle to the last handle, device or opened object. */
struct kmt_adapter {
    struct kmt_process *process;
    struct port_adapter *port;
    struct list link, devices;
    struct list syncs;        /* objects opened without a device */
    struct vidmm_process *mm; /* from the first device on (KMT-052) */
    struct sim_mutex mm_lock; /* held while mm comes and goes */
    uint32_t handles, device_count;
    bool stopped; /* nothing of the driver is left for it; the handles stay until they are closed */
};

NTSTATUS kmt_adapter_open(struct kmt_call *call, struct port_adapter *port, D3DKMT_HANDLE *handle);
/* Whether clients find it: started, and not one for virtual machines alone (KMT-044). */
bool kmt_adapter_is_listed(const struct port_adapter *port);
/* The record of an adapter that the process may not have opened: the caller puts something on it,
 * or calls kmt_adapter_put. */
NTSTATUS kmt_adapter_of(struct kmt_call *call, struct port_adapter *port,
                        struct kmt_adapter **adapter);
/* Frees it if neither a handle nor a device nor an opened object is left. May block. `own`: the
 * caller's call, whose pins do not count. */
void kmt_adapter_put(struct kmt_adapter *adapter, const struct kmt_call *own);
/* The process on the adapter, from the first device on. */
NTSTATUS kmt_adapter_begin_process(struct kmt_adapter *adapter, bool *opened);
void kmt_adapter_end_process(struct kmt_adapter *adapter);

/* STATUS_SUCCESS, or STATUS_DEVICE_REMOVED for a stopped adapter. */
NTSTATUS kmt_adapter_check(const struct kmt_adapter *adapter);
/* The adapter's driver is of WDDM 2.0 or later (KMT-022). */
/* KMT-022: STATUS_NOT_SUPPORTED, because the driver is of WDDM 1.x. */
NTSTATUS kmt_adapter_refuse_1x(void);
/* Of what an adapter without engines and memory cannot do, for the reason `why`. */
NTSTATUS kmt_adapter_refuse_display_only(const char *why);
bool kmt_adapter_is_2x(const struct kmt_adapter *adapter);

#endif
