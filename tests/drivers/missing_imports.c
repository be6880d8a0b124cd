/* SPDX-License-Identifier: MIT */
/* Imports routines that no kernel has: two it needs, one it could do without. */
#include <ntddk.h>

NTSTATUS NTAPI KeNoSuchRoutine(void);
NTSTATUS NTAPI ExAnotherMissingRoutine(void);
__attribute__((weak)) NTSTATUS NTAPI MmOptionalRoutine(void);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    if (MmOptionalRoutine)
        MmOptionalRoutine();
    return KeNoSuchRoutine() | ExAnotherMissingRoutine();
}
