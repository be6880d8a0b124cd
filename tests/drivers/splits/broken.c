/* SPDX-License-Identifier: MIT */
/*
 * The test driver "seeds" with one mistake about split points and portions, as the value SplitFault of
 * its service key says.
 */
#include "seeds.h"

#include "service_value.h"

enum split_fault {
    SPLITS_SOUND,
    SPLITS_BEHIND,     /* the last location may be split behind the commands */
    SPLITS_DECREASES,  /* the second command's locations before the first one's */
    SPLITS_LATE,       /* a location is before its SplitOffset */
    SPLITS_FROM_START, /* each portion is executed from the start of the buffer */
    SPLITS_TO_END,     /* each portion is executed with one command more */
    SPLITS_PATCHES_ALL /* Patch writes to the next portion, too */
};

DXGKDDI_RENDER __real_SeedsRender, __wrap_SeedsRender;
DXGKDDI_PATCH __real_SeedsPatch, __wrap_SeedsPatch;
DXGKDDI_SUBMITCOMMAND __real_SeedsSubmitCommand, __wrap_SeedsSubmitCommand;

static ULONG fault; /* enum split_fault */

#undef DriverEntry
NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath);
NTSTATUS NTAPI SeedsDriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath);
NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath);

DECLSPEC_EXPORT NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    fault = ServiceValue(RegistryPath, L"SplitFault");
    return SeedsDriverEntry(DriverObject, RegistryPath);
}

NTSTATUS NTAPI __wrap_SeedsRender(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender)
{
    D3DDDI_PATCHLOCATIONLIST *first = pRender->pPatchLocationListOut, *last;
    const UCHAR *start = (const UCHAR *)pRender->pDmaBuffer;
    const NTSTATUS status = __real_SeedsRender(hContext, pRender);

    if (pRender->pPatchLocationListOut < first + 2)
        return status;
    last = pRender->pPatchLocationListOut - 1;
    if (fault == SPLITS_BEHIND)
        last->SplitOffset = (UINT)((const UCHAR *)pRender->pDmaBuffer - start) + 1;
    if (fault == SPLITS_DECREASES && last->SplitOffset)
        last->SplitOffset = 0;
    if (fault == SPLITS_LATE)
        last->SplitOffset = last->PatchOffset + 4;
    return status;
}

NTSTATUS NTAPI __wrap_SeedsPatch(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch)
{
    const NTSTATUS status = __real_SeedsPatch(hAdapter, pPatch);
    const UINT next = pPatch->PatchLocationListSubmissionStart +
                      pPatch->PatchLocationListSubmissionLength;

    if (fault == SPLITS_PATCHES_ALL && next < pPatch->PatchLocationListSize)
        RtlZeroMemory((UCHAR *)pPatch->pDmaBuffer + pPatch->pPatchLocationList[next].PatchOffset, 8);
    return status;
}

NTSTATUS NTAPI __wrap_SeedsSubmitCommand(IN_CONST_HANDLE hAdapter,
                                         IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand)
{
    DXGKARG_SUBMITCOMMAND own = *pSubmitCommand;

    if (!own.Flags.Paging && fault == SPLITS_FROM_START)
        own.DmaBufferSubmissionStartOffset = 0;
    if (!own.Flags.Paging && fault == SPLITS_TO_END)
        own.DmaBufferSubmissionEndOffset += SEEDS_COMMAND;
    return __real_SeedsSubmitCommand(hAdapter, &own);
}
