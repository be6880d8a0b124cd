/* SPDX-License-Identifier: MIT */
/* What the watchdog makes of processor time and wall time. */
#include "sim/watchdog.h"
#include "support/check_rule.h"

#include <string.h>

#define MS    1000000ull
#define TICK  ((uint64_t)SIM_WATCHDOG_TICK_NS)
#define LIMIT (1000 * MS)

/* Ticks until a verdict that is not FINE, at most `most`; each brings `cpu` of processor time, and
 * `sleeps` in ten of them a sleep. */
static enum sim_watchdog_verdict ticks(unsigned most, uint64_t cpu, unsigned sleeps, unsigned *count)
{
    enum sim_watchdog_verdict verdict = SIM_WATCHDOG_FINE;
    uint64_t slept = 77;
    struct sim_watchdog w;

    memset(&w, 0, sizeof(w));
    *count = 0;
    (void)sim_watchdog_tick(&w, true, 7, 50 * MS, 9000 * MS, 77, LIMIT);
    while (*count < most && verdict == SIM_WATCHDOG_FINE) {
        slept += *count % 10 < sleeps;
        ++*count;
        verdict = sim_watchdog_tick(&w, true, 7, 50 * MS + *count * cpu, 9000 * MS + *count * TICK,
                                    slept, LIMIT);
    }
    return verdict;
}

TEST(a_loop_is_found_by_its_processor_time)
{
    unsigned count;

    CHECK_RULE("NT-199/a", ticks(100, 250 * MS, 0, &count) == SIM_WATCHDOG_LOOPS && count == 4);
    /* a tenth of a processor: after ten times as long */
    CHECK_RULE("NT-199/a", ticks(100, 25 * MS, 0, &count) == SIM_WATCHDOG_LOOPS && count == 40);
    CHECK_RULE("NT-199/a", ticks(10000, MS, 0, &count) == SIM_WATCHDOG_LOOPS && count == 1000);
}

TEST(a_sleep_is_found_by_wall_time)
{
    unsigned count;

    CHECK_RULE("NT-199/b", ticks(100, 0, 0, &count) == SIM_WATCHDOG_SLEEPS && count == 40);
    CHECK_RULE("NT-199/b", ticks(100, MS / 5, 0, &count) == SIM_WATCHDOG_SLEEPS && count == 40);
    /* short sleeps, a hundredth of a processor in all */
    CHECK_RULE("NT-199/b", ticks(100, 5 * MS / 2, 10, &count) == SIM_WATCHDOG_SLEEPS && count == 40);
    /* a loop on a busy host, which once in a while waits for a page */
    CHECK_RULE("NT-199/c", ticks(100, 5 * MS / 2, 9, &count) == SIM_WATCHDOG_FINE && count == 100);
}

/* Whatever the thread has used before does not count. */
TEST(the_first_tick_only_begins)
{
    struct sim_watchdog w;

    memset(&w, 0, sizeof(w));
    CHECK_RULE("NT-199/d",
               sim_watchdog_tick(&w, true, 0, 5000 * MS, 5000 * MS, 0, LIMIT) == SIM_WATCHDOG_FINE);
    CHECK_RULE("NT-199/d",
               sim_watchdog_tick(&w, true, 0, 5999 * MS, 5999 * MS, 0, LIMIT) == SIM_WATCHDOG_FINE);
    CHECK_RULE("NT-199/d", sim_watchdog_tick(&w, true, 0, 6000 * MS, 6000 * MS, 0, LIMIT) ==
                               SIM_WATCHDOG_LOOPS);
}

/* The process was stopped: one late tick. */
TEST(a_stopped_process_is_not_convicted)
{
    struct sim_watchdog w;

    memset(&w, 0, sizeof(w));
    CHECK(sim_watchdog_tick(&w, true, 1, 0, 1000 * MS, 0, LIMIT) == SIM_WATCHDOG_FINE);
    CHECK_RULE("NT-199/e",
               sim_watchdog_tick(&w, true, 1, MS / 100, 90000 * MS, 1, LIMIT) == SIM_WATCHDOG_FINE);
    CHECK(w.wall == 2 * TICK);
}

TEST(a_point_and_leaving_the_driver_begin_anew)
{
    for (unsigned leaves = 0; leaves < 2; leaves++) {
        struct sim_watchdog w;
        uint64_t cpu = 0, wall = 0;

        memset(&w, 0, sizeof(w));
        for (unsigned i = 0; i < 100; i++) {
            cpu += 300 * MS;
            wall += 300 * MS;
            CHECK_RULE("NT-199/e", sim_watchdog_tick(&w, !leaves || i % 3, leaves ? 1 : i / 3, cpu,
                                                     wall, i, LIMIT) == SIM_WATCHDOG_FINE);
        }
    }
}

/* ---- a call that does not return, though it reaches points ---- */

TEST(a_call_is_convicted_after_three_limits)
{
    struct sim_watchdog w;

    memset(&w, 0, sizeof(w));
    CHECK_RULE("NT-201/a", !sim_watchdog_labours(&w, true, 60, 9000 * MS, LIMIT));
    CHECK_RULE("NT-201/a", !sim_watchdog_labours(&w, true, 60, 9000 * MS + 3 * LIMIT - 1, LIMIT));
    CHECK_RULE("NT-201/a", sim_watchdog_labours(&w, true, 60, 9000 * MS + 3 * LIMIT, LIMIT));
    CHECK_RULE("NT-201/a", sim_watchdog_labours(&w, true, 60, 9000 * MS + 4 * LIMIT, LIMIT));
}

TEST(another_call_and_code_of_the_host_begin_anew)
{
    struct sim_watchdog w;

    memset(&w, 0, sizeof(w));
    (void)sim_watchdog_labours(&w, true, 60, 0, LIMIT);
    CHECK_RULE("NT-201/b", !sim_watchdog_labours(&w, true, 61, 3 * LIMIT, LIMIT));
    CHECK_RULE("NT-201/b", !sim_watchdog_labours(&w, true, 61, 6 * LIMIT - 1, LIMIT));
    CHECK_RULE("NT-201/b", !sim_watchdog_labours(&w, false, 61, 6 * LIMIT, LIMIT));
    CHECK_RULE("NT-201/b", !sim_watchdog_labours(&w, true, 61, 6 * LIMIT, LIMIT));
    CHECK_RULE("NT-201/b", !sim_watchdog_labours(&w, true, 61, 9 * LIMIT - 1, LIMIT));
    CHECK_RULE("NT-201/b", sim_watchdog_labours(&w, true, 61, 9 * LIMIT, LIMIT));
}

TEST(a_call_without_a_limit_may_take_any_time)
{
    struct sim_watchdog w;

    memset(&w, 0, sizeof(w));
    for (unsigned i = 0; i < 10; i++)
        CHECK_RULE("NT-201/c", !sim_watchdog_labours(&w, true, UINT64_MAX, i * LIMIT, LIMIT));
}
