/* SPDX-License-Identifier: MIT */
/* Ranges of memory and ports in resource descriptors, also of more than 4 GB (NT-179). */
#include "nt/base/export.h"
#include "nt/ke/enter.h"

#include <ntddk.h>

/* A length that needs more than 32 bits is stored without low bits, which must then be zero. */
static const struct {
    USHORT flag;
    unsigned shift;
} forms[] = {
    {CM_RESOURCE_MEMORY_LARGE_40, 8},
    {CM_RESOURCE_MEMORY_LARGE_48, 16},
    {CM_RESOURCE_MEMORY_LARGE_64, 32},
};

NT_EXPORT ULONGLONG NTAPI RtlCmDecodeMemIoResource(PCM_PARTIAL_RESOURCE_DESCRIPTOR Descriptor,
                                                   PULONGLONG Start)
{
    NT_ENTER();
    if (!Descriptor ||
        (Descriptor->Type != CmResourceTypePort && Descriptor->Type != CmResourceTypeMemory &&
         Descriptor->Type != CmResourceTypeMemoryLarge))
        return 0;
    if (Start)
        *Start = (ULONGLONG)Descriptor->u.Generic.Start.QuadPart;
    if (Descriptor->Type != CmResourceTypeMemoryLarge)
        return Descriptor->u.Generic.Length;
    for (size_t i = 0; i < RTL_NUMBER_OF(forms); i++)
        if (Descriptor->Flags & forms[i].flag)
            return (ULONGLONG)Descriptor->u.Memory40.Length40 << forms[i].shift;
    return 0;
}

static void store(CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor, UCHAR type, USHORT large,
                  ULONG length, ULONGLONG start)
{
    descriptor->Type = type;
    descriptor->Flags = (USHORT)((descriptor->Flags & ~CM_RESOURCE_MEMORY_LARGE) | large);
    descriptor->u.Generic.Start.QuadPart = (LONGLONG)start;
    descriptor->u.Generic.Length = length;
}

NT_EXPORT NTSTATUS NTAPI RtlCmEncodeMemIoResource(PCM_PARTIAL_RESOURCE_DESCRIPTOR Descriptor,
                                                  UCHAR Type, ULONGLONG Length, ULONGLONG Start)
{
    size_t form = 0;
    ULONG stored;

    NT_ENTER();
    if (!Descriptor || (Type != CmResourceTypePort && Type != CmResourceTypeMemory &&
                        Type != CmResourceTypeMemoryLarge))
        return STATUS_INVALID_PARAMETER;
    if (Length <= MAXULONG) {
        store(Descriptor, Type == CmResourceTypePort ? CmResourceTypePort : CmResourceTypeMemory, 0,
              (ULONG)Length, Start);
        return STATUS_SUCCESS;
    }
    if (Type == CmResourceTypePort)
        return STATUS_UNSUCCESSFUL;
    while (Length >> forms[form].shift > MAXULONG)
        form++; /* the last one has room for any */
    stored = (ULONG)(Length >> forms[form].shift);
    if ((ULONGLONG)stored << forms[form].shift != Length)
        return STATUS_UNSUCCESSFUL;
    store(Descriptor, CmResourceTypeMemoryLarge, forms[form].flag, stored, Start);
    return STATUS_SUCCESS;
}
