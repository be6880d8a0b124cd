/* SPDX-License-Identifier: MIT */
/* What one seed came to; through a pipe it goes without the failures that there are not. */
#ifndef DXGK_CLI_EXPLORE_RESULT_H
#define DXGK_CLI_EXPLORE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPLORE_FAILURES 12u /* of one seed that are told apart */
#define EXPLORE_STACK    2048u

/* One machine of a campaign. */
struct explore_point {
    uint64_t seed;
    uint64_t fail; /* the allocation of the host's that fails; 0: none */
};

struct explore_failure {
    char rule[24];     /* or "workload", "leak", "crash", "hang", ... */
    char severity[20]; /* "error", "bug check" */
    char where[112];   /* with the rule: what makes failures the same */
    char seen[400];
    char thread[32];
    uint64_t virtual_ns;
    char stack[EXPLORE_STACK]; /* as in struct dxgk_violation; its end may be missing */
};

struct explore_result {
    struct explore_point point;
    uint32_t failures;
    bool last;  /* the worker ends with this one */
    int status; /* an enum cli_status */
    struct explore_failure failure[EXPLORE_FAILURES];
};

/* The bytes of a result with so many failures. */
static inline size_t explore_result_bytes(uint32_t failures)
{
    return offsetof(struct explore_result, failure) + failures * sizeof(struct explore_failure);
}

#endif
