/* SPDX-License-Identifier: MIT */
/*
 * The miniport: the probe's, with allocations as clients' private data describe them. It writes the number of an operation into
 * the paging buffer and keeps a copy; the GPU reads the number through its page tables when the packet is at its end.
 */
#include "gpu_memory_fuzz.h"

#define COMMAND_BYTES 64u
#define COMMAND_MAGIC 0x5A5A0001u
#define PAGES_MAX     64u /* of a command */

enum { OPS = 8192, PACKETS = 256, CONTEXTS = 64 };

struct command {
    uint32_t magic, number;
};

static struct fuzz_op *ops[OPS]; /* by number modulo OPS */
static uint32_t op_count;

static struct packet {
    bool used;
    UINT node, fence;
    HANDLE context;
    uint64_t va;
    UINT bytes;
    struct fuzz_work work;
} packets[PACKETS];

static struct {
    HANDLE context, device;
    bool rooted;
    D3DGPU_PHYSICAL_ADDRESS root;
    UINT entries;
} contexts[CONTEXTS];

bool fuzz_gpu_root(HANDLE context, D3DGPU_PHYSICAL_ADDRESS *root, UINT *entries)
{
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (contexts[i].context == context && contexts[i].rooted) {
            *root = contexts[i].root;
            *entries = contexts[i].entries;
            return true;
        }
    return false;
}

/* ---- operations ---- */

static void op_free(struct fuzz_op *op)
{
    if (!op)
        return;
    free(op->entries);
    free(op->pages);
    free(op->data);
    free(op->ranges);
    free(op);
}

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);

    MUST(copy);
    if (bytes)
        memcpy(copy, from, bytes);
    return copy;
}

static PFN_NUMBER *mdl_pages(const MDL *mdl, UINT first, UINT count)
{
    return copy_of(MmGetMdlPfnArray(mdl) + first, count * sizeof(PFN_NUMBER));
}

static PFN_NUMBER *adl_pages(const DXGK_ADL *adl, UINT first, UINT count)
{
    PFN_NUMBER *pages = calloc(count ? count : 1, sizeof(*pages));

    MUST(pages);
    for (UINT i = 0; i < count; i++)
        pages[i] = adl->Flags.Contiguous ? adl->BasePageNumber + first + i : adl->Pages[first + i];
    return pages;
}

/* Entries, pages or ranges of the whole operation. */
static UINT parts_of(const DXGKARG_BUILDPAGINGBUFFER *a)
{
    switch (a->Operation) {
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        return a->UpdatePageTable.NumPageTableEntries;
    case DXGK_OPERATION_TRANSFER:
        return (UINT)((a->Transfer.TransferSize + PAGE - 1) / PAGE);
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        return (UINT)a->MapApertureSegment.NumberOfPages;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2:
        return (UINT)a->MapApertureSegment2.NumberOfPages;
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        return (UINT)a->UnmapApertureSegment.NumberOfPages;
    case DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES:
        return a->CopyPageTableEntries.NumRanges;
    default:
        return 1;
    }
}

static void copy_arrays(struct fuzz_op *op)
{
    const DXGKARG_BUILDPAGINGBUFFER *a = &op->args;
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &a->UpdatePageTable;
    const MDL *mdl;

    switch (a->Operation) {
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        op->entries = u->Flags.Repeat
                          ? copy_of(u->pPageTableEntries, sizeof(DXGK_PTE))
                          : copy_of(u->pPageTableEntries + op->first, op->count * sizeof(DXGK_PTE));
        break;
    case DXGK_OPERATION_TRANSFER:
        mdl = a->Transfer.Source.SegmentId ? a->Transfer.Destination.pMdl : a->Transfer.Source.pMdl;
        if (!a->Transfer.Source.SegmentId || !a->Transfer.Destination.SegmentId)
            op->pages = mdl_pages(mdl, a->Transfer.MdlOffset + op->first, op->count);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        op->pages = mdl_pages(a->MapApertureSegment.pMdl,
                              a->MapApertureSegment.MdlOffset + op->first, op->count);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2:
        op->pages = adl_pages(&a->MapApertureSegment2.Adl,
                              a->MapApertureSegment2.AdlOffset + op->first, op->count);
        break;
    case DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES:
        op->ranges = copy_of(a->CopyPageTableEntries.pRanges + op->first,
                             op->count * sizeof(*op->ranges));
        break;
    case DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION:
        op->data = copy_of(a->UpdateContextAllocation.pDriverPrivateData,
                           a->UpdateContextAllocation.DriverPrivateDataSize);
        break;
    default:
        break;
    }
}

static struct fuzz_op *op_of(const DXGKARG_BUILDPAGINGBUFFER *args, UINT first, UINT count)
{
    struct fuzz_op *op = calloc(1, sizeof(*op));

    MUST(op);
    op->args = *args;
    op->first = first;
    op->count = count;
    copy_arrays(op);
    return op;
}

static bool by_cpu(const DXGKARG_BUILDPAGINGBUFFER *args)
{
    return args->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE &&
           args->UpdatePageTable.UpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
}

static void trace_op(const DXGKARG_BUILDPAGINGBUFFER *args)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &args->UpdatePageTable;

    if (args->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
        fuzz_trace("    level %u, 0x%llx, %u from %u, flags 0x%x: valid %d zero %d",
                   u->PageTableLevel, (unsigned long long)u->FirstPteVirtualAddress,
                   u->NumPageTableEntries, u->StartIndex, *(const UINT *)(const void *)&u->Flags,
                   (int)u->pPageTableEntries[0].Valid, (int)u->pPageTableEntries[0].Zero);
    else
        fuzz_trace("    operation %d", (int)args->Operation);
}

/* As many parts as there is room for. */
static NTSTATUS build(DXGKARG_BUILDPAGINGBUFFER *args)
{
    const UINT parts = parts_of(args);
    UINT done = parts > 1 ? args->MultipassOffset : 0;

    trace_op(args);
    if (by_cpu(args)) {
        struct fuzz_op *op = op_of(args, 0, parts);

        fuzz_gpu_execute(op, NULL);
        op_free(op);
        return STATUS_SUCCESS;
    }
    MUST(args->pDmaBuffer || args->Operation == DXGK_OPERATION_NOTIFY_RESIDENCY ||
         args->Operation == DXGK_OPERATION_DISCARD_CONTENT);
    while (done < parts) {
        const UINT count = parts - done < PAGES_MAX ? parts - done : PAGES_MAX;
        const struct command command = {COMMAND_MAGIC, op_count};

        if (!args->pDmaBuffer)
            break;
        if (args->DmaSize < COMMAND_BYTES) {
            args->MultipassOffset = done;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        op_free(ops[op_count % OPS]);
        ops[op_count++ % OPS] = op_of(args, done, count);
        memset(args->pDmaBuffer, 0, COMMAND_BYTES);
        memcpy(args->pDmaBuffer, &command, sizeof(command));
        args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + COMMAND_BYTES;
        args->DmaSize -= COMMAND_BYTES;
        done += count;
    }
    return STATUS_SUCCESS;
}

static void build_paging_buffer(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)build((DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1]);
}

/* ---- packets ---- */

static bool hang_client, hang_paging;  /* the next packet never ends */
static bool hung[PROBE_WORKING_NODES]; /* nor does any after it */

void fuzz_driver_hang(bool paging)
{
    *(paging ? &hang_paging : &hang_client) = true;
}

void fuzz_driver_calm(void)
{
    hang_client = hang_paging = false;
}

bool fuzz_driver_idle(void)
{
    for (unsigned i = 0; i < PACKETS; i++)
        if (packets[i].used)
            return false;
    return true;
}

static bool hangs(const DXGKARG_SUBMITCOMMANDVIRTUAL *args)
{
    const bool client = args->DmaBufferPrivateDataSize >= sizeof(struct fuzz_work) &&
                        ((const struct fuzz_work *)args->pDmaBufferPrivateData)->magic ==
                            COMMAND_MAGIC;
    bool *hang = client ? &hang_client : &hang_paging;

    hung[args->NodeOrdinal] |= *hang;
    *hang = false;
    return hung[args->NodeOrdinal];
}

static void submit(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];
    unsigned i = 0;

    if (!p->state[0].registers) { /* the device is gone */
        call->answered = true;
        call->result = STATUS_SUCCESS;
        return;
    }
    while (i < PACKETS && packets[i].used)
        i++;
    MUST(i < PACKETS);
    packets[i] = (struct packet){.used = true,
                                 .node = args->NodeOrdinal,
                                 .fence = args->SubmissionFenceId,
                                 .context = args->hContext,
                                 .va = args->DmaBufferVirtualAddress,
                                 .bytes = args->DmaBufferSize};
    if (args->DmaBufferPrivateDataSize >= sizeof(struct fuzz_work))
        memcpy(&packets[i].work, args->pDmaBufferPrivateData, sizeof(struct fuzz_work));
    fuzz_trace("  packet %u of node %u, context %p%s", args->SubmissionFenceId, args->NodeOrdinal,
               args->hContext, hangs(args) ? ", hangs" : "");
    if (hung[args->NodeOrdinal]) {
        p->state[0].submitted[args->NodeOrdinal] = args->SubmissionFenceId;
        call->answered = true;
        call->result = STATUS_SUCCESS;
    }
}

static void notice_removal(struct probe *p, struct probe_call *call)
{
    (void)call;
    memset(packets, 0, sizeof(packets));
    p->state[0].registers = NULL; /* nothing is there any more */
}

static void carry_out(const struct packet *packet)
{
    if (packet->work.magic == COMMAND_MAGIC) {
        fuzz_gpu_work(&packet->work, packet->context);
        return;
    }
    for (UINT at = 0; at + COMMAND_BYTES <= packet->bytes; at += COMMAND_BYTES) {
        struct command command;

        fuzz_gpu_fetch(packet->context, packet->va + at, &command, sizeof(command));
        MUST(command.magic == COMMAND_MAGIC && op_count - command.number <= OPS &&
             ops[command.number % OPS]);
        fuzz_gpu_execute(ops[command.number % OPS], packet->context);
    }
}

static void packet_done(unsigned device, unsigned node, uint32_t fence)
{
    (void)device;
    for (unsigned i = 0; i < PACKETS; i++)
        if (packets[i].used && packets[i].node == node && packets[i].fence == fence) {
            const struct packet packet = packets[i];

            packets[i].used = false;
            fuzz_trace("  packet %u of node %u is done", fence, node);
            carry_out(&packet);
        }
}

/* What was not carried out never will be. */
static void forget_packets(unsigned node)
{
    for (unsigned i = 0; i < PACKETS; i++)
        if (node == UINT32_MAX || packets[i].node == node)
            packets[i].used = false;
}

static void reset_engine(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RESETENGINE *args = (const DXGKARG_RESETENGINE *)(uintptr_t)call->arg[1];

    (void)p;
    fuzz_trace("  engine %u is reset", args->NodeOrdinal);
    hung[args->NodeOrdinal] = false;
    forget_packets(args->NodeOrdinal);
}

static void reset_all(struct probe *p, struct probe_call *call)
{
    (void)call;
    fuzz_trace("  the adapter is reset");
    memset(hung, 0, sizeof(hung));
    forget_packets(UINT32_MAX);
    if (!p->state[0].registers)
        return;
    WRITE_REGISTER_ULONG(p->state[0].registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(p->state[0].registers + PROBE_REG_ENABLE / 4, 1);
    for (unsigned i = 0; i < PROBE_WORKING_NODES; i++) {
        p->state[0].reported[i] = p->state[0].submitted[i] = 0;
        p->state[0].preempting[i] = 0;
    }
}

/* ---- objects ---- */

static void create_context(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];
    unsigned i = 0;

    (void)p;
    while (i < CONTEXTS && contexts[i].context)
        i++;
    MUST(i < CONTEXTS);
    memset(&contexts[i], 0, sizeof(contexts[i]));
    contexts[i].context = args->hContext;
    contexts[i].device = (HANDLE)(uintptr_t)call->arg[0];
    args->ContextInfo.DmaBufferPrivateDataSize = sizeof(struct fuzz_work);
}

/* What the driver has to destroy with a context. */
static struct {
    HANDLE context, allocation;
} owned[PROCESSES * DEVICES * CONTEXT_ALLOCATIONS];

void fuzz_driver_own(HANDLE context, HANDLE allocation)
{
    unsigned i = 0;

    while (owned[i].allocation)
        MUST(++i < sizeof(owned) / sizeof(owned[0]));
    owned[i].context = context;
    owned[i].allocation = allocation;
}

void fuzz_driver_disown(HANDLE allocation)
{
    for (unsigned i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        if (owned[i].allocation == allocation)
            owned[i].allocation = NULL;
}

static void destroy_context(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;

    for (unsigned i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        if (owned[i].allocation && owned[i].context == (HANDLE)(uintptr_t)call->arg[0]) {
            (void)dxgk->DxgkCbDestroyContextAllocation(dxgk->DeviceHandle, owned[i].allocation);
            owned[i].allocation = NULL;
        }
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (contexts[i].context == (HANDLE)(uintptr_t)call->arg[0])
            memset(&contexts[i], 0, sizeof(contexts[i]));
}

static void set_root(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETROOTPAGETABLE *args = (const DXGKARG_SETROOTPAGETABLE *)(uintptr_t)call->arg[1];

    (void)p;
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (contexts[i].context == args->hContext) {
            contexts[i].rooted = true;
            contexts[i].root = args->Address;
            contexts[i].entries = args->NumEntries;
        }
}

/* The handles of the device that is being made, for the callbacks of the driver. */
static HANDLE last_device, last_context;

static void note_device(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEDEVICE *args = (const DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemDevice)
        last_device = args->hDevice;
}

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemContext)
        last_context = args->hContext;
}

/* Of the context that was created last: its handle as the host has it; and as the driver has it. */
void fuzz_driver_last(HANDLE *device, HANDLE *context, HANDLE *own)
{
    *device = last_device;
    *context = last_context;
    *own = NULL;
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (contexts[i].context && (!*own || contexts[i].context > *own))
            *own = contexts[i].context;
}

static void create_allocation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];
        struct fuzz_private data;

        if (info->PrivateDriverDataSize < sizeof(data))
            continue;
        memcpy(&data, info->pPrivateDriverData, sizeof(data));
        info->Size = data.bytes;
        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = data.set;
        info->PreferredSegment.Value = data.preferred;
        info->FlagsWddm2.Value = data.flags;
        info->Alignment = data.set & 4 ? 65536 : 0; /* GPUVA-202 */
        info->AllocationPriority = data.priority;
    }
}

static void escape(struct probe *p, struct probe_call *call)
{
    fuzz_context_inside(p);
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

/* ---- all of it ---- */

void fuzz_driver_begin(struct probe *p)
{
    memset(packets, 0, sizeof(packets));
    memset(owned, 0, sizeof(owned));
    memset(contexts, 0, sizeof(contexts));
    hang_client = hang_paging = false;
    memset(hung, 0, sizeof(hung));
    probe_set_entry(p, PROBE_Escape, true);
    probe_set_entry(p, PROBE_ValidateUpdateAllocationProperty, true);
    probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
    p->caps.SupportSurpriseRemoval = TRUE;
    p->before[PROBE_Escape] = escape;
    p->before[PROBE_BuildPagingBuffer] = build_paging_buffer;
    p->before[PROBE_SubmitCommandVirtual] = submit;
    p->before[PROBE_NotifySurpriseRemoval] = notice_removal;
    p->before[PROBE_ResetEngine] = reset_engine;
    p->before[PROBE_ResetFromTimeout] = reset_all;
    p->before[PROBE_CreateDevice] = note_device;
    p->before[PROBE_CreateContext] = note_context;
    p->after[PROBE_CreateContext] = create_context;
    p->before[PROBE_DestroyContext] = destroy_context;
    p->before[PROBE_SetRootPageTable] = set_root;
    p->after[PROBE_CreateAllocation] = create_allocation;
    probe_device_done = packet_done;
}

void fuzz_driver_end(void)
{
    probe_device_done = NULL;
    for (unsigned i = 0; i < OPS; i++) {
        op_free(ops[i]);
        ops[i] = NULL;
    }
    op_count = 0;
}
