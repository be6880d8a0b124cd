/* SPDX-License-Identifier: MIT */
/* The test of pre-patched DMA buffers: what DxgkDdiPatch is given where DxgkDdiRender was told addresses that still hold. */
#include "dxgkhost/patches.h"
#include "port/record/machine.h"
#include "port/support/portions.h"

#include <string.h>

static const struct dxgk_patch_format plain = {
    .name = "plain", .encodings = 1, .encoding = {{.bytes = 8}}};

static bool tested, prepatches;
static unsigned told; /* elements with a place, at the last Render */

static void write_address(uint8_t *buffer, const D3DDDI_PATCHLOCATIONLIST *location,
                          const DXGK_ALLOCATIONLIST *list)
{
    const uint64_t value = (uint64_t)list[location->AllocationIndex].PhysicalAddress.QuadPart;

    memcpy(buffer + location->PatchOffset, &value, sizeof(value));
}

static void render(struct probe *p, struct probe_call *call)
{
    DXGKARG_RENDER *args = (DXGKARG_RENDER *)(uintptr_t)call->arg[1];
    uint8_t *buffer = args->pDmaBuffer;

    (void)p;
    told = 0;
    memset(buffer, 0, args->CommandLength);
    args->pDmaBuffer = buffer + args->CommandLength;
    for (UINT i = 0; i < args->PatchLocationListInSize; i++) {
        const D3DDDI_PATCHLOCATIONLIST *location = &args->pPatchLocationListIn[i];

        *args->pPatchLocationListOut++ = *location;
        if (PORTIONS_THERE(args->pAllocationList[location->AllocationIndex])) {
            told++;
            if (prepatches)
                write_address(buffer, location, args->pAllocationList);
        }
    }
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];

    portions_note_patch(p, call);
    for (UINT i = 0; i < args->PatchLocationListSubmissionLength; i++)
        write_address(args->pDmaBuffer,
                      &args->pPatchLocationList[args->PatchLocationListSubmissionStart + i],
                      args->pAllocationList);
}

static void prepare(struct probe *p)
{
    p->before[PROBE_Render] = render;
    p->before[PROBE_Patch] = patch;
    p->segment[0].BaseAddress.QuadPart = 0x180000000;
    p->port->config.patch_format = &plain;
    p->port->config.check_patches = true;
    p->port->config.test_prepatching = tested;
}

static struct portions_gpu gpu;

/* Elements 1 and 2 at 16 and 48 of 64 bytes. */
static UINT render_two(unsigned first, unsigned other)
{
    portions_element(&gpu, 0, 0, first, 0);
    portions_element(&gpu, 1, 1, other, 0);
    gpu.context.pPatchLocationList[0].PatchOffset = 16;
    gpu.context.pPatchLocationList[1].PatchOffset = 48;
    CHECK(portions_render(&gpu, 64, 2) == STATUS_SUCCESS);
    portions_finish(&gpu);
    CHECK(portions.patch_count >= 1);
    return portions.patched[portions.patch_count - 1].args.PatchLocationListSubmissionLength;
}

static void render_thrice(struct probe *p)
{
    UINT length;

    portions_open_with_four(&gpu);
    CHECK_RULE("PATCH-141", render_two(1, 4) == 2 && told == 0); /* had no place yet */
    length = render_two(1, 4);
    CHECK_RULE("PATCH-141", told == 2 && length == (tested ? 0 : 2));
    CHECK_RULE("PATCH-140",
               portions.patch_count == 2 && portions.patched[1].args.SubmissionFenceId >
                                                portions.patched[0].args.SubmissionFenceId);
    CHECK_RULE("PATCH-141", probe_rule(p, "PATCH-164") == (tested && !prepatches ? 2 : 0));
    CHECK_RULE("PATCH-141", render_two(1, 2) == 2 && told == 1); /* one of the two had none */
    CHECK_RULE("PATCH-141", render_two(1, 0) == 2 && told == 1); /* no allocation */
    portions_close(&gpu);
}

static void run(void (*body)(struct probe *p))
{
    struct probe *p;

    portions_prepare = prepare;
    p = portions_begin(false, true);
    portions_end(p, probe_client_run(p, body));
}

TEST(locations_that_are_right_already)
{
    for (unsigned i = 0; i < 4; i++) {
        tested = (i & 1) != 0;
        prepatches = (i & 2) != 0;
        run(render_thrice);
    }
}

/* What is rendered while an earlier buffer is under way has a place that is taken by then. */
static void move_between(struct probe *p)
{
    portions_open_with_four(&gpu);
    (void)render_two(1, 4);
    probe_device_packet_ns = PROBE_SECOND / 100;
    portions_element(&gpu, 0, 0, 2, 0); /* 5 and 7: 6 has to go */
    portions_element(&gpu, 1, 1, 3, 0);
    gpu.context.pPatchLocationList[0].PatchOffset = 16;
    gpu.context.pPatchLocationList[1].PatchOffset = 48;
    CHECK(portions_render(&gpu, 64, 2) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-141", render_two(1, 4) == 2 && told == 2 &&
                                portions_address(0, 1) != portions_address(2, 1));
    CHECK(portions.patch_count == 3 && probe_rule(p, "PATCH-164") == 0);
    probe_device_packet_ns = 1000;
    portions_close(&gpu);
}

TEST(locations_that_were_right_at_render)
{
    tested = prepatches = true;
    run(move_between);
}
