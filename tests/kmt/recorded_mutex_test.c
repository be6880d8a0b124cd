/* SPDX-License-Identifier: MIT */
/* What Windows was recorded to answer about keyed mutexes, and how they change hands
 * (docs/client-answers.md). */
#include "support/recorded.h"

static NTSTATUS destroy(D3DKMT_HANDLE handle)
{
    D3DKMT_DESTROYKEYEDMUTEX args = {handle};

    return D3DKMTDestroyKeyedMutex(&args);
}

static NTSTATUS open(D3DKMT_HANDLE global, D3DKMT_HANDLE *handle)
{
    D3DKMT_OPENKEYEDMUTEX args = {global, NONSENSE};
    NTSTATUS status = D3DKMTOpenKeyedMutex(&args);

    *handle = args.hKeyedMutex;
    return status;
}

/* ---- handles ---- */

TEST_WITH(client, a_mutex_lives_until_its_last_handle)
{
    D3DKMT_CREATEKEYEDMUTEX create = {0, NONSENSE, NONSENSE};
    D3DKMT_HANDLE last = 0, opened;

    SHOW(c, "KMT-004", D3DKMTCreateKeyedMutex(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-399", D3DKMTCreateKeyedMutex(&create) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(create.hKeyedMutex, &last));
    SHOW(c, "KMT-029", is_global(create.hSharedHandle));
    SHOW(c, "KMT-403", open(0, &opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-029", open(create.hKeyedMutex, &opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-403", open(create.hSharedHandle, &opened) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(opened, &last));
    SHOW(c, "KMT-416", destroy(0) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-029", destroy(create.hSharedHandle) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-416", destroy(opened) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", destroy(opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-416", destroy(create.hKeyedMutex) == STATUS_SUCCESS);
    SHOW(c, "KMT-224", open(create.hSharedHandle, &opened) == STATUS_INVALID_PARAMETER);
}

static D3DKMT_HANDLE make(const void *data, UINT bytes, D3DKMT_HANDLE *global, D3DKMT_HANDLE *last)
{
    D3DKMT_CREATEKEYEDMUTEX2 args;

    memset(&args, 0, sizeof(args));
    args.pPrivateRuntimeData = (void *)(uintptr_t)data;
    args.PrivateRuntimeDataSize = bytes;
    args.hKeyedMutex = args.hSharedHandle = NONSENSE;
    if (D3DKMTCreateKeyedMutex2(&args) != STATUS_SUCCESS || !is_next_local(args.hKeyedMutex, last))
        return 0;
    *global = args.hSharedHandle;
    return args.hKeyedMutex;
}

static NTSTATUS open2(D3DKMT_HANDLE global, void *data, UINT bytes, D3DKMT_OPENKEYEDMUTEX2 *args)
{
    memset(args, 0, sizeof(*args));
    args->hSharedHandle = global;
    args->hKeyedMutex = NONSENSE;
    args->pPrivateRuntimeData = data;
    args->PrivateRuntimeDataSize = bytes;
    return D3DKMTOpenKeyedMutex2(args);
}

TEST_WITH(client, the_newer_form_shares_as_well)
{
    D3DKMT_CREATEKEYEDMUTEX2 create;
    D3DKMT_HANDLE last = 0, first, second, global;
    D3DKMT_OPENKEYEDMUTEX2 args;

    SHOW(c, "KMT-004", D3DKMTCreateKeyedMutex2(NULL) == STATUS_INVALID_PARAMETER);
    first = make(NULL, 0, &global, &last);
    SHOW(c, "KMT-029", first && is_global(global));
    second = make(NULL, 0, &global, &last);
    SHOW(c, "KMT-029", second && is_global(global));
    SHOW(c, "KMT-403", open2(0, NULL, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-029", open2(second, NULL, 0, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-403", open2(global, NULL, 0, &args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(args.hKeyedMutex, &last));
    TRY(c, destroy(first) == STATUS_SUCCESS && destroy(second) == STATUS_SUCCESS);
    SHOW(c, "KMT-416", destroy(args.hKeyedMutex) == STATUS_SUCCESS);
    memset(&create, 0, sizeof(create));
    create.Flags.NtSecuritySharing = 1;
    create.hSharedHandle = NONSENSE;
    SHOW(c, "KMT-400", D3DKMTCreateKeyedMutex2(&create) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(create.hKeyedMutex, &last));
    SHOW(c, "KMT-401", create.hSharedHandle == 0);
    TRY(c, destroy(create.hKeyedMutex) == STATUS_SUCCESS);
    create.Flags.Reserved = 1;
    SHOW(c, "KMT-400", D3DKMTCreateKeyedMutex2(&create) == STATUS_INVALID_PARAMETER);
}

/* ---- private data ---- */

TEST_WITH(client, a_mutex_takes_the_first_data_that_it_is_given)
{
    D3DKMT_HANDLE last = 0, mutex, global;
    D3DKMT_OPENKEYEDMUTEX2 args;
    char buffer[64] = {5};

    mutex = make(NULL, 0, &global, &last);
    SHOW(c, "KMT-006", open2(global, NULL, sizeof(buffer), &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-403", open2(global, buffer, sizeof(buffer), &args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(args.hKeyedMutex, &last));
    SHOW(c, "KMT-403", args.PrivateRuntimeDataSize == sizeof(buffer));
    TRY(c, destroy(args.hKeyedMutex) == STATUS_SUCCESS);
    SHOW(c, "KMT-403", open2(global, buffer, sizeof(buffer) - 1, &args) == STATUS_INVALID_PARAMETER);
    TRY(c, destroy(mutex) == STATUS_SUCCESS);
}

TEST_WITH(client, later_data_have_the_size_of_the_first)
{
    static const char data[6] = {1, 2, 3, 4, 5, 6};
    D3DKMT_HANDLE last = 0, mutex, global;
    D3DKMT_OPENKEYEDMUTEX2 args;
    char buffer[64];

    memset(buffer, 0x77, sizeof(buffer));
    mutex = make(data, sizeof(data), &global, &last);
    SHOW(c, "KMT-403", mutex && is_global(global));
    SHOW(c, "KMT-403", open2(global, NULL, 0, &args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(args.hKeyedMutex, &last));
    SHOW(c, "KMT-403", args.PrivateRuntimeDataSize == 0);
    SHOW(c, "KMT-006", open2(global, NULL, sizeof(buffer), &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-403", open2(global, buffer, sizeof(data) - 1, &args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-403", open2(global, buffer, sizeof(data), &args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(args.hKeyedMutex, &last));
    SHOW(c, "KMT-403", args.PrivateRuntimeDataSize == sizeof(data) && buffer[0] == 0x77);
    TRY(c, destroy(args.hKeyedMutex) == STATUS_SUCCESS && destroy(mutex) == STATUS_SUCCESS);
}

/* ---- hands ---- */

static NTSTATUS acquire(D3DKMT_HANDLE mutex, UINT64 key, int64_t *timeout, UINT64 *fence)
{
    D3DKMT_ACQUIREKEYEDMUTEX args = {
        .hKeyedMutex = mutex, .Key = key, .pTimeout = (LARGE_INTEGER *)timeout, .FenceValue = 99};
    NTSTATUS status = D3DKMTAcquireKeyedMutex(&args);

    if (fence)
        *fence = args.FenceValue;
    return status;
}

static NTSTATUS release(D3DKMT_HANDLE mutex, UINT64 key, UINT64 fence)
{
    D3DKMT_RELEASEKEYEDMUTEX args = {.hKeyedMutex = mutex, .Key = key, .FenceValue = fence};

    return D3DKMTReleaseKeyedMutex(&args);
}

TEST_WITH(client, a_key_opens_the_mutex_for_one_handle)
{
    D3DKMT_CREATEKEYEDMUTEX create = {.InitialValue = 7};
    int64_t now = 0, soon = -1000000 /* 100 ms */, past = 1;
    D3DKMT_HANDLE other;
    uint64_t before;
    UINT64 fence;

    TRY(c, D3DKMTCreateKeyedMutex(&create) == STATUS_SUCCESS);
    TRY(c, open(create.hSharedHandle, &other) == STATUS_SUCCESS);
    SHOW(c, "KMT-406", acquire(create.hKeyedMutex, 6, &now, &fence) == STATUS_TIMEOUT);
    SHOW(c, "KMT-409", fence == 99);
    SHOW(c, "KMT-406", acquire(create.hKeyedMutex, 7, &now, &fence) == STATUS_SUCCESS);
    SHOW(c, "KMT-407", fence == 0);
    SHOW(c, "KMT-411", acquire(create.hKeyedMutex, 7, &now, NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-411", release(other, 8, 0) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-408", acquire(other, 7, &past, NULL) == STATUS_TIMEOUT);
    before = dxgk_client_time();
    SHOW(c, "KMT-408", acquire(other, 7, &soon, NULL) == STATUS_TIMEOUT);
    SHOW(c, "KMT-408",
         dxgk_client_time() - before >= 100000000 && dxgk_client_time() - before < 110000000);
    SHOW(c, "KMT-410", release(create.hKeyedMutex, 8, 42) == STATUS_SUCCESS);
    SHOW(c, "KMT-411", release(create.hKeyedMutex, 8, 42) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-406", acquire(other, 7, &now, NULL) == STATUS_TIMEOUT);
    SHOW(c, "KMT-410", acquire(other, 8, NULL, &fence) == STATUS_SUCCESS && fence == 42);
    /* the owner goes: whatever key opens it, once with a warning */
    TRY(c, destroy(other) == STATUS_SUCCESS);
    SHOW(c, "KMT-415",
         acquire(create.hKeyedMutex, 1, &now, &fence) == STATUS_ABANDONED && fence == 42);
    TRY(c, release(create.hKeyedMutex, 3, 43) == STATUS_SUCCESS);
    SHOW(c, "KMT-415", acquire(create.hKeyedMutex, 1, &now, NULL) == STATUS_TIMEOUT);
    SHOW(c, "KMT-415",
         acquire(create.hKeyedMutex, 3, &now, &fence) == STATUS_SUCCESS && fence == 43);
    TRY(c, destroy(create.hKeyedMutex) == STATUS_SUCCESS);
}

struct queue {
    D3DKMT_HANDLE global;
    unsigned served[3], count;
    NTSTATUS cut; /* of the one whose handle was destroyed */
    D3DKMT_HANDLE cut_handle;
    unsigned started;
};

static void wait_in_turn(void *argument)
{
    struct queue *q = argument;
    unsigned own = q->started++;
    D3DKMT_HANDLE handle;

    if (open(q->global, &handle) != STATUS_SUCCESS)
        return;
    if (acquire(handle, 5, NULL, NULL) != STATUS_SUCCESS)
        return;
    q->served[q->count++] = own;
    (void)release(handle, 5, 0);
    (void)destroy(handle);
}

static void wait_in_vain(void *argument)
{
    struct queue *q = argument;

    (void)open(q->global, &q->cut_handle);
    q->cut = acquire(q->cut_handle, 5, NULL, NULL);
}

TEST_WITH(client, who_waited_longest_is_served_first)
{
    D3DKMT_CREATEKEYEDMUTEX create = {.InitialValue = 0};
    struct queue q = {.cut = STATUS_PENDING};

    TRY(c, D3DKMTCreateKeyedMutex(&create) == STATUS_SUCCESS);
    q.global = create.hSharedHandle;
    TRY(c, dxgk_client_thread("vain", wait_in_vain, &q));
    dxgk_client_sleep(1000000);
    for (unsigned i = 0; i < 3; i++) {
        TRY(c, dxgk_client_thread("waiter", wait_in_turn, &q));
        dxgk_client_sleep(1000000);
    }
    TRY(c, q.started == 3 && q.count == 0 && q.cut == STATUS_PENDING);
    TRY(c, destroy(q.cut_handle) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    SHOW(c, "KMT-418", q.cut == STATUS_INVALID_HANDLE && q.count == 0);
    TRY(c, acquire(create.hKeyedMutex, 0, NULL, NULL) == STATUS_SUCCESS);
    TRY(c, release(create.hKeyedMutex, 5, 0) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    SHOW(c, "KMT-412", q.count == 3 && q.served[0] == 0 && q.served[1] == 1 && q.served[2] == 2);
    TRY(c, destroy(create.hKeyedMutex) == STATUS_SUCCESS);
}

TEST_WITH(client, data_travel_with_the_mutex)
{
    static const char data[4] = {1, 2, 3, 4};
    char next[4] = {9, 8, 7, 6}, seen[4] = {0};
    int64_t now = 0;
    D3DKMT_HANDLE last = 0, global, mutex = make(data, sizeof(data), &global, &last);
    D3DKMT_ACQUIREKEYEDMUTEX2 take = {.hKeyedMutex = mutex,
                                      .pTimeout = (LARGE_INTEGER *)&now,
                                      .pPrivateRuntimeData = seen,
                                      .PrivateRuntimeDataSize = 3};
    D3DKMT_RELEASEKEYEDMUTEX2 give = {
        .hKeyedMutex = mutex, .pPrivateRuntimeData = next, .PrivateRuntimeDataSize = 3};

    TRY(c, mutex);
    SHOW(c, "KMT-414", D3DKMTAcquireKeyedMutex2(&take) == STATUS_INVALID_PARAMETER);
    take.PrivateRuntimeDataSize = 4;
    SHOW(c, "KMT-413", D3DKMTAcquireKeyedMutex2(&take) == STATUS_SUCCESS && seen[3] == 4);
    SHOW(c, "KMT-414", D3DKMTReleaseKeyedMutex2(&give) == STATUS_INVALID_PARAMETER);
    give.PrivateRuntimeDataSize = 4;
    SHOW(c, "KMT-413", D3DKMTReleaseKeyedMutex2(&give) == STATUS_SUCCESS);
    SHOW(c, "KMT-413", D3DKMTAcquireKeyedMutex2(&take) == STATUS_SUCCESS && seen[0] == 9);
    give.PrivateRuntimeDataSize = 0;
    TRY(c, D3DKMTReleaseKeyedMutex2(&give) == STATUS_SUCCESS);
    give.hKeyedMutex++;
    TRY(c, D3DKMTReleaseKeyedMutex2(&give) == STATUS_INVALID_PARAMETER);
    take.hKeyedMutex++;
    TRY(c, D3DKMTAcquireKeyedMutex2(&take) == STATUS_INVALID_PARAMETER);
    take.PrivateRuntimeDataSize = 0;
    memset(seen, 0, sizeof(seen));
    SHOW(c, "KMT-402",
         acquire(mutex, 0, &now, NULL) == STATUS_SUCCESS && seen[0] == 0 &&
             release(mutex, 0, 0) == STATUS_SUCCESS);
    TRY(c, destroy(mutex) == STATUS_SUCCESS);
}
