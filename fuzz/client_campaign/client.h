/* SPDX-License-Identifier: MIT */
/* A hostile client process: it keeps some things alive, and calls the client interface with random arguments. */
#ifndef DXGK_FUZZ_CLIENT_CLIENT_H
#define DXGK_FUZZ_CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"

#define CLIENT_PROCESSES 3u
#define CLIENT_THREADS   2u
#define LAST_CALLS       16u

/* What a machine's process tells, in memory that it shares with its parent. */
struct client_results {
    uint64_t calls, made[CALLS], succeeded[CALLS];
    uint16_t last[LAST_CALLS]; /* a ring; the newest at (calls - 1) % LAST_CALLS */
    char why[CALLS][200];      /* a reason why each failed */
    char bad[544];             /* what was wrong; "": nothing was */
};

struct client_plan {
    uint64_t seed;
    uint64_t budget; /* calls of the whole machine */
    struct client_results *results;
};

/* For dxgk_machine_run: starts the processes and their threads. `argument` is a struct client_plan, which must outlive the run. */
void client_run(void *argument);

#endif
