/* SPDX-License-Identifier: MIT */
/* A kernel-mode DLL that imports from another one, and does not want to be loaded. */
#include <ntddk.h>

__declspec(dllimport) LONG NTAPI LibraryByName(LONG value);

__declspec(dllexport) LONG NTAPI LibraryOverLibrary(LONG value);
__declspec(dllexport) LONG NTAPI LibraryOverLibrary(LONG value)
{
    return LibraryByName(value);
}

/* Leaves a pool block behind. */
NTSTATUS NTAPI DllInitialize(PUNICODE_STRING RegistryPath);
NTSTATUS NTAPI DllInitialize(PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(RegistryPath);
    DbgPrint("second library: %p\n", ExAllocatePoolWithTag(NonPagedPool, 64, 0x7262694C) != NULL);
    return STATUS_DEVICE_BUSY;
}
