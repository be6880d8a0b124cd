/* SPDX-License-Identifier: MIT */
/* An adapter that stops while shared objects are alive: what NT handles alone keep goes too, and is told to be gone. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct probe_gpu gpu;
static D3DKMT_HANDLE resource, opened, mutex, global;
static HANDLE nt_resource, nt_sync;

static NTSTATUS share(D3DKMT_HANDLE handle, HANDLE *nt)
{
    return D3DKMTShareObjects(1, &handle, NULL, GENERIC_ALL, nt);
}

static NTSTATUS make_resource(void)
{
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION create;
    uint32_t data[8] = {4096};
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = data;
    info.PrivateDriverDataSize = sizeof(data);
    create.hDevice = gpu.device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    CHECK(verify_set_severity(verify_current, "ALLOC-147", VERIFY_NOTE)); /* in memory, too */
    create.Flags.CreateResource = create.Flags.CreateShared = create.Flags.NtSecuritySharing = 1;
    status = D3DKMTCreateAllocation2(&create);
    resource = create.hResource;
    return status;
}

static NTSTATUS make_sync(bool secure, D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *create)
{
    memset(create, 0, sizeof(*create));
    create->hDevice = gpu.device;
    create->Info.Type = D3DDDI_SYNCHRONIZATION_MUTEX;
    create->Info.Flags.Shared = 1;
    create->Info.Flags.NtSecuritySharing = secure;
    return D3DKMTCreateSynchronizationObject2(create);
}

static NTSTATUS open_global(void)
{
    D3DKMT_OPENSYNCHRONIZATIONOBJECT args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hSharedHandle = global;
    status = D3DKMTOpenSynchronizationObject(&args);
    opened = args.hSyncObject;
    return status;
}

static void set_up(struct probe *p)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 secure, plain;
    D3DKMT_CREATEKEYEDMUTEX keyed = {0};
    D3DKMT_DESTROYALLOCATION2 destroy;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(make_resource(), STATUS_SUCCESS) && IS(share(resource, &nt_resource), STATUS_SUCCESS));
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = gpu.device;
    destroy.hResource = resource;
    CHECK(IS(D3DKMTDestroyAllocation2(&destroy), STATUS_SUCCESS)); /* the NT handle keeps it */
    CHECK(IS(make_sync(true, &secure), STATUS_SUCCESS));
    CHECK(IS(share(secure.hSyncObject, &nt_sync), STATUS_SUCCESS));
    CHECK(IS(make_sync(false, &plain), STATUS_SUCCESS));
    global = plain.Info.SharedHandle;
    CHECK(IS(open_global(), STATUS_SUCCESS));
    CHECK(IS(D3DKMTCreateKeyedMutex(&keyed), STATUS_SUCCESS));
    mutex = keyed.hKeyedMutex;
    probe_sleep(1000000);
}

static void remove_body(struct probe *p)
{
    CHECK_RULE("KMT-250", probe_count(p, PROBE_DestroyAllocation) == 0);
    probe_remove(p, 0);
}

static void use_it(struct probe *p)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE sync = {.hNtHandle = nt_sync};
    D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE query;
    D3DKMT_GETSHAREDRESOURCEADAPTERLUID where;
    D3DKMT_ACQUIREKEYEDMUTEX acquire = {.hKeyedMutex = mutex};
    size_t calls = p->calls;

    memset(&query, 0, sizeof(query));
    memset(&where, 0, sizeof(where));
    query.hDevice = gpu.device;
    query.hNtHandle = where.hNtHandle = nt_resource;
    CHECK_RULE("LIFE-168/d", IS(D3DKMTOpenSyncObjectFromNtHandle(&sync), STATUS_DEVICE_REMOVED));
    CHECK_RULE("LIFE-168/d", IS(D3DKMTQueryResourceInfoFromNtHandle(&query), STATUS_DEVICE_REMOVED));
    CHECK_RULE("KMT-256", IS(D3DKMTGetSharedResourceAdapterLuid(&where), STATUS_SUCCESS));
    CHECK_RULE("LIFE-168/d", IS(D3DKMTDestroySynchronizationObject(
                                    &(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){.hSyncObject = opened}),
                                STATUS_SUCCESS));
    CHECK_RULE("KMT-224", IS(open_global(), STATUS_INVALID_PARAMETER)); /* nobody has it any more */
    CHECK_RULE("KMT-417", IS(D3DKMTAcquireKeyedMutex(&acquire), STATUS_SUCCESS));
    CHECK(IS(ZwClose(nt_sync), STATUS_SUCCESS) && IS(ZwClose(nt_resource), STATUS_SUCCESS));
    CHECK_RULE("LIFE-168/c", p->calls == calls); /* no call of the driver any more */
}

TEST(what_nt_handles_keep_goes_with_the_adapter)
{
    for (unsigned again = 0; again < 2; again++) {
        struct probe *p = probe_create(NULL);
        struct probe_client *client;

        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, set_up);
        CHECK(probe_run(p, remove_body) == SIM_DONE);
        CHECK_RULE("LIFE-168/a", probe_count(p, PROBE_DestroyAllocation) == 1 &&
                                     probe_nth(p, PROBE_DestroyAllocation, 0)->order <
                                         probe_nth(p, PROBE_StopDevice, 0)->order);
        if (again)
            probe_client_go_on(p, client, use_it);
        probe_client_end(p, client); /* with its handles open, the first time */
        probe_clients_end(p);
        probe_destroy(p);
    }
}

/* ---- beside another adapter ---- */

static D3DKMT_HANDLE beside;

static void set_up_beside(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters = {0};
    D3DKMT_CREATEDEVICE device = {0};

    set_up(p);
    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS) && adapters.NumAdapters == 2);
    device.hAdapter = adapters.Adapters[1].hAdapter;
    CHECK(IS(D3DKMTCreateDevice(&device), STATUS_SUCCESS));
    beside = device.hDevice;
}

static bool gone(NTSTATUS status, const char *what)
{
    return IS(status, STATUS_DEVICE_REMOVED) && strstr(probe_refused_text, what);
}

static void use_beside(struct probe *p)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE sync = {.hNtHandle = nt_sync};
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 sync2 = {.hNtHandle = nt_sync, .hDevice = beside};
    D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE query = {.hNtHandle = nt_resource, .hDevice = beside};
    D3DDDI_OPENALLOCATIONINFO2 info = {0};
    uint8_t total[64];
    D3DKMT_OPENRESOURCEFROMNTHANDLE open = {.hNtHandle = nt_resource,
                                            .hDevice = beside,
                                            .NumAllocations = 1,
                                            .pOpenAllocationInfo2 = &info,
                                            .pTotalPrivateDriverDataBuffer = total,
                                            .TotalPrivateDriverDataBufferSize = 32};
    D3DKMT_GETDEVICESTATE state = {.hDevice = beside, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    (void)p;
    CHECK_RULE("LIFE-168/d", gone(D3DKMTOpenSyncObjectFromNtHandle(&sync), "of the object is gone"));
    CHECK_RULE("LIFE-168/d",
               gone(D3DKMTOpenSyncObjectFromNtHandle2(&sync2), "of the object is gone"));
    CHECK_RULE("LIFE-168/d",
               gone(D3DKMTQueryResourceInfoFromNtHandle(&query), "of the resource is gone"));
    CHECK_RULE("LIFE-168/d",
               gone(D3DKMTOpenResourceFromNtHandle(&open), "of the resource is gone") &&
                   !open.hResource && !info.hAllocation);
    CHECK(IS(D3DKMTGetDeviceState(&state), STATUS_SUCCESS) &&
          state.ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE);
    state.hDevice = gpu.device;
    CHECK(IS(D3DKMTGetDeviceState(&state), STATUS_SUCCESS) &&
          state.ExecutionState == D3DKMT_DEVICEEXECUTION_STOPPED);
    CHECK(IS(ZwClose(nt_sync), STATUS_SUCCESS) && IS(ZwClose(nt_resource), STATUS_SUCCESS));
}

TEST(the_device_of_another_adapter_opens_nothing_that_is_gone)
{
    struct probe *p = probe_create(&(struct probe_options){.adapters = 2});
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, set_up_beside);
    CHECK(probe_run(p, remove_body) == SIM_DONE);
    probe_client_go_on(p, client, use_beside);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
