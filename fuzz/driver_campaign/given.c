/* SPDX-License-Identifier: MIT */
/* Writes outside of what single entries are given: of structures by their size, and of the buffers and lists that they point
 * to. */
#include "acts.h"

#define SLOT_OF(entry) ((offsetof(DRIVER_INITIALIZATION_DATA, entry) - 8u) / sizeof(void *))

struct given {
    UCHAR *at;
    SIZE_T bytes;
};

static struct given given_of(const volatile void *at, SIZE_T bytes)
{
    struct given given;

    given.at = (UCHAR *)(ULONG_PTR)at;
    given.bytes = bytes;
    return given;
}

static void write(struct given given, LONG_PTR offset, SIZE_T bytes)
{
    if (!given.at) {
        acts_again = TRUE;
        return;
    }
    for (SIZE_T i = 0; i < bytes; i++)
        ((volatile UCHAR *)given.at)[offset + (LONG_PTR)i] = 0x5A;
}

static struct given structure_of(const struct acts_call *call)
{
    static const struct {
        ULONG64 slot;
        SIZE_T bytes;
    } sizes[] = {
        {SLOT_OF(DxgkDdiCreateDevice), sizeof(DXGKARG_CREATEDEVICE)},
        {SLOT_OF(DxgkDdiCreateContext), sizeof(DXGKARG_CREATECONTEXT)},
        {SLOT_OF(DxgkDdiCreateAllocation), sizeof(DXGKARG_CREATEALLOCATION)},
        {SLOT_OF(DxgkDdiOpenAllocation), sizeof(DXGKARG_OPENALLOCATION)},
        {SLOT_OF(DxgkDdiQueryAdapterInfo), sizeof(DXGKARG_QUERYADAPTERINFO)},
        {SLOT_OF(DxgkDdiEscape), sizeof(DXGKARG_ESCAPE)},
        {SLOT_OF(DxgkDdiRender), sizeof(DXGKARG_RENDER)},
        {SLOT_OF(DxgkDdiPatch), sizeof(DXGKARG_PATCH)},
        {SLOT_OF(DxgkDdiSubmitCommand), sizeof(DXGKARG_SUBMITCOMMAND)},
        {SLOT_OF(DxgkDdiPreemptCommand), sizeof(DXGKARG_PREEMPTCOMMAND)},
        {SLOT_OF(DxgkDdiQueryCurrentFence), sizeof(DXGKARG_QUERYCURRENTFENCE)},
        {SLOT_OF(DxgkDdiQueryEngineStatus), sizeof(DXGKARG_QUERYENGINESTATUS)},
        {SLOT_OF(DxgkDdiResetEngine), sizeof(DXGKARG_RESETENGINE)},
    };

    for (SIZE_T i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].slot == call->slot)
            return given_of((void *)(ULONG_PTR)call->rdx, sizes[i].bytes);
    return given_of(NULL, 0);
}

static struct given private_data_of(const struct acts_call *call)
{
    const void *args = (const void *)(ULONG_PTR)call->rdx;

    if (call->slot == SLOT_OF(DxgkDdiCreateAllocation)) {
        const DXGKARG_CREATEALLOCATION *create = args;

        if (create->NumAllocations)
            return given_of(create->pAllocationInfo[0].pPrivateDriverData,
                            create->pAllocationInfo[0].PrivateDriverDataSize);
    } else if (call->slot == SLOT_OF(DxgkDdiOpenAllocation)) {
        const DXGKARG_OPENALLOCATION *open = args;

        if (open->NumAllocations)
            return given_of(open->pOpenAllocation[0].pPrivateDriverData,
                            open->pOpenAllocation[0].PrivateDriverDataSize);
    } else if (call->slot == SLOT_OF(DxgkDdiEscape)) {
        const DXGKARG_ESCAPE *escape = args;

        return given_of(escape->pPrivateDriverData, escape->PrivateDriverDataSize);
    } else if (call->slot == SLOT_OF(DxgkDdiQueryAdapterInfo)) {
        const DXGKARG_QUERYADAPTERINFO *query = args;

        return given_of(query->pOutputData, query->OutputDataSize);
    } else if (call->slot == SLOT_OF(DxgkDdiRender)) {
        const DXGKARG_RENDER *render = args;

        return given_of(render->pDmaBufferPrivateData, render->DmaBufferPrivateDataSize);
    } else if (call->slot == SLOT_OF(DxgkDdiSubmitCommand)) {
        const DXGKARG_SUBMITCOMMAND *submit = args;

        return given_of(submit->pDmaBufferPrivateData, submit->DmaBufferPrivateDataSize);
    } else if (call->slot == SLOT_OF(DxgkDdiSubmitCommandVirtual)) {
        const DXGKARG_SUBMITCOMMANDVIRTUAL *submit = args;

        return given_of(submit->pDmaBufferPrivateData, submit->DmaBufferPrivateDataSize);
    }
    return given_of(NULL, 0);
}

/* DMA buffers and command buffers. */
static struct given buffer_of(const struct acts_call *call, BOOLEAN commands)
{
    const void *args = (const void *)(ULONG_PTR)call->rdx;

    if (call->slot == SLOT_OF(DxgkDdiRender)) {
        const DXGKARG_RENDER *render = args;

        return commands ? given_of(render->pCommand, render->CommandLength)
                        : given_of(render->pDmaBuffer, render->DmaSize);
    }
    if (call->slot == SLOT_OF(DxgkDdiBuildPagingBuffer) && !commands) {
        const DXGKARG_BUILDPAGINGBUFFER *build = args;

        return given_of(build->pDmaBuffer, build->DmaSize);
    }
    if (call->slot == SLOT_OF(DxgkDdiPatch) && !commands) {
        const DXGKARG_PATCH *patch = args;

        return given_of(patch->pDmaBuffer, patch->DmaBufferSize);
    }
    return given_of(NULL, 0);
}

static void write_past_lists(const struct acts_call *call)
{
    const void *args = (const void *)(ULONG_PTR)call->rdx;

    if (call->slot == SLOT_OF(DxgkDdiRender)) {
        const DXGKARG_RENDER *render = args;

        write(given_of(render->pAllocationList, 0),
              (LONG_PTR)render->AllocationListSize * (LONG_PTR)sizeof(DXGK_ALLOCATIONLIST), 1);
        write(given_of(render->pPatchLocationListOut, 0),
              (LONG_PTR)render->PatchLocationListOutSize *
                  (LONG_PTR)sizeof(D3DDDI_PATCHLOCATIONLIST),
              1);
    } else if (call->slot == SLOT_OF(DxgkDdiCreateAllocation)) {
        const DXGKARG_CREATEALLOCATION *create = args;

        write(given_of(create->pAllocationInfo, 0),
              (LONG_PTR)create->NumAllocations * (LONG_PTR)sizeof(DXGK_ALLOCATIONINFO), 1);
    } else if (call->slot == SLOT_OF(DxgkDdiDestroyAllocation)) {
        const DXGKARG_DESTROYALLOCATION *destroy = args;

        write(given_of(destroy->pAllocationList, 0),
              (LONG_PTR)destroy->NumAllocations * (LONG_PTR)sizeof(HANDLE), 1);
    }
}

BOOLEAN acts_do_given(ULONG act, const struct acts_call *call)
{
    struct given given;

    if (act < ACT_structure_past || act > ACT_lists_past)
        return FALSE;
    if (!call || !call->rdx)
        return TRUE;
    switch (act) {
    case ACT_structure_past:
        given = structure_of(call);
        write(given, (LONG_PTR)given.bytes, 64);
        break;
    case ACT_private_data_past:
    case ACT_private_data_past_4k:
        given = private_data_of(call);
        write(given, (LONG_PTR)given.bytes, act == ACT_private_data_past ? 1 : 4000);
        break;
    case ACT_private_data_before:
        write(private_data_of(call), -1, 1);
        break;
    case ACT_dma_buffer_past:
    case ACT_command_buffer_past:
        given = buffer_of(call, act == ACT_command_buffer_past);
        write(given, (LONG_PTR)given.bytes, 1);
        break;
    default:
        write_past_lists(call);
        break;
    }
    return TRUE;
}
