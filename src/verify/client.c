/* SPDX-License-Identifier: MIT */
/* Reports of what a client did wrong. */
#include "verify/log_report.h"

void verify_client_error(const char *rule, const char *format, ...)
{
    struct verify_record record = {.severity = VERIFY_ERROR};
    va_list arguments;

    if (!verify_current)
        return;
    va_start(arguments, format);
    (void)verify_log_report(verify_current, rule, &record, VERIFY_KIND_CLIENT, format, arguments);
    va_end(arguments);
}

void verify_client_fatal(const char *rule, uint32_t code, uint64_t p1, uint64_t p2, uint64_t p3,
                         const char *format, ...)
{
    struct verify_record record = {
        .severity = VERIFY_FATAL, .code = code, .parameter = {p1, p2, p3, 0}};
    va_list arguments;

    if (!verify_current)
        return;
    va_start(arguments, format);
    (void)verify_log_report(verify_current, rule, &record, VERIFY_KIND_CLIENT, format, arguments);
    va_end(arguments);
}
