/* SPDX-License-Identifier: MIT */
/* A global and functions around it, for tests of the loader: two machines must not share the global. */
#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

static volatile LONG counter;

static __attribute__((noinline)) LONG count_up(void)
{
    return ++counter;
}

/* Called by the test with any pointers: the path receives the count and the address of a static function. */
DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    if (RegistryPath)
        RegistryPath->Buffer = (WCHAR *)(ULONG_PTR)&count_up;
    return count_up();
}
