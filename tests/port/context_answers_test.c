/* SPDX-License-Identifier: MIT */
/* What a driver answers for contexts and translations of WDDM 1.x that the host cannot use: the client is told why. */
#include "port/support/portions.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct portions_gpu gpu;

static NTSTATUS create(void *data, UINT bytes)
{
    D3DKMT_CREATECONTEXT args = {.hDevice = gpu.device,
                                 .EngineAffinity = 1,
                                 .pPrivateDriverData = data,
                                 .PrivateDriverDataSize = bytes};

    return D3DKMTCreateContext(&args);
}

/* ---- DxgkDdiCreateContext ---- */

static void point_elsewhere(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->pPrivateDriverData = (PVOID)(uintptr_t)16;
}

TEST_WITH(portions, the_private_data_stays_the_hosts)
{
    char data[24] = "data";

    portions_open(&gpu);
    p->after[PROBE_CreateContext] = point_elsewhere;
    CHECK(IS(create(data, sizeof(data)), STATUS_SUCCESS));
    p->after[PROBE_CreateContext] = NULL;
    portions_close(&gpu);
}

static void want_much(struct probe *p, struct probe_call *call)
{
    DXGK_CONTEXTINFO *info = &((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->ContextInfo;

    (void)p;
    info->DmaBufferSize = 0x40000000;
    info->AllocationListSize = 7;
    info->PatchLocationListSize = 9;
}

static void fail_to_destroy(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_INVALID_HANDLE;
}

TEST_WITH(portions, what_does_not_fit_is_said_with_its_size)
{
    portions_open(&gpu);
    p->after[PROBE_CreateContext] = want_much;
    p->after[PROBE_DestroyContext] = fail_to_destroy; /* and is not the reason */
    CHECK(IS(create(NULL, 0), STATUS_NO_MEMORY));
    CHECK(strstr(probe_refused_text,
                 "a command buffer of 0x40000000 bytes and lists of 7 allocations "
                 "and 9 patch locations"));
    p->after[PROBE_CreateContext] = p->after[PROBE_DestroyContext] = NULL;
    CHECK(probe_rule(p, "PATCH-053") == 1);
    portions_close(&gpu);
}

static void want_most(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->ContextInfo.DmaBufferSize = 0xA000000;
}

/* The client's memory is there, and none is left for that of the GPU. */
TEST_WITH(portions, so_is_a_buffer_that_does_not_fit)
{
    portions_open(&gpu);
    p->after[PROBE_CreateContext] = want_most;
    CHECK(IS(create(NULL, 0), STATUS_NO_MEMORY));
    CHECK(strstr(probe_refused_text, "there is no memory for a DMA buffer of 0xa000000 bytes"));
    p->after[PROBE_CreateContext] = NULL;
    portions_close(&gpu);
}

/* ---- DxgkDdiRender ---- */

static void want_another_buffer(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    args->pPatchLocationListOut = (D3DDDI_PATCHLOCATIONLIST *)(uintptr_t)16;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
}

/* That it wants another buffer, too, is not the reason. */
TEST_WITH(portions, a_broken_answer_is_the_reason)
{
    portions_open(&gpu);
    p->before[PROBE_Render] = want_another_buffer;
    CHECK_RULE("PATCH-085", IS(portions_render(&gpu, 64, 0), STATUS_INVALID_PARAMETER) &&
                                strcmp(probe_refused_rule, "PATCH-085") == 0 &&
                                strstr(probe_refused_text, "pPatchLocationListOut"));
    portions_close(&gpu);
}
