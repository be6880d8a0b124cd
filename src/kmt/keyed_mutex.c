/* SPDX-License-Identifier: MIT */
/*
 * Keyed mutexes.
 *
 *            create(InitialValue)            acquire(Key == key)
 *                     |                    +--------------------+
 *                     v                    |                    v
 *                free, key  <------------------------------  owned by a handle
 *                     ^       release(Key, FenceValue)          |
 *                     |                                         | the handle goes
 *                     +----- acquire: STATUS_ABANDONED ---- abandoned: every key fits
 *
 * Who waits is served in the order of arrival among those whose key fits (KMT-412): a waiter that
 * is woken goes on only if no earlier one could.
 */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/keyed_mutex.h"
#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/handle.h"
#include "kmt/keyed_mutex_record.h"
#include "kmt/kmt.h"
#include "kmt/nt_share.h"
#include "kmt/process.h"
#include "kmt/shared.h"
#include "nt/base/kprocess.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"

/* ---- creation ---- */

NTSTATUS kmt_keyed_take_data(struct kmt_keyed_mutex *mutex, const void *user, UINT bytes)
{
    NTSTATUS status;
    void *data;

    if (mutex->bytes && bytes && bytes != mutex->bytes)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "private data of %u bytes, the mutex has %u",
                      (UINT)bytes, (UINT)mutex->bytes);
    status = kmt_client_copy_private(user, bytes, &data);
    if (!NT_SUCCESS(status) || mutex->bytes || bytes == 0) {
        if (NT_SUCCESS(status))
            util_free(data);
        return status;
    }
    mutex->data = data;
    mutex->bytes = bytes;
    return STATUS_SUCCESS;
}

static void free_mutex(struct kmt_keyed_mutex *mutex)
{
    util_free(mutex->data);
    util_free(mutex);
}

/* A handle for `shared`, whose reference it takes over. */
static NTSTATUS add_handle(struct kmt_process *process, struct kmt_shared *shared,
                           struct kmt_keyed **out)
{
    struct kmt_keyed *keyed = util_zalloc(1, sizeof(*keyed));

    if (!keyed)
        return STATUS_NO_MEMORY;
    keyed->handle = handle_create(&process->nt->handles, DDI_CLIENT_KEYED_MUTEX, keyed);
    if (!keyed->handle) {
        util_free(keyed);
        return STATUS_NO_MEMORY;
    }
    keyed->process = process;
    keyed->shared = shared;
    list_push_back(&process->mutexes, &keyed->link);
    *out = keyed;
    return STATUS_SUCCESS;
}

static NTSTATUS make(struct kmt_call *call, UINT64 key, bool secure, const void *user, UINT bytes,
                     struct kmt_keyed **out)
{
    struct kmt_keyed_mutex *mutex = util_zalloc(1, sizeof(*mutex));
    struct kmt_shared *shared;
    NTSTATUS status;

    if (!mutex)
        return STATUS_NO_MEMORY;
    mutex->key = key;
    list_init(&mutex->waiters);
    sim_waitq_init(&mutex->changed);
    status = kmt_keyed_take_data(mutex, user, bytes);
    shared = NT_SUCCESS(status)
                 ? kmt_shared_create(call->process->kmt, DDI_CLIENT_KEYED_MUTEX, NULL, secure)
                 : NULL;
    if (!shared) {
        free_mutex(mutex);
        return NT_SUCCESS(status) ? STATUS_NO_MEMORY : status;
    }
    shared->mutex = mutex;
    shared->end_mutex = free_mutex;
    status = add_handle(call->process, shared, out);
    if (!NT_SUCCESS(status))
        kmt_shared_release(shared);
    return status;
}

NTSTATUS kmt_keyed_open(struct kmt_call *call, struct kmt_shared *shared, const void *user,
                        UINT bytes, struct kmt_keyed **out)
{
    NTSTATUS status = kmt_keyed_take_data(shared->mutex, user, bytes);

    if (!NT_SUCCESS(status))
        return status;
    kmt_shared_reference(shared);
    status = add_handle(call->process, shared, out);
    if (!NT_SUCCESS(status))
        kmt_shared_release(shared);
    return status;
}

static NTSTATUS create_1(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATEKEYEDMUTEX *args = arguments;
    struct kmt_keyed *keyed;
    NTSTATUS status = make(call, args->InitialValue, false, NULL, 0, &keyed);

    if (!NT_SUCCESS(status))
        return status;
    args->hKeyedMutex = keyed->handle;
    args->hSharedHandle = keyed->shared->global;
    return STATUS_SUCCESS;
}

static NTSTATUS create_2(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATEKEYEDMUTEX2 *args = arguments;
    struct kmt_keyed *keyed;
    NTSTATUS status;

    if (args->Flags.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-400", "reserved bits in Flags");
    status = make(call, args->InitialValue, args->Flags.NtSecuritySharing,
                  args->pPrivateRuntimeData, args->PrivateRuntimeDataSize, &keyed);
    if (!NT_SUCCESS(status))
        return status;
    args->hKeyedMutex = keyed->handle;
    args->hSharedHandle = keyed->shared->global; /* KMT-401 */
    return STATUS_SUCCESS;
}

/* ---- opening ---- */

static NTSTATUS open_global(struct kmt_call *call, D3DKMT_HANDLE global, const void *user,
                            UINT bytes, D3DKMT_HANDLE *handle)
{
    struct kmt_shared *shared = kmt_shared_find(call->process->kmt, global, DDI_CLIENT_KEYED_MUTEX);
    struct kmt_keyed *keyed;
    NTSTATUS status;

    if (!shared)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                      "the shared handle is not that of a keyed mutex");
    status = kmt_keyed_open(call, shared, user, bytes, &keyed);
    if (NT_SUCCESS(status))
        *handle = keyed->handle;
    return status;
}

static NTSTATUS open_1(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENKEYEDMUTEX *args = arguments;

    return open_global(call, args->hSharedHandle, NULL, 0, &args->hKeyedMutex);
}

static NTSTATUS open_2(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENKEYEDMUTEX2 *args = arguments;

    return open_global(call, args->hSharedHandle, args->pPrivateRuntimeData,
                       args->PrivateRuntimeDataSize, &args->hKeyedMutex);
}

static NTSTATUS open_from_nt(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE *args = arguments;
    struct kmt_nt_share *share;
    struct kmt_keyed *keyed;
    NTSTATUS status = kmt_nt_share_open(args->hNtHandle, NT_USER_SHARED_RESOURCE, &share);

    if (!NT_SUCCESS(status))
        return status;
    status = share->part[KMT_PART_MUTEX]
                 ? kmt_keyed_open(call, share->part[KMT_PART_MUTEX], args->pPrivateRuntimeData,
                                  args->PrivateRuntimeDataSize, &keyed)
                 : refuse(STATUS_INVALID_PARAMETER, "KMT-405",
                          "the NT handle is not of a bundle with a keyed mutex");
    kmt_nt_share_close(share);
    if (NT_SUCCESS(status))
        args->hKeyedMutex = keyed->handle;
    return status;
}

/* ---- the end ---- */

void kmt_keyed_close(struct kmt_keyed *keyed)
{
    struct kmt_keyed_mutex *mutex = keyed->shared->mutex;

    handle_remove(&keyed->process->nt->handles, keyed->handle, DDI_CLIENT_KEYED_MUTEX);
    list_remove(&keyed->link);
    LIST_FOR(node, &mutex->waiters) {
        struct waiter *waiter = CONTAINER(node, struct waiter, link);

        if (waiter->keyed == keyed)
            waiter->keyed = NULL; /* KMT-418 */
    }
    if (mutex->owner == keyed) {
        mutex->owner = NULL;
        mutex->abandoned = true; /* KMT-415 */
    }
    sim_waitq_wake(&mutex->changed, UINT32_MAX);
    kmt_shared_release(keyed->shared);
    util_free(keyed);
}

static NTSTATUS destroy_mutex(struct kmt_call *call, void *arguments)
{
    const D3DKMT_DESTROYKEYEDMUTEX *args = arguments;
    struct kmt_keyed *keyed = kmt_handle_lookup(call, args->hKeyedMutex, DDI_CLIENT_KEYED_MUTEX);

    if (!keyed)
        return STATUS_INVALID_PARAMETER;
    kmt_keyed_close(keyed);
    return STATUS_SUCCESS;
}

KMT_IN_OUT(D3DKMTCreateKeyedMutex, D3DKMT_CREATEKEYEDMUTEX, create_1)
KMT_IN_OUT(D3DKMTCreateKeyedMutex2, D3DKMT_CREATEKEYEDMUTEX2, create_2)
KMT_IN_OUT(D3DKMTOpenKeyedMutex, D3DKMT_OPENKEYEDMUTEX, open_1)
KMT_IN_OUT(D3DKMTOpenKeyedMutex2, D3DKMT_OPENKEYEDMUTEX2, open_2)
KMT_IN_OUT(D3DKMTOpenKeyedMutexFromNtHandle, D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE, open_from_nt)
KMT_END(D3DKMTDestroyKeyedMutex, D3DKMT_DESTROYKEYEDMUTEX, destroy_mutex)
