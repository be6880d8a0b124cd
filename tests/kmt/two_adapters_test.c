/* SPDX-License-Identifier: MIT */
/* A machine with two adapters: which handles belong to which, and what is not shared between them. */
#include "host/support/refgpu_client.h"

#include "sim/machine.h"

static void two_begin(struct machine *m)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    machine_create(m, &config);
    if (dxgk_machine_add_device(m->dxgk, machine_path("devices/refgpu.so"), NULL, 0, m->error,
                                sizeof(m->error)) != DXGK_OK)
        fail_msg("device: %s", m->error);
    machine_add_refgpu(m);
}

static void two_test(void (*program)(struct client *c))
{
    struct machine m;

    two_begin(&m);
    machine_run(&m, program);
    machine_end(&m);
}

#define RIG_ARGUMENT_two_adapters     struct client *c
#define RIG_RUN_two_adapters(program) two_test(program)

/* Everything of gpu_begin, on the second adapter. */
static NTSTATUS second_begin(struct gpu *g)
{
    D3DKMT_ENUMADAPTERS enumeration = {0};
    NTSTATUS status = D3DKMTEnumAdapters(&enumeration);

    memset(g, 0, sizeof(*g));
    if (NT_SUCCESS(status) && enumeration.NumAdapters != 2)
        return STATUS_NOT_FOUND;
    g->adapter = enumeration.Adapters[1].hAdapter;
    if (NT_SUCCESS(status))
        status = gpu_create_device(g);
    if (NT_SUCCESS(status))
        status = gpu_create_queue(g);
    if (NT_SUCCESS(status))
        status = gpu_create_copy_context(g);
    return NT_SUCCESS(status) ? gpu_create_render_context(g) : status;
}

static bool because(const char *rule, const char *part)
{
    struct dxgk_refusal refusal;
    bool so = dxgk_client_last_refusal(&refusal) && strcmp(refusal.rule, rule) == 0 &&
              strstr(refusal.reason, part);

    if (!so)
        printf("    \"%s\" (%s)\n", refusal.reason, refusal.rule);
    return so;
}

TEST_WITH(two_adapters, each_has_a_number_a_path_and_a_luid)
{
    D3DKMT_ADAPTERADDRESS address[2];
    D3DKMT_ENUMADAPTERS2 args = {0};
    D3DKMT_ADAPTERINFO list[3] = {{0}};
    D3DKMT_OPENADAPTERFROMLUID open = {0};
    char path[2][260];

    TRY(c, D3DKMTEnumAdapters2(&args) == STATUS_SUCCESS && args.NumAdapters >= 2);
    args.pAdapters = list;
    args.NumAdapters = 1;
    SHOW(c, "KMT-037",
         D3DKMTEnumAdapters2(&args) == STATUS_BUFFER_TOO_SMALL && args.NumAdapters == 1 &&
             because("KMT-037", "room for 1 adapters, there are 2"));
    args.NumAdapters = 3;
    TRY(c, D3DKMTEnumAdapters2(&args) == STATUS_SUCCESS && args.NumAdapters == 2);
    TRY(c, list[0].hAdapter && list[1].hAdapter && list[0].hAdapter != list[1].hAdapter &&
               !list[2].hAdapter);
    TRY(c, memcmp(&list[0].AdapterLuid, &list[1].AdapterLuid, sizeof(LUID)) != 0);
    for (unsigned i = 0; i < 2; i++) {
        D3DKMT_QUERYADAPTERINFO query = {.hAdapter = list[i].hAdapter,
                                         .Type = KMTQAITYPE_ADAPTERADDRESS,
                                         .pPrivateDriverData = &address[i],
                                         .PrivateDriverDataSize = sizeof(address[i])};
        D3DKMT_OPENADAPTERFROMDEVICENAME named;
        WCHAR wide[260];
        size_t length = 0;

        TRY(c, D3DKMTQueryAdapterInfo(&query) == STATUS_SUCCESS);
        SHOW(c, "KMT-074",
             address[i].BusNumber == 0 && address[i].DeviceNumber == i &&
                 address[i].FunctionNumber == 0);
        TRY(c, dxgk_machine_device_interface(c->machine->dxgk, i, path[i], sizeof(path[i])));
        for (; path[i][length]; length++)
            wide[length] = (WCHAR)path[i][length];
        wide[length] = 0;
        named = (D3DKMT_OPENADAPTERFROMDEVICENAME){.pDeviceName = wide};
        TRY(c, D3DKMTOpenAdapterFromDeviceName(&named) == STATUS_SUCCESS);
        TRY(c, memcmp(&named.AdapterLuid, &list[i].AdapterLuid, sizeof(LUID)) == 0);
        open.AdapterLuid = list[i].AdapterLuid;
        TRY(c, D3DKMTOpenAdapterFromLuid(&open) == STATUS_SUCCESS && open.hAdapter);
    }
    TRY(c, strcmp(path[0], path[1]) != 0);
    TRY(c, !dxgk_machine_device_interface(c->machine->dxgk, 2, path[0], sizeof(path[0])));
}

TEST_WITH(two_adapters, handles_of_one_are_none_of_the_other)
{
    D3DKMT_ESCAPE escape = {.Type = D3DKMT_ESCAPE_HISTORY_BUFFER_STATUS};
    D3DKMT_HISTORY_BUFFER_STATUS history;
    struct memory m;
    struct gpu g, h;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && second_begin(&h) == STATUS_SUCCESS);
    escape.pPrivateDriverData = &history;
    escape.PrivateDriverDataSize = sizeof(history);
    escape.hAdapter = h.adapter;
    escape.hDevice = g.device;
    SHOW(c, "KMT-423",
         D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER &&
             because("KMT-026", "is no device of hAdapter 0x"));
    escape.hDevice = h.device;
    escape.hContext = g.copy;
    SHOW(c, "KMT-423",
         D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER &&
             because("KMT-026", "is no context of hDevice 0x"));
    escape.hContext = h.copy;
    TRY(c, D3DKMTEscape(&escape) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    SHOW(c, "KMT-027", gpu_lock(&h, &m) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-027", gpu_make_resident(&h, m.handle) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-027", gpu_destroy_memory(&h, &m) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_destroy_memory(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_context(h.copy) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_context(g.copy) == STATUS_SUCCESS);
    TRY(c, gpu_end(&h) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- objects ---- */

static NTSTATUS cpu(bool wait, D3DKMT_HANDLE device, const D3DKMT_HANDLE *list, UINT count)
{
    static const UINT64 values[2] = {0, 0};

    return wait ? D3DKMTWaitForSynchronizationObjectFromCpu(
                      &(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU){.hDevice = device,
                                                                    .ObjectCount = count,
                                                                    .ObjectHandleArray = list,
                                                                    .FenceValueArray = values})
                : D3DKMTSignalSynchronizationObjectFromCpu(
                      &(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU){.hDevice = device,
                                                                   .ObjectCount = count,
                                                                   .ObjectHandleArray = list,
                                                                   .FenceValueArray = values});
}

TEST_WITH(two_adapters, a_list_has_objects_of_one_adapter)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 own, foreign;
    D3DKMT_HANDLE both[2];
    UINT64 values[2] = {0, 0};
    struct gpu g, h;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && second_begin(&h) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &own) == STATUS_SUCCESS &&
               gpu_create_fence(&h, &foreign) == STATUS_SUCCESS);
    for (unsigned wait = 0; wait < 2; wait++) {
        TRY(c, cpu(wait, g.device, &own.hSyncObject, 1) == STATUS_SUCCESS);
        TRY(c, cpu(wait, g.device, &foreign.hSyncObject, 1) == STATUS_INVALID_PARAMETER &&
                   because("", "of another adapter"));
        for (unsigned at = 0; at < 2; at++) { /* wherever it stands */
            both[at] = foreign.hSyncObject;
            both[1 - at] = own.hSyncObject;
            TRY(c, cpu(wait, g.device, both, 2) == STATUS_INVALID_PARAMETER);
        }
    }
    for (unsigned at = 0; at < 2; at++) {
        D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU signal = {.hContext = g.copy,
                                                            .ObjectCount = 2,
                                                            .ObjectHandleArray = both,
                                                            .MonitoredFenceValueArray = values};
        D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait = {.hContext = g.copy,
                                                           .ObjectCount = 2,
                                                           .ObjectHandleArray = both,
                                                           .MonitoredFenceValueArray = values};

        both[at] = foreign.hSyncObject;
        both[1 - at] = own.hSyncObject;
        SHOW(c, "KMT-370",
             D3DKMTSignalSynchronizationObjectFromGpu(&signal) == STATUS_INVALID_PARAMETER &&
                 because("KMT-370", "of another adapter"));
        TRY(c, D3DKMTWaitForSynchronizationObjectFromGpu(&wait) == STATUS_INVALID_PARAMETER &&
                   because("KMT-370", "of another adapter"));
    }
    TRY(c, gpu_end(&h) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(two_adapters, nothing_is_shared_between_them)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence = {.Info = {.Type = D3DDDI_MONITORED_FENCE}};
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 open = {0};
    D3DKMT_QUERYRESOURCEINFO query = {0};
    D3DKMT_OPENRESOURCE resource = {0};
    OBJECT_ATTRIBUTES attributes = {.Length = sizeof(attributes)};
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC, .bytes = 4096};
    uint8_t total[256];
    D3DDDI_OPENALLOCATIONINFO2 opened = {0};
    D3DDDI_ALLOCATIONINFO2 info = {0};
    D3DKMT_CREATEALLOCATION create = {0};
    HANDLE nt = NULL;
    struct gpu g, h;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && second_begin(&h) == STATUS_SUCCESS);
    fence.hDevice = g.device;
    fence.Info.Flags.Shared = fence.Info.Flags.NtSecuritySharing = 1;
    TRY(c, D3DKMTCreateSynchronizationObject2(&fence) == STATUS_SUCCESS);
    TRY(c,
        D3DKMTShareObjects(1, &fence.hSyncObject, &attributes, GENERIC_ALL, &nt) == STATUS_SUCCESS);
    open.hNtHandle = nt;
    open.hDevice = h.device;
    TRY(c, D3DKMTOpenSyncObjectFromNtHandle2(&open) == STATUS_INVALID_PARAMETER &&
               because("KMT-340", "the object is of another adapter"));
    open.hDevice = g.device;
    TRY(c, D3DKMTOpenSyncObjectFromNtHandle2(&open) == STATUS_SUCCESS);
    TRY(c, ZwClose(nt) == STATUS_SUCCESS);

    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    create.hDevice = g.device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    create.Flags.CreateResource = create.Flags.CreateShared = 1;
    TRY(c, D3DKMTCreateAllocation2(&create) == STATUS_SUCCESS);
    query.hDevice = g.device;
    query.hGlobalShare = create.hGlobalShare;
    TRY(c, D3DKMTQueryResourceInfo(&query) == STATUS_SUCCESS && query.NumAllocations == 1 &&
               query.TotalPrivateDriverDataSize <= sizeof(total));
    resource.hDevice = h.device;
    resource.hGlobalShare = create.hGlobalShare;
    resource.NumAllocations = 1;
    resource.pOpenAllocationInfo2 = &opened;
    resource.pTotalPrivateDriverDataBuffer = total;
    resource.TotalPrivateDriverDataBufferSize = query.TotalPrivateDriverDataSize;
    SHOW(c, "KMT-237",
         D3DKMTOpenResource2(&resource) == STATUS_INVALID_PARAMETER &&
             because("KMT-237", "the resource is of another adapter"));
    resource.hDevice = g.device;
    TRY(c, D3DKMTOpenResource2(&resource) == STATUS_SUCCESS && opened.hAllocation);
    fence.Info.Flags.CrossAdapter = 1;
    TRY(c, !NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&fence)));
    TRY(c, gpu_end(&h) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(two_adapters, one_lost_device_leaves_the_other)
{
    D3DKMT_MARKDEVICEASERROR mark = {.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};
    struct gpu g, h;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && second_begin(&h) == STATUS_SUCCESS);
    mark.hDevice = h.device;
    TRY(c, D3DKMTMarkDeviceAsError(&mark) == STATUS_SUCCESS);
    TRY(c, gpu_submit(h.copy, 0, 0) != STATUS_SUCCESS);
    TRY(c, gpu_submit(g.copy, 0, 0) == STATUS_SUCCESS && gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&h) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- too little memory for both ---- */

static NTSTATUS close_all(const D3DKMT_ENUMADAPTERS *all)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (ULONG i = 0; i < all->NumAdapters && NT_SUCCESS(status); i++)
        status = D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){all->Adapters[i].hAdapter});
    return status;
}

TEST_WITH(two_adapters, an_enumeration_that_fails_leaves_no_handle)
{
    struct util_heap *heap = &sim_current->heap;
    D3DKMT_ENUMADAPTERS all = {0};
    uint64_t blocks;
    unsigned failed = 0;
    NTSTATUS status;

    TRY(c, D3DKMTEnumAdapters(&all) == STATUS_SUCCESS && all.NumAdapters == 2);
    TRY(c, close_all(&all) == STATUS_SUCCESS); /* tables have grown */
    blocks = heap->live_blocks;
    for (;;) {
        all.NumAdapters = 77;
        heap->fail_at = heap->requests + failed + 1;
        status = D3DKMTEnumAdapters(&all);
        heap->fail_at = 0;
        if (NT_SUCCESS(status))
            break;
        failed++;
        SHOW(c, "KMT-013", status == STATUS_NO_MEMORY && heap->live_blocks == blocks);
        SHOW(c, "KMT-008", all.NumAdapters == 77);
        TRY(c, failed < 100);
    }
    TRY(c, failed >= 2 && all.NumAdapters == 2 && all.Adapters[1].hAdapter);
    TRY(c, close_all(&all) == STATUS_SUCCESS && heap->live_blocks == blocks);
}
