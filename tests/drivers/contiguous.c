/* SPDX-License-Identifier: MIT */
/* Imports what an isolated driver must not (CAPS-065). */
#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    PHYSICAL_ADDRESS highest = {.QuadPart = 0xFFFFFFFF};
    PVOID memory = MmAllocateContiguousMemory(PAGE_SIZE, highest);

    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    if (memory)
        MmFreeContiguousMemory(memory);
    return STATUS_UNSUCCESSFUL;
}
