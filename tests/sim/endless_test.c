/* SPDX-License-Identifier: MIT */
/* Threads and times without end. */
#include "support/check_rule.h"

#include "sim/event.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "sim/wait.h"

#define SECOND 1000000000ull
#define BUSY   (SECOND / 5) /* how long the other thread has something to do */

static struct sim_machine *machine(void)
{
    struct sim_config config = {.seed = 3, .processors = 1};
    struct sim_machine *m = sim_machine_create(&config);

    assert_non_null(m);
    sim_enter(m);
    return m;
}

static void destroy(struct sim_machine *m)
{
    sim_leave();
    sim_machine_destroy(m);
}

static bool over;

static void busy(void *arg)
{
    (void)arg;
    while (!over || sim_now() < BUSY)
        sim_point();
}

static void short_work(void *arg)
{
    (void)arg;
    sim_block(sim_now() + 1000, NULL);
    over = true;
}

static bool is_over(void *arg)
{
    (void)arg;
    return over;
}

/* The one processor always has something to do. */
TEST(a_run_ends_beside_a_thread_that_does_not)
{
    struct sim_machine *m = machine();

    over = false;
    sim_thread_release(sim_thread_create("busy", SIM_THREAD_KERNEL, busy, NULL));
    sim_thread_release(sim_thread_create("short", SIM_THREAD_KERNEL, short_work, NULL));
    CHECK(sim_run(is_over, NULL, SIM_FOREVER) == SIM_DONE);
    CHECK(sim_now() < BUSY / 10);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && sim_now() >= BUSY);
    destroy(m);
}

/* ---- the end of time ---- */

static unsigned fired;

static void count(struct sim_event *event)
{
    (void)event;
    fired++;
}

TEST(what_is_due_at_the_end_of_time_is_never)
{
    static const uint64_t due[] = {SIM_END, SIM_END + 1, SIM_FOREVER - 1, SIM_FOREVER};
    struct sim_machine *m = machine();
    struct sim_event event = {.fire = count};

    fired = 0;
    for (unsigned i = 0; i < 4; i++) {
        CHECK_RULE("NT-196/d", sim_event_arm(&event, 1) && sim_event_pending(&event));
        CHECK_RULE("NT-196/d", sim_event_arm(&event, due[i]) && !sim_event_pending(&event));
    }
    CHECK_RULE("NT-196/d", sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && sim_now() < SECOND);
    CHECK_RULE("NT-196/d", sim_event_arm(&event, SIM_END - 1) && sim_event_pending(&event));
    CHECK_RULE("NT-196/d", sim_run(NULL, NULL, SIM_FOREVER) != SIM_DONE && fired == 1);
    CHECK_RULE("NT-196/d", sim_now() >= SIM_END - 1 && sim_now() <= SIM_END);
    destroy(m);
}

TEST(later_times_do_not_wrap)
{
    CHECK(sim_later(5, 7) == 12);
    CHECK(sim_later(SIM_END - 2, 1) == SIM_END - 1);
    CHECK_RULE("NT-196/d", sim_later(SIM_END - 2, 2) == SIM_FOREVER);
    CHECK_RULE("NT-196/d", sim_later(SIM_END, 0) == SIM_FOREVER);
    CHECK_RULE("NT-196/d", sim_later(1, SIM_FOREVER) == SIM_FOREVER);
}
