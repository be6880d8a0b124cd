/* SPDX-License-Identifier: MIT */
/* Waiting for the work of a device, and waking who does. */
#ifndef DXGK_VIDSCH_DEVICE_WAIT_H
#define DXGK_VIDSCH_DEVICE_WAIT_H

#include "vidsch/vidsch.h"

/* All GPU packets of the device up to the ticket are done. O(1). */
bool vidsch_device_ticket_done(const struct vidsch_device *device, uint64_t ticket);
/* Block until the ticket is done (yields). */
NTSTATUS vidsch_device_wait_ticket(struct vidsch_device *device, uint64_t ticket);
/* Block until nothing of the device (context; NULL: all) is queued or in flight, and the worker has
 * done with it (yields). */
void vidsch_device_drain(struct vidsch_device *device, const struct vidsch_context *context);
/* A packet of the context ended: wake who may have waited for it. Level up to DISPATCH_LEVEL. */
void vidsch_device_wake_awaited(const struct vidsch_context *context);
void vidsch_device_wake(struct vidsch_device *device);

#endif
