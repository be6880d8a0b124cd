/* SPDX-License-Identifier: MIT */
/* Events of Windows' provider: which ones packets, preemptions and resets leave, when and with what
 * in them. */
#include "sim/machine.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/support/fixture.h"
#include "wintrace/check.h"
#include "wintrace/sink.h"
#include "wintrace/wintrace.h"
#include "wintrace/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wintrace_sink *sink;
static struct wintrace *trace;

static void where(struct wintrace_place *place)
{
    place->process = 1;
    place->thread = 2;
    place->processor = sim_current->processor;
}

static void record(struct fixture *f)
{
    struct wintrace_sink_config config = {.processors = 4, .where = where};

    sink = wintrace_sink_create(&config);
    CHECK(sink);
    wintrace_sink_install(sink, &f->sim->now);
}

/* Stop, and read what was recorded. */
static void look_at_it(void)
{
    char error[256] = "";
    FILE *file = tmpfile();
    uint8_t *block;
    size_t bytes;

    CHECK(file && wintrace_write(sink, WINTRACE_ETL, file));
    wintrace_sink_destroy(sink);
    bytes = (size_t)ftell(file);
    rewind(file);
    block = malloc(bytes);
    CHECK(block && fread(block, 1, bytes, file) == bytes);
    fclose(file);
    trace = wintrace_read_bytes(block, bytes, "trace", error, sizeof(error));
    free(block);
    CHECK(trace && trace->undecoded == 0 && trace->unknown == 0);
}

static void done_looking(void)
{
    wintrace_destroy(trace);
}

/* The n-th event with that number, from 0; NULL: there are fewer. */
static const struct wintrace_event *event(unsigned id, unsigned n)
{
    for (size_t i = 0; i < trace->events; i++)
        if (trace->event[i].kind->id == id && n-- == 0)
            return &trace->event[i];
    return NULL;
}

static unsigned count(unsigned id)
{
    unsigned n = 0;

    while (event(id, n))
        n++;
    return n;
}

static uint64_t get(const struct wintrace_event *of, const char *field)
{
    uint64_t value = 0;

    CHECK(of && wintrace_get(trace, of, field, &value));
    return value;
}

/* The ids of all events but those of contexts' states and times, in their order. */
static bool order_is(const unsigned *id, size_t ids)
{
    size_t n = 0;

    for (size_t i = 0; i < trace->events; i++) {
        unsigned found = trace->event[i].kind->id;

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

/* No rule that can be seen in a trace is broken in this one. */
static bool holds_up(void)
{
    struct wintrace_check *c = wintrace_check_create(trace);
    struct wintrace_findings findings = wintrace_check_findings(c);
    bool good = true;

    for (size_t i = 0; i < findings.count; i++)
        good = good && findings.finding[i].broken == 0;
    wintrace_check_destroy(c);
    return good;
}

/* ---- packets ---- */

TEST_WITH(fixture, a_packet_from_its_queue_to_its_end)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    uint64_t handle = vidsch_context_handle(context), base;
    const struct wintrace_event *start;

    f->driver.engine[1].run_ns = 3 * MS;
    pass(MS);
    record(f);
    base = sim_now();
    submit(context, 0x1000, 48);
    idle(device);
    look_at_it();
    CHECK(ORDER_IS(178, 23, 22, 179, 175, 177, 176, 180));
    start = event(178, 0);
    CHECK(get(start, "hContext") == handle && get(start, "PacketType") == 0 &&
          get(start, "SubmitSequence") == 1 && get(start, "DmaBufferSize") == 48 &&
          get(start, "hDmaBuffer") == 0);
    CHECK(get(event(23, 0), "pDxgAdapter") == vidsch_adapter_handle(f->vidsch) &&
          get(event(23, 0), "hContext") == handle && get(event(23, 0), "NodeOrdinal") == 1 &&
          get(event(23, 0), "ReadyNodeSwMapBits") == 2 &&
          get(event(23, 0), "ReadyNodeHwMapBits") == 3);
    CHECK(get(event(22, 0), "AttemptResult") == ATTEMPT_IDLE);
    CHECK(get(event(175, 0), "uliSubmissionId") == 1 && get(event(175, 0), "PacketType") == 0 &&
          get(event(175, 0), "ulQueueSubmitSequence") == 1 &&
          get(event(175, 0), "QuantumStatus") == 1);
    CHECK(get(event(177, 0), "uliCompletionId") == 1 && get(event(177, 0), "InterruptType") == 1 &&
          event(177, 0)->time - event(175, 0)->time >= 3 * MS);
    CHECK(get(event(176, 0), "uliCompletionId") == 1 && get(event(176, 0), "bPreempted") == 0);
    CHECK(get(event(180, 0), "SubmitSequence") == 1 && get(event(180, 0), "bTimeouted") == 0 &&
          get(event(180, 0), "pQueuePacket") == get(start, "pQueuePacket"));
    CHECK(get(event(113, 0), "RunningTime") >= 3 * MS / 100 &&
          (get(event(113, 0), "RemainingQuantum") + get(event(113, 0), "RunningTime") + 1) / 2 ==
              5 * MS / 200); /* both are rounded down */
    CHECK(get(event(20, 0), "Status") == STATUS_CONTEXT_READY &&
          get(event(20, 1), "Status") == STATUS_CONTEXT_TAKEN &&
          get(event(20, 2), "Status") == STATUS_CONTEXT_IDLE && count(20) == 3);
    CHECK(start->time == 0 && sim_now() > base && holds_up());
    done_looking();
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_rendered_buffer_tells_its_lists)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 0);

    record(f);
    CHECK(render(context, 24) == STATUS_SUCCESS);
    idle(device);
    look_at_it();
    CHECK(ORDER_IS(178, 23, 22, 179, 175, 177, 176, 180));
    CHECK(get(event(178, 0), "DmaBufferSize") == 24 && get(event(178, 0), "hDmaBuffer") != 0 &&
          get(event(175, 0), "pDmaBuffer") == get(event(178, 0), "hDmaBuffer"));
    CHECK(get(event(23, 0), "NodeOrdinal") == 0 && holds_up());
    done_looking();
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, paging_is_of_the_system_context)
{
    record(f);
    page(f, 64);
    pass(MS);
    look_at_it();
    CHECK(ORDER_IS(178, 23, 22, 179, 175, 177, 176, 180));
    CHECK(get(event(178, 0), "PacketType") == 8 && get(event(175, 0), "PacketType") == 1 &&
          get(event(177, 0), "PacketType") == 1 && get(event(176, 0), "PacketType") == 1 &&
          get(event(178, 0), "hDmaBuffer") != 0 &&
          get(event(175, 0), "pDmaBuffer") == get(event(178, 0), "hDmaBuffer"));
    CHECK(get(event(175, 0), "hQueuePacketContext") == get(event(175, 0), "hContext"));
    CHECK(holds_up());
    done_looking();
}

TEST_WITH(fixture, waits_and_signals_are_packets)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    const struct wintrace_event *wait, *signal;
    uint64_t at;

    record(f);
    CHECK(NT_SUCCESS(wait_gpu(a, fence, 7)));
    submit(a, 0x1000, 16);
    submit(b, 0x2000, 16);
    CHECK(NT_SUCCESS(signal_gpu(b, fence, 7)));
    idle(device);
    look_at_it();
    wait = event(244, 0);
    signal = event(245, 0);
    CHECK(get(wait, "hContext") == vidsch_context_handle(a) && get(wait, "SubmitSequence") == 1 &&
          get(wait, "FenceValue") == 7);
    at = get(signal, "ObjectArray");
    CHECK(get(signal, "hContext") == vidsch_context_handle(b) &&
          get(signal, "SubmitSequence") == 2 && get(signal, "ObjectCount") == 1 &&
          trace->value[at + 1] == get(wait, "hSyncObject"));
    CHECK(trace->value[get(signal, "FenceValue") + 1] == 7);
    /* the signal in the DPC of its packet, and the wait after it */
    CHECK(count(238) == 1 && get(event(238, 0), "hContext") == vidsch_context_handle(a) &&
          get(event(238, 0), "QueuePacket") == get(wait, "pQueuePacket"));
    CHECK(get(event(180, 0), "hContext") == vidsch_context_handle(b) &&
          get(event(180, 0), "PacketType") == 0);
    CHECK(count(180) == 4 && count(179) == 4 && event(238, 0)->time > event(180, 0)->time);
    CHECK(get(event(178, 0), "SubmitSequence") == 2 && holds_up());
    done_looking();
    vidsch_sync_destroy(fence);
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
    record(f);
    submit(low, 0x1000, 16);
    submit(low, 0x2000, 16);
    pass(MS);
    submit(high, 0x3000, 16);
    pass(MS);
    driver_run(f, 1);
    idle(device);
    look_at_it();
    CHECK(calls_of(f, CALL_PREEMPT) == 1);
    request = event(175, 2);
    CHECK(get(request, "PacketType") == 3 && get(request, "uliSubmissionId") == 1 &&
          get(request, "hContext") != vidsch_context_handle(low) &&
          get(request, "hContext") != vidsch_context_handle(high));
    CHECK(get(event(177, 0), "InterruptType") == 2 && get(event(177, 0), "uliCompletionId") == 1 &&
          get(event(177, 1), "InterruptType") == 2 && get(event(177, 1), "uliCompletionId") == 2);
    answer = event(177, 2);
    CHECK(get(answer, "PacketType") == 3 && get(answer, "InterruptType") == 1 &&
          get(answer, "uliCompletionId") == 1 &&
          get(answer, "hContext") == get(request, "hContext"));
    CHECK(get(event(176, 0), "bPreempted") == 1 && get(event(176, 1), "bPreempted") == 1 &&
          get(event(176, 2), "PacketType") == 3);
    CHECK(get(event(175, 3), "hContext") == vidsch_context_handle(high) &&
          get(event(175, 3), "uliSubmissionId") == 3);
    CHECK(get(event(175, 4), "ulQueueSubmitSequence") == 1 &&
          get(event(175, 4), "uliSubmissionId") == 4);
    CHECK(count(178) == 3 && count(180) == 3 && count(175) == 6);
    CHECK(get(event(22, 2), "AttemptResult") == ATTEMPT_ASKED &&
          get(event(22, 2), "hContext") == vidsch_context_handle(high));
    CHECK(holds_up());
    done_looking();
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_reset_ends_one_packet_and_returns_the_others)
{
    struct vidsch_device *guilty = make_device(f), *innocent = make_device(f);
    struct vidsch_context *a = make_context(guilty, 1), *b = make_context(innocent, 1);
    const struct wintrace_event *aborted = NULL;

    f->driver.engine[1].hang = true;
    record(f);
    submit(a, 0x1000, 16);
    submit(b, 0x2000, 16);
    pass(10 * SECOND);
    idle(innocent);
    look_at_it();
    CHECK(f->vidsch->statistics.engine_resets == 1);
    for (unsigned i = 0; event(180, i); i++)
        if (get(event(180, i), "bTimeouted"))
            aborted = event(180, i);
    CHECK(aborted && get(aborted, "hContext") == vidsch_context_handle(a));
    CHECK(count(178) == 2 && count(180) == 2 && holds_up());
    done_looking();
    vidsch_device_destroy(guilty);
    vidsch_device_destroy(innocent);
}
