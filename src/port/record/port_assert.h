/* SPDX-License-Identifier: MIT */
/* Assertions at the entry of the port's functions: who may call them, and at which level
 * (sim/sim_assert.h). */
#ifndef DXGK_PORT_PORT_ASSERT_H
#define DXGK_PORT_PORT_ASSERT_H

#include "ddi/ddi.h"
#include "port/record/adapter_record.h"
#include "sim/sim_assert.h"

/* A driver's call at APC_LEVEL is reported and then carried out (THREAD-009), so waiting is allowed
 * there. */
#define port_assert_may_wait() sim_assert_irql(SIM_IRQL_APC)

#define port_assert_dispatch() sim_assert(sim_irql() == SIM_IRQL_DISPATCH)

/* The caller holds the lock under which the adapter's device power changes. */
#define port_assert_power_locked(adapter) sim_assert_owner(&(adapter)->power.lock)

/* No other thread is in the driver, and the scheduler is suspended. */
#define port_assert_alone(adapter) sim_assert(ddi_is_alone(&(adapter)->ddi))

/* The caller is the thread that makes the transitions of power components. */
#define port_assert_components_thread(adapter) \
    sim_assert((adapter)->components.thread == sim_current->thread)

#endif
