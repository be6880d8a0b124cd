/* SPDX-License-Identifier: MIT */
/* Preemption that leads nowhere: a packet that gives way for ever, and requests that are not answered. */
#include "port/support/client.h"

#include <stdio.h>
#include <string.h>

#define MS    1000000ull
#define HANGS 0x10000u /* packets at this address are never completed, but give way */
#define LIMIT 4096u

static struct probe_gpu gpu, other;
static D3DKMT_HANDLE high;
static struct {
    UINT hanging;   /* fence of the one on the engine that hangs; 0: none does */
    UINT preempt;   /* id of the request */
    UINT completed; /* fence */
    unsigned hangs; /* how often one that hangs was submitted */
    unsigned heals; /* it ends by itself when it was submitted so often; 0: never */
    bool silent;    /* requests are not answered */
    ULONG told;     /* type of the interrupt */
} engine;

static char line[2048]; /* the last of a loss */

static void note_loss(void *context, const char *text)
{
    (void)context;
    snprintf(line, sizeof(line), "%s", text);
}

static BOOLEAN NTAPI tell(PVOID context)
{
    const DXGKRNL_INTERFACE *dxgk = &probe->state[0].dxgk;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)context;
    memset(&data, 0, sizeof(data));
    data.InterruptType = (DXGK_INTERRUPT_TYPE)engine.told;
    if (engine.told == DXGK_INTERRUPT_DMA_PREEMPTED) {
        data.DmaPreempted.PreemptionFenceId = engine.preempt;
        data.DmaPreempted.LastCompletedFenceId = engine.completed;
        data.DmaPreempted.NodeOrdinal = 1;
    } else {
        data.DmaCompleted.SubmissionFenceId = engine.completed;
        data.DmaCompleted.NodeOrdinal = 1;
    }
    dxgk->DxgkCbNotifyInterrupt(dxgk->DeviceHandle, &data);
    (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    return TRUE;
}

static void interrupt(ULONG type)
{
    const DXGKRNL_INTERFACE *dxgk = &probe->state[0].dxgk;
    BOOLEAN result;

    engine.told = type;
    CHECK(NT_SUCCESS(dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, tell, NULL, 0, &result)));
}

/* Node 1 is of the test alone, with one packet at a time. */
static void submitted(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (args->NodeOrdinal != 1)
        return;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    if (args->DmaBufferVirtualAddress == HANGS && ++engine.hangs != engine.heals) {
        engine.hanging = args->SubmissionFenceId;
        return;
    }
    engine.completed = args->SubmissionFenceId;
    interrupt(DXGK_INTERRUPT_DMA_COMPLETED);
}

static void preempted(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PREEMPTCOMMAND *args = (const DXGKARG_PREEMPTCOMMAND *)(uintptr_t)call->arg[1];

    (void)p;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    engine.preempt = args->PreemptionFenceId;
    if (engine.silent)
        return;
    engine.hanging = 0;
    interrupt(DXGK_INTERRUPT_DMA_PREEMPTED);
}

static void was_reset(struct probe *p, struct probe_call *call)
{
    DXGKARG_RESETENGINE *args = (DXGKARG_RESETENGINE *)(uintptr_t)call->arg[1];

    (void)p;
    args->LastAbortedFenceId = engine.hanging ? engine.hanging : engine.completed;
    engine.completed = args->LastAbortedFenceId;
    engine.hanging = 0;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static NTSTATUS submit(D3DKMT_HANDLE context, UINT64 va)
{
    D3DKMT_SUBMITCOMMAND args;

    memset(&args, 0, sizeof(args));
    args.Commands = va;
    args.CommandLength = 64;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = context;
    return D3DKMTSubmitCommand(&args);
}

/* A context of higher priority, of another device. */
static void begin(void)
{
    D3DKMT_SETCONTEXTSCHEDULINGPRIORITY priority;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)) && NT_SUCCESS(probe_gpu_begin(&other)));
    memset(&priority, 0, sizeof(priority));
    priority.hContext = high = other.context;
    priority.Priority = 1;
    CHECK(NT_SUCCESS(D3DKMTSetContextSchedulingPriority(&priority)));
}

static void finish(void)
{
    CHECK(NT_SUCCESS(probe_gpu_end(&other)) && NT_SUCCESS(probe_gpu_end(&gpu)));
}

static struct probe *start(bool strict)
{
    const struct probe_options options = {.strict = strict,
                                          .port = {.tdr = {.level = 3,
                                                           .delay = 2,
                                                           .ddi_delay = 5,
                                                           .limit_count = 5,
                                                           .limit_time = 60,
                                                           .enable_preemption = true},
                                                   .loss = note_loss}};
    struct probe *p = probe_create(&options);

    memset(&engine, 0, sizeof(engine));
    line[0] = '\0';
    p->caps.SchedulingCaps.HwQueuePacketCap = 1;
    p->before[PROBE_SubmitCommandVirtual] = submitted;
    p->before[PROBE_PreemptCommand] = preempted;
    p->before[PROBE_ResetEngine] = was_reset;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static void stop(struct probe *p, struct probe_client *client)
{
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void run(void (*body)(struct probe *p))
{
    struct probe *p = start(false);

    stop(p, probe_client_run(p, body));
}

static D3DKMT_DEVICEEXECUTION_STATE state(D3DKMT_HANDLE device)
{
    D3DKMT_GETDEVICESTATE args;

    memset(&args, 0, sizeof(args));
    args.hDevice = device;
    args.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    CHECK(NT_SUCCESS(D3DKMTGetDeviceState(&args)));
    return args.ExecutionState;
}

/* A packet of others, which ends; once a millisecond. */
static void others(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        CHECK(NT_SUCCESS(submit(high, 0x30000)));
        probe_sleep(MS);
    }
}

/* ---- a packet that gives way for ever ---- */

static void give_way(struct probe *p)
{
    char part[96];

    begin();
    engine.heals = 2 * LIMIT + 1;
    CHECK(NT_SUCCESS(submit(gpu.context, HANGS)));
    probe_sleep(MS);
    others(LIMIT - 1);
    CHECK_RULE("PREEMPT-047/a", probe_rule(p, "PREEMPT-047") == 0);
    snprintf(part, sizeof(part), "fence %u of node 1 had the engine, was preempted 4096 times in ",
             engine.hanging);
    others(1);
    CHECK_RULE("PREEMPT-047/a", probe_rule(p, "PREEMPT-047") == 1 &&
                                    probe_record(p, "PREEMPT-047")->severity == VERIFY_WARNING);
    CHECK_RULE("PREEMPT-047/c", probe_said(p, "PREEMPT-047", part) &&
                                    probe_said(p, "PREEMPT-047", "4096 times in 4095."));
    others(LIMIT);
    CHECK_RULE("PREEMPT-047/a", NT_SUCCESS(probe_gpu_wait_idle(&gpu)) &&
                                    engine.hangs == 2 * LIMIT + 1 &&
                                    probe_count(p, PROBE_PreemptCommand) == 2 * LIMIT);
    CHECK_RULE("PREEMPT-047/a", probe_count(p, PROBE_ResetEngine) == 0 &&
                                    probe_rule(p, "PREEMPT-047") == 1 && line[0] == '\0' &&
                                    state(gpu.device) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                                    state(other.device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    finish();
}

TEST(a_packet_that_gives_way_very_often_is_told)
{
    run(give_way);
}

static void ends_in_time(struct probe *p)
{
    begin();
    engine.heals = LIMIT;
    CHECK(NT_SUCCESS(submit(gpu.context, HANGS)));
    probe_sleep(MS);
    others(LIMIT);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && engine.hangs == LIMIT);
    CHECK_RULE("PREEMPT-047/b", probe_count(p, PROBE_PreemptCommand) == LIMIT - 1 &&
                                    probe_rule(p, "PREEMPT-047") == 0);
    engine.heals = 2 * LIMIT; /* the next one gives way as often */
    CHECK(NT_SUCCESS(submit(gpu.context, HANGS)));
    probe_sleep(MS);
    others(LIMIT);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && engine.hangs == 2 * LIMIT);
    CHECK_RULE("PREEMPT-047/b", probe_count(p, PROBE_PreemptCommand) == 2 * (LIMIT - 1) &&
                                    probe_rule(p, "PREEMPT-047") == 0 &&
                                    probe_count(p, PROBE_ResetEngine) == 0);
    finish();
}

TEST(a_packet_may_give_way_often)
{
    run(ends_in_time);
}

static void exempt(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL context;
    D3DKMT_CREATEDEVICE device;
    D3DKMT_DESTROYDEVICE destroy;

    begin();
    memset(&device, 0, sizeof(device));
    memset(&context, 0, sizeof(context));
    device.hAdapter = gpu.adapter;
    device.Flags.DisableGpuTimeout = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&device)));
    destroy.hDevice = context.hDevice = device.hDevice;
    context.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&context)));
    engine.heals = LIMIT + 6;
    CHECK(NT_SUCCESS(submit(context.hContext, HANGS)));
    probe_sleep(MS);
    others(LIMIT + 5);
    CHECK_RULE("PREEMPT-047/d", probe_rule(p, "PREEMPT-047") == 0 &&
                                    probe_count(p, PROBE_PreemptCommand) == LIMIT + 5 &&
                                    state(device.hDevice) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(NT_SUCCESS(D3DKMTDestroyDevice(&destroy)));
    finish();
}

TEST(a_packet_without_timeout_may_give_way_for_ever)
{
    run(exempt);
}

/* ---- requests that are not answered ---- */

/* Ask, and complete the packet `after` the request. */
static void complete_late(uint64_t after)
{
    CHECK(NT_SUCCESS(submit(gpu.context, HANGS)));
    probe_sleep(MS);
    CHECK(engine.hanging != 0);
    CHECK(NT_SUCCESS(submit(high, 0x30000)));
    probe_sleep(after);
    engine.completed = engine.hanging;
    engine.hanging = 0;
    interrupt(DXGK_INTERRUPT_DMA_COMPLETED);
}

static void stay_silent(struct probe *p)
{
    char part[64];

    begin();
    engine.silent = true;
    for (unsigned i = 1; i <= 7; i++) {
        complete_late(MS);
        CHECK_RULE("PREEMPT-048/a", probe_rule(p, "PREEMPT-048") == i - 1);
        probe_sleep(2 * PROBE_SECOND);
        CHECK_RULE("PREEMPT-048/a", probe_rule(p, "PREEMPT-048") == i);
        if (i > 1)
            continue;
        snprintf(part, sizeof(part), "fence %u, was completed 1999.000 ms ago",
                 engine.completed - 1);
        CHECK_RULE("PREEMPT-048/a",
                   probe_said(p, "PREEMPT-048", "node 1 (id 1) was asked for 2000.000 ms ago") &&
                       probe_said(p, "PREEMPT-048", part));
    }
    CHECK_RULE("PREEMPT-048/a", probe_count(p, PROBE_ResetEngine) == 0 && line[0] == '\0' &&
                                    state(gpu.device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&other)));
    finish();
}

TEST(a_request_must_be_answered_although_all_is_completed)
{
    run(stay_silent);
}

static void complete_at_the_end(struct probe *p)
{
    begin();
    engine.silent = true;
    complete_late(1001 * MS);
    probe_sleep(2 * PROBE_SECOND);
    CHECK_RULE("PREEMPT-048/b", probe_rule(p, "PREEMPT-048") == 0);
    complete_late(999 * MS);
    probe_sleep(2 * PROBE_SECOND);
    CHECK_RULE("PREEMPT-048/b", probe_rule(p, "PREEMPT-048") == 1 &&
                                    probe_record(p, "PREEMPT-048")->severity == VERIFY_WARNING);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&other)));
    finish();
}

TEST(an_answer_may_follow_a_late_completion)
{
    run(complete_at_the_end);
}

/* Nothing is completed either: that is a timeout, and the line of the reset says what was not answered. */
static void hang_silently(struct probe *p)
{
    begin();
    engine.silent = true;
    CHECK(NT_SUCCESS(submit(gpu.context, HANGS)));
    probe_sleep(MS);
    CHECK(NT_SUCCESS(submit(high, 0x30000)));
    probe_sleep(1998 * MS);
    CHECK_RULE("PREEMPT-041/a",
               probe_count(p, PROBE_PreemptCommand) == 1 && probe_count(p, PROBE_ResetEngine) == 0);
    probe_sleep(4 * MS);
    CHECK_RULE("PREEMPT-041/a", probe_count(p, PROBE_ResetEngine) == 1 &&
                                    state(gpu.device) == D3DKMT_DEVICEEXECUTION_HUNG &&
                                    state(other.device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK_RULE("PREEMPT-041/a", strstr(line, "node 1, engine 0, fence ") &&
                                    strstr(line, "; preemption (id 1, for other work) was asked for "
                                                 "2000.000 ms before and not answered"));
    CHECK_RULE("PREEMPT-048/a", probe_rule(p, "PREEMPT-048") == 0);
    finish();
}

TEST(a_request_that_is_never_answered_is_a_timeout)
{
    run(hang_silently);
}

/* ---- the same breach in both modes ---- */

static NTSTATUS later; /* of a submission after it */

/* One DPC tells the host nothing. */
static void skip_one(struct probe *p, struct probe_call *call)
{
    call->answered = true;
    p->before[PROBE_DpcRoutine] = NULL;
}

static void break_once(struct probe *p)
{
    begin();
    p->before[PROBE_DpcRoutine] = skip_one;
    (void)submit(gpu.context, 0x30000);
    probe_sleep(MS);
    later = submit(gpu.context, 0x30000);
}

TEST(a_breach_is_recorded_or_stops_the_machine)
{
    for (unsigned strict = 0; strict < 2; strict++) {
        struct probe *p = start(strict != 0);
        struct probe_client *client = probe_client_run(p, break_once);

        CHECK_RULE("TDR-002",
                   probe_rule(p, "THREAD-063") == 1 && probe_record(p, "THREAD-063")->severity ==
                                                           (strict ? VERIFY_FATAL : VERIFY_ERROR));
        CHECK_RULE("TDR-002", verify_bugcheck_state(p->log)->happened == (strict != 0) &&
                                  (later == STATUS_SUCCESS) == (strict == 0));
        CHECK_RULE("TDR-002", strict == 0 || (verify_bugcheck_state(p->log)->code == 0xC4 &&
                                              later == (NTSTATUS)STATUS_DEVICE_REMOVED));
        stop(p, client);
    }
}
