/* SPDX-License-Identifier: MIT */
/* Preemption at the end of a DMA buffer, whatever granularity the driver has told. */
#include "port/support/client.h"

#include <string.h>

#define MS 1000000ull

static struct probe_gpu gpu;
static DXGKARG_PREEMPTCOMMAND asked;
static struct {
    UINT64 va;
    UINT fence;
    bool again;
} sent[8];
static unsigned sent_count;

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (args->Flags.Paging || args->DmaBufferVirtualAddress < 0x10000 || sent_count == 8)
        return;
    sent[sent_count].va = args->DmaBufferVirtualAddress;
    sent[sent_count].fence = args->SubmissionFenceId;
    sent[sent_count++].again = args->Flags.Resubmission;
}

static BOOLEAN NTAPI answer(PVOID context)
{
    struct probe *p = probe;
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)context;
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = sent[0].fence;
    data.DmaCompleted.NodeOrdinal = 1;
    dxgk->DxgkCbNotifyInterrupt(dxgk->DeviceHandle, &data);
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
    data.DmaPreempted.PreemptionFenceId = asked.PreemptionFenceId;
    data.DmaPreempted.LastCompletedFenceId = sent[0].fence;
    data.DmaPreempted.NodeOrdinal = 1;
    dxgk->DxgkCbNotifyInterrupt(dxgk->DeviceHandle, &data);
    return TRUE;
}

/* The running buffer ends, and those that wait are dropped. */
static void drop_waiting(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    const PULONG registers = p->state[0].registers;
    BOOLEAN result;

    asked = *(const DXGKARG_PREEMPTCOMMAND *)(uintptr_t)call->arg[1];
    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    p->state[0].reported[1] = sent[0].fence;
    probe_device_packet_ns = 1000;
    CHECK(
        NT_SUCCESS(dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, answer, NULL, 0, &result)));
    (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void submit(D3DKMT_HANDLE context, UINT64 va)
{
    D3DKMT_SUBMITCOMMAND args;

    memset(&args, 0, sizeof(args));
    args.Commands = va;
    args.CommandLength = 64;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = context;
    CHECK(NT_SUCCESS(D3DKMTSubmitCommand(&args)));
}

static void preempt_one(struct probe *p)
{
    D3DKMT_SETCONTEXTSCHEDULINGPRIORITY priority;
    D3DKMT_CREATECONTEXTVIRTUAL create;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    create.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&create)));
    memset(&priority, 0, sizeof(priority));
    priority.hContext = create.hContext;
    priority.Priority = 5;
    CHECK(NT_SUCCESS(D3DKMTSetContextSchedulingPriority(&priority)));
    probe_sleep(MS);
    sent_count = 0;
    probe_device_packet_ns = PROBE_SECOND;
    submit(gpu.context, 0x10000);
    submit(gpu.context, 0x20000);
    probe_sleep(MS);
    CHECK(sent_count == 2 && probe_count(p, PROBE_PreemptCommand) == 0);
    submit(create.hContext, 0x30000);
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("PREEMPT-005", probe_count(p, PROBE_PreemptCommand) == 1 && asked.NodeOrdinal == 1 &&
                                  asked.EngineOrdinal == 0 && asked.Flags.Value == 0);
    CHECK_RULE("PREEMPT-005", sent_count == 4 && sent[2].va == 0x30000 && !sent[2].again &&
                                  sent[3].va == 0x20000 && sent[3].again);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(every_granularity_is_preempted_alike)
{
    static const struct {
        D3DKMDT_GRAPHICS_PREEMPTION_GRANULARITY graphics;
        D3DKMDT_COMPUTE_PREEMPTION_GRANULARITY compute;
    } levels[] = {
        {D3DKMDT_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY,
         D3DKMDT_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY},
        {D3DKMDT_GRAPHICS_PREEMPTION_PRIMITIVE_BOUNDARY,
         D3DKMDT_COMPUTE_PREEMPTION_DISPATCH_BOUNDARY},
        {D3DKMDT_GRAPHICS_PREEMPTION_SHADER_BOUNDARY, D3DKMDT_COMPUTE_PREEMPTION_SHADER_BOUNDARY},
    };

    for (unsigned i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        const struct probe_options options = {
            .port = {.tdr = {.level = 3, .delay = 2, .ddi_delay = 5, .enable_preemption = true}}};
        struct probe *p = probe_create(&options);
        struct probe_client *client;

        p->caps.PreemptionCaps.GraphicsPreemptionGranularity = levels[i].graphics;
        p->caps.PreemptionCaps.ComputePreemptionGranularity = levels[i].compute;
        p->before[PROBE_SubmitCommandVirtual] = note_submission;
        p->before[PROBE_PreemptCommand] = drop_waiting;
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, preempt_one);
        probe_device_packet_ns = 1000;
        probe_client_end(p, client);
        probe_clients_end(p);
        probe_destroy(p);
    }
}

/* ---- without a DPC ---- */

static BOOLEAN NTAPI answer_alone(PVOID context)
{
    const DXGKRNL_INTERFACE *dxgk = &probe->state[0].dxgk;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)context;
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
    data.DmaPreempted.PreemptionFenceId = asked.PreemptionFenceId;
    data.DmaPreempted.LastCompletedFenceId = probe->state[0].reported[1];
    data.DmaPreempted.NodeOrdinal = 1;
    dxgk->DxgkCbNotifyInterrupt(dxgk->DeviceHandle, &data);
    return TRUE;
}

/* Nobody calls DxgkCbQueueDpc. */
static void only_notify(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    BOOLEAN result;

    asked = *(const DXGKARG_PREEMPTCOMMAND *)(uintptr_t)call->arg[1];
    CHECK(NT_SUCCESS(
        dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, answer_alone, NULL, 0, &result)));
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void start_anew(struct probe *p, struct probe_call *call)
{
    const PULONG registers = p->state[0].registers;

    (void)call;
    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    probe_device_packet_ns = 1000;
}

static void wait_for_reset(struct probe *p)
{
    D3DKMT_SETCONTEXTSCHEDULINGPRIORITY priority;
    D3DKMT_CREATECONTEXTVIRTUAL create;
    uint64_t took;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    create.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&create)));
    memset(&priority, 0, sizeof(priority));
    priority.hContext = create.hContext;
    priority.Priority = 5;
    CHECK(NT_SUCCESS(D3DKMTSetContextSchedulingPriority(&priority)));
    probe_sleep(MS);
    probe_device_packet_ns = 100 * PROBE_SECOND;
    submit(gpu.context, 0x10000);
    probe_sleep(MS);
    submit(create.hContext, 0x30000);
    probe_sleep(10 * PROBE_SECOND);
    CHECK_RULE("PREEMPT-041/b", probe_count(p, PROBE_ResetEngine) == 1);
    took = probe_nth(p, PROBE_ResetEngine, 0)->time - probe_nth(p, PROBE_PreemptCommand, 0)->time;
    CHECK_RULE("PREEMPT-041/b", took >= 4 * PROBE_SECOND && took < 4 * PROBE_SECOND + 10 * MS);
    (void)probe_gpu_end(&gpu);
}

TEST(an_answer_without_a_DPC_is_as_good_as_none)
{
    const struct probe_options options = {
        .port = {.tdr = {.level = 3, .delay = 2, .ddi_delay = 5, .enable_preemption = true}}};
    struct probe *p = probe_create(&options);

    p->before[PROBE_PreemptCommand] = only_notify;
    p->before[PROBE_ResetEngine] = start_anew;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_client_end(p, probe_client_run(p, wait_for_reset));
    probe_device_packet_ns = 1000;
    probe_clients_end(p);
    probe_destroy(p);
}
