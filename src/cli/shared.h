/* SPDX-License-Identifier: MIT */
/* What the process of a machine and the one that supervises it tell each other, in memory that both
 * have. */
#ifndef DXGK_CLI_SHARED_H
#define DXGK_CLI_SHARED_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/log_ring.h"

#define CLI_RECORDS 10000u /* as many as a machine keeps */

struct cli_shared {
    /* of the machine's process */
    atomic_bool runs;          /* the machine has begun and not come to its end */
    atomic_bool own_progress;  /* the workload shows its own progress */
    atomic_bool done;          /* the process has its result */
    int status;                /* with it */
    atomic_bool mute;          /* its standard output or error was closed, so the report is lost */
    uint8_t told[CLI_RECORDS]; /* broken rules that were printed, by index */
    struct cli_log_ring log;   /* for the page of --html */
    /* of the supervisor */
    atomic_int interrupt; /* the signal that asked for the end; 0: none */
    atomic_bool line;     /* a progress line is on the terminal */
};

/* Before anything is printed to the terminal. */
void cli_clear_line(struct cli_shared *shared);

#endif
