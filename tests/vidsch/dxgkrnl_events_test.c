/* SPDX-License-Identifier: MIT */
/* Events of Windows' provider: which ones packets, preemptions and resets leave, when and with what
 * in them. */
#include "support/emitted.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/support/fixture.h"

/* The ids of all events but those of contexts' states and times, in their order. */
static bool order_is(const unsigned *id, size_t ids)
{
    size_t n = 0;

    for (size_t i = 0; i < emitted_trace->events; i++) {
        unsigned found = emitted_trace->event[i].kind->id;

        if (found == 20 || found == 113)
            continue;
        if (n == ids || id[n++] != found)
            return false;
    }
    return n == ids;
}
#define ORDER_IS(...)                         \
    order_is((const unsigned[]){__VA_ARGS__}, \
             sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

/* ---- packets ---- */

TEST_WITH(fixture, a_packet_from_its_queue_to_its_end)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    uint64_t handle = vidsch_context_handle(context), base;
    const struct wintrace_event *start;

    f->driver.engine[1].run_ns = 3 * MS;
    pass(MS);
    emitted_begin();
    base = sim_now();
    submit(context, 0x1000, 48);
    idle(device);
    emitted_end();
    CHECK(ORDER_IS(178, 23, 22, 179, 175, 177, 176, 180));
    start = emitted(178, 0);
    CHECK(emitted_value(start, "hContext") == handle && emitted_value(start, "PacketType") == 0 &&
          emitted_value(start, "SubmitSequence") == 1 &&
          emitted_value(start, "DmaBufferSize") == 48 && emitted_value(start, "hDmaBuffer") == 0);
    CHECK(emitted_value(emitted(23, 0), "pDxgAdapter") == vidsch_adapter_handle(f->vidsch) &&
          emitted_value(emitted(23, 0), "hContext") == handle &&
          emitted_value(emitted(23, 0), "NodeOrdinal") == 1 &&
          emitted_value(emitted(23, 0), "ReadyNodeSwMapBits") == 2 &&
          emitted_value(emitted(23, 0), "ReadyNodeHwMapBits") == 3);
    CHECK(emitted_value(emitted(22, 0), "AttemptResult") == ATTEMPT_IDLE);
    CHECK(emitted_value(emitted(175, 0), "uliSubmissionId") == 1 &&
          emitted_value(emitted(175, 0), "PacketType") == 0 &&
          emitted_value(emitted(175, 0), "ulQueueSubmitSequence") == 1 &&
          emitted_value(emitted(175, 0), "QuantumStatus") == 1);
    CHECK(emitted_value(emitted(177, 0), "uliCompletionId") == 1 &&
          emitted_value(emitted(177, 0), "InterruptType") == 1 &&
          emitted(177, 0)->time - emitted(175, 0)->time >= 3 * MS);
    CHECK(emitted_value(emitted(176, 0), "uliCompletionId") == 1 &&
          emitted_value(emitted(176, 0), "bPreempted") == 0);
    CHECK(emitted_value(emitted(180, 0), "SubmitSequence") == 1 &&
          emitted_value(emitted(180, 0), "bTimeouted") == 0 &&
          emitted_value(emitted(180, 0), "pQueuePacket") == emitted_value(start, "pQueuePacket"));
    CHECK(emitted_value(emitted(113, 0), "RunningTime") >= 3 * MS / 100 &&
          (emitted_value(emitted(113, 0), "RemainingQuantum") +
           emitted_value(emitted(113, 0), "RunningTime") + 1) /
                  2 ==
              5 * MS / 200); /* both are rounded down */
    CHECK(emitted_value(emitted(20, 0), "Status") == STATUS_CONTEXT_READY &&
          emitted_value(emitted(20, 1), "Status") == STATUS_CONTEXT_TAKEN &&
          emitted_value(emitted(20, 2), "Status") == STATUS_CONTEXT_IDLE && emitted_count(20) == 3);
    CHECK(start->time == 0 && sim_now() > base && emitted_holds_up());
    emitted_forget();
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_rendered_buffer_tells_its_lists)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 0);

    emitted_begin();
    CHECK(render(context, 24) == STATUS_SUCCESS);
    idle(device);
    emitted_end();
    CHECK(ORDER_IS(178, 23, 22, 179, 175, 177, 176, 180));
    CHECK(emitted_value(emitted(178, 0), "DmaBufferSize") == 24 &&
          emitted_value(emitted(178, 0), "hDmaBuffer") != 0 &&
          emitted_value(emitted(175, 0), "pDmaBuffer") ==
              emitted_value(emitted(178, 0), "hDmaBuffer"));
    CHECK(emitted_value(emitted(23, 0), "NodeOrdinal") == 0 && emitted_holds_up());
    emitted_forget();
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, paging_is_of_the_system_context)
{
    emitted_begin();
    page(f, 64);
    pass(MS);
    emitted_end();
    CHECK(ORDER_IS(178, 23, 22, 179, 175, 177, 176, 180));
    CHECK(emitted_value(emitted(178, 0), "PacketType") == 8 &&
          emitted_value(emitted(175, 0), "PacketType") == 1 &&
          emitted_value(emitted(177, 0), "PacketType") == 1 &&
          emitted_value(emitted(176, 0), "PacketType") == 1 &&
          emitted_value(emitted(178, 0), "hDmaBuffer") != 0 &&
          emitted_value(emitted(175, 0), "pDmaBuffer") ==
              emitted_value(emitted(178, 0), "hDmaBuffer"));
    CHECK(emitted_value(emitted(175, 0), "hQueuePacketContext") ==
          emitted_value(emitted(175, 0), "hContext"));
    CHECK(emitted_holds_up());
    emitted_forget();
}

TEST_WITH(fixture, waits_and_signals_are_packets)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    const struct wintrace_event *wait, *signal;
    uint64_t at;

    emitted_begin();
    CHECK(NT_SUCCESS(wait_gpu(a, fence, 7)));
    submit(a, 0x1000, 16);
    submit(b, 0x2000, 16);
    CHECK(NT_SUCCESS(signal_gpu(b, fence, 7)));
    idle(device);
    emitted_end();
    wait = emitted(244, 0);
    signal = emitted(245, 0);
    CHECK(emitted_value(wait, "hContext") == vidsch_context_handle(a) &&
          emitted_value(wait, "SubmitSequence") == 1 && emitted_value(wait, "FenceValue") == 7 &&
          emitted_value(wait, "Flags") == 0);
    at = emitted_value(signal, "ObjectArray");
    CHECK(emitted_value(signal, "hContext") == vidsch_context_handle(b) &&
          emitted_value(signal, "SubmitSequence") == 2 && emitted_value(signal, "Flags") == 0 &&
          emitted_value(signal, "ObjectCount") == 1 &&
          emitted_trace->value[at + 1] == emitted_value(wait, "hSyncObject"));
    CHECK(emitted_trace->value[emitted_value(signal, "FenceValue") + 1] == 7);
    /* the signal in the DPC of its packet, and the wait after it */
    CHECK(emitted_count(238) == 1 &&
          emitted_value(emitted(238, 0), "hContext") == vidsch_context_handle(a) &&
          emitted_value(emitted(238, 0), "QueuePacket") == emitted_value(wait, "pQueuePacket"));
    CHECK(emitted_value(emitted(180, 0), "hContext") == vidsch_context_handle(b) &&
          emitted_value(emitted(180, 0), "PacketType") == 0);
    CHECK(emitted_count(180) == 4 && emitted_count(179) == 4 &&
          emitted(238, 0)->time > emitted(180, 0)->time);
    CHECK(emitted_value(emitted(178, 0), "SubmitSequence") == 2 && emitted_holds_up());
    emitted_forget();
    vidsch_sync_destroy(fence);
    vidsch_device_destroy(device);
}

/* A context that has nothing but a wait is idle when that is over. */
TEST_WITH(fixture, a_context_without_work_becomes_idle)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);

    emitted_begin();
    CHECK(NT_SUCCESS(wait_gpu(a, fence, 7)));
    CHECK(NT_SUCCESS(signal_cpu(fence, 7)));
    idle(device);
    emitted_end();
    CHECK(emitted_count(20) == 2 &&
          emitted_value(emitted(20, 0), "Status") == STATUS_CONTEXT_WAITS &&
          emitted_value(emitted(20, 1), "Status") == STATUS_CONTEXT_IDLE);
    emitted_forget();
    vidsch_sync_destroy(fence);
    vidsch_device_destroy(device);
}

/* A wait for two objects takes two numbers of its queue. */
TEST_WITH(fixture, a_wait_for_two_objects_is_told_as_two)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct vidsch_sync *fences[2] = {make_fence(device, 0), make_fence(device, 0)};
    const UINT64 values[2] = {3, 4};

    emitted_begin();
    CHECK(NT_SUCCESS(vidsch_sync_wait_gpu(context, fences, values, 2)));
    submit(context, 0x1000, 16);
    CHECK(NT_SUCCESS(signal_cpu(fences[0], 3)) && NT_SUCCESS(signal_cpu(fences[1], 4)));
    idle(device);
    emitted_end();
    CHECK(emitted_count(244) == 2 && emitted_count(179) == 3 && emitted_count(180) == 3);
    for (unsigned i = 0; i < 2; i++)
        CHECK(emitted_value(emitted(244, i), "SubmitSequence") == i + 1 &&
              emitted_value(emitted(244, i), "FenceValue") == values[i] &&
              emitted_value(emitted(180, i), "pQueuePacket") ==
                  emitted_value(emitted(244, i), "pQueuePacket"));
    CHECK(emitted_value(emitted(244, 0), "hSyncObject") !=
          emitted_value(emitted(244, 1), "hSyncObject"));
    CHECK(emitted_value(emitted(178, 0), "SubmitSequence") == 3 && emitted_holds_up());
    emitted_forget();
    vidsch_sync_destroy(fences[0]);
    vidsch_sync_destroy(fences[1]);
    vidsch_device_destroy(device);
}

/* ---- preemption, resets ---- */

TEST_WITH(fixture, a_preemption_and_its_answer)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *low = make_context(device, 1), *high = make_context(device, 1);
    const struct wintrace_event *request, *answer;

    vidsch_context_set_priority(high, 3);
    f->driver.engine[1].hang = true;
    emitted_begin();
    submit(low, 0x1000, 16);
    submit(low, 0x2000, 16);
    pass(MS);
    submit(high, 0x3000, 16);
    pass(MS);
    driver_run(f, 1);
    idle(device);
    emitted_end();
    CHECK(calls_of(f, CALL_PREEMPT) == 1);
    request = emitted(175, 2);
    CHECK(emitted_value(request, "PacketType") == 3 &&
          emitted_value(request, "uliSubmissionId") == 1 &&
          emitted_value(request, "hContext") != vidsch_context_handle(low) &&
          emitted_value(request, "hContext") != vidsch_context_handle(high));
    CHECK(emitted_value(emitted(177, 0), "InterruptType") == 2 &&
          emitted_value(emitted(177, 0), "uliCompletionId") == 1 &&
          emitted_value(emitted(177, 1), "InterruptType") == 2 &&
          emitted_value(emitted(177, 1), "uliCompletionId") == 2);
    answer = emitted(177, 2);
    CHECK(emitted_value(answer, "PacketType") == 3 && emitted_value(answer, "InterruptType") == 1 &&
          emitted_value(answer, "uliCompletionId") == 1 &&
          emitted_value(answer, "hContext") == emitted_value(request, "hContext"));
    CHECK(emitted_value(emitted(176, 0), "bPreempted") == 1 &&
          emitted_value(emitted(176, 1), "bPreempted") == 1 &&
          emitted_value(emitted(176, 2), "PacketType") == 3);
    CHECK(emitted_value(emitted(175, 3), "hContext") == vidsch_context_handle(high) &&
          emitted_value(emitted(175, 3), "uliSubmissionId") == 3);
    CHECK(emitted_value(emitted(175, 4), "ulQueueSubmitSequence") == 1 &&
          emitted_value(emitted(175, 4), "uliSubmissionId") == 4);
    CHECK(emitted_count(178) == 3 && emitted_count(180) == 3 && emitted_count(175) == 6);
    CHECK(emitted_value(emitted(22, 2), "AttemptResult") == ATTEMPT_ASKED &&
          emitted_value(emitted(22, 2), "hContext") == vidsch_context_handle(high));
    CHECK(emitted_holds_up());
    emitted_forget();
    vidsch_device_destroy(device);
}

/* Of what an answer to a preemption says to be complete, it is the first report. */
TEST_WITH(fixture, an_answer_reports_what_was_completed_before_it)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *low = make_context(device, 1), *high = make_context(device, 1);

    vidsch_context_set_priority(high, 3);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    emitted_begin();
    submit(low, 0x1000, 16);
    submit(low, 0x2000, 16);
    pass(MS);
    submit(high, 0x3000, 16);
    pass(MS);
    data.DmaPreempted.PreemptionFenceId = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
    data.DmaPreempted.LastCompletedFenceId = 1;
    data.DmaPreempted.NodeOrdinal = 1;
    f->driver.engine[1].count = 0; /* it forgot both */
    f->driver.engine[1].completed = 1;
    driver_notify_now(f, &data);
    emitted_end();
    CHECK(emitted_count(177) == 3); /* with the answer itself */
    CHECK(emitted_value(emitted(177, 0), "hContext") == vidsch_context_handle(low) &&
          emitted_value(emitted(177, 0), "InterruptType") == DXGK_INTERRUPT_DMA_COMPLETED &&
          emitted_value(emitted(177, 0), "uliCompletionId") == 1);
    CHECK(emitted_value(emitted(177, 1), "InterruptType") == DXGK_INTERRUPT_DMA_PREEMPTED &&
          emitted_value(emitted(177, 1), "uliCompletionId") == 2);
    emitted_forget();
    f->driver.engine[1].hang = false;
    idle(device);
    vidsch_device_destroy(device);
}

/* Packets below the one that a reset aborted are complete, and nobody reported them. */
TEST_WITH(fixture, a_reset_reports_what_was_completed_before_it)
{
    struct vidsch_device *first = make_device(f), *second = make_device(f);
    struct vidsch_context *a = make_context(first, 1), *b = make_context(second, 1);

    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    f->driver.aborted = 2;
    emitted_begin();
    submit(a, 0x1000, 16);
    submit(b, 0x2000, 16);
    pass(10 * SECOND);
    emitted_end();
    CHECK(f->vidsch->statistics.engine_resets == 1);
    CHECK(emitted_value(emitted(177, 0), "hContext") == vidsch_context_handle(a) &&
          emitted_value(emitted(177, 0), "InterruptType") == DXGK_INTERRUPT_DMA_COMPLETED &&
          emitted_value(emitted(177, 0), "uliCompletionId") == 1);
    emitted_forget();
    vidsch_device_destroy(first);
    vidsch_device_destroy(second);
}

TEST_WITH(fixture, a_reset_ends_one_packet_and_returns_the_others)
{
    struct vidsch_device *guilty = make_device(f), *innocent = make_device(f);
    struct vidsch_context *a = make_context(guilty, 1), *b = make_context(innocent, 1);
    const struct wintrace_event *aborted = NULL;

    f->driver.engine[1].hang = true;
    emitted_begin();
    submit(a, 0x1000, 16);
    submit(b, 0x2000, 16);
    pass(10 * SECOND);
    idle(innocent);
    emitted_end();
    CHECK(f->vidsch->statistics.engine_resets == 1);
    for (unsigned i = 0; emitted(180, i); i++)
        if (emitted_value(emitted(180, i), "bTimeouted"))
            aborted = emitted(180, i);
    CHECK(aborted && emitted_value(aborted, "hContext") == vidsch_context_handle(a));
    CHECK(emitted_count(178) == 2 && emitted_count(180) == 2 && emitted_holds_up());
    emitted_forget();
    vidsch_device_destroy(guilty);
    vidsch_device_destroy(innocent);
}

TEST_WITH(fixture, packets_leave_a_node_oldest_first, .depth = 4)
{
    struct vidsch_device *guilty = make_device(f), *innocent = make_device(f);
    struct vidsch_context *a = make_context(guilty, 1), *b = make_context(innocent, 1);

    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    emitted_begin();
    submit(a, 0x1000, 16);
    submit(b, 0x2000, 16);
    submit(b, 0x3000, 16);
    pass(10 * SECOND);
    idle(innocent);
    emitted_end();
    CHECK(f->vidsch->statistics.engine_resets == 1 && emitted_count(176) >= 4);
    CHECK(emitted_value(emitted(176, 0), "PacketType") == 3); /* the request is closed */
    for (unsigned i = 1; i < 4; i++)
        CHECK(emitted_value(emitted(176, i), "PacketType") == 0 &&
              emitted_value(emitted(176, i), "uliCompletionId") == i &&
              emitted_value(emitted(176, i), "bPreempted") == (i > 1));
    emitted_forget();
    vidsch_device_destroy(guilty);
    vidsch_device_destroy(innocent);
}
