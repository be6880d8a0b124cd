/* SPDX-License-Identifier: MIT */
/* Who wants something of displays while their adapter stops. */
#include "port/support/display.h"
#include "sim/thread.h"
#include "support/test.h"

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
