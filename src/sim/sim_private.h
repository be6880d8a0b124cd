/* SPDX-License-Identifier: MIT */
/* What the files of sim share. */
#ifndef DXGK_SIM_PRIVATE_H
#define DXGK_SIM_PRIVATE_H

#include <signal.h>
#include <time.h>

#include "sim/sim.h"

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif
#ifndef SIM_ASAN
#define SIM_ASAN 0
#endif

/* ---- fibers (fiber.c) ---- */

struct fiber {
    void *sp;
    char *stack; /* lowest usable byte; the page below is a guard */
    size_t stack_bytes;
    void *asan_stack; /* AddressSanitizer's fake stack while switched away */
};

/* A stack from the machine's cache or a new mapping. False: out of memory. */
bool fiber_init(struct fiber *fiber, size_t stack_bytes);
void fiber_finish(struct fiber *fiber);
/* Start over: the next switch to it enters entry(arg) on an empty stack. entry must not return. */
void fiber_prepare(struct fiber *fiber, void (*entry)(void *arg), void *arg);
/* `ending`: the current fiber is never switched to again. */
void fiber_switch(struct fiber *from, struct fiber *to, bool ending);

/* ---- threads, processors ---- */

enum thread_state { THREAD_READY, THREAD_RUNNING, THREAD_BLOCKED, THREAD_ENDED };

struct sim_thread {
    struct fiber fiber;
    struct list link; /* ready queue, or the list of ended threads to reap */
    struct list all;
    struct list wait; /* in a sim_waitq */
    enum thread_state state;
    bool started; /* its entry was reached */
    enum sim_thread_kind kind;
    uint32_t id;
    uint32_t references;
    char name[32];
    sim_entry entry;
    void *arg;
    void *local, *process;
    void (*on_exit)(void *arg);
    void *on_exit_arg;
    struct sim_event timeout;
    bool timed_out;
    bool guarded; /* `timeout` stands for the limit of the call into a driver */
    intptr_t result;
    struct sim_mark *mark; /* innermost; they chain outwards */
    uint8_t irql;          /* while not running: PASSIVE or APC */
    uint16_t inside;       /* while not running */
    uint64_t deadline;
    void *frame;
};

struct processor {
    struct sim_thread *thread; /* NULL: idle */
    struct fiber idle;
    uint8_t irql; /* while not current */
    uint16_t inside;
    uint64_t deadline;
    void *frame;
    uint16_t interrupt_depth;
    uint16_t dpc_depth;
    struct list interrupts; /* struct sim_interrupt.link, pending here */
    struct list dpcs;
    void *idle_jump[5];
    bool idle_running; /* the idle fiber has been entered */
};

struct sim_core {
    struct sim_machine public;
    struct fiber host; /* the host thread's own stack, while a fiber runs */
    bool on_fiber;
    struct processor processor[SIM_MAX_PROCESSORS];
    struct list ready;
    uint32_t ready_count;
    struct list threads;
    struct list ended;
    uint32_t next_thread_id;
    uint32_t clients;              /* client threads that have not ended */
    uint32_t slice;                /* points left before the next scheduling decision */
    uint32_t refuelled;            /* what fuel was set to last */
    uint32_t longest;              /* points in a slice, at most */
    struct sim_question *question; /* for the fiber that is switched to (stack.c) */

    /* event heap */
    struct sim_event **heap;
    uint32_t events, heap_capacity, reserved;
    uint32_t guards; /* of the events, those that only watch waiting threads */
    uint64_t event_order;

    bool (*done)(void *arg);
    void *done_arg;
    uint64_t until;
    enum sim_outcome outcome;
    size_t stack_bytes;
    uint64_t spins;

    /* faults */
    void (*on_fault)(const struct sim_fault *fault);
    bool (*on_trap)(struct sim_trap *trap);
    void (*on_switch)(enum sim_switch what);
    void (*on_process)(void);
    bool (*denies)(const void *address);
    const void *process; /* the current one when on_process was last called */
    bool (*on_page)(uintptr_t address);
    void (*on_raised)(void);
    struct sim_fault fault;
    struct sim_registers fault_registers; /* of `fault`, until its landing has copied them */
    char *emergency_stack;
    void *signal_stack;
    stack_t outer_signal_stack;
    uint64_t watchdog_ms;
    timer_t watchdog;
    bool watchdog_armed;
    uint64_t watchdog_points;
    uint64_t watchdog_quiet_ms;
    struct sim_machine *outer; /* entered before this one */
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

/* After the level may have become DISPATCH or above. */
static inline void sim_level_raised(const struct sim_core *core)
{
    if (core->on_raised && core->public.irql >= SIM_IRQL_DISPATCH)
        core->on_raised();
}

/* Tell who follows the current thread and processor. */
static inline void sim_switched(struct sim_core *core)
{
    const void *process = core->public.thread ? core->public.thread->process : NULL;

    sim_level_raised(core);
    if (core->on_switch)
        core->on_switch(SIM_SWITCH_CURRENT);
    if (process == core->process)
        return;
    core->process = process;
    if (core->on_process)
        core->on_process();
}

/* machine.c */
void sim_refuel(struct sim_core *core);
_Noreturn void sim_idle_loop(void *arg);
void sim_to_host(struct sim_core *core, enum sim_outcome outcome);
/* thread.c */
void sim_make_ready(struct sim_core *core, struct sim_thread *thread);
struct sim_thread *sim_take_ready(struct sim_core *core);
/* Leave the current thread (blocked, ready again or ended); continues elsewhere. */
void sim_leave_thread(struct sim_core *core, bool ending);
void sim_switch_processor(struct sim_core *core, unsigned to);
void sim_check_stopped(struct sim_core *core);
void sim_reap(struct sim_core *core);
bool sim_processor_has_work(const struct sim_core *core, unsigned index);
void sim_thread_fire_timeout(struct sim_event *event);
/* stack.c: after each switch back to a fiber. */
void sim_answer(struct sim_core *core);
/* event.c */
bool sim_event_reserve(struct sim_core *core, uint32_t more);
void sim_fire_due(struct sim_core *core);
uint64_t sim_next_due(const struct sim_core *core);
void sim_events_stop(struct sim_core *core);
/* interrupt.c */
void sim_deliver(struct sim_core *core);
/* fault.c */
bool sim_fault_setup(struct sim_core *core);
void sim_fault_teardown(struct sim_core *core);
void sim_fault_enter(struct sim_core *core);
void sim_fault_leave(struct sim_core *core);
_Noreturn void sim_raise_overdue(struct sim_core *core);

#endif
