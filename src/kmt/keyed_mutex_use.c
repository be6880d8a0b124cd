/* SPDX-License-Identifier: MIT */
/* Acquiring and releasing keyed mutexes (KMT-406 to KMT-418). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/handle.h"
#include "kmt/keyed_mutex_record.h"
#include "kmt/shared.h"
#include "sim/machine.h"
#include "sim/wait.h"
#include "verify/refusal.h"

/* ---- acquiring ---- */

static bool fits(const struct kmt_keyed_mutex *mutex, UINT64 key)
{
    return !mutex->owner && (mutex->abandoned || mutex->key == key);
}

/* Is it this waiter's turn? */
static bool may_take(const struct kmt_keyed_mutex *mutex, const struct waiter *waiter)
{
    if (!fits(mutex, waiter->key))
        return false;
    LIST_FOR(node, &mutex->waiters) {
        const struct waiter *earlier = CONTAINER(node, struct waiter, link);

        if (earlier == waiter)
            return true;
        if (earlier->keyed && fits(mutex, earlier->key))
            return false;
    }
    return true;
}

/* KMT-408. Virtual time; SIM_FOREVER: none. */
static NTSTATUS read_deadline(LARGE_INTEGER *user, uint64_t *deadline)
{
    LARGE_INTEGER timeout, now;
    uint64_t rest;

    *deadline = SIM_FOREVER;
    if (!user)
        return STATUS_SUCCESS;
    if (!kmt_client_get(&timeout, user, sizeof(timeout)))
        return STATUS_INVALID_PARAMETER;
    if (timeout.QuadPart <= 0) {
        rest = 0 - (uint64_t)timeout.QuadPart;
    } else {
        KeQuerySystemTime(&now);
        rest = timeout.QuadPart > now.QuadPart ? (uint64_t)(timeout.QuadPart - now.QuadPart) : 0;
    }
    if (rest < (SIM_FOREVER - sim_now()) / 100)
        *deadline = sim_now() + rest * 100;
    return STATUS_SUCCESS;
}

/* Wait until the mutex can be taken through `keyed`, and take it. The caller keeps the mutex
 * alive. */
static NTSTATUS take(struct kmt_keyed_mutex *mutex, const struct kmt_keyed *keyed, UINT64 key,
                     uint64_t deadline)
{
    struct waiter waiter = {.keyed = keyed, .key = key};
    NTSTATUS status = STATUS_SUCCESS;

    list_push_back(&mutex->waiters, &waiter.link);
    while (waiter.keyed && !may_take(mutex, &waiter)) {
        if (deadline <= sim_now()) {
            status = STATUS_TIMEOUT; /* KMT-409 */
            break;
        }
        (void)sim_waitq_wait(&mutex->changed, deadline);
    }
    list_remove(&waiter.link);
    if (!waiter.keyed) {
        status = refuse(STATUS_INVALID_HANDLE, "KMT-418", "the handle was closed meanwhile");
    } else if (status == STATUS_SUCCESS) {
        if (mutex->abandoned)
            status = STATUS_ABANDONED;
        mutex->abandoned = false;
        mutex->owner = keyed;
    }
    return status;
}

/* `user`, `bytes`: where the runtime data go; none with 0 bytes (KMT-413, KMT-414). */
static NTSTATUS acquire(struct kmt_call *call, D3DKMT_HANDLE handle, UINT64 key,
                        LARGE_INTEGER *timeout, UINT64 *fence_value, void *user, UINT bytes)
{
    struct kmt_keyed *keyed = kmt_handle_lookup(call, handle, DDI_CLIENT_KEYED_MUTEX);
    struct kmt_shared *shared;
    struct kmt_keyed_mutex *mutex;
    uint64_t deadline;
    NTSTATUS status = read_deadline(timeout, &deadline);

    if (!NT_SUCCESS(status))
        return status;
    if (!keyed)
        return STATUS_INVALID_PARAMETER;
    shared = keyed->shared;
    mutex = shared->mutex;
    if (mutex->owner == keyed || (bytes && bytes != mutex->bytes) ||
        !kmt_client_probe_write(user, bytes))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-411", /* KMT-414 */
                      "%s; private data of %u bytes at %p, the mutex has %u",
                      mutex->owner == keyed ? "the handle owns the mutex" : "it is not the owner",
                      (UINT)bytes, (const void *)user, (UINT)mutex->bytes);
    kmt_shared_reference(shared);
    status = take(mutex, keyed, key, deadline);
    if (status == STATUS_SUCCESS || status == STATUS_ABANDONED) {
        *fence_value = mutex->fence_value;
        (void)kmt_client_put(user, mutex->data, bytes);
    }
    kmt_shared_release(shared);
    return status;
}

static NTSTATUS acquire_1(struct kmt_call *call, void *arguments)
{
    D3DKMT_ACQUIREKEYEDMUTEX *args = arguments;

    return acquire(call, args->hKeyedMutex, args->Key, args->pTimeout, &args->FenceValue, NULL, 0);
}

static NTSTATUS acquire_2(struct kmt_call *call, void *arguments)
{
    D3DKMT_ACQUIREKEYEDMUTEX2 *args = arguments;

    return acquire(call, args->hKeyedMutex, args->Key, args->pTimeout, &args->FenceValue,
                   args->pPrivateRuntimeData, args->PrivateRuntimeDataSize);
}

/* ---- releasing ---- */

static NTSTATUS release(struct kmt_call *call, D3DKMT_HANDLE handle, UINT64 key, UINT64 fence_value,
                        const void *user, UINT bytes)
{
    struct kmt_keyed *keyed = kmt_handle_lookup(call, handle, DDI_CLIENT_KEYED_MUTEX);
    struct kmt_keyed_mutex *mutex;
    NTSTATUS status;
    void *data;

    if (!keyed)
        return STATUS_INVALID_PARAMETER;
    mutex = keyed->shared->mutex;
    if (mutex->owner != keyed || (mutex->bytes && bytes && bytes != mutex->bytes))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "%s; private data of %u bytes, the mutex has %u",
                      mutex->owner == keyed ? "the handle owns the mutex"
                                            : "the handle does not own the mutex",
                      (UINT)bytes, (UINT)mutex->bytes);
    status = kmt_client_copy_private(user, bytes, &data);
    if (!NT_SUCCESS(status))
        return status;
    if (bytes) {
        util_free(mutex->data);
        mutex->data = data;
        mutex->bytes = bytes;
    }
    mutex->owner = NULL;
    mutex->key = key;
    mutex->fence_value = fence_value;
    sim_waitq_wake(&mutex->changed, UINT32_MAX);
    return STATUS_SUCCESS;
}

static NTSTATUS release_1(struct kmt_call *call, void *arguments)
{
    const D3DKMT_RELEASEKEYEDMUTEX *args = arguments;

    return release(call, args->hKeyedMutex, args->Key, args->FenceValue, NULL, 0);
}

static NTSTATUS release_2(struct kmt_call *call, void *arguments)
{
    const D3DKMT_RELEASEKEYEDMUTEX2 *args = arguments;

    return release(call, args->hKeyedMutex, args->Key, args->FenceValue, args->pPrivateRuntimeData,
                   args->PrivateRuntimeDataSize);
}

KMT_IN_OUT(D3DKMTAcquireKeyedMutex, D3DKMT_ACQUIREKEYEDMUTEX, acquire_1)
KMT_IN_OUT(D3DKMTAcquireKeyedMutex2, D3DKMT_ACQUIREKEYEDMUTEX2, acquire_2)
KMT_IN_OUT(D3DKMTReleaseKeyedMutex, D3DKMT_RELEASEKEYEDMUTEX, release_1)
KMT_IN_OUT(D3DKMTReleaseKeyedMutex2, D3DKMT_RELEASEKEYEDMUTEX2, release_2)
