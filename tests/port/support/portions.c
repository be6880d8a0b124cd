/* SPDX-License-Identifier: MIT */
/* The driver and the client of the tests of portions; portions.h says how they are used. */
#include "port/support/portions.h"

#include <string.h>

struct portions_record portions;
void (*portions_prepare)(struct probe *p);

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

void portions_note_patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.Paging || portions.patch_count == 64)
        return;
    portions.patched[portions.patch_count].args = *args;
    portions.patched[portions.patch_count].order = call->order;
    for (UINT i = 0; i < args->AllocationListSize && i <= PORTIONS_MANY; i++)
        portions.patched[portions.patch_count].list[i] = args->pAllocationList[i];
    portions.patch_count++;
}

static void note_paging(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (portions.paged_in_count == 64)
        return;
    if (op->Operation == DXGK_OPERATION_FILL)
        portions.paged_in[portions.paged_in_count++] = (unsigned)(op->Fill.FillSize / PORTIONS_MIB);
    if (op->Operation == DXGK_OPERATION_TRANSFER && op->Transfer.Destination.SegmentId == 1)
        portions.paged_in[portions.paged_in_count++] = (unsigned)(op->Transfer.TransferSize /
                                                                  PORTIONS_MIB);
}

static void in_segments(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedReadSegmentSet =
            args->pAllocationInfo[i].SupportedWriteSegmentSet = portions.segments;
        args->pAllocationInfo[i].PreferredSegment.Value = 0;
        args->pAllocationInfo[i].Flags.Value = 0;
    }
}

struct probe *portions_create(UINT version, bool split)
{
    const struct probe_options options = {
        .version = version, .ram_bytes = 256u << 20, .port = {.split_dma_buffers = split}};
    struct probe *p = probe_create(&options);

    probe_make_1x(p);
    p->caps.MaxAllocationListSlotId = 7;
    p->caps.SchedulingCaps.MultiEngineAware = p->caps.SchedulingCaps.PreemptionAware = 1;
    p->before[PROBE_Render] = take_all;
    p->before[PROBE_Patch] = portions_note_patch;
    p->before[PROBE_BuildPagingBuffer] = note_paging;
    p->after[PROBE_CreateAllocation] = in_segments; /* unless portions_prepare says otherwise */
    portions.segments = 1;                          /* the 16 MiB of memory alone */
    portions.patch_count = portions.paged_in_count = 0;
    return p;
}

struct probe *portions_begin(bool split, bool no_dma_patching)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, split);

    p->caps.SchedulingCaps.NoDmaPatching = no_dma_patching;
    if (portions_prepare)
        portions_prepare(p);
    portions_prepare = NULL;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    return p;
}

void portions_end(struct probe *p, struct probe_client *client)
{
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

void portions_run(struct portions_options options, void (*body)(struct probe *p))
{
    struct probe *p = portions_begin(options.split, options.no_dma_patching);

    portions_end(p, probe_client_run(p, body));
}

void portions_open(struct portions_gpu *g)
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

void portions_close(const struct portions_gpu *g)
{
    D3DKMT_DESTROYDEVICE destroy = {g->device};
    D3DKMT_CLOSEADAPTER close = {g->adapter};

    CHECK(D3DKMTDestroyDevice(&destroy) == STATUS_SUCCESS);
    CHECK(D3DKMTCloseAdapter(&close) == STATUS_SUCCESS);
}

void portions_allocate(struct portions_gpu *g, unsigned index, uint64_t bytes)
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

void portions_open_with_four(struct portions_gpu *g)
{
    portions_open(g);
    portions_allocate(g, 0, 6 * PORTIONS_MIB);
    portions_allocate(g, 1, 5 * PORTIONS_MIB);
    portions_allocate(g, 2, 7 * PORTIONS_MIB);
    portions_allocate(g, 3, 1 * PORTIONS_MIB);
}

void portions_element(struct portions_gpu *g, unsigned i, UINT slot, UINT allocation, UINT split)
{
    D3DDDI_PATCHLOCATIONLIST *e = &g->context.pPatchLocationList[i];

    *e = (D3DDDI_PATCHLOCATIONLIST){
        .AllocationIndex = allocation, .SplitOffset = split, .PatchOffset = split};
    e->SlotId = slot & 0xFFFFFFu;
}

NTSTATUS portions_render(const struct portions_gpu *g, UINT bytes, UINT elements)
{
    D3DKMT_RENDER args;

    memset(&args, 0, sizeof(args));
    args.hContext = g->context.hContext;
    args.CommandLength = bytes;
    args.AllocationCount = PORTIONS_MANY + 1;
    args.PatchLocationCount = elements;
    return D3DKMTRender(&args);
}

void portions_finish(const struct portions_gpu *g)
{
    D3DKMT_WAITFORIDLE wait = {g->device};

    CHECK(D3DKMTWaitForIdle(&wait) == STATUS_SUCCESS);
}

D3DKMT_DEVICEEXECUTION_STATE portions_state(const struct portions_gpu *g)
{
    D3DKMT_GETDEVICESTATE state;

    memset(&state, 0, sizeof(state));
    state.hDevice = g->device;
    state.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    CHECK(D3DKMTGetDeviceState(&state) == STATUS_SUCCESS);
    return state.ExecutionState;
}

uint64_t portions_address(unsigned n, unsigned index)
{
    return (uint64_t)portions.patched[n].list[index].PhysicalAddress.QuadPart;
}

bool portions_apart(unsigned n, unsigned a, unsigned b, uint64_t bytes)
{
    return portions_address(n, a) + bytes <= portions_address(n, b) ||
           portions_address(n, b) + bytes <= portions_address(n, a);
}
