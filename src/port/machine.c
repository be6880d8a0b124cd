/* SPDX-License-Identifier: MIT */
/* The port driver of one machine: news for a person. */
#include <stdarg.h>
#include <stdio.h>

#include "port/machine.h"

void port_machine_log(const struct port *port, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    if (!port->config.log)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    port->config.log(port->config.log_context, line);
}
