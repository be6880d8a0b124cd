/* SPDX-License-Identifier: MIT */
/* DriverEntry takes memory and fails. */
#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    (void)ExAllocatePoolWithTag(NonPagedPoolNx, 100, 0x6B61654Cu);
    return STATUS_DEVICE_CONFIGURATION_ERROR;
}
