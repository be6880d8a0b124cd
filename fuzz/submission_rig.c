/* SPDX-License-Identifier: MIT */
/* The adapter, its driver and the objects of its clients; submission_rig.h says how they are used. */
#include "submission_rig.h"

#include "kmt/process.h"
#include "nt/base/current.h"
#include "nt/base/state.h"
#include "nt/ke/deadlock.h"
#include "sim/machine.h"
#include "vidsch/wait_report.h"

#include <stdarg.h>

struct rig rig;
uint64_t fuzz_operations; /* for replay.c */

/* ---- the input ---- */

uint64_t rig_number(unsigned bytes)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < bytes && rig.at < rig.end; i++)
        number |= (uint64_t)*rig.at++ << (8 * i);
    return number;
}

unsigned rig_byte(void)
{
    return (unsigned)rig_number(1);
}

unsigned rig_below(unsigned bound)
{
    return rig_byte() % bound;
}

bool rig_ended(void)
{
    return rig.at == rig.end || rig_stopped();
}

bool rig_stopped(void)
{
    return rig.p->sim->stopped;
}

static void tell_line(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "  %s\n", line);
}

void rig_tell(void)
{
    const struct verify_record *record;

    if (rig.p && !rig_stopped()) {
        rig.p->nt->config.waits = tell_line;
        nt_deadlock_describe();
        vidsch_wait_report();
    }
    for (size_t i = 0; rig.p && (record = verify_record_at(rig.p->log, i)) != NULL; i++)
        fprintf(stderr, "  reported%s: %s: %s\n",
                record->severity >= VERIFY_ERROR ? " as an error" : "", record->rule, record->seen);
}

void rig_trace(const char *format, ...)
{
    static int wanted = -1;
    va_list arguments;

    if (wanted < 0)
        wanted = getenv("FUZZ_TRACE") != NULL;
    if (!wanted)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* ---- the driver ---- */

static bool lies_inside(const DXGKARG_RENDER *args, const D3DDDI_PATCHLOCATIONLIST *in)
{
    return in->AllocationIndex < args->AllocationListSize &&
           args->pAllocationList[in->AllocationIndex].hDeviceSpecificAllocation &&
           in->PatchOffset + 8ull <= args->CommandLength && in->SlotId <= rig.max_slot &&
           in->AllocationOffset < 0x1000;
}

NTSTATUS rig_driver_render(DXGKARG_RENDER *args)
{
    if (args->CommandLength > args->DmaSize)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    memcpy(args->pDmaBuffer, args->pCommand, args->CommandLength);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->CommandLength;
    for (UINT i = 0; i < args->PatchLocationListInSize && i < args->PatchLocationListOutSize; i++) {
        D3DDDI_PATCHLOCATIONLIST in = args->pPatchLocationListIn[i];

        if (!lies_inside(args, &in))
            continue;
        in.SplitOffset = 0; /* where it may be cut, each slot would have to be bound or emptied anew */
        in.Reserved = 0;
        *args->pPatchLocationListOut++ = in;
    }
    return STATUS_SUCCESS;
}

void rig_driver_patch(const DXGKARG_PATCH *args)
{
    const UINT first = args->PatchLocationListSubmissionStart;

    for (UINT i = first; i < first + args->PatchLocationListSubmissionLength; i++) {
        const D3DDDI_PATCHLOCATIONLIST *l = &args->pPatchLocationList[i];
        const uint64_t address =
            (uint64_t)args->pAllocationList[l->AllocationIndex].PhysicalAddress.QuadPart +
            l->AllocationOffset;

        memcpy((uint8_t *)args->pDmaBuffer + l->PatchOffset, &address, sizeof(address));
    }
}

static void render(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->answered)
        return;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)rig_driver_render((DXGKARG_RENDER *)(uintptr_t)call->arg[1]);
}

static void patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        rig_driver_patch(args);
}

static void create_context(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext)
        return;
    args->ContextInfo.DmaBufferSize = rig.buffer_bytes;
    args->ContextInfo.AllocationListSize = rig.list;
    if (args->ContextInfo.PatchLocationListSize)
        args->ContextInfo.PatchLocationListSize = rig.list;
    args->ContextInfo.DmaBufferPrivateDataSize = rig.private_bytes;
}

/* ---- the adapter ---- */

static void choose_shape(struct probe_options *options)
{
    static const enum iommu_mode iommu[] = {IOMMU_OFF, IOMMU_ISOLATION, IOMMU_REMAP, IOMMU_OFF};
    const unsigned a = rig_byte(), b = rig_byte();

    memset(options, 0, sizeof(*options));
    options->ram_bytes = 256u << 20;
    options->seed = 1 + rig_byte();
    options->watchdog_ms = 20000;
    rig.old = a & 1;
    options->version = rig.old ? DXGKDDI_INTERFACE_VERSION_WDDM1_3 : 0;
    options->port.split_dma_buffers = a & 2;
    rig.max_slot = a & 4 ? 3 : 0;
    rig.buffer_bytes = a & 8 ? 0x1000 : 0x10000;
    rig.private_bytes = a & 16 ? 32 : 0;
    rig.list = a & 32 ? 8 : 256;
    options->port.iommu = rig.old ? IOMMU_OFF : iommu[a >> 6];
    options->port.tdr.level = 3;
    options->port.tdr.delay = 2;
    options->port.tdr.ddi_delay = 5;
    options->port.tdr.limit_time = 60;
    options->port.tdr.limit_count = 5;
    options->port.tdr.enable_preemption = b & 1;
    options->port.test_prepatching = b & 2;
}

void rig_begin(const uint8_t *data, size_t size, void (*prepare)(struct probe *p))
{
    struct probe_options options;

    memset(&rig, 0, sizeof(rig));
    rig.at = data;
    rig.end = data + size;
    choose_shape(&options);
    rig.p = probe_create(&options);
    if (rig.old) {
        probe_make_1x(rig.p);
        rig.p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
    }
    rig.p->caps.MaxAllocationListSlotId = rig.max_slot;
    rig.p->caps.SchedulingCaps.MultiEngineAware = 1;
    rig.p->caps.SchedulingCaps.PreemptionAware = 1;
    rig.p->before[PROBE_Render] = render;
    rig.p->before[PROBE_Patch] = patch;
    rig.p->after[PROBE_CreateContext] = create_context;
    if (prepare)
        prepare(rig.p);
    probe_clients_begin(rig.p);
    MUST(NT_SUCCESS(probe_start(rig.p)));
}

/* ---- clients ---- */

static void (*operation)(struct rig_client *c), (*last)(struct rig_client *c);

static void client_main(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters;
    struct rig_client *c = rig.client;

    (void)p;
    while (c->client->nt != nt_process_current())
        c++;
    memset(&adapters, 0, sizeof(adapters));
    if (NT_SUCCESS(D3DKMTEnumAdapters(&adapters)) && adapters.NumAdapters)
        c->adapter = adapters.Adapters[0].hAdapter;
    while (c->adapter && !rig_ended()) {
        rig.operations++;
        fuzz_operations++;
        operation(c);
    }
    last(c);
}

static bool all_done(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < RIG_CLIENTS && rig.client[i].client; i++)
        if (!rig.client[i].client->done)
            return false;
    return true;
}

/* Clients may wait for what never comes, for ever. */
static void kill_all(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < RIG_CLIENTS; i++)
        kmt_process_end(rig.client[i].client->nt, true, NULL);
}

void rig_run(void (*what)(struct rig_client *c), void (*then)(struct rig_client *c))
{
    const uint64_t until = sim_now() + 3600 * PROBE_SECOND;
    struct probe *p = rig.p;
    enum sim_outcome outcome;

    operation = what;
    last = then;
    for (unsigned i = 0; i < RIG_CLIENTS && !rig_stopped(); i++)
        rig.client[i].client = probe_client_start(p, client_main);
    outcome = sim_run(all_done, NULL, until);
    if (outcome == SIM_DEADLOCK) {
        rig.at = rig.end;
        MUST(probe_run(p, kill_all) == SIM_DONE || rig_stopped());
        outcome = sim_run(all_done, NULL, until);
    }
    MUST(outcome == SIM_DONE || outcome == SIM_STOPPED);
    MUST(rig_stopped() || probe_run(p, kill_all) == SIM_DONE || rig_stopped());
    for (unsigned i = 0; i < RIG_CLIENTS && rig.client[i].client; i++)
        probe_client_end(p, rig.client[i].client);
}

void rig_finish(void)
{
    probe_clients_end(rig.p);
    if (!rig_stopped())
        (void)probe_stop(rig.p);
    probe_destroy(rig.p);
    rig.p = NULL;
}

/* ---- objects ---- */

bool rig_open(struct rig_client *c, unsigned device)
{
    D3DKMT_CREATEDEVICE create = {.hAdapter = c->adapter};

    if (c->device[device])
        return true;
    if (!NT_SUCCESS(D3DKMTCreateDevice(&create)))
        return false;
    c->device[device] = create.hDevice;
    return true;
}

void rig_close(struct rig_client *c, unsigned device)
{
    const D3DKMT_DESTROYDEVICE destroy = {.hDevice = c->device[device]};

    if (!c->device[device])
        return;
    (void)D3DKMTDestroyDevice(&destroy);
    c->device[device] = 0;
    for (unsigned i = 0; i < RIG_CONTEXTS; i++)
        if (c->context[i].device == device)
            c->context[i].handle = 0;
    for (unsigned i = 0; i < RIG_ALLOCATIONS; i++)
        if (c->allocation[i].device == device)
            c->allocation[i].handle = 0;
    for (unsigned i = 0; i < RIG_FENCES; i++)
        if (c->fence[i].device == device)
            c->fence[i].handle = 0;
}

static void create_virtual(struct rig_context *made, D3DKMT_HANDLE device, UINT node)
{
    D3DKMT_CREATECONTEXTVIRTUAL create = {.hDevice = device, .NodeOrdinal = node};

    if (NT_SUCCESS(D3DKMTCreateContextVirtual(&create)))
        made->handle = create.hContext;
}

static void create_physical(struct rig_context *made, D3DKMT_HANDLE device, UINT node)
{
    D3DKMT_CREATECONTEXT create = {.hDevice = device, .NodeOrdinal = node, .EngineAffinity = 1};

    if (!NT_SUCCESS(D3DKMTCreateContext(&create)))
        return;
    made->handle = create.hContext;
    made->commands = create.pCommandBuffer;
    made->command_bytes = create.CommandBufferSize;
    made->allocations = create.pAllocationList;
    made->allocation_count = create.AllocationListSize;
    made->patches = create.pPatchLocationList;
    made->patch_count = create.PatchLocationListSize;
}

void rig_create_context(struct rig_client *c, unsigned device, bool virtual, UINT node)
{
    unsigned i = 0;

    while (i < RIG_CONTEXTS && c->context[i].handle)
        i++;
    if (i == RIG_CONTEXTS || !c->device[device])
        return;
    c->context[i] = (struct rig_context){.device = device, .virtual = virtual};
    (virtual ? create_virtual : create_physical)(&c->context[i], c->device[device], node);
}

void rig_destroy_context(struct rig_client *c, struct rig_context *context)
{
    const D3DKMT_DESTROYCONTEXT destroy = {.hContext = context->handle};

    (void)c;
    (void)D3DKMTDestroyContext(&destroy);
    context->handle = 0;
}

void rig_create_allocation(struct rig_client *c, unsigned device, uint64_t bytes)
{
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &bytes,
                                   .PrivateDriverDataSize = sizeof(bytes)};
    D3DKMT_CREATEALLOCATION create = {
        .hDevice = c->device[device], .NumAllocations = 1, .pAllocationInfo2 = &info};
    unsigned i = 0;

    while (i < RIG_ALLOCATIONS && c->allocation[i].handle)
        i++;
    if (i == RIG_ALLOCATIONS || !c->device[device] || !NT_SUCCESS(D3DKMTCreateAllocation2(&create)))
        return;
    c->allocation[i].handle = info.hAllocation;
    c->allocation[i].device = device;
}

void rig_create_fence(struct rig_client *c, unsigned device)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    unsigned i = 0;

    memset(&create, 0, sizeof(create));
    create.hDevice = c->device[device];
    create.Info.Type = rig.old ? D3DDDI_FENCE : D3DDDI_MONITORED_FENCE;
    while (i < RIG_FENCES && c->fence[i].handle)
        i++;
    if (i == RIG_FENCES || !c->device[device] ||
        !NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&create)))
        return;
    c->fence[i].handle = create.hSyncObject;
    c->fence[i].device = device;
}

void rig_take_buffers(struct rig_context *context, const D3DKMT_RENDER *args)
{
    context->commands = args->pNewCommandBuffer;
    context->command_bytes = args->NewCommandBufferSize;
    context->allocations = args->pNewAllocationList;
    context->allocation_count = args->NewAllocationListSize;
    context->patches = args->pNewPatchLocationList;
    context->patch_count = args->NewPatchLocationListSize;
}
