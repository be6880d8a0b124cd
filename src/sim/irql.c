/* SPDX-License-Identifier: MIT */
/* Changes of the IRQL; lowering it delivers what was pending. */
#include "sim/irql.h"

#include "race/race.h"
#include "sim/core.h"
#include "sim/delivery.h"

uint8_t sim_raise_irql(uint8_t irql)
{
    uint8_t before = sim_current->irql;

    sim_current->irql = irql;
    if (sim_current->races)
        race_raise(sim_current->races, sim_current->processor, before, irql);
    if (before < SIM_IRQL_DISPATCH)
        sim_level_raised(core_of(sim_current));
    return before;
}

uint8_t sim_lower_irql(uint8_t irql)
{
    struct sim_core *core = core_of(sim_current);
    struct processor *p = current_processor(core);
    uint8_t before = sim_current->irql;

    sim_current->irql = irql;
    if (sim_current->races)
        race_lower(sim_current->races, sim_current->processor, before, irql);
    if (!list_empty(&p->interrupts) || (irql < SIM_IRQL_DISPATCH && !list_empty(&p->dpcs)))
        sim_deliver(core);
    return before;
}
