/* SPDX-License-Identifier: MIT */
/* What happens at a point when the fuel is used up, and time that passes without points. */
#include "sim/point.h"

#include "sim/core.h"
#include "sim/delivery.h"
#include "sim/event_queue.h"
#include "sim/report.h"
#include "sim/run.h"
#include "sim/schedule.h"
#include "sim/slice.h"
#include "sim/throw.h"
#include "util/list.h"
#include "util/rng.h"

#define MAX_SPINS 50000000u /* spins without any event or other work that count as a hang */
#define TURN_NS   1000u     /* of a stall, after which others get a turn */
/* Of accesses in a machine under stress, one of so many is held up, for at most this long. */
#define HOLD_ONE_OF     16u
#define LONGEST_HOLD_NS 2000u

/* The seed decides who runs next: another processor, or another thread of this one. `between`: of
 * other processors only. */
static void end_of_slice(struct sim_core *core, bool between)
{
    struct sim_machine *m = &core->public;

    sim_new_slice(core);
    m->points++;
    if (core->report.frozen) {
        if (m->processor != core->report.frozen - 1)
            sim_switch_processor(core, core->report.frozen - 1u);
        return;
    }
    if (m->processors > 1) {
        unsigned other = rng_below(&m->rng, m->processors);

        if (other != m->processor && sim_processor_has_work(core, other)) {
            sim_refuel(core);
            sim_switch_processor(core, other);
            return;
        }
    }
    if (!between && m->irql < SIM_IRQL_DISPATCH && m->thread && !list_empty(&core->ready) &&
        rng_below(&m->rng, 2)) {
        sim_make_ready(core, m->thread);
        sim_leave_thread(core, false);
    }
}

static void slow(struct sim_machine *m, bool between)
{
    struct sim_core *core = core_of(m);
    uint32_t used = core->refuelled;

    if (!core->on_fiber) { /* the embedding program itself, between runs */
        sim_refuel(core);
        return;
    }
    core->slice = core->slice > used ? core->slice - used : 0;
    sim_fire_due(core);
    if (!between)
        sim_deliver(core);
    if (core->slice == 0)
        end_of_slice(core, between);
    sim_check_stopped(core);
    if (m->inside && (m->now > m->deadline || m->deadline == core->watching.laboured))
        sim_raise_overdue(core);
    if (m->interrupted)
        sim_to_host(core, SIM_INTERRUPTED);
    else if (m->now >= core->until)
        sim_to_host(core, SIM_TIME_UP);
    sim_refuel(core);
}

void sim_point_slow(struct sim_machine *m)
{
    slow(m, false);
}

/* Whether nothing but this context can run before the next event is due. */
static bool is_alone(const struct sim_core *core)
{
    const struct sim_machine *m = &core->public;
    const struct processor *here = &core->processor[m->processor];

    if (!list_empty(&here->interrupts) || !list_empty(&here->dpcs))
        return false;
    for (unsigned i = 0; i < m->processors; i++)
        if (i != m->processor && sim_processor_has_work(core, i))
            return false;
    return core->ready_count == 0;
}

/* How far a stall that lasts until `end` may go on in one step: to the next event, to where the
 * call is overdue or the run ends, and while there is somebody else, for a microsecond. */
static uint64_t stall_step(const struct sim_core *core, uint64_t end)
{
    const struct sim_machine *m = &core->public;
    uint64_t due = sim_next_due(core);
    uint64_t step = due < end && due > m->now ? due : end;

    if (step - m->now > TURN_NS && !is_alone(core))
        return m->now + TURN_NS;
    if (m->inside && m->deadline >= m->now && m->deadline < step)
        step = m->deadline + 1;
    return core->until > m->now && core->until < step ? core->until : step;
}

static void stall(uint64_t ns, bool between)
{
    struct sim_machine *m = sim_current;
    struct sim_core *core = core_of(m);
    uint64_t end = m->now + ns;

    while (m->now < end) {
        uint64_t step = stall_step(core, end);

        sim_pause_before(core, step);
        m->now = step;
        core->refuelled = core->slice; /* this slice is over */
        slow(m, between);
    }
}

void sim_stall(uint64_t ns)
{
    stall(ns, false);
}

static bool is_under_stress(const struct sim_machine *m)
{
    return m && m->stress && m->inside;
}

static uint64_t time_of_access(struct sim_machine *m)
{
    return rng_below(&m->rng, HOLD_ONE_OF) ? SIM_POINT_NS : 1 + rng_below(&m->rng, LONGEST_HOLD_NS);
}

void sim_stress_access(void)
{
    struct sim_machine *m = sim_current;
    uint64_t ns = is_under_stress(m) ? time_of_access(m) : 0;

    if (ns > SIM_POINT_NS)
        stall(ns, false);
    else if (ns)
        sim_point();
}

void sim_stress_between(void)
{
    struct sim_machine *m = sim_current;

    if (!is_under_stress(m) || m->processors == 1)
        return;
    stall(time_of_access(m), true);
    core_of(m)->refuelled = m->fuel = 1; /* what is due here comes at the next point */
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
