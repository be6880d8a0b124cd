/* SPDX-License-Identifier: MIT */
/* The state of unwinding of one machine, created when it is first needed. */
#include "x64/unwind/unwind_state.h"

#include <stddef.h>

#include "sim/slot.h"
#include "util/alloc.h"

static struct sim_slot unwind_slot;
SIM_SLOT_CLAIM(unwind_slot)

struct x64_unwind_state *x64_unwind_state(void)
{
    return sim_slot_get(&unwind_slot);
}

struct x64_unwind_state *x64_unwind_state_need(void)
{
    struct x64_unwind_state *state = x64_unwind_state();

    if (state)
        return state;
    state = util_zalloc(1, sizeof(*state));
    if (!state)
        return NULL;
    list_init(&state->tables);
    sim_slot_set(&unwind_slot, state);
    return state;
}

void x64_unwind_state_tidy(void)
{
    struct x64_unwind_state *state = x64_unwind_state();

    if (!state || !list_empty(&state->tables) || state->on_unwind)
        return;
    util_free(state);
    sim_slot_set(&unwind_slot, NULL);
}
