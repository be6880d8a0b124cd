/* SPDX-License-Identifier: MIT */
/* Handles that clients pass: the object behind one, of the process that calls. */
#ifndef DXGK_KMT_HANDLE_H
#define DXGK_KMT_HANDLE_H

#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/process.h"
#include "nt/base/kprocess.h"
#include "util/handle.h"
#include "verify/refusal.h"

/* Rights to a process, as the Windows SDK numbers them. */
#define KMT_PROCESS_SET_INFORMATION   0x0200u
#define KMT_PROCESS_QUERY_INFORMATION 0x0400u

/* Resolve and pin; NULL: STATUS_INVALID_PARAMETER (KMT-026). */
struct kmt_adapter *kmt_handle_adapter(struct kmt_call *call, D3DKMT_HANDLE handle);
/* NULL, too, of a device on a display-only adapter, which can do no work: whatever failure the call
 * then has becomes STATUS_NOT_SUPPORTED (DISP-012). */
struct kmt_device *kmt_handle_device(struct kmt_call *call, D3DKMT_HANDLE handle);
struct kmt_device *kmt_handle_any_device(struct kmt_call *call, D3DKMT_HANDLE handle);
struct vidsch_context *kmt_handle_context(struct kmt_call *call, D3DKMT_HANDLE handle);
struct kmt_paging_queue *kmt_handle_paging_queue(struct kmt_call *call, D3DKMT_HANDLE handle);
/* A handle that is none, or not any more: remember it if a stopped adapter took its object
 * (KMT-026, LIFE-168). */
void kmt_handle_note_gone(const struct kmt_call *call, D3DKMT_HANDLE handle);
/* The same, and why the call is refused: no object of that type has it. */
void kmt_handle_refuse(const struct kmt_call *call, D3DKMT_HANDLE handle,
                       enum ddi_client_handle type);
/* Resolve without pinning. */
static inline void *kmt_handle_lookup(const struct kmt_call *call, D3DKMT_HANDLE handle,
                                      enum ddi_client_handle type)
{
    void *object = handle_lookup(&call->process->nt->handles, handle, (uint8_t)type);

    if (!object)
        kmt_handle_refuse(call, handle, type);
    return object;
}
/* The same, and the handle is none from now on. */
static inline void *kmt_handle_take(const struct kmt_call *call, D3DKMT_HANDLE handle,
                                    enum ddi_client_handle type)
{
    void *object = handle_remove(&call->process->nt->handles, handle, (uint8_t)type);

    if (!object)
        kmt_handle_refuse(call, handle, type);
    return object;
}

/* NULL and the pseudo handle: the caller; else an NT process handle with the rights `wanted`
 * (KMT-020). */
NTSTATUS kmt_handle_process(struct kmt_call *call, HANDLE handle, ACCESS_MASK wanted,
                            struct nt_process **process);

#endif
