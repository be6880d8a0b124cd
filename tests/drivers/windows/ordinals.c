/* SPDX-License-Identifier: MIT */
/* Imports routines of the kernel by ordinal. */
#include <ntddk.h>

DRIVER_INITIALIZE DriverEntry;

__declspec(dllimport) NTSTATUS NTAPI KernelByOrdinal(void);
__declspec(dllimport) NTSTATUS NTAPI HalByOrdinal(void);

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    return KernelByOrdinal() | HalByOrdinal();
}
