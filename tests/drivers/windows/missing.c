/* SPDX-License-Identifier: MIT */
/* Imports what nobody offers: routines of the kernel, and of a module that is not there, by name and by ordinal. */
#include <ntddk.h>

DRIVER_INITIALIZE DriverEntry;

__declspec(dllimport) NTSTATUS NTAPI KeNoSuchRoutine(ULONG a, ULONG b, ULONG c, ULONG d, ULONG e);
__declspec(dllimport) NTSTATUS NTAPI ExAnotherMissingRoutine(void);
__declspec(dllimport) NTSTATUS NTAPI HelperByName(void);
__declspec(dllimport) NTSTATUS NTAPI HelperByOrdinal(void);

/* With a registry path: calls one of them twice, another one once, two never. */
NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (RegistryPath) {
        status = KeNoSuchRoutine(1, 2, 3, 4, 5);
        if (KeNoSuchRoutine(1, 2, 3, 4, 5) != status)
            return STATUS_UNSUCCESSFUL;
        if (HelperByOrdinal() != status)
            return STATUS_UNSUCCESSFUL;
    }
    if (DriverObject) {
        status = ExAnotherMissingRoutine();
        status |= HelperByName();
    }
    return status;
}
