/* SPDX-License-Identifier: MIT */
/* DriverEntry sleeps in the host's kernel: pause(), by its system call. */
#include <ntddk.h>

#define PAUSE 34

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    volatile LONG forever = 1;
    long result;

    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    while (forever)
        __asm__ volatile("syscall" : "=a"(result) : "a"(PAUSE) : "rcx", "r11", "memory");
    return STATUS_SUCCESS;
}
