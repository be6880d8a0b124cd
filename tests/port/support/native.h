/* SPDX-License-Identifier: MIT */
/*
 * A probe of hardware.h that was granted native fences, and announced them; and what clients do with them.
 *
 *     p = native_create(NULL);          the entries, the features, the cap; then as with any probe
 *
 * What the driver was given is in native.fence, in order of creation, and native.told, oldest first.
 */
#ifndef DXGK_TESTS_PROBE_NATIVE_H
#define DXGK_TESTS_PROBE_NATIVE_H

#include "port/support/hardware.h"

#include <dxgk_wddm3_2.h>

#define NATIVE_MOST 256u

struct native_fence {
    HANDLE host, driver;
    DXGKARG_CREATENATIVEFENCE args; /* as on entry */
    uint8_t private_data[16];
    bool destroyed;
};

struct native_told {
    HANDLE fence; /* the driver's */
    uint64_t value;
    bool current; /* of DxgkDdiNotifyCurrentValueUpdates, without a value */
    uint8_t irql;
    uint64_t order; /* of the call */
};

struct native_state {
    struct native_fence fence[NATIVE_MOST];
    unsigned fences, destroyed;
    struct native_told told[NATIVE_MOST];
    unsigned count; /* of told */
    /* what the GPU does while DxgkDdiUpdateMonitoredValues is in progress */
    void (*during)(void);
    uint64_t features; /* that the driver says it supports */
};
extern struct native_state native;

struct probe *native_create(const struct probe_options *options);
/* For before[PROBE_QueryAdapterInfo]: MapToCmpAddressSpace. */
void native_give_cmp(struct probe *p, struct probe_call *call);
/* The latest MonitoredValue of the driver's fence; UINT64_MAX: none was told. */
uint64_t native_monitored(HANDLE fence);
/* DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED with these handles; NULL: none. */
void native_interrupt(const HANDLE *handles, UINT count, UINT flags);

/* ---- clients ---- */
NTSTATUS native_make(D3DKMT_HANDLE device, UINT64 initial, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags,
                     D3DKMT_CREATENATIVEFENCE *create);
NTSTATUS native_destroy(D3DKMT_HANDLE fence);
/* What the GPU writes to CurrentValue, of which the client has the address. */
void native_gpu_write(const struct probe *p, const void *client_address, uint64_t value);
NTSTATUS native_wait(D3DKMT_HANDLE device, D3DKMT_HANDLE fence, UINT64 value);
NTSTATUS native_signal(D3DKMT_HANDLE device, D3DKMT_HANDLE fence, UINT64 value);

#endif
