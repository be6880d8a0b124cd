/* SPDX-License-Identifier: MIT */
/* Canceling the queued packets of a lost device, which never reach the hardware. */
#ifndef DXGK_VIDSCH_CANCEL_H
#define DXGK_VIDSCH_CANCEL_H

struct vidsch_device;

/* Called by the worker for each device on its list `lost` (yields). */
void vidsch_cancel_device(struct vidsch_device *device);

#endif
