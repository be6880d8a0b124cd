/* SPDX-License-Identifier: MIT */
/* Records of paging operations, and the client's calls; paged.h says how they are used. */
#include "port/support/paged.h"

#include <string.h>

struct paged_record paged;

/* ---- records ---- */

static void note_mdl(struct paged_op *op, const MDL *mdl)
{
    if (!mdl)
        return;
    op->page = MmGetMdlPfnArray(mdl)[0];
    op->mdl_bytes = MmGetMdlByteCount(mdl);
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];
    struct paged_op *op = &paged.op[paged.count];

    (void)p;
    if (paged.count == PAGED_MAX)
        fail_msg("too many paging operations");
    paged.count++;
    *op = (struct paged_op){.args = *args, .order = call->order, .time = call->time};
    switch (args->Operation) {
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        op->entry = args->UpdatePageTable.pPageTableEntries[0];
        break;
    case DXGK_OPERATION_TRANSFER:
        note_mdl(op, args->Transfer.Source.SegmentId ? NULL : args->Transfer.Source.pMdl);
        note_mdl(op, args->Transfer.Destination.SegmentId ? NULL : args->Transfer.Destination.pMdl);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        note_mdl(op, args->MapApertureSegment.pMdl);
        break;
    default:
        break;
    }
}

static void note_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *args = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    *(args->Flags.SystemProcess ? &paged.system_process : &paged.process) = args->hKmdProcess;
}

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext)
        paged.system_context = args->hContext;
}

static void note_allocation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        paged.allocation = info->hAllocation;
        if (paged.segments) {
            info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = paged.segments;
            info->PreferredSegment.Value = paged.preferred;
        }
        if (paged.flags)
            info->FlagsWddm2.Value = paged.flags;
        info->EvictionSegmentSet = paged.eviction;
    }
}

void paged_watch(struct probe *p)
{
    memset(&paged, 0, sizeof(paged));
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    p->after[PROBE_CreateProcess] = note_process;
    p->after[PROBE_CreateContext] = note_context;
    p->after[PROBE_CreateAllocation] = note_allocation;
}

unsigned paged_count(DXGK_BUILDPAGINGBUFFER_OPERATION kind, unsigned from)
{
    unsigned count = 0;

    for (unsigned i = from; i < paged.count; i++)
        count += paged.op[i].args.Operation == kind;
    return count;
}

const struct paged_op *paged_nth(DXGK_BUILDPAGINGBUFFER_OPERATION kind, unsigned from, unsigned n)
{
    for (unsigned i = from; i < paged.count; i++)
        if (paged.op[i].args.Operation == kind && n-- == 0)
            return &paged.op[i];
    return NULL;
}

unsigned paged_where(bool (*is)(const struct paged_op *op), unsigned from)
{
    for (unsigned i = from; i < paged.count; i++)
        if (is(&paged.op[i]))
            return i;
    return paged.count;
}

unsigned paged_moves(HANDLE allocation, DXGK_MEMORY_TRANSFER_DIRECTION direction, unsigned from)
{
    unsigned count = 0;

    for (unsigned i = from; i < paged.count; i++) {
        const DXGKARG_BUILDPAGINGBUFFER *args = &paged.op[i].args;

        count += args->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER &&
                 args->TransferVirtual.hAllocation == allocation &&
                 args->TransferVirtual.TransferDirection == direction;
    }
    return count;
}

/* ---- a client of WDDM 2.x ---- */

NTSTATUS paged_create(const struct probe_gpu *g, uint64_t bytes, D3DKMT_HANDLE *allocation)
{
    D3DKMT_CREATEALLOCATION create;
    D3DDDI_ALLOCATIONINFO2 info;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    create.hDevice = g->device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&create);
    *allocation = info.hAllocation;
    return status;
}

NTSTATUS paged_make_resident(const struct probe_gpu *g, D3DKMT_HANDLE allocation, uint64_t *fence)
{
    D3DDDI_MAKERESIDENT args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = g->queue;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    status = D3DKMTMakeResident(&args);
    *fence = args.PagingFenceValue;
    return status;
}

NTSTATUS paged_evict(const struct probe_gpu *g, D3DKMT_HANDLE allocation)
{
    D3DKMT_EVICT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    return D3DKMTEvict(&args);
}

NTSTATUS paged_wait(const struct probe_gpu *g, uint64_t fence)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;
    const UINT64 value = fence;

    memset(&wait, 0, sizeof(wait));
    wait.hDevice = g->device;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &g->queue_fence;
    wait.FenceValueArray = &value;
    return D3DKMTWaitForSynchronizationObjectFromCpu(&wait);
}

D3DGPU_VIRTUAL_ADDRESS paged_map(const struct probe_gpu *g, D3DKMT_HANDLE allocation, uint64_t base,
                                 uint64_t first_page, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = g->queue;
    args.BaseAddress = base;
    args.hAllocation = allocation;
    args.OffsetInPages = first_page;
    args.SizeInPages = pages;
    args.Protection.Write = 1;
    status = D3DKMTMapGpuVirtualAddress(&args);
    if (status == STATUS_PENDING)
        status = paged_wait(g, args.PagingFenceValue);
    return NT_SUCCESS(status) ? args.VirtualAddress : 0;
}

NTSTATUS paged_unmap(const struct probe_gpu *g, D3DGPU_VIRTUAL_ADDRESS base, uint64_t bytes)
{
    D3DKMT_FREEGPUVIRTUALADDRESS args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = g->adapter;
    args.BaseAddress = base;
    args.Size = bytes;
    return D3DKMTFreeGpuVirtualAddress(&args);
}

void *paged_lock(const struct probe_gpu *g, D3DKMT_HANDLE allocation)
{
    D3DKMT_LOCK2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.hAllocation = allocation;
    return NT_SUCCESS(D3DKMTLock2(&args)) ? args.pData : NULL;
}

NTSTATUS paged_unlock(const struct probe_gpu *g, D3DKMT_HANDLE allocation)
{
    D3DKMT_UNLOCK2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.hAllocation = allocation;
    return D3DKMTUnlock2(&args);
}

D3DKMT_ALLOCATIONRESIDENCYSTATUS paged_residency(const struct probe_gpu *g, D3DKMT_HANDLE allocation)
{
    D3DKMT_QUERYALLOCATIONRESIDENCY args;
    D3DKMT_ALLOCATIONRESIDENCYSTATUS state = (D3DKMT_ALLOCATIONRESIDENCYSTATUS)0;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.phAllocationList = &allocation;
    args.AllocationCount = 1;
    args.pResidencyStatus = &state;
    CHECK(NT_SUCCESS(D3DKMTQueryAllocationResidency(&args)));
    return state;
}
