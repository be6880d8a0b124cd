/* SPDX-License-Identifier: MIT */
/* WDDM 2.x: what the residency list of a device holds back and lets go on a started adapter, and what becomes of work without it. */
#include "port/support/paged.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, s) ((NTSTATUS)(status) == (s))
#define FILL          DXGK_OPERATION_VIRTUAL_FILL

static struct probe_gpu gpu;
static D3DKMT_HANDLE item;
static uint64_t fence;

/* ---- what is submitted, and by whom ---- */

static HANDLE contexts[8]; /* the driver's, of clients, in order */
static unsigned context_count;
static struct {
    HANDLE context;
    uint64_t time;
    ULONG done; /* the last fence of the paging node */
    unsigned fills;
} submitted[32];
static unsigned submissions;
static DXGK_CONTEXTINFO_CAPS answered_caps;

static void note_context(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext || context_count == 8)
        return;
    contexts[context_count++] = args->hContext;
    args->ContextInfo.Caps.Value |= answered_caps.Value;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    if (args->Flags.Paging || submissions == 32)
        return;
    submitted[submissions].context = args->hContext;
    submitted[submissions].time = sim_now();
    submitted[submissions].done = p->state[0].reported[1];
    submitted[submissions++].fills = paged_count(FILL, 0);
}

static struct probe *created(void)
{
    struct probe *p = probe_create(NULL);

    paged_watch(p);
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 3;
    p->physical.NumExecutionNodes = 3;
    p->after[PROBE_CreateContext] = note_context;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    context_count = submissions = 0;
    answered_caps.Value = 0;
    probe_clients_begin(p);
    return p;
}

static void finish(struct probe *p, struct probe_client *client)
{
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(NT_SUCCESS(probe_start(p)));
    finish(p, probe_client_run(p, body));
}

static D3DKMT_HANDLE on_node(UINT node)
{
    D3DKMT_CREATECONTEXTVIRTUAL create;

    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    create.NodeOrdinal = node;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&create)));
    return create.hContext;
}

static NTSTATUS submit(D3DKMT_HANDLE context)
{
    struct probe_gpu g = gpu;

    g.context = context;
    return probe_gpu_submit(&g);
}

static D3DKMT_DEVICEEXECUTION_STATE state(const struct probe_gpu *g)
{
    D3DKMT_GETDEVICESTATE args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    CHECK(NT_SUCCESS(D3DKMTGetDeviceState(&args)));
    return args.ExecutionState;
}

/* ---- arguments ---- */

static NTSTATUS resident_with(const UINT *priorities, uint64_t *value)
{
    D3DDDI_MAKERESIDENT args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.NumAllocations = 1;
    args.AllocationList = &item;
    args.PriorityList = priorities;
    status = D3DKMTMakeResident(&args);
    *value = args.PagingFenceValue;
    return status;
}

static void with_priorities(struct probe *p)
{
    static const UINT high = D3DDDI_ALLOCATIONPRIORITY_MAXIMUM, wrong = 0;
    const UINT *const lists[] = {NULL, &high, &wrong, (const UINT *)(uintptr_t)8};
    D3DKMT_GETALLOCATIONPRIORITY get;
    UINT priority;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    for (size_t i = 0; i < 4; i++) {
        CHECK(NT_SUCCESS(paged_create(&gpu, PAGED_MIB, &item)));
        CHECK_RULE("RES-021", IS(resident_with(lists[i], &fence), STATUS_PENDING) && fence != 0);
        CHECK(NT_SUCCESS(paged_wait(&gpu, fence)));
        priority = 0;
        memset(&get, 0, sizeof(get));
        get.hDevice = gpu.device;
        get.phAllocationList = &item;
        get.AllocationCount = 1;
        get.pPriorities = &priority;
        CHECK(NT_SUCCESS(D3DKMTGetAllocationPriority(&get)));
        CHECK_RULE("RES-021", priority == D3DDDI_ALLOCATIONPRIORITY_NORMAL);
    }
}

TEST(priorities_of_a_list_are_ignored)
{
    run(created(), with_priorities);
}

/* ---- physical contexts ---- */

static D3DKMT_CREATECONTEXT physical;

static void take_all(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    memcpy(args->pDmaBuffer, args->pCommand, args->CommandLength);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->CommandLength;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static NTSTATUS render(void)
{
    D3DKMT_RENDER args;

    memset(&args, 0, sizeof(args));
    args.hContext = physical.hContext;
    args.CommandLength = 64;
    args.AllocationCount = 2;
    physical.pAllocationList[1] = (D3DDDI_ALLOCATIONLIST){.hAllocation = item};
    return D3DKMTRender(&args);
}

static void open_physical(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    memset(&physical, 0, sizeof(physical));
    physical.hDevice = gpu.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&physical)));
    paged.flags = 0x8001; /* CpuVisible, AccessedPhysically */
    CHECK(NT_SUCCESS(paged_create(&gpu, PAGED_MIB, &item)));
}

static void render_without(struct probe *p)
{
    unsigned mark;

    open_physical(p);
    CHECK(IS(paged_make_resident(&gpu, item, &fence), STATUS_PENDING));
    CHECK(NT_SUCCESS(paged_wait(&gpu, fence)));
    CHECK(IS(render(), STATUS_SUCCESS) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("RES-031", probe_count(p, PROBE_SubmitCommand) == 1 &&
                              state(&gpu) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(NT_SUCCESS(paged_evict(&gpu, item)));
    probe_sleep(PROBE_SECOND / 100);
    CHECK(paged_residency(&gpu, item) == D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);
    mark = paged.count;
    CHECK(IS(render(), STATUS_SUCCESS) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("RES-011", paged.count == mark && paged_residency(&gpu, item) ==
                                                     D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT);
    CHECK_RULE("RES-031", probe_count(p, PROBE_SubmitCommand) == 1 &&
                              state(&gpu) == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
}

TEST(lists_of_a_render_make_nothing_resident)
{
    struct probe *p = created();

    p->before[PROBE_Render] = take_all;
    run(p, render_without);
}

/* ---- caps of a context ---- */

static void without_patching(struct probe *p)
{
    unsigned mark;

    open_physical(p);
    CHECK_RULE("RES-033", physical.AllocationListSize == 16 && physical.PatchLocationListSize == 0);
    mark = paged.count;
    CHECK(IS(render(), STATUS_SUCCESS) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("RES-033", paged.count == mark);
}

TEST(without_patching_there_is_a_short_list)
{
    struct probe *p = created();

    p->before[PROBE_Render] = take_all;
    answered_caps.NoPatchingRequired = 1;
    run(p, without_patching);
}

static void gated(struct probe *p)
{
    D3DKMT_HANDLE context;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    context = on_node(2);
    CHECK(NT_SUCCESS(paged_create(&gpu, PAGED_MIB, &item)));
    CHECK(NT_SUCCESS(submit(context)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("RES-034", submissions == 1 && submitted[0].fills == 0);
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(IS(paged_make_resident(&gpu, item, &fence), STATUS_PENDING));
    CHECK(NT_SUCCESS(submit(context)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("RES-034", submissions == 2 && submitted[1].fills == 1 &&
                              submitted[1].time >= submitted[0].time + PROBE_SECOND / 10);
}

TEST(a_driver_that_manages_residency_is_held_back_all_the_same)
{
    struct probe *p = created();

    answered_caps.DriverManagesResidency = 1;
    run(p, gated);
    run(created(), gated);
}

/* ---- the paging fence ---- */

static void wait_on_the_gpu(struct probe *p)
{
    D3DKMT_HANDLE waiting, free;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait;
    D3DDDI_MAPGPUVIRTUALADDRESS map;
    uint64_t start;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    waiting = on_node(2);
    free = on_node(2);
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, PAGED_MIB, &item)));
    probe_device_packet_ns = PROBE_SECOND / 10;
    memset(&map, 0, sizeof(map));
    map.hPagingQueue = gpu.queue;
    map.BaseAddress = 64 * PAGED_MIB;
    map.hAllocation = item;
    map.SizeInPages = 4;
    CHECK(IS(D3DKMTMapGpuVirtualAddress(&map), STATUS_PENDING));
    start = sim_now();
    memset(&wait, 0, sizeof(wait));
    wait.hContext = waiting;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &gpu.queue_fence;
    wait.MonitoredFenceValueArray = &map.PagingFenceValue;
    CHECK_RULE("RES-038", NT_SUCCESS(D3DKMTWaitForSynchronizationObjectFromGpu(&wait)));
    CHECK(NT_SUCCESS(submit(waiting)) && NT_SUCCESS(submit(free)));
    CHECK_RULE("RES-038", NT_SUCCESS(paged_wait(&gpu, map.PagingFenceValue)) &&
                              sim_now() >= start + PROBE_SECOND / 10);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("RES-038", submissions == 2 && submitted[0].context == contexts[2] &&
                              submitted[0].time < start + PROBE_SECOND / 100);
    CHECK_RULE("RES-038", submitted[1].context == contexts[1] &&
                              submitted[1].time >= start + PROBE_SECOND / 10);
}

TEST(contexts_may_wait_for_paging)
{
    run(created(), wait_on_the_gpu);
}

/* ---- an access to what is not there ---- */

#define BASE (1024 * PAGED_MIB)

static bool fault, refuse_reset;

/* The node says that its packet read an address without a valid entry. */
static void report_fault(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)call;
    if (!fault)
        return;
    fault = false;
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED;
    data.DmaPageFaulted.FaultedFenceId = p->state[0].submitted[2];
    data.DmaPageFaulted.NodeOrdinal = 2;
    data.DmaPageFaulted.FaultedVirtualAddress = BASE;
    data.DmaPageFaulted.PageFaultFlags = DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED;
    p->state[0].dxgk.DxgkCbNotifyInterrupt(p->state[0].dxgk.DeviceHandle, &data);
}

static void reset_device(struct probe *p, struct probe_call *call)
{
    PULONG registers = p->state[0].registers;

    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    if (call->ddi == PROBE_ResetEngine && refuse_reset) {
        call->answered = true;
        call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
    }
}

static unsigned valid_entries(unsigned from)
{
    unsigned count = 0;

    for (unsigned i = from; i < paged.count; i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &paged.op[i].args.UpdatePageTable;

        if (paged.op[i].args.Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE &&
            u->PageTableLevel == 0 && u->FirstPteVirtualAddress >= BASE &&
            u->FirstPteVirtualAddress < BASE + PAGED_MIB)
            count = paged.op[i].entry.Valid ? u->NumPageTableEntries : 0;
    }
    return count;
}

static struct probe_gpu others;

static void set_up_other(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&others)));
}

static void fault_on_evicted(struct probe *p)
{
    D3DKMT_HANDLE context;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    context = on_node(2);
    CHECK(NT_SUCCESS(paged_create(&gpu, PAGED_MIB, &item)));
    CHECK_RULE("RES-035", paged_map(&gpu, item, BASE, 0, 16) == BASE && valid_entries(0) == 0);
    CHECK(IS(paged_make_resident(&gpu, item, &fence), STATUS_PENDING));
    CHECK(NT_SUCCESS(paged_wait(&gpu, fence)));
    CHECK_RULE("RES-035", valid_entries(0) == 16);
    CHECK(NT_SUCCESS(paged_evict(&gpu, item)));
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("RES-035", valid_entries(0) == 0);
    probe_device_packet_ns = PROBE_SECOND;
    CHECK(NT_SUCCESS(submit(context)));
    probe_sleep(PROBE_SECOND / 100);
    probe_device_packet_ns = 1000;
    fault = true;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("RES-035", !fault && state(&gpu) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT);
    CHECK_RULE("RES-035", !NT_SUCCESS(submit(context)));
}

static void go_on(struct probe *p)
{
    (void)p;
    CHECK_RULE("RES-035", NT_SUCCESS(probe_gpu_submit(&others)) &&
                              NT_SUCCESS(probe_gpu_wait_idle(&others)) &&
                              state(&others) == D3DKMT_DEVICEEXECUTION_ACTIVE);
}

static void faults(bool refused)
{
    struct probe *p = created();
    struct probe_client *other, *client;

    refuse_reset = refused;
    p->before[PROBE_InterruptRoutine] = report_fault;
    p->before[PROBE_ResetEngine] = reset_device;
    p->before[PROBE_ResetFromTimeout] = reset_device;
    CHECK(NT_SUCCESS(probe_start(p)));
    other = probe_client_run(p, set_up_other);
    client = probe_client_run(p, fault_on_evicted);
    CHECK_RULE("RES-035", probe_count(p, PROBE_ResetEngine) == 1 &&
                              probe_count(p, PROBE_ResetFromTimeout) == refused &&
                              probe_count(p, PROBE_RestartFromTimeout) == refused);
    if (!refused)
        probe_client_go_on(p, other, go_on);
    probe_client_end(p, other);
    finish(p, client);
}

TEST(an_access_to_an_evicted_allocation_costs_its_device)
{
    faults(false);
    faults(true);
}
