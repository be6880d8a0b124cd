/* SPDX-License-Identifier: MIT */
/* Lines of a report of which thread waits for what. */
#include <stdarg.h>
#include <stdio.h>

#include "nt/ke/wait_report.h"
#include "nt/base/caller.h"
#include "nt/base/state.h"

#define SHOWN 6u /* places in drivers that are printed per stack */

void nt_wait_report_line(const char *format, ...)
{
    const struct nt_config *config = &nt_state()->config;
    char text[768];
    va_list arguments;

    if (!config->waits)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    config->waits(config->waits_context, text);
}

unsigned nt_wait_report_number(struct nt_wait_report *report, const volatile void *object)
{
    for (unsigned i = 0; i < report->objects; i++) {
        if (report->object[i] == object)
            return i + 1;
    }
    if (report->objects < NT_WAIT_REPORT_OBJECTS)
        report->object[report->objects++] = (const void *)object;
    return report->objects;
}

bool nt_wait_report_stack(const uintptr_t *pc, size_t count, char *text, size_t bytes)
{
    unsigned shown = 0;
    size_t length = 0;
    char place[96];

    text[0] = '\0';
    for (size_t i = 0; i < count && shown < SHOWN; i++) {
        if (!nt_caller_in_driver(pc[i], place, sizeof(place)))
            continue;
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", shown ? " < " : "", place);
        shown++;
        if (length >= bytes)
            break;
    }
    return shown != 0;
}
