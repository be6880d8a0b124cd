/* SPDX-License-Identifier: MIT */
/* The failures of a campaign, told apart, and what is printed and written of them. */
#ifndef DXGK_CLI_EXPLORE_REPORT_H
#define DXGK_CLI_EXPLORE_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/explore_result.h"

struct explore_options;
struct explore_result;

#define EXPLORE_DISTINCT 256u /* of the whole campaign */

struct explore_distinct {
    struct explore_failure failure; /* as the lowest point showed it */
    struct explore_point point;     /* the lowest one */
    uint32_t order;                 /* among the failures of that point */
    uint64_t seeds;                 /* how many points showed it */
};

struct explore_summary {
    uint64_t run, failed;
    uint32_t distinct;
    uint64_t lost; /* failures beyond the list */
    double seconds;
    int status; /* the gravest of the seeds */
    struct explore_distinct list[EXPLORE_DISTINCT];
};

void explore_report_add(struct explore_summary *summary, const struct explore_result *result);
void explore_report_print(const struct explore_options *options,
                          const struct explore_summary *summary);
/* The command that shows a machine again, as a shell takes it. */
void explore_put_command(FILE *out, const struct explore_options *options,
                         const struct explore_point *point);
/* The files of --json, --junit and --sarif. False, with a message: one could not be written. */
bool explore_results_write(const struct explore_options *options,
                           const struct explore_summary *summary, int status);

#endif
