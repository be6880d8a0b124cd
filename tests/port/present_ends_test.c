/* SPDX-License-Identifier: MIT */
/* A present that is outstanding, or waited for, when what it is for ends: the source, D0, the
 * adapter. */
#include "port/running/power.h"
#include "port/support/presents.h"
#include "support/test.h"

/* A frame of which the driver says nothing. */
static void leave_open(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){0, 0, 4, 4}, 0x998877));
    probe_sleep(PRESENT_PERIOD);
    CHECK(presents.count == 1);
    probe_forget(p);
}

/* ---- the adapter ---- */

static bool kept, reported;

static void report_later(void *arg)
{
    struct probe *p = arg;
    uint32_t pixel;

    probe_sleep(PROBE_SECOND);
    memcpy(&pixel, presents.frame[0].args.pSource, sizeof(pixel));
    kept = pixel == 0x998877 && probe_count(p, PROBE_StopDevice) == 0;
    reported = present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS;
}

static void stops_meanwhile(struct probe *p)
{
    struct sim_thread *reporter;

    leave_open(p);
    kept = reported = false;
    reporter = sim_thread_create("reporter", SIM_THREAD_KERNEL, report_later, p);
    CHECK(reporter != NULL);
    sim_thread_release(reporter);
}

TEST(the_adapter_stops_after_the_present)
{
    struct probe *p = display_create(NULL);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK(probe_run(p, stops_meanwhile) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("PRES-206", kept && reported);
    CHECK_RULE("PRES-216", probe_rule(p, "PRES-216") == 0 && probe_rule(p, "PRES-218") == 0);
    probe_destroy(p);
}

/* ---- the source ---- */

static bool returned, answer;

static void draw_and_wait(void *arg)
{
    struct probe *p = arg;

    answer = present_draw(p, (RECT){0, 0, 9, 9}, 0x123456);
    returned = true;
}

static void goes_dark(struct probe *p)
{
    struct sim_thread *drawer;

    CHECK(screens_settle(display_screens(p), 0));
    returned = false;
    answer = true;
    drawer = sim_thread_create("drawer", SIM_THREAD_KERNEL, draw_and_wait, p);
    CHECK(drawer != NULL);
    sim_thread_release(drawer);
    display_indicate(p, 0, false);
    probe_sleep(PROBE_SECOND);
    CHECK(returned && !answer);
}

TEST(who_waits_for_a_source_is_told_that_it_went_dark)
{
    display_run(NULL, goes_dark);
}

/* ---- D0 ---- */

static NTSTATUS set_power(struct probe *p, DEVICE_POWER_STATE state)
{
    return port_adapter_set_power(p->adapter[0], state, PowerActionSleep);
}

static void sleeps(struct probe *p)
{
    leave_open(p);
    CHECK(set_power(p, PowerDeviceD3) == STATUS_SUCCESS);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("PRES-258", probe_rule(p, "PRES-218") == 1 && probe_count(p, PROBE_StopDevice) == 0);
    CHECK(set_power(p, PowerDeviceD0) == STATUS_SUCCESS);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("PRES-258",
               probe_count(p, PROBE_StopDevice) == 1 && probe_count(p, PROBE_StartDevice) == 1);
    CHECK(present_draw(p, (RECT){0, 0, 9, 9}, 0));
}

TEST(a_driver_is_not_started_again_in_D3)
{
    display_run(NULL, sleeps);
}

static void loses_its_monitor(struct probe *p)
{
    leave_open(p);
    display_indicate(p, 0, false);
    probe_sleep(3 * PROBE_SECOND);
    CHECK_RULE("PRES-258", probe_count(p, PROBE_StartDevice) == 1);
    CHECK(!present_draw(p, (RECT){0, 0, 9, 9}, 0)); /* and does not wait */
    display_indicate(p, 0, true);
    CHECK(present_draw(p, (RECT){0, 0, 9, 9}, 0));
}

TEST(a_driver_that_was_started_again_in_the_dark_shows_the_next_frame)
{
    display_run(NULL, loses_its_monitor);
}
