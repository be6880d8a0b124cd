/* SPDX-License-Identifier: MIT */
/* Who wants something of displays while their adapter stops. */
#include "port/support/client.h"
#include "port/support/display.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

static bool holding, left;
static NTSTATUS answer;

static NTSTATUS hold_slowly(struct ddi_adapter *ddi)
{
    (void)ddi;
    holding = true;
    probe_sleep(PROBE_SECOND);
    return STATUS_SUCCESS;
}

static void release(struct ddi_adapter *ddi)
{
    (void)ddi;
}

static void ask(struct probe *p)
{
    answer = display_ask_mode(p, 0, 800, 600, 0);
    left = true;
}

static void has_left(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    CHECK(left && answer == STATUS_DEVICE_REMOVED);
}

static void stop_meanwhile(struct probe *p)
{
    struct sim_thread *other;

    holding = left = false;
    display_modes(p)->hold = hold_slowly;
    display_modes(p)->release = release;
    other = probe_thread(p, probe_process(p, "asks"), "asks", ask);
    while (!holding)
        probe_sleep(1000);
    p->before[PROBE_StopDevice] = has_left;
    probe_restart(p);
    sim_thread_release(other);
    CHECK(left && probe_count(p, PROBE_StopDevice) == 1);
    p->before[PROBE_StopDevice] = NULL;
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
}

TEST(a_stop_waits_for_them)
{
    struct probe *p = display_create(NULL);

    probe_set_entry(p, PROBE_StopDeviceAndReleasePostDisplayOwnership, false);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, stop_meanwhile);
}

/* ---- a device of a client ---- */

static D3DKMT_HANDLE device;

static void make_device(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters = {0};
    D3DKMT_CREATEDEVICE create = {0};
    D3DKMT_CREATECONTEXT context = {0};

    CHECK(D3DKMTEnumAdapters(&adapters) == STATUS_SUCCESS && adapters.NumAdapters == 1);
    create.hAdapter = adapters.Adapters[0].hAdapter;
    CHECK_RULE("DISP-012", D3DKMTCreateDevice(&create) == STATUS_SUCCESS);
    device = context.hDevice = create.hDevice;
    CHECK_RULE("DISP-012", D3DKMTCreateContext(&context) == STATUS_NOT_SUPPORTED &&
                               strcmp(probe_refused_rule, "DISP-012") == 0);
    CHECK_RULE("DISP-012", probe_count(p, PROBE_CreateDevice) == 0 &&
                               probe_count(p, PROBE_CreateContext) == 0 &&
                               probe_count(p, PROBE_CreateAllocation) == 0 &&
                               probe_count(p, PROBE_CreateProcess) == 0 &&
                               probe_count(p, PROBE_BuildPagingBuffer) == 0);
}

static void ask_state(struct probe *p)
{
    D3DKMT_GETDEVICESTATE state = {.hDevice = device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    (void)p;
    CHECK(D3DKMTGetDeviceState(&state) == STATUS_SUCCESS &&
          state.ExecutionState == D3DKMT_DEVICEEXECUTION_STOPPED);
}

TEST(a_device_of_a_client_ends_with_the_adapter)
{
    struct probe *p = display_create(NULL);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    client = probe_client_run(p, make_device);
    CHECK(probe_stop(p) == 0);
    probe_client_go_on(p, client, ask_state);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
