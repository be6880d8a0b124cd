/* SPDX-License-Identifier: MIT */
/* The loss of a device: it is in error until its client destroys it. */
#ifndef DXGK_VIDSCH_DEVICE_LOSS_H
#define DXGK_VIDSCH_DEVICE_LOSS_H

#include "vidsch/vidsch.h"

/* The device is in error from now on: its contexts are taken out of scheduling at once, and its
 * queued work is canceled by the worker (cancel.h). `reset`: lost in a reset or timeout. Level up
 * to DISPATCH_LEVEL. `why` is copied: the line that was published (loss_report.h), or a clause. */
void vidsch_device_lose(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state,
                        bool reset, const char *why);

#endif
