/* SPDX-License-Identifier: MIT */
/* The queued packets of a lost device, which never reach the hardware. */
#ifndef DXGK_VIDSCH_CANCEL_H
#define DXGK_VIDSCH_CANCEL_H

struct vidsch_device;

/* What the worker does about a device that is on its list `lost` (yields). */
void vidsch_cancel_device(struct vidsch_device *device);

#endif
