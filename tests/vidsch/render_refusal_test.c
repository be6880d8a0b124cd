/* SPDX-License-Identifier: MIT */
/* What Render and Patch may not do: bad patch locations, pointers out of bounds, writes behind buffers. */
#include "vidsch/support/render_client.h"

#include <string.h>

/* ---- the patch-location list ---- */

static D3DDDI_PATCHLOCATIONLIST *patch_of(struct client *c, UINT index, UINT allocation, UINT offset)
{
    c->lists.patches[index] = (D3DDDI_PATCHLOCATIONLIST){.AllocationIndex = allocation,
                                                         .PatchOffset = offset};
    return &c->lists.patches[index];
}

TEST_WITH(fixture, patch_locations_are_checked)
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
    idle(c.device);
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
    idle(c.device);
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

TEST_WITH(fixture, bad_list_pointers_are_refused)
{
    struct client c = make_client(f);

    f->driver.on_render = between_elements;
    CHECK_RULE("PATCH-085", render(c.context, 16) == STATUS_INVALID_PARAMETER);
    f->driver.on_render = before_the_list;
    CHECK_RULE("PATCH-085", render(c.context, 16) == STATUS_INVALID_PARAMETER);
    f->driver.on_render = past_the_list;
    CHECK_RULE("PATCH-085", render(c.context, 16) == STATUS_INVALID_PARAMETER &&
                                violations(f, "PATCH-085") == 3);
    idle(c.device);
    CHECK_RULE("PATCH-085", calls_of(f, CALL_SUBMIT) == 0);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, an_allocation_that_is_not_resident_rejects_the_packet)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    a->listed = false;
    reference(&c, 0, a, false);
    CHECK(render_lists(&c, 16, 1, 0) == STATUS_SUCCESS);
    idle(c.device);
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

static NTSTATUS scribble_behind_the_allocations(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    args->pAllocationList[args->AllocationListSize].SegmentId = 1; /* there is room, but not his */
    return STATUS_SUCCESS;
}

static NTSTATUS scribble_before_the_allocations(struct fixture *f, DXGKARG_RENDER *args)
{
    (void)f;
    ((uint8_t *)args->pAllocationList)[-1] = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS scribble_in_submit(struct fixture *f, const DXGKARG_SUBMITCOMMAND *args)
{
    (void)f;
    ((uint8_t *)args->pDmaBufferPrivateData)[args->DmaBufferPrivateDataSize + 63] ^= 1;
    return STATUS_SUCCESS;
}

static void render_once(struct fixture *f)
{
    struct client c = make_client(f);

    render(c.context, 16);
    idle(c.device);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, the_very_end_is_legal)
{
    struct client c = make_client(f);

    f->driver.on_render = to_the_very_end;
    CHECK_RULE("PATCH-065", render_lists(&c, 16, 1, 0) == STATUS_SUCCESS);
    idle(c.device);
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
SET(set_scribble_allocations, on_render, scribble_behind_the_allocations)
SET(set_scribble_before_allocations, on_render, scribble_before_the_allocations)
SET(set_scribble_submit, on_submit, scribble_in_submit)
SET(set_scribble_patch, on_patch, scribble_in_patch)
SET(set_patch_fails, status[CALL_PATCH], STATUS_NO_MEMORY)
SET(set_submit_fails, status[CALL_SUBMIT], STATUS_INVALID_PARAMETER)

static void fatal(void (*prepare)(struct fixture *f), const char *rule, uint32_t code,
                  uint64_t parameter)
{
    FATAL((&(struct fixture_options){.prepare = prepare}), render_once, rule, code, parameter);
}

TEST(overruns_and_failures_are_fatal)
{
    fatal(set_past_the_buffer, "PATCH-065", 0x10E, 0x12);
    fatal(set_before_the_private_data, "PATCH-070", 0x10E, 0x13);
    fatal(set_scribble_buffer, "PATCH-066", 0x10E, 0x12);
    fatal(set_scribble_private, "PATCH-066", 0x10E, 0x13);
    fatal(set_scribble_list, "PATCH-066", 0x10E, 0x12);
    fatal(set_scribble_patch, "PATCH-066", 0x10E, 0x12);
    fatal(set_scribble_allocations, "PATCH-066", 0x10E, 0x12);
    fatal(set_scribble_before_allocations, "PATCH-066", 0x10E, 0x12);
    fatal(set_scribble_submit, "PATCH-066", 0x10E, 0x13);
    fatal(set_patch_fails, "PATCH-157", 0x119, 0x3);
    fatal(set_submit_fails, "SUBMIT-037", 0x119, 0x2);
}

TEST(a_failed_patch_is_not_submitted)
{
    struct fixture *f = fixture_run(&(struct fixture_options){.prepare = set_patch_fails},
                                    render_once);

    CHECK_RULE("PATCH-157", f->bug.happened && calls_of(f, CALL_SUBMIT) == 0);
    fixture_close(f);
}
