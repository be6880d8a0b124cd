/* SPDX-License-Identifier: MIT */
/* Tracing of the drivers' own events (LIFE-105 to LIFE-107). */
#include <string.h>

#include "port/callbacks/etw.h"
#include "ddi/ddi.h"
#include "nt/ke/level.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "trace/trace.h"

/* LIFE-106: the event is kept as a report. */
static void log_triage_event(USHORT bytes, const void *buffer)
{
    DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION event;
    char text[DXGKDDI_PARTITION_EVENT_DESCRIPTION_MAX + 1];
    size_t length = 0;

    if (bytes < sizeof(event) ||
        !PORT_TAKE(DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION, &event, buffer)) {
        WARNING("LIFE-106", "a triage event has no DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION");
        return;
    }
    while (length < DXGKDDI_PARTITION_EVENT_DESCRIPTION_MAX && event.EventDescription[length]) {
        text[length] = event.EventDescription[length] < 127 ? (char)event.EventDescription[length]
                                                            : '?';
        length++;
    }
    text[length] = '\0';
    NOTE("LIFE-106", "triage event %d of partition %u: %s", (int)event.EventType, event.PartitionId,
         text);
}

static void NTAPI log_etw_event(const LPCGUID guid, UCHAR type, USHORT bytes, PVOID buffer)
{
    struct port *port = port_current();
    struct ddi_frame *frame;
    GUID copy = {0};

    if (!port || sim_current->stopped)
        return;
    frame = ddi_callback_enter(ddi_current_adapter(), "DxgkCbLogEtwEvent", PORT_CALLER);
    if (bytes > 256 && sim_irql() != SIM_IRQL_PASSIVE) {
        VIOLATION("LIFE-105", "DxgkCbLogEtwEvent was called with %u bytes at %s", bytes,
                  nt_irql_name(sim_irql()));
    } else if (port->etw) {
        if (PORT_TAKE(GUID, &copy, guid) &&
            memcmp(&copy, &GUID_DXGKDDI_AZURE_TRIAGE_EVENT, sizeof(copy)) == 0)
            log_triage_event(bytes, buffer);
        else
            trace_instant(frame->track, "driver event", "type", type, "bytes", bytes);
    }
    ddi_callback_leave(frame);
}

/* Does an earlier adapter have the same driver? The call names no adapter, so each driver is called
 * only once. */
static bool told_already(const struct port *port, const struct port_adapter *adapter)
{
    LIST_FOR(node, &port->adapter_list) {
        const struct port_adapter *other = CONTAINER(node, struct port_adapter, link);

        if (other == adapter)
            return false;
        if (other->state == PORT_STARTED && other->driver == adapter->driver)
            return true;
    }
    return false;
}

void port_set_etw(struct port *port, bool enable, UCHAR level)
{
    port->etw = enable;
    port->etw_level = level;
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        if (adapter->state == PORT_STARTED && ddi_has(&adapter->ddi, DxgkDdiControlEtwLogging) &&
            !told_already(port, adapter))
            ddi_control_etw_logging(&adapter->ddi, enable, 0, level); /* LIFE-107 */
    }
}

void port_etw_tell(struct port_adapter *adapter)
{
    if (ddi_has(&adapter->ddi, DxgkDdiControlEtwLogging))
        ddi_control_etw_logging(&adapter->ddi, adapter->port->etw, 0, adapter->port->etw_level);
}

void port_etw_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbLogEtwEvent = log_etw_event;
}
