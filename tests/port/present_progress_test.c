/* SPDX-License-Identifier: MIT */
/* How presents end: at the return, by a report of the driver, or not at all. */
#include "port/support/presents.h"
#include "screens/region.h"
#include "support/test.h"

#define DXGK p->state[0].dxgk

static uint64_t frames(const struct probe *p)
{
    return screens_frames(display_screens(p), 0);
}

/* Present a rectangle, which stays outstanding. */
static void leave_pending(struct probe *p, RECT r)
{
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, r, 0x55AA55));
    probe_sleep(2 * PRESENT_PERIOD);
    CHECK(presents.count == 1);
}

/* ---- by report ---- */

static void alternating(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    leave_pending(p, (RECT){0, 0, 8, 8});
    CHECK_RULE("PRES-211", frames(p) == 1);
    CHECK_RULE("PRES-217", present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
    CHECK_RULE("PRES-211", screens_settle(display_screens(p), 0) && frames(p) == 2);
    CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 1));
    CHECK_RULE("PRES-210", presents.count == 2 && frames(p) == 3);
    CHECK_RULE("PRES-211", probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(a_driver_alternates)
{
    display_run(NULL, alternating);
}

static void in_service_routine(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS;
    data.DisplayOnlyPresentProgress.ProgressId = PRESENT_DONE;
    DXGK.DxgkCbNotifyInterrupt(DXGK.DeviceHandle, &data);
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

static void from_service_routine(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    leave_pending(p, (RECT){0, 0, 8, 8});
    p->before[PROBE_InterruptRoutine] = in_service_routine;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    CHECK_RULE("PRES-217", screens_settle(display_screens(p), 0) && frames(p) == 2);
}

TEST(the_service_routine_reports)
{
    display_run(NULL, from_service_routine);
}

static void keep_quiet(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true; /* no DxgkCbNotifyDpc */
}

static void without_dpc(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    leave_pending(p, (RECT){0, 0, 8, 8});
    p->before[PROBE_DpcRoutine] = keep_quiet;
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
    probe_sleep(PRESENT_PERIOD);
    CHECK_RULE("PRES-217", frames(p) == 1);
    p->before[PROBE_DpcRoutine] = NULL;
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    CHECK_RULE("PRES-217", screens_settle(display_screens(p), 0) && frames(p) == 2);
}

TEST(the_dpc_completes)
{
    display_run(NULL, without_dpc);
}

static void report_early(struct probe *p, UINT frame)
{
    (void)frame;
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
    probe_sleep(1000);
    CHECK_RULE("PRES-215", frames(p) == (frame ? 2 : 1)); /* the call has not returned */
}

static void before_the_return(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    presents.during = report_early;
    presents.answer[0] = STATUS_PENDING;
    CHECK_RULE("PRES-215", present_draw(p, (RECT){0, 0, 8, 8}, 1) && frames(p) == 2);
    CHECK(probe_rule(p, "PRES-215") == 0);
    CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 2)); /* and returns success */
    CHECK_RULE("PRES-215", probe_rule(p, "PRES-215") == 1 && frames(p) == 3);
}

TEST(a_report_before_the_return_is_kept)
{
    display_run(NULL, before_the_return);
}

static void reports_for_nothing(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
    CHECK_RULE("PRES-216", probe_rule(p, "PRES-216") == 1 && frames(p) == 1);
    leave_pending(p, (RECT){0, 0, 8, 8});
    CHECK(present_report(p, 1, PRESENT_DONE) == STATUS_SUCCESS);
    CHECK_RULE("PRES-216", probe_said(p, "PRES-216", "source 1, which does not exist"));
    CHECK(present_report(p, 77, PRESENT_DONE) == STATUS_SUCCESS);
    CHECK_RULE("PRES-216", probe_rule(p, "PRES-216") == 3 && frames(p) == 1);
    CHECK(present_report(p, 0, 2) == STATUS_SUCCESS);
    probe_sleep(1000000);
    CHECK_RULE("PRES-216", probe_rule(p, "PRES-216") == 4 && frames(p) == 1);
    p->before[PROBE_DpcRoutine] = keep_quiet;
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
    CHECK(present_report(p, 0, PRESENT_FAILED) == STATUS_SUCCESS);
    CHECK_RULE("PRES-216", probe_rule(p, "PRES-216") == 5);
    p->before[PROBE_DpcRoutine] = NULL;
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    CHECK_RULE("PRES-216", screens_settle(display_screens(p), 0) && frames(p) == 2);
}

TEST(reports_for_nothing_are_violations)
{
    display_run(NULL, reports_for_nothing);
}

static void other_types(struct probe *p)
{
    static const int types[] = {DXGK_INTERRUPT_DMA_COMPLETED, DXGK_INTERRUPT_CRTC_VSYNC,
                                DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY,
                                DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2};
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    CHECK(screens_settle(display_screens(p), 0));
    leave_pending(p, (RECT){0, 0, 8, 8});
    memset(&data, 0, sizeof(data));
    for (unsigned i = 0; i < 4; i++) {
        data.InterruptType = (DXGK_INTERRUPT_TYPE)types[i];
        CHECK(present_interrupt(p, &data) == STATUS_SUCCESS);
        CHECK_RULE("PRES-162/b", probe_rule(p, "PRES-162") == i + 1 && frames(p) == 1);
    }
    data.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_VSYNC;
    CHECK(present_interrupt(p, &data) == STATUS_SUCCESS);
    CHECK_RULE("PRES-162/b", probe_rule(p, "PRES-162") == 4);
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
}

TEST(interrupts_of_rendering_are_violations)
{
    display_run(NULL, other_types);
}

/* ---- one at a time ---- */

static void draw_a(struct probe *p)
{
    CHECK(present_fill(p, 0, (RECT){100, 0, 110, 10}, 1));
}

static void draw_b(struct probe *p)
{
    CHECK(present_fill(p, 0, (RECT){200, 0, 210, 10}, 2));
}

static void draw_c(struct probe *p)
{
    CHECK(present_fill(p, 0, (RECT){300, 0, 310, 10}, 3));
}

static void merged(struct probe *p)
{
    static void (*const bodies[])(struct probe *) = {draw_a, draw_b, draw_c};
    struct nt_process *process = probe_process(p, "client");
    struct region sent = {0};
    struct sim_thread *thread[3];

    CHECK(screens_settle(display_screens(p), 0));
    leave_pending(p, (RECT){0, 0, 8, 8});
    for (unsigned i = 0; i < 3; i++)
        thread[i] = probe_thread(p, process, "client", bodies[i]);
    probe_sleep(5 * PRESENT_PERIOD);
    CHECK_RULE("PRES-214", presents.count == 1);
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
    probe_sleep(5 * PRESENT_PERIOD);
    for (UINT i = 0; i < presents.frame[1].args.NumDirtyRects; i++)
        region_add(&sent, &presents.frame[1].rect[i]);
    CHECK_RULE("PRES-214", presents.count == 2 && region_pixels(&sent) == 300 &&
                               region_has(&sent, 105, 5) && region_has(&sent, 205, 5) &&
                               region_has(&sent, 305, 5));
    for (unsigned i = 0; i < 3; i++)
        sim_thread_release(thread[i]);
}

TEST(frames_that_wait_are_one)
{
    display_run(NULL, merged);
}

/* ---- failures ---- */

static void failing(struct probe *p)
{
    struct region sent = {0};
    const RECT a = {0, 0, 10, 10}, b = {50, 50, 60, 60};

    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    presents.answer[0] = presents.answer[2] = STATUS_UNSUCCESSFUL;
    presents.answer[3] = STATUS_NO_MEMORY;
    presents.answer[4] = STATUS_UNSUCCESSFUL;
    presents.answer[5] = STATUS_NO_MEMORY;
    CHECK_RULE("PRES-219", !present_draw(p, a, 1) &&
                               screens_failure(display_screens(p), 0) == STATUS_UNSUCCESSFUL);
    CHECK_RULE("PRES-219", probe_rule(p, "PRES-219") == 1 && frames(p) == 1);
    CHECK(present_draw(p, b, 1));
    for (UINT i = 0; i < presents.frame[1].args.NumDirtyRects; i++)
        region_add(&sent, &presents.frame[1].rect[i]);
    CHECK_RULE("PRES-219",
               region_pixels(&sent) == 200 && region_has(&sent, 0, 0) && region_has(&sent, 59, 59));
    CHECK_RULE("PRES-219", screens_failure(display_screens(p), 0) == STATUS_SUCCESS);
    for (unsigned i = 2; i < 6; i++)
        CHECK(!present_draw(p, a, 1));
    CHECK_RULE("PRES-219", presents.count == 6 && probe_rule(p, "PRES-219") == 2);
    presents.answer[6] = STATUS_TIMEOUT; /* a success */
    CHECK_RULE("PRES-219", present_draw(p, a, 1) && probe_rule(p, "PRES-219") == 3);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    presents_begin();
    presents.answer[0] = presents.answer[1] = STATUS_UNSUCCESSFUL;
    CHECK(!present_draw(p, a, 1));
    CHECK_RULE("PRES-219", probe_rule(p, "PRES-219") == 4);
}

TEST(a_present_that_fails_is_repeated)
{
    display_run(NULL, failing);
}

static void reported_failed(struct probe *p)
{
    struct region sent = {0};

    CHECK(screens_settle(display_screens(p), 0));
    leave_pending(p, (RECT){0, 0, 10, 10});
    CHECK(present_report(p, 0, PRESENT_FAILED) == STATUS_SUCCESS);
    CHECK_RULE("PRES-213", !screens_settle(display_screens(p), 0) && frames(p) == 1);
    CHECK_RULE("PRES-220", probe_rule(p, "PRES-220") == 1);
    CHECK(present_draw(p, (RECT){50, 50, 60, 60}, 1));
    for (UINT i = 0; i < presents.frame[1].args.NumDirtyRects; i++)
        region_add(&sent, &presents.frame[1].rect[i]);
    CHECK_RULE("PRES-220", region_pixels(&sent) == 200 && region_has(&sent, 9, 9) && frames(p) == 2);
}

TEST(a_present_reported_as_failed_is_repeated)
{
    display_run(NULL, reported_failed);
}

static void cannot_report(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK_RULE("PRES-212", present_draw(p, (RECT){0, 0, 8, 8}, 1) && frames(p) == 2 &&
                               probe_rule(p, "PRES-212") == 1);
}

TEST(who_cannot_report_may_not_leave_pending)
{
    struct probe *p = display_create(NULL);

    p->table.DxgkDdiInterruptRoutine = NULL;
    p->table.DxgkDdiDpcRoutine = NULL;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, cannot_report);
}
