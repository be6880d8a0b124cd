/* SPDX-License-Identifier: MIT */
/* Interrupt request levels (IRQL) of the processors. */
#ifndef DXGK_SIM_IRQL_H
#define DXGK_SIM_IRQL_H

#include <stdint.h>

#include "sim/machine.h"

enum sim_irql {
    SIM_IRQL_PASSIVE = 0,
    SIM_IRQL_APC = 1,
    SIM_IRQL_DISPATCH = 2,
    SIM_IRQL_DEVICE = 5, /* lowest level of a device interrupt */
    SIM_IRQL_DEVICE_MAX = 11,
    SIM_IRQL_HIGH = 15,
};

static inline uint8_t sim_irql(void)
{
    return sim_current->irql;
}

/* Both return the previous level. Raising to a level below the current one, or lowering to one
 * above it, is the caller's bug: callers that act for a driver check first. Lowering delivers what
 * the new level allows. */
uint8_t sim_raise_irql(uint8_t irql);
uint8_t sim_lower_irql(uint8_t irql);

#endif
