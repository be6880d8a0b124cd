/* SPDX-License-Identifier: MIT */
/* Whether what was printed has arrived. */
#ifndef DXGK_CLI_OUTPUT_H
#define DXGK_CLI_OUTPUT_H

#include <stdbool.h>

/* Flushes standard output. The given exit status, or that of an error, with a message, if it was 0
 * and something could not be written. */
int cli_check_output(int status);
/* Whether results can be written there when they are known: tries now, and changes no file that
 * exists. "-" is standard output. False, with a message: they cannot. */
bool cli_can_write(const char *path);

#endif
