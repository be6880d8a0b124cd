/* SPDX-License-Identifier: MIT */
/* The text that --help and a wrong command line print. */
#ifndef DXGK_CLI_USAGE_H
#define DXGK_CLI_USAGE_H

#include <stdio.h>

void cli_usage(FILE *out);

#endif
