/* SPDX-License-Identifier: MIT */
/* What the driver is asked while a timeout is dealt with, and what may run beside that. */
#include "nt/base/current.h"
#include "port/support/client.h"
#include "sim/thread.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000ull

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

static struct probe *create(void)
{
    struct probe *p = probe_create(NULL);

    p->before[PROBE_ResetEngine] = clear_device;
    probe_clients_begin(p);
    return p;
}

/* A start, a client with a packet that stays on the engine for long, and an end. */
static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_device_packet_ns = 1000;
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void submit_for_long(void)
{
    probe_sleep(MS);
    probe_device_packet_ns = 600 * PROBE_SECOND;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(MS);
}

static void submit_one(void)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    submit_for_long();
}

/* ---- DxgkDdiCollectDbgInfo ---- */

static void take_long(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->marked = true;
    probe_sleep(40 * PROBE_SECOND);
}

static void collect_for_long(struct probe *p)
{
    const struct probe_call *collect, *reset;

    submit_one();
    probe_forget(p);
    CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
    collect = probe_nth(p, PROBE_CollectDbgInfo, 0);
    reset = probe_nth(p, PROBE_ResetEngine, 0);
    CHECK_RULE("TDR-070",
               reset->order >= collect->left && reset->time >= collect->time + 40 * PROBE_SECOND);
    CHECK_RULE("TDR-070", probe_count(p, PROBE_ResetFromTimeout) == 0 && p->sim->stopped == 0 &&
                              probe_reports(p, VERIFY_WARNING) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(there_is_time_for_debug_information)
{
    struct probe *p = create();

    p->before[PROBE_CollectDbgInfo] = take_long;
    run(p, collect_for_long);
}

static bool collecting;

static void wait_a_second(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    collecting = true;
    probe_sleep(PROBE_SECOND);
    collecting = false;
}

static D3DKMT_CREATECONTEXT rendering;

/* On node 0, while the other node is dealt with. */
static void render_beside(struct probe *p)
{
    D3DKMT_RENDER args;

    (void)p;
    while (!collecting)
        probe_sleep(MS);
    memset(&args, 0, sizeof(args));
    args.hContext = rendering.hContext;
    args.CommandLength = 64;
    CHECK(D3DKMTRender(&args) == STATUS_SUCCESS);
    CHECK_RULE("TDR-019", collecting);
}

static void collect_beside_render(struct probe *p)
{
    const struct probe_call *collect, *render;
    struct sim_thread *beside;

    submit_one();
    memset(&rendering, 0, sizeof(rendering));
    rendering.hDevice = gpu.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&rendering)));
    beside = probe_thread(p, nt_process_current(), "beside", render_beside);
    CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
    collect = probe_nth(p, PROBE_CollectDbgInfo, 0);
    render = probe_nth(p, PROBE_Render, 0);
    CHECK_RULE("TDR-019", render->order > collect->order && render->left <= collect->left);
    sim_thread_release(beside);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(calls_go_on_beside_debug_information)
{
    struct probe *p = create();

    collecting = false;
    p->before[PROBE_CollectDbgInfo] = wait_a_second;
    run(p, collect_beside_render);
}

/* ---- DxgkDdiQueryEngineStatus ---- */

static bool responsive;

static void answer_status(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_QUERYENGINESTATUS *)(uintptr_t)call->arg[1])->EngineStatus.Responsive = responsive;
}

static void ask_status(struct probe *p)
{
    const struct probe_call *status;

    submit_one();
    probe_forget(p);
    CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
    status = probe_nth(p, PROBE_QueryEngineStatus, 0);
    CHECK_RULE("TDR-030", status->irql == PASSIVE_LEVEL && probe_count(p, PROBE_ResetEngine) == 1 &&
                              status->left <= probe_nth(p, PROBE_ResetEngine, 0)->order);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_responsive_engine_is_reset_all_the_same)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = create();

        responsive = i != 0;
        p->after[PROBE_QueryEngineStatus] = answer_status;
        run(p, ask_status);
    }
}

/* ---- DxgkDdiQueryCurrentFence ---- */

static bool reports;
static unsigned queried;

static BOOLEAN NTAPI report_fence(PVOID context)
{
    struct probe *p = probe;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)context;
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = p->state[0].submitted[1];
    data.DmaCompleted.NodeOrdinal = 1;
    p->state[0].reported[1] = p->state[0].submitted[1];
    p->state[0].dxgk.DxgkCbNotifyInterrupt(p->state[0].dxgk.DeviceHandle, &data);
    return TRUE;
}

/* The interrupt of the packet was lost. */
static void find_fence(struct probe *p, struct probe_call *call)
{
    DXGKARG_QUERYCURRENTFENCE *args = (DXGKARG_QUERYCURRENTFENCE *)(uintptr_t)call->arg[1];
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    BOOLEAN result;

    queried++;
    args->CurrentFence = p->state[0].submitted[1];
    if (reports) {
        CHECK(NT_SUCCESS(
            dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, report_fence, NULL, 0, &result)));
        (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    }
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void lose_an_interrupt(struct probe *p)
{
    submit_one();
    probe_sleep(2 * PROBE_SECOND + 100 * MS);
    CHECK(queried == 1 && p->state[0].submitted[1] != 0);
    CHECK_RULE("SUBMIT-091", probe_rule(p, "SUBMIT-091") == !reports);
    CHECK_RULE("SUBMIT-091", probe_count(p, PROBE_ResetEngine) == !reports);
    if (!reports) {
        char text[64];

        snprintf(text, sizeof(text), "fence %u for node 1", p->state[0].submitted[1]);
        CHECK_RULE("SUBMIT-091", probe_said(p, "SUBMIT-091", text));
    } else {
        CHECK_RULE("SUBMIT-091",
                   NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && sim_now() < 10 * PROBE_SECOND);
    }
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_fence_that_is_found_is_reported)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = create();

        reports = i != 0;
        queried = 0;
        probe_set_entry(p, PROBE_QueryCurrentFence, true);
        p->before[PROBE_QueryCurrentFence] = find_fence;
        run(p, lose_an_interrupt);
    }
}

/* An old fence is none that was found. */
static void answer_old(struct probe *p, struct probe_call *call)
{
    queried++;
    ((DXGKARG_QUERYCURRENTFENCE *)(uintptr_t)call->arg[1])->CurrentFence = p->state[0].reported[1];
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void hang(struct probe *p)
{
    submit_one();
    probe_sleep(2 * PROBE_SECOND + 100 * MS);
    CHECK(queried == 1);
    CHECK_RULE("SUBMIT-091", probe_rule(p, "SUBMIT-091") == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_fence_that_was_reported_is_none_that_is_found)
{
    struct probe *p = create();

    queried = 0;
    probe_set_entry(p, PROBE_QueryCurrentFence, true);
    p->before[PROBE_QueryCurrentFence] = answer_old;
    run(p, hang);
}
