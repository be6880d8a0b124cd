/* SPDX-License-Identifier: MIT */
/* A driver whose author forgot to export DriverEntry. */
#include <ntddk.h>

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath);
DECLSPEC_EXPORT void *NTAPI KeepEntry(void);

__attribute__((used)) NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                                 PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    return STATUS_SUCCESS;
}

DECLSPEC_EXPORT void *NTAPI KeepEntry(void)
{
    return (void *)(ULONG_PTR)&DriverEntry;
}
