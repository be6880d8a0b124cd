/* SPDX-License-Identifier: MIT */
/* A client whose signals come as fast as the driver is told of them. */
#include "port/support/native.h"

#include "nt/base/current.h"
#include "sim/machine.h"
#include "sim/thread.h"

static struct hardware_client client;
static D3DKMT_CREATENATIVEFENCE fence;
static bool enough;

static void be_slow(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    native.count = 0; /* the rig keeps only so many */
    KeStallExecutionProcessor(50);
}

static void signal_often(struct probe *p)
{
    (void)p;
    for (UINT64 value = 1; value < 20000 && !enough; value++) {
        CHECK(NT_SUCCESS(native_signal(client.gpu.device, fence.Info.hSyncObject, value)));
        probe_sleep(20000);
    }
}

static void busy_body(struct probe *p)
{
    static const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS plain;
    struct sim_thread *busy;
    uint64_t began;

    enough = false;
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(native_make(client.gpu.device, 0, plain, &fence)));
    busy = probe_thread(p, nt_process_current(), "busy", signal_often);
    while (probe_count(p, PROBE_NotifyCurrentValueUpdates) < 5)
        probe_sleep(1000000);
    began = sim_now();
    CHECK_RULE("SUBMIT-150/h", NT_SUCCESS(hardware_submit(&client, 1)) &&
                                   NT_SUCCESS(hardware_wait(&client, 1)) &&
                                   sim_now() < began + PROBE_SECOND / 10);
    enough = true;
    while (!sim_thread_ended(busy))
        probe_sleep(1000000);
    sim_thread_release(busy);
    CHECK_RULE("SUBMIT-150/h", probe_count(p, PROBE_NotifyCurrentValueUpdates) < 200);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(who_signals_all_the_time_does_not_stop_the_others)
{
    struct probe *p = native_create(NULL);
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    p->before[PROBE_NotifyCurrentValueUpdates] = be_slow;
    process = probe_client_run(p, busy_body);
    probe_client_end(p, process);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}
