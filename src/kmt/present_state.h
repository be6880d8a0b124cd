/* SPDX-License-Identifier: MIT */
/* Queued presents of a device, and what has become of them. */
#ifndef DXGK_KMT_PRESENT_STATE_H
#define DXGK_KMT_PRESENT_STATE_H

#include <ntddk.h>
#include <d3dkmthk.h>

struct kmt_device;

/* How many may be queued before a present waits (PRES-288, PRES-290). */
UINT kmt_queued_limit(const struct kmt_device *device);
/* The present types of D3DKMTGetDeviceState (PRES-296, PRES-297). */
NTSTATUS kmt_present_state(const struct kmt_device *device, D3DKMT_GETDEVICESTATE *args);

#endif
