/* SPDX-License-Identifier: MIT */
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "dxgkhost/dxgkhost.h"

static struct dxgk_machine *volatile running;
static volatile sig_atomic_t interrupted;

void cli_interrupt_target(struct dxgk_machine *machine)
{
    running = machine;
}

void cli_interrupt(void)
{
    struct dxgk_machine *machine = running;

    interrupted = 1;
    if (machine)
        dxgk_machine_interrupt(machine);
}

bool cli_interrupted(void)
{
    return interrupted;
}
