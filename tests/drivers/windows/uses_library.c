/* SPDX-License-Identifier: MIT */
/* Imports from library.c. Called by the host as a driver, it fails if the library was not initialised. */
#include <ntddk.h>

#include "library.h"

DRIVER_INITIALIZE DriverEntry;

__declspec(dllimport) extern LONG LibraryCounter;
__declspec(dllimport) LONG NTAPI LibraryByName(LONG value);
__declspec(dllimport) LONG NTAPI LibraryByOrdinal(LONG value);
__declspec(dllimport) LONG NTAPI LibraryInitialized(void);

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    struct library_report *report = (struct library_report *)(PVOID)RegistryPath;

    if (DriverObject) {
        DbgPrint("library initialized: %d\n", LibraryInitialized());
        return STATUS_NOT_SUPPORTED;
    }
    report->by_name = LibraryByName(100);
    report->by_ordinal = LibraryByOrdinal(21);
    report->counter = LibraryCounter;
    report->initialized = LibraryInitialized();
    return STATUS_SUCCESS;
}
