/* SPDX-License-Identifier: MIT */
/*
 * The miniport of the probe. Every entry point is one function of seven integer arguments, which the x64 convention allows:
 * it records the call, runs the hooks and, between them, the default answer.
 */
#include "nt/base/current.h"
#include "port/support/probe.h"
#include "port/support/probe_driver.h"
#include "sim/machine.h"
#include "support/transcript.h"

#include <stdlib.h>
#include <string.h>

#define COOKIE \
    0xC0FFEE01u /* MiniportDeviceContext of the first adapter: the host must not follow it */

/* ---- answers to queries ---- */

static uint64_t segments(struct probe *p, DXGK_QUERYSEGMENTOUT4 *out)
{
    if (!out->pSegmentDescriptor) {
        out->NbSegment = p->segments;
        return STATUS_SUCCESS;
    }
    for (UINT i = 0; i < out->NbSegment && i < p->segments; i++)
        memcpy(out->pSegmentDescriptor + i * out->SegmentDescriptorStride, &p->segment[i],
               sizeof(p->segment[i]));
    out->NbSegment = p->segments;
    out->PagingBufferSegmentId = p->paging_segment;
    out->PagingBufferSize = p->paging_bytes;
    out->PagingBufferPrivateDataSize = p->paging_private_bytes;
    return STATUS_SUCCESS;
}

/* The forms of WDDM 1.x: arrays without a stride. */
static uint64_t segments_1x(struct probe *p, DXGK_QUERYADAPTERINFOTYPE type,
                            DXGK_QUERYSEGMENTOUT *out)
{
    DXGK_SEGMENTDESCRIPTOR3 *third = (DXGK_SEGMENTDESCRIPTOR3 *)(void *)out->pSegmentDescriptor;

    for (UINT i = 0; out->pSegmentDescriptor && i < p->segments; i++) {
        const DXGK_SEGMENTDESCRIPTOR4 *d = &p->segment[i];

        if (type == DXGKQAITYPE_QUERYSEGMENT)
            out->pSegmentDescriptor[i] = (DXGK_SEGMENTDESCRIPTOR){
                d->BaseAddress, d->CpuTranslatedAddress, d->Size, p->banks,
                p->bank_table,  d->CommitLimit,          d->Flags};
        else
            third[i] = (DXGK_SEGMENTDESCRIPTOR3){
                d->Flags,      d->BaseAddress, d->CpuTranslatedAddress,   d->Size, p->banks,
                p->bank_table, d->CommitLimit, d->SystemMemoryEndAddress, 0};
    }
    out->NbSegment = p->segments;
    out->PagingBufferSegmentId = p->paging_segment;
    out->PagingBufferSize = p->paging_bytes;
    out->PagingBufferPrivateDataSize = p->paging_private_bytes;
    return STATUS_SUCCESS;
}

static uint64_t reserved_ranges(struct probe *p, DXGK_HARDWARERESERVEDRANGES *out)
{
    if (out->pPhysicalRanges)
        memcpy(out->pPhysicalRanges, p->reserved, p->reserved_ranges * sizeof(p->reserved[0]));
    out->NumRanges = p->reserved_ranges;
    return STATUS_SUCCESS;
}

static uint64_t give(const DXGKARG_QUERYADAPTERINFO *q, const void *answer, size_t bytes)
{
    memcpy(q->pOutputData, answer, bytes < q->OutputDataSize ? bytes : q->OutputDataSize);
    return STATUS_SUCCESS;
}

static uint64_t history(const struct probe *p, const DXGKARG_QUERYADAPTERINFO *q)
{
    DXGKARG_HISTORYBUFFERPRECISION *out = q->pOutputData;

    for (UINT i = 0; i < q->OutputDataSize / sizeof(*out); i++)
        out[i].PrecisionBits = p->history_bits;
    return STATUS_SUCCESS;
}

static uint64_t query(struct probe *p, struct probe_adapter *a, const DXGKARG_QUERYADAPTERINFO *q)
{
    if ((UINT)q->Type < 64 && p->query_status[q->Type])
        return (uint64_t)(uint32_t)p->query_status[q->Type];
    switch (q->Type) {
    case DXGKQAITYPE_DRIVERCAPS:
        return give(q, &p->caps, sizeof(p->caps));
    case DXGKQAITYPE_QUERYSEGMENT4:
        return segments(p, q->pOutputData);
    case DXGKQAITYPE_QUERYSEGMENT:
    case DXGKQAITYPE_QUERYSEGMENT3:
        return segments_1x(p, q->Type, q->pOutputData);
    case DXGKQAITYPE_SEGMENTMEMORYSTATE:
        return give(q, p->bad_range, sizeof(p->bad_range));
    case DXGKQAITYPE_GPUMMUCAPS:
        return give(q, &p->mmu, sizeof(p->mmu));
    case DXGKQAITYPE_PAGETABLELEVELDESC:
        return give(q, &p->level[((DXGK_QUERYPAGETABLELEVELDESCIN *)q->pInputData)->LevelIndex],
                    sizeof(p->level[0]));
    case DXGKQAITYPE_PHYSICALADAPTERCAPS: {
        DXGK_PHYSICALADAPTERCAPS caps = p->physical;

        caps.DxgkPhysicalAdapterHandle = a->dxgk.DeviceHandle;
        return give(q, &caps, sizeof(caps));
    }
    case DXGKQAITYPE_NUMPOWERCOMPONENTS:
        return give(q, &p->components, sizeof(p->components));
    case DXGKQAITYPE_POWERCOMPONENTINFO:
        return give(q, &p->component[*(UINT *)q->pInputData], sizeof(p->component[0]));
    case DXGKQAITYPE_HISTORYBUFFERPRECISION:
        return history(p, q);
    case DXGKQAITYPE_FRAMEBUFFERSAVESIZE:
        return give(q, &p->save_bytes, sizeof(p->save_bytes));
    case DXGKQAITYPE_HARDWARERESERVEDRANGES:
        return reserved_ranges(p, q->pOutputData);
    case DXGKQAITYPE_WDDMDEVICECAPS:
        return give(q, &p->device_wddm, sizeof(p->device_wddm));
    case DXGKQAITYPE_PHYSICAL_MEMORY_CAPS:
        return give(q, &p->memory, sizeof(p->memory));
    case DXGKQAITYPE_IOMMU_CAPS:
        return give(q, &p->iommu, sizeof(p->iommu));
    case DXGKQAITYPE_DEVICE_TYPE_CAPS:
        return give(q, &p->type, sizeof(p->type));
    default:
        return (uint64_t)(uint32_t)STATUS_NOT_SUPPORTED;
    }
}

/* ---- the adapter's life ---- */

static uint64_t add_device(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = &p->state[p->added];

    memset(a, 0, sizeof(*a));
    a->context = (PVOID)(uintptr_t)(COOKIE + 16 * p->added++);
    a->pdo = (PDEVICE_OBJECT)(uintptr_t)call->arg[0];
    *(PVOID *)(uintptr_t)call->arg[1] = a->context;
    return STATUS_SUCCESS;
}

static NTSTATUS map_registers(struct probe_adapter *a)
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    PVOID mapped;
    NTSTATUS status = a->dxgk.DxgkCbGetDeviceInformation(a->dxgk.DeviceHandle, &a->device);

    if (!NT_SUCCESS(status))
        return status;
    list = &a->device.TranslatedResourceList->List[0].PartialResourceList;
    status = a->dxgk.DxgkCbMapMemory(a->dxgk.DeviceHandle,
                                     list->PartialDescriptors[0].u.Memory.Start, 0x1000, FALSE,
                                     FALSE, MmNonCached, &mapped);
    if (NT_SUCCESS(status))
        a->registers = mapped;
    return status;
}

static uint64_t start_device(struct probe *p, struct probe_call *call)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor;
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);
    PDXGKRNL_INTERFACE interface = (PDXGKRNL_INTERFACE)(uintptr_t)call->arg[2];
    NTSTATUS status;

    a->info_address = (PDXGK_START_INFO)(uintptr_t)call->arg[1];
    a->interface_address = interface;
    a->info = *a->info_address;
    memset(&a->dxgk, 0, sizeof(a->dxgk));
    memcpy(&a->dxgk, interface,
           interface->Size < sizeof(a->dxgk) ? interface->Size : sizeof(a->dxgk));
    status = map_registers(a);
    if (!NT_SUCCESS(status))
        return (uint64_t)(uint32_t)status;
    descriptor = a->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;
    p->segment[0].CpuTranslatedAddress = (descriptor + 1)->u.Memory.Start; /* the second range */
    WRITE_REGISTER_ULONG(a->registers + PROBE_REG_ENABLE / 4, 1);
    *(PULONG)(uintptr_t)call->arg[3] = p->sources;
    *(PULONG)(uintptr_t)call->arg[4] = p->children;
    a->started = true;
    return STATUS_SUCCESS;
}

static uint64_t stop_device(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);

    if (!a->registers)
        return STATUS_SUCCESS;
    WRITE_REGISTER_ULONG(a->registers + PROBE_REG_RESET / 4, 1);
    (void)a->dxgk.DxgkCbUnmapMemory(a->dxgk.DeviceHandle, a->registers);
    a->registers = NULL;
    a->started = false;
    return STATUS_SUCCESS;
}

static uint64_t query_adapter_info(struct probe *p, struct probe_call *call)
{
    return query(p, probe_adapter_of(p, call->arg[0]),
                 (const DXGKARG_QUERYADAPTERINFO *)(uintptr_t)call->arg[1]);
}

static uint64_t get_node_metadata(struct probe *p, struct probe_call *call)
{
    if ((UINT)call->arg[1] >= p->caps.GpuEngineTopology.NbAsymetricProcessingNodes)
        return (uint64_t)(uint32_t)STATUS_INVALID_PARAMETER;
    *(DXGKARG_GETNODEMETADATA *)(uintptr_t)call->arg[2] = p->node[(UINT)call->arg[1]];
    return STATUS_SUCCESS;
}

static uint64_t query_child_relations(struct probe *p, struct probe_call *call)
{
    memcpy((void *)(uintptr_t)call->arg[1], p->child, p->children * sizeof(p->child[0]));
    return STATUS_SUCCESS;
}

static uint64_t query_child_status(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((PDXGK_CHILD_STATUS)(uintptr_t)call->arg[1])->HotPlug.Connected = TRUE;
    return STATUS_SUCCESS;
}

static uint64_t refuse_descriptor(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    return (uint64_t)(uint32_t)STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
}

/* ---- interrupts ---- */

static void report(struct probe_adapter *a, unsigned node)
{
    ULONG completed = READ_REGISTER_ULONG(a->registers + PROBE_REG_COMPLETED(node) / 4);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    if (completed != a->reported[node]) {
        data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
        data.DmaCompleted.SubmissionFenceId = completed;
        data.DmaCompleted.NodeOrdinal = node;
        a->reported[node] = completed;
        a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    }
    if (a->preempting[node] && completed == a->submitted[node]) {
        data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
        data.DmaPreempted.PreemptionFenceId = a->preempting[node];
        data.DmaPreempted.LastCompletedFenceId = completed;
        data.DmaPreempted.NodeOrdinal = node;
        data.DmaPreempted.EngineOrdinal = 0;
        a->preempting[node] = 0;
        a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    }
}

static uint64_t interrupt_routine(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);
    ULONG status;

    if (!a || !a->registers)
        return FALSE;
    status = READ_REGISTER_ULONG(a->registers + PROBE_REG_STATUS / 4);
    if (status == 0 || status == ~0u)
        return FALSE;
    for (unsigned node = 0; node < PROBE_WORKING_NODES; node++)
        if (status >> node & 1 && p->reported_by_test >> node & 1)
            p->report(p, node);
        else if (status >> node & 1)
            report(a, node);
    (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    return TRUE;
}

static uint64_t dpc_routine(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);

    a->dxgk.DxgkCbNotifyDpc(a->dxgk.DeviceHandle);
    return 0;
}

/* ---- objects: handles are numbers ---- */

static uint64_t last_handle;

static uint64_t next_handle(void)
{
    return last_handle += 16;
}

void probe_driver_begin(void)
{
    last_handle = 0x10000;
}

static uint64_t create_process(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1])->hKmdProcess = (HANDLE)(uintptr_t)
        next_handle();
    return STATUS_SUCCESS;
}

static uint64_t create_device(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1])->hDevice = (HANDLE)(uintptr_t)next_handle();
    return STATUS_SUCCESS;
}

static uint64_t create_context(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    args->hContext = (HANDLE)(uintptr_t)next_handle();
    args->ContextInfo.DmaBufferSize = 0x10000;
    args->ContextInfo.AllocationListSize = 256;
    if (args->Flags.VirtualAddressing && !args->Flags.SystemContext) {
        args->ContextInfo.DmaBufferSegmentSet = 2; /* the aperture: PATCH-161 */
        args->ContextInfo.Caps.NoPatchingRequired = 1;
    } else {
        args->ContextInfo.PatchLocationListSize = 256;
    }
    return STATUS_SUCCESS;
}

/* A client's private data: the number of bytes, or none: one page. */
static uint64_t create_allocation(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->hAllocation = (HANDLE)(uintptr_t)next_handle();
        info->Size = 4096;
        if (info->PrivateDriverDataSize >= sizeof(uint64_t)) {
            uint64_t bytes;

            memcpy(&bytes, info->pPrivateDriverData, sizeof(bytes));
            info->Size = bytes;
        }
        info->Alignment = 4096;
        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 3;
        info->PreferredSegment.SegmentId0 = 1;
        info->PreferredSegment.SegmentId1 = 2;
        info->AllocationPriority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
        info->FlagsWddm2.Value = 0;
        info->FlagsWddm2.CpuVisible = 1;
    }
    return STATUS_SUCCESS;
}

static uint64_t open_allocation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_OPENALLOCATION *args = (const DXGKARG_OPENALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++)
        args->pOpenAllocation[i].hDeviceSpecificAllocation = (HANDLE)(uintptr_t)next_handle();
    return STATUS_SUCCESS;
}

static uint64_t get_root_page_table_size(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETROOTPAGETABLESIZE *args = (DXGKARG_GETROOTPAGETABLESIZE *)(uintptr_t)call->arg[1];

    (void)p;
    return ((uint64_t)args->NumberOfPte * 8 + 4095) & ~4095ull;
}

/* ---- work ---- */

static uint64_t build_paging_buffer(struct probe *p, struct probe_call *call)
{
    DXGKARG_BUILDPAGINGBUFFER *args = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->pDmaBuffer)
        return STATUS_SUCCESS;
    if (args->DmaSize < 64)
        return (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    memset(args->pDmaBuffer, (int)args->Operation, 64); /* a command of whatever kind */
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + 64;
    return STATUS_SUCCESS;
}

static uint64_t render(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->CommandLength > args->DmaSize)
        return (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    memcpy(args->pDmaBuffer, args->pCommand, args->CommandLength);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->CommandLength;
    return STATUS_SUCCESS;
}

static uint64_t push(struct probe_adapter *a, UINT node, UINT fence)
{
    if (node >= PROBE_WORKING_NODES || !a->registers)
        return (uint64_t)(uint32_t)STATUS_INVALID_PARAMETER;
    a->submitted[node] = fence;
    WRITE_REGISTER_ULONG(a->registers + PROBE_REG_SUBMIT(node) / 4, fence);
    return STATUS_SUCCESS;
}

static uint64_t submit_command(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];

    return push(probe_adapter_of(p, call->arg[0]), args->NodeOrdinal, args->SubmissionFenceId);
}

static uint64_t submit_command_virtual(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    return push(probe_adapter_of(p, call->arg[0]), args->NodeOrdinal, args->SubmissionFenceId);
}

static uint64_t preempt_command(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PREEMPTCOMMAND *args = (const DXGKARG_PREEMPTCOMMAND *)(uintptr_t)call->arg[1];
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);

    if (args->NodeOrdinal >= PROBE_WORKING_NODES)
        return (uint64_t)(uint32_t)STATUS_INVALID_PARAMETER;
    a->preempting[args->NodeOrdinal] = args->PreemptionFenceId;
    WRITE_REGISTER_ULONG(a->registers + PROBE_REG_PREEMPT(args->NodeOrdinal) / 4,
                         args->PreemptionFenceId);
    return STATUS_SUCCESS;
}

static uint64_t query_engine_group(struct probe *p, struct probe_call *call)
{
    DXGKARG_QUERYDEPENDENTENGINEGROUP *args = (DXGKARG_QUERYDEPENDENTENGINEGROUP *)(uintptr_t)
                                                  call->arg[1];

    (void)p;
    args->DependentNodeOrdinalMask = 1ull << args->NodeOrdinal;
    return STATUS_SUCCESS;
}

static uint64_t query_engine_status(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_QUERYENGINESTATUS *)(uintptr_t)call->arg[1])->EngineStatus.Responsive = 1;
    return STATUS_SUCCESS;
}

static uint64_t reset_engine(struct probe *p, struct probe_call *call)
{
    DXGKARG_RESETENGINE *args = (DXGKARG_RESETENGINE *)(uintptr_t)call->arg[1];
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);

    if (args->NodeOrdinal >= PROBE_WORKING_NODES)
        return (uint64_t)(uint32_t)STATUS_INVALID_PARAMETER;
    args->LastAbortedFenceId = a->submitted[args->NodeOrdinal];
    a->reported[args->NodeOrdinal] = a->submitted[args->NodeOrdinal];
    return STATUS_SUCCESS;
}

static uint64_t complete(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    return STATUS_SUCCESS;
}

/* ---- dispatch ---- */

typedef uint64_t answer_fn(struct probe *p, struct probe_call *call);

static answer_fn *const answers[PROBE_DDI_COUNT] = {
    [PROBE_AddDevice] = add_device,
    [PROBE_StartDevice] = start_device,
    [PROBE_StopDevice] = stop_device,
    [PROBE_InterruptRoutine] = interrupt_routine,
    [PROBE_DpcRoutine] = dpc_routine,
    [PROBE_QueryChildRelations] = query_child_relations,
    [PROBE_QueryChildStatus] = query_child_status,
    [PROBE_QueryDeviceDescriptor] = refuse_descriptor,
    [PROBE_QueryAdapterInfo] = query_adapter_info,
    [PROBE_GetNodeMetadata] = get_node_metadata,
    [PROBE_CreateProcess] = create_process,
    [PROBE_CreateDevice] = create_device,
    [PROBE_CreateContext] = create_context,
    [PROBE_CreateAllocation] = create_allocation,
    [PROBE_OpenAllocation] = open_allocation,
    [PROBE_GetRootPageTableSize] = get_root_page_table_size,
    [PROBE_BuildPagingBuffer] = build_paging_buffer,
    [PROBE_Render] = render,
    [PROBE_SubmitCommand] = submit_command,
    [PROBE_SubmitCommandVirtual] = submit_command_virtual,
    [PROBE_PreemptCommand] = preempt_command,
    [PROBE_QueryDependentEngineGroup] = query_engine_group,
    [PROBE_QueryEngineStatus] = query_engine_status,
    [PROBE_ResetEngine] = reset_engine,
};

static struct probe_call *record(struct probe *p, enum probe_ddi ddi, const char *name,
                                 unsigned args)
{
    struct probe_call *call = calloc(1, sizeof(*call));

    if (p->calls == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 256;
        p->call = realloc(p->call, p->capacity * sizeof(struct probe_call *));
    }
    p->call[p->calls] = call;
    call->ddi = ddi;
    call->name = name;
    call->order = p->calls++;
    call->left = UINT64_MAX;
    call->time = sim_now();
    call->irql = KeGetCurrentIrql();
    call->processor = sim_current->processor;
    call->thread = sim_current->thread;
    call->process = nt_process_current();
    call->args = args;
    return call;
}

static void record_query(struct probe_call *call)
{
    call->query = *(const DXGKARG_QUERYADAPTERINFO *)(uintptr_t)call->arg[1];
    call->query_type = call->query.Type;
    if (call->query.pInputData)
        memcpy(call->query_input, call->query.pInputData,
               call->query.InputDataSize < sizeof(call->query_input) ? call->query.InputDataSize
                                                                     : sizeof(call->query_input));
}

static uint64_t dispatch(enum probe_ddi ddi, const char *name, unsigned args, const uint64_t *arg)
{
    struct probe *p = probe;
    struct probe_call *call = record(p, ddi, name, args);

    memcpy(call->arg, arg, args * sizeof(*arg));
    if (ddi == PROBE_QueryAdapterInfo)
        record_query(call);
    if (p->before[ddi])
        p->before[ddi](p, call);
    if (!call->answered)
        call->result = (answers[ddi] ? answers[ddi] : complete)(p, call);
    if (p->after[ddi])
        p->after[ddi](p, call);
    transcript_ddi(call->name, call->arg, call->args, call->result);
    call->left = p->calls;
    return call->result;
}

/* clang-format off */
#define ENTRY(name, arguments)                                                                                          \
    static uint64_t NTAPI probe_##name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g) \
    {                                                                                                                   \
        const uint64_t arg[7] = {a, b, c, d, e, f, g};                                                                  \
                                                                                                                        \
        return dispatch(PROBE_##name, #name, arguments, arg);                                                           \
    }
PROBE_DDIS(ENTRY)

static const struct {
    uint64_t(NTAPI *function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    size_t offset;
} entries[PROBE_DDI_COUNT] = {
#define SLOT(name, arguments) {probe_##name, offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdi##name)},
    PROBE_DDIS(SLOT)
};
/* clang-format on */

void probe_set_entry(struct probe *p, enum probe_ddi ddi, bool present)
{
    const void *none = NULL;

    memcpy((char *)&p->table + entries[ddi].offset,
           present ? (const void *)&entries[ddi].function : (const void *)&none, sizeof(void *));
}

NTSTATUS NTAPI probe_driver_entry(PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    if (probe->driver_entry)
        return probe->driver_entry(probe, object, path);
    return DxgkInitialize(object, path, &probe->table);
}
