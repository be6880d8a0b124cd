/* SPDX-License-Identifier: MIT */
/* When the host may use the kernel's state from outside, checked at entry (sim/assert.h). */
#ifndef DXGK_NT_ASSERT_H
#define DXGK_NT_ASSERT_H

#include "sim/assert.h"
#include "sim/dpc.h"
#include "sim/interrupt.h"

/* The machine stands still, and the host looks at it. */
#define nt_assert_between_runs() \
    util_assert(!sim_current->thread && !sim_in_dpc() && !sim_in_interrupt())

#endif
