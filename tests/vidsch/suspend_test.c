/* SPDX-License-Identifier: MIT */
/* Standstill of the scheduler: what the driver has is finished, what is queued stays queued. */
#include "sim/machine.h"
#include "sim/wait.h"
#include "vidsch/process.h"
#include "vidsch/suspend.h"
#include "vidsch/support/fixture.h"

static uint32_t sent(const struct fixture *f)
{
    return calls_of(f, CALL_SUBMIT_VIRTUAL) + calls_of(f, CALL_SUBMIT);
}

static bool engines_idle(const struct fixture *f)
{
    for (uint32_t i = 0; i < 2; i++)
        if (f->vidsch->node[i].count > 0 ||
            f->driver.engine[i].completed != f->driver.engine[i].submitted)
            return false;
    return true;
}

TEST_WITH(fixture, nothing_is_submitted_meanwhile)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *virtual = make_context(device, 1), *physical = make_context(device, 0);
    struct vidsch_sync *fence = make_fence(device, 0);
    uint32_t before;

    f->driver.engine[0].run_ns = f->driver.engine[1].run_ns = MS;
    for (unsigned i = 0; i < 8; i++) {
        CHECK(submit(virtual, 0x1000 * (i + 1), 16) == STATUS_SUCCESS);
        CHECK(render(physical, 16) == STATUS_SUCCESS);
    }
    CHECK(signal_gpu(virtual, fence, 1) == STATUS_SUCCESS);
    pass(MS / 2);
    CHECK(!engines_idle(f));
    CHECK_RULE("IOMMU-057/a",
               vidsch_suspend(f->vidsch, SECOND) == STATUS_SUCCESS && engines_idle(f));
    before = sent(f);
    CHECK(before > 0 && before < 16);
    CHECK(submit(virtual, 0x20000, 16) == STATUS_SUCCESS); /* taken, and kept */
    pass(10 * SECOND);                                     /* nor is anything missed */
    CHECK_RULE("IOMMU-057/b", sent(f) == before && engines_idle(f));
    CHECK_RULE("IOMMU-061/b", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_PREEMPT) == 0);
    vidsch_resume(f->vidsch);
    CHECK(vidsch_device_wait_idle(device) == STATUS_SUCCESS);
    CHECK_RULE("IOMMU-057/b", sent(f) == 17 && wait_cpu(fence, 1) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, standstills_nest)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    CHECK(vidsch_suspend(f->vidsch, SECOND) == STATUS_SUCCESS);
    CHECK(vidsch_suspend(f->vidsch, SECOND) == STATUS_SUCCESS);
    CHECK(submit(context, 0x1000, 16) == STATUS_SUCCESS);
    vidsch_resume(f->vidsch);
    pass(MS);
    CHECK(sent(f) == 0);
    vidsch_resume(f->vidsch);
    CHECK(vidsch_device_wait_idle(device) == STATUS_SUCCESS && sent(f) == 1);
    vidsch_device_destroy(device);
}

/* An engine that hangs is recovered as ever; then all is still. */
TEST_WITH(fixture, a_limit_is_kept)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    CHECK(submit(context, 0x1000, 16) == STATUS_SUCCESS);
    pass(MS);
    CHECK(vidsch_suspend(f->vidsch, MS) == STATUS_IO_TIMEOUT);
    CHECK(f->vidsch->suspension.all == 0);
    driver_run(f, 1);
    CHECK(vidsch_suspend(f->vidsch, SECOND) == STATUS_SUCCESS && engines_idle(f));
    vidsch_resume(f->vidsch);
    CHECK(vidsch_device_wait_idle(device) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

/* ---- standstill of the driver, too ---- */

#define DOES "DxgkDdiSetPowerState"

static NTSTATUS patch_for_long(struct fixture *f, const DXGKARG_PATCH *args)
{
    (void)args;
    sim_block(sim_now() + f->driver.block_ns, NULL);
    return STATUS_SUCCESS;
}

TEST_WITH(fixture, a_call_of_the_worker_counts_as_work)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 0);

    CHECK(render(context, 16) == STATUS_SUCCESS);
    f->driver.on_patch = patch_for_long;
    f->driver.block_ns = 10 * MS;
    pass(MS);
    CHECK(calls_of(f, CALL_PATCH) == 1 && f->vidsch->node[0].count == 0);
    CHECK_REFUSED(vidsch_suspend(f->vidsch, MS), STATUS_IO_TIMEOUT, NULL,
                  "the work of clients did not end in time");
    CHECK_REFUSED(vidsch_stand_still(f->vidsch, MS, NULL), STATUS_IO_TIMEOUT, NULL,
                  "the work of clients did not end in time");
    CHECK(violations(f, "THREAD-037") == 0);
    CHECK(vidsch_stand_still(f->vidsch, MS, DOES) == STATUS_IO_TIMEOUT);
    CHECK(reported(f, "THREAD-037", DOES " waited 60 s for the driver to be left by DxgkDdiPatch"));
    CHECK(f->vidsch->suspension.all == 0);
    CHECK(vidsch_stand_still(f->vidsch, SECOND, DOES) == STATUS_SUCCESS && engines_idle(f) &&
          f->vidsch->suspension.all == 1 && f->driver.engine[0].completed == 1);
    vidsch_go_on(f->vidsch);
    CHECK(f->vidsch->suspension.all == 0 && violations(f, "THREAD-037") == 1);
    idle(device);
    vidsch_device_destroy(device);
}

static void create_for_long(void *arg)
{
    struct fixture *f = arg;

    vidsch_device_destroy(make_device(f));
}

TEST_WITH(fixture, a_standstill_waits_for_threads_in_the_driver)
{
    struct sim_thread *thread;
    uint64_t begun, left;

    f->driver.block_ns = 20 * MS;
    left = sim_now() + 20 * MS;
    thread = spawn(f, create_for_long, f);
    pass(MS);
    begun = sim_now();
    CHECK_REFUSED(vidsch_stand_still(f->vidsch, 5 * MS, NULL), STATUS_IO_TIMEOUT, NULL,
                  "the work of clients did not end in time");
    CHECK(sim_now() - begun >= 5 * MS && sim_now() - begun < 6 * MS);
    CHECK(violations(f, "THREAD-037") == 0 && f->vidsch->suspension.all == 0);
    CHECK(vidsch_stand_still(f->vidsch, 2 * MS, DOES) == STATUS_IO_TIMEOUT);
    CHECK(reported(f, "THREAD-037",
                   DOES " waited 60 s for the driver to be left by DxgkDdiCreateDevice"));
    CHECK(vidsch_stand_still(f->vidsch, SECOND, DOES) == STATUS_SUCCESS);
    CHECK(sim_now() >= left && sim_now() < left + 40 * MS && f->vidsch->suspension.all == 1);
    vidsch_go_on(f->vidsch);
    join(thread);
    CHECK(violations(f, "THREAD-037") == 1);
}

/* ---- clients ---- */

static struct vidsch_node *preempt_paging(struct fixture *f, uint64_t *ticket)
{
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    *ticket = page(f, 64);
    pass(2500 * MS); /* more than TdrDelay */
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && f->vidsch->node[1].preempting);
    return &f->vidsch->node[1];
}

/* Preemption, and what comes back from it, are waited for, although no client has work. */
TEST_WITH(fixture, preempted_paging_holds_up_the_hold)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};
    uint64_t ticket;
    struct vidsch_node *node = preempt_paging(f, &ticket);

    CHECK_REFUSED(vidsch_hold_clients(f->vidsch, MS), STATUS_IO_TIMEOUT, NULL,
                  "the work of clients did not end in time");
    CHECK_REFUSED(vidsch_suspend(f->vidsch, MS), STATUS_IO_TIMEOUT, NULL,
                  "the work of clients did not end in time");
    CHECK(f->vidsch->suspension.clients == 0);
    node->stopped = true; /* nothing goes back to the node for now */
    data.DmaPreempted.PreemptionFenceId = node->preempt_id;
    data.DmaPreempted.NodeOrdinal = 1;
    f->driver.engine[1].count = 0;
    driver_notify_now(f, &data);
    pass(MS);
    CHECK(!node->preempting && !list_empty(&node->resubmit) && node->count == 0);
    CHECK(vidsch_hold_clients(f->vidsch, MS) == STATUS_IO_TIMEOUT);
    node->stopped = false;
    f->driver.engine[1].hang = false;
    CHECK(vidsch_suspend(f->vidsch, MS) == STATUS_SUCCESS); /* which does not submit it, either */
    vidsch_resume(f->vidsch);
    CHECK(vidsch_hold_clients(f->vidsch, SECOND) == STATUS_SUCCESS &&
          f->vidsch->suspension.clients == 1);
    vidsch_release_clients(f->vidsch);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    CHECK(f->vidsch->suspension.clients == 0);
}

/* All was completed before the answer: the node is still waited for. */
TEST_WITH(fixture, preemption_alone_counts_as_work)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};
    uint64_t ticket;
    struct vidsch_node *node = preempt_paging(f, &ticket);

    f->driver.engine[1].count = 0;
    driver_complete(f, 1, 1);
    pass(MS);
    CHECK(node->count == 0 && node->preempting && vidsch_for_vidmm.paging_done(&f->ddi, ticket));
    CHECK(vidsch_suspend(f->vidsch, MS) == STATUS_IO_TIMEOUT);
    CHECK(vidsch_hold_clients(f->vidsch, MS) == STATUS_IO_TIMEOUT);
    data.DmaPreempted.PreemptionFenceId = node->preempt_id;
    data.DmaPreempted.LastCompletedFenceId = data.DmaPreempted.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    pass(MS);
    CHECK(vidsch_suspend(f->vidsch, 0) == STATUS_SUCCESS);
    CHECK(vidsch_hold_clients(f->vidsch, 0) == STATUS_SUCCESS);
    vidsch_release_clients(f->vidsch);
    vidsch_resume(f->vidsch);
    f->driver.engine[1].completed = 1;
    f->driver.engine[1].hang = false;
}

TEST_WITH(fixture, held_clients_keep_their_work_and_paging_goes_on)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    CHECK(vidsch_hold_clients(f->vidsch, 0) == STATUS_SUCCESS);
    CHECK(submit(context, 0x1000, 16) == STATUS_SUCCESS);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 64)) == STATUS_SUCCESS);
    pass(MS);
    CHECK(sent(f) == 1 && sent_virtual(f, 0)->Flags.Paging);
    vidsch_release_clients(f->vidsch);
    idle(device);
    CHECK(sent(f) == 2 && calls_of(f, CALL_PREEMPT) == 0);
    vidsch_device_destroy(device);
}

/* ---- a process ---- */

TEST_WITH(fixture, only_a_suspended_process_is_resumed)
{
    struct vidsch_device *device = make_device(f);
    uint32_t references = device->process->references;

    vidsch_resume_process(&f->client);
    vidsch_resume_process(&f->other_client); /* has no device */
    CHECK(device->process->references == references && device->process->suspended == 0);
    CHECK(vidsch_suspend_process(&f->other_client) == STATUS_SUCCESS);
    CHECK(vidsch_suspend_process(&f->client) == STATUS_SUCCESS && device->process->suspended == 1);
    vidsch_resume_process(&f->client);
    CHECK(device->process->references == references && device->process->suspended == 0);
    vidsch_device_destroy(device);
}
