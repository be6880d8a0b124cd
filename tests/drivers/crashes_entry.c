/* SPDX-License-Identifier: MIT */
/* DriverEntry writes through a null pointer, in a static function. */
#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

static volatile ULONG_PTR wild = 0x18;

static __attribute__((noinline, no_sanitize("address", "undefined"))) void write_to(
    volatile LONG *where)
{
    *where = 1;
}

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    write_to((volatile LONG *)wild);
    return STATUS_SUCCESS;
}
