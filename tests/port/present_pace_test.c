/* SPDX-License-Identifier: MIT */
/* When frames are sent: while a source is seen, at its rate, and in full after each change. */
#include "port/support/presents.h"
#include "support/test.h"

static uint32_t pixel_of(UINT frame, UINT x, UINT y)
{
    const DXGKARG_PRESENT_DISPLAYONLY *args = &presents.frame[frame].args;
    uint32_t pixel;

    memcpy(&pixel, (const uint8_t *)args->pSource + (SIZE_T)y * (SIZE_T)args->Pitch + x * 4, 4);
    return pixel;
}

/* ---- pace ---- */

static void ten(struct probe *p)
{
    uint64_t start;

    CHECK(screens_settle(display_screens(p), 0));
    probe_sleep(2 * PRESENT_PERIOD);
    presents_begin();
    CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 1)); /* from here a period lasts until its blank */
    start = sim_now();
    for (LONG i = 0; i < 10; i++)
        CHECK(present_fill(p, 0, (RECT){10 * i, 10, 10 * i + 5, 15}, 1));
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-224/a", presents.count == 2 && presents.frame[1].args.NumDirtyRects == 10);
    CHECK_RULE("PRES-224/a",
               presents.frame[1].time - start <= PRESENT_PERIOD && presents.frame[1].time > start);
    for (LONG i = 0; i < 6; i++)
        CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 2));
    CHECK_RULE("PRES-224/a",
               presents.count == 8 &&
                   presents.frame[7].time - presents.frame[1].time > 6 * PRESENT_PERIOD - 12 &&
                   presents.frame[7].time - presents.frame[1].time < 6 * PRESENT_PERIOD + 12);
}

TEST(one_frame_a_period)
{
    display_run(NULL, ten);
}

static void halved(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    for (LONG i = 0; i < 4; i++)
        CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 2));
    CHECK_RULE("PRES-224/a", presents.frame[3].time - presents.frame[1].time == 80000000);
}

/* 25 frames a second. */
TEST(the_rate_is_that_of_the_mode)
{
    struct probe *p = display_create(NULL);

    display.target_mode[0].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){25, 1};
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, halved);
}

static void at_once(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    for (LONG i = 0; i < 10; i++)
        CHECK(present_draw(p, (RECT){i, 10, i + 5, 15}, 1));
    CHECK_RULE("PRES-224/b", presents.count == 10 &&
                                 presents.frame[9].time - presents.frame[0].time < PRESENT_PERIOD);
}

TEST(without_pace_each_change_is_a_frame)
{
    const struct probe_options options = {.port = {.present_unpaced = true}};

    display_run(&options, at_once);
}

/* ---- seen or not ---- */

static void off_and_on(struct probe *p)
{
    CHECK(present_draw(p, (RECT){0, 0, 1024, 768}, 0x112233));
    presents_begin();
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, false) == STATUS_SUCCESS);
    CHECK(present_fill(p, 0, (RECT){500, 500, 501, 501}, 0x445566));
    probe_sleep(10 * PRESENT_PERIOD);
    CHECK_RULE("PRES-221", presents.count == 0 && !screens_settle(display_screens(p), 0));
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, true) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-222",
               presents.count == 1 && present_is(0, WHOLE) && presents.frame[0].args.NumMoves == 0);
    CHECK_RULE("PRES-247", pixel_of(0, 0, 0) == 0x112233 && pixel_of(0, 1023, 767) == 0x112233);
    CHECK_RULE("PRES-221", pixel_of(0, 500, 500) == 0x445566);
}

TEST(a_display_that_is_off_gets_no_frames)
{
    display_run(NULL, off_and_on);
}

static void asleep(struct probe *p)
{
    CHECK(present_draw(p, (RECT){0, 0, 1024, 768}, 0x112233));
    presents_begin();
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK_RULE("PRES-252", present_fill(p, 0, (RECT){500, 500, 501, 501}, 0x445566));
    probe_sleep(10 * PRESENT_PERIOD);
    CHECK_RULE("PRES-221", presents.count == 0);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-222", presents.count == 1 && present_is(0, WHOLE));
    CHECK_RULE("PRES-250", pixel_of(0, 1023, 767) == 0x112233);
    CHECK_RULE("PRES-252", pixel_of(0, 500, 500) == 0x445566);
}

TEST(a_picture_survives_the_sleep_of_its_adapter)
{
    display_run(NULL, asleep);
}

static bool quiet_commit, pending_in_commit;

static void look_in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                           const DXGK_VIDPN_INTERFACE *vidpn)
{
    (void)vidpn;
    quiet_commit = !args->hPrimaryAllocation && !display_seen.visible[0];
    pending_in_commit = presents.count != 1 || screens_frames(display_screens(p), 0) < 3;
}

static void report_later(struct probe *p)
{
    probe_sleep(20 * PRESENT_PERIOD);
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
}

static void another_mode(struct probe *p)
{
    struct sim_thread *thread;

    CHECK(present_draw(p, (RECT){0, 0, 1024, 768}, 0x112233));
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){0, 0, 1, 1}, 0));
    probe_sleep(2 * PRESENT_PERIOD);
    display.in_commit = look_in_commit;
    thread = probe_thread(p, probe_process(p, "hardware"), "hardware", report_later);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-223", quiet_commit && !pending_in_commit && display_seen.visible[0]);
    CHECK_RULE("PRES-223", presents.count == 2 && present_is(1, (RECT){0, 0, 800, 600}));
    CHECK_RULE("PRES-222", pixel_of(1, 0, 0) == 0 && pixel_of(1, 799, 599) == 0);
    sim_thread_release(thread);
}

TEST(a_mode_set_waits_for_the_frame)
{
    display_run(NULL, another_mode);
}
