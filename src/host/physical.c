/* SPDX-License-Identifier: MIT */
/* Simulated RAM as a debugger on the machine would read it. */
#include <string.h>

#include "host/host.h"

bool dxgk_machine_read_physical(const struct dxgk_machine *machine, uint64_t address, void *to,
                                size_t bytes)
{
    uint64_t top = ram_bytes(machine->ram);

    if (address >= top || bytes > top - address)
        return false;
    memcpy(to, ram_direct(machine->ram, (struct phys_addr){address}), bytes);
    return true;
}
