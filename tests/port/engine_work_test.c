/* SPDX-License-Identifier: MIT */
/* What the driver says of its engines, against what the device model tells that they do. */
#include "dxgkhost/device.h"
#include "port/support/client.h"

#include <string.h>

#define MS    1000000ull
#define VA    0x10000u /* of probe_gpu_submit */
#define BYTES 64u

static struct probe_gpu gpu;

/* The device after a reset: nothing is on it, and what comes is done at once. */
static void clear_device(struct probe *p, struct probe_call *call)
{
    const PULONG registers = p->state[0].registers;

    (void)call;
    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    probe_device_packet_ns = 1000;
}

static void run(void (*prepare)(struct probe *p), void (*body)(struct probe *p))
{
    const struct probe_options options = {
        .port = {.tdr = {.level = 3, .delay = 2, .ddi_delay = 5, .enable_preemption = true}}};
    struct probe *p = probe_create(&options);
    struct probe_client *client;

    p->before[PROBE_ResetEngine] = clear_device;
    p->before[PROBE_ResetFromTimeout] = clear_device;
    if (prepare)
        prepare(p);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_device_packet_ns = 1000;
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* A packet that stays on node 1 for long; its fence. */
static uint32_t submit_one(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    probe_sleep(MS);
    probe_device_packet_ns = 600 * PROBE_SECOND;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(MS);
    return p->state[0].submitted[1];
}

static void tell_place(uint32_t fence, bool begins, uint64_t address, uint32_t bytes)
{
    probe_device_work(
        0, &(struct dxgk_device_work){
               .node = 1, .fence = fence, .begins = begins, .address = address, .bytes = bytes});
}

static void tell(uint32_t fence, bool begins)
{
    tell_place(fence, begins, VA, BYTES);
}

/* ---- what it executes ---- */

static void execute_elsewhere(struct probe *p)
{
    const uint32_t fence = submit_one(p);

    tell_place(fence, true, VA, BYTES);
    tell_place(fence + 1, true, VA + 4, BYTES); /* nobody knows it */
    CHECK_RULE("SUBMIT-030", probe_rule(p, "SUBMIT-030") == 0);
    tell_place(fence, true, VA + 4, BYTES);
    CHECK_RULE("SUBMIT-030", probe_rule(p, "SUBMIT-030") == 1 &&
                                 probe_said(p, "SUBMIT-030", "64 bytes at 0x10004 for fence"));
    tell_place(fence, true, VA, BYTES - 4);
    CHECK_RULE("SUBMIT-030", probe_rule(p, "SUBMIT-030") == 2 &&
                                 probe_said(p, "SUBMIT-030", "64 bytes at 0x10000"));
    tell_place(fence, false, VA, BYTES - 4); /* it is rid of that */
    CHECK_RULE("SUBMIT-030", probe_rule(p, "SUBMIT-030") == 2);
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(an_engine_executes_what_the_driver_was_given)
{
    run(NULL, execute_elsewhere);
}

static void render_nothing(struct probe *p)
{
    D3DKMT_SUBMITCOMMAND submit;
    uint32_t fence;

    (void)submit_one(p);
    memset(&submit, 0, sizeof(submit));
    submit.Commands = VA;
    submit.CommandLength = BYTES;
    submit.Flags.NullRendering = 1;
    submit.BroadcastContextCount = 1;
    submit.BroadcastContext[0] = gpu.context;
    CHECK(NT_SUCCESS(D3DKMTSubmitCommand(&submit)));
    probe_sleep(MS);
    fence = p->state[0].submitted[1];
    tell_place(fence, true, 0, 0);
    CHECK_RULE("SUBMIT-036", probe_rule(p, "SUBMIT-036") == 0 && probe_rule(p, "SUBMIT-030") == 0);
    tell_place(fence, true, VA, BYTES);
    CHECK_RULE("SUBMIT-036", probe_rule(p, "SUBMIT-036") == 1 && probe_rule(p, "SUBMIT-030") == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(with_NullRendering_it_executes_nothing)
{
    run(NULL, render_nothing);
}

/* ---- what is said of it ---- */

static DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

static BOOLEAN NTAPI notify(PVOID context)
{
    struct probe *p = probe;

    (void)context;
    p->state[0].dxgk.DxgkCbNotifyInterrupt(p->state[0].dxgk.DeviceHandle, &data);
    return TRUE;
}

static void complete(struct probe *p, uint32_t fence)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    BOOLEAN result;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = p->state[0].reported[1] = fence;
    data.DmaCompleted.NodeOrdinal = 1;
    CHECK(
        NT_SUCCESS(dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, notify, NULL, 0, &result)));
    (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    probe_sleep(MS);
}

static void complete_too_early(struct probe *p)
{
    const uint32_t fence = submit_one(p);

    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(MS);
    CHECK(p->state[0].submitted[1] == fence + 1);
    tell(fence, true);
    tell(fence, false);
    tell(fence + 1, true);
    complete(p, fence);
    CHECK_RULE("SUBMIT-046", probe_rule(p, "SUBMIT-046") == 0);
    complete(p, fence + 1);
    CHECK_RULE("SUBMIT-046", probe_rule(p, "SUBMIT-046") == 1 &&
                                 probe_said(p, "SUBMIT-046",
                                            "is completed, but the engine still executes fence"));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(MS);
    complete(p, fence + 2); /* what it still executes was told before */
    CHECK_RULE("SUBMIT-046", probe_rule(p, "SUBMIT-046") == 1);
    tell(fence + 1, false);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(nothing_is_completed_that_is_executed)
{
    run(NULL, complete_too_early);
}

static void keep_silent(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void ignore_requests(struct probe *p)
{
    p->before[PROBE_PreemptCommand] = keep_silent;
}

static UINT request;

static void note_request(struct probe *p, struct probe_call *call)
{
    request = ((const DXGKARG_PREEMPTCOMMAND *)(uintptr_t)call->arg[1])->PreemptionFenceId;
    keep_silent(p, call);
}

static void note_requests(struct probe *p)
{
    p->before[PROBE_PreemptCommand] = note_request;
}

static void preempt(struct probe *p, uint32_t completed)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    BOOLEAN result;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
    data.DmaPreempted.PreemptionFenceId = request;
    data.DmaPreempted.LastCompletedFenceId = p->state[0].reported[1] = completed;
    data.DmaPreempted.NodeOrdinal = 1;
    CHECK(
        NT_SUCCESS(dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, notify, NULL, 0, &result)));
    (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    probe_sleep(MS);
}

static void preempt_too_late(struct probe *p)
{
    const uint32_t fence = submit_one(p);

    tell(fence, true);
    probe_sleep(2 * PROBE_SECOND + 100 * MS);
    CHECK(request != 0);
    preempt(p, fence);
    CHECK_RULE("SUBMIT-046", probe_rule(p, "SUBMIT-046") == 1 &&
                                 probe_said(p, "SUBMIT-046", "DMA_PREEMPTED says"));
    tell(fence, false);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(nothing_is_preempted_as_completed_that_is_executed)
{
    request = 0;
    run(note_requests, preempt_too_late);
}

static bool done, again;

static void wait_for_the_end(struct probe *p)
{
    const uint32_t fence = submit_one(p);

    tell(fence, true);
    if (done || again)
        tell(fence, false);
    if (again) /* it was stopped in it, and goes on */
        tell(fence, true);
    probe_sleep(2 * PROBE_SECOND + 100 * MS);
    CHECK_RULE("SUBMIT-090", probe_rule(p, "SUBMIT-090") == done &&
                                 probe_said(p, "SUBMIT-090", "is done with fence") == done);
    CHECK_RULE("PREEMPT-016", probe_rule(p, "PREEMPT-016") == 0);
    probe_sleep(2 * PROBE_SECOND);
    CHECK(probe_count(p, PROBE_PreemptCommand) == 1 && probe_count(p, PROBE_ResetEngine) == 1);
    CHECK_RULE("PREEMPT-016", probe_rule(p, "PREEMPT-016") == done &&
                                  probe_said(p, "PREEMPT-016", "executes nothing") == done);
    tell(fence, false);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(an_engine_that_is_done_is_reported)
{
    for (unsigned i = 0; i < 3; i++) {
        done = i == 1;
        again = i == 2;
        run(ignore_requests, wait_for_the_end);
    }
}

/* ---- resets ---- */

static bool goes_on;

static void reset_engine(struct probe *p)
{
    const uint32_t fence = submit_one(p);

    tell(fence, true);
    if (!goes_on)
        tell(fence, false);
    CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
    CHECK_RULE("TDR-031", probe_rule(p, "TDR-031") == goes_on &&
                              probe_said(p, "TDR-031",
                                         "the engine of node 1 still executes fence") == goes_on);
    tell(fence, false);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(after_its_reset_an_engine_executes_nothing)
{
    for (unsigned i = 0; i < 2; i++) {
        goes_on = i != 0;
        run(NULL, reset_engine);
    }
}

static void reset_adapter(struct probe *p)
{
    const uint32_t fence = submit_one(p);

    tell(fence, true);
    if (!goes_on)
        tell(fence, false);
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    CHECK_RULE("TDR-046", probe_rule(p, "TDR-046") == goes_on &&
                              probe_said(p, "TDR-046",
                                         "the engine of node 1 still executes fence") == goes_on);
    tell(fence, false);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(after_a_reset_of_the_adapter_no_engine_executes_anything)
{
    for (unsigned i = 0; i < 2; i++) {
        goes_on = i != 0;
        run(NULL, reset_adapter);
    }
}
