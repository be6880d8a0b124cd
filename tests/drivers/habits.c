/* SPDX-License-Identifier: MIT */
/*
 * The example driver with habits of published drivers, which Windows accepts: the value Habit of the
 * service key chooses one, and each is a line below (those of compute-only drivers, two). Built for
 * a later interface than it claims, which is a habit, too.
 */
#include <ntddk.h>

#define DXGKDDI_INTERFACE_VERSION DXGKDDI_INTERFACE_VERSION_WDDM2_6
#include "../../examples/blitter/blitter.h"
#include "service_value.h"

static NTSTATUS NTAPI HabitInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                      DRIVER_INITIALIZATION_DATA *Data);

#define DxgkInitialize HabitInitialize
#include "../../examples/blitter/adapter.c"
#undef DxgkInitialize
#include "../../examples/blitter/memory.c"
#include "../../examples/blitter/work.c"

static ULONG habit;

/* ---- what the adapter answers ---- */

static VOID Caps(DXGK_DRIVERCAPS *Caps)
{
    switch (habit) {
    case 1:
        Caps->SupportPerEngineTDR = FALSE;
        break;
    case 2:
        Caps->FlipCaps.FlipOnVSyncMmIo = 0;
        break;
    case 3:
        Caps->InterruptMessageNumber = 9;
        break;
    case 4:
        Caps->MemoryManagementCaps.SectionBackedPrimary = 1;
        break;
    case 20: /* a compute-only driver that grew out of a display driver */
    case 21:
    case 22:
    case 23:
        Caps->MiscCaps.ComputeOnly = 1;
        Caps->WDDMVersion = DXGKDDI_WDDMv2_6;
        Caps->PreemptionCaps.ComputePreemptionGranularity =
            D3DKMDT_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY;
        Caps->SchedulingCaps.LowIrqlPreemptCommand = habit != 21;
        if (habit != 22)
            RtlZeroMemory(&Caps->FlipCaps, sizeof(Caps->FlipCaps));
        if (habit != 22)
            RtlZeroMemory(&Caps->PresentationCaps, sizeof(Caps->PresentationCaps));
        break;
    default:
        break;
    }
}

static VOID Vram(DXGK_SEGMENTDESCRIPTOR4 *Vram)
{
    switch (habit) {
    case 5:
        Vram->Size = 0xCECECECECECECECE;
        break; /* never set: what the pool held */
    case 6:
        Vram->Size += 100;
        break;
    case 7:
        Vram->Flags.CacheCoherent = 1;
        break;
    default:
        break;
    }
}

static NTSTATUS NTAPI HabitQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                            IN_CONST_PDXGKARG_QUERYADAPTERINFO Args)
{
    DXGK_QUERYSEGMENTOUT4 *segments = (DXGK_QUERYSEGMENTOUT4 *)Args->pOutputData;
    NTSTATUS status;

    if (habit == 8 && Args->Type == DXGKQAITYPE_PHYSICALADAPTERCAPS)
        return STATUS_NOT_SUPPORTED;
    if (habit == 9 && Args->Type == DXGKQAITYPE_QUERYSEGMENT4) /* steps by its own sizeof */
        segments->SegmentDescriptorStride = sizeof(DXGK_SEGMENTDESCRIPTOR4);
    status = BlitterQueryAdapterInfo(hAdapter, Args);
    if (NT_SUCCESS(status) && Args->Type == DXGKQAITYPE_DRIVERCAPS)
        Caps((DXGK_DRIVERCAPS *)Args->pOutputData);
    if (NT_SUCCESS(status) && Args->Type == DXGKQAITYPE_QUERYSEGMENT4 &&
        segments->pSegmentDescriptor)
        Vram((DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)segments->pSegmentDescriptor);
    return status;
}

static NTSTATUS NTAPI HabitGetNodeMetadata(IN_CONST_HANDLE hAdapter, UINT Node,
                                           OUT_PDXGKARG_GETNODEMETADATA Metadata)
{
    NTSTATUS status = BlitterGetNodeMetadata(hAdapter, Node, Metadata);

    if (habit == 10)
        Metadata->FriendlyName[0] = L'C';
    return status;
}

/* ---- children ---- */

static NTSTATUS NTAPI HabitQueryChildRelations(IN_CONST_PVOID MiniportDeviceContext,
                                               PDXGK_CHILD_DESCRIPTOR ChildRelations,
                                               ULONG ChildRelationsSize)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(ChildRelationsSize);
    if (habit != 12)
        return STATUS_NOT_IMPLEMENTED;
    ChildRelations->ChildUid = 7; /* writes the terminator */
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI HabitNotifyAcpiEvent(IN_CONST_PVOID MiniportDeviceContext,
                                           IN_DXGK_EVENT_TYPE EventType, IN_ULONG Event,
                                           IN_PVOID Argument, OUT_PULONG AcpiFlags)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(EventType);
    UNREFERENCED_PARAMETER(Event);
    UNREFERENCED_PARAMETER(Argument);
    *AcpiFlags = 0;
    return STATUS_SUCCESS;
}

/* ---- allocations and contexts ---- */

static NTSTATUS NTAPI HabitCreateAllocation(IN_CONST_HANDLE hAdapter,
                                            INOUT_PDXGKARG_CREATEALLOCATION Args)
{
    NTSTATUS status = BlitterCreateAllocation(hAdapter, Args);

    for (UINT i = 0; i < Args->NumAllocations && NT_SUCCESS(status); i++)
        switch (habit) {
        case 13:
            Args->pAllocationInfo[i].FlagsWddm2.AccessedPhysically = 0;
            break;
        case 14:
            Args->pAllocationInfo[i].Alignment = 5000;
            break;
        case 15:
            Args->pAllocationInfo[i].PhysicalAdapterIndex = 1;
            break;
        case 16:
            Args->pAllocationInfo[i].EvictionSegmentSet = 1;
            break;
        default:
            break;
        }
    return status;
}

static NTSTATUS NTAPI HabitDestroyAllocation(IN_CONST_HANDLE hAdapter,
                                             IN_CONST_PDXGKARG_DESTROYALLOCATION Args)
{
    DXGKARG_DESTROYALLOCATION first = *Args;

    if (habit == 17 && first.NumAllocations > 1)
        first.NumAllocations = 1; /* looks at the first element alone */
    return BlitterDestroyAllocation(hAdapter, &first);
}

static NTSTATUS NTAPI HabitCreateContext(IN_CONST_HANDLE hDevice, INOUT_PDXGKARG_CREATECONTEXT Args)
{
    NTSTATUS status = BlitterCreateContext(hDevice, Args);

    if (habit == 18 && Args->Flags.SystemContext)
        Args->ContextInfo.DmaBufferSize = 0;
    return status;
}

/* ---- registration ---- */

static NTSTATUS NTAPI HabitInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                      DRIVER_INITIALIZATION_DATA *Data)
{
    habit = ServiceValue(RegistryPath, L"Habit");
    Data->DxgkDdiQueryAdapterInfo = HabitQueryAdapterInfo;
    Data->DxgkDdiGetNodeMetadata = HabitGetNodeMetadata;
    Data->DxgkDdiCreateAllocation = HabitCreateAllocation;
    Data->DxgkDdiDestroyAllocation = HabitDestroyAllocation;
    Data->DxgkDdiCreateContext = HabitCreateContext;
    if (habit == 11 || habit == 12 || habit >= 20)
        Data->DxgkDdiQueryChildRelations = HabitQueryChildRelations;
    if (habit == 23)
        Data->DxgkDdiNotifyAcpiEvent = HabitNotifyAcpiEvent;
    if (habit >= 20)
        Data->DxgkDdiQueryCurrentFence = NULL;
    return DxgkInitialize(DriverObject, RegistryPath, Data);
}
