/* SPDX-License-Identifier: MIT */
/* D3DKMTPresent with Blt or ColorFill (PRES-282 to PRES-287). */
#ifndef DXGK_KMT_COPY_H
#define DXGK_KMT_COPY_H

#include <ntddk.h>
#include <d3dkmthk.h>

struct kmt_call;
struct kmt_device;
struct vidsch_context;

/* What its arguments may be, whatever it goes to. */
NTSTATUS kmt_copy_check(const D3DKMT_PRESENT *args);
NTSTATUS kmt_present_copy(struct kmt_device *device, struct vidsch_context *context,
                          const D3DKMT_PRESENT *args);

/* The same from the device of an adapter without displays to a display-only one, which hAdapter
 * names (PRES-284). */
NTSTATUS kmt_present_across(struct kmt_call *call, struct kmt_device *device,
                            const D3DKMT_PRESENT *args);

#endif
