/* SPDX-License-Identifier: MIT */
#include "cli/color.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool out, err;

void cli_color_begin(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    const bool wanted = !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;

    out = wanted && isatty(STDOUT_FILENO);
    err = wanted && isatty(STDERR_FILENO);
}

static bool has(const FILE *file)
{
    return file == stderr ? err : out;
}

const char *cli_color(const FILE *file, enum cli_color color)
{
    static const char *const begin[] = {
        [CLI_RED] = "\033[1;31m", [CLI_GREEN] = "\033[1;32m", [CLI_YELLOW] = "\033[33m", [CLI_CYAN] = "\033[36m"};

    return has(file) ? begin[color] : "";
}

const char *cli_color_end(const FILE *file)
{
    return has(file) ? "\033[0m" : "";
}

enum cli_color cli_color_of(const char *severity)
{
    return strstr(severity, "error") || strstr(severity, "bug check") ? CLI_RED
           : strstr(severity, "warning")                              ? CLI_YELLOW
                                                                      : CLI_CYAN;
}
