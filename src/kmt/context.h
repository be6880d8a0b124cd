/* SPDX-License-Identifier: MIT */
/* Contexts, as a device has to know them: for their end with the device. */
#ifndef DXGK_KMT_CONTEXT_H
#define DXGK_KMT_CONTEXT_H

#include <ntddk.h>
#include <d3dkmthk.h>

#include "util/list.h"

#define KMT_MAX_CONTEXTS (D3DDDI_MAX_BROADCAST_CONTEXT + 1u)

/* The handle DDI_CLIENT_CONTEXT names the scheduler's context; this remembers the handle for the
 * end of the device. */
struct kmt_context {
    struct list link; /* the handle of a device's own one is 0 */
    struct vidsch_context *sch;
    D3DKMT_HANDLE handle;
};

#endif
