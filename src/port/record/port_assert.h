/* SPDX-License-Identifier: MIT */
/* Who may call a function of the port, and at which level, checked at its entry (sim/assert.h). */
#ifndef DXGK_PORT_PORT_ASSERT_H
#define DXGK_PORT_PORT_ASSERT_H

#include "ddi/ddi.h"
#include "port/record/adapter_record.h"
#include "sim/assert.h"

/* A driver's call at APC_LEVEL is reported and carried out (THREAD-009), so it may wait there. */
#define port_assert_may_wait() sim_assert_irql(SIM_IRQL_APC)

#define port_assert_dispatch() sim_assert(sim_irql() == SIM_IRQL_DISPATCH)

/* The device power of the adapter does not change meanwhile: the caller changes it. */
#define port_assert_power_locked(adapter) sim_assert_owner(&(adapter)->power.lock)

/* Nobody else is in the driver, and the scheduler stands still. */
#define port_assert_alone(adapter) sim_assert(ddi_is_alone(&(adapter)->ddi))

/* On the thread that takes the adapter's power components from state to state. */
#define port_assert_components_thread(adapter) \
    sim_assert((adapter)->components.thread == sim_current->thread)

#endif
