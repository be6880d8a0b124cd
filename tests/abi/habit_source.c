/* SPDX-License-Identifier: MIT */
/* Habits of published drivers' sources that need something of the headers: compiled with every compiler. */
#include <stdlib.h>
#include <string.h>

#include <initguid.h>
#include <ntddk.h>
#include <ntstrsafe.h>
#include <windef.h>
#include <wingdi.h>
#include <winerror.h>
#include <winddi.h>
#include <ntddvdeo.h>
#include <dispmprt.h>
#include <d3d10umddi.h>
#include <d3d12umddi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sources of Linux's kind, after "#define inline __forceinline". */
static __forceinline ULONG Twice(__in ULONG Value)
{
    return 2 * Value;
}

typedef struct _PRIVATE_ALLOCATION {
    D3D10DDIRESOURCE_TYPE Dimension;
    D3D10DDI_MIPINFO Mip;
    DXGI_SAMPLE_DESC Sample;
    DXGI_DDI_PRIMARY_DESC Primary;
    D3D12DDIARG_BUFFER_UNORDERED_ACCESS_VIEW View;
    POINTFIX Corner;
    RGBQUAD Colour;
    VIDEO_MODE_INFORMATION Mode;
} PRIVATE_ALLOCATION;

C_ASSERT(sizeof(D3D12DDIARG_BUFFER_UNORDERED_ACCESS_VIEW) == 40);
C_ASSERT(sizeof(DXGI_DDI_PRIMARY_DESC) == 44);
C_ASSERT(sizeof(D3D10DDI_MIPINFO) == 24);
C_ASSERT(sizeof(VIDEO_MODE_INFORMATION) == 80 && sizeof(VIDEO_NUM_MODES) == 8);
C_ASSERT(STATUS_INVALID_TOKEN == (NTSTATUS)0xC0000465);
C_ASSERT(E_OUTOFMEMORY < S_OK);

NTSTATUS NTAPI HabitName(__in ULONG Number, __out PUNICODE_STRING Name);
PVOID NTAPI HabitMap(__in PMDL Mdl, __in ULONG Flags);
NTSTATUS NTAPI HabitAllocate(__in PRKPROCESS Process, __out PVOID *Memory);

NTSTATUS NTAPI HabitName(__in ULONG Number, __out PUNICODE_STRING Name)
{
    return RtlUnicodeStringPrintf(Name, L"Monitor%u", Twice(min(Number, max(Number, 3))));
}

PVOID NTAPI HabitMap(__in PMDL Mdl, __in ULONG Flags)
{
    return MmGetSystemAddressForMdlSafe(Mdl, NormalPagePriority | MdlMappingNoExecute | Flags);
}

NTSTATUS NTAPI HabitAllocate(__in PRKPROCESS Process, __out PVOID *Memory)
{
    PVOID first = ExAllocatePoolUninitialized(NonPagedPoolNx, sizeof(PRIVATE_ALLOCATION),
                                              0x62614831);
    PVOID second = ExAllocatePoolZero(NonPagedPoolNx, sizeof(PRIVATE_ALLOCATION), 0x62614832);

    if (first)
        ExFreePoolWithTag(first, 0x62614831);
    *Memory = second;
    return second && Process ? STATUS_SUCCESS : STATUS_INVALID_TOKEN;
}

NTSTATUS NTAPI HabitPower(__in PDEVICE_OBJECT Pdo, __out POHANDLE *Handle, __in PUCHAR Text);

NTSTATUS NTAPI HabitPower(__in PDEVICE_OBJECT Pdo, __out POHANDLE *Handle, __in PUCHAR Text)
{
    static PO_FX_COMPONENT_IDLE_STATE f0;
    PO_FX_DEVICE device;
    char name[8];

    RtlZeroMemory(&device, sizeof(device));
    device.Version = PO_FX_VERSION;
    device.ComponentCount = 1;
    device.Components[0].IdleStateCount = 1;
    device.Components[0].IdleStates = &f0;
    f0.NominalPower = PO_FX_UNKNOWN_POWER;
    if (strcpy_s(name, sizeof(name), "gpu") != 0 || strcat_s(name, sizeof(name), (char *)Text) != 0)
        return STATUS_BUFFER_OVERFLOW;
    return PoFxRegisterDevice(Pdo, &device, Handle);
}

#ifdef __cplusplus
}
#endif
