/* SPDX-License-Identifier: MIT */
/* An image of 1 MiB, of which a good part are addresses to relocate, and two loops to time. */
#include <ntddk.h>

#include "large.h"

#define ADDRESSES 16384
#define BYTES     (896 * 1024)

DRIVER_INITIALIZE DriverEntry;

static char bytes[BYTES] = {1};
static const void *const table[ADDRESSES] = {[0 ... ADDRESSES - 1] = bytes};

static __attribute__((noinline)) KPROCESSOR_MODE nothing(void)
{
    __asm__ volatile("");
    return KernelMode;
}

static void plain(uint64_t count)
{
    while (count-- > 0)
        nothing();
}

static void import(uint64_t count)
{
    while (count-- > 0)
        ExGetPreviousMode();
}

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    struct large_calls *calls = (struct large_calls *)(PVOID)RegistryPath;

    UNREFERENCED_PARAMETER(DriverObject);
    calls->plain = plain;
    calls->import = import;
    calls->table = table;
    return STATUS_SUCCESS;
}
