/* SPDX-License-Identifier: MIT */
/* Creation and destruction of the room's state of a machine. */
#include "x64/x64.h"

#include "sim/fault.h"
#include "sim/slot.h"
#include "util/alloc.h"
#include "x64/traps/block.h"
#include "x64/traps/locked.h"
#include "x64/traps/preempt.h"
#include "x64/traps/shared_data.h"
#include "x64/traps/state.h"
#include "x64/traps/trap.h"

bool x64_is_created(void)
{
    return sim_slot_get(&x64_slot) != NULL;
}

bool x64_create(void)
{
    struct x64_machine *x64 = util_zalloc(1, sizeof(*x64));

    if (!x64)
        return false;
    x64->stubs.file = -1;
    sim_slot_set(&x64_slot, x64);
    x64->plan = util_zalloc(X64_PLANS, sizeof(*x64->plan));
    if (x64->plan && x64_stubs_init(&x64->stubs) && x64_shared_data_init(x64) &&
        x64_blocks_init(x64)) {
        x64_trap_install();
        return true;
    }
    x64_destroy();
    return false;
}

void x64_destroy(void)
{
    struct x64_machine *x64 = x64_state();

    if (!x64)
        return;
    sim_on_trap(NULL);
    x64_blocks_finish(x64);
    x64_shared_data_finish(x64);
    x64_stubs_finish(&x64->stubs);
    x64_locked_finish(x64);
    x64_preempt_finish(x64);
    util_free(x64->plan);
    util_free(x64);
    sim_slot_set(&x64_slot, NULL);
}

uint64_t x64_traps(void)
{
    return x64_state()->traps;
}
