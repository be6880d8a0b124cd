/* SPDX-License-Identifier: MIT */
/* A thread of a driver that reports vertical syncs, and whose delay between them is none. */
#include "port/support/full_display.h"
#include "port/support/presents.h"
#include "support/test.h"

static LARGE_INTEGER interval;
static UINT reports;
static bool ends, ended;

static void report(struct probe *p)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    data.CrtcVsync.VidPnTargetId = DISPLAY_CHILD;
    data.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)full_seen.address[0].address;
    CHECK(present_interrupt(p, &data) == STATUS_SUCCESS);
    reports++;
}

static void reporter(struct probe *p)
{
    while (!ends) {
        report(p);
        (void)KeDelayExecutionThread(KernelMode, FALSE, &interval);
    }
    ended = true;
}

static void storms(struct probe *p)
{
    struct sim_thread *thread;

    reports = 0;
    ends = ended = false;
    thread = probe_thread(p, probe_process(p, "driver"), "reporter", reporter);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("PRES-331",
               probe_rule(p, "PRES-331") == 1 && reports >= 17 + 58 && reports <= 17 + 62);
    reports = 0;
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("PRES-331", probe_rule(p, "PRES-331") == 1 && reports >= 59 && reports <= 61);
    ends = true;
    while (!ended)
        probe_sleep(1000000);
    sim_thread_release(thread);
}

/* Of no time at all, and of an absolute one of the year 1601. */
TEST(the_thread_is_given_a_pace)
{
    static const LONGLONG none[] = {0, 166666};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = full_display_create(NULL);

        interval.QuadPart = none[i];
        CHECK(probe_start(p) == STATUS_SUCCESS);
        probe_end(p, storms);
    }
}

static void counts(struct probe *p)
{
    probe_sleep(PROBE_SECOND / 10);
    for (unsigned i = 0; i < 16; i++)
        report(p);
    CHECK_RULE("PRES-331", probe_rule(p, "PRES-331") == 0);
    report(p);
    CHECK_RULE("PRES-331", probe_rule(p, "PRES-331") == 1);
}

TEST(sixteen_at_one_time_are_no_storm)
{
    struct probe *p = full_display_create(NULL);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, counts);
}

static void waits(struct probe *p)
{
    LARGE_INTEGER none = {.QuadPart = 0};
    const uint64_t before = sim_now();

    (void)p;
    for (unsigned i = 0; i < 17; i++)
        (void)KeDelayExecutionThread(KernelMode, FALSE, &none);
    CHECK_RULE("PRES-331", sim_now() - before < 1000000); /* who tells nothing is not slowed down */
}

TEST(other_threads_are_not)
{
    struct probe *p = full_display_create(NULL);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, waits);
}
