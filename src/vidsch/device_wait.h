/* SPDX-License-Identifier: MIT */
/* Waiting for the work of a device, and waking the waiters. */
#ifndef DXGK_VIDSCH_DEVICE_WAIT_H
#define DXGK_VIDSCH_DEVICE_WAIT_H

#include "vidsch/vidsch.h"

/* Are all GPU packets of the device up to the ticket done? O(1). */
bool vidsch_device_ticket_done(const struct vidsch_device *device, uint64_t ticket);
/* Block until the ticket is done, or the device is nudged: STATUS_RETRY (yields). */
NTSTATUS vidsch_device_wait_ticket(struct vidsch_device *device, uint64_t ticket);
void vidsch_device_nudge(struct vidsch_device *device);
/* Block until nothing of the device (`context`, unless NULL: of that context) is queued or in
 * flight, and the worker is no longer using it (yields). */
void vidsch_device_drain(struct vidsch_device *device, const struct vidsch_context *context);
/* A packet of the context ended: wake the threads that may have waited for that. Level up to
 * DISPATCH_LEVEL. */
void vidsch_device_wake_awaited(const struct vidsch_context *context);
void vidsch_device_wake(struct vidsch_device *device);

#endif
