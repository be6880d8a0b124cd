/* SPDX-License-Identifier: MIT */
/* A kernel-mode DLL: what drivers may import from beside the kernel, by name and by ordinal. */
#include <ntddk.h>

#include "library.h"

static PVOID memory;

__declspec(dllexport) LONG LibraryCounter = 5;

__declspec(dllexport) LONG NTAPI LibraryByName(LONG value)
{
    return value + LibraryCounter++;
}

LONG NTAPI LibraryByOrdinal(LONG value);
LONG NTAPI LibraryByOrdinal(LONG value)
{
    return value * 2;
}

/* Was DllInitialize called, and with which name of a service at the end of the path? */
__declspec(dllexport) LONG NTAPI LibraryInitialized(void);
__declspec(dllexport) LONG NTAPI LibraryInitialized(void)
{
    return memory != NULL;
}

NTSTATUS NTAPI DllInitialize(PUNICODE_STRING RegistryPath);
NTSTATUS NTAPI DllInitialize(PUNICODE_STRING RegistryPath)
{
    static const WCHAR name[] = L"ibrary"; /* the file is written in either case */
    const USHORT bytes = sizeof(name) - sizeof(WCHAR);

    if (memory || RegistryPath->Length < bytes ||
        RtlCompareMemory((PUCHAR)RegistryPath->Buffer + RegistryPath->Length - bytes, name,
                         bytes) != bytes)
        return STATUS_UNSUCCESSFUL;
    memory = ExAllocatePoolWithTag(NonPagedPool, 64, 0x7262694C);
    return memory ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

NTSTATUS NTAPI DllUnload(void);
NTSTATUS NTAPI DllUnload(void)
{
    ExFreePoolWithTag(memory, 0x7262694C);
    return STATUS_SUCCESS;
}
