/* SPDX-License-Identifier: MIT */
/* Device interfaces, as clients of Windows find adapters. */
#include "dxgkhost/dxgkhost.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "port/record/adapter_info.h"
#include "port/record/machine.h"
#include "sim/machine.h"

#define DISPLAY_DEVICE_ARRIVAL "{1ca05180-a699-450a-9a0c-de4fbe3ddd89}"

bool dxgk_machine_device_interface(struct dxgk_machine *machine, unsigned adapter, char *path,
                                   size_t path_bytes)
{
    struct port_adapter *found;
    bool entered;

    if (path && path_bytes > 0)
        path[0] = '\0';
    if (!path || !host_may_look(machine) || machine->sim->stopped)
        return false;
    entered = host_enter(machine);
    found = port_adapter_first(port_current());
    for (; found && adapter > 0; adapter--)
        found = port_adapter_next(found);
    if (found)
        port_adapter_interface(found, DISPLAY_DEVICE_ARRIVAL, path, path_bytes);
    host_leave(entered);
    return found != NULL;
}
