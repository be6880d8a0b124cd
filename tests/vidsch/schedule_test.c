/* SPDX-License-Identifier: MIT */
/* How packets get to the nodes and end there: order, priorities, fence ids, residency, paging. */
#include "sim/irql.h"
#include "vidsch/support/fixture.h"

#include <string.h>

/* ---- order ---- */

static void a_node_holds_two_packets(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    uint32_t depth = f->vidsch->node[1].depth;

    f->driver.engine[1].hang = true;
    for (uint32_t i = 0; i < 8; i++)
        CHECK(submit(context, 0x1000 * i, 16) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("SUBMIT-015",
               calls_of(f, CALL_SUBMIT_VIRTUAL) == depth && f->vidsch->node[1].count == depth);
    CHECK_RULE("SUBMIT-014", context->work == 8);
    CHECK(vidsch_validate(f->vidsch));
    driver_run(f, 1);
    idle(device);
    for (uint32_t i = 0; i < 8; i++) {
        CHECK_RULE("SUBMIT-017", sent_virtual(f, i)->DmaBufferVirtualAddress == 0x1000 * i);
        CHECK_RULE("SUBMIT-040", sent_virtual(f, i)->SubmissionFenceId == i + 1);
    }
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, two_by_default)
{
    CHECK_RULE("SUBMIT-015", f->vidsch->node[1].depth == 2);
    a_node_holds_two_packets(f);
}

TEST_WITH(fixture, the_cap_counts_if_smaller, .depth = 8, .packet_cap = 3)
{
    CHECK_RULE("SUBMIT-016", f->vidsch->node[1].depth == 3);
    CHECK_RULE("CAPS-054", f->vidsch->node[1].depth == 3);
    a_node_holds_two_packets(f);
}

TEST_WITH(fixture, the_entry_counts_if_smaller, .depth = 4, .packet_cap = 9)
{
    CHECK_RULE("SUBMIT-016", f->vidsch->node[1].depth == 4);
    a_node_holds_two_packets(f);
}

TEST_WITH(fixture, nodes_are_independent, .nodes = 3, .virtual_mask = 6)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 2);

    f->driver.engine[1].hang = true;
    for (int i = 0; i < 3; i++) {
        submit(a, 0x1000, 16);
        submit(b, 0x2000, 16);
    }
    pass(5 * MS);
    CHECK_RULE("SUBMIT-018",
               f->vidsch->node[2].last_completed == 3 && f->vidsch->node[1].last_completed == 0);
    CHECK_RULE("SUBMIT-039/b",
               f->vidsch->node[2].last_submitted == 3 && f->vidsch->node[1].last_submitted == 2);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* Packets of 1 ms each, of four contexts that have always more: what was run, in order. */
static void serve(struct fixture *f, struct vidsch_context **c, unsigned contexts, unsigned each,
                  D3DGPU_VIRTUAL_ADDRESS *order)
{
    f->driver.engine[1].hang = true;
    f->driver.engine[1].run_ns = MS;
    for (unsigned i = 0; i < each; i++)
        for (unsigned k = 0; k < contexts; k++)
            submit(c[k], k, 16);
    driver_run(f, 1);
    idle(c[0]->device);
    for (uint32_t i = 0; i < contexts * each; i++)
        order[i] = sent_virtual(f, i)->DmaBufferVirtualAddress;
}

TEST_WITH(fixture, equals_are_served_by_quantum, .depth = 1)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *c[3];
    D3DGPU_VIRTUAL_ADDRESS order[36];
    unsigned run = 1, runs = 0;

    for (int i = 0; i < 3; i++)
        c[i] = make_context(device, 1);
    serve(f, c, 3, 12, order);
    for (unsigned i = 1; i <= 36; i++) {
        if (i < 36 && order[i] == order[i - 1]) {
            run++;
            continue;
        }
        /* 5 ms of packets of 1 ms; two at the end of its twelve */
        CHECK_RULE("SUBMIT-019/a", run == (runs < 6 ? 5 : 2));
        CHECK_RULE("SUBMIT-019/b", order[i - 1] == runs % 3);
        run = 1;
        runs++;
    }
    CHECK_RULE("SUBMIT-019/b", runs == 9);
    vidsch_device_destroy(device);
}

/* Who has nothing ready loses the rest of its quantum. */
TEST_WITH(fixture, an_idle_holder_gives_way, .depth = 1)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    static const D3DGPU_VIRTUAL_ADDRESS expected[] = {1, 1, 2, 2, 2, 2, 2, 1, 2};

    f->driver.engine[1].run_ns = MS;
    submit(a, 1, 16);
    submit(a, 1, 16);
    for (int i = 0; i < 6; i++)
        submit(b, 2, 16);
    pass(4 * MS); /* both packets of a have run, and b is being served */
    submit(a, 1, 16);
    idle(device);
    for (uint32_t i = 0; i < 9; i++)
        CHECK_RULE("SUBMIT-019/c", sent_virtual(f, i)->DmaBufferVirtualAddress == expected[i]);
    vidsch_device_destroy(device);
}

/* A packet that runs for longer than a quantum uses it up before it has ended. */
TEST_WITH(fixture, a_long_packet_uses_its_quantum_up)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    static const D3DGPU_VIRTUAL_ADDRESS expected[] = {1, 1, 2, 2, 1};

    f->driver.engine[1].run_ns = 6 * MS;
    for (int i = 0; i < 3; i++)
        submit(a, 1, 16);
    pass(MS);
    for (int i = 0; i < 2; i++)
        submit(b, 2, 16);
    idle(device);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_RULE("SUBMIT-019/d", sent_virtual(f, i)->DmaBufferVirtualAddress == expected[i]);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, priority_then_round_robin, .depth = 1,
          .policy = {.patient = true, .round_robin = true})
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *c[4];
    D3DGPU_VIRTUAL_ADDRESS order[9];
    static const D3DGPU_VIRTUAL_ADDRESS expected[9] = {0, 3, 3, 1, 2, 1, 2, 0, 0};

    for (int i = 0; i < 4; i++)
        c[i] = make_context(device, 1);
    vidsch_context_set_priority(c[3], 5);
    f->driver.engine[1].hang = true;
    submit(c[0], 0, 16); /* fills the node of depth 1 */
    pass(MS);
    for (int i = 0; i < 2; i++) {
        submit(c[1], 1, 16);
        submit(c[2], 2, 16);
        submit(c[3], 3, 16);
        submit(c[0], 0, 16);
    }
    vidsch_context_set_priority(c[0], -3); /* applies to what is queued already */
    driver_run(f, 1);
    idle(device);
    for (uint32_t i = 0; i < 9; i++)
        order[i] = sent_virtual(f, i)->DmaBufferVirtualAddress;
    CHECK_RULE("SUBMIT-019/e", memcmp(order, expected, sizeof(order)) == 0);
    CHECK_RULE("SUBMIT-020", order[7] == 0 && order[8] == 0);
    vidsch_device_destroy(device);
}

/* ---- residency ---- */

TEST_WITH(fixture, nothing_runs_before_everything_is_resident, .nodes = 3, .virtual_mask = 6)
{
    struct vidsch_device *device = make_device(f), *other = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 2),
                          *c = make_context(other, 1);

    device->mm->missing = true;
    submit(a, 0x1000, 16);
    submit(b, 0x2000, 16);
    submit(c, 0x3000, 16);
    pass(5 * MS);
    CHECK_RULE("SUBMIT-024", calls_of(f, CALL_SUBMIT_VIRTUAL) == 1 &&
                                 sent_virtual(f, 0)->DmaBufferVirtualAddress == 0x3000);
    CHECK_RULE("RES-010", device->mm->asked >= 1 && device->mm->asked <= 2);
    CHECK(vidsch_validate(f->vidsch));
    device->mm->missing = false;
    vidsch_for_vidmm.device_resident(device->mm);
    idle(device);
    CHECK_RULE("RES-010", calls_of(f, CALL_SUBMIT_VIRTUAL) == 3);
    vidsch_device_destroy(device);
    vidsch_device_destroy(other);
}

static void suspend_and_mark(void *arg)
{
    struct fixture *f = arg;

    CHECK(vidsch_for_vidmm.process_suspend(&f->client) == STATUS_SUCCESS);
    f->mm.restores = 77;
}

TEST_WITH(fixture, a_suspended_process_does_not_run)
{
    struct vidsch_device *device = make_device(f), *other = make_device_of(f, &f->other_client);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(other, 1);
    struct sim_thread *thread;

    f->driver.engine[1].hang = true;
    submit(a, 0x1000, 16);
    pass(MS);
    thread = spawn(f, suspend_and_mark, f);
    pass(MS);
    CHECK(f->mm.restores == 0); /* still in flight */
    submit(a, 0x2000, 16);
    submit(b, 0x3000, 16);
    driver_run(f, 1);
    join(thread);
    CHECK(f->mm.restores == 77);
    idle(other);
    pass(MS);
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 2 &&
          sent_virtual(f, 1)->DmaBufferVirtualAddress == 0x3000);
    vidsch_for_vidmm.process_resume(&f->client);
    idle(device);
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 3);
    vidsch_device_destroy(device);
    vidsch_device_destroy(other);
}

/* ---- paging ---- */

TEST_WITH(fixture, paging_goes_first_and_in_order)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    uint64_t first, second, third, nothing;

    vidsch_context_set_priority(context, 7);
    f->driver.engine[1].hang = true;
    for (int i = 0; i < 4; i++)
        submit(context, 0x1000, 16);
    pass(MS); /* two of them are on the node */
    f->config.tdr.enable_preemption = false;
    f->vidsch->config.tdr.enable_preemption = false;
    first = page(f, 64);
    second = page(f, 128);
    nothing = page(f, 0);
    third = page(f, 192);
    CHECK(second == first + 1 && nothing == second + 1 && third == nothing + 1);
    CHECK(!vidsch_for_vidmm.paging_done(&f->ddi, first));
    driver_run(f, 1);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, second) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-095", vidsch_for_vidmm.paging_done(&f->ddi, nothing) &&
                                 !vidsch_for_vidmm.paging_done(&f->ddi, third));
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, third) == STATUS_SUCCESS);
    idle(device);
    CHECK_RULE("SUBMIT-023", sent_virtual(f, 2)->Flags.Paging && sent_virtual(f, 3)->Flags.Paging &&
                                 sent_virtual(f, 4)->Flags.Paging &&
                                 !sent_virtual(f, 5)->Flags.Paging);
    CHECK_RULE("SUBMIT-095", calls_of(f, CALL_SUBMIT_VIRTUAL) == 7);
    CHECK_RULE("GPUVA-187", calls_of(f, CALL_SUBMIT_VIRTUAL) == 7);
    CHECK_RULE("SUBMIT-041", sent_virtual(f, 2)->SubmissionFenceId == 3 &&
                                 sent_virtual(f, 5)->SubmissionFenceId == 6);
    CHECK_RULE("PAGE-021", sent_virtual(f, 2)->DmaBufferVirtualAddress >= 0x100000000ull &&
                               sent_virtual(f, 2)->DmaBufferSize == 64 &&
                               calls_of(f, CALL_PATCH) == 0);
    CHECK_RULE("PAGE-016", sent_virtual(f, 3)->DmaBufferVirtualAddress ==
                                   sent_virtual(f, 2)->DmaBufferVirtualAddress + 64 &&
                               sent_virtual(f, 3)->DmaBufferSize == 128);
    CHECK(sent_virtual(f, 2)->hContext == f->vidsch->system_context->mm.driver_handle);
    CHECK(f->vidsch->statistics.paging_submissions == 3 && f->vidsch->statistics.submissions == 4);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, an_empty_paging_buffer_alone_is_done_at_once)
{
    uint64_t ticket = page(f, 0);

    CHECK_RULE("GPUVA-187", vidsch_for_vidmm.paging_done(&f->ddi, ticket) &&
                                calls_of(f, CALL_SUBMIT_VIRTUAL) == 0);
}

TEST_WITH(fixture, paging_buffers_run_out_and_come_back)
{
    uint64_t ticket = 0;

    for (int i = 0; i < 20; i++)
        ticket = page(f, 64); /* blocks while all are in use */
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS &&
          calls_of(f, CALL_SUBMIT_VIRTUAL) == 20);
    for (uint32_t i = 1; i < 20; i++)
        CHECK(sent_virtual(f, i)->SubmissionFenceId == i + 1);
}

/* Of each buffer one submission only, with 8 bytes of private data: the driver finds no room behind it. */
TEST_WITH(fixture, full_paging_buffers_take_turns)
{
    struct vidmm_paging_buffer *buffer;
    uint64_t ticket = 0;

    for (int i = 0; i < 9; i++) {
        CHECK(vidsch_for_vidmm.paging_buffer_get(&f->ddi, &buffer) == STATUS_SUCCESS);
        CHECK_RULE("PAGE-016", buffer->start == 0 && buffer->used == 0 &&
                                   buffer->private_start == 0 && buffer->private_used == 0);
        buffer->used = 64;
        buffer->private_used = 8;
        buffer->full = true;
        CHECK(vidsch_for_vidmm.paging_buffer_submit(&f->ddi, buffer, &ticket) == STATUS_SUCCESS);
    }
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    for (uint32_t i = 0; i < 9; i++)
        for (uint32_t k = 0; k < i; k++)
            CHECK((sent_virtual(f, i)->DmaBufferVirtualAddress ==
                   sent_virtual(f, k)->DmaBufferVirtualAddress) == ((i - k) % 4 == 0));
}

/* No offsets tell the driver where its part of the private block is. */
TEST_WITH(fixture, private_data_of_virtual_paging_begins_at_its_part)
{
    struct vidmm_paging_buffer *buffer;
    uint64_t ticket = 0;

    for (uint32_t i = 0; i < 2; i++) {
        CHECK(vidsch_for_vidmm.paging_buffer_get(&f->ddi, &buffer) == STATUS_SUCCESS);
        buffer->used += 64;
        buffer->private_used += 8;
        CHECK(vidsch_for_vidmm.paging_buffer_submit(&f->ddi, buffer, &ticket) == STATUS_SUCCESS);
    }
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    CHECK_RULE("PAGE-084", sent_virtual(f, 0)->DmaBufferPrivateDataSize == 24 &&
                               sent_virtual(f, 1)->DmaBufferPrivateDataSize == 16 &&
                               (uint8_t *)sent_virtual(f, 1)->pDmaBufferPrivateData ==
                                   (uint8_t *)sent_virtual(f, 0)->pDmaBufferPrivateData + 8);
}

TEST_WITH(fixture, device_tickets, .nodes = 3, .virtual_mask = 6)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 2);
    uint64_t none = vidsch_for_vidmm.device_ticket(device->mm), first, second;

    CHECK(vidsch_for_vidmm.device_done(device->mm, none));
    f->driver.engine[1].hang = true;
    submit(a, 0x1000, 16);
    first = vidsch_for_vidmm.device_ticket(device->mm);
    submit(b, 0x1000, 16);
    second = vidsch_for_vidmm.device_ticket(device->mm);
    pass(MS); /* the second is done, the first is not: neither ticket is */
    CHECK(f->vidsch->node[2].last_completed == 1);
    CHECK(!vidsch_for_vidmm.device_done(device->mm, first) &&
          !vidsch_for_vidmm.device_done(device->mm, second));
    driver_run(f, 1);
    CHECK(vidsch_for_vidmm.device_wait(device->mm, second) == STATUS_SUCCESS &&
          vidsch_for_vidmm.device_done(device->mm, first));
    vidsch_device_destroy(device);
}

/* ---- fence ids ---- */

TEST_WITH(fixture, ids_wrap_around)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_node *node = &f->vidsch->node[1];

    node->next_fence = UINT32_MAX - 1;
    node->last_submitted = node->last_completed = node->reported = UINT32_MAX - 2;
    for (int i = 0; i < 5; i++)
        CHECK(submit(context, 0x1000, 16) == STATUS_SUCCESS);
    idle(device);
    CHECK_RULE("SUBMIT-039/d", sent_virtual(f, 1)->SubmissionFenceId == UINT32_MAX &&
                                   sent_virtual(f, 2)->SubmissionFenceId == 1);
    CHECK(node->last_completed == 3);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_completion_may_come_first)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].completes_inside = true;
    for (int i = 0; i < 6; i++)
        submit(context, 0x1000, 16);
    idle(device);
    CHECK_RULE("SUBMIT-027",
               f->vidsch->node[1].last_completed == 6 && verify_count(f->log, VERIFY_ERROR) == 0);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, one_completion_for_several, .depth = 4)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    for (int i = 0; i < 4; i++)
        submit(context, 0x1000, 16);
    pass(MS);
    f->driver.engine[1].count = 0;
    driver_complete(f, 1, 3);
    pass(MS);
    CHECK_RULE("SUBMIT-042", f->vidsch->node[1].last_completed == 3 && device->pending == 1);
    driver_complete(f, 1, 4);
    idle(device);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, nothing_overlaps_in_the_scheduler_class, .nodes = 3, .virtual_mask = 6)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *c[3] = {make_context(device, 0), make_context(device, 1),
                                   make_context(device, 2)};

    for (int i = 0; i < 10; i++) {
        render(c[0], 16);
        submit(c[1], 0x1000, 16);
        submit(c[2], 0x1000, 16);
    }
    idle(device);
    CHECK_RULE("PATCH-138", f->driver.most_inside == 1);
    CHECK(calls_of(f, CALL_SUBMIT) == 10 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 20);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, cancelled_packets_are_announced, .cancel_aware = true)
{
    struct vidsch_device *device = make_device(f), *healthy = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 0),
                          *c = make_context(healthy, 1);
    const DXGKARG_CANCELCOMMAND *cancel;

    f->driver.engine[1].hang = f->driver.engine[0].hang = true;
    for (D3DGPU_VIRTUAL_ADDRESS i = 0; i < 4; i++)
        submit(a, i, 16);
    for (int i = 0; i < 3; i++)
        render(b, 48);
    pass(MS);
    submit(c, 0x9000, 16);
    CHECK(vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT) == STATUS_SUCCESS);
    pass(MS);
    CHECK_RULE("SUBMIT-155", f->driver.most_inside == 1);
    CHECK_RULE("TDR-061", calls_of(f, CALL_CANCEL) == 3 &&
                              call_at(f, CALL_CANCEL, 0)->irql == SIM_IRQL_PASSIVE);
    cancel = &call_at(f, CALL_CANCEL, 0)->cancel;
    CHECK_RULE("TDR-065", cancel->DmaBufferVirtualAddress == 2 &&
                              call_at(f, CALL_CANCEL, 1)->cancel.DmaBufferVirtualAddress == 3);
    CHECK_RULE("TDR-063", cancel->hContext == a->mm.driver_handle && cancel->DmaBufferSize == 16 &&
                              !cancel->pDmaBuffer);
    cancel = &call_at(f, CALL_CANCEL, 2)->cancel;
    CHECK_RULE("TDR-063", cancel->hContext == b->mm.driver_handle && cancel->pDmaBuffer &&
                              cancel->DmaBufferSubmissionEndOffset == 48 &&
                              cancel->pAllocationList && cancel->DmaBufferSize == 8192);
    CHECK_RULE("TDR-080", device->pending == 4 &&
                              vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    driver_run(f, 0);
    driver_run(f, 1);
    idle(device);
    CHECK_RULE("SUBMIT-089", f->driver.engine[0].completed == 2);
    idle(healthy);
    CHECK_RULE("SUBMIT-089",
               vidsch_device_state(healthy) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                   last_call(f, CALL_SUBMIT_VIRTUAL)->submit_virtual.args.DmaBufferVirtualAddress ==
                       0x9000);
    vidsch_device_destroy(device);
    vidsch_device_destroy(healthy);
    CHECK_RULE("PATCH-052",
               calls_of(f, CALL_SUBMIT_VIRTUAL) == 3 && calls_of(f, CALL_DESTROY_CONTEXT) == 3);
}

TEST_WITH(fixture, without_the_cap_packets_are_dropped)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    for (int i = 0; i < 4; i++)
        submit(context, 0x1000, 16);
    pass(MS);
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    driver_run(f, 1);
    idle(device);
    CHECK_RULE("TDR-062", calls_of(f, CALL_CANCEL) == 0 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    vidsch_device_destroy(device);
}

static void cancel_something(struct fixture *f)
{
    cancelled_packets_are_announced(f);
}

static void set_cancel_fails(struct fixture *f)
{
    f->driver.status[CALL_CANCEL] = STATUS_UNSUCCESSFUL;
}

TEST(a_failed_cancellation_is_fatal)
{
    FATAL((&(struct fixture_options){.cancel_aware = true, .prepare = set_cancel_fails}),
          cancel_something, "TDR-064", 0x119, 0x9);
}

TEST_WITH(fixture, a_stopping_adapter_lets_go_of_everything)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);

    wait_gpu(context, fence, 5);
    for (int i = 0; i < 3; i++)
        submit(context, 0x1000, 16);
    vidsch_quiesce(f->vidsch);
    CHECK_RULE("TDR-055", vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_STOPPED);
    CHECK_RULE("KMT-123", submit(context, 0, 0) == STATUS_DEVICE_REMOVED &&
                              vidsch_device_check(device, false) == STATUS_DEVICE_REMOVED);
    CHECK(device->pending == 0 && vidsch_sync_value(fence) == 0);
    vidsch_device_destroy(device);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 64)) ==
          STATUS_SUCCESS); /* vidmm_stop still evicts */
}
