/* SPDX-License-Identifier: MIT */
/*
 * Native fences (SUBMIT-149 to SUBMIT-151): monitored fences that the driver knows, and whose
 * second value, MonitoredValue, tells the GPU when a signal needs an interrupt. It is the least
 * value that the host waits for, minus 1, UINT64_MAX while it waits for none.
 *
 *     a wait begins or ends ->  native_due  -> worker: DxgkDdiUpdateMonitoredValues, CurrentValue
 *     the CPU signals       ->  native_due  -> worker: DxgkDdiNotifyCurrentValueUpdates
 *     the GPU signals       ->  interrupt   -> DPC: CurrentValue is read again
 *
 * CurrentValue is read nowhere else: a signal that the driver does not notify wakes nobody.
 */
#ifndef DXGK_VIDSCH_NATIVE_FENCE_H
#define DXGK_VIDSCH_NATIVE_FENCE_H

#include "vidsch/sync_object.h"

struct vidsch_node;

#define NATIVE_NOBODY UINT64_MAX /* MonitoredValue while nobody waits */

struct vidsch_native {
    struct vidsch_sync *sync;
    HANDLE host_handle, driver_handle;
    struct vidmm_fence_memory *memory;   /* of MonitoredValue */
    struct vidmm_fence_slot cmp[2];      /* both values in the address space of paging */
    uint64_t told;                       /* the last MonitoredValue */
    struct list due_link, signaled_link; /* vidsch->syncs.native_due, native_signaled */
    bool begun;                          /* the driver knows it */
    bool written;                        /* the CPU wrote CurrentValue */
    bool busy;                           /* the worker is telling the driver of it */
};

/* native_fence.c. For any synchronization object; any level up to DISPATCH_LEVEL: */
void vidsch_native_waiters_changed(struct vidsch_sync *sync);
void vidsch_native_written(struct vidsch_sync *sync);
/* The last handle is gone: the driver destroys it. PASSIVE_LEVEL, yields. */
void vidsch_native_end(struct vidsch_sync *sync);
/* What MonitoredValue has to be. */
uint64_t vidsch_native_value(const struct vidsch_sync *sync);
/* Of one that no object has (any more). PASSIVE_LEVEL. */
void vidsch_native_free(struct vidsch_native *native);

/* native_tell.c. */
/* On the worker: tell the driver some of what is due; true: there is more, and may come as fast as
 * it is told (yields). */
bool vidsch_native_tell(struct vidsch *vidsch);

/* DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED at DIRQL: is it good enough to be recorded? */
bool vidsch_native_notified(struct vidsch_node *node, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
/* Its DPC. */
void vidsch_native_dpc(struct vidsch_node *node);
/* A node is open again after a reset, and what it notified meanwhile was dropped: read all fences
 * that are waited for, native and monitored ones. Any level up to DISPATCH_LEVEL. */
void vidsch_native_missed(struct vidsch *vidsch);

#endif
