/* SPDX-License-Identifier: MIT */
/* Shared objects when memory runs out, when processes end, and when bundles overlap. */
#include "support/recorded.h"

/* ---- memory that runs out ---- */

struct way {
    NTSTATUS status;
    unsigned reached;
};

static NTSTATUS make_sync(const struct gpu *g, bool secure,
                          D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *args)
{
    memset(args, 0, sizeof(*args));
    args->hDevice = g->device;
    args->Info.Type = D3DDDI_SEMAPHORE;
    args->Info.Semaphore.MaxCount = 1;
    args->Info.Flags.Shared = 1;
    args->Info.Flags.NtSecuritySharing = secure;
    return D3DKMTCreateSynchronizationObject2(args);
}

static NTSTATUS share_all(const D3DKMT_HANDLE *objects, UINT count, HANDLE *nt)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;

    RtlInitUnicodeString(&name, L"\\BaseNamedObjects\\Bundle");
    InitializeObjectAttributes(&attributes, &name, 0, NULL, NULL);
    return D3DKMTShareObjects(count, objects, &attributes, GENERIC_ALL, nt);
}

static NTSTATUS open_all(const struct gpu *g, HANDLE nt)
{
    D3DKMT_OPENRESOURCEFROMNTHANDLE open;
    D3DDDI_OPENALLOCATIONINFO2 info;
    uint8_t total[1024], runtime[4];

    memset(&open, 0, sizeof(open));
    open.hDevice = g->device;
    open.hNtHandle = nt;
    open.NumAllocations = 1;
    open.pOpenAllocationInfo2 = &info;
    open.pPrivateRuntimeData = runtime;
    open.PrivateRuntimeDataSize = sizeof(runtime);
    open.pTotalPrivateDriverDataBuffer = total;
    open.TotalPrivateDriverDataBufferSize = sizeof(total);
    return D3DKMTOpenResourceFromNtHandle(&open);
}

static NTSTATUS make_resource(const struct gpu *g, struct heap *h)
{
    static const char runtime[4] = {1, 2, 3, 4};

    if (!heap_init(h, g))
        return STATUS_NO_MEMORY;
    h->args.Flags.CreateResource = h->args.Flags.CreateShared = h->args.Flags.NtSecuritySharing = 1;
    h->args.pPrivateRuntimeData = runtime;
    h->args.PrivateRuntimeDataSize = sizeof(runtime);
    return heap_create(h);
}

static NTSTATUS make_mutex(D3DKMT_HANDLE *handle)
{
    static char data[8];
    D3DKMT_CREATEKEYEDMUTEX2 args = {.pPrivateRuntimeData = data,
                                     .PrivateRuntimeDataSize = sizeof(data)};
    NTSTATUS status;

    args.Flags.NtSecuritySharing = 1;
    status = D3DKMTCreateKeyedMutex2(&args);
    *handle = args.hKeyedMutex;
    return status;
}

static NTSTATUS make_fence(const struct gpu *g, D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *args)
{
    memset(args, 0, sizeof(*args));
    args->hDevice = g->device;
    args->Info.Type = D3DDDI_MONITORED_FENCE;
    args->Info.Flags.Shared = args->Info.Flags.NtSecuritySharing = 1;
    return D3DKMTCreateSynchronizationObject2(args);
}

static NTSTATUS open_fence(const struct gpu *g, HANDLE nt)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 args;

    memset(&args, 0, sizeof(args));
    args.hNtHandle = nt;
    args.hDevice = g->device;
    return D3DKMTOpenSyncObjectFromNtHandle2(&args);
}

#define STEP(w, call)                 \
    do {                              \
        (w)->status = (call);         \
        if (!NT_SUCCESS((w)->status)) \
            return;                   \
        (w)->reached++;               \
    } while (0)

/* Whatever was made before the failure is left to the end of the process. */
static void share_everything(struct client *c)
{
    struct way *w = c->context;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 sync;
    D3DKMT_OPENSYNCHRONIZATIONOBJECT open_sync;
    D3DKMT_CREATEKEYEDMUTEX keyed = {0};
    D3DKMT_OPENKEYEDMUTEX2 open_keyed;
    D3DKMT_HANDLE objects[3];
    struct gpu g = {0};
    struct heap h;
    HANDLE nt;

    STEP(w, gpu_open_adapter(&g));
    STEP(w, gpu_create_device(&g));
    STEP(w, make_resource(&g, &h));
    STEP(w, make_mutex(&objects[1]));
    STEP(w, make_sync(&g, false, &sync));
    memset(&open_sync, 0, sizeof(open_sync));
    open_sync.hSharedHandle = sync.Info.SharedHandle;
    STEP(w, D3DKMTOpenSynchronizationObject(&open_sync));
    STEP(w, D3DKMTCreateKeyedMutex(&keyed));
    memset(&open_keyed, 0, sizeof(open_keyed));
    open_keyed.hSharedHandle = keyed.hSharedHandle;
    open_keyed.pPrivateRuntimeData = &open_sync;
    open_keyed.PrivateRuntimeDataSize = 16;
    STEP(w, D3DKMTOpenKeyedMutex2(&open_keyed));
    STEP(w, make_sync(&g, true, &sync));
    objects[0] = h.args.hResource;
    objects[2] = sync.hSyncObject;
    STEP(w, share_all(objects, 3, &nt));
    STEP(w, open_all(&g, nt));
    STEP(w, resource_destroy(&g, h.args.hResource));
    STEP(w, open_all(&g, nt));
    STEP(w, make_fence(&g, &sync));
    STEP(w, D3DKMTShareObjects(1, &sync.hSyncObject, NULL, GENERIC_ALL, &nt));
    STEP(w, open_fence(&g, nt));
}

TEST(sharing_survives_every_failing_allocation)
{
    uint64_t n = 0, start;
    unsigned failed = 0, complete = 0;

    {
        struct machine m;
        struct dxgk_statistics s;

        machine_begin(&m, DXGK_IOMMU_OFF);
        dxgk_machine_statistics(m.dxgk, &s);
        start = s.allocations_requested;
        machine_end(&m);
    }
    for (n = start + 1; !complete; n++) {
        struct client *c = calloc(1, sizeof(*c));
        struct way way = {0};
        struct dxgk_machine_config config;
        struct dxgk_statistics s;
        struct machine m;

        machine_config(&m, &config);
        config.fail_allocation = n;
        machine_create(&m, &config);
        machine_add_refgpu(&m);
        c->context = &way;
        c->program = share_everything;
        CHECK(dxgk_machine_run(m.dxgk, "client", client_main, c) == DXGK_OK || !c->context ||
              way.reached == 0);
        dxgk_machine_statistics(m.dxgk, &s);
        machine_end(&m); /* fails for what is left */
        free(c);
        failed += !NT_SUCCESS(way.status);
        complete = way.reached == 16 && s.allocations_requested < n;
        CHECK_RULE("KMT-013", NT_SUCCESS(way.status) || way.status == STATUS_NO_MEMORY ||
                                  way.status == STATUS_INSUFFICIENT_RESOURCES);
        CHECK(n < start + 10000);
    }
    CHECK_RULE("KMT-013", failed > 40);
}

/* ---- bundles ---- */

TEST_WITH(client, a_member_belongs_to_one_bundle)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 sync;
    D3DKMT_HANDLE last, first[3], second[3];
    struct heap h, other;
    struct gpu g;
    HANDLE nt, nt2;

    TRY(c, device_begin(&g, &last));
    TRY(c, make_resource(&g, &h) == STATUS_SUCCESS && make_resource(&g, &other) == STATUS_SUCCESS);
    TRY(c, make_mutex(&first[1]) == STATUS_SUCCESS && make_sync(&g, true, &sync) == STATUS_SUCCESS);
    first[0] = h.args.hResource;
    first[2] = sync.hSyncObject;
    memcpy(second, first, sizeof(second));
    second[0] = other.args.hResource;
    TRY(c, share_all(first, 3, &nt) == STATUS_SUCCESS);
    TRY(c, D3DKMTShareObjects(3, second, NULL, GENERIC_ALL, &nt2) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-251", nt2 == NULL);
    SHOW(c, "KMT-251", D3DKMTShareObjects(3, first, NULL, GENERIC_ALL, &nt2) == STATUS_SUCCESS);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS && ZwClose(nt2) == STATUS_SUCCESS);
    /* with the resource the bundle has gone */
    TRY(c, resource_destroy(&g, h.args.hResource) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-251", D3DKMTShareObjects(3, second, NULL, GENERIC_ALL, &nt2) == STATUS_SUCCESS);
    TRY(c, ZwClose(nt2) == STATUS_SUCCESS && device_end(&g));
}

/* ---- processes ---- */

struct pair {
    D3DKMT_HANDLE mutex, sync;
    NTSTATUS status;
    bool holds, ended;
};

static void take_and_go(void *argument)
{
    struct pair *p = argument;
    D3DKMT_OPENKEYEDMUTEX open = {.hSharedHandle = p->mutex};
    D3DKMT_ACQUIREKEYEDMUTEX take = {0};
    D3DKMT_OPENSYNCHRONIZATIONOBJECT sync;

    memset(&sync, 0, sizeof(sync));
    sync.hSharedHandle = p->sync;
    p->status = D3DKMTOpenKeyedMutex(&open);
    take.hKeyedMutex = open.hKeyedMutex;
    if (NT_SUCCESS(p->status))
        p->status = D3DKMTAcquireKeyedMutex(&take);
    if (NT_SUCCESS(p->status))
        p->status = D3DKMTOpenSynchronizationObject(&sync);
    p->holds = true;
    dxgk_client_sleep(1000000);
}

TEST_WITH(client, a_process_that_ends_abandons_its_mutex)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 sync;
    D3DKMT_CREATEKEYEDMUTEX create = {0};
    D3DKMT_ACQUIREKEYEDMUTEX take = {.Key = 77};
    struct pair p = {0};
    struct gpu g;
    D3DKMT_HANDLE last;

    TRY(c, device_begin(&g, &last) && make_sync(&g, false, &sync) == STATUS_SUCCESS);
    TRY(c, D3DKMTCreateKeyedMutex(&create) == STATUS_SUCCESS);
    p.mutex = create.hSharedHandle;
    p.sync = sync.Info.SharedHandle;
    TRY(c, dxgk_client_process("short", take_and_go, &p));
    while (!p.holds)
        dxgk_client_sleep(1000);
    TRY(c, p.status == STATUS_SUCCESS);
    take.hKeyedMutex = create.hKeyedMutex;
    SHOW(c, "KMT-415", D3DKMTAcquireKeyedMutex(&take) == STATUS_ABANDONED);
    TRY(c, device_end(&g));
}

/* The creator ends first; the other process keeps what it has open. */
struct heir {
    D3DKMT_HANDLE global;
    D3DKMT_HANDLE opened;
    NTSTATUS status, later;
    volatile bool open, gone, done;
};

static void inherit(void *argument)
{
    struct heir *i = argument;
    D3DKMT_OPENSYNCHRONIZATIONOBJECT args;

    memset(&args, 0, sizeof(args));
    args.hSharedHandle = i->global;
    i->status = D3DKMTOpenSynchronizationObject(&args);
    i->open = true;
    while (!i->gone)
        dxgk_client_sleep(1000);
    dxgk_client_sleep(10000000);
    i->later = D3DKMTOpenSynchronizationObject(&args);
    i->done = true;
}

static void bequeath(void *argument)
{
    struct heir *i = argument;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 sync;
    struct gpu g;

    if (gpu_begin(&g) != STATUS_SUCCESS || make_sync(&g, false, &sync) != STATUS_SUCCESS)
        return;
    i->global = sync.Info.SharedHandle;
    while (!i->open)
        dxgk_client_sleep(1000);
    i->gone = true;
}

TEST_WITH(client, a_shared_object_outlives_its_creator)
{
    struct heir i = {0};

    TRY(c, dxgk_client_process("creator", bequeath, &i));
    while (!i.global)
        dxgk_client_sleep(1000);
    TRY(c, dxgk_client_process("heir", inherit, &i));
    while (!i.done)
        dxgk_client_sleep(1000);
    SHOW(c, "KMT-476", i.status == STATUS_SUCCESS && i.later == STATUS_SUCCESS);
}
