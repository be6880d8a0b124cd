/* SPDX-License-Identifier: MIT */
/* DriverEntry writes to pool that it has freed; its bug check callbacks say so, and one of them faults itself. */
#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject,
                                           PUNICODE_STRING RegistryPath);

#define TAG 0x65657246u /* "Free" */

static KBUGCHECK_CALLBACK_RECORD record, other;
static UCHAR component[] = "touches";
static volatile ULONG_PTR wild = 0x20;

static VOID NTAPI last_words(PVOID Buffer, ULONG Length)
{
    UNREFERENCED_PARAMETER(Buffer);
    DbgPrint("last words at level %u, %u bytes\n", (unsigned)KeGetCurrentIrql(), (unsigned)Length);
}

static __attribute__((no_sanitize("address", "undefined"))) VOID NTAPI words_that_fail(PVOID Buffer,
                                                                                       ULONG Length)
{
    UNREFERENCED_PARAMETER(Buffer);
    UNREFERENCED_PARAMETER(Length);
    *(volatile LONG *)wild = 1;
}

static __attribute__((noinline)) void write_to(volatile LONG *where)
{
    *where = 1;
}

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    volatile LONG *block = ExAllocatePoolWithTag(NonPagedPoolNx, 64, TAG);

    UNREFERENCED_PARAMETER(DriverObject);
    UNREFERENCED_PARAMETER(RegistryPath);
    if (!block)
        return STATUS_NO_MEMORY;
    record.State = other.State = BufferEmpty;
    (void)KeRegisterBugCheckCallback(&record, last_words, &record, 8, component);
    (void)KeRegisterBugCheckCallback(&other, words_that_fail, NULL, 0, component);
    ExFreePoolWithTag((PVOID)block, TAG);
    write_to(block);
    return STATUS_SUCCESS;
}
