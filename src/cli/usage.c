/* SPDX-License-Identifier: MIT */
#include "cli/usage.h"

#include <string.h>

#include "cli/cli.h"

#define FIRST "usage: "
#define NEXT  "       "

void cli_usage(FILE *out)
{
    const struct cli_usage_part *part = cli_usage_parts;

    for (; part->command; part++)
        fprintf(out, "%s%s", part == cli_usage_parts ? FIRST : NEXT, part->text);
    fprintf(out, NEXT "%s%s", part->text, cli_usage_end);
}

bool cli_usage_of(FILE *out, const char *command)
{
    for (const struct cli_usage_part *part = cli_usage_parts; part->command; part++)
        if (strcmp(command, part->command) == 0) {
            fprintf(out, FIRST "%s%s", part->text, cli_usage_end);
            return true;
        }
    return false;
}

int cli_usage_error(const char *what, const char *value)
{
    fprintf(stderr, "dxgkhost: %s: %s\n", what, value);
    return CLI_USAGE;
}
