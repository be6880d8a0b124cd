/* SPDX-License-Identifier: MIT */
/* Assertion that the host may access the kernel's state from outside (see sim/sim_assert.h). */
#ifndef DXGK_NT_ASSERT_H
#define DXGK_NT_ASSERT_H

#include "sim/dpc.h"
#include "sim/interrupt.h"
#include "sim/sim_assert.h"

/* The machine is not running, and the host inspects it. */
#define nt_assert_between_runs() \
    util_assert(!sim_current->thread && !sim_in_dpc() && !sim_in_interrupt())

#endif
