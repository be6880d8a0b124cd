/* SPDX-License-Identifier: MIT */
/* Error texts for refusals. */
#include "util/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void util_explain(char *error, size_t error_bytes, const char *format, ...)
{
    va_list arguments;

    if (!error || error_bytes == 0)
        return;
    va_start(arguments, format);
    vsnprintf(error, error_bytes, format, arguments);
    va_end(arguments);
    error[strcspn(error, "\r\n")] = '\0';
}
