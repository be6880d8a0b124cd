/* SPDX-License-Identifier: MIT */
/* The last lines of a machine's log, in memory that the process which watches it has, too. */
#ifndef DXGK_CLI_LOG_RING_H
#define DXGK_CLI_LOG_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_LOG_BYTES 131072u

/* Nothing in it when it is zero. */
struct cli_log_ring {
    atomic_uint_fast64_t written; /* bytes, of all lines; the last CLI_LOG_BYTES of them are here */
    char bytes[CLI_LOG_BYTES];
};

void cli_log_add(struct cli_log_ring *log, const char *line);
/* The last lines, whole ones; "": there are none. To be freed. NULL: out of memory. */
char *cli_log_text(const struct cli_log_ring *log);
/* Lines before these are gone. */
bool cli_log_is_cut(const struct cli_log_ring *log);

#endif
