/* SPDX-License-Identifier: MIT */
/* Why a driver was not loaded, or an adapter not started. */
#include <stdarg.h>
#include <stdio.h>

#include "port/record/cause.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "port/record/adapter_record.h"

void port_cause_clear(struct port *port)
{
    port->cause[0] = '\0';
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

void port_cause_of_failure(struct port_adapter *adapter, NTSTATUS status)
{
    const char *entry = adapter->ddi.failed_entry, *detail = adapter->ddi.failed_detail;

    if (entry && adapter->ddi.failed_status == status)
        port_cause(adapter->port, "%s%s%s%s returned %s", entry, detail ? "(" : "",
                   detail ? detail : "", detail ? ")" : "", nt_status_text(status).text);
    else if (status == STATUS_NO_MEMORY || status == STATUS_INSUFFICIENT_RESOURCES)
        port_cause(adapter->port, "the host ran out of memory");
}

const char *port_cause_text(const struct port *port)
{
    return port->cause;
}
