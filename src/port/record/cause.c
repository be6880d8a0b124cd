/* SPDX-License-Identifier: MIT */
/* Why a driver was not loaded, or an adapter not started. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "port/record/cause.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "port/record/adapter_record.h"
#include "verify/refusal.h"

void port_cause_clear(struct port *port)
{
    port->cause[0] = '\0';
    port->cause_status = STATUS_SUCCESS;
}

void port_cause(struct port *port, const char *format, ...)
{
    va_list arguments;

    if (port->cause[0])
        return;
    va_start(arguments, format);
    vsnprintf(port->cause, sizeof(port->cause), format, arguments);
    va_end(arguments);
}

/* Did the driver's own failure come last? What it failed before was accepted. */
static bool is_own_failure(const struct port_adapter *adapter, NTSTATUS status, const char *reason)
{
    return adapter->ddi.failed_entry && adapter->ddi.failed_status == status &&
           (!reason || strstr(reason, adapter->ddi.failed_entry));
}

void port_cause_of_failure(struct port_adapter *adapter, NTSTATUS status)
{
    const char *entry = adapter->ddi.failed_entry, *detail = adapter->ddi.failed_detail;
    const char *reason = refusal_reason(status);

    if (NT_SUCCESS(adapter->port->cause_status))
        adapter->port->cause_status = status;
    if (is_own_failure(adapter, status, reason))
        port_cause(adapter->port, "%s%s%s%s returned %s", entry, detail ? "(" : "",
                   detail ? detail : "", detail ? ")" : "", nt_status_text(status).text);
    else if (reason)
        port_cause(adapter->port, "%s (%s)", reason, nt_status_text(status).text);
}

const char *port_cause_text(const struct port *port)
{
    return port->cause;
}

NTSTATUS port_cause_status(const struct port *port)
{
    return port->cause_status;
}
