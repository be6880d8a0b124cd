/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbSignalEvent: a driver wakes a client through an event object of its adapter (WDDM 3.0) or
 * through an event handle of the client's process (LIFE-129, LIFE-130). The call names no adapter,
 * so the handles of event objects are unique in the machine.
 */
#include <string.h>

#include "port/callbacks/cpu_event.h"
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "nt/ke/level.h"
#include "nt/ob/handle.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/process.h"

struct port_cpu_event {
    struct port *port;
    struct port_adapter *adapter;
    void *event; /* KEVENT */
    HANDLE driver_handle;
    HANDLE handle; /* hDxgCpuEvent; NULL: removed */
};

static void forget(struct port_cpu_event *event)
{
    (void)ddi_handle_remove(&event->port->handles, event->handle, DDI_HANDLE_CPU_EVENT);
    event->handle = NULL;
}

NTSTATUS port_cpu_event_create(struct port_adapter *adapter, HANDLE driver_device, void *object,
                               struct port_cpu_event **out)
{
    struct port_cpu_event *event;
    DXGKARG_CREATECPUEVENT args;
    NTSTATUS status;

    /* the scheduler has asked for DxgkDdiCreateCpuEvent */
    if (!ddi_has(&adapter->ddi, DxgkDdiDestroyCpuEvent))
        return refuse(STATUS_NOT_SUPPORTED, NULL,
                      "SignalByKmd: the driver has no DxgkDdiDestroyCpuEvent");
    event = util_zalloc(1, sizeof(*event));
    if (!event)
        return STATUS_NO_MEMORY;
    event->port = adapter->port;
    event->adapter = adapter;
    event->event = object;
    event->handle = ddi_handle_create(&event->port->handles, DDI_HANDLE_CPU_EVENT, event);
    if (!event->handle) {
        util_free(event);
        return STATUS_NO_MEMORY;
    }
    memset(&args, 0, sizeof(args));
    args.hKmdDevice = driver_device;
    args.hDxgCpuEvent = event->handle;
    status = ddi_create_cpu_event(&adapter->ddi, &args);
    if (!NT_SUCCESS(status)) {
        forget(event);
        util_free(event);
        return status;
    }
    event->driver_handle = args.hKmdCpuEvent;
    *out = event;
    return STATUS_SUCCESS;
}

void port_cpu_event_destroy(struct port_cpu_event *event)
{
    if (!event)
        return;
    forget(event); /* from now on it cannot be signaled */
    (void)ddi_destroy_cpu_event(&event->adapter->ddi, event->driver_handle);
    util_free(event);
}

/* ---- the callback ---- */

static NTSTATUS signal_object(const struct port *port, const DXGKARGCB_SIGNALEVENT *args)
{
    const struct port_cpu_event *event = ddi_handle_lookup(&port->handles, args->hEvent,
                                                           DDI_HANDLE_CPU_EVENT);

    if (args->hDxgkProcess) {
        VIOLATION("LIFE-129", "CpuEventObject is set, and hDxgkProcess is %p, not 0",
                  args->hDxgkProcess);
        return STATUS_INVALID_PARAMETER;
    }
    if (!event) {
        VIOLATION("LIFE-130", "hEvent is %s, not that of a CPU event that is there",
                  ddi_handle_describe(&port->handles, args->hEvent).text);
        return STATUS_INVALID_PARAMETER;
    }
    KeSetEvent(event->event, IO_NO_INCREMENT, FALSE);
    return STATUS_SUCCESS;
}

static NTSTATUS signal_handle(const struct port *port, const DXGKARGCB_SIGNALEVENT *args)
{
    const struct vidmm_process *process = NULL;
    void *event;

    LIST_FOR(node, &port->adapter_list)
        if (!process)
            process = ddi_handle_lookup(&CONTAINER(node, struct port_adapter, link)->ddi.handles,
                                        args->hDxgkProcess, DDI_HANDLE_PROCESS);
    if (!process) {
        VIOLATION("LIFE-129", "hDxgkProcess is %s, not that of a process",
                  ddi_handle_describe(&port->handles, args->hDxgkProcess).text);
        return STATUS_INVALID_PARAMETER;
    }
    event = vidmm_process_nt(process) ? nt_handle_event(vidmm_process_nt(process), args->hEvent)
                                      : NULL;
    if (!event) { /* the client may have closed it */
        NOTE("LIFE-129", "hEvent %p is no event handle of the process", args->hEvent);
        return STATUS_INVALID_PARAMETER;
    }
    KeSetEvent(event, IO_NO_INCREMENT, FALSE);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI signal_event(IN_CONST_PDXGKARGCB_SIGNALEVENT pArgs)
{
    struct port *port = port_current();
    DXGKARGCB_SIGNALEVENT args;
    struct ddi_frame *frame;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (!port || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    frame = ddi_callback_enter(ddi_current_adapter(), "DxgkCbSignalEvent", PORT_CALLER);
    if (sim_irql() > SIM_IRQL_DISPATCH) {
        VIOLATION("THREAD-050", "DxgkCbSignalEvent was called at %s", nt_irql_name(sim_irql()));
        status = STATUS_INVALID_DEVICE_REQUEST;
    } else if (PORT_TAKE(DXGKARGCB_SIGNALEVENT, &args, pArgs) && !args.Reserved) {
        status = args.CpuEventObject ? signal_object(port, &args) : signal_handle(port, &args);
    }
    ddi_callback_leave(frame);
    return status;
}

void port_cpu_event_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbSignalEvent = signal_event;
}
