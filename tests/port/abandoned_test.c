/* SPDX-License-Identifier: MIT */
/* An adapter that is pulled out of a driver that cannot bear it: no entry is called any more, so none fails. */
#include "port/support/doorbells.h"

#include "nt/base/current.h"
#include "sim/machine.h"
#include "sim/thread.h"

static struct bell_client client;
static D3DKMT_CREATENATIVEFENCE fence;
static NTSTATUS unplugged;

static void unplug_body(struct probe *p)
{
    unplugged = port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true);
}

/* That the wait ends with its device is to be told, too. */
static void wait_for_fence(struct probe *p)
{
    (void)p;
    (void)native_wait(client.hw.gpu.device, fence.Info.hSyncObject, 1);
}

static void begin_body(struct probe *p)
{
    static const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS plain;

    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)) &&
          NT_SUCCESS(bell_connect(&client)));
    CHECK(NT_SUCCESS(native_make(client.hw.gpu.device, 0, plain, &fence)));
    *client.queued = 1;
    sim_thread_release(probe_thread(p, nt_process_current(), "waiter", wait_for_fence));
    probe_sleep(PROBE_SECOND / 1000);
    CHECK(probe_count(p, PROBE_UpdateMonitoredValues) == 1);
}

static void after_body(struct probe *p)
{
    (void)p;
    probe_sleep(PROBE_SECOND);
    (void)native_signal(client.hw.gpu.device, fence.Info.hSyncObject, 1);
    probe_sleep(PROBE_SECOND);
}

TEST(what_is_not_called_does_not_fail)
{
    struct probe *p = doorbells_create(NULL);
    struct probe_client *process;
    size_t calls;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, begin_body);
    CHECK(probe_run(p, unplug_body) == SIM_DONE && NT_SUCCESS(unplugged));
    calls = probe_count(p, PROBE_DestroyDoorbell);
    probe_client_go_on(p, process, after_body);
    probe_client_end(p, process);
    CHECK_RULE("LIFE-151/b", calls == 0 && probe_count(p, PROBE_DestroyDoorbell) == 0 &&
                                 probe_count(p, PROBE_DestroyDevice) == 0 &&
                                 probe_count(p, PROBE_DestroyNativeFence) == 0);
    CHECK_RULE("LIFE-151/b", probe_reports(p, VERIFY_WARNING) == 0);
    probe_clients_end(p);
    (void)probe_stop(p);
    CHECK(!p->sim->stopped);
    probe_destroy(p);
}

/* ---- with work on it ---- */

static void busy_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(hardware_begin(&client.hw)));
    probe_device_packet_ns = 3600 * PROBE_SECOND;
    CHECK(NT_SUCCESS(probe_gpu_submit(&client.hw.gpu)));
    probe_sleep(PROBE_SECOND / 1000);
}

static void wait_body(struct probe *p)
{
    (void)p;
    probe_sleep(10 * PROBE_SECOND);
}

TEST(a_reset_of_what_is_gone_succeeds)
{
    struct probe *p = hardware_create(NULL);
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, busy_body);
    CHECK(probe_run(p, unplug_body) == SIM_DONE && NT_SUCCESS(unplugged));
    CHECK(probe_run(p, wait_body) == SIM_DONE);
    CHECK_RULE("LIFE-151/b", !p->sim->stopped && probe_rule(p, "TDR-066") == 0 &&
                                 probe_count(p, PROBE_ResetFromTimeout) == 0);
    probe_client_end(p, process);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    probe_clients_end(p);
    (void)probe_stop(p);
    probe_destroy(p);
}
