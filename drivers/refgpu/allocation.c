/* SPDX-License-Identifier: MIT */
/* Allocations: where a client's request may be placed, and which opens exist. */
#include "driver.h"

static BOOLEAN request_ok(const struct refgpu_allocation_data *data)
{
    if (data->magic != REFGPU_UMD_MAGIC || (data->flags & ~REFGPU_ALLOCATION_FLAGS))
        return FALSE;
    if (!data->bytes || data->bytes > 1ull << 40 ||
        (data->segments & ~(REFGPU_IN_VRAM | REFGPU_IN_APERTURE)))
        return FALSE;
    if ((data->alignment & (data->alignment - 1u)) || data->alignment > 1u << 30)
        return FALSE;
    if ((data->flags & (REFGPU_ALLOCATION_CACHED | REFGPU_ALLOCATION_PERMANENT)) &&
        !(data->flags & REFGPU_ALLOCATION_CPU_VISIBLE))
        return FALSE;
    return !(data->flags & (REFGPU_ALLOCATION_MAP_CPU | REFGPU_ALLOCATION_NOTIFY)) ||
           (data->flags & REFGPU_ALLOCATION_PHYSICAL);
}

ULONG refgpu_pitch(UINT width, UINT pixel)
{
    return (width * pixel + REFGPU_OUT_PITCH_UNIT - 1u) & ~(REFGPU_OUT_PITCH_UNIT - 1u);
}

ULONG refgpu_pixel_bytes(const struct refgpu_allocation_data *data)
{
    return data->flags & REFGPU_ALLOCATION_R5G6B5 ? 2u : 4u;
}

ULONG refgpu_scanned_format(const struct refgpu_allocation_data *data)
{
    return data->flags & REFGPU_ALLOCATION_R5G6B5 ? REFGPU_OUT_FORMAT_R5G6B5
                                                  : REFGPU_OUT_FORMAT_A8R8G8B8;
}

/* What the outputs can scan out lies in VRAM, at its end: a picture is never at address 0, which
 * means none where vertical syncs are reported. */
static BOOLEAN settle_primary(struct refgpu_allocation_data *data)
{
    const ULONG alone = REFGPU_ALLOCATION_CACHED | REFGPU_ALLOCATION_MAP_CPU |
                        REFGPU_ALLOCATION_PERMANENT;

    if (!(data->flags & REFGPU_ALLOCATION_PRIMARY))
        return TRUE;
    if ((data->flags & alone) || !data->width || !data->height ||
        data->width > REFGPU_OUT_MOST_SIDE || data->height > REFGPU_OUT_MOST_SIDE ||
        data->pitch % REFGPU_OUT_PITCH_UNIT ||
        data->pitch < data->width * refgpu_pixel_bytes(data) ||
        data->bytes < (ULONGLONG)data->pitch * data->height)
        return FALSE;
    data->flags |= REFGPU_ALLOCATION_PHYSICAL | REFGPU_ALLOCATION_FROM_END;
    data->segments = data->segments ? data->segments & REFGPU_IN_VRAM : REFGPU_IN_VRAM;
    return data->segments != 0;
}

/* Complete the request: set defaults and round. FALSE: it cannot be satisfied. */
static BOOLEAN settle_request(struct refgpu_allocation_data *data)
{
    if (!request_ok(data) || !settle_primary(data))
        return FALSE;
    if (!data->segments)
        data->segments = REFGPU_IN_VRAM | REFGPU_IN_APERTURE;
    if (data->flags & (REFGPU_ALLOCATION_CACHED | REFGPU_ALLOCATION_MAP_CPU))
        /* VRAM is write-combined, and not an aperture segment */
        data->segments &= ~REFGPU_IN_VRAM;
    if (!data->segments)
        return FALSE;
    if (data->alignment < PAGE_SIZE)
        data->alignment = PAGE_SIZE;
    data->bytes = (data->bytes + PAGE_SIZE - 1u) & ~(ULONGLONG)(PAGE_SIZE - 1u);
    if (!data->priority)
        data->priority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
    return TRUE;
}

static void describe(const struct refgpu_allocation_data *data, DXGK_ALLOCATIONINFO *info)
{
    const BOOLEAN both = data->segments == (REFGPU_IN_VRAM | REFGPU_IN_APERTURE);
    const BOOLEAN system_first = !(data->segments & REFGPU_IN_VRAM) ||
                                 (both && (data->flags & REFGPU_ALLOCATION_PREFER_SYSTEM));

    info->Alignment = data->alignment;
    info->Size = data->bytes;
    info->SupportedReadSegmentSet = data->segments; /* the client's bits are those of the host */
    info->SupportedWriteSegmentSet = data->segments;
    info->PreferredSegment.SegmentId0 = system_first ? REFGPU_SEGMENT_APERTURE : REFGPU_SEGMENT_VRAM;
    if (both)
        info->PreferredSegment.SegmentId1 = system_first ? REFGPU_SEGMENT_VRAM
                                                         : REFGPU_SEGMENT_APERTURE;
    info->AllocationPriority = data->priority;
    info->FlagsWddm2.Value = 0;
    info->FlagsWddm2.CpuVisible = (data->flags & REFGPU_ALLOCATION_CPU_VISIBLE) != 0;
    info->FlagsWddm2.PermanentSysMem = (data->flags & REFGPU_ALLOCATION_PERMANENT) != 0;
    info->FlagsWddm2.Cached = (data->flags & REFGPU_ALLOCATION_CACHED) != 0;
    info->FlagsWddm2.FromEndOfSegment = (data->flags & REFGPU_ALLOCATION_FROM_END) != 0;
    info->FlagsWddm2.MapApertureCpuVisible = (data->flags & REFGPU_ALLOCATION_MAP_CPU) != 0;
    info->FlagsWddm2.AccessedPhysically = (data->flags & REFGPU_ALLOCATION_PHYSICAL) != 0;
    info->FlagsWddm2.ExplicitResidencyNotification = (data->flags & REFGPU_ALLOCATION_NOTIFY) != 0;
}

static NTSTATUS create_one(DXGK_ALLOCATIONINFO *info)
{
    struct refgpu_allocation *allocation;

    if (!info->pPrivateDriverData || info->PrivateDriverDataSize < sizeof allocation->data)
        return STATUS_INVALID_PARAMETER;
    allocation = refgpu_allocate(sizeof *allocation);
    if (!allocation)
        return STATUS_NO_MEMORY;
    RtlCopyMemory(&allocation->data, info->pPrivateDriverData, sizeof allocation->data);
    if (!settle_request(&allocation->data)) {
        refgpu_free(allocation);
        return STATUS_INVALID_PARAMETER;
    }
    describe(&allocation->data, info);
    info->hAllocation = allocation;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuCreateAllocation(IN_CONST_HANDLE hAdapter,
                                      INOUT_PDXGKARG_CREATEALLOCATION pCreateAllocation)
{
    (void)hAdapter;
    for (UINT i = 0; i < pCreateAllocation->NumAllocations; i++) {
        const NTSTATUS status = create_one(&pCreateAllocation->pAllocationInfo[i]);

        if (!NT_SUCCESS(status)) {
            while (i-- > 0) {
                refgpu_free(pCreateAllocation->pAllocationInfo[i].hAllocation);
                pCreateAllocation->pAllocationInfo[i].hAllocation = NULL;
            }
            return status;
        }
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuDestroyAllocation(IN_CONST_HANDLE hAdapter,
                                       IN_CONST_PDXGKARG_DESTROYALLOCATION pDestroyAllocation)
{
    (void)hAdapter;
    for (UINT i = 0; i < pDestroyAllocation->NumAllocations; i++)
        refgpu_free(pDestroyAllocation->pAllocationList[i]);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuDescribeAllocation(IN_CONST_HANDLE hAdapter,
                                        INOUT_PDXGKARG_DESCRIBEALLOCATION pDescribeAllocation)
{
    const struct refgpu_allocation *allocation = pDescribeAllocation->hAllocation;

    (void)hAdapter;
    pDescribeAllocation->Width = allocation->data.width;
    pDescribeAllocation->Height = allocation->data.height;
    pDescribeAllocation->Format = !allocation->data.width ? D3DDDIFMT_UNKNOWN
                                  : allocation->data.flags & REFGPU_ALLOCATION_R5G6B5
                                      ? D3DDDIFMT_R5G6B5
                                      : D3DDDIFMT_A8R8G8B8;
    pDescribeAllocation->MultisampleMethod.NumSamples = 1;
    pDescribeAllocation->MultisampleMethod.NumQualityLevels = 1;
    pDescribeAllocation->RefreshRate.Numerator = 0;
    pDescribeAllocation->RefreshRate.Denominator = 0;
    pDescribeAllocation->PrivateDriverFormatAttribute = 0;
    return STATUS_SUCCESS;
}

/* ---- per-device opens ---- */

NTSTATUS NTAPI RefGpuOpenAllocation(IN_CONST_HANDLE hDevice,
                                    IN_CONST_PDXGKARG_OPENALLOCATION pOpenAllocation)
{
    struct refgpu_adapter *adapter = ((const struct refgpu_device *)hDevice)->adapter;

    for (UINT i = 0; i < pOpenAllocation->NumAllocations; i++) {
        DXGK_OPENALLOCATIONINFO *info = &pOpenAllocation->pOpenAllocation[i];
        DXGKARGCB_GETHANDLEDATA args = {.hObject = info->hAllocation,
                                        .Type = DXGK_HANDLE_ALLOCATION};
        struct refgpu_allocation *allocation = adapter->dxgk.DxgkCbGetHandleData(&args);
        struct refgpu_open *open = allocation ? refgpu_allocate(sizeof *open) : NULL;

        if (!open) {
            while (i-- > 0) {
                refgpu_free(pOpenAllocation->pOpenAllocation[i].hDeviceSpecificAllocation);
                pOpenAllocation->pOpenAllocation[i].hDeviceSpecificAllocation = NULL;
            }
            return allocation ? STATUS_NO_MEMORY : STATUS_INVALID_PARAMETER;
        }
        open->allocation = allocation;
        open->read_only = pOpenAllocation->Flags.ReadOnly != 0;
        info->hDeviceSpecificAllocation = open;
        if (pOpenAllocation->Flags.Create && info->pPrivateDriverData &&
            info->PrivateDriverDataSize >= sizeof allocation->data)
            RtlCopyMemory(info->pPrivateDriverData, &allocation->data, sizeof allocation->data);
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuCloseAllocation(IN_CONST_HANDLE hDevice,
                                     IN_CONST_PDXGKARG_CLOSEALLOCATION pCloseAllocation)
{
    (void)hDevice;
    for (UINT i = 0; i < pCloseAllocation->NumAllocations; i++)
        refgpu_free(pCloseAllocation->pOpenHandleList[i]);
    return STATUS_SUCCESS;
}
