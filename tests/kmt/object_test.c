/* SPDX-License-Identifier: MIT */
/* Devices, contexts, allocations and escapes: what the calls check, return and leave. */
#include "host/support/refgpu_client.h"

/* ---- devices ---- */

static NTSTATUS state_of(const struct gpu *g, D3DKMT_DEVICESTATE_TYPE type,
                         D3DKMT_GETDEVICESTATE *state)
{
    memset(state, 0, sizeof(*state));
    state->hDevice = g->device;
    state->StateType = type;
    return D3DKMTGetDeviceState(state);
}

TEST_WITH(client, devices_say_their_state)
{
    struct gpu g = {0};
    D3DKMT_CREATEDEVICE create;
    D3DKMT_GETDEVICESTATE state;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    memset(&create, 0, sizeof(create));
    create.hAdapter = g.adapter;
    create.Flags.RequestVSync = 1;
    create.pCommandBuffer = &create;
    create.CommandBufferSize = 5;
    SHOW(c, "KMT-114", D3DKMTCreateDevice(&create) == STATUS_SUCCESS && create.hDevice != 0);
    SHOW(c, "KMT-116",
         !create.pCommandBuffer && !create.CommandBufferSize && !create.pAllocationList &&
             !create.pPatchLocationList);
    g.device = create.hDevice;
    SHOW(c, "KMT-127",
         state_of(&g, D3DKMT_DEVICESTATE_EXECUTION, &state) == STATUS_SUCCESS &&
             state.ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE);
    SHOW(c, "KMT-132",
         state_of(&g, D3DKMT_DEVICESTATE_RESET, &state) == STATUS_SUCCESS &&
             state.ResetState.Value == 0);
    SHOW(c, "KMT-131",
         state_of(&g, D3DKMT_DEVICESTATE_PAGE_FAULT, &state) == STATUS_SUCCESS &&
             state.PageFaultState.PageFaultFlags == 0);
    SHOW(c, "KMT-133", state_of(&g, D3DKMT_DEVICESTATE_PRESENT, &state) == STATUS_NOT_SUPPORTED);
    SHOW(c, "KMT-133", state_of(&g, (D3DKMT_DEVICESTATE_TYPE)0, &state) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-133",
         state_of(&g, (D3DKMT_DEVICESTATE_TYPE)50, &state) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-136", gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_device(&g) == STATUS_SUCCESS);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

static NTSTATUS mark(const struct gpu *g, D3DKMT_DEVICE_ERROR_REASON reason)
{
    D3DKMT_MARKDEVICEASERROR args = {g->device, reason};

    return D3DKMTMarkDeviceAsError(&args);
}

/* A device in error: what still works, what says what, and that the neighbour does not notice. */
TEST_WITH(client, a_device_in_error_can_only_be_left)
{
    struct gpu g, neighbour;
    D3DKMT_GETDEVICESTATE state;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_GETCONTEXTSCHEDULINGPRIORITY priority;
    D3DKMT_HANDLE context;
    struct memory m, n;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_begin(&neighbour) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    SHOW(c, "KMT-135", mark(&g, (D3DKMT_DEVICE_ERROR_REASON)5) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-134", mark(&g, D3DKMT_DEVICE_ERROR_REASON_DRIVER_ERROR) == STATUS_SUCCESS);
    SHOW(c, "KMT-135",
         state_of(&g, D3DKMT_DEVICESTATE_EXECUTION, &state) == STATUS_SUCCESS &&
             state.ExecutionState == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    SHOW(c, "KMT-129",
         mark(&g, D3DKMT_DEVICE_ERROR_REASON_GENERIC) == STATUS_SUCCESS &&
             state_of(&g, D3DKMT_DEVICESTATE_EXECUTION, &state) == STATUS_SUCCESS &&
             state.ExecutionState == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    SHOW(c, "KMT-123", gpu_submit(g.copy, m.va, 0) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    SHOW(c, "KMT-123", gpu_render(&g, 0, 0) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    SHOW(c, "KMT-123", gpu_create_memory(&g, 4096, 0, 0, &n) == STATUS_DEVICE_REMOVED);
    SHOW(c, "KMT-123", gpu_make_resident(&g, m.handle) == STATUS_DEVICE_REMOVED);
    SHOW(c, "KMT-123", gpu_create_fence(&g, &fence) == STATUS_DEVICE_REMOVED);
    context = g.copy;
    SHOW(c, "KMT-123", gpu_create_copy_context(&g) == STATUS_DEVICE_REMOVED);
    g.copy = context;
    SHOW(c, "KMT-124", gpu_wait_idle(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-124", gpu_unlock(&g, &m) == STATUS_SUCCESS);
    priority.hContext = g.copy;
    SHOW(c, "KMT-124", D3DKMTGetContextSchedulingPriority(&priority) == STATUS_SUCCESS);
    SHOW(c, "KMT-124", gpu_destroy_memory(&g, &m) == STATUS_SUCCESS);
    SHOW(c, "KMT-124", gpu_destroy_context(g.copy) == STATUS_SUCCESS);
    SHOW(c, "KMT-125",
         gpu_memory(&neighbour, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &n) == STATUS_SUCCESS);
    SHOW(c, "KMT-125",
         gpu_submit(neighbour.copy, n.va, 0) == STATUS_SUCCESS &&
             gpu_wait_idle(&neighbour) == STATUS_SUCCESS);
    SHOW(c, "KMT-120", gpu_end(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&neighbour) == STATUS_SUCCESS);
}

/* ---- contexts ---- */

TEST_WITH(client, contexts_are_of_their_node)
{
    struct gpu g;
    D3DKMT_CREATECONTEXT physical;
    D3DKMT_CREATECONTEXTVIRTUAL virtual;
    D3DKMT_SETCONTEXTSCHEDULINGPRIORITY set;
    D3DKMT_GETCONTEXTSCHEDULINGPRIORITY get;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-143",
         g.lists.pCommandBuffer && g.lists.CommandBufferSize && g.lists.pAllocationList &&
             g.lists.AllocationListSize);
    SHOW(c, "KMT-154",
         (uintptr_t)g.lists.pCommandBuffer % 4096 == 0 && *(uint32_t *)g.lists.pCommandBuffer == 0 &&
             g.lists.pAllocationList[0].hAllocation == 0);
    SHOW(c, "KMT-156", g.lists.CommandBuffer == 0);

    memset(&physical, 0, sizeof(physical));
    physical.hDevice = g.device;
    physical.NodeOrdinal = REFGPU_NODE_COPY;
    SHOW(c, "KMT-145", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    physical.NodeOrdinal = REFGPU_NODES;
    SHOW(c, "KMT-146", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    physical.NodeOrdinal = REFGPU_NODE_2D;
    physical.EngineAffinity = 2;
    SHOW(c, "KMT-146", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    physical.EngineAffinity = 0;
    physical.Flags.HwQueueSupported = 1;
    SHOW(c, "KMT-149", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    physical.Flags.Value = 0;
    physical.Flags.InitialData = 1;
    physical.ClientHint = (D3DKMT_CLIENTHINT)12345;
    SHOW(c, "KMT-152", D3DKMTCreateContext(&physical) == STATUS_SUCCESS);
    SHOW(c, "KMT-149", gpu_destroy_context(physical.hContext) == STATUS_SUCCESS);

    memset(&virtual, 0, sizeof(virtual));
    virtual.hDevice = g.device;
    virtual.NodeOrdinal = REFGPU_NODE_2D;
    SHOW(c, "KMT-145", D3DKMTCreateContextVirtual(&virtual) == STATUS_INVALID_PARAMETER);

    memset(&set, 0, sizeof(set));
    memset(&get, 0, sizeof(get));
    set.hContext = get.hContext = g.copy;
    get.Priority = 99;
    SHOW(c, "KMT-163",
         D3DKMTGetContextSchedulingPriority(&get) == STATUS_SUCCESS && get.Priority == 0);
    set.Priority = -7;
    SHOW(c, "KMT-163",
         D3DKMTSetContextSchedulingPriority(&set) == STATUS_SUCCESS &&
             D3DKMTGetContextSchedulingPriority(&get) == STATUS_SUCCESS && get.Priority == -7);
    set.Priority = 8;
    SHOW(c, "SUBMIT-020", D3DKMTSetContextSchedulingPriority(&set) == STATUS_INVALID_PARAMETER);
    TRY(c, D3DKMTGetContextSchedulingPriority(&get) == STATUS_SUCCESS && get.Priority == -7);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* Destroying a context finishes what it has. */
TEST_WITH(client, destroying_waits_for_queued_work)
{
    struct gpu g;
    struct memory commands, target;
    struct refgpu_builder b;
    uint64_t before;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &target) ==
               STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_delay(&b, 1000000);
    refgpu_write(&b, target.va, 0x55, REFGPU_WRITE_64);
    before = dxgk_client_time();
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    TRY(c, *(volatile uint64_t *)target.cpu == 0);
    SHOW(c, "KMT-158",
         gpu_destroy_context(g.copy) == STATUS_SUCCESS && *(volatile uint64_t *)target.cpu == 0x55);
    TRY(c, dxgk_client_time() - before >= 1000000);
    TRY(c, gpu_create_copy_context(&g) == STATUS_SUCCESS);
    *(volatile uint64_t *)target.cpu = 0;
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    SHOW(c, "KMT-136",
         gpu_wait_idle(&g) == STATUS_SUCCESS && *(volatile uint64_t *)target.cpu == 0x55);
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    before = dxgk_client_time();
    SHOW(c, "KMT-119",
         gpu_destroy_device(&g) == STATUS_SUCCESS && dxgk_client_time() - before >= 1000000);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

/* ---- allocations ---- */

static NTSTATUS create(const struct gpu *g, D3DKMT_CREATEALLOCATIONFLAGS flags,
                       D3DKMT_HANDLE resource, UINT count, D3DDDI_ALLOCATIONINFO2 *info,
                       struct refgpu_allocation_data *data, D3DKMT_CREATEALLOCATION *args)
{
    memset(args, 0, sizeof(*args));
    for (UINT i = 0; i < count; i++) {
        memset(&info[i], 0, sizeof(info[i]));
        memset(&data[i], 0, sizeof(data[i]));
        data[i].magic = REFGPU_UMD_MAGIC;
        data[i].bytes = 5000;
        info[i].pPrivateDriverData = &data[i];
        info[i].PrivateDriverDataSize = sizeof(data[i]);
    }
    args->hDevice = g->device;
    args->hResource = resource;
    args->NumAllocations = count;
    args->pAllocationInfo2 = info;
    args->Flags = flags;
    args->hGlobalShare = 0x77;
    return D3DKMTCreateAllocation2(args);
}

TEST_WITH(client, allocations_come_together)
{
    D3DKMT_CREATEALLOCATIONFLAGS none = {0}, flags = {0};
    D3DDDI_ALLOCATIONINFO2 info[3];
    struct refgpu_allocation_data data[3];
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_DESTROYALLOCATION2 destroy;
    D3DKMT_HANDLE list[3], resource;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-192", create(&g, none, 0, 0, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.CreateResource = 1;
    SHOW(c, "KMT-192", create(&g, flags, 5, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.CreateResource = 0;
    flags.CreateShared = 1;
    SHOW(c, "KMT-225", create(&g, flags, 0, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.CreateShared = 0;
    flags.NonSecure = 1;
    SHOW(c, "KMT-214", create(&g, flags, 0, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.NonSecure = 0;
    flags.CrossAdapter = 1;
    SHOW(c, "KMT-210", create(&g, flags, 0, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.CrossAdapter = 0;
    flags.Zeroed = flags.AllowNotZeroed = 1;
    SHOW(c, "KMT-216", create(&g, flags, 0, 1, info, data, &args) == STATUS_INVALID_PARAMETER);
    flags.Zeroed = flags.AllowNotZeroed = 0;
    flags.PartialSharedCreation = 1;
    SHOW(c, "KMT-217", create(&g, flags, 0, 1, info, data, &args) == STATUS_NOT_SUPPORTED);

    /* the driver's answer comes back in the private data */
    SHOW(c, "KMT-198",
         create(&g, none, 0, 3, info, data, &args) == STATUS_SUCCESS && data[0].bytes == 8192 &&
             data[2].alignment == 4096);
    SHOW(c, "KMT-197",
         info[0].hAllocation && info[1].hAllocation && info[2].hAllocation &&
             info[0].hAllocation != info[1].hAllocation);
    SHOW(c, "KMT-194", args.hGlobalShare == 0);
    SHOW(c, "KMT-205", info[0].GpuVirtualAddress == 0);

    /* destroying: a list, without duplicates, all or nothing */
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    SHOW(c, "KMT-263", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    list[0] = info[0].hAllocation;
    list[1] = info[1].hAllocation;
    list[2] = info[0].hAllocation;
    destroy.phAllocationList = list;
    destroy.AllocationCount = 3;
    SHOW(c, "KMT-263", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    list[2] = 0x1234;
    SHOW(c, "KMT-011", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    list[2] = info[2].hAllocation;
    destroy.Flags.SystemUseOnly = 1;
    SHOW(c, "KMT-262", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.Flags.Value = 0;
    SHOW(c, "KMT-011",
         D3DKMTDestroyAllocation2(&destroy) == STATUS_SUCCESS); /* none was gone before */
    SHOW(c, "KMT-032", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);

    /* resources */
    memset(&flags, 0, sizeof(flags));
    flags.CreateResource = 1;
    SHOW(c, "KMT-191",
         create(&g, flags, 0, 1, info, data, &args) == STATUS_SUCCESS && args.hResource != 0);
    resource = args.hResource;
    SHOW(c, "KMT-191", create(&g, none, resource, 1, info, data, &args) == STATUS_SUCCESS);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    destroy.hResource = resource;
    destroy.phAllocationList = list;
    SHOW(c, "ALLOC-085", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.phAllocationList = NULL;
    SHOW(c, "ALLOC-085", D3DKMTDestroyAllocation2(&destroy) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", D3DKMTDestroyAllocation2(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* One element that the driver refuses: none comes into being. */
TEST_WITH(client, a_refused_element_refuses_all)
{
    D3DKMT_CREATEALLOCATIONFLAGS none = {0};
    D3DDDI_ALLOCATIONINFO2 info[2];
    struct refgpu_allocation_data data[2];
    D3DKMT_CREATEALLOCATION args;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, none, 0, 1, info, data, &args) == STATUS_SUCCESS);
    memset(&args, 0, sizeof(args));
    memset(info, 0, sizeof(info));
    for (unsigned i = 0; i < 2; i++) {
        info[i].pPrivateDriverData = &data[i];
        info[i].PrivateDriverDataSize = sizeof(data[i]);
    }
    memset(data, 0, sizeof(data));
    data[0].magic = REFGPU_UMD_MAGIC;
    data[0].bytes = 4096;
    data[1].magic = 0xBAD;
    args.hDevice = g.device;
    args.NumAllocations = 2;
    args.pAllocationInfo2 = info;
    SHOW(c, "KMT-197", !NT_SUCCESS(D3DKMTCreateAllocation2(&args)) && info[0].hAllocation == 0);
    SHOW(c, "KMT-203",
         (info[0].Flags.Primary = 1, D3DKMTCreateAllocation2(&args)) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* The old form: other elements, the same driver calls. */
TEST_WITH(client, old_calls_still_work)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC, .bytes = 4096};
    D3DDDI_ALLOCATIONINFO info;
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_DESTROYALLOCATION destroy;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    args.hDevice = g.device;
    args.NumAllocations = 1;
    args.pAllocationInfo = &info;
    SHOW(c, "KMT-190", D3DKMTCreateAllocation(&args) == STATUS_SUCCESS && info.hAllocation != 0);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    destroy.phAllocationList = &info.hAllocation;
    destroy.AllocationCount = 1;
    SHOW(c, "KMT-261", D3DKMTDestroyAllocation(&destroy) == STATUS_SUCCESS);
    SHOW(c, "KMT-023", D3DKMTDestroyAllocation(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, locks_nest)
{
    struct gpu g;
    struct memory m;
    void *first;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 8192, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS);
    first = m.cpu;
    SHOW(c, "KMT-215", ((uint64_t *)first)[0] == 0 && ((uint64_t *)first)[1023] == 0);
    memset(first, 0x11, 8192);
    SHOW(c, "KMT-271", gpu_lock(&g, &m) == STATUS_SUCCESS && m.cpu == first);
    TRY(c, gpu_unlock(&g, &m) == STATUS_SUCCESS);
    TRY(c, ((uint8_t *)first)[8191] == 0x11);
    TRY(c, gpu_unlock(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_unlock(&g, &m) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS && ((uint8_t *)m.cpu)[4096] == 0x11);
    SHOW(c, "KMT-265", gpu_destroy_memory(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- budgets ---- */

TEST_WITH(client, budgets_can_be_asked_without_device)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info;
    struct gpu g;

    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    memset(&info, 0, sizeof(info));
    info.hAdapter = g.adapter;
    SHOW(c, "KMT-291",
         D3DKMTQueryVideoMemoryInfo(&info) == STATUS_SUCCESS && info.Budget > 0 &&
             info.CurrentUsage == 0 && info.CurrentReservation == 0);
    info.hProcess = (HANDLE)(uintptr_t)0x5550;
    SHOW(c, "KMT-020", D3DKMTQueryVideoMemoryInfo(&info) == STATUS_INVALID_HANDLE);
    info.hProcess = NULL;
    info.PhysicalAdapterIndex = 1;
    TRY(c, D3DKMTQueryVideoMemoryInfo(&info) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

/* ---- escapes ---- */

TEST_WITH(client, escapes_reach_driver_or_host)
{
    struct refgpu_escape_counters counters;
    D3DKMT_ESCAPE escape;
    struct gpu g, other;
    D3DKMT_TDRDBGCTRL_ESCAPE control;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_begin(&other) == STATUS_SUCCESS);
    memset(&counters, 0, sizeof(counters));
    counters.header.magic = REFGPU_UMD_MAGIC;
    counters.header.code = REFGPU_ESCAPE_COUNTERS;
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g.adapter;
    escape.pPrivateDriverData = &counters;
    escape.PrivateDriverDataSize = sizeof(counters);
    SHOW(c, "KMT-421", D3DKMTEscape(&escape) == STATUS_SUCCESS);
    SHOW(c, "KMT-425",
         counters.interrupts > 0 || counters.log_records_drained > 0 ||
             counters.engine[1].submitted > 0);

    counters.header.magic = 0xBAD; /* the driver refuses: nothing is copied back */
    counters.interrupts = 0xABCDEF;
    SHOW(c, "KMT-425", !NT_SUCCESS(D3DKMTEscape(&escape)) && counters.interrupts == 0xABCDEF);
    counters.header.magic = REFGPU_UMD_MAGIC;

    escape.hAdapter = 0;
    SHOW(c, "KMT-423", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.hAdapter = g.adapter;
    escape.hContext = g.copy;
    SHOW(c, "KMT-422", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.hDevice = other.device;
    SHOW(c, "KMT-423", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.hDevice = g.device;
    SHOW(c, "KMT-422", D3DKMTEscape(&escape) == STATUS_SUCCESS);

    escape.Flags.DeviceStatusQuery = 1;
    SHOW(c, "KMT-431", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.Flags.Value = 0;
    escape.Flags.HardwareAccess = escape.Flags.NoAdapterSynchronization = 1;
    SHOW(c, "KMT-432", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.Flags.Value = 0;
    escape.Type = (D3DKMT_ESCAPETYPE)19;
    SHOW(c, "KMT-441", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.Type = D3DKMT_ESCAPE_DMM;
    SHOW(c, "KMT-441", D3DKMTEscape(&escape) == STATUS_NOT_SUPPORTED);
    escape.Type = D3DKMT_ESCAPE_TDRDBGCTRL;
    escape.Flags.HardwareAccess = 1;
    SHOW(c, "KMT-431", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.Flags.Value = 0;
    memset(&control, 0, sizeof(control));
    control.TdrControl = D3DKMT_TDRDBGCTRLTYPE_ENGINETDR;
    control.NodeOrdinal = REFGPU_NODES;
    escape.pPrivateDriverData = &control;
    escape.PrivateDriverDataSize = 5;
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.PrivateDriverDataSize = sizeof(control);
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.PrivateDriverDataSize = sizeof(int);
    control.TdrControl = D3DKMT_TDRDBGCTRLTYPE_VSYNCTDR;
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_NOT_SUPPORTED);
    control.TdrControl = D3DKMT_TDRDBGCTRLTYPE_DISABLEBREAK;
    SHOW(c, "KMT-444", D3DKMTEscape(&escape) == STATUS_SUCCESS);
    TRY(c, gpu_end(&other) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* A long packet, and an escape behind it: has the packet's last word been written when the driver has had the escape? */
static NTSTATUS escape_behind_work(struct gpu *g, const struct memory *m, uint32_t pattern,
                                   bool hardware, bool *done)
{
    const volatile uint32_t *words = m->cpu;
    struct refgpu_escape_counters counters = {
        .header = {.magic = REFGPU_UMD_MAGIC, .code = REFGPU_ESCAPE_COUNTERS}};
    D3DKMT_ESCAPE escape;
    struct refgpu_builder b;
    NTSTATUS status;

    refgpu_builder_init(&b, g->lists.pCommandBuffer, g->lists.CommandBufferSize);
    for (int i = 0; i < 8; i++)
        refgpu_fill(&b, REFGPU_REF(0, 0), m->bytes, i < 7 ? ~pattern : pattern);
    g->lists.pAllocationList[0].hAllocation = m->handle;
    g->lists.pAllocationList[0].Value = 0;
    g->lists.pAllocationList[0].WriteOperation = 1;
    status = gpu_render(g, refgpu_builder_bytes(&b), 1);
    if (!NT_SUCCESS(status))
        return status;
    dxgk_client_sleep(5000); /* until it runs */
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g->adapter;
    escape.Flags.HardwareAccess = hardware;
    escape.pPrivateDriverData = &counters;
    escape.PrivateDriverDataSize = sizeof(counters);
    status = D3DKMTEscape(&escape);
    *done = words[m->bytes / 4 - 1] == pattern;
    return NT_SUCCESS(status) ? gpu_wait_idle(g) : status;
}

TEST_WITH(client, hardware_access_waits_until_the_gpu_is_idle)
{
    struct memory m;
    struct gpu g;
    bool done;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_memory(&g, 1 << 20, REFGPU_ALLOCATION_CPU_VISIBLE | REFGPU_ALLOCATION_PHYSICAL,
                             0, &m) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(&g, m.handle) == STATUS_SUCCESS);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS);
    TRY(c, escape_behind_work(&g, &m, 0x11111111, false, &done) == STATUS_SUCCESS);
    SHOW(c, "THREAD-028", !done);
    TRY(c, escape_behind_work(&g, &m, 0x22222222, true, &done) == STATUS_SUCCESS);
    SHOW(c, "THREAD-028", done);
    SHOW(c, "THREAD-026", ((const uint32_t *)m.cpu)[0] == 0x22222222); /* memory kept what it held */
    TRY(c, escape_behind_work(&g, &m, 0x33333333, false, &done) == STATUS_SUCCESS);
    SHOW(c, "THREAD-026", !done); /* the scheduler goes on */
    TRY(c, gpu_unlock(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_memory(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
