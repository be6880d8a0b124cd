/* SPDX-License-Identifier: MIT */
/*
 * The watchdog of code that reaches no point: of a driver, or of a device model. It counts the
 * processor time of the host thread, so that a correct driver on a machine that is busy with other
 * things is not convicted. Code that sleeps in the host's kernel uses none; it is found by wall
 * time, much later, and only if the thread has had hardly any processor time meanwhile, or has gone
 * to sleep again and again.
 *
 * A call that reaches points again and again, but does not return, is overdue in virtual time at
 * last; one that makes cheap calls of the host takes minutes until then, so its processor time is
 * limited, too.
 */
#ifndef DXGK_SIM_WATCHDOG_H
#define DXGK_SIM_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_WATCHDOG_TICK_NS 250000000u
#define SIM_LABOUR_FACTOR    3u

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
    /* of the call into a driver: when it will be overdue, and processor time when it was seen
     * first */
    uint64_t deadline, call_since;
    int error;         /* there is no timer for the ticks, and it was not told yet; 0: there is */
    uint64_t laboured; /* deadline of the call that was convicted; 0: none was */
};

/* A tick: the points of the machine, the processor time of the host thread and the wall time, in
 * ns, and how often the thread has given up its processor by itself. A stopped process sees
 * one late tick, which counts as two. `watched`: code runs that has to come to a point. `limit_ns`
 * of processor time are allowed, and ten times that asleep. */
enum sim_watchdog_verdict sim_watchdog_tick(struct sim_watchdog *w, bool watched, uint64_t points,
                                            uint64_t cpu_ns, uint64_t wall_ns, uint64_t sleeps,
                                            uint64_t limit_ns);

/* At the same tick: whether the call into a driver that is in progress, known by its deadline, was
 * so at each tick for SIM_LABOUR_FACTOR limits of processor time (NT-201). A call without a
 * deadline (SIM_FOREVER) may take any time. */
bool sim_watchdog_labours(struct sim_watchdog *w, bool watched, uint64_t deadline, uint64_t cpu_ns,
                          uint64_t limit_ns);

#endif
