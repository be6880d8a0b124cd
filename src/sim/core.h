/* SPDX-License-Identifier: MIT */
/*
 * The private part of a machine: its processors, threads and pending events, and the handlers it
 * calls on faults and switches. Each member is written only by the files of the concept that it is
 * listed under.
 */
#ifndef DXGK_SIM_CORE_H
#define DXGK_SIM_CORE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "race/race.h"
#include "sim/event.h"
#include "sim/fault.h"
#include "sim/fiber.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/report.h"
#include "sim/sim.h"
#include "sim/switch.h"
#include "sim/thread_record.h"
#include "sim/watchdog.h"
#include "util/list.h"

struct sim_question;

struct processor {
    struct sim_thread *thread;   /* NULL: idle */
    struct sim_thread_head head; /* while it idles */
    struct fiber idle;
    uint8_t irql; /* valid while the processor is not current */
    uint16_t inside;
    uint64_t deadline;
    struct sim_frame *frame;
    struct refusal *refusal;
    struct race_task *task; /* of the detector of races, while the processor is not current */
    uint16_t interrupt_depth;
    uint16_t dpc_depth;
    struct list interrupts; /* pending on this processor, by struct sim_interrupt.link */
    struct list dpcs;
    void *idle_jump[5];
    bool idle_running; /* the idle fiber was started */
};

/* An armed event in the heap. */
struct sim_pending {
    uint64_t due, order;
    struct sim_event *event;
};

struct sim_core {
    struct sim_machine public;
    struct util_arena *arena; /* what this record lies in; NULL: it is a block of the heap */
    struct fiber host;        /* the stack of the host thread itself, while a fiber runs */
    bool on_fiber;
    struct processor processor[SIM_MAX_PROCESSORS];
    struct list ready;
    uint32_t ready_count;
    struct list threads;
    struct list ended;
    uint32_t next_thread_id;
    uint32_t clients;              /* client threads that have not ended */
    uint32_t slice;                /* points left before the next scheduling decision */
    uint32_t refuelled;            /* the last value that fuel was set to */
    uint32_t longest;              /* the most points in a slice */
    struct sim_question *question; /* for the fiber that is switched to (stack.c) */

    /* event heap */
    struct sim_pending *heap;
    uint32_t events, heap_capacity, reserved;
    uint32_t guards; /* number of events that only limit calls into a driver */
    uint64_t event_order;
    uint64_t events_since; /* when the count of fired ones began */
    uint32_t events_fired;

    bool (*done)(void *arg);
    void *done_arg;
    uint64_t until;
    enum sim_outcome outcome;
    size_t stack_bytes, client_stack_bytes;
    uint64_t spins;

    /* faults */
    void (*on_fault)(const struct sim_fault *fault);
    bool (*on_trap)(struct sim_trap *trap);
    void (*on_switch)(enum sim_switch what);
    void (*on_process)(void);
    bool (*denies)(const void *address);
    const void *process; /* the current process at the last call of on_process */
    bool (*on_page)(uintptr_t address);
    struct sim_guarding guarding;
    void (*on_raised)(void);
    struct sim_fault fault;
    /* registers of `fault`, until its landing has copied them */
    struct sim_registers fault_registers;
    struct sim_report report;
    void *signal_stack;
    stack_t outer_signal_stack;
    uint64_t watchdog_ms;
    timer_t watchdog;
    bool watchdog_armed;
    struct sim_watchdog watching;
    struct sim_machine *outer; /* the machine that was entered before this one */
    struct util_heap *outer_heap;
};

static inline struct sim_core *core_of(struct sim_machine *machine)
{
    return machine->core;
}

static inline struct processor *current_processor(struct sim_core *core)
{
    return &core->processor[core->public.processor];
}

/* `thread` runs on the current processor; NULL: none. */
static inline void sim_set_thread(struct sim_core *core, struct sim_thread *thread)
{
    core->public.thread = thread;
    core->public.head = thread ? &thread->head : &current_processor(core)->head;
    if (core->public.races)
        (void)race_switch(core->public.races, thread ? thread->task : NULL);
}

/* Called when the level may have become DISPATCH or above. */
static inline void sim_level_raised(const struct sim_core *core)
{
    if (core->on_raised && core->public.irql >= SIM_IRQL_DISPATCH)
        core->on_raised();
}

/* Call the handlers that follow the current thread and processor. */
static inline void sim_switched(struct sim_core *core)
{
    const struct sim_thread *thread = core->public.thread;
    const void *process = thread ? thread->head.process : NULL;

    if (thread)
        memcpy(core->public.thread_name, thread->name, sizeof(thread->name));
    else
        core->public.thread_name[0] = '\0';
    sim_level_raised(core);
    if (core->on_switch)
        core->on_switch(SIM_SWITCH_CURRENT);
    if (process == core->process)
        return;
    core->process = process;
    if (core->on_process)
        core->on_process();
}

#endif
