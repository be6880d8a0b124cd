/* SPDX-License-Identifier: MIT */
/* Devices, contexts and budgets: what the calls check, return and leave. */
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
    SHOW(c, "KMT-136/a", gpu_wait_idle(&g) == STATUS_SUCCESS);
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

TEST_WITH(client, a_physical_context_has_an_empty_buffer_and_lists)
{
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-143",
         g.lists.pCommandBuffer && g.lists.CommandBufferSize && g.lists.pAllocationList &&
             g.lists.AllocationListSize);
    SHOW(c, "KMT-154",
         (uintptr_t)g.lists.pCommandBuffer % 4096 == 0 && *(uint32_t *)g.lists.pCommandBuffer == 0 &&
             g.lists.pAllocationList[0].hAllocation == 0);
    SHOW(c, "KMT-156", g.lists.CommandBuffer == 0);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, contexts_are_of_their_node)
{
    struct gpu g;
    D3DKMT_CREATECONTEXT physical;
    D3DKMT_CREATECONTEXTVIRTUAL virtual;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&physical, 0, sizeof(physical));
    physical.hDevice = g.device;
    physical.NodeOrdinal = REFGPU_NODE_COPY;
    SHOW(c, "KMT-145", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    physical.NodeOrdinal = REFGPU_NODES;
    SHOW(c, "KMT-146", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    physical.NodeOrdinal = REFGPU_NODE_2D;
    physical.EngineAffinity = 2;
    SHOW(c, "KMT-146", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);

    memset(&virtual, 0, sizeof(virtual));
    virtual.hDevice = g.device;
    virtual.NodeOrdinal = REFGPU_NODE_2D;
    SHOW(c, "KMT-145", D3DKMTCreateContextVirtual(&virtual) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, flags_of_contexts_are_checked_and_hints_are_not)
{
    struct gpu g;
    D3DKMT_CREATECONTEXT physical;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&physical, 0, sizeof(physical));
    physical.hDevice = g.device;
    physical.NodeOrdinal = REFGPU_NODE_2D;
    physical.Flags.HwQueueSupported = 1;
    SHOW(c, "KMT-149", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    physical.Flags.Value = 0;
    physical.Flags.InitialData = 1;
    physical.ClientHint = (D3DKMT_CLIENTHINT)12345;
    physical.CommandBuffer = 77;
    SHOW(c, "KMT-152", D3DKMTCreateContext(&physical) == STATUS_SUCCESS);
    SHOW(c, "KMT-156", physical.CommandBuffer == 0);
    SHOW(c, "KMT-149", gpu_destroy_context(physical.hContext) == STATUS_SUCCESS);
    for (int hint = -1; hint <= D3DKMT_CLIENTHINT_MAX; hint++) {
        physical.ClientHint = (D3DKMT_CLIENTHINT)hint;
        SHOW(c, "KMT-152", D3DKMTCreateContext(&physical) == STATUS_SUCCESS);
    }
    physical.Flags.Value = 0;
    physical.PrivateDriverDataSize = 8;
    SHOW(c, "KMT-006", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    physical.pPrivateDriverData = &g;
    physical.PrivateDriverDataSize = (16u << 20) + 1;
    SHOW(c, "KMT-012", D3DKMTCreateContext(&physical) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_context_keeps_its_priority)
{
    struct gpu g;
    D3DKMT_SETCONTEXTSCHEDULINGPRIORITY set;
    D3DKMT_GETCONTEXTSCHEDULINGPRIORITY get;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
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
    SHOW(c, "KMT-136/a",
         gpu_wait_idle(&g) == STATUS_SUCCESS && *(volatile uint64_t *)target.cpu == 0x55);
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    before = dxgk_client_time();
    SHOW(c, "KMT-119",
         gpu_destroy_device(&g) == STATUS_SUCCESS && dxgk_client_time() - before >= 1000000);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
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
