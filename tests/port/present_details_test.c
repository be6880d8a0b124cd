/* SPDX-License-Identifier: MIT */
/* Frames that are turned, repeated and told: one difference at a time. */
#include "port/support/presents.h"
#include "support/test.h"

static void turned(struct probe *p)
{
    for (UINT quarters = 1; quarters <= 3; quarters++) {
        CHECK(screens_settle(display_screens(p), 0));
        presents_begin();
        CHECK(display_ask_mode(p, 0, 1024, 768, quarters) == STATUS_SUCCESS);
        CHECK(screens_settle(display_screens(p), 0));
        CHECK_RULE("PRES-208", presents.count == 1 && presents.frame[0].args.Flags.Value == 1 &&
                                   present_is(0, quarters == 2 ? WHOLE : (RECT){0, 0, 768, 1024}) &&
                                   presents.frame[0].args.Pitch == (quarters == 2 ? 1024 : 768) * 4);
    }
}

TEST(both_quarter_turns_exchange_the_sides)
{
    display_run(NULL, turned);
}

/* ---- what is told of frames ---- */

static struct {
    UINT count;
    struct screens_frame last;
} told;

static void note_frame(void *context, struct port_adapter *adapter,
                       const struct screens_frame *frame)
{
    (void)context;
    (void)adapter;
    told.count++;
    told.last = *frame;
}

static void repeated(struct probe *p)
{
    CHECK_RULE("PRES-222", screens_settle(display_screens(p), 0) && told.count == 1 &&
                               told.last.cause == SCREENS_MODE && told.last.rectangles == 1);
    CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 1));
    CHECK(told.count == 2 && told.last.cause == SCREENS_PRESENT);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    presents_begin();
    presents.answer[0] = STATUS_UNSUCCESSFUL;
    probe_sleep(2 * PRESENT_PERIOD);
    CHECK_RULE("PRES-219", presents.count == 1 && told.count == 2);
    CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 2));
    CHECK_RULE("PRES-219",
               told.count == 3 && told.last.cause == SCREENS_MODE); /* the first that was shown */
    CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 3));
    CHECK(told.count == 4 && told.last.cause == SCREENS_PRESENT);
}

TEST(a_first_frame_that_fails_is_still_to_come)
{
    const struct probe_options options = {.port = {.frame = note_frame}};

    memset(&told, 0, sizeof(told));
    display_run(&options, repeated);
}

static void reported(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){0, 0, 8, 8}, 1));
    probe_sleep(2 * PRESENT_PERIOD);
    CHECK(screens_failure(display_screens(p), 0) == STATUS_SUCCESS);
    CHECK(present_report(p, 0, PRESENT_FAILED) == STATUS_SUCCESS);
    CHECK_RULE("PRES-220", screens_failure(display_screens(p), 0) == STATUS_UNSUCCESSFUL);
    CHECK(present_draw(p, (RECT){0, 0, 8, 8}, 1) && presents.count == 2);
}

TEST(a_reported_failure_is_that_of_the_frame)
{
    display_run(NULL, reported);
}
