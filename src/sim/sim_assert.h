/* SPDX-License-Identifier: MIT */
/*
 * Who may call a function, and at which IRQL, checked at its entry. After a bug check nothing is
 * checked: a thread that still runs then only leaves the functions it is in.
 */
#ifndef DXGK_SIM_ASSERT_H
#define DXGK_SIM_ASSERT_H

#include "sim/irql.h"
#include "sim/machine.h"
#include "util/assert.h"

#define sim_assert(condition)                                                    \
    (__builtin_expect(!!(condition), 1) || (sim_current && sim_current->stopped) \
         ? (void)0                                                               \
         : util_assert_failed(__FILE_NAME__, __LINE__, #condition))

#define sim_assert_irql(highest) sim_assert(sim_irql() <= (highest))
#define sim_assert_passive()     sim_assert(sim_irql() == SIM_IRQL_PASSIVE)
/* In the interrupt routine of a device, or in what excludes it. */
#define sim_assert_interrupt() sim_assert(sim_irql() >= SIM_IRQL_DEVICE)
/* `lock` is a struct sim_mutex *. */
#define sim_assert_owner(lock) sim_assert((lock)->owner == sim_current->thread)

#endif
