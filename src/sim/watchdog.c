/* SPDX-License-Identifier: MIT */
#include "sim/watchdog.h"

#define SLEEP_FACTOR 10u
/* NT-199. A thread that sleeps all the time gets less than this part of the wall time. One that is
 * ready to run gets more even beside hundreds of others. */
#define SLEEP_SHARE 1000u

enum sim_watchdog_verdict sim_watchdog_tick(struct sim_watchdog *w, bool watched, uint64_t points,
                                            uint64_t cpu_ns, uint64_t wall_ns, uint64_t sleeps,
                                            uint64_t limit_ns)
{
    uint64_t passed = wall_ns - w->wall_last, used;

    w->wall_last = wall_ns;
    w->slept &= sleeps != w->sleeps_last;
    w->sleeps_last = sleeps;
    if (!watched || !w->watching || w->points != points) {
        w->watching = watched;
        w->points = points;
        w->cpu_since = cpu_ns;
        w->wall = 0;
        w->slept = true;
        return SIM_WATCHDOG_FINE;
    }
    w->wall += passed < 2 * SIM_WATCHDOG_TICK_NS ? passed : 2 * SIM_WATCHDOG_TICK_NS;
    used = cpu_ns - w->cpu_since;
    if (used >= limit_ns)
        return SIM_WATCHDOG_LOOPS;
    if (w->wall >= SLEEP_FACTOR * limit_ns && (w->slept || used < w->wall / SLEEP_SHARE))
        return SIM_WATCHDOG_SLEEPS;
    return SIM_WATCHDOG_FINE;
}

/* NT-201 */
bool sim_watchdog_labours(struct sim_watchdog *w, bool watched, uint64_t deadline, uint64_t cpu_ns,
                          uint64_t limit_ns)
{
    if (!watched || deadline == UINT64_MAX || deadline != w->deadline) {
        w->deadline = watched ? deadline : UINT64_MAX;
        w->call_since = cpu_ns;
        return false;
    }
    return cpu_ns - w->call_since >= SIM_LABOUR_FACTOR * limit_ns;
}
