/* SPDX-License-Identifier: MIT */
/*
 * Calls of a VGA adapter's BIOS through the hardware abstraction layer (NT-184). The machine has no
 * such BIOS: a call finds nobody, as on one that was started by UEFI. What remains is the buffer
 * for its parameters, which lies where real mode would reach it.
 */
#include <string.h>

#include "nt/io/bios.h"
#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"

#define BUFFER_SEGMENT 0x2000u
#define BUFFER_BYTES   0x1000u
#define FIRST_MEGABYTE 0x100000u
#define ROM_START      0xC0000u

struct nt_bios {
    bool allocated;
    uint8_t buffer[BUFFER_BYTES];
};

const struct nt_component nt_bios_component = {
    .slot = offsetof(struct nt, bios),
    .bytes = sizeof(struct nt_bios),
};

NT_EXPORT BOOLEAN NTAPI x86BiosCall(ULONG BiosCommand, struct x86_bios_registers *BiosArguments)
{
    NT_ENTER();
    (void)BiosCommand;
    (void)BiosArguments;
    nt_level(NT_PASSIVE, "NT-184", NT_NO_CODE, __func__);
    return FALSE;
}

NT_EXPORT NTSTATUS NTAPI x86BiosAllocateBuffer(ULONG *Size, USHORT *Segment, USHORT *Offset)
{
    struct nt_bios *bios;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-184", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!Size || !Segment || !Offset)
        return STATUS_INVALID_PARAMETER;
    bios = nt_state()->bios;
    if (bios->allocated || *Size > BUFFER_BYTES)
        return STATUS_INSUFFICIENT_RESOURCES;
    memset(bios->buffer, 0, sizeof(bios->buffer));
    bios->allocated = true;
    *Size = BUFFER_BYTES;
    *Segment = BUFFER_SEGMENT;
    *Offset = 0;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI x86BiosFreeBuffer(USHORT Segment, USHORT Offset)
{
    struct nt_bios *bios;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-184", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    bios = nt_state()->bios;
    if (!bios->allocated || Segment != BUFFER_SEGMENT || Offset != 0)
        return STATUS_INVALID_PARAMETER;
    bios->allocated = false;
    return STATUS_SUCCESS;
}

/* The byte of the buffer at a real-mode address; NULL: it is not in the buffer. */
static uint8_t *in_buffer(uint32_t address)
{
    struct nt_bios *bios = nt_state()->bios;
    uint32_t offset = address - BUFFER_SEGMENT * 16;

    return bios->allocated && offset < BUFFER_BYTES ? &bios->buffer[offset] : NULL;
}

static bool reaches(uint32_t address, ULONG size)
{
    return address < FIRST_MEGABYTE && size <= FIRST_MEGABYTE - address;
}

NT_EXPORT NTSTATUS NTAPI x86BiosReadMemory(USHORT Segment, USHORT Offset, PVOID Buffer, ULONG Size)
{
    uint32_t address = Segment * 16u + Offset;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-184", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!Buffer || !reaches(address, Size))
        return STATUS_INVALID_PARAMETER;
    for (ULONG i = 0; i < Size; i++) {
        const uint8_t *byte = in_buffer(address + i);

        /* Nothing answers where a ROM would be; memory below holds no BIOS data. */
        ((uint8_t *)Buffer)[i] = byte ? *byte : address + i >= ROM_START ? 0xFF : 0;
    }
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI x86BiosWriteMemory(USHORT Segment, USHORT Offset, PVOID Buffer, ULONG Size)
{
    uint32_t address = Segment * 16u + Offset;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-184", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!Buffer || !reaches(address, Size))
        return STATUS_INVALID_PARAMETER;
    if (Size != 0 && (!in_buffer(address) || !in_buffer(address + Size - 1)))
        return STATUS_ACCESS_DENIED;
    if (Size != 0)
        memcpy(in_buffer(address), Buffer, Size);
    return STATUS_SUCCESS;
}
