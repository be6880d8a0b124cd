/* SPDX-License-Identifier: MIT */
/* Devices, contexts, allocations, and the commands that move allocations between video memory and system memory. */
#include "blitter.h"

/* ---- devices and contexts: nothing is kept but the adapter ---- */

NTSTATUS NTAPI BlitterCreateDevice(IN_CONST_HANDLE hAdapter,
                                   INOUT_PDXGKARG_CREATEDEVICE pCreateDevice)
{
    BLITTER_DEVICE *device = (BLITTER_DEVICE *)BlitterAllocate(sizeof(*device));

    if (!device)
        return STATUS_NO_MEMORY;
    device->Adapter = (BLITTER_ADAPTER *)hAdapter;
    pCreateDevice->hDevice = device;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterDestroyDevice(IN_CONST_HANDLE hDevice)
{
    ExFreePoolWithTag((PVOID)hDevice, BLITTER_TAG);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterCreateContext(IN_CONST_HANDLE hDevice,
                                    INOUT_PDXGKARG_CREATECONTEXT pCreateContext)
{
    DXGK_CONTEXTINFO *info = &pCreateContext->ContextInfo;
    BLITTER_DEVICE *context;

    if (pCreateContext->NodeOrdinal != 0)
        return STATUS_INVALID_PARAMETER;
    context = (BLITTER_DEVICE *)BlitterAllocate(sizeof(*context));
    if (!context)
        return STATUS_NO_MEMORY;
    context->Adapter = ((BLITTER_DEVICE *)hDevice)->Adapter;
    pCreateContext->hContext = context;
    info->DmaBufferSize = BLITTER_DMA_BYTES;
    info->DmaBufferSegmentSet = 0; /* system memory, which the engine reads over the bus */
    info->AllocationListSize = 64;
    info->PatchLocationListSize = 2 * BLITTER_DMA_BYTES / BLITTER_COMMAND;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterDestroyContext(IN_CONST_HANDLE hContext)
{
    ExFreePoolWithTag((PVOID)hContext, BLITTER_TAG);
    return STATUS_SUCCESS;
}

/* ---- allocations ---- */

static NTSTATUS CreateOne(DXGK_ALLOCATIONINFO *Info)
{
    struct blitter_allocation_data data;
    BLITTER_ALLOCATION *allocation;

    if (!Info->pPrivateDriverData || Info->PrivateDriverDataSize < sizeof(data))
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(&data, Info->pPrivateDriverData, sizeof(data));
    if (data.magic != BLITTER_MAGIC || data.bytes == 0 || data.bytes > 0x40000000)
        return STATUS_INVALID_PARAMETER;
    allocation = (BLITTER_ALLOCATION *)BlitterAllocate(sizeof(*allocation));
    if (!allocation)
        return STATUS_NO_MEMORY;
    allocation->Bytes = (data.bytes + PAGE_SIZE - 1) & ~(ULONG)(PAGE_SIZE - 1);
    Info->hAllocation = allocation;
    Info->Size = allocation->Bytes;
    Info->Alignment = PAGE_SIZE;
    Info->SupportedReadSegmentSet = 1u << (BLITTER_SEGMENT_VRAM - 1) |
                                    1u << (BLITTER_SEGMENT_APERTURE - 1);
    Info->SupportedWriteSegmentSet = Info->SupportedReadSegmentSet;
    Info->PreferredSegment.SegmentId0 = BLITTER_SEGMENT_VRAM;
    Info->PreferredSegment.SegmentId1 = BLITTER_SEGMENT_APERTURE;
    Info->AllocationPriority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
    Info->FlagsWddm2.Value = 0;
    Info->FlagsWddm2.CpuVisible = 1;
    Info->FlagsWddm2.AccessedPhysically = 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterCreateAllocation(IN_CONST_HANDLE hAdapter,
                                       INOUT_PDXGKARG_CREATEALLOCATION pCreateAllocation)
{
    NTSTATUS status = STATUS_SUCCESS;
    UINT made = 0;

    UNREFERENCED_PARAMETER(hAdapter);
    while (made < pCreateAllocation->NumAllocations && NT_SUCCESS(status)) {
        status = CreateOne(&pCreateAllocation->pAllocationInfo[made]);
        if (NT_SUCCESS(status))
            made++;
    }
    while (!NT_SUCCESS(status) && made > 0) {
        made--;
        ExFreePoolWithTag(pCreateAllocation->pAllocationInfo[made].hAllocation, BLITTER_TAG);
        pCreateAllocation->pAllocationInfo[made].hAllocation = NULL;
    }
    return status;
}

NTSTATUS NTAPI BlitterDestroyAllocation(IN_CONST_HANDLE hAdapter,
                                        IN_CONST_PDXGKARG_DESTROYALLOCATION pDestroyAllocation)
{
    UNREFERENCED_PARAMETER(hAdapter);
    for (UINT i = 0; i < pDestroyAllocation->NumAllocations; i++)
        ExFreePoolWithTag(pDestroyAllocation->pAllocationList[i], BLITTER_TAG);
    return STATUS_SUCCESS;
}

/* Plain bytes: no width, height or format. */
NTSTATUS NTAPI BlitterDescribeAllocation(IN_CONST_HANDLE hAdapter,
                                         INOUT_PDXGKARG_DESCRIBEALLOCATION pDescribeAllocation)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pDescribeAllocation->Width = 0;
    pDescribeAllocation->Height = 0;
    pDescribeAllocation->Format = D3DDDIFMT_UNKNOWN;
    pDescribeAllocation->MultisampleMethod.NumSamples = 1;
    pDescribeAllocation->MultisampleMethod.NumQualityLevels = 1;
    pDescribeAllocation->RefreshRate.Numerator = 0;
    pDescribeAllocation->RefreshRate.Denominator = 0;
    pDescribeAllocation->PrivateDriverFormatAttribute = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterGetStandardAllocationDriverData(
    IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_GETSTANDARDALLOCATIONDRIVERDATA pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pArgs);
    return STATUS_NOT_SUPPORTED; /* there is no screen for them */
}

NTSTATUS NTAPI BlitterOpenAllocation(IN_CONST_HANDLE hDevice,
                                     IN_CONST_PDXGKARG_OPENALLOCATION pOpenAllocation)
{
    BLITTER_ADAPTER *adapter = ((BLITTER_DEVICE *)hDevice)->Adapter;

    for (UINT i = 0; i < pOpenAllocation->NumAllocations; i++) {
        DXGK_OPENALLOCATIONINFO *info = &pOpenAllocation->pOpenAllocation[i];
        DXGKARGCB_GETHANDLEDATA args;

        RtlZeroMemory(&args, sizeof(args));
        args.hObject = info->hAllocation;
        args.Type = DXGK_HANDLE_ALLOCATION;
        info->hDeviceSpecificAllocation = adapter->Dxgk.DxgkCbGetHandleData(&args);
        if (!info->hDeviceSpecificAllocation)
            return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterCloseAllocation(IN_CONST_HANDLE hDevice,
                                      IN_CONST_PDXGKARG_CLOSEALLOCATION pCloseAllocation)
{
    UNREFERENCED_PARAMETER(hDevice);
    UNREFERENCED_PARAMETER(pCloseAllocation);
    return STATUS_SUCCESS;
}

/* ---- paging ---- */

/* The commands of one paging buffer. */
typedef struct _EMITTER {
    struct blitter_command *At;
    ULONG Room; /* commands */
} EMITTER;

static struct blitter_command *Emit(EMITTER *Emitter, ULONG Op, ULONGLONG Dst, ULONG Bytes)
{
    struct blitter_command *command = Emitter->At;

    if (!command || Emitter->Room == 0)
        return NULL;
    Emitter->At++;
    Emitter->Room--;
    RtlZeroMemory(command, sizeof(*command));
    command->op = Op;
    command->dst = Dst;
    command->bytes = Bytes;
    return command;
}

/* Device address of page `Page` of one side of a transfer: in the segment, or a locked page of system memory. */
static ULONGLONG PageAddress(UINT SegmentId, LONGLONG Address, const MDL *Mdl, ULONG Page)
{
    if (SegmentId != 0)
        return (ULONGLONG)Address + ((ULONGLONG)Page << PAGE_SHIFT);
    return BLITTER_BUS | (ULONGLONG)MmGetMdlPfnArray((MDL *)Mdl)[Page] << PAGE_SHIFT;
}

/* A page is one command. MultipassOffset counts the pages for which the buffers before had room. */
static NTSTATUS Transfer(DXGKARG_BUILDPAGINGBUFFER *Args, EMITTER *Emitter)
{
    const ULONGLONG bytes = Args->Transfer.TransferSize;
    const ULONG first = Args->Transfer.TransferOffset >> PAGE_SHIFT;
    const ULONG pages = (ULONG)((bytes + PAGE_SIZE - 1) >> PAGE_SHIFT);

    for (ULONG page = Args->MultipassOffset; page < pages; page++) {
        const ULONGLONG left = bytes - ((ULONGLONG)page << PAGE_SHIFT);
        const UINT from = Args->Transfer.Source.SegmentId;
        const UINT to = Args->Transfer.Destination.SegmentId;
        struct blitter_command *command;

        command = Emit(Emitter, BLITTER_OP_COPY,
                       PageAddress(to, Args->Transfer.Destination.SegmentAddress.QuadPart,
                                   Args->Transfer.Destination.pMdl,
                                   page + (to != 0 ? first : Args->Transfer.MdlOffset)),
                       left < PAGE_SIZE ? (ULONG)left : PAGE_SIZE);
        if (!command) {
            Args->MultipassOffset = page;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        command->src = PageAddress(from, Args->Transfer.Source.SegmentAddress.QuadPart,
                                   Args->Transfer.Source.pMdl,
                                   page + (from != 0 ? first : Args->Transfer.MdlOffset));
    }
    return STATUS_SUCCESS;
}

static NTSTATUS Fill(const DXGKARG_BUILDPAGINGBUFFER *Args, EMITTER *Emitter)
{
    struct blitter_command *command;

    if (Args->Fill.Destination.SegmentId == 0)
        return STATUS_INVALID_PARAMETER;
    command = Emit(Emitter, BLITTER_OP_FILL,
                   (ULONGLONG)Args->Fill.Destination.SegmentAddress.QuadPart,
                   (ULONG)Args->Fill.FillSize);
    if (!command)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    command->pattern = Args->Fill.FillPattern;
    return STATUS_SUCCESS;
}

/* The pages of an MDL become visible in the aperture. MultipassOffset as above. */
static NTSTATUS MapAperture(DXGKARG_BUILDPAGINGBUFFER *Args, EMITTER *Emitter)
{
    for (ULONG page = Args->MultipassOffset; page < Args->MapApertureSegment.NumberOfPages; page++) {
        struct blitter_command *command = Emit(
            Emitter, BLITTER_OP_MAP, Args->MapApertureSegment.OffsetInPages + page, PAGE_SIZE);

        if (!command) {
            Args->MultipassOffset = page;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        command->src = PageAddress(0, 0, Args->MapApertureSegment.pMdl,
                                   Args->MapApertureSegment.MdlOffset + page);
    }
    return STATUS_SUCCESS;
}

/* They become invisible again: a late access goes to a page that belongs to nobody. */
static NTSTATUS UnmapAperture(const DXGKARG_BUILDPAGINGBUFFER *Args, EMITTER *Emitter)
{
    struct blitter_command *command = Emit(
        Emitter, BLITTER_OP_HIDE, Args->UnmapApertureSegment.OffsetInPages,
        (ULONG)(Args->UnmapApertureSegment.NumberOfPages << PAGE_SHIFT));

    if (!command)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    command->src = BLITTER_BUS | (ULONGLONG)Args->UnmapApertureSegment.DummyPage.QuadPart;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterBuildPagingBuffer(IN_CONST_HANDLE hAdapter,
                                        IN_PDXGKARG_BUILDPAGINGBUFFER pBuildPagingBuffer)
{
    EMITTER emitter;
    NTSTATUS status;

    UNREFERENCED_PARAMETER(hAdapter);
    emitter.At = (struct blitter_command *)pBuildPagingBuffer->pDmaBuffer;
    emitter.Room = pBuildPagingBuffer->DmaSize / BLITTER_COMMAND;
    switch (pBuildPagingBuffer->Operation) {
    case DXGK_OPERATION_TRANSFER:
        status = Transfer(pBuildPagingBuffer, &emitter);
        break;
    case DXGK_OPERATION_FILL:
        status = Fill(pBuildPagingBuffer, &emitter);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        status = MapAperture(pBuildPagingBuffer, &emitter);
        break;
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        status = UnmapAperture(pBuildPagingBuffer, &emitter);
        break;
    case DXGK_OPERATION_DISCARD_CONTENT: /* nothing is kept about content, and nothing cached */
    case DXGK_OPERATION_READ_PHYSICAL:
    case DXGK_OPERATION_WRITE_PHYSICAL:
        status = STATUS_SUCCESS;
        break;
    default:
        status = STATUS_NOT_SUPPORTED;
        break;
    }
    pBuildPagingBuffer->pDmaBuffer = emitter.At;
    return status;
}
