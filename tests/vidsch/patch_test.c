/* SPDX-License-Identifier: MIT */
/* What Patch and SubmitCommand are told of one packet of a physical context. */
#include "sim/irql.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/support/render_client.h"

static NTSTATUS write_with_private(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + 100;
    args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData + 12;
    *args->pPatchLocationListOut++ = (D3DDDI_PATCHLOCATIONLIST){
        .AllocationIndex = 1, .DriverId = 0xAB, .AllocationOffset = 0x40, .PatchOffset = 8};
    *args->pPatchLocationListOut++ = (D3DDDI_PATCHLOCATIONLIST){
        .AllocationIndex = 0, .DriverId = 0xCD, .PatchOffset = 96};
    return STATUS_SUCCESS;
}

static NTSTATUS patch_private(struct fixture *f, const DXGKARG_PATCH *args)
{
    (void)f;
    *(uint8_t *)args->pDmaBufferPrivateData = 0x5A;
    return STATUS_SUCCESS;
}

/* One packet that refers to two allocations, the first of which is paged out at Render, and
 * elsewhere at Patch. */
struct packet_of_two {
    struct client client;
    struct vidmm_open *a, *b;
    const DXGKARG_RENDER *given;
    const struct call *patch_call, *submit_call;
    const DXGKARG_PATCH *patch;
    const DXGKARG_SUBMITCOMMAND *sent;
};

static struct packet_of_two begin(struct fixture *f)
{
    struct packet_of_two p = {.client = make_client(f)};

    p.a = memory_open(f, p.client.device, 0x10000);
    p.b = memory_open(f, p.client.device, 0x20000);
    p.a->place.resident = false;
    reference(&p.client, 0, p.a, true);
    reference(&p.client, 1, p.b, false);
    f->driver.on_render = write_with_private;
    f->driver.on_patch = patch_private;
    p.client.device->mm->missing = true;
    CHECK(render_lists(&p.client, 16, 2, 0) == STATUS_SUCCESS);
    pass(MS);
    return p;
}

static void go(struct fixture *f, struct packet_of_two *p)
{
    p->a->place = (struct vidmm_place){true, 2, 0x77000, p->a->place.device_specific};
    p->client.device->mm->missing = false;
    vidsch_for_vidmm.device_resident(p->client.device->mm);
    idle(p->client.device);
    p->given = &call_at(f, CALL_RENDER, 0)->render.args;
    p->patch_call = call_at(f, CALL_PATCH, 0);
    p->patch = &p->patch_call->patch.args;
    p->submit_call = call_at(f, CALL_SUBMIT, 0);
    p->sent = &p->submit_call->submit;
}

static struct packet_of_two begin_and_go(struct fixture *f)
{
    struct packet_of_two p = begin(f);

    go(f, &p);
    return p;
}

static void end(struct fixture *f, struct packet_of_two *p)
{
    memory_close(f, p->a);
    memory_close(f, p->b);
    vidsch_device_destroy(p->client.device);
}

TEST_WITH(fixture, patch_comes_when_memory_is_there)
{
    struct packet_of_two p = begin(f);

    CHECK_RULE("PATCH-139", calls_of(f, CALL_PATCH) == 0);
    go(f, &p);
    CHECK_RULE("PATCH-139", p.patch_call < p.submit_call);
    CHECK_RULE("PATCH-138",
               p.patch_call->irql == SIM_IRQL_PASSIVE && p.patch_call->handle == f->ddi.context);
    CHECK_RULE("PATCH-128", calls_of(f, CALL_PATCH) == 1);
    CHECK(f->vidsch->statistics.patches == 2);
    end(f, &p);
}

TEST_WITH(fixture, patch_is_given_the_buffer)
{
    struct packet_of_two p = begin_and_go(f);

    CHECK_RULE("PATCH-144",
               p.patch->DmaBufferSegmentId == 0 && p.patch->DmaBufferPhysicalAddress.QuadPart ==
                                                       p.given->DmaBufferPhysicalAddress.QuadPart);
    CHECK_RULE("PATCH-145",
               p.patch->pDmaBuffer == p.given->pDmaBuffer && p.patch->DmaBufferSize == 8192);
    CHECK_RULE("PATCH-146", p.patch->DmaBufferSubmissionStartOffset == 0 &&
                                p.patch->DmaBufferSubmissionEndOffset == 100 &&
                                p.sent->DmaBufferSubmissionStartOffset == 0 &&
                                p.sent->DmaBufferSubmissionEndOffset == 100);
    CHECK_RULE("PATCH-120", calls_of(f, CALL_SUBMIT) == 1 &&
                                p.sent->DmaBufferSubmissionStartOffset == 0 &&
                                p.sent->DmaBufferSubmissionEndOffset == 100);
    CHECK_RULE("PATCH-147", p.patch->pDmaBufferPrivateData == p.given->pDmaBufferPrivateData &&
                                p.patch->DmaBufferPrivateDataSize == 32 &&
                                p.patch->DmaBufferPrivateDataSubmissionStartOffset == 0);
    CHECK_RULE("PATCH-069", p.patch->DmaBufferPrivateDataSubmissionEndOffset == 12);
    end(f, &p);
}

TEST_WITH(fixture, patch_is_given_the_lists)
{
    struct packet_of_two p = begin_and_go(f);
    const DXGK_ALLOCATIONLIST *list = p.patch_call->patch.list;
    const D3DDDI_PATCHLOCATIONLIST *patches = p.patch_call->patch.patches;

    CHECK_RULE("PATCH-148", p.patch->AllocationListSize == 2 && list[0].SegmentId == 2 &&
                                list[0].PhysicalAddress.QuadPart == 0x77000 &&
                                list[0].WriteOperation &&
                                list[1].PhysicalAddress.QuadPart == 0x20000);
    CHECK_RULE("PATCH-149", p.patch->PatchLocationListSize == 2 &&
                                p.patch->pPatchLocationList == p.given->pPatchLocationListOut);
    CHECK_RULE("PATCH-150", p.patch->PatchLocationListSubmissionStart == 0 &&
                                p.patch->PatchLocationListSubmissionLength == 2);
    CHECK_RULE("PATCH-106", patches[0].DriverId == 0xAB && patches[1].DriverId == 0xCD);
    CHECK_RULE("PATCH-107", patches[0].AllocationOffset == 0x40);
    end(f, &p);
}

TEST_WITH(fixture, patch_is_told_which_submission_it_is)
{
    struct packet_of_two p = begin_and_go(f);

    CHECK_RULE("PATCH-143", p.patch->hContext == p.client.context->mm.driver_handle);
    CHECK_RULE("PATCH-153", p.patch->SubmissionFenceId == p.sent->SubmissionFenceId &&
                                p.sent->SubmissionFenceId == 1);
    CHECK_RULE("PATCH-154", p.patch->Flags.Value == 0);
    CHECK_RULE("PATCH-155", p.patch->EngineOrdinal == 0);
    end(f, &p);
}

TEST_WITH(fixture, submit_is_given_what_patch_was)
{
    struct packet_of_two p = begin_and_go(f);

    CHECK_RULE("SUBMIT-030", p.sent->DmaBufferSegmentId == 0 && p.sent->DmaBufferSize == 8192 &&
                                 p.sent->DmaBufferPhysicalAddress.QuadPart ==
                                     p.patch->DmaBufferPhysicalAddress.QuadPart);
    CHECK_RULE("SUBMIT-031", p.sent->pDmaBufferPrivateData == p.patch->pDmaBufferPrivateData &&
                                 p.sent->DmaBufferPrivateDataSize == 32 &&
                                 p.sent->DmaBufferPrivateDataSubmissionEndOffset == 12 &&
                                 *(uint8_t *)p.sent->pDmaBufferPrivateData == 0x5A);
    end(f, &p);
}

TEST_WITH(fixture, submit_is_told_where_to)
{
    struct packet_of_two p = begin_and_go(f);

    CHECK_RULE("SUBMIT-026", p.submit_call->irql == SIM_IRQL_DISPATCH);
    CHECK_RULE("SUBMIT-028", p.sent->hContext == p.client.context->mm.driver_handle);
    CHECK_RULE("SUBMIT-032", p.sent->NodeOrdinal == 0);
    CHECK_RULE("SUBMIT-033", p.sent->EngineOrdinal == 0 && p.sent->DmaBufferVirtualAddress == 0);
    CHECK_RULE("SUBMIT-034", p.sent->VidPnSourceId == 0 && p.sent->FlipInterval == 0);
    CHECK_RULE("SUBMIT-035", p.sent->Flags.Value == 0);
    end(f, &p);
}
