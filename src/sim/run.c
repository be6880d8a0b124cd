/* SPDX-License-Identifier: MIT */
/* The run loop: from sim_run, the host thread runs the idle fibers of the processors, and
 * returns. */
#include "sim/run.h"

#include "sim/answer.h"
#include "sim/core.h"
#include "sim/delivery.h"
#include "sim/event_queue.h"
#include "sim/schedule.h"
#include "sim/slice.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#include <string.h>

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
        return SIM_DEADLOCK; /* not reached by fibers */
    if (done && done(arg))
        return SIM_DONE;
    if (core->watching.error) {
        WARNING("NT-199", "nothing watches for calls that do not return: no timer (%s)",
                strerror(core->watching.error));
        core->watching.error = 0;
    }
    core->done = done;
    core->done_arg = arg;
    core->until = until < SIM_END ? until : SIM_END;
    core->on_fiber = true;
    fiber_switch(&core->host, p->thread ? &p->thread->fiber : &p->idle, false);
    sim_reap(core);
    return core->outcome;
}

/* Whether sim_run must return now, and with which outcome. Nothing is in progress on this
 * processor. */
static bool run_is_over(struct sim_core *core, enum sim_outcome *outcome)
{
    const struct sim_machine *m = &core->public;

    if (core->done && core->done(core->done_arg))
        *outcome = SIM_DONE;
    else if (m->interrupted)
        *outcome = SIM_INTERRUPTED;
    else if (m->stopped && core->clients == 0)
        *outcome = SIM_STOPPED;
    else if (m->now >= core->until)
        *outcome = SIM_TIME_UP;
    else
        return false;
    return true;
}

static void start_thread(struct sim_core *core, struct sim_thread *next)
{
    struct sim_machine *m = &core->public;
    struct processor *p = current_processor(core);

    next->state = THREAD_RUNNING;
    p->thread = next;
    sim_set_thread(core, next);
    m->irql = next->irql;
    m->inside = next->inside;
    m->deadline = next->deadline;
    sim_set_frame(m, next->frame);
    refusal_current = next->refusal;
    sim_new_slice(core);
    sim_refuel(core);
    sim_switched(core);
    fiber_switch(&p->idle, &next->fiber, false);
}

/* Switch to the next processor that has something to do. False: all are idle. */
static bool let_others_run(struct sim_core *core)
{
    const struct sim_machine *m = &core->public;

    for (unsigned i = 1; i < m->processors; i++) {
        unsigned other = (m->processor + i) % m->processors;

        if (sim_processor_has_work(core, other)) {
            sim_switch_processor(core, other);
            return true;
        }
    }
    return false;
}

/* Advance the time to the next event, or to the limit of this run. False: there is neither, so
 * nothing will ever happen. */
static bool let_time_jump(struct sim_core *core)
{
    struct sim_machine *m = &core->public;
    uint64_t due = sim_next_due(core);

    if (core->events == core->guards)
        return false;
    sim_pause_before(core, due < core->until ? due : core->until);
    if (due > core->until)
        m->now = core->until;
    else if (due > m->now)
        m->now = due;
    return true;
}

/* Never inlined: its frame begins anew each time, and takes nothing from the one below. */
static _Noreturn __attribute__((noinline)) void idle(void)
{
    struct sim_machine *m = sim_current;
    struct sim_core *core = core_of(m);

    current_processor(core)->idle_running = true;
    for (;;) {
        struct sim_thread *next;
        enum sim_outcome outcome;

        m->irql = SIM_IRQL_PASSIVE;
        sim_fire_due(core);
        sim_deliver(core);
        if (run_is_over(core, &outcome)) {
            sim_to_host(core, outcome);
            continue;
        }
        next = core->report.frozen ? NULL : sim_take_ready(core);
        if (next)
            start_thread(core, next);
        else if (!let_others_run(core) && !let_time_jump(core))
            sim_to_host(core, m->stopped ? SIM_STOPPED : SIM_DEADLOCK);
    }
}

/* A stop in the middle of a service routine that ran on this stack continues here. The routine may
 * have written over this frame: nothing in it is used any more. AddressSanitizer would call
 * something of its own before idle, on what it still holds for the frames of the last time, and
 * clang 14 emits the place to continue at twice among the checks for undefined behaviour. */
__attribute__((no_sanitize("address", "undefined"))) _Noreturn void sim_idle_loop(void *arg)
{
    (void)__builtin_setjmp(current_processor(arg)->idle_jump);
    idle();
}
