/* SPDX-License-Identifier: MIT */
/* Doorbells of an engine that goes to F1, and of an adapter that goes to sleep. */
#include "port/support/doorbells.h"

#include "nt/base/current.h"
#include "sim/thread.h"

#include <string.h>

static struct bell_client client, other;

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

static void change(unsigned node, DXGK_ENGINE_STATE state)
{
    hardware.extra.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE;
    hardware.extra.EngineStateChange.NodeOrdinal = node;
    hardware.extra.EngineStateChange.NewState = state;
    hardware_notify();
}

static void rest_body(struct probe *p)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)));
    CHECK(NT_SUCCESS(bell_begin(&other)) && NT_SUCCESS(bell_create(&other)));
    CHECK(NT_SUCCESS(bell_connect(&client)) && NT_SUCCESS(bell_connect(&other)));
    change(HARDWARE_PAGING_NODE, DXGK_ENGINE_STATE_IDLE);
    change(HARDWARE_NODE, DXGK_ENGINE_STATE_ACTIVE);
    CHECK_RULE("TDR-078/a", *client.status == D3DDDI_DOORBELLSTATUS_CONNECTED &&
                                probe_count(p, PROBE_DisconnectDoorbell) == 0);
    change(HARDWARE_NODE, DXGK_ENGINE_STATE_IDLE);
    CHECK_RULE("TDR-078/a", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
                                *other.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
                                probe_count(p, PROBE_DisconnectDoorbell) == 2);
    *client.bell = 77;
    CHECK_RULE("TDR-078/a", *(volatile UINT64 *)(void *)doorbells.memory != 77);
    CHECK_RULE("TDR-078/a", NT_SUCCESS(bell_connect(&client)) &&
                                *client.status == D3DDDI_DOORBELLSTATUS_CONNECTED &&
                                *other.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    change(HARDWARE_NODE, DXGK_ENGINE_STATE_IDLE);
    CHECK_RULE("TDR-078/a", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
                                probe_count(p, PROBE_DisconnectDoorbell) == 3);
    CHECK_RULE("TDR-078/a", probe_count(p, PROBE_ResetHwEngine) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)) && NT_SUCCESS(probe_gpu_end(&other.hw.gpu)));
}

TEST(an_engine_that_goes_to_F1_has_its_doorbells_disconnected)
{
    struct probe *p = doorbells_create(NULL);

    p->node[HARDWARE_PAGING_NODE].Flags.ContextSchedulingSupported = 1;
    run(p, rest_body);
}

/* ---- D3 ---- */

static void be_slow(struct probe *p, struct probe_call *call)
{
    LARGE_INTEGER interval = {.QuadPart = -100000};

    (void)p;
    (void)call;
    CHECK(NT_SUCCESS(KeDelayExecutionThread(KernelMode, FALSE, &interval)));
}

static NTSTATUS slept;

static void fall_asleep(struct probe *p)
{
    slept = port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
}

static const struct probe_call *last(struct probe *p, enum probe_ddi ddi)
{
    return probe_nth(p, ddi, probe_count(p, ddi) - 1);
}

static void contest_body(struct probe *p)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)));
    p->before[PROBE_SetPowerState] = be_slow;
    sim_thread_release(probe_thread(p, nt_process_current(), "sleeper", fall_asleep));
    while (probe_count(p, PROBE_SetPowerState) == 0)
        probe_sleep(1000000);
    CHECK(NT_SUCCESS(bell_connect(&client)) && NT_SUCCESS(slept));
    CHECK_RULE("LIFE-156/d",
               probe_count(p, PROBE_ConnectDoorbell) == 1 &&
                   last(p, PROBE_SetPowerState)->arg[2] == PowerDeviceD0 &&
                   last(p, PROBE_SetPowerState)->order < last(p, PROBE_ConnectDoorbell)->order &&
                   port_adapter_power(p->adapter[0]) == PowerDeviceD0);
    CHECK_RULE("KMT-185", *client.status == D3DDDI_DOORBELLSTATUS_CONNECTED);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(a_doorbell_is_not_connected_in_D3)
{
    run(doorbells_create(NULL), contest_body);
}

/* ---- while devices come and go ---- */

#define MANY 4u

static struct bell_client many[MANY];
static struct nt_process *their_process;
static bool gone;

/* All whose doorbell is still connected. */
static void destroy_others(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < MANY; i++)
        if (!doorbells.bell[i].disconnects)
            CHECK(NT_SUCCESS(probe_gpu_end(&many[i].hw.gpu)));
    gone = true;
}

static void let_them(struct probe *p)
{
    doorbells.at_disconnect = NULL;
    sim_thread_release(probe_thread(p, their_process, "destroyer", destroy_others));
    while (!gone)
        probe_sleep(1000000);
}

static void many_body(struct probe *p)
{
    (void)p;
    their_process = nt_process_current();
    for (unsigned i = 0; i < MANY; i++)
        CHECK(NT_SUCCESS(bell_begin(&many[i])) && NT_SUCCESS(bell_create(&many[i])) &&
              NT_SUCCESS(bell_connect(&many[i])));
    doorbells.at_disconnect = let_them;
}

static void wake_up(struct probe *p)
{
    slept = port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone);
}

static unsigned tries;

static void connect_again(struct probe *p)
{
    (void)p;
    while (tries < 100) {
        const struct bell_client *lost = *client.status ? &client : *other.status ? &other : NULL;

        if (lost) {
            (void)bell_connect(lost);
            tries++;
        }
        probe_sleep(10000);
    }
}

static void eager(struct probe *p)
{
    if (probe_count(p, PROBE_DisconnectDoorbell) == 1)
        sim_thread_release(probe_thread(p, their_process, "eager", connect_again));
    probe_sleep(1000000);
}

static void eager_body(struct probe *p)
{
    (void)p;
    their_process = nt_process_current();
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)) &&
          NT_SUCCESS(bell_connect(&client)));
    CHECK(NT_SUCCESS(bell_begin(&other)) && NT_SUCCESS(bell_create(&other)) &&
          NT_SUCCESS(bell_connect(&other)));
    tries = 0;
    doorbells.at_disconnect = eager;
}

static void check_asleep(struct probe *p)
{
    fall_asleep(p);
    CHECK_RULE("KMT-186", NT_SUCCESS(slept) && probe_count(p, PROBE_DisconnectDoorbell) <= 4);
    tries = 100;
}

TEST(clients_that_connect_at_once_keep_no_adapter_awake)
{
    struct probe *p = doorbells_create(NULL);
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, eager_body);
    CHECK(probe_run(p, check_asleep) == SIM_DONE);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(devices_may_end_while_doorbells_are_disconnected)
{
    struct probe *p = doorbells_create(NULL);
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, many_body);
    CHECK(probe_run(p, fall_asleep) == SIM_DONE && NT_SUCCESS(slept) && gone);
    CHECK_RULE("KMT-186", doorbells.destroyed == MANY - 1);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_RULE("KMT-186", doorbells.bell[i].disconnects == 1);
    CHECK(probe_run(p, wake_up) == SIM_DONE && NT_SUCCESS(slept));
    probe_client_end(p, process);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}
