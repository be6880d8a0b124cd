/* SPDX-License-Identifier: MIT */
/* Which calls a driver gets beside a reset, and what it tells of an engine. */
#include "nt/base/current.h"
#include "port/support/portions.h"
#include "sim/thread.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000ull

static struct probe_gpu gpu;
static char line[2048]; /* the last of a loss */

static void note_loss(void *context, const char *text)
{
    (void)context;
    snprintf(line, sizeof(line), "%s", text);
}

static void clear_device(struct probe *p, struct probe_call *call)
{
    const PULONG registers = p->state[0].registers;

    (void)call;
    WRITE_REGISTER_ULONG(registers + PROBE_REG_RESET / 4, 1);
    WRITE_REGISTER_ULONG(registers + PROBE_REG_ENABLE / 4, 1);
    for (unsigned i = 0; i < PROBE_WORKING_NODES; i++)
        p->state[0].reported[i] = p->state[0].submitted[i];
    probe_device_packet_ns = 1000;
}

static void run(void (*prepare)(struct probe *p), void (*body)(struct probe *p))
{
    struct probe *p = probe_create(&(struct probe_options){.port = {.loss = note_loss}});
    struct probe_client *client;

    line[0] = '\0';
    p->before[PROBE_ResetEngine] = p->before[PROBE_ResetFromTimeout] = clear_device;
    prepare(p);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_device_packet_ns = 1000;
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void hang(void)
{
    probe_sleep(MS);
    probe_device_packet_ns = 600 * PROBE_SECOND;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    probe_sleep(MS);
}

/* ---- DxgkDdiQueryEngineStatus ---- */

static struct {
    UINT value;
    NTSTATUS status;
    DXGKARG_QUERYENGINESTATUS asked;
    bool inside, takes_long;
} engine;

static void answer_status(struct probe *p, struct probe_call *call)
{
    DXGKARG_QUERYENGINESTATUS *args = (DXGKARG_QUERYENGINESTATUS *)(uintptr_t)call->arg[1];

    (void)p;
    engine.asked = *args;
    if (engine.takes_long) {
        engine.inside = true;
        probe_sleep(PROBE_SECOND);
        engine.inside = false;
    }
    args->EngineStatus.Value = engine.value;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)engine.status;
}

static void answers(struct probe *p)
{
    p->before[PROBE_QueryEngineStatus] = answer_status;
}

static void ask_status(struct probe *p)
{
    static const struct {
        UINT value;
        NTSTATUS status;
        const char *called;
    } row[] = {{0, STATUS_SUCCESS, "the driver called the engine unresponsive"},
               {1, STATUS_SUCCESS, "the driver called the engine responsive"},
               {2, STATUS_SUCCESS, "the driver called the engine unresponsive"}, /* reserved bit */
               {1, (NTSTATUS)STATUS_UNSUCCESSFUL, "the driver called the engine unresponsive"}};

    for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
        hang();
        probe_forget(p);
        engine.value = row[i].value;
        engine.status = row[i].status;
        CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
        CHECK_RULE("TDR-029", strstr(line, row[i].called) != NULL);
        CHECK_RULE("TDR-029", probe_count(p, PROBE_QueryEngineStatus) == 1 &&
                                  probe_nth(p, PROBE_QueryEngineStatus, 0)->irql == PASSIVE_LEVEL &&
                                  engine.asked.NodeOrdinal == 1 && engine.asked.EngineOrdinal == 0);
        CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
    }
}

TEST(an_engine_is_responsive_or_not)
{
    memset(&engine, 0, sizeof(engine));
    run(answers, ask_status);
}

static D3DKMT_CREATECONTEXT other; /* of another device, on node 0 */

static void submit_beside(struct probe *p)
{
    D3DKMT_RENDER args;

    (void)p;
    while (!engine.inside)
        probe_sleep(MS);
    memset(&args, 0, sizeof(args));
    args.hContext = other.hContext;
    args.CommandLength = 64;
    CHECK(D3DKMTRender(&args) == STATUS_SUCCESS);
    CHECK(engine.inside);
}

static void ask_beside_submission(struct probe *p)
{
    D3DKMT_CREATEDEVICE device;
    D3DKMT_DESTROYDEVICE destroy;
    struct sim_thread *beside;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    memset(&device, 0, sizeof(device));
    memset(&other, 0, sizeof(other));
    device.hAdapter = gpu.adapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&device)));
    destroy.hDevice = other.hDevice = device.hDevice;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&other)));
    hang();
    probe_forget(p);
    engine.value = 1;
    engine.takes_long = true;
    beside = probe_thread(p, nt_process_current(), "beside", submit_beside);
    CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
    CHECK(NT_SUCCESS(D3DKMTDestroyDevice(&destroy))); /* waits for its work */
    CHECK_RULE("TDR-029", probe_nth(p, PROBE_SubmitCommand, 0)->order >=
                              probe_nth(p, PROBE_QueryEngineStatus, 0)->left);
    sim_thread_release(beside);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(nothing_is_submitted_while_an_engine_is_asked_for)
{
    memset(&engine, 0, sizeof(engine));
    run(answers, ask_beside_submission);
}

/* ---- the clean-up after DxgkDdiResetFromTimeout ---- */

static struct portions_gpu clients[2];
static bool cleaning, destroyed;

/* What is told of the memory that was lost takes long, and another client destroys meanwhile. */
static void clean_up(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (!probe_count(p, PROBE_ResetFromTimeout) || probe_count(p, PROBE_RestartFromTimeout) ||
        probe_nth(p, PROBE_ResetFromTimeout, 0)->left == UINT64_MAX)
        return;
    cleaning = true;
    probe_sleep(10 * MS);
}

static void open_two(struct portions_gpu *g)
{
    portions_open(g);
    for (unsigned i = 0; i < 2; i++) {
        portions_allocate(g, i, PORTIONS_MIB);
        portions_element(g, i, i, i + 1, 0);
    }
    CHECK(NT_SUCCESS(portions_render(g, 64, 2)));
    portions_finish(g);
}

static void destroy_meanwhile(struct probe *p)
{
    D3DKMT_DESTROYALLOCATION2 destroy;

    open_two(&clients[1]);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = clients[1].device;
    destroy.phAllocationList = &clients[1].allocation[0];
    destroy.AllocationCount = 1;
    while (!cleaning)
        probe_sleep(MS);
    CHECK(NT_SUCCESS(D3DKMTDestroyAllocation2(&destroy)));
    (void)p;
    destroyed = true;
    portions_close(&clients[1]);
}

static void reset_the_adapter(struct probe *p)
{
    open_two(&clients[0]);
    probe_sleep(10 * MS);
    probe_forget(p);
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    CHECK(cleaning);
    while (!destroyed)
        probe_sleep(MS);
    CHECK_RULE("TDR-052", probe_nth(p, PROBE_DestroyAllocation, 0)->order >=
                                  probe_nth(p, PROBE_ResetFromTimeout, 0)->left &&
                              probe_nth(p, PROBE_DestroyAllocation, 0)->order <
                                  probe_nth(p, PROBE_RestartFromTimeout, 0)->order);
    portions_close(&clients[0]);
}

TEST(clients_may_destroy_during_the_clean_up)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);
    struct probe_client *first, *second;

    cleaning = destroyed = false;
    p->before[PROBE_ResetFromTimeout] = clear_device;
    p->before[PROBE_BuildPagingBuffer] = clean_up;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    second = probe_client_start(p, destroy_meanwhile);
    first = probe_client_run(p, reset_the_adapter);
    probe_client_wait(p, second);
    probe_client_end(p, second);
    portions_end(p, first);
}
