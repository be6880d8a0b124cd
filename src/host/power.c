/* SPDX-License-Identifier: MIT */
/*
 * Power as a client sees it: the machine goes to sleep and wakes, and each adapter is told its
 * device power state. A kernel thread does that, as the system would; the client waits.
 */
#include <stdio.h>

#include "dxgkhost/dxgkhost.h"
#include "host/called.h"
#include "host/driver.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "host/task.h"
#include "nt/base/status_name.h"
#include "port/record/adapter_info.h"
#include "port/running/power.h"
#include "util/explain.h"
#include "util/list.h"

struct change {
    struct dxgk_machine *machine;
    DEVICE_POWER_STATE state;
    POWER_ACTION action;
    bool hybrid;
    /* of the first adapter for which it failed */
    NTSTATUS status;
    char name[80];
    bool there; /* in the new state all the same */
};

static void change_all(void *arg)
{
    struct change *change = arg;

    LIST_FOR(node, &change->machine->adapters) {
        struct host_adapter *adapter = CONTAINER(node, struct host_adapter, link);
        NTSTATUS status = change->hybrid
                              ? port_adapter_hybrid_sleep(adapter->port, change->state)
                              : port_adapter_set_power(adapter->port, change->state, change->action);

        if (NT_SUCCESS(status) || !NT_SUCCESS(change->status))
            continue;
        change->status = status;
        change->there = port_adapter_power(adapter->port) == change->state;
        (void)snprintf(change->name, sizeof(change->name), "%s", port_adapter_name(adapter->port));
    }
}

static POWER_ACTION action_of(unsigned state, enum dxgk_power_action action)
{
    if (state == 0)
        return PowerActionNone;
    switch (action) {
    case DXGK_POWER_HIBERNATE:
        return PowerActionHibernate;
    case DXGK_POWER_SHUTDOWN:
        return PowerActionShutdown;
    case DXGK_POWER_IDLE:
        return PowerActionNone;
    default:
        return PowerActionSleep;
    }
}

static const char *reason_of(NTSTATUS status)
{
    switch ((ULONG)status) {
    case (ULONG)STATUS_IO_TIMEOUT:
        return "the GPU did not come to rest, or the driver was not left, within 60 s";
    case (ULONG)STATUS_INVALID_DEVICE_STATE:
        return "the adapter does not run, or was removed";
    case (ULONG)STATUS_DEVICE_REMOVED:
        return "the adapter was lost while video memory was moved out";
    default:
        return "video memory could not be moved";
    }
}

static enum dxgk_result explain(const struct change *change, char *error, size_t error_bytes)
{
    const struct nt_status_text status = nt_status_text(change->status);
    unsigned state = (unsigned)(change->state - PowerDeviceD0);

    if (NT_SUCCESS(change->status))
        return DXGK_OK;
    if (change->there)
        util_explain(error, error_bytes,
                     "%s is in D%u, but what it had in video memory did not come back (%s)",
                     change->name, state, status.text);
    else
        util_explain(error, error_bytes, "no change of %s to D%u: %s (%s)", change->name, state,
                     reason_of(change->status), status.text);
    return DXGK_ERROR;
}

enum dxgk_result dxgk_client_set_power(unsigned state, enum dxgk_power_action action, char *error,
                                       size_t error_bytes)
{
    struct change change = {.machine = host_run_client_machine()};
    enum dxgk_result result;

    if (!change.machine || state > 3) {
        util_explain(error, error_bytes,
                     change.machine ? "no device power state: D%u" : "not a client's thread", state);
        return DXGK_ERROR;
    }
    change.state = (DEVICE_POWER_STATE)((unsigned)PowerDeviceD0 + state);
    change.action = action_of(state, action);
    change.hybrid = state != 0 && action == DXGK_POWER_HYBRID_SLEEP;
    for (unsigned i = 0; i < dxgk_machine_adapters(change.machine); i++)
        host_called_begin(change.machine, i);
    result = host_task_run("power", change_all, &change);
    for (unsigned i = 0; i < dxgk_machine_adapters(change.machine); i++)
        host_called_end(change.machine, i);
    if (result == DXGK_OK)
        return explain(&change, error, error_bytes);
    if (result == DXGK_OUT_OF_MEMORY)
        util_explain(error, error_bytes, "out of memory");
    else
        util_explain(error, error_bytes, "no change to D%u: a bug check stopped the machine", state);
    return result;
}

unsigned dxgk_client_power(void)
{
    struct dxgk_machine *machine = host_run_client_machine();
    unsigned deepest = 0;

    if (!machine)
        return 0;
    LIST_FOR(node, &machine->adapters) {
        struct host_adapter *adapter = CONTAINER(node, struct host_adapter, link);
        unsigned state = (unsigned)(port_adapter_power(adapter->port) - PowerDeviceD0);

        if (state > deepest)
            deepest = state;
    }
    return deepest;
}
