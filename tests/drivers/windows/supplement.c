/* SPDX-License-Identifier: MIT */
/* A driver that uses what include/wdk/mingw adds to mingw-w64's kernel headers, or has otherwise than they do. The test calls
 * DriverEntry with a report in the place of the registry path. */
#include <ntddk.h>

#include "supplement.h"

DRIVER_INITIALIZE DriverEntry;

#define TAG 0x6C707553 /* Supl */

static VOID NTAPI thread_main(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

static void reference(struct supplement_report *report)
{
    PVOID object;
    HANDLE handle;

    if (!NT_SUCCESS(
            PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, thread_main, NULL)))
        return;
    report->wrong_type = ObReferenceObjectByHandle(handle, 0, *ExEventObjectType, KernelMode,
                                                   &object, NULL);
    report->thread = ObReferenceObjectByHandle(handle, 0, *PsThreadType, KernelMode, &object, NULL);
    if (NT_SUCCESS(report->thread)) {
        KeWaitForSingleObject(object, Executive, KernelMode, FALSE, NULL);
        ObDereferenceObject(object);
    }
    ZwClose(handle);
}

static void access_registers(struct supplement_report *report)
{
    static const ULONG numbers[3] = {11, 22, 33}, others[3] = {44, 55, 66};
    ULONG registers[3] = {11, 22, 33}, values[3] = {44, 55, 66};

    READ_REGISTER_BUFFER_ULONG(registers, (PULONG)report->read, 3);
    report->read_kept = RtlCompareMemory(registers, numbers, sizeof(numbers)) == sizeof(numbers);
    WRITE_REGISTER_BUFFER_ULONG(registers, values, 3);
    KeMemoryBarrier();
    RtlCopyMemory(report->written, registers, sizeof(registers));
    if (RtlCompareMemory(values, others, sizeof(others)) != sizeof(others))
        report->written[0] = 0;
}

static void use_pool(struct supplement_report *report)
{
    PUCHAR block = (PUCHAR)ExAllocatePool2(POOL_FLAG_NON_PAGED, 100, TAG);

    if (!block)
        return;
    report->pool = 1;
    for (ULONG i = 0; i < 100; i++)
        if (block[i] != 0)
            report->pool = 0;
    ExFreePoolWithTag(block, TAG);
}

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    struct supplement_report *report = (struct supplement_report *)(PVOID)RegistryPath;
    EX_SPIN_LOCK lock = 0;
    KIRQL before;

    UNREFERENCED_PARAMETER(DriverObject);
    reference(report);
    access_registers(report);
    use_pool(report);
    before = ExAcquireSpinLockShared(&lock);
    report->shared_level = KeGetCurrentIrql();
    ExReleaseSpinLockShared(&lock, before);
    report->time = KeQueryInterruptTimePrecise(&report->time);
    return STATUS_SUCCESS;
}
