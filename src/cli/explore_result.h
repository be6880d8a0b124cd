/* SPDX-License-Identifier: MIT */
/* What one seed came to; it goes through a pipe as it is. */
#ifndef DXGK_CLI_EXPLORE_RESULT_H
#define DXGK_CLI_EXPLORE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#define EXPLORE_FAILURES 12u /* of one seed that are told apart */

struct explore_failure {
    char rule[24];     /* or "workload", "leak", "crash", "hang", ... */
    char severity[20]; /* "error", "bug check" */
    char where[112];   /* with the rule: what makes failures the same */
    char seen[400];
    char thread[32];
    uint64_t virtual_ns;
};

struct explore_result {
    uint64_t seed;
    uint32_t failures;
    bool last; /* the worker ends with this one */
    struct explore_failure failure[EXPLORE_FAILURES];
};

#endif
