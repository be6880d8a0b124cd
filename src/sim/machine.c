/* SPDX-License-Identifier: MIT */
/* The machine: creation, the run loop of the host thread, points and slices. sim.h has the theory of operation. */
#include "sim/sim.h"

#include <pthread.h>
#include <string.h>

#include "sim/sim_private.h"
#include "util/address.h"

#define DEFAULT_STACK (SIM_ASAN ? 1024u * 1024u : 256u * 1024u)
#define SLICE_POINTS  192u /* a slice is 1 .. this many points */
#define MAX_SPINS \
    50000000u /* spins without any event or other work before a spin counts as a hang */

_Thread_local struct sim_machine *sim_current;

static uint32_t new_slice(struct sim_core *core)
{
    return 1 + rng_below(&core->public.rng, core->longest);
}

/* Under stress each run has its own grain: races hide from slices that are too long for them, and others from slices so short
 * that all threads advance in step. */
static uint32_t longest_slice(struct sim_core *core)
{
    static const uint32_t grain[] = {2, 6, 16, 48, 128};

    return core->public.stress ? grain[rng_below(&core->public.rng, 5)] : SLICE_POINTS;
}

/* Load the fuel: to the end of the slice or the next event, whichever is nearer. */
void sim_refuel(struct sim_core *core)
{
    struct sim_machine *m = &core->public;
    uint64_t due = sim_next_due(core);
    uint32_t fuel = core->slice;

    if (due != SIM_FOREVER) {
        uint64_t points = due > m->now ? (due - m->now + SIM_POINT_NS - 1) / SIM_POINT_NS : 1;

        if (points < fuel)
            fuel = points ? (uint32_t)points : 1;
    }
    m->fuel = fuel ? fuel : 1;
    core->refuelled = m->fuel;
}

static void host_stack(struct fiber *host)
{
#if SIM_ASAN
    pthread_attr_t attributes;
    void *stack;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
    host->stack = stack;
    host->stack_bytes = bytes;
#else
    (void)host;
#endif
}

struct sim_machine *sim_machine_create(const struct sim_config *config)
{
    struct util_heap *outer = util_heap_current;
    struct sim_core *core;

    if (config->processors < 1 || config->processors > SIM_MAX_PROCESSORS)
        return NULL;
    util_heap_current = NULL;
    core = util_zalloc(1, sizeof(*core));
    util_heap_current = outer;
    if (!core)
        return NULL;
    core->public.core = core;
    core->public.rng.state = config->seed;
    core->public.processors = config->processors;
    core->public.deadline = SIM_FOREVER;
    core->stack_bytes = config->stack_bytes ? align_up(config->stack_bytes, 4096) : DEFAULT_STACK;
    core->watchdog_ms = config->watchdog_ms;
    list_init(&core->ready);
    list_init(&core->threads);
    list_init(&core->ended);
    for (unsigned i = 0; i < config->processors; i++) {
        struct processor *p = &core->processor[i];

        list_init(&p->interrupts);
        list_init(&p->dpcs);
        p->deadline = SIM_FOREVER;
        if (!fiber_init(&p->idle, core->stack_bytes))
            goto fail;
        fiber_prepare(&p->idle, sim_idle_loop, core);
    }
    if (!sim_fault_setup(core))
        goto fail;
    core->public.stress = config->stress;
    core->longest = longest_slice(core);
    core->slice = new_slice(core);
    sim_refuel(core);
    return &core->public;

fail:
    for (unsigned i = 0; i < config->processors; i++)
        fiber_finish(&core->processor[i].idle);
    util_free(core);
    return NULL;
}

void sim_machine_destroy(struct sim_machine *machine)
{
    struct sim_core *core;

    if (!machine)
        return;
    core = core_of(machine);
    if (sim_current == machine)
        sim_leave();
    LIST_FOR(node, &core->threads) {
        struct sim_thread *thread = CONTAINER(node, struct sim_thread, all);

        fiber_finish(&thread->fiber);
    }
    for (unsigned i = 0; i < machine->processors; i++)
        fiber_finish(&core->processor[i].idle);
    sim_fault_teardown(core);
    util_heap_release(&machine->heap);
    util_free(core);
}

void sim_enter(struct sim_machine *machine)
{
    struct sim_core *core = core_of(machine);

    core->outer = sim_current;
    core->outer_heap = util_heap_current;
    sim_current = machine;
    util_heap_current = &machine->heap;
    host_stack(&core->host);
    sim_fault_enter(core);
    if (core->on_switch)
        core->on_switch(SIM_SWITCH_ENTER);
}

void sim_leave(void)
{
    struct sim_core *core = core_of(sim_current);

    if (core->on_switch)
        core->on_switch(SIM_SWITCH_LEAVE);
    sim_fault_leave(core);
    util_heap_current = core->outer_heap;
    sim_current = core->outer;
}

void sim_on_switch(void (*handler)(enum sim_switch what))
{
    core_of(sim_current)->on_switch = handler;
}

void sim_notify_switch(void)
{
    sim_switched(core_of(sim_current));
}

/* ---- the run loop ---- */

/* From a fiber back to sim_run. Returns when sim_run is called again and resumes here. */
void sim_to_host(struct sim_core *core, enum sim_outcome outcome)
{
    struct processor *p = current_processor(core);
    struct fiber *from = p->thread ? &p->thread->fiber : &p->idle;

    core->outcome = outcome;
    core->on_fiber = false;
    fiber_switch(from, &core->host, false);
    sim_answer(core);
    core->on_fiber = true;
}

enum sim_outcome sim_run(bool (*done)(void *arg), void *arg, uint64_t until)
{
    struct sim_core *core = core_of(sim_current);
    struct processor *p = current_processor(core);

    if (core->on_fiber)
        return SIM_DEADLOCK; /* not for fibers */
    if (done && done(arg))
        return SIM_DONE;
    core->done = done;
    core->done_arg = arg;
    core->until = until;
    core->on_fiber = true;
    fiber_switch(&core->host, p->thread ? &p->thread->fiber : &p->idle, false);
    sim_reap(core);
    return core->outcome;
}

/* What a processor does that has no thread: serve interrupts, take a thread, let others run, let time jump. */
_Noreturn void sim_idle_loop(void *arg)
{
    struct sim_core *core = arg;
    struct sim_machine *m;

    /* After a stop in the middle of a service routine that ran on this stack, life goes on here. */
    if (__builtin_setjmp(current_processor(core)->idle_jump))
        core = core_of(sim_current);
    m = &core->public;
    current_processor(core)->idle_running = true;
    for (;;) {
        struct sim_thread *next;
        bool busy = false;

        m->irql = SIM_IRQL_PASSIVE;
        sim_fire_due(core);
        sim_deliver(core);
        if (core->done && core->done(core->done_arg)) {
            sim_to_host(core, SIM_DONE);
            continue;
        }
        if (m->stopped && core->clients == 0) {
            sim_to_host(core, SIM_STOPPED);
            continue;
        }
        if (m->now >= core->until) {
            sim_to_host(core, SIM_TIME_UP);
            continue;
        }
        next = sim_take_ready(core);
        if (next) {
            struct processor *p = current_processor(core);

            next->state = THREAD_RUNNING;
            p->thread = next;
            m->thread = next;
            m->irql = next->irql;
            m->inside = next->inside;
            m->deadline = next->deadline;
            m->frame = next->frame;
            core->slice = new_slice(core);
            sim_refuel(core);
            sim_switched(core);
            fiber_switch(&p->idle, &next->fiber, false);
            continue;
        }
        for (unsigned i = 1; i < m->processors && !busy; i++) {
            unsigned other = (m->processor + i) % m->processors;

            if (sim_processor_has_work(core, other)) {
                busy = true;
                sim_switch_processor(core, other);
            }
        }
        if (busy)
            continue;
        {
            uint64_t due = sim_next_due(core);

            if (core->events == core->guards) {
                sim_to_host(core, m->stopped ? SIM_STOPPED : SIM_DEADLOCK);
                continue;
            }
            if (due > core->until) {
                m->now = core->until;
                continue;
            }
            if (due > m->now)
                m->now = due;
        }
    }
}

/* ---- points ---- */

/* The seed decides who goes on: another processor, or another thread of this one. */
static void end_of_slice(struct sim_core *core)
{
    struct sim_machine *m = &core->public;

    core->slice = new_slice(core);
    m->points++;
    if (m->processors > 1) {
        unsigned other = rng_below(&m->rng, m->processors);

        if (other != m->processor && sim_processor_has_work(core, other)) {
            sim_refuel(core);
            sim_switch_processor(core, other);
            return;
        }
    }
    if (m->irql < SIM_IRQL_DISPATCH && m->thread && !list_empty(&core->ready) &&
        rng_below(&m->rng, 2)) {
        sim_make_ready(core, m->thread);
        sim_leave_thread(core, false);
    }
}

void sim_point_slow(struct sim_machine *m)
{
    struct sim_core *core = core_of(m);
    uint32_t used = core->refuelled;

    if (!core->on_fiber) { /* the embedding program itself, between runs */
        sim_refuel(core);
        return;
    }
    core->slice = core->slice > used ? core->slice - used : 0;
    sim_fire_due(core);
    sim_deliver(core);
    if (core->slice == 0)
        end_of_slice(core);
    sim_check_stopped(core);
    if (m->inside && m->now > m->deadline)
        sim_raise_overdue(core);
    if (m->now >= core->until)
        sim_to_host(core, SIM_TIME_UP);
    sim_refuel(core);
}

void sim_stall(uint64_t ns)
{
    struct sim_machine *m = sim_current;
    struct sim_core *core = core_of(m);
    uint64_t end = m->now + ns;

    while (m->now < end) {
        uint64_t due = sim_next_due(core);
        uint64_t step = due < end && due > m->now ? due : end;

        /* Others get a turn at least every microsecond of stalling. */
        if (step - m->now > 1000)
            step = m->now + 1000;
        m->now = step;
        core->refuelled = core->slice; /* this slice is over */
        sim_point_slow(m);
    }
}

void sim_spin(void)
{
    struct sim_machine *m = sim_current;
    struct sim_core *core = core_of(m);
    uint64_t due;

    m->now += SIM_POINT_NS;
    for (unsigned i = 1; i < m->processors; i++) {
        unsigned other = (m->processor + i) % m->processors;

        if (sim_processor_has_work(core, other)) {
            sim_switch_processor(core, other);
            sim_check_stopped(core);
            break;
        }
    }
    due = sim_next_due(core);
    if (due == SIM_FOREVER && m->processors == 1 && ++core->spins > MAX_SPINS && m->inside)
        sim_raise_overdue(core);
    core->refuelled = core->slice;
    sim_point_slow(m);
}
