/* SPDX-License-Identifier: MIT */
#include "cli/severity.h"

#include <stdio.h>
#include <string.h>

bool cli_set_severities(struct dxgk_machine *machine, const struct cli_options *options,
                        char *error, size_t error_bytes)
{
    static const char *const names[] = {"note", "warning", "error", "bugcheck"};

    for (size_t i = 0; i < options->severities; i++) {
        char rule[32];
        const char *equals = strchr(options->severity[i], '=');
        int severity = -1;

        snprintf(rule, sizeof(rule), "%.*s", (int)(equals - options->severity[i]),
                 options->severity[i]);
        for (int s = 0; s < 4; s++)
            if (strcmp(equals + 1, names[s]) == 0)
                severity = s;
        if (severity < 0 || !dxgk_machine_set_severity(machine, rule, severity)) {
            snprintf(error, error_bytes, "--severity %s: no such rule or severity",
                     options->severity[i]);
            return false;
        }
    }
    return true;
}
