/* SPDX-License-Identifier: MIT */
/* What --help and a wrong command line print. */
#ifndef DXGK_CLI_USAGE_H
#define DXGK_CLI_USAGE_H

#include <stdio.h>

void cli_usage(FILE *out);
/* Prints what is wrong with which argument; returns CLI_USAGE. */
int cli_usage_error(const char *what, const char *value);

#endif
