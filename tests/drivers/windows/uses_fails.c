/* SPDX-License-Identifier: MIT */
/* Imports from a module that cannot be initialised: is never entered. */
#include <ntddk.h>

DRIVER_INITIALIZE DriverEntry;

__declspec(dllimport) LONG NTAPI LibraryOverLibrary(LONG value);

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    DbgPrint("entered: %d\n", LibraryOverLibrary(1));
    return STATUS_NOT_SUPPORTED;
}
