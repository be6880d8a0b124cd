/* SPDX-License-Identifier: MIT */
/* The last failed calls of clients and drivers, with their reasons. */
#ifndef DXGK_HOST_REFUSALS_H
#define DXGK_HOST_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "verify/refusal.h"

#define HOST_REFUSALS 64u /* kept */

struct host_refusal {
    const char *call, *rule;
    int32_t status;
    uint64_t virtual_ns;
    uint64_t thread_id; /* 0: not on a thread */
    char thread[32];
    char reason[REFUSAL_BYTES];
};

/* A ring: element n is at n % HOST_REFUSALS. */
struct host_refusals {
    struct refusal_sink sink;
    uint64_t count; /* ever */
    struct host_refusal last[HOST_REFUSALS];
};

struct dxgk_machine;

/* For a machine that is being created. */
void host_refusals_init(struct dxgk_machine *machine);

#endif
