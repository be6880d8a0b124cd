/* SPDX-License-Identifier: MIT */
/*
 * The reference miniport with one mistake in what it writes into DMA buffers, as the value PatchFault
 * of its service key says. The mistake is made at the third location of each buffer: the lower half
 * of the second address of its first command.
 */
#include "driver.h"

#include "service_value.h"

enum patch_fault {
    PATCHES_SOUND,
    PATCHES_OFF_BY_4,
    PATCHES_OFF_BY_64K,
    PATCHES_OTHER,      /* the address of the first element of the list */
    PATCHES_LEFT_OUT,   /* what Render left, which is 0 */
    PATCHES_HALF,       /* the upper half for the lower one */
    PATCHES_BESIDE,     /* 4 bytes before the first location, too */
    PATCHES_BEHIND,     /* 4 bytes behind the commands, too */
    PATCHES_IN_SUBMIT,  /* a byte of a command is written by SubmitCommand */
    PATCHES_PAST_BUFFER /* 4 bytes behind the DMA buffer */
};

NTSTATUS NTAPI __real_RefGpuPatch(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch);
NTSTATUS NTAPI __wrap_RefGpuPatch(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch);
NTSTATUS NTAPI __real_RefGpuRender(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender);
NTSTATUS NTAPI __wrap_RefGpuRender(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender);
NTSTATUS NTAPI __real_RefGpuSubmitCommand(IN_CONST_HANDLE hAdapter,
                                          IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand);
NTSTATUS NTAPI __wrap_RefGpuSubmitCommand(IN_CONST_HANDLE hAdapter,
                                          IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand);
void __real_refgpu_read_settings(PUNICODE_STRING registry_path);
void __wrap_refgpu_read_settings(PUNICODE_STRING registry_path);

#define WRONG 2u /* the location */

static struct {
    ULONG fault; /* enum patch_fault */
    UCHAR *buffer;
    ULONG end;
} patches;

void __wrap_refgpu_read_settings(PUNICODE_STRING registry_path)
{
    __real_refgpu_read_settings(registry_path);
    patches.fault = ServiceValue(registry_path, L"PatchFault");
}

static ULONG word(const UCHAR *at)
{
    ULONG value;

    RtlCopyMemory(&value, at, sizeof value);
    return value;
}

static void put(UCHAR *at, ULONG value)
{
    RtlCopyMemory(at, &value, sizeof value);
}

NTSTATUS NTAPI __wrap_RefGpuRender(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender)
{
    UCHAR *buffer = pRender->pDmaBuffer;
    const D3DDDI_PATCHLOCATIONLIST *list = pRender->pPatchLocationListOut;
    NTSTATUS status = __real_RefGpuRender(hContext, pRender);

    if (patches.fault == PATCHES_LEFT_OUT && pRender->pPatchLocationListOut > list + WRONG)
        put(buffer + list[WRONG].PatchOffset, 0);
    return status;
}

/* Wrong at one location, whose address Patch has just written. */
static void spoil(const DXGKARG_PATCH *args, UCHAR *at, ULONG before)
{
    const DXGK_ALLOCATIONLIST *first = &args->pAllocationList[0];
    UCHAR *buffer = args->pDmaBuffer;

    switch (patches.fault) {
    case PATCHES_OFF_BY_4:
        put(at, word(at) + 4);
        break;
    case PATCHES_OFF_BY_64K:
        put(at, word(at) + 0x10000);
        break;
    case PATCHES_OTHER:
        put(at, (ULONG)first->PhysicalAddress.QuadPart +
                    args->pPatchLocationList[WRONG].AllocationOffset);
        break;
    case PATCHES_LEFT_OUT:
        put(at, before);
        break;
    case PATCHES_HALF:
        put(at, word(at + 4));
        break;
    case PATCHES_BESIDE:
        put(buffer + args->pPatchLocationList[0].PatchOffset - 4, 0xFFFFFFFF);
        break;
    case PATCHES_BEHIND:
        put(buffer + args->DmaBufferSubmissionEndOffset, 0xFFFFFFFF);
        break;
    case PATCHES_PAST_BUFFER:
        put(buffer + args->DmaBufferSize, 0xFFFFFFFF);
        break;
    default:
        break;
    }
}

NTSTATUS NTAPI __wrap_RefGpuPatch(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch)
{
    UCHAR *at = NULL;
    ULONG before = 0;
    NTSTATUS status;

    if (pPatch->PatchLocationListSubmissionLength > WRONG) {
        at = (UCHAR *)pPatch->pDmaBuffer + pPatch->pPatchLocationList[WRONG].PatchOffset;
        before = word(at);
        patches.buffer = pPatch->pDmaBuffer;
        patches.end = pPatch->DmaBufferSubmissionEndOffset;
    }
    status = __real_RefGpuPatch(hAdapter, pPatch);
    if (at)
        spoil(pPatch, at, before);
    return status;
}

NTSTATUS NTAPI __wrap_RefGpuSubmitCommand(IN_CONST_HANDLE hAdapter,
                                          IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand)
{
    if (patches.fault == PATCHES_IN_SUBMIT && patches.buffer && !pSubmitCommand->Flags.Paging)
        patches.buffer[patches.end - 1u] ^= 1u;
    return __real_RefGpuSubmitCommand(hAdapter, pSubmitCommand);
}
