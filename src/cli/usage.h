/* SPDX-License-Identifier: MIT */
/* What --help and a wrong command line print. */
#ifndef DXGK_CLI_USAGE_H
#define DXGK_CLI_USAGE_H

#include <stdbool.h>
#include <stdio.h>

struct cli_usage_part {
    const char *command; /* NULL: the last, what stands behind all commands */
    const char *text;    /* "dxgkhost run DRIVER ...\n", then its options */
};

/* Made of src/cli/options.txt. */
extern const struct cli_usage_part cli_usage_parts[];
extern const char cli_usage_end[]; /* values, and exit statuses */

/* All commands. */
void cli_usage(FILE *out);
/* One of them. False: there is none of this name. */
bool cli_usage_of(FILE *out, const char *command);
/* Prints what is wrong with which argument; returns CLI_USAGE. */
int cli_usage_error(const char *what, const char *value);

#endif
