/* SPDX-License-Identifier: MIT */
/* The loss of a device, and what is left of it for its client. */
#ifndef DXGK_VIDSCH_DEVICE_LOSS_H
#define DXGK_VIDSCH_DEVICE_LOSS_H

#include "vidsch/vidsch.h"

/* The device is in error from now on: its contexts are taken out of scheduling at once, and its
 * queued work is cancelled by the worker (cancel.h). `reset`: lost in a reset or timeout. Level up
 * to DISPATCH_LEVEL. */
void vidsch_device_lose(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state,
                        bool reset);

#endif
