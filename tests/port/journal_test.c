/* SPDX-License-Identifier: MIT */
/* The journal of submissions on a started adapter: each stage when it happens, each way to end, and what happens to nodes. */
#include "port/support/hardware.h"
#include "vidsch/journal.h"
#include "vidsch/packet.h"

#include <string.h>

#define MS 1000000ull

static struct probe_gpu gpu;
static struct hardware_client client;

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_device_packet_ns = 1000;
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

static const struct probe_options options = {
    .port = {.journal = true,
             .tdr = {.level = 3, .delay = 2, .ddi_delay = 5, .enable_preemption = true}}};

static const struct journal *journal(const struct probe *p)
{
    return vidsch_journal(port_adapter_vidsch(p->adapter[0]));
}

/* The youngest packet of the kind; NULL: there is none. */
static const struct journal_packet *newest(const struct probe *p, uint8_t kind)
{
    for (uint32_t number = journal(p)->last; number > 0; number--) {
        const struct journal_packet *packet = journal_packet(journal(p), number);

        if (packet && packet->kind == kind)
            return packet;
    }
    return NULL;
}

static const struct journal_event *event_of(const struct probe *p, uint8_t kind)
{
    const struct journal_event *event;

    for (size_t i = 0; (event = journal_event_at(journal(p), i)) != NULL; i++)
        if (event->kind == kind)
            return event;
    return NULL;
}

static void submit(void)
{
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(MS);
}

/* ---- a packet that completes ---- */

static void complete_one(struct probe *p)
{
    const struct journal_packet *first, *second;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    probe_sleep(MS);
    probe_device_packet_ns = 5 * MS;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(MS);
    second = newest(p, PACKET_VIRTUAL);
    first = journal_packet(journal(p), second->number - 1);
    CHECK(first->submitted && first->started == first->submitted && !first->interrupted &&
          !first->ended);
    CHECK(second->submitted && !second->started);
    probe_sleep(20 * MS);
    CHECK(first->place == 0x10000 && first->bytes == 64 && first->node == 1 && first->context &&
          first->process && first->submissions == 1 && first->fence + 1 == second->fence);
    CHECK(first->interrupted >= first->submitted + 5 * MS &&
          first->interrupt == DXGK_INTERRUPT_DMA_COMPLETED && first->dpc >= first->interrupted &&
          first->ended >= first->dpc && first->end == JOURNAL_COMPLETED);
    CHECK(second->started == first->interrupted && second->ended > first->ended);
    CHECK(!first->rendered && !first->patched);
    CHECK(newest(p, PACKET_PAGING)->end == JOURNAL_COMPLETED);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_packet_has_all_its_times)
{
    run(probe_create(&options), complete_one);
}

/* ---- packets that do not ---- */

static void refuse(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (args->Flags.Paging)
        return;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_INVALID_PARAMETER;
}

static void be_refused(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    p->before[PROBE_SubmitCommandVirtual] = refuse;
    submit();
    p->before[PROBE_SubmitCommandVirtual] = NULL;
    CHECK(newest(p, PACKET_VIRTUAL)->end == JOURNAL_REFUSED);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_packet_may_be_refused)
{
    run(probe_create(&options), be_refused);
}

static BOOLEAN NTAPI notify_fault(PVOID context)
{
    struct probe *p = probe;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)context;
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_FAULTED;
    data.DmaFaulted.FaultedFenceId = p->state[0].submitted[1];
    data.DmaFaulted.Status = STATUS_ILLEGAL_INSTRUCTION;
    data.DmaFaulted.NodeOrdinal = 1;
    p->state[0].reported[1] = p->state[0].submitted[1];
    p->state[0].dxgk.DxgkCbNotifyInterrupt(p->state[0].dxgk.DeviceHandle, &data);
    return TRUE;
}

static void fault(struct probe *p)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    const struct journal_packet *packet;
    BOOLEAN result;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    probe_sleep(MS);
    probe_device_packet_ns = PROBE_SECOND;
    submit();
    CHECK(NT_SUCCESS(
        dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, notify_fault, NULL, 0, &result)));
    (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    probe_sleep(MS);
    packet = newest(p, PACKET_VIRTUAL);
    CHECK(packet->end == JOURNAL_FAULTED && packet->status == STATUS_ILLEGAL_INSTRUCTION &&
          packet->interrupt == DXGK_INTERRUPT_DMA_FAULTED && packet->ended);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_packet_may_fault)
{
    run(probe_create(&options), fault);
}

/* ---- resets ---- */

static void clear_device(struct probe *p, struct probe_call *call)
{
    const PULONG registers = p->state[0].registers;

    (void)call;
    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    probe_device_packet_ns = 1000;
}

static struct probe *with_resets(void)
{
    struct probe *p = probe_create(&options);

    p->before[PROBE_ResetEngine] = p->before[PROBE_ResetFromTimeout] = clear_device;
    return p;
}

static uint32_t aborted_fence;

static void abort_first(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_RESETENGINE *)(uintptr_t)call->arg[1])->LastAbortedFenceId = aborted_fence;
}

/* The first packet is aborted, with all of its device; that of another one comes back. */
static void reset_engine(struct probe *p)
{
    struct probe_gpu other;
    const struct journal_packet *aborted, *back;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)) && NT_SUCCESS(probe_gpu_begin(&other)));
    probe_sleep(MS);
    probe_device_packet_ns = 600 * PROBE_SECOND;
    submit();
    aborted = newest(p, PACKET_VIRTUAL);
    CHECK(NT_SUCCESS(probe_gpu_submit(&other)));
    probe_sleep(MS);
    back = newest(p, PACKET_VIRTUAL);
    CHECK(back != aborted && back->submissions == 1);
    aborted_fence = (uint32_t)aborted->fence;
    p->after[PROBE_ResetEngine] = abort_first;
    CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
    probe_sleep(MS);
    CHECK(aborted->end == JOURNAL_ABORTED && aborted->ended && !aborted->interrupted);
    CHECK(back->end == JOURNAL_COMPLETED && back->ended && back->resets == 1 &&
          back->preemptions == 0 && back->submissions == 2);
    CHECK(event_of(p, JOURNAL_ENGINE_RESET)->node == 1 &&
          event_of(p, JOURNAL_ENGINE_RESET)->value[0] == aborted->fence);
    CHECK(event_of(p, JOURNAL_RETURNED)->value[0] == back->number &&
          event_of(p, JOURNAL_RETURNED)->value[2] == 1);
    CHECK(event_of(p, JOURNAL_RECOVERY) && !event_of(p, JOURNAL_ADAPTER_RESET));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)) && NT_SUCCESS(probe_gpu_end(&other)));
}

TEST(a_reset_aborts_one_packet_and_returns_others)
{
    run(with_resets(), reset_engine);
}

/* What is on the node is aborted, what is in its queue is canceled: the node takes two. */
static void reset_adapter(struct probe *p)
{
    const struct journal_packet *last;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    probe_sleep(MS);
    probe_device_packet_ns = 600 * PROBE_SECOND;
    for (unsigned i = 0; i < 70; i++)
        CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(MS);
    last = newest(p, PACKET_VIRTUAL);
    CHECK(!last->submitted && journal_packet(journal(p), last->number - 69)->submitted);
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    probe_sleep(MS);
    CHECK(last->end == JOURNAL_CANCELED && last->ended);
    CHECK(journal_packet(journal(p), last->number - 69)->end == JOURNAL_ABORTED);
    CHECK(event_of(p, JOURNAL_ADAPTER_RESET) && event_of(p, JOURNAL_ADAPTER_AGAIN) &&
          event_of(p, JOURNAL_ADAPTER_AGAIN)->time >= event_of(p, JOURNAL_ADAPTER_RESET)->time);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_reset_of_the_adapter_ends_everything)
{
    run(with_resets(), reset_adapter);
}

/* ---- hardware queues ---- */

static void command_of_a_queue(struct probe *p)
{
    const struct journal_packet *packet;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    hardware.held = true;
    CHECK(NT_SUCCESS(hardware_submit(&client, 7)));
    probe_sleep(MS);
    packet = newest(p, PACKET_HW);
    CHECK(packet->fence == 7 && packet->node == HARDWARE_NODE && packet->place == 0x10000 &&
          packet->private_bytes == 8 && packet->submitted && packet->started == packet->submitted &&
          !packet->interrupted);
    hardware_finish(1);
    probe_sleep(MS);
    CHECK(packet->interrupt == DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED &&
          packet->interrupted > packet->submitted && packet->end == JOURNAL_COMPLETED &&
          packet->ended >= packet->interrupted);
    CHECK(NT_SUCCESS(hardware_submit(&client, 8)));
    probe_sleep(3 * PROBE_SECOND); /* it takes too long: its context is suspended */
    CHECK(event_of(p, JOURNAL_SUSPEND)->node == HARDWARE_NODE &&
          event_of(p, JOURNAL_SUSPEND)->value[1] == 1);
    hardware_finish(1);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_command_of_a_hardware_queue_has_its_times)
{
    run(hardware_create(&options), command_of_a_queue);
}

static void keep_none(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    submit();
    CHECK(!journal(p));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(nobody_asked_for_one)
{
    run(probe_create(NULL), keep_none);
}
