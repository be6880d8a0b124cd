/* SPDX-License-Identifier: MIT */
/* What Windows was recorded to answer about synchronization objects: their kinds, and sharing them by
 * global handles (docs/client-answers.md). */
#include "support/recorded.h"

static NTSTATUS destroy(D3DKMT_HANDLE handle)
{
    D3DKMT_DESTROYSYNCHRONIZATIONOBJECT args = {handle};

    return D3DKMTDestroySynchronizationObject(&args);
}

static NTSTATUS open(D3DKMT_HANDLE global, D3DKMT_HANDLE *handle)
{
    D3DKMT_OPENSYNCHRONIZATIONOBJECT args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hSharedHandle = global;
    args.hSyncObject = NONSENSE;
    status = D3DKMTOpenSynchronizationObject(&args);
    *handle = args.hSyncObject;
    return status;
}

/* ---- kinds ---- */

TEST_WITH(client, the_older_call_makes_mutexes_and_semaphores)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT args;
    D3DKMT_HANDLE last, first;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    memset(&args, 0, sizeof(args));
    SHOW(c, "KMT-004", D3DKMTCreateSynchronizationObject(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-332", D3DKMTCreateSynchronizationObject(&args) == STATUS_INVALID_PARAMETER);
    args.hDevice = g.device;
    SHOW(c, "KMT-332", D3DKMTCreateSynchronizationObject(&args) == STATUS_INVALID_PARAMETER);
    args.hDevice = 0;
    args.Info.Type = D3DDDI_SYNCHRONIZATION_MUTEX;
    SHOW(c, "KMT-335", D3DKMTCreateSynchronizationObject(&args) == STATUS_INVALID_PARAMETER);
    args.hDevice = g.device;
    SHOW(c, "KMT-331", D3DKMTCreateSynchronizationObject(&args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(args.hSyncObject, &last));
    first = args.hSyncObject;
    TRY(c, D3DKMTCreateSynchronizationObject(&args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(args.hSyncObject, &last));
    SHOW(c, "KMT-365", destroy(first) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", destroy(first) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-365", destroy(args.hSyncObject) == STATUS_SUCCESS);
    args.Info.Type = D3DDDI_SEMAPHORE; /* MaxCount 0 */
    SHOW(c, "KMT-343", D3DKMTCreateSynchronizationObject(&args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(args.hSyncObject, &last));
    TRY(c, destroy(args.hSyncObject) == STATUS_SUCCESS);
    args.Info.Type = D3DDDI_FENCE;
    SHOW(c, "KMT-332", D3DKMTCreateSynchronizationObject(&args) == STATUS_INVALID_PARAMETER);
    TRY(c, device_end(&g));
}

TEST_WITH(client, the_newer_call_makes_all_kinds)
{
    static const D3DDDI_SYNCHRONIZATIONOBJECT_TYPE types[] = {
        D3DDDI_SYNCHRONIZATION_MUTEX, D3DDDI_SEMAPHORE, D3DDDI_FENCE, D3DDDI_MONITORED_FENCE};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    D3DKMT_HANDLE last;
    HANDLE event = NULL;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    memset(&args, 0, sizeof(args));
    SHOW(c, "KMT-004", D3DKMTCreateSynchronizationObject2(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-333", D3DKMTCreateSynchronizationObject2(&args) == STATUS_INVALID_PARAMETER);
    args.hDevice = g.device;
    SHOW(c, "KMT-333", D3DKMTCreateSynchronizationObject2(&args) == STATUS_INVALID_PARAMETER);
    args.hDevice = 0;
    args.Info.Type = D3DDDI_SYNCHRONIZATION_MUTEX;
    SHOW(c, "KMT-335", D3DKMTCreateSynchronizationObject2(&args) == STATUS_INVALID_PARAMETER);
    for (unsigned i = 0; i < 4; i++) {
        memset(&args, 0, sizeof(args));
        args.hDevice = g.device;
        args.Info.Type = types[i];
        args.hSyncObject = args.Info.SharedHandle = NONSENSE;
        SHOW(c, "KMT-333", D3DKMTCreateSynchronizationObject2(&args) == STATUS_SUCCESS);
        SHOW(c, "KMT-028", is_next_local(args.hSyncObject, &last));
        SHOW(c, "KMT-337", args.Info.SharedHandle == 0);
        TRY(c, destroy(args.hSyncObject) == STATUS_SUCCESS);
    }
    memset(&args, 0, sizeof(args));
    args.hDevice = g.device;
    args.Info.Type = D3DDDI_CPU_NOTIFICATION;
    SHOW(c, "KMT-352", D3DKMTCreateSynchronizationObject2(&args) == STATUS_INVALID_HANDLE);
    TRY(c, ZwCreateEvent(&event, EVENT_ALL_ACCESS, NULL, SynchronizationEvent, FALSE) ==
               STATUS_SUCCESS);
    args.Info.CPUNotification.Event = event;
    SHOW(c, "KMT-351", D3DKMTCreateSynchronizationObject2(&args) == STATUS_SUCCESS);
    TRY(c, is_local(args.hSyncObject) && destroy(args.hSyncObject) == STATUS_SUCCESS);
    TRY(c, ZwClose(event) == STATUS_SUCCESS);
    TRY(c, device_end(&g));
}

/* ---- global handles ---- */

static D3DKMT_HANDLE shared_mutex(const struct gpu *g, D3DKMT_HANDLE *handle)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.Info.Type = D3DDDI_SYNCHRONIZATION_MUTEX;
    args.Info.Flags.Shared = 1;
    args.hSyncObject = args.Info.SharedHandle = NONSENSE;
    if (D3DKMTCreateSynchronizationObject2(&args) != STATUS_SUCCESS)
        return 0;
    *handle = args.hSyncObject;
    return args.Info.SharedHandle;
}

TEST_WITH(client, a_shared_object_lives_until_its_last_handle)
{
    D3DKMT_HANDLE last, handle, other, global, opened;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    SHOW(c, "KMT-336", is_global(shared_mutex(&g, &other)));
    SHOW(c, "KMT-028", is_next_local(other, &last));
    global = shared_mutex(&g, &handle);
    SHOW(c, "KMT-029", is_global(global) && is_next_local(handle, &last));
    TRY(c, destroy(other) == STATUS_SUCCESS);
    SHOW(c, "KMT-029", destroy(global) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-356", open(NONSENSE, &opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-356", open(0, &opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-029", open(handle, &opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-356", open(global, &opened) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(opened, &last));
    SHOW(c, "KMT-365", destroy(opened) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", destroy(opened) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-365", open(global, &opened) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(opened, &last));
    TRY(c, destroy(opened) == STATUS_SUCCESS && destroy(handle) == STATUS_SUCCESS);
    SHOW(c, "KMT-224", open(global, &opened) == STATUS_INVALID_PARAMETER);
    TRY(c, device_end(&g));
}

TEST_WITH(client, security_needs_sharing_and_has_no_global_handle)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    D3DKMT_HANDLE last;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    memset(&args, 0, sizeof(args));
    args.hDevice = g.device;
    args.Info.Type = D3DDDI_SYNCHRONIZATION_MUTEX;
    args.Info.Flags.NtSecuritySharing = 1;
    SHOW(c, "SUBMIT-127", D3DKMTCreateSynchronizationObject2(&args) == STATUS_INVALID_PARAMETER);
    args.Info.Flags.Shared = 1;
    args.Info.SharedHandle = NONSENSE;
    SHOW(c, "KMT-336", D3DKMTCreateSynchronizationObject2(&args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(args.hSyncObject, &last));
    SHOW(c, "KMT-336", args.Info.SharedHandle == 0);
    TRY(c, destroy(args.hSyncObject) == STATUS_SUCCESS);
    TRY(c, device_end(&g));
}

/* ---- another process ---- */

struct meeting {
    D3DKMT_HANDLE global;
    NTSTATUS status;
    D3DKMT_HANDLE opened;
    bool done;
};

/* Without any adapter of its own; the object is left open. */
static void open_elsewhere(void *argument)
{
    struct meeting *m = argument;

    m->status = open(m->global, &m->opened);
    m->done = true;
}

TEST_WITH(client, another_process_opens_what_it_has_the_handle_of)
{
    struct meeting m = {.status = STATUS_UNSUCCESSFUL};
    D3DKMT_HANDLE last, handle, opened;
    struct gpu g;

    TRY(c, device_begin(&g, &last));
    m.global = shared_mutex(&g, &handle);
    TRY(c, dxgk_client_process("other", open_elsewhere, &m));
    while (!m.done)
        dxgk_client_sleep(1000);
    SHOW(c, "KMT-357", m.status == STATUS_SUCCESS);
    SHOW(c, "KMT-028", m.opened == 0x40000000);
    dxgk_client_sleep(1000000); /* the process has ended, and its handle with it */
    TRY(c, destroy(handle) == STATUS_SUCCESS);
    SHOW(c, "KMT-224", open(m.global, &opened) == STATUS_INVALID_PARAMETER);
    TRY(c, device_end(&g));
}

/* Both processes see one state: the semaphore that one signals, the other waits for. */
struct pair {
    D3DKMT_HANDLE global;
    bool waited, failed;
};

static void wait_elsewhere(void *argument)
{
    struct pair *p = argument;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait;
    struct gpu g;

    memset(&wait, 0, sizeof(wait));
    p->failed = gpu_begin(&g) != STATUS_SUCCESS ||
                open(p->global, &wait.ObjectHandleArray[0]) != STATUS_SUCCESS;
    wait.hContext = g.render;
    wait.ObjectCount = 1;
    if (!p->failed)
        p->failed = D3DKMTWaitForSynchronizationObject(&wait) != STATUS_SUCCESS ||
                    gpu_wait_idle(&g) != STATUS_SUCCESS;
    p->waited = true;
    (void)gpu_end(&g);
}

TEST_WITH(client, a_signal_here_ends_a_wait_there)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal;
    struct pair p = {0};
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&create, 0, sizeof(create));
    create.hDevice = g.device;
    create.Info.Type = D3DDDI_SEMAPHORE;
    create.Info.Semaphore.MaxCount = 1;
    create.Info.Flags.Shared = 1;
    TRY(c, D3DKMTCreateSynchronizationObject2(&create) == STATUS_SUCCESS);
    p.global = create.Info.SharedHandle;
    TRY(c, dxgk_client_process("other", wait_elsewhere, &p));
    dxgk_client_sleep(100000000);
    SHOW(c, "KMT-357", !p.waited);
    memset(&signal, 0, sizeof(signal));
    signal.hContext = g.render;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray[0] = create.hSyncObject;
    TRY(c, D3DKMTSignalSynchronizationObject(&signal) == STATUS_SUCCESS);
    dxgk_client_sleep(100000000);
    SHOW(c, "KMT-357", p.waited && !p.failed);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
