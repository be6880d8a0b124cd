/* SPDX-License-Identifier: MIT */
/* Calls of the handlers that follow switches. */
#include "sim/switch.h"

#include "sim/core.h"

void sim_on_switch(void (*handler)(enum sim_switch what))
{
    core_of(sim_current)->on_switch = handler;
}

void sim_notify_switch(void)
{
    sim_switched(core_of(sim_current));
}
