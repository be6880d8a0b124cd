/* SPDX-License-Identifier: MIT */
/* Who draws while what is shown changes: the adapter sleeps, or the mode is another one soon. */
#include "port/running/power.h"
#include "port/support/presents.h"
#include "support/test.h"

static bool begun, ended, shown;

static void draws(struct probe *p)
{
    begun = true;
    shown = present_draw(p, (RECT){500, 500, 501, 501}, 0x445566);
    ended = true;
}

/* On a thread of its own, until it waits. */
static void draw_beside(struct probe *p)
{
    begun = ended = shown = false;
    sim_thread_release(probe_thread(p, probe_process(p, "draws"), "draws", draws));
    while (!begun)
        probe_sleep(1000);
    probe_sleep(1000);
}

static void wakes(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    presents_begin();
    draw_beside(p);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("PRES-252", !ended && presents.count == 0);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
    probe_sleep(10 * PRESENT_PERIOD);
    CHECK_RULE("PRES-252", ended && shown && presents.count == 1 && present_is(0, WHOLE));
}

TEST(a_drawing_waits_until_its_adapter_wakes)
{
    display_run(NULL, wakes);
}

/* ---- other changes ---- */

static void be_slow(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    probe_sleep(100000000);
}

static void changes_mode(struct probe *p)
{
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
}

static void draws_meanwhile(struct probe *p)
{
    struct sim_thread *other;

    CHECK(screens_settle(display_screens(p), 0));
    p->after[PROBE_CommitVidPn] = be_slow;
    other = probe_thread(p, probe_process(p, "mode"), "mode", changes_mode);
    probe_sleep(50000000);
    CHECK(probe_count(p, PROBE_CommitVidPn) == 2);
    presents_begin();
    draw_beside(p);
    CHECK_RULE("PRES-252", !ended);
    probe_sleep(20 * PRESENT_PERIOD);
    CHECK_RULE("PRES-252", ended && shown && presents.count > 0);
    sim_thread_release(other);
}

TEST(a_drawing_waits_for_the_mode)
{
    display_run(NULL, draws_meanwhile);
}

static void draws_in_the_dark(struct probe *p)
{
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, false) == STATUS_SUCCESS);
    draw_beside(p);
    CHECK_RULE("PRES-252", ended && !shown);
}

TEST(a_display_that_is_off_is_not_waited_for)
{
    display_run(NULL, draws_in_the_dark);
}
