/* SPDX-License-Identifier: MIT */
/* Portions of DMA buffers, WDDM 1.x: where a buffer is cut, what each portion is given, and that they are one piece of work. */
#include "sim/machine.h"
#include "vidsch/device_wait.h"
#include "vidsch/support/scene.h"

#include <string.h>

/* ---- cutting ---- */

TEST_WITH(fixture, what_fits_is_one_portion, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);

    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 1, 2, 32, 32);
    f->mm.room = 2;
    CHECK(scene_render(&s, 64, 2) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-120", calls_of(f, CALL_SUBMIT) == 1 && scene_window_is(f, 0, 0, 64));
    CHECK_RULE("PATCH-149",
               scene_elements_are(f, 0, 0, 2) && scene_patched(f, 0)->PatchLocationListSize == 2);
    CHECK_RULE("RES-002", s.open[0]->listed && s.open[1]->listed);
    CHECK_RULE("PATCH-116", !s.open[2]->listed); /* in the allocation list alone */
    CHECK_RULE("PATCH-116", violations(f, "PATCH-116") == 0);
    f->mm.room = 2;
    CHECK(scene_render(&s, 64, 0) == STATUS_SUCCESS); /* nothing is named at all */
    idle(s.client.device);
    CHECK_RULE("PATCH-116", violations(f, "PATCH-116") == 1 && calls_of(f, CALL_SUBMIT) == 2);
    scene_end(f, &s);
}

TEST_WITH(fixture, lists_of_wddm_2_serve_patching_alone)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000);

    reference(&c, 0, a, false);
    CHECK(render_lists(&c, 16, 1, 0) == STATUS_SUCCESS);
    idle(c.device);
    CHECK_RULE("PATCH-130", violations(f, "PATCH-116") == 0);
    memory_close(f, a);
    vidsch_device_destroy(c.device);
}

/*
 * A render of 96 bytes that was cut in two at 48, where B takes the slot of A: one portion has
 * element 0, the other elements 1 and 2.
 */
struct cut {
    struct scene s;
    const DXGKARG_PATCH *one, *two;
};

static struct cut cut_in_two(struct fixture *f)
{
    struct cut cut = {.s = scene_make(f)};

    scene_element(&cut.s, 0, 1, 1, 0, 8);
    scene_element(&cut.s, 1, 1, 2, 48, 52);
    scene_element(&cut.s, 2, 1, 2, 48, 56);
    f->mm.room = 1;
    CHECK(scene_render(&cut.s, 96, 3) == STATUS_SUCCESS);
    idle(cut.s.client.device);
    CHECK(calls_of(f, CALL_PATCH) == 2 && calls_of(f, CALL_SUBMIT) == 2);
    cut.one = scene_patched(f, 0);
    cut.two = scene_patched(f, 1);
    return cut;
}

TEST_WITH(fixture, a_buffer_is_cut_where_memory_ends, SCENE_V13, .max_slot = 3)
{
    struct cut cut = cut_in_two(f);

    CHECK_RULE("PATCH-121", scene_window_is(f, 0, 0, 48) && scene_window_is(f, 1, 48, 96));
    CHECK_RULE("PATCH-111", cut.one->DmaBufferSubmissionEndOffset == 48);
    CHECK_RULE("PATCH-146",
               cut.two->DmaBufferSubmissionStartOffset == cut.one->DmaBufferSubmissionEndOffset);
    scene_end(f, &cut.s);
}

TEST_WITH(fixture, a_portion_is_a_range_of_the_lists, SCENE_V13, .max_slot = 3)
{
    struct cut cut = cut_in_two(f);
    const DXGKARG_PATCH *one = cut.one, *two = cut.two;

    CHECK_RULE("PATCH-150", scene_elements_are(f, 0, 0, 1) && scene_elements_are(f, 1, 1, 2));
    CHECK_RULE("PATCH-149", one->pPatchLocationList == two->pPatchLocationList &&
                                one->PatchLocationListSize == 3 && two->PatchLocationListSize == 3);
    CHECK_RULE("PATCH-148", one->AllocationListSize == SCENE_MANY + 1 &&
                                two->AllocationListSize == SCENE_MANY + 1 &&
                                one->pAllocationList == two->pAllocationList);
    scene_end(f, &cut.s);
}

TEST_WITH(fixture, portions_share_one_dma_buffer, SCENE_V13, .max_slot = 3)
{
    struct cut cut = cut_in_two(f);
    const DXGKARG_PATCH *one = cut.one, *two = cut.two;

    CHECK_RULE("PATCH-145", one->pDmaBuffer == two->pDmaBuffer && two->DmaBufferSize == 8192);
    CHECK_RULE("PATCH-144",
               one->DmaBufferPhysicalAddress.QuadPart == two->DmaBufferPhysicalAddress.QuadPart &&
                   scene_sent(f, 1)->DmaBufferPhysicalAddress.QuadPart ==
                       one->DmaBufferPhysicalAddress.QuadPart);
    scene_end(f, &cut.s);
}

TEST_WITH(fixture, portions_share_the_private_data, SCENE_V13, .max_slot = 3)
{
    struct cut cut = cut_in_two(f);
    const DXGKARG_PATCH *one = cut.one, *two = cut.two;

    CHECK_RULE("PATCH-042", one->pDmaBufferPrivateData == two->pDmaBufferPrivateData);
    CHECK_RULE("PATCH-147", two->pDmaBufferPrivateData == one->pDmaBufferPrivateData &&
                                two->DmaBufferPrivateDataSubmissionStartOffset == 0 &&
                                two->DmaBufferPrivateDataSubmissionEndOffset == 32 &&
                                scene_sent(f, 1)->DmaBufferPrivateDataSubmissionStartOffset == 0 &&
                                scene_sent(f, 1)->DmaBufferPrivateDataSubmissionEndOffset == 32);
    scene_end(f, &cut.s);
}

TEST_WITH(fixture, a_slot_is_bound_anew_in_the_next_portion, SCENE_V13, .max_slot = 3)
{
    struct cut cut = cut_in_two(f);

    CHECK_RULE("PATCH-109", call_at(f, CALL_PATCH, 1)->patch.patches[1].PatchOffset == 52 &&
                                call_at(f, CALL_PATCH, 1)->patch.patches[1].SplitOffset == 48);
    CHECK_RULE("PATCH-103", violations(f, "PATCH-135") == 0); /* B took the slot of A */
    scene_end(f, &cut.s);
}

TEST_WITH(fixture, each_portion_has_a_fence_of_its_own, SCENE_V13, .max_slot = 3)
{
    struct cut cut = cut_in_two(f);

    CHECK_RULE("PATCH-125", scene_sent(f, 0)->SubmissionFenceId == 1 &&
                                scene_sent(f, 1)->SubmissionFenceId == 2);
    CHECK_RULE("PATCH-153", cut.one->SubmissionFenceId == 1 && cut.two->SubmissionFenceId == 2);
    scene_end(f, &cut.s);
}

TEST_WITH(fixture, elements_of_one_split_point_stay_together, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);

    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 0, 2, 32, 32);
    scene_element(&s, 2, 1, 3, 32, 36); /* the one without room */
    scene_element(&s, 3, 0, 4, 64, 64);
    scene_element(&s, 4, 1, 3, 64, 68);
    f->mm.room = 2;
    CHECK(scene_render(&s, 96, 5) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-121", scene_window_is(f, 0, 0, 32) && scene_elements_are(f, 0, 0, 1));
    CHECK_RULE("PATCH-124", calls_of(f, CALL_SUBMIT) == 3 && scene_window_is(f, 1, 32, 64) &&
                                scene_elements_are(f, 1, 1, 2) && scene_window_is(f, 2, 64, 96) &&
                                scene_elements_are(f, 2, 3, 2));
    scene_end(f, &s);
}

TEST_WITH(fixture, what_never_fits_costs_the_device, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);
    struct scene other = scene_make(f);

    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 0, 2, 32, 32);
    scene_element(&s, 2, 1, 3, 32, 36);
    f->mm.room = 1;
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    vidsch_device_drain(s.client.device, NULL);
    CHECK_RULE("PATCH-124", calls_of(f, CALL_SUBMIT) == 1 && scene_window_is(f, 0, 0, 32) &&
                                vidsch_device_state(s.client.device) ==
                                    D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK_RULE("RES-005", scene_render(&s, 64, 3) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    scene_element(&other, 0, 0, 1, 0, 0);
    CHECK_RULE("RES-005", scene_render(&other, 64, 1) == STATUS_SUCCESS);
    idle(other.client.device);
    CHECK_RULE("RES-005", calls_of(f, CALL_SUBMIT) == 2);
    scene_end(f, &other);
    scene_end(f, &s);
}

TEST_WITH(fixture, nothing_goes_before_it_is_there, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);

    s.client.device->mm->missing = true;
    scene_element(&s, 0, 0, 1, 0, 0);
    CHECK(scene_render(&s, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("RES-002", f->mm.portions == 1 && calls_of(f, CALL_PATCH) == 0);
    s.client.device->mm->missing = false;
    vidsch_for_vidmm.device_resident(s.client.device->mm);
    idle(s.client.device);
    CHECK_RULE("RES-002", calls_of(f, CALL_SUBMIT) == 1);
    CHECK_RULE("PATCH-139", calls_of(f, CALL_PATCH) == 1 && f->mm.portions == 2);
    scene_end(f, &s);
}

/* What a portion may have is what it had when the driver first saw it. */
TEST_WITH(fixture, a_portion_wants_what_it_had, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f);

    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 0, 2, 32, 32);
    f->mm.room = 1;
    f->driver.engine[0].hang = true;
    CHECK(scene_render(&s, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-158", node_in_flight(&f->vidsch->node[0], 0)->portion->mm.wanted == 1 &&
                                node_in_flight(&f->vidsch->node[0], 1)->portion->mm.wanted == 1);
    driver_run(f, 0);
    scene_end(f, &s);
}

/* ---- the test switch ---- */

TEST_WITH(fixture, every_split_point_can_be_forced, SCENE_V13, .max_slot = 3, .split = true)
{
    struct scene s = scene_make(f);
    static const UINT ends[] = {32, 40, 64};

    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 0, 1, 32, 32);
    scene_element(&s, 2, 1, 2, 32, 36);
    scene_element(&s, 3, 0, 1, 40, 40);
    scene_element(&s, 4, 1, 2, 40, 44);
    scene_element(&s, 5, 0, 0, 64, 0);
    CHECK(scene_render(&s, 64, 6) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-132", calls_of(f, CALL_SUBMIT) == 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_RULE("PATCH-132", scene_window_is(f, i, i ? ends[i - 1] : 0, ends[i]));
    CHECK_RULE("PATCH-150", scene_elements_are(f, 0, 0, 1) && scene_elements_are(f, 1, 1, 2) &&
                                scene_elements_are(f, 2, 3, 3));
    scene_element(&s, 0, 0, 1, 8, 8); /* the first bytes need nothing */
    CHECK(scene_render(&s, 64, 1) == STATUS_SUCCESS);
    idle(s.client.device);
    CHECK_RULE("PATCH-132", scene_window_is(f, 3, 0, 8) && scene_elements_are(f, 3, 0, 0) &&
                                scene_window_is(f, 4, 8, 64) && scene_elements_are(f, 4, 0, 1));
    scene_end(f, &s);
}

/* ---- one piece of work ---- */

TEST_WITH(fixture, a_signal_waits_for_the_last_portion, SCENE_V13, .max_slot = 3, .split = true)
{
    struct scene s = scene_make(f);
    struct vidsch_sync *fence = make_fence(s.client.device, 0);
    D3DKMT_RENDER args = {.CommandLength = 64, .AllocationCount = 2, .PatchLocationCount = 2};

    f->driver.engine[0].hang = true;
    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 0, 1, 32, 32);
    args.Flags.NullRendering = 1;
    CHECK(vidsch_render(s.client.context, &args) == STATUS_SUCCESS);
    CHECK(signal_gpu(s.client.context, fence, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 2 && vidsch_validate(f->vidsch));
    CHECK_RULE("PATCH-096", scene_sent(f, 0)->Flags.NullRendering &&
                                scene_sent(f, 1)->Flags.NullRendering &&
                                scene_patched(f, 1)->Flags.NullRendering);
    driver_complete(f, 0, 1);
    pass(MS);
    CHECK(vidsch_validate(f->vidsch));
    CHECK_RULE("PATCH-125", vidsch_sync_value(fence) == 0);
    driver_complete(f, 0, 2);
    pass(MS);
    CHECK_RULE("PATCH-125", vidsch_sync_value(fence) == 1);
    f->driver.engine[0].count = 0;
    f->driver.engine[0].hang = false;
    vidsch_sync_destroy(fence);
    scene_end(f, &s);
}

TEST_WITH(fixture, a_preempted_portion_goes_as_it_was, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f), high = scene_make(f);
    UINT id;

    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 0, 2, 32, 32);
    f->mm.room = 1;
    CHECK(scene_render(&s, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 2);
    f->mm.room = 0; /* it would fit as a whole now */
    scene_element(&high, 0, 0, 1, 0, 0);
    CHECK(scene_render(&high, 64, 1) == STATUS_SUCCESS);
    pass(30 * MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1);
    id = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = false;
    s.open[0]->place.physical = 0x990000; /* moved meanwhile */
    scene_answer_preemption(f, id, 0);
    idle(s.client.device);
    idle(high.client.device);
    CHECK_RULE("PATCH-158", calls_of(f, CALL_PATCH) == 5 && scene_window_is(f, 3, 0, 32) &&
                                scene_elements_are(f, 3, 0, 1) && scene_window_is(f, 4, 32, 64) &&
                                scene_elements_are(f, 4, 1, 1));
    CHECK_RULE("PATCH-158", scene_patched(f, 3)->SubmissionFenceId > id &&
                                scene_patched(f, 4)->SubmissionFenceId ==
                                    scene_patched(f, 3)->SubmissionFenceId + 1);
    CHECK_RULE("PATCH-158",
               call_at(f, CALL_PATCH, 3)->patch.list[1].PhysicalAddress.QuadPart == 0x990000);
    scene_end(f, &high);
    scene_end(f, &s);
}

/* Preempt what is on node 0 for the sake of `high`, which runs; then the other goes again. */
static void run_between(struct fixture *f, struct scene *high, uint32_t nth)
{
    uint32_t first;
    UINT id;

    scene_element(high, 0, 0, 1, 0, 0);
    CHECK(scene_render(high, 64, 1) == STATUS_SUCCESS);
    pass(30 * MS);
    CHECK(calls_of(f, CALL_PREEMPT) == nth + 1);
    first = calls_of(f, CALL_PATCH);
    id = call_at(f, CALL_PREEMPT, nth)->preempt.PreemptionFenceId;
    scene_answer_preemption(f, id, f->vidsch->node[0].last_completed);
    pass(MS);
    f->driver.engine[0].count = 0;
    driver_complete(f, 0, scene_patched(f, first)->SubmissionFenceId);
    pass(MS);
    CHECK(f->vidsch->node[0].count == 1);
}

/* What DxgkDdiPatch has written since is not what DxgkDdiRender wrote. */
TEST_WITH(fixture, a_buffer_that_was_patched_is_patched_again, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f), high = scene_make(f);
    uint64_t rendered = s.open[0]->place.physical;

    f->vidsch->config.test_prepatching = true;
    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    scene_element(&s, 0, 0, 1, 0, 0);
    CHECK(scene_render(&s, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-141", scene_elements_are(f, 0, 0, 0));
    s.open[0]->place.physical = 0x990000;
    run_between(f, &high, 0);
    CHECK_RULE("PATCH-141", calls_of(f, CALL_PATCH) == 3 && scene_elements_are(f, 2, 0, 1));
    s.open[0]->place.physical = rendered;
    run_between(f, &high, 1);
    CHECK_RULE("PATCH-141", calls_of(f, CALL_PATCH) == 5 && scene_elements_are(f, 4, 0, 1));
    driver_complete(f, 0, scene_patched(f, 4)->SubmissionFenceId);
    idle(s.client.device);
    idle(high.client.device);
    scene_end(f, &high);
    scene_end(f, &s);
}

static bool leaves_out; /* the patch locations of what goes next */

static NTSTATUS patch_addresses(struct fixture *f, const DXGKARG_PATCH *args)
{
    const D3DDDI_PATCHLOCATIONLIST *l = args->pPatchLocationList;

    (void)f;
    for (UINT i = 0; i < args->PatchLocationListSubmissionLength && !leaves_out; i++) {
        const UINT at = args->PatchLocationListSubmissionStart + i;
        const LARGE_INTEGER address = args->pAllocationList[l[at].AllocationIndex].PhysicalAddress;

        memcpy((uint8_t *)args->pDmaBuffer + l[at].PatchOffset, &address, sizeof(address));
    }
    return STATUS_SUCCESS;
}

static unsigned told_stale(const struct fixture *f, const char *part)
{
    const struct verify_record *record;
    unsigned count = 0;

    for (size_t i = 0; (record = verify_record_at(f->log, i)) != NULL; i++)
        count += strcmp(record->rule, "PATCH-163") == 0 && strstr(record->seen, part);
    return count;
}

static void patch_thrice(struct fixture *f)
{
    struct scene s = scene_make(f), high = scene_make(f);

    f->vidsch->config.check_patches = true;
    f->driver.on_patch = patch_addresses;
    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    scene_element(&s, 0, 0, 1, 0, 0);
    CHECK(scene_render(&s, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    s.open[0]->place.physical = 0x990000;
    run_between(f, &high, 0);
    CHECK_RULE("PATCH-163", told_stale(f, "") == 0);
    s.open[0]->place.physical = 0xAA0000;
    leaves_out = true;
    run_between(f, &high, 1);
    leaves_out = false;
    CHECK_RULE("PATCH-163",
               told_stale(f, "") == 1 &&
                   told_stale(f, "it still holds 0x990000, by the address 0x990000 that "
                                 "the allocation had before it was moved to 0xaa0000"));
    driver_complete(f, 0, scene_patched(f, 4)->SubmissionFenceId);
    idle(s.client.device);
    idle(high.client.device);
    scene_end(f, &high);
    scene_end(f, &s);
}

/* An address from before is the one of the Patch before, not of Render. */
TEST(an_address_of_an_earlier_patch_is_named)
{
    struct fixture *f = fixture_run(&(struct fixture_options){SCENE_V13, .max_slot = 3},
                                    patch_thrice);

    CHECK(f->finished && f->leaked == 0);
    fixture_close(f);
}

/* The first portion has run, the second one was preempted: it alone goes again, after the other context. */
TEST_WITH(fixture, a_portion_is_preempted_alone, SCENE_V13, .max_slot = 3)
{
    struct scene s = scene_make(f), high = scene_make(f);
    UINT id;

    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    scene_element(&s, 0, 0, 1, 0, 0);
    scene_element(&s, 1, 0, 2, 32, 32);
    f->mm.room = 1;
    CHECK(scene_render(&s, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    scene_element(&high, 0, 0, 1, 0, 0);
    CHECK(scene_render(&high, 64, 1) == STATUS_SUCCESS);
    pass(30 * MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_SUBMIT) == 2);
    id = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = false;
    scene_answer_preemption(f, id, scene_patched(f, 0)->SubmissionFenceId);
    idle(s.client.device);
    idle(high.client.device);
    CHECK_RULE("PREEMPT-037", calls_of(f, CALL_SUBMIT) == 4 && scene_is_of(f, 2, &high) &&
                                  scene_is_of(f, 3, &s) && scene_window_is(f, 3, 32, 64) &&
                                  scene_elements_are(f, 3, 1, 1));
    scene_end(f, &high);
    scene_end(f, &s);
}

static bool said(const struct fixture *f, const char *part)
{
    const struct verify_record *record;

    for (size_t i = 0; (record = verify_record_at(f->log, i)) != NULL; i++)
        if (strstr(record->seen, part))
            return true;
    return false;
}

/* ---- shortage ---- */

TEST_WITH(fixture, memory_that_runs_out_loses_nothing, SCENE_V13, .max_slot = 3,
          .no_dma_patching = true, .cancel_aware = true)
{
    uint32_t cancelled = 0;

    for (uint64_t n = 1;; n++) {
        struct scene s = scene_make(f);
        uint64_t requests;
        NTSTATUS status;

        scene_element(&s, 0, 1, 1, 0, 0);
        scene_element(&s, 1, 2, 2, 0, 4);
        scene_element(&s, 2, 2, 3, 32, 32);
        f->mm.room = 2;
        f->sim->heap.fail_at = f->sim->heap.requests + n;
        status = scene_render(&s, 64, 3);
        vidsch_device_drain(s.client.device, NULL);
        requests = f->sim->heap.fail_at - f->sim->heap.requests;
        f->sim->heap.fail_at = 0;
        CHECK(status == STATUS_SUCCESS || status == STATUS_NO_MEMORY);
        CHECK(vidsch_validate(f->vidsch));
        if (vidsch_device_state(s.client.device) != D3DKMT_DEVICEEXECUTION_ACTIVE) {
            CHECK_RULE("PATCH-124", vidsch_device_state(s.client.device) ==
                                        D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
            CHECK_RULE("PATCH-124", said(f, "0x20 of its 0x40 bytes and 1 of its 3 patch loc"));
        }
        if (calls_of(f, CALL_CANCEL) > cancelled) /* nothing of it was sent */
            CHECK_RULE("TDR-063",
                       last_call(f, CALL_CANCEL)->cancel.DmaBufferSubmissionEndOffset == 64 &&
                           last_call(f, CALL_CANCEL)->cancel.PatchLocationListSubmissionLength == 3);
        cancelled = calls_of(f, CALL_CANCEL);
        scene_end(f, &s);
        if (requests > 0 && requests < UINT32_MAX) {
            CHECK(cancelled > 0);
            return; /* none was left to fail */
        }
    }
}
