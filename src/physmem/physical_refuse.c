/* SPDX-License-Identifier: MIT */
#include "physmem/physical_refuse.h"

#include <stdarg.h>
#include <stdio.h>

#include "verify/verify.h"

NTSTATUS physical_refuse(const char *rule, const char *format, ...)
{
    char text[160];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    VIOLATION(rule, "%s", text);
    return STATUS_INVALID_PARAMETER;
}
