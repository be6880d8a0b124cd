/* SPDX-License-Identifier: MIT */
/* Slices: how long a thread runs before the seed decides who runs next, and the fuel that counts
 * its points. */
#ifndef DXGK_SIM_SLICE_H
#define DXGK_SIM_SLICE_H

#include <stdint.h>

#include "sim/core.h"
#include "util/debugger.h"
#include "util/rng.h"

/* Points in the longest slice of this machine. */
uint32_t sim_longest_slice(struct sim_core *core);
static inline void sim_new_slice(struct sim_core *core)
{
    core->slice = 1 + rng_below(&core->public.rng, core->longest);
}
/* Set the fuel so that it lasts to the end of the slice or to the next event, whichever is
 * nearer. */
void sim_refuel(struct sim_core *core);
/* Tell a debugger that waits for a time before `next`, up to which nothing looks again. */
static inline void sim_pause_before(const struct sim_core *core, uint64_t next)
{
    if (__builtin_expect(next > dxgk_debug_until, 0))
        dxgk_debug_time(core->public.now);
}

#endif
