/* SPDX-License-Identifier: MIT */
/* Registration of the handlers of faults. */
#include "sim/fault.h"

#include "sim/core.h"

void sim_on_fault(void (*handler)(const struct sim_fault *fault))
{
    core_of(sim_current)->on_fault = handler;
}

void sim_on_trap(bool (*handler)(struct sim_trap *trap))
{
    core_of(sim_current)->on_trap = handler;
}

void sim_on_breakpoint(bool (*handler)(uintptr_t address))
{
    core_of(sim_current)->guarding.breakpoint = handler;
}

void sim_on_guard(const struct sim_guarding *guarding)
{
    struct sim_core *core = core_of(sim_current);
    bool (*breakpoint)(uintptr_t address) = core->guarding.breakpoint;

    core->guarding = guarding ? *guarding : (struct sim_guarding){.fault = NULL};
    core->guarding.breakpoint = breakpoint;
}

void sim_on_paging(bool (*page)(uintptr_t address), void (*raised)(void))
{
    core_of(sim_current)->on_page = page;
    core_of(sim_current)->on_raised = raised;
}

void sim_on_process(void (*changed)(void), bool (*denies)(const void *address))
{
    core_of(sim_current)->on_process = changed;
    core_of(sim_current)->denies = denies;
}
