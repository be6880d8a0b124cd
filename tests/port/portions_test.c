/* SPDX-License-Identifier: MIT */
/* DMA buffers of a WDDM 1.x driver under memory pressure, from the client to the driver: what is paged in, where a buffer is cut. */
#include "port/support/client.h"

#include <string.h>

#include "vidmm/vidmm.h"
#include "vidsch/vidsch.h"

#define MIB      (1u << 20)
#define MANY     4u
#define THERE(a) ((a).SegmentId != 0)

/* ---- the driver: copies commands and locations, and notes what it is told to patch ---- */

struct patched {
    DXGKARG_PATCH args;
    DXGK_ALLOCATIONLIST list[MANY + 1];
    uint64_t order;
};

static struct patched patched[64];
static unsigned patch_count;
static UINT segments_of_allocations;
static unsigned paged_in[64]; /* sizes in MiB, in order */
static unsigned paged_in_count;

static void take_all(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    memcpy(args->pDmaBuffer, args->pCommand, args->CommandLength);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->CommandLength;
    for (UINT i = 0; i < args->PatchLocationListInSize; i++)
        *args->pPatchLocationListOut++ = args->pPatchLocationListIn[i];
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void note_patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.Paging || patch_count == 64)
        return;
    patched[patch_count].args = *args;
    patched[patch_count].order = call->order;
    for (UINT i = 0; i < args->AllocationListSize && i <= MANY; i++)
        patched[patch_count].list[i] = args->pAllocationList[i];
    patch_count++;
}

static void note_paging(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (paged_in_count == 64)
        return;
    if (op->Operation == DXGK_OPERATION_FILL)
        paged_in[paged_in_count++] = (unsigned)(op->Fill.FillSize / MIB);
    if (op->Operation == DXGK_OPERATION_TRANSFER && op->Transfer.Destination.SegmentId == 1)
        paged_in[paged_in_count++] = (unsigned)(op->Transfer.TransferSize / MIB);
}

static void in_segments(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedReadSegmentSet =
            args->pAllocationInfo[i].SupportedWriteSegmentSet = segments_of_allocations;
        args->pAllocationInfo[i].PreferredSegment.Value = 0;
        args->pAllocationInfo[i].Flags.Value = 0;
    }
}

static struct probe *begin(bool split, bool no_dma_patching)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM1_3,
                                          .ram_bytes = 256u << 20,
                                          .port = {.split_dma_buffers = split}};
    struct probe *p = probe_create(&options);

    probe_make_1x(p);
    p->caps.MaxAllocationListSlotId = 7;
    p->caps.SchedulingCaps.MultiEngineAware = p->caps.SchedulingCaps.PreemptionAware = 1;
    p->caps.SchedulingCaps.NoDmaPatching = no_dma_patching;
    p->before[PROBE_Render] = take_all;
    p->before[PROBE_Patch] = note_patch;
    p->before[PROBE_BuildPagingBuffer] = note_paging;
    p->after[PROBE_CreateAllocation] = in_segments;
    segments_of_allocations = 1; /* the 16 MiB of memory alone */
    patch_count = paged_in_count = 0;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    return p;
}

static void end(struct probe *p, struct probe_client *client)
{
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- the client ---- */

struct gpu {
    D3DKMT_HANDLE adapter, device;
    D3DKMT_CREATECONTEXT context;
    D3DKMT_HANDLE allocation[MANY];
};

static void open_gpu(struct gpu *g)
{
    D3DKMT_ENUMADAPTERS adapters;
    D3DKMT_CREATEDEVICE device;

    memset(&adapters, 0, sizeof(adapters));
    memset(&device, 0, sizeof(device));
    memset(g, 0, sizeof(*g));
    CHECK(D3DKMTEnumAdapters(&adapters) == STATUS_SUCCESS);
    g->adapter = device.hAdapter = adapters.Adapters[0].hAdapter;
    CHECK(D3DKMTCreateDevice(&device) == STATUS_SUCCESS);
    g->device = g->context.hDevice = device.hDevice;
    g->context.EngineAffinity = 1;
    CHECK(D3DKMTCreateContext(&g->context) == STATUS_SUCCESS);
}

static void close_gpu(const struct gpu *g)
{
    D3DKMT_DESTROYDEVICE destroy = {g->device};
    D3DKMT_CLOSEADAPTER close = {g->adapter};

    CHECK(D3DKMTDestroyDevice(&destroy) == STATUS_SUCCESS);
    CHECK(D3DKMTCloseAdapter(&close) == STATUS_SUCCESS);
}

static void allocate(struct gpu *g, unsigned index, uint64_t bytes)
{
    D3DKMT_CREATEALLOCATION create;
    D3DDDI_ALLOCATIONINFO2 info;

    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    create.hDevice = g->device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    CHECK(D3DKMTCreateAllocation2(&create) == STATUS_SUCCESS);
    g->allocation[index] = info.hAllocation;
    g->context.pAllocationList[index + 1] = (D3DDDI_ALLOCATIONLIST){.hAllocation = info.hAllocation};
}

static void element(struct gpu *g, unsigned i, UINT slot, UINT allocation, UINT split)
{
    D3DDDI_PATCHLOCATIONLIST *e = &g->context.pPatchLocationList[i];

    *e = (D3DDDI_PATCHLOCATIONLIST){
        .AllocationIndex = allocation, .SplitOffset = split, .PatchOffset = split};
    e->SlotId = slot & 0xFFFFFFu;
}

static NTSTATUS render_it(const struct gpu *g, UINT bytes, UINT elements)
{
    D3DKMT_RENDER args;

    memset(&args, 0, sizeof(args));
    args.hContext = g->context.hContext;
    args.CommandLength = bytes;
    args.AllocationCount = MANY + 1;
    args.PatchLocationCount = elements;
    return D3DKMTRender(&args);
}

static void finish(const struct gpu *g)
{
    D3DKMT_WAITFORIDLE wait = {g->device};

    CHECK(D3DKMTWaitForIdle(&wait) == STATUS_SUCCESS);
}

static D3DKMT_DEVICEEXECUTION_STATE state_of(const struct gpu *g)
{
    D3DKMT_GETDEVICESTATE state;

    memset(&state, 0, sizeof(state));
    state.hDevice = g->device;
    state.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    CHECK(D3DKMTGetDeviceState(&state) == STATUS_SUCCESS);
    return state.ExecutionState;
}

static uint64_t address(unsigned n, unsigned index)
{
    return (uint64_t)patched[n].list[index].PhysicalAddress.QuadPart;
}

static bool apart(unsigned n, unsigned a, unsigned b, uint64_t bytes)
{
    return address(n, a) + bytes <= address(n, b) || address(n, b) + bytes <= address(n, a);
}

/* ---- bodies ---- */

static void three_allocations_of_six(struct gpu *g)
{
    open_gpu(g);
    allocate(g, 0, 6 * MIB);
    allocate(g, 1, 5 * MIB);
    allocate(g, 2, 7 * MIB);
    allocate(g, 3, 1 * MIB);
}

static void what_is_named_is_paged_in(struct probe *p)
{
    struct gpu g;

    three_allocations_of_six(&g);
    element(&g, 0, 0, 2, 0);
    element(&g, 1, 1, 1, 32);
    CHECK(render_it(&g, 64, 2) == STATUS_SUCCESS);
    finish(&g);
    CHECK_RULE("PATCH-120", patch_count == 1 &&
                                patched[0].args.DmaBufferSubmissionStartOffset == 0 &&
                                patched[0].args.DmaBufferSubmissionEndOffset == 64);
    CHECK_RULE("RES-002", THERE(patched[0].list[1]) && THERE(patched[0].list[2]));
    CHECK_RULE("PATCH-148", patched[0].list[1].SegmentId == 1 && apart(0, 1, 2, 5 * MIB) &&
                                patched[0].args.AllocationListSize == MANY + 1);
    CHECK_RULE("PATCH-116",
               !THERE(patched[0].list[3]) && address(0, 3) == 0 && !THERE(patched[0].list[4]));
    CHECK_RULE("RES-003", paged_in_count == 2 && paged_in[0] == 5 && paged_in[1] == 6);
    CHECK_RULE("PATCH-119", paged_in[0] == 5 && paged_in[1] == 6);
    (void)p;
    close_gpu(&g);
}

static void a_buffer_is_cut(struct probe *p)
{
    struct gpu g;

    three_allocations_of_six(&g);
    element(&g, 0, 0, 1, 0);
    element(&g, 1, 1, 2, 0);
    element(&g, 2, 0, 3, 32); /* 6 + 5 + 7 are more than 16 */
    element(&g, 3, 1, 0, 32);
    CHECK(render_it(&g, 64, 4) == STATUS_SUCCESS);
    finish(&g);
    CHECK(patch_count == 2);
    CHECK_RULE("PATCH-121", patched[0].args.DmaBufferSubmissionEndOffset == 32 &&
                                patched[1].args.DmaBufferSubmissionStartOffset == 32 &&
                                patched[1].args.DmaBufferSubmissionEndOffset == 64);
    CHECK_RULE("RES-004", THERE(patched[0].list[1]) && THERE(patched[0].list[2]) &&
                              !THERE(patched[0].list[3]) && THERE(patched[1].list[3]) &&
                              !(THERE(patched[1].list[1]) && THERE(patched[1].list[2])));
    CHECK_RULE("PATCH-150", patched[0].args.PatchLocationListSubmissionLength == 2 &&
                                patched[1].args.PatchLocationListSubmissionStart == 2 &&
                                patched[1].args.PatchLocationListSubmissionLength == 2);
    CHECK_RULE("PATCH-117",
               state_of(&g) == D3DKMT_DEVICEEXECUTION_ACTIVE && probe_rule(p, "PATCH-135") == 0);
    /* Again, from the state that the first one left. */
    CHECK(render_it(&g, 64, 4) == STATUS_SUCCESS);
    finish(&g);
    CHECK_RULE("PATCH-121", patch_count == 4 && patched[2].args.DmaBufferSubmissionEndOffset == 32 &&
                                THERE(patched[2].list[1]) && THERE(patched[2].list[2]) &&
                                THERE(patched[3].list[3]));
    close_gpu(&g);
}

static void a_binding_over_the_cut_stays(struct probe *p)
{
    struct gpu g;

    three_allocations_of_six(&g);
    element(&g, 0, 0, 1, 0);
    element(&g, 1, 1, 2, 0);
    element(&g, 2, 1, 3, 32); /* takes the place of the second; the first stays bound */
    CHECK(render_it(&g, 64, 3) == STATUS_SUCCESS);
    finish(&g);
    CHECK_RULE("PATCH-122",
               patch_count == 2 && address(0, 1) == address(1, 1) && THERE(patched[1].list[1]));
    CHECK_RULE("PATCH-122",
               THERE(patched[1].list[3]) && !THERE(patched[1].list[2]) && apart(1, 1, 3, 6 * MIB));
    CHECK_RULE("PATCH-136", probe_rule(p, "PATCH-135") == 0);
    close_gpu(&g);
}

static void a_leaking_binding_is_refused(struct probe *p)
{
    struct gpu g;

    three_allocations_of_six(&g);
    element(&g, 0, 0, 1, 0);
    element(&g, 1, 1, 2, 0);
    element(&g, 2, 1, 3, 32);
    CHECK(render_it(&g, 64, 3) == STATUS_SUCCESS);
    finish(&g);
    CHECK_RULE("PATCH-134", patch_count == 1);
    CHECK_RULE("PATCH-135", probe_rule(p, "PATCH-135") == 1 &&
                                probe_said(p, "PATCH-135", "slot 0") &&
                                state_of(&g) != D3DKMT_DEVICEEXECUTION_ACTIVE);
    close_gpu(&g);
}

static void what_never_fits_is_told(struct probe *p)
{
    struct gpu g, other;

    three_allocations_of_six(&g);
    open_gpu(&other);
    allocate(&other, 0, 6 * MIB);
    element(&g, 0, 0, 1, 0);
    element(&g, 1, 1, 2, 0);
    element(&g, 2, 2, 3, 0);
    CHECK(render_it(&g, 64, 3) == STATUS_SUCCESS);
    finish(&g);
    CHECK_RULE("PATCH-124",
               patch_count == 0 && state_of(&g) == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK_RULE("PATCH-124", probe_said(p, "PATCH-124", "0x700000 bytes"));
    CHECK_RULE("RES-005", render_it(&g, 64, 1) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    element(&other, 0, 0, 1, 0);
    CHECK(render_it(&other, 64, 1) == STATUS_SUCCESS);
    finish(&other);
    CHECK_RULE("RES-005", patch_count == 1 && state_of(&other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    close_gpu(&other);
    close_gpu(&g);
}

/* What does not fit beside the work in flight waits for it, of the same device and of others. */
static void devices_take_turns(struct probe *p)
{
    struct gpu g, other;

    (void)p;
    three_allocations_of_six(&g);
    three_allocations_of_six(&other);
    for (int turn = 0; turn < 8; turn++) {
        struct gpu *one = turn % 2 ? &other : &g;

        element(one, 0, 0, turn % 4 < 2 ? 1 : 3, 0);
        element(one, 1, 1, 2, 32);
        CHECK(render_it(one, 64, 2) == STATUS_SUCCESS);
    }
    finish(&g);
    finish(&other);
    CHECK_RULE("PATCH-120", patch_count == 8);
    for (unsigned i = 0; i < patch_count; i++)
        CHECK_RULE("RES-002", patched[i].args.DmaBufferSubmissionEndOffset == 64 &&
                                  THERE(patched[i].list[2]) &&
                                  (THERE(patched[i].list[1]) || THERE(patched[i].list[3])));
    close_gpu(&other);
    close_gpu(&g);
}

static void forced_splits_reach_the_driver(struct probe *p)
{
    struct gpu g;

    (void)p;
    three_allocations_of_six(&g);
    element(&g, 0, 0, 1, 0);
    element(&g, 1, 0, 1, 16);
    element(&g, 2, 0, 1, 48);
    CHECK(render_it(&g, 64, 3) == STATUS_SUCCESS);
    finish(&g);
    CHECK_RULE("PATCH-132", patch_count == 3 &&
                                patched[1].args.DmaBufferSubmissionStartOffset == 16 &&
                                patched[1].args.DmaBufferSubmissionEndOffset == 48);
    close_gpu(&g);
}

/* ---- beside other work ---- */

static uint64_t patch_time[64];

static void note_time(struct probe *p, struct probe_call *call)
{
    if (patch_count < 64)
        patch_time[patch_count] = call->time;
    note_patch(p, call);
}

static void until_patched(unsigned count)
{
    while (patch_count < count)
        probe_sleep(10000);
}

/* Two contexts of one device that do not fit beside each other: what runs keeps its memory, the other
 * waits instead of being cut. */
static void contexts_of_a_device_wait(struct probe *p)
{
    D3DKMT_CREATECONTEXT first;
    struct gpu g;

    (void)p;
    three_allocations_of_six(&g);
    first = g.context;
    memset(&g.context, 0, sizeof(g.context));
    g.context.hDevice = g.device;
    g.context.EngineAffinity = 1;
    CHECK(D3DKMTCreateContext(&g.context) == STATUS_SUCCESS);
    for (unsigned i = 0; i < MANY; i++)
        g.context.pAllocationList[i + 1] = first.pAllocationList[i + 1];
    for (int turn = 0; turn < 2; turn++) {
        D3DKMT_CREATECONTEXT other = g.context;

        element(&g, 0, 0, turn ? 3 : 1, 0);
        element(&g, 1, 1, turn ? 4 : 2, 32);
        CHECK(render_it(&g, 64, 2) == STATUS_SUCCESS);
        g.context = first;
        first = other;
        until_patched(1); /* and runs for a millisecond */
    }
    finish(&g);
    CHECK_RULE("RES-002", patch_count == 2 && patch_time[1] >= patch_time[0] + 1000000 &&
                              patched[1].args.DmaBufferSubmissionEndOffset == 64);
    close_gpu(&g);
}

/* What a device has used and does not need any more goes to another one although the device runs. */
static void what_nobody_needs_is_taken_at_once(struct probe *p)
{
    struct gpu g, other;

    (void)p;
    three_allocations_of_six(&g);
    open_gpu(&other);
    allocate(&other, 0, 7 * MIB);
    element(&g, 0, 0, 1, 0);
    element(&g, 1, 1, 2, 0);
    CHECK(render_it(&g, 64, 2) == STATUS_SUCCESS);
    finish(&g);
    element(&g, 0, 0, 4, 0);
    CHECK(render_it(&g, 64, 1) == STATUS_SUCCESS);
    until_patched(2);
    element(&other, 0, 0, 1, 0);
    CHECK(render_it(&other, 64, 1) == STATUS_SUCCESS);
    finish(&other);
    CHECK_RULE("RES-002", patch_count == 3 && patch_time[2] < patch_time[1] + 10000000);
    finish(&g);
    close_gpu(&other);
    close_gpu(&g);
}

/* A device that is lost while its portion waits for memory. */
static void a_waiting_portion_may_end(struct probe *p)
{
    D3DKMT_MARKDEVICEASERROR lost;
    D3DKMT_CREATECONTEXT first;
    struct gpu g;

    (void)p;
    three_allocations_of_six(&g);
    first = g.context;
    element(&g, 0, 0, 1, 0);
    element(&g, 1, 1, 2, 0);
    CHECK(render_it(&g, 64, 2) == STATUS_SUCCESS);
    until_patched(1);
    memset(&g.context, 0, sizeof(g.context));
    g.context.hDevice = g.device;
    g.context.EngineAffinity = 1;
    CHECK(D3DKMTCreateContext(&g.context) == STATUS_SUCCESS);
    for (unsigned i = 0; i < MANY; i++)
        g.context.pAllocationList[i + 1] = first.pAllocationList[i + 1];
    element(&g, 0, 0, 3, 0);
    CHECK(render_it(&g, 64, 1) == STATUS_SUCCESS);
    probe_sleep(20000);
    memset(&lost, 0, sizeof(lost));
    lost.hDevice = g.device;
    lost.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC;
    CHECK(D3DKMTMarkDeviceAsError(&lost) == STATUS_SUCCESS);
    finish(&g);
    CHECK(patch_count == 1);
    close_gpu(&g);
}

/* ---- power goes between two portions ---- */

static struct gpu sleeper;

static void cut_and_under_way(struct probe *p)
{
    (void)p;
    three_allocations_of_six(&sleeper);
    element(&sleeper, 0, 0, 1, 0);
    element(&sleeper, 1, 1, 2, 0);
    element(&sleeper, 2, 1, 3, 32); /* beside the first, which stays bound */
    CHECK(render_it(&sleeper, 64, 3) == STATUS_SUCCESS);
    element(&sleeper, 0, 0, 4, 0);
    CHECK(render_it(&sleeper, 64, 1) == STATUS_SUCCESS);
    until_patched(1);
}

static void power_cycle(struct probe *p)
{
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-122", patch_count == 2 && address(0, 1) == address(1, 1) &&
                                THERE(patched[1].list[1]) && THERE(patched[1].list[3]));
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
}

static void to_the_end(struct probe *p)
{
    (void)p;
    finish(&sleeper);
    CHECK_RULE("LIFE-154", patch_count == 3 && THERE(patched[2].list[4]) &&
                               state_of(&sleeper) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    close_gpu(&sleeper);
}

static void test_power_goes_behind_the_last_portion(void **state)
{
    struct probe *p = begin(false, true);
    struct probe_client *client;

    (void)state;
    probe_device_packet_ns = 1000000;
    client = probe_client_run(p, cut_and_under_way);
    CHECK(probe_run(p, power_cycle) == SIM_DONE);
    probe_client_go_on(p, client, to_the_end);
    end(p, client);
    probe_device_packet_ns = 1000;
}

static void slowly(void (*body)(struct probe *p))
{
    struct probe *p = begin(false, false);

    p->before[PROBE_Patch] = note_time;
    probe_device_packet_ns = 1000000;
    end(p, probe_client_run(p, body));
    probe_device_packet_ns = 1000;
}

static void test_contexts_of_a_device_wait(void **state)
{
    (void)state;
    slowly(contexts_of_a_device_wait);
}

static void test_what_nobody_needs_is_taken_at_once(void **state)
{
    (void)state;
    slowly(what_nobody_needs_is_taken_at_once);
}

static void test_a_waiting_portion_may_end(void **state)
{
    (void)state;
    slowly(a_waiting_portion_may_end);
}

/* ---- many at once ---- */

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

/* Where the first element's allocation was when the portion before was patched, by DMA buffer. */
static struct {
    const void *buffer;
    UINT end;
    LONGLONG address;
} last[64];

static bool first_has_moved(const DXGKARG_PATCH *args)
{
    const DXGK_ALLOCATIONLIST *a =
        &args->pAllocationList[args->pPatchLocationList[0].AllocationIndex];
    unsigned i = 0;
    bool moved;

    while (last[i].buffer && last[i].buffer != args->pDmaBuffer)
        i++;
    moved = args->DmaBufferSubmissionStartOffset > 0 &&
            args->DmaBufferSubmissionStartOffset == last[i].end && a->hDeviceSpecificAllocation &&
            a->PhysicalAddress.QuadPart != last[i].address;
    last[i].buffer = args->pDmaBuffer;
    last[i].end = args->DmaBufferSubmissionEndOffset;
    last[i].address = a->PhysicalAddress.QuadPart;
    return moved;
}

static bool keeps_first; /* the first element of a buffer binds for all of it */
static unsigned wrong;   /* elements of a portion whose allocation is not there, or on another */

/* Sizes in MiB go with the handles of the driver's allocations: by element, from the client. */
static void judge_patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];
    UINT end = args->PatchLocationListSubmissionStart + args->PatchLocationListSubmissionLength;

    (void)p;
    if (args->Flags.Paging)
        return;
    wrong += keeps_first && first_has_moved(args);
    for (UINT i = args->PatchLocationListSubmissionStart; i < end; i++) {
        const D3DDDI_PATCHLOCATIONLIST *one = &args->pPatchLocationList[i];
        const DXGK_ALLOCATIONLIST *a = &args->pAllocationList[one->AllocationIndex];

        if (!a->hDeviceSpecificAllocation)
            continue;
        wrong += !THERE(*a) ||
                 (a->SegmentId == 1 &&
                  a->PhysicalAddress.QuadPart + (LONGLONG)one->DriverId * MIB > 16 * MIB);
        wrong += one->SplitOffset < args->DmaBufferSubmissionStartOffset ||
                 one->SplitOffset > args->DmaBufferSubmissionEndOffset;
        for (UINT j = i + 1; j < end; j++) {
            const D3DDDI_PATCHLOCATIONLIST *two = &args->pPatchLocationList[j];
            const DXGK_ALLOCATIONLIST *b = &args->pAllocationList[two->AllocationIndex];

            if (!b->hDeviceSpecificAllocation || one->AllocationIndex == two->AllocationIndex)
                continue;
            wrong += a->SegmentId == b->SegmentId &&
                     a->PhysicalAddress.QuadPart <
                         b->PhysicalAddress.QuadPart + (LONGLONG)two->DriverId * MIB &&
                     b->PhysicalAddress.QuadPart <
                         a->PhysicalAddress.QuadPart + (LONGLONG)one->DriverId * MIB;
        }
    }
    patch_count++;
}

/* Several buffers of several portions each, none of which needs more than there is. */
static void busy_client(struct probe *p)
{
    unsigned sizes[MANY];
    struct gpu g;

    (void)p;
    open_gpu(&g);
    for (unsigned i = 0; i < MANY; i++) {
        sizes[i] = 2 + draw(keeps_first ? 4 : 6); /* beside what must stay, wherever that is */
        allocate(&g, i, (uint64_t)sizes[i] * MIB);
    }
    for (unsigned turn = 0; turn < 12; turn++) {
        unsigned elements = 2 + draw(8);
        UINT split = 0;

        for (unsigned i = 0; i < elements; i++) {
            unsigned slot = keeps_first && i > 0 ? 1 : i % 2, index = draw(MANY + 1);

            if (i > 0 && (slot == 0 || (keeps_first &&
                                        i > 1))) /* both slots are bound anew at each split point */
                split += 16 + 16 * draw(2);
            element(&g, i, slot, index, split);
            g.context.pPatchLocationList[i].DriverId = index ? sizes[index - 1] : 0;
        }
        if (elements % 2 && !keeps_first) { /* the last split point has its second slot, too */
            element(&g, elements, 1, 0, split);
            elements++;
        }
        CHECK(render_it(&g, 1024, elements) == STATUS_SUCCESS);
        if (draw(3) == 0)
            finish(&g);
        if (draw(4) == 0)
            probe_sleep(1000 * draw(2000));
    }
    finish(&g);
    CHECK(state_of(&g) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    close_gpu(&g);
}

static void test_many_clients_share_little_memory(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct probe *p = begin(seed % 4 == 0, seed % 3 == 0);
        struct probe_client *client[3];

        random_state = seed;
        wrong = 0;
        keeps_first = seed % 3 == 0;
        segments_of_allocations = seed % 5 == 4 ? 3 : 1;
        memset(last, 0, sizeof(last));
        p->before[PROBE_Patch] = judge_patch;
        for (unsigned i = 0; i < 2; i++)
            client[i] = probe_client_start(p, busy_client);
        client[2] = probe_client_run(p, busy_client);
        while (!client[0]->done || !client[1]->done)
            probe_client_wait(p, client[client[0]->done ? 1 : 0]);
        CHECK_RULE("PATCH-139", wrong == 0 && patch_count >= 36);
        CHECK_RULE("PATCH-148", wrong == 0);
        if (keeps_first)
            CHECK_RULE("PATCH-122", wrong == 0);
        CHECK(probe_reports(p, VERIFY_ERROR) == 0);
        CHECK(vidmm_validate(port_adapter_ddi(p->adapter[0])->vidmm));
        CHECK(vidsch_validate(port_adapter_ddi(p->adapter[0])->vidsch));
        probe_client_end(p, client[0]);
        probe_client_end(p, client[1]);
        end(p, client[2]);
    }
}

/* Each of the host's memory requests fails once. */
static uint64_t fail_request;
static bool none_failed;

static void cut_short_of_memory(struct probe *p)
{
    struct gpu g;
    NTSTATUS status;

    three_allocations_of_six(&g);
    element(&g, 0, 0, 1, 0);
    element(&g, 1, 1, 2, 0);
    element(&g, 2, 1, 3, 32);
    p->sim->heap.fail_at = p->sim->heap.requests + fail_request;
    status = render_it(&g, 64, 3);
    CHECK(status == STATUS_SUCCESS || status == STATUS_NO_MEMORY);
    finish(&g);
    none_failed = p->sim->heap.requests < p->sim->heap.fail_at;
    p->sim->heap.fail_at = 0;
    if (state_of(&g) == D3DKMT_DEVICEEXECUTION_ACTIVE) {
        CHECK(render_it(&g, 64, 3) == STATUS_SUCCESS);
        finish(&g);
    } else {
        CHECK_RULE("PATCH-124", state_of(&g) == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    }
    close_gpu(&g);
}

static void test_every_request_may_fail(void **state)
{
    (void)state;
    none_failed = false;
    for (fail_request = 1; !none_failed; fail_request++) {
        struct probe *p = begin(false, true);
        struct probe_client *client = probe_client_run(p, cut_short_of_memory);

        CHECK(vidmm_validate(port_adapter_ddi(p->adapter[0])->vidmm));
        CHECK(probe_reports(p, VERIFY_ERROR) == 0);
        end(p, client);
    }
    CHECK(fail_request > 8);
}

static void run(bool split, bool no_dma_patching, void (*body)(struct probe *p))
{
    struct probe *p = begin(split, no_dma_patching);

    end(p, probe_client_run(p, body));
}

static void test_what_is_named_is_paged_in(void **state)
{
    (void)state;
    run(false, false, what_is_named_is_paged_in);
}

static void test_a_buffer_is_cut(void **state)
{
    (void)state;
    run(false, false, a_buffer_is_cut);
}

static void test_a_binding_over_the_cut_stays(void **state)
{
    (void)state;
    run(false, true, a_binding_over_the_cut_stays);
}

static void test_a_leaking_binding_is_refused(void **state)
{
    (void)state;
    run(false, false, a_leaking_binding_is_refused);
}

static void test_what_never_fits_is_told(void **state)
{
    (void)state;
    run(false, false, what_never_fits_is_told);
}

static void test_devices_take_turns(void **state)
{
    (void)state;
    run(false, false, devices_take_turns);
}

static void test_forced_splits_reach_the_driver(void **state)
{
    (void)state;
    run(true, false, forced_splits_reach_the_driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_named_is_paged_in),
        cmocka_unit_test(test_a_buffer_is_cut),
        cmocka_unit_test(test_a_binding_over_the_cut_stays),
        cmocka_unit_test(test_a_leaking_binding_is_refused),
        cmocka_unit_test(test_what_never_fits_is_told),
        cmocka_unit_test(test_devices_take_turns),
        cmocka_unit_test(test_forced_splits_reach_the_driver),
        cmocka_unit_test(test_contexts_of_a_device_wait),
        cmocka_unit_test(test_what_nobody_needs_is_taken_at_once),
        cmocka_unit_test(test_a_waiting_portion_may_end),
        cmocka_unit_test(test_power_goes_behind_the_last_portion),
        cmocka_unit_test(test_many_clients_share_little_memory),
        cmocka_unit_test(test_every_request_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
