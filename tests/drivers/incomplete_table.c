/* SPDX-License-Identifier: MIT */
/* Registers a table that lacks most entries. */
#include <ntddk.h>
#include <dispmprt.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    DRIVER_INITIALIZATION_DATA data;

    RtlZeroMemory(&data, sizeof data);
    data.Version = DXGKDDI_INTERFACE_VERSION;
    return DxgkInitialize(DriverObject, RegistryPath, &data);
}
