/* SPDX-License-Identifier: MIT */
/* DriverEntry waits for an event that nobody sets. */
#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

static KEVENT never;

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    KeInitializeEvent(&never, NotificationEvent, FALSE);
    return KeWaitForSingleObject(&never, Executive, KernelMode, FALSE, NULL);
}
