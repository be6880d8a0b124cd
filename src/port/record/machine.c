/* SPDX-License-Identifier: MIT */
/* The port driver of the current machine, and its messages for the user. */
#include <stdarg.h>
#include <stdio.h>

#include "port/record/machine.h"
#include "sim/slot.h"

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

struct sim_slot port_slot;
SIM_SLOT_CLAIM(port_slot)

void port_machine_set(struct port *port)
{
    sim_slot_set(&port_slot, port);
}
