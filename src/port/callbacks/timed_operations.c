/* SPDX-License-Identifier: MIT */
/* Timed operations (LIFE-117 to LIFE-119): the host keeps what it wrote into each, and so notices
 * what a driver changed. */
#include "port/callbacks/timed_operations.h"
#include "ddi/ddi.h"
#include "port/callbacks/service_record.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/machine.h"
#include "util/alloc.h"

struct timed_operation {
    struct list link;
    DXGK_TIMED_OPERATION *address;
    DXGK_TIMED_OPERATION written;
};

static struct timed_operation *find_operation(const DXGK_TIMED_OPERATION *address,
                                              struct port_adapter **owner)
{
    struct port *port = port_current();

    if (!port)
        return NULL;
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        LIST_FOR(entry, &adapter->services.timed_operations) {
            struct timed_operation *operation = CONTAINER(entry, struct timed_operation, link);

            if (operation->address == address) {
                *owner = adapter;
                return operation;
            }
        }
    }
    return NULL;
}

/* The adapter for which an operation is started: its driver holds the interface, and its DDI is in
 * progress, if any DDI is. */
static struct port_adapter *starting_adapter(void)
{
    struct port *port = port_current();
    struct ddi_adapter *current = ddi_current_adapter();

    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        LIST_FOR(entry, &adapter->services.interfaces)
            if (CONTAINER(entry, struct port_service, link)->type == DxgkServicesTimedOperation &&
                (!current || current == &adapter->ddi))
                return adapter;
    }
    return NULL;
}

/* The sign has no meaning: an interval is always relative (LIFE-118). */
static LONGLONG magnitude(LONGLONG interval)
{
    if (interval == INT64_MIN)
        return INT64_MAX;
    return interval < 0 ? -interval : interval;
}

static NTSTATUS NTAPI timed_operation_start(DXGK_TIMED_OPERATION *op, const LARGE_INTEGER *timeout,
                                            BOOLEAN os_handled)
{
    struct port_adapter *adapter;
    struct timed_operation *operation;
    DXGK_TIMED_OPERATION copy;
    LARGE_INTEGER limit;

    if (!PORT_TAKE(DXGK_TIMED_OPERATION, &copy, op) || !PORT_TAKE(LARGE_INTEGER, &limit, timeout) ||
        copy.Size != sizeof(copy))
        return STATUS_INVALID_PARAMETER;
    operation = find_operation(op, &adapter);
    if (!operation) {
        adapter = starting_adapter();
        if (!adapter)
            return STATUS_INVALID_DEVICE_STATE; /* the interface was returned or revoked */
        operation = util_zalloc(1, sizeof(*operation));
        if (!operation)
            return STATUS_NO_MEMORY;
        operation->address = op;
        list_push_back(&adapter->services.timed_operations, &operation->link);
    }
    copy.OwnerTag = (ULONG_PTR)adapter->handle;
    copy.OsHandled = os_handled;
    copy.TimeoutTriggered = FALSE;
    copy.Timeout.QuadPart = magnitude(limit.QuadPart); /* 100 ns units */
    copy.StartTick.QuadPart = (LONGLONG)(sim_now() / 100);
    operation->written = copy;
    return PORT_GIVE(DXGK_TIMED_OPERATION, op, &copy) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

/* The operation as the host left it; changes by the driver are reported and undone. NULL: never
 * started. */
static struct timed_operation *check_operation(DXGK_TIMED_OPERATION *op)
{
    struct port_adapter *adapter;
    struct timed_operation *operation = find_operation(op, &adapter);
    DXGK_TIMED_OPERATION copy;

    if (!operation || !PORT_TAKE(DXGK_TIMED_OPERATION, &copy, op))
        return NULL;
    if (copy.OwnerTag != operation->written.OwnerTag ||
        copy.OsHandled != operation->written.OsHandled ||
        copy.Timeout.QuadPart != operation->written.Timeout.QuadPart ||
        copy.StartTick.QuadPart != operation->written.StartTick.QuadPart) {
        VIOLATION(
            "LIFE-119",
            "the driver changed OwnerTag, OsHandled, Timeout or StartTick of a timed operation");
        (void)PORT_GIVE(DXGK_TIMED_OPERATION, op, &operation->written);
    }
    return operation;
}

/* How long to wait, in 100 ns units: as wanted, but not beyond the end of the operation
 * (LIFE-118). */
static LONGLONG clip(const struct timed_operation *operation, LONGLONG wanted, bool *clipped)
{
    LONGLONG gone = (LONGLONG)(sim_now() / 100) - operation->written.StartTick.QuadPart;
    LONGLONG left = operation->written.Timeout.QuadPart > gone
                        ? operation->written.Timeout.QuadPart - gone
                        : 0;

    wanted = magnitude(wanted);
    *clipped = wanted >= left;
    return *clipped ? left : wanted;
}

static void trigger(struct timed_operation *operation)
{
    operation->written.TimeoutTriggered = TRUE;
    (void)PORT_GIVE(DXGK_TIMED_OPERATION, operation->address, &operation->written);
}

static NTSTATUS NTAPI timed_operation_delay(DXGK_TIMED_OPERATION *op, KPROCESSOR_MODE mode,
                                            BOOLEAN alertable, const LARGE_INTEGER *interval)
{
    struct timed_operation *operation = check_operation(op);
    LARGE_INTEGER wait;
    NTSTATUS status;
    bool clipped;

    if (!operation || !PORT_TAKE(LARGE_INTEGER, &wait, interval))
        return STATUS_INVALID_PARAMETER;
    wait.QuadPart = -clip(operation, wait.QuadPart, &clipped);
    status = KeDelayExecutionThread(mode, alertable, &wait);
    if (status != STATUS_SUCCESS || !clipped)
        return status;
    trigger(operation);
    return STATUS_TIMEOUT;
}

static NTSTATUS NTAPI timed_operation_wait(DXGK_TIMED_OPERATION *op, PVOID object,
                                           KWAIT_REASON reason, KPROCESSOR_MODE mode,
                                           BOOLEAN alertable, const LARGE_INTEGER *timeout)
{
    struct timed_operation *operation = check_operation(op);
    LARGE_INTEGER wait = {.QuadPart = INT64_MAX};
    NTSTATUS status;
    bool clipped;

    if (!operation || (timeout && !PORT_TAKE(LARGE_INTEGER, &wait, timeout)))
        return STATUS_INVALID_PARAMETER;
    wait.QuadPart = -clip(operation, wait.QuadPart, &clipped);
    status = KeWaitForSingleObject(object, reason, mode, alertable, &wait);
    if (status == STATUS_TIMEOUT && clipped)
        trigger(operation);
    return status;
}

void port_timed_operations_fill(DXGK_TIMED_OPERATION_INTERFACE *interface)
{
    interface->TimedOperationStart = timed_operation_start;
    interface->TimedOperationDelay = timed_operation_delay;
    interface->TimedOperationWaitForSingleObject = timed_operation_wait;
}

void port_timed_operations_forget(struct port_adapter *adapter)
{
    struct list *node;

    while ((node = list_pop_front(&adapter->services.timed_operations)) != NULL)
        util_free(CONTAINER(node, struct timed_operation, link));
}
