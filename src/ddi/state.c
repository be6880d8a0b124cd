/* SPDX-License-Identifier: MIT */
/*
 * The state of a machine, and the tracks of its trace: one for each thread, where calls nest, and
 * the processor's track for code that interrupts threads.
 */
#include "ddi/state.h"

#include "sim/machine.h"
#include "sim/slot.h"
#include "sim/thread.h"

struct sim_slot ddi_slot;
SIM_SLOT_CLAIM(ddi_slot)

trace_track ddi_track(enum ddi_level level)
{
    struct ddi_state *state = ddi_state();
    const struct sim_thread *thread = sim_current->thread;
    uintptr_t track;

    if (!trace_current || !state || !thread || level == LEVEL_NONE)
        return TRACE_PROCESSOR(sim_current->processor);
    track = (uintptr_t)hash_get(&state->tracks, sim_thread_id(thread));
    if (!track) {
        track = trace_track_create("driver calls", sim_thread_name(thread));
        (void)hash_put(&state->tracks, sim_thread_id(thread), (void *)track);
    }
    return (trace_track)track;
}

bool ddi_symbolize(uintptr_t pc, char *text, size_t bytes)
{
    struct ddi_state *state = ddi_state();

    return state && state->hooks.symbolize && state->hooks.symbolize(pc, text, bytes);
}
