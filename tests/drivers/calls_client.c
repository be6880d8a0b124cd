/* SPDX-License-Identifier: MIT */
/* A driver that calls the client interface, which is not for it (KMT-003); DriverEntry returns what it got. */
#include <ntddk.h>
#include <d3dkmthk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    D3DKMT_ENUMADAPTERS2 enumerate = {0, NULL};

    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    return D3DKMTEnumAdapters2(&enumerate);
}
