/* SPDX-License-Identifier: MIT */
/* Engines that hang with nothing on them but what clients submitted themselves. */
#include "port/support/doorbells.h"

static struct bell_client client;
static UINT64 told; /* by the client; 0: nothing */

static struct probe *created(void)
{
    struct probe *p = doorbells_create(NULL);

    p->caps.SupportPerEngineTDR = TRUE;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    CHECK(doorbells.destroyed == doorbells.bells);
    probe_clients_end(p);
    probe_destroy(p);
}

static void begin(void)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)) &&
          NT_SUCCESS(bell_connect(&client)));
    for (unsigned i = 0; i < hardware.contexts; i++)
        if (hardware.context[i].host == hardware.create_context.hHwContext)
            hardware.invalidate = (int)i;
    if (told)
        *client.queued = told;
}

static bool is_hung(struct probe *p)
{
    return probe_count(p, PROBE_ResetHwEngine) == 1 &&
           probe_count(p, PROBE_ResetFromTimeout) == 0 &&
           hardware_device_state(&client.hw) == D3DKMT_DEVICEEXECUTION_HUNG &&
           *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT;
}

static void unsuspended_body(struct probe *p)
{
    begin();
    probe_sleep(10 * PROBE_SECOND);
    CHECK_RULE("TDR-021/b", is_hung(p));
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(what_cannot_be_suspended_is_reset)
{
    struct probe *p = created();

    probe_set_entry(p, PROBE_SuspendContext, false);
    told = 1;
    run(p, unsuspended_body);
}

static void reported_body(struct probe *p)
{
    begin();
    hardware.extra.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE;
    hardware.extra.EngineStateChange.NodeOrdinal = HARDWARE_NODE;
    hardware.extra.EngineStateChange.NewState = DXGK_ENGINE_STATE_HUNG;
    hardware_notify();
    CHECK_RULE("TDR-021/c", is_hung(p));
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(a_hang_that_the_driver_reports_is_believed)
{
    for (told = 0; told < 2; told++)
        run(created(), reported_body);
}
