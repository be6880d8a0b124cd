/* SPDX-License-Identifier: MIT */
/* D3DKMTPresent with Blt or ColorFill (PRES-282 to PRES-287). */
#ifndef DXGK_KMT_COPY_H
#define DXGK_KMT_COPY_H

#include <ntddk.h>
#include <d3dkmthk.h>

struct kmt_device;
struct vidsch_context;

NTSTATUS kmt_present_copy(struct kmt_device *device, struct vidsch_context *context,
                          const D3DKMT_PRESENT *args);

#endif
