/* SPDX-License-Identifier: MIT */
/*
 * The watchdog of code that reaches no point: of a driver, or of a device model. It counts the
 * processor time of the host thread, so that a correct driver on a machine that is busy with other
 * things is not convicted. Code that sleeps in the host's kernel uses none; it is found by wall
 * time, much later, and only if the thread has had hardly any processor time meanwhile, or has gone
 * to sleep again and again.
 */
#ifndef DXGK_SIM_WATCHDOG_H
#define DXGK_SIM_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_WATCHDOG_TICK_NS 250000000u

enum sim_watchdog_verdict { SIM_WATCHDOG_FINE, SIM_WATCHDOG_LOOPS, SIM_WATCHDOG_SLEEPS };

/* Zeroed: nothing was seen yet. */
struct sim_watchdog {
    bool watching;        /* code ran at the last tick that has to come to a point */
    uint64_t points;      /* of the machine, at the last tick */
    uint64_t cpu_since;   /* processor time when they were seen first */
    uint64_t wall_last;   /* wall time of the last tick */
    uint64_t wall;        /* since they were seen first */
    uint64_t sleeps_last; /* how often the thread had slept at the last tick */
    bool slept;           /* between any two ticks since they were seen first */
};

/* A tick: the points of the machine, the processor time of the host thread and the wall time, in
 * ns, and how often the thread has given up its processor by itself. A stopped process sees
 * one late tick, which counts as two. `watched`: code runs that has to come to a point. `limit_ns`
 * of processor time are allowed, and ten times that asleep. */
enum sim_watchdog_verdict sim_watchdog_tick(struct sim_watchdog *w, bool watched, uint64_t points,
                                            uint64_t cpu_ns, uint64_t wall_ns, uint64_t sleeps,
                                            uint64_t limit_ns);

#endif
