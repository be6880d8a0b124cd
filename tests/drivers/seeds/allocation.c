/* SPDX-License-Identifier: MIT */
/* Allocations: where the client wants them, and the tag that it wrote into them. */
#include "seeds.h"

static void describe(const struct seeds_allocation_data *data, DXGK_ALLOCATIONINFO *info)
{
    info->Size = (data->bytes + PAGE_SIZE - 1) & ~(SIZE_T)(PAGE_SIZE - 1);
    info->Alignment = PAGE_SIZE;
    info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = data->segments;
    info->PreferredSegment.SegmentId0 = data->segments & SEEDS_IN_VRAM ? SEEDS_SEGMENT_VRAM
                                                                       : SEEDS_SEGMENT_APERTURE;
    if (data->segments == (SEEDS_IN_VRAM | SEEDS_IN_APERTURE))
        info->PreferredSegment.SegmentId1 = SEEDS_SEGMENT_APERTURE;
    info->AllocationPriority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
#if SEEDS_2_0
    info->FlagsWddm2.Value = 0;
    info->FlagsWddm2.CpuVisible = 1;
    info->FlagsWddm2.AccessedPhysically = 1;
#else
    info->Flags.Value = 0;
    info->Flags.CpuVisible = 1;
#endif
}

static NTSTATUS create_one(DXGK_ALLOCATIONINFO *info)
{
    struct seeds_allocation_data data;
    struct seeds_allocation *allocation;

    if (!info->pPrivateDriverData || info->PrivateDriverDataSize < sizeof(data))
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(&data, info->pPrivateDriverData, sizeof(data));
    if (data.magic != SEEDS_MAGIC || data.bytes == 0 || data.bytes > 0x40000000 ||
        data.segments == 0 || data.segments > (SEEDS_IN_VRAM | SEEDS_IN_APERTURE))
        return STATUS_INVALID_PARAMETER;
    allocation = (struct seeds_allocation *)seeds_allocate(sizeof(*allocation));
    if (!allocation)
        return STATUS_NO_MEMORY;
    allocation->data = data;
    info->hAllocation = allocation;
    describe(&data, info);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsCreateAllocation(IN_CONST_HANDLE hAdapter,
                                     INOUT_PDXGKARG_CREATEALLOCATION pCreateAllocation)
{
    NTSTATUS status = STATUS_SUCCESS;
    UINT made = 0;

    UNREFERENCED_PARAMETER(hAdapter);
    while (made < pCreateAllocation->NumAllocations && NT_SUCCESS(status)) {
        status = create_one(&pCreateAllocation->pAllocationInfo[made]);
        if (NT_SUCCESS(status))
            made++;
    }
    while (!NT_SUCCESS(status) && made > 0) {
        made--;
        seeds_free(pCreateAllocation->pAllocationInfo[made].hAllocation);
        pCreateAllocation->pAllocationInfo[made].hAllocation = NULL;
    }
    return status;
}

NTSTATUS NTAPI SeedsDestroyAllocation(IN_CONST_HANDLE hAdapter,
                                      IN_CONST_PDXGKARG_DESTROYALLOCATION pDestroyAllocation)
{
    UNREFERENCED_PARAMETER(hAdapter);
    for (UINT i = 0; i < pDestroyAllocation->NumAllocations; i++)
        seeds_free(pDestroyAllocation->pAllocationList[i]);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsDescribeAllocation(IN_CONST_HANDLE hAdapter,
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

NTSTATUS NTAPI SeedsGetStandardAllocationDriverData(
    IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_GETSTANDARDALLOCATIONDRIVERDATA pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pArgs);
    return STATUS_NOT_SUPPORTED; /* there is no screen for them */
}

NTSTATUS NTAPI SeedsOpenAllocation(IN_CONST_HANDLE hDevice,
                                   IN_CONST_PDXGKARG_OPENALLOCATION pOpenAllocation)
{
    const struct seeds_context *device = (const struct seeds_context *)hDevice;

    for (UINT i = 0; i < pOpenAllocation->NumAllocations; i++) {
        DXGK_OPENALLOCATIONINFO *info = &pOpenAllocation->pOpenAllocation[i];
        DXGKARGCB_GETHANDLEDATA args;

        RtlZeroMemory(&args, sizeof(args));
        args.hObject = info->hAllocation;
        args.Type = DXGK_HANDLE_ALLOCATION;
        info->hDeviceSpecificAllocation = device->adapter->dxgk.DxgkCbGetHandleData(&args);
        if (!info->hDeviceSpecificAllocation)
            return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsCloseAllocation(IN_CONST_HANDLE hDevice,
                                    IN_CONST_PDXGKARG_CLOSEALLOCATION pCloseAllocation)
{
    UNREFERENCED_PARAMETER(hDevice);
    UNREFERENCED_PARAMETER(pCloseAllocation);
    return STATUS_SUCCESS;
}
