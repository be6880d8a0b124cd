/* SPDX-License-Identifier: MIT */
/* Preemption: when it is asked for, what an answer does, and what may not be answered. */
#include "sim/irql.h"
#include "vidsch/support/fixture.h"

#include <string.h>

#define QUANTUM (20 * MS)

static void answer(struct fixture *f, UINT id, UINT completed)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

    data.DmaPreempted.PreemptionFenceId = id;
    data.DmaPreempted.LastCompletedFenceId = completed;
    data.DmaPreempted.NodeOrdinal = 1;
    f->driver.engine[1].count = 0;
    f->driver.engine[1].completed = completed;
    driver_notify_now(f, &data);
    pass(MS);
}

/* Node 1 is full of packets 1 and 2 of a context with priority 0, which has a third; a more
 * important one waits. */
struct scene {
    struct vidsch_device *device, *other;
    struct vidsch_context *low, *high;
};

static struct scene make_scene(struct fixture *f)
{
    struct scene s = {.device = make_device(f), .other = make_device(f)};

    s.low = make_context(s.device, 1);
    s.high = make_context(s.other, 1);
    vidsch_context_set_priority(s.high, 3);
    f->driver.engine[1].hang = true;
    f->driver.engine[1].ignores_preemption = true;
    for (D3DGPU_VIRTUAL_ADDRESS i = 1; i <= 3; i++)
        submit(s.low, i, 16);
    pass(MS);
    return s;
}

static void end_scene(struct fixture *f, struct scene *s)
{
    f->driver.engine[1].ignores_preemption = false;
    driver_run(f, 1);
    idle(s->device);
    idle(s->other);
    vidsch_device_destroy(s->device);
    vidsch_device_destroy(s->other);
}

/* ---- when ---- */

TEST_WITH(fixture, at_once_for_higher_priority)
{
    struct scene s = make_scene(f);
    uint64_t start;
    const struct call *call;

    pass(10 * MS); /* less than a quantum */
    start = sim_now();
    submit(s.high, 9, 16);
    pass(MS);
    call = call_at(f, CALL_PREEMPT, 0);
    CHECK_RULE("PREEMPT-039/a", calls_of(f, CALL_PREEMPT) == 1 && call->time - start < MS / 10);
    CHECK_RULE("PREEMPT-007", call->irql == SIM_IRQL_DISPATCH && call->preempt.NodeOrdinal == 1 &&
                                  call->preempt.EngineOrdinal == 0 &&
                                  call->preempt.Flags.Value == 0);
    CHECK_RULE("SUBMIT-003",
               call->preempt.EngineOrdinal == 0 && sent_virtual(f, 0)->EngineOrdinal == 0);
    CHECK_RULE("PREEMPT-011/a", call->preempt.PreemptionFenceId == 1);
    submit(s.high, 10, 16);
    pass(50 * MS);
    CHECK_RULE("PREEMPT-012",
               calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    answer(f, 1, 0);
    CHECK_RULE("PREEMPT-010", calls_of(f, CALL_SUBMIT_VIRTUAL) == 4);
    CHECK_RULE("PREEMPT-011/b", sent_virtual(f, 2)->SubmissionFenceId == 3);
    CHECK_RULE("SUBMIT-039/c", sent_virtual(f, 2)->SubmissionFenceId == 3);
    end_scene(f, &s);
}

TEST_WITH(fixture, at_once_although_a_slot_is_free, .depth = 4)
{
    struct scene s = make_scene(f);

    CHECK(f->vidsch->node[1].count == 3);
    submit(s.high, 9, 16);
    pass(MS);
    CHECK_RULE("PREEMPT-039/b",
               calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 3);
    answer(f, 1, 0);
    CHECK_RULE("PREEMPT-039/b", sent_virtual(f, 3)->DmaBufferVirtualAddress == 9 &&
                                    sent_virtual(f, 4)->DmaBufferVirtualAddress == 1);
    end_scene(f, &s);
}

/* What is in flight is not all of lower priority: the newcomer takes the free slot. */
TEST_WITH(fixture, not_at_once_beside_its_equal, .depth = 4)
{
    struct scene s = make_scene(f);
    struct vidsch_context *third;

    submit(s.high, 9, 16);
    pass(MS);
    answer(f, 1, 0);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && f->vidsch->node[1].count == 4);
    third = make_context(s.device, 1);
    vidsch_context_set_priority(third, 3);
    submit(third, 7, 16);
    pass(150 * MS);
    CHECK_RULE("PREEMPT-039/c", calls_of(f, CALL_PREEMPT) == 1);
    vidsch_context_set_priority(third, 4);
    submit(third, 8, 16);
    pass(MS);
    CHECK_RULE("PREEMPT-039/c", calls_of(f, CALL_PREEMPT) == 2 &&
                                    call_at(f, CALL_PREEMPT, 1)->preempt.PreemptionFenceId == 2);
    answer(f, 2, 0);
    end_scene(f, &s);
}

TEST_WITH(fixture, after_one_quantum_for_higher_priority,
          .policy = {.patient = true, .shared_ids = true})
{
    struct scene s = make_scene(f);
    uint64_t start = f->vidsch->node[1].oldest_since;

    submit(s.high, 9, 16);
    pass(10 * MS);
    CHECK_RULE("PREEMPT-039/e", calls_of(f, CALL_PREEMPT) == 0);
    pass(15 * MS);
    CHECK_RULE("PREEMPT-039/e", calls_of(f, CALL_PREEMPT) == 1 &&
                                    call_at(f, CALL_PREEMPT, 0)->time - start >= QUANTUM &&
                                    call_at(f, CALL_PREEMPT, 0)->time - start < QUANTUM + MS);
    CHECK_RULE("PREEMPT-011/c", call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId == 3);
    answer(f, 3, 0);
    CHECK_RULE("PREEMPT-011/c", sent_virtual(f, 2)->SubmissionFenceId == 4);
    end_scene(f, &s);
}

TEST_WITH(fixture, at_passive_level_if_the_driver_wants)
{
    struct scene s;

    f->ddi.low_irql_preempt = true;
    s = make_scene(f);
    submit(s.high, 9, 16);
    pass(30 * MS);
    CHECK_RULE("PREEMPT-008", call_at(f, CALL_PREEMPT, 0)->irql == SIM_IRQL_PASSIVE);
    CHECK_RULE("PREEMPT-009",
               f->driver.most_inside == 1 && call_at(f, CALL_PREEMPT, 0)->process == 0);
    answer(f, 1, 0);
    end_scene(f, &s);
}

TEST_WITH(fixture, equal_priority_waits_long)
{
    struct scene s = make_scene(f);

    vidsch_context_set_priority(s.high, 0);
    submit(s.high, 9, 16);
    pass(150 * MS);
    CHECK_RULE("PREEMPT-040", calls_of(f, CALL_PREEMPT) == 0);
    pass(60 * MS);
    CHECK_RULE("PREEMPT-040", calls_of(f, CALL_PREEMPT) == 1);
    answer(f, 1, 0);
    end_scene(f, &s);
}

TEST_WITH(fixture, lower_priority_never)
{
    struct scene s = make_scene(f);

    vidsch_context_set_priority(s.high, -1);
    submit(s.high, 9, 16);
    pass(SECOND);
    CHECK_RULE("PREEMPT-039/d", calls_of(f, CALL_PREEMPT) == 0);
    end_scene(f, &s);
}

TEST_WITH(fixture, paging_at_once)
{
    struct scene s = make_scene(f);
    uint64_t ticket = page(f, 64);

    pass(MS);
    CHECK_RULE("PREEMPT-039/f", calls_of(f, CALL_PREEMPT) == 1);
    answer(f, 1, 0);
    driver_run(f, 1);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    idle(s.device);
    CHECK_RULE("SUBMIT-023", sent_virtual(f, 2)->Flags.Paging);
    end_scene(f, &s);
}

TEST_WITH(fixture, never_for_an_idle_node)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    device->mm->missing = true;
    submit(context, 1, 16);
    pass(10 * SECOND);
    CHECK_RULE("PREEMPT-015", calls_of(f, CALL_PREEMPT) == 0);
    device->mm->missing = false;
    vidsch_for_vidmm.device_resident(device->mm);
    idle(device);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, never_when_switched_off, .tdr = {.level = 3, .debug_mode = 2})
{
    struct scene s = make_scene(f);

    submit(s.high, 9, 16);
    page(f, 64);
    pass(SECOND);
    CHECK_RULE("PREEMPT-006", calls_of(f, CALL_PREEMPT) == 0);
    end_scene(f, &s);
}

TEST_WITH(fixture, never_for_a_driver_that_is_not_aware, .no_preemption = true)
{
    struct scene s = make_scene(f);

    submit(s.high, 9, 16);
    pass(SECOND);
    CHECK(calls_of(f, CALL_PREEMPT) == 0);
    pass(2 * SECOND); /* and the timeout comes without a request */
    CHECK_RULE("PREEMPT-003", calls_of(f, CALL_PREEMPT) == 0 && calls_of(f, CALL_RESET_ENGINE) == 1);
    end_scene(f, &s);
}

/* ---- the answer ---- */

TEST_WITH(fixture, what_was_completed_is_and_the_rest_is_not)
{
    struct scene s = make_scene(f);
    struct vidsch_sync *fence = make_fence(s.device, 0);

    signal_gpu(s.low, fence, 1);
    submit(s.high, 9, 16);
    pass(30 * MS);
    answer(f, 1, 1);
    CHECK_RULE("PREEMPT-017", f->vidsch->node[1].last_completed == 1);
    CHECK_RULE("PREEMPT-016", f->vidsch->node[1].preempting == PREEMPT_NONE);
    CHECK_RULE("PREEMPT-023",
               sent_virtual(f, 2)->DmaBufferVirtualAddress == 9); /* competes again, and loses */
    CHECK(vidsch_validate(f->vidsch));
    f->driver.engine[1].ignores_preemption = false;
    driver_run(f, 1);
    CHECK(wait_cpu(fence, 1) == STATUS_SUCCESS);
    CHECK_RULE("PREEMPT-022", sent_virtual(f, 3)->DmaBufferVirtualAddress == 2 &&
                                  sent_virtual(f, 3)->SubmissionFenceId == 4);
    CHECK_RULE("PREEMPT-024", sent_virtual(f, 3)->Flags.Resubmission &&
                                  !sent_virtual(f, 0)->Flags.Resubmission &&
                                  !sent_virtual(f, 2)->Flags.Resubmission);
    CHECK_RULE("PREEMPT-023", sent_virtual(f, 4)->DmaBufferVirtualAddress == 3 &&
                                  !sent_virtual(f, 4)->Flags.Resubmission);
    CHECK_RULE("PREEMPT-025", sent_virtual(f, 3)->pDmaBufferPrivateData ==
                                  sent_virtual(f, 1)->pDmaBufferPrivateData);
    end_scene(f, &s);
    CHECK_RULE("PREEMPT-022",
               f->vidsch->node[1].last_completed == 5 && verify_count(f->log, VERIFY_ERROR) == 0);
}

TEST_WITH(fixture, completions_may_come_before_the_answer)
{
    struct scene s = make_scene(f);

    submit(s.high, 9, 16);
    pass(30 * MS);
    driver_complete(f, 1, 1);
    pass(MS);
    CHECK_RULE("PREEMPT-020",
               f->vidsch->node[1].last_completed == 1 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    driver_complete(f, 1, 2);
    pass(MS);
    CHECK_RULE("PREEMPT-015",
               f->vidsch->node[1].count == 0 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    answer(f, 1, 2); /* the race: nothing was left to preempt */
    CHECK_RULE("PREEMPT-015",
               calls_of(f, CALL_SUBMIT_VIRTUAL) == 4 && !sent_virtual(f, 2)->Flags.Resubmission);
    end_scene(f, &s);
}

TEST_WITH(fixture, answered_inside_the_call)
{
    struct scene s = make_scene(f);

    f->driver.engine[1].ignores_preemption = false;
    f->driver.engine[1].answers_inside = true;
    submit(s.high, 9, 16);
    pass(30 * MS);
    CHECK_RULE("PREEMPT-014", calls_of(f, CALL_PREEMPT) == 1 &&
                                  calls_of(f, CALL_SUBMIT_VIRTUAL) == 4 &&
                                  sent_virtual(f, 2)->DmaBufferVirtualAddress == 9 &&
                                  sent_virtual(f, 3)->DmaBufferVirtualAddress == 1);
    end_scene(f, &s);
}

TEST_WITH(fixture, a_signal_at_submission_does_not_hold_its_packet)
{
    struct vidsch_device *device = make_device(f), *other = make_device(f);
    struct vidsch_context *low = make_context(device, 1), *high = make_context(other, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    UINT64 value = 1;

    vidsch_context_set_priority(high, 1);
    f->driver.engine[1].hang = true;
    submit(low, 1, 16);
    CHECK(vidsch_sync_signal_gpu(&low, 1, &fence, &value, 1,
                                 (D3DDDICB_SIGNALFLAGS){.SignalAtSubmission = 1}) == STATUS_SUCCESS);
    submit(low, 2, 16);
    pass(MS);
    CHECK(vidsch_sync_value(fence) == 1);
    submit(high, 9, 16);
    pass(30 * MS);
    CHECK_RULE("PREEMPT-038",
               calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 4 &&
                   sent_virtual(f, 3)->DmaBufferVirtualAddress == 1 &&
                   sent_virtual(f, 3)->Flags.Resubmission && vidsch_sync_value(fence) == 1);
    driver_run(f, 1);
    idle(device);
    idle(other);
    vidsch_device_destroy(device);
    vidsch_device_destroy(other);
}

TEST_WITH(fixture, physical_packets_are_patched_again)
{
    struct vidsch_device *device = make_device(f), *other = make_device(f);
    struct vidsch_context *low = make_context(device, 0), *high = make_context(other, 0);
    struct vidmm_open *a = memory_open(f, device, 0x10000);
    struct vidsch_client_lists lists;
    D3DKMT_RENDER args = {.CommandLength = 16, .AllocationCount = 1};
    const struct call *first, *again;

    vidsch_context_set_priority(high, 1);
    vidsch_context_lists(low, &lists);
    lists.allocations[0].hAllocation = a->handle;
    f->driver.engine[0].hang = true;
    vidsch_render(low, &args);
    render(low, 32);
    pass(MS);
    render(high, 64);
    a->place.physical = 0x99000; /* moved while it was preempted */
    pass(30 * MS);
    driver_run(f, 0);
    idle(device);
    first = call_at(f, CALL_PATCH, 0);
    again = call_at(f, CALL_PATCH, 3);
    CHECK_RULE("PATCH-158", calls_of(f, CALL_PATCH) == 5 &&
                                again->patch.args.pDmaBuffer == first->patch.args.pDmaBuffer);
    CHECK_RULE("PREEMPT-025",
               again->patch.args.SubmissionFenceId > first->patch.args.SubmissionFenceId &&
                   again->patch.args.pDmaBufferPrivateData ==
                       first->patch.args.pDmaBufferPrivateData &&
                   again->patch.args.DmaBufferSubmissionEndOffset == 16);
    CHECK_RULE("PREEMPT-026", first->patch.list[0].PhysicalAddress.QuadPart == 0x10000 &&
                                  again->patch.list[0].PhysicalAddress.QuadPart == 0x99000);
    CHECK_RULE("PREEMPT-024", call_at(f, CALL_SUBMIT, 3)->submit.Flags.Value == 0x80 &&
                                  call_at(f, CALL_SUBMIT, 0)->submit.Flags.Value == 0);
    CHECK_RULE("PREEMPT-027",
               call_at(f, CALL_SUBMIT, 3)->submit.DmaBufferSubmissionStartOffset == 0 &&
                   call_at(f, CALL_SUBMIT, 3)->submit.DmaBufferSubmissionEndOffset == 16);
    memory_close(f, a);
    vidsch_device_destroy(device);
    vidsch_device_destroy(other);
}

TEST_WITH(fixture, preempted_paging_keeps_its_id_and_goes_first, .depth = 4,
          .policy = {.patient = true, .shared_ids = true})
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_context *high = make_context(device, 1);
    uint64_t ticket;

    vidsch_context_set_priority(high, 3);
    f->driver.engine[1].hang = true;
    submit(context, 1, 16); /* 1 */
    pass(MS);
    page(f, 64);            /* 2 */
    ticket = page(f, 128);  /* 3 */
    submit(context, 2, 16); /* 4 */
    pass(MS);
    CHECK(f->vidsch->node[1].count == 4);
    submit(context, 3, 16);
    page(f, 192); /* the node is full, but paging is on it already: no reason */
    pass(QUANTUM);
    CHECK_RULE("PREEMPT-039/h", calls_of(f, CALL_PREEMPT) == 0);
    submit(high, 9, 16); /* preempts, with id 5 */
    pass(5 * MS);
    CHECK_RULE("PREEMPT-021", calls_of(f, CALL_PREEMPT) == 1 &&
                                  sent_virtual(f, 4)->SubmissionFenceId == 2 &&
                                  sent_virtual(f, 4)->DmaBufferSize == 64 &&
                                  sent_virtual(f, 5)->SubmissionFenceId == 3 &&
                                  sent_virtual(f, 5)->DmaBufferSize == 128);
    CHECK_RULE("PAGE-024", sent_virtual(f, 4)->Flags.Paging && sent_virtual(f, 5)->Flags.Paging);
    CHECK_RULE("PREEMPT-024",
               sent_virtual(f, 4)->Flags.Resubmission && sent_virtual(f, 5)->Flags.Resubmission);
    CHECK_RULE("SUBMIT-040", sent_virtual(f, 6)->SubmissionFenceId == 6 &&
                                 sent_virtual(f, 6)->DmaBufferSize == 192 &&
                                 sent_virtual(f, 7)->SubmissionFenceId == 7 &&
                                 sent_virtual(f, 7)->DmaBufferVirtualAddress == 9);
    CHECK(vidsch_validate(f->vidsch));
    driver_run(f, 1);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    idle(device);
    CHECK(verify_count(f->log, VERIFY_ERROR) == 0);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, the_timeout_watch_asks_first)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    uint64_t start;

    f->driver.engine[1].hang = true;
    submit(context, 1, 16);
    pass(MS);
    start = f->vidsch->node[1].oldest_since;
    pass(1900 * MS);
    CHECK_RULE("TDR-004", calls_of(f, CALL_PREEMPT) == 0);
    pass(200 * MS);
    CHECK_RULE("PREEMPT-039/g", calls_of(f, CALL_PREEMPT) == 1 &&
                                    call_at(f, CALL_PREEMPT, 0)->time - start >= 2 * SECOND);
    CHECK_RULE("PREEMPT-003", calls_of(f, CALL_RESET_ENGINE) == 0);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* ---- fatal ---- */

static struct scene preempted(struct fixture *f)
{
    struct scene s = make_scene(f);

    submit(s.high, 9, 16);
    pass(30 * MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1);
    return s;
}

static void answer_without_a_request(struct fixture *f)
{
    make_scene(f);
    answer(f, 1, 0);
}

static void answer_with_another_id(struct fixture *f)
{
    preempted(f);
    answer(f, 2, 0);
}

static void answer_with_the_future(struct fixture *f)
{
    preempted(f);
    answer(f, 1, 4);
}

static void answer_with_the_past(struct fixture *f)
{
    preempted(f);
    driver_complete(f, 1, 1);
    pass(MS);
    answer(f, 1, 0);
}

static void complete_what_was_preempted(struct fixture *f)
{
    struct scene s = preempted(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};
    uint8_t before = sim_raise_irql(SIM_IRQL_DEVICE);

    (void)s;
    data.DmaPreempted.PreemptionFenceId = 1;
    data.DmaPreempted.NodeOrdinal = 1;
    vidsch_notify_interrupt(f->vidsch, &data);
    data = (DXGKARGCB_NOTIFY_INTERRUPT_DATA){.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};
    data.DmaCompleted.SubmissionFenceId = 1;
    data.DmaCompleted.NodeOrdinal = 1;
    vidsch_notify_interrupt(f->vidsch, &data);
    sim_lower_irql(before);
}

static void set_preempt_fails(struct fixture *f)
{
    f->driver.status[CALL_PREEMPT] = STATUS_UNSUCCESSFUL;
}

static void request(struct fixture *f)
{
    preempted(f);
}

TEST(lies_are_fatal)
{
    FATAL(NULL, answer_without_a_request, "PREEMPT-019", 0x119, 0x1);
    FATAL(NULL, answer_with_another_id, "PREEMPT-019", 0x119, 0x1);
    FATAL(NULL, answer_with_the_future, "PREEMPT-018", 0x119, 0x1);
    FATAL(NULL, answer_with_the_past, "PREEMPT-018", 0x119, 0x1);
    FATAL(NULL, complete_what_was_preempted, "PREEMPT-020", 0x119, 0x1);
    FATAL_AS("PREEMPT-028", NULL, answer_with_the_past, "PREEMPT-018", 0x119, 0x1);
    FATAL_AS("PREEMPT-028", NULL, complete_what_was_preempted, "PREEMPT-020", 0x119, 0x1);
    FATAL_AS("PREEMPT-013", (&(struct fixture_options){.prepare = set_preempt_fails}), request,
             "SUBMIT-037", 0x119, 0x2);
}
