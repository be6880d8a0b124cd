/* SPDX-License-Identifier: MIT */
/*
 * The simulated machine: virtual time, processors with interrupt levels, threads as fibers,
 * interrupts, deferred calls, and one seeded source of randomness. One host thread runs one
 * machine; nothing here takes a host lock.
 *
 * Theory of operation
 *
 *   Every simulated thread is a fiber. Each simulated processor runs one fiber at a time (or
 *   idles). The host thread steps through the processors: at a *point* (sim_point, called by every
 *   kernel service, callback, register access and DDI boundary) virtual time advances by
 *   SIM_POINT_NS, and when the fuel of the current slice is used up, the slow path
 *
 *     1. fires the events that are due (device work, timers),
 *     2. delivers pending interrupts to the current processor, if its level allows: the service
 *        routine runs on the stack of the interrupted fiber, at the level of the interrupt, holding
 *        the interrupt's lock,
 *     3. runs queued deferred calls (DPCs), if the level is below SIM_IRQL_DISPATCH,
 *     4. gives the host thread to another processor, or, below SIM_IRQL_DISPATCH, this processor to
 *        another ready thread, as the seed decides.
 *
 *   The length of a slice is drawn from the seed, and cut so that no event is missed. When all
 *   processors idle, the clock jumps to the next event. Nothing depends on wall time or host
 *   addresses: same seed, same run.
 *
 * Stopping
 *
 *   sim_stop() ends the simulated kernel: none of its interrupts, deferred calls, timers and
 *   threads runs any more. Client threads continue; one that was inside the kernel side jumps back
 *   to its recovery mark (SIM_RECOVER).
 */
#ifndef DXGK_SIM_SIM_H
#define DXGK_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machine.h"

struct util_arena;

struct sim_config {
    uint64_t seed;
    unsigned processors;       /* 1 .. SIM_MAX_PROCESSORS */
    size_t stack_bytes;        /* of a fiber; 0: 256 KiB (1 MiB under AddressSanitizer) */
    size_t client_stack_bytes; /* of the fiber of a client's thread; 0: as the others */
    /* processor time of the host thread that a driver or a device model may take without reaching a
     * point (watchdog.h); 0: no watchdog */
    uint64_t watchdog_ms;
    /* slice lengths are drawn from the seed and mostly far shorter; sim_stress_point counts as a
     * point */
    bool stress;
    bool races; /* detect races (race/race.h) */
    /* where the machine's record lies, so that other processes can read it; NULL: on the heap */
    struct util_arena *arena;
};

/* NULL when out of memory. The machine's heap is current while the machine is entered. */
struct sim_machine *sim_machine_create(const struct sim_config *config);
/* Frees the fibers and then everything left on the machine's heap. Must not be called from one of
 * its fibers. */
void sim_machine_destroy(struct sim_machine *machine);
void sim_enter(struct sim_machine *machine);
void sim_leave(void);
/* In a child of fork that goes on with the machine that is entered. */
void sim_forked(void);

enum sim_outcome {
    SIM_DONE,     /* done() returned true */
    SIM_DEADLOCK, /* every thread waits and no event is pending */
    SIM_STOPPED,  /* stopped, and no client thread is left to run */
    SIM_TIME_UP,  /* the limit of virtual time was reached */
    SIM_INTERRUPTED,
};

/* Run the entered machine until done(arg) returns true (checked whenever a processor idles), or
 * nothing can run. `until` bounds virtual time (SIM_FOREVER: no bound). */
enum sim_outcome sim_run(bool (*done)(void *arg), void *arg, uint64_t until);

#endif
