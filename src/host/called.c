/* SPDX-License-Identifier: MIT */
#include "host/called.h"
#include "ddi/ddi.h"
#include "dxgkhost/display.h"
#include "host/driver.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "port/record/adapter_info.h"

static struct host_adapter *find(const struct dxgk_machine *machine, unsigned adapter)
{
    LIST_FOR(node, &machine->adapters)
        if (adapter-- == 0)
            return CONTAINER(node, struct host_adapter, link);
    return NULL;
}

void host_called_begin(const struct dxgk_machine *machine, unsigned adapter)
{
    struct host_adapter *found = find(machine, adapter);

    if (!found)
        return;
    found->called.count = 0;
    port_adapter_ddi(found->port)->called = &found->called;
}

void host_called_end(const struct dxgk_machine *machine, unsigned adapter)
{
    const struct host_adapter *found = find(machine, adapter);

    if (found)
        port_adapter_ddi(found->port)->called = NULL;
}

DXGK_API const char *dxgk_client_entry_called(unsigned adapter, size_t index)
{
    const struct dxgk_machine *machine = host_run_client_machine();
    const struct host_adapter *found = machine ? find(machine, adapter) : NULL;

    return found && index < found->called.count ? found->called.name[index] : NULL;
}
