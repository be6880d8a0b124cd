/* SPDX-License-Identifier: MIT */
/* Physical mode beyond one packet: buffers that grow and queue, broadcasts, aperture segments. */
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "vidsch/support/render_client.h"

#include <string.h>

/* ---- sizes, counts, broadcast ---- */

TEST_WITH(fixture, sizes_change_on_request)
{
    struct client c = make_client(f);
    D3DKMT_RENDER args = {.CommandLength = 16,
                          .NewCommandBufferSize = 100000,
                          .NewAllocationListSize = 5000,
                          .NewPatchLocationListSize = 1};

    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-057", args.NewCommandBufferSize == 8192 && args.NewAllocationListSize == 8 &&
                                args.NewPatchLocationListSize == 16);
    args = (D3DKMT_RENDER){
        .CommandLength = 16, .NewCommandBufferSize = 100000, .NewAllocationListSize = 5000};
    args.Flags.ResizeCommandBuffer = args.Flags.ResizeAllocationList =
        args.Flags.ResizePatchLocationList = 1;
    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK_RULE("KMT-305", args.NewCommandBufferSize == 102400 &&
                              args.NewAllocationListSize == 5120 &&
                              args.NewPatchLocationListSize >= 16);
    memset(args.pNewCommandBuffer, 2, args.NewCommandBufferSize);
    memset(args.pNewAllocationList, 0,
           args.NewAllocationListSize * sizeof(*args.pNewAllocationList));
    args = (D3DKMT_RENDER){
        .CommandLength = 100000, .AllocationCount = 5000, .NewCommandBufferSize = 1};
    args.Flags.ResizeCommandBuffer = 1;
    CHECK_RULE("PATCH-057", vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-056", last_call(f, CALL_RENDER)->render.args.DmaSize == 102400);
    CHECK_RULE("PATCH-035", args.NewCommandBufferSize == 8192);
    CHECK_RULE("PATCH-045", args.NewAllocationListSize == 5120);
    CHECK(render(c.context, 8192) == STATUS_SUCCESS &&
          last_call(f, CALL_RENDER)->render.args.DmaSize == 8192);
    idle(c.device);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, queued_buffers_are_counted)
{
    struct client c = make_client(f);

    f->driver.engine[0].hang = true;
    for (ULONG i = 1; i <= 4; i++) {
        D3DKMT_RENDER args = {.CommandLength = 16};

        CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
        CHECK_RULE("PATCH-058", args.QueuedBufferCount == i);
    }
    driver_run(f, 0);
    idle(c.device);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, a_broadcast_runs_in_every_context)
{
    struct client c = make_client(f);
    struct vidsch_device *foreign = make_device(f);
    struct vidsch_context *other = make_context(c.device, 0), *far = make_context(foreign, 0);
    D3DKMT_HANDLE handles[3] = {handle_create(&f->process->handles, DDI_CLIENT_CONTEXT, other),
                                handle_create(&f->process->handles, DDI_CLIENT_CONTEXT, c.context),
                                handle_create(&f->process->handles, DDI_CLIENT_CONTEXT, far)};
    D3DKMT_RENDER args = {.CommandLength = 16, .BroadcastContextCount = 1};

    args.BroadcastContext[0] = handles[0];
    CHECK_RULE("PATCH-059", vidsch_render(c.context, &args) == STATUS_SUCCESS);
    idle(c.device);
    CHECK_RULE("PATCH-059", calls_of(f, CALL_RENDER) == 1 && calls_of(f, CALL_SUBMIT) == 2);
    CHECK_RULE("KMT-308",
               call_at(f, CALL_SUBMIT, 0)->submit.hContext == c.context->mm.driver_handle &&
                   call_at(f, CALL_SUBMIT, 1)->submit.hContext == other->mm.driver_handle &&
                   call_at(f, CALL_SUBMIT, 1)->submit.SubmissionFenceId == 2);
    args.BroadcastContext[0] = handles[1];
    CHECK_RULE("KMT-308", vidsch_render(c.context, &args) == STATUS_INVALID_PARAMETER);
    args.BroadcastContext[0] = handles[2];
    CHECK_RULE("KMT-308", vidsch_render(c.context, &args) == STATUS_INVALID_PARAMETER);
    for (int i = 0; i < 3; i++)
        handle_remove(&f->process->handles, handles[i], DDI_CLIENT_CONTEXT);
    vidsch_device_destroy(foreign);
    vidsch_device_destroy(c.device);
}

static void render_thread(void *arg)
{
    struct client *c = arg;

    for (int i = 0; i < 5; i++)
        render(c->context, 16);
}

TEST_WITH(fixture, renders_of_a_process_never_overlap)
{
    struct client a = make_client(f), b = make_client(f);
    struct sim_thread *threads[3];

    f->driver.stall_ns = 20000;
    threads[0] = spawn(f, render_thread, &a);
    threads[1] = spawn(f, render_thread, &b);
    threads[2] = spawn(f, render_thread, &a); /* two in one context */
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    idle(a.device);
    idle(b.device);
    CHECK_RULE("PATCH-060", f->driver.most_inside_zero == 1);
    CHECK_RULE("PATCH-138", f->driver.most_inside == 1);
    CHECK_RULE("SUBMIT-152", f->driver.overlapped); /* the class runs beside level zero */
    CHECK(calls_of(f, CALL_SUBMIT) == 15);
    vidsch_device_destroy(a.device);
    vidsch_device_destroy(b.device);
}

/* One paging buffer of 128 bytes has run; returns what it was patched with. */
static const DXGKARG_PATCH *page_once(struct fixture *f)
{
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 128)) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_PATCH) == 1);
    return &call_at(f, CALL_PATCH, 0)->patch.args;
}

TEST_WITH(fixture, paging_is_patched_without_lists, .physical_paging = true)
{
    const DXGKARG_PATCH *patch = page_once(f);

    CHECK_RULE("PATCH-152", calls_of(f, CALL_PATCH) == 1 &&
                                call_at(f, CALL_PATCH, 0)->patch.args.Flags.Value == 1);
    CHECK_RULE("PATCH-151", !patch->pAllocationList && !patch->pPatchLocationList &&
                                patch->AllocationListSize == 0 &&
                                patch->PatchLocationListSize == 0 &&
                                patch->PatchLocationListSubmissionStart == 0 &&
                                patch->PatchLocationListSubmissionLength == 0);
}

TEST_WITH(fixture, paging_runs_in_the_system_context, .physical_paging = true)
{
    const DXGKARG_SUBMITCOMMAND *sent;

    page_once(f);
    sent = &call_at(f, CALL_SUBMIT, 0)->submit;
    CHECK_RULE("PAGE-019", sent->Flags.Value == 1 &&
                               sent->hContext == f->vidsch->system_context->mm.driver_handle);
    CHECK_RULE("SUBMIT-029", sent->hContext == f->vidsch->system_context->mm.driver_handle);
}

TEST_WITH(fixture, paging_is_submitted_as_it_was_patched, .physical_paging = true)
{
    const DXGKARG_PATCH *patch = page_once(f);
    const DXGKARG_SUBMITCOMMAND *sent = &call_at(f, CALL_SUBMIT, 0)->submit;

    CHECK_RULE("PAGE-018", patch->pDmaBuffer && patch->DmaBufferSubmissionEndOffset == 128);
    CHECK_RULE("PATCH-153", patch->SubmissionFenceId == sent->SubmissionFenceId);
}

TEST_WITH(fixture, paging_buffers_have_the_sizes_of_the_caps, .physical_paging = true)
{
    const DXGKARG_PATCH *patch = page_once(f);

    CHECK_RULE("PAGE-003", patch->DmaBufferSize == 12288);
    CHECK_RULE("PAGE-005", patch->DmaBufferPrivateDataSize == 24 &&
                               *(uint8_t *)patch->pDmaBufferPrivateData == 0);
}

/* ---- DMA buffers in an aperture segment ---- */

static void want_aperture(struct fixture *f)
{
    f->driver.info[0].DmaBufferSegmentSet = 2;
}

static void page_in_an_aperture(struct fixture *f)
{
    f->config.paging_segment = 3;
}

TEST_WITH(fixture, paging_buffers_may_be_in_an_aperture, .physical_paging = true,
          .prepare = page_in_an_aperture)
{
    const struct paging_memory *last = &f->vidsch->paging.memory[VIDSCH_PAGING_BUFFERS - 1];
    const struct vidmm_aperture_range *range = &f->mm.last_mapped;
    const DXGKARG_SUBMITCOMMAND *sent;

    CHECK(f->mm.mapped == VIDSCH_PAGING_BUFFERS && range->segment == 3);
    CHECK_RULE("PAGE-002", range->frame.value == last->first.value &&
                               range->logical.value == last->first_logical.value &&
                               range->pages == last->pages && range->pages == 3);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 64)) == STATUS_SUCCESS);
    sent = &last_call(f, CALL_SUBMIT)->submit;
    CHECK_RULE("PAGE-002", sent->DmaBufferSegmentId == 3 &&
                               sent->DmaBufferPhysicalAddress.QuadPart == 0xC0010000);
    CHECK(last_call(f, CALL_PATCH)->patch.args.DmaBufferSegmentId == 3);
}

TEST_WITH(fixture, a_buffer_in_an_aperture_is_mapped_before_it_is_used, .aperture_set = 2,
          .prepare = want_aperture)
{
    struct client c = make_client(f);
    const DXGKARG_RENDER *given;
    const DXGKARG_PATCH *patch;
    const DXGKARG_SUBMITCOMMAND *sent;

    CHECK_RULE("PATCH-040", f->mm.mapped > 0 && calls_of(f, CALL_PATCH) == 0);
    CHECK(render(c.context, 64) == STATUS_SUCCESS);
    idle(c.device);
    given = &last_call(f, CALL_RENDER)->render.args;
    patch = &last_call(f, CALL_PATCH)->patch.args;
    sent = &last_call(f, CALL_SUBMIT)->submit;
    CHECK_RULE("PATCH-089", given->DmaBufferSegmentId == 2 &&
                                given->DmaBufferPhysicalAddress.QuadPart >= 0xC0010000);
    CHECK_RULE("PATCH-144",
               patch->DmaBufferSegmentId == 2 && patch->DmaBufferPhysicalAddress.QuadPart ==
                                                     given->DmaBufferPhysicalAddress.QuadPart);
    CHECK_RULE("PATCH-040",
               sent->DmaBufferSegmentId == 2 && sent->DmaBufferPhysicalAddress.QuadPart ==
                                                    given->DmaBufferPhysicalAddress.QuadPart);
    vidsch_device_destroy(c.device);
    CHECK_RULE("PATCH-040", f->mm.unmapped == f->mm.mapped);
}
