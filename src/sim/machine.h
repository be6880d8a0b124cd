/* SPDX-License-Identifier: MIT */
/*
 * The part of a machine that every room reads: the time, the level and the thread of the current
 * processor, the source of randomness, and the heap. It is small and public so that a point, or
 * reading the time, costs a few instructions; sim.h has the life of a machine, and the theory.
 */
#ifndef DXGK_SIM_MACHINE_H
#define DXGK_SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/alloc.h"
#include "util/rng.h"

#define SIM_FOREVER        UINT64_MAX
#define SIM_END            ((uint64_t)1 << 63) /* of virtual time: what is due then is never */
#define SIM_MAX_PROCESSORS 64u
#define SIM_SLOTS          16u /* number of places where upper rooms can keep state (slot.h) */

struct race;
struct sim_callout;
struct sim_thread;
struct sim_thread_head;

/* What a frame of a call in progress begins with, for readers who know no more of it. */
struct sim_frame {
    const char *name; /* a literal of the host: it is read by other processes, too */
};

/* The hot part of a machine; public because sim_point is inline. */
struct sim_machine {
    uint64_t now;  /* virtual ns since power on */
    uint32_t fuel; /* points left in this slice */
    uint8_t irql;  /* of the current processor */
    bool stopped;
    bool stress;
    volatile bool interrupted; /* the run is to end at the next point (sim_interrupt) */
    bool misaligned;           /* an access was not aligned while the driver had set AC */
    uint16_t processor;        /* index of the current processor */
    /* nesting of calls into the driver on the current stack; kept by sim_inside_enter/leave */
    uint16_t inside;
    /* virtual time at which the current call into the driver is overdue; SIM_FOREVER: never */
    uint64_t deadline;
    /* head of the list of calls in progress on the current stack, maintained by the room that calls
     * drivers (sim_set_frame) */
    struct sim_frame *frame;
    const char *call;             /* its name; NULL: none is in progress */
    uint64_t points;              /* slices begun, for the watchdog */
    uint64_t submissions;         /* of DMA buffers, for who watches the machine */
    struct sim_thread *thread;    /* on the current processor; NULL while it idles */
    struct sim_thread_head *head; /* of `thread`, or of the processor that idles (thread.h) */
    struct util_heap heap;
    struct rng rng;
    unsigned processors;
    void *slot[SIM_SLOTS];       /* state of upper rooms (slot.h) */
    struct race *races;          /* the detector of races; NULL: none (order.h) */
    struct sim_callout *callout; /* the device model that is running; NULL: none (callout.h) */
    struct sim_core *core;       /* private */
    char thread_name[32];        /* of `thread`; "": none */
};

/* The machine that the host thread has entered. NULL outside sim_enter/sim_leave. */
extern _Thread_local struct sim_machine *sim_current;

static inline uint64_t sim_now(void)
{
    return sim_current->now;
}

/* The time `delay` ns from `time`; SIM_FOREVER, if time ends before. */
static inline uint64_t sim_later(uint64_t time, uint64_t delay)
{
    return time < SIM_END && delay < SIM_END - time ? time + delay : SIM_FOREVER;
}

static inline void sim_set_frame(struct sim_machine *machine, struct sim_frame *frame)
{
    machine->frame = frame;
    machine->call = frame ? frame->name : NULL;
}

/* Let sim_run end at the next point, and every later one at once, with SIM_INTERRUPTED. Signal
 * handlers may call it. */
static inline void sim_interrupt(struct sim_machine *machine)
{
    machine->interrupted = true;
    machine->fuel = 1;
}

/* A number in [0, bound) from the machine's seed. */
static inline uint32_t sim_random(uint32_t bound)
{
    return rng_below(&sim_current->rng, bound);
}

#endif
