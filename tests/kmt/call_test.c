/* SPDX-License-Identifier: MIT */
/* What all calls have in common: names, null and wild pointers, reserved bits, sizes, handles, the order of checks. */
#include "host/support/refgpu_client.h"
#include "kmt/support/driver_calls.h"

#include <dlfcn.h>

/* Every function that is carried out, with one argument structure. */
static const char *const carried_out[] = {
    "EnumAdapters",
    "EnumAdapters2",
    "EnumAdapters3",
    "OpenAdapterFromLuid",
    "CloseAdapter",
    "QueryAdapterInfo",
    "CreateDevice",
    "DestroyDevice",
    "GetDeviceState",
    "WaitForIdle",
    "MarkDeviceAsError",
    "CreateContext",
    "CreateContextVirtual",
    "DestroyContext",
    "SetContextSchedulingPriority",
    "GetContextSchedulingPriority",
    "CreateAllocation",
    "CreateAllocation2",
    "DestroyAllocation",
    "DestroyAllocation2",
    "Lock2",
    "Unlock2",
    "MakeResident",
    "Evict",
    "CreatePagingQueue",
    "DestroyPagingQueue",
    "QueryVideoMemoryInfo",
    "MapGpuVirtualAddress",
    "ReserveGpuVirtualAddress",
    "FreeGpuVirtualAddress",
    "Render",
    "SubmitCommand",
    "CreateSynchronizationObject",
    "CreateSynchronizationObject2",
    "DestroySynchronizationObject",
    "WaitForSynchronizationObject",
    "WaitForSynchronizationObject2",
    "WaitForSynchronizationObjectFromCpu",
    "WaitForSynchronizationObjectFromGpu",
    "SignalSynchronizationObject",
    "SignalSynchronizationObject2",
    "SignalSynchronizationObjectFromCpu",
    "SignalSynchronizationObjectFromGpu",
    "SignalSynchronizationObjectFromGpu2",
    "Escape",
    "SetVidPnSourceOwner",
    "SetVidPnSourceOwner1",
    "SetVidPnSourceOwner2",
    "GetDisplayModeList",
    "SetDisplayMode",
    "GetSharedPrimaryHandle",
    "SetQueuedLimit",
    "WaitForVerticalBlankEvent",
    "WaitForVerticalBlankEvent2",
    "GetScanLine",
    "GetDeviceState",
    "Present",
    "SetGammaRamp",
    "CheckMonitorPowerState",
    "CheckOcclusion",
    "GetMultisampleMethodList",
    "QueryStatistics",
    "SharedPrimaryLockNotification",
    "SharedPrimaryUnLockNotification",
    "OpenAdapterFromHdc",
};
#define CARRIED_OUT (sizeof(carried_out) / sizeof(carried_out[0]))

typedef NTSTATUS (*call_fn)(void *argument);

static call_fn find(const char *name)
{
    char full[96];
    void *address;
    call_fn function;

    snprintf(full, sizeof(full), "D3DKMT%s", name);
    address = dlsym(RTLD_DEFAULT, full);
    memcpy(&function, &address, sizeof(function));
    return function;
}

static void *wild(void)
{
    return (void *)(uintptr_t)0x1000;
}

/* ---- names ---- */

TEST(every_name_exists)
{
    const char *source = getenv("DXGK_SOURCE");
    char path[512], line[1024];
    unsigned found = 0;
    FILE *table;

    snprintf(path, sizeof(path), "%s/include/wdk/d3dkmthk.h", source ? source : ".");
    table = fopen(path, "r");
    CHECK(table != NULL);
    while (fgets(line, sizeof(line), table)) {
        char *name = strstr(line, " APIENTRY D3DKMT");

        if (!name || strstr(line, "typedef"))
            continue;
        name += strlen(" APIENTRY ");
        name[strcspn(name, "(")] = '\0';
        if (!dlsym(RTLD_DEFAULT, name))
            fail_msg("%s does not exist", name);
        found++;
    }
    fclose(table);
    CHECK_RULE("KMT-001", found > 150);
}

TEST_WITH(client, what_needs_a_display_is_not_supported)
{
    static const char *const names[] = {"CreateOverlay", "CreateOutputDupl",
                                        "CreateProtectedSession", "CreateDCFromMemory",
                                        "SetDisplayPrivateDriverFormat"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        TRY(c, find(names[i])(wild()) == STATUS_NOT_SUPPORTED);
    SHOW(c, "KMT-001", find("CreateOverlay")(wild()) == STATUS_NOT_SUPPORTED);
    SHOW(c, "KMT-004", find("CreateOverlay")(NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-049", find("OpenAdapterFromGdiDisplayName")(NULL) == STATUS_UNSUCCESSFUL);
    TRY(c, !D3DKMTCheckExclusiveOwnership());
}

TEST_WITH(client, calls_by_pointer_are_the_same)
{
    D3DKMT_ENUMADAPTERS2 direct = {0}, looked_up = {0};

    TRY(c, D3DKMTEnumAdapters2(&direct) == STATUS_SUCCESS);
    SHOW(c, "KMT-002",
         find("EnumAdapters2")(&looked_up) == STATUS_SUCCESS &&
             looked_up.NumAdapters == direct.NumAdapters);
}

/* ---- who may call ---- */

TEST(calls_need_a_client_thread)
{
    D3DKMT_ENUMADAPTERS2 enumerate = {0};

    CHECK(D3DKMTEnumAdapters2(&enumerate) == STATUS_INVALID_DEVICE_STATE);
}

/* ---- pointers ---- */

static void null_and_wild(struct client *c)
{
    for (unsigned i = 0; i < CARRIED_OUT; i++) {
        call_fn function = find(carried_out[i]);

        TRY(c, function != NULL);
        SHOW(c, "KMT-004", function(NULL) == STATUS_INVALID_PARAMETER);
        SHOW(c, "KMT-007", function(wild()) == STATUS_INVALID_PARAMETER);
    }
}

TEST(null_and_wild_arguments_are_refused)
{
    CHECK_RULE("KMT-004", driver_calls_of(null_and_wild) == 0);
}

/* Arrays: null with a count, wild ones, zero counts with any pointer. */
TEST_WITH(client, arrays_are_checked)
{
    struct gpu g;
    D3DKMT_CREATEALLOCATION create;
    D3DKMT_CREATECONTEXTVIRTUAL context;
    D3DKMT_DESTROYCONTEXT destroy;
    D3DKMT_EVICT evict;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&create, 0, sizeof(create));
    create.hDevice = g.device;
    create.NumAllocations = 1;
    SHOW(c, "KMT-006", D3DKMTCreateAllocation2(&create) == STATUS_INVALID_PARAMETER);
    create.pAllocationInfo2 = wild();
    SHOW(c, "KMT-007", D3DKMTCreateAllocation2(&create) == STATUS_INVALID_PARAMETER);

    memset(&context, 0, sizeof(context));
    context.hDevice = g.device;
    context.NodeOrdinal = REFGPU_NODE_COPY;
    context.PrivateDriverDataSize = 16;
    SHOW(c, "KMT-006", D3DKMTCreateContextVirtual(&context) == STATUS_INVALID_PARAMETER);
    context.pPrivateDriverData = wild();
    SHOW(c, "KMT-007", D3DKMTCreateContextVirtual(&context) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-008", context.hContext == 0);
    context.PrivateDriverDataSize = 0;
    SHOW(c, "KMT-006", D3DKMTCreateContextVirtual(&context) == STATUS_SUCCESS);
    destroy.hContext = context.hContext;
    TRY(c, D3DKMTDestroyContext(&destroy) == STATUS_SUCCESS);

    memset(&evict, 0, sizeof(evict));
    evict.hDevice = g.device;
    SHOW(c, "KMT-279", D3DKMTEvict(&evict) == STATUS_INVALID_PARAMETER);
    evict.NumAllocations = 1;
    SHOW(c, "KMT-006", D3DKMTEvict(&evict) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- sizes ---- */

TEST_WITH(client, absurd_sizes_are_refused)
{
    struct gpu g;
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC, .bytes = 4096};
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION create;
    D3DKMT_ESCAPE escape;
    D3DDDI_MAKERESIDENT resident;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = 0xFFFFFFFFu;
    create.hDevice = g.device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    SHOW(c, "KMT-012", D3DKMTCreateAllocation2(&create) == STATUS_INVALID_PARAMETER);
    create.NumAllocations = 0x100001;
    SHOW(c, "KMT-012", D3DKMTCreateAllocation2(&create) == STATUS_INVALID_PARAMETER);

    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g.adapter;
    escape.pPrivateDriverData = &data;
    escape.PrivateDriverDataSize = (16u << 20) + 1;
    SHOW(c, "KMT-012", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);

    memset(&resident, 0, sizeof(resident));
    resident.hPagingQueue = g.queue;
    resident.NumAllocations = 0xFFFFFFFFu;
    resident.AllocationList = &g.device;
    SHOW(c, "KMT-012", D3DKMTMakeResident(&resident) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- reserved bits ---- */

TEST_WITH(client, reserved_bits_are_refused)
{
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (unsigned bit = 0; bit < 32; bit++) {
        D3DKMT_CREATEDEVICE device;
        D3DKMT_CREATECONTEXTVIRTUAL context;
        D3DKMT_CREATEALLOCATION allocation;
        D3DKMT_LOCK2 lock;
        UINT value = 1u << bit;

        memset(&device, 0, sizeof(device));
        memcpy(&device.Flags, &value, sizeof(value));
        if (bit >= 3) { /* with a bad handle: the bits come first */
            SHOW(c, "KMT-113", D3DKMTCreateDevice(&device) == STATUS_INVALID_PARAMETER);
            device.hAdapter = g.adapter;
            SHOW(c, "KMT-009", D3DKMTCreateDevice(&device) == STATUS_INVALID_PARAMETER);
        }
        memset(&context, 0, sizeof(context));
        context.hDevice = g.device;
        context.NodeOrdinal = REFGPU_NODE_COPY;
        context.Flags.Value = value;
        if (bit >= 5)
            SHOW(c, "KMT-149", D3DKMTCreateContextVirtual(&context) == STATUS_INVALID_PARAMETER);
        memset(&allocation, 0, sizeof(allocation));
        allocation.hDevice = g.device;
        memcpy(&allocation.Flags, &value, sizeof(value));
        allocation.Flags.CreateResource = 1;
        if (bit == 3 || bit == 8 || bit == 9)
            SHOW(c, "KMT-207", D3DKMTCreateAllocation2(&allocation) == STATUS_INVALID_PARAMETER);
        if (bit == 12)
            SHOW(c, "KMT-209", D3DKMTCreateAllocation2(&allocation) == STATUS_INVALID_PARAMETER);
        if (bit >= 19)
            SHOW(c, "KMT-217", D3DKMTCreateAllocation2(&allocation) == STATUS_INVALID_PARAMETER);
        memset(&lock, 0, sizeof(lock));
        lock.hDevice = g.device;
        lock.Flags.Value = value;
        SHOW(c, "KMT-009", D3DKMTLock2(&lock) == STATUS_INVALID_PARAMETER);
    }
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- handles ---- */

TEST_WITH(client, handles_of_another_kind_are_refused)
{
    struct gpu g;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct memory m;
    D3DKMT_HANDLE handles[8];

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, 0, 0, &m) == STATUS_SUCCESS);
    handles[0] = g.adapter;
    handles[1] = g.device;
    handles[2] = g.copy;
    handles[3] = g.render;
    handles[4] = g.queue;
    handles[5] = fence.hSyncObject;
    handles[6] = m.handle;
    handles[7] = 0;
    for (unsigned i = 0; i < 8; i++) {
        D3DKMT_WAITFORIDLE idle = {handles[i]};
        D3DKMT_DESTROYSYNCHRONIZATIONOBJECT sync = {handles[i]};
        D3DDDI_DESTROYPAGINGQUEUE queue = {handles[i]};
        D3DKMT_CREATEDEVICE device;
        D3DKMT_LOCK2 lock;

        for (unsigned j = 0; j < i; j++)
            TRY(c, handles[i] != handles[j]);
        SHOW(c, "KMT-024", i == 7 || handles[i] != 0);
        if (i != 1)
            SHOW(c, "KMT-026", D3DKMTWaitForIdle(&idle) == STATUS_INVALID_PARAMETER);
        if (i != 2 && i != 3)
            SHOW(c, "KMT-026", gpu_destroy_context(handles[i]) == STATUS_INVALID_PARAMETER);
        if (i != 5)
            SHOW(c, "KMT-026",
                 D3DKMTDestroySynchronizationObject(&sync) == STATUS_INVALID_PARAMETER);
        if (i != 4)
            SHOW(c, "KMT-026", D3DKMTDestroyPagingQueue(&queue) == STATUS_INVALID_PARAMETER);
        memset(&device, 0, sizeof(device));
        device.hAdapter = handles[i];
        device.hDevice = 0x1234;
        if (i != 0) {
            SHOW(c, "KMT-026", D3DKMTCreateDevice(&device) == STATUS_INVALID_PARAMETER);
            SHOW(c, "KMT-008", device.hDevice == 0x1234);
        }
        memset(&lock, 0, sizeof(lock));
        lock.hDevice = g.device;
        lock.hAllocation = handles[i];
        if (i != 6)
            SHOW(c, "KMT-026", D3DKMTLock2(&lock) == STATUS_INVALID_PARAMETER);
    }
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, handles_end_once_and_with_their_parent)
{
    struct gpu g;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_DESTROYSYNCHRONIZATIONOBJECT sync;
    D3DDDI_DESTROYPAGINGQUEUE queue;
    D3DKMT_HANDLE old;
    struct memory m;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, 0, 0, &m) == STATUS_SUCCESS);
    sync.hSyncObject = fence.hSyncObject;
    queue.hPagingQueue = g.queue;

    /* a stale handle is not taken for a new one */
    old = g.copy;
    TRY(c, gpu_destroy_context(old) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", gpu_destroy_context(old) == STATUS_INVALID_PARAMETER);
    for (unsigned i = 0; i < 15; i++) {
        TRY(c, gpu_create_copy_context(&g) == STATUS_SUCCESS);
        SHOW(c, "KMT-028", g.copy != old && gpu_destroy_context(old) == STATUS_INVALID_PARAMETER);
        TRY(c, gpu_destroy_context(g.copy) == STATUS_SUCCESS);
    }

    /* children go with the device */
    TRY(c, gpu_destroy_device(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", gpu_destroy_device(&g) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-031", gpu_destroy_context(g.render) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-031", D3DKMTDestroySynchronizationObject(&sync) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-031", D3DKMTDestroyPagingQueue(&queue) == STATUS_INVALID_PARAMETER);
    SHOW(c, "GPUVA-072", D3DKMTDestroyPagingQueue(&queue) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_create_device(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-031", gpu_lock(&g, &m) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_destroy_device(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-050", gpu_close_adapter(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", gpu_close_adapter(&g) == STATUS_INVALID_PARAMETER);
}

/* Another process does not see them. */
struct other {
    struct client *client;
    struct gpu *gpu;
    NTSTATUS idle, context, closed;
    bool done;
};

static void other_process(void *argument)
{
    struct other *o = argument;
    D3DKMT_WAITFORIDLE idle = {o->gpu->device};

    o->idle = D3DKMTWaitForIdle(&idle);
    o->context = gpu_destroy_context(o->gpu->copy);
    o->closed = gpu_close_adapter(o->gpu);
    o->done = true;
}

TEST_WITH(client, handles_belong_to_one_process)
{
    struct gpu g;
    struct other o = {.client = c, .gpu = &g};

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, dxgk_client_process("other", other_process, &o));
    while (!o.done)
        dxgk_client_sleep(1000);
    SHOW(c, "KMT-025",
         o.idle == STATUS_INVALID_PARAMETER && o.context == STATUS_INVALID_PARAMETER &&
             o.closed == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, allocations_belong_to_one_device)
{
    struct gpu g, h;
    struct memory m;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_begin(&h) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    SHOW(c, "KMT-027", gpu_lock(&h, &m) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-027", gpu_make_resident(&h, m.handle) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-027", gpu_destroy_memory(&h, &m) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_end(&h) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- two runs give the same handles ---- */

static void collect_handles(struct client *c)
{
    D3DKMT_HANDLE *out = c->context;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    out[0] = g.adapter;
    out[1] = g.device;
    out[2] = g.queue;
    out[3] = g.copy;
    out[4] = g.render;
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(equal_runs_give_equal_handles)
{
    D3DKMT_HANDLE handles[2][5];

    for (unsigned i = 0; i < 2; i++) {
        struct client *c = calloc(1, sizeof(*c));
        struct machine m;

        c->context = handles[i];
        machine_begin(&m, DXGK_IOMMU_OFF);
        machine_run_with(&m, c, collect_handles, DXGK_OK);
        machine_end(&m);
        free(c);
    }
    CHECK_RULE("KMT-028", memcmp(handles[0], handles[1], sizeof(handles[0])) == 0);
}
