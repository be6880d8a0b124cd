/* SPDX-License-Identifier: MIT */
/* Render, Patch and SubmitCommand: physical mode from the client's command buffer to the node. */
#include "nt/base/kprocess.h"
#include "ram/ram.h"
#include "sim/irql.h"
#include "verify/refusal.h"
#include "vidsch/support/render_client.h"

#include <string.h>

/* ---- what Render is given ---- */

TEST_WITH(fixture, render_is_given_the_commands)
{
    struct client c = make_client(f);
    D3DKMT_RENDER args = {
        .CommandOffset = 16, .CommandLength = 80, .AllocationCount = 1, .PatchLocationCount = 3};
    const DXGKARG_RENDER *given;
    const struct call *call;

    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    call = last_call(f, CALL_RENDER);
    given = &call->render.args;
    CHECK_RULE("PATCH-060", call->irql == SIM_IRQL_PASSIVE && call->process == f->process->id);
    CHECK(call->handle == c.context->mm.driver_handle);
    CHECK_RULE("PATCH-063", given->pCommand == (char *)c.lists.command_buffer + 16 &&
                                given->CommandLength == 64);
    CHECK_RULE("PATCH-061", given->pCommand == (char *)c.lists.command_buffer + 16 &&
                                given->pPatchLocationListIn == c.lists.patches);
    CHECK_RULE("PATCH-083", given->PatchLocationListInSize == 3);
    CHECK_RULE("PATCH-086", given->MultipassOffset == 0);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, render_is_given_room)
{
    struct client c = make_client(f);
    D3DKMT_RENDER args = {
        .CommandOffset = 16, .CommandLength = 80, .AllocationCount = 1, .PatchLocationCount = 3};
    const DXGKARG_RENDER *given;

    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    given = &last_call(f, CALL_RENDER)->render.args;
    CHECK_RULE("PATCH-064", (uintptr_t)given->pDmaBuffer % 4096 == 0);
    CHECK_RULE("PATCH-035", given->DmaSize >= 8192);
    CHECK_RULE("PATCH-067", given->DmaSize == 8192);
    CHECK_RULE("PATCH-056", given->DmaSize == c.lists.command_bytes);
    CHECK_RULE("PATCH-068", given->pDmaBufferPrivateData && given->DmaBufferPrivateDataSize == 32);
    CHECK_RULE("PATCH-084", given->pPatchLocationListOut && given->PatchLocationListOutSize == 16);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, render_is_told_where_the_buffer_is)
{
    struct client c = make_client(f);
    struct phys_addr physical;
    const DXGKARG_RENDER *given;

    CHECK(render(c.context, 16) == STATUS_SUCCESS);
    given = &last_call(f, CALL_RENDER)->render.args;
    CHECK(ram_physical(f->ram, given->pDmaBuffer, &physical));
    CHECK_RULE("PATCH-039",
               given->DmaBufferSegmentId == 0 &&
                   (uint64_t)given->DmaBufferPhysicalAddress.QuadPart == physical.value);
    CHECK_RULE("PATCH-039", ram_page_cache(f->ram, phys_page(physical)) == RAM_WRITE_COMBINED);
    CHECK_RULE("PATCH-089", (uint64_t)given->DmaBufferPhysicalAddress.QuadPart == physical.value);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, bad_arguments_do_not_reach_the_driver)
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
    CHECK_RULE("PATCH-097/a", vidsch_render(c.context, &args) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("KMT-301", render(is_virtual, 16) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PATCH-063", calls_of(f, CALL_RENDER) == 0);
    CHECK(render(c.context, 8192) == STATUS_SUCCESS);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, the_allocation_list_is_converted)
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
    idle(c.device);
    memory_close(f, a);
    memory_close(f, b);
    vidsch_device_destroy(c.device);
}

/* The last call on this stack was refused for that reason. */
static bool because(const struct refusal *call, const char *rule, const char *part)
{
    return call->rule && strcmp(call->rule, rule) == 0 && strstr(call->text, part);
}

TEST_WITH(fixture, refused_allocations_have_a_reason)
{
    struct client c = make_client(f);
    struct vidmm_open *mine = memory_open(f, c.device, 0x10000);
    struct refusal call;

    reference(&c, 0, mine, false);
    refusal_begin(&call);
    mine->physical = false;
    CHECK(render_lists(&c, 16, 1, 0) == STATUS_INVALID_PARAMETER);
    CHECK(because(&call, "RES-032", "element 0 of the allocation list"));
    CHECK(because(&call, "RES-032", "without AccessedPhysically"));
    mine->physical = mine->offered = true;
    CHECK(render_lists(&c, 16, 1, 0) == STATUS_GRAPHICS_ALLOCATION_INVALID);
    CHECK(because(&call, "KMT-310", "element 0 of the allocation list"));
    CHECK(because(&call, "KMT-310", "is offered"));
    mine->offered = false;
    CHECK(render_lists(&c, 0x100000, 1, 0) == STATUS_INVALID_PARAMETER);
    CHECK(because(&call, "PATCH-063", "CommandLength 1048576, the command buffer has"));
    CHECK(render_lists(&c, 16, 0x10000, 3) == STATUS_INVALID_PARAMETER);
    CHECK(because(&call, "KMT-303", "65536 allocations and 3 patch locations"));
    refusal_end(&call, "Render", STATUS_SUCCESS);
    memory_close(f, mine);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, bad_allocations_are_refused)
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
    idle(c.device);
    memory_close(f, mine);
    vidsch_device_destroy(other);
    vidsch_device_destroy(c.device);
}

/* ---- from Render to Patch and SubmitCommand ---- */

static NTSTATUS write_nothing(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    (void)args;
    return STATUS_SUCCESS;
}

TEST_WITH(fixture, an_empty_translation_is_submitted)
{
    struct client c = make_client(f);
    const DXGKARG_SUBMITCOMMAND *sent;

    f->driver.on_render = write_nothing;
    CHECK(render(c.context, 16) == STATUS_SUCCESS);
    idle(c.device);
    sent = &last_call(f, CALL_SUBMIT)->submit;
    CHECK_RULE("PATCH-095",
               calls_of(f, CALL_PATCH) == 1 && calls_of(f, CALL_SUBMIT) == 1 &&
                   sent->DmaBufferSubmissionStartOffset == sent->DmaBufferSubmissionEndOffset &&
                   !sent->Flags.ContextSwitch);
    CHECK_RULE("PATCH-140", calls_of(f, CALL_PATCH) == 1);
    CHECK_RULE("PATCH-069", sent->DmaBufferPrivateDataSubmissionEndOffset == 32);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, without_private_data)
{
    struct client c;

    f->driver.info[0].DmaBufferPrivateDataSize = 0;
    c = make_client(f);
    CHECK(render(c.context, 16) == STATUS_SUCCESS);
    idle(c.device);
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

TEST_WITH(fixture, buffers_are_recycled_with_their_private_data)
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
    idle(c.device);
    render(c.context, 16); /* in the buffer that was reserved for it */
    idle(c.device);
    render(c.context, 16);
    idle(c.device);
    CHECK_RULE("PATCH-042", last_call(f, CALL_RENDER)->render.private_byte != 0);
    CHECK(c.context->buffers <= 5);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, device_addresses_are_logical, .wide_iommu = true)
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
    idle(c.device);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, null_rendering_is_passed_on)
{
    struct client c = make_client(f);
    D3DKMT_RENDER args = {.CommandLength = 16, .Flags.NullRendering = 1};
    struct vidsch_context_request request = {
        .node = 1, .virtual_addressing = true, .flags.NullRendering = 1};
    struct vidsch_context *null;

    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK(vidsch_context_create(c.device, &request, &null) == STATUS_SUCCESS &&
          submit(null, 0, 0) == STATUS_SUCCESS);
    idle(c.device);
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

TEST_WITH(fixture, passes_are_queued_one_by_one)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    reference(&c, 0, a, false);
    passes_left = 3;
    f->driver.on_render = three_passes;
    CHECK_RULE("PATCH-087",
               render_lists(&c, 64, 1, 0) == STATUS_SUCCESS && calls_of(f, CALL_RENDER) == 3);
    idle(c.device);
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

TEST_WITH(fixture, earlier_passes_run_when_a_later_one_fails)
{
    struct client c = make_client(f);

    passes_left = 3;
    f->driver.on_render = three_passes;
    f->driver.status[CALL_RENDER] = STATUS_ILLEGAL_INSTRUCTION;
    c.lists.allocations[0].hAllocation = 0;
    CHECK_RULE("PATCH-094", render_lists(&c, 64, 1, 0) == STATUS_ILLEGAL_INSTRUCTION);
    idle(c.device);
    CHECK_RULE("PATCH-094", calls_of(f, CALL_SUBMIT) == 2);
    vidsch_device_destroy(c.device);
}

static NTSTATUS no_progress(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    (void)args;
    return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
}

TEST_WITH(fixture, no_progress_is_refused)
{
    struct client c = make_client(f);

    f->driver.on_render = no_progress;
    CHECK_RULE("PATCH-088", render(c.context, 64) == STATUS_NO_MEMORY &&
                                calls_of(f, CALL_RENDER) == 1 && violations(f, "PATCH-088") == 1);
    idle(c.device);
    CHECK(calls_of(f, CALL_SUBMIT) == 0 &&
          vidsch_device_state(c.device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    vidsch_device_destroy(c.device);
}

/* ---- statuses ---- */

TEST_WITH(fixture, statuses_reach_the_client)
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
    idle(c.device);
    vidsch_device_destroy(c.device);
}
