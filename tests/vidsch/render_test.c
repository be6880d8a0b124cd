/* SPDX-License-Identifier: MIT */
/* Render, Patch and SubmitCommand: physical mode from the client's command buffer to the node. */
#include "support/fixture.h"

#include <string.h>

/* What most bodies start from: a physical context and the client's blocks. */
struct client {
    struct vidsch_device *device;
    struct vidsch_context *context;
    struct vidsch_client_lists lists;
};

static struct client make_client(struct fixture *f)
{
    struct client c = {.device = make_device(f)};

    c.context = make_context(c.device, 0);
    vidsch_context_lists(c.context, &c.lists);
    return c;
}

static void reference(struct client *c, UINT index, const struct vidmm_open *open, bool write)
{
    c->lists.allocations[index] = (D3DDDI_ALLOCATIONLIST){.hAllocation = open ? open->handle : 0};
    c->lists.allocations[index].WriteOperation = write;
}

static NTSTATUS render_lists(struct client *c, UINT bytes, UINT allocations, UINT patches)
{
    D3DKMT_RENDER args = {
        .CommandLength = bytes, .AllocationCount = allocations, .PatchLocationCount = patches};

    return vidsch_render(c->context, &args);
}

static void idle(struct client *c)
{
    CHECK(vidsch_device_wait_idle(c->device) == STATUS_SUCCESS);
}

/* ---- what Render is given ---- */

static void render_arguments(struct fixture *f)
{
    struct client c = make_client(f);
    struct phys_addr physical;
    D3DKMT_RENDER args = {
        .CommandOffset = 16, .CommandLength = 80, .AllocationCount = 1, .PatchLocationCount = 3};
    const struct call *call;

    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    call = last_call(f, CALL_RENDER);
    CHECK_RULE("PATCH-060", call->irql == SIM_IRQL_PASSIVE && call->process == f->process->id);
    CHECK(call->handle == c.context->mm.driver_handle);
    CHECK_RULE("PATCH-063", call->render.args.pCommand == (char *)c.lists.command_buffer + 16 &&
                                call->render.args.CommandLength == 64);
    CHECK_RULE("PATCH-061", call->render.args.pCommand == (char *)c.lists.command_buffer + 16 &&
                                call->render.args.pPatchLocationListIn == c.lists.patches);
    CHECK_RULE("PATCH-083", call->render.args.PatchLocationListInSize == 3);
    CHECK_RULE("PATCH-064", (uintptr_t)call->render.args.pDmaBuffer % 4096 == 0);
    CHECK_RULE("PATCH-035", call->render.args.DmaSize >= 8192);
    CHECK_RULE("PATCH-067", call->render.args.DmaSize == 8192);
    CHECK_RULE("PATCH-056", call->render.args.DmaSize == c.lists.command_bytes);
    CHECK_RULE("PATCH-068", call->render.args.pDmaBufferPrivateData &&
                                call->render.args.DmaBufferPrivateDataSize == 32);
    CHECK_RULE("PATCH-084", call->render.args.pPatchLocationListOut &&
                                call->render.args.PatchLocationListOutSize == 16);
    CHECK_RULE("PATCH-086", call->render.args.MultipassOffset == 0);
    CHECK(ram_physical(f->ram, call->render.args.pDmaBuffer, &physical));
    CHECK_RULE("PATCH-039",
               call->render.args.DmaBufferSegmentId == 0 &&
                   (uint64_t)call->render.args.DmaBufferPhysicalAddress.QuadPart == physical.value);
    CHECK_RULE("PATCH-039", ram_page_cache(f->ram, phys_page(physical)) == RAM_WRITE_COMBINED);
    CHECK_RULE("PATCH-089",
               (uint64_t)call->render.args.DmaBufferPhysicalAddress.QuadPart == physical.value);
    vidsch_device_destroy(c.device);
}

static void bad_arguments_do_not_reach_the_driver(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidsch_context *is_virtual = make_context(c.device, 1);
    D3DKMT_RENDER args = {.CommandOffset = 65, .CommandLength = 64};

    CHECK_RULE("PATCH-063", vidsch_render(c.context, &args) == STATUS_INVALID_PARAMETER);
    CHECK_RULE(
        "PATCH-055",
        args.pNewCommandBuffer == c.lists.command_buffer && args.NewCommandBufferSize == 8192 &&
            args.pNewAllocationList == c.lists.allocations && args.NewAllocationListSize == 8 &&
            args.pNewPatchLocationList == c.lists.patches && args.NewPatchLocationListSize == 16);
    CHECK_RULE("PATCH-063", render(c.context, 8193) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PATCH-073", render_lists(&c, 16, 9, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-303", render_lists(&c, 16, 0, 17) == STATUS_INVALID_PARAMETER);
    args = (D3DKMT_RENDER){.CommandLength = 16, .BroadcastContextCount = 65};
    CHECK_RULE("PATCH-059", vidsch_render(c.context, &args) == STATUS_INVALID_PARAMETER);
    args = (D3DKMT_RENDER){.CommandLength = 16, .Flags.RenderKm = 1};
    CHECK_RULE("PATCH-097", vidsch_render(c.context, &args) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("KMT-301", render(is_virtual, 16) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PATCH-063", calls_of(f, CALL_RENDER) == 0);
    CHECK(render(c.context, 8192) == STATUS_SUCCESS);
    vidsch_device_destroy(c.device);
}

static void the_allocation_list_is_converted(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000), *b = memory_open(f, c.device, 0x20000);
    const struct call *call;

    b->place.resident = false;
    reference(&c, 0, NULL, false);
    reference(&c, 1, a, true);
    reference(&c, 2, b, false);
    reference(&c, 3, a, false);
    c.lists.allocations[3].OfferPriority = 7;
    CHECK(render_lists(&c, 16, 4, 0) == STATUS_SUCCESS);
    call = last_call(f, CALL_RENDER);
    CHECK_RULE("PATCH-073", call->render.args.AllocationListSize == 4);
    CHECK_RULE("PATCH-072", call->render.list[0].hDeviceSpecificAllocation == NULL);
    CHECK_RULE("PATCH-071",
               call->render.list[1].hDeviceSpecificAllocation == a->place.device_specific &&
                   call->render.list[2].hDeviceSpecificAllocation == b->place.device_specific);
    CHECK_RULE("PATCH-075", call->render.list[1].WriteOperation == 1 &&
                                call->render.list[2].WriteOperation == 0 &&
                                call->render.list[3].WriteOperation == 0);
    CHECK_RULE("PATCH-074",
               call->render.list[3].hDeviceSpecificAllocation == a->place.device_specific);
    CHECK_RULE("PATCH-080", call->render.list[1].SegmentId == 1 &&
                                call->render.list[1].PhysicalAddress.QuadPart == 0x10000 &&
                                call->render.list[2].SegmentId == 0 &&
                                call->render.list[2].PhysicalAddress.QuadPart == 0);
    CHECK_RULE("PATCH-081",
               call->render.list[1].Reserved == 0 && call->render.list[3].Reserved == 0);
    idle(&c);
    memory_close(f, a);
    memory_close(f, b);
    vidsch_device_destroy(c.device);
}

static void bad_allocations_are_refused(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidsch_device *other = make_device(f);
    struct vidmm_open *mine = memory_open(f, c.device, 0x10000),
                      *foreign = memory_open(f, other, 0x20000);

    reference(&c, 0, foreign, false);
    CHECK_RULE("PATCH-072", render_lists(&c, 16, 1, 0) == STATUS_INVALID_HANDLE);
    c.lists.allocations[0].hAllocation = 0x7FFFFFF0;
    CHECK_RULE("PATCH-072", render_lists(&c, 16, 1, 0) == STATUS_INVALID_HANDLE);
    reference(&c, 0, mine, false);
    mine->physical = false;
    CHECK_RULE("RES-032", render_lists(&c, 16, 1, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PATCH-131", calls_of(f, CALL_RENDER) == 0);
    mine->physical = mine->offered = true;
    CHECK_RULE("KMT-310", render_lists(&c, 16, 1, 0) == STATUS_GRAPHICS_ALLOCATION_INVALID);
    mine->offered = false;
    mine->read_only = true;
    reference(&c, 0, mine, true);
    CHECK_RULE("KMT-311", render_lists(&c, 16, 1, 0) == STATUS_ACCESS_DENIED);
    CHECK_RULE("PATCH-072", calls_of(f, CALL_RENDER) == 0);
    CHECK_RULE("KMT-311", calls_of(f, CALL_RENDER) == 0);
    CHECK_RULE("RES-032", vidsch_device_state(c.device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    memory_close(f, foreign);
    CHECK(render(c.context, 16) == STATUS_SUCCESS);
    idle(&c);
    memory_close(f, mine);
    vidsch_device_destroy(other);
    vidsch_device_destroy(c.device);
}

/* ---- from Render to Patch and SubmitCommand ---- */

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

static void patch_and_submit_describe_the_same_packet(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000), *b = memory_open(f, c.device, 0x20000);
    const DXGKARG_RENDER *given;
    const DXGKARG_PATCH *patch;
    const DXGKARG_SUBMITCOMMAND *sent;
    const struct call *call;

    a->place.resident = false; /* paged out at Render, elsewhere at Patch */
    reference(&c, 0, a, true);
    reference(&c, 1, b, false);
    f->driver.on_render = write_with_private;
    f->driver.on_patch = patch_private;
    c.device->mm->missing = true;
    CHECK(render_lists(&c, 16, 2, 0) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-139", calls_of(f, CALL_PATCH) == 0);
    a->place = (struct vidmm_place){true, 2, 0x77000, a->place.device_specific};
    c.device->mm->missing = false;
    vidsch_for_vidmm.device_resident(c.device->mm);
    idle(&c);
    given = &call_at(f, CALL_RENDER, 0)->render.args;
    call = call_at(f, CALL_PATCH, 0);
    patch = &call->patch.args;
    sent = &call_at(f, CALL_SUBMIT, 0)->submit;
    CHECK_RULE("PATCH-138", call->irql == SIM_IRQL_PASSIVE && call->handle == f->ddi.context);
    CHECK_RULE("PATCH-139", call < call_at(f, CALL_SUBMIT, 0));
    CHECK_RULE("PATCH-143", patch->hContext == c.context->mm.driver_handle);
    CHECK_RULE("PATCH-144",
               patch->DmaBufferSegmentId == 0 && patch->DmaBufferPhysicalAddress.QuadPart ==
                                                     given->DmaBufferPhysicalAddress.QuadPart);
    CHECK_RULE("PATCH-145", patch->pDmaBuffer == given->pDmaBuffer && patch->DmaBufferSize == 8192);
    CHECK_RULE("PATCH-146", patch->DmaBufferSubmissionStartOffset == 0 &&
                                patch->DmaBufferSubmissionEndOffset == 100 &&
                                sent->DmaBufferSubmissionStartOffset == 0 &&
                                sent->DmaBufferSubmissionEndOffset == 100);
    CHECK_RULE("PATCH-120", calls_of(f, CALL_SUBMIT) == 1 &&
                                sent->DmaBufferSubmissionStartOffset == 0 &&
                                sent->DmaBufferSubmissionEndOffset == 100);
    CHECK_RULE("PATCH-147", patch->pDmaBufferPrivateData == given->pDmaBufferPrivateData &&
                                patch->DmaBufferPrivateDataSize == 32 &&
                                patch->DmaBufferPrivateDataSubmissionStartOffset == 0);
    CHECK_RULE("PATCH-069", patch->DmaBufferPrivateDataSubmissionEndOffset == 12);
    CHECK_RULE("PATCH-148", patch->AllocationListSize == 2 && call->patch.list[0].SegmentId == 2 &&
                                call->patch.list[0].PhysicalAddress.QuadPart == 0x77000 &&
                                call->patch.list[0].WriteOperation &&
                                call->patch.list[1].PhysicalAddress.QuadPart == 0x20000);
    CHECK_RULE("PATCH-149", patch->PatchLocationListSize == 2 &&
                                patch->pPatchLocationList == given->pPatchLocationListOut);
    CHECK_RULE("PATCH-150", patch->PatchLocationListSubmissionStart == 0 &&
                                patch->PatchLocationListSubmissionLength == 2);
    CHECK_RULE("PATCH-106",
               call->patch.patches[0].DriverId == 0xAB && call->patch.patches[1].DriverId == 0xCD);
    CHECK_RULE("PATCH-107", call->patch.patches[0].AllocationOffset == 0x40);
    CHECK_RULE("PATCH-128", calls_of(f, CALL_PATCH) == 1);
    CHECK_RULE("PATCH-153",
               patch->SubmissionFenceId == sent->SubmissionFenceId && sent->SubmissionFenceId == 1);
    CHECK_RULE("PATCH-154", patch->Flags.Value == 0);
    CHECK_RULE("PATCH-155", patch->EngineOrdinal == 0);
    CHECK_RULE("SUBMIT-026", call_at(f, CALL_SUBMIT, 0)->irql == SIM_IRQL_DISPATCH);
    CHECK_RULE("SUBMIT-028", sent->hContext == c.context->mm.driver_handle);
    CHECK_RULE("SUBMIT-030", sent->DmaBufferSegmentId == 0 && sent->DmaBufferSize == 8192 &&
                                 sent->DmaBufferPhysicalAddress.QuadPart ==
                                     patch->DmaBufferPhysicalAddress.QuadPart);
    CHECK_RULE("SUBMIT-031", sent->pDmaBufferPrivateData == patch->pDmaBufferPrivateData &&
                                 sent->DmaBufferPrivateDataSize == 32 &&
                                 sent->DmaBufferPrivateDataSubmissionEndOffset == 12 &&
                                 *(uint8_t *)sent->pDmaBufferPrivateData == 0x5A);
    CHECK_RULE("SUBMIT-032", sent->NodeOrdinal == 0);
    CHECK_RULE("SUBMIT-033", sent->EngineOrdinal == 0 && sent->DmaBufferVirtualAddress == 0);
    CHECK_RULE("SUBMIT-034", sent->VidPnSourceId == 0 && sent->FlipInterval == 0);
    CHECK_RULE("SUBMIT-035", sent->Flags.Value == 0);
    CHECK(f->vidsch->statistics.patches == 2);
    memory_close(f, a);
    memory_close(f, b);
    vidsch_device_destroy(c.device);
}

static NTSTATUS write_nothing(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    (void)args;
    return STATUS_SUCCESS;
}

static void an_empty_translation_is_submitted(struct fixture *f)
{
    struct client c = make_client(f);
    const DXGKARG_SUBMITCOMMAND *sent;

    f->driver.on_render = write_nothing;
    CHECK(render(c.context, 16) == STATUS_SUCCESS);
    idle(&c);
    sent = &last_call(f, CALL_SUBMIT)->submit;
    CHECK_RULE("PATCH-095",
               calls_of(f, CALL_PATCH) == 1 && calls_of(f, CALL_SUBMIT) == 1 &&
                   sent->DmaBufferSubmissionStartOffset == sent->DmaBufferSubmissionEndOffset &&
                   !sent->Flags.ContextSwitch);
    CHECK_RULE("PATCH-140", calls_of(f, CALL_PATCH) == 1);
    CHECK_RULE("PATCH-069", sent->DmaBufferPrivateDataSubmissionEndOffset == 32);
    vidsch_device_destroy(c.device);
}

static void without_private_data(struct fixture *f)
{
    struct client c;

    f->driver.info[0].DmaBufferPrivateDataSize = 0;
    c = make_client(f);
    CHECK(render(c.context, 16) == STATUS_SUCCESS);
    idle(&c);
    CHECK_RULE("PATCH-041",
               !last_call(f, CALL_RENDER)->render.args.pDmaBufferPrivateData &&
                   last_call(f, CALL_RENDER)->render.args.DmaBufferPrivateDataSize == 0);
    CHECK_RULE("PATCH-041", !last_call(f, CALL_PATCH)->patch.args.pDmaBufferPrivateData &&
                                last_call(f, CALL_PATCH)->patch.args.DmaBufferPrivateDataSize == 0);
    CHECK_RULE("PATCH-041", !last_call(f, CALL_SUBMIT)->submit.pDmaBufferPrivateData &&
                                last_call(f, CALL_SUBMIT)->submit.DmaBufferPrivateDataSize == 0);
    vidsch_device_destroy(c.device);
}

static NTSTATUS mark_private(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    ((uint8_t *)args->pDmaBufferPrivateData)[0]++;
    return STATUS_SUCCESS;
}

static void buffers_are_recycled_with_their_private_data(struct fixture *f)
{
    struct client c = make_client(f);
    const void *used[3];

    f->driver.on_render = mark_private;
    f->driver.engine[0].hang = true;
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(render(c.context, 16) == STATUS_SUCCESS);
        used[i] = call_at(f, CALL_RENDER, i)->render.args.pDmaBuffer;
        CHECK_RULE("PATCH-042", call_at(f, CALL_RENDER, i)->render.private_byte == 0);
    }
    CHECK_RULE("PATCH-043", used[0] != used[1] && used[1] != used[2] && used[0] != used[2]);
    driver_run(f, 0);
    idle(&c);
    render(c.context, 16); /* in the buffer that was reserved for it */
    idle(&c);
    render(c.context, 16);
    idle(&c);
    CHECK_RULE("PATCH-042", last_call(f, CALL_RENDER)->render.private_byte != 0);
    CHECK(c.context->buffers <= 5);
    vidsch_device_destroy(c.device);
}

static void addresses_stay_below_the_highest(struct fixture *f)
{
    struct client c = make_client(f);

    CHECK(render(c.context, 16) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-044",
               last_call(f, CALL_RENDER)->render.args.DmaBufferPhysicalAddress.QuadPart + 8191 <=
                   0x3FFFFF);
    idle(&c);
    vidsch_device_destroy(c.device);
}

static void device_addresses_are_logical(struct fixture *f)
{
    struct client c = make_client(f);
    struct phys_addr physical, translated;
    struct logical_addr logical;

    CHECK(render(c.context, 16) == STATUS_SUCCESS);
    logical.value =
        (uint64_t)last_call(f, CALL_RENDER)->render.args.DmaBufferPhysicalAddress.QuadPart;
    CHECK(ram_physical(f->ram, last_call(f, CALL_RENDER)->render.args.pDmaBuffer, &physical));
    CHECK(iommu_translate(f->domain, logical, IOMMU_READ, &translated) &&
          translated.value == physical.value);
    physical.value += 8192; /* the guard page is not the device's */
    CHECK(ram_page_iommu_maps(f->ram, phys_page(physical)) == 0);
    idle(&c);
    vidsch_device_destroy(c.device);
}

static void null_rendering_is_passed_on(struct fixture *f)
{
    struct client c = make_client(f);
    D3DKMT_RENDER args = {.CommandLength = 16, .Flags.NullRendering = 1};
    struct vidsch_context_request request = {
        .node = 1, .virtual_addressing = true, .flags.NullRendering = 1};
    struct vidsch_context *null;

    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK(vidsch_context_create(c.device, &request, &null) == STATUS_SUCCESS &&
          submit(null, 0, 0) == STATUS_SUCCESS);
    idle(&c);
    CHECK_RULE("PATCH-096", last_call(f, CALL_PATCH)->patch.args.Flags.Value == 8 &&
                                last_call(f, CALL_SUBMIT)->submit.Flags.Value == 8);
    CHECK_RULE("PATCH-154", last_call(f, CALL_PATCH)->patch.args.Flags.NullRendering);
    CHECK_RULE("PATCH-096",
               last_call(f, CALL_SUBMIT_VIRTUAL)->submit_virtual.args.Flags.NullRendering);
    vidsch_device_destroy(c.device);
}

/* ---- several passes ---- */

static UINT passes_left;

static NTSTATUS three_passes(struct fixture *f, DXGKARG_RENDER *args)
{
    NTSTATUS last = f->driver.status[CALL_RENDER];

    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + 10 * passes_left;
    args->MultipassOffset += 7;
    args->pAllocationList[0].hDeviceSpecificAllocation = NULL;
    if (--passes_left)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    return last;
}

static void passes_are_queued_one_by_one(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    reference(&c, 0, a, false);
    passes_left = 3;
    f->driver.on_render = three_passes;
    CHECK_RULE("PATCH-087",
               render_lists(&c, 64, 1, 0) == STATUS_SUCCESS && calls_of(f, CALL_RENDER) == 3);
    idle(&c);
    for (uint32_t i = 0; i < 3; i++) {
        const struct call *call = call_at(f, CALL_RENDER, i);

        CHECK_RULE("PATCH-086", call->render.args.MultipassOffset == 7 * i);
        CHECK_RULE("PATCH-087", call->render.args.pCommand == c.lists.command_buffer &&
                                    call->render.args.CommandLength == 64);
        CHECK_RULE("PATCH-087",
                   call->render.list[0].hDeviceSpecificAllocation == a->place.device_specific);
        CHECK_RULE("PATCH-090",
                   call_at(f, CALL_SUBMIT, i)->submit.DmaBufferSubmissionEndOffset == 10 * (3 - i));
        CHECK_RULE("PATCH-082",
                   call_at(f, CALL_PATCH, i)->patch.list[0].hDeviceSpecificAllocation == NULL);
    }
    CHECK_RULE("PATCH-087", call_at(f, CALL_RENDER, 0)->render.args.pDmaBuffer !=
                                    call_at(f, CALL_RENDER, 1)->render.args.pDmaBuffer &&
                                call_at(f, CALL_RENDER, 0)->render.args.pPatchLocationListOut !=
                                    call_at(f, CALL_RENDER, 1)->render.args.pPatchLocationListOut);
    memory_close(f, a);
    vidsch_device_destroy(c.device);
}

static void earlier_passes_run_when_a_later_one_fails(struct fixture *f)
{
    struct client c = make_client(f);

    passes_left = 3;
    f->driver.on_render = three_passes;
    f->driver.status[CALL_RENDER] = STATUS_ILLEGAL_INSTRUCTION;
    c.lists.allocations[0].hAllocation = 0;
    CHECK_RULE("PATCH-094", render_lists(&c, 64, 1, 0) == STATUS_ILLEGAL_INSTRUCTION);
    idle(&c);
    CHECK_RULE("PATCH-094", calls_of(f, CALL_SUBMIT) == 2);
    vidsch_device_destroy(c.device);
}

static NTSTATUS no_progress(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    (void)args;
    return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
}

static void no_progress_is_refused(struct fixture *f)
{
    struct client c = make_client(f);

    f->driver.on_render = no_progress;
    CHECK_RULE("PATCH-088", render(c.context, 64) == STATUS_NO_MEMORY &&
                                calls_of(f, CALL_RENDER) == 1 && violations(f, "PATCH-088") == 1);
    idle(&c);
    CHECK(calls_of(f, CALL_SUBMIT) == 0 &&
          vidsch_device_state(c.device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    vidsch_device_destroy(c.device);
}

/* ---- statuses ---- */

static void statuses_reach_the_client(struct fixture *f)
{
    static const NTSTATUS documented[] = {
        STATUS_PRIVILEGED_INSTRUCTION,   STATUS_ILLEGAL_INSTRUCTION, STATUS_INVALID_PARAMETER,
        STATUS_INVALID_USER_BUFFER,      STATUS_INVALID_HANDLE,      STATUS_NO_MEMORY,
        STATUS_GRAPHICS_DRIVER_MISMATCH,
    };
    struct client c = make_client(f);

    for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++) {
        f->driver.status[CALL_RENDER] = documented[i];
        CHECK_RULE("PATCH-091", render(c.context, 16) == documented[i]);
    }
    CHECK_RULE("PATCH-091", calls_of(f, CALL_SUBMIT) == 0 &&
                                vidsch_device_state(c.device) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                                violations(f, "PATCH-093") == 0);
    f->driver.status[CALL_RENDER] = STATUS_UNSUCCESSFUL;
    CHECK_RULE("PATCH-093",
               render(c.context, 16) == STATUS_UNSUCCESSFUL && violations(f, "PATCH-093") == 1);
    f->driver.status[CALL_RENDER] = STATUS_PENDING;
    CHECK_RULE("PATCH-093", render(c.context, 16) == STATUS_SUCCESS);
    f->driver.status[CALL_RENDER] = STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE;
    CHECK_RULE("PATCH-092", render(c.context, 16) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    f->driver.status[CALL_RENDER] = STATUS_SUCCESS;
    CHECK_RULE("PATCH-092", render(c.context, 16) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE &&
                                vidsch_device_state(c.device) != D3DKMT_DEVICEEXECUTION_ACTIVE);
    idle(&c);
    vidsch_device_destroy(c.device);
}

/* ---- the patch-location list ---- */

static D3DDDI_PATCHLOCATIONLIST *patch_of(struct client *c, UINT index, UINT allocation, UINT offset)
{
    c->lists.patches[index] = (D3DDDI_PATCHLOCATIONLIST){.AllocationIndex = allocation,
                                                         .PatchOffset = offset};
    return &c->lists.patches[index];
}

static void patch_locations_are_checked(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    reference(&c, 0, NULL, false);
    reference(&c, 1, a, false);
    patch_of(&c, 0, 2, 0);
    CHECK_RULE("PATCH-101", render_lists(&c, 64, 2, 1) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PATCH-102", violations(f, "PATCH-102") == 1);
    patch_of(&c, 0, 1, 64);
    CHECK_RULE("PATCH-110", render_lists(&c, 64, 2, 1) == STATUS_INVALID_PARAMETER &&
                                violations(f, "PATCH-110") == 1);
    idle(&c);
    CHECK_RULE("PATCH-102", calls_of(f, CALL_SUBMIT) == 0);
    patch_of(&c, 0, 1, 63);
    patch_of(&c, 1, 0, 1000);
    CHECK_RULE("PATCH-110",
               render_lists(&c, 64, 2, 2) == STATUS_SUCCESS && violations(f, "PATCH-110") == 1);
    patch_of(&c, 0, 1, 0)->Reserved = 0x81;
    patch_of(&c, 1, 0, 0)->AllocationOffset = 4;
    CHECK_RULE("PATCH-105",
               render_lists(&c, 64, 2, 2) == STATUS_SUCCESS && violations(f, "PATCH-105") == 1);
    CHECK_RULE("PATCH-108", violations(f, "PATCH-108") == 1);
    patch_of(&c, 0, 1, 32)->SplitOffset = 60; /* behind its own location, and then falling */
    patch_of(&c, 1, 1, 8)->SlotId = 0xFFFFFF;
    CHECK_RULE("PATCH-130", render_lists(&c, 64, 2, 2) == STATUS_SUCCESS);
    idle(&c);
    CHECK_RULE("PATCH-130",
               calls_of(f, CALL_SUBMIT) == 3 && verify_count(f->log, VERIFY_ERROR) == 4);
    memory_close(f, a);
    vidsch_device_destroy(c.device);
}

static NTSTATUS between_elements(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pPatchLocationListOut = (D3DDDI_PATCHLOCATIONLIST *)((char *)args->pPatchLocationListOut +
                                                               7);
    return STATUS_SUCCESS;
}

static NTSTATUS before_the_list(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pPatchLocationListOut--;
    return STATUS_SUCCESS;
}

static NTSTATUS past_the_list(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pPatchLocationListOut += args->PatchLocationListOutSize + 1;
    return STATUS_SUCCESS;
}

static void bad_list_pointers_are_refused(struct fixture *f)
{
    struct client c = make_client(f);

    f->driver.on_render = between_elements;
    CHECK_RULE("PATCH-085", render(c.context, 16) == STATUS_INVALID_PARAMETER);
    f->driver.on_render = before_the_list;
    CHECK_RULE("PATCH-085", render(c.context, 16) == STATUS_INVALID_PARAMETER);
    f->driver.on_render = past_the_list;
    CHECK_RULE("PATCH-085", render(c.context, 16) == STATUS_INVALID_PARAMETER &&
                                violations(f, "PATCH-085") == 3);
    idle(&c);
    CHECK_RULE("PATCH-085", calls_of(f, CALL_SUBMIT) == 0);
    vidsch_device_destroy(c.device);
}

static void an_allocation_that_is_not_resident_rejects_the_packet(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    a->listed = false;
    reference(&c, 0, a, false);
    CHECK(render_lists(&c, 16, 1, 0) == STATUS_SUCCESS);
    idle(&c);
    CHECK_RULE("GPUVA-247",
               calls_of(f, CALL_PATCH) == 0 && calls_of(f, CALL_SUBMIT) == 0 &&
                   vidsch_device_state(c.device) == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    CHECK_RULE("PATCH-129", calls_of(f, CALL_PATCH) == 0 && calls_of(f, CALL_SUBMIT) == 0);
    CHECK(render(c.context, 16) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    memory_close(f, a);
    vidsch_device_destroy(c.device);
}

/* ---- fatal ---- */

static NTSTATUS past_the_buffer(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->DmaSize + 1;
    return STATUS_SUCCESS;
}

static NTSTATUS to_the_very_end(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + args->DmaSize;
    args->pPatchLocationListOut += args->PatchLocationListOutSize;
    args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData +
                                  args->DmaBufferPrivateDataSize;
    memset((uint8_t *)args->pDmaBuffer - 1, 1, 1);
    return STATUS_SUCCESS;
}

static NTSTATUS before_the_private_data(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData - 1;
    return STATUS_SUCCESS;
}

static NTSTATUS scribble_behind_the_buffer(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    ((uint8_t *)args->pDmaBuffer)[args->DmaSize] = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS scribble_behind_the_private_data(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    ((uint8_t *)args->pDmaBufferPrivateData)[args->DmaBufferPrivateDataSize] = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS scribble_behind_the_list(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pPatchLocationListOut[args->PatchLocationListOutSize].DriverId = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS scribble_in_patch(struct fixture *f, const DXGKARG_PATCH *args)
{
    (void)f;
    ((uint8_t *)args->pDmaBuffer)[-1] = 0;
    return STATUS_SUCCESS;
}

static void render_once(struct fixture *f)
{
    struct client c = make_client(f);

    render(c.context, 16);
    idle(&c);
    vidsch_device_destroy(c.device);
}

static void the_very_end_is_legal(struct fixture *f)
{
    struct client c = make_client(f);

    f->driver.on_render = to_the_very_end;
    CHECK_RULE("PATCH-065", render_lists(&c, 16, 1, 0) == STATUS_SUCCESS);
    idle(&c);
    CHECK_RULE("PATCH-065", last_call(f, CALL_SUBMIT)->submit.DmaBufferSubmissionEndOffset == 8192);
    CHECK_RULE("PATCH-149", last_call(f, CALL_PATCH)->patch.args.PatchLocationListSize == 16);
    vidsch_device_destroy(c.device);
}

#define SET(name, member, value)        \
    static void name(struct fixture *f) \
    {                                   \
        f->driver.member = value;       \
    }
SET(set_past_the_buffer, on_render, past_the_buffer)
SET(set_before_the_private_data, on_render, before_the_private_data)
SET(set_scribble_buffer, on_render, scribble_behind_the_buffer)
SET(set_scribble_private, on_render, scribble_behind_the_private_data)
SET(set_scribble_list, on_render, scribble_behind_the_list)
SET(set_scribble_patch, on_patch, scribble_in_patch)
SET(set_patch_fails, status[CALL_PATCH], STATUS_NO_MEMORY)
SET(set_submit_fails, status[CALL_SUBMIT], STATUS_INVALID_PARAMETER)

static void fatal(void (*prepare)(struct fixture *f), const char *rule, uint32_t code,
                  uint64_t parameter)
{
    FATAL((&(struct fixture_options){.prepare = prepare}), render_once, rule, code, parameter);
}

static void overruns_and_failures_are_fatal(void **state)
{
    (void)state;
    fatal(set_past_the_buffer, "PATCH-065", 0x10E, 0x12);
    fatal(set_before_the_private_data, "PATCH-070", 0x10E, 0x13);
    fatal(set_scribble_buffer, "PATCH-066", 0x10E, 0x12);
    fatal(set_scribble_private, "PATCH-066", 0x10E, 0x13);
    fatal(set_scribble_list, "PATCH-066", 0x10E, 0x12);
    fatal(set_scribble_patch, "PATCH-066", 0x10E, 0x12);
    fatal(set_patch_fails, "PATCH-157", 0x119, 0x3);
    fatal(set_submit_fails, "SUBMIT-037", 0x119, 0x2);
}

static void a_failed_patch_is_not_submitted(void **state)
{
    struct fixture *f = fixture_run(&(struct fixture_options){.prepare = set_patch_fails},
                                    render_once);

    (void)state;
    CHECK_RULE("PATCH-157", f->bug.happened && calls_of(f, CALL_SUBMIT) == 0);
    fixture_close(f);
}

/* ---- sizes, counts, broadcast ---- */

static void sizes_change_on_request(struct fixture *f)
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
    idle(&c);
    vidsch_device_destroy(c.device);
}

static void queued_buffers_are_counted(struct fixture *f)
{
    struct client c = make_client(f);

    f->driver.engine[0].hang = true;
    for (ULONG i = 1; i <= 4; i++) {
        D3DKMT_RENDER args = {.CommandLength = 16};

        CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
        CHECK_RULE("PATCH-058", args.QueuedBufferCount == i);
    }
    driver_run(f, 0);
    idle(&c);
    vidsch_device_destroy(c.device);
}

static void a_broadcast_runs_in_every_context(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidsch_device *foreign = make_device(f);
    struct vidsch_context *other = make_context(c.device, 0), *far = make_context(foreign, 0);
    D3DKMT_HANDLE handles[3] = {handle_create(&f->process->handles, NT_CLIENT_CONTEXT, other),
                                handle_create(&f->process->handles, NT_CLIENT_CONTEXT, c.context),
                                handle_create(&f->process->handles, NT_CLIENT_CONTEXT, far)};
    D3DKMT_RENDER args = {.CommandLength = 16, .BroadcastContextCount = 1};

    args.BroadcastContext[0] = handles[0];
    CHECK_RULE("PATCH-059", vidsch_render(c.context, &args) == STATUS_SUCCESS);
    idle(&c);
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
        handle_remove(&f->process->handles, handles[i], NT_CLIENT_CONTEXT);
    vidsch_device_destroy(foreign);
    vidsch_device_destroy(c.device);
}

static void render_thread(void *arg)
{
    struct client *c = arg;

    for (int i = 0; i < 5; i++)
        render(c->context, 16);
}

static void renders_of_a_process_never_overlap(struct fixture *f)
{
    struct client a = make_client(f), b = make_client(f);
    struct sim_thread *threads[3];

    f->driver.stall_ns = 20000;
    threads[0] = spawn(f, render_thread, &a);
    threads[1] = spawn(f, render_thread, &b);
    threads[2] = spawn(f, render_thread, &a); /* two in one context */
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    idle(&a);
    idle(&b);
    CHECK_RULE("PATCH-060", f->driver.most_inside_zero == 1);
    CHECK_RULE("PATCH-138", f->driver.most_inside == 1);
    CHECK_RULE("SUBMIT-152", f->driver.overlapped); /* the class runs beside level zero */
    CHECK(calls_of(f, CALL_SUBMIT) == 15);
    vidsch_device_destroy(a.device);
    vidsch_device_destroy(b.device);
}

static void paging_is_patched_without_lists(struct fixture *f)
{
    uint64_t ticket = page(f, 128);
    const DXGKARG_PATCH *patch;
    const DXGKARG_SUBMITCOMMAND *sent;

    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-152", calls_of(f, CALL_PATCH) == 1 &&
                                call_at(f, CALL_PATCH, 0)->patch.args.Flags.Value == 1);
    patch = &call_at(f, CALL_PATCH, 0)->patch.args;
    sent = &call_at(f, CALL_SUBMIT, 0)->submit;
    CHECK_RULE("PATCH-151", !patch->pAllocationList && !patch->pPatchLocationList &&
                                patch->AllocationListSize == 0 &&
                                patch->PatchLocationListSize == 0 &&
                                patch->PatchLocationListSubmissionStart == 0 &&
                                patch->PatchLocationListSubmissionLength == 0);
    CHECK_RULE("PAGE-018", patch->pDmaBuffer && patch->DmaBufferSubmissionEndOffset == 128);
    CHECK_RULE("PAGE-019", sent->Flags.Value == 1 &&
                               sent->hContext == f->vidsch->system_context->mm.driver_handle);
    CHECK_RULE("SUBMIT-029", sent->hContext == f->vidsch->system_context->mm.driver_handle);
    CHECK_RULE("PATCH-153", patch->SubmissionFenceId == sent->SubmissionFenceId);
    CHECK_RULE("PAGE-003", patch->DmaBufferSize == 12288);
    CHECK_RULE("PAGE-005", patch->DmaBufferPrivateDataSize == 24 &&
                               *(uint8_t *)patch->pDmaBufferPrivateData == 0);
}

#define TEST(name, ...)                                              \
    static void test_##name(void **state)                            \
    {                                                                \
        (void)state;                                                 \
        fixture_check(&(struct fixture_options){__VA_ARGS__}, name); \
    }

/* ---- DMA buffers in an aperture segment ---- */

static void want_aperture(struct fixture *f)
{
    f->driver.info[0].DmaBufferSegmentSet = 2;
}

static void a_buffer_in_an_aperture_is_mapped_before_it_is_used(struct fixture *f)
{
    struct client c = make_client(f);
    const DXGKARG_RENDER *given;
    const DXGKARG_PATCH *patch;
    const DXGKARG_SUBMITCOMMAND *sent;

    CHECK_RULE("PATCH-040", f->mm.mapped > 0 && calls_of(f, CALL_PATCH) == 0);
    CHECK(render(c.context, 64) == STATUS_SUCCESS);
    idle(&c);
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

/* ---- WDDM 1.x ---- */

static void a_1x_submission_says_what_must_be_resident(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    a->listed = false; /* no client ever asked for it */
    reference(&c, 0, a, true);
    CHECK(render_lists(&c, 16, 1, 0) == STATUS_SUCCESS);
    idle(&c);
    CHECK_RULE("RES-002", f->mm.lists == 1 && a->listed && calls_of(f, CALL_SUBMIT) == 1);
    memory_close(f, a);
    vidsch_device_destroy(c.device);
}

static void a_1x_submission_waits_for_room(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    reference(&c, 0, a, true);
    CHECK(render_lists(&c, 16, 1, 0) == STATUS_SUCCESS);
    f->mm.full = 1;
    CHECK(render_lists(&c, 16, 1, 0) == STATUS_SUCCESS);
    idle(&c);
    CHECK_RULE("RES-002", f->mm.narrow_lists == 1 && f->mm.pending_at_narrow == 0 &&
                              calls_of(f, CALL_SUBMIT) == 2);
    memory_close(f, a);
    vidsch_device_destroy(c.device);
}

static void a_1x_submission_that_never_fits_costs_the_device(struct fixture *f)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    reference(&c, 0, a, true);
    f->mm.full = 2;
    CHECK_RULE("RES-005", render_lists(&c, 16, 1, 0) == STATUS_NO_MEMORY);
    CHECK_RULE("RES-005", !NT_SUCCESS(render_lists(&c, 16, 1, 0)) && calls_of(f, CALL_RENDER) == 0);
    memory_close(f, a);
    vidsch_device_destroy(c.device);
}

TEST(render_arguments, 0)
TEST(bad_arguments_do_not_reach_the_driver, 0)
TEST(the_allocation_list_is_converted, 0)
TEST(bad_allocations_are_refused, 0)
TEST(patch_and_submit_describe_the_same_packet, 0)
TEST(an_empty_translation_is_submitted, 0)
TEST(without_private_data, 0)
TEST(buffers_are_recycled_with_their_private_data, 0)
TEST(addresses_stay_below_the_highest, .highest_address = 0x3FFFFF)
TEST(device_addresses_are_logical, .wide_iommu = true)
TEST(null_rendering_is_passed_on, 0)
TEST(passes_are_queued_one_by_one, 0)
TEST(earlier_passes_run_when_a_later_one_fails, 0)
TEST(no_progress_is_refused, 0)
TEST(statuses_reach_the_client, 0)
TEST(patch_locations_are_checked, 0)
TEST(bad_list_pointers_are_refused, 0)
TEST(an_allocation_that_is_not_resident_rejects_the_packet, 0)
TEST(the_very_end_is_legal, 0)
TEST(sizes_change_on_request, 0)
TEST(queued_buffers_are_counted, 0)
TEST(a_broadcast_runs_in_every_context, 0)
TEST(renders_of_a_process_never_overlap, 0)
TEST(paging_is_patched_without_lists, .physical_paging = true)
TEST(a_buffer_in_an_aperture_is_mapped_before_it_is_used, .aperture_set = 2,
     .prepare = want_aperture)
TEST(a_1x_submission_says_what_must_be_resident, .version = DXGKDDI_INTERFACE_VERSION_WDDM1_3)
TEST(a_1x_submission_waits_for_room, .version = DXGKDDI_INTERFACE_VERSION_WDDM1_3)
TEST(a_1x_submission_that_never_fits_costs_the_device, .version = DXGKDDI_INTERFACE_VERSION_WDDM1_3)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_render_arguments),
        cmocka_unit_test(test_bad_arguments_do_not_reach_the_driver),
        cmocka_unit_test(test_the_allocation_list_is_converted),
        cmocka_unit_test(test_bad_allocations_are_refused),
        cmocka_unit_test(test_patch_and_submit_describe_the_same_packet),
        cmocka_unit_test(test_an_empty_translation_is_submitted),
        cmocka_unit_test(test_without_private_data),
        cmocka_unit_test(test_buffers_are_recycled_with_their_private_data),
        cmocka_unit_test(test_addresses_stay_below_the_highest),
        cmocka_unit_test(test_device_addresses_are_logical),
        cmocka_unit_test(test_null_rendering_is_passed_on),
        cmocka_unit_test(test_passes_are_queued_one_by_one),
        cmocka_unit_test(test_earlier_passes_run_when_a_later_one_fails),
        cmocka_unit_test(test_no_progress_is_refused),
        cmocka_unit_test(test_statuses_reach_the_client),
        cmocka_unit_test(test_patch_locations_are_checked),
        cmocka_unit_test(test_bad_list_pointers_are_refused),
        cmocka_unit_test(test_an_allocation_that_is_not_resident_rejects_the_packet),
        cmocka_unit_test(test_the_very_end_is_legal),
        cmocka_unit_test(overruns_and_failures_are_fatal),
        cmocka_unit_test(a_failed_patch_is_not_submitted),
        cmocka_unit_test(test_sizes_change_on_request),
        cmocka_unit_test(test_queued_buffers_are_counted),
        cmocka_unit_test(test_a_broadcast_runs_in_every_context),
        cmocka_unit_test(test_renders_of_a_process_never_overlap),
        cmocka_unit_test(test_paging_is_patched_without_lists),
        cmocka_unit_test(test_a_buffer_in_an_aperture_is_mapped_before_it_is_used),
        cmocka_unit_test(test_a_1x_submission_says_what_must_be_resident),
        cmocka_unit_test(test_a_1x_submission_waits_for_room),
        cmocka_unit_test(test_a_1x_submission_that_never_fits_costs_the_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
