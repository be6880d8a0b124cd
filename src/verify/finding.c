/* SPDX-License-Identifier: MIT */
/* Findings of admission: reports that may refuse a driver or an object
 * (docs/spec/admission.tsv). */
#include "verify/log_report.h"

static bool only_expected(const char *rule)
{
    const struct verify_rule *found = verify_rule_find(rule);

    return found && found->admission == VERIFY_EXPECTED;
}

static bool find(const char *rule, bool expected, const char *format, va_list arguments)
{
    struct verify_record record;

    if (!verify_current)
        return !expected;
    record = (struct verify_record){
        .severity = expected && !verify_strict(verify_current) ? VERIFY_WARNING : VERIFY_ERROR};
    return verify_log_report(verify_current, rule, &record, VERIFY_KIND_FINDING, format, arguments);
}

bool verify_finding(const char *rule, const char *format, ...)
{
    va_list arguments;
    bool refused;

    va_start(arguments, format);
    refused = find(rule, only_expected(rule), format, arguments);
    va_end(arguments);
    return refused;
}

bool verify_expected(const char *rule, const char *format, ...)
{
    va_list arguments;
    bool refused;

    va_start(arguments, format);
    refused = find(rule, true, format, arguments);
    va_end(arguments);
    return refused;
}

void verify_refusal(const char *rule, const char *format, ...)
{
    struct verify_record record = {.severity = VERIFY_ERROR};
    va_list arguments;

    if (!verify_current)
        return;
    va_start(arguments, format);
    (void)verify_log_report(verify_current, rule, &record, VERIFY_KIND_REFUSAL, format, arguments);
    va_end(arguments);
}

void verify_decline(const char *rule, const char *format, ...)
{
    struct verify_record record = {.severity = VERIFY_WARNING};
    va_list arguments;

    if (!verify_current)
        return;
    va_start(arguments, format);
    (void)verify_log_report(verify_current, rule, &record, VERIFY_KIND_REFUSAL, format, arguments);
    va_end(arguments);
}

bool verify_unserved(const char *rule, const char *format, ...)
{
    struct verify_record record = {.severity = VERIFY_WARNING};
    va_list arguments;
    bool refused;

    if (!verify_current)
        return true;
    va_start(arguments, format);
    refused = verify_log_report(verify_current, rule, &record, VERIFY_KIND_UNSERVED, format,
                                arguments);
    va_end(arguments);
    return refused;
}
