/* SPDX-License-Identifier: MIT */
/* Hardware queues without progress: contexts that are suspended, engines that are reset, and who is to blame. */
#include "port/support/hardware.h"

#include <stdio.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct hardware_client client, other;
static char line[2048]; /* the last of a loss */

static void note_loss(void *context, const char *text)
{
    (void)context;
    snprintf(line, sizeof(line), "%s", text);
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    p->caps.SupportPerEngineTDR = TRUE;
    hardware.held = true;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

/* A client whose context is the newest of the driver. */
static void begin(void)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    probe_sleep(1000000);
    CHECK(hardware_in_flight() == 1);
}

static HANDLE newest(void)
{
    return hardware.context[hardware.contexts - 1].host;
}

/* ---- it lets go of the GPU ---- */

static void long_body(struct probe *p)
{
    begin();
    probe_sleep(3 * PROBE_SECOND);
    CHECK_RULE("PREEMPT-044", probe_count(p, PROBE_SuspendContext) == 1 &&
                                  probe_count(p, PROBE_ResumeContext) == 1);
    CHECK_RULE("PREEMPT-042", hardware.suspend_fence == 1);
    probe_sleep(4 * PROBE_SECOND);
    CHECK_RULE("PREEMPT-042",
               hardware.suspend_fence > 1 && probe_count(p, PROBE_ResetHwEngine) == 0);
    hardware_finish(1);
    CHECK(NT_SUCCESS(hardware_wait(&client, 1)));
    CHECK(hardware_device_state(&client) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_long_command_goes_on_after_its_context_was_suspended)
{
    run(hardware_create(NULL), long_body);
}

static void exempt_body(struct probe *p)
{
    const D3DDDI_CREATEHWQUEUEFLAGS flags = {.DisableGpuTimeout = 1};

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_queue(&client, client.context, flags)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    probe_sleep(60 * PROBE_SECOND);
    CHECK_RULE("KMT-175", probe_count(p, PROBE_SuspendContext) == 0 &&
                              probe_count(p, PROBE_ResetHwEngine) == 0);
    CHECK_RULE("TDR-006", hardware_device_state(&client) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    hardware_finish(1);
    CHECK(NT_SUCCESS(hardware_wait(&client, 1)));
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_queue_with_DisableGpuTimeout_may_take_its_time)
{
    run(hardware_create(NULL), exempt_body);
}

/* An acknowledgement of an earlier request is none. */
static void stale_body(struct probe *p)
{
    begin();
    probe_sleep(3 * PROBE_SECOND);
    CHECK(hardware.suspend_fence == 1);
    hardware.suspend = SUSPEND_IGNORED;
    while (hardware.suspend_fence == 1)
        probe_sleep(PROBE_SECOND / 10);
    hardware_acknowledge(newest(), 1);
    CHECK_RULE("PREEMPT-042", probe_count(p, PROBE_ResumeContext) == 1);
    hardware_acknowledge(newest(), 2);
    CHECK_RULE("PREEMPT-042", probe_count(p, PROBE_ResumeContext) == 2);
    hardware_finish(1);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

static void unknown_body(struct probe *p)
{
    begin();
    probe_sleep(3 * PROBE_SECOND);
    (void)p;
    hardware_acknowledge(newest(), hardware.suspend_fence + 1);
}

TEST(an_acknowledgement_names_the_last_request)
{
    struct probe *p = hardware_create(NULL);
    struct probe_client *process;

    run(p, stale_body);
    p = hardware_create(NULL);
    hardware.held = true;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, unknown_body);
    CHECK_RULE("PREEMPT-043", p->sim->stopped && probe_said(p, "PREEMPT-043", "suspend fence 2"));
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- it does not ---- */

static void hung_body(struct probe *p)
{
    begin();
    hardware.suspend = SUSPEND_IGNORED;
    hardware.invalidate = (int)hardware.contexts - 1;
    CHECK(NT_SUCCESS(hardware_begin(&other)));
    probe_sleep(3 * PROBE_SECOND);
    CHECK_RULE("TDR-074", probe_count(p, PROBE_ResetHwEngine) == 0);
    probe_sleep(2 * PROBE_SECOND);
    CHECK_RULE("TDR-074",
               probe_count(p, PROBE_ResetHwEngine) == 1 && probe_count(p, PROBE_ResetEngine) == 0);
    CHECK_RULE("TDR-077", probe_count(p, PROBE_ResumeHwEngine) == 1 &&
                              probe_nth(p, PROBE_ResumeHwEngine, 0)->order >
                                  probe_nth(p, PROBE_ResetHwEngine, 0)->order);
    CHECK_RULE("TDR-075", IS(hardware_submit(&client, 2), STATUS_DEVICE_REMOVED));
    CHECK_RULE("TDR-076", hardware_device_state(&client) == (hardware.collateral
                                                                 ? D3DKMT_DEVICEEXECUTION_RESET
                                                                 : D3DKMT_DEVICEEXECUTION_HUNG));
    hardware.ended = hardware.submissions; /* the command was lost with the engine */
    CHECK_RULE("TDR-075", NT_SUCCESS(hardware_submit(&other, 1)));
    probe_sleep(1000000);
    hardware_finish(1);
    CHECK_RULE("TDR-075", NT_SUCCESS(hardware_wait(&other, 1)) &&
                              hardware_device_state(&other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(probe_count(p, PROBE_ResetFromTimeout) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)) && NT_SUCCESS(probe_gpu_end(&other.gpu)));
}

TEST(a_reset_costs_the_devices_whose_contexts_were_invalidated)
{
    for (unsigned collateral = 0; collateral < 2; collateral++) {
        struct probe *p = hardware_create(NULL);

        hardware.collateral = collateral != 0;
        run(p, hung_body);
    }
}

/* The command ends, but the GPU never lets go of its context. */
static void mute_body(struct probe *p)
{
    begin();
    hardware.suspend = SUSPEND_IGNORED;
    while (probe_count(p, PROBE_SuspendContext) == 0)
        probe_sleep(PROBE_SECOND / 10);
    hardware_finish(1);
    CHECK(NT_SUCCESS(hardware_wait(&client, 1)));
    CHECK_RULE("TDR-074", NT_SUCCESS(probe_gpu_end(&client.gpu)) &&
                              probe_count(p, PROBE_ResetHwEngine) == 1 &&
                              probe_nth(p, PROBE_ResetHwEngine, 0)->order <
                                  probe_nth(p, PROBE_DestroyHwContext, 0)->order);
}

TEST(a_context_that_is_not_let_go_is_destroyed_after_a_reset)
{
    run(hardware_create(NULL), mute_body);
}

static void told_body(struct probe *p)
{
    begin();
    hardware.invalidate = (int)hardware.contexts - 1;
    hardware.extra.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT;
    hardware.extra.GpuEngineTimeout.NodeOrdinal = HARDWARE_NODE;
    hardware_notify();
    CHECK_RULE("TDR-073", probe_count(p, PROBE_ResetHwEngine) == 1 &&
                              probe_count(p, PROBE_SuspendContext) == 0);
    CHECK_RULE("TDR-073", hardware_device_state(&client) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(the_driver_may_report_a_hang_itself)
{
    run(hardware_create(NULL), told_body);
}

static void state_body(struct probe *p)
{
    begin();
    hardware.invalidate = (int)hardware.contexts - 1;
    for (unsigned state = 0; state < 4; state++) {
        hardware.extra.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE;
        hardware.extra.EngineStateChange.NodeOrdinal = HARDWARE_NODE;
        hardware.extra.EngineStateChange.NewState = (DXGK_ENGINE_STATE)((state + 3) % 4); /* 2 last */
        hardware_notify();
        CHECK_RULE("TDR-078/b", probe_count(p, PROBE_ResetHwEngine) == (state == 3) &&
                                    hardware_device_state(&client) ==
                                        (state == 3 ? D3DKMT_DEVICEEXECUTION_HUNG
                                                    : D3DKMT_DEVICEEXECUTION_ACTIVE));
    }
    CHECK_RULE("TDR-078/b", probe_rule(p, "TDR-078") == 1 && probe_said(p, "TDR-078", "NewState 3"));
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(an_engine_whose_state_is_hung_is_reset)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1};

    run(hardware_create(&options), state_body);
}

static void promoted_body(struct probe *p)
{
    begin();
    hardware.invalidate = (int)hardware.contexts - 1;
    hardware.extra.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT;
    hardware.extra.GpuEngineTimeout.NodeOrdinal = HARDWARE_NODE;
    hardware_notify();
    CHECK_RULE("TDR-077", probe_count(p, PROBE_ResetHwEngine) == 1 &&
                              probe_count(p, PROBE_ResetFromTimeout) == 1);
    CHECK(hardware_device_state(&client) == D3DKMT_DEVICEEXECUTION_HUNG ||
          hardware_device_state(&client) == D3DKMT_DEVICEEXECUTION_RESET);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

/* DxgkDdiResumeHwEngine, or the reset itself. */
TEST(a_reset_that_fails_is_one_of_the_adapter)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = hardware_create(&(struct probe_options){.port = {.loss = note_loss}});

        p->before[i ? PROBE_ResetHwEngine : PROBE_ResumeHwEngine] = probe_fail_call;
        run(p, promoted_body);
        CHECK_RULE("TDR-083", strstr(line, "adapter reset (0x117): node 1, engine 0, ") != NULL &&
                                  strstr(line, "no engine reset: ") != NULL);
        /* the command is still there if the driver could not reset the engine */
        CHECK_RULE("TDR-083", (strstr(line, ", fence 1 of a hardware queue, context ") != NULL &&
                               strstr(line, "; commands at address 0x") != NULL) == (i == 1));
    }
}

static void outside_body(struct probe *p)
{
    DXGKARGCB_INVALIDATEHWCONTEXT args = {.hAdapter = p->state[0].dxgk.DeviceHandle};

    CHECK_RULE("TDR-075",
               IS(p->state[0].dxgk.DxgkCbInvalidateHwContext(&args), STATUS_INVALID_PARAMETER) &&
                   probe_said(p, "TDR-075", "hHwContext NULL"));
}

static void late_body(struct probe *p)
{
    DXGKARGCB_INVALIDATEHWCONTEXT args = {.hAdapter = p->state[0].dxgk.DeviceHandle};

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    args.hHwContext = newest();
    CHECK_RULE("TDR-075",
               IS(p->state[0].dxgk.DxgkCbInvalidateHwContext(&args), STATUS_INVALID_DEVICE_STATE) &&
                   probe_said(p, "TDR-075", "outside of DxgkDdiResetHwEngine"));
    CHECK(hardware_device_state(&client) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    outside_body(p);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(contexts_are_invalidated_in_a_reset_alone)
{
    run(hardware_create(NULL), late_body);
}

/* ---- between the reset and DxgkDdiResumeHwEngine ---- */

static DXGKARGCB_NOTIFY_INTERRUPT_DATA early;

static bool is_fatal(const struct probe *p, const char *what)
{
    const struct verify_bugcheck *b = verify_bugcheck_state(p->log);

    return p->sim->stopped && b->code == 0x119 && b->parameter[0] == 0x10 &&
           b->parameter[1] == HARDWARE_NODE && probe_said(p, "TDR-023", what);
}

static void await(struct probe *p, enum probe_ddi ddi)
{
    while (probe_count(p, ddi) == 0)
        probe_sleep(50000);
}

static void reset_body(struct probe *p)
{
    begin();
    hardware.suspend = SUSPEND_IGNORED;
    hardware.invalidate = (int)hardware.contexts - 1;
    await(p, PROBE_SuspendContext);
    await(p, PROBE_ResetHwEngine);
    CHECK(probe_count(p, PROBE_ResumeHwEngine) == 0);
    if (early.InterruptType == DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED)
        early.SuspendContextCompleted.hContext = newest();
    hardware.extra = early;
    hardware_notify();
}

/* From the engine that was reset, in each kind of notification. */
static bool refused_early(const char *what)
{
    struct probe *p = hardware_create(NULL);
    struct probe_client *process;
    bool fatal;

    p->caps.SupportPerEngineTDR = TRUE;
    hardware.held = true;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, reset_body);
    fatal = is_fatal(p, what) && probe_count(p, PROBE_ResumeHwEngine) == 0;
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
    return fatal;
}

TEST(a_reset_engine_keeps_quiet_until_it_is_resumed)
{
    memset(&early, 0, sizeof(early));
    early.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    early.MonitoredFenceSignaled.NodeOrdinal = HARDWARE_NODE;
    CHECK_RULE("TDR-023", refused_early("MONITORED_FENCE_SIGNALED for node 1 between"));
    early.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT;
    early.GpuEngineTimeout.NodeOrdinal = HARDWARE_NODE;
    CHECK_RULE("TDR-023", refused_early("GPU_ENGINE_TIMEOUT for node 1"));
    early.InterruptType = DXGK_INTERRUPT_HWQUEUE_PAGE_FAULTED;
    early.HwQueuePageFaulted.NodeOrdinal = HARDWARE_NODE;
    CHECK_RULE("TDR-023", refused_early("HWQUEUE_PAGE_FAULTED for node 1"));
    early.InterruptType = DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED;
    early.SuspendContextCompleted.ContextSuspendFence = 1;
    CHECK_RULE("TDR-023", refused_early("SUSPEND_CONTEXT_COMPLETED for node 1"));
}

static unsigned told;

static void tell(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    told++;
    hardware.extra.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    hardware.extra.MonitoredFenceSignaled.NodeOrdinal = HARDWARE_NODE;
    probe_device_cause(0, 1u << HARDWARE_ENGINE, 0);
    KeStallExecutionProcessor(100);
}

static void around_body(struct probe *p)
{
    begin();
    hardware.suspend = SUSPEND_IGNORED;
    hardware.invalidate = (int)hardware.contexts - 1;
    await(p, PROBE_ResetHwEngine);
    hardware.extra.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    hardware.extra.MonitoredFenceSignaled.NodeOrdinal = 0; /* another engine */
    CHECK(probe_count(p, PROBE_ResumeHwEngine) == 0);
    hardware_notify();
    await(p, PROBE_ResumeHwEngine);
    hardware.extra.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    hardware.extra.MonitoredFenceSignaled.NodeOrdinal = HARDWARE_NODE;
    hardware_notify();
    CHECK_RULE("TDR-023", told == 2 && !p->sim->stopped && probe_rule(p, "TDR-023") == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

/* In the two calls, and after them. */
TEST(in_the_calls_themselves_an_engine_may_notify)
{
    struct probe *p = hardware_create(NULL);

    told = 0;
    p->before[PROBE_ResetHwEngine] = p->before[PROBE_ResumeHwEngine] = tell;
    run(p, around_body);
}
