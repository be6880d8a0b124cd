/* SPDX-License-Identifier: MIT */
/* What a handle names, kept for the call (KMT-016, KMT-026). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/handle.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "nt/ob/user_handle.h"
#include "util/hash.h"

void kmt_handle_note_gone(const struct kmt_call *call, D3DKMT_HANDLE handle)
{
    if (hash_get(&call->process->gone, handle))
        *call->removed = true;
}

struct kmt_adapter *kmt_handle_adapter(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct kmt_adapter *adapter = kmt_handle_lookup(call, handle, DDI_CLIENT_ADAPTER);

    if (adapter && adapter->stopped) {
        *call->removed = true;
        return NULL;
    }
    if (adapter)
        kmt_call_pin(call, adapter);
    return adapter;
}

struct kmt_device *kmt_handle_device(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct kmt_device *device = kmt_handle_lookup(call, handle, DDI_CLIENT_DEVICE);

    if (device)
        kmt_call_pin(call, device);
    return device;
}

struct vidsch_context *kmt_handle_context(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct vidsch_context *context = kmt_handle_lookup(call, handle, DDI_CLIENT_CONTEXT);

    if (context)
        kmt_call_pin(call, context);
    return context;
}

struct kmt_paging_queue *kmt_handle_paging_queue(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct kmt_paging_queue *queue = kmt_handle_lookup(call, handle, DDI_CLIENT_PAGING_QUEUE);

    if (queue)
        kmt_call_pin(call, queue);
    return queue;
}

NTSTATUS kmt_handle_process(struct kmt_call *call, HANDLE handle, ACCESS_MASK wanted,
                            struct nt_process **process)
{
    void *object = NULL;
    NTSTATUS status;

    if (!handle || handle == (HANDLE)(intptr_t)-1) {
        *process = call->process->nt;
        return STATUS_SUCCESS;
    }
    status = nt_user_handle_open(handle, NT_USER_PROCESS, wanted, &object);
    if (!NT_SUCCESS(status))
        return status;
    *process = object;
    nt_user_handle_close(object);
    return STATUS_SUCCESS;
}
