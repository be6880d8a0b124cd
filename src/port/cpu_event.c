/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbSignalEvent: a driver wakes a client, by an event object of its adapter (WDDM 3.0) or by an event handle of the client's
 * process (LIFE-129, LIFE-130). The call names no adapter, so the handles of event objects are the machine's.
 */
#include <string.h>

#include "port/port_private.h"

#define CPU_EVENT 1u /* the type of handle */

struct port_cpu_event {
    struct port *port;
    struct port_adapter *adapter;
    void *event; /* KEVENT */
    HANDLE driver_handle;
    uint32_t handle; /* hDxgCpuEvent; 0: none any more */
};

static void forget(struct port_cpu_event *event)
{
    if (event->handle)
        handle_remove(&event->port->cpu_events, event->handle, CPU_EVENT);
    event->handle = 0;
}

NTSTATUS port_cpu_event_create(struct port_adapter *adapter, HANDLE driver_device, void *object,
                               struct port_cpu_event **out)
{
    struct port_cpu_event *event;
    DXGKARG_CREATECPUEVENT args;
    NTSTATUS status;

    if (!ddi_has(&adapter->ddi, DxgkDdiCreateCpuEvent) ||
        !ddi_has(&adapter->ddi, DxgkDdiDestroyCpuEvent))
        return STATUS_NOT_SUPPORTED;
    event = util_zalloc(1, sizeof(*event));
    if (!event)
        return STATUS_NO_MEMORY;
    event->port = adapter->port;
    event->adapter = adapter;
    event->event = object;
    event->handle = handle_create(&event->port->cpu_events, CPU_EVENT, event);
    if (!event->handle) {
        util_free(event);
        return STATUS_NO_MEMORY;
    }
    memset(&args, 0, sizeof(args));
    args.hKmdDevice = driver_device;
    args.hDxgCpuEvent = (HANDLE)(uintptr_t)event->handle;
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
    forget(event); /* from the call on it cannot be signalled */
    (void)ddi_destroy_cpu_event(&event->adapter->ddi, event->driver_handle);
    util_free(event);
}

/* ---- the callback ---- */

static NTSTATUS signal_object(const struct port *port, const DXGKARGCB_SIGNALEVENT *args)
{
    uintptr_t value = (uintptr_t)args->hEvent;
    const struct port_cpu_event *event = NULL;

    if (args->hDxgkProcess)
        return STATUS_INVALID_PARAMETER;
    if (value <= UINT32_MAX)
        event = handle_lookup(&port->cpu_events, (uint32_t)value, CPU_EVENT);
    if (!event) {
        VIOLATION("LIFE-130", "the driver signalled a CPU event that is not there, or not any more");
        return STATUS_INVALID_PARAMETER;
    }
    KeSetEvent(event->event, IO_NO_INCREMENT, FALSE);
    return STATUS_SUCCESS;
}

static NTSTATUS signal_handle(const struct port *port, const DXGKARGCB_SIGNALEVENT *args)
{
    uintptr_t value = (uintptr_t)args->hDxgkProcess;

    if (!value || value > UINT32_MAX)
        return STATUS_INVALID_PARAMETER;
    LIST_FOR(node, &port->adapter_list) {
        const struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);
        const struct vidmm_process *process = handle_lookup(&adapter->ddi.handles, (uint32_t)value,
                                                            DDI_HANDLE_PROCESS);
        void *event = process && vidmm_process_nt(process)
                          ? nt_process_event(vidmm_process_nt(process), args->hEvent)
                          : NULL;

        if (!event)
            continue;
        KeSetEvent(event, IO_NO_INCREMENT, FALSE);
        return STATUS_SUCCESS;
    }
    return STATUS_INVALID_PARAMETER;
}

NTSTATUS NTAPI port_cb_signal_event(IN_CONST_PDXGKARGCB_SIGNALEVENT pArgs)
{
    struct port *port = sim_current ? sim_current->room[SIM_ROOM_PORT] : NULL;
    DXGKARGCB_SIGNALEVENT args;
    struct ddi_frame frame;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (!port || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    ddi_callback_enter(&frame, ddi_current_adapter(), "DxgkCbSignalEvent", CALLER);
    if (sim_irql() > SIM_IRQL_DISPATCH) {
        VIOLATION("THREAD-050", "DxgkCbSignalEvent was called at %s", nt_irql_name(sim_irql()));
        status = STATUS_INVALID_DEVICE_REQUEST;
    } else if (pArgs && sim_copy_checked(&args, pArgs, sizeof(args)) && !args.Reserved) {
        status = args.CpuEventObject ? signal_object(port, &args) : signal_handle(port, &args);
    }
    ddi_callback_leave(&frame);
    return status;
}
