/* SPDX-License-Identifier: MIT */
/* Slices of a length drawn from the seed, cut so that no event is missed. */
#include "sim/slice.h"

#include "sim/core.h"
#include "sim/event_queue.h"
#include "sim/point.h"
#include "util/rng.h"

#define SLICE_POINTS 192u /* a slice is 1 .. this many points */

/* Under stress each run has its own maximum: long slices hide some races, and slices so short that
 * all threads advance in step hide others. */
uint32_t sim_longest_slice(struct sim_core *core)
{
    static const uint32_t grain[] = {2, 6, 16, 48, 128};

    return core->public.stress ? grain[rng_below(&core->public.rng, 5)] : SLICE_POINTS;
}

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
    sim_pause_before(core, m->now + (uint64_t)m->fuel * SIM_POINT_NS);
}
