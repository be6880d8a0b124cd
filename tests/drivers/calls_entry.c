/* SPDX-License-Identifier: MIT */
/* DriverEntry never comes back, and calls the host all the time. */
#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    volatile LONG forever = 1;

    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    while (forever)
        (VOID) KeQueryInterruptTime();
    return STATUS_SUCCESS;
}
