/* SPDX-License-Identifier: MIT */
/*
 * Who may call a function, and at which level: checked at its entry. Always on, since each check is
 * a comparison or two. A failure is a mistake of the host, not of a driver or a client, and ends
 * the host program.
 *
 * The life after a bug check is exempt: whoever still runs then only finds its way out.
 */
#ifndef DXGK_PORT_PORT_ASSERT_H
#define DXGK_PORT_PORT_ASSERT_H

#include <stdlib.h>

#include "ddi/ddi.h"
#include "port/record/adapter_record.h"
#include "sim/irql.h"
#include "sim/machine.h"

static inline void port_assert(bool holds)
{
    if (__builtin_expect(!holds, 0) && !(sim_current && sim_current->stopped))
        abort();
}

static inline void port_assert_passive(void)
{
    port_assert(sim_irql() == SIM_IRQL_PASSIVE);
}

/* At APC_LEVEL a driver's call is reported and carried out (THREAD-009), so it may wait there,
 * too. */
static inline void port_assert_may_wait(void)
{
    port_assert(sim_irql() <= SIM_IRQL_APC);
}

/* In the interrupt routine of the device. */
static inline void port_assert_interrupt(void)
{
    port_assert(sim_irql() >= SIM_IRQL_DEVICE);
}

static inline void port_assert_dispatch(void)
{
    port_assert(sim_irql() == SIM_IRQL_DISPATCH);
}

/* The device power of the adapter does not change meanwhile: the caller changes it. */
static inline void port_assert_power_locked(const struct port_adapter *adapter)
{
    port_assert(adapter->power.lock.owner == sim_current->thread);
}

/* Nobody else is in the driver, and the scheduler stands still. */
static inline void port_assert_alone(const struct port_adapter *adapter)
{
    port_assert(ddi_is_alone(&adapter->ddi));
}

/* On the thread that takes the adapter's power components from state to state. */
static inline void port_assert_components_thread(const struct port_adapter *adapter)
{
    port_assert(adapter->components.thread == sim_current->thread);
}

#endif
