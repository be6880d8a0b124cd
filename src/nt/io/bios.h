/* SPDX-License-Identifier: MIT */
/*
 * Calls of a VGA adapter's BIOS, as drivers that use them declare them: no public header does.
 * All run at PASSIVE_LEVEL. Addresses are those of real mode, sizes are in bytes.
 */
#ifndef DXGK_NT_BIOS_H
#define DXGK_NT_BIOS_H

#include <ntddk.h>

struct x86_bios_registers;

/* FALSE: no BIOS answered. */
BOOLEAN NTAPI x86BiosCall(ULONG BiosCommand, struct x86_bios_registers *BiosArguments);
/* A buffer of at least *Size bytes; *Size becomes its size. There is one. */
NTSTATUS NTAPI x86BiosAllocateBuffer(ULONG *Size, USHORT *Segment, USHORT *Offset);
NTSTATUS NTAPI x86BiosFreeBuffer(USHORT Segment, USHORT Offset);
NTSTATUS NTAPI x86BiosReadMemory(USHORT Segment, USHORT Offset, PVOID Buffer, ULONG Size);
/* STATUS_ACCESS_DENIED: outside of the buffer. */
NTSTATUS NTAPI x86BiosWriteMemory(USHORT Segment, USHORT Offset, PVOID Buffer, ULONG Size);

#endif
