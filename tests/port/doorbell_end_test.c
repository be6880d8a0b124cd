/* SPDX-License-Identifier: MIT */
/* The end of queues for submission from user mode whose client has told more than it submitted, or whose adapter sleeps. */
#include "port/support/doorbells.h"

#include "nt/base/current.h"
#include "sim/machine.h"
#include "sim/thread.h"

#include <string.h>

static struct bell_client client;

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    CHECK(doorbells.destroyed == doorbells.bells && probe_reports(p, VERIFY_WARNING) == 0);
    probe_clients_end(p);
    probe_destroy(p);
}

static void begin(void)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)) &&
          NT_SUCCESS(bell_connect(&client)));
}

static void destroy(void)
{
    CHECK(NT_SUCCESS(D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = client.hw.queue})));
}

/* ---- announced, and never submitted ---- */

static uint64_t began;

static void goes_on(struct probe *p)
{
    probe_sleep(50 * PROBE_SECOND);
    bell_progress(p, &client, 4);
}

static void never_body(struct probe *p)
{
    began = sim_now();
    begin();
    *client.queued = 5;
    sim_thread_release(probe_thread(p, nt_process_current(), "gpu", goes_on));
    destroy();
    CHECK_RULE("SUBMIT-125/h", sim_now() >= began + 110 * PROBE_SECOND &&
                                   sim_now() < began + 112 * PROBE_SECOND &&
                                   probe_rule(p, "SUBMIT-125") == 1);
    CHECK_RULE("SUBMIT-125/h", probe_count(p, PROBE_SuspendContext) == 1 &&
                                   probe_count(p, PROBE_ResumeContext) == 0 &&
                                   probe_nth(p, PROBE_SuspendContext, 0)->order <
                                       probe_nth(p, PROBE_DestroyHwQueue, 0)->order);
    CHECK(hardware_device_state(&client.hw) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

/* Nobody else has contexts suspended. */
TEST(the_end_of_a_queue_gives_up_what_never_comes)
{
    const struct probe_options patient = {
        .port.tdr = {.level = 3, .delay = 1000, .ddi_delay = 5, .limit_count = 5, .limit_time = 60}};

    run(doorbells_create(&patient), never_body);
}

static void leave_body(struct probe *p)
{
    (void)p;
    begin();
    *client.queued = 5;
}

TEST(so_does_the_end_of_a_process)
{
    run(doorbells_create(NULL), leave_body);
}

/* ---- loss ---- */

static void lost_body(struct probe *p)
{
    D3DKMT_MARKDEVICEASERROR mark = {.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};

    begin();
    mark.hDevice = client.hw.gpu.device;
    CHECK(NT_SUCCESS(D3DKMTMarkDeviceAsError(&mark)));
    probe_sleep(10000000);
    CHECK_RULE("KMT-471", probe_count(p, PROBE_SuspendContext) == 1 &&
                              probe_count(p, PROBE_DisconnectDoorbell) == 1 &&
                              probe_nth(p, PROBE_SuspendContext, 0)->order <
                                  probe_nth(p, PROBE_DisconnectDoorbell, 0)->order);
    CHECK(probe_count(p, PROBE_ResumeContext) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

/* What it rang for is unknown. */
TEST(a_lost_device_is_suspended_also_if_it_told_nothing)
{
    run(doorbells_create(NULL), lost_body);
}

/* ---- allocations ---- */

static void synchronous_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;
    D3DKMT_DESTROYALLOCATION2 destroy = {
        .phAllocationList = &allocation, .AllocationCount = 1, .Flags = {.SynchronousDestroy = 1}};

    begin();
    CHECK(NT_SUCCESS(probe_gpu_allocate(&client.hw.gpu, 4096, &allocation)));
    destroy.hDevice = client.hw.gpu.device;
    probe_sleep(70 * PROBE_SECOND);
    began = sim_now();
    *client.queued = 5;
    sim_thread_release(probe_thread(p, nt_process_current(), "gpu", goes_on));
    CHECK(NT_SUCCESS(D3DKMTDestroyAllocation2(&destroy)));
    CHECK_RULE("SUBMIT-125/i", sim_now() >= began + 110 * PROBE_SECOND &&
                                   sim_now() < began + 112 * PROBE_SECOND &&
                                   probe_count(p, PROBE_DestroyAllocation) == 1);
    bell_progress(p, &client, 5);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(an_allocation_is_not_kept_for_what_never_comes)
{
    run(doorbells_create(NULL), synchronous_body);
}

/* ---- asleep ---- */

static void works(struct probe *p)
{
    probe_sleep(50 * PROBE_SECOND);
    if (probe_count(p, PROBE_ResumeContext) > 0)
        bell_progress(p, &client, 5);
}

static void asleep_body(struct probe *p)
{
    began = sim_now();
    begin();
    *client.queued = 5;
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    sim_thread_release(probe_thread(p, nt_process_current(), "gpu", works));
    destroy();
    CHECK_RULE("SUBMIT-125/b", sim_now() >= began + 50 * PROBE_SECOND &&
                                   sim_now() < began + 51 * PROBE_SECOND &&
                                   probe_rule(p, "SUBMIT-125") == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

TEST(an_adapter_is_woken_for_what_was_queued)
{
    run(doorbells_create(NULL), asleep_body);
}
