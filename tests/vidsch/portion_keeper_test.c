/* SPDX-License-Identifier: MIT */
/* Portions of DMA buffers, WDDM 1.x: a context whose bindings stay keeps memory in place; who waits for it, and what lets it out. */
#include "vidsch/device_wait.h"
#include "vidsch/kick.h"
#include "vidsch/support/scene.h"

/* ---- contexts that wait for the one that keeps memory in place ---- */

/* The more important context of the same device waits for the keeper, and does not hold it up. */
TEST_WITH(fixture, a_keeper_goes_before_its_device, SCENE_V13, .max_slot = 3,
          .no_dma_patching = true, .depth = 1)
{
    struct scene s = scene_make(f), high = scene_beside(&s, 0);

    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    scene_bind_over_the_split(&high, f);
    CHECK(scene_render(&high, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 1 && f->mm.kept == 1);
    driver_run(f, 0);
    idle(s.client.device);
    CHECK_RULE("PATCH-122", scene_is_of(f, 0, &s) && scene_is_of(f, 1, &s) &&
                                scene_is_of(f, 2, &high) && scene_is_of(f, 3, &high));
    CHECK_RULE("PATCH-122", scene_window_is(f, 1, 32, 64) && scene_window_is(f, 3, 32, 64));
    scene_end(f, &s);
}

/* Who waits for the keeper asks for no memory of that device meanwhile: nobody could tell then whose
 * turn it is. What its driver would have been told is the whole buffer. */
TEST_WITH(fixture, who_waits_for_a_keeper_asks_for_nothing, SCENE_V13, .max_slot = 3,
          .no_dma_patching = true, .nodes = 3, .virtual_mask = 4, .physical_paging = true,
          .cancel_aware = true, .depth = 2)
{
    struct scene s = scene_make(f), more = scene_beside(&s, 1), other = scene_make(f);
    const DXGKARG_CANCELCOMMAND *cancelled;
    uint64_t asked;

    f->driver.engine[0].hang = true;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    asked = f->mm.portions;
    scene_element(&more, 0, 0, 4, 0, 0);
    CHECK(scene_render(&more, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-122", f->mm.portions == asked && calls_of(f, CALL_SUBMIT) == 2);
    vidsch_context_set_priority(other.client.context, 1);
    scene_bind_over_the_split(&other, f);
    driver_complete(f, 0, 1);
    CHECK(scene_render(&other, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-122", f->mm.portions > asked && calls_of(f, CALL_SUBMIT) == 2);
    CHECK(vidsch_validate(f->vidsch));
    vidsch_device_mark_error(other.client.device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    pass(MS);
    cancelled = &call_at(f, CALL_CANCEL, 0)->cancel;
    CHECK_RULE("TDR-063", calls_of(f, CALL_CANCEL) == 1 &&
                              cancelled->DmaBufferSubmissionStartOffset == 0 &&
                              cancelled->DmaBufferSubmissionEndOffset == 64 &&
                              cancelled->PatchLocationListSubmissionStart == 0 &&
                              cancelled->PatchLocationListSubmissionLength == 3);
    f->driver.engine[0].count = 0;
    f->driver.engine[0].hang = false;
    driver_complete(f, 0, 2);
    idle(s.client.device);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 3 && scene_is_of(f, 2, &more));
    scene_end(f, &other);
    scene_end(f, &s);
}

/* The end of the keeping is no news for those whose memory is not there. */
TEST_WITH(fixture, only_who_waits_for_the_keeper_goes_on, SCENE_V13, .max_slot = 3,
          .no_dma_patching = true)
{
    struct scene s = scene_make(f), other = scene_make(f), missing = scene_make(f);
    uint64_t asked;

    f->driver.engine[0].hang = true;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    missing.client.device->mm->missing = true;
    f->driver.engine[0].count = 0;
    scene_element(&missing, 0, 0, 1, 0, 0);
    driver_complete(f, 0, 1);
    CHECK(scene_render(&missing, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    asked = f->mm.portions;
    f->driver.engine[0].hang = false;
    driver_complete(f, 0, 2);
    pass(MS);
    CHECK_RULE("RES-002", f->mm.portions == asked && f->mm.kept == 0);
    missing.client.device->mm->missing = false;
    vidsch_for_vidmm.device_resident(missing.client.device->mm);
    idle(missing.client.device);
    scene_end(f, &missing);
    scene_end(f, &other);
    scene_end(f, &s);
}

/* Several portions keep memory at once: it ends with the last of them. Who keeps none goes meanwhile. */
TEST_WITH(fixture, the_last_one_that_keeps_ends_it, SCENE_V13, .max_slot = 3,
          .no_dma_patching = true, .nodes = 3, .virtual_mask = 4, .physical_paging = true)
{
    struct scene s = scene_make(f), first = scene_make(f);
    struct scene other = scene_beside(&first, 1), free = scene_beside(&first, 1);

    f->driver.engine[0].hang = true;
    scene_bind_over_the_split(&s, f);
    scene_element(&s, 3, 3, 2, 32, 36);
    scene_element(&s, 4, 2, 4, 48, 48);
    CHECK(scene_render(&s, 64, 5) == STATUS_SUCCESS);
    pass(MS);
    driver_complete(f, 0, 1);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 3 && f->mm.kept == 3);
    scene_bind_over_the_split(&other, f);
    CHECK(scene_render(&other, 64, 3) == STATUS_SUCCESS);
    scene_element(&free, 0, 0, 1, 0, 0);
    CHECK(scene_render(&free, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 4 && scene_is_of(f, 3, &free));
    driver_complete(f, 0, 2);
    pass(MS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 4 && f->mm.kept == 2);
    f->driver.engine[0].count = 0;
    f->driver.engine[0].hang = false;
    driver_complete(f, 0, 3);
    idle(s.client.device);
    idle(first.client.device);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 6 && scene_is_of(f, 5, &other));
    scene_end(f, &first);
    scene_end(f, &s);
}

/* The node is closed while the first portion of a buffer is patched, which keeps memory for the next
 * one. Another context that got the node between them would wait for that memory at its second split
 * point, and the keeper for the node. */
static NTSTATUS close_node_once(struct fixture *f, const DXGKARG_PATCH *args)
{
    (void)args;
    f->driver.on_patch = NULL;
    f->vidsch->node[0].stopped = true;
    return STATUS_SUCCESS;
}

TEST_WITH(fixture, a_keeper_that_is_put_back_keeps_the_node, SCENE_V13, .max_slot = 3,
          .no_preemption = true, .depth = 1)
{
    struct scene a = scene_make(f), b = scene_make(f);

    vidsch_context_set_priority(b.client.context, 7);
    f->driver.on_patch = close_node_once;
    scene_bind_over_the_split(&a, f);
    CHECK(scene_render(&a, 64, 3) == STATUS_SUCCESS);
    pass(10 * MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 0 && calls_of(f, CALL_PATCH) == 1);
    scene_element(&b, 0, 0, 1, 0, 0);
    scene_element(&b, 1, 0, 2, 32, 32);
    scene_element(&b, 2, 1, 4, 48, 48); /* slot 0 keeps its allocation over this one */
    f->mm.room = 1;
    CHECK(scene_render(&b, 64, 3) == STATUS_SUCCESS);
    f->vidsch->node[0].stopped = false;
    vidsch_kick_node(&f->vidsch->node[0]);
    pass(SECOND);
    CHECK_RULE("PATCH-126", calls_of(f, CALL_SUBMIT) == 5 && scene_is_of(f, 0, &a) &&
                                scene_is_of(f, 1, &a) && scene_is_of(f, 2, &b));
    scene_end(f, &b);
    scene_end(f, &a);
}

/* ---- clients stand still ---- */

/* A process whose device keeps memory is suspended while another of its contexts waits for that. */
TEST_WITH(fixture, a_suspended_keeper_goes_on, SCENE_V13, .max_slot = 3, .no_dma_patching = true,
          .nodes = 3, .virtual_mask = 4, .physical_paging = true, .depth = 1)
{
    struct scene s = scene_make(f), more = scene_beside(&s, 1);

    f->driver.engine[0].hang = true;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    scene_bind_over_the_split(&more, f);
    CHECK(scene_render(&more, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 1);
    driver_run(f, 0);
    CHECK(vidsch_for_vidmm.process_suspend(&f->client) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 1 && vidsch_validate(f->vidsch));
    vidsch_for_vidmm.process_resume(&f->client);
    idle(s.client.device);
    CHECK_RULE("PATCH-122",
               calls_of(f, CALL_SUBMIT) == 4 && scene_is_of(f, 1, &s) && scene_is_of(f, 2, &more));
    scene_end(f, &s);
}

/* Whose memory stays in place is let out before clients are held back. */
TEST_WITH(fixture, a_keeper_ends_before_clients_stand_still, SCENE_V13, .max_slot = 3,
          .no_dma_patching = true, .depth = 1)
{
    struct scene s = scene_make(f);
    uint32_t depth = f->vidsch->node[0].depth;

    f->driver.engine[0].run_ns = 10 * MS;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == depth && f->mm.kept == 1);
    CHECK(vidsch_hold_clients(f->vidsch, SECOND) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 2 && f->mm.kept == 0);
    vidsch_release_clients(f->vidsch);
    idle(s.client.device);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 4);
    scene_end(f, &s);
}

TEST_WITH(fixture, a_keeper_with_two_packets, SCENE_V13, .max_slot = 3, .no_dma_patching = true)
{
    a_keeper_ends_before_clients_stand_still(f);
}

/* The keeper goes to its own node, when that has room. */
TEST_WITH(fixture, a_keeper_is_let_out_to_its_node, SCENE_V13, .max_slot = 3,
          .no_dma_patching = true, .nodes = 3, .virtual_mask = 4, .physical_paging = true,
          .depth = 1)
{
    struct scene s = scene_make(f), other = scene_make(f);
    struct scene busy = scene_beside(&other, 1);

    f->driver.engine[0].run_ns = 30 * MS;
    f->driver.engine[1].run_ns = 10 * MS;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    scene_element(&busy, 0, 0, 1, 0, 0);
    for (int i = 0; i < 3; i++)
        CHECK(scene_render(&busy, 64, 1) == STATUS_SUCCESS);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 2 && f->mm.kept == 1);
    CHECK(vidsch_hold_clients(f->vidsch, SECOND) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 3 && scene_is_of(f, 2, &s) &&
                                f->vidsch->node[0].last_completed == 2 &&
                                f->vidsch->node[1].last_completed == 1);
    vidsch_release_clients(f->vidsch);
    idle(other.client.device);
    scene_end(f, &other);
    scene_end(f, &s);
}

static NTSTATUS held;

static void hold_clients(void *arg)
{
    struct fixture *f = arg;

    held = vidsch_hold_clients(f->vidsch, SECOND);
}

/* Also a first portion that was preempted goes again before clients stand still. */
TEST_WITH(fixture, a_preempted_keeper_ends_first, SCENE_V13, .max_slot = 3, .no_dma_patching = true,
          .depth = 1)
{
    struct scene s = scene_make(f), high = scene_make(f);
    struct sim_thread *holder;
    UINT id;

    vidsch_context_set_priority(high.client.context, 3);
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = true;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    scene_element(&high, 0, 0, 1, 0, 0);
    CHECK(scene_render(&high, 64, 1) == STATUS_SUCCESS);
    pass(30 * MS);
    CHECK(calls_of(f, CALL_SUBMIT) == 1 && calls_of(f, CALL_PREEMPT) == 1);
    holder = spawn(f, hold_clients, f);
    pass(MS);
    id = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
    f->driver.engine[0].hang = f->driver.engine[0].ignores_preemption = false;
    scene_answer_preemption(f, id, 0);
    join(holder);
    CHECK_RULE("PATCH-122", held == STATUS_SUCCESS && calls_of(f, CALL_SUBMIT) == 3 &&
                                scene_is_of(f, 1, &s) && scene_is_of(f, 2, &s));
    CHECK_RULE("PATCH-158", f->mm.returned == 1 && scene_window_is(f, 1, 0, 32));
    vidsch_release_clients(f->vidsch);
    idle(high.client.device);
    scene_end(f, &high);
    scene_end(f, &s);
}

static void suspend_client(void *arg)
{
    CHECK(vidsch_for_vidmm.process_suspend(arg) == STATUS_SUCCESS);
}

/* ... but not while its process is suspended. */
TEST_WITH(fixture, a_suspended_keeper_is_not_let_out, SCENE_V13, .max_slot = 3,
          .no_dma_patching = true, .depth = 1)
{
    struct scene s = scene_make(f);
    struct vidsch_device *device = make_device_of(f, &f->other_client);
    struct sim_thread *holder, *suspender;

    f->driver.engine[0].hang = true;
    scene_bind_over_the_split(&s, f);
    CHECK(scene_render(&s, 64, 3) == STATUS_SUCCESS);
    pass(MS);
    CHECK(render(make_context(device, 0), 64) == STATUS_SUCCESS);
    suspender = spawn(f, suspend_client, &f->client);
    holder = spawn(f, hold_clients, f);
    pass(MS);
    driver_run(f, 0);
    pass(10 * MS);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 1 && f->mm.kept == 1);
    join(suspender);
    vidsch_for_vidmm.process_resume(&f->client);
    join(holder);
    CHECK_RULE("PATCH-122", calls_of(f, CALL_SUBMIT) == 2 && scene_is_of(f, 1, &s));
    vidsch_release_clients(f->vidsch);
    vidsch_device_drain(device, NULL);
    vidsch_device_destroy(device);
    scene_end(f, &s);
}
