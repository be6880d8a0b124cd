/* SPDX-License-Identifier: MIT */
/*
 * What this room, or whoever calls it, must keep to, in code: mistakes of the host, never of a
 * driver or a client, which are reported by rule. Always on: each is a comparison or two. Levels
 * are not looked at after a bug check, when whoever still runs only finds its way out.
 */
#ifndef DXGK_NT_ASSERT_H
#define DXGK_NT_ASSERT_H

#include <stdint.h>

#include "sim/dpc.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"

#define nt_assert(condition)  \
    do {                      \
        if (!(condition))     \
            __builtin_trap(); \
    } while (0)

static inline void nt_assert_irql(uint8_t highest)
{
    nt_assert(sim_current->stopped || sim_irql() <= highest);
}

/* The machine stands still, and the host looks at it. */
static inline void nt_assert_between_runs(void)
{
    nt_assert(!sim_current->thread && !sim_in_dpc() && !sim_in_interrupt());
}

#endif
