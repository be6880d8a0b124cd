/* SPDX-License-Identifier: MIT */
#include "host/losses.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "sim/machine.h"

#include <stdlib.h>
#include <string.h>

void host_loss(void *context, const char *line)
{
    struct dxgk_machine *machine = context;
    struct host_losses *all = &machine->losses;
    size_t place = (size_t)(all->count++ % HOST_LOSSES);

    free(all->last[place].line);
    all->last[place].line = strdup(line);
    all->last[place].virtual_ns = sim_now();
    machine->hooks++;
    if (machine->config.loss)
        machine->config.loss(machine->config.log_context, line);
    else if (machine->config.log)
        machine->config.log(machine->config.log_context, line);
    machine->hooks--;
}

void host_losses_free(struct host_losses *losses)
{
    for (size_t i = 0; i < HOST_LOSSES; i++)
        free(losses->last[i].line);
}

size_t dxgk_machine_losses(const struct dxgk_machine *machine)
{
    uint64_t count = host_may_look(machine) ? machine->losses.count : 0;

    return count < HOST_LOSSES ? (size_t)count : HOST_LOSSES;
}

bool dxgk_machine_loss(const struct dxgk_machine *machine, size_t back, struct dxgk_loss *loss)
{
    const struct host_losses *all;
    size_t place;

    if (!loss || back >= dxgk_machine_losses(machine))
        return false;
    all = &machine->losses;
    place = (size_t)((all->count - 1 - back) % HOST_LOSSES);
    loss->line = all->last[place].line ? all->last[place].line : "memory was short";
    loss->virtual_ns = all->last[place].virtual_ns;
    return true;
}
