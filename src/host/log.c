/* SPDX-License-Identifier: MIT */
/* Lines for the log. */
#include "host/log.h"
#include "host/machine_record.h"

#include <stdarg.h>
#include <stdio.h>

void host_log(struct dxgk_machine *machine, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    if (!machine->config.log)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    machine->hooks++;
    machine->config.log(machine->config.log_context, line);
    machine->hooks--;
}

void host_inspect_say(const struct dxgk_machine *machine, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    machine->inspect.line(machine->inspect.context, line);
}
