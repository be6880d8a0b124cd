/* SPDX-License-Identifier: MIT */
/* Portions of DMA buffers, WDDM 1.x: who may run on the node between two of them, also when one is lost or its node is closed. */
#include "vidsch/device_wait.h"
#include "vidsch/kick.h"
#include "vidsch/support/scene.h"

/* ---- between two portions ---- */

/* Each has a buffer of two portions; the node takes one packet; the second, more important one comes
 * while the first portion of the other runs. */
static void two_buffers(struct fixture *f, struct scene *a, struct scene *b)
{
    vidsch_context_set_priority(b->client.context, 7);
    f->driver.engine[0].hang = true;
    for (int i = 0; i < 2; i++) {
        struct scene *s = i ? b : a;

        scene_element(s, 0, 0, 1, 0, 0);
        scene_element(s, 1, 0, 1, 32, 32);
        CHECK(scene_render(s, 64, 2) == STATUS_SUCCESS);
        pass(MS);
    }
    driver_run(f, 0);
    idle(a->client.device);
    idle(b->client.device);
    CHECK(calls_of(f, CALL_SUBMIT) == 4);
}

TEST_WITH(fixture, others_may_run_between_portions, SCENE_V13, .max_slot = 3, .split = true,
          .depth = 1, .policy = {.patient = true})
{
    struct scene a = scene_make(f), b = scene_make(f);

    two_buffers(f, &a, &b);
    CHECK_RULE("PATCH-126", scene_is_of(f, 0, &a) && scene_is_of(f, 1, &b) &&
                                scene_is_of(f, 2, &b) && scene_is_of(f, 3, &a));
    CHECK_RULE("PATCH-126", scene_window_is(f, 1, 0, 32) && scene_window_is(f, 3, 32, 64));
    CHECK_RULE("PATCH-127", f->vidsch->config.caps.PreemptionAware &&
                                scene_window_is(f, 0, 0, 32) && scene_window_is(f, 3, 32, 64));
    scene_end(f, &a);
    scene_end(f, &b);
}

TEST_WITH(fixture, only_paging_runs_between_portions_without_preemption, SCENE_V13, .max_slot = 3,
          .split = true, .depth = 1, .no_preemption = true, .physical_paging = true)
{
    struct scene a = scene_make(f), b = scene_make(f);
    uint64_t ticket;

    two_buffers(f, &a, &b);
    CHECK_RULE("PATCH-126", scene_is_of(f, 0, &a) && scene_is_of(f, 1, &a) &&
                                scene_is_of(f, 2, &b) && scene_is_of(f, 3, &b));
    CHECK_RULE("PATCH-127", !f->vidsch->config.caps.PreemptionAware &&
                                scene_window_is(f, 0, 0, 32) && scene_window_is(f, 1, 32, 64));
    f->driver.engine[0].hang = true;
    CHECK(scene_render(&a, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    ticket = page(f, 64);
    driver_run(f, 0);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    idle(a.client.device);
    CHECK_RULE("PATCH-125",
               scene_sent(f, 4)->Flags.Paging == 0 && scene_sent(f, 5)->Flags.Paging == 1 &&
                   scene_sent(f, 6)->Flags.Paging == 0 && scene_window_is(f, 6, 32, 64));
    scene_end(f, &a);
    scene_end(f, &b);
}

TEST_WITH(fixture, the_rest_of_a_lost_buffer_lets_others_run, SCENE_V13, .max_slot = 3,
          .split = true, .depth = 1, .no_preemption = true, .cancel_aware = true)
{
    struct scene a = scene_make(f), b = scene_make(f);
    const DXGKARG_CANCELCOMMAND *cancelled;

    f->driver.engine[0].hang = true;
    scene_element(&a, 0, 0, 1, 0, 0);
    scene_element(&a, 1, 0, 2, 32, 32);
    CHECK(scene_render(&a, 64, 2) == STATUS_SUCCESS);
    scene_element(&b, 0, 0, 1, 0, 0);
    CHECK(scene_render(&b, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    vidsch_device_mark_error(a.client.device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    pass(MS);
    cancelled = &call_at(f, CALL_CANCEL, 0)->cancel;
    CHECK_RULE("TDR-063", calls_of(f, CALL_CANCEL) == 1 &&
                              cancelled->DmaBufferSubmissionStartOffset == 32 &&
                              cancelled->DmaBufferSubmissionEndOffset == 64 &&
                              cancelled->PatchLocationListSubmissionStart == 1 &&
                              cancelled->PatchLocationListSubmissionLength == 1);
    driver_run(f, 0);
    idle(b.client.device);
    CHECK_RULE("PATCH-126", scene_is_of(f, 1, &b));
    scene_end(f, &b);
    scene_end(f, &a);
}

/* ---- a portion that is with the driver while things happen ---- */

static struct vidsch_device *to_lose;

static NTSTATUS lose_and_close(struct fixture *f, const DXGKARG_PATCH *args)
{
    if (args->DmaBufferSubmissionStartOffset == 0)
        return STATUS_SUCCESS;
    vidsch_device_mark_error(to_lose, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    f->driver.on_patch = NULL;
    vidsch_recovery_want_engine(&f->vidsch->node[0], RECOVER_FORCED);
    return STATUS_SUCCESS;
}

/* The node is closed and the device lost while the second portion is patched. */
TEST_WITH(fixture, a_lost_context_does_not_keep_the_node, SCENE_V13, .max_slot = 3, .split = true,
          .depth = 1, .no_preemption = true)
{
    struct scene a = scene_make(f), b = scene_make(f);

    to_lose = a.client.device;
    f->driver.on_patch = lose_and_close;
    scene_element(&a, 0, 0, 1, 0, 0);
    scene_element(&a, 1, 0, 1, 32, 32);
    scene_element(&a, 2, 0, 1, 48, 48);
    CHECK(scene_render(&a, 64, 3) == STATUS_SUCCESS);
    vidsch_device_drain(a.client.device, NULL);
    CHECK(calls_of(f, CALL_SUBMIT) == 1 && calls_of(f, CALL_PATCH) == 2);
    pass(MS);
    CHECK(vidsch_validate(f->vidsch));
    scene_element(&b, 0, 0, 1, 0, 0);
    CHECK(scene_render(&b, 64, 1) == STATUS_SUCCESS);
    pass(SECOND);
    CHECK_RULE("PATCH-126", calls_of(f, CALL_SUBMIT) == 2 && scene_is_of(f, 1, &b));
    scene_end(f, &b);
    scene_end(f, &a);
}

static uint32_t close_at; /* a Patch during which the node is closed */

static NTSTATUS close_node(struct fixture *f, const DXGKARG_PATCH *args)
{
    (void)args;
    if (calls_of(f, CALL_PATCH) == close_at)
        f->vidsch->node[0].stopped = true;
    return STATUS_SUCCESS;
}

/* The node is closed while a portion of a buffer that was cut is patched: it goes on before others,
 * whichever portion it is. */
static void closed_during_patch(struct fixture *f, uint32_t at)
{
    struct scene a = scene_make(f), b = scene_make(f);

    close_at = at;
    f->driver.on_patch = close_node;
    vidsch_context_set_priority(b.client.context, 7);
    scene_element(&a, 0, 0, 1, 0, 0);
    scene_element(&a, 1, 0, 1, 32, 32);
    CHECK(scene_render(&a, 64, 2) == STATUS_SUCCESS);
    pass(10 * MS);
    CHECK(calls_of(f, CALL_SUBMIT) == at - 1 && calls_of(f, CALL_PATCH) == at);
    scene_element(&b, 0, 0, 1, 0, 0);
    CHECK(scene_render(&b, 64, 1) == STATUS_SUCCESS);
    f->vidsch->node[0].stopped = false;
    vidsch_kick_node(&f->vidsch->node[0]);
    idle(a.client.device);
    idle(b.client.device);
    CHECK_RULE("PATCH-126", calls_of(f, CALL_SUBMIT) == 3 && scene_is_of(f, 2, &b));
    scene_end(f, &b);
    scene_end(f, &a);
}

TEST_WITH(fixture, closed_during_the_first_patch, SCENE_V13, .max_slot = 3, .split = true,
          .depth = 1, .no_preemption = true)
{
    closed_during_patch(f, 1);
}

TEST_WITH(fixture, closed_during_the_last_patch, SCENE_V13, .max_slot = 3, .split = true,
          .depth = 1, .no_preemption = true)
{
    closed_during_patch(f, 2);
}

/* The last portion comes back from an engine reset that was for nobody's packet. */
TEST_WITH(fixture, a_portion_back_from_a_reset_keeps_the_node, SCENE_V13, .max_slot = 3,
          .split = true, .depth = 1, .no_preemption = true)
{
    struct scene a = scene_make(f), b = scene_make(f);

    vidsch_context_set_priority(b.client.context, 7);
    f->driver.engine[0].hang = true;
    scene_element(&a, 0, 0, 1, 0, 0);
    scene_element(&a, 1, 0, 1, 32, 32);
    CHECK(scene_render(&a, 64, 2) == STATUS_SUCCESS);
    pass(MS);
    driver_complete(f, 0, 1);
    pass(MS);
    scene_element(&b, 0, 0, 1, 0, 0);
    CHECK(scene_render(&b, 64, 1) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_SUBMIT) == 2);
    f->driver.aborted = 1;
    f->driver.engine[0].hang = false;
    CHECK(vidsch_force_engine_reset(f->vidsch, 0) == STATUS_SUCCESS);
    idle(a.client.device);
    idle(b.client.device);
    CHECK_RULE("PATCH-126", calls_of(f, CALL_SUBMIT) == 4 && scene_is_of(f, 2, &a) &&
                                scene_is_of(f, 3, &b) && scene_window_is(f, 2, 32, 64));
    scene_end(f, &b);
    scene_end(f, &a);
}
