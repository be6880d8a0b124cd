/* SPDX-License-Identifier: MIT */
/* Isolation: the machine's process gives up its rights to files, the network and other
 * processes. */
#ifndef DXGK_CLI_ISOLATE_H
#define DXGK_CLI_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this build and this system have it; else `why` says what is missing. */
bool cli_isolate_possible(const char **why);
/* For the rest of this process's life; `socket` leads to the broker. Files are opened by way of it.
 * Other system calls that a machine does not need fail, or, from a driver, end the process, and are
 * named. False: `why` says what the system refused. */
bool cli_isolate(int socket, const char **why);

#endif
