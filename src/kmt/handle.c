/* SPDX-License-Identifier: MIT */
/* What a handle names, kept for the call (KMT-016, KMT-026). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/handle.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/device.h"
#include "nt/ob/user_handle.h"
#include "util/hash.h"
#include "verify/refusal.h"

void kmt_handle_note_gone(const struct kmt_call *call, D3DKMT_HANDLE handle)
{
    if (hash_get(&call->process->gone, handle))
        *call->removed = true;
}

static const char *kind_of(enum ddi_client_handle type)
{
    static const char *const kinds[] = {
        [DDI_CLIENT_ADAPTER] = "an adapter",
        [DDI_CLIENT_DEVICE] = "a device",
        [DDI_CLIENT_CONTEXT] = "a context",
        [DDI_CLIENT_RESOURCE] = "a resource",
        [DDI_CLIENT_ALLOCATION] = "an allocation",
        [DDI_CLIENT_SYNC] = "a synchronization object",
        [DDI_CLIENT_PAGING_QUEUE] = "a paging queue",
        [DDI_CLIENT_HW_QUEUE] = "a hardware queue",
        [DDI_CLIENT_KEYED_MUTEX] = "a keyed mutex",
        [DDI_CLIENT_HW_CONTEXT] = "a hardware context",
    };

    return kinds[type];
}

void kmt_handle_refuse(const struct kmt_call *call, D3DKMT_HANDLE handle,
                       enum ddi_client_handle type)
{
    kmt_handle_note_gone(call, handle);
    (void)refuse(STATUS_INVALID_PARAMETER, "KMT-026", "handle 0x%x is not that of %s", handle,
                 kind_of(type));
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

struct kmt_device *kmt_handle_any_device(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct kmt_device *device = kmt_handle_lookup(call, handle, DDI_CLIENT_DEVICE);

    if (device)
        kmt_call_pin(call, device);
    return device;
}

struct kmt_device *kmt_handle_device(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct kmt_device *device = kmt_handle_any_device(call, handle);

    if (!device || device->sch)
        return device;
    call->only_shows = true;
    return NULL;
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
        return refuse(status, "KMT-020", "handle %p is not that of a process", handle);
    *process = object;
    nt_user_handle_close(object);
    return STATUS_SUCCESS;
}
