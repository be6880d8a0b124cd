/* SPDX-License-Identifier: MIT */
/* DMA buffers of a WDDM 1.x driver: what was promised for them, who handles them, and what they rely on until they have run. */
#include "nt/base/current.h"
#include "port/record/machine.h"
#include "port/support/portions.h"

#include <string.h>

static struct portions_gpu gpu;
static struct probe_client *client;

static struct probe *begin(void (*prepare)(struct probe *p), bool split)
{
    portions_prepare = prepare;
    return portions_begin(split, true);
}

/* ---- what DxgkDdiRender was given last ---- */

static struct {
    UINT dma, private, allocations, patches;
} given;

static void note_render(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RENDER *args = (const DXGKARG_RENDER *)(uintptr_t)call->arg[1];

    (void)p;
    given.dma = args->DmaSize;
    given.private = args->DmaBufferPrivateDataSize;
    given.allocations = args->AllocationListSize;
    given.patches = args->PatchLocationListOutSize;
}

/* ---- a driver without contexts says so of its devices ---- */

static UINT contract;

static void give_info(struct probe *p, struct probe_call *call)
{
    DXGK_DEVICEINFO *info = ((DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1])->pInfo;

    (void)p;
    info->DmaBufferSize = 0x3000;
    info->DmaBufferPrivateDataSize = 32;
    info->AllocationListSize = 40;
    info->PatchLocationListSize = 50;
    info->Flags.GuaranteedDmaBufferContract = contract & 1;
}

static void without_contexts(struct probe *p)
{
    p->caps.SchedulingCaps.Value = 0;
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 1;
    p->physical.NumExecutionNodes = 1;
    p->physical.PagingNodeIndex = 0;
    p->after[PROBE_CreateDevice] = give_info;
    p->after[PROBE_Render] = note_render;
}

static void use_promise(struct probe *p)
{
    D3DKMT_RENDER args;

    (void)p;
    portions_open(&gpu);
    CHECK_RULE("PATCH-010", gpu.context.CommandBufferSize == 0x3000 &&
                                gpu.context.AllocationListSize == 40 &&
                                gpu.context.PatchLocationListSize == 50);
    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context.hContext;
    args.CommandLength = 0x3000;
    args.AllocationCount = 40;
    memset(gpu.context.pAllocationList, 0, 40 * sizeof(*gpu.context.pAllocationList));
    CHECK_RULE("PATCH-010", D3DKMTRender(&args) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-010", given.dma == 0x3000 && given.private == 32 && given.allocations == 40 &&
                                given.patches == 50);
    CHECK_RULE("PATCH-010", args.NewCommandBufferSize == 0x3000 &&
                                args.NewAllocationListSize == 40 &&
                                args.NewPatchLocationListSize == 50);
    portions_finish(&gpu);
    portions_close(&gpu);
}

TEST(the_contract_is_the_same_for_all)
{
    for (contract = 0; contract < 2; contract++) {
        struct probe *p;

        memset(&given, 0, sizeof(given));
        portions_prepare = without_contexts;
        p = portions_begin(false, false);
        portions_end(p, probe_client_run(p, use_promise));
    }
}

/* ---- the next buffer ---- */

static void watch_renders(struct probe *p)
{
    p->after[PROBE_Render] = note_render;
}

static void keep_promise(struct probe *p)
{
    struct portions_gpu other;
    D3DKMT_RENDER args, next;

    (void)p;
    portions_open_with_four(&gpu);
    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context.hContext;
    args.CommandLength = 64;
    args.AllocationCount = 1;
    args.Flags.ResizeCommandBuffer = args.Flags.ResizeAllocationList = 1;
    args.Flags.ResizePatchLocationList = 1;
    args.NewCommandBufferSize = 0x20000;
    args.NewAllocationListSize = 500;
    args.NewPatchLocationListSize = 700;
    memset(gpu.context.pAllocationList, 0, sizeof(*gpu.context.pAllocationList));
    CHECK(D3DKMTRender(&args) == STATUS_SUCCESS);
    CHECK(args.NewCommandBufferSize >= 0x20000 && args.NewAllocationListSize >= 500 &&
          args.NewPatchLocationListSize >= 700);
    portions_open_with_four(&other); /* all of it does not fit */
    for (unsigned i = 0; i < 8; i++) {
        portions_element(&other, 0, 0, i % 4 + 1, 0);
        portions_element(&other, 1, 1, (i + 1) % 4 + 1, 32);
        CHECK(portions_render(&other, 64, 2) == STATUS_SUCCESS);
        portions_finish(&other);
    }
    memset(&next, 0, sizeof(next));
    next.hContext = gpu.context.hContext;
    next.CommandLength = args.NewCommandBufferSize;
    next.AllocationCount = args.NewAllocationListSize;
    memset(args.pNewCommandBuffer, 0, args.NewCommandBufferSize);
    memset(args.pNewAllocationList, 0,
           args.NewAllocationListSize * sizeof(*args.pNewAllocationList));
    CHECK_RULE("PATCH-054", D3DKMTRender(&next) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-054", given.dma >= args.NewCommandBufferSize &&
                                given.allocations == args.NewAllocationListSize &&
                                given.patches >= args.NewPatchLocationListSize);
    portions_finish(&gpu);
    portions_close(&other);
    portions_close(&gpu);
}

TEST(what_was_returned_is_there_for_the_next)
{
    struct probe *p = begin(watch_renders, false);

    portions_end(p, probe_client_run(p, keep_promise));
}

/* ---- what DxgkDdiPatch may change ---- */

static struct {
    UINT start, end, private_start, private_end;
    uint8_t byte;
} submitted[4];
static unsigned submissions, patches;
static uint8_t *patched_buffer;
static bool beyond;

static void change_lists(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];

    portions_note_patch(p, call);
    if (args->Flags.Paging)
        return;
    patches++;
    patched_buffer = args->pDmaBuffer;
    patched_buffer[args->DmaBufferSubmissionStartOffset] = (uint8_t)(0x70 + patches);
    memset((void *)(uintptr_t)args->pAllocationList, 0,
           args->AllocationListSize * sizeof(*args->pAllocationList));
    for (UINT i = 0; i < args->PatchLocationListSize; i++)
        ((D3DDDI_PATCHLOCATIONLIST *)(uintptr_t)args->pPatchLocationList)[i].AllocationIndex = 4;
    if (beyond)
        patched_buffer[args->DmaBufferSize] = 1;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.Paging || submissions == 4)
        return;
    submitted[submissions].start = args->DmaBufferSubmissionStartOffset;
    submitted[submissions].end = args->DmaBufferSubmissionEndOffset;
    submitted[submissions].byte = patched_buffer[args->DmaBufferSubmissionStartOffset];
    submissions++;
}

static void patch_freely(struct probe *p)
{
    p->before[PROBE_Patch] = change_lists;
    p->before[PROBE_SubmitCommand] = note_submission;
    p->port->config.check_patches = false;
    patches = submissions = 0;
}

static void render_in_two(struct probe *p)
{
    (void)p;
    portions_open_with_four(&gpu);
    portions_element(&gpu, 0, 0, 1, 0);
    portions_element(&gpu, 1, 1, 2, 0);
    portions_element(&gpu, 2, 0, 3, 32);
    portions_element(&gpu, 3, 1, 0, 32);
    CHECK(portions_render(&gpu, 64, 4) == STATUS_SUCCESS);
    (void)D3DKMTWaitForIdle(&(D3DKMT_WAITFORIDLE){gpu.device});
}

static void change_in_place(struct probe *p)
{
    render_in_two(p);
    CHECK(portions.patch_count == 2 && submissions == 2);
    CHECK_RULE("PATCH-156", submitted[0].start == 0 && submitted[0].end == 32 &&
                                submitted[1].start == 32 && submitted[1].end == 64);
    CHECK_RULE("PATCH-156", submitted[0].byte == 0x71 && submitted[1].byte == 0x72);
    CHECK_RULE("PATCH-156", PORTIONS_THERE(portions.patched[1].list[3]) &&
                                portions.patched[1].list[3].hDeviceSpecificAllocation != NULL &&
                                portions.patched[1].args.AllocationListSize == PORTIONS_MANY + 1 &&
                                portions.patched[1].args.PatchLocationListSubmissionStart == 2 &&
                                portions.patched[1].args.PatchLocationListSubmissionLength == 2);
    CHECK(portions_state(&gpu) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    portions_close(&gpu);
}

TEST(patching_is_done_in_place)
{
    struct probe *p;

    beyond = false;
    p = begin(patch_freely, false);
    portions_end(p, probe_client_run(p, change_in_place));
    beyond = true;
    p = begin(patch_freely, false);
    client = probe_client_run(p, render_in_two);
    CHECK_RULE("PATCH-156", verify_bugcheck_state(p->log)->happened && patches == 1 &&
                                submissions == 0 && probe_said(p, "PATCH-066", "DxgkDdiPatch"));
    portions_end(p, client);
}

/* ---- addresses until the packet has run ---- */

static struct {
    bool busy;
    unsigned operations;
} reused;

/* Something else comes to where the first allocation of the first packet is. */
static void note_reuse(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    uint64_t to = 0, first;

    if (op->Operation == DXGK_OPERATION_FILL)
        to = (uint64_t)op->Fill.Destination.SegmentAddress.QuadPart;
    else if (op->Operation == DXGK_OPERATION_TRANSFER && op->Transfer.Destination.SegmentId == 1)
        to = (uint64_t)op->Transfer.Destination.SegmentAddress.QuadPart;
    else
        return;
    if (portions.patch_count != 1)
        return;
    first = portions_address(0, 1);
    if (to >= first + 9 * PORTIONS_MIB || to + 9 * PORTIONS_MIB <= first)
        return;
    reused.operations++;
    reused.busy |= p->state[0].reported[0] != portions.patched[0].args.SubmissionFenceId;
}

static void watch_paging(struct probe *p)
{
    p->before[PROBE_BuildPagingBuffer] = note_reuse;
}

static void trade_while_running(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, 9 * PORTIONS_MIB);
    portions_allocate(&gpu, 1, 9 * PORTIONS_MIB);
    probe_device_packet_ns = PROBE_SECOND / 20;
    for (unsigned i = 0; i < 2; i++) {
        portions_element(&gpu, 0, 0, i + 1, 0);
        CHECK(portions_render(&gpu, 64, 1) == STATUS_SUCCESS);
    }
    portions_finish(&gpu);
    probe_device_packet_ns = 1000;
    CHECK(portions.patch_count == 2);
    CHECK_RULE("SUBMIT-025", reused.operations >= 1 && !reused.busy);
    portions_close(&gpu);
}

TEST(an_allocation_stays_where_it_is_used)
{
    struct probe *p;

    memset(&reused, 0, sizeof(reused));
    p = begin(watch_paging, false);
    portions_end(p, probe_client_run(p, trade_while_running));
}

/* ---- whose thread it is ---- */

static void render_once(struct probe *p)
{
    (void)p;
    portions_open(&gpu);
    portions_allocate(&gpu, 0, PORTIONS_MIB);
    portions_element(&gpu, 0, 0, 1, 0);
    CHECK(portions_render(&gpu, 64, 1) == STATUS_SUCCESS);
    portions_finish(&gpu);
}

TEST(the_host_submits_on_a_thread_of_its_own)
{
    struct probe *p = begin(NULL, false);
    struct probe_client *clients[2];

    clients[0] = probe_client_run(p, render_once);
    clients[1] = probe_client_run(p, render_once);
    CHECK(probe_count(p, PROBE_Render) == 2 && probe_count(p, PROBE_SubmitCommand) >= 2);
    for (size_t i = 0; i < 2; i++)
        CHECK(probe_nth(p, PROBE_Render, i)->process == clients[i]->nt);
    for (size_t i = 0; i < probe_count(p, PROBE_SubmitCommand); i++) {
        const struct probe_call *call = probe_nth(p, PROBE_SubmitCommand, i);

        CHECK_RULE("SUBMIT-038", call->process == nt_process_system() &&
                                     call->thread == probe_nth(p, PROBE_SubmitCommand, 0)->thread &&
                                     call->thread != probe_nth(p, PROBE_Render, 0)->thread &&
                                     call->thread != probe_nth(p, PROBE_Render, 1)->thread);
    }
    probe_client_end(p, clients[0]);
    portions_end(p, clients[1]);
}
