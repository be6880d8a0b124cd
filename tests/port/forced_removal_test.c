/* SPDX-License-Identifier: MIT */
/* A device is pulled out whose driver is not told: no entry is called any more, and no entry is blamed for that. */
#include "nt/base/current.h"
#include "port/support/memory_calls.h"
#include "port/support/native.h"
#include "sim/thread.h"

#include <string.h>

#define MS 1000000ull

static struct hardware_client client;
static D3DKMT_CREATENATIVEFENCE fence;
static bool woken;

static void wait_body(struct probe *p)
{
    (void)p;
    (void)native_wait(client.gpu.device, fence.Info.hSyncObject, 42);
    woken = true;
}

/* Something of each kind that the host would end, cancel or tell the driver of. */
static void work_body(struct probe *p)
{
    const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS plain = {0};
    D3DKMT_HANDLE allocation;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(native_make(client.gpu.device, 40, plain, &fence)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&client.gpu, 1 << 20, &allocation)));
    sim_thread_release(probe_thread(p, nt_process_current(), "waiter", wait_body));
    hardware.held = true;
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)));
    probe_device_packet_ns = 3600 * PROBE_SECOND;
    for (unsigned i = 0; i < 64; i++)
        CHECK(NT_SUCCESS(probe_gpu_submit(&client.gpu)));
    probe_sleep(MS);
    CHECK(hardware_in_flight() == 1 && native.count == 1);
}

/* An interface that the driver would give back in StopDevice. */
static void take(struct probe *p)
{
    DXGK_FEATURE_INTERFACE interface = {.Size = sizeof(interface),
                                        .Version = DXGK_FEATURE_INTERFACE_VERSION_1};
    DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;

    CHECK(NT_SUCCESS(dxgk->DxgkCbQueryServices(dxgk->DeviceHandle, DxgkServicesFeature,
                                               (PINTERFACE)(void *)&interface)));
}

static void unplug_body(struct probe *p)
{
    take(p);
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true)));
    probe_sleep(10 * MS);
}

TEST(nobody_is_blamed_for_entries_that_are_not_called)
{
    struct probe *p = native_create(NULL);
    struct probe_client *process;
    size_t calls;

    woken = false;
    p->caps.SchedulingCaps.CancelCommandAware = 1;
    probe_set_entry(p, PROBE_CancelCommand, true);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, work_body);
    CHECK(probe_count(p, PROBE_SubmitCommandVirtual) < 64); /* the rest is to be canceled */
    calls = p->calls;
    CHECK(probe_run(p, unplug_body) == SIM_DONE && woken);
    probe_client_end(p, process);
    (void)probe_stop(p);
    for (size_t i = calls; i < p->calls; i++)
        CHECK_RULE("LIFE-151/b", p->call[i]->ddi == PROBE_Unload);
    CHECK_RULE("LIFE-151/c", !p->sim->stopped && probe_reports(p, VERIFY_WARNING) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}

static void holding_body(struct probe *p)
{
    (void)make_block(p, 100);
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true)));
}

TEST(memory_is_not_missed_that_the_driver_could_not_give_back)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, holding_body) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-151/c", !p->sim->stopped && probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
}
