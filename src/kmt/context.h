/* SPDX-License-Identifier: MIT */
/* Contexts, as a device has to know them: for their end with the device. */
#ifndef DXGK_KMT_CONTEXT_H
#define DXGK_KMT_CONTEXT_H

#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "util/list.h"
#include "vidsch/client.h"

#define KMT_MAX_CONTEXTS (D3DDDI_MAX_BROADCAST_CONTEXT + 1u)

/* The handle DDI_CLIENT_CONTEXT names the scheduler's context; this remembers the handle for the
 * end of the device. */
struct kmt_context {
    struct list link; /* the handle of a device's own one is 0 */
    struct vidsch_context *sch;
    D3DKMT_HANDLE handle;
    enum ddi_client_handle type; /* DDI_CLIENT_CONTEXT, or _HW_CONTEXT */
};

struct kmt_call;
struct kmt_device;

struct kmt_context_request {
    D3DKMT_HANDLE device;
    struct vidsch_context_request request;
};
NTSTATUS kmt_context_create(struct kmt_call *call, const struct kmt_context_request *creation,
                            struct vidsch_context **out, D3DKMT_HANDLE *handle);
/* End the context with this handle of the type, with its hardware queues. */
NTSTATUS kmt_context_destroy(struct kmt_call *call, D3DKMT_HANDLE handle,
                             enum ddi_client_handle type);

#endif
