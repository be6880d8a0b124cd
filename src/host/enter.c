/* SPDX-License-Identifier: MIT */
/* Inside and outside of a machine. */
#include "host/enter.h"
#include "host/machine_record.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/slot.h"
#include "trace/trace.h"
#include "verify/refusal.h"
#include "verify/verify.h"

static struct sim_slot host_slot;
SIM_SLOT_CLAIM(host_slot)

struct dxgk_machine *host_current(void)
{
    return sim_slot_get(&host_slot);
}

void host_enter_claim(struct dxgk_machine *machine)
{
    sim_slot_set(&host_slot, machine);
}

bool host_enter(struct dxgk_machine *machine)
{
    if (sim_current == machine->sim)
        return false;
    sim_enter(machine->sim);
    verify_log_install(machine->log);
    refusal_sink = &machine->refusals.sink;
    trace_sink_install(machine->trace, &machine->sim->now);
    return true;
}

void host_leave(bool entered)
{
    if (!entered)
        return;
    trace_sink_install(NULL, NULL);
    verify_log_install(NULL);
    refusal_sink = NULL;
    sim_leave();
}
